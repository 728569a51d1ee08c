#include "lib/process/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/dump/dump.h"
#include "lib/process/dump_parts.h"
#include "lib/process/internal.h"
#include "lib/util/bsearch.h"

/* Bytes of a deferred call's arguments, unless to make work. */
#define MAX_DEFER_ARGUMENTS 4096

/* No record of a defer or a panic is smaller, in bytes. */
#define LEAST_RECORD 16

/* A deferred call. */
struct deferred {
	uint64_t address; /* of its record */
	struct gh_defer defer;
};

/* What the goroutines are written with. */
struct writer {
	struct gh_dump_stream *stream; /* not owned, as the next */
	struct gh_dump_section *section;
	struct gh_process *process;   /* not owned */
	const struct gh_spans *spans; /* not owned; NULL: without the contents of frames */
	const struct gh_c_memory *c;  /* not owned; may have no blocks; NULL as SPANS is */
	struct gh_dump_types *types;  /* those that have records; not owned */
	struct gh_dump_types own;     /* the same, if nobody gave them: from the first panic on */
	struct gh_rtypes rtypes;      /* the program's, likewise; owned */
	struct gh_stack stack;
	struct gh_c_stacks c_stacks;
	struct gh_stack_words words;
	struct GH_VECTOR(struct deferred) defers; /* of the goroutine, the last first; owned */
	struct gh_stack_addresses known;          /* of the goroutine: pointers it has beside its
						     stack; owned */
	struct gh_stack_addresses registers;      /* of the goroutine; owned */
	uint64_t left; /* records of defers and panics that may still be read, of all goroutines:
			  their lists do not meet, unless to make work */
};

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
	const char *name = gh_process_function(process, g->start_pc);
	size_t size = strlen(name);
	if (g->system)
		return true;
	if (strncmp(name, "runtime.", 8) != 0 || is_one_of(name, size, users))
		return false;
	return !is_one_of(name, size, mixed) ||
	       (g->status == GH_DUMP_WAITING && is_one_of(reason, length, idle));
}

/* The reason why G waits, of *LENGTH bytes. */
static const char *find_reason(const struct gh_process *process,
			       const struct gh_wait_reasons *reasons, const struct gh_goroutine *g,
			       size_t *length)
{
	const char *reason;
	*length = gh_goroutine_reason(process, g, &reason);
	return *length > 0 ? reason : gh_wait_reason(reasons, g->wait_reason, length);
}

bool gh_live_count_goroutines(uint64_t *count, int pid, const struct gh_pclntab *tab, int minor)
{
	struct gh_error err;
	struct gh_goroutines all;
	struct gh_goroutine g;
	size_t length;
	const struct gh_memory memory = gh_live_memory(&pid);
	const struct gh_image *image = tab->image;
	struct gh_wait_reasons reasons = gh_wait_reasons_find(image);
	uint64_t entry = gh_live_entry(pid, image->arch);
	struct gh_process process = gh_live_process(&memory, tab, minor, entry);
	*count = 0;
	bool found = entry != 0 && gh_goroutines_find(&all, &process, &err);
	while (found && gh_goroutines_next(&all, &process, &g)) {
		const char *reason = find_reason(&process, &reasons, &g, &length);
		*count += !is_system(&process, &g, reason, length);
	}
	if (found)
		gh_goroutines_free(&all);
	gh_process_memory_free(&process.memory);
	return found && *count > 0;
}

static void add_goroutine(struct gh_dump_stream *stream, const struct gh_process *process,
			  const struct gh_wait_reasons *reasons, const struct gh_goroutine *g)
{
	struct gh_buffer *out = &stream->bytes;
	size_t length;
	const char *reason = find_reason(process, reasons, g, &length);
	gh_buffer_uleb128(out, GH_DUMP_GOROUTINE);
	gh_buffer_uleb128(out, g->address);
	gh_buffer_uleb128(out, g->syscall_sp != 0 ? g->syscall_sp : g->sp);
	gh_buffer_uleb128(out, g->id);
	gh_buffer_uleb128(out, g->creator_pc);
	gh_buffer_uleb128(out, g->status == GH_G_LEAKED ? GH_DUMP_WAITING : g->status);
	gh_buffer_uleb128(out, is_system(process, g, reason, length));
	gh_buffer_uleb128(out, 0); /* in the background */
	gh_buffer_uleb128(out, g->wait_since);
	/* As the runtime prints it (goroutineheader in src/runtime/traceback.go). */
	const char *leaked = g->status == GH_G_LEAKED ? " (leaked)" : "";
	gh_buffer_uleb128(out, length + strlen(leaked));
	gh_buffer_bytes(out, reason, length);
	gh_buffer_bytes(out, leaked, strlen(leaked));
	gh_buffer_uleb128(out, g->context);
	gh_buffer_uleb128(out, g->thread);
	gh_buffer_uleb128(out, g->top_defer);
	gh_buffer_uleb128(out, g->top_panic);
}

