#include "plugin/gdb/gdb.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/hex.h"
#include "plugin/view/view.h"

/* The most bytes of a value: they are one argument of a program. */
#define MAX_VALUE ((size_t)1 << 15)

static FILE *open_file(const char *directory, const char *name, const char *mode)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, mode);
	if (file == NULL)
		gh_print_failure(name, "open");
	return file;
}

bool gh_session_type_write(const char *directory, const char *type, const char *part)
{
	FILE *out = open_file(directory, GH_SESSION_TYPE, "we");
	if (out == NULL)
		return false;
	fprintf(out, "%s\n%s", type, part);
	if (fclose(out) == 0)
		return true;
	gh_print_failure(GH_SESSION_TYPE, "write");
	return false;
}

/* Reads the file NAME; to be freed. NULL after printing an error. */
static char *read_file(const char *directory, const char *name, size_t *size)
{
	FILE *in = open_file(directory, name, "re");
	char *data = NULL;
	struct gh_error err;
	if (in == NULL)
		return NULL;
	data = calloc(1, MAX_VALUE + 2);
	*size = data != NULL ? fread(data, 1, MAX_VALUE + 1, in) : 0;
	fclose(in);
	if (data != NULL && *size <= MAX_VALUE)
		return data;
	if (data == NULL)
		gh_fail_memory(&err, name);
	else
		gh_fail(&err, name, GH_NO_OFFSET, "a value of no more than 32 kB", "a larger one");
	gh_print_error(&err);
	free(data);
	return NULL;
}

/* The bytes that GDB has written, as the program takes them; to be freed. NULL after printing an
 * error. */
static char *read_bytes(const char *directory)
{
	size_t size = 0;
	char *data = read_file(directory, GH_SESSION_VALUE, &size);
	char *digits = data != NULL ? malloc(2 * size + 2) : NULL;
	if (digits != NULL) {
		digits[0] = '=';
		gh_hex_text(digits + 1, data, size);
	}
	free(data);
	return digits;
}

bool gh_session_value_read(struct gh_session_value *value, const char *directory,
			   const char *argument)
{
	size_t size = 0;
	if (argument == NULL)
		value->bytes = read_bytes(directory);
	else if (asprintf(&value->bytes, "=%s", argument) < 0)
		value->bytes = NULL;
	value->type = read_file(directory, GH_SESSION_TYPE, &size);
	if (value->type == NULL)
		return false;
	value->part = strchr(value->type, '\n');
	if (value->part != NULL)
		*value->part++ = '\0';
	else
		value->part = value->type + size;
	return value->bytes != NULL;
}

void gh_session_value_free(struct gh_session_value *value)
{
	free(value->bytes);
	free(value->type);
}
