#!/usr/bin/env bash
# What the build does against exploits, as readelf sees it in the program and the plugin.
. "$(dirname "$0")/lib.sh"

for file in "$GOHEAP" "$GOHEAP_SO"; do
	name=$(basename "$file")
	dynamic=$(readelf -dW "$file")
	segments=$(readelf -lW "$file")
	symbols=$(readelf --dyn-syms -W "$file")
	has "$name: position-independent" "$(readelf -hW "$file")" '^ *Type: +DYN '
	has "$name: read-only after relocation" "$segments" '^ *GNU_RELRO '
	has "$name: all symbols bound at start" "$dynamic" '\(FLAGS\) .*BIND_NOW'
	has "$name: the stack is no code" "$segments" '^ *GNU_STACK .* RW +0x'
	has "$name: stack protector" "$symbols" ' __stack_chk_fail(@|$)'
	if grep -q ' __asan_init' <<<"$symbols"; then
		skip "$name: checked calls" "built with the sanitizers, which do not see into them"
	else
		has "$name: checked calls" "$symbols" ' __[a-z]+_chk(@|$)'
	fi
done
has "goheap: a program, not a library" "$(readelf -dW "$GOHEAP")" '\(FLAGS_1\) .*PIE'
finish
