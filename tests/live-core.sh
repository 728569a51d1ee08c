#!/usr/bin/env bash
# Core files of running processes, against what GDB shows of the same process, stopped, and the kernel of its memory; and
# processes run on whatever happens to goheap.
. "$(dirname "$0")/lib.sh"
session_home

needs "core files of running processes" gdb gcore readelf || finish

# A process with something of each kind: threads, mappings, reservations, memory that is not for core files.
cat >"$work/kinds.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char zeros[1 << 20];
static char data[] = "some data";

__attribute__((noinline)) static void rest(long number)
{
	volatile long kept = number;
	while (kept == number)
		pause();
}

static void *run(void *number)
{
	rest((long)number);
	return NULL;
}

static void *map(size_t size, int access, int flags, int fd)
{
	void *memory = mmap(NULL, size, access, flags, fd, 0);
	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return memory;
}

int main(int argc, char **argv)
{
	enum { PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS, BOTH = PROT_READ | PROT_WRITE };
	long threads = atol(argv[1]);
	long mappings = atol(argv[2]);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t large = sizeof(void *) == 8 ? (size_t)1 << 34 : (size_t)1 << 29;
	pthread_attr_t attributes;
	char *memory;
	FILE *file = fopen(argv[3], "w+");
	(void)argc;
	/* Every other page is of another access, or they would be one mapping. */
	memory = map((size_t)mappings * page, BOTH, PRIVATE, -1);
	for (long i = 0; i < mappings; i++) {
		memset(memory + i * page, (int)i + 1, page);
		if (i % 2 != 0)
			mprotect(memory + i * page, page, PROT_READ);
	}
	map(large, PROT_NONE, PRIVATE | MAP_NORESERVE, -1);
	memory = map(large, BOTH, PRIVATE | MAP_NORESERVE, -1);
	for (size_t at = 0; at < large; at += large / 8)
		strcpy(memory + at + 100, "reserved");
	/* What was written, and may not be read any more. */
	memory = map(2 * page, BOTH, PRIVATE, -1);
	strcpy(memory, "not to be read");
	mprotect(memory, 2 * page, PROT_NONE);
	/* As text it is nowhere else. */
	memory = map(16 * page, BOTH, PRIVATE, -1);
	for (size_t at = 0; at < 16 * page; at += 8)
		memcpy(memory + at, "\x13TERCES\x37", 8);
	madvise(memory, 16 * page, MADV_DONTDUMP);
	memory = map(8 << 20, BOTH, PRIVATE, -1);
	madvise(memory, 8 << 20, MADV_HUGEPAGE);
	memset(memory, 0x48, 5 << 20);
	strcpy(map(16 * page, BOTH, MAP_SHARED | MAP_ANONYMOUS, -1), "shared");
	for (size_t i = 0; i < 4 * page; i++)
		fputc('f', file);
	fflush(file);
	memory = map(4 * page, BOTH, MAP_PRIVATE, fileno(file));
	memory[page] = 'p';
	unlink(argv[3]);
	memset(zeros + 5000, 1, 3 * page);
	data[0] = 'S';
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (long i = 1; i < threads; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &attributes, run, (void *)i) != 0)
			return 1;
	}
	puts("waiting");
	fflush(stdout);
	rest(0);
}
END

# Sends goheap a signal while process PID stands, or some time after it was started, and looks whether PID goes on.
# strike PID SIGNAL MICROSECONDS STANDING COMMAND...
cat >"$work/strike.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char state_of(const char *pid)
{
	char path[64];
	char text[512];
	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	int fd = open(path, O_RDONLY);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	close(fd);
	if (size <= 0)
		return '?';
	text[size] = '\0';
	return strrchr(text, ')')[2];
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	int status;
	int ended = 0;
	(void)argc;
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		execv(argv[5], argv + 5);
		_exit(127);
	}
	while (argv[4][0] == '1' && state_of(argv[1]) != 't' && !ended)
		ended = waitpid(child, &status, WNOHANG) > 0;
	usleep((useconds_t)atol(argv[3]));
	char struck = state_of(argv[1]);
	if (!ended)
		kill(child, atoi(argv[2]));
	double start = now();
	while (state_of(argv[1]) == 't' && now() - start < 20)
		usleep(1000);
	double took = now() - start;
	if (!ended) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	/* What goheap's watchdog takes, and as much again for a machine that is busy. */
	printf("%s%s\n", struck == 't' ? "stood" : "ran", took < 4 ? "" : ", and stands");
	return 0;
}
END

