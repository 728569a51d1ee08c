/* goheap TARGET, without a command: the first answer, in one screen. What a process, core file or
 * heap dump is, and what is wrong with it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/util/escape.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/findings/findings.h"

/* Lines of a screen, and those that are left for findings. */
enum { SCREEN = 40, HEADER = 8 };

static void emit_about(const struct gh_about *about)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct gh_about, part)},
	    {"target", GH_COL_TEXT(struct gh_about, kind)},
	    {"file", GH_COL_TEXT(struct gh_about, file), .optional = true},
	    {"pid", GH_COL_KNOWN_NUMBER(struct gh_about, pid), .optional = true},
	    {"program", GH_COL_TEXT(struct gh_about, program), .optional = true},
	    {"go_version", GH_COL_TEXT(struct gh_about, version), .optional = true},
	    {"machine", GH_COL_TEXT(struct gh_about, machine), .optional = true},
	    {"module", GH_COL_TEXT(struct gh_about, module), .optional = true},
	    {"module_version", GH_COL_TEXT(struct gh_about, module_version), .optional = true},
	    {"user", GH_COL_TEXT(struct gh_about, user), .optional = true},
	    {"container", GH_COL_TEXT(struct gh_about, container), .optional = true},
	    {"started", GH_COL_KNOWN_NUMBER(struct gh_about, started), .optional = true},
	    {"resident", GH_COL_KNOWN_NUMBER(struct gh_about, resident), .optional = true},
	    {"heap", GH_COL_NUMBER(struct gh_about, heap)},
	    {"threads", GH_COL_KNOWN_NUMBER(struct gh_about, threads), .optional = true},
	    {"goroutines", GH_COL_NUMBER(struct gh_about, goroutines)},
	    {"paused_ns", GH_COL_KNOWN_NUMBER(struct gh_about, paused), .optional = true},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	gh_emit_row(&emit, columns, about);
}

