/* Heap dumps with every kind of record. */
#include "tests/fuzz/target.h"
#include "tests/unit/dumpmaker.h"

uint8_t *fuzz_seed(int number, size_t *size)
{
	if (number >= MAKER_VARIANTS)
		return NULL;
	struct maker maker;
	maker_everything(&maker, number);
	*size = maker.size;
	return maker.data;
}
