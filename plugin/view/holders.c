#include "plugin/view/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/util/hash.h"
#include "lib/util/numbermap.h"

/* What the keys of holders begin with. */
enum holder_kind {
	HOLDER_GLOBAL,
	HOLDER_STACK,
	HOLDER_FINALIZER,
	HOLDER_QUEUED_FINALIZER,
	HOLDER_CLEANUP,
	HOLDER_OTHER,
};

/* The search for holders. */
struct finding {
	struct gh_held *held;
	struct gh_names *names;
	uint64_t *stacks;           /* by goroutine: a hash of its stack; owned */
	struct gh_numbermap by_key; /* holders' numbers */
};

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return gh_hash_bytes(hash, &number, sizeof(number));
}

/* The hash of the places in the code that goroutine NUMBER's frames execute. */
static uint64_t hash_stack(const struct finding *finding, size_t number)
{
	const struct gh_dump *dump = finding->names->heap->dump;
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	struct gh_dump_record record;
	uint64_t hash = GH_HASH_START;
	for (size_t i = 0; i < stack->nframes; i++) {
		gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + i, &record);
		hash = hash_number(hash, record.frame.pc - finding->names->typing.bias);
	}
	return hash;
}

static uint64_t key_of_global(const struct finding *finding, uint64_t address)
{
	struct gh_global_way way;
	gh_globals_find(&finding->names->globals, address, &way);
	uint64_t start = way.start - finding->names->typing.bias;
	gh_globals_free_way(&way);
	return hash_number(hash_number(GH_HASH_START, HOLDER_GLOBAL), start);
}

/* The key of the stack of goroutine NUMBER, which may be unknown. */
static uint64_t key_of_stack(const struct finding *finding, size_t number)
{
	uint64_t stack = number != GH_DUMP_NONE ? finding->stacks[number] : 0;
	return hash_number(hash_number(GH_HASH_START, HOLDER_STACK), stack);
}

static uint64_t key_of_text(const struct finding *finding, struct gh_dump_slice text)
{
	struct gh_cursor bytes = gh_dump_bytes(finding->names->heap->dump, text);
	return gh_hash_bytes(hash_number(GH_HASH_START, HOLDER_OTHER), bytes.start,
			     gh_cursor_size(&bytes));
}

static uint64_t key_of(const struct finding *finding, const struct gh_root *root)
{
	const struct gh_dump *dump = finding->names->heap->dump;
	struct gh_dump_record record;
	uint64_t kind = GH_HASH_START;
	gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, &record);
	switch (root->kind) {
	case GH_ROOT_DATA:
	case GH_ROOT_BSS:
		return key_of_global(finding, record.kind == GH_DUMP_DATA_ROOT
						  ? record.data_root.address
						  : record.segment.address + root->offset);
	case GH_ROOT_FRAME:
		return key_of_stack(finding, record.kind == GH_DUMP_FRAME
						 ? gh_where_goroutine_of_frame(dump, root->number)
						 : GH_DUMP_NONE);
	case GH_ROOT_GOROUTINE:
		return key_of_stack(finding, root->number);
	case GH_ROOT_DEFER:
		return key_of_stack(finding, gh_where_goroutine_of_defer(dump, root->number));
	case GH_ROOT_PANIC:
		return key_of_stack(finding, gh_where_goroutine_of_panic(dump, root->number));
	case GH_ROOT_FINALIZER:
		kind = hash_number(kind, HOLDER_FINALIZER);
		return hash_number(kind, record.finalizer.entry - finding->names->typing.bias);
	case GH_ROOT_QUEUED_FINALIZER:
		kind = hash_number(kind, HOLDER_QUEUED_FINALIZER);
		return hash_number(kind, record.finalizer.entry - finding->names->typing.bias);
	case GH_ROOT_CLEANUP_CLOSURE:
		kind = hash_number(kind, HOLDER_CLEANUP);
		return hash_number(kind, gh_names_cleanup(finding->names, root) -
					     finding->names->typing.bias);
	case GH_ROOT_OTHER:
	case GH_ROOT_KINDS:
		break;
	}
	return key_of_text(finding, record.other_root.description);
}

/* The key of the roots of RANK among those with KEY. */
static uint64_t key_of_rank(uint64_t key, enum gh_root_rank rank)
{
	return hash_number(key, rank);
}

/* The number of the holder with KEY, which is added if it is new. */
static uint32_t number_of(struct finding *finding, uint64_t key)
{
	uint32_t number = gh_numbermap_get(&finding->by_key, key);
	if (number != GH_NOT_MAPPED)
		return number;
	number = (uint32_t)finding->held->holders.count;
	struct gh_holder holder = {.key = key, .root = GH_HEAP_NONE};
	if (!gh_vector_push(&finding->held->holders, holder) ||
	    !gh_numbermap_put(&finding->by_key, key, number))
		return GH_NOT_MAPPED;
	return number;
}

