/* The commands of the goheap program: what each is, and how one is run. */
#ifndef GH_PLUGIN_CLI_COMMAND_H
#define GH_PLUGIN_CLI_COMMAND_H

#include "plugin/cli/options.h"

/* The exit statuses of every command. */
enum {
	GH_EXIT_OK = 0,
	GH_EXIT_INPUT = 1, /* an input is bad, or an output cannot be written */
	GH_EXIT_USAGE = 2, /* the command line is */
};

/* The groups of commands in `goheap --help'. */
enum gh_command_group {
	GH_GROUP_PROGRAM,
	GH_GROUP_GOROUTINES,
	GH_GROUP_HEAP,
	GH_GROUP_EXPORT,
	GH_GROUP_GDB, /* what only goheap in GDB runs: not in that list */
};

/* What a command in GDB can be run on. */
enum {
	GH_ON_NOTHING = 0,      /* it needs none */
	GH_ON_PROGRAM = 1 << 0, /* GDB's program, which need not run */
	GH_ON_PROCESS = 1 << 1, /* what GDB debugs: a process, or a core file's */
	GH_ON_DUMP = 1 << 2,    /* the heap dump that is loaded */
};

/* The user's command of that name in GDB: goheap NAME. */
struct gh_gdb_command {
	unsigned on;          /* GH_ON_..., or-ed */
	const char *operands; /* what is typed after the options; NULL for nothing */
	const char *summary;  /* for help, without a full stop; NULL if GDB has no such command */
	const char *more;     /* lines that follow it there; NULL for none */
};

/* A command, as commands.def tells of it. */
struct gh_command {
	const char *name;
	int (*run)(const struct gh_options *options); /* below */
	enum gh_command_group group;
	const char *summary; /* for `goheap --help'; NULL for those that are GDB's */
	struct gh_operands operands;
	const char *about; /* for its own --help */
	struct gh_option options[GH_OPTIONS_MAX];
	struct gh_gdb_command gdb;
};

/* Each prints to standard output and (errors, one line) to standard error, and returns an exit
 * status. */
#define COMMAND(name, ...) int gh_cmd_##name(const struct gh_options *options);
#include "plugin/cli/commands.def"
#undef COMMAND

/* The command NAME, or the one whose name begins so if no other's does. NULL if there is none. */
const struct gh_command *gh_command_find(const char *name);

/* Whether COMMAND takes the option whose long name is NAME. */
bool gh_command_takes(const struct gh_command *command, const char *name);

/* Runs COMMAND with the arguments ARGV[1] to ARGV[ARGC - 1]; ARGV[0] is written to, and ARGV[ARGC]
 * is NULL. Returns its exit status. Exits, as argp does, on --help and on a usage error. */
int gh_command_run(const struct gh_command *command, int argc, char **argv);

/* `goheap types' on a heap dump. */
int gh_dump_types(const struct gh_options *options);

#endif
