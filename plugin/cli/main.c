/* The goheap program: finds the command that the command line names and runs it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/cli/command.h"
#include "plugin/cli/exit.h"
#include "plugin/cli/options.h"

static const struct command {
	const char *name;
	const char *summary; /* for --help; NULL for one that only the GDB plugin runs */
	enum gh_command_group group;
	unsigned needs; /* GH_NEEDS_..., or-ed */
	int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(group, name, needs, summary) {#name, summary, group, needs, gh_cmd_##name},
#include "plugin/cli/commands.def"
#undef COMMAND
};

/* The headings, by group. */
static const char *const headings[] = {
    [GH_GROUP_PROGRAM] = "Look at a program:",
    [GH_GROUP_GOROUTINES] = "The goroutines of a heap dump:",
    [GH_GROUP_HEAP] = "The heap of a heap dump:",
    [GH_GROUP_EXPORT] = "Take it elsewhere:",
};

const char *argp_program_version = PACKAGE_STRING;

/* What the command line of goheap itself says. */
struct arguments {
	const struct command *command;
	int index; /* of the command's name in argv */
};

/* As in GDB, the beginning of a name will do if no other begins so. */
static const struct command *find_command(const char *name)
{
	const struct command *found = NULL;
	unsigned count = 0;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
		if (commands[i].summary != NULL &&
		    strncmp(commands[i].name, name, strlen(name)) == 0) {
			found = &commands[i];
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case ARGP_KEY_ARG:
		arguments->command = find_command(arg);
		if (arguments->command == NULL)
			argp_error(state, "no such command: %s", arg);
		arguments->index = state->next - 1;
		/* What follows is the command's to parse. */
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The list of commands, in place of the empty text after the options. */
static char *filter_help(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	char *list = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&list, &size);
	if (out == NULL)
		return (char *)text;
	enum gh_command_group group = GH_GROUP_GDB;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].summary == NULL)
			continue;
		if (commands[i].group != group)
			fprintf(out, "%s%s\n", i > 0 ? "\n" : "", headings[commands[i].group]);
		group = commands[i].group;
		fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
	}
	fputs("\n`goheap COMMAND --help' tells more of each.", out);
	fclose(out);
	return list;
}

/* Runs the command as a program of its own name, so that its usage errors name it. */
static int run_command(const struct command *command, int argc, char **argv)
{
	char name[32];
	snprintf(name, sizeof(name), "goheap %s", command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

unsigned gh_command_needs(const char *name)
{
	const struct command *command = find_command(name);
	return command != NULL ? command->needs : 0;
}

int gh_command_run(const char *name, int argc, char **argv)
{
	const struct command *command = find_command(name);
	if (command != NULL)
		return run_command(command, argc, argv);
	fputs("goheap: no such command: ", stderr);
	gh_escape_print(stderr, name);
	fputs("\n", stderr);
	return GH_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
	    .parser = parse_option,
	    .args_doc = "COMMAND [ARG...]",
	    .doc = "Read the symbols that are left in stripped Go programs, and heap dumps of Go "
		   "programs.\v",
	    .help_filter = filter_help,
	};
	gh_exit_prepare();
	argp_err_exit_status = GH_EXIT_USAGE;
	struct arguments arguments = {0};
	gh_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &arguments);

	return run_command(arguments.command, argc - arguments.index, argv + arguments.index);
}
