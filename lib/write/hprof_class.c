#include "lib/write/hprof_class.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
	const char *name;
	uint8_t type;
};

static const struct builtin {
	const char *name;
	uint32_t size; /* of an instance, in bytes, but for ids */
	struct field fields[GH_HPROF_BUILTIN_FIELDS];
} builtins[GH_HPROF_BUILTINS] = {
    [GH_HPROF_JAVA_OBJECT] = {.name = "java/lang/Object"},
    [GH_HPROF_JAVA_CLASS] = {.name = "java/lang/Class"},
    [GH_HPROF_JAVA_LOADER] = {.name = "java/lang/ClassLoader"},
    [GH_HPROF_JAVA_STRING] = {.name = "java/lang/String", .fields = {{"value", GH_HPROF_OBJECT}}},
    [GH_HPROF_JAVA_THREAD] = {.name = "java/lang/Thread",
			      .size = 8 + 4 + 4 + 1,
			      .fields = {{"name", GH_HPROF_OBJECT},
					 {"tid", GH_HPROF_LONG},
					 {"priority", GH_HPROF_INT},
					 {"threadStatus", GH_HPROF_INT},
					 {"daemon", GH_HPROF_BOOLEAN}}},
    [GH_HPROF_JAVA_REFERENCE] = {.name = "java/lang/ref/Reference",
				 .fields = {{"referent", GH_HPROF_OBJECT}}},
    [GH_HPROF_JAVA_SOFT] = {.name = "java/lang/ref/SoftReference"},
    [GH_HPROF_JAVA_WEAK] = {.name = "java/lang/ref/WeakReference"},
    [GH_HPROF_JAVA_FINAL] = {.name = "java/lang/ref/FinalReference"},
    [GH_HPROF_JAVA_PHANTOM] = {.name = "java/lang/ref/PhantomReference"},
    [GH_HPROF_BOOLEANS] = {.name = "[Z"},
    [GH_HPROF_CHARS] = {.name = "[C"},
    [GH_HPROF_FLOATS] = {.name = "[F"},
    [GH_HPROF_DOUBLES] = {.name = "[D"},
    [GH_HPROF_BYTES] = {.name = "[B"},
    [GH_HPROF_SHORTS] = {.name = "[S"},
    [GH_HPROF_INTS] = {.name = "[I"},
    [GH_HPROF_LONGS] = {.name = "[J"},
    [GH_HPROF_WORD_ARRAY] = {.name = "[Lword;"},
};

