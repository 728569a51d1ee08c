#include "plugin/cli/web_question.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_ROWS = 10000, /* of an answer */
	MAX_TEXT = 4096,  /* bytes of a pattern or other text */
	MAX_DIGITS = 20,
};

/* The commands that answer, and how many rows if the page does not say. */
static const struct {
	const char *name;
	const char *rows;
} commands[] = {
    {"diff", "1000"},      {"dominators", "100"},  {"goroutines", NULL}, {"hang", NULL},
    {"histogram", "1000"}, {"info", NULL},         {"instances", "100"}, {"memstats", NULL},
    {"objects", "100"},    {"path", "100"},        {"print", "64"},      {"profile", NULL},
    {"reachable", "100"},  {"referrers", "100"},   {"sql", NULL},        {"strings", "100"},
    {"suspects", NULL},    {"unreachable", "100"}, {"waits", NULL},
};

/* Questions about an object or a goroutine that are SQL, in which ? is its number. */
static const struct {
	const char *name;
	const char *query;
} queries[] = {
    {"retained", "SELECT printf('0x%x', address) AS object, type, retained.bytes AS retained FROM "
		 "objects JOIN retained ON object = address WHERE address = ?"},
    {"goroutine", "SELECT status, reason, waited, creator FROM goroutines WHERE id = ?"},
    {"held", "SELECT sum(bytes) AS bytes FROM (SELECT DISTINCT object FROM slots WHERE goroutine = "
	     "?) AS held JOIN retained ON retained.object = held.object"},
    {"waiting", "SELECT * FROM waits WHERE goroutine = ?"},
    {"frames", "SELECT * FROM frames WHERE goroutine = ?"},
    {"slots", "SELECT slots.*, type, retained.bytes FROM slots LEFT JOIN objects ON address = "
	      "slots.object LEFT JOIN retained ON retained.object = address WHERE goroutine = ?"},
};

/* What the views ask that look at a whole heap; of each dump, if there are two and it is of BOTH;
 * or only if there are two. */
enum dumps { NEWER, BOTH, COMPARED };

static const struct {
	enum dumps of;
	const char *name;
	struct gh_web_parameter parameters[2];
} whole[] = {
    {NEWER, "suspects", {}},
    {BOTH, "dominators", {{"limit", "1000"}}},
    {NEWER, "histogram", {{"by", "type"}, {"limit", "10000"}}},
    {COMPARED, "diff", {{"by", "type"}, {"limit", "10000"}}},
    {BOTH, "dominators", {{"merged", ""}, {"limit", "10000"}}},
    {BOTH, "goroutines", {{"group", ""}}},
    {NEWER, "goroutines", {{"leaked", ""}}},
    {NEWER, "waits", {{"deadlocks", ""}}},
    {BOTH, "waits", {{"group", ""}}},
    {BOTH, "goroutines", {{"memory", ""}}},
    {NEWER, "histogram", {{"by", "path"}, {"limit", "10000"}}},
    {COMPARED, "diff", {{"by", "path"}, {"limit", "10000"}}},
    {NEWER, "histogram", {{"by", "root"}, {"limit", "10000"}}},
    {COMPARED, "diff", {{"by", "root"}, {"limit", "10000"}}},
    {BOTH, "strings", {{"limit", "100"}}},
    {BOTH, "profile", {}},
    {NEWER, "histogram", {{"by", "site"}, {"limit", "10000"}}},
    {COMPARED, "diff", {{"by", "site"}, {"limit", "10000"}}},
    {NEWER, "histogram", {{"by", "size"}, {"limit", "10000"}}},
    {COMPARED, "diff", {{"by", "size"}, {"limit", "10000"}}},
    {BOTH, "strings", {{"limit", "1000"}}},
    {BOTH, "strings", {{"limit", "10000"}}},
};

