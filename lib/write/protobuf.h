/* Protocol buffers, as far as a profile needs them:
 * https://protobuf.dev/programming-guides/encoding.
 */
#ifndef GH_WRITE_PROTOBUF_H
#define GH_WRITE_PROTOBUF_H

#include "lib/util/buffer.h"

/* Appends field FIELD to a message: an integer (a negative one as its two's complement). 0 is what
 * a field that is left out means: it is left out. */
void gh_protobuf_int(struct gh_buffer *message, unsigned field, uint64_t value);

/* Appends a string or a message, SIZE bytes at DATA. A string must be UTF-8. */
void gh_protobuf_bytes(struct gh_buffer *message, unsigned field, const void *data, size_t size);

/* Appends COUNT integers, packed. */
void gh_protobuf_ints(struct gh_buffer *message, unsigned field, const uint64_t *values,
		      size_t count);

#endif
