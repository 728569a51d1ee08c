#include <stdlib.h>
#include <string.h>

#include "plugin/cli/heap_query.h"
#include "plugin/gdb/gdb.h"

/* Prints the file NAME, or, if a shell would not take it for one word, what it is called in its
 * place. */
static void print_file(FILE *out, const char *before, const char *name, const char *called)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+:,@%-";
	bool is_plain = *name != '-' && name[strspn(name, plain)] == '\0';
	fprintf(out, " %s%s", before, is_plain ? name : called);
}

/* The files that the command was given. In GDB they are those of the session, of which a library
 * may be meant, at a prompt the prompt's. */
static void print_files(FILE *out, const struct gh_options *options)
{
	if (gh_kept_is_prompted())
		return;
	if (getenv(GH_SESSION_VARIABLE) != NULL) {
		if (options->module != NULL)
			print_file(out, "--module ", options->module, "NAME");
		return;
	}
	print_file(out, options->process != NULL ? "-p " : "", options->file, "DUMP");
	if (options->program != NULL)
		print_file(out, "-e ", options->program, "PROGRAM");
	if (options->names != NULL)
		print_file(out, "--names ", options->names, "NAMES");
}

void gh_see_print(FILE *out, const struct gh_options *options, const char *command)
{
	fprintf(out, "see %s%s", gh_kept_is_prompted() ? "" : "goheap ", command);
	print_files(out, options);
}