struct gh_web_question gh_web_whole(const struct gh_web_heap *heap, size_t number)
{
	static const struct gh_web_parameter older = {"older", ""};
	bool compares = heap->older != NULL;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		size_t count = whole[i].of == COMPARED ? compares
			       : whole[i].of == BOTH   ? 1 + compares
						       : 1;
		struct gh_web_question question = {.name = whole[i].name};
		if (number >= count) {
			number -= count;
			continue;
		}
		while (question.count < 2 && whole[i].parameters[question.count].key != NULL) {
			question.parameters[question.count] = whole[i].parameters[question.count];
			question.count++;
		}
		if (number == 1)
			question.parameters[question.count++] = older;
		return question;
	}
	return (struct gh_web_question){0};
}

static bool is_number(const char *text, bool hexadecimal)
{
	size_t length = 0;
	if (hexadecimal && text[0] == '0' && text[1] == 'x')
		text += 2;
	for (; text[length] != '\0'; length++)
		if (length == MAX_DIGITS || !(hexadecimal ? isxdigit((unsigned char)text[length])
							  : isdigit((unsigned char)text[length])))
			return false;
	return length > 0;
}

/* TEXT is an operand, and no option. */
static bool is_operand(const char *text)
{
	return *text != '\0' && *text != '-';
}

/* The texts in QUESTION are no longer than may be. Else says so. */
static bool check_lengths(const struct gh_web_question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		size_t length = strlen(question->parameters[i].value);
		if (length <= MAX_TEXT)
			continue;
		dprintf(
		    question->err,
		    "goheap: expected a text of at most %d bytes, found one of %zu: goheap in a "
		    "shell takes longer ones\n",
		    MAX_TEXT, length);
		return false;
	}
	return true;
}

/* The option of COMMAND that the page may set by KEY; NULL if there is none. */
static const struct gh_option *find_option(const struct gh_command *command, const char *key)
{
	for (const struct gh_option *option = command->options; option->name != NULL; option++)
		if (strcmp(option->name, key) == 0)
			return option;
	return NULL;
}

/* VALUE is what OPTION may be set to by the page: no file, no process, and no more than there is
 * room for. */
static bool takes(const struct gh_option *option, const char *value)
{
	switch (option->type) {
	case GH_OPTION_FLAG:
		return *value == '\0';
	case GH_OPTION_LIMIT:
		return is_number(value, false) && strtoul(value, NULL, 10) > 0 &&
		       strtoul(value, NULL, 10) <= MAX_ROWS;
	case GH_OPTION_NUMBER:
		return is_number(value, false);
	case GH_OPTION_GROUPING:
	case GH_OPTION_PATTERN:
		return true;
	case GH_OPTION_TEXT:
		return strcmp(option->name, "module") != 0;
	default:
		return false;
	}
}

static bool add_own(struct gh_web_words *words, char **list, int *count, char *word)
{
	if (word == NULL)
		return false;
	words->own[words->nown++] = word;
	list[(*count)++] = word;
	return true;
}

/* Adds PARAMETER to the COUNT words of LIST, a list for addresses and one for options. */
static bool add(struct gh_web_words *words, const struct gh_web_parameter *parameter, char **list,
		int *count)
{
	char *word = NULL;
	const struct gh_option *option = find_option(words->command, parameter->key);
	if (option == NULL || !takes(option, parameter->value))
		return false;
	if (option->type == GH_OPTION_FLAG
		? asprintf(&word, "--%s", option->name) < 0
		: asprintf(&word, "--%s=%s", option->name, parameter->value) < 0)
		return false;
	return add_own(words, list, count, word);
}

/* COMMAND is about two dumps, if there are two. */
static bool compares(const struct gh_command *command)
{
	return command->operands.rest == GH_ONE_NEWER || command->run == gh_cmd_diff;
}

/* COMMAND can be asked about the older dump alone. */
static bool can_be_of_older(const struct gh_command *command, const struct gh_web_heap *heap)
{
	return heap->older != NULL && !compares(command);
}

