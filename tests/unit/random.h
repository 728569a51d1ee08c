/* Numbers that look random and are the same in every run. */
#ifndef TESTS_UNIT_RANDOM_H
#define TESTS_UNIT_RANDOM_H

#include <stdint.h>

/* The next number: Marsaglia's xorshift. Each file that includes this has a sequence of its own. */
static inline uint32_t next_random(void)
{
	static uint32_t state = 1;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

#endif
