#include "lib/pclntab/internal.h"

/* What the codes do: 0 adds the four bytes that follow to the line, those up to the first of these
 * add themselves, those up to the second subtract what they are above the first, and the others add
 * what they are above the second to the pc. Each change of the line is worth one more step. */
#define LAST_ADDED      64
#define LAST_SUBTRACTED 128

/* Adds SIZE bytes to the pc, which sticks to the end of the address space. */
static void add_pc(struct gh_plan9_lines *walk, uint64_t size)
{
	if (__builtin_add_overflow(walk->end, size, &walk->end))
		walk->end = UINT64_MAX;
}

/* The end of the run is where the line changes next. */
static void find_end(struct gh_plan9_lines *walk)
{
	struct gh_cursor *cur = &walk->cur;
	while (gh_cursor_left(cur) > 0 && *cur->pos > LAST_SUBTRACTED)
		add_pc(walk, (uint64_t)(gh_cursor_u8(cur) - LAST_SUBTRACTED) * walk->quantum);
	if (gh_cursor_left(cur) == 0)
		walk->end = UINT64_MAX;
}

void gh_plan9_lines_start(struct gh_plan9_lines *walk, struct gh_cursor cur, uint64_t text,
			  uint8_t quantum)
{
	*walk = (struct gh_plan9_lines){.cur = cur, .start = text, .end = text, .quantum = quantum};
	walk->cur.big_endian = true;
	find_end(walk);
}

/* Reads a change of the line. */
static void change_line(struct gh_plan9_lines *walk)
{
	uint8_t code = gh_cursor_u8(&walk->cur);
	uint32_t line = (uint32_t)walk->line;
	if (code == 0)
		line += gh_cursor_u32(&walk->cur);
	else if (code <= LAST_ADDED)
		line += code;
	else
		line -= (uint32_t)(code - LAST_ADDED);
	walk->line = (int32_t)line;
}

void gh_plan9_lines_seek(struct gh_plan9_lines *walk, uint64_t pc)
{
	while (walk->end <= pc && walk->end < UINT64_MAX) {
		walk->start = walk->end;
		change_line(walk);
		add_pc(walk, walk->quantum);
		find_end(walk);
	}
}
