/* The first answer as data: what a process, core file or heap dump is, and what is wrong with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/now.h"
#include "plugin/findings/findings.h"
#include "plugin/gdb/gdb.h"

/* A heap that is larger is not looked at where the answer is to be short: bytes of a process's,
 * objects of a dump's. These take about half a second. */
#define SMALL_HEAP    UINT64_C(16000000)
#define SMALL_OBJECTS 250000

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

/* Fills ABOUT from the dump of QUERY, and adds what is wrong with its threads and goroutines. CRASH
 * may be NULL. */
static void look_at_goroutines(struct gh_diagnosis *diagnosis, struct gh_about *about,
			       struct gh_wait_query *query, const struct gh_crash *crash)
{
	const struct gh_dump *dump = &query->dump;
	struct gh_dump_slice version = gh_dump_go_version(dump);
	struct gh_cursor bytes = gh_dump_bytes(dump, version);
	snprintf(about->version_text, sizeof(about->version_text), "%.*s",
		 (int)gh_cursor_size(&bytes), (const char *)bytes.start);
	if (about->version == NULL && version.size > 0)
		about->version = about->version_text;
	snprintf(about->machine_text, sizeof(about->machine_text), "%s", dump->goarch);
	if (about->machine == NULL && *about->machine_text != '\0')
		about->machine = about->machine_text;
	about->lacks_program = query->symbols == NULL;
	about->lacks_roots = gh_heap_query_lacks_roots(dump);
	uint64_t threads = count_threads(dump);
	if (!about->threads.known)
		about->threads = (struct gh_known){threads, threads > 0};
	if (crash != NULL)
		find_crash(diagnosis, crash, query);
	gh_find_threads(diagnosis, query);
	gh_find_hangs(diagnosis, query);
	about->goroutines = diagnosis->figures.goroutines;
}

/* Looks at the goroutines and the heap of HEAP, which is closed. CRASH may be NULL. */
static bool look_at_heap(struct gh_diagnosis *diagnosis, struct gh_about *about,
			 struct gh_heap_query *heap, const struct gh_crash *crash)
{
	struct gh_wait_query query;
	bool begun = gh_wait_query_begin(&query, heap, diagnosis->pid);
	if (begun) {
		look_at_goroutines(diagnosis, about, &query, crash);
		gh_find_memory(diagnosis, &heap->dump, heap);
		about->heap = diagnosis->figures.heap;
	}
	gh_wait_query_free_found(&query);
	gh_heap_query_close(heap);
	return begun;
}

/* Looks at the goroutines of DUMP, and at no object of its heap. CRASH may be NULL. */
static bool look_without_heap(struct gh_diagnosis *diagnosis, struct gh_about *about,
			      const struct gh_dump *dump, const struct gh_crash *crash)
{
	struct gh_wait_query query;
	diagnosis->left_heap = true;
	bool begun = gh_wait_query_begin_alone(&query, diagnosis->options, dump);
	if (begun) {
		look_at_goroutines(diagnosis, about, &query, crash);
		gh_find_memory(diagnosis, dump, NULL);
		about->heap = diagnosis->figures.heap;
	}
	gh_wait_query_end(&query);
	return begun;
}

/* Looks at the goroutines of DUMP, which is closed, and at its heap if there is memory for that.
 * CRASH may be NULL. */
static bool look_if_memory(struct gh_diagnosis *diagnosis, struct gh_about *about,
			   struct gh_dump *dump, const struct gh_crash *crash)
{
	const char *file = diagnosis->options->file;
	if (!gh_heap_query_has_memory(dump, file, GH_WITH_GRAPH)) {
		bool looked = look_without_heap(diagnosis, about, dump, crash);
		gh_dump_close(dump);
		return looked;
	}
	struct gh_heap_query *heap =
	    gh_heap_query_make(diagnosis->options, dump, file, GH_WITH_GRAPH);
	return heap != NULL && look_at_heap(diagnosis, about, heap, crash);
}

