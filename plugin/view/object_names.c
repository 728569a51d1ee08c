#include "plugin/view/internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/util/escape.h"
#include "plugin/view/emit.h"

bool gh_names_make(struct gh_names *names, const struct gh_heap *heap, const char *twin,
		   struct gh_error *err)
{
	struct gh_typing_program program = {.twin = twin};
	names->heap = heap;
	names->globals = (struct gh_globals){.typing = &names->typing, .symbols = names->symbols};
	if (names->symbols != NULL) {
		program.own = gh_symbols_module(names->symbols);
		program.others = names->symbols->others.list.items;
		program.nothers = names->symbols->others.list.count;
	}
	return gh_typing_build(&names->typing, heap, &program, err);
}

void gh_names_free(struct gh_names *names)
{
	gh_globals_free(&names->globals);
	gh_typing_free(&names->typing);
	gh_traceback_free(&names->traceback);
}

const uint32_t *gh_names_classes(const struct gh_names *names)
{
	return names->typing.numbers;
}

size_t gh_names_count(const struct gh_names *names)
{
	return names->typing.nclasses;
}

const char *gh_names_class(const struct gh_names *names, uint32_t number)
{
	return gh_typing_class(&names->typing, number)->name;
}

void gh_names_print(FILE *out, const struct gh_names *names, uint32_t object)
{
	const char *name = gh_names_class(names, gh_names_classes(names)[object]);
	gh_escape_print(out, name);
}

void gh_names_print_object(FILE *out, const struct gh_names *names, uint32_t object)
{
	struct gh_heap_object place = gh_heap_object(names->heap, object);
	fprintf(out, "0x%" PRIx64 "  ", place.address);
	gh_names_print(out, names, object);
	if (gh_typing_class(&names->typing, gh_names_classes(names)[object])->typed)
		fprintf(out, ", %" PRIu64 " bytes", place.size);
}

struct gh_object gh_names_object(const struct gh_names *names, uint32_t object, uint64_t offset)
{
	return (struct gh_object){
	    .names = names,
	    .number = object,
	    .address = gh_heap_object(names->heap, object).address,
	    .type = gh_names_class(names, gh_names_classes(names)[object]),
	    .offset = offset,
	};
}

void gh_object_print(struct gh_emit *emit, const void *member)
{
	const struct gh_object *object = member;
	gh_names_print_object(emit->out, object->names, object->number);
}

/* NAME can be an argument of a command that hands it on to others, one of them a shell's. */
static bool is_plain(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_./*[]-";
	return name[strspn(name, letters)] == '\0';
}

void gh_names_print_command(FILE *out, const struct gh_names *names, uint32_t object)
{
	const struct gh_typing *typing = &names->typing;
	const struct gh_class *class = gh_typing_class(typing, gh_typing_of(typing, object));
	if (!class->typed || class->array || class->layout >= typing->types.count ||
	    !typing->types.items[class->layout].named || !is_plain(class->name))
		return;
	fprintf(out, "  goheap print '%s' 0x%" PRIx64 "\n", class->name,
		gh_typing_value(typing, object));
}

/* Prints TEXT for a person, after BEFORE, if it was found. Frees it either way. */
static bool print_found(FILE *out, bool found, struct gh_buffer *text, const char *before)
{
	if (found) {
		fputs(before, out);
		gh_print_bytes(out, (const char *)text->data, text->size, false);
	}
	gh_buffer_free(text);
	return found;
}

void gh_names_print_field(FILE *out, const struct gh_names *names, uint32_t object, uint64_t offset)
{
	struct gh_buffer text = {0};
	bool found = gh_typing_field(&names->typing, object, offset, &text);
	const char *before = found && text.data[0] != '[' ? "." : "";
	if (!print_found(out, found, &text, before))
		fprintf(out, "+%" PRIu64, offset);
}

void gh_object_print_field(struct gh_emit *emit, const void *member)
{
	const struct gh_object *object = member;
	struct gh_buffer text = {0};
	if (!emit->json)
		gh_names_print_field(emit->out, object->names, object->number, object->offset);
	else if (gh_typing_field(&object->names->typing, object->number, object->offset, &text))
		gh_print_bytes(emit->out, (const char *)text.data, text.size, true);
	else
		fputs("null", emit->out);
	gh_buffer_free(&text);
}
