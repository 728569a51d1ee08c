#include "plugin/dispatch/dispatch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/value/value.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* One past the bracket that closes the one at TEXT; NULL if none does. */
static const char *find_close(const char *text)
{
	unsigned depth = 0;
	for (; *text != '\0'; text++) {
		if (strchr("([{", *text) != NULL)
			depth++;
		else if (strchr(")]}", *text) != NULL && --depth == 0)
			return text + 1;
	}
	return NULL;
}

static const char *skip_spaces(const char *text)
{
	return text + strspn(text, " ");
}

/* TEXT, if it begins with PREFIX, past that; else NULL. */
static const char *skip_prefix(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* One past the name of a type at TEXT, with its package's path and its type arguments. */
static const char *skip_name(const char *text)
{
	if (!is_word(*text) || isdigit((unsigned char)*text))
		return NULL;
	while (is_word(*text) || (strchr("./-~", *text) != NULL && is_word(text[1])))
		text++;
	return *text == '[' ? find_close(text) : text;
}

/* At an operand of an expression that follows a space; not at an operator with its second one. */
static bool is_operand(const char *text)
{
	return is_word(*text) || *text == '$' || *text == '(' ||
	       (strchr("&*'\"", *text) != NULL && *text != '\0' && text[1] != ' ');
}

static const char *skip_type(const char *text);

/* One past a function's type, after "func": results in brackets, or one that is followed by an
 * operand, as the type is. */
static const char *skip_signature(const char *text)
{
	const char *end = *text == '(' ? find_close(text) : NULL;
	if (end == NULL || *end != ' ')
		return end;
	const char *result = skip_spaces(end);
	result = *result == '(' ? find_close(result) : skip_type(result);
	return result != NULL && *result == ' ' && is_operand(skip_spaces(result)) ? result : end;
}

/* One past the Go type at TEXT; NULL if it begins none. */
static const char *skip_type(const char *text)
{
	static const char *const channels[] = {"<-chan ", "chan<- ", "chan "};
	const char *rest;
	if (*text == '*')
		return skip_type(text + 1);
	if (*text == '[') {
		rest = text + 1 + strspn(text + 1, "0123456789");
		return *rest == ']' ? skip_type(rest + 1) : NULL;
	}
	if (strncmp(text, "map[", 4) == 0) {
		rest = find_close(text + 3);
		return rest != NULL ? skip_type(rest) : NULL;
	}
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
		if ((rest = skip_prefix(text, channels[i])) != NULL)
			return skip_type(skip_spaces(rest));
	if ((rest = skip_prefix(text, "func")) != NULL && *rest == '(')
		return skip_signature(rest);
	rest = skip_prefix(text, "struct");
	if (rest == NULL)
		rest = skip_prefix(text, "interface");
	if (rest != NULL && *skip_spaces(rest) == '{')
		return find_close(skip_spaces(rest));
	return skip_name(text);
}

/* The words from FIRST on, with a space between two; to be freed. NULL if memory ran out. */
static char *join(const struct gh_words *words, int first)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (int i = first; out != NULL && i < words->count; i++)
		fprintf(out, "%s%s", i > first ? " " : "", words->typed[i]);
	return gh_text_end(out, &text);
}

/* How many of the words after the command's are options and their arguments. */
static int count_options(const struct gh_words *words)
{
	static const char *const flags[] = {"--bytes", "--json", "--c", "--partial"};
	int at = 1;
	while (at < words->count && strncmp(words->args[at], "--", 2) == 0) {
		bool is_one = strchr(words->args[at], '=') != NULL;
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			is_one = is_one || strcmp(words->args[at], flags[i]) == 0;
		at += is_one ? 1 : 2;
	}
	return (at < words->count ? at : words->count) - 1;
}

/* Splits the text, which is the expression, where its type ends. */
static void split(struct gh_print_words *print)
{
	char *text = print->text;
	const char *end = *text == '\'' ? strchr(text + 1, '\'') : skip_type(text);
	if (*text == '\'' && end != NULL) {
		print->type = text + 1;
		print->expression = text + (end - text) + 1;
	} else if (end != NULL && *end == ' ' && is_operand(skip_spaces(end))) {
		print->type = text;
		print->expression = text + (end - text) + 1;
	} else {
		return;
	}
	print->expression[-1] = '\0';
	print->expression += strspn(print->expression, " ");
}

bool gh_print_words_read(struct gh_print_words *print, const struct gh_words *words, bool has_type)
{
	*print = (struct gh_print_words){.noptions = count_options(words)};
	print->text = join(words, 1 + print->noptions);
	if (print->text == NULL) {
		gh_say(GH_OUT_OF_MEMORY);
		return false;
	}
	print->expression = print->text;
	if (has_type)
		split(print);
	return true;
}

/* Those of Go's predeclared types that GDB and C do not have, too, and without integers, which are
 * as often addresses. */
static bool is_predeclared(const char *type)
{
	static const char *const names[] = {"bool",    "complex64", "complex128", "error",
					    "float32", "float64",   "string"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], type) == 0)
			return true;
	return false;
}

static bool is_integer(const char *type)
{
	size_t length = strspn(type, "uint");
	type += length;
	return length > 0 && (strcmp(type, "ptr") == 0 || type[strspn(type, "0123456789")] == '\0');
}

/* EXPRESSION begins with the name of an argument or variable: not one of a word in a frame, which
 * may be an address. */
static bool is_named(const char *expression)
{
	expression += strspn(expression, "*");
	return is_word(*expression) && !isdigit((unsigned char)*expression) &&
	       strncmp(expression, "sp_", 3) != 0;
}

