#include "lib/process/dump_parts.h"

#include "lib/dump/record.h"

/* Threads that are followed from one to the next, unless to make work. */
#define MAX_THREADS (1U << 20)

/* Reads the layout of LIST from the type M. */
static bool read_layout(struct gh_m_list *list, const struct gh_rtypes *types,
			const struct gh_rtype *m)
{
	const struct {
		const char *name;
		uint64_t *offset;
	} fields[] = {
	    {"procid", &list->os_id},     {"id", &list->id},          {"alllink", &list->next},
	    {"gsignal", &list->signal_g}, {"curg", &list->current_g}, {"lockedg", &list->locked_g},
	    {"incgo", &list->in_c},       {"dying", &list->dying},
	};
	struct gh_rtype_part part;
	*list = (struct gh_m_list){0};
	for (uint32_t i = 0; i < m->nparts && gh_rtype_part(types, m, i, &part); i++)
		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			if (gh_rtype_text_is(part.name, fields[k].name))
				*fields[k].offset = part.offset;
	return list->os_id != 0 && list->id != 0 && list->next != 0;
}

static bool find_layout(struct gh_m_list *list, const struct gh_rtypes *types)
{
	uint32_t m = gh_rtypes_struct(types, "runtime.m", 0);
	while (m != GH_NO_RTYPE && !read_layout(list, types, &types->items[m]))
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
			      const struct gh_m_list *list, uint64_t address, unsigned *left)
{
	unsigned count = 0;
	while (*left > 0 && is_thread(process, all, address)) {
		address = gh_process_word(process, address + list->next);
		count++;
		--*left;
	}
	return count;
}

bool gh_m_list_find(struct gh_m_list *list, struct gh_process *process,
		    const struct gh_rtypes *types, const struct gh_goroutines *all)
{
	if (!find_layout(list, types))
		return false;
	const struct gh_moduledata *module = &process->tab->module;
	unsigned left = MAX_THREADS;
	unsigned word = process->tab->pointer_size;
	uint64_t at = module->bss + process->bias;
	uint64_t end = module->ebss + process->bias;
	uint64_t address;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &address); at += word) {
		unsigned count = count_threads(process, all, list, address, &left);
		if (count > list->count) {
			list->count = count;
			list->first = address;
		}
	}
	return list->count > 0;
}

void gh_dump_add_threads(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_rtypes *types, const struct gh_goroutines *all)
{
	struct gh_buffer *out = &stream->bytes;
	struct gh_m_list list;
	if (!gh_m_list_find(&list, process, types, all))
		return;
	uint64_t at = list.first;
	for (; list.count > 0; list.count--) {
		uint64_t id, os_id;
		gh_process_uint(&process->memory, at + list.id, 8, &id);
		gh_process_uint(&process->memory, at + list.os_id, 8, &os_id);
		gh_buffer_uleb128(out, GH_DUMP_THREAD);
		gh_buffer_uleb128(out, at);
		gh_buffer_uleb128(out, id);
		gh_buffer_uleb128(out, os_id);
		gh_dump_stream_pass(stream);
		at = gh_process_word(process, at + list.next);
	}
}
