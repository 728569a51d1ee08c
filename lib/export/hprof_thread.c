#include "lib/export/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"

/* A function's name, at most; what is longer has no package. */
#define MAX_NAME 4096

/* java.lang.Thread's threadStatus, as JVMTI's GetThreadState (JVM Tool Interface, 1.2) has it:
 * alive and runnable; the same in native code; alive and waiting for as long as it takes. */
enum {
	RUNNABLE = 0x5,
	NATIVE = 0x400005,
	WAITING = 0x91,
};

/* The serial of goroutine NUMBER's thread. They count from 1: readers put them in an array. */
static uint32_t thread_serial(size_t number)
{
	return (uint32_t)number + 1;
}

static uint32_t trace_serial(size_t number)
{
	return GH_HPROF_NO_TRACE + 1 + (uint32_t)number;
}

/* The id kept of TEXT; NULL if memory ran out. It is 0 if TEXT is new. */
static uint64_t *find(struct gh_hprof_strings *strings, const char *text, size_t length)
{
	uint32_t number = gh_intern_add(&strings->set, text, length);
	if (number == GH_INTERN_NONE)
		return NULL;
	if (number == strings->ids.count)
		gh_vector_push(&strings->ids, 0);
	return strings->ids.failed ? NULL : &strings->ids.items[number];
}

/* The id of the string TEXT; 0 if memory ran out. */
static uint64_t string_of(struct gh_hprof_threads *threads, const char *text, size_t length)
{
	uint64_t *id = find(&threads->names, text, length);
	if (id == NULL)
		return 0;
	if (*id == 0)
		*id = gh_hprof_string(threads->classes->out, text, length);
	return *id;
}

/* The serial of the class that stands for a package; 0 if memory ran out. */
static uint32_t class_of(struct gh_hprof_threads *threads, const char *package, size_t length)
{
	uint64_t *serial = find(&threads->packages, package, length);
	if (serial == NULL)
		return 0;
	if (*serial == 0)
		*serial = gh_hprof_load_name(threads->classes, package, length);
	return (uint32_t)*serial;
}

/* Writes CALL as the next stack frame. */
static bool put_frame(struct gh_hprof_threads *threads, const struct gh_hprof_call *call)
{
	struct gh_hprof_out *out = threads->classes->out;
	char name[MAX_NAME + 1] = "";
	if (call->length <= MAX_NAME)
		memcpy(name, call->function, call->length);
	size_t package = gh_package_length(name);
	size_t method = package > 0 ? package + 1 : 0;
	uint32_t class =
	    package > 0 ? class_of(threads, call->function, package) : class_of(threads, "?", 1);
	uint64_t function = string_of(threads, call->function + method, call->length - method);
	uint64_t signature = string_of(threads, "", 0);
	uint64_t file = string_of(threads, call->file, strlen(call->file));
	if (class == 0 || function == 0 || signature == 0 || file == 0)
		return false;
	gh_hprof_record(out, GH_HPROF_STACK_FRAME, 4 * out->id_size + 8);
	gh_hprof_id(out, ++threads->frame);
	gh_hprof_id(out, function);
	gh_hprof_id(out, signature);
	gh_hprof_id(out, file);
	gh_hprof_u4(out, class);
	gh_hprof_u4(out, call->line > 0 ? (uint32_t)call->line : 0);
	return true;
}

static void put_trace(struct gh_hprof_threads *threads, uint32_t serial, uint32_t thread,
		      uint32_t count)
{
	struct gh_hprof_out *out = threads->classes->out;
	gh_hprof_record(out, GH_HPROF_STACK_TRACE, 12 + count * out->id_size);
	gh_hprof_u4(out, serial);
	gh_hprof_u4(out, thread);
	gh_hprof_u4(out, count);
	for (uint32_t i = 0; i < count; i++)
		gh_hprof_id(out, threads->frame - count + 1 + i);
}

/* Writes the stack of goroutine NUMBER, and notes where in it the dump's frames are: what is
 * inlined comes before the function that it is in, whose the frame is. */
static bool put_stack(struct gh_hprof_threads *threads, size_t number,
		      const struct gh_hprof_stack *stack)
{
	for (size_t i = 0; i < stack->ncalls; i++) {
		if (!put_frame(threads, &stack->calls[i]))
			return false;
		threads->frames[stack->calls[i].frame] = thread_serial(number);
		threads->depths[stack->calls[i].frame] = (uint32_t)i;
	}
	put_trace(threads, trace_serial(number), thread_serial(number), (uint32_t)stack->ncalls);
	return true;
}

