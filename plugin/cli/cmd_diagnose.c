/* goheap TARGET, without a command: the first answer, in one screen. What a process, core file or
 * heap dump is, and what is wrong with it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/trace/trace.h"
#include "lib/util/escape.h"
#include "lib/util/now.h"
#include "lib/util/process_list.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/command/wait_query.h"
#include "plugin/findings/findings.h"
#include "plugin/gdb/gdb.h"
#include "plugin/hang/hang.h"

/* Lines of a screen, and those that are left for findings. */
enum { SCREEN = 40, HEADER = 8 };

/* What is looked at, as a row of JSON. */
struct about {
	const char *part;
	const char *kind;    /* "process", "core file", "heap dump" */
	const char *file;    /* NULL of a process */
	const char *program; /* NULL if it is not known, as all of these: */
	const char *version; /* of Go */
	const char *machine;
	const char *module;
	const char *module_version;
	const char *user;
	const char *container;
	struct gh_known pid;
	struct gh_known started; /* seconds since the epoch */
	struct gh_known resident;
	uint64_t heap;
	struct gh_known threads;
	uint64_t goroutines;
	struct gh_known paused; /* ns */
	bool lacks_program;     /* what is in its program is not known */
	bool lacks_roots;       /* a heap dump is cut off before them */

	char program_text[PATH_MAX];
	char version_text[64];
	char machine_text[32];
	char user_text[GH_USER_TEXT];
	char container_text[GH_CONTAINER_TEXT];
	struct gh_buildinfo info; /* owned */
};

static void emit_about(const struct about *about)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct about, part)},
	    {"target", GH_COL_TEXT(struct about, kind)},
	    {"file", GH_COL_TEXT(struct about, file), .optional = true},
	    {"pid", GH_COL_KNOWN_NUMBER(struct about, pid), .optional = true},
	    {"program", GH_COL_TEXT(struct about, program), .optional = true},
	    {"go_version", GH_COL_TEXT(struct about, version), .optional = true},
	    {"machine", GH_COL_TEXT(struct about, machine), .optional = true},
	    {"module", GH_COL_TEXT(struct about, module), .optional = true},
	    {"module_version", GH_COL_TEXT(struct about, module_version), .optional = true},
	    {"user", GH_COL_TEXT(struct about, user), .optional = true},
	    {"container", GH_COL_TEXT(struct about, container), .optional = true},
	    {"started", GH_COL_KNOWN_NUMBER(struct about, started), .optional = true},
	    {"resident", GH_COL_KNOWN_NUMBER(struct about, resident), .optional = true},
	    {"heap", GH_COL_NUMBER(struct about, heap)},
	    {"threads", GH_COL_KNOWN_NUMBER(struct about, threads), .optional = true},
	    {"goroutines", GH_COL_NUMBER(struct about, goroutines)},
	    {"paused_ns", GH_COL_KNOWN_NUMBER(struct about, paused), .optional = true},
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

static void print_memory(const struct gh_diagnosis *diagnosis, const struct about *about)
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

static void print_build(const struct about *about)
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

static void print_about(const struct gh_diagnosis *diagnosis, const struct about *about)
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
static void print_nothing(const struct gh_diagnosis *diagnosis, const struct about *about)
{
	const struct gh_figures *figures = &diagnosis->figures;
	const struct gh_collections *collections = &diagnosis->footprint.collections;
	if (about->lacks_roots) {
		puts("Nothing unusual in what is there: it is cut off before its roots, and what "
		     "leaks is not known.");
		return;
	}
	puts("Nothing unusual.");
	fputs(about->lacks_program ? "No goroutine that can never go on. "
				   : "No deadlock, and no goroutine that can never go on. ",
	      stdout);
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

static void print(struct gh_diagnosis *diagnosis, const struct about *about)
{
	gh_findings_sort(&diagnosis->findings);
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
}

/* The threads that the dump has numbers of. */
static uint64_t count_threads(const struct gh_dump *dump)
{
	struct gh_dump_record record;
	uint64_t count = 0;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_THREAD); i++) {
		gh_dump_get(dump, GH_DUMP_THREAD, i, &record);
		count += record.thread.os_id != 0;
	}
	return count;
}

