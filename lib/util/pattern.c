#include "lib/util/pattern.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Where the bracket expression ends that begins at AT: at its bracket, or at the NUL. */
static const char *bracket_end(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	/* One that comes first is a character. */
	at += *at == ']';
	for (; *at != '\0' && *at != ']'; at++) {
		char kind = at[0] == '[' ? at[1] : '\0';
		if (kind != ':' && kind != '.' && kind != '=')
			continue;
		for (at += 2; *at != '\0' && (at[0] != kind || at[1] != ']'); at++)
			;
		if (*at == '\0')
			return at;
		at++;
	}
	return at;
}

/* Where the group ends that begins at AT: likewise. */
static const char *group_end(const char *at)
{
	for (unsigned depth = 0; *at != '\0'; at++) {
		if (*at == '\\' && at[1] != '\0')
			at++;
		else if (*at == '[')
			at = bracket_end(at);
		else if (*at == '(')
			depth++;
		else if (*at == ')' && --depth == 0)
			return at;
		if (*at == '\0')
			return at;
	}
	return at;
}

/* The longest run of characters so far, and the one that goes on. */
struct runs {
	char *longest; /* room for the whole expression; owned */
	size_t length;
	char *run; /* the same */
	size_t size;
	bool is_plain; /* it has gone on since the beginning */
};

static void end_run(struct runs *runs)
{
	if (runs->size > runs->length) {
		memcpy(runs->longest, runs->run, runs->size);
		runs->length = runs->size;
	}
	runs->size = 0;
	runs->is_plain = false;
}

/* What is not in the run ends at AT, or where the expression does. */
static const char *skip(struct runs *runs, const char *at)
{
	end_run(runs);
	return *at != '\0' ? at + 1 : at;
}

/* Takes what is at AT, and gives where the next begins; NULL if nothing has to be in what matches.
 */
static const char *take(struct runs *runs, const char *at)
{
	static const char plain[] = ".[]()*+?{}|^$\\/-\"";
	switch (*at) {
	case '|':
		return NULL;
	case '*':
	case '+':
	case '?':
	case '{':
		/* It may not be there. */
		runs->size -= runs->size > 0;
		return skip(runs, *at == '{' ? strchrnul(at, '}') : at);
	case '(':
		return skip(runs, group_end(at));
	case '[':
		return skip(runs, bracket_end(at));
	case ')':
	case '.':
	case '^':
	case '$':
		return skip(runs, at);
	case '\\':
		/* Of other characters it makes classes, anchors and references. */
		if (at[1] == '\0' || strchr(plain, at[1]) == NULL)
			return skip(runs, at + (at[1] != '\0'));
		at++;
		break;
	default:
		break;
	}
	runs->run[runs->size++] = *at;
	return at + 1;
}

/* Finds what all that matches TEXT has. False if memory ran out. */
static bool find_part(struct gh_pattern *pattern, const char *text)
{
	size_t size = strlen(text) + 1;
	struct runs runs = {.longest = malloc(size), .run = malloc(size), .is_plain = true};
	bool ok = runs.longest != NULL && runs.run != NULL;
	const char *at = text;
	while (ok && at != NULL && *at != '\0')
		at = take(&runs, at);
	if (ok && at != NULL) {
		pattern->is_plain = runs.is_plain;
		end_run(&runs);
		pattern->length = runs.length;
	}
	pattern->part = runs.longest;
	free(runs.run);
	return ok;
}

bool gh_pattern_compile(struct gh_pattern *pattern, const char *text)
{
	*pattern = (struct gh_pattern){0};
	if (regcomp(&pattern->expression, text, REG_EXTENDED | REG_NEWLINE | REG_NOSUB) != 0)
		return false;
	if (find_part(pattern, text))
		return true;
	gh_pattern_free(pattern);
	return false;
}

bool gh_pattern_matches(const struct gh_pattern *pattern, const char *data, size_t length)
{
	if (pattern->length > 0 && memmem(data, length, pattern->part, pattern->length) == NULL)
		return false;
	regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)(length < INT_MAX ? length : INT_MAX)};
	return pattern->is_plain || regexec(&pattern->expression, data, 1, &all, REG_STARTEND) == 0;
}

void gh_pattern_free(struct gh_pattern *pattern)
{
	regfree(&pattern->expression);
	free(pattern->part);
	*pattern = (struct gh_pattern){0};
}
