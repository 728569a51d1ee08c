#include "lib/util/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/escape.h"

/* The longest part of a file's name that is in an error. */
#define MAX_FILE 200

/* The longest message after it, with a NUL: what is left of an error's text. */
#define MESSAGE_SIZE (sizeof(((struct gh_error *)0)->text) - MAX_FILE - sizeof("...: "))

/* Fills ERR with "FILE: MESSAGE", escaped. Returns false. */
static bool fill(struct gh_error *err, const char *file, const char *message)
{
	/* The end of a long name says more than its beginning. */
	size_t length = strlen(file);
	bool cut = length > MAX_FILE;
	char line[sizeof(err->text)];
	snprintf(line, sizeof(line), "%s%s: %s", cut ? "..." : "",
		 cut ? file + length - MAX_FILE : file, message);
	gh_escape_text(err->text, sizeof(err->text), line);
	return false;
}

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
	char message[MESSAGE_SIZE];
	snprintf(message, sizeof(message), "%sexpected %s, found %s", place, expected, found);
	return fill(err, file, message);
}

bool gh_fail_plainly(struct gh_error *err, const char *format, ...)
{
	char line[sizeof(err->text)];
	va_list args;
	if (err == NULL)
		return false;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	gh_escape_text(err->text, sizeof(err->text), line);
	return false;
}

bool gh_fail_errno(struct gh_error *err, const char *file, const char *doing)
{
	if (err == NULL)
		return false;
	char message[MESSAGE_SIZE];
	snprintf(message, sizeof(message), "cannot %s: %s", doing, strerror(errno));
	return fill(err, file, message);
}

bool gh_fail_memory(struct gh_error *err, const char *file)
{
	return err != NULL && fill(err, file, GH_OUT_OF_MEMORY);
}
