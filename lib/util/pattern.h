/* Regular expressions, as Perl has them, that many texts are matched against: by PCRE2, which makes
 * machine code of an expression, if the system lets it. */
#ifndef GH_UTIL_PATTERN_H
#define GH_UTIL_PATTERN_H

#define PCRE2_CODE_UNIT_WIDTH 8

#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>

struct gh_pattern {
	pcre2_code *code;        /* owned */
	pcre2_match_data *match; /* the same */
};

enum gh_match {
	GH_MATCH_NO,
	GH_MATCH_YES,
	GH_MATCH_TOO_LONG, /* it takes too long to tell */
};

/* Compiles TEXT; `^' and `$' are where lines begin and end. False if it is no expression, or memory
 * ran out; else to be freed with gh_pattern_free. */
bool gh_pattern_compile(struct gh_pattern *pattern, const char *text);

/* Whether LENGTH bytes at DATA have a part that matches. Bytes that are no UTF-8 match nothing. */
enum gh_match gh_pattern_matches(const struct gh_pattern *pattern, const char *data, size_t length);

void gh_pattern_free(struct gh_pattern *pattern);

#endif
