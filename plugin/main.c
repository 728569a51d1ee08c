/* The goheap program: finds the command that the command line names and runs it. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command.h"

static const struct command {
	const char *name;
	const char *summary; /* for --help; NULL for one that only the GDB plugin runs */
	int (*run)(int argc, char **argv);
} commands[] = {
    {"info", "Tell what a Go program is, or what is in a heap dump", gh_cmd_info},
    {"funcs", "List its functions", gh_cmd_funcs},
    {"lines", "List the source line of every address", gh_cmd_lines},
    {"addr2line", "Find the source lines of addresses", gh_cmd_addr2line},
    {"debug", "Write a debug file for GDB and other tools", gh_cmd_debug},
    {"goroutines", "Print the goroutines of a heap dump as Go prints tracebacks",
     gh_cmd_goroutines},
    {"frames", "List the stack frames of a heap dump", gh_cmd_frames},
    {"types", "List its types, or those of a program", gh_cmd_types},
    {"itabs", "List its itabs", gh_cmd_itabs},
    {"roots", "List what its objects are reached from", gh_cmd_roots},
    {"finalizers", "List its finalizers, registered and queued", gh_cmd_finalizers},
    {"defers", "List its deferred calls", gh_cmd_defers},
    {"panics", "List its panics", gh_cmd_panics},
    {"threads", "List its threads", gh_cmd_threads},
    {"memstats", "Print its memory statistics", gh_cmd_memstats},
    {"params", "Print its parameters", gh_cmd_params},
    {"histogram", "Count its objects by type, size or place of allocation", gh_cmd_histogram},
    {"dominators", "Print what keeps most of its heap alive", gh_cmd_dominators},
    {"path", "Tell what keeps an object alive", gh_cmd_path},
    {"objects", "Tell what is at an address of its heap", gh_cmd_objects},
    {"referrers", "List what points to an object", gh_cmd_referrers},
    {"reachable", "Count what an object leads to", gh_cmd_reachable},
    {"unreachable", "List its garbage", gh_cmd_unreachable},
    {"strings", "List its longest and its most repeated strings", gh_cmd_strings},
    {"diff", "List what has grown from one to another", gh_cmd_diff},
    {"profile", "Print its allocation profile as Go does", gh_cmd_profile},
    {"pprof", "Write its allocation profile for `go tool pprof'", gh_cmd_pprof},
    {"core", "Write it as a core file for debuggers", gh_cmd_core},
    {"dot", "Draw it for Graphviz, or what is around an address", gh_cmd_dot},
    {"hprof", "Write it as a Java heap dump for Eclipse MAT, VisualVM and jhat", gh_cmd_hprof},
    {"report", "Write a page for a browser that shows what fills its heap", gh_cmd_report},
    {"fetch", NULL, gh_cmd_fetch},
    {"session", NULL, gh_cmd_session},
    {"load", NULL, gh_cmd_load},
    {"value", NULL, gh_cmd_value},
    {"within", NULL, gh_cmd_within},
    {"goroutine", NULL, gh_cmd_goroutine},
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
	fputs("Commands:\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].summary != NULL)
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

int main(int argc, char **argv)
{
	static const struct argp argp = {
	    .parser = parse_option,
	    .args_doc = "COMMAND [ARG...]",
	    .doc = "Read the symbols that are left in stripped Go programs, and heap dumps of Go "
		   "programs.\v",
	    .help_filter = filter_help,
	};
	argp_err_exit_status = GH_EXIT_USAGE;
	struct arguments arguments = {0};
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);

	int status = run_command(arguments.command, argc - arguments.index, argv + arguments.index);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "goheap: cannot write the output: %s\n", strerror(errno));
		return GH_EXIT_INPUT;
	}
	return status;
}
