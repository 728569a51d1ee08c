/* The ways to what a finding is made of: the types on the way to its example; or, of a holder that
 * keeps several large things, such as two slices of a struct, what leads to each. */
#include <inttypes.h>

#include "lib/util/escape.h"
#include "plugin/findings/suspects.h"
#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

/* Each keeps at least one in so many bytes of the finding; of a chain of objects, those are looked
 * at that keep more than one in so many. */
enum { LARGE_ONE_IN = 4, CHAIN_ONE_IN = 2 };

/* Names of types that are told of a way. */
#define MAX_WAY 8

/* The objects of one node of the tree of dominators that keep much. */
struct large {
	uint32_t objects[LARGE_ONE_IN]; /* that which keeps most is the first */
	size_t count;
};

/* Finds the objects below NODE that keep at least LEAST bytes each. */
static void find_below(struct large *large, const struct gh_held *held, uint32_t node,
		       uint64_t least)
{
	const uint64_t *retained = held->dominators.retained;
	large->count = 0;
	for (uint32_t child = held->tree.child[node]; child != GH_HEAP_NONE;
	     child = held->tree.sibling[child]) {
		if (retained[child] < least || large->count == LARGE_ONE_IN)
			continue;
		size_t at = large->count++;
		for (; at > 0 && retained[child] > retained[large->objects[at - 1]]; at--)
			large->objects[at] = large->objects[at - 1];
		large->objects[at] = child;
	}
}

/* Goes down from the holder of SUSPECT to where the tree branches. False if it does not. */
static bool find_branches(struct large *large, const struct gh_suspects *suspects,
			  const struct gh_suspect *suspect)
{
	const struct gh_held *held = &suspects->held;
	uint32_t node = gh_dominators_holder(&suspects->query->heap, suspect->number);
	if (suspect->kind != GH_SUSPECT_HOLDER)
		return false;
	for (;;) {
		find_below(large, held, node, suspect->bytes / LARGE_ONE_IN + 1);
		if (large->count != 1)
			return large->count > 1;
		node = large->objects[0];
		if (held->dominators.retained[node] <= suspect->bytes / CHAIN_ONE_IN)
			return false;
	}
}

/* Prints what points to OBJECT: "main.srv.log", "main.recorder .events". */
static void print_pointer(FILE *out, struct gh_names *names, uint32_t object)
{
	struct gh_path path;
	struct gh_error err;
	if (gh_path_find(names->heap, object, &path, &err) != GH_PATH_FOUND)
		return;
	fputs(", by ", out);
	if (path.steps.count > 1) {
		const struct gh_path_step *step = &path.steps.items[path.steps.count - 2];
		gh_names_print(out, names, step->object);
		gh_names_print_pointer(out, names, step->object, step->offset);
	} else {
		gh_names_print_root(out, names, &path.root);
	}
	gh_path_free(&path);
}

/* The types of a path that tell something, each once where several follow each other. */
static void print_way(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_names *names = &suspects->query->names;
	struct gh_path path;
	struct gh_error err;
	uint32_t last = GH_HEAP_NONE;
	size_t told = 0;
	if (suspect->example == GH_HEAP_NONE ||
	    gh_path_find(&suspects->query->heap, suspect->example, &path, &err) != GH_PATH_FOUND)
		return;
	const struct gh_path_step *steps = path.steps.items;
	for (size_t i = 0; i < path.steps.count; i++) {
		uint32_t class = gh_names_classes(names)[steps[i].object];
		bool ends = i + 1 == path.steps.count;
		if (class == last || gh_suspect_is_of_map(gh_names_class(names, class)) ||
		    !gh_typing_class(&names->typing, class)->typed || (told >= MAX_WAY && !ends))
			continue;
		fputs(told++ == 0 ? "   by way of " : " -> ", out);
		gh_escape_print(out, gh_names_class(names, class));
		last = class;
	}
	fputs(told > 0 ? "\n" : "", out);
	gh_path_free(&path);
}

void gh_suspect_print_ways(FILE *out, struct gh_suspects *suspects,
			   const struct gh_suspect *suspect)
{
	struct gh_names *names = &suspects->query->names;
	struct large large;
	if (!find_branches(&large, suspects, suspect)) {
		print_way(out, suspects, suspect);
		return;
	}
	for (size_t i = 0; i < large.count; i++) {
		uint32_t object = large.objects[i];
		fputs("   ", out);
		gh_print_size(out, suspects->held.dominators.retained[object]);
		fprintf(out, " of it in 0x%" PRIx64 ", ",
			gh_heap_object(&suspects->query->heap, object).address);
		gh_names_print(out, names, object);
		print_pointer(out, names, object);
		fputs("\n", out);
	}
}

void gh_suspect_choose_root(struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_heap *heap = &suspects->query->heap;
	struct gh_path path;
	struct gh_error err;
	if (suspect->kind != GH_SUSPECT_HOLDER || suspect->example == GH_HEAP_NONE ||
	    gh_path_find(heap, suspect->example, &path, &err) != GH_PATH_FOUND)
		return;
	const struct gh_root *roots;
	gh_heap_roots(heap, path.steps.items[0].object, &roots);
	uint32_t root = (uint32_t)(roots - heap->roots);
	if (suspects->held.of[root] == suspect->number)
		suspects->held.holders.items[suspect->number].root = root;
	gh_path_free(&path);
}
