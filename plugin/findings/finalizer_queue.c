/* Goroutines that run finalizers or cleanups and are blocked in one: the others in the queue wait,
 * and keep what they are for alive. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wait/wait.h"
#include "plugin/findings/findings.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* What is blocked, as a row of JSON too. */
struct blocked {
	const char *part;
	struct gh_bytes sentence;
	uint64_t goroutine;
	const char *runs;
	struct gh_bytes function;
	uint64_t waiting;
};

/* Cleanups that are queued: of each there are as many roots as words that it has, and those of a
 * closure alone are told by none. */
static uint64_t count_cleanups(const struct gh_dump *dump)
{
	static const char what[] = "queued cleanup";
	struct gh_dump_record record;
	uint64_t count = 0;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_OTHER_ROOT); i++) {
		gh_dump_get(dump, GH_DUMP_OTHER_ROOT, i, &record);
		struct gh_cursor text = gh_dump_bytes(dump, record.other_root.description);
		count += gh_cursor_left(&text) >= sizeof(what) - 1 &&
			 memcmp(text.pos, what, sizeof(what) - 1) == 0;
	}
	/* The function that calls it, the closure and the argument, from Go 1.26 on. */
	return gh_dump_minor(dump) >= 26 ? count / 3 : count;
}

/* What goroutine NUMBER, whose record is GOROUTINE, runs: "finalizers", "cleanups". NULL if it runs
 * neither, or is not blocked. */
static const char *find_queue(const struct gh_dump *dump, size_t number,
			      const struct gh_dump_goroutine *goroutine)
{
	static const char *const queues[][2] = {{"runtime.runfinq", "finalizers"},
						{"runtime.runFinalizers", "finalizers"},
						{"runtime.runCleanups", "cleanups"}};
	size_t depth = gh_dump_stack(dump, number)->nframes;
	if (goroutine->system ||
	    (goroutine->status != GH_DUMP_WAITING && goroutine->status != GH_DUMP_SYSCALL))
		return NULL;
	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++)
		if (gh_wait_frame_find(dump, number, depth, queues[i][0]) != GH_DUMP_NONE)
			return queues[i][1];
	return NULL;
}

/* Prints the sentence. */
static void print(FILE *out, const void *row)
{
	const struct blocked *blocked = row;
	fprintf(out, "goroutine %" PRIu64 " runs %s, and is blocked in ", blocked->goroutine,
		blocked->runs);
	gh_print_bytes(out, blocked->function.data, blocked->function.size, false);
	fputs(": ", out);
	gh_print_number(out, blocked->waiting);
	fputs(blocked->waiting == 1 ? " more waits for it" : " more wait for it", out);
}

static void emit(FILE *out, const struct gh_dump *dump, struct blocked *blocked)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct blocked, part), .optional = true},
	    {"kind", GH_COL_TEXT(struct blocked, runs)},
	    {"finding", GH_COL_BYTES(struct blocked, sentence)},
	    {"goroutine", GH_COL_NUMBER(struct blocked, goroutine)},
	    {"function", GH_COL_BYTES(struct blocked, function)},
	    {"waiting", GH_COL_NUMBER(struct blocked, waiting)},
	    {0},
	};
	gh_finding_emit(out, dump, columns, blocked, &blocked->sentence, print);
}

size_t gh_blocked_finalizers_print(FILE *out, const struct gh_dump *dump,
				   struct gh_symbols *symbols, uint64_t waited, const char *part,
				   bool json)
{
	struct gh_traceback traceback = {0};
	struct gh_dump_record record;
	size_t count = 0;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		const char *runs = find_queue(dump, i, &record.goroutine);
		if (runs == NULL || gh_dump_waited(dump, &record.goroutine) < waited ||
		    !gh_traceback_make(&traceback, dump, symbols, i))
			continue;
		const struct gh_call *call = gh_traceback_own_call(&traceback);
		bool cleanups = strcmp(runs, "cleanups") == 0;
		/* The finalizer that runs is still in the queue. */
		uint64_t queued =
		    cleanups ? count_cleanups(dump) : gh_dump_count(dump, GH_DUMP_QUEUED_FINALIZER);
		if (call == NULL || queued < 2)
			continue;
		struct blocked blocked = {.part = part,
					  .goroutine = record.goroutine.id,
					  .runs = runs,
					  .function = {call->name, call->length},
					  .waiting = queued - 1};
		count++;
		if (json) {
			emit(out, dump, &blocked);
			continue;
		}
		print(out, &blocked);
		putc('\n', out);
	}
	gh_traceback_free(&traceback);
	return count;
}
