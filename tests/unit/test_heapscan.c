/* Heaps of every format, whose pointers and roots a linear scan of what was written finds as well.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/heapfixture.h"
#include "tests/unit/heapmaker.h"
#include "tests/unit/suites.h"

enum {
	MAX_EDGES = 3 * MADE_WORDS, /* of an object */
	ROUNDS = 12,                /* of each variant */
};

static struct gh_dump dump;
static struct gh_heap heap;

/* What is found, against what was expected. */

static void check_object(unsigned number)
{
	const struct made_object *object = &made.objects[number];
	struct gh_heap_object found = gh_heap_object(&heap, number);
	ck_assert_uint_eq(found.address, object->address);
	ck_assert_uint_eq(found.size, made_size(object));
	ck_assert_uint_eq(found.number, object->record);
	for (uint64_t address = object->address - 9; address < object->address + 200; address++)
		ck_assert_uint_eq(gh_heap_find(&heap, address), made_find(address));
}

/* The pointers of an object, in the order of its fields. */
struct pointers {
	struct gh_pointer list[MAX_EDGES];
	unsigned count;
};

static void note_pointer(void *context, unsigned word, uint64_t value)
{
	struct pointers *pointers = context;
	ck_assert_uint_lt(pointers->count, MAX_EDGES);
	pointers->list[pointers->count++] = (struct gh_pointer){
	    word * made.maker.word, value, value != 0 ? made_find(value) : GH_HEAP_NONE};
}

static void check_pointers(unsigned number, const struct pointers *pointers)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	const uint32_t *targets;
	size_t ntargets = gh_heap_targets(&heap, number, &targets), at = 0;
	gh_pointers_start(&heap, number, &walk);
	for (unsigned i = 0; i < pointers->count; i++) {
		const struct gh_pointer *want = &pointers->list[i];
		ck_assert(gh_pointers_next(&walk, &pointer));
		ck_assert_uint_eq(pointer.offset, want->offset);
		ck_assert_uint_eq(pointer.value, want->value);
		ck_assert_uint_eq(pointer.target, want->target);
		if (want->target != GH_HEAP_NONE) {
			ck_assert_uint_lt(at, ntargets);
			ck_assert_uint_eq(targets[at++], want->target);
		}
	}
	ck_assert(!gh_pointers_next(&walk, &pointer));
	ck_assert_uint_eq(at, ntargets);
}

static bool points_to(const struct pointers *pointers, unsigned object)
{
	for (unsigned i = 0; i < pointers->count; i++)
		if (pointers->list[i].target == object)
			return true;
	return false;
}

static void check_edges(void)
{
	static struct pointers pointers[MADE_OBJECTS];
	memset(pointers, 0, sizeof(pointers));
	for (unsigned i = 0; i < made.nobjects; i++) {
		made_pointers(&made.objects[i], note_pointer, &pointers[i]);
		check_pointers(i, &pointers[i]);
	}
	for (unsigned i = 0; i < made.nobjects; i++) {
		const uint32_t *referrers;
		size_t count = gh_heap_referrers(&heap, i, &referrers), at = 0;
		for (unsigned j = 0; j < made.nobjects; j++) {
			if (!points_to(&pointers[j], i))
				continue;
			ck_assert_uint_lt(at, count);
			ck_assert_uint_eq(referrers[at++], j);
		}
		ck_assert_uint_eq(at, count);
	}
}

/* What an object with a finalizer points to. */
static bool is_passing(const struct made_root *root)
{
	return root->kind == GH_ROOT_FINALIZER && root->offset != GH_ROOT_CLOSURE;
}

static int compare_expected(const void *a, const void *b)
{
	const struct made_root *x = a, *y = b;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->conservative != y->conservative)
		return x->conservative ? 1 : -1;
	if (is_passing(x) != is_passing(y))
		return is_passing(x) ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool has_certain_root(uint32_t object)
{
	for (unsigned i = 0; i < made.nroots; i++)
		if (made.roots[i].object == object && !made.roots[i].conservative)
			return true;
	return false;
}

static void check_roots(void)
{
	unsigned kept = 0;
	qsort(made.roots, made.nroots, sizeof(made.roots[0]), compare_expected);
	for (unsigned i = 0; i < made.nroots; i++)
		if (!made.roots[i].conservative || !has_certain_root(made.roots[i].object))
			made.roots[kept++] = made.roots[i];
	made.nroots = kept;
	ck_assert_uint_eq(heap.nroots, made.nroots);
	for (unsigned i = 0; i < made.nroots; i++) {
		ck_assert_uint_eq(heap.roots[i].object, made.roots[i].object);
		ck_assert_int_eq(heap.roots[i].kind, made.roots[i].kind);
		ck_assert_uint_eq(heap.roots[i].number, made.roots[i].number);
		ck_assert_uint_eq(heap.roots[i].offset, made.roots[i].offset);
		ck_assert_int_eq(heap.roots[i].conservative, made.roots[i].conservative);
		ck_assert_int_eq(heap.roots[i].passing, is_passing(&made.roots[i]));
	}
	for (unsigned i = 0, at = 0; i < made.nobjects; i++) {
		const struct gh_root *roots;
		size_t count = gh_heap_roots(&heap, i, &roots);
		for (size_t j = 0; j < count; j++, at++)
			ck_assert_ptr_eq(&roots[j], &heap.roots[at]);
	}
}

START_TEST(linear_scan)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		made_make(_i);
		if (made.maker.format == MAKER_1_7)
			made_expect_reached();
		heap_open(&made.maker, &dump, &heap);
		ck_assert_uint_eq(heap.count, made.nobjects);
		for (unsigned i = 0; i < made.nobjects; i++)
			check_object(i);
		check_edges();
		check_roots();
		heap_close(&made.maker, &dump, &heap);
	}
}
END_TEST

void heapscan_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, linear_scan, 0, MAKER_VARIANTS);
}