/* Adds why the process has crashed, and where; QUERY is NULL if its goroutines are not known. */
static void find_crash(struct gh_diagnosis *diagnosis, const struct gh_crash *crash,
		       struct gh_wait_query *query)
{
	struct gh_dump_record record;
	const char *text = (const char *)crash->text.data;
	if (crash->text.size == 0)
		return;
	const char *end = memchr(text, '\n', crash->text.size);
	FILE *out = gh_finding_begin(diagnosis, GH_FINDING_CRASH, 1);
	if (out == NULL)
		return;
	fputs("It crashed: ", out);
	gh_print_bytes(out, text, end != NULL ? (size_t)(end - text) : crash->text.size, false);
	size_t number = crash->has_goroutine && query != NULL
			    ? gh_goroutine_find(&query->dump, crash->goroutine, &record)
			    : GH_DUMP_NONE;
	if (number != GH_DUMP_NONE) {
		fputs("; in ", out);
		gh_wait_print_goroutine(out, query, number);
	} else if (crash->in_c) {
		fputs("; in C code, on a thread that runs no goroutine", out);
	}
	gh_finding_end(diagnosis, "crash");
}

/* Looks at the goroutines and the heap of QUERY, which is closed. CRASH may be NULL. */
static bool look(struct gh_diagnosis *diagnosis, struct about *about, struct gh_heap_query *heap,
		 const struct gh_crash *crash)
{
	struct gh_wait_query query;
	bool begun = gh_wait_query_begin(&query, heap, diagnosis->pid);
	if (begun) {
		struct gh_dump_slice version = gh_dump_go_version(&heap->dump);
		struct gh_cursor bytes = gh_dump_bytes(&heap->dump, version);
		snprintf(about->version_text, sizeof(about->version_text), "%.*s",
			 (int)gh_cursor_size(&bytes), (const char *)bytes.start);
		if (about->version == NULL && version.size > 0)
			about->version = about->version_text;
		snprintf(about->machine_text, sizeof(about->machine_text), "%s", heap->dump.goarch);
		if (about->machine == NULL && *about->machine_text != '\0')
			about->machine = about->machine_text;
		about->lacks_program = query.symbols == NULL;
		about->lacks_roots = gh_heap_query_lacks_roots(&heap->dump);
		uint64_t threads = count_threads(&heap->dump);
		if (!about->threads.known)
			about->threads = (struct gh_known){threads, threads > 0};
		if (crash != NULL)
			find_crash(diagnosis, crash, &query);
		gh_find_threads(diagnosis, &query);
		gh_find_hangs(diagnosis, &query);
		gh_find_memory(diagnosis, heap);
		about->heap = diagnosis->figures.heap;
		about->goroutines = diagnosis->figures.goroutines;
	}
	gh_wait_query_free_found(&query);
	gh_heap_query_close(heap);
	return begun;
}

static uint64_t sum_resident(const struct gh_footprint *footprint)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < GH_FOOTPRINT_KINDS; i++)
		sum += footprint->parts[i].resident;
	return sum;
}