static void emit_figures(const struct gh_diagnosis *diagnosis)
{
	struct row {
		const char *part;
		struct gh_figures of;
		struct gh_known open, limit, holder;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"goroutines", GH_COL_NUMBER(struct row, of.goroutines)},
	    {"wait_for_locks", GH_COL_NUMBER(struct row, of.blocked)},
	    {"lock_wait_ns", GH_COL_NUMBER(struct row, of.lock_wait)},
	    {"leaked", GH_COL_NUMBER(struct row, of.leaked)},
	    {"deadlocks", GH_COL_NUMBER(struct row, of.deadlocks)},
	    {"descriptors", GH_COL_KNOWN_NUMBER(struct row, open), .optional = true},
	    {"descriptor_limit", GH_COL_KNOWN_NUMBER(struct row, limit), .optional = true},
	    {"largest_holder", GH_COL_KNOWN_NUMBER(struct row, holder), .optional = true},
	    {0},
	};
	const struct gh_figures *of = &diagnosis->figures;
	struct row row = {
	    .part = "figures",
	    .of = *of,
	    .open = {of->descriptors, of->descriptor_limit != 0},
	    .limit = {of->descriptor_limit, of->descriptor_limit != 0},
	    .holder = {of->holder, of->holder != 0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	gh_emit_row(&emit, columns, &row);
}

/* Prints a part of memory, unless there is none. */
static void print_part(const struct gh_diagnosis *diagnosis, enum gh_footprint_kind kind,
		       const char *what)
{
	char size[GH_SIZE_TEXT];
	uint64_t bytes = diagnosis->footprint.parts[kind].resident;
	if (bytes >= 1000)
		printf(", %s %s", what, gh_size_text(bytes, size));
}

static void print_memory(const struct gh_diagnosis *diagnosis, const struct gh_about *about)
{
	char size[GH_SIZE_TEXT];
	if (about->resident.known)
		printf("memory %s: ", gh_size_text(about->resident.value, size));
	/* Of the heap's objects some may not be in memory: they were never written to, or swapped.
	 */
	printf("Go heap %s",
	       gh_size_text(diagnosis->has_footprint
				? diagnosis->footprint.parts[GH_FOOTPRINT_OBJECTS].resident
				: about->heap,
			    size));
	print_part(diagnosis, GH_FOOTPRINT_FREE, "free but kept");
	print_part(diagnosis, GH_FOOTPRINT_STACKS, "goroutine stacks");
	print_part(diagnosis, GH_FOOTPRINT_MALLOC, "C");
	print_part(diagnosis, GH_FOOTPRINT_ANONYMOUS, "mapped");
	print_part(diagnosis, GH_FOOTPRINT_FILES, "files");
	print_part(diagnosis, GH_FOOTPRINT_PROGRAM, "program");
	putchar('\n');
}

static void print_build(const struct gh_about *about)
{
	if (about->version != NULL) {
		fputs(": ", stdout);
		gh_escape_print(stdout, about->version);
	}
	if (about->machine != NULL) {
		fputs(", ", stdout);
		gh_escape_print(stdout, about->machine);
	}
	gh_module_print(stdout, about->module, about->module_version);
	putchar('\n');
}

static void print_about(const struct gh_diagnosis *diagnosis, const struct gh_about *about)
{
	const char *slash = about->program != NULL ? strrchr(about->program, '/') : NULL;
	const char *name = slash != NULL ? slash + 1 : about->program;
	if (about->file != NULL)
		gh_escape_print(stdout, about->file);
	if (about->file != NULL && name != NULL)
		printf(", %s of ", about->kind);
	if (name != NULL)
		gh_escape_print(stdout, name);
	else
		printf(", a %s", about->kind);
	if (about->pid.known)
		printf(", process %" PRIu64, about->pid.value);
	print_build(about);
	if (about->pid.known && about->started.known) {
		fputs("up ", stdout);
		gh_age_print(stdout, (uint64_t)time(NULL) - about->started.value);
		fputs(", since ", stdout);
		gh_time_print(stdout, about->started.value);
		fputs(", user ", stdout);
		gh_escape_print(stdout, about->user);
		if (about->container != NULL)
			printf(", container %s", about->container);
		putchar('\n');
	}
	print_memory(diagnosis, about);
	if (about->threads.known) {
		gh_print_count(stdout, about->threads.value, "thread");
		fputs(", ", stdout);
	}
	gh_print_count(stdout, about->goroutines, "goroutine");
	putchar('\n');
	if (about->lacks_program)
		puts("its program, for types, lines and who holds locks, is not known: -e PROGRAM");
	putchar('\n');
}

/* Prints that nothing is wrong, and by which figures. */
static void print_nothing(const struct gh_diagnosis *diagnosis, const struct gh_about *about)
{
	const struct gh_figures *figures = &diagnosis->figures;
	const struct gh_collections *collections = &diagnosis->footprint.collections;
	if (about->lacks_roots) {
		puts("Nothing unusual in what is there: it is cut off before its roots, and what "
		     "leaks is not known.");
		return;
	}
	puts(diagnosis->left_heap ? "Nothing unusual but for the heap, which was not looked at."
				  : "Nothing unusual.");
	/* Who holds a lock the program tells, which goroutines can never go on the heap. */
	static const char *const found[2][2] = {
	    {"", "No goroutine that can never go on. "},
	    {"No deadlock. ", "No deadlock, and no goroutine that can never go on. "},
	};
	fputs(found[!about->lacks_program][!diagnosis->left_heap], stdout);
	if (figures->blocked > 0) {
		gh_print_count(stdout, figures->blocked, "goroutine");
		printf(" wait%s for a lock, the longest for %.0f s.\n",
		       figures->blocked > 1 ? "" : "s", (double)figures->lock_wait / 1e9);
	} else {
		puts("No goroutine waits for a lock.");
	}
	if (figures->descriptor_limit != 0) {
		gh_print_number(stdout, figures->descriptors);
		fputs(" of ", stdout);
		gh_print_number(stdout, figures->descriptor_limit);
		puts(" file descriptors are open.");
	}
	if (collections->count > 0)
		printf("The collector takes %.1f %% of the processors' time.\n",
		       100 * collections->cpu_fraction);
	if (figures->holder > 0 && figures->heap > 0)
		printf("The holder of most of the heap keeps %.0f %% of it.\n",
		       100 * (double)figures->holder / (double)figures->heap);
	fputs("To look closer: ", stdout);
	gh_command_line_print(stdout, diagnosis->options, "hang");
	fputs(", ", stdout);
	gh_command_line_print(stdout, diagnosis->options, "suspects");
	putchar('\n');
}

static void print(struct gh_diagnosis *diagnosis, const struct gh_about *about)
{
	if (diagnosis->options->json) {
		emit_about(about);
		gh_findings_print(diagnosis, 0);
		emit_figures(diagnosis);
		return;
	}
	print_about(diagnosis, about);
	if (diagnosis->findings.count == 0)
		print_nothing(diagnosis, about);
	else
		gh_findings_print(diagnosis, SCREEN - HEADER);
	if (diagnosis->left_heap && diagnosis->findings.count > 0)
		puts("The heap was not looked at.");
}

int gh_cmd_diagnose(const struct gh_options *options)
{
	struct gh_diagnosis diagnosis = {.options = options};
	struct gh_about about;
	enum gh_target_kind kind =
	    options->process != NULL ? GH_KIND_PROCESS : gh_target_kind(options->file, NULL);
	if (kind == GH_KIND_PROGRAM)
		return gh_program_describe(options);
	bool looked = gh_diagnose(&diagnosis, &about, kind);
	if (looked)
		print(&diagnosis, &about);
	gh_diagnosis_free(&diagnosis, &about);
	return looked ? GH_EXIT_OK : GH_EXIT_INPUT;
}
