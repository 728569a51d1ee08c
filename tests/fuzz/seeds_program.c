/* Synthetic programs, without types and with. */
#include "tests/fuzz/target.h"
#include "tests/unit/typemaker.h"

uint8_t *fuzz_seed(int number, size_t *size)
{
	bool types = number >= SYNTHETIC_ALL_FORMATS * 8;
	if (types)
		number -= SYNTHETIC_ALL_FORMATS * 8;
	if (number >= SYNTHETIC_FORMATS * 8 && (types || number >= SYNTHETIC_ALL_FORMATS * 8))
		return NULL;
	struct synthetic what = {
	    .format = (enum synthetic_format)(number / 8),
	    .word = number & 1 ? 4 : 8,
	    .big_endian = number & 2,
	    .sections = number & 4,
	};
	return types ? typemaker_make(&what, size, NULL) : synthetic_make(&what, size, NULL);
}