bool gh_print_is_argument(const char *expression)
{
	size_t digits = 0;
	if (strncmp(expression, "arg", 3) == 0)
		digits = strspn(expression + 3, "0123456789");
	return digits > 0 && expression[3 + digits] == '\0';
}

bool gh_print_is_untyped(const char *type)
{
	return strcmp(type, "*uintptr") == 0 || strcmp(type, GH_NO_GO_TYPE) == 0;
}

bool gh_print_is_value(const struct gh_print_words *print, const char *type)
{
	static const char *const pointers[] = {"chan ", "<-chan ", "func(", "map["};
	size_t stars = strspn(type, "*");
	bool is_own = print->type == NULL;
	type += stars;
	/* A word of an argument, of no type that is known, is a *uintptr if it may be a pointer. */
	if (is_own && is_integer(type))
		return is_named(print->expression) && (stars == 0 || strcmp(type, "uintptr") != 0);
	/* Of one that is a pointer it tells where a value of the type is that was typed. */
	if (!is_own && stars > 0)
		return false;
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
		if (skip_prefix(type, pointers[i]) != NULL)
			return is_own;
	if (strcmp(type, GH_NO_GO_TYPE) == 0)
		return !is_own;
	return *type == '[' || skip_prefix(type, "interface {") != NULL || is_predeclared(type) ||
	       (is_word(*type) && strchr(type, '.') != NULL);
}

/* One past the text in quotes that begins at TEXT; its end, if nothing closes it. */
static const char *skip_quoted(const char *text)
{
	char quote = *text++;
	while (*text != '\0' && *text != quote)
		text += *text == '\\' && text[1] != '\0' ? 2 : 1;
	return *text == '\0' ? text : text + 1;
}

/* The last of an expression's LENGTH bytes is an operator that an operand has to follow. */
static bool is_open_operator(const char *expression, size_t length)
{
	char last = expression[length - 1];
	/* x++ is a whole one to GDB. */
	if ((last == '+' || last == '-') && length > 1 && expression[length - 2] == last)
		return false;
	return strchr("+-*/%&|^=<!~,.@:?", last) != NULL;
}

bool gh_print_words_whole(const struct gh_print_words *print)
{
	char open[64];
	size_t depth = 0;
	const char *text = print->expression;
	while (*text != '\0') {
		const char *closing = strchr(")]}", *text);
		if (*text == '\'' || *text == '"') {
			text = skip_quoted(text);
			continue;
		}
		if (strchr("([{", *text) != NULL) {
			if (depth == sizeof(open))
				return true; /* GDB judges it */
			open[depth++] = *text == '(' ? ')' : *text == '[' ? ']' : '}';
		} else if (closing != NULL && (depth == 0 || open[--depth] != *closing)) {
			gh_say("a %c of the expression closes nothing", *closing);
			return false;
		}
		text++;
	}
	size_t length = (size_t)(text - print->expression);
	while (length > 0 && print->expression[length - 1] == ' ')
		length--;
	if (depth > 0)
		gh_say("expected a %c, found the end of the expression", open[depth - 1]);
	else if (length > 0 && is_open_operator(print->expression, length))
		gh_say("expected an operand after %c, found the end of the expression",
		       print->expression[length - 1]);
	else
		return true;
	return false;
}

/* The end of the operand at TEXT: a name, or what is in brackets. */
static const char *skip_operand(const char *text)
{
	const char *start = text;
	if (*text == '(')
		return gh_value_index_end(text);
	while (is_word(*text) || *text == '$')
		text++;
	return text > start && !isdigit((unsigned char)*start) ? text : NULL;
}

/* The end of the field at TEXT, with its dot; NULL if there is another part. */
static const char *skip_field(const char *text)
{
	return text[1] != '(' ? skip_operand(text + 1) : NULL;
}

/* TEXT is fields, indexes and assertions of types alone. */
static bool is_part(const char *text)
{
	while (*text != '\0') {
		const char *end = NULL;
		if (*text == '[' || strncmp(text, ".(", 2) == 0)
			end = gh_value_index_end(text + (*text == '.'));
		else if (*text == '.')
			end = skip_operand(text + 1);
		if (end == NULL)
			return false;
		text = end;
	}
	return true;
}

/* Fills PART with the operand from TEXT to END, of which the rest, with STARS before it, is a part.
 * False if memory ran out. */
static bool take_part(struct gh_print_part *part, const char *text, const char *end, size_t stars)
{
	size_t length = strlen(end);
	part->operand = strndup(text, (size_t)(end - text));
	part->part = malloc(length + 2 * stars + 1);
	if (part->operand == NULL || part->part == NULL)
		return false;
	memcpy(part->part, end, length + 1);
	for (size_t i = 0; i < stars; i++)
		memcpy(part->part + length + 2 * i, ".*", 3);
	return true;
}

size_t gh_print_parts(struct gh_print_part parts[GH_PRINT_PARTS], const char *expression)
{
	size_t stars = strspn(expression, "*");
	const char *operand = expression + stars;
	const char *ends[GH_PRINT_PARTS];
	const char *end = skip_operand(operand);
	size_t count = 0;
	if (stars > GH_VALUE_DEPTH_MAX || end == NULL || !is_part(end))
		return 0;
	for (; end != NULL && (*end != '\0' || stars > 0);
	     end = *end == '.' ? skip_field(end) : NULL) {
		/* The last is the longest. */
		count += count < GH_PRINT_PARTS;
		ends[count - 1] = end;
	}
	memset(parts, 0, count * sizeof(*parts));
	for (size_t i = 0; i < count; i++)
		if (!take_part(&parts[i], operand, ends[i], stars)) {
			gh_print_parts_free(parts, count);
			return 0;
		}
	return count;
}

void gh_print_parts_free(struct gh_print_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(parts[i].operand);
		free(parts[i].part);
	}
}
