/* Symbols where GDB has no file of the program that it can read: the file is deleted, in another
 * mount namespace or on another machine, or there is but a core file. */
#ifndef GH_PLUGIN_GDB_MISSING_FILE_H
#define GH_PLUGIN_GDB_MISSING_FILE_H

#include <limits.h>
#include <stdio.h>

#include "lib/elf/loaded.h"
#include "plugin/gdb/info_files.h"

struct gh_missing_file {
	FILE *script;          /* for GDB to run */
	const char *directory; /* of the session, canonical */
	bool drop;             /* GDB has a program, which it is to drop for one in memory */
};

/* GDB has no program file, or one that is there for the process only, or the copy of another's:
 * looks for the Go program of the process or core file that FILES tells of, and has GDB take what
 * was found. It is said in one line if there is something to be said; nothing is done a second
 * time. */
void gh_missing_file_look(const struct gh_missing_file *job, const struct gh_infofiles *files);

/* Notes that the process or core file that FILES tells of needs no look. */
void gh_missing_file_note(const struct gh_missing_file *job, const struct gh_infofiles *files);

/* Whether that is so: GDB needs gh_missing_file_look for FILES. */
bool gh_missing_file_needed(const char *directory, const struct gh_infofiles *files);

/* Has GDB take DIRECTORY's GH_SESSION_PROGRAM, the copy of a Go program, for its program; ORIGIN
 * says why there is a copy. */
void gh_missing_file_take(const struct gh_missing_file *job, const char *origin);

/* Has GDB take the symbols of the Go program that is LOADED in MEMORY. NAME is what tells the debug
 * file from others of the session. False (ERR filled) if there is none. */
bool gh_missing_file_take_memory(const struct gh_missing_file *job, const struct gh_loaded *loaded,
				 const struct gh_memory *memory, const char *name,
				 const char *origin, struct gh_error *err);

/* Where GDB has no program, and one was made again from the memory of what FILES tells of, has
 * FILES name that. DIRECTORY is the session's. */
void gh_missing_file_made(const char *directory, struct gh_infofiles *files);

/* The file PATH is a Go program. */
bool gh_missing_file_is_go(const char *path);

/* IDENTITY is what was last looked into; if not, notes that it is from now on. */
bool gh_missing_file_seen(const char *directory, const char *identity);

/* Puts the path of the session's file NAME into BUF, which it returns. */
char *gh_missing_file_path(char buf[PATH_MAX], const char *directory, const char *name);

#endif
