/* goheap report: the page of goheap web as one file, with the answers to what it asks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/util/output.h"
#include "plugin/cli/web_question.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/command/kept.h"

enum {
	MAX_FILE = 2000000,   /* bytes of the report */
	MAX_ANSWER = 1 << 22, /* bytes of one that is worth recording */
	MAX_OBJECTS = 1000,   /* whose answers are recorded */
	MAX_GOROUTINES = 200, /* likewise */
	MAX_FRAMES = 2000000, /* gone through for them: to find a goroutine's takes all before */
	MAX_TYPES = 100,      /* likewise */
	MAX_FOUND = 1 << 20,  /* objects that wait for their turn */
	MAX_ALIKE = 100,      /* of those objects, of one class */
	MAX_WALK = 100000000, /* pointers that are gone through for all of them */
	MAX_WAY = 40,         /* objects on the way to one that the page shows at first */
};

/* What is asked while a report is made, breadth first: what looks at the whole heap, and then the
 * objects, their types and the goroutines that answers name. */
struct report {
	const struct gh_web_heap *heap;
	struct gh_web_recording *recording;
	int out;                               /* a file in memory: what a command prints */
	int err;                               /* another: why it does not */
	struct gh_buffer answers;              /* that are recorded together, or not at all */
	bool *is_found;                        /* by object: it is among the next; owned */
	struct GH_VECTOR(uint32_t) objects;    /* that answers name, in their order */
	struct GH_VECTOR(uint64_t) goroutines; /* likewise, by their numbers */
	uint32_t *recorded;                    /* by class: objects of it that are; owned */
	size_t nclasses;                       /* that have any */
	uint64_t walked;                       /* pointers that were gone through */
};

static void note_object(struct report *report, uint64_t address)
{
	const struct gh_heap *heap = &report->heap->now->heap;
	uint32_t object = gh_heap_find(heap, address);
	if (object == GH_HEAP_NONE || report->is_found[object] ||
	    gh_heap_object(heap, object).address != address || report->objects.count == MAX_FOUND)
		return;
	report->is_found[object] = true;
	gh_vector_push(&report->objects, object);
}

static void note_goroutine(struct report *report, uint64_t id)
{
	size_t i = 0;
	while (i < report->goroutines.count && report->goroutines.items[i] != id)
		i++;
	size_t frames = gh_dump_count(&report->heap->now->dump, GH_DUMP_FRAME);
	if (id != 0 && i == report->goroutines.count && i < MAX_GOROUTINES &&
	    i * frames <= MAX_FRAMES)
		gh_vector_push(&report->goroutines, id);
}

/* Notes what an answer names: the objects at its addresses and, of goroutines that are alike, the
 * first. */
static void note_names(struct report *report, const char *text)
{
	static const char *const keys[] = {"goroutine\":", "goroutines\":["};
	for (const char *at = text; (at = strstr(at, "\"0x")) != NULL; at++)
		note_object(report, strtoull(at + 1, NULL, 16));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		for (const char *at = text; (at = strstr(at, keys[i])) != NULL; at++)
			note_goroutine(report, strtoull(at + strlen(keys[i]), NULL, 10));
}

/* What QUESTION is, as the page has it, to be freed: NAME?KEY=VALUE&... NULL if memory ran out. */
static char *question_text(const struct gh_web_question *question)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	fprintf(out, "%s?", question->name);
	for (size_t i = 0; i < question->count; i++)
		fprintf(out, "%s%s=%s", i > 0 ? "&" : "", question->parameters[i].key,
			question->parameters[i].value);
	return gh_text_end(out, &text);
}

