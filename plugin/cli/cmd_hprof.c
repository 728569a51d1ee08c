/* goheap hprof: a heap dump as a Java heap dump. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/export/export.h"
#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* Of a goroutine's name, in bytes. */
#define MAX_NAME 128

/* The goroutines of a dump, as their stacks are asked for. */
struct goroutines {
	const struct gh_dump *dump;
	struct gh_symbols *symbols; /* NULL if there is no program */
	struct gh_traceback traceback;
	struct GH_VECTOR(struct gh_hprof_call) calls; /* of the last stack */
	char name[MAX_NAME];
};

/* "goroutine 1 [chan receive]", as Go prints it. */
static void make_name(struct goroutines *goroutines, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(goroutines->dump, GH_DUMP_GOROUTINE, number, &record);
	const struct gh_dump_goroutine *goroutine = &record.goroutine;
	size_t size;
	const char *state = gh_goroutine_state(goroutines->dump, goroutine, &size);
	char text[MAX_NAME];
	snprintf(text, sizeof(text), "%.*s", (int)(size < MAX_NAME ? size : MAX_NAME), state);
	char escaped[MAX_NAME - 40];
	snprintf(goroutines->name, sizeof(goroutines->name), "goroutine %" PRIu64 " [%s]",
		 goroutine->id, gh_escape_text(escaped, sizeof(escaped), text));
}

static bool get_stack(void *context, size_t number, struct gh_hprof_stack *stack)
{
	struct goroutines *goroutines = context;
	struct gh_traceback *traceback = &goroutines->traceback;
	if (!gh_traceback_make(traceback, goroutines->dump, goroutines->symbols, number))
		return false;
	goroutines->calls.count = 0;
	for (size_t i = 0; i < traceback->calls.count; i++) {
		const struct gh_call *call = &traceback->calls.items[i];
		struct gh_hprof_call copy = {
		    .function = call->name,
		    .length = call->length,
		    .file = call->file,
		    .line = call->line,
		    .frame = call->frame,
		};
		if (call->object == NULL)
			gh_vector_push(&goroutines->calls, copy);
	}
	make_name(goroutines, number);
	*stack = (struct gh_hprof_stack){goroutines->name, goroutines->calls.items,
					 goroutines->calls.count};
	return !goroutines->calls.failed;
}

/* When the file at PATH was written, in ms since 1970: a dump itself does not say. The last digits
 * are those of the clock: VisualVM takes files of one name and time for the same, and would go on
 * with what it kept of the one before. */
static uint64_t time_of(const char *path)
{
	struct stat info;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (stat(path, &info) != 0 || info.st_mtime < 0)
		return 0;
	return (uint64_t)info.st_mtime * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool write_hprof(struct gh_heap_query *query, const char *path)
{
	struct gh_error err;
	struct gh_hprof_damage damage;
	struct goroutines goroutines = {.dump = &query->dump, .symbols = query->names.symbols};
	const struct gh_hprof_stacks stacks = {get_stack, &goroutines};
	gh_progress_begin("goheap: writing", path);
	bool written = gh_hprof_write(&query->heap, &query->names.typing, &stacks,
				      time_of(query->dump.path), path, &damage, &err);
	gh_progress_end();
	if (!written)
		gh_print_error(&err);
	gh_print_warning(path, damage.left_out,
			 "objects left out, that have no address of their own");
	gh_print_warning(path, damage.cut, "objects cut off, that are larger than an array can be");
	gh_print_warning(path, damage.unplaced, "pointers left out, that are not where words are");
	gh_traceback_free(&goroutines.traceback);
	gh_vector_free(&goroutines.calls);
	return written;
}

static int answer(struct gh_heap_query *query)
{
	return write_hprof(query, query->options->output) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_hprof(const struct gh_options *options)
{
	return gh_heap_query_run(options, GH_WITH_NAMES, answer);
}
