/* Opens the files that are read: regular ones. */
#ifndef GH_UTIL_OPEN_FILE_H
#define GH_UTIL_OPEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/util/error.h"

/* Opens the regular file PATH for reading and fills ST. Does not wait for anybody to write to a
 * FIFO or to dial a line. Returns the descriptor, the caller's to close; -1 (ERR filled) if it
 * cannot be opened or is something else, which ERR names. */
int gh_open_file(const char *path, struct stat *st, struct gh_error *err);

/* Opens a file for reading and writing that is gone with its descriptor: in $TMPDIR or, without
 * that, in /tmp. A container may have no /tmp that can be written to: the file is in memory there.
 * Returns the descriptor; -1 (errno set) if there can be no file. */
int gh_open_temporary(void);

/* The same for SIZE bytes and more, on a disk that has room for them: in $TMPDIR or, without that,
 * in /tmp or /var/tmp, as the first may be in memory. -1 (errno set) if there is none. */
int gh_open_temporary_on_disk(uint64_t size);

/* Writes SIZE BYTES to the file FD, from OFFSET on. False, and errno set, if not all could be. */
bool gh_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

/* Both tell of one file that has not changed between them: by device, inode, size and time. */
bool gh_is_same_file(const struct stat *a, const struct stat *b);

/* Writes the first SIZE bytes of the file FROM to TO, where it is. False, and errno set, if it
 * cannot. */
bool gh_copy_file(int to, int from, off_t size);

#endif
