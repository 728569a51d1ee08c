/* goheap export: the tables of a heap as files that engines for many of them read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/sql/sql.h"

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

/* When the heap was as it is: now, of a process; at its last garbage collection; or else when the
 * file was written. */
static struct timespec time_of(const struct gh_heap_query *query)
{
	struct gh_dump_record record;
	struct stat file;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (query->options->process != NULL)
		return now;
	if (gh_dump_count(&query->dump, GH_DUMP_MEMSTATS) > 0) {
		gh_dump_get(&query->dump, GH_DUMP_MEMSTATS, 0, &record);
		uint64_t last = record.memstats.counters[GH_DUMP_LAST_GC];
		if (last != 0)
			return (struct timespec){(time_t)(last / 1000000000),
						 (long)(last % 1000000000)};
	}
	return stat(query->options->file, &file) == 0 ? file.st_mtim : now;
}

/* The directory of this heap's tables, to be freed. NULL if memory ran out. */
static char *make_directory_name(const struct gh_heap_query *query)
{
	char own[256] = "";
	char when[32] = "unknown";
	char fraction[32];
	char *name = NULL;
	size_t size;
	struct tm tm;
	struct timespec time = time_of(query);
	const char *host = query->options->host;
	FILE *out = open_memstream(&name, &size);
	if (out == NULL)
		return NULL;
	if (host == NULL && gethostname(own, sizeof(own) - 1) == 0)
		host = own;
	if (gmtime_r(&time.tv_sec, &tm) != NULL)
		strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
	snprintf(fraction, sizeof(fraction), ".%06ldZ", time.tv_nsec / 1000);
	fprintf(out, "%s/host=", query->options->tables);
	print_value(out, host != NULL && *host != '\0' ? host : "unknown");
	fputs("/time=", out);
	print_value(out, when);
	fputs(fraction, out);
	if (fclose(out) == 0)
		return name;
	free(name);
	return NULL;
}

static int export_tables(struct gh_heap_query *query)
{
	struct gh_error err;
	const struct gh_sql_heap heap = gh_heap_query_sql(query);
	char *directory = make_directory_name(query);
	struct gh_sql *sql = gh_sql_open(&err);
	gh_progress_begin("goheap: writing", query->options->tables);
	bool written =
	    directory != NULL && sql != NULL && gh_sql_export_tables(sql, &heap, directory, &err);
	gh_progress_end();
	if (directory == NULL)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	else if (!written)
		gh_print_error(&err);
	gh_sql_close(sql);
	free(directory);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_export(const struct gh_options *options)
{
	struct gh_heap_query *query =
	    gh_heap_query_open(options, options->file, GH_WITH_DOMINATORS);
	if (query == NULL)
		return GH_EXIT_INPUT;
	int status = export_tables(query);
	gh_heap_query_close(query);
	return status;
}