/* Adds the line before the answer to QUESTION, which has SIZE bytes. */
static void add_head(struct gh_buffer *answers, const struct gh_web_question *question,
		     bool answered, size_t size)
{
	struct row {
		const char *question;
		bool answered;
		uint64_t size;
	};
	static const struct gh_column columns[] = {
	    {"question", GH_COL_TEXT(struct row, question)},
	    {"answered", GH_COL_BOOL(struct row, answered)},
	    {"size", GH_COL_NUMBER(struct row, size)},
	    {0},
	};
	char *text = NULL;
	size_t length = 0;
	char *name = question_text(question);
	FILE *out = open_memstream(&text, &length);
	if (name != NULL && out != NULL) {
		const struct row row = {name, answered, size};
		struct gh_emit emit = gh_emit_start(out, GH_EMIT_ROWS, NULL, true);
		gh_emit_row(&emit, columns, &row);
		fclose(out);
		gh_buffer_bytes(answers, text, length);
		free(text);
	}
	free(name);
}

/* Adds what a command printed in answer to QUESTION, or why it did not; it NAMES what can be asked
 * about next. */
static void add_answer(struct report *report, const struct gh_web_question *question, bool answered,
		       bool names)
{
	int fd = answered ? report->out : report->err;
	off_t size = lseek(fd, 0, SEEK_END);
	if (size < 0 || size > MAX_ANSWER)
		return;
	add_head(&report->answers, question, answered, (size_t)size);
	/* With a NUL, which is not one of its bytes. */
	char *text = gh_buffer_extend(&report->answers, (size_t)size + 1);
	if (text == NULL)
		return;
	report->answers.size--;
	text[size] = '\0';
	if (pread(fd, text, (size_t)size, 0) != size)
		report->answers.failed = true;
	else if (answered && names)
		note_names(report, text);
}

static void clear(int fd)
{
	if (ftruncate(fd, 0) == 0)
		lseek(fd, 0, SEEK_SET);
}

/* Asks QUESTION, and adds the answer to those that are recorded next. */
static void ask(struct report *report, const struct gh_web_question *question)
{
	struct gh_web_words words;
	if (!gh_web_words_make(&words, question, report->heap))
		return;
	clear(report->out);
	clear(report->err);
	int status = gh_kept_answer(words.command, words.argc, words.argv);
	fflush(stdout);
	gh_web_words_free(&words);
	add_answer(report, question, status == GH_EXIT_OK, !words.is_of_older);
}

/* Asks one that is about OF, by the key KEY, with the other parameters REST; of the older dump,
 * too, if there is one and it is of BOTH. */
static void ask_of(struct report *report, const char *name, const char *key, const char *of,
		   const struct gh_web_parameter rest[2], bool both)
{
	struct gh_web_question question = {
	    .name = name, .parameters = {{key, of}}, .count = 1, .err = -1};
	for (size_t i = 0; i < 2 && rest[i].key != NULL; i++)
		question.parameters[question.count++] = rest[i];
	ask(report, &question);
	if (!both || report->heap->older == NULL)
		return;
	question.parameters[question.count++] = (struct gh_web_parameter){"older", ""};
	ask(report, &question);
}

/* Records the answers that were added. False if there is no room for them. */
static bool record(struct report *report)
{
	struct gh_buffer *answers = &report->answers;
	bool recorded = !answers->failed &&
			gh_web_recording_add(report->recording, answers->data, answers->size);
	answers->size = 0;
	return recorded;
}

/* Notes what is on the way from a root to the objects that were noted so far. */
static void note_ways(struct report *report)
{
	const struct gh_heap_query *query = report->heap->now;
	const uint32_t *parents = query->paths.parents;
	size_t count = report->objects.count;
	for (size_t i = 0; i < count; i++) {
		uint32_t at = report->objects.items[i];
		for (unsigned steps = 0;
		     steps < MAX_WAY && parents[at] != at && parents[at] != GH_HEAP_NONE; steps++) {
			at = parents[at];
			note_object(report, gh_heap_object(&query->heap, at).address);
		}
	}
}

