#include "lib/util/pattern.h"

bool gh_pattern_compile(struct gh_pattern *pattern, const char *text)
{
	int error;
	PCRE2_SIZE place;
	*pattern = (struct gh_pattern){0};
	pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				      PCRE2_MULTILINE | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error,
				      &place, NULL);
	if (pattern->code != NULL)
		pattern->match = pcre2_match_data_create(1, NULL);
	if (pattern->match == NULL) {
		gh_pattern_free(pattern);
		return false;
	}
	/* Where no memory may be written to and run it is interpreted. */
	pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
	return true;
}

enum gh_match gh_pattern_matches(const struct gh_pattern *pattern, const char *data, size_t length)
{
	PCRE2_SPTR text = (PCRE2_SPTR)data;
	int found = pcre2_match(pattern->code, text, length, 0, 0, pattern->match, NULL);
	/* The interpreter needs no stack. */
	if (found == PCRE2_ERROR_JIT_STACKLIMIT)
		found =
		    pcre2_match(pattern->code, text, length, 0, PCRE2_NO_JIT, pattern->match, NULL);
	if (found == PCRE2_ERROR_NOMATCH)
		return GH_MATCH_NO;
	return found >= 0 ? GH_MATCH_YES : GH_MATCH_TOO_LONG;
}

void gh_pattern_free(struct gh_pattern *pattern)
{
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	*pattern = (struct gh_pattern){0};
}