/* More than the arguments that the compiler tells of take, in bytes. */
#define MAX_ARGUMENTS 512

/* Adds SIZE bytes of memory; none if they cannot be read. */
static void add_memory(struct writer *writer, uint64_t address, size_t size)
{
	uint8_t bytes[MAX_ARGUMENTS];
	if (size > sizeof(bytes) ||
	    !gh_process_read(&writer->process->memory, address, bytes, size))
		size = 0;
	gh_dump_stream_text(writer->stream, (const char *)bytes, size);
}

/* Adds the contents of FRAME. Without the heap they are what CHILD, the frame below, was called
 * with; or the frame's return address, if it is the last: by it debuggers know where the stack
 * ends. */
static void add_contents(struct writer *writer, const struct gh_stack_frame *frame,
			 const struct gh_stack_frame *child, bool last)
{
	struct gh_process *process = writer->process;
	bool ends = last && writer->stack.ended;
	if (writer->spans == NULL)
		add_memory(writer, frame->sp, ends ? process->tab->pointer_size : child->above);
	else if (!gh_dump_stream_memory(writer->stream, process, frame->sp, frame->end - frame->sp))
		gh_buffer_uleb128(&writer->stream->bytes, 0);
}

static void add_field(struct gh_buffer *out, uint64_t offset)
{
	gh_buffer_uleb128(out, GH_FIELD_POINTER + 1);
	gh_buffer_uleb128(out, offset);
}

/* Adds the words of FRAME that hold pointers; each that may, where it was interrupted. */
static void add_fields(struct writer *writer, const struct gh_stack_frame *frame)
{
	struct gh_buffer *out = &writer->stream->bytes;
	const uint64_t *words = writer->words.certain.items;
	size_t count = writer->words.certain.count;
	unsigned word = writer->process->tab->pointer_size;
	uint64_t end = gh_stack_variables_end(writer->process, frame);
	for (uint64_t at = 0; frame->interrupted && at < end && end - at >= word; at += word)
		add_field(out, at);
	if (frame->interrupted)
		return;
	size_t i = gh_lower_bound(count, k, words[k] < frame->sp);
	for (; i < count && words[i] < frame->end; i++)
		add_field(out, words[i] - frame->sp);
}

static void add_frame(struct writer *writer, size_t depth)
{
	static const struct gh_stack_frame none;
	const struct gh_stack_frame *frames = writer->words.frames.items;
	const struct gh_stack_frame *frame = &frames[depth];
	const struct gh_stack_frame *child = depth > 0 ? &frames[depth - 1] : &none;
	struct gh_buffer *out = &writer->stream->bytes;
	gh_buffer_uleb128(out, GH_DUMP_FRAME);
	gh_buffer_uleb128(out, frame->sp);
	gh_buffer_uleb128(out, depth);
	gh_buffer_uleb128(out, child->sp);
	add_contents(writer, frame, child, depth + 1 == writer->words.frames.count);
	gh_buffer_uleb128(out, frame->entry);
	gh_buffer_uleb128(out, frame->pc);
	/* where it goes on after a panic */
	gh_buffer_uleb128(out, frame->interrupted ? GH_DUMP_INTERRUPTED : frame->pc);
	gh_dump_stream_text(writer->stream, frame->name, strlen(frame->name));
	if (writer->spans != NULL)
		add_fields(writer, frame);
	gh_buffer_uleb128(out, 0); /* the end of the fields */
	gh_dump_stream_pass(writer->stream);
}

/* The code that CLOSURE calls; 0 if there is none. */
static uint64_t entry_of(struct gh_process *process, uint64_t closure)
{
	return closure != 0 ? gh_process_constant_pointer(process, closure) : 0;
}