/* Looks at the goroutines of TARGET, and at no object. CRASH may be NULL. */
static bool look_at_large(struct gh_diagnosis *diagnosis, struct gh_about *about,
			  struct gh_target *target, const struct gh_crash *crash)
{
	struct gh_error err;
	struct gh_buffer bytes = {0};
	struct gh_dump dump;
	uint64_t lost;
	bool looked = false;
	if (gh_snapshot_make(&bytes, &target->process, target->version, &lost, &err) &&
	    gh_dump_open_memory(&dump, bytes.data, bytes.size, target->path, &err)) {
		struct gh_memory memory = gh_process_memory_of(&target->process);
		dump.memory = &memory;
		looked = look_without_heap(diagnosis, about, &dump, crash);
		gh_dump_close(&dump);
	} else {
		gh_print_error(&err);
	}
	gh_buffer_free(&bytes);
	return looked;
}

/* Looks at the heap of TARGET, too, which is closed. Likewise. */
static bool look_at_whole(struct gh_diagnosis *diagnosis, struct gh_about *about,
			  struct gh_target *target, const struct gh_crash *crash)
{
	struct gh_dump dump;
	uint64_t now = gh_now();
	gh_target_want_c(target, GH_HEAP_WITH_LARGE_C);
	bool opened =
	    gh_process_open_heap(&dump, &target->process, target->version, target->path, false);
	gh_target_close(target);
	if (opened && diagnosis->pid != 0)
		dump.latest = now;
	bool looked = opened && look_if_memory(diagnosis, about, &dump, crash);
	if (!looked && crash != NULL && diagnosis->findings.count == 0) {
		find_crash(diagnosis, crash, NULL);
		looked = diagnosis->findings.count > 0;
	}
	return looked;
}

static uint64_t sum_resident(const struct gh_footprint *footprint)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < GH_FOOTPRINT_KINDS; i++)
		sum += footprint->parts[i].resident;
	return sum;
}

/* Takes from TARGET, a copy, all that is to be known, closes it, and looks at that. */
static bool look_at_target(struct gh_diagnosis *diagnosis, struct gh_about *about,
			   struct gh_target *target)
{
	struct gh_error err;
	struct gh_crash crash = {0};
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
	about->version = about->info.go_version;
	about->module = about->info.module;
	about->module_version = about->info.module_version;
	bool is_large = diagnosis->brief &&
			(!diagnosis->has_footprint || diagnosis->footprint.objects > SMALL_HEAP);
	bool looked = (is_large ? look_at_large : look_at_whole)(diagnosis, about, target,
								 crashed ? &crash : NULL);
	if (is_large)
		gh_target_close(target);
	gh_crash_free(&crash);
	return looked;
}

static bool look_at_process(struct gh_diagnosis *diagnosis, struct gh_about *about)
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

static bool look_at_core(struct gh_diagnosis *diagnosis, struct gh_about *about)
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

static bool look_at_dump(struct gh_diagnosis *diagnosis, struct gh_about *about)
{
	struct gh_dump dump;
	const struct gh_options *options = diagnosis->options;
	about->kind = "heap dump";
	about->file = options->file;
	about->program = options->program;
	if (!gh_dumpfile_open(&dump, options->file))
		return false;
	if (diagnosis->brief && gh_dump_count(&dump, GH_DUMP_OBJECT) > SMALL_OBJECTS) {
		bool looked = look_without_heap(diagnosis, about, &dump, NULL);
		gh_dump_close(&dump);
		return looked;
	}
	return look_if_memory(diagnosis, about, &dump, NULL);
}

bool gh_diagnose(struct gh_diagnosis *diagnosis, struct gh_about *about, enum gh_target_kind kind)
{
	*about = (struct gh_about){.part = "target"};
	bool looked = kind == GH_KIND_PROCESS ? look_at_process(diagnosis, about)
		      : kind == GH_KIND_DUMP  ? look_at_dump(diagnosis, about)
					      : look_at_core(diagnosis, about);
	gh_findings_sort(&diagnosis->findings);
	return looked;
}

void gh_diagnosis_free(struct gh_diagnosis *diagnosis, struct gh_about *about)
{
	gh_findings_free(&diagnosis->findings);
	gh_footprint_free(&diagnosis->footprint);
	gh_buildinfo_free(&about->info);
}
