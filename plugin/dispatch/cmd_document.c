/* goheap document: what GDB's help says of goheap's commands, as a script for GDB. It is written
 * when help is asked for: to read it at each start would take GDB longer than to read all else that
 * goheap has for it. */
#include <stdio.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/view/view.h"

static const struct gh_command commands[] = {
#define COMMAND(command, ...) {.name = #command, __VA_ARGS__},
#include "plugin/command/commands.def"
#undef COMMAND
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool is_named(const struct gh_option *option, const char *name)
{
	return strcmp(option->name, name) == 0;
}

/* GDB's side gives what GDB knows: what is read, and the program of it. */
static bool is_typed_in_gdb(const struct gh_command *command, const struct gh_option *option)
{
	bool has_program = false;
	for (const struct gh_option *other = command->options; other->name != NULL; other++)
		has_program |= is_named(other, "exe");
	return !is_named(option, "process") &&
	       (!has_program || (!is_named(option, "exe") && !is_named(option, "names")));
}

static void print_option(const struct gh_option *option)
{
	fputs(option->required ? " " : " [", stdout);
	/* An expression may begin with "-n". */
	printf("--%s", option->name);
	if (option->arg != NULL)
		printf(" %s", option->values != NULL ? option->values : option->arg);
	fputs(option->required ? "" : "]", stdout);
}

/* Where it takes an address, all that is typed is one. */
static void print_help(const struct gh_command *command)
{
	bool takes_expression = command->operands.rest == GH_ADDRESSES;
	printf("document goheap %s\n%s.\nUsage: goheap %s", command->name, command->gdb.summary,
	       command->name);
	for (const struct gh_option *option = command->options; option->name != NULL; option++)
		if (!takes_expression && is_typed_in_gdb(command, option))
			print_option(option);
	if (command->gdb.operands != NULL)
		printf(" %s", command->gdb.operands);
	printf("\n%s", command->gdb.more != NULL ? command->gdb.more : "");
	if (takes_expression)
		printf("ADDRESS is an expression: goheap %s $rax\n", command->name);
	puts("end");
}

int gh_cmd_document(const struct gh_options *options)
{
	(void)options;
	puts("document goheap\nCommands for stripped Go programs and for heap dumps.\n"
	     "They need the plugin: jit-reader-load goheap.so\n");
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].gdb.summary != NULL)
			printf("goheap %-11s -- %s\n", commands[i].name, commands[i].gdb.summary);
	puts("end");
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].gdb.summary != NULL)
			print_help(&commands[i]);
	return GH_EXIT_OK;
}
