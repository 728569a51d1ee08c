/* Fuzz target: what reads the goroutines of a process. The input's first byte says of what machine
 * and release it is, the others are its memory. */
#include "lib/process/goroutine.h"
#include "lib/process/process.h"
#include "tests/fuzz/process_input.h"
#include "tests/fuzz/target.h"
#include "tests/unit/dumpwalk.h"

/* The process that byte VARIANT stands for, without memory. */
static struct processmaker describe(uint8_t variant)
{
	return (struct processmaker){
	    .what = {.format = SYNTHETIC_1_20,
		     .word = variant & 1 ? 4 : 8,
		     .big_endian = variant & 2},
	    .minor = variant & 4 ? 22 : 25,
	    .link_register = variant & 2, /* s390x and mips */
	};
}

uint8_t *fuzz_seed(int number, size_t *size)
{
	if (number >= 8)
		return NULL;
	struct processmaker maker = describe((uint8_t)number);
	process_make(&maker);
	return process_seed(&maker, (uint8_t)number, size);
}

/* Reads the snapshot of a process, which has no more frames than there are words. */
static void check(const struct gh_buffer *snapshot, uint64_t words)
{
	struct gh_dump dump;
	struct gh_error err;
	require(gh_dump_open_memory(&dump, snapshot->data, snapshot->size, "snapshot", &err));
	require(dump.warning.text[0] == '\0' && dump.damage.misplaced_frames == 0);
	require(gh_dump_count(&dump, GH_DUMP_FRAME) <= words);
	dump_walk(&dump);
	gh_dump_close(&dump);
}

static void read_process(const struct processmaker *maker, struct gh_pclntab *tab, uint8_t variant)
{
	(void)variant;
	const struct gh_memory memory = process_memory(maker);
	const struct gh_registers threads[] = {
	    {.pc = SYNTHETIC_TEXT, .sp = UINT64_MAX},
	    {.pc = SYNTHETIC_TEXT + 0x60, .sp = process_stack(1)},
	};
	struct gh_process process = {
	    .memory = {.source = &memory, .big_endian = maker->what.big_endian},
	    .tab = tab,
	    .minor = maker->minor,
	    .threads = threads,
	    .nthreads = 2,
	};
	struct gh_buffer snapshot = {0};
	uint64_t lost;
	struct gh_error err;
	tab->module.bss = PROCESS_ADDRESS;
	tab->module.ebss = PROCESS_ADDRESS + PROCESS_BSS;
	if (gh_snapshot_make(&snapshot, &process, "go1.0", &lost, &err))
		check(&snapshot, memory.size / maker->what.word);
	gh_buffer_free(&snapshot);
	gh_process_memory_free(&process.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	process_input(data, size, describe, read_process);
	return 0;
}
