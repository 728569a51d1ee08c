#include "lib/process/as_dump.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"
#include "lib/process/stack.h"
#include "lib/process/waitreason.h"

static void add_text(struct gh_buffer *out, const char *text, size_t length)
{
	gh_buffer_uleb128(out, length);
	gh_buffer_bytes(out, text, length);
}

static void add_params(struct gh_buffer *out, const struct gh_process *process, const char *version)
{
	static const char header[] = "go1.7 heap dump\n";
	const struct gh_arch *arch = process->tab->image->arch;
	gh_buffer_bytes(out, header, strlen(header));
	gh_buffer_uleb128(out, GH_DUMP_PARAMS);
	gh_buffer_uleb128(out, arch->big_endian);
	gh_buffer_uleb128(out, arch->pointer_size);
	gh_buffer_uleb128(out, 0); /* bounds of the heap */
	gh_buffer_uleb128(out, 0);
	add_text(out, arch->goarch, strlen(arch->goarch));
	add_text(out, version, strlen(version));
	gh_buffer_uleb128(out, 0); /* CPUs */
}

/* The name of the function that starts at ENTRY; "" if none does. */
static const char *function_at(const struct gh_process *process, uint64_t entry)
{
	struct gh_func func;
	size_t index = gh_pclntab_find(process->tab, entry - process->bias);
	if (index == SIZE_MAX || !gh_pclntab_record(process->tab, index, &func, NULL))
		return "";
	return gh_pclntab_name(process->tab, func.name);
}

static bool is_one_of(const char *text, size_t length, const char *const *list)
{
	while (*list != NULL && (strlen(*list) != length || memcmp(*list, text, length) != 0))
		list++;
	return *list != NULL;
}

/* The runtime made the goroutine for itself (runtime.isSystemGoroutine). Those that run the user's
 * finalizers and cleanups are the user's but for when they wait for work. REASON is why it waits,
 * of LENGTH bytes. */
static bool is_system(const struct gh_process *process, const struct gh_goroutine *g,
		      const char *reason, size_t length)
{
	static const char *const users[] = {"runtime.main", "runtime.handleAsyncEvent",
					    "runtime.corostart", NULL};
	static const char *const mixed[] = {"runtime.runfinq", "runtime.runFinalizers",
					    "runtime.runCleanups", NULL};
	static const char *const idle[] = {"finalizer wait", "cleanup wait", NULL};
	const char *name = function_at(process, g->start_pc);
	size_t size = strlen(name);
	if (g->system)
		return true;
	if (strncmp(name, "runtime.", 8) != 0 || is_one_of(name, size, users))
		return false;
	return !is_one_of(name, size, mixed) ||
	       (g->status == GH_DUMP_WAITING && is_one_of(reason, length, idle));
}

static void add_goroutine(struct gh_buffer *out, const struct gh_process *process,
			  const struct gh_wait_reasons *reasons, const struct gh_goroutine *g)
{
	const char *reason;
	size_t length = gh_goroutine_reason(process, g, &reason);
	if (length == 0)
		reason = gh_wait_reason(reasons, g->wait_reason, &length);
	gh_buffer_uleb128(out, GH_DUMP_GOROUTINE);
	gh_buffer_uleb128(out, g->address);
	gh_buffer_uleb128(out, g->syscall_sp != 0 ? g->syscall_sp : g->sp);
	gh_buffer_uleb128(out, g->id);
	gh_buffer_uleb128(out, g->creator_pc);
	gh_buffer_uleb128(out, g->status);
	gh_buffer_uleb128(out, is_system(process, g, reason, length));
	gh_buffer_uleb128(out, 0); /* in the background */
	gh_buffer_uleb128(out, g->wait_since);
	add_text(out, reason, length);
	gh_buffer_uleb128(out, g->context);
	gh_buffer_uleb128(out, g->thread);
	gh_buffer_uleb128(out, g->top_defer);
	gh_buffer_uleb128(out, g->top_panic);
}

/* More than the arguments that the compiler tells of take, in bytes. */
#define MAX_ARGUMENTS 512

/* Adds SIZE bytes of memory; none if they cannot be read. */
static void add_memory(struct gh_buffer *out, struct gh_process *process, uint64_t address,
		       size_t size)
{
	uint8_t bytes[MAX_ARGUMENTS];
	if (size <= sizeof(bytes) && gh_process_read(&process->memory, address, bytes, size))
		add_text(out, (const char *)bytes, size);
	else
		gh_buffer_uleb128(out, 0);
}

/* The contents are what CHILD, the frame below, was called with; or the frame's return address, if
 * it is the last: by it debuggers know where the stack ends. */
static void add_frame(struct gh_buffer *out, struct gh_stack *stack,
		      const struct gh_stack_frame *frame, uint64_t depth,
		      const struct gh_stack_frame *child)
{
	gh_buffer_uleb128(out, GH_DUMP_FRAME);
	gh_buffer_uleb128(out, frame->sp);
	gh_buffer_uleb128(out, depth);
	gh_buffer_uleb128(out, child->sp);
	add_memory(out, stack->process, frame->sp,
		   stack->ended ? stack->process->tab->pointer_size : child->above);
	gh_buffer_uleb128(out, frame->entry);
	gh_buffer_uleb128(out, frame->pc);
	/* where it goes on after a panic */
	gh_buffer_uleb128(out, frame->interrupted ? GH_DUMP_INTERRUPTED : frame->pc);
	add_text(out, frame->name, strlen(frame->name));
	gh_buffer_uleb128(out, 0); /* the end of the fields */
}

/* Adds at most *LEFT frames, and takes them off. */
static void add_stack(struct gh_buffer *out, struct gh_stack *stack, const struct gh_goroutine *g,
		      uint64_t *left)
{
	struct gh_stack_frame frame;
	struct gh_stack_frame child = {0};
	gh_stack_start(stack, g);
	for (uint64_t depth = 0; *left > 0 && gh_stack_next(stack, &frame); depth++) {
		add_frame(out, stack, &frame, depth, &child);
		child = frame;
		--*left;
	}
}

static void add_all(struct gh_buffer *out, struct gh_goroutines *all, struct gh_process *process,
		    struct gh_stack *stack)
{
	struct gh_wait_reasons reasons = gh_wait_reasons_find(process->tab->image);
	/* Stacks do not overlap, unless to make work. */
	uint64_t frames = process->memory.source->size / process->tab->pointer_size;
	struct gh_goroutine g;
	while (!out->failed && gh_goroutines_next(all, process, &g)) {
		add_goroutine(out, process, &reasons, &g);
		add_stack(out, stack, &g, &frames);
	}
}

bool gh_snapshot_make(struct gh_buffer *out, struct gh_process *process, const char *version,
		      uint64_t *lost, struct gh_error *err)
{
	struct gh_goroutines all;
	struct gh_stack stack;
	if (!gh_goroutines_find(&all, process, err))
		return false;
	add_params(out, process, version);
	if (gh_stack_open(&stack, process))
		add_all(out, &all, process, &stack);
	else
		out->failed = true;
	gh_stack_free(&stack);
	gh_buffer_uleb128(out, GH_DUMP_EOF);
	*lost = all.lost;
	bool made = !out->failed && !all.failed;
	gh_goroutines_free(&all);
	return made || gh_fail_errno(err, process->tab->image->path, "list goroutines");
}