/* Reads what G has deferred. */
static void read_defers(struct writer *writer, const struct gh_goroutine *g)
{
	struct deferred item = {.address = g->top_defer};
	writer->defers.count = 0;
	for (; item.address != 0 && writer->left > 0; writer->left--) {
		if (!gh_defer_record_read(writer->process, item.address, &item.defer))
			break;
		gh_vector_push(&writer->defers, item);
		item.address = item.defer.next;
	}
}

static void add_defers(struct writer *writer, const struct gh_goroutine *g)
{
	struct gh_buffer *out = &writer->stream->bytes;
	for (size_t i = 0; i < writer->defers.count; i++) {
		const struct gh_defer *defer = &writer->defers.items[i].defer;
		gh_buffer_uleb128(out, GH_DUMP_DEFER);
		gh_buffer_uleb128(out, writer->defers.items[i].address);
		gh_buffer_uleb128(out, g->address);
		gh_buffer_uleb128(out, defer->sp);
		gh_buffer_uleb128(out, defer->pc);
		gh_buffer_uleb128(out, defer->closure);
		gh_buffer_uleb128(out, entry_of(writer->process, defer->closure));
		gh_buffer_uleb128(out, defer->next);
		gh_dump_stream_pass(writer->stream);
	}
}

static void add_panics(struct writer *writer, const struct gh_goroutine *g)
{
	struct gh_buffer *out = &writer->stream->bytes;
	uint64_t at = g->top_panic;
	struct gh_panic panic;
	struct gh_error err;
	if (at != 0 && writer->types->types == NULL &&
	    gh_process_types(&writer->rtypes, writer->process, &err))
		writer->types->types = &writer->rtypes;
	for (; at != 0 && writer->left > 0; writer->left--, at = panic.next) {
		if (!gh_panic_record_read(writer->process, at, &panic))
			break;
		if (writer->types->types != NULL)
			gh_dump_add_type(writer->stream, writer->process, writer->types,
					 panic.type);
		gh_dump_section_panic(writer->section, writer->process, writer->types->types,
				      &panic);
		gh_buffer_uleb128(out, GH_DUMP_PANIC);
		gh_buffer_uleb128(out, at);
		gh_buffer_uleb128(out, g->address);
		gh_buffer_uleb128(out, panic.type);
		gh_buffer_uleb128(out, panic.data);
		gh_buffer_uleb128(out, 0); /* the defer that runs because of it */
		gh_buffer_uleb128(out, panic.next);
		gh_dump_stream_pass(writer->stream);
	}
}

/* Adds a root of G, CERTAIN or perhaps one, if POINTER leads to an object. */
static void add_root(struct writer *writer, const struct gh_goroutine *g, const char *what,
		     uint64_t pointer, bool certain)
{
	struct gh_buffer *out = &writer->stream->bytes;
	char text[80];
	if (!gh_spans_have(writer->spans, pointer) && gh_c_memory_at(writer->c, pointer) == NULL)
		return;
	int length = snprintf(text, sizeof(text), "%s of goroutine %" PRIu64 "%s", what, g->id,
			      certain ? "" : GH_DUMP_PERHAPS);
	gh_buffer_uleb128(out, GH_DUMP_OTHER_ROOT);
	gh_dump_stream_text(writer->stream, text, (size_t)length);
	gh_buffer_uleb128(out, pointer);
	gh_dump_stream_pass(writer->stream);
}

/* Adds what may be pointers in the arguments of deferred calls. */
static void add_deferred_arguments(struct writer *writer, const struct gh_goroutine *g)
{
	unsigned word = writer->process->tab->pointer_size;
	uint64_t value;
	for (size_t i = 0; i < writer->defers.count; i++) {
		const struct gh_defer *defer = &writer->defers.items[i].defer;
		for (uint64_t done = 0; done + word <= defer->size && done < MAX_DEFER_ARGUMENTS;
		     done += word)
			if (gh_process_uint(&writer->process->memory, defer->arguments + done, word,
					    &value))
				add_root(writer, g, "deferred call", value, false);
	}
}

/* Adds what may be pointers in frames that were not interrupted, and in registers. */
static void add_perhaps(struct writer *writer, const struct gh_goroutine *g)
{
	const struct gh_stack_addresses *perhaps = &writer->words.perhaps;
	unsigned word = writer->process->tab->pointer_size;
	uint64_t value;
	for (size_t i = 0; i < perhaps->count; i++)
		if (gh_process_uint(&writer->process->memory, perhaps->items[i], word, &value))
			add_root(writer, g, "stack", value, false);
	for (size_t i = 0; i < writer->registers.count; i++)
		add_root(writer, g, "register", writer->registers.items[i], false);
}

