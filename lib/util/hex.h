/* Bytes as hexadecimal digits. */
#ifndef GH_UTIL_HEX_H
#define GH_UTIL_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the SIZE bytes at DATA to TEXT, of 2 * SIZE + 1 bytes, as two lower-case digits each, and
 * a NUL. */
static inline void gh_hex_text(char *text, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	*text = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

#endif
