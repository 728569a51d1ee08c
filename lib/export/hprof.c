#include "lib/export/export.h"

#include <string.h>

#include "lib/export/internal.h"
#include "lib/util/parallel.h"

/* Objects that a thread looks at before another one's turn comes. */
#define BLOCK 16384

/* An object of more bytes is not gathered with others. */
#define MAX_GATHERED 4096

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
	uint8_t element;             /* type of an array's elements */
	uint64_t size;               /* in bytes */
	struct gh_hprof_shape shape; /* but of an array of a primitive type */
};

/* An object whose turn comes when those before it have been written. */
struct later {
	uint32_t number;
	struct gh_hprof_shape shape; /* of an object that has one */
	size_t end;                  /* of what comes before it, in what is pending */
};

/* Objects, while a thread looks at them. */
struct block {
	struct GH_VECTOR(struct later) later;
	struct gh_hprof_out out; /* a part: what is written of them */
	struct gh_hprof_damage damage;
};

struct job {
	struct writer *writer;
	struct writer before; /* the same when it begins, which nobody changes */
	struct block *blocks; /* by number; owned */
	bool failed;          /* memory ran out */
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

/* Notes where OBJECT, which is not large and which WALK goes through, has pointers. */
static void find_pointers(struct writer *writer, struct gh_pointers *walk, struct object *object)
{
	struct gh_pointer pointer;
	while (gh_pointers_next_value(walk, &pointer)) {
		if (pointer.offset % writer->word == 0)
			object->shape.pointers |= UINT64_C(1) << pointer.offset / writer->word;
		else
			writer->damage->unplaced++;
	}
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

static enum form find_form(struct writer *writer, struct gh_pointers *walk, struct object *object)
{
	const struct gh_class *class = gh_typing_class(writer->typing, object->shape.type);
	bool large = is_large(writer, object->size);
	bool pointers;
	if (large) {
		struct gh_pointer pointer;
		pointers = gh_pointers_next_value(walk, &pointer);
	} else {
		find_pointers(writer, walk, object);
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
	struct gh_pointers walk;
	gh_pointers_start(writer->heap, number, &walk);
	*object = (struct object){
	    .id = gh_hprof_id_of(&writer->ids, number),
	    .contents = walk.contents,
	    .size = gh_cursor_size(&walk.contents),
	    .shape = {.type = gh_typing_of(writer->typing, number)},
	};
	object->form = is_left_out(writer, number) ? LEFT_OUT : find_form(writer, &walk, object);
}

/* The id of the class of arrays of words of SHAPE; 0 if memory ran out. OBJECT is one. */
static uint64_t class_of_words(struct writer *writer, uint32_t number,
			       const struct gh_hprof_shape *shape)
{
	if (!gh_typing_class(writer->typing, shape->type)->typed)
		return writer->classes.builtins[GH_HPROF_WORD_ARRAY];
	const struct gh_hprof_kind *kind = gh_hprof_kind_of(&writer->shapes, shape, number);
	return kind != NULL ? kind->id : 0;
}

/* One past the last object of block NUMBER. */
static uint32_t block_end(const struct writer *writer, uint32_t number)
{
	uint64_t end = (uint64_t)(number + 1) * BLOCK;
	return end < writer->heap->count ? (uint32_t)end : writer->heap->count;
}

/* Calls WORK with each block's number, several at once, and then TAKE, with one after the other.
 * False if memory ran out. */
static bool run(struct writer *writer, void (*work)(void *context, uint32_t number),
		void (*take)(void *context, uint32_t number))
{
	uint32_t count = (uint32_t)(((uint64_t)writer->heap->count + BLOCK - 1) / BLOCK);
	struct job job = {.writer = writer, .before = *writer};
	job.blocks = calloc((size_t)count + 1, sizeof(*job.blocks));
	bool ok = job.blocks != NULL && gh_parallel_ordered(count, work, take, &job);
	free(job.blocks);
	return ok && !job.failed;
}

static void find_shapes(void *context, uint32_t number)
{
	struct job *job = context;
	struct block *block = &job->blocks[number];
	struct writer writer = job->before;
	writer.damage = &block->damage;
	for (uint32_t i = number * BLOCK; i < block_end(&writer, number); i++) {
		struct object object;
		describe(&writer, i, &object);
		struct later later = {.number = i, .shape = object.shape};
		if (object.form == LEFT_OUT)
			block->damage.left_out++;
		else if (object.form != NUMBERS)
			gh_vector_push(&block->later, later);
	}
}

/* Writes what loads the classes that the objects of a block are of. */
static void load_classes(void *context, uint32_t number)
{
	struct job *job = context;
	struct block *block = &job->blocks[number];
	struct writer *writer = job->writer;
	writer->damage->left_out += block->damage.left_out;
	job->failed |= block->later.failed;
	for (size_t i = 0; i < block->later.count && !job->failed; i++) {
		const struct later *later = &block->later.items[i];
		job->failed =
		    later->shape.size == 0
			? class_of_words(writer, later->number, &later->shape) == 0
			: gh_hprof_kind_of(&writer->shapes, &later->shape, later->number) == NULL;
	}
	gh_vector_free(&block->later);
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
	gh_hprof_id(out, class_of_words(writer, number, &object->shape));
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
		uint64_t value = gh_cursor_uint(&contents, size);
		if (fields[i].type == GH_HPROF_OBJECT)
			value = gh_hprof_id_of(&writer->ids, gh_heap_find(writer->heap, value));
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

static void put(struct writer *writer, uint32_t number, const struct object *object)
{
	if (object->form == NUMBERS)
		put_numbers(writer, object);
	else if (object->form == INSTANCE)
		put_instance(writer, number, object);
}

/* Gathers the objects of a block. */
static void gather(void *context, uint32_t number)
{
	struct job *job = context;
	struct block *block = &job->blocks[number];
	struct writer writer = job->before;
	writer.damage = &block->damage;
	writer.out = (struct gh_hprof_out){
	    .pending.big_endian = true, .id_size = writer.out.id_size, .is_part = true};
	for (uint32_t i = number * BLOCK; i < block_end(&writer, number); i++) {
		struct object object;
		describe(&writer, i, &object);
		struct later later = {.number = i, .end = writer.out.pending.size};
		if (object.size > MAX_GATHERED)
			gh_vector_push(&block->later, later);
		else
			put(&writer, i, &object);
	}
	block->out = writer.out;
}

/* Writes them, and those between them that were not gathered. */
static void write_block(void *context, uint32_t number)
{
	struct job *job = context;
	struct block *block = &job->blocks[number];
	struct writer *writer = job->writer;
	const struct gh_buffer *pending = &block->out.pending;
	size_t from = 0;
	job->failed |= block->later.failed || pending->failed;
	for (size_t i = 0; i < block->later.count && !job->failed; i++) {
		const struct later *later = &block->later.items[i];
		struct object object;
		if (later->end > from)
			gh_hprof_append(&writer->out, pending->data + from, later->end - from);
		from = later->end;
		describe(writer, later->number, &object);
		put(writer, later->number, &object);
	}
	if (!job->failed && pending->size > from)
		gh_hprof_append(&writer->out, pending->data + from, pending->size - from);
	writer->damage->unplaced += block->damage.unplaced;
	gh_vector_free(&block->later);
	gh_buffer_free(&block->out.pending);
}

/* False if memory ran out. */
static bool dump_objects(struct writer *writer)
{
	struct object object;
	if (!run(writer, gather, write_block))
		return false;
	/* Downwards: of two arrays of objects, one after the other and with no header between
	 * them, Eclipse MAT says that references must be compressed. */
	for (uint32_t i = writer->heap->count; i > 0 && !writer->out.failed; i--) {
		if (!is_large(writer, gh_heap_object(writer->heap, i - 1).size))
			continue;
		describe(writer, i - 1, &object);
		if (object.form == WORDS)
			put_words(writer, i - 1, &object);
	}
	return true;
}

/* Names and stacks are to come before the heap dump. */
static bool write_all(struct writer *writer)
{
	gh_hprof_classes_start(&writer->classes);
	if (!gh_hprof_threads_start(&writer->threads) ||
	    !gh_hprof_statics_start(&writer->statics) || !run(writer, find_shapes, load_classes))
		return false;
	*writer->damage = (struct gh_hprof_damage){.left_out = writer->damage->left_out};
	gh_hprof_dump_classes(&writer->classes);
	gh_hprof_dump_shapes(&writer->shapes);
	if (!gh_hprof_dump_threads(&writer->threads))
		return false;
	dump_roots(writer);
	return dump_objects(writer);
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
