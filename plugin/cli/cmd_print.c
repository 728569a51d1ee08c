/* goheap print: a value in the memory of a heap dump, core file or process, by its Go type. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/value/value.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/dispatch/dispatch.h"
#include "plugin/gdb/gdb.h"
#include "plugin/gdb/session_frame.h"

static struct gh_values make_values(const struct gh_options *options, struct gh_process *process,
				    const struct gh_rtypes *types)
{
	return (struct gh_values){
	    .process = process,
	    .types = types,
	    .limit = options->limit,
	    .depth = (unsigned)options->depth,
	    .part = options->part,
	    .json = options->json,
	};
}

/* Prints the text, in which nothing is left that a terminal would act on. */
static bool finish(struct gh_values *values, bool made)
{
	if (values->out.failed)
		gh_say(GH_OUT_OF_MEMORY);
	else if (made) {
		fwrite(values->out.data, 1, values->out.size, stdout);
		fputc('\n', stdout);
	}
	made = made && !values->out.failed;
	gh_values_free(values);
	return made;
}

/* What is asked for, of a type by name. */
struct typed {
	const struct gh_options *options;
	const char *type;
	struct gh_buffer bytes; /* the value, if it was given; owned */
	bool likely;            /* it may be another */
	bool is_asked;          /* the type is not the one that the argument is known to have */
};

/* The number in the argument's name that is given for the value's bytes; UINT_MAX if they are. */
static unsigned argument_number(const struct gh_options *options)
{
	unsigned number;
	return options->value != NULL && sscanf(options->value, "arg%u", &number) == 1 ? number
										       : UINT_MAX;
}

/* Reads the value's bytes, which are given in hexadecimal digits. False, after saying so, if they
 * are something else. */
static bool read_bytes(struct typed *typed)
{
	bool is_given = argument_number(typed->options) == UINT_MAX;
	const char *text = is_given ? typed->options->value : NULL;
	unsigned byte;
	int length = 0;
	for (; text != NULL && *text != '\0'; text += 2) {
		if (sscanf(text, "%2x%n", &byte, &length) != 1 || length != 2) {
			gh_say("expected two hexadecimal digits for each byte");
			return false;
		}
		gh_buffer_u8(&typed->bytes, (uint8_t)byte);
	}
	return !typed->bytes.failed;
}

/* Finds the bytes of the argument NUMBER of the frame that GDB has described; or, of one that has
 * no type and is asked for by none, appends its words. False, after saying so, if the function has
 * not saved it. */
static bool find_argument(struct typed *typed, struct gh_values *values, unsigned number,
			  bool *appended)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	const struct gh_arch *arch = values->process->tab->image->arch;
	struct gh_session_frame told = {0};
	struct gh_value_frame frame;
	uint64_t registers[GH_VALUE_REGISTERS];
	struct gh_signatures signatures = {0};
	struct gh_error err;
	uint32_t named = gh_rtypes_named(values->types, typed->type, NULL);
	enum gh_kind kind = gh_kind_named(typed->type);
	/* GDB has such for words of no type. */
	bool is_word =
	    (kind != 0 && kind <= GH_KIND_COMPLEX128) || gh_print_is_untyped(typed->type);
	bool found = false;
	if (directory != NULL && gh_session_frame_read(&told, directory) && told.caller == 0 &&
	    gh_session_value_frame(&frame, registers, directory, told.level, arch) &&
	    gh_signatures_find(&signatures, values->types, &err)) {
		uint32_t type = gh_value_frame_argument(values, &frame, &signatures, number,
							&typed->bytes, &typed->likely);
		found = type != GH_NO_RTYPE;
		typed->is_asked = !found || type != named;
		*appended = !found && is_word &&
			    gh_value_print_argument(values, &frame, &signatures, number);
		found = found || *appended ||
			gh_value_frame_words(values, &frame, &signatures, number, &typed->bytes,
					     &typed->likely);
	}
	gh_signatures_free(&signatures);
	gh_session_frame_free(&told);
	if (*appended && (values->json || values->part != NULL)) {
		gh_say("arg%u has no type that is known", number);
		return false;
	}
	if (found)
		return true;
	fprintf(
	    stderr,
	    "goheap: arg%u is not known here: the function was called with it in registers, and "
	    "has not saved it\n",
	    number);
	return false;
}

/* Appends the value of such an argument. Of a type that was asked for a word is the address of the
 * value, or the value if that is a pointer. */
static bool add_argument(const struct typed *typed, struct gh_values *values, struct gh_error *err)
{
	unsigned word = values->process->tab->pointer_size;
	bool is_part = values->part != NULL;
	bool is_word = typed->is_asked && typed->bytes.size == word;
	struct gh_rtype_text type = {typed->type, is_part ? 0 : (uint32_t)strlen(typed->type)};
	if (typed->likely && values->json)
		gh_value_open(values, "", type, true);
	bool made =
	    is_word ? gh_value_print_named(values, typed->type,
					   gh_cursor_join_bytes(typed->bytes.data, word,
								values->process->memory.big_endian),
					   err)
		    : gh_value_print_bytes(values, typed->type, typed->bytes.data,
					   typed->bytes.size, err);
	if (typed->likely && values->json)
		gh_value_close(values);
	else if (typed->likely)
		gh_buffer_u8(&values->out, '?');
	return made;
}

