#include "lib/util/vector.h"

#include <stdint.h>

/* Items allocated the first time, in bytes: less is not worth a call. */
#define FIRST_SIZE 256

/* Doubling keeps the cost of each item constant. */
void *gh_vector_resize(void *items, size_t size, size_t count, size_t more, size_t *capacity)
{
	size_t needed;
	if (__builtin_add_overflow(count, more, &needed))
		return NULL;
	size_t room = *capacity > 0 ? *capacity : (FIRST_SIZE + size - 1) / size;
	while (room < needed)
		if (__builtin_mul_overflow(room, 2, &room))
			return NULL;
	void *larger = reallocarray(items, room, size);
	if (larger != NULL)
		*capacity = room;
	return larger;
}
