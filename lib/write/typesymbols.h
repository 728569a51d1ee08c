/* Symbols for the types and itabs of a heap dump: a debugger that prints a pointer to one names it.
 */
#ifndef GH_WRITE_TYPESYMBOLS_H
#define GH_WRITE_TYPESYMBOLS_H

#include "lib/dump/dump.h"
#include "lib/util/buffer.h"

struct gh_type_symbol {
	uint64_t address;               /* of the type's descriptor, or of the itab */
	const char *prefix;             /* "type:" or "itab:"; not owned */
	struct gh_dump_slice type_name; /* of the type, or of the itab's dynamic type */
};

/* Appends to OUT a struct gh_type_symbol for each type of DUMP and, in formats where they tell
 * their type, itab; by address, each address once. */
void gh_typesymbols_find(struct gh_buffer *out, const struct gh_dump *dump);

/* Appends the name of SYMBOL to OUT, a string table: "type:main.Node". */
void gh_typesymbol_name(struct gh_buffer *out, const struct gh_dump *dump,
			const struct gh_type_symbol *symbol);

#endif
