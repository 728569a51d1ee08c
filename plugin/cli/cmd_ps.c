/* goheap ps: the Go processes of this machine, none of which is stopped. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/escape.h"
#include "lib/util/process_list.h"
#include "plugin/command/command.h"

/* A process that runs a Go program. */
struct row {
	int number;
	uint64_t pid;
	char *program; /* the path; owned */
	char user[GH_USER_TEXT];
	char container[GH_CONTAINER_TEXT];
	struct gh_buildinfo build; /* owned */
	struct gh_known goroutines;
	struct gh_known started; /* seconds since the epoch */
	uint64_t resident;

	/* The same, for JSON: NULL for none. */
	const char *of_program, *of_user, *of_version, *of_module, *of_module_version,
	    *of_container;
};

struct listing {
	struct GH_VECTOR(struct row) rows;
	size_t unreadable; /* processes that may not be read: what they run is not known */
};

/* Counts the goroutines of the process that ROW is of, which runs IMAGE. */
static void count_goroutines(struct row *row, const struct gh_image *image)
{
	struct gh_error err;
	struct gh_pclntab tab;
	row->goroutines.known = gh_pclntab_open(&tab, image, &err) &&
				gh_live_count_goroutines(&row->goroutines.value, row->number, &tab,
							 gh_go_minor(row->build.go_version));
	gh_pclntab_close(&tab);
}

static void take(void *context, const struct gh_process_summary *process)
{
	struct listing *listing = context;
	struct gh_image image;
	char path[64];
	listing->unreadable += !process->readable;
	snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
	if (!process->readable || *process->program == '\0' || !gh_file_is_go(path) ||
	    !gh_image_open(&image, path, NULL))
		return;
	struct row row = {
	    .number = process->pid,
	    .pid = (uint64_t)process->pid,
	    .program = strdup(process->program),
	    .resident = process->resident,
	    .started = {process->started, process->started != 0},
	};
	gh_user_text(row.user, process->user);
	gh_process_container_read(row.container, process->pid);
	gh_buildinfo_read(&row.build, &image);
	count_goroutines(&row, &image);
	gh_image_close(&image);
	if (row.program != NULL && !row.build.failed && gh_vector_push(&listing->rows, row))
		return;
	gh_leave_out();
	free(row.program);
	gh_buildinfo_free(&row.build);
}

static int by_number(const void *a, const void *b)
{
	const struct row *first = a, *second = b;
	return (first->number > second->number) - (first->number < second->number);
}

static void emit(const struct listing *listing)
{
	struct count {
		uint64_t unreadable;
	};
	static const struct gh_column columns[] = {
	    {"pid", GH_COL_NUMBER(struct row, pid)},
	    {"user", GH_COL_TEXT(struct row, of_user)},
	    {"program", GH_COL_NAME(struct row, of_program)},
	    {"go_version", GH_COL_TEXT(struct row, of_version)},
	    {"module", GH_COL_TEXT(struct row, of_module)},
	    {"module_version", GH_COL_TEXT(struct row, of_module_version)},
	    {"resident", GH_COL_NUMBER(struct row, resident)},
	    {"goroutines", GH_COL_KNOWN_NUMBER(struct row, goroutines)},
	    {"started", GH_COL_KNOWN_NUMBER(struct row, started)},
	    {"container", GH_COL_TEXT(struct row, of_container)},
	    {0},
	};
	static const struct gh_column counts[] = {
	    {"unreadable", GH_COL_NUMBER(struct count, unreadable)}, {0}};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	for (size_t i = 0; i < listing->rows.count; i++) {
		struct row row = listing->rows.items[i];
		row.of_user = row.user;
		row.of_program = row.program;
		row.of_version = row.build.go_version;
		row.of_module = row.build.module;
		row.of_module_version = row.build.module_version;
		row.of_container = *row.container != '\0' ? row.container : NULL;
		gh_emit_row(&emit, columns, &row);
	}
	struct count count = {listing->unreadable};
	if (count.unreadable > 0)
		gh_emit_row(&emit, counts, &count);
}

/* Prints TEXT, or "-" if it is NULL or "", and as many spaces as have it take WIDTH columns. */
static void print_cell(const char *text, size_t width)
{
	const char *shown = text != NULL && *text != '\0' ? text : "-";
	size_t length = strlen(shown);
	gh_escape_print(stdout, shown);
	printf("%*s", (int)(length < width ? width - length : 0) + 2, "");
}

static void print_age(const struct gh_known *started)
{
	char text[32] = "-";
	FILE *out = fmemopen(text, sizeof(text), "w");
	if (out == NULL)
		return;
	if (started->known)
		gh_age_print(out, (uint64_t)time(NULL) - started->value);
	fclose(out);
	print_cell(text, strlen("364 d 23 h"));
}

/* The columns that TEXT takes, which is "-" if it is NULL, and no less than WIDTH. */
static size_t width_of(size_t width, const char *text)
{
	size_t length = text != NULL ? strlen(text) : 1;
	return length > width ? length : width;
}

static void print_text(const struct listing *listing)
{
	char size[GH_SIZE_TEXT];
	char goroutines[GH_NUMBER_TEXT];
	size_t user = 4, version = 2, container = 9;
	for (size_t i = 0; i < listing->rows.count; i++) {
		const struct row *row = &listing->rows.items[i];
		user = width_of(user, row->user);
		version = width_of(version, row->build.go_version);
		container = width_of(container, row->container);
	}
	printf("%7s  %-*s  %-*s  %9s  %10s  %-10s  %-*s  %s\n", "PID", (int)user, "USER",
	       (int)version, "GO", "MEMORY", "GOROUTINES", "UP", (int)container, "CONTAINER",
	       "PROGRAM");
	for (size_t i = 0; i < listing->rows.count; i++) {
		const struct row *row = &listing->rows.items[i];
		const struct gh_buildinfo *build = &row->build;
		char *end = goroutines + sizeof(goroutines);
		char *number = gh_format_number(end, row->goroutines.value, true);
		printf("%7d  ", row->number);
		print_cell(row->user, user);
		print_cell(build->go_version, version);
		printf("%9s  ", gh_size_text(row->resident, size));
		printf("%10.*s  ", row->goroutines.known ? (int)(end - number) : 1,
		       row->goroutines.known ? number : "-");
		print_age(&row->started);
		print_cell(row->container, container);
		gh_print_name(stdout, row->program, false);
		gh_module_print(stdout, build->module, build->module_version);
		putchar('\n');
	}
	if (listing->unreadable == 0)
		return;
	gh_print_number(stdout, listing->unreadable);
	printf(" more process%s may not be read%s\n", listing->unreadable > 1 ? "es" : "",
	       geteuid() != 0 ? ": run goheap as root to see which are Go's" : "");
}

int gh_cmd_ps(const struct gh_options *options)
{
	struct listing listing = {0};
	if (!gh_process_list(take, &listing)) {
		gh_print_errno("/proc");
		return GH_EXIT_INPUT;
	}
	if (listing.rows.count > 0)
		qsort(listing.rows.items, listing.rows.count, sizeof(*listing.rows.items),
		      by_number);
	if (options->json)
		emit(&listing);
	else
		print_text(&listing);
	for (size_t i = 0; i < listing.rows.count; i++) {
		free(listing.rows.items[i].program);
		gh_buildinfo_free(&listing.rows.items[i].build);
	}
	gh_vector_free(&listing.rows);
	return GH_EXIT_OK;
}
