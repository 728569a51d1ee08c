#!/usr/bin/env bash
# The files that goheap reads and writes, when they are not what they should be or change meanwhile: told in one
# line, and nothing left behind.
. "$(dirname "$0")/lib.sh"

# refused NAME PATTERN COMMAND...: at once; status 1, nothing on standard output, one line on standard error that matches.
refused() {
	local name=$1 pattern=$2 status
	shift 2
	timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	# That it was found beside a dump is said before.
	sed -i '/: its program is /d' "$work/err"
	equal "$name: status" 1 "$status"
	equal "$name: lines of output and of errors" "0 1" "$(wc -l <"$work/out") $(wc -l <"$work/err")"
	has "$name: what it says" "$(cat "$work/err")" "$pattern"
}

# Inputs that are no files. A FIFO that nobody writes to would be waited for.
kinds() {
	local command
	mkfifo "$work/fifo"
	for command in info funcs debug types goroutines histogram; do
		refused "$command: a FIFO" 'fifo: expected a regular file, found a FIFO$' "$GOHEAP" "$command" "$work/fifo"
		refused "$command: a directory" ': expected a regular file, found a directory$' "$GOHEAP" "$command" "$work"
	done
}

# An output that is the input, by any of its names.
replacing() {
	local name command
	cp "$program" "$work/program"
	cp "$dump" "$work/dump"
	ln "$work/program" "$work/hard"
	ln -s program "$work/soft"
	for name in program hard soft; do
		refused "debug: -o $name" 'found the input itself$' "$GOHEAP" debug "$work/program" -o "$work/$name"
	done
	same "debug: the input is as it was" "$program" "$work/program"
	for command in core hprof pprof dot report; do
		refused "$command: -o its dump" 'found the input itself$' \
			"$GOHEAP" "$command" "$work/dump" -o "$work/dump"
		refused "$command: -o its program" 'found the input itself$' \
			"$GOHEAP" "$command" "$work/dump" -e "$work/program" -o "$work/hard"
	done
	for command in hprof dot report; do
		refused "$command: -o what has its names" 'found the input itself$' \
			"$GOHEAP" "$command" "$work/dump" --names "$work/program" -o "$work/hard"
	done
	same "the dump is as it was" "$dump" "$work/dump"
	same "the program is as it was" "$program" "$work/program"
	"$GOHEAP" debug "$work/program" -o "$work/other" && "$GOHEAP" debug "$work/program" -o "$work/other"
	equal "debug: another file is replaced" 0 $?
}

# Who may read what was written. What has the heap's contents is as private as gcore's files.
permissions() {
	local command
	for command in core hprof; do
		(umask 022 && "$GOHEAP" "$command" "$dump" -o "$work/$command")
		equal "$command: umask 022" 600 "$(stat -c %a "$work/$command")"
		rm -f "$work/$command"
		(umask 277 && "$GOHEAP" "$command" "$dump" -o "$work/$command")
		equal "$command: umask 277" 400 "$(stat -c %a "$work/$command")"
	done
	(umask 022 && "$GOHEAP" debug "$program" -o "$work/debug")
	equal "debug: umask 022" 644 "$(stat -c %a "$work/debug")"
}

# Inputs that are cut short while they are read. What prints has done some of its work when its pipe is full.
shrinking() {
	local status
	mkdir -p "$work/shrinking"
	cp "$program" "$work/shrinking/in"
	"$GOHEAP" lines "$work/shrinking/in" 2>"$work/err" | {
		head -c 10 >/dev/null
		truncate -s 4096 "$work/shrinking/in"
		cat >/dev/null
	}
	status=${PIPESTATUS[0]}
	equal "lines: its program is cut short: status" 1 "$status"
	equal "lines: its program is cut short: lines of errors" 1 "$(wc -l <"$work/err")"
	has "lines: its program is cut short: what it says" "$(cat "$work/err")" '/shrinking/in: .* cut short'

	if ! make_shim; then
		skip "an input that is cut short while a file is written" "$(head -n 1 "$work/why")"
		return
	fi
	cp "$dump" "$work/shrinking/in"
	SHIM_TRUNCATE=$work/shrinking/in refused "core: its dump is cut short" '/shrinking/in: .* cut short' \
		"$work/shimmed" core "$work/shrinking/in" -o "$work/shrinking/out"
	equal "core: its dump is cut short: nothing is left" in "$(ls "$work/shrinking")"
}

