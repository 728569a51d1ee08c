/* The program that wrote a heap dump, as far as the dump's addresses need it. */
#ifndef GH_PLUGIN_VIEW_SYMBOLS_H
#define GH_PLUGIN_VIEW_SYMBOLS_H

#include "lib/dump/dump.h"
#include "lib/export/core_file.h"
#include "plugin/view/open_program.h"

struct gh_symbols_entry;

struct gh_symbols {
	struct gh_program program; /* owned */
	uint64_t bias;             /* of the dump's addresses over the file's */
	int wrapper;               /* funcID of compiler-made wrappers; -1 if it is not known */
	struct gh_sourcemap map;
	struct gh_symbols_entry *cache; /* what was looked up; owned */
};

/* What executes at a pc. */
struct gh_place {
	struct gh_func func;
	struct gh_range range; /* in the file's addresses */
};

/* Opens the Go program at PATH, which wrote DUMP: every frame of the dump must be one of its
 * functions. On failure prints the error and returns false. To be closed with gh_symbols_close. */
bool gh_symbols_open(struct gh_symbols *symbols, const struct gh_dump *dump, const char *path);

/* Frees everything. Zeroed ones may be closed too. */
void gh_symbols_close(struct gh_symbols *symbols);

/* Fills PROGRAM with what a core file of DUMP has to say of the program at PATH, which wrote it;
 * its name is in PATH. On failure prints the error and returns false: then the name alone is filled
 * in. */
bool gh_symbols_program(struct gh_core_program *program, const struct gh_dump *dump,
			const char *path);

/* What executes at PC, an address of the dump; good until the next call. NULL if it is in no
 * function. */
const struct gh_place *gh_symbols_find(struct gh_symbols *symbols, uint64_t pc);

#endif
