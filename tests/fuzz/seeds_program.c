/* Synthetic programs. */
#include "tests/fuzz/target.h"
#include "tests/unit/synthetic.h"

uint8_t *fuzz_seed(int number, size_t *size)
{
	if (number >= SYNTHETIC_FORMATS * 8)
		return NULL;
	struct synthetic what = {
	    .format = (enum synthetic_format)(number / 8),
	    .word = number & 1 ? 4 : 8,
	    .big_endian = number & 2,
	    .sections = number & 4,
	};
	return synthetic_make(&what, size, NULL);
}