static bool put_thread(struct gh_hprof_threads *threads, size_t number,
		       const struct gh_hprof_stack *stack)
{
	struct gh_hprof_out *out = threads->classes->out;
	struct gh_hprof_thread *objects = &threads->objects[number];
	struct gh_hprof_ids *ids = threads->classes->ids;
	uint64_t name = gh_hprof_string(out, stack->name, strlen(stack->name));
	uint64_t group = string_of(threads, "goroutines", strlen("goroutines"));
	objects->thread = gh_hprof_id_new(ids);
	objects->name = gh_hprof_id_new(ids);
	objects->chars = gh_hprof_id_new(ids);
	gh_hprof_record(out, GH_HPROF_START_THREAD, 4 * out->id_size + 8);
	gh_hprof_u4(out, thread_serial(number));
	gh_hprof_id(out, objects->thread);
	gh_hprof_u4(out, trace_serial(number));
	gh_hprof_id(out, name);
	gh_hprof_id(out, group);
	gh_hprof_id(out, group); /* the group's own */
	return group != 0;
}

static void mark(uint32_t *records, size_t first, size_t count, uint32_t serial)
{
	for (size_t i = 0; i < count; i++)
		records[first + i] = serial;
}

static uint32_t *make_marks(const struct gh_dump *dump, enum gh_dump_kind kind)
{
	return calloc(gh_dump_count(dump, kind) + 1, sizeof(uint32_t));
}

static bool make_tables(struct gh_hprof_threads *threads)
{
	const struct gh_dump *dump = threads->dump;
	threads->objects = calloc(dump->stacks.count + 1, sizeof(*threads->objects));
	threads->frames = make_marks(dump, GH_DUMP_FRAME);
	threads->depths = make_marks(dump, GH_DUMP_FRAME);
	threads->defers = make_marks(dump, GH_DUMP_DEFER);
	threads->panics = make_marks(dump, GH_DUMP_PANIC);
	return threads->objects != NULL && threads->frames != NULL && threads->depths != NULL &&
	       threads->defers != NULL && threads->panics != NULL;
}

bool gh_hprof_threads_start(struct gh_hprof_threads *threads)
{
	if (!make_tables(threads))
		return false;
	put_trace(threads, GH_HPROF_NO_TRACE, 0, 0);
	for (size_t i = 0; i < threads->dump->stacks.count; i++) {
		const struct gh_dump_stack *place = gh_dump_stack(threads->dump, i);
		struct gh_hprof_stack stack;
		if (!threads->stacks->get(threads->stacks->context, i, &stack) ||
		    !put_stack(threads, i, &stack) || !put_thread(threads, i, &stack))
			return false;
		mark(threads->defers, place->first_defer, place->ndefers, thread_serial(i));
		mark(threads->panics, place->first_panic, place->npanics, thread_serial(i));
	}
	return true;
}

static uint32_t status_of(const struct gh_dump_goroutine *goroutine)
{
	switch (goroutine->status) {
	case GH_DUMP_WAITING:
		return WAITING;
	case GH_DUMP_SYSCALL:
		return NATIVE;
	default:
		return RUNNABLE;
	}
}

