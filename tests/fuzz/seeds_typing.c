/* Heap dumps of the synthetic program with types, whose objects are of these; and one of each
 * format. */
#include <stdlib.h>

#include "tests/fuzz/target.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/typemaker.h"

#define HEAP UINT64_C(0x10000)

/* An object of COUNT words, of which those at 1 and 2 are pointers. */
static void put_object(struct maker *maker, unsigned number, unsigned count, const uint64_t *words)
{
	maker_numbers(maker, 2, (const uint64_t[]){1, HEAP + 0x100 * number});
	maker_words(maker, count, words);
	maker_numbers(maker, 5, (const uint64_t[]){1, 8, 1, 16, 0});
}

static void make_typed(struct maker *maker)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8};
	struct typemaker_places places;
	size_t size;
	free(typemaker_make(&what, &size, &places));
	uint64_t types = TYPES_ADDRESS - TYPES_OFFSET;
	uint64_t node = types + places.types[TYPE_NODE];
	uint64_t pointer = types + places.types[TYPE_POINTER];
	maker_start(maker, MAKER_1_7, 8, false);
	maker_params(maker);
	put_object(maker, 0, 6, (const uint64_t[6]){1, HEAP + 0x100, HEAP + 0x200, 2, 2});
	put_object(maker, 1, 6, (const uint64_t[6]){2, HEAP, HEAP + 0x210, 1, 1});
	put_object(maker, 2, 4, (const uint64_t[4]){3, HEAP + 0x300, HEAP + 0x308, 5});
	maker_object(maker, HEAP + 0x300, 32);
	maker_numbers(maker, 3, (const uint64_t[]){3, 0x7000, 48});
	maker_text(maker, "main.Dumped");
	maker_numbers(maker, 4, (const uint64_t[]){1, 8, 0x6000, pointer});
	maker_numbers(maker, 2, (const uint64_t[]){12, 0x8000});
	maker_words(maker, 6, (const uint64_t[6]){0x6000, HEAP, node, HEAP + 0x100, 0x7000, HEAP});
	maker_numbers(maker, 7, (const uint64_t[]){1, 8, 1, 24, 1, 40, 0});
	maker_end(maker);
}

uint8_t *fuzz_seed(int number, size_t *size)
{
	struct maker maker;
	if (number > MAKER_FORMATS)
		return NULL;
	if (number == MAKER_FORMATS)
		make_typed(&maker);
	else
		maker_everything(&maker, 4 * number);
	*size = maker.size;
	return maker.data;
}