static void record_whole(struct report *report)
{
	struct gh_web_question question;
	for (size_t i = 0; (question = gh_web_whole(report->heap, i)).name != NULL; i++) {
		question.err = -1;
		ask(report, &question);
		record(report);
		/* The first are the suspects, and what holds them is what is looked at next. */
		if (i == 0)
			note_ways(report);
	}
}

static bool record_goroutine(struct report *report, uint64_t id)
{
	static const char *const names[] = {"goroutine", "held", "waiting", "frames", "slots"};
	static const struct gh_web_parameter none[2];
	char text[32];
	snprintf(text, sizeof(text), "%" PRIu64, id);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ask_of(report, names[i], "of", text, none, false);
	return record(report);
}

/* The objects of the type of OBJECT, once. */
static void record_type(struct report *report, uint32_t object)
{
	static const struct gh_web_parameter limit[2] = {{"limit", "100"}};
	const struct gh_names *names = &report->heap->now->names;
	uint32_t class = gh_names_classes(names)[object];
	if (report->recorded[class]++ > 0 || report->nclasses++ >= MAX_TYPES)
		return;
	ask_of(report, "instances", "type", gh_names_class(names, class), limit, true);
	record(report);
}

/* Where in an object a pointer is takes time to find that grows with the object. Whether there is
 * enough of it for what holds OBJECT and what is on the way to it. */
static bool has_time(struct report *report, uint32_t object)
{
	const struct gh_heap_query *query = report->heap->now;
	const uint32_t *parents = query->paths.parents;
	const uint32_t *objects;
	uint64_t walk = 0;
	size_t count = gh_heap_referrers(&query->heap, object, &objects);
	for (size_t i = 0; i < count && i < MAX_ALIKE; i++) {
		const uint32_t *targets;
		walk += gh_heap_targets(&query->heap, objects[i], &targets);
	}
	for (uint32_t at = object;
	     parents[at] != at && parents[at] != GH_HEAP_NONE && report->walked + walk <= MAX_WALK;
	     at = parents[at]) {
		const uint32_t *targets;
		walk += gh_heap_targets(&query->heap, parents[at], &targets) + 1;
	}
	if (report->walked + walk > MAX_WALK)
		return false;
	report->walked += walk;
	return true;
}

static bool record_object(struct report *report, uint32_t object)
{
	static const struct {
		const char *name;
		const char *key;
		struct gh_web_parameter rest[2];
		bool both;
	} questions[] = {
	    {"objects", "address", {}, false},
	    {"retained", "of", {}, true},
	    {"print", "address", {{"depth", "1"}, {"limit", "100"}}, false},
	    {"path", "address", {{"limit", "40"}}, false},
	    {"referrers", "address", {{"limit", "100"}}, false},
	    {"dominators", "address", {{"limit", "100"}}, true},
	};
	char address[32];
	snprintf(address, sizeof(address), "0x%" PRIx64,
		 gh_heap_object(&report->heap->now->heap, object).address);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		ask_of(report, questions[i].name, questions[i].key, address, questions[i].rest,
		       questions[i].both);
	bool recorded = record(report);
	if (recorded)
		record_type(report, object);
	return recorded;
}

/* There are few enough objects that are like OBJECT, and it does not take too long. */
static bool is_wanted(struct report *report, uint32_t object)
{
	uint32_t class = gh_names_classes(&report->heap->now->names)[object];
	return report->recorded[class] < MAX_ALIKE && has_time(report, object);
}

/* Records what answers have named, as far as there is room. */
static void record_named(struct report *report)
{
	size_t object = 0, goroutine = 0, recorded = 0;
	bool fits = true;
	while (fits && (object < report->objects.count || goroutine < report->goroutines.count)) {
		if (goroutine < report->goroutines.count)
			fits = record_goroutine(report, report->goroutines.items[goroutine++]);
		while (object < report->objects.count &&
		       !is_wanted(report, report->objects.items[object]))
			object++;
		if (fits && object < report->objects.count) {
			fits = record_object(report, report->objects.items[object++]);
			recorded++;
		}
		if (recorded == MAX_OBJECTS)
			object = report->objects.count;
	}
}

