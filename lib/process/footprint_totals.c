#include "lib/dump/record.h"
#include "lib/process/dump_parts.h"

/* What there is of objects, and of the runtime's own. */
static void add_objects(struct gh_footprint *footprint, struct gh_process *process,
			const struct gh_spans *spans)
{
	static const enum gh_dump_counter own[] = {GH_DUMP_MSPAN_SYS, GH_DUMP_MCACHE_SYS,
						   GH_DUMP_BUCKHASH_SYS, GH_DUMP_GC_SYS,
						   GH_DUMP_OTHER_SYS};
	struct gh_dump_memstats stats;
	struct gh_dump_totals totals = {0};
	gh_dump_count_objects(spans, process, &totals);
	gh_memstats_find(&stats, &footprint->collections, process, spans, &totals);
	footprint->objects = totals.bytes;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		footprint->runtime += stats.counters[own[i]];
}

/* Sums up the goroutines' stacks, and notes the largest. */
static void add_stacks(struct gh_footprint *footprint, struct gh_process *process)
{
	struct gh_goroutines all;
	struct gh_goroutine g;
	struct gh_error err;
	if (!gh_goroutines_find(&all, process, &err))
		return;
	while (gh_goroutines_next(&all, process, &g)) {
		uint64_t size = g.stack_high > g.stack_low ? g.stack_high - g.stack_low : 0;
		footprint->stacks += size;
		if (size <= footprint->deepest)
			continue;
		footprint->deepest = size;
		footprint->deepest_id = g.id;
	}
	gh_goroutines_free(&all);
}

void gh_footprint_add_totals(struct gh_footprint *footprint, struct gh_process *process,
			     const struct gh_spans *spans)
{
	add_stacks(footprint, process);
	add_objects(footprint, process, spans);
}
