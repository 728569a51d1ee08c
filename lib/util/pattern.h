/* Extended regular expressions, as POSIX has them, that many texts are matched against. To ask
 * regexec takes a microsecond even of a text of few bytes; so what all texts that match have in
 * them is looked for first. */
#ifndef GH_UTIL_PATTERN_H
#define GH_UTIL_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct gh_pattern {
	regex_t expression;
	char *part;    /* bytes that each text that matches has; owned */
	size_t length; /* of the part; 0: none is known */
	bool is_plain; /* what has the part matches */
};

/* Compiles TEXT; `^' and `$' are where lines begin and end. False if it is no expression, or memory
 * ran out; else to be freed with gh_pattern_free. */
bool gh_pattern_compile(struct gh_pattern *pattern, const char *text);

/* LENGTH bytes at DATA, some line of them, match. */
bool gh_pattern_matches(const struct gh_pattern *pattern, const char *data, size_t length);

void gh_pattern_free(struct gh_pattern *pattern);

#endif