/* Has the process's own output go to the files of REPORT, and SAVED is what it went to; or to that
 * again. */
static void swap_outputs(const struct report *report, int saved[2], bool back)
{
	fflush(stdout);
	if (!back) {
		saved[0] = dup(STDOUT_FILENO);
		saved[1] = dup(STDERR_FILENO);
	}
	dup2(back ? saved[0] : report->out, STDOUT_FILENO);
	dup2(back ? saved[1] : report->err, STDERR_FILENO);
	if (back) {
		close(saved[0]);
		close(saved[1]);
	}
}

/* What the page asks first. */
static bool record_source(struct report *report)
{
	static const struct gh_web_question source = {.name = "source"};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return false;
	gh_web_heap_print(out, report->heap, false);
	fclose(out);
	add_head(&report->answers, &source, true, size);
	gh_buffer_bytes(&report->answers, text, size);
	free(text);
	return record(report);
}

static bool record_all(const struct gh_web_heap *heap, struct gh_web_recording *recording)
{
	struct gh_error err;
	struct gh_heap_query *query = heap->now;
	int saved[2];
	struct report report = {
	    .heap = heap,
	    .recording = recording,
	    .out = memfd_create("answer", MFD_CLOEXEC),
	    .err = memfd_create("reason", MFD_CLOEXEC),
	    .is_found = calloc((size_t)query->heap.count + 1, sizeof(bool)),
	    .recorded = calloc(gh_names_count(&query->names) + 1, sizeof(uint32_t)),
	};
	bool ready = report.out >= 0 && report.err >= 0 && report.is_found != NULL &&
		     report.recorded != NULL &&
		     gh_path_tree_build(&query->paths, &query->heap, GH_PATH_NEAREST, &err) &&
		     record_source(&report);
	if (ready) {
		swap_outputs(&report, saved, false);
		record_whole(&report);
		record_named(&report);
		swap_outputs(&report, saved, true);
	}
	close(report.out);
	close(report.err);
	gh_buffer_free(&report.answers);
	gh_vector_free(&report.objects);
	gh_vector_free(&report.goroutines);
	free(report.is_found);
	free(report.recorded);
	return ready;
}

static bool print(const struct gh_output *output, struct gh_web_recording *recording,
		  struct gh_error *err)
{
	FILE *page = gh_output_stream(output, err);
	if (page == NULL)
		return false;
	bool whole = gh_web_recording_print(recording, page);
	bool written = !ferror(page);
	if (fclose(page) != 0 || !written)
		return gh_fail_errno(err, output->path, "write");
	return whole || gh_fail_memory(err, output->path);
}

static bool write_report(const char *path, const struct gh_web_heap *heap, struct gh_error *err)
{
	struct gh_output output;
	struct gh_web_recording recording;
	if (!gh_output_open(&output, path, GH_OUTPUT_PUBLIC, err))
		return false;
	bool made = (gh_web_recording_begin(&recording, MAX_FILE) && record_all(heap, &recording) &&
		     !gh_has_left_out()) ||
		    gh_fail_memory(err, path);
	made = made && print(&output, &recording, err);
	gh_web_recording_free(&recording);
	return gh_output_end(&output, made, err);
}

int gh_cmd_report(const struct gh_options *options)
{
	struct gh_error err;
	struct gh_web_heap heap;
	int status = GH_EXIT_INPUT;
	if (gh_web_heap_open(&heap, options)) {
		gh_progress_begin("goheap: writing", options->output);
		if (write_report(options->output, &heap, &err))
			status = GH_EXIT_OK;
		gh_progress_end();
		if (status != GH_EXIT_OK)
			gh_print_error(&err);
	}
	gh_web_heap_close(&heap);
	return status;
}
