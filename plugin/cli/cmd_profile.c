/* goheap profile: the allocation profile in a heap dump. */
#include <stdio.h>

#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

void gh_profile_close(struct gh_profile *profile)
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

bool gh_profile_open(struct gh_profile *profile, const struct gh_options *options)
{
	struct gh_error err;
	*profile = (struct gh_profile){0};
	profile->program = gh_options_program(options, profile->running);
	if (!gh_check_output(options->output, options->file) ||
	    !gh_check_output(options->output, options->program) ||
	    !gh_heap_query_dump(&profile->dump, options, options->file, false) ||
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

static bool print_profile(const struct gh_options *options)
{
	struct gh_profile profile;
	bool printed = gh_profile_open(&profile, options);
	gh_print_in_blocks();
	if (printed && options->json) {
		gh_profiletext_print_json(&profile.allocations);
	} else if (printed && !gh_profiletext_print(&profile.allocations, options->rate)) {
		gh_say(GH_OUT_OF_MEMORY);
		printed = false;
	}
	gh_profile_close(&profile);
	return printed;
}

int gh_cmd_profile(const struct gh_options *options)
{
	return print_profile(options) ? GH_EXIT_OK : GH_EXIT_INPUT;
}
