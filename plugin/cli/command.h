/* The commands of the goheap program. */
#ifndef GH_PLUGIN_CLI_COMMAND_H
#define GH_PLUGIN_CLI_COMMAND_H

/* The exit statuses of every command. */
enum {
	GH_EXIT_OK = 0,
	GH_EXIT_INPUT = 1, /* an input is bad, or an output cannot be written */
	GH_EXIT_USAGE = 2, /* the command line is */
};

/* Each takes its own name as argv[0], prints to standard output and (errors, one line)
 * to standard error, and returns an exit status. */
#define COMMAND(group, name, needs, summary) int gh_cmd_##name(int argc, char **argv);
#include "plugin/cli/commands.def"
#undef COMMAND

/* The groups of commands in `goheap --help'. */
enum gh_command_group {
	GH_GROUP_PROGRAM,
	GH_GROUP_GOROUTINES,
	GH_GROUP_HEAP,
	GH_GROUP_EXPORT,
	GH_GROUP_GDB, /* what only gdbinit runs */
};

/* What a command needs, as commands.def tells. */
enum {
	GH_NEEDS_NAMES = 1 << 0,
	GH_NEEDS_PROGRAM = 1 << 1,
	GH_NEEDS_ADDRESS = 1 << 2,
};

/* What the command NAME needs; 0 if there is none of that name. */
unsigned gh_command_needs(const char *name);

/* Runs the command NAME with the arguments ARGV[1] to ARGV[ARGC - 1]; ARGV[ARGC] is NULL. Returns
 * its exit status. */
int gh_command_run(const char *name, int argc, char **argv);

struct gh_options;

/* `goheap types' on a heap dump. */
int gh_dump_types(const struct gh_options *options);

#endif
