/* Heap dumps with every kind of record, and one of the synthetic program. */
#include "tests/fuzz/target.h"
#include "tests/unit/dumpmaker.h"

/* Both frames are of a function that the program has, where it has it. */
static void make_of_program(struct maker *maker)
{
	maker_start(maker, MAKER_1_7, 8, false);
	maker_params(maker);
	maker_goroutine(maker, 0x9000, 1, 4, "select", 0);
	maker_frame(maker, 0x30000, 0, 0, "main.main");
	maker_frame(maker, 0x30010, 1, 0x30000, "main.main");
	maker_object(maker, 0x10000, 64);
	maker_end(maker);
}

uint8_t *fuzz_seed(int number, size_t *size)
{
	struct maker maker;
	if (number > MAKER_VARIANTS)
		return NULL;
	if (number == MAKER_VARIANTS)
		make_of_program(&maker);
	else
		maker_everything(&maker, number);
	*size = maker.size;
	return maker.data;
}
