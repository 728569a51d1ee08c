/* goheap returned: the results of the function that GDB's finish has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/util/cursor.h"
#include "lib/value/value.h"
#include "plugin/cli/command.h"
#include "plugin/gdb/gdb.h"

/* What goheap.gdb has written of the function and of the registers where it returned. */
struct returned {
	const struct gh_options *options;
	uint64_t pc; /* in the function */
	uint64_t sp;
	uint64_t integers[9];
	uint64_t floats[15];
};

static bool read_returned(struct returned *returned)
{
	char path[PATH_MAX];
	uint8_t bytes[(2 + 9 + 2 * 15) * 8];
	const char *directory = getenv(GH_SESSION_VARIABLE);
	snprintf(path, sizeof(path), "%s/" GH_SESSION_RETURNED, directory != NULL ? directory : "");
	FILE *file = fopen(path, "re");
	size_t size = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file != NULL)
		fclose(file);
	struct gh_cursor cur = gh_cursor_make(bytes, size, path, 0, false);
	returned->pc = gh_cursor_u64(&cur);
	returned->sp = gh_cursor_u64(&cur);
	for (size_t i = 0; i < 9; i++)
		returned->integers[i] = gh_cursor_u64(&cur);
	for (size_t i = 0; i < 15; i++) {
		returned->floats[i] = gh_cursor_u64(&cur);
		gh_cursor_u64(&cur); /* the other half of an XMM register */
	}
	return !cur.failed;
}

/* Appends a result that is in registers. */
static void add_parts(struct gh_values *values, const struct returned *returned,
		      const struct gh_result *result)
{
	/* No more than all of the registers hold. */
	uint8_t bytes[GH_RESULT_PARTS * 8] = {0};
	for (size_t i = 0; i < result->nparts; i++) {
		const struct gh_result_part *part = &result->parts[i];
		uint64_t word = part->is_float ? returned->floats[part->number]
					       : returned->integers[part->number];
		for (unsigned j = 0; j < part->size && part->offset + j < sizeof(bytes); j++)
			bytes[part->offset + j] = (uint8_t)(word >> 8 * j);
	}
	if (values->types->items[result->type].size <= sizeof(bytes))
		gh_value_print_own(values, result->type, bytes);
	else
		gh_buffer_bytes(&values->out, "?", 1);
}

static bool add_results(struct gh_values *values, const struct returned *returned,
			struct gh_results *walk)
{
	struct gh_result result;
	for (bool first = true; gh_results_next(walk, &result); first = false) {
		if (!first)
			gh_buffer_bytes(&values->out, ", ", 2);
		if (result.in_memory)
			gh_value_print(values, result.type, returned->sp + result.offset);
		else
			add_parts(values, returned, &result);
	}
	return !walk->failed && !values->out.failed;
}

/* Prints the results of the function that has returned, if the SIGNATURES tell their types. */
static void print_results(struct gh_values *values, const struct returned *returned,
			  const struct gh_signatures *signatures)
{
	const struct gh_pclntab *tab = values->process->tab;
	struct gh_func func;
	struct gh_results walk;
	size_t index = gh_pclntab_find(tab, returned->pc - values->process->bias);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &func, NULL))
		return;
	const struct gh_signature *signature = gh_signature_at(signatures, func.entry);
	if (signature != NULL && strchr(gh_pclntab_name(tab, func.name), '[') == NULL &&
	    gh_results_begin(&walk, values->types, signature, values->process->minor) &&
	    add_results(values, returned, &walk) && values->out.size > 0)
		printf("Value returned: %.*s\n", (int)values->out.size, (char *)values->out.data);
}

static bool print_returned(struct gh_process *process, void *context)
{
	const struct returned *returned = context;
	struct gh_rtypes types;
	struct gh_signatures signatures;
	struct gh_error err;
	if (!gh_rtypes_find(&types, process->tab, &err)) {
		gh_print_error(&err);
		return false;
	}
	bool found = gh_signatures_find(&signatures, &types, &err);
	if (found) {
		struct gh_values values = {.process = process,
					   .types = &types,
					   .limit = returned->options->limit,
					   .depth = (unsigned)returned->options->depth};
		print_results(&values, returned, &signatures);
		gh_values_free(&values);
		gh_signatures_free(&signatures);
	} else {
		gh_print_error(&err);
	}
	gh_rtypes_free(&types);
	return found;
}

int gh_cmd_returned(const struct gh_options *options)
{
	struct returned returned = {.options = options};
	if (!read_returned(&returned)) {
		fputs("goheap: no function has returned by finish\n", stderr);
		return GH_EXIT_INPUT;
	}
	bool printed =
	    gh_process_look(options->file, NULL, options->program, print_returned, &returned);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
