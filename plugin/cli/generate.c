/* generate KIND: what is made from the list of commands while goheap is built. Copies standard
 * input to standard output, with a line "@COMMANDS@" replaced: by GDB's names of the commands
 * (gdb), by the words that a shell completes (bash, zsh, fish), or by the synopsis in the manual
 * page (man). There the line "@TARGETS@" is replaced by the commands for each kind of target, and
 * "@TASKS@" by the tasks. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/prefix.h"
#include "plugin/command/command.h"

static const struct gh_command commands[] = {
#define COMMAND(command, ...) {.name = #command, __VA_ARGS__},
#include "plugin/command/commands.def"
#undef COMMAND
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct gh_task gh_tasks[] = {
#define TASK(task, ...) {#task, __VA_ARGS__},
#include "plugin/command/tasks.def"
#undef TASK
    {0}};

const struct gh_command *gh_command_number(size_t number)
{
	return number < NCOMMANDS ? &commands[number] : NULL;
}

/* What a line of GDB's script is part of. */
enum gdb_text {
	GDB_COMMANDS,
	GDB_HELP,     /* for users */
	GDB_INTERNAL, /* help for nobody but a reader of the source */
	GDB_PYTHON,   /* which needs its spaces */
};

/* The commands are one that GDB runs by many names. What its help says of each, the program prints
 * when it is asked for. */
static void print_gdb(void)
{
	/* GDB cannot be told an alias a second time. */
	puts("if $_isvoid($goheap_aliases)\nset $goheap_aliases = 1");
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].gdb.summary != NULL)
			printf("alias goheap %s = goheap _run %s\n", commands[i].name,
			       commands[i].name);
	puts("end");
}

/* Copies a line of GDB's script if it has a command. GDB asks the system for every character of a
 * script by itself, so what only a reader of the source needs is left out, which is a third. */
static void copy_gdb(const char *line, enum gdb_text *text)
{
	const char *command = line + strspn(line, " \t");
	bool ends =
	    *text != GDB_COMMANDS && strcmp(*text == GDB_PYTHON ? command : line, "end\n") == 0;
	bool is_kept = *text == GDB_HELP || *text == GDB_PYTHON;
	const char *start = is_kept && !ends ? line : command;
	if (*text == GDB_COMMANDS && gh_starts_with(start, "document "))
		*text = gh_starts_with(start, "document _") ? GDB_INTERNAL : GDB_HELP;
	if (is_kept || *text == GDB_HELP ||
	    (*text == GDB_COMMANDS && *start != '#' && *start != '\n'))
		fputs(start, stdout);
	if (ends)
		*text = GDB_COMMANDS;
	else if (*text == GDB_COMMANDS && strcmp(start, "python\n") == 0)
		*text = GDB_PYTHON;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The synopses of A and B differ in nothing but the name. */
static bool same_synopsis(const struct gh_command *a, const struct gh_command *b)
{
	size_t i = 0;
	for (; a->options[i].name != NULL; i++)
		if (!same_text(a->options[i].name, b->options[i].name) ||
		    a->options[i].required != b->options[i].required ||
		    !same_text(a->options[i].arg, b->options[i].arg))
			return false;
	return b->options[i].name == NULL && b->summary != NULL &&
	       strcmp(a->operands.names, b->operands.names) == 0;
}

static void print_man_option(const struct gh_option *option)
{
	const char *bracket = option->required ? "" : "[ ";
	printf(option->required ? ".B " : ".RB %s", bracket);
	if (option->letter != 0)
		printf("\\-%c", option->letter);
	else
		printf("\\-\\-%s", option->name);
	if (option->arg == NULL) {
		puts(option->required ? "" : " ]");
		return;
	}
	if (option->values == NULL) {
		printf(option->required ? "\n.I %s\n" : "\n.IR %s ]\n", option->arg);
		return;
	}
	printf("\n.BR ");
	for (const char *at = option->values; *at != '\0'; at++)
		printf(*at == '|' ? " | " : "%c", *at);
	puts(" ]");
}

/* An operand of SIZE bytes: words are slanted; what is around and between them is not. */
static void print_man_operand(const char *operand, size_t size)
{
	const char marks[] = "[].|";
	bool mark = *operand == '[';
	printf(mark ? ".RI" : ".IR");
	for (size_t i = 0; i < size; i++) {
		bool is_mark = strchr(marks, operand[i]) != NULL;
		printf("%s%c", i == 0 || is_mark != mark ? " " : "", operand[i]);
		mark = is_mark;
	}
	putchar('\n');
}

static void print_man_usage(const struct gh_command *command)
{
	const struct gh_option *option;
	bool flags = false;
	/* The flags with letters are one word. */
	for (option = command->options; option->name != NULL; option++) {
		if (option->letter != 0 && option->type == GH_OPTION_FLAG) {
			printf("%s%c", flags ? "" : ".RB [ \\-", option->letter);
			flags = true;
		}
	}
	printf(flags ? " ]\n" : "");
	for (option = command->options; option->name != NULL; option++)
		if ((option->letter == 0 || option->type != GH_OPTION_FLAG) &&
		    option->type != GH_OPTION_IGNORED)
			print_man_option(option);
	for (const char *at = command->operands.names; *at != '\0';) {
		size_t size = strcspn(at, " ");
		print_man_operand(at, size);
		at += size + strspn(at + size, " ");
	}
}

/* Commands that are next to each other and take the same are one line. */
static void print_man(void)
{
	for (size_t i = 0; i < NCOMMANDS && commands[i].summary != NULL;) {
		size_t end = i + 1;
		while (end < NCOMMANDS && same_synopsis(&commands[i], &commands[end]))
			end++;
		printf("%s", i > 0 ? ".br\n" : "");
		if (end == i + 1) {
			printf(".B goheap %s\n", commands[i].name);
		} else {
			printf(".B goheap\n.BR %s", commands[i].name);
			for (size_t j = i + 1; j < end; j++)
				printf(" | %s", commands[j].name);
			putchar('\n');
		}
		print_man_usage(&commands[i]);
		i = end;
	}
}

/* Prints the commands whose kinds of target are those of command FIRST, a table's rows. */
static void print_targets_row(size_t first)
{
	static const struct {
		enum gh_target_kind kind;
		int width; /* of its column */
	} columns[] = {
	    {GH_KIND_PROGRAM, 9}, {GH_KIND_PROCESS, 9}, {GH_KIND_CORE, 6}, {GH_KIND_DUMP, 6}};
	unsigned kinds = gh_command_kinds(&commands[first]);
	size_t width = 0;
	for (size_t i = first; i < NCOMMANDS; i++) {
		if (commands[i].summary == NULL || gh_command_kinds(&commands[i]) != kinds)
			continue;
		if (width > 0 && width + strlen(commands[i].name) > 38) {
			putchar('\n');
			width = 0;
		}
		for (size_t j = 0; width == 0 && j < sizeof(columns) / sizeof(columns[0]); j++)
			printf("%-*s", columns[j].width,
			       (kinds & columns[j].kind) != 0       ? "yes"
			       : (kinds & GH_KIND_ITS_PROGRAM) != 0 ? "its"
								    : "no");
		width += (size_t)printf(" %s", commands[i].name);
	}
	putchar('\n');
}

static void print_targets(void)
{
	puts(".nf\nprogram  process  core  dump   commands");
	for (size_t i = 0; i < NCOMMANDS; i++) {
		if (commands[i].summary == NULL)
			continue;
		size_t first = 0;
		while (commands[first].summary == NULL ||
		       gh_command_kinds(&commands[first]) != gh_command_kinds(&commands[i]))
			first++;
		if (gh_command_kinds(&commands[i]) != 0 && first == i)
			print_targets_row(i);
	}
	puts(".fi");
}

static void print_man_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '\\':
			fputs("\\e", stdout);
			break;
		case '-':
			fputs("\\-", stdout);
			break;
		case '\'':
			fputs("\\(aq", stdout);
			break;
		default:
			putchar(text[i]);
		}
	}
}

