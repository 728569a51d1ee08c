/* .symtab: the ELF symbols of the functions, and of what the program itself still names. */
#ifndef GH_WRITE_SYMTAB_H
#define GH_WRITE_SYMTAB_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"
#include "lib/write/elffile.h"
#include "lib/write/skeleton.h"
#include "lib/write/slots.h"
#include "lib/write/stackswitch.h"
#include "lib/write/strings.h"

struct gh_symtab {
	struct gh_buffer symbols; /* the section's contents */
	uint32_t nlocals;         /* local symbols, which come first; its sh_info */
	uint8_t symbol_size;      /* size of a symbol, in bytes */
	struct gh_cursor names;   /* string table of the image's own symbols; it follows STRINGS in
				     .strtab, and a NUL follows it */
	struct gh_buffer types;   /* names of types and itabs, which follow that */
};

/* Fills SYMTAB with each function of TAB, with DATA (struct gh_data_symbol), and with the defined
 * symbols of the image's own .symtab, else .dynsym, that are not a function of the same name and
 * address; and unless there are DATA or SLOTS is NULL with the types and itabs of its dump. It
 * marks the code of SWITCHES, without which GDB takes a caller's stack at lower addresses for
 * corrupt. Symbols are in the sections of ELF; SKELETON has their numbers. False (ERR filled) if a
 * function cannot be read or memory ran out; in any case SYMTAB is to be freed. */
bool gh_symtab_make(struct gh_symtab *symtab, const struct gh_pclntab *tab,
		    const struct gh_elf *elf, const struct gh_skeleton *skeleton,
		    const struct gh_strings *strings, const struct gh_buffer *data,
		    const struct gh_slots *slots, const struct gh_switches *switches,
		    struct gh_error *err);

/* Appends SYMBOL to OUT, a symbol table of a machine with pointers of WORD bytes. */
void gh_symbol_put(struct gh_buffer *out, uint8_t word, const GElf_Sym *symbol);

void gh_symtab_free(struct gh_symtab *symtab);

#endif
