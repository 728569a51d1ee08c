#include "plugin/command/command.h"

#include <stdio.h>
#include <string.h>

/* The most letters of a name that are compared. */
enum { NAME_MAX_LETTERS = 31 };

/* Words that people type for commands of other names. */
static const struct {
	const char *word;
	const char *command;
} synonyms[] = {
    {"backtrace", "goroutines"}, {"bt", "goroutines"},    {"deadlock", "hang"},
    {"deadlocks", "hang"},       {"gcore", "dump"},       {"heap", "histogram"},
    {"leak", "suspects"},        {"leaks", "suspects"},   {"locks", "waits"},
    {"panic", "crash"},          {"stack", "goroutines"}, {"stacks", "goroutines"},
    {"symbols", "funcs"},        {"top", "histogram"},
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The edit distance between A and B: letters inserted, deleted, replaced, or swapped with the next.
 * Source: the optimal string alignment distance. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][NAME_MAX_LETTERS + 1];
	size_t size = strlen(b);
	for (unsigned j = 0; j <= size; j++)
		rows[0][j] = j;
	for (unsigned i = 1; a[i - 1] != '\0'; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i + 2) % 3];
		const unsigned *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= size; j++) {
			unsigned replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[strlen(a) % 3][size];
}

/* Distance of MEANT, a command or task, from NAME: 0 where it begins so; UINT_MAX if it is not
 * meant. */
static unsigned rank(const char *meant, const char *name)
{
	size_t length = strlen(name);
	if (strncmp(meant, name, length) == 0)
		return 0;
	unsigned edits = distance(name, meant);
	return edits <= 2 && 2 * edits < length ? edits : UINT_MAX;
}

/* Name NUMBER, from 0, of the commands that users type and, if TASKS, of the tasks that have none
 * of theirs. "" for another command; NULL if there are no more. */
static const char *candidate(size_t number, bool tasks)
{
	size_t task = 0;
	const struct gh_command *command;
	for (; (command = gh_command_number(task)) != NULL; task++)
		if (task == number)
			return command->summary != NULL ? command->name : "";
	const char *name = tasks ? gh_tasks[number - task].name : NULL;
	const struct gh_command *namesake = name != NULL ? gh_command_find(name) : NULL;
	return namesake != NULL && namesake->summary != NULL ? "" : name;
}

static void list_nearest(FILE *out, const char *name, bool tasks)
{
	unsigned best = UINT_MAX;
	unsigned count = 0;
	const char *meant;
	for (size_t i = 0; (meant = candidate(i, tasks)) != NULL; i++)
		if (*meant != '\0')
			best = least(best, rank(meant, name));
	for (size_t i = 0; best != UINT_MAX && (meant = candidate(i, tasks)) != NULL; i++)
		if (*meant != '\0' && rank(meant, name) == best)
			fprintf(out, "%s%s", count++ == 0 ? "; did you mean " : " or ", meant);
	if (count > 0)
		putc('?', out);
}

char *gh_command_nearest(const char *name, bool tasks)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *meant = NULL;
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (strcmp(synonyms[i].word, name) == 0)
			meant = synonyms[i].command;
	if (out != NULL && meant != NULL)
		fprintf(out, "; did you mean %s?", meant);
	else if (out != NULL && *name != '\0' && strlen(name) <= NAME_MAX_LETTERS)
		list_nearest(out, name, tasks);
	return gh_text_end(out, &text);
}
