#include "lib/write/prologue.h"

#include "lib/pclntab/pcvalue.h"

/* The longest stack check, in bytes: the code that leads up to the first push or subtraction. A
 * stack delta that changes later is something else: an assembly function's call, say. The longest
 * seen is that of a huge frame on a machine whose constants take several instructions. */
#define MAX_CHECK 128

/* The frame is set up in one go or, on amd64 from Go 1.21 on, by a push of the frame pointer, a
 * move and a subtraction: at most these many bytes after the push. */
#define MAX_SECOND_STEP 16

uint64_t gh_prologue_end(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, tab, func, func->pcsp);
	uint64_t end = func->entry;
	uint64_t limit = func->entry + MAX_CHECK;
	int32_t delta = 0;
	while (gh_pcvalue_next(&walk) && walk.start < func->end) {
		if (walk.value < delta || walk.start > limit)
			break;
		if (walk.value > delta) {
			delta = walk.value;
			end = walk.start;
			limit = end + MAX_SECOND_STEP;
		}
	}
	return end;
}
