/* goheap export: the tables of a heap as files that engines for many of them read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/output_directory.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/sql/sql.h"

/* What the name of a directory begins with that is of a host's heaps. */
#define HOST "host="

/* Prints NAME as a part of a path, as Hive does: other characters than these by their bytes. */
static void print_value(FILE *out, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-";
	for (const char *at = name; *at != '\0'; at++) {
		if (strchr(plain, *at) != NULL || (*at == '.' && at > name))
			putc(*at, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*at);
	}
}

/* Finds the host in the name of the file PATH: in DIR/host=NAME/x, NAME, of LENGTH bytes. NULL if
 * it has none. */
static const char *find_host(const char *path, size_t *length)
{
	for (const char *at = path; at != NULL; at = strchr(at, '/')) {
		at += *at == '/';
		*length = strcspn(at, "/");
		if (strncmp(at, HOST, strlen(HOST)) == 0 && at[*length] == '/' &&
		    *length > strlen(HOST)) {
			*length -= strlen(HOST);
			return at + strlen(HOST);
		}
	}
	return NULL;
}

/* Prints whose the heap is that was read from PATH: the one that is named; the one that PATH names;
 * or this machine. */
static void print_host(FILE *out, const struct gh_options *options, const char *path)
{
	char own[256] = "";
	size_t length;
	const char *named = options->process == NULL ? find_host(path, &length) : NULL;
	if (options->host != NULL && *options->host != '\0') {
		print_value(out, options->host);
	} else if (named != NULL) {
		fwrite(named, 1, length, out);
	} else {
		gethostname(own, sizeof(own) - 1);
		print_value(out, *own != '\0' ? own : "unknown");
	}
}

/* When the heap was as it is: now, of a process; at its last garbage collection; or else when the
 * file was written. */
static struct timespec time_of(const struct gh_heap_query *query, const char *path)
{
	struct gh_dump_record record;
	struct stat file;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (path == query->options->process)
		return now;
	if (gh_dump_count(&query->dump, GH_DUMP_MEMSTATS) > 0) {
		gh_dump_get(&query->dump, GH_DUMP_MEMSTATS, 0, &record);
		uint64_t last = record.memstats.counters[GH_DUMP_LAST_GC];
		if (last != 0)
			return (struct timespec){(time_t)(last / 1000000000),
						 (long)(last % 1000000000)};
	}
	return stat(path, &file) == 0 ? file.st_mtim : now;
}

/* The directory for the tables of the heap that was read from PATH, to be freed. NULL if memory ran
 * out. */
static char *make_directory_name(const struct gh_heap_query *query, const char *path)
{
	char when[32] = "unknown";
	char fraction[32];
	char *name = NULL;
	size_t size;
	struct tm tm;
	struct timespec time = time_of(query, path);
	FILE *out = open_memstream(&name, &size);
	if (out == NULL)
		return NULL;
	if (gmtime_r(&time.tv_sec, &tm) != NULL)
		strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
	snprintf(fraction, sizeof(fraction), ".%06ldZ", time.tv_nsec / 1000);
	fprintf(out, "%s/" HOST, query->options->tables);
	print_host(out, query->options, path);
	fputs("/time=", out);
	print_value(out, when);
	fputs(fraction, out);
	return gh_text_end(out, &name);
}

/* Writes the tables of QUERY to TARGET. */
static bool write_tables(struct gh_heap_query *query, const char *target, struct gh_error *err)
{
	const struct gh_options *options = query->options;
	const struct gh_sql_heap heap = gh_heap_query_sql(query);
	struct gh_output_directory out;
	struct gh_sql *sql = gh_sql_open(err);
	if (sql == NULL)
		return false;
	bool opened = gh_output_directory_open(&out, options->tables, err);
	bool written = opened && gh_sql_export_tables(sql, &heap, options->summary, out.path, err);
	if (written)
		written = gh_output_directory_commit(&out, target, err);
	else if (opened)
		gh_output_directory_discard(&out);
	gh_sql_close(sql);
	return written;
}

/* Writes the tables of the heap of PATH. */
static int export_heap(const struct gh_options *options, const char *path)
{
	struct gh_error err;
	struct gh_heap_query *query = gh_heap_query_open(options, path, GH_WITH_DOMINATORS);
	if (query == NULL)
		return GH_EXIT_INPUT;
	char *target = make_directory_name(query, path);
	bool written = target != NULL || gh_fail_memory(&err, options->tables);
	bool is_there = written && access(target, F_OK) == 0;
	gh_progress_begin("goheap: writing the tables of", path);
	written = written && write_tables(query, target, &err);
	gh_progress_end();
	if (!written) {
		gh_print_error(&err);
	} else if (is_there) {
		gh_say(
		    "%s: took the place of what was in %s, of the same host and garbage collection",
		    path, target);
	}
	free(target);
	gh_heap_query_close(query);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* What is wrong with one heap is no reason to leave out the others. */
int gh_cmd_export(const struct gh_options *options)
{
	struct gh_error err;
	int status = export_heap(options, options->file);
	bool exported = status == GH_EXIT_OK;
	for (int i = 0; i < options->nwords; i++) {
		int other = export_heap(options, options->words[i]);
		exported = exported || other == GH_EXIT_OK;
		status = other != GH_EXIT_OK ? other : status;
	}
	if (exported && !gh_sql_export_schema(options->tables, options->summary, &err)) {
		gh_print_error(&err);
		return GH_EXIT_INPUT;
	}
	return status;
}
