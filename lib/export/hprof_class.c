#include "lib/export/internal.h"

#include <string.h>

struct builtin_field {
	const char *name;
	uint8_t type;
};

static const struct builtin {
	const char *name;
	struct builtin_field fields[GH_HPROF_BUILTIN_FIELDS];
} builtins[GH_HPROF_BUILTINS] = {
    [GH_HPROF_JAVA_OBJECT] = {.name = "java/lang/Object"},
    [GH_HPROF_JAVA_CLASS] = {.name = "java/lang/Class"},
    [GH_HPROF_JAVA_LOADER] = {.name = "java/lang/ClassLoader"},
    [GH_HPROF_JAVA_STRING] = {.name = "java/lang/String", .fields = {{"value", GH_HPROF_OBJECT}}},
    [GH_HPROF_JAVA_THREAD] = {.name = "java/lang/Thread",
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
	return gh_vector_push(&classes->plain, id) ? classes->serial : 0;
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

unsigned gh_hprof_size(const struct gh_hprof_out *out, uint8_t type)
{
	switch (type) {
	case GH_HPROF_OBJECT:
		return out->id_size;
	case GH_HPROF_BOOLEAN:
	case GH_HPROF_BYTE:
		return 1;
	case GH_HPROF_CHAR:
	case GH_HPROF_SHORT:
		return 2;
	case GH_HPROF_INT:
	case GH_HPROF_FLOAT:
		return 4;
	default:
		return 8;
	}
}

/* HEADER is added to the size of an instance. */
static void put_class(struct gh_hprof_classes *classes, uint64_t id, uint32_t header,
		      const struct gh_hprof_field *fields, uint16_t count)
{
	struct gh_hprof_out *out = classes->out;
	uint32_t size = header;
	for (uint16_t i = 0; i < count; i++)
		size += gh_hprof_size(out, fields[i].type);
	start_class(classes, id, size, count * (out->id_size + 1));
	gh_hprof_u2(out, 0); /* statics */
	gh_hprof_u2(out, count);
	for (uint16_t i = 0; i < count; i++)
		put_field(out, fields[i].name, fields[i].type);
}

void gh_hprof_dump_class(struct gh_hprof_classes *classes, uint64_t id,
			 const struct gh_hprof_field *fields, uint16_t count)
{
	put_class(classes, id, 0, fields, count);
}

static void dump_builtin(struct gh_hprof_classes *classes, unsigned number)
{
	const struct builtin *builtin = &builtins[number];
	struct gh_hprof_field fields[GH_HPROF_BUILTIN_FIELDS];
	uint16_t count = (uint16_t)count_fields(builtin);
	/* A size of java.lang.Object tells VisualVM that the other classes' are to be taken as they
	 * are: else it looks for Java's system properties, and fails without. */
	uint32_t header = number == GH_HPROF_JAVA_OBJECT ? 2 * classes->out->id_size : 0;
	for (uint16_t i = 0; i < count; i++)
		fields[i] =
		    (struct gh_hprof_field){classes->names[number][i], builtin->fields[i].type};
	put_class(classes, classes->builtins[number], header, fields, count);
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
	for (size_t i = 0; i < classes->plain.count; i++)
		gh_hprof_dump_statics(classes, classes->plain.items[i], NULL, 0);
}

void gh_hprof_classes_free(struct gh_hprof_classes *classes)
{
	gh_vector_free(&classes->plain);
}