/* Prints a line of a task, of SIZE bytes. Its command ends at two spaces. */
static void print_task_line(const char *line, size_t size)
{
	const char *end = strstr(line, "  ");
	size_t command = 0;
	if (gh_starts_with(line, "$ ") || gh_starts_with(line, "(gdb) "))
		command = end != NULL && (size_t)(end - line) < size ? (size_t)(end - line) : size;
	if (command > 0) {
		printf("\\fB");
		print_man_text(line, command);
		printf("\\fR");
	}
	if (*line == '.')
		printf("\\&");
	print_man_text(line + command, size - command);
	putchar('\n');
}

static void print_tasks(void)
{
	for (const struct gh_task *task = gh_tasks; task->name != NULL; task++) {
		printf(".SS %s (%s)\n.nf\n", task->title, task->name);
		for (const char *line = task->text; *line != '\0'; line = strchr(line, '\n') + 1)
			print_task_line(line, strcspn(line, "\n"));
		puts(".fi");
	}
}

/* Prints what KIND has of the commands. False if there is no such kind. */
static bool print_commands(const char *kind)
{
	if (strcmp(kind, "gdb") == 0)
		print_gdb();
	else if (strcmp(kind, "man") == 0)
		print_man();
	else
		return gh_generate_completion(kind);
	return true;
}

int main(int argc, char **argv)
{
	enum gdb_text text = GDB_COMMANDS;
	char *line = NULL;
	size_t size = 0;
	bool known = argc == 2;
	for (size_t i = 0; i < NCOMMANDS; i++) {
		if (commands[i].options[GH_OPTIONS_MAX - 1].name == NULL)
			continue;
		fprintf(stderr, "%s: more options than GH_OPTIONS_MAX\n", commands[i].name);
		return EXIT_FAILURE;
	}
	while (known && getline(&line, &size, stdin) >= 0) {
		bool is_man = strcmp(argv[1], "man") == 0;
		if (strcmp(line, "@COMMANDS@\n") == 0)
			known = print_commands(argv[1]);
		else if (is_man && strcmp(line, "@TARGETS@\n") == 0)
			print_targets();
		else if (is_man && strcmp(line, "@TASKS@\n") == 0)
			print_tasks();
		else if (strcmp(argv[1], "gdb") == 0)
			copy_gdb(line, &text);
		else
			fputs(line, stdout);
	}
	free(line);
	if (!known)
		fputs("usage: generate gdb|bash|zsh|fish|man <TEMPLATE\n", stderr);
	return known && fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
