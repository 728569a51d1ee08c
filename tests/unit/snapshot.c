#include "tests/unit/snapshot.h"

#include <check.h>
#include <stdlib.h>

void snapshot_make_of(struct snapshot *snapshot, const struct synthetic *what, int minor)
{
	*snapshot = (struct snapshot){0};
	fixture_open_as(&snapshot->program, what);
	snapshot->maker = (struct processmaker){
	    .what = *what,
	    .minor = minor,
	    .link_register = snapshot->program.image.arch->link_register,
	};
	process_make(&snapshot->maker);
	struct gh_moduledata *module = &snapshot->program.tab.module;
	module->bss = PROCESS_ADDRESS;
	module->ebss = PROCESS_ADDRESS + PROCESS_BSS;
	snapshot->process = (struct gh_process){
	    .memory = {.source = &snapshot->memory, .big_endian = snapshot->maker.what.big_endian},
	    .tab = &snapshot->program.tab,
	    .minor = snapshot->maker.minor,
	    .threads = &snapshot->thread,
	    .nthreads = 1,
	};
}

void snapshot_make(struct snapshot *snapshot, int number)
{
	struct synthetic what = fixture_variant(number);
	snapshot_make_of(snapshot, &what, number & 4 ? 22 : 25);
}

bool snapshot_take(struct snapshot *snapshot)
{
	struct gh_error *err = &snapshot->err;
	snapshot->memory = process_memory(&snapshot->maker);
	if (!gh_snapshot_make(&snapshot->bytes, &snapshot->process, "go1.0", &snapshot->lost, err))
		return false;
	ck_assert_msg(gh_dump_open_memory(&snapshot->dump, snapshot->bytes.data,
					  snapshot->bytes.size, "snapshot", err),
		      "%s", err->text);
	return true;
}

void snapshot_release(struct snapshot *snapshot)
{
	gh_dump_close(&snapshot->dump);
	gh_buffer_free(&snapshot->bytes);
	gh_process_memory_free(&snapshot->process.memory);
	free(snapshot->maker.bytes);
	fixture_close(&snapshot->program);
}

void snapshot_set(struct snapshot *snapshot, int number, unsigned offset, uint64_t value)
{
	process_put_word(&snapshot->maker,
			 process_goroutine(number) + offset * snapshot->maker.what.word, value);
}

size_t snapshot_count(const struct snapshot *snapshot, enum gh_dump_kind kind)
{
	return gh_dump_count(&snapshot->dump, kind);
}

struct gh_dump_goroutine snapshot_goroutine(const struct snapshot *snapshot, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(&snapshot->dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine;
}

void snapshot_check_stack(const struct snapshot *snapshot, size_t number)
{
	static const uint32_t entries[PROCESS_FRAMES] = {0x50, 0, 0x70};
	static const uint32_t pcs[PROCESS_FRAMES] = {0x60, 0x20, 0x74};
	static const uint32_t sizes[PROCESS_FRAMES] = {16, 24, 0};
	const struct gh_dump_stack *stack = gh_dump_stack(&snapshot->dump, number);
	unsigned pushed = snapshot->maker.link_register ? 0 : snapshot->maker.what.word;
	uint64_t sp = process_stack((int)number);
	ck_assert_uint_eq(stack->nframes, PROCESS_FRAMES);
	for (unsigned i = 0; i < PROCESS_FRAMES; i++) {
		struct gh_dump_record record;
		gh_dump_get(&snapshot->dump, GH_DUMP_FRAME, stack->first_frame + i, &record);
		ck_assert_uint_eq(record.frame.entry, SYNTHETIC_TEXT + entries[i]);
		ck_assert_uint_eq(record.frame.pc, SYNTHETIC_TEXT + pcs[i]);
		ck_assert_uint_eq(record.frame.sp, sp);
		sp += sizes[i] + pushed;
	}
}