/* Takes from TARGET, a copy, all that is to be known, closes it, and looks at that. */
static bool look_at_target(struct gh_diagnosis *diagnosis, struct about *about,
			   struct gh_target *target)
{
	struct gh_error err;
	struct gh_dump dump;
	struct gh_crash crash = {0};
	uint64_t now = gh_now();
	bool is_live = diagnosis->pid != 0;
	diagnosis->now = gh_date();
	diagnosis->has_footprint =
	    is_live
		? gh_footprint_live(&diagnosis->footprint, &target->process, diagnosis->pid, &err)
		: gh_footprint_core(&diagnosis->footprint, &target->process, &target->core, &err);
	if (diagnosis->has_footprint) {
		diagnosis->figures.resident = sum_resident(&diagnosis->footprint);
		about->resident = (struct gh_known){diagnosis->figures.resident, true};
	}
	bool crashed = !is_live && gh_crash_find(&crash, &target->process, &err);
	about->paused = (struct gh_known){target->live.paused, is_live};
	about->machine = target->program.image.arch->goarch;
	gh_buildinfo_read(&about->info, &target->program.image);
	gh_target_want_c(target, GH_HEAP_WITH_LARGE_C);
	bool opened =
	    gh_process_open_heap(&dump, &target->process, target->version, target->path, false);
	gh_target_close(target);
	about->version = about->info.go_version;
	about->module = about->info.module;
	about->module_version = about->info.module_version;
	if (opened && is_live)
		dump.latest = now;
	struct gh_heap_query *heap =
	    opened ? gh_heap_query_make(diagnosis->options, &dump, diagnosis->options->file,
					GH_WITH_GRAPH)
		   : NULL;
	bool looked = heap != NULL && look(diagnosis, about, heap, crashed ? &crash : NULL);
	if (heap == NULL && crashed) {
		find_crash(diagnosis, &crash, NULL);
		looked = diagnosis->findings.count > 0;
	}
	gh_crash_free(&crash);
	return looked;
}

static bool look_at_process(struct gh_diagnosis *diagnosis, struct about *about)
{
	struct gh_target target;
	struct gh_process_summary process;
	diagnosis->pid = atoi(diagnosis->options->process);
	about->kind = "process";
	about->pid = (struct gh_known){(uint64_t)diagnosis->pid, true};
	/* What stops it while it is read is not told of. */
	if (gh_thread_states_read(&diagnosis->threads, diagnosis->pid))
		about->threads = (struct gh_known){diagnosis->threads.count, true};
	if (gh_process_summary_read(&process, diagnosis->pid)) {
		snprintf(about->program_text, sizeof(about->program_text), "%s", process.program);
		about->program = about->program_text;
		about->user = gh_user_text(about->user_text, process.user);
		about->started = (struct gh_known){process.started, process.started != 0};
		gh_process_container_read(about->container_text, diagnosis->pid);
		if (*about->container_text != '\0')
			about->container = about->container_text;
	}
	return gh_memory_target_open(&target, diagnosis->pid, diagnosis->options) &&
	       look_at_target(diagnosis, about, &target);
}

static bool look_at_core(struct gh_diagnosis *diagnosis, struct about *about)
{
	struct gh_target target;
	const struct gh_options *options = diagnosis->options;
	about->kind = "core file";
	about->file = options->file;
	gh_core_program_path(options->file, about->program_text);
	if (*about->program_text != '\0')
		about->program = about->program_text;
	else if (options->program != NULL && options->program != options->made)
		about->program = options->program;
	return gh_target_open_core(&target, options->file, options->program) &&
	       look_at_target(diagnosis, about, &target);
}

static bool look_at_dump(struct gh_diagnosis *diagnosis, struct about *about)
{
	struct gh_dump dump;
	const struct gh_options *options = diagnosis->options;
	about->kind = "heap dump";
	about->file = options->file;
	about->program = options->program;
	if (!gh_dumpfile_open(&dump, options->file))
		return false;
	struct gh_heap_query *heap =
	    gh_heap_query_make(options, &dump, options->file, GH_WITH_GRAPH);
	return heap != NULL && look(diagnosis, about, heap, NULL);
}

int gh_cmd_diagnose(const struct gh_options *options)
{
	struct gh_diagnosis diagnosis = {.options = options};
	struct about about = {.part = "target"};
	enum gh_target_kind kind =
	    options->process != NULL ? GH_KIND_PROCESS : gh_target_kind(options->file, NULL);
	if (kind == GH_KIND_PROGRAM)
		return gh_program_describe(options);
	bool looked = kind == GH_KIND_PROCESS ? look_at_process(&diagnosis, &about)
		      : kind == GH_KIND_DUMP  ? look_at_dump(&diagnosis, &about)
					      : look_at_core(&diagnosis, &about);
	if (looked)
		print(&diagnosis, &about);
	gh_findings_free(&diagnosis.findings);
	gh_footprint_free(&diagnosis.footprint);
	gh_buildinfo_free(&about.info);
	return looked ? GH_EXIT_OK : GH_EXIT_INPUT;
}
