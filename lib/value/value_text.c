#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/util/escape.h"

/* What is printed of a string unless all is asked for, in bytes, and what ever is. */
enum { TEXT = 1024, MOST_TEXT = 1 << 24 };

/* The most bytes of a character of UTF-8. */
#define MOST_CHARACTER 4

/* Appends SIZE bytes of TEXT, which is MORE bytes longer. */
static void add_text(struct gh_values *values, const char *text, size_t size, uint64_t more)
{
	if (more > 0)
		gh_value_json(values, "{", "start");
	(values->json ? gh_escape_json_bytes : gh_escape_quote)(&values->out, text, size);
	if (more > 0) {
		gh_value_json(values, ",", "more");
		gh_value_add(values, values->json ? "%" PRIu64 "}" : "...+%" PRIu64 " more", more);
	}
}

/* What is printed of a text of SIZE bytes. */
static size_t shown_of(const struct gh_values *values, uint64_t size)
{
	uint64_t most = values->limit == SIZE_MAX ? MOST_TEXT : TEXT;
	return (size_t)(size < most ? size : most);
}

void gh_value_add_string(struct gh_values *values, uint64_t start, uint64_t size)
{
	size_t shown = shown_of(values, size);
	char *text = malloc(shown + 1);
	if (text == NULL)
		values->out.failed = true;
	else if (shown > 0 && !gh_process_read_constant(values->process, start, text, shown))
		gh_value_add_unreadable(values, start);
	else
		add_text(values, text, shown, size - shown);
	free(text);
}

/* The SIZE bytes at TEXT are readable, but for a character that may be cut at their end. */
static bool is_text(const char *text, size_t size, bool cut)
{
	for (size_t less = 0; less < MOST_CHARACTER && less < size; less++)
		if (gh_escape_is_text(text, size - less))
			return true;
		else if (!cut)
			return false;
	return false;
}

bool gh_value_add_text(struct gh_values *values, uint64_t start, uint64_t size)
{
	size_t shown = shown_of(values, size);
	char *text = malloc(shown + 1);
	bool is = text != NULL && shown > 0 &&
		  gh_process_read_constant(values->process, start, text, shown) &&
		  is_text(text, shown, shown < size);
	if (is)
		add_text(values, text, shown, size - shown);
	free(text);
	return is;
}

bool gh_value_add_bytes(struct gh_values *values, uint64_t address, uint64_t first)
{
	uint64_t start;
	uint64_t size;
	if (!gh_value_slice(values, address, &start, &size) || first > size)
		return false;
	gh_value_add_string(values, start + first, size - first);
	return true;
}
