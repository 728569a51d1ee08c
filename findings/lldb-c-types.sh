#!/bin/bash
# LLDB ends by a signal at a type that is a pointer to itself, LLDB 14 cuts names of structs at "<", and both put the
# arguments of a function into the first parentheses of its name.
#
# Packages: Debian 12's lldb-14 1:14.0.6-12, lldb-19 1:19.1.7-3~deb12u1, gcc-12 12.2.0-14+deb12u1.
#
# Seen, in units whose language is C, of what no compiler of C writes but DWARF has for other languages: of a typedef of a
# pointer to the typedef itself, as "type self *self" is in Go, both releases look for what it points to without end, and crash. A
# struct called "hash<string,int>" without parameters of a template is "hash<>" in LLDB 14. And where the program stops in a
# function called "main.(*T).Name", the frame is "main.(n=1).Name": the receiver's type is gone.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download lldb-14=1:14.0.6-12 liblldb-14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 \
	lldb-19=1:19.1.7-3~deb12u1 liblldb-19=1:19.1.7-3~deb12u1 libllvm19=1:19.1.7-3~deb12u1 \
	libclang-cpp19=1:19.1.7-3~deb12u1 >download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/llvm-14/lib:$work/root/usr/lib/llvm-19/lib

cat >c.c <<'C'
typedef int *self;
self variable;
struct hash_string_int { int count; } table;
__attribute__((noinline)) int method(int n) { return n; }
int main(int argc, char **argv) { (void)argv; return method(argc) - 1; }
C
gcc-12 -gdwarf-4 -O0 -dA -S -o c.s c.c
# The typedef, and the pointer, which is to be one to it.
typedef=$(sed -nE 's/.*\(DIE \((0x[0-9a-f]+)\) DW_TAG_typedef\).*/\1/p' c.s)
sed -E -e "0,/DW_TAG_pointer_type/b" -e 's/"hash_string_int"$/"hash<string,int>"/' -e 's/(\.string[[:space:]]*)"method"$/\1"main.(*T).Name"/' c.s >names.s
awk -v typedef="$typedef" '/DW_TAG_pointer_type/ { pointer = ++pointers == 1 } pointer && /DW_AT_type/ { sub(/0x[0-9a-f]+/, typedef); pointer = 0 } 1' names.s >loop.s
gcc-12 -o names names.s
gcc-12 -o loop loop.s

failed=0
expect() {
	echo "$1: $3"
	[ "$2" = "$3" ] || {
		echo "expected: $2"
		failed=1
	}
}
for release in 14 19; do
	lldb=$work/root/usr/lib/llvm-$release/bin/lldb
	# debug PROGRAM COMMAND...: what the last command prints.
	debug() {
		local commands=()
		for command in "${@:2}"; do
			commands+=(-o "$command")
		done
		"$lldb" --no-lldbinit --batch "${commands[@]}" "$1" </dev/null 2>errors
	}
	status=0
	debug loop 'target variable variable' >output || status=$?
	expect "LLDB $release, a pointer to itself: ends by signal" 139 "$status"
	expect "LLDB $release, another pointer" '(self) variable = 0x0000000000000000' "$(debug names 'target variable variable' | tail -n 1)"
	name='hash<>'
	[ "$release" = 14 ] || name='hash<string,int>'
	expect "LLDB $release, the name of a struct" "($name) table = (count = 0)" "$(debug names 'target variable table' | tail -n 1)"
	expect "LLDB $release, the name of a function" 'main.(n=N).Name' \
		"$(debug names 'breakpoint set -n "main.(*T).Name"' run 'frame info' | sed -nE 's/^frame #0: .*`(.*)n=[0-9]+(.*) at .*/\1n=N\2/p')"
done
exit $failed
