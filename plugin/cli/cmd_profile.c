/* goheap pprof and goheap profile: the allocation profile in a heap dump. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/profile/profile.h"
#include "lib/util/escape.h"
#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A program that samples more often than this samples each allocation. */
#define LEAST_RATE 512

/* A dump's profile. */
struct profile {
	struct gh_dump dump;
	struct gh_symbols symbols; /* zeros if no program is given */
	struct gh_allocations allocations;
	struct gh_live_stacks live; /* zeros if that is not asked for */
	char running[32];           /* path of the program that a process runs, if none is given */
	const char *program;        /* that or the one that is given; NULL if there is none */
};

static void close_profile(struct profile *profile)
{
	gh_live_stacks_free(&profile->live);
	gh_allocations_free(&profile->allocations);
	gh_symbols_close(&profile->symbols);
	gh_dump_close(&profile->dump);
}

/* The records that say that more was freed than allocated. */
static void warn(const struct gh_dump *dump)
{
	size_t wrong = 0;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_PROFILE); i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_PROFILE, i, &record);
		wrong += record.profile.frees > record.profile.allocations;
	}
	gh_print_warning(dump->path, wrong, "profile records with more freed than allocated");
}

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
	fputs("goheap: ", stderr);
	gh_escape_print(stderr, dump->path);
	fprintf(stderr,
		": by a MemProfileRate of %" PRIu64 " the profile is of %s in use, of a heap of "
		"%s: --rate %" PRIu64 " would fit\n",
		rate, gh_size_text(bytes, scaled), gh_size_text(dump->objects.bytes, heap), fits);
}

/* Reads the profile that OPTIONS name. To be closed in any case; on failure prints the error and
 * returns false. */
static bool open_profile(struct profile *profile, const struct gh_options *options)
{
	struct gh_error err;
	*profile = (struct profile){0};
	profile->program = gh_options_program(options, profile->running);
	if (!gh_check_output(options->output, options->file) ||
	    !gh_check_output(options->output, options->program) ||
	    !gh_heap_query_dump(&profile->dump, options, options->file) ||
	    (profile->program != NULL &&
	     !gh_symbols_open(&profile->symbols, &profile->dump, profile->program)))
		return false;
	if (gh_dump_count(&profile->dump, GH_DUMP_PROFILE) == 0) {
		gh_fail(&err, options->file, GH_NO_OFFSET, "an allocation profile",
			"none: the program did not sample (MemProfileRate 0, or it has no use of "
			"runtime.MemProfile)");
		gh_print_error(&err);
		return false;
	}
	const struct gh_pclntab *tab =
	    profile->program != NULL ? &profile->symbols.program.tab : NULL;
	if (!gh_allocations_make(&profile->allocations, &profile->dump, tab, &err)) {
		gh_print_error(&err);
		return false;
	}
	warn(&profile->dump);
	return true;
}

/* Finds what is live, of each stack. On failure prints the error and returns false. */
static bool find_live(struct profile *profile, uint64_t rate)
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
	struct profile profile;
	struct gh_error err;
	bool written = false;
	if (open_profile(&profile, options) &&
	    (!options->live || find_live(&profile, options->raw ? 1 : options->rate))) {
		if (!options->raw)
			check_rate(&profile.dump, options->rate);
		/* pprof looks for the program from wherever it is run. */
		char *path = profile.program != NULL ? realpath(profile.program, NULL) : NULL;
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
	close_profile(&profile);
	return written;
}

int gh_cmd_pprof(const struct gh_options *options)
{
	if (options->paths)
		return gh_heap_query_run(options, GH_WITH_NAMES, gh_pprof_paths);
	return write_pprof(options) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static bool print_profile(const struct gh_options *options)
{
	struct profile profile;
	bool printed = open_profile(&profile, options);
	gh_print_in_blocks();
	if (printed && options->json) {
		gh_profiletext_print_json(&profile.allocations);
	} else if (printed && !gh_profiletext_print(&profile.allocations, options->rate)) {
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
		printed = false;
	}
	close_profile(&profile);
	return printed;
}

int gh_cmd_profile(const struct gh_options *options)
{
	return print_profile(options) ? GH_EXIT_OK : GH_EXIT_INPUT;
}
