/* goheap diff: what has grown from one heap dump to a later one. */
#include <stdio.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/suspects.h"

int gh_cmd_diff(const struct gh_options *options)
{
	int status = GH_EXIT_INPUT;
	struct gh_heap_query *newer =
	    gh_heap_query_open(options, options->newer, GH_WITH_DOMINATORS);
	struct gh_heap_query *older =
	    newer != NULL ? gh_heap_query_open(options, options->file, GH_WITH_DOMINATORS) : NULL;
	if (older != NULL)
		gh_heap_query_compare(older, newer);
	if (older != NULL &&
	    gh_growth_print(stdout, older, newer, options->grouping, options->limit, options->json))
		status = GH_EXIT_OK;
	else if (older != NULL)
		gh_say(GH_OUT_OF_MEMORY);
	gh_heap_query_close(older);
	gh_heap_query_close(newer);
	return status;
}
