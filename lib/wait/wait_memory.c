#include <string.h>

#include "lib/wait/internal.h"

/* Frames of what waits take less, in bytes. */
#define MOST_FRAME (1 << 20)

uint64_t gh_wait_uint(const struct gh_dump *dump, uint64_t address, unsigned size)
{
	struct gh_cursor cur;
	uint8_t bytes[8];
	if (address == 0)
		return 0;
	if (!gh_dump_memory(dump, address, &cur)) {
		if (dump->memory == NULL || !dump->memory->read(dump->memory, address, bytes, size))
			return 0;
		cur = gh_cursor_make(bytes, size, dump->path, 0, dump->file.big_endian);
	}
	uint64_t value = gh_cursor_uint(&cur, size);
	return cur.failed ? 0 : value;
}

uint64_t gh_wait_word(const struct gh_dump *dump, uint64_t address)
{
	return gh_wait_uint(dump, address, dump->word);
}

bool gh_wait_may_be_object(const struct gh_dump *dump, uint64_t address)
{
	return dump->memory != NULL || gh_dump_find_object(dump, address) != GH_DUMP_NONE;
}

struct gh_stack_scan gh_stack_scan_start(const struct gh_dump *dump, size_t number, size_t from,
					 size_t count)
{
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	size_t left = from < stack->nframes ? stack->nframes - from : 0;
	return (struct gh_stack_scan){
	    .dump = dump,
	    .next = stack->first_frame + from,
	    .end = stack->first_frame + from + (count < left ? count : left),
	};
}

/* The bytes of frame NUMBER, at SP, up to its caller's. 0 if that is not known: no dump without its
 * heap has more of a frame than the arguments of what it called. */
static uint64_t frame_size(const struct gh_dump *dump, size_t number, uint64_t sp)
{
	struct gh_dump_record caller;
	if (number + 1 >= gh_dump_count(dump, GH_DUMP_FRAME))
		return 0;
	gh_dump_get(dump, GH_DUMP_FRAME, number + 1, &caller);
	bool follows = caller.frame.depth > 0 && caller.frame.sp > sp;
	uint64_t size = follows ? caller.frame.sp - sp : 0;
	return size <= MOST_FRAME ? size : 0;
}

bool gh_stack_scan_next(struct gh_stack_scan *scan, uint64_t *word)
{
	const struct gh_dump *dump = scan->dump;
	const struct gh_dump_frame *frame = &scan->frame.frame;
	while (gh_cursor_left(&scan->contents) < dump->word && scan->left < dump->word) {
		if (scan->next >= scan->end)
			return false;
		gh_dump_get(dump, GH_DUMP_FRAME, scan->next++, &scan->frame);
		if (dump->memory != NULL)
			scan->left = scan->size = frame_size(dump, scan->next - 1, frame->sp);
		else
			scan->contents = gh_dump_bytes(dump, frame->contents);
	}
	if (dump->memory != NULL) {
		*word = gh_wait_word(dump, frame->sp + (scan->size - scan->left));
		scan->left -= dump->word;
	} else {
		*word = gh_cursor_uint(&scan->contents, dump->word);
	}
	return true;
}

void gh_frame_pointers_start(struct gh_frame_pointers *walk, const struct gh_dump *dump,
			     size_t number)
{
	*walk = (struct gh_frame_pointers){.dump = dump};
	gh_dump_get(dump, GH_DUMP_FRAME, number, &walk->frame);
	gh_dump_fields(dump, &walk->frame, &walk->fields);
}

bool gh_frame_pointers_next(struct gh_frame_pointers *walk, uint64_t *word)
{
	const struct gh_dump *dump = walk->dump;
	while (walk->left == 0) {
		if (!gh_fields_next(&walk->fields, &walk->field))
			return false;
		walk->left = gh_field_words(walk->field.kind);
	}
	unsigned i = gh_field_words(walk->field.kind) - walk->left--;
	*word = gh_wait_word(dump, walk->frame.frame.sp + walk->field.offset + i * dump->word);
	return true;
}

bool gh_wait_frame_is(const struct gh_dump *dump, size_t number, size_t depth, const char *name)
{
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	struct gh_dump_record record;
	if (depth >= stack->nframes)
		return false;
	gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + depth, &record);
	struct gh_cursor found = gh_dump_bytes(dump, record.frame.function);
	size_t length = strlen(name);
	bool prefix = name[length - 1] == '*';
	length -= prefix;
	return (prefix ? gh_cursor_left(&found) >= length : gh_cursor_left(&found) == length) &&
	       memcmp(found.pos, name, length) == 0;
}

size_t gh_wait_frame_find(const struct gh_dump *dump, size_t number, size_t count, const char *name)
{
	for (size_t depth = 0; depth < count; depth++)
		if (gh_wait_frame_is(dump, number, depth, name))
			return depth;
	return GH_DUMP_NONE;
}

bool gh_wait_lacks_frames(const struct gh_dump *dump)
{
	return dump->lost.goroutines > 0 || dump->lost.stacks > 0 ||
	       dump->warning.text[0] != '\0' || dump->damage.orphan_frames > 0 ||
	       dump->damage.misplaced_frames > 0;
}
