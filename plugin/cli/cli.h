/* The commands, and what those of one kind share.
 *
 * - main.c: finds the command and runs it; generate*.c: what is made of the list of commands at
 * build time;
 * - cmd_*.c: the commands; cmd_records.c those that list one kind of records; first_program.c: the
 *   first answer about a program;
 * - static_program.c: functions of the C library, and of libraries that are loaded, in the static
 * program (static_program.h), which static-libraries takes out of their static forms;
 * - twin_recipe.c, twin_build.c: how a program was built, and its build again (twin_build.h);
 * - web_question.c, web_heap.c: what the page of goheap web asks, and of which heap
 *   (web_question.h). */
#ifndef GH_PLUGIN_CLI_CLI_H
#define GH_PLUGIN_CLI_CLI_H

#include "lib/profile/profile.h"
#include "plugin/command/command.h"

/* Shared by the commands that list the records of a heap dump. */

/* Prints what PRINT does of the dump that OPTIONS name, laid out as LAYOUT; gives the exit status.
 */
int gh_records_print(const struct gh_options *options, enum gh_emit_layout layout,
		     void (*print)(struct gh_emit *emit));

/* `goheap types' on a heap dump. */
int gh_records_types(const struct gh_options *options);

/* A dump's allocation profile. */
struct gh_profile {
	struct gh_dump dump;
	struct gh_symbols symbols; /* zeros if no program is given */
	struct gh_allocations allocations;
	struct gh_live_stacks live; /* zeros if that is not asked for */
	char running[32];           /* path of the program that a process runs, if none is given */
	const char *program;        /* that or the one that is given; NULL if there is none */
};

/* Reads the profile that OPTIONS name. To be closed in any case; on failure prints the error and
 * returns false. */
bool gh_profile_open(struct gh_profile *profile, const struct gh_options *options);

void gh_profile_close(struct gh_profile *profile);

/* Describes the program that OPTIONS name, and who runs it. The exit status. */
int gh_program_describe(const struct gh_options *options);

#endif
