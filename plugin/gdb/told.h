/* What GDB prints of the files that it has, and of its settings, for the goheap program to read:
 * info_files.c, told.c. */
#ifndef GH_PLUGIN_GDB_TOLD_H
#define GH_PLUGIN_GDB_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/util/error.h"

/* The shell's command that GDB pipes one of its own into: the goheap program with the arguments %s,
 * and then a reader of the rest. A pipe that nobody reads ends a GDB that heeds SIGPIPE. */
#define GH_SCRIPT_PROGRAM_LAST                                                                     \
	"{ trap \"exit 1\" INT; \"$GOHEAP_PROGRAM\" %s && status=0 || status=1; "                  \
	"cat >/dev/null; exit $status; }"

/* What GDB's `info files' prints. */

/* The strings are owned. */
struct gh_infofiles {
	char *program;  /* the exec file; NULL if GDB has none */
	char *core;     /* the core file; NULL if GDB has none */
	char *symbols;  /* the file that the program's symbols are from; NULL if there are none */
	uint64_t entry; /* address of the program's entry point, where it is loaded; 0 if unknown */
	int pid; /* of the process, or a thread of it, that GDB runs itself; 0 if there is none */
	bool remote; /* there is a remote target */
	bool
	    unclear; /* a file's name looks like what GDB prints: no telling which is the program */
	bool running;   /* there is a process, a core file, or a connection to a target */
	char *sections; /* the lines that tell of the sections of files, and more */
};

/* Reads what GDB printed from IN; it may end early. False if memory ran out. */
bool gh_infofiles_read(struct gh_infofiles *files, FILE *in);

/* The same from TEXT. */
bool gh_infofiles_parse(struct gh_infofiles *files, const char *text);

void gh_infofiles_free(struct gh_infofiles *files);

/* Checks that the program that FILES name is of the build that runs in the process that GDB debugs
 * itself, or ran in that of the core file. False (ERR filled, with both build ids and where the
 * right program is) if it is of another; true where nothing tells. */
bool gh_program_fits(const struct gh_infofiles *files, struct gh_error *err);

/* Checks that, too. If the program is of another build, says so, has GDB keep no symbols of
 * goheap's, which HAS_OURS says it has, and returns true. */
bool gh_program_refuse(FILE *script, const char *directory, const struct gh_infofiles *files,
		       bool has_ours);

/* The session's link to the program that a remote target is to run. */
#define GH_SESSION_REMOTE "remote"

/* Has GDB read the first page of the program on the remote target that FILES tells of, for `goheap
 * fetch check' to compare. DIRECTORY is the session's. */
void gh_program_ask_target(FILE *script, const char *directory, const struct gh_infofiles *files);

/* If MEMORY, the target's, has another build than that program at START, says so and has GDB keep
 * no symbols of goheap's. */
void gh_program_check_target(FILE *script, const char *directory, const struct gh_memory *memory,
			     uint64_t start);

/* Reads the next line of *TEXT, the sections, that tells of a section of a library: which, in
 * pieces of the line, and where it is loaded; has *TEXT point to the next. False if there are no
 * more. A file's name may look like such a line: what is found is to be compared with the memory
 * there. */
struct gh_loaded_section {
	const char *name;
	size_t name_size; /* in bytes */
	const char *path;
	size_t path_size;
	uint64_t address;
};

bool gh_infofiles_section(const char **text, struct gh_loaded_section *section);

/* What goheap.gdb's _goheap_tell prints: settings of GDB's, a line "files", what `info files'
 * prints, a line "libraries", what `info sharedlibrary' prints, and the variable of the environment
 * by which libraries are found. */

struct gh_told {
	bool scalars;              /* it shows arguments of frames as it does by itself */
	struct gh_infofiles files; /* owned, as are the texts, which are NULL if GDB tells none */
	char *debug_directories;   /* where it looks for debug files, with colons between */
	char *libraries;           /* from what `info sharedlibrary' prints to the end */
	char *library_path;        /* LD_LIBRARY_PATH, as the program is started with */
};

/* Reads what GDB printed from IN; it may end early. False if memory ran out. */
bool gh_told_read(struct gh_told *told, FILE *in);

/* The same from TEXT. */
bool gh_told_parse(struct gh_told *told, const char *text);

void gh_told_free(struct gh_told *told);

#endif
