#include "plugin/dispatch/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "lib/util/escape.h"

#define NO_VARIABLES "variables of packages have no names in a stripped program"

/* The type in TEXT, what GDB's whatis command printed, as Go writes it. NULL if there is none. */
static char *find_type(char *text)
{
	static const char before[] = "type = ";
	char *type = strstr(text, before);
	if (type == NULL)
		return NULL;
	type += strlen(before);
	/* The language may be C. */
	if (strncmp(type, "struct ", 7) == 0 && type[7] != '{')
		type += 7;
	size_t length = strcspn(type, "\n");
	size_t stars = 0;
	while (stars < length && type[length - 1 - stars] == '*')
		stars++;
	/* GDB writes pointers as C does: main.User **. */
	if (stars > 0 && stars < length && type[length - 1 - stars] == ' ') {
		memmove(type + stars, type, length - 1 - stars);
		memset(type, '*', stars);
		length--;
	}
	type[length] = '\0';
	return type;
}

/* Ends TEXT where a line of it is LINE. Returns what follows; NULL if there is none. */
static char *cut(char *text, const char *line)
{
	size_t length = strlen(line);
	for (char *at = strstr(text, line); at != NULL; at = strstr(at + 1, line)) {
		if ((at > text && at[-1] != '\n') || at[length] != '\n')
			continue;
		at[0] = '\0';
		return at + length + 1;
	}
	return NULL;
}

void gh_print_answers_read(struct gh_print_answers *answers, char *text)
{
	*answers = (struct gh_print_answers){.scope = (char *)""};
	for (size_t i = 0; text != NULL && i <= GH_PRINT_PARTS; i++) {
		char *next = cut(text, "@");
		size_t length = strlen(text);
		while (length > 0 && text[length - 1] == '\n')
			text[--length] = '\0';
		answers->types[i] = strncmp(text, "type = ", 7) == 0 ? find_type(text) : NULL;
		if (answers->types[i] == NULL && length > 0)
			answers->errors[i] = text;
		text = next;
	}
	char *scope = text != NULL ? cut(text, "@") : NULL;
	/* Of a function GDB has its code in place of the value. */
	answers->lost = scope != NULL && (strncmp(text, "<optimized out>", 15) == 0 ||
					  strncmp(text, "{void (", 7) == 0);
	if (scope != NULL)
		answers->scope = scope;
}

const char *gh_print_answers_lost(const struct gh_print_answers *answers,
				  const struct gh_print_words *print, struct gh_print_part *part)
{
	struct gh_print_part parts[GH_PRINT_PARTS];
	bool is_typed = print->type != NULL;
	if (!answers->lost || (is_typed && !gh_print_is_argument(print->expression)))
		return NULL;
	/* The shortest operand is first. */
	size_t count = gh_print_parts(parts, print->expression);
	const char *type = is_typed ? print->type : answers->types[count > 0 ? 1 : 0];
	*part = (struct gh_print_part){strdup(count > 0 ? parts[0].operand : print->expression),
				       strdup(count > 0 ? parts[0].part : "")};
	gh_print_parts_free(parts, count);
	/* The words of an argument are shown that has no type that is known. */
	bool is_words = part->operand != NULL && gh_print_is_argument(part->operand) &&
			type != NULL && gh_print_is_untyped(type);
	if (type != NULL && (is_typed || is_words || gh_print_is_value(print, type)) &&
	    part->operand != NULL && part->part != NULL)
		return type;
	gh_print_parts_free(part, 1);
	return NULL;
}

/* Moves *AT to the next name, that of a line "Symbol NAME is ...". Gives its length; 0 if there is
 * none. */
static size_t next_name(const char **at)
{
	static const char before[] = "Symbol ";
	while ((*at = strstr(*at, before)) != NULL) {
		*at += sizeof(before) - 1;
		size_t length = strcspn(*at, " \n");
		if (length > 0 && strncmp(*at + length, " is ", 4) == 0)
			return length;
	}
	return 0;
}

/* SCOPE has that NAME. */
static bool has_name(const char *scope, const char *name)
{
	size_t length;
	while ((length = next_name(&scope)) > 0)
		if (length == strlen(name) && memcmp(scope, name, length) == 0)
			return true;
	return false;
}

