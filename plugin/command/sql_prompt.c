/* SQL that is typed: at a prompt, or as words of a line. */
#include <readline/readline.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/sql/sql.h"

/* WORD is an option, whose argument is the next word. */
static bool takes_next(const char *word)
{
	return strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0;
}

/* What is typed is all in one pair of quotes: no statement of SQL is. */
static bool is_quoted(const char *typed)
{
	size_t length = strlen(typed);
	return length >= 2 && (*typed == '"' || *typed == '\'') && typed[length - 1] == *typed;
}

char *gh_sql_words(int *count, char **args, char *const *typed)
{
	char *query = NULL;
	size_t size;
	int first = 0;
	while (first < *count && args[first][0] == '-' && strcmp(args[first], "--") != 0)
		first += takes_next(args[first]) ? 2 : 1;
	if (first >= *count)
		return NULL;
	FILE *out = open_memstream(&query, &size);
	bool is_whole = first + 1 == *count && is_quoted(typed[first]);
	for (int i = first; out != NULL && i < *count; i++)
		fprintf(out, "%s%s", i > first ? " " : "", is_whole ? args[i] : typed[i]);
	if (out != NULL)
		fclose(out);
	*count = first;
	args[(*count)++] = (char *)"--";
	args[(*count)++] = query != NULL ? query : (char *)"";
	return query;
}

/* The statement that is being typed. */
static struct gh_buffer statement;

/* What the options of the command line say of the form. */
static const char *form;

static void run_statement(const struct gh_kept_source *source)
{
	const struct gh_command *command = gh_command_find("sql");
	char *argv[GH_KEPT_ARGUMENTS + 3];
	char *words[3];
	int count = 0;
	if (form != NULL)
		words[count++] = (char *)form;
	words[count++] = (char *)"--";
	words[count++] = (char *)statement.data;
	int argc = gh_kept_arguments(source, command, count, words, argv);
	gh_kept_run(command, argc, argv, gh_prompt_work);
	gh_buffer_free(&statement);
}

static void forget(void)
{
	gh_buffer_free(&statement);
}

/* LINE, typed where no statement is begun, is a command of the prompt's: those that the sqlite3
 * program calls so, too. */
static bool run_own(const char *line, enum gh_prompt_next *next)
{
	char word[16];
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(line, " ;"), line + (*line == '.'));
	*next = GH_PROMPT_NEXT;
	if (strcmp(word, "quit") == 0 || strcmp(word, "exit") == 0)
		*next = GH_PROMPT_END;
	else if (strcmp(word, "schema") == 0 || strcmp(word, "tables") == 0)
		gh_sql_print_schema(stdout);
	else if (strcmp(word, "help") == 0)
		puts("Statements end with a semicolon. schema lists the tables; quit ends.");
	else
		return false;
	return true;
}

/* Statements end with semicolons that are in no text or comment. */
static enum gh_prompt_next answer(const struct gh_kept_source *source, char *line)
{
	enum gh_prompt_next next;
	size_t size = statement.size;
	if (line != NULL && size == 0 && (*line == '\0' || run_own(line, &next)))
		return *line == '\0' ? GH_PROMPT_NEXT : next;
	if (line == NULL && size == 0)
		return GH_PROMPT_NEXT;
	if (line != NULL) {
		gh_buffer_bytes(&statement, line, strlen(line));
		gh_buffer_u8(&statement, '\n');
	}
	gh_buffer_u8(&statement, '\0');
	if (statement.failed) {
		gh_say(GH_OUT_OF_MEMORY);
		gh_buffer_free(&statement);
		return GH_PROMPT_NEXT;
	}
	if (line != NULL && !sqlite3_complete((const char *)statement.data)) {
		statement.size--;
		return GH_PROMPT_MORE;
	}
	run_statement(source);
	return GH_PROMPT_NEXT;
}

/* Completion. */

static const char *const keywords[] = {
    "AND",      "AS",    "ASC",    "BETWEEN", "BY",      "CASE",      "COUNT",  "CROSS", "DESC",
    "DISTINCT", "ELSE",  "END",    "EXISTS",  "EXPLAIN", "FROM",      "GLOB",   "GROUP", "HAVING",
    "IN",       "IS",    "JOIN",   "LEFT",    "LIKE",    "LIMIT",     "NOT",    "NULL",  "OFFSET",
    "ON",       "OR",    "ORDER",  "PLAN",    "QUERY",   "RECURSIVE", "SELECT", "SUM",   "THEN",
    "UNION",    "USING", "VALUES", "WHEN",    "WHERE",   "WITH",
};

/* Name NUMBER of those that can be typed; NULL if there are no more. */
static const char *name_of(size_t number)
{
	const char *table;
	if (number < sizeof(keywords) / sizeof(keywords[0]))
		return keywords[number];
	number -= sizeof(keywords) / sizeof(keywords[0]);
	for (size_t i = 0; (table = gh_sql_table_name(i)) != NULL; i++) {
		const char *column;
		if (number-- == 0)
			return table;
		for (size_t c = 0; (column = gh_sql_column_name(i, c)) != NULL; c++)
			if (number-- == 0)
				return column;
	}
	return NULL;
}

static char *complete_name(const char *text, int state)
{
	static size_t next;
	const char *name;
	next = state == 0 ? 0 : next;
	while ((name = name_of(next++)) != NULL)
		if (strncasecmp(name, text, strlen(text)) == 0)
			return strdup(name);
	return NULL;
}

static char **complete(const char *text, int start, int end)
{
	(void)start, (void)end;
	rl_attempted_completion_over = 1;
	return rl_completion_matches(text, complete_name);
}

int gh_sql_prompt(const struct gh_options *options)
{
	static const struct gh_prompt prompt = {
	    .text = "(sql) ",
	    .more_text = "  ... ",
	    .breaks = " \t\n().,;=<>|+-*/'\"",
	    .complete = complete,
	    .forget = forget,
	    .answer = answer,
	};
	form = options->json ? "--json" : options->csv ? "--csv" : NULL;
	return gh_prompt_run(&prompt, options);
}
