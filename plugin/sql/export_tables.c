#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/util/output.h"
#include "lib/util/output_directory.h"
#include "plugin/sql/internal.h"

/* The file in a table's directory. */
#define PART "/part-0.csv.gz"

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

/* Writes TABLE into a directory of its name in DIRECTORY. */
static bool write_table(struct gh_sql *sql, const struct gh_sql_heap *heap,
			const struct gh_sql_table *table, const char *directory,
			struct gh_error *err)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", directory, table->name);
	if ((size_t)length + strlen(PART) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return gh_fail_errno(err, directory, "write");
	}
	if (!gh_make_directories(path, err))
		return false;
	strcpy(path + length, PART);
	return write_part(sql, heap, table, path, err);
}

bool gh_sql_export_tables(struct gh_sql *sql, const struct gh_sql_heap *heap, bool summary,
			  const char *directory, struct gh_error *err)
{
	for (size_t i = 0; i < gh_sql_ntables; i++) {
		const struct gh_sql_table *table = gh_sql_tables[i];
		if (!gh_sql_has_argument(table) && (table->is_summary || !summary) &&
		    !write_table(sql, heap, table, directory, err))
			return false;
	}
	return true;
}