uint64_t gh_hprof_load_class(struct gh_hprof_classes *classes, const char *name, size_t length)
{
	struct gh_hprof_out *out = classes->out;
	uint64_t id = gh_hprof_id_new(classes->ids);
	uint64_t string = gh_hprof_string(out, name, length);
	gh_hprof_record(out, GH_HPROF_LOAD_CLASS, 8 + 2 * out->id_size);
	gh_hprof_u4(out, ++classes->serial);
	gh_hprof_id(out, id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_id(out, string);
	return id;
}

uint32_t gh_hprof_load_name(struct gh_hprof_classes *classes, const char *name, size_t length)
{
	uint64_t id = gh_hprof_load_class(classes, name, length);
	gh_buffer_bytes(&classes->plain, &id, sizeof(id));
	return classes->serial;
}

static unsigned count_fields(const struct builtin *builtin)
{
	unsigned count = 0;
	while (count < GH_HPROF_BUILTIN_FIELDS && builtin->fields[count].name != NULL)
		count++;
	return count;
}

void gh_hprof_classes_start(struct gh_hprof_classes *classes)
{
	for (unsigned i = 0; i < GH_HPROF_BUILTINS; i++) {
		const struct builtin *builtin = &builtins[i];
		for (unsigned j = 0; j < count_fields(builtin); j++)
			classes->names[i][j] = gh_hprof_string(
			    classes->out, builtin->fields[j].name, strlen(builtin->fields[j].name));
		classes->builtins[i] =
		    gh_hprof_load_class(classes, builtin->name, strlen(builtin->name));
	}
}

static int compare(const void *a, const void *b)
{
	const struct gh_hprof_class *x = a, *y = b;
	if (x->shape.size != y->shape.size)
		return x->shape.size < y->shape.size ? -1 : 1;
	return (x->shape.pointers > y->shape.pointers) - (x->shape.pointers < y->shape.pointers);
}

/* Writes the names of fields for COUNT words, as GDB has them where a type has none either, that
 * are not yet written. */
static void name_fields(struct gh_hprof_classes *classes, unsigned count)
{
	char name[32];
	for (unsigned i = 0; i < count; i++) {
		int length = snprintf(name, sizeof(name), "f_0x%x", i * classes->word);
		if (classes->words[i] == 0)
			classes->words[i] = gh_hprof_string(classes->out, name, (size_t)length);
	}
	if (classes->tail == 0)
		classes->tail = gh_hprof_string(classes->out, "tail", strlen("tail"));
}

/* Writes the names that the class of SHAPE needs: its own, and its fields'. */
static uint64_t load_shape(struct gh_hprof_classes *classes, const struct gh_hprof_shape *shape)
{
	unsigned word = classes->word;
	char name[64 + 4 * GH_HPROF_WORDS];
	int length = snprintf(name, sizeof(name), "%" PRIu64 " bytes, pointers at", shape->size);
	for (unsigned i = 0; i < GH_HPROF_WORDS; i++)
		if ((shape->pointers >> i & 1) != 0)
			length +=
			    snprintf(name + length, sizeof(name) - (size_t)length, " %u", i * word);
	name_fields(classes, (unsigned)(shape->size / word));
	return gh_hprof_load_class(classes, name, (size_t)length);
}

static bool grow(struct gh_hprof_classes *classes)
{
	if (classes->count < classes->capacity)
		return true;
	size_t capacity = classes->capacity > 0 ? 2 * classes->capacity : 64;
	struct gh_hprof_class **items =
	    reallocarray(classes->items, capacity, sizeof(*classes->items));
	if (items == NULL)
		return false;
	classes->items = items;
	classes->capacity = capacity;
	return true;
}

/* Adds the class of SHAPE, which is in none yet. */
static struct gh_hprof_class *add(struct gh_hprof_classes *classes,
				  const struct gh_hprof_shape *shape)
{
	struct gh_hprof_class *class = malloc(sizeof(*class));
	if (class == NULL)
		return NULL;
	class->shape = *shape;
	if (!grow(classes) || tsearch(class, &classes->tree, compare) == NULL) {
		free(class);
		return NULL;
	}
	class->id = load_shape(classes, shape);
	classes->items[classes->count++] = class;
	return class;
}

const struct gh_hprof_class *gh_hprof_class_of(struct gh_hprof_classes *classes,
					       const struct gh_hprof_shape *shape)
{
	const struct gh_hprof_class key = {.shape = *shape};
	/* The heap has objects of one size side by side. */
	if (classes->last != NULL && compare(classes->last, &key) == 0)
		return classes->last;
	struct gh_hprof_class **found = tfind(&key, &classes->tree, compare);
	classes->last = found != NULL ? *found : add(classes, shape);
	return classes->last;
}

/* Writes what a class begins with. It is ID, and TAIL is how many bytes its fields take. */
static void start_class(struct gh_hprof_classes *classes, uint64_t id, uint32_t size, uint64_t tail)
{
	struct gh_hprof_out *out = classes->out;
	uint64_t object = classes->builtins[GH_HPROF_JAVA_OBJECT];
	gh_hprof_subrecord(out, GH_HPROF_CLASS_DUMP, 7 * out->id_size + 8 + 6 + tail);
	gh_hprof_id(out, id);
	gh_hprof_u4(out, GH_HPROF_NO_TRACE);
	gh_hprof_id(out, id != object ? object : 0); /* superclass */
	/* The bootstrap loader, no signers, no protection domain, two that are reserved. */
	for (unsigned i = 0; i < 5; i++)
		gh_hprof_id(out, 0);
	gh_hprof_u4(out, size);
	gh_hprof_u2(out, 0); /* constants */
}

static void put_field(struct gh_hprof_out *out, uint64_t name, uint8_t type)
{
	gh_hprof_id(out, name);
	gh_hprof_u1(out, type);
}

static void dump_shape(struct gh_hprof_classes *classes, const struct gh_hprof_class *class)
{
	struct gh_hprof_out *out = classes->out;
	unsigned word = classes->word;
	uint16_t words = (uint16_t)(class->shape.size / word);
	uint16_t bytes = (uint16_t)(class->shape.size % word);
	uint16_t count = (uint16_t)(words + bytes);
	start_class(classes, class->id, (uint32_t) class->shape.size, count * (out->id_size + 1));
	gh_hprof_u2(out, 0); /* statics */
	gh_hprof_u2(out, count);
	for (unsigned i = 0; i < words; i++)
		put_field(out, classes->words[i],
			  (class->shape.pointers >> i & 1) != 0 ? GH_HPROF_OBJECT
			  : word == 8                           ? GH_HPROF_LONG
								: GH_HPROF_INT);
	for (unsigned i = 0; i < bytes; i++)
		put_field(out, classes->tail, GH_HPROF_BYTE);
}

static void dump_builtin(struct gh_hprof_classes *classes, unsigned number)
{
	struct gh_hprof_out *out = classes->out;
	const struct builtin *builtin = &builtins[number];
	unsigned count = count_fields(builtin);
	/* A size of java.lang.Object tells VisualVM that the other classes' are to be taken as they
	 * are: else it looks for Java's system properties, and fails without. */
	uint32_t size = number == GH_HPROF_JAVA_OBJECT ? 2 * out->id_size : builtin->size;
	for (unsigned i = 0; i < count; i++)
		size += builtin->fields[i].type == GH_HPROF_OBJECT ? out->id_size : 0;
	start_class(classes, classes->builtins[number], size, count * (out->id_size + 1));
	gh_hprof_u2(out, 0); /* statics */
	gh_hprof_u2(out, (uint16_t)count);
	for (unsigned i = 0; i < count; i++)
		put_field(out, classes->names[number][i], builtin->fields[i].type);
}

void gh_hprof_dump_statics(struct gh_hprof_classes *classes, uint64_t id,
			   const struct gh_hprof_static *statics, uint16_t count)
{
	struct gh_hprof_out *out = classes->out;
	start_class(classes, id, 0, count * (2 * out->id_size + 1));
	gh_hprof_u2(out, count);
	for (uint16_t i = 0; i < count; i++) {
		put_field(out, statics[i].name, GH_HPROF_OBJECT);
		gh_hprof_id(out, statics[i].target);
	}
	gh_hprof_u2(out, 0); /* fields of instances */
}

void gh_hprof_dump_classes(struct gh_hprof_classes *classes)
{
	for (unsigned i = 0; i < GH_HPROF_BUILTINS; i++)
		dump_builtin(classes, i);
	for (size_t i = 0; i < classes->count; i++)
		dump_shape(classes, classes->items[i]);
	const uint64_t *plain = (const void *)classes->plain.data;
	for (size_t i = 0; i < classes->plain.size / sizeof(*plain); i++)
		gh_hprof_dump_statics(classes, plain[i], NULL, 0);
}

static void keep(void *item)
{
	(void)item;
}

void gh_hprof_classes_free(struct gh_hprof_classes *classes)
{
	tdestroy(classes->tree, keep);
	for (size_t i = 0; i < classes->count; i++)
		free(classes->items[i]);
	free(classes->items);
	gh_buffer_free(&classes->plain);
	classes->tree = classes->items = NULL;
}
