#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/util/output.h"
#include "plugin/sql/internal.h"

static ssize_t write_compressed(void *stream, const char *data, size_t size)
{
	return gzwrite(stream, data, (unsigned)size) == (int)size ? (ssize_t)size : 0;
}

static int close_compressed(void *stream)
{
	return gzclose(stream) == Z_OK ? 0 : EOF;
}

/* A stream whose bytes come into the file of OUT compressed. NULL if memory ran out. */
static FILE *open_compressed(const struct gh_output *out)
{
	int copy = dup(out->fd);
	gzFile stream = copy >= 0 ? gzdopen(copy, "wb1") : NULL;
	FILE *file = NULL;
	if (stream != NULL)
		file = fopencookie(
		    stream, "w",
		    (cookie_io_functions_t){.write = write_compressed, .close = close_compressed});
	if (file != NULL)
		return file;
	if (stream != NULL)
		gzclose(stream);
	else if (copy >= 0)
		close(copy);
	return NULL;
}

/* Makes the directory PATH, and those that it is in. */
static bool make_directories(char *path, struct gh_error *err)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash != NULL)
			*slash = '\0';
		bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
		if (!made)
			return gh_fail_errno(err, path, "make");
		if (slash == NULL)
			return true;
		*slash = '/';
	}
}

static bool write_part(struct gh_sql *sql, const struct gh_sql_heap *heap,
		       const struct gh_sql_table *table, const char *path, struct gh_error *err)
{
	char query[64];
	struct gh_output out;
	snprintf(query, sizeof(query), "SELECT * FROM %s", table->name);
	if (!gh_output_open(&out, path, GH_OUTPUT_PRIVATE, err))
		return false;
	FILE *file = open_compressed(&out);
	bool written = file != NULL && gh_sql_prepare(sql, query, err) &&
		       gh_sql_run(sql, heap, GH_SQL_CSV, file, err);
	if (file == NULL)
		gh_fail_memory(err, path);
	bool failed = file != NULL && ferror(file) != 0;
	if (file != NULL && (fclose(file) != 0 || failed) && written)
		written = gh_fail_errno(err, path, "write");
	return gh_output_end(&out, written, err);
}

bool gh_sql_export_tables(struct gh_sql *sql, const struct gh_sql_heap *heap, const char *directory,
			  struct gh_error *err)
{
	for (size_t i = 0; i < gh_sql_ntables; i++) {
		const struct gh_sql_table *table = gh_sql_tables[i];
		char path[PATH_MAX];
		if (gh_sql_has_argument(table))
			continue;
		size_t length =
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, table->name);
		if (length + strlen("/part-0.csv.gz") >= sizeof(path)) {
			errno = ENAMETOOLONG;
			return gh_fail_errno(err, directory, "write");
		}
		if (!make_directories(path, err))
			return false;
		strcpy(path + length, "/part-0.csv.gz");
		if (!write_part(sql, heap, table, path, err))
			return false;
	}
	return true;
}
