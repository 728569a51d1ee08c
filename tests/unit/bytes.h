/* Integers in the files and the memory that tests make, in either byte order. It shares no code
 * with the readers. */
#ifndef TESTS_UNIT_BYTES_H
#define TESTS_UNIT_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Writes the SIZE low bytes of VALUE, up to 8. */
static inline void bytes_store(uint8_t *to, uint64_t value, unsigned size, bool big_endian)
{
	for (unsigned i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * (big_endian ? size - 1 - i : i));
}

/* The integer of SIZE bytes, up to 8. */
static inline uint64_t bytes_load(const uint8_t *from, unsigned size, bool big_endian)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)from[i] << 8 * (big_endian ? size - 1 - i : i);
	return value;
}

#endif
