/* goheap hang: the first look at a process that does not go on. */
#include <inttypes.h>
#include <stdio.h>

#include "plugin/cli/command.h"
#include "plugin/cli/wait_query.h"

/* How many groups of those that wait are shown. */
#define GROUPS 3

/* What the goroutines do, but for the runtime's own. */
struct census {
	size_t count;
	size_t by_status[GH_DUMP_WAITING + 1];
	uint64_t longest; /* ns that one has waited */
	uint64_t oldest;  /* the id of that one */
};

static struct census take_census(const struct gh_dump *dump)
{
	struct census census = {0};
	struct gh_dump_record record;
	for (size_t i = 0; i < dump->nstacks; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		const struct gh_dump_goroutine *goroutine = &record.goroutine;
		if (goroutine->system)
			continue;
		census.count++;
		if (goroutine->status <= GH_DUMP_WAITING)
			census.by_status[goroutine->status]++;
		uint64_t waited = gh_dump_waited(dump, goroutine);
		if (waited > census.longest) {
			census.longest = waited;
			census.oldest = goroutine->id;
		}
	}
	return census;
}

static void print_census(const struct gh_dump *dump)
{
	static const char *const texts[] = {
	    [GH_DUMP_RUNNING] = "on a thread",
	    [GH_DUMP_RUNNABLE] = "ready to run",
	    [GH_DUMP_SYSCALL] = "in system calls or C",
	    [GH_DUMP_WAITING] = "waiting",
	};
	static const enum gh_dump_status order[] = {GH_DUMP_RUNNING, GH_DUMP_RUNNABLE,
						    GH_DUMP_SYSCALL, GH_DUMP_WAITING};
	struct census census = take_census(dump);
	gh_print_count(census.count, "goroutine");
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		printf("%s%zu %s", i > 0 ? ", " : ": ", census.by_status[order[i]],
		       texts[order[i]]);
	if (census.longest > 0)
		printf("; goroutine %" PRIu64 " has waited longest, for at least %.0f s",
		       census.oldest, (double)census.longest / 1e9);
	putchar('\n');
}

static int answer(struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	print_census(&query->dump);
	puts("What most wait for:");
	bool told = gh_wait_groups_print(query, GROUPS) && gh_wait_find_leaked(&leaked, query);
	if (told)
		gh_wait_print_kept(&leaked);
	int status = told ? gh_deadlocks_print(query, &leaked) : GH_EXIT_INPUT;
	gh_leaked_free(&leaked);
	if (!told)
		return GH_EXIT_INPUT;
	/* Without the program all but that was told. */
	return query->symbols != NULL ? status : GH_EXIT_OK;
}

int gh_cmd_hang(const struct gh_options *options)
{
	return gh_wait_query_run(options, answer);
}