/* Adds the addresses of C's blocks in FRAME that are no pointers for Go: they may be left of
 * something. */
static void add_c_words(struct writer *writer, const struct gh_goroutine *g,
			const struct gh_stack_frame *frame)
{
	const uint64_t *certain = writer->words.certain.items;
	size_t count = writer->words.certain.count;
	unsigned word = writer->process->tab->pointer_size;
	size_t i = gh_lower_bound(count, k, certain[k] < frame->sp);
	for (uint64_t at = frame->sp; at < frame->end; at += word) {
		uint64_t value = gh_process_word(writer->process, at);
		while (i < count && certain[i] < at)
			i++;
		const struct gh_c_block *block =
		    i < count && certain[i] == at ? NULL : gh_c_memory_at(writer->c, value);
		if (block != NULL && gh_c_block_is_named(block, value))
			add_root(writer, g, "stack", value, false);
	}
}

/* Adds the arguments, to Go 1.16 on the stack, of the function that G began with: they are above
 * the last frame. */
static void add_first_arguments(struct writer *writer, const struct gh_goroutine *g)
{
	const struct gh_stack_addresses *certain = &writer->words.certain;
	const struct gh_stack_frame *frames = writer->words.frames.items;
	size_t depth = writer->words.frames.count;
	uint64_t value;
	if (depth == 0)
		return;
	for (size_t i = certain->count; i-- > 0 && certain->items[i] >= frames[depth - 1].end;)
		if (gh_process_uint(&writer->process->memory, certain->items[i],
				    writer->process->tab->pointer_size, &value))
			add_root(writer, g, "arguments", value, true);
}

/* Each word of those may be a pointer: one never has parts in two registers. */
static void read_vectors(struct writer *writer, const struct gh_registers *registers)
{
	unsigned word = writer->process->tab->pointer_size;
	struct gh_cursor cur =
	    gh_cursor_make(registers->vectors, registers->vectors_size, "vector registers", 0,
			   writer->process->memory.big_endian);
	while (gh_cursor_left(&cur) >= word)
		gh_vector_push(&writer->registers, gh_cursor_uint(&cur, word));
}

/* Notes the registers of G: of its thread if it runs, and the vector registers that are kept for it
 * if it was preempted anywhere. Those that it has on its stack are in a frame. */
static void read_registers(struct writer *writer, const struct gh_goroutine *g)
{
	const struct gh_registers *registers = gh_stack_registers(&writer->stack, g);
	const struct gh_pclntab *tab = writer->process->tab;
	uint64_t size = g->vectors != 0 ? tab->image->arch->vectors_size : 0;
	uint64_t value;
	writer->registers.count = 0;
	for (unsigned i = 0; registers != NULL && i < registers->count; i++)
		gh_vector_push(&writer->registers, registers->values[i]);
	if (registers != NULL)
		read_vectors(writer, registers);
	for (uint64_t at = 0; at < size; at += tab->pointer_size)
		if (gh_process_uint(&writer->process->memory, g->vectors + at, tab->pointer_size,
				    &value))
			gh_vector_push(&writer->registers, value);
}

/* Finds which words of the stack of G are pointers. */
static void find_words(struct writer *writer, const struct gh_goroutine *g)
{
	struct gh_stack_addresses *known = &writer->known;
	known->count = 0;
	gh_vector_push(known, g->context);
	gh_vector_push(known, g->top_panic);
	for (size_t i = 0; i < writer->defers.count; i++) {
		gh_vector_push(known, writer->defers.items[i].address);
		gh_vector_push(known, writer->defers.items[i].defer.closure);
	}
	struct gh_stack_pointers pointers = {.certain = known->items,
					     .ncertain = known->count,
					     .perhaps = writer->registers.items,
					     .nperhaps = writer->registers.count};
	gh_stack_words_find(&writer->words, &pointers);
}

/* The frames that were found of G are all that it has. One that runs where its thread is on another
 * stack has them where systemstack has left it; else they may be old, as in a call of the vDSO. */
static bool has_all_frames(const struct writer *writer, const struct gh_goroutine *g)
{
	bool strays = g->status == GH_DUMP_RUNNING && g->syscall_sp == 0 &&
		      gh_stack_registers(&writer->stack, g) == NULL;
	return writer->stack.whole && (!strays || (writer->words.frames.count > 0 &&
						   strcmp(writer->words.frames.items[0].name,
							  "runtime.systemstack_switch") == 0));
}

