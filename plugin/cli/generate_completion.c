#include <stdio.h>
#include <string.h>

#include "plugin/command/command.h"

/* Goes through the commands that users type or, as the first answer, leave out. */
#define FOR_EACH_COMMAND(command)                                                                  \
	for (size_t number = 0; ((command) = gh_command_number(number)) != NULL; number++)         \
		if (is_completed(command))

#define FOR_EACH_OPTION(option, command)                                                           \
	for (const struct gh_option *option = (command)->options; option->name != NULL; option++)

static bool is_completed(const struct gh_command *command)
{
	return command->summary != NULL || strcmp(command->name, "diagnose") == 0;
}

/* The targets that COMMAND takes: none, files, or processes and files. */
static const char *targets_of(const struct gh_command *command)
{
	unsigned kinds = gh_command_kinds(command);
	if (kinds == 0)
		return "none";
	return (kinds & (GH_KIND_PROCESS | GH_KIND_ITS_PROGRAM)) != 0 ? "processes" : "files";
}

/* Prints TEXT within single quotes of bash or zsh, a backslash before the characters of SPECIAL. */
static void print_quoted(const char *text, const char *special)
{
	for (; *text != '\0'; text++) {
		if (strchr(special, *text) != NULL)
			putchar('\\');
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
}

static void print_values(const char *values)
{
	for (; *values != '\0'; values++)
		putchar(*values == '|' ? ' ' : *values);
}

static void print_bash_values(const struct gh_command *command, const struct gh_option *option)
{
	if (option->arg == NULL || option->type == GH_OPTION_FILE)
		return;
	printf("\t'%s --%s'", command->name, option->name);
	if (option->letter != 0)
		printf(" | '%s -%c'", command->name, option->letter);
	printf(") ");
	if (option->type == GH_OPTION_PROCESS)
		printf("_goheap_processes ");
	if (option->values != NULL) {
		printf("echo '");
		print_values(option->values);
		printf("' ");
	}
	puts(";;");
}

static void print_bash(void)
{
	const struct gh_command *command;
	printf("_goheap_words()\n{\n\tcase ${1-} in\n\t'') echo '");
	FOR_EACH_COMMAND(command)
	if (command->summary != NULL)
		printf("%s ", command->name);
	printf("help' ;;\n\thelp) echo '");
	for (const struct gh_task *task = gh_tasks; task->name != NULL; task++)
		printf("%s ", task->name);
	puts("' ;;");
	FOR_EACH_COMMAND(command)
	{
		printf("\t%s) echo '", command->name);
		FOR_EACH_OPTION(option, command)
		{
			printf("--%s ", option->name);
			if (option->letter != 0)
				printf("-%c ", option->letter);
		}
		puts("--help' ;;");
	}
	puts("\t*) return 1 ;;\n\tesac\n}\n\n_goheap_values()\n{\n\tcase \"$1 $2\" in");
	FOR_EACH_COMMAND(command)
	FOR_EACH_OPTION(option, command)
	print_bash_values(command, option);
	puts("\t*) return 1 ;;\n\tesac\n}\n\n_goheap_targets()\n{\n\tcase $1 in");
	FOR_EACH_COMMAND(command)
	printf("\t%s) echo %s ;;\n", command->name, targets_of(command));
	puts("\tesac\n}");
}

/* Prints an option as zsh's _arguments takes it, by its letter if that IS_SHORT. */
static void print_zsh_option(const struct gh_option *option, bool is_short)
{
	printf("\t\t\t'");
	if (option->letter != 0)
		printf("(-%c --%s)", option->letter, option->name);
	if (is_short)
		printf("-%c%s[", option->letter, option->arg != NULL ? "+" : "");
	else
		printf("--%s%s[", option->name, option->arg != NULL ? "=" : "");
	print_quoted(option->doc, "[]:");
	printf("]");
	if (option->arg != NULL) {
		putchar(':');
		print_quoted(option->arg, ":");
		putchar(':');
	}
	if (option->values != NULL) {
		putchar('(');
		print_values(option->values);
		putchar(')');
	} else if (option->type == GH_OPTION_PROCESS) {
		printf("_goheap_processes");
	} else if (option->type == GH_OPTION_FILE) {
		printf("_files");
	}
	puts("'");
}

static void print_zsh(void)
{
	const struct gh_command *command;
	puts("_goheap_commands() {\n\tcommands=(");
	FOR_EACH_COMMAND(command)
	{
		if (command->summary == NULL)
			continue;
		printf("\t\t'%s:", command->name);
		print_quoted(command->summary, "\\");
		puts("'");
	}
	puts("\t)\n\ttasks=(");
	for (const struct gh_task *task = gh_tasks; task->name != NULL; task++) {
		printf("\t\t'%s:", task->name);
		print_quoted(task->title, "\\");
		puts("'");
	}
	puts("\t)\n}\n\n_goheap_options() {\n\tcase $1 in");
	FOR_EACH_COMMAND(command)
	{
		printf("\t%s)\n\t\ttargets=%s\n\t\toptions=(\n", command->name,
		       targets_of(command));
		FOR_EACH_OPTION(option, command)
		{
			if (option->letter != 0)
				print_zsh_option(option, true);
			print_zsh_option(option, false);
		}
		puts("\t\t)\n\t\t;;");
	}
	puts("\tesac\n}");
}

/* Prints " -d" and TEXT in single quotes of fish, which has backslashes there. */
static void print_fish_text(const char *text)
{
	printf(" -d '");
	for (; *text != '\0'; text++)
		printf(strchr("\\'", *text) != NULL ? "\\%c" : "%c", *text);
	puts("'");
}

static void print_fish_option(const struct gh_command *command, const struct gh_option *option)
{
	printf("complete -c goheap -n '__goheap_is %s' -l %s", command->name, option->name);
	if (option->letter != 0)
		printf(" -s %c", option->letter);
	if (option->arg != NULL)
		printf(option->type == GH_OPTION_FILE ? " -r -F" : " -x");
	if (option->type == GH_OPTION_PROCESS)
		printf(" -a '(__goheap_processes)'");
	if (option->values != NULL) {
		printf(" -a '");
		print_values(option->values);
		putchar('\'');
	}
	print_fish_text(option->doc);
}

static void print_fish(void)
{
	const struct gh_command *command;
	printf("set -g __goheap_commands help");
	FOR_EACH_COMMAND(command)
	if (command->summary != NULL)
		printf(" %s", command->name);
	putchar('\n');
	FOR_EACH_COMMAND(command)
	{
		const char *targets = targets_of(command);
		if (command->summary != NULL) {
			printf(
			    "complete -c goheap -n '__goheap_is_first; or __goheap_is help' -a %s",
			    command->name);
			print_fish_text(command->summary);
		}
		FOR_EACH_OPTION(option, command)
		print_fish_option(command, option);
		if (strcmp(targets, "files") != 0)
			printf("complete -c goheap -n '__goheap_is %s' %s\n", command->name,
			       strcmp(targets, "none") == 0 ? "-f" : "-a '(__goheap_processes)'");
	}
	for (const struct gh_task *task = gh_tasks; task->name != NULL; task++) {
		printf("complete -c goheap -n '__goheap_is help' -a %s", task->name);
		print_fish_text(task->title);
	}
}

bool gh_generate_completion(const char *shell)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].shell, shell) == 0) {
			shells[i].print();
			return true;
		}
	}
	return false;
}
