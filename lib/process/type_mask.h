/* Which words of a value of a type hold pointers, by the type's descriptor in a process.
 *
 * Sources: type Type in src/internal/abi/type.go, getGCMask and buildGCMask in src/runtime/type.go.
 */
#ifndef GH_PROCESS_TYPE_MASK_H
#define GH_PROCESS_TYPE_MASK_H

#include "lib/process/process.h"
#include "lib/util/vector.h"

struct gh_type_mask {
	uint64_t size;     /* of a value, in bytes */
	uint64_t pointers; /* bytes up to the last pointer */
	uint64_t mask;     /* address of a bit for each word up to there; 0 if it is not
			      known, or made */
	struct GH_VECTOR(uint8_t) made; /* those bits, of a type for which the process has not made
					   them yet; owned */
};

/* Reads the type at ADDRESS of PROCESS, one that has pointers. TYPE has no mask if there is none,
 * or memory ran out: then type->made has failed. */
void gh_type_mask_read(struct gh_type_mask *type, struct gh_process *process, uint64_t address);

/* Reads SIZE bytes of TYPE's mask, from byte FROM on. False if they are not there. */
bool gh_type_mask_bytes(const struct gh_type_mask *type, struct gh_process *process, uint64_t from,
			uint8_t *bytes, size_t size);

#endif
