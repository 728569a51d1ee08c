/* Two builds of one source: whether their code is the same, and where they have its variables. */
#ifndef GH_CODE_SAME_CODE_H
#define GH_CODE_SAME_CODE_H

#include "lib/elf/elf.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* A section without code that both load, in the first from START to before END, in the second from
 * TO to before TO_END. */
struct gh_moved_section {
	uint64_t start, end;
	uint64_t to, to_end;
	bool has_variables; /* it is writable, and not the linker's own */
};

/* What both refer to at one place of the same code: addresses in the first and in the second. */
struct gh_moved_place {
	uint64_t from, to;
};

struct gh_builds {
	const struct gh_image *first, *second; /* not owned; of one machine */
	struct GH_VECTOR(struct gh_moved_section) sections;
	/* The fields below are private. */
	struct GH_VECTOR(struct gh_moved_place) places; /* of variables */
	struct gh_numbermap there, back;                /* number of the place, by either address */
};

/* Adds the sections of FIRST and SECOND to BUILDS, which is to be freed with gh_builds_free in any
 * case. False if memory ran out. */
bool gh_builds_make(struct gh_builds *builds, const struct gh_image *first,
		    const struct gh_image *second);

/* Both have the same SIZE bytes of code at ADDRESS, which only refer to variables and constants
 * where each has them: on amd64 and arm64. A variable is where the code that was compared first has
 * it. On other machines code that refers to what has moved differs. */
bool gh_code_is_same(struct gh_builds *builds, uint64_t address, uint64_t size);

/* Once code has been compared, and before what follows. */
void gh_builds_settle(struct gh_builds *builds);

/* *TO is where the second build has what the first has at ADDRESS: as far from there as what the
 * code refers to before and behind that, or at the same address if it is in none of the sections.
 * False if that is not known. */
bool gh_moved_address(const struct gh_builds *builds, uint64_t address, uint64_t *to);

void gh_builds_free(struct gh_builds *builds);

#endif
