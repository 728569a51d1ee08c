/* The goheap program: finds the command that the command line names and runs it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/elf/elf.h"
#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/view/view.h"

static const struct gh_command commands[] = {
#define COMMAND(command, ...) {.name = #command, .run = gh_cmd_##command, __VA_ARGS__},
#include "plugin/command/commands.def"
#undef COMMAND
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct gh_task gh_tasks[] = {
#define TASK(task, ...) {#task, __VA_ARGS__},
#include "plugin/command/tasks.def"
#undef TASK
    {0}};

/* The headings, by group. */
static const char *const headings[] = {
    [GH_GROUP_CRASH] = "A crash:",
    [GH_GROUP_HANG] = "A hang:",
    [GH_GROUP_MEMORY] = "Memory:",
    [GH_GROUP_LOOK] = "Look closer:",
    [GH_GROUP_RECORDS] = "Records of a heap dump, process or core file, a line each:",
    [GH_GROUP_PROGRAM] = "Programs:",
    [GH_GROUP_EXPORT] = "Convert and export:",
};

const char *argp_program_version = PACKAGE_STRING;

/* What the command line of goheap itself says. */
struct arguments {
	const struct gh_command *command;
	int index; /* of the command's name in argv */
};

const struct gh_command *gh_command_find(const char *name)
{
	const struct gh_command *found = NULL;
	unsigned count = 0;
	for (size_t i = 0; i < NCOMMANDS; i++) {
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

const struct gh_command *gh_command_number(size_t number)
{
	return number < NCOMMANDS ? &commands[number] : NULL;
}

/* The command NAME. Exits, as on a usage error, if there is none, with the nearest ones, and TASKS
 * if it may be one of these. */
static const struct gh_command *find_command(const char *name, bool tasks,
					     const struct argp_state *state)
{
	const struct gh_command *command = gh_command_find(name);
	if (command == NULL) {
		char *nearest = gh_command_nearest(name, tasks);
		argp_error(state, "no such command%s: %s%s", tasks ? " or task" : "", name,
			   nearest != NULL ? nearest : "");
		free(nearest);
	}
	return command;
}

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The first word of the command line, NAME, is what is looked at, and no command: a process's
 * number, standard input, a path, or a file. A command that has no operands yet is none: core files
 * are called core. LAST: nothing follows NAME. */
static bool is_target(const char *name, bool last)
{
	const struct gh_command *command = gh_command_find(name);
	bool exact = command != NULL && strcmp(command->name, name) == 0;
	if (exact)
		return last && command->operands.files > 0 && is_file(name);
	return gh_pid_parse(name) != 0 || strcmp(name, "-") == 0 || strchr(name, '/') != NULL ||
	       is_file(name);
}

/* The command line has no command, but what is looked at, and perhaps options: goheap TARGET. A
 * process that is named by its program is from then on by its number. */
static bool has_no_command(int argc, char **argv)
{
	static const char *const own[] = {"-?", "-h", "-V", "--help", "--usage", "--version"};
	static char number[GH_PID_TEXT];
	if (argc < 2)
		return false;
	const char *first = argv[1];
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(own[i], first) == 0)
			return false;
	if ((*first == '-' && first[1] != '\0') || is_target(first, argc == 2))
		return true;
	if (gh_command_find(first) != NULL || strcmp(first, "help") == 0 ||
	    strcmp(first, "version") == 0 || gh_named_process(first, number) == NULL)
		return false;
	argv[1] = number;
	return true;
}

/* WORD is one of WORDS, which have a space between two. */
static bool is_among(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
		size_t size = strcspn(at, " ");
		if (size == length && strncmp(at, word, size) == 0)
			return true;
		at += size;
	}
	return false;
}

/* The task that NAME is the name of, or an alias. NULL if there is none. */
static const struct gh_task *find_task(const char *name)
{
	for (const struct gh_task *task = gh_tasks; task->name != NULL; task++)
		if (strcmp(task->name, name) == 0 || is_among(task->aliases, name))
			return task;
	return NULL;
}

static void print_task(FILE *out, const struct gh_task *task)
{
	fprintf(out, "%s:\n\n", task->title);
	for (const char *line = task->text; *line != '\0'; line = strchr(line, '\n') + 1)
		fprintf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
}

static void list_tasks(FILE *out)
{
	fputs("Tasks, each with its commands: goheap help TASK\n", out);
	for (const struct gh_task *task = gh_tasks; task->name != NULL; task++)
		fprintf(out, "  %-12s%s\n", task->name, task->title);
	fputs("\nCommands: goheap help COMMAND\n", out);
}

/* Runs `goheap help [TASK | COMMAND]'. A task and a command of the same name are both printed.
 * Exits. */