/* Gives each root its holder. The roots of each rank are a holder by themselves. False if memory
 * ran out. */
static bool assign(struct finding *finding)
{
	const struct gh_heap *heap = finding->names->heap;
	uint32_t *of = finding->held->of;
	for (size_t i = 0; i < heap->nroots; i++) {
		uint64_t key = key_of(finding, &heap->roots[i]);
		of[i] = number_of(finding, key_of_rank(key, gh_root_rank(&heap->roots[i])));
		if (of[i] == GH_NOT_MAPPED)
			return false;
	}
	return true;
}

/* Counts the goroutines of each stack that is a holder. */
static void count_goroutines(struct finding *finding)
{
	const struct gh_dump *dump = finding->names->heap->dump;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		uint64_t key = key_of_stack(finding, i);
		for (enum gh_root_rank rank = 0; rank < GH_RANKS; rank++) {
			uint32_t number =
			    gh_numbermap_get(&finding->by_key, key_of_rank(key, rank));
			if (number != GH_NOT_MAPPED)
				finding->held->holders.items[number].goroutines++;
		}
	}
}

/* Finds the root of each holder that alone retains most of what it holds. */
static void choose_roots(struct gh_held *held, const struct gh_heap *heap)
{
	const uint64_t *retained = held->dominators.retained;
	const uint32_t *idom = held->dominators.idom;
	for (size_t i = 0; i < heap->nroots; i++) {
		struct gh_holder *holder = &held->holders.items[held->of[i]];
		uint32_t object = heap->roots[i].object;
		bool held_alone = idom[object] == gh_dominators_holder(heap, held->of[i]);
		uint64_t bytes = held_alone ? retained[object] : 0;
		uint32_t best = holder->root;
		if (best == GH_HEAP_NONE || bytes > retained[heap->roots[best].object])
			holder->root = (uint32_t)i;
	}
}

static bool find(struct finding *finding, struct gh_error *err)
{
	struct gh_held *held = finding->held;
	const struct gh_heap *heap = finding->names->heap;
	for (size_t i = 0; i < heap->dump->stacks.count; i++)
		finding->stacks[i] = hash_stack(finding, i);
	if (!assign(finding))
		return gh_fail_memory(err, heap->dump->path);
	count_goroutines(finding);
	struct gh_holders holders = {held->of, (uint32_t)held->holders.count};
	if (!gh_dominators_build_held(&held->dominators, heap, &holders, err))
		return false;
	choose_roots(held, heap);
	return gh_dominator_tree_make(&held->tree, heap, &held->dominators) ||
	       gh_fail_memory(err, heap->dump->path);
}

bool gh_held_make(struct gh_held *held, struct gh_names *names, struct gh_error *err)
{
	const struct gh_heap *heap = names->heap;
	struct finding finding = {.held = held, .names = names};
	*held = (struct gh_held){.names = names};
	held->of = malloc((heap->nroots + 1) * sizeof(*held->of));
	finding.stacks = calloc(heap->dump->stacks.count + 1, sizeof(*finding.stacks));
	bool ok = held->of != NULL && finding.stacks != NULL
		      ? find(&finding, err)
		      : gh_fail_memory(err, heap->dump->path);
	gh_numbermap_free(&finding.by_key);
	free(finding.stacks);
	return ok;
}

void gh_held_free(struct gh_held *held)
{
	gh_vector_free(&held->holders);
	free(held->of);
	gh_dominator_tree_free(&held->tree);
	gh_dominators_free(&held->dominators);
	*held = (struct gh_held){0};
}

uint64_t gh_held_bytes(const struct gh_held *held, uint32_t number)
{
	return held->dominators.retained[gh_dominators_holder(held->names->heap, number)];
}

uint32_t gh_held_find(const struct gh_held *held, uint64_t key)
{
	for (size_t i = 0; i < held->holders.count; i++)
		if (held->holders.items[i].key == key)
			return (uint32_t)i;
	return GH_HEAP_NONE;
}

void gh_held_print(FILE *out, const struct gh_held *held, struct gh_names *names, uint32_t number)
{
	const struct gh_holder *holder = &held->holders.items[number];
	const struct gh_root *root = &names->heap->roots[holder->root];
	if (holder->goroutines == 0)
		gh_names_print_slot(out, names, root);
	else
		gh_names_print_stack(out, names, root, holder->goroutines);
}
