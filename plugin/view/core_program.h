/* Reconstructs the program of a core file from the memory of it that the core file has. */
#ifndef GH_PLUGIN_VIEW_CORE_PROGRAM_H
#define GH_PLUGIN_VIEW_CORE_PROGRAM_H

#include <stdbool.h>

/* Where such a program is read: the path of an open file that has no name. */
#define GH_CORE_PROGRAM_PATH 32

/* Makes the program of the core file at PATH again, and puts into MADE the path by which it can be
 * opened for as long as *FD, the caller's to close, is open. On failure prints the error, which
 * says to name the program, and returns false. */
bool gh_core_program_make(const char *path, char made[GH_CORE_PROGRAM_PATH], int *fd);

#endif