static void print_help(struct argp_state *state)
{
	static char help[] = "--help";
	if (state->next == state->argc) {
		list_tasks(state->out_stream);
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
	}
	const char *name = state->argv[state->next];
	const struct gh_task *task = find_task(name);
	if (task != NULL) {
		print_task(state->out_stream, task);
		if (gh_command_find(name) == NULL || gh_command_find(name)->summary == NULL)
			exit(GH_EXIT_OK);
		fputs("\n", state->out_stream);
		fflush(state->out_stream);
	}
	const struct gh_command *command = find_command(name, true, state);
	char *argv[] = {NULL, help, NULL};
	exit(gh_command_run(command, 2, argv));
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		if (strcmp(arg, "help") == 0)
			print_help(state);
		if (strcmp(arg, "version") == 0) {
			fprintf(state->out_stream, "%s\n", argp_program_version);
			exit(GH_EXIT_OK);
		}
		arguments->command = find_command(arg, false, state);
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

static void list_group(FILE *out, enum gh_command_group group)
{
	const char *before = "  ";
	fprintf(out, "%s\n", headings[group]);
	for (size_t i = 0; i < NCOMMANDS; i++) {
		const struct gh_command *command = &commands[i];
		if (command->summary == NULL || command->group != group)
			continue;
		if (group != GH_GROUP_RECORDS) {
			fprintf(out, "  %-12s%s\n", command->name, command->summary);
			continue;
		}
		fprintf(out, "%s%s", before, command->name);
		before = ", ";
	}
	if (group == GH_GROUP_RECORDS)
		fputc('\n', out);
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
	for (enum gh_command_group group = 0; group < GH_GROUP_GDB; group++)
		list_group(out, group);
	fputs("TARGET: a PID, program name, core or heap dump; alone: what is wrong with it.", out);
	fclose(out);
	return list;
}

bool gh_command_takes(const struct gh_command *command, const char *name)
{
	const struct gh_option *option = command->options;
	while (option->name != NULL && strcmp(option->name, name) != 0)
		option++;
	return option->name != NULL;
}

/* What it prints of several can be told apart, and can stand behind each other. */
static bool can_run_on_each(const struct gh_options *options, const struct gh_command *command)
{
	bool is_of_all = command->operands.rest == GH_NO_MORE ||
			 (command->run == gh_cmd_goroutines && options->nwords == 0);
	return is_of_all && options->output == NULL && !options->json && !options->graph;
}

static int refuse_modules(const struct gh_modules *modules, const char *named)
{
	if (named != NULL) {
		fputs("goheap: no Go library that is loaded is ", stderr);
		gh_escape_print(stderr, named);
	} else {
		fputs("goheap: the process has several Go libraries, each with its own heap and "
		      "numbers of goroutines: name one",
		      stderr);
	}
	for (size_t i = 0; i < modules->count; i++) {
		fputs(i == 0 ? ": --module " : " or --module ", stderr);
		gh_escape_print(stderr, modules->items[i]);
	}
	fputs("\n", stderr);
	return GH_EXIT_INPUT;
}

/* Runs it on those of MODULES that are asked for. */
static int run_on_modules(struct gh_options *options, const struct gh_command *command,
			  const struct gh_modules *modules)
{
	const char *named = options->module;
	size_t chosen = 0;
	int status = GH_EXIT_OK;
	for (size_t i = 0; i < modules->count; i++)
		chosen += named == NULL || gh_module_is(modules->items[i], named);
	if (chosen == 0 || (chosen > 1 && !can_run_on_each(options, command)))
		return refuse_modules(modules, chosen == 0 ? named : NULL);
	for (size_t i = 0; i < modules->count; i++) {
		options->program = modules->items[i];
		if (named != NULL && !gh_module_is(options->program, named))
			continue;
		if (chosen > 1) {
			options->module = options->program;
			gh_memory_keep();
			fputs("Go library ", stdout);
			gh_escape_print(stdout, options->program);
			fputs(":\n\n", stdout);
			fflush(stdout);
		}
		if (command->run(options) != GH_EXIT_OK)
			status = GH_EXIT_INPUT;
		if (chosen > 1 && i + 1 < modules->count)
			putchar('\n');
	}
	return status;
}

/* Says that nothing is Go's in what the command asks of. False, and nothing is said, if there may
 * be. */
static bool is_foreign(const struct gh_options *options, const struct gh_command *command,
		       const char *process)
{
	const char *program = options->program;
	bool asks =
	    gh_command_takes(command, "module") && (options->file != NULL || process != NULL);
	if (!asks || (program != NULL && !gh_file_is_foreign(program)))
		return false;
	if (options->file == NULL || !gh_is_debugged(options->file))
		return gh_foreign_tell(options->file, process);
	if (program != NULL)
		gh_foreign_tell_debugged(program);
	return program != NULL;
}

/* Runs it on a process whose Go code is in libraries, or, if it is not one, as it is. */
static int run(struct gh_options *options, const struct gh_command *command)
{
	struct gh_modules modules = {.any = options->module != NULL};
	const char *file = options->file;
	const char *process = options->process;
	int status = GH_EXIT_INPUT;
	if (gh_command_takes(command, "module") && file != NULL && gh_is_debugged(file))
		gh_debugged_modules(&modules, file, options->program);
	else if (gh_command_takes(command, "module") && (file != NULL || process != NULL) &&
		 (options->program == NULL || modules.any ||
		  gh_file_needs_runtime(options->program) || gh_file_is_foreign(options->program)))
		gh_modules_find(&modules, file, process);
	if (modules.any || modules.count > 0)
		status = run_on_modules(options, command, &modules);
	else if (gh_target_find_program(options, command) && !is_foreign(options, command, process))
		status = command->run(options);
	gh_modules_free(&modules);
	return status;
}

int gh_command_run(const struct gh_command *command, int argc, char **argv)
{
	char name[32];
	struct gh_options options;
	/* Its usage errors name it. */
	snprintf(name, sizeof(name), "goheap %s", command->name);
	argv[0] = name;
	gh_options_parse(&options, command, argc, argv);
	int status = gh_target_take(&options, command);
	if (status == GH_EXIT_OK)
		status = run(&options, command);
	gh_options_free(&options);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {{.key = 'h', .flags = OPTION_HIDDEN}, {0}};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "[COMMAND] TARGET",
	    .doc =
		"Explain Go processes, core files, heap dumps and programs. Tasks: goheap help\v",
	    .help_filter = filter_help,
	};
	gh_exit_prepare();
	argp_err_exit_status = GH_EXIT_USAGE;
	if (has_no_command(argc, argv))
		return gh_command_run(gh_command_find("diagnose"), argc, argv);
	struct arguments arguments = {0};
	gh_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &arguments);

	return gh_command_run(arguments.command, argc - arguments.index, argv + arguments.index);
}
