/* A directory of output files that is there whole or not at all: written under a name that begins
 * with a dot, beside where it goes, then renamed. */
#ifndef GH_UTIL_OUTPUT_DIRECTORY_H
#define GH_UTIL_OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include "lib/util/error.h"

struct gh_output_directory {
	char *path; /* to write into; owned */
	int lock;   /* open, and locked, for as long as it is written */
};

/* Makes the directory PATH, and those that it is in, unless they are there. False (ERR filled) if
 * one cannot be made. */
bool gh_make_directories(const char *path, struct gh_error *err);

/* Makes a directory in TOP, which is made, too; what processes that were killed have left there is
 * removed. False (ERR filled) if it cannot. On success it is to be ended with either of the
 * functions below. */
bool gh_output_directory_open(struct gh_output_directory *out, const char *top,
			      struct gh_error *err);

/* Gives the directory the name TARGET, of the same file system; if there is one, then its files the
 * places of those in that, each whole. False (ERR filled), and all that has no place yet removed,
 * if it cannot. */
bool gh_output_directory_commit(struct gh_output_directory *out, const char *target,
				struct gh_error *err);

/* Removes the directory, and what is in it. */
void gh_output_directory_discard(struct gh_output_directory *out);

#endif
