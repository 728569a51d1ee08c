#include "lib/process/dump_parts.h"
#include "lib/process/internal.h"

/* Adds the heap's spans, and what the runtime has for itself. */
static bool add_all(struct gh_memory_parts *parts, struct gh_process *process, struct gh_error *err)
{
	struct gh_rtypes types = {0};
	struct gh_spans spans = {0};
	bool found =
	    gh_process_types(&types, process, err) && gh_spans_find(&spans, process, &types, err);
	if (found)
		gh_own_memory_find(parts, process, &spans);
	for (size_t i = 0; found && i < spans.list.count; i++) {
		const struct gh_span *span = &spans.list.items[i];
		struct gh_memory_part part = {span->start, span->start + span->size};
		gh_vector_push(parts, part);
	}
	gh_memory_parts_merge(parts);
	gh_spans_free(&spans);
	gh_rtypes_free(&types);
	return found && (!parts->failed || gh_fail_memory(err, process->tab->image->path));
}

bool gh_live_go_memory(struct gh_memory_parts *parts, int pid, const struct gh_pclntab *tab,
		       int minor, struct gh_error *err)
{
	struct gh_memory memory = gh_live_memory(&pid);
	uint64_t entry = gh_live_entry(pid, tab->image->arch);
	struct gh_process process = gh_live_process(&memory, tab, minor, entry);
	/* What counts and lists can be is bounded by it. */
	memory.size = gh_footprint_resident(pid);
	bool found = (entry != 0 || gh_stopped_fail(pid, err)) && add_all(parts, &process, err);
	gh_process_memory_free(&process.memory);
	return found;
}