/* Appends what is asked for. False, after saying why, if it cannot be. */
static bool add_typed(struct typed *typed, struct gh_values *values)
{
	struct gh_error err;
	uint64_t address = typed->options->addresses.items[0];
	unsigned argument = argument_number(typed->options);
	bool appended = false;
	if (argument != UINT_MAX && !find_argument(typed, values, argument, &appended))
		return false;
	if (appended)
		return true;
	bool made = argument != UINT_MAX ? add_argument(typed, values, &err)
		    : typed->options->value == NULL
			? gh_value_print_named(values, typed->type, address, &err)
			: gh_value_print_bytes(values, typed->type, typed->bytes.data,
					       typed->bytes.size, &err);
	if (!made)
		gh_print_error(&err);
	return made;
}

static bool print_typed(struct gh_process *process, void *context)
{
	struct typed *typed = context;
	struct gh_error err;
	struct gh_rtypes types;
	if (!gh_process_types(&types, process, &err)) {
		gh_print_error(&err);
		return false;
	}
	struct gh_values values = make_values(typed->options, process, &types);
	bool made = finish(&values, add_typed(typed, &values));
	gh_rtypes_free(&types);
	return made;
}

/* The type of maps or channels whose header has LAYOUT; GH_NO_RTYPE if it is none. */
static uint32_t find_header_type(const struct gh_typing *typing, uint32_t layout)
{
	for (uint32_t i = 0; i < typing->types.count; i++) {
		unsigned kind = typing->types.items[i].kind;
		if ((kind == GH_KIND_MAP || kind == GH_KIND_CHAN) &&
		    gh_layout(&typing->layouts, i)->elem == layout)
			return i;
	}
	return GH_NO_RTYPE;
}

/* A run of values that an object is. */
struct run {
	uint32_t type;    /* theirs; of maps or channels, if IS_HEADER */
	bool is_header;   /* the object is the header of one */
	bool is_array;    /* there may be several */
	uint64_t address; /* of the first */
	uint64_t count;
};

/* What OBJECT is. False if its type is not one that the program describes. */
static bool find_run(const struct gh_typing *typing, const struct gh_class *class,
		     const struct gh_heap_object *object, uint64_t address, struct run *run)
{
	*run = (struct run){.type = class->layout, .address = address, .is_array = class->array};
	if (!class->typed && !class->perhaps)
		return false;
	if (class->layout >= typing->types.count) {
		run->is_header = true;
		run->is_array = false;
		run->type = find_header_type(typing, class->layout);
	}
	run->is_array = run->is_array && class->size > 0;
	if (run->is_array)
		run->count = (object->size - (address - object->address)) / class->size;
	return run->type != GH_NO_RTYPE;
}

static void add_run(struct gh_values *values, const struct run *run)
{
	if (run->is_header)
		gh_value_print_pointer(values, run->type, run->address);
	else if (run->is_array)
		gh_value_print_elements(values, run->type, run->address, run->count);
	else
		gh_value_print(values, run->type, run->address);
}

/* Appends RUN, which is PERHAPS of its type, with that type. */
static void add_run_json(struct gh_values *values, const struct run *run, bool perhaps)
{
	char count[32] = "";
	const struct gh_rtype_text *text = &values->types->items[run->type].text;
	if (run->is_array)
		snprintf(count, sizeof(count), "[%" PRIu64 "]", run->count);
	gh_value_open(values, count, *text, perhaps);
	add_run(values, run);
	gh_value_close(values);
}

/* Appends what OBJECT is. False if its type is not one that the program describes. */
static bool add_object(struct gh_values *values, const struct gh_heap_query *query, uint32_t object)
{
	const struct gh_typing *typing = &query->names.typing;
	const struct gh_class *class = gh_typing_class(typing, gh_typing_of(typing, object));
	struct gh_heap_object place = gh_heap_object(&query->heap, object);
	struct run run;
	if (!find_run(typing, class, &place, gh_typing_value(typing, object), &run))
		return false;
	if (values->json) {
		add_run_json(values, &run, class->perhaps);
	} else {
		if (class->perhaps)
			gh_buffer_bytes(&values->out, "perhaps ", strlen("perhaps "));
		add_run(values, &run);
	}
	return true;
}

static int print_object(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	struct gh_process process;
	struct gh_memory memory;
	if (query->names.symbols == NULL) {
		gh_say("the program, whose types these are, is not known: -e PROGRAM");
		return GH_EXIT_USAGE;
	}
	gh_dump_process(&process, &memory, &query->dump, query->names.symbols);
	struct gh_values values = make_values(query->options, &process, &query->names.typing.types);
	bool known = add_object(&values, query, object);
	bool printed = finish(&values, known);
	gh_process_memory_free(&process.memory);
	if (known)
		return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
	fprintf(stderr,
		"goheap: 0x%" PRIx64 ": not of a type that the program describes: ", address);
	gh_names_print(stderr, &query->names, object);
	fputs("\n", stderr);
	return GH_EXIT_INPUT;
}

int gh_cmd_print(const struct gh_options *options)
{
	char running[32];
	if (options->nwords == 0)
		return gh_heap_query_run_each(options, GH_WITH_NAMES, print_object);
	char *type = gh_options_join(options);
	struct typed typed = {.options = options, .type = type};
	bool printed = type != NULL && read_bytes(&typed) &&
		       gh_process_look(options->file, options->process,
				       gh_options_program(options, running), print_typed, &typed);
	gh_buffer_free(&typed.bytes);
	free(type);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
