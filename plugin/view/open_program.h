/* A Go program that a command reads, and the messages that commands share. */
#ifndef GH_PLUGIN_VIEW_OPEN_PROGRAM_H
#define GH_PLUGIN_VIEW_OPEN_PROGRAM_H

#include <stdio.h>

#include "lib/pclntab/sourcemap.h"

struct gh_program {
	struct gh_image image; /* owned */
	struct gh_pclntab tab; /* of the image */
	uint64_t names_left;   /* bytes of names that may still be printed of all functions */
};

/* Opens the Go program at PATH, to be closed with gh_program_close. On failure prints the error and
 * returns false. */
bool gh_program_open(struct gh_program *program, const char *path);

void gh_program_close(struct gh_program *program);

/* Where all functions are printed, names of SIZE bytes are: in a crafted program thousands of lines
 * can share a long one, and the output would be out of proportion. */
void gh_program_take_names(struct gh_program *program, size_t size);

/* What was printed is in proportion to the program. If not, prints that the rest is left out, and
 * returns false. */
bool gh_program_goes_on(const struct gh_program *program);

/* Reads function number INDEX and starts the walk MAP over it, if the program goes on. On failure
 * prints the error and returns false. */
bool gh_program_walk(const struct gh_program *program, size_t index, struct gh_func *func,
		     struct gh_sourcemap *map);

/* Prints ERR to standard error as the one line it is. */
void gh_print_error(const struct gh_error *err);

/* PATH, NULL if there is none, may be written: it is not INPUT, NULL if there is none, by whatever
 * name. If it is, prints so and returns false. */
bool gh_check_output(const char *path, const char *input);

/* Prints to standard error what system call failed on PATH, as perror does, but escaped. */
void gh_print_errno(const char *path);

/* Prints to standard error that the file at PATH has COUNT of WHAT; nothing if COUNT is 0. */
void gh_print_warning(const char *path, uint64_t count, const char *what);

#endif
