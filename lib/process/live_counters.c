#include "lib/process/dump_parts.h"
#include "lib/process/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/util/process_list.h"

/* The heap's counters are looked for so often: they change while they are. */
#define TRIES 5

/* Fields of /proc/PID/stat; stime is the one after utime. */
enum { STATE = 3, UTIME = 14 };

/* Reads the beginning of NAME in /proc/PID into TEXT; "" if it cannot be read. */
static void read_start(char *text, size_t size, int pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	gh_proc_read(text, size, path);
}

/* Reads the bytes in memory from /proc/PID/statm: to add up all mappings would take long. */
static uint64_t read_resident(int pid)
{
	char text[128];
	char *end;
	read_start(text, sizeof(text), pid, "statm");
	strtoull(text, &end, 10);
	return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Finds the counters of the collector. */
static void find_heap(struct gh_live_counters *counters, struct gh_process *process)
{
	struct gh_error err;
	struct gh_rtypes types = {0};
	struct gh_spans spans = {0};
	struct gh_dump_totals totals = {0};
	struct gh_dump_memstats stats;
	struct gh_collections collections = {0};
	if (gh_rtypes_find(&types, process->tab, &err) &&
	    gh_spans_find(&spans, process, &types, &err)) {
		for (size_t i = 0; i < spans.list.count; i++)
			totals.in_use += spans.list.items[i].size;
		gh_memstats_find(&stats, &collections, process, &spans, &totals);
	}
	counters->heap = collections.in_use_at;
	counters->collections = collections.count_at;
	gh_spans_free(&spans);
	gh_rtypes_free(&types);
}

static void find_goroutines(struct gh_live_counters *counters, struct gh_process *process)
{
	struct gh_error err;
	struct gh_goroutines all;
	if (!gh_goroutines_find(&all, process, &err))
		return;
	counters->goroutines = all.count_at;
	gh_goroutines_free(&all);
}

void gh_live_counters_find(struct gh_live_counters *counters, int pid, const struct gh_pclntab *tab,
			   int minor)
{
	const struct gh_arch *arch = tab->image->arch;
	struct gh_memory memory = gh_live_memory(&pid);
	uint64_t entry = gh_live_entry(pid, arch);
	*counters = (struct gh_live_counters){
	    .pid = pid, .big_endian = arch->big_endian, .word = arch->pointer_size};
	/* What counts and lists can be is bounded by it. */
	memory.size = read_resident(pid);
	struct gh_process process = gh_live_process(&memory, tab, minor, entry);
	if (entry == 0)
		return;
	find_goroutines(counters, &process);
	for (unsigned i = 0; i < TRIES && counters->heap == 0; i++) {
		gh_process_memory_free(&process.memory);
		find_heap(counters, &process);
	}
	gh_process_memory_free(&process.memory);
}

/* The integer of SIZE bytes at ADDRESS; 0 if it cannot be read. */
static uint64_t read_counter(const struct gh_live_counters *counters, uint64_t address,
			     unsigned size)
{
	uint8_t bytes[8];
	struct gh_memory memory = gh_live_memory(&counters->pid);
	if (address == 0 || !memory.read(&memory, address, bytes, size))
		return 0;
	struct gh_cursor cur = gh_cursor_make(bytes, size, "memory", 0, counters->big_endian);
	return gh_cursor_uint(&cur, size);
}

/* Reads the processor time from /proc/PID/stat. False if the process has ended, or is a zombie. */
static bool read_processors(struct gh_live_sample *sample, int pid)
{
	char text[1024];
	read_start(text, sizeof(text), pid, "stat");
	const char *state = gh_proc_stat_field(text, STATE);
	const char *times = gh_proc_stat_field(text, UTIME);
	char *rest;
	if (state == NULL || *state == 'Z' || *state == 'X' || times == NULL)
		return false;
	uint64_t user = strtoull(times, &rest, 10);
	uint64_t ticks = user + strtoull(rest, NULL, 10);
	sample->processors = ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

bool gh_live_counters_read(const struct gh_live_counters *counters, struct gh_live_sample *sample)
{
	*sample = (struct gh_live_sample){0};
	if (!read_processors(sample, counters->pid))
		return false;
	sample->resident = read_resident(counters->pid);
	sample->heap = read_counter(counters, counters->heap, 8);
	sample->collections = read_counter(counters, counters->collections, 4);
	sample->goroutines = read_counter(counters, counters->goroutines, counters->word);
	return true;
}
