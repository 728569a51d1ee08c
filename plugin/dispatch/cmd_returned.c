/* goheap returned: the results of the function that GDB's finish has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/value/value.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/gdb/session_frame.h"

/* Words that are shown of results of no type that is known: more are rarely returned. */
enum { FIRST_WORDS = 3 };

struct returned {
	const struct gh_options *options;
	/* Where it returned; but pc is in the function. */
	struct gh_session_registers registers;
};

static bool read_returned(struct returned *returned)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	return directory != NULL &&
	       gh_session_registers_read(&returned->registers, directory, GH_SESSION_RETURNED, 8);
}

static bool add_results(struct gh_values *values, const struct returned *returned,
			const uint64_t registers[GH_VALUE_REGISTERS], struct gh_results *walk)
{
	struct gh_result result;
	uint64_t stack = returned->registers.sp + values->process->tab->image->arch->min_frame;
	for (bool first = true; gh_results_next(walk, &result); first = false) {
		if (!first)
			gh_buffer_bytes(&values->out, ", ", 2);
		gh_value_print_passed(values, &result, registers, stack);
	}
	return !walk->failed && !values->out.failed;
}

/* Appends the results of the function that has returned by their types. False if the SIGNATURES do
 * not tell these. */
static bool add_typed(struct gh_values *values, const struct returned *returned,
		      const uint64_t registers[GH_VALUE_REGISTERS], const struct gh_func *func,
		      const struct gh_signatures *signatures)
{
	const struct gh_process *process = values->process;
	struct gh_results walk;
	const struct gh_signature *signature = gh_signature_at(signatures, func->entry);
	return signature != NULL &&
	       strchr(gh_pclntab_name(process->tab, func->name), '[') == NULL &&
	       gh_results_begin(&walk, values->types, signature, process->minor) &&
	       add_results(values, returned, registers, &walk);
}

/* Whether FUNC, in a program of Go, returns in registers what it does. */
static bool returns_in_registers(const struct gh_process *process, const struct gh_func *func)
{
	return gh_arch_passes_in_registers(process->tab->image->arch, process->minor) &&
	       (func->flag & GH_FUNC_ASM) == 0;
}

/* Appends the first words that it may have returned. */
static void add_words(struct gh_values *values, const uint64_t registers[GH_VALUE_REGISTERS])
{
	uint64_t words[FIRST_WORDS];
	for (size_t i = 0; i < FIRST_WORDS; i++)
		words[i] = registers[values->process->tab->image->arch->passing.dwarf[i]];
	gh_value_print_words(values, words, FIRST_WORDS);
}

/* Prints the results: of types that are not known, the first words that it may have returned. */
static void print_results(struct gh_values *values, const struct returned *returned,
			  const struct gh_signatures *signatures)
{
	const struct gh_pclntab *tab = values->process->tab;
	const char *names = NULL;
	uint64_t registers[GH_VALUE_REGISTERS];
	struct gh_func func;
	size_t index = gh_pclntab_find(tab, returned->registers.pc - values->process->bias);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &func, NULL) ||
	    !gh_session_registers_order(&returned->registers, tab->image->arch, registers))
		return;
	if (!add_typed(values, returned, registers, &func, signatures)) {
		values->out.size = 0;
		if (!returns_in_registers(values->process, &func))
			return;
		add_words(values, registers);
		names = tab->image->arch->passing.first;
	}
	if (values->out.size == 0 || values->out.failed)
		return;
	printf("Value returned: %.*s", (int)values->out.size, (char *)values->out.data);
	if (names != NULL)
		printf("  (%s; its type is not known)", names);
	putchar('\n');
}

static bool print_returned(struct gh_process *process, void *context)
{
	const struct returned *returned = context;
	struct gh_rtypes types;
	struct gh_signatures signatures;
	struct gh_error err;
	if (!gh_process_types(&types, process, &err)) {
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
		gh_say("no function has returned by finish");
		return GH_EXIT_INPUT;
	}
	bool printed =
	    gh_process_look(options->file, NULL, options->program, print_returned, &returned);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
