#include "lib/write/hprof.h"

#include <errno.h>

#include "lib/write/hprof_class.h"
#include "lib/write/hprof_out.h"
#include "lib/write/hprof_static.h"
#include "lib/write/hprof_thread.h"

/* Elements of an array: a signed number of 4 bytes to readers. */
#define MAX_ELEMENTS INT32_MAX

/* Bytes of an array: with what is before it, it is to fit in a segment. */
#define MAX_ARRAY (UINT32_MAX - 64)

/* Elements that are written between two looks at how much is gathered. */
#define STEP 4096

struct writer {
	struct gh_hprof_out out;
	struct gh_hprof_ids ids;
	struct gh_hprof_classes classes;
	struct gh_hprof_threads threads;
	struct gh_hprof_statics statics;
	const struct gh_heap *heap;
	struct gh_hprof_damage *damage;
	unsigned word; /* pointer size, in bytes */
};

/* What an object becomes. */
enum form {
	LEFT_OUT,
	BYTES,
	WORDS,
	INSTANCE,
};

struct object {
	uint64_t id;
	struct gh_cursor contents;
	enum form form;
	struct gh_hprof_shape shape;      /* of an instance */
	uint32_t targets[GH_HPROF_WORDS]; /* of an instance, by word; where it has a pointer */
};

static bool is_large(const struct writer *writer, uint64_t size)
{
	return size > GH_HPROF_WORDS * writer->word;
}

/* Ids are unique: of objects at one address, the first counts. */
static bool is_left_out(const struct writer *writer, uint32_t number)
{
	if (gh_hprof_id_of(&writer->ids, number) == 0)
		return true;
	return number > 0 && gh_heap_object(writer->heap, number - 1).address ==
				 gh_heap_object(writer->heap, number).address;
}

/* Notes where OBJECT, which is not large, has pointers, and to what. */
static void find_shape(struct writer *writer, uint32_t number, struct object *object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(writer->heap, number, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		uint64_t place = pointer.offset / writer->word;
		if (pointer.offset % writer->word != 0) {
			writer->damage->unplaced++;
			continue;
		}
		object->shape.pointers |= UINT64_C(1) << place;
		object->targets[place] = pointer.target;
	}
	object->form = object->shape.pointers != 0 ? INSTANCE : BYTES;
}

static bool has_pointers(const struct writer *writer, uint32_t number)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(writer->heap, number, &walk);
	return gh_pointers_next(&walk, &pointer);
}

static void describe(struct writer *writer, uint32_t number, struct object *object)
{
	const struct gh_dump *dump = writer->heap->dump;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_OBJECT, gh_heap_object(writer->heap, number).number, &record);
	object->id = gh_hprof_id_of(&writer->ids, number);
	object->contents = gh_dump_bytes(dump, record.object.contents);
	object->shape = (struct gh_hprof_shape){.size = gh_cursor_size(&object->contents)};
	if (is_left_out(writer, number))
		object->form = LEFT_OUT;
	else if (!is_large(writer, object->shape.size))
		find_shape(writer, number, object);
	else
		object->form = has_pointers(writer, number) ? WORDS : BYTES;
}

/* Writes what loads the classes that the objects are of. */
static bool find_classes(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->heap->count; i++) {
		struct object object;
		describe(writer, i, &object);
		if (object.form == LEFT_OUT)
			writer->damage->left_out++;
		if (object.form == INSTANCE &&
		    gh_hprof_class_of(&writer->classes, &object.shape) == NULL)
			return false;
	}
	return true;
}

/* How many elements of SIZE bytes go into the file's array for OBJECT. */
static uint32_t count_elements(struct writer *writer, const struct object *object, unsigned size)
{
	uint64_t count = (object->shape.size + size - 1) / size;
	uint64_t most = MAX_ARRAY / size < MAX_ELEMENTS ? MAX_ARRAY / size : MAX_ELEMENTS;
	if (count <= most)
		return (uint32_t)count;
	writer->damage->cut++;
	return (uint32_t)most;
}

static void put_bytes(struct writer *writer, const struct object *object)
{
	struct gh_hprof_out *out = &writer->out;
	uint32_t count = count_elements(writer, object, 1);
	gh_hprof_subrecord(out, GH_HPROF_PRIMITIVE_ARRAY_DUMP, (uint64_t)out->id_size + 9 + count);
	gh_hprof_id(out, object->id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_u4(out, count);
	gh_hprof_u1(out, GH_HPROF_BYTE);
	gh_hprof_bytes(out, object->contents.start, count);
}

static void put_nulls(struct gh_hprof_out *out, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		gh_hprof_id(out, 0);
		if (i % STEP == 0)
			gh_hprof_drain(out);
	}
}

