#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/gdb/gdb.h"

/* Prints the file NAME as a shell takes it for one word, or, if it has what a quote cannot hold or
 * a terminal acts on, what it is called in its place. */
static void print_file(FILE *out, const char *before, const char *name, const char *called)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+:,@%-";
	bool is_plain = *name != '-' && name[strspn(name, plain)] == '\0';
	bool is_quoted = *name != '-' && !is_plain;
	for (const char *at = name; *at != '\0'; at++)
		is_quoted = is_quoted && *at >= ' ' && *at <= '~' && *at != '\'';
	if (is_quoted)
		fprintf(out, " %s'%s'", before, name);
	else
		fprintf(out, " %s%s", before, is_plain ? name : called);
}

/* The number of the process is a file's name, too. */
static bool is_taken(const struct gh_options *options)
{
	return options->process != NULL && access(options->file, F_OK) == 0;
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
	if (strcmp(options->file, GH_INPUT_PATH) == 0)
		fputs(" -", out);
	else
		print_file(out, is_taken(options) ? "-p " : "", options->file, "DUMP");
	/* What was made of memory is made again. */
	if (options->module != NULL)
		print_file(out, "--module ", options->module, "NAME");
	else if (options->program != NULL && strcmp(options->program, options->made) != 0)
		print_file(out, "-e ", options->program, "PROGRAM");
	if (options->names != NULL)
		print_file(out, "--names ", options->names, "NAMES");
}

void gh_command_line_print(FILE *out, const struct gh_options *options, const char *command)
{
	fprintf(out, "%s%s", gh_kept_is_prompted() ? "" : "goheap ", command);
	print_files(out, options);
}

void gh_see_print(FILE *out, const struct gh_options *options, const char *command)
{
	fputs("see ", out);
	gh_command_line_print(out, options, command);
}
