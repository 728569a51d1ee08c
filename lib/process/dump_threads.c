#include "lib/process/dump_parts.h"

#include "lib/dump/record.h"

/* Threads that are followed from one to the next, unless to make work. */
#define MAX_THREADS (1U << 20)

/* Where runtime.m has its fields, in bytes; its first is g0, whose stack is the thread's. */
struct layout {
	uint64_t os_id; /* procid, 8 bytes */
	uint64_t id;    /* 8 bytes */
	uint64_t next;  /* alllink */
};

/* Reads LAYOUT from the type M. */
static bool read_layout(struct layout *layout, const struct gh_rtypes *types,
			const struct gh_rtype *m)
{
	struct gh_rtype_part part;
	*layout = (struct layout){0};
	for (uint32_t i = 0; i < m->nparts && gh_rtype_part(types, m, i, &part); i++) {
		if (gh_rtype_text_is(part.name, "procid"))
			layout->os_id = part.offset;
		else if (gh_rtype_text_is(part.name, "id"))
			layout->id = part.offset;
		else if (gh_rtype_text_is(part.name, "alllink"))
			layout->next = part.offset;
	}
	return layout->os_id != 0 && layout->id != 0 && layout->next != 0;
}

static bool find_layout(struct layout *layout, const struct gh_rtypes *types)
{
	uint32_t m = gh_rtypes_struct(types, "runtime.m", 0);
	while (m != GH_NO_RTYPE && !read_layout(layout, types, &types->items[m]))
		m = gh_rtypes_struct(types, "runtime.m", m + 1);
	return m != GH_NO_RTYPE;
}

/* What is at ADDRESS is a runtime.m: its g0 points back at it. */
static bool is_thread(struct gh_process *process, const struct gh_goroutines *all, uint64_t address)
{
	if (!gh_process_may_point(process, address))
		return false;
	uint64_t system = gh_process_word(process, address);
	return system >= GH_LEAST_PAGE &&
	       gh_process_word(process, system + all->layout.thread) == address;
}

/* How many threads are on the list that starts with the one at ADDRESS. Takes them off *LEFT. */
static unsigned count_threads(struct gh_process *process, const struct gh_goroutines *all,
			      const struct layout *layout, uint64_t address, unsigned *left)
{
	unsigned count = 0;
	while (*left > 0 && is_thread(process, all, address)) {
		address = gh_process_word(process, address + layout->next);
		count++;
		--*left;
	}
	return count;
}

/* Looks for runtime.allm: the variable that the longest list starts from. Gives its first. */
static uint64_t find_threads(struct gh_process *process, const struct gh_goroutines *all,
			     const struct layout *layout, unsigned *most)
{
	const struct gh_moduledata *module = &process->tab->module;
	unsigned left = MAX_THREADS;
	unsigned word = process->tab->pointer_size;
	uint64_t first = 0;
	uint64_t at = module->bss + process->bias;
	uint64_t end = module->ebss + process->bias;
	uint64_t address;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &address); at += word) {
		unsigned count = count_threads(process, all, layout, address, &left);
		if (count > *most) {
			*most = count;
			first = address;
		}
	}
	return first;
}

void gh_dump_add_threads(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_rtypes *types, const struct gh_goroutines *all)
{
	struct gh_buffer *out = &stream->bytes;
	struct layout layout;
	unsigned count = 0;
	if (!find_layout(&layout, types))
		return;
	uint64_t at = find_threads(process, all, &layout, &count);
	for (; count > 0; count--) {
		uint64_t id, os_id;
		gh_process_uint(&process->memory, at + layout.id, 8, &id);
		gh_process_uint(&process->memory, at + layout.os_id, 8, &os_id);
		gh_buffer_uleb128(out, GH_DUMP_THREAD);
		gh_buffer_uleb128(out, at);
		gh_buffer_uleb128(out, id);
		gh_buffer_uleb128(out, os_id);
		gh_dump_stream_pass(stream);
		at = gh_process_word(process, at + layout.next);
	}
}
