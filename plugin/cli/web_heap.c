#include "plugin/cli/web_question.h"

#include <string.h>

static bool prepare(struct gh_heap_query *query)
{
	struct gh_error err;
	gh_progress_begin("goheap: finding the strings of", query->dump.path);
	bool found = gh_heap_query_prepare(query, &err);
	gh_progress_end();
	if (!found)
		gh_print_error(&err);
	return found;
}

/* The dump that was named as the older is the later one. */
static void swap(struct gh_web_heap *heap)
{
	struct gh_heap_query *now = heap->before;
	const char *file = heap->older;
	heap->before = heap->now;
	heap->now = now;
	heap->older = heap->source.file;
	heap->source.file = file;
}

bool gh_web_heap_open(struct gh_web_heap *heap, const struct gh_options *options)
{
	*heap = (struct gh_web_heap){
	    .source = {.file = options->file,
		       .program = options->program,
		       .names = options->names,
		       .process = options->process,
		       .c = options->c},
	    .older = options->older,
	    .is_partial = options->partial,
	};
	heap->now = gh_heap_query_open(options, options->file, GH_WITH_DOMINATORS);
	if (heap->now == NULL || !prepare(heap->now))
		return false;
	if (heap->older != NULL) {
		heap->before = gh_heap_query_open(options, options->older, GH_WITH_DOMINATORS);
		if (heap->before == NULL || !prepare(heap->before))
			return false;
		/* A report, which is written to a file, has always had the older one first. */
		if (options->process == NULL && options->output == NULL &&
		    gh_heap_query_is_reversed(heap->before, heap->now))
			swap(heap);
		gh_heap_query_compare(heap->before, heap->now);
	}
	gh_kept_take(&heap->source, heap->now, heap->older, heap->before);
	return true;
}

void gh_web_heap_close(struct gh_web_heap *heap)
{
	gh_heap_query_close(heap->before);
	gh_heap_query_close(heap->now);
}

/* The sums of a heap. */
struct sums {
	uint64_t objects;
	uint64_t bytes;
	uint64_t reachable; /* bytes */
	uint64_t typed;     /* bytes */
	uint64_t goroutines;
};

static struct sums sum(const struct gh_heap_query *query)
{
	return (struct sums){
	    .objects = query->heap.count,
	    .bytes = query->heap.bytes,
	    .reachable = query->dominators.retained[query->heap.count],
	    .typed = query->names.typing.typed_bytes,
	    .goroutines = gh_dump_count(&query->dump, GH_DUMP_GOROUTINE),
	};
}

static const char *name_of(const char *path, bool whole)
{
	const char *slash = path != NULL && !whole ? strrchr(path, '/') : NULL;
	return slash != NULL ? slash + 1 : path;
}

void gh_web_heap_print(FILE *out, const struct gh_web_heap *heap, bool whole)
{
	struct row {
		struct gh_kept_source source;
		const char *older;
		struct gh_dump_slice version;
		struct sums now;
		struct sums before;
	};
	static const struct gh_column columns[] = {
	    {"file", GH_COL_TEXT(struct row, source.file)},
	    {"program", GH_COL_TEXT(struct row, source.program)},
	    {"process", GH_COL_TEXT(struct row, source.process)},
	    {"version", GH_COL_SLICE(struct row, version)},
	    {"objects", GH_COL_NUMBER(struct row, now.objects)},
	    {"bytes", GH_COL_NUMBER(struct row, now.bytes)},
	    {"reachable", GH_COL_NUMBER(struct row, now.reachable)},
	    {"typed", GH_COL_NUMBER(struct row, now.typed)},
	    {"goroutines", GH_COL_NUMBER(struct row, now.goroutines)},
	    {"older", GH_COL_TEXT(struct row, older)},
	    {0},
	};
	static const struct gh_column before[] = {
	    {"older_objects", GH_COL_NUMBER(struct row, before.objects)},
	    {"older_bytes", GH_COL_NUMBER(struct row, before.bytes)},
	    {"older_reachable", GH_COL_NUMBER(struct row, before.reachable)},
	    {0},
	};
	const struct gh_kept_source *source = &heap->source;
	struct gh_emit emit = gh_emit_start(out, GH_EMIT_ROWS, &heap->now->dump, true);
	struct row row = {
	    .source = {.file = name_of(source->file, whole),
		       .program = name_of(source->program, whole),
		       .process = source->process},
	    .older = name_of(heap->older, whole),
	    .version = gh_dump_go_version(&heap->now->dump),
	    .now = sum(heap->now),
	};
	if (heap->before != NULL) {
		row.before = sum(heap->before);
		gh_emit_values(&emit, before, &row);
	}
	gh_emit_row(&emit, columns, &row);
}
