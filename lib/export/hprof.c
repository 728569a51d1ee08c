#include "lib/export/export.h"

#include <string.h>

#include "lib/export/internal.h"

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
	struct gh_hprof_shapes shapes;
	struct gh_hprof_threads threads;
	struct gh_hprof_statics statics;
	const struct gh_heap *heap;
	const struct gh_typing *typing;
	struct gh_hprof_damage *damage;
	unsigned word; /* pointer size, in bytes */
};

/* What an object becomes. */
enum form {
	LEFT_OUT,
	NUMBERS, /* an array of a primitive type */
	WORDS,   /* an array of words */
	INSTANCE,
};

struct object {
	uint64_t id;
	struct gh_cursor contents;
	enum form form;
	uint8_t element;                  /* type of an array's elements */
	uint64_t size;                    /* in bytes */
	struct gh_hprof_shape shape;      /* but of an array of a primitive type */
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
static void find_pointers(struct writer *writer, uint32_t number, struct object *object)
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
}

static bool has_pointers(const struct writer *writer, uint32_t number)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(writer->heap, number, &walk);
	return gh_pointers_next(&walk, &pointer);
}

/* The type of the elements of OBJECT, of CLASS and without pointers, if Java has an array of such;
 * else 0. What is not known is bytes. */
static uint8_t element_of(const struct writer *writer, const struct object *object,
			  const struct gh_class *class)
{
	static const struct {
		const char *name;
		uint8_t type; /* 0: a word */
	} types[] = {
	    {"[]bool", GH_HPROF_BOOLEAN},
	    {"[]int16", GH_HPROF_SHORT},
	    {"[]uint16", GH_HPROF_SHORT},
	    {"[]int32", GH_HPROF_INT},
	    {"[]uint32", GH_HPROF_INT},
	    {"[]float32", GH_HPROF_FLOAT},
	    {"[]int64", GH_HPROF_LONG},
	    {"[]uint64", GH_HPROF_LONG},
	    {"[]int", 0},
	    {"[]uint", 0},
	    {"[]uintptr", 0},
	    {"[]float64", GH_HPROF_DOUBLE},
	};
	bool is_text = strcmp(class->name, "string data") == 0;
	if (!class->typed || is_text || (class->array && class->size == 1))
		return class->typed && strcmp(class->name, "[]bool") == 0 ? GH_HPROF_BOOLEAN
									  : GH_HPROF_BYTE;
	for (size_t i = 0; class->array && i < sizeof(types) / sizeof(types[0]); i++) {
		uint8_t type = types[i].type != 0  ? types[i].type
			       : writer->word == 8 ? GH_HPROF_LONG
						   : GH_HPROF_INT;
		if (strcmp(class->name, types[i].name) == 0 &&
		    object->size % gh_hprof_size(&writer->out, type) == 0)
			return type;
	}
	return 0;
}

static enum form find_form(struct writer *writer, uint32_t number, struct object *object)
{
	const struct gh_class *class = gh_typing_class(writer->typing, object->shape.type);
	bool large = is_large(writer, object->size);
	bool pointers = large && has_pointers(writer, number);
	if (!large) {
		find_pointers(writer, number, object);
		pointers = object->shape.pointers != 0;
	}
	if (!pointers)
		object->element = element_of(writer, object, class);
	if (object->element != 0)
		return NUMBERS;
	object->shape.size = large ? 0 : object->size;
	return large ? WORDS : INSTANCE;
}

static void describe(struct writer *writer, uint32_t number, struct object *object)
{
	const struct gh_dump *dump = writer->heap->dump;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_OBJECT, gh_heap_object(writer->heap, number).number, &record);
	object->id = gh_hprof_id_of(&writer->ids, number);
	object->contents = gh_dump_bytes(dump, record.object.contents);
	object->size = gh_cursor_size(&object->contents);
	object->element = 0;
	object->shape = (struct gh_hprof_shape){.type = gh_typing_of(writer->typing, number)};
	object->form = is_left_out(writer, number) ? LEFT_OUT : find_form(writer, number, object);
}

/* The id of the class of OBJECT, an array of words; 0 if memory ran out. */
static uint64_t class_of_words(struct writer *writer, uint32_t number, const struct object *object)
{
	if (!gh_typing_class(writer->typing, object->shape.type)->typed)
		return writer->classes.builtins[GH_HPROF_WORD_ARRAY];
	const struct gh_hprof_kind *kind =
	    gh_hprof_kind_of(&writer->shapes, &object->shape, number);
	return kind != NULL ? kind->id : 0;
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
		    gh_hprof_kind_of(&writer->shapes, &object.shape, i) == NULL)
			return false;
		if (object.form == WORDS && class_of_words(writer, i, &object) == 0)
			return false;
	}
	return true;
}

