/* An output file that is there whole or not at all: written without a name, or where that cannot be
 * under a temporary one beside its own, then renamed. */
#ifndef GH_UTIL_OUTPUT_H
#define GH_UTIL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/util/error.h"

struct gh_output {
	int fd;     /* open for reading and writing; to write into */
	char *path; /* the file's name; owned */
	char *temp; /* its name until it is whole; owned, NULL while it has none */
};

/* Permissions of a file that has memory of a process: as gcore's, they are the user's alone. */
#define GH_OUTPUT_PRIVATE 0600

/* Those of other files. */
#define GH_OUTPUT_PUBLIC 0666

/* Creates the temporary file for PATH, with those permissions of MODE that the umask leaves. False
 * (ERR filled) if it cannot be created, or if PATH is something else than a regular file (a device,
 * say) that a rename would put an end to. On success the output is to be ended with either of the
 * functions below. */
bool gh_output_open(struct gh_output *out, const char *path, mode_t mode, struct gh_error *err);

/* False (ERR filled) if PATH is the file INPUT, by whatever name: what is read may not be replaced.
 */
bool gh_output_spares(const char *path, const char *input, struct gh_error *err);

/* Removes the temporary files of all outputs that are open. For a process that is about to end,
 * even in a signal's handler. */
void gh_output_remove_temporary(void);

/* Has the file have its temporary name now, for what opens it by that. False (ERR filled) if it
 * cannot. */
bool gh_output_name(struct gh_output *out, struct gh_error *err);

/* A stream that writes to the file, to be closed before the output is ended. NULL (ERR filled) if
 * there can be none. */
FILE *gh_output_stream(const struct gh_output *out, struct gh_error *err);

/* Gives the file its name, in place of a file that had it, and closes the output. False (ERR
 * filled), and the temporary file removed, if that cannot be done. */
bool gh_output_commit(struct gh_output *out, struct gh_error *err);

/* Removes the temporary file and closes the output. */
void gh_output_discard(struct gh_output *out);

/* Ends the output by the one or the other: commits it if it is WHOLE. Otherwise false, ERR being as
 * it was. */
bool gh_output_end(struct gh_output *out, bool whole, struct gh_error *err);

/* Writes the SIZE bytes at DATA to FD, where it is. False, and errno set, if it cannot. */
bool gh_write_all(int fd, const void *data, size_t size);

#endif
