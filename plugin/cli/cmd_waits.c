/* goheap waits: what each blocked goroutine waits for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

static void print_line(struct gh_wait_query *query, const struct gh_wait *wait,
		       const struct gh_dump_goroutine *goroutine)
{
	printf("goroutine %" PRIu64, goroutine->id);
	gh_minutes_print(stdout, gh_dump_waited(&query->dump, goroutine) / GH_NS_PER_MINUTE);
	fputs(": ", stdout);
	gh_wait_print(stdout, query, wait, false);
	gh_wait_print_place(stdout, query, wait->goroutine);
	putchar('\n');
}

static int answer(struct gh_wait_query *query)
{
	const struct gh_options *options = query->options;
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, options->json);
	struct gh_dump_record record;
	if (options->group)
		return gh_wait_groups_print(query, SIZE_MAX, NULL) != SIZE_MAX ? GH_EXIT_OK
									       : GH_EXIT_INPUT;
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (record.goroutine.system && !options->all)
			continue;
		if (options->json)
			gh_wait_emit(&emit, query, wait);
		else
			print_line(query, wait, &record.goroutine);
	}
	return GH_EXIT_OK;
}

static int answer_deadlocks(struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	int status = gh_wait_find_leaked(&leaked, query)
			 ? gh_deadlocks_print(query, &leaked, SIZE_MAX)
			 : GH_EXIT_INPUT;
	gh_leaked_free(&leaked);
	return status;
}

int gh_cmd_waits(const struct gh_options *options)
{
	if (options->json && options->graph) {
		gh_say("--graph is a picture: without --json");
		return GH_EXIT_USAGE;
	}
	return gh_wait_query_run(options, options->deadlocks ? answer_deadlocks
					  : options->graph   ? gh_deadlocks_draw
							     : answer);
}
