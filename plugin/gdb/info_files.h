/* What GDB's `info files' prints. */
#ifndef GH_PLUGIN_GDB_INFO_FILES_H
#define GH_PLUGIN_GDB_INFO_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
	bool running; /* there is a process, a core file, or a connection to a target */
};

/* Reads what GDB printed from IN; it may end early. False if memory ran out. */
bool gh_infofiles_read(struct gh_infofiles *files, FILE *in);

/* The same from TEXT. */
bool gh_infofiles_parse(struct gh_infofiles *files, const char *text);

void gh_infofiles_free(struct gh_infofiles *files);

#endif