# Writes page after page, over and over, and prints where they are; or, with a core file and that address, looks whether they
# are there as they were at one moment: each write before the last one, and all that was never written again.
cat >"$work/writes.c" <<'END'
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/mman.h>

enum { PAGES = 8192, WORDS = 512, RARE = 16 };

int main(int argc, char **argv)
{
	size_t size = (size_t)(RARE + 1) * PAGES * WORDS * 8;
	if (argc < 3) {
		uint64_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < size / 8; i++)
			memory[i] = i;
		printf("%d %p\nwaiting\n", getpid(), (void *)memory);
		fflush(stdout);
		for (uint64_t k = 1;; k++) {
			*(volatile uint64_t *)&memory[(k % PAGES) * WORDS + k % WORDS] = k | 1ULL << 63;
			if (k % 4096 == 0)
				usleep(atoi(argv[1]));
		}
	}
	int fd = open(argv[1], O_RDONLY);
	uint64_t address = strtoull(argv[2], NULL, 0);
	uint64_t *memory = malloc(size);
	Elf64_Ehdr header;
	size_t have = 0;
	pread(fd, &header, sizeof(header), 0);
	for (int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr p;
		pread(fd, &p, sizeof(p), (off_t)(header.e_phoff + i * sizeof(p)));
		if (p.p_type != PT_LOAD || p.p_vaddr + p.p_filesz <= address || p.p_vaddr >= address + size)
			continue;
		uint64_t from = p.p_vaddr > address ? p.p_vaddr : address;
		uint64_t end = p.p_vaddr + p.p_filesz < address + size ? p.p_vaddr + p.p_filesz : address + size;
		have += (size_t)pread(fd, (char *)memory + (from - address), end - from, (off_t)(p.p_offset + (from - p.p_vaddr)));
	}
	uint64_t last = 0;
	for (size_t i = 0; i < (size_t)PAGES * WORDS; i++)
		if (memory[i] >> 63 && (memory[i] << 1 >> 1) > last)
			last = memory[i] << 1 >> 1;
	uint64_t bad = 0;
	for (size_t i = PAGES * WORDS; i < size / 8; i++)
		bad += memory[i] != i;
	/* Each of the last writes but those that newer ones of the same word have undone is there. */
	uint64_t lost = 0;
	for (uint64_t k = last; k > 0 && last - k < (uint64_t)PAGES * WORDS; k--) {
		uint64_t found = memory[(k % PAGES) * WORDS + k % WORDS];
		lost += (found >> 63) == 0 || (found << 1 >> 1) < k;
	}
	printf("%zu of %zu bytes, %llu bad, last %llu, %llu lost\n", have, size, (unsigned long long)bad, (unsigned long long)last, (unsigned long long)lost);
	return have != size || bad != 0 || lost != 0 || last == 0;
}
END

# start PROGRAM ARGUMENT...: runs it until it waits; $pid.
start() {
	: >"$work/output"
	# What runs beside the shell has no input unless it is given it.
	"$@" <&0 >"$work/output" &
	pid=$!
	wait_until grep -q waiting "$work/output"
}

