/* goheap referrers: the roots and the objects that point to an object. */
#include <inttypes.h>
#include <stdio.h>

#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/view/table.h"

/* An object that points to another more than once is in one line. */
static void print_fields(const struct gh_question *question, uint32_t referrer, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	size_t count = 0;
	size_t limit = question->options->limit;
	gh_pointers_start(&question->heap, referrer, &walk);
	while (gh_pointers_next_to(&walk, object, &pointer)) {
		if (count++ == limit) {
			fputs(" ...", stdout);
			return;
		}
		putchar(' ');
		gh_names_print_field(stdout, &question->names, referrer, pointer.offset);
	}
}

static int print_text(struct gh_question *question, uint32_t object, uint64_t address)
{
	(void)address;
	const struct gh_root *roots;
	const uint32_t *referrers;
	struct gh_table table = {0};
	size_t limit = question->options->limit;
	size_t nroots = gh_heap_roots(&question->heap, object, &roots);
	size_t nreferrers = gh_heap_referrers(&question->heap, object, &referrers);
	gh_names_print_object(stdout, &question->names, object);
	putchar('\n');
	for (size_t i = 0; i < nroots && table.rows < limit; i++, table.rows++) {
		fputs("  ", stdout);
		gh_names_print_root(stdout, &question->names, &roots[i]);
		putchar('\n');
	}
	for (size_t i = 0; i < nreferrers && table.rows < limit; i++, table.rows++) {
		fputs("  ", stdout);
		gh_names_print_object(stdout, &question->names, referrers[i]);
		putchar(' ');
		print_fields(question, referrers[i], object);
		putchar('\n');
	}
	if (nroots + nreferrers == 0)
		puts("  nothing points to it");
	gh_table_finish(&table, nroots + nreferrers);
	return GH_EXIT_OK;
}

static void print_referrer_json(const struct gh_question *question, uint32_t referrer,
				uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	const char *separator = "";
	printf("{\"object\":\"0x%" PRIx64 "\",\"type\":",
	       gh_heap_object(&question->heap, referrer).address);
	gh_names_print(stdout, &question->names, referrer, true);
	fputs(",\"pointers\":[", stdout);
	gh_pointers_start(&question->heap, referrer, &walk);
	while (gh_pointers_next_to(&walk, object, &pointer)) {
		printf("%s{\"offset\":%" PRIu64 ",\"field\":", separator, pointer.offset);
		gh_names_print_field_json(stdout, &question->names, referrer, pointer.offset);
		putchar('}');
		separator = ",";
	}
	fputs("]}", stdout);
}

static int print_json(struct gh_question *question, uint32_t object, uint64_t address)
{
	(void)address;
	const struct gh_root *roots;
	const uint32_t *referrers;
	struct gh_row row = {.dump = &question->dump, .json = true};
	size_t limit = question->options->limit;
	size_t nroots = gh_heap_roots(&question->heap, object, &roots);
	size_t nreferrers = gh_heap_referrers(&question->heap, object, &referrers);
	gh_row_address(&row, "object", gh_heap_object(&question->heap, object).address);
	gh_row_key(&row, "type");
	gh_names_print(stdout, &question->names, object, true);
	gh_row_key(&row, "roots");
	putchar('[');
	for (size_t i = 0; i < nroots && i < limit; i++) {
		if (i > 0)
			putchar(',');
		gh_names_print_root_json(stdout, &question->names, &roots[i]);
	}
	putchar(']');
	gh_row_key(&row, "referrers");
	putchar('[');
	for (size_t i = 0; i < nreferrers && i < limit; i++) {
		if (i > 0)
			putchar(',');
		print_referrer_json(question, referrers[i], object);
	}
	putchar(']');
	gh_row_end(&row);
	return GH_EXIT_OK;
}

int gh_cmd_referrers(const struct gh_options *options)
{
	return gh_question_run_each(options, false, options->json ? print_json : print_text);
}
