/* Files of text that tell numbers, as those of proc(5) and of control groups do. */
#ifndef GH_UTIL_NUMBER_FILE_H
#define GH_UTIL_NUMBER_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number that follows KEY, "" for none, at the beginning of a line of the file PATH; the
 * first if there are several. False if there is none, or PATH cannot be read. */
bool gh_number_file_read(const char *path, const char *key, uint64_t *number);

#endif