# shown CORE: what GDB shows of the core file, or of the process: threads, their stacks, words of memory.
shown() {
	gdb_options=(-iex 'set debuginfod enabled off' -ex 'info threads' -ex 'thread apply all backtrace -8' -x "$work/words")
	if [ -n "$1" ]; then
		run_gdb "$program" "$1"
	else
		run_gdb -p "$pid" "$program"
	fi >"$work/session"
	gdb_options=()
	# GDB 13 takes the vector registers of AMD's processors for cut off, and Intel's with AMX for too many, in the kernel's
	# core files, too.
	awk '/^ +Id +Target Id/ { listed = 1 } !listed { next }
		sub(/warning: (Section|Unexpected size of section) `.reg-xstate.*/, "") { part = part $0; next }
		{ print part $0; part = "" }' "$work/session" |
		sed -nE -e 's/^[* ] +[0-9]+ +.*LWP ([0-9]+)\)?( "[^"]*")? +/thread \1 /p' \
			-e 's/^Thread [0-9]+ \(.*LWP ([0-9]+).*/thread \1/p' -e '/^#[0-9]+ /p' \
			-e 's/^(0x[0-9a-f]+)( <.*>)?:(\t0x[0-9a-f]+)$/\1\3/p' |
		awk '/^thread / { key = $2 } /^0x/ { key = 2 ^ 32 } { print key "\t" $0 }' | sort -s -n -k 1,1 | cut -f 2-
}

# ranges FILE: addresses, a start and an end a line, those that touch as one.
ranges() {
	sort -u | awk '$1 == end { end = $2; next } { if (end != "") print start, end; start = $1; end = $2 } END { print start, end }'
}

# check NAME PROGRAM [COUNT]: the core file of $pid, which is stopped.
check() {
	local name=$1 count=${3-1000}
	program=$2
	kill -STOP "$pid"
	wait_until grep -q '^State:.T' "/proc/$pid/status"
	# Memory that a debugger may read without changing what there is: that which is not only reserved.
	awk -v count="$count" -v seed="$pid" '
		/^[0-9a-f]+-[0-9a-f]+ / { range = $1; access = $2; name = $6; next }
		/^Rss:/ { resident = $2 }
		/^VmFlags:/ && access ~ /^r/ && resident > 0 && !/ (dd|io|pf)/ && name !~ /vsyscall/ { ranges[n++] = range }
		END {
			srand(seed)
			for (i = 0; i < count; i++)
				print ranges[int(rand() * n)], int(rand() * 1000000)
		}' "/proc/$pid/smaps" | while read -r range part; do
		start=$((16#${range%-*})) size=$((16#${range#*-} - 16#${range%-*}))
		printf 'x/1gx 0x%x\n' $((start + (part * (size / 8) / 1000000) * 8))
	done >"$work/words"
	if ! "$GOHEAP" core "$pid" --force -o "$work/core" 2>"$work/told"; then
		fail "$name: the core file is written" "$(cat "$work/told")"
		kill -CONT "$pid"
		return
	fi
	has "$name: for how long it stood" "$(cat "$work/told")" '^goheap: paused [0-9]+ ms$'
	has "$name: it is as it was" "$(cat "/proc/$pid/status")" '^State:.T'
	equal "$name: only the user may read it" 600 "$(stat -c %a "$work/core")"
	same "$name: readelf has no warning" /dev/null <(readelf -lnW "$work/core" 2>&1 >"$work/segments" | head)
	if needs "$name: elfutils" eu-readelf; then
		same "$name: elfutils have none" /dev/null <(eu-readelf -ln "$work/core" 2>&1 >"$work/noted" | head)
		equal "$name: registers of each thread" "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" "$(grep -c ' PRSTATUS$' "$work/noted")"
		equal "$name: the files that are mapped" "$(awk '$5 > 0 { print $1, $6 }' "/proc/$pid/maps")" \
			"$(awk '/^  [A-Z]/ { files = $3 == "FILE"; next } files && /^ +[0-9a-f]+-[0-9a-f]+ / { print $1, $4 }' "$work/noted" | sed -E 's/^0*([0-9a-f]{8})/\1/; s/-0*([0-9a-f]{8})/-\1/')"
	fi
	same "$name: all that is mapped" <(sed -nE '/vsyscall/d; s/^([0-9a-f]+)-([0-9a-f]+) .*/\1 \2/p' "/proc/$pid/maps" |
		while read -r from to; do printf '%016x %016x\n' $((16#$from)) $((16#$to)); done | ranges) \
		<(awk '$1 == "LOAD" { print $3, $6 }' "$work/segments" |
			while read -r from size; do printf '%016x %016x\n' $((from)) $((from + size)); done | ranges)
	# Program headers, notes, and a page here and there are not of the process.
	holds "$name: it takes no more room than the process has in memory" "$(stat -c '%b blocks' "$work/core"), $(grep Rss: "/proc/$pid/smaps_rollup")" \
		[ $(($(stat -c %b "$work/core") / 2)) -le $(($(awk '/^Rss:/ { print $2 }' "/proc/$pid/smaps_rollup") + 4096)) ]
	shown "" >"$work/expected"
	shown "$work/core" >"$work/found"
	holds "$name: GDB reads its words" "$(head -n 40 "$work/session")" [ "$(grep -c '^0x' "$work/expected")" -ge $((count * 9 / 10)) ]
	same "$name: threads, stacks, and $(grep -c '^0x' "$work/expected") words of memory in GDB" "$work/expected" "$work/found"
	kill -CONT "$pid"
}

# check_c NAME THREADS MAPPINGS [OPTION...]: a C program, with some of each.
check_c() {
	local name=$1
	if ! "$CC" -g -O1 -w -pthread "${@:4}" -o "$work/kinds" "$work/kinds.c" 2>"$work/why"; then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	start "$work/kinds" "$2" "$3" "$work/deleted"
	check "$name" "$work/kinds"
	# shellcheck disable=SC2016 # it is grep's
	lacks "$name: what is not for core files is not in it" "$(grep -c -a -P '\x13TERCES\x37' "$work/core")" '^[1-9]'
	has "$name: what may not be read any more is" "$(grep -c -a 'not to be read' "$work/core")" '^[1-9]'
	holds "$name: reservations are not" "$(stat -c %s "$work/core")" [ "$(stat -c %s "$work/core")" -lt 4000000000 ]
	end "$pid"
}

# goroutines_in_delve PROGRAM CORE: all that Delve says, but for what Debian 13's prints of the vector registers for itself.
goroutines_in_delve() {
	dlv core "$1" "$2" --check-go-version=false --allow-non-terminal-interactive=true <<<goroutines 2>&1 | grep -v '^xcr0: '
}

# delve NAME PROGRAM: Delve lists the goroutines of the core file as those of gcore's.
delve() {
	needs "$1, Delve" dlv || return
	kill -STOP "$pid"
	"$GOHEAP" core "$pid" -f -o "$work/core" 2>"$work/told"
	"$GOHEAP" core "$pid" -f --go -o "$work/core.go" 2>>"$work/told"
	gcore -o "$work/gcore" "$pid" >"$work/session" 2>&1
	kill -CONT "$pid"
	goroutines_in_delve "$2" "$work/gcore.$pid" >"$work/expected"
	goroutines_in_delve "$2" "$work/core" >"$work/found"
	goroutines_in_delve "$2" "$work/core.go" >"$work/found.go"
	has "$1, Delve: there are goroutines" "$(cat "$work/expected")" '^\[[0-9]+ goroutines\]'
	same "$1, Delve: goroutines" "$work/expected" "$work/found"
	same "$1, Delve: goroutines, of --go" "$work/expected" "$work/found.go"
	same "$1: the heap, of --go" <("$GOHEAP" histogram --bytes -n 0 --by size -e "$2" "$work/gcore.$pid" 2>&1) \
		<("$GOHEAP" histogram --bytes -n 0 --by size -e "$2" "$work/core.go" 2>&1)
}

# check_go NAME RELEASE SAMPLE [FLAG...]: a Go program, stripped; its twin for Delve.
check_go() {
	local directory sample=$3
	sample "$1" "$2" "${@:3}" || return
	mkfifo "$work/input"
	exec 6<>"$work/input"
	start "$directory/$sample.stripped" "$work/own" <&6
	check "$1" "$directory/$sample.stripped" 200
	has "$1: goheap goroutines" "$("$GOHEAP" goroutines "$work/core" 2>&1)" '^main\.main\('
	has "$1: goheap hang" "$("$GOHEAP" hang "$work/core" 2>&1)" '^[0-9]+ goroutines: '
	end "$pid"
	# Delve 1.20 reads no newer ones.
	if [ "$2" = 1.19 ]; then
		start "$directory/$sample" "$work/own" <&6
		delve "$1" "$directory/$sample"
		end "$pid"
	fi
	exec 6>&-
	rm "$work/input"
}

# refused NAME PATTERN ARGUMENT...: the core file is not written, it is said why, and $pid is not stopped for it.
refused() {
	if "$GOHEAP" core "$pid" "${@:3}" >"$work/told" 2>&1; then
		fail "$1" "$(cat "$work/told")"
	fi
	has "$1" "$(cat "$work/told")" "$2"
	lacks "$1: it does not stand for that" "$(cat "$work/told")" paused
}

outputs() {
	start sh -c 'echo waiting; exec sleep 1000'
	refused "a folder that is not there" 'nowhere/core: cannot write: No such file' -o "$work/nowhere/core"
	echo kept >"$work/there"
	refused "a file that is there" 'exists: name another file, or replace it with --force$' -o "$work/there"
	equal "it is as it was" kept "$(cat "$work/there")"
	(
		ulimit -f 100
		trap '' XFSZ
		"$GOHEAP" core "$pid" -f -o "$work/there" 2>"$work/told"
	)
	has "a file that grows too large" "$(cat "$work/told")" 'there: cannot write: File too large'
	equal "what was there is kept then" kept "$(cat "$work/there")"
	"$GOHEAP" core "$pid" -f -o "$work/there" 2>"$work/told"
	has "it is replaced" "$(readelf -h "$work/there")" '^ +Type: +CORE'
	kill -STOP "$pid"
	"$GOHEAP" core "$pid" -f -o "$work/there" 2>"$work/told"
	"$GOHEAP" core "$pid" --gzip -o "$work/there.gz" 2>>"$work/told"
	kill -CONT "$pid"
	same "compressed it is the same" <(gunzip -c <"$work/there.gz" | cksum) <(cksum <"$work/there")
	refused "a process that is not Go's has no memory of Go's" 'expected .*Go' -f --go -o "$work/there"
	end "$pid"
	has "a process that has ended" "$("$GOHEAP" core "$pid" -f -o "$work/there" 2>&1)" "there is no process $pid"
}

# struck SIGNAL COUNT: goheap is sent it while the process stands, and at other moments.
struck() {
	local i
	for ((i = 0; i < $2; i++)); do
		# One that is to be replaced has a name of its own for a moment, which nobody can remove who is killed.
		rm -f "$work/core"
		"$work/strike" "$pid" "$1" $((RANDOM * (i % 3))) $((i % 2)) "$GOHEAP" core "$pid" --force -o "$work/core" 2>"$work/why"
	done
}

strikes() {
	if ! "$CC" -O1 -w -o "$work/strike" "$work/strike.c" 2>"$work/why" || ! "$CC" -O1 -w -pthread -o "$work/kinds" "$work/kinds.c" 2>>"$work/why"; then
		skip "goheap is killed or stopped" "$(tail -n 1 "$work/why")"
		return
	fi
	start "$work/kinds" 100 1000 "$work/deleted"
	for signal in KILL STOP TSTP TERM INT; do
		struck "$(kill -l "$signal")" 6
	done >"$work/struck"
	equal "30 times goheap was killed or stopped: the process goes on" 30 "$(grep -cE '^(stood|ran)$' "$work/struck")"
	has "some of them while it stood" "$(cat "$work/struck")" '^stood'
	equal "nothing is left of those" '' "$(find "$work" -name '*.tmp')"
	end "$pid"
}

# moments: the memory of a process that writes all the time is that of one moment.
moments() {
	local address i
	if ! "$CC" -O1 -w -o "$work/writes" "$work/writes.c" 2>"$work/why"; then
		skip "memory of one moment" "$(tail -n 1 "$work/why")"
		return
	fi
	start "$work/writes" 100
	read -r _ address <"$work/output"
	for i in 1 2 3; do
		"$GOHEAP" core "$pid" -f -o "$work/core" 2>"$work/told"
		has "memory of one moment, $i" "$("$work/writes" "$work/core" "$address")" '^([0-9]+) of \1 bytes, 0 bad, last [1-9][0-9]*, 0 lost$'
	done
	end "$pid"
}

outputs
strikes
moments
check_c "C, 500 threads" 500 10
check_c "C, 5,000 mappings" 2 5000 -static-pie
if needs_386 "C, 32 bits"; then
	check_c "C, 32 bits" 20 100 -m32
fi
for release in $(formats 1.19 1.27); do
	CGO_ENABLED=0 check_go "Go $release" "$release" memory
	! is_newest "$release" || CGO_ENABLED=0 check_go "Go $release, PIE" "$release" memory -buildmode=pie
done
finish
