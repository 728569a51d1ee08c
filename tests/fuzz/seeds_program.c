#include "tests/fuzz/target.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/typemaker.h"

/* Program NUMBER of those of each format, word size and byte order, with section headers and
 * without. */
static struct synthetic variant(int number)
{
	return (struct synthetic){
	    .format = (enum synthetic_format)(number / 8),
	    .word = number & 1 ? 4 : 8,
	    .big_endian = number & 2,
	    .sections = number & 4,
	};
}

/* First those programs, then those with types, then those of the formats before Go 1.2 without
 * files. */
uint8_t *fuzz_seed(int number, size_t *size)
{
	struct synthetic what;
	if (number < SYNTHETIC_ALL_FORMATS * 8) {
		what = variant(number);
		return synthetic_make(&what, size, NULL);
	}
	number -= SYNTHETIC_ALL_FORMATS * 8;
	if (number < SYNTHETIC_FORMATS * 8) {
		what = variant(number);
		return typemaker_make(&what, size, NULL);
	}
	number -= SYNTHETIC_FORMATS * 8;
	if (number >= SYNTHETIC_ALL_FORMATS - SYNTHETIC_FORMATS)
		return NULL;
	what = (struct synthetic){
	    .format = (enum synthetic_format)(SYNTHETIC_FORMATS + number),
	    .word = 8,
	    .sections = true,
	    .no_files = true,
	};
	return synthetic_make(&what, size, NULL);
}
