#include "lib/util/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/escape.h"

/* The longest part of a file's name that is in an error. */
#define MAX_FILE 200

bool gh_fail(struct gh_error *err, const char *file, uint64_t offset, const char *expected,
	     const char *format, ...)
{
	if (err == NULL)
		return false;
	char place[32] = "";
	if (offset != GH_NO_OFFSET)
		snprintf(place, sizeof(place), "offset 0x%" PRIx64 ": ", offset);
	char found[256];
	va_list args;
	va_start(args, format);
	vsnprintf(found, sizeof(found), format, args);
	va_end(args);
	/* The end of a long name says more than its beginning. */
	size_t length = strlen(file);
	bool cut = length > MAX_FILE;
	char line[sizeof(err->text)];
	snprintf(line, sizeof(line), "%s%s: %sexpected %s, found %s", cut ? "..." : "",
		 cut ? file + length - MAX_FILE : file, place, expected, found);
	gh_escape_text(err->text, sizeof(err->text), line);
	return false;
}

bool gh_fail_errno(struct gh_error *err, const char *file, const char *doing)
{
	if (err == NULL)
		return false;
	char line[sizeof(err->text)];
	snprintf(line, sizeof(line), "%s: cannot %s: %s", file, doing, strerror(errno));
	gh_escape_text(err->text, sizeof(err->text), line);
	return false;
}
