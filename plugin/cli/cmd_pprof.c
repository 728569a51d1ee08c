/* goheap pprof: the allocation profile in a heap dump, or what holds the heap, for `go tool pprof'.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/profile/profile.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/paths.h"
#include "plugin/view/view.h"

/* A program that samples more often than this samples each allocation. */
#define LEAST_RATE 512

/* The bytes in use by the profile of DUMP, if one in RATE was sampled. */
static uint64_t bytes_in_use(const struct gh_dump *dump, uint64_t rate)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_PROFILE); i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_PROFILE, i, &record);
		uint64_t bytes, count = gh_profile_inuse(&record.profile);
		gh_pprof_scale(rate, record.profile.size, &count, &bytes);
		sum = bytes <= UINT64_MAX - sum ? sum + bytes : UINT64_MAX;
	}
	return sum;
}

/* Says if the heap is much smaller than the profile scaled by RATE is, which is then not what the
 * program set runtime.MemProfileRate to; and what that may have been. */
static void check_rate(const struct gh_dump *dump, uint64_t rate)
{
	char scaled[GH_SIZE_TEXT], heap[GH_SIZE_TEXT];
	uint64_t bytes = bytes_in_use(dump, rate), fits = rate;
	if (bytes / 2 <= dump->objects.bytes)
		return;
	while (fits > 1 && bytes_in_use(dump, fits) > dump->objects.bytes)
		fits = fits / 2 < LEAST_RATE ? 1 : fits / 2;
	gh_say("%s: by a MemProfileRate of %" PRIu64
	       " the profile is of %s in use, of a heap of %s: --rate %" PRIu64 " would fit",
	       dump->path, rate, gh_size_text(bytes, scaled),
	       gh_size_text(dump->objects.bytes, heap), fits);
}

/* Finds what is live, of each stack. On failure prints the error and returns false. */
static bool find_live(struct gh_profile *profile, uint64_t rate)
{
	struct gh_heap heap;
	struct gh_dominators dominators;
	struct gh_error err;
	bool found = false;
	gh_progress_begin("goheap: following the pointers of", profile->dump.path);
	if (gh_heap_build(&heap, &profile->dump, &err)) {
		if (gh_dominators_build(&dominators, &heap, &err)) {
			found = gh_live_stacks_make(&profile->live, &profile->allocations, &heap,
						    &dominators, rate, &err);
			gh_dominators_free(&dominators);
		}
		gh_heap_free(&heap);
	}
	gh_progress_end();
	if (!found)
		gh_print_error(&err);
	return found;
}

static bool write_pprof(const struct gh_options *options)
{
	struct gh_profile profile;
	struct gh_error err;
	bool written = false;
	if (gh_profile_open(&profile, options) &&
	    (!options->live || find_live(&profile, options->raw ? 1 : options->rate))) {
		if (!options->raw)
			check_rate(&profile.dump, options->rate);
		/* pprof looks for the program from wherever it is run. */
		char *path = profile.program != NULL ? realpath(profile.program, NULL) : NULL;
		if (profile.program != NULL && path == NULL && errno == ENOMEM)
			gh_leave_out();
		struct gh_pprof pprof = {
		    .allocations = &profile.allocations,
		    .rate = options->rate,
		    .raw = options->raw,
		    .live = options->live ? &profile.live : NULL,
		    .program = profile.program != NULL ? &profile.symbols.program.image : NULL,
		    .program_path = path != NULL ? path : "",
		    .bias = profile.symbols.bias,
		};
		gh_progress_begin("goheap: writing", options->output);
		written = gh_pprof_write(&pprof, options->output, &err);
		gh_progress_end();
		if (!written)
			gh_print_error(&err);
		free(path);
	}
	gh_profile_close(&profile);
	return written;
}

/* Answers `goheap pprof --paths'. */
static int write_paths(struct gh_heap_query *query)
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

int gh_cmd_pprof(const struct gh_options *options)
{
	if (options->paths)
		return gh_heap_query_run(options, GH_WITH_NAMES, write_paths);
	return write_pprof(options) ? GH_EXIT_OK : GH_EXIT_INPUT;
}
