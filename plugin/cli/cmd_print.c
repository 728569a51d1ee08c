/* goheap print: a value in the memory of a heap dump, core file or process, by its Go type. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/value/value.h"
#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/gdb/gdb.h"

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
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
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
};

/* Reads the value's bytes, which are given in hexadecimal digits. False, after saying so, if they
 * are something else. */
static bool read_bytes(struct typed *typed)
{
	const char *text = typed->options->value;
	unsigned byte;
	int length = 0;
	for (; text != NULL && *text != '\0'; text += 2) {
		if (sscanf(text, "%2x%n", &byte, &length) != 1 || length != 2) {
			fputs("goheap: expected two hexadecimal digits for each byte\n", stderr);
			return false;
		}
		gh_buffer_u8(&typed->bytes, (uint8_t)byte);
	}
	return !typed->bytes.failed;
}

static bool print_typed(struct gh_process *process, void *context)
{
	const struct typed *typed = context;
	struct gh_error err;
	struct gh_rtypes types;
	uint64_t address;
	memcpy(&address, typed->options->addresses.data, sizeof(address));
	if (!gh_rtypes_find(&types, process->tab, &err)) {
		gh_print_error(&err);
		return false;
	}
	struct gh_values values = make_values(typed->options, process, &types);
	bool made = typed->options->value == NULL
			? gh_value_print_named(&values, typed->type, address, &err)
			: gh_value_print_bytes(&values, typed->type, typed->bytes.data,
					       typed->bytes.size, &err);
	if (!made)
		gh_print_error(&err);
	made = finish(&values, made);
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
		fputs("goheap: the program, whose types these are, is not known: -e PROGRAM\n",
		      stderr);
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
	struct typed typed = {options, type, {0}};
	bool printed = type != NULL && read_bytes(&typed) &&
		       gh_process_look(options->file, options->process,
				       gh_options_program(options, running), print_typed, &typed);
	gh_buffer_free(&typed.bytes);
	free(type);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