static void put_words(struct writer *writer, uint32_t number, const struct object *object)
{
	struct gh_hprof_out *out = &writer->out;
	uint32_t count = count_elements(writer, object, writer->word);
	gh_hprof_subrecord(out, GH_HPROF_OBJECT_ARRAY_DUMP,
			   2 * out->id_size + 8 + (uint64_t)count * out->id_size);
	gh_hprof_id(out, object->id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_u4(out, count);
	gh_hprof_id(out, writer->classes.builtins[GH_HPROF_WORD_ARRAY]);
	struct gh_pointers walk;
	struct gh_pointer pointer;
	uint64_t next = 0;
	gh_pointers_start(writer->heap, number, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		uint64_t place = pointer.offset / writer->word;
		if (pointer.offset % writer->word != 0 || place < next) {
			writer->damage->unplaced++;
		} else if (place < count) {
			put_nulls(out, place - next);
			gh_hprof_id(out, gh_hprof_id_of(&writer->ids, pointer.target));
			next = place + 1;
		}
		gh_hprof_drain(out);
	}
	put_nulls(out, count - next);
}

static void put_instance(struct writer *writer, const struct object *object)
{
	struct gh_hprof_out *out = &writer->out;
	struct gh_cursor contents = object->contents;
	const struct gh_hprof_class *class = gh_hprof_class_of(&writer->classes, &object->shape);
	gh_hprof_subrecord(out, GH_HPROF_INSTANCE_DUMP, 2 * out->id_size + 8 + object->shape.size);
	gh_hprof_id(out, object->id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_id(out, class->id);
	gh_hprof_u4(out, (uint32_t)object->shape.size);
	for (unsigned i = 0; i < object->shape.size / writer->word; i++) {
		uint64_t value = gh_cursor_uint(&contents, writer->word);
		if ((object->shape.pointers >> i & 1) != 0)
			value = gh_hprof_id_of(&writer->ids, object->targets[i]);
		gh_buffer_uint(&out->pending, value, writer->word);
	}
	gh_hprof_bytes(out, contents.pos, gh_cursor_left(&contents));
}

static void dump_roots(struct writer *writer)
{
	const struct gh_heap *heap = writer->heap;
	gh_hprof_dump_static_roots(&writer->statics);
	for (size_t i = 0; i < heap->nroots; i++) {
		const struct gh_root *root = &heap->roots[i];
		uint64_t id = gh_hprof_id_of(&writer->ids, root->object);
		if (!gh_hprof_is_static(root) && id != 0)
			gh_hprof_dump_stack_root(&writer->threads, root, id);
	}
}

static void dump_objects(struct writer *writer)
{
	struct object object;
	for (uint32_t i = 0; i < writer->heap->count && !writer->out.failed; i++) {
		describe(writer, i, &object);
		if (object.form == BYTES)
			put_bytes(writer, &object);
		else if (object.form == INSTANCE)
			put_instance(writer, &object);
	}
	/* Downwards: of two arrays of objects, one after the other and with no header between
	 * them, Eclipse MAT says that references must be compressed. */
	for (uint32_t i = writer->heap->count; i > 0 && !writer->out.failed; i--) {
		if (!is_large(writer, gh_heap_object(writer->heap, i - 1).size))
			continue;
		describe(writer, i - 1, &object);
		if (object.form == WORDS)
			put_words(writer, i - 1, &object);
	}
}

/* Names and stacks are to come before the heap dump. */
static bool write_all(struct writer *writer)
{
	gh_hprof_classes_start(&writer->classes);
	if (!gh_hprof_threads_start(&writer->threads) ||
	    !gh_hprof_statics_start(&writer->statics) || !find_classes(writer))
		return false;
	*writer->damage = (struct gh_hprof_damage){.left_out = writer->damage->left_out};
	gh_hprof_dump_classes(&writer->classes);
	if (!gh_hprof_dump_threads(&writer->threads))
		return false;
	dump_roots(writer);
	dump_objects(writer);
	return true;
}

bool gh_hprof_write(const struct gh_heap *heap, const struct gh_hprof_stacks *stacks, uint64_t time,
		    const char *path, struct gh_hprof_damage *damage, struct gh_error *err)
{
	unsigned word = heap->dump->word;
	struct writer writer = {.heap = heap, .damage = damage, .word = word};
	*damage = (struct gh_hprof_damage){0};
	if (!gh_hprof_out_open(&writer.out, path, word, time, err))
		return false;
	writer.ids =
	    (struct gh_hprof_ids){.heap = heap, .limit = word == 4 ? UINT32_MAX : UINT64_MAX};
	writer.classes =
	    (struct gh_hprof_classes){.out = &writer.out, .ids = &writer.ids, .word = word};
	writer.threads = (struct gh_hprof_threads){
	    .classes = &writer.classes, .dump = heap->dump, .stacks = stacks};
	writer.statics.classes = &writer.classes;
	bool written = write_all(&writer);
	gh_hprof_classes_free(&writer.classes);
	gh_hprof_threads_free(&writer.threads);
	gh_hprof_statics_free(&writer.statics);
	if (written)
		return gh_hprof_out_close(&writer.out, err);
	gh_hprof_out_discard(&writer.out);
	errno = ENOMEM;
	return gh_fail_errno(err, path, "write");
}
