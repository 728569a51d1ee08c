#include "lib/pclntab/internal.h"

/* The most runs of no length that are passed over at one pc: the linker for s390x writes some, and
 * a table full of them, shared by many functions, would be read again for each. */
#define MAX_EMPTY_RUNS 16

void gh_pcvalue_start(struct gh_pcvalue *walk, const struct gh_pclntab *tab,
		      const struct gh_func *func, uint32_t offset)
{
	*walk = (struct gh_pcvalue){
	    .cur = tab->pctab,
	    .start = func->entry,
	    .end = func->entry,
	    .value = -1,
	    .quantum = tab->quantum,
	    .first = true,
	};
	gh_cursor_seek(&walk->cur, offset);
	if (offset == 0)
		walk->cur.failed = true;
}

/* Reads the next run, which may be of no length. */
static bool read_run(struct gh_pcvalue *walk)
{
	struct gh_cursor *cur = &walk->cur;
	uint64_t pc = walk->end;
	uint32_t delta = (uint32_t)gh_cursor_uvarint(cur);
	uint64_t length = (uint32_t)gh_cursor_uvarint(cur) * (uint64_t)walk->quantum;
	bool last = delta == 0 && !walk->first;
	if (cur->failed || last || length > UINT64_MAX - pc) {
		cur->failed = true;
		return false;
	}
	walk->first = false;
	/* Zig-zag: the lowest bit is the sign. The sum wraps as the runtime's does. */
	walk->value = (int32_t)((uint32_t)walk->value + (delta >> 1 ^ -(delta & 1)));
	walk->start = pc;
	walk->end = pc + length;
	return true;
}

bool gh_pcvalue_next(struct gh_pcvalue *walk)
{
	for (int i = 0; i <= MAX_EMPTY_RUNS; i++) {
		if (!read_run(walk))
			return false;
		if (walk->start < walk->end)
			return true;
	}
	walk->cur.failed = true;
	return false;
}

int32_t gh_pcvalue_at(const struct gh_pclntab *tab, const struct gh_func *func, uint32_t offset,
		      uint64_t pc)
{
	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, tab, func, offset);
	while (gh_pcvalue_next(&walk))
		if (pc < walk.end)
			return pc >= walk.start ? walk.value : -1;
	return -1;
}

void gh_pcvalue_write_start(struct gh_pcvalue_writer *writer, struct gh_buffer *out, uint64_t entry,
			    uint8_t quantum)
{
	*writer = (struct gh_pcvalue_writer){
	    .out = out, .pc = entry, .end = entry, .quantum = quantum, .written = -1};
}

/* Writes the run that is pending. */
static void flush(struct gh_pcvalue_writer *writer)
{
	uint32_t delta = (uint32_t)writer->value - (uint32_t)writer->written;
	gh_buffer_uleb128(writer->out, delta << 1 ^ -(delta >> 31));
	gh_buffer_uleb128(writer->out, (writer->end - writer->pc) / writer->quantum);
	writer->pc = writer->end;
	writer->written = writer->value;
}

void gh_pcvalue_write_run(struct gh_pcvalue_writer *writer, uint64_t end, int32_t value)
{
	if (end <= writer->end)
		return;
	if (writer->pending && writer->value != value)
		flush(writer);
	writer->pending = true;
	writer->value = value;
	writer->end = end;
}

void gh_pcvalue_write_end(struct gh_pcvalue_writer *writer)
{
	if (writer->pending)
		flush(writer);
	gh_buffer_u8(writer->out, 0);
}