static void start_instance(struct gh_hprof_threads *threads, uint64_t id,
			   enum gh_hprof_builtin class, uint32_t size)
{
	struct gh_hprof_out *out = threads->classes->out;
	gh_hprof_subrecord(out, GH_HPROF_INSTANCE_DUMP, 2 * out->id_size + 8 + size);
	gh_hprof_id(out, id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_id(out, threads->classes->builtins[class]);
	gh_hprof_u4(out, size);
}

/* The name's bytes, escaped by whoever made it, as characters. */
static void dump_name(struct gh_hprof_threads *threads, const struct gh_hprof_thread *objects,
		      const char *name)
{
	struct gh_hprof_out *out = threads->classes->out;
	uint32_t length = (uint32_t)strlen(name);
	start_instance(threads, objects->name, GH_HPROF_JAVA_STRING, out->id_size);
	gh_hprof_id(out, objects->chars);
	gh_hprof_subrecord(out, GH_HPROF_PRIMITIVE_ARRAY_DUMP, out->id_size + 9 + 2 * length);
	gh_hprof_id(out, objects->chars);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_u4(out, length);
	gh_hprof_u1(out, GH_HPROF_CHAR);
	for (uint32_t i = 0; i < length; i++)
		gh_hprof_u2(out, (uint8_t)name[i]);
}

static void dump_thread(struct gh_hprof_threads *threads, size_t number, const char *name)
{
	struct gh_hprof_out *out = threads->classes->out;
	const struct gh_hprof_thread *objects = &threads->objects[number];
	struct gh_dump_record record;
	gh_dump_get(threads->dump, GH_DUMP_GOROUTINE, number, &record);
	const struct gh_dump_goroutine *goroutine = &record.goroutine;
	start_instance(threads, objects->thread, GH_HPROF_JAVA_THREAD, out->id_size + 17);
	gh_hprof_id(out, objects->name);
	gh_hprof_u8(out, goroutine->id);
	gh_hprof_u4(out, 0); /* priority */
	gh_hprof_u4(out, status_of(goroutine));
	gh_hprof_u1(out, goroutine->system || goroutine->background);
	dump_name(threads, objects, name);
}

bool gh_hprof_dump_threads(struct gh_hprof_threads *threads)
{
	struct gh_hprof_out *out = threads->classes->out;
	for (size_t i = 0; i < threads->dump->stacks.count; i++) {
		gh_hprof_subrecord(out, GH_HPROF_ROOT_THREAD_OBJECT, out->id_size + 8);
		gh_hprof_id(out, threads->objects[i].thread);
		gh_hprof_u4(out, thread_serial(i));
		gh_hprof_u4(out, trace_serial(i));
	}
	for (size_t i = 0; i < threads->dump->stacks.count; i++) {
		struct gh_hprof_stack stack;
		if (!threads->stacks->get(threads->stacks->context, i, &stack))
			return false;
		dump_thread(threads, i, stack.name);
	}
	return true;
}

/* Of what kind of an hprof file's a root is. */
struct place {
	uint8_t tag;
	uint32_t thread; /* its serial */
	uint32_t depth;  /* of the frame in the trace */
};

/* The prototype's stack roots are not in frames, and damaged dumps have frames of no goroutine. */
static struct place place_of(const struct gh_hprof_threads *threads, const struct gh_root *root)
{
	struct place place = {.tag = GH_HPROF_ROOT_UNKNOWN, .depth = UINT32_MAX};
	switch (gh_root_record(threads->dump, root->kind)) {
	case GH_DUMP_FRAME:
		place.tag = GH_HPROF_ROOT_JAVA_FRAME;
		place.thread = threads->frames[root->number];
		place.depth = threads->depths[root->number];
		break;
	case GH_DUMP_GOROUTINE:
		place.tag = GH_HPROF_ROOT_NATIVE_STACK;
		place.thread = thread_serial(root->number);
		break;
	case GH_DUMP_DEFER:
		place.tag = GH_HPROF_ROOT_JNI_LOCAL;
		place.thread = threads->defers[root->number];
		break;
	case GH_DUMP_PANIC:
		place.tag = GH_HPROF_ROOT_JNI_LOCAL;
		place.thread = threads->panics[root->number];
		break;
	default:
		break;
	}
	if (place.thread == 0)
		place.tag = GH_HPROF_ROOT_UNKNOWN;
	return place;
}

void gh_hprof_dump_stack_root(struct gh_hprof_threads *threads, const struct gh_root *root,
			      uint64_t id)
{
	struct gh_hprof_out *out = threads->classes->out;
	struct place place = place_of(threads, root);
	bool has_thread = place.tag != GH_HPROF_ROOT_UNKNOWN;
	bool has_depth = has_thread && place.tag != GH_HPROF_ROOT_NATIVE_STACK;
	gh_hprof_subrecord(out, place.tag,
			   out->id_size + (has_thread ? 4 : 0) + (has_depth ? 4 : 0));
	gh_hprof_id(out, id);
	if (has_thread)
		gh_hprof_u4(out, place.thread);
	if (has_depth)
		gh_hprof_u4(out, place.depth);
}

static void free_strings(struct gh_hprof_strings *strings)
{
	gh_intern_free(&strings->set);
	gh_vector_free(&strings->ids);
}

void gh_hprof_threads_free(struct gh_hprof_threads *threads)
{
	free(threads->objects);
	free(threads->frames);
	free(threads->depths);
	free(threads->defers);
	free(threads->panics);
	free_strings(&threads->names);
	free_strings(&threads->packages);
}