/* How many elements of SIZE bytes go into the file's array for OBJECT. */
static uint32_t count_elements(struct writer *writer, const struct object *object, unsigned size)
{
	uint64_t count = (object->size + size - 1) / size;
	uint64_t most = MAX_ARRAY / size < MAX_ELEMENTS ? MAX_ARRAY / size : MAX_ELEMENTS;
	if (count <= most)
		return (uint32_t)count;
	writer->damage->cut++;
	return (uint32_t)most;
}

static void put_numbers(struct writer *writer, const struct object *object)
{
	struct gh_hprof_out *out = &writer->out;
	struct gh_cursor contents = object->contents;
	unsigned size = gh_hprof_size(out, object->element);
	uint32_t count = count_elements(writer, object, size);
	gh_hprof_subrecord(out, GH_HPROF_PRIMITIVE_ARRAY_DUMP,
			   (uint64_t)out->id_size + 9 + (uint64_t)count * size);
	gh_hprof_id(out, object->id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_u4(out, count);
	gh_hprof_u1(out, object->element);
	if (size == 1) {
		gh_hprof_bytes(out, contents.pos, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		gh_buffer_uint(&out->pending, gh_cursor_uint(&contents, size), size);
		if (i % STEP == 0)
			gh_hprof_drain(out);
	}
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
	gh_hprof_id(out, class_of_words(writer, number, object));
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

static void put_instance(struct writer *writer, uint32_t number, const struct object *object)
{
	struct gh_hprof_out *out = &writer->out;
	struct gh_cursor contents = object->contents;
	const struct gh_hprof_kind *kind =
	    gh_hprof_kind_of(&writer->shapes, &object->shape, number);
	const struct gh_hprof_field *fields = kind->fields.items;
	size_t count = kind->fields.count;
	gh_hprof_subrecord(out, GH_HPROF_INSTANCE_DUMP, 2 * out->id_size + 8 + object->size);
	gh_hprof_id(out, object->id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_id(out, kind->id);
	gh_hprof_u4(out, (uint32_t)object->size);
	for (size_t i = 0; i < count; i++) {
		unsigned size = gh_hprof_size(out, fields[i].type);
		size_t place = (size_t)(contents.pos - contents.start) / writer->word;
		uint64_t value = gh_cursor_uint(&contents, size);
		if (fields[i].type == GH_HPROF_OBJECT)
			value = gh_hprof_id_of(&writer->ids, object->targets[place]);
		gh_buffer_uint(&out->pending, value, size);
	}
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
		if (object.form == NUMBERS)
			put_numbers(writer, &object);
		else if (object.form == INSTANCE)
			put_instance(writer, i, &object);
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
	gh_hprof_dump_shapes(&writer->shapes);
	if (!gh_hprof_dump_threads(&writer->threads))
		return false;
	dump_roots(writer);
	dump_objects(writer);
	return true;
}

bool gh_hprof_write(const struct gh_heap *heap, const struct gh_typing *typing,
		    const struct gh_hprof_stacks *stacks, uint64_t time, const char *path,
		    struct gh_hprof_damage *damage, struct gh_error *err)
{
	unsigned word = heap->dump->word;
	struct writer writer = {.heap = heap, .typing = typing, .damage = damage, .word = word};
	*damage = (struct gh_hprof_damage){0};
	if (!gh_hprof_out_open(&writer.out, path, word, time, err))
		return false;
	writer.ids =
	    (struct gh_hprof_ids){.heap = heap, .limit = word == 4 ? UINT32_MAX : UINT64_MAX};
	writer.classes = (struct gh_hprof_classes){.out = &writer.out, .ids = &writer.ids};
	writer.shapes = (struct gh_hprof_shapes){.classes = &writer.classes, .typing = typing};
	writer.threads = (struct gh_hprof_threads){
	    .classes = &writer.classes, .dump = heap->dump, .stacks = stacks};
	writer.statics = (struct gh_hprof_statics){.classes = &writer.classes, .typing = typing};
	bool written = write_all(&writer);
	gh_hprof_classes_free(&writer.classes);
	gh_hprof_shapes_free(&writer.shapes);
	gh_hprof_threads_free(&writer.threads);
	gh_hprof_statics_free(&writer.statics);
	if (written)
		return gh_hprof_out_commit(&writer.out, err);
	gh_hprof_out_discard(&writer.out);
	return gh_fail_memory(err, path);
}
