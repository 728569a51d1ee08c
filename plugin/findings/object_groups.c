#include "plugin/findings/suspects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/profile.h"
#include "lib/util/intern.h"
#include "lib/util/numbermap.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/paths.h"

/* Adds a group called TEXT, which is the groups' from now on. False if memory ran out. */
static bool add_text(struct gh_groups *groups, char *text)
{
	if (text == NULL || !gh_vector_push(&groups->texts, text)) {
		free(text);
		return false;
	}
	groups->count++;
	return true;
}

/* Adds the group of SIZE, in bytes. */
static bool add_size(struct gh_groups *groups, struct gh_numbermap *sizes, uint64_t size)
{
	char *text = NULL;
	return gh_numbermap_put(sizes, size, (uint32_t)groups->count) &&
	       asprintf(&text, "%" PRIu64 " bytes", size) >= 0 && add_text(groups, text);
}

static bool group_by_size(struct gh_groups *groups, const struct gh_heap *heap)
{
	struct gh_numbermap sizes = {0};
	bool made = true;
	for (uint32_t i = 0; made && i < heap->count; i++) {
		uint64_t size = gh_heap_object(heap, i).size;
		uint32_t known = gh_numbermap_get(&sizes, size);
		groups->numbers[i] = known != GH_NOT_MAPPED ? known : (uint32_t)groups->count;
		made = known != GH_NOT_MAPPED || add_size(groups, &sizes, size);
	}
	gh_numbermap_free(&sizes);
	return made;
}

/* What profile record NUMBER calls its place, to be freed; NULL if memory ran out. */
static char *make_site(const struct gh_allocations *allocations, size_t number)
{
	size_t count;
	const uint32_t *places = gh_allocations_stack(allocations, number, &count);
	if (count == 0)
		return strdup("(unknown)");
	const struct gh_allocation_line *line = gh_allocations_line(allocations, places[0], 0);
	const struct gh_interned *function = allocations->texts.items[line->function];
	const struct gh_interned *file = allocations->texts.items[line->file];
	char *text = NULL;
	int length = file->length > 0
			 ? asprintf(&text, "%.*s at %.*s:%" PRIu64, (int)function->length,
				    function->text, (int)file->length, file->text, line->line)
			 : asprintf(&text, "%.*s", (int)function->length, function->text);
	return length >= 0 ? text : NULL;
}

/* Fills SITES, by profile record, with the number of its place's group. */
static bool number_sites(struct gh_groups *groups, const struct gh_allocations *allocations,
			 uint32_t *sites)
{
	const struct gh_dump *dump = allocations->dump;
	struct gh_intern set = {0};
	bool made = true;
	for (size_t i = 0; made && i < gh_dump_count(dump, GH_DUMP_PROFILE); i++) {
		char *text = make_site(allocations, i);
		uint32_t number =
		    text != NULL ? gh_intern_add(&set, text, strlen(text)) : GH_INTERN_NONE;
		/* The first group is of what was not sampled. */
		bool is_new = number != GH_INTERN_NONE && number + 1 == groups->count;
		sites[i] = number + 1;
		made = number != GH_INTERN_NONE && (!is_new || add_text(groups, text));
		if (!is_new)
			free(text);
	}
	gh_intern_free(&set);
	return made;
}

static bool group_by_site(struct gh_groups *groups, const struct gh_heap *heap)
{
	const struct gh_dump *dump = heap->dump;
	const struct gh_symbols *symbols = groups->names->symbols;
	struct gh_allocations allocations = {0};
	uint32_t *sites = calloc(gh_dump_count(dump, GH_DUMP_PROFILE) + 1, sizeof(*sites));
	bool made = sites != NULL && add_text(groups, strdup("(not sampled)")) &&
		    gh_allocations_make(&allocations, dump,
					symbols != NULL ? &symbols->program.tab : NULL, NULL) &&
		    number_sites(groups, &allocations, sites);
	gh_allocations_free(&allocations);
	if (made)
		gh_samples_find(groups->numbers, heap);
	for (uint32_t i = 0; made && i < heap->count; i++) {
		uint32_t record = groups->numbers[i];
		groups->numbers[i] = record == GH_NOT_SAMPLED ? 0 : sites[record];
	}
	free(sites);
	return made;
}

