/* The goroutine whose stack is out of proportion. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/wait/wait.h"
#include "plugin/findings/findings.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* No smaller one is told of, in bytes. */
#define LEAST (64 << 20)

/* What is told, as a row of JSON too. */
struct deep {
	const char *part;
	const char *kind;
	struct gh_bytes sentence;
	uint64_t goroutine;
	struct gh_bytes function;
	uint64_t frames;
	uint64_t size;
};

static void print(FILE *out, const void *row)
{
	const struct deep *deep = row;
	fprintf(out, "goroutine %" PRIu64 " (", deep->goroutine);
	if (deep->function.size > 0) {
		gh_print_bytes(out, deep->function.data, deep->function.size, false);
		fputs(", ", out);
	}
	gh_print_count(out, deep->frames, "frame");
	fputs(") has a stack of ", out);
	gh_print_size(out, deep->size);
}

static void emit(FILE *out, const struct gh_dump *dump, struct deep *deep)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct deep, part), .optional = true},
	    {"kind", GH_COL_TEXT(struct deep, kind)},
	    {"finding", GH_COL_BYTES(struct deep, sentence)},
	    {"goroutine", GH_COL_NUMBER(struct deep, goroutine)},
	    {"function", GH_COL_BYTES(struct deep, function)},
	    {"frames", GH_COL_NUMBER(struct deep, frames)},
	    {"stack_bytes", GH_COL_NUMBER(struct deep, size)},
	    {0},
	};
	gh_finding_emit(out, dump, columns, deep, &deep->sentence, print);
}

void gh_deep_stack_print(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			 const char *part, bool json)
{
	struct gh_traceback traceback = {0};
	struct gh_dump_record record;
	size_t deepest = 0;
	uint64_t most = 0;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		uint64_t size = gh_dump_extras(dump, i).stack;
		deepest = size > most ? i : deepest;
		most = size > most ? size : most;
	}
	if (most < LEAST)
		return;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, deepest, &record);
	struct deep deep = {
	    .part = part, .kind = "stack", .goroutine = record.goroutine.id, .size = most};
	bool made = gh_traceback_make(&traceback, dump, symbols, deepest);
	/* Those that Go prints. */
	for (size_t i = 0; made && i < traceback.calls.count; i++)
		deep.frames += traceback.calls.items[i].object == NULL &&
			       (!traceback.calls.items[i].hidden || traceback.all);
	const struct gh_call *call = made ? gh_traceback_own_call(&traceback) : NULL;
	if (call != NULL)
		deep.function = (struct gh_bytes){call->name, call->length};
	if (json) {
		emit(out, dump, &deep);
	} else {
		print(out, &deep);
		putc('\n', out);
	}
	gh_traceback_free(&traceback);
}
