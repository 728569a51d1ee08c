/* The session's boot.gdb: the script by which the goheap program has GDB do something. */
#ifndef GH_PLUGIN_GDB_SCRIPT_H
#define GH_PLUGIN_GDB_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>

/* Begins a new script in the session's DIRECTORY; GDB may be running the one that is there. On
 * failure prints the error and returns NULL. To be ended with gh_script_commit. */
FILE *gh_script_open(const char *directory);

/* Puts SCRIPT in place. On failure prints the error and returns false. */
bool gh_script_commit(FILE *script, const char *directory);

/* Has GDB print a line of TEXT, a format as printf's, which is fit for a terminal. */
void gh_script_say(FILE *script, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Has goheap.gdb take GDB's program for one that goheap has seen (STATE "fresh"), or has yet to
 * look at before the next command that needs symbols ("stale"). */
void gh_script_note_program(FILE *script, const char *state);

/* Has GDB run COMMAND with the name FILE, which holds no newline, as its argument. */
void gh_script_file(FILE *script, const char *command, const char *file);

/* Has GDB show (...) for arguments in backtraces, unless the user has chosen something else. */
void gh_script_presence(FILE *script);

/* Has GDB take its symbols, a Go program's, from FILE in place of those it has. */
void gh_script_symbols(FILE *script, const char *file);

/* Has GDB print by COMMAND into `goheap ARGUMENTS' and run the script that this writes. */
void gh_script_go_on(FILE *script, const char *command, const char *arguments);

/* What goes before a command, to have GDB run it without the hooks of goheap's: goheap.gdb tells of
 * it. */
#define GH_SCRIPT_UNHOOKED "with history remove-duplicates " GH_SCRIPT_HELD " -- "

/* The value of that setting. */
#define GH_SCRIPT_HELD "19937"

#endif