/* Says which names SCOPE has, but for inlined functions. */
static void tell_names(const char *scope)
{
	unsigned count = 0;
	size_t length;
	while ((length = next_name(&scope)) > 0) {
		char name[128];
		if (length >= sizeof(name))
			continue;
		memcpy(name, scope, length);
		name[length] = '\0';
		if (strchr(name, '.') != NULL)
			continue;
		fputs(count++ > 0 ? ", " : "; here are ", stderr);
		gh_escape_print(stderr, name);
	}
	fputs(count > 0 ? " (goheap frame shows them)" : "; goheap frame shows what is known here",
	      stderr);
}

/* TEXT between quotes of GDB's error, which begins with BEFORE; in NAME. False if it does not. */
static bool find_quoted(const char *error, const char *before, char end, char name[128])
{
	size_t skipped = strlen(before);
	if (strncmp(error, before, skipped) != 0)
		return false;
	const char *close = strrchr(error + skipped, end);
	size_t length = close != NULL ? (size_t)(close - error) - skipped : 0;
	if (length >= 128)
		length = 127;
	memcpy(name, error + skipped, length);
	name[length] = '\0';
	return true;
}

/* Of NAME, or of a package whose path it begins, EXPRESSION takes a part. */
static bool is_qualified(const char *expression, const char *name)
{
	const char *at = strstr(expression, name);
	return at != NULL && (at[strlen(name)] == '.' || at[strlen(name)] == '/');
}

/* Says why EXPRESSION has no type. */
static void tell_error(const struct gh_print_answers *answers, const char *expression)
{
	const char *error = answers->errors[0];
	char name[128];
	/* What the shortest operand lacks, no longer one has. */
	if (answers->errors[1] != NULL)
		error = answers->errors[1];
	fputs("goheap: ", stderr);
	gh_escape_print(stderr, expression);
	if (error == NULL) {
		fputs(": GDB tells no type of it\n", stderr);
	} else if (find_quoted(error, "No symbol \"", '"', name) &&
		   has_name(answers->scope, name)) {
		fputs(": this frame is of an inlined function and has no ", stderr);
		gh_escape_print(stderr, name);
		fputs("; the frame that it is inlined into has one (up)\n", stderr);
	} else if (find_quoted(error, "No symbol \"", '"', name)) {
		fputs(": there is no ", stderr);
		gh_escape_print(stderr, name);
		tell_names(answers->scope);
		if (is_qualified(expression, name))
			fputs("; " NO_VARIABLES, stderr);
		fputs("\n", stderr);
	} else if (strncmp(error, "Attempt to extract a component", 30) == 0) {
		fputs(": no value: functions are for break, list and info line; " NO_VARIABLES "\n",
		      stderr);
	} else if (find_quoted(error, "A syntax error in expression, near `", '\'', name)) {
		fputs(": not understood from ", stderr);
		gh_escape_print(stderr, name[0] != '\0' ? name : "its end");
		fputs(" on: what has a value is NAME, NAME.FIELD, NAME[INDEX], NAME[KEY], "
		      "NAME[LOW:HIGH], NAME.(TYPE), *NAME, and numbers\n",
		      stderr);
	} else {
		fputs(": ", stderr);
		gh_escape_print(stderr, error);
		fputs("\n", stderr);
	}
}

bool gh_print_answers_refuse(const struct gh_print_answers *answers,
			     const struct gh_print_words *print)
{
	const char *type = answers->types[0];
	if (type == NULL)
		tell_error(answers, print->expression);
	else if (answers->lost)
		gh_say("it is not known here: the function was called with it in registers; goheap "
		       "frame shows what it is likely to be");
	else if (print->type == NULL && strcmp(type, GH_NO_GO_TYPE) == 0)
		fputs("Its type is not known: goheap print TYPE EXPRESSION\n", stderr);
	else if (strcmp(type, print->expression) == 0)
		fputs("That is a type: goheap print TYPE EXPRESSION\n", stderr);
	else if (strcmp(type, "void") == 0)
		fputs("It has no value.\n", stderr);
	else if (strncmp(type, "void (", 6) == 0)
		gh_say("%s: a function, which has no value: break, list and info line take it",
		       print->expression);
	else
		return false;
	return true;
}
