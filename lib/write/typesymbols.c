#include "lib/write/typesymbols.h"

#include <stdlib.h>
#include <string.h>

#include "lib/write/dumptext.h"

/* Adds the symbol of what is at ADDRESS and of the type at TYPE, if its name has at most *LEFT
 * bytes: in a crafted dump all itabs could have one type with a long one. */
static void add(struct gh_buffer *out, const struct gh_dump *dump, uint64_t address,
		const char *prefix, uint64_t type, uint64_t *left)
{
	size_t number = gh_dump_find(dump, GH_DUMP_TYPE, type);
	if (number == GH_DUMP_NONE)
		return;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	if (record.type.name.size > *left)
		return;
	*left -= record.type.name.size;
	struct gh_type_symbol symbol = {address, prefix, record.type.name};
	gh_buffer_bytes(out, &symbol, sizeof(symbol));
}

static int compare_symbols(const void *a, const void *b)
{
	const struct gh_type_symbol *first = a;
	const struct gh_type_symbol *second = b;
	if (first->address != second->address)
		return first->address > second->address ? 1 : -1;
	return -strcmp(first->prefix, second->prefix);
}

void gh_typesymbols_find(struct gh_buffer *out, const struct gh_dump *dump)
{
	struct gh_dump_record record;
	uint64_t left = 2 * gh_cursor_size(&dump->file);
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_TYPE); i++) {
		gh_dump_get(dump, GH_DUMP_TYPE, i, &record);
		add(out, dump, record.type.address, "type:", record.type.address, &left);
	}
	for (size_t i = 0; dump->format >= GH_DUMP_1_4 && i < gh_dump_count(dump, GH_DUMP_ITAB);
	     i++) {
		gh_dump_get(dump, GH_DUMP_ITAB, i, &record);
		add(out, dump, record.itab.address, "itab:", record.itab.type, &left);
	}
	struct gh_type_symbol *symbols = (void *)out->data;
	size_t count = out->size / sizeof(*symbols);
	if (count == 0)
		return;
	qsort(symbols, count, sizeof(*symbols), compare_symbols);
	size_t kept = 1;
	for (size_t i = 1; i < count; i++)
		if (symbols[i].address != symbols[kept - 1].address)
			symbols[kept++] = symbols[i];
	out->size = kept * sizeof(*symbols);
}

void gh_typesymbol_name(struct gh_buffer *out, const struct gh_dump *dump,
			const struct gh_type_symbol *symbol)
{
	gh_buffer_bytes(out, symbol->prefix, strlen(symbol->prefix));
	gh_dumptext_put(out, dump, symbol->type_name);
}
