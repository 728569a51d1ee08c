/* goheap pprof and goheap profile: the allocation profile in a heap dump. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/profile/pprof.h"
#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/view/open_dump.h"
#include "plugin/view/profile_text.h"
#include "plugin/view/progress.h"
#include "plugin/view/symbols.h"

#define OUTPUT_BUFFER (1 << 18)

enum {
	KEY_RATE = 0x100, /* past the letters: there is no short option */
	KEY_RAW,
	KEY_LIVE,
	KEY_JSON,
};

struct arguments {
	const char *dump;    /* the dump; in argv */
	const char *program; /* the program that wrote it; in argv, NULL if not given */
	const char *output;  /* the file to write; in argv, NULL if not given */
	uint64_t rate;       /* MemProfileRate; in bytes */
	bool raw;            /* do not scale */
	bool live;           /* what is live, and what it retains */
	bool json;           /* print JSON */
};

/* A dump's profile. */
struct profile {
	struct gh_dump dump;
	struct gh_symbols symbols; /* zeros if no program is given */
	struct gh_allocations allocations;
	struct gh_live_stacks live; /* zeros if that is not asked for */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case 'e':
		arguments->program = arg;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_RATE:
		arguments->rate = gh_options_number(arg, INT64_MAX, state);
		return 0;
	case KEY_RAW:
		arguments->raw = true;
		return 0;
	case KEY_LIVE:
		arguments->live = true;
		return 0;
	case KEY_JSON:
		arguments->json = true;
		return 0;
	default:
		return gh_options_one(key, arg, state, &arguments->dump);
	}
}

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

/* Reads the profile that ARGUMENTS name. To be closed in any case; on failure prints the error and
 * returns false. */
static bool open_profile(struct profile *profile, const struct arguments *arguments)
{
	struct gh_error err;
	*profile = (struct profile){0};
	if (!gh_check_output(arguments->output, arguments->dump) ||
	    !gh_check_output(arguments->output, arguments->program) ||
	    !gh_dumpfile_open(&profile->dump, arguments->dump) ||
	    (arguments->program != NULL &&
	     !gh_symbols_open(&profile->symbols, &profile->dump, arguments->program)))
		return false;
	if (gh_dump_count(&profile->dump, GH_DUMP_PROFILE) == 0) {
		gh_fail(&err, arguments->dump, GH_NO_OFFSET, "an allocation profile",
			"none: the program did not sample (MemProfileRate 0, or it has no use of "
			"runtime.MemProfile)");
		gh_print_error(&err);
		return false;
	}
	const struct gh_pclntab *tab =
	    arguments->program != NULL ? &profile->symbols.program.tab : NULL;
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

static bool write_pprof(const struct arguments *arguments)
{
	struct profile profile;
	struct gh_error err;
	bool written = false;
	if (open_profile(&profile, arguments) &&
	    (!arguments->live || find_live(&profile, arguments->raw ? 1 : arguments->rate))) {
		/* pprof looks for the program from wherever it is run. */
		char *path = arguments->program != NULL ? realpath(arguments->program, NULL) : NULL;
		struct gh_pprof pprof = {
		    .allocations = &profile.allocations,
		    .rate = arguments->rate,
		    .raw = arguments->raw,
		    .live = arguments->live ? &profile.live : NULL,
		    .program = arguments->program != NULL ? &profile.symbols.program.image : NULL,
		    .program_path = path != NULL ? path : "",
		    .bias = profile.symbols.bias,
		};
		gh_progress_begin("goheap: writing", arguments->output);
		written = gh_pprof_write(&pprof, arguments->output, &err);
		gh_progress_end();
		if (!written)
			gh_print_error(&err);
		free(path);
	}
	close_profile(&profile);
	return written;
}

int gh_cmd_pprof(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "output", .key = 'o', .arg = "OUT", .doc = "Write OUT (required)"},
	    {.name = "exe", .key = 'e', .arg = "PROGRAM", .doc = "PROGRAM wrote the dump"},
	    {.name = "rate",
	     .key = KEY_RATE,
	     .arg = "BYTES",
	     .doc = "Its MemProfileRate, if not 524288"},
	    {.name = "live",
	     .key = KEY_LIVE,
	     .doc = "Of what roots reach: objects, bytes, and the bytes that would go with them"},
	    {.name = "raw", .key = KEY_RAW, .doc = "What was sampled, not scaled"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "DUMP -o OUT",
	    .doc = "Write the allocation profile in the heap dump DUMP for `go tool pprof'.",
	};
	struct arguments arguments = {.rate = GH_PPROF_RATE};
	gh_arguments_parse(&argp, argc, argv, 0, &arguments);
	if (arguments.output == NULL) {
		argp_help(&argp, stderr, ARGP_HELP_STD_USAGE, argv[0]);
		return GH_EXIT_USAGE;
	}
	return write_pprof(&arguments) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static bool print_profile(const struct arguments *arguments)
{
	struct profile profile;
	bool printed = open_profile(&profile, arguments);
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (printed && arguments->json) {
		gh_profiletext_print_json(&profile.allocations);
	} else if (printed && !gh_profiletext_print(&profile.allocations, arguments->rate)) {
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
		printed = false;
	}
	close_profile(&profile);
	return printed;
}

int gh_cmd_profile(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "exe", .key = 'e', .arg = "PROGRAM", .doc = "PROGRAM wrote the dump"},
	    {.name = "rate",
	     .key = KEY_RATE,
	     .arg = "BYTES",
	     .doc = "Its MemProfileRate, if not 524288"},
	    {.name = "json", .key = KEY_JSON, .doc = "Print JSON instead of text"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "DUMP",
	    .doc = "Print the allocation profile in the heap dump DUMP as Go does (debug=1): what "
		   "was sampled, not scaled.",
	};
	struct arguments arguments = {.rate = GH_PPROF_RATE};
	gh_arguments_parse(&argp, argc, argv, 0, &arguments);
	return print_profile(&arguments) ? GH_EXIT_OK : GH_EXIT_INPUT;
}