# make_shim: $work/shimmed is goheap with a library that has the first pwrite shorten the file $SHIM_TRUNCATE, or send the signal $SHIM_SIGNAL, and the file
# system have no files without a name. False, and why in $work/why, if it cannot be made.
make_shim() {
	cat >"$work/shim.c" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdarg.h>
		#include <stdlib.h>
		#include <unistd.h>

		ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
		{
			static int calls;
			ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
			const char *file = getenv("SHIM_TRUNCATE");
			const char *number = getenv("SHIM_SIGNAL");
			if (calls++ == 0 && file != NULL && truncate(file, 4096) != 0)
				abort();
			if (calls == 1 && number != NULL)
				raise(atoi(number));
			return real(fd, data, size, offset);
		}

		int open(const char *path, int flags, ...)
		{
			int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
			va_list args;
			va_start(args, flags);
			int mode = va_arg(args, int);
			va_end(args);
			if ((flags & O_TMPFILE) == O_TMPFILE) {
				errno = EOPNOTSUPP;
				return -1;
			}
			return real(path, flags, mode);
		}
	END
	cat >"$work/shimmed" <<-END
		#!/bin/sh
		ASAN_OPTIONS=\$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD='$work/shim.so' exec '$GOHEAP' "\$@"
	END
	chmod +x "$work/shimmed"
	# shellcheck disable=SC2086 # a compiler and its options
	$CC -shared -fPIC -o "$work/shim.so" "$work/shim.c" -ldl 2>"$work/why"
}

# Signals that end the program while it writes a file with a name.
signals() {
	local number
	if ! make_shim; then
		skip "temporary files and signals" "$(head -n 1 "$work/why")"
		return
	fi
	mkdir -p "$work/ending"
	for number in 1 2 15; do
		(SHIM_SIGNAL=$number env --default-signal=HUP,INT,TERM "$work/shimmed" core "$dump" -o "$work/ending/out") 2>"$work/err"
		equal "signal $number: ends the program" $((128 + number)) $?
		equal "signal $number: no file is left" "" "$(ls "$work/ending")"
	done
	(
		trap '' HUP
		SHIM_SIGNAL=1 "$work/shimmed" core "$dump" -o "$work/ending/out"
	)
	equal "a signal that is ignored does not" "0 out" "$? $(ls "$work/ending")"
	"$GOHEAP" core "$dump" -o "$work/ending/named"
	same "a file that had a name is as one that had none" "$work/ending/out" "$work/ending/named"
	equal "a core file that is there is kept" "goheap: $work/ending/named exists: name another file, or replace it with --force" \
		"$("$GOHEAP" core "$work/bare" -o "$work/ending/named" 2>&1)"
	same "and is as it was" "$work/ending/out" "$work/ending/named"
}

# Goroutines that take 14 bytes each in a dump: as threads they take 352.
bare() {
	{
		printf 'go1.7 heap dump\n\006\0\010\0\0\005amd64\0\001'
		head -c 2800000 /dev/zero | sed 's/\x00\{14\}/\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00/g'
		printf '\0'
	} >"$work/bare"
	equal "bare goroutines: in the dump" 200000 "$("$GOHEAP" info "$work/bare" 2>/dev/null | sed -n 's/^goroutines: *//p')"
	"$GOHEAP" core "$work/bare" -o "$work/bare.core" 2>"$work/err"
	has "bare goroutines: what is left out" "$(cat "$work/err")" '^goheap: .*/bare: [0-9]+ goroutines left out of the core file$'
	if (($(stat -c %s "$work/bare.core") < 5 * $(stat -c %s "$work/bare"))); then
		ok "bare goroutines: less than five times the dump"
	else
		fail "bare goroutines: less than five times the dump" "$(stat -c '%s %n' "$work/bare" "$work/bare.core")"
	fi
}

# Standard output that cannot be written to, also where argp prints.
full() {
	local arguments
	for arguments in --help --version "debug --help" "info $program" "lines $program"; do
		# shellcheck disable=SC2086 # words
		"$GOHEAP" $arguments >/dev/full 2>"$work/err"
		equal "${arguments% /*}: a full disk: status" 1 $?
		has "${arguments% /*}: a full disk: what it says" "$(cat "$work/err")" '^goheap: cannot write the output'
	done
	"$GOHEAP" info "$program" >&- 2>"$work/err"
	equal "no standard output" "1 1" "$? $(wc -l <"$work/err")"
	"$GOHEAP" debug "$program" -o "$work/closed" >&- 2>"$work/err"
	equal "no standard output, and no need of one" "0 0" "$? $(wc -l <"$work/err")"
}

if sample "everything" 1.19 dump; then
	program=$directory/dump.stripped
	dump=$work/sample.dump
	"$directory/dump" "$dump" "$work/stacks" >/dev/null
	kinds
	replacing
	permissions
	shrinking
	signals
	bare
	full
fi
finish
