#include "lib/pclntab/internal.h"

#include "lib/util/bsearch.h"

/* The file that is being read, or what stands for none below all files; NULL if memory ran out. */
static struct gh_plan9_place *top(const struct gh_plan9_history *history)
{
	const struct gh_plan9_places *stack = &history->stack;
	return stack->failed ? NULL : &stack->items[stack->count - 1];
}

static void start_object(struct gh_plan9_history *history)
{
	history->open = true;
	history->first = history->places.count;
	history->line = 0;
	history->stack.count = 0;
	gh_vector_push(&history->stack, (struct gh_plan9_place){0});
}

static bool begin_file(struct gh_plan9_history *history, const struct gh_plan9_symbol *symbol)
{
	uint32_t number =
	    gh_intern_add(&history->paths, (const char *)symbol->path, symbol->path_size);
	if (number == GH_INTERN_NONE)
		return false;
	gh_vector_push(&history->stack,
		       (struct gh_plan9_place){.file_line = 1, .file = number + 1});
	return true;
}

static void end_file(struct gh_plan9_history *history)
{
	if (history->stack.count > 1)
		history->stack.count--;
}

/* A place of the object: LINE, or where the last one is if that is later, so that they are in
 * order. A number that is too large for a line is one that is past all. */
static int64_t advance(const struct gh_plan9_history *history, uint64_t line)
{
	if (line > INT32_MAX)
		return INT32_MAX;
	return (int64_t)line > history->line ? (int64_t)line : history->line;
}

bool gh_plan9_history_add(struct gh_plan9_history *history, const struct gh_plan9_symbol *symbol)
{
	bool path = symbol->type == GH_PLAN9_PATH;
	if (!path && symbol->type != GH_PLAN9_LINE_NUMBER) {
		history->open = false;
		return true;
	}
	if (!history->open)
		start_object(history);
	struct gh_plan9_place *file = top(history);
	if (file == NULL)
		return false;
	if (!path) {
		file->file_line = symbol->value < INT32_MAX ? (int64_t)symbol->value : INT32_MAX;
	} else {
		int64_t line = advance(history, symbol->value);
		if (symbol->path_size == 0) {
			end_file(history);
		} else {
			file->file_line += line - history->line;
			if (!begin_file(history, symbol))
				return false;
		}
		history->line = line;
	}
	if ((file = top(history)) == NULL)
		return false;
	return gh_vector_push(&history->places,
			      (struct gh_plan9_place){history->line, file->file_line, file->file});
}

void gh_plan9_history_find(const struct gh_plan9_history *history, size_t first, size_t end,
			   int32_t line, uint32_t *file, int32_t *file_line)
{
	*file = 0;
	*file_line = 0;
	/* Where no file was begun there is no array. */
	if (first == end)
		return;
	const struct gh_plan9_place *places = history->places.items + first;
	/* The last that begins at the line or before: of several at one line that is the one that
	 * holds. */
	size_t after = gh_lower_bound(end - first, i, places[i].line <= line);
	if (after == 0 || places[after - 1].file == 0)
		return;
	int64_t found = places[after - 1].file_line + line - places[after - 1].line;
	*file = places[after - 1].file;
	*file_line = found > 0 && found <= INT32_MAX ? (int32_t)found : 0;
}

void gh_plan9_history_free(struct gh_plan9_history *history)
{
	gh_intern_free(&history->paths);
	gh_vector_free(&history->places);
	gh_vector_free(&history->stack);
}