/* Fills LIST with the words of QUESTION, GH_WEB_PARAMETERS + 6 at the most. */
static bool list_words(struct gh_web_words *words, const struct gh_web_question *question,
		       const char *rows, const struct gh_web_heap *heap, char **list, int *count)
{
	static char json[] = "--json", limit[] = "--limit", partial[] = "--partial";
	const char *address = NULL, *text = NULL;
	bool has_limit = false;
	words->is_json = gh_command_takes(words->command, "json");
	if (words->is_json)
		list[(*count)++] = json;
	if (heap->is_partial && gh_command_takes(words->command, "partial"))
		list[(*count)++] = partial;
	for (size_t i = 0; i < question->count; i++) {
		const struct gh_web_parameter *parameter = &question->parameters[i];
		if (strcmp(parameter->key, "address") == 0)
			address = parameter->value;
		else if (strcmp(parameter->key, "type") == 0 ||
			 strcmp(parameter->key, "query") == 0)
			text = parameter->value;
		else if (strcmp(parameter->key, "older") == 0 && *parameter->value == '\0' &&
			 can_be_of_older(words->command, heap))
			words->is_of_older = true;
		else if (!add(words, parameter, list, count))
			return false;
		has_limit |= strcmp(parameter->key, "limit") == 0;
	}
	if (rows != NULL && !has_limit) {
		list[(*count)++] = limit;
		list[(*count)++] = (char *)rows;
	}
	words->is_of_one = address != NULL;
	if (address != NULL)
		return is_number(address, true) && add_own(words, list, count, strdup(address));
	if (text != NULL)
		return is_operand(text) && add_own(words, list, count, strdup(text));
	if (heap->older != NULL && compares(words->command))
		list[(*count)++] = (char *)heap->older;
	return true;
}

/* Makes SQL of QUESTION, which is asked by a name, with TEXT of SIZE bytes for its query. False if
 * there is no SQL of that name. */
static bool translate(struct gh_web_question *question, char *text, size_t size)
{
	struct gh_web_parameter *of = &question->parameters[0];
	if (question->count == 0 || strcmp(of->key, "of") != 0 || !is_number(of->value, true))
		return false;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		const char *mark = strchr(queries[i].query, '?');
		if (strcmp(queries[i].name, question->name) != 0)
			continue;
		snprintf(text, size, "%.*s%s%s", (int)(mark - queries[i].query), queries[i].query,
			 of->value, mark + 1);
		question->name = "sql";
		*of = (struct gh_web_parameter){"query", text};
		return true;
	}
	return false;
}

bool gh_web_words_make(struct gh_web_words *words, const struct gh_web_question *asked,
		       const struct gh_web_heap *heap)
{
	char *list[GH_WEB_PARAMETERS + 6];
	char text[512];
	int count = 0;
	const char *rows = NULL;
	struct gh_web_question question = *asked;
	bool is_of_one = translate(&question, text, sizeof(text));
	*words = (struct gh_web_words){0};
	if (!check_lengths(asked))
		return false;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, question.name) != 0)
			continue;
		words->command = gh_command_find(commands[i].name);
		rows = commands[i].rows;
	}
	if (words->command != NULL && list_words(words, &question, rows, heap, list, &count)) {
		const struct gh_kept_source *now = &heap->source;
		const struct gh_kept_source older = {
		    .file = heap->older, .program = now->program, .names = now->names};
		words->is_of_one |= is_of_one;
		words->argc = gh_kept_arguments(words->is_of_older ? &older : now, words->command,
						count, list, words->argv);
		return true;
	}
	dprintf(question.err, "goheap: the page cannot ask that\n");
	gh_web_words_free(words);
	return false;
}

void gh_web_words_free(struct gh_web_words *words)
{
	while (words->nown > 0)
		free(words->own[--words->nown]);
}