/* Adds the frames of G, of *LEFT words at most, and takes these off; and what else it has. */
static void add_stack(struct writer *writer, const struct gh_goroutine *g, uint64_t *left)
{
	bool whole = writer->spans != NULL;
	if (whole)
		read_registers(writer, g);
	gh_stack_words_walk(&writer->words, &writer->stack, g, left);
	read_defers(writer, g);
	if (whole)
		find_words(writer, g);
	for (size_t depth = 0; depth < writer->words.frames.count; depth++)
		add_frame(writer, depth);
	add_defers(writer, g);
	add_panics(writer, g);
	if (!whole)
		return;
	add_first_arguments(writer, g);
	add_deferred_arguments(writer, g);
	add_perhaps(writer, g);
	for (size_t i = 0; i < writer->words.frames.count && writer->c->blocks.count > 0; i++)
		if (!writer->words.frames.items[i].interrupted)
			add_c_words(writer, g, &writer->words.frames.items[i]);
}

/* Adds what no record has of G. Which thread is selected in GDB changes, unlike a file. */
static void add_to_section(const struct writer *writer, const struct gh_goroutines *all,
			   const struct gh_goroutine *g)
{
	struct gh_process *process = writer->process;
	unsigned flags = g->locked_to != 0 ? GH_SECTION_LOCKED : 0;
	if (writer->spans == NULL && process->selected &&
	    gh_goroutine_is_on(all, process, g, writer->stack.selected.sp))
		flags |= GH_SECTION_SELECTED;
	gh_dump_section_goroutine(writer->section, process, g, flags);
}

static void add_all(struct writer *writer, struct gh_goroutines *all)
{
	struct gh_dump_section *section = writer->section;
	struct gh_process *process = writer->process;
	struct gh_wait_reasons reasons = gh_wait_reasons_find(process->tab->image);
	/* Stacks do not overlap, unless to make work. */
	uint64_t words = process->memory.source->size / process->tab->pointer_size;
	struct gh_goroutine g;
	size_t number = 0;
	gh_c_stacks_open(&writer->c_stacks, process, &writer->stack, all->layout.sched);
	while (!writer->stream->bytes.failed && gh_goroutines_next(all, process, &g)) {
		add_goroutine(writer->stream, process, &reasons, &g);
		add_stack(writer, &g, &words);
		gh_c_stacks_add(&writer->c_stacks, &g, number++, writer->words.frames.items,
				writer->words.frames.count);
		if (words == 0 || !has_all_frames(writer, &g))
			section->lost.stacks++;
		add_to_section(writer, all, &g);
	}
	section->lost.goroutines = all->lost;
	section->c_places = writer->c_stacks.places;
	section->c_frames = writer->c_stacks.list;
	gh_c_waits_end(&writer->c_stacks, all, writer->types->types);
	section->c_waits = writer->c_stacks.waits;
	gh_thread_calls_add(&section->calls, process);
	gh_c_stacks_close(&writer->c_stacks);
}

bool gh_dump_add_goroutines(struct gh_dump_stream *stream, struct gh_dump_section *section,
			    struct gh_goroutines *all, struct gh_process *process,
			    const struct gh_spans *spans, const struct gh_c_memory *c,
			    struct gh_dump_types *types, uint64_t *lost)
{
	struct writer writer = {
	    .stream = stream,
	    .section = section,
	    .process = process,
	    .spans = spans,
	    .c = c,
	    .left = process->memory.source->size / LEAST_RECORD,
	};
	writer.types = types != NULL ? types : &writer.own;
	bool opened = gh_stack_open(&writer.stack, process);
	if (opened)
		add_all(&writer, all);
	bool failed = gh_stack_words_failed(&writer.words) || writer.known.failed ||
		      writer.registers.failed || writer.defers.failed || writer.own.failed;
	gh_stack_free(&writer.stack);
	gh_stack_words_free(&writer.words);
	gh_vector_free(&writer.known);
	gh_vector_free(&writer.registers);
	gh_vector_free(&writer.defers);
	gh_numbermap_free(&writer.own.written);
	gh_rtypes_free(&writer.rtypes);
	*lost = all->lost;
	return opened && !failed && !all->failed;
}