/* Bytes of the names of paths that there may be: those of a crafted dump would be out of
 * proportion. */
#define MAX_PATHS (64 << 20)

/* Adds the groups of PATHS: one of each node, or, AT_ROOTS, of each that is in no other. The number
 * of a node without one is that of the node that it is in. */
static bool add_paths(struct gh_groups *groups, const struct gh_merged_paths *paths,
		      uint32_t *numbers, bool at_roots)
{
	const struct gh_pprof_node *nodes = paths->nodes.items;
	size_t size = 0;
	for (uint32_t i = 0; i < paths->nodes.count; i++) {
		bool has_group = nodes[i].parent == 0 || (!at_roots && size < MAX_PATHS);
		numbers[i] = has_group ? (uint32_t)groups->count : numbers[nodes[i].parent];
		if (has_group && !add_text(groups, gh_merged_paths_name(paths, i)))
			return false;
		if (has_group)
			size += strlen(groups->texts.items[groups->count - 1]);
	}
	return true;
}

static bool group_by_holder(struct gh_groups *groups, struct gh_heap_query *query)
{
	struct gh_merged_paths paths;
	uint32_t *numbers = NULL;
	bool made = gh_merged_paths_make(&paths, &query->names, NULL);
	if (made)
		numbers = malloc((paths.nodes.count + 1) * sizeof(*numbers));
	made = numbers != NULL && add_paths(groups, &paths, numbers, groups->by == GH_BY_ROOT);
	for (uint32_t i = 0; made && i < query->heap.count; i++)
		groups->numbers[i] = numbers[paths.of[i]];
	free(numbers);
	gh_merged_paths_free(&paths);
	return made;
}

static bool group(struct gh_groups *groups, struct gh_heap_query *query)
{
	switch (groups->by) {
	case GH_BY_SIZE:
		return group_by_size(groups, &query->heap);
	case GH_BY_SITE:
		return group_by_site(groups, &query->heap);
	case GH_BY_PATH:
	case GH_BY_ROOT:
		return group_by_holder(groups, query);
	case GH_BY_TYPE: /* the objects' classes are the groups already */
		break;
	}
	return false;
}

bool gh_groups_make(struct gh_groups *groups, struct gh_heap_query *query, enum gh_grouping by)
{
	const struct gh_heap *heap = &query->heap;
	*groups = (struct gh_groups){.names = &query->names, .by = by};
	if (groups->by == GH_BY_TYPE) {
		groups->of = gh_names_classes(groups->names);
		groups->count = gh_names_count(groups->names);
		return true;
	}
	groups->numbers = calloc((size_t)heap->count + 1, sizeof(*groups->numbers));
	groups->of = groups->numbers;
	if (groups->numbers != NULL && group(groups, query))
		return true;
	gh_say(GH_OUT_OF_MEMORY);
	return false;
}

const char *gh_groups_name(const struct gh_groups *groups, uint32_t number)
{
	if (groups->by == GH_BY_TYPE)
		return gh_names_class(groups->names, number);
	return groups->texts.items[number];
}

/* A size's name begins with its number. */
static void print_size(struct gh_emit *emit, const void *member)
{
	const char *name = *(const char *const *)member;
	fprintf(emit->out, "%.*s", (int)(emit->json ? strcspn(name, " ") : strlen(name)), name);
}

struct gh_column gh_groups_column(const struct gh_groups *groups, size_t offset)
{
	static const struct gh_column columns[] = {
	    [GH_BY_TYPE] = {"type", .kind = GH_VALUE_TEXT},
	    [GH_BY_SIZE] = {"size", .kind = GH_VALUE_PRINTED, .print = print_size},
	    [GH_BY_SITE] = {"site", .kind = GH_VALUE_TEXT},
	    [GH_BY_PATH] = {"path", .kind = GH_VALUE_TEXT},
	    [GH_BY_ROOT] = {"root", .kind = GH_VALUE_TEXT},
	};
	struct gh_column column = columns[groups->by];
	column.offset = offset;
	return column;
}

void gh_groups_free(struct gh_groups *groups)
{
	for (size_t i = 0; i < groups->texts.count; i++)
		free(groups->texts.items[i]);
	gh_vector_free(&groups->texts);
	free(groups->numbers);
}
