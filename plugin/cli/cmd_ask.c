/* goheap ask: a prompt for questions about one heap, which is read once. */
#include <readline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"

enum { MAX_WORDS = 119 };

#define BLANKS " \t"

/* What can be asked: what can be asked in GDB of a heap dump, but for what GDB prints itself. */
static bool answers(const struct gh_command *command)
{
	return command != NULL && command->summary != NULL && (command->gdb.on & GH_ON_DUMP) != 0;
}

/* Cuts LINE into words, in place, at blanks that no quote or backslash keeps. Returns how many
 * there are, of the MAX_WORDS that can be. */
static int split(char *line, char **words)
{
	int count = 0;
	char quote = '\0';
	for (line += strspn(line, BLANKS); *line != '\0' && count < MAX_WORDS;
	     line += strspn(line, BLANKS)) {
		words[count++] = line;
		for (; *line != '\0' && (quote != '\0' || strchr(BLANKS, *line) == NULL); line++) {
			if (*line == '\\' && quote != '\'' && line[1] != '\0')
				line++;
			else if (quote == *line)
				quote = '\0';
			else if (quote == '\0' && (*line == '\'' || *line == '"'))
				quote = *line;
		}
		if (*line != '\0')
			*line++ = '\0';
	}
	return count;
}

/* Takes the quotes from WORDS, which are to be freed up to the first NULL. Else says what is
 * missing. */
static bool unquote(char **words, int count, char **out)
{
	for (int i = 0; i < count; i++) {
		const char *missing;
		out[i] = gh_words_unquote(words[i], &missing);
		if (out[i] != NULL)
			continue;
		gh_say("%s%s", missing != NULL ? "the line lacks " : "",
		       missing != NULL ? missing : GH_OUT_OF_MEMORY);
		return false;
	}
	return true;
}

static void list_commands(void)
{
	const struct gh_command *command;
	for (size_t i = 0; (command = gh_command_number(i)) != NULL; i++)
		if (answers(command))
			printf("  %-12s%s\n", command->name, command->gdb.summary);
	puts("NAME --help tells more of each; quit ends.");
}

/* What is typed that no command is: help, quit. False if it is to end. */
static bool run_other(const char *name)
{
	if (strcmp(name, "quit") == 0 || strcmp(name, "exit") == 0)
		return false;
	if (strcmp(name, "help") == 0)
		list_commands();
	else
		gh_say("no such question: help lists them");
	return true;
}

/* Runs COMMAND with COUNT arguments, as they were TYPED, and UNQUOTED. */
static void run(const struct gh_kept_source *source, const struct gh_command *command, int count,
		char *const *typed, char *const *unquoted)
{
	char *argv[MAX_WORDS + GH_SQL_WORDS + GH_KEPT_ARGUMENTS];
	char *args[MAX_WORDS + GH_SQL_WORDS];
	memcpy(args, unquoted, (size_t)count * sizeof(*args));
	char *query = NULL;
	if (command->run == gh_cmd_sql)
		query = gh_sql_words(&count, args, typed);
	int argc = gh_kept_arguments(source, command, count, args, argv);
	gh_kept_run(command, argc, argv, gh_prompt_work);
	free(query);
}

static enum gh_prompt_next answer(const struct gh_kept_source *source, char *line)
{
	char *words[MAX_WORDS];
	char *unquoted[MAX_WORDS + 1] = {0};
	bool goes_on = true;
	int count = line != NULL ? split(line, words) : 0;
	if (count == 0)
		return GH_PROMPT_NEXT;
	if (unquote(words, count, unquoted)) {
		const struct gh_command *command = gh_command_find(unquoted[0]);
		if (answers(command) && source->process != NULL &&
		    !gh_command_takes(command, "process")) {
			gh_say("%s: not of a process", command->name);
		} else if (answers(command)) {
			run(source, command, count - 1, words + 1, unquoted + 1);
		} else {
			goes_on = run_other(unquoted[0]);
		}
	}
	for (int i = 0; unquoted[i] != NULL; i++)
		free(unquoted[i]);
	return goes_on ? GH_PROMPT_NEXT : GH_PROMPT_END;
}

/* Completion. */

/* The next of COMMAND's options that begins with TEXT; one at a time, as readline asks. */
static char *complete_option(const struct gh_command *command, const char *text, size_t *next)
{
	const struct gh_option *option;
	while ((option = &command->options[*next])->name != NULL) {
		char name[64];
		++*next;
		snprintf(name, sizeof(name), "--%s", option->name);
		if (strncmp(name, text, strlen(text)) == 0)
			return strdup(name);
	}
	return NULL;
}

static char *complete_command(const char *text, int state)
{
	static size_t next;
	const struct gh_command *command;
	next = state == 0 ? 0 : next;
	while ((command = gh_command_number(next++)) != NULL)
		if (answers(command) && strncmp(command->name, text, strlen(text)) == 0)
			return strdup(command->name);
	return NULL;
}

static char *complete_asked_option(const char *text, int state)
{
	static size_t next;
	char name[32] = "";
	const char *line = rl_line_buffer + strspn(rl_line_buffer, BLANKS);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, BLANKS), line);
	const struct gh_command *command = gh_command_find(name);
	next = state == 0 ? 0 : next;
	return command != NULL ? complete_option(command, text, &next) : NULL;
}

/* The first word is a command, and what else begins with a minus is an option of it; the rest are
 * files, as readline has it. */
static char **complete(const char *text, int start, int end)
{
	(void)end;
	if (strspn(rl_line_buffer, BLANKS) == (size_t)start)
		return rl_completion_matches(text, complete_command);
	return *text == '-' ? rl_completion_matches(text, complete_asked_option) : NULL;
}

int gh_cmd_ask(const struct gh_options *options)
{
	static const struct gh_prompt prompt = {
	    .text = "(goheap) ",
	    .breaks = BLANKS,
	    .complete = complete,
	    .answer = answer,
	};
	return gh_prompt_run(&prompt, options);
}
