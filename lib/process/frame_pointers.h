/* Which words of a stack's frame hold pointers.
 *
 * The rules are those of dumpframe in src/runtime/heapdump.go. */
#ifndef GH_PROCESS_FRAME_POINTERS_H
#define GH_PROCESS_FRAME_POINTERS_H

#include "lib/process/stack.h"
#include "lib/util/buffer.h"

/* Adds to OUT, as fields of a heap dump without the mark that ends them, the words of FRAME that
 * hold pointers: the arguments of CHILD, the frame that it called (sp 0 for none), and its own
 * variables, by the stack maps of both. Where a frame stands anywhere in its code, or its function
 * has no maps, each word may be one. */
void gh_frame_pointers_add(struct gh_buffer *out, const struct gh_process *process,
			   const struct gh_stack_frame *frame, const struct gh_stack_frame *child);

#endif
