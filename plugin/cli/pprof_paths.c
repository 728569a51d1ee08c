/* goheap pprof --paths: what holds the heap. */
#include "plugin/cli/heap_query.h"
#include "plugin/view/paths.h"

int gh_pprof_paths(struct gh_heap_query *query)
{
	const struct gh_options *options = query->options;
	struct gh_error err;
	struct gh_merged_paths paths;
	gh_progress_begin("goheap: writing", options->output);
	bool written = gh_merged_paths_make(&paths, &query->names, &err);
	if (written) {
		struct gh_pprof_tree tree = {
		    .dump = &query->dump,
		    .nodes = paths.nodes.items,
		    .nnodes = paths.nodes.count,
		    .frames = paths.frames.items,
		    .nframes = paths.frames.count,
		};
		written = gh_pprof_write_tree(&tree, options->output, &err);
	}
	gh_progress_end();
	gh_merged_paths_free(&paths);
	if (!written)
		gh_print_error(&err);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
