/* The string table that the symbols and the DWARF share: the function names as the pclntab has
 * them, all of its bytes from the first name to the last. So it is not copied, and however the
 * names overlap it is no longer than the pclntab. Only where a name has control characters, which
 * GDB would send to the terminal, are there question marks instead. */
#ifndef GH_WRITE_STRINGS_H
#define GH_WRITE_STRINGS_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"

struct gh_strings {
	const char *start;  /* the first name; in the image */
	const char *names;  /* what is written for them: the same, or the copy below */
	char *clean;        /* a copy without control characters, if there are any; owned */
	bool dirty;         /* there are */
	size_t names_size;  /* to the end of the last, its NUL included */
	const char *header; /* what comes before them: the empty string and those named below */
	size_t header_size; /* with the last NUL */
	struct gh_buffer others; /* what gh_strings_append adds after the names */
	size_t others_limit;     /* the most bytes of it */
};

/* Finds the extent of the names of TAB's functions. False (ERR filled) if a function cannot be
 * read. */
bool gh_strings_find(struct gh_strings *strings, const struct gh_pclntab *tab,
		     struct gh_error *err);

/* Takes NAME in, which gh_pclntab_name gave: that of a function that has no code but where it is
 * inlined may come after all others. Returns its offset in the table; 0 if it is empty or comes
 * before the first of a function, as no linker puts it. */
uint32_t gh_strings_add(struct gh_strings *strings, const char *name);

/* Makes the names ready to be written, once all are in. False (ERR filled) if they are too many for
 * 32-bit offsets or memory ran out. */
bool gh_strings_finish(struct gh_strings *strings, const struct gh_pclntab *tab,
		       struct gh_error *err);

/* Adds the LENGTH bytes at TEXT, which become a string without control characters, after the names,
 * once those are finished. Returns its offset; that of the empty string if what is added would grow
 * beyond a small multiple of the image. OTHERS has failed if memory ran out. */
uint32_t gh_strings_append(struct gh_strings *strings, const void *text, size_t length);

/* The size of the table, in bytes. */
size_t gh_strings_size(const struct gh_strings *strings);

void gh_strings_free(struct gh_strings *strings);

/* The offset of NAME, which gh_pclntab_name gave for a function, in the table. 0 if it is empty. */
uint32_t gh_strings_offset(const struct gh_strings *strings, const char *name);

/* The offsets of strings that are in every table: who made the file, and the names by which GDB
 * knows that a function may be the kernel's return from a signal handler (Go 1.21 calls it so),
 * and that the stack may go on anywhere (GCC's split stacks do there). */
#define GH_STRINGS_PRODUCER     1
#define GH_STRINGS_SIGNAL_FRAME 8
#define GH_STRINGS_MORESTACK    37

#endif
