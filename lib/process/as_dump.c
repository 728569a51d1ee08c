#include "lib/process/as_dump.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"
#include "lib/process/dump_profile.h"
#include "lib/process/dump_roots.h"
#include "lib/process/frame_pointers.h"
#include "lib/process/stack.h"
#include "lib/process/waitreason.h"

static void add_text(struct gh_buffer *out, const char *text, size_t length)
{
	gh_buffer_uleb128(out, length);
	gh_buffer_bytes(out, text, length);
}

/* START and END bound the heap. */
static void add_params(struct gh_buffer *out, const struct gh_process *process, const char *version,
		       uint64_t start, uint64_t end)
{
	static const char header[] = "go1.7 heap dump\n";
	const struct gh_arch *arch = process->tab->image->arch;
	gh_buffer_bytes(out, header, strlen(header));
	gh_buffer_uleb128(out, GH_DUMP_PARAMS);
	gh_buffer_uleb128(out, arch->big_endian);
	gh_buffer_uleb128(out, arch->pointer_size);
	gh_buffer_uleb128(out, start);
	gh_buffer_uleb128(out, end);
	add_text(out, arch->goarch, strlen(arch->goarch));
	add_text(out, version, strlen(version));
	gh_buffer_uleb128(out, GH_DUMP_FROM_OUTSIDE); /* CPUs */
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

/* Adds the contents of FRAME. Without the heap they are what CHILD, the frame below, was called
 * with; or the frame's return address, if it is the last: by it debuggers know where the stack
 * ends. */
static void add_contents(struct gh_dump_stream *stream, struct gh_stack *stack,
			 const struct gh_stack_frame *frame, const struct gh_stack_frame *child,
			 bool whole)
{
	if (!whole)
		add_memory(&stream->bytes, stack->process, frame->sp,
			   stack->ended ? stack->process->tab->pointer_size : child->above);
	else if (!gh_dump_stream_memory(stream, stack->process, frame->sp, frame->end - frame->sp))
		gh_buffer_uleb128(&stream->bytes, 0);
}

static void add_frame(struct gh_dump_stream *stream, struct gh_stack *stack,
		      const struct gh_stack_frame *frame, uint64_t depth,
		      const struct gh_stack_frame *child, bool whole)
{
	struct gh_buffer *out = &stream->bytes;
	gh_buffer_uleb128(out, GH_DUMP_FRAME);
	gh_buffer_uleb128(out, frame->sp);
	gh_buffer_uleb128(out, depth);
	gh_buffer_uleb128(out, child->sp);
	add_contents(stream, stack, frame, child, whole);
	gh_buffer_uleb128(out, frame->entry);
	gh_buffer_uleb128(out, frame->pc);
	/* where it goes on after a panic */
	gh_buffer_uleb128(out, frame->interrupted ? GH_DUMP_INTERRUPTED : frame->pc);
	add_text(out, frame->name, strlen(frame->name));
	if (whole)
		gh_frame_pointers_add(out, stack->process, frame, child);
	gh_buffer_uleb128(out, 0); /* the end of the fields */
	gh_dump_stream_pass(stream);
}

/* Adds at most *LEFT frames, and takes them off. */
static void add_stack(struct gh_dump_stream *stream, struct gh_stack *stack,
		      const struct gh_goroutine *g, uint64_t *left, bool whole)
{
	struct gh_stack_frame frame;
	struct gh_stack_frame child = {0};
	gh_stack_start(stack, g);
	for (uint64_t depth = 0; *left > 0 && gh_stack_next(stack, &frame); depth++) {
		add_frame(stream, stack, &frame, depth, &child, whole);
		child = frame;
		--*left;
	}
}

static void add_ties(struct gh_buffer *out, const struct gh_goroutines *all,
		     const struct gh_stack *stack, const struct gh_goroutine *g)
{
	struct gh_process *process = stack->process;
	struct gh_dump_ties ties = {
	    .creator = g->creator_id,
	    .locked = g->locked,
	    .selected =
		process->selected && gh_goroutine_is_on(all, process, g, stack->selected.sp),
	};
	gh_buffer_bytes(out, &ties, sizeof(ties));
}

static void add_all(struct gh_dump_stream *stream, struct gh_buffer *ties,
		    struct gh_goroutines *all, struct gh_process *process, struct gh_stack *stack)
{
	struct gh_wait_reasons reasons = gh_wait_reasons_find(process->tab->image);
	/* Stacks do not overlap, unless to make work. */
	uint64_t frames = process->memory.source->size / process->tab->pointer_size;
	struct gh_goroutine g;
	while (!stream->bytes.failed && gh_goroutines_next(all, process, &g)) {
		add_goroutine(&stream->bytes, process, &reasons, &g);
		add_stack(stream, stack, &g, &frames, ties == NULL);
		if (ties != NULL)
			add_ties(ties, all, stack, &g);
	}
}

/* Adds the goroutines without the contents of their frames, and what else is known of them to
 * TIES; with the contents if that is NULL. *LOST is how many were left out. False if memory ran
 * out. */
static bool add_goroutines(struct gh_dump_stream *stream, struct gh_buffer *ties,
			   struct gh_goroutines *all, struct gh_process *process, uint64_t *lost)
{
	struct gh_stack stack;
	bool opened = gh_stack_open(&stack, process);
	if (opened)
		add_all(stream, ties, all, process, &stack);
	gh_stack_free(&stack);
	*lost = all->lost;
	return opened && !all->failed && (ties == NULL || !ties->failed);
}

bool gh_snapshot_make(struct gh_buffer *out, struct gh_buffer *ties, struct gh_process *process,
		      const char *version, uint64_t *lost, struct gh_error *err)
{
	struct gh_goroutines all;
	struct gh_dump_stream stream = gh_dump_stream_make(process, -1);
	if (!gh_goroutines_find(&all, process, err))
		return false;
	add_params(&stream.bytes, process, version, 0, 0);
	bool made = add_goroutines(&stream, ties, &all, process, lost);
	gh_buffer_uleb128(&stream.bytes, GH_DUMP_EOF);
	made = gh_dump_stream_end(&stream) && made;
	gh_goroutines_free(&all);
	*out = stream.bytes;
	return made || gh_fail_errno(err, process->tab->image->path, "list goroutines");
}

/* What a dump of the heap is made of. */
struct maker {
	struct gh_process *process;
	struct gh_dump_stream stream;
	struct gh_rtypes rtypes;
	struct gh_dump_types types;
	struct gh_spans spans;
	struct gh_span_pointers pointers;
	struct gh_goroutines goroutines;
	struct gh_dump_totals totals;
};

/* The arenas that have the spans, which are the bounds of the heap. */
static void add_heap_params(struct maker *maker, const char *version)
{
	const struct gh_span *items = maker->spans.list.items;
	size_t count = maker->spans.list.count;
	uint64_t arena = gh_heap_arena_size(maker->process);
	uint64_t start = 0, end = 0;
	if (count > 0) {
		start = items[0].start - items[0].start % arena;
		end = items[count - 1].start + items[count - 1].size - 1;
		end += arena - end % arena;
	}
	add_params(&maker->stream.bytes, maker->process, version, start, end);
}

/* Finds all that is to be read. */
static bool find_all(struct maker *maker, struct gh_error *err)
{
	struct gh_process *process = maker->process;
	if (!gh_goroutines_find(&maker->goroutines, process, err) ||
	    !gh_rtypes_find(&maker->rtypes, process->tab, err) ||
	    !gh_spans_find(&maker->spans, process, &maker->rtypes, err) ||
	    !gh_span_pointers_open(&maker->pointers, &maker->spans, process, err))
		return false;
	maker->types.types = &maker->rtypes;
	return true;
}

/* Writes the records in the order in which the runtime does. */
static bool write_all(struct maker *maker, const char *version, struct gh_heap_losses *losses)
{
	struct gh_process *process = maker->process;
	struct gh_dump_stream *stream = &maker->stream;
	add_heap_params(maker, version);
	gh_dump_add_itabs(stream, process, &maker->types);
	gh_dump_add_objects(stream, &maker->pointers, &maker->totals);
	bool listed =
	    add_goroutines(stream, NULL, &maker->goroutines, process, &losses->goroutines);
	bool masks = gh_dump_add_globals(stream, process);
	gh_dump_add_specials(stream, process, &maker->spans, &maker->types);
	gh_dump_add_queued(stream, process, &maker->types);
	gh_dump_add_memstats(stream, &maker->spans, &maker->totals);
	bool profile = gh_dump_add_profile(stream, process, &maker->spans);
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_EOF);
	losses->spans = maker->spans.lost;
	losses->objects = maker->totals.skipped;
	losses->bytes = stream->missing;
	losses->untyped = maker->pointers.unknown;
	losses->variables = !masks;
	return gh_dump_stream_end(stream) && listed && profile && !maker->types.failed &&
	       !maker->pointers.failed;
}

bool gh_heap_dump_write(int fd, const char *path, struct gh_process *process, const char *version,
			struct gh_heap_losses *losses, struct gh_error *err)
{
	struct maker maker = {.process = process, .stream = gh_dump_stream_make(process, fd)};
	*losses = (struct gh_heap_losses){0};
	bool found = find_all(&maker, err);
	bool written = found && write_all(&maker, version, losses);
	if (found && !written && maker.stream.failed)
		gh_fail_errno(err, path, "write");
	else if (found && !written)
		gh_fail_memory(err, path);
	gh_goroutines_free(&maker.goroutines);
	gh_span_pointers_free(&maker.pointers);
	gh_spans_free(&maker.spans);
	gh_numbermap_free(&maker.types.written);
	gh_rtypes_free(&maker.rtypes);
	gh_buffer_free(&maker.stream.bytes);
	return written;
}
