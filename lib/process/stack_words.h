/* Which words of a goroutine's stack hold pointers.
 *
 * The rules are those of scanstack in src/runtime/mgcmark.go, and of dumpframe in
 * src/runtime/heapdump.go. */
#ifndef GH_PROCESS_STACK_WORDS_H
#define GH_PROCESS_STACK_WORDS_H

#include "lib/process/stack.h"
#include "lib/util/vector.h"

/* A variable in some frame whose address is taken. */
struct gh_stack_variable {
	uint64_t address;
	uint64_t size;     /* in bytes */
	uint64_t pointers; /* bytes up to its last pointer */
	uint64_t mask;     /* address in the program of a bit for each word; 0: any may be one */
	bool reached;      /* a pointer to it was met */
};

struct gh_stack_addresses GH_VECTOR(uint64_t);

struct gh_stack_words {
	struct gh_process *process;                     /* not owned */
	struct GH_VECTOR(struct gh_stack_frame) frames; /* callees first */
	struct gh_stack_addresses certain; /* of words that hold pointers; ascending, each once */
	struct gh_stack_addresses perhaps; /* of those that may: without those of frames that were
					      interrupted, each word of which may */
	struct GH_VECTOR(struct gh_stack_variable) variables; /* by address */
	struct GH_VECTOR(uint32_t) queue;                     /* of variables that were reached */
	size_t followed;                                      /* of the queue */
};

/* Pointers that a goroutine has beside its stack, and that may lead to variables in its frames. */
struct gh_stack_pointers {
	const uint64_t *certain; /* what it is to call, and has deferred; not owned */
	size_t ncertain;
	const uint64_t *perhaps; /* registers; not owned */
	size_t nperhaps;
};

/* Notes the frames of G, at most *LEFT, which are taken off it. WORDS were zeroed or used before.
 */
void gh_stack_words_walk(struct gh_stack_words *words, struct gh_stack *stack,
			 const struct gh_goroutine *g, uint64_t *left);

/* Finds the words of those frames that hold pointers, by the stack maps of their functions and by
 * what POINTERS, and they, lead to. Where a frame stands anywhere in its code, or its function has
 * no maps, each word may be one. */
void gh_stack_words_find(struct gh_stack_words *words, const struct gh_stack_pointers *pointers);

/* Where a frame's variables end, from its sp: before the return address and the caller's frame
 * pointer. */
uint64_t gh_stack_variables_end(const struct gh_process *process,
				const struct gh_stack_frame *frame);

/* Memory ran out. */
bool gh_stack_words_failed(const struct gh_stack_words *words);

void gh_stack_words_free(struct gh_stack_words *words);

#endif
