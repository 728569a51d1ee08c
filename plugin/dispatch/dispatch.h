/* The commands that only goheap in GDB runs, and commands typed in GDB.
 *
 * - cmd_*.c: those commands; cmd_bodies.c: what the commands that step need; crash_lines.c: what is
 *   said of a core file that is opened; cmd_first.c: what is wrong with what is opened;
 * - dispatch.c, dispatch_live.c: finds and runs what was typed; gdb_source.c: on what; keeper.c: in
 * the process that keeps the heap for a GDB;
 * - print_words.c, print_answers.c: what `goheap print' was given, and what GDB says of it. */
#ifndef GH_PLUGIN_DISPATCH_DISPATCH_H
#define GH_PLUGIN_DISPATCH_DISPATCH_H

#include <limits.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/gdb/gdb.h"

/* What was typed in GDB after a command that takes addresses: of `goheap print', with a type. */
struct gh_print_words {
	int noptions;     /* words that are options and their arguments */
	char *text;       /* what the others are in; owned */
	char *type;       /* NULL if there is none */
	char *expression; /* "" if there is none */
};

/* What a part of an expression's value may be a part of, and the part, as struct gh_values has it.
 */
struct gh_print_part {
	char *operand; /* in GDB's words; both owned */
	char *part;
};

/* The most ways to take an expression apart: _goheap_ask of goheap.gdb has as many. */
#define GH_PRINT_PARTS 3

/* Takes EXPRESSION apart: "*a.b[0]" is ".b[0].*" of "a", and "[0].*" of "a.b". The longest operand
 * is the last. Returns in how many ways, 0 if it cannot be or memory ran out. To be freed. */
size_t gh_print_parts(struct gh_print_part parts[GH_PRINT_PARTS], const char *expression);
void gh_print_parts_free(struct gh_print_part *parts, size_t count);

/* Takes the WORDS of the command apart: if it HAS_TYPE, a type is in single quotes, or has the form
 * of Go's and is followed by a space and an operand. False, after saying so, if memory ran out.
 * PRINT->text is to be freed. */
bool gh_print_words_read(struct gh_print_words *print, const struct gh_words *words, bool has_type);

/* The expression's brackets match and its last operator has an operand. False after saying what is
 * missing, which GDB would call a syntax error. */
bool gh_print_words_whole(const struct gh_print_words *print);

/* EXPRESSION is the name of an argument, as the debug file has it. */
bool gh_print_is_argument(const char *expression);

/* What GDB has told: the types of the expression and of what it may be a part of, as Go writes
 * them, or why there is none, and which names there are. All of it stays in the text. */
struct gh_print_answers {
	char *types[1 + GH_PRINT_PARTS];  /* NULL: there is none */
	char *errors[1 + GH_PRINT_PARTS]; /* then, why; NULL: it was not asked */
	bool lost;   /* the value of the argument that it is a part of is not known to GDB */
	char *scope; /* what `info scope' printed */
};

/* Reads TEXT, what _goheap_asked of goheap.gdb has printed, which is changed. */
void gh_print_answers_read(struct gh_print_answers *answers, char *text);

/* Gives the type of the argument that PRINT's expression is a part of and whose value is lost, and
 * fills PART, which is to be freed then. NULL if there is none. */
const char *gh_print_answers_lost(const struct gh_print_answers *answers,
				  const struct gh_print_words *print, struct gh_print_part *part);

/* PRINT's expression has no value. Says why, and what can be asked for. */
bool gh_print_answers_refuse(const struct gh_print_answers *answers,
			     const struct gh_print_words *print);

/* The type of several words of an argument, of no type that is known. */
#define GH_NO_GO_TYPE "struct {...}"

/* TYPE is that, or the one of a word of an argument that may be a pointer, likewise. */
bool gh_print_is_untyped(const char *type);

/* The expression of PRINT, which is of that TYPE to GDB, is the value that is to be printed; else
 * it tells where that is. */
bool gh_print_is_value(const struct gh_print_words *print, const char *type);

/* What GDB has, as a command is run on it. */
struct gh_gdb_source {
	struct gh_kept_source of; /* its strings are below, or GDB's files */
	char dump[PATH_MAX];
	char program[PATH_MAX];
	char names[PATH_MAX];
	char process[16];
};

/* Fills SOURCE with the heap dump that is loaded, if FILES, what GDB has open, are of one.
 * DIRECTORY is the session's. False if none is. */
bool gh_gdb_source_dump(struct gh_gdb_source *source, const char *directory,
			const struct gh_infofiles *files);

/* Fills it with the process of this machine, or the core file, of FILES. False if there is none. */
bool gh_gdb_source_system(struct gh_gdb_source *source, const struct gh_infofiles *files);

/* Commands on what GDB debugs: a process, live or in a core file. */

/* Writes the script by which GDB runs the command WORDS on what it debugs, serving it memory: by
 * `goheap live', which reads the words again. ADDRESS, a number as text, is the value of what was
 * typed after the command; NULL if that is not an expression. DIRECTORY is the session's. Returns
 * an exit status. */
int gh_dispatch_live(const struct gh_words *words, const char *address, const char *directory,
		     const struct gh_infofiles *files);

/* Runs COMMAND on the heap that SOURCE says, as gh_kept_run does, in the process that keeps it for
 * the GDB whose session is in DIRECTORY. There is one until GDB ends, however it does, or nothing
 * has been asked for long. */
int gh_keeper_run(const char *directory, const struct gh_kept_source *source,
		  const struct gh_command *command, int argc, char **argv);

/* Has this process end when the GDB does whose session is in DIRECTORY. False if it cannot. */
bool gh_keeper_end_with_gdb(const char *directory);

/* Has goheap.gdb step as it is needed in the program of TAB: into bodies of loops over iterators,
 * and over calls of coroutines. */
void gh_script_stepping(FILE *script, const struct gh_pclntab *tab);

/* Has GDB print in short what the process of the file CORE, which ran PROGRAM, crashed of. Nothing
 * is said of one that did not, nor of a program that is not Go's. */
void gh_script_crash(FILE *script, const char *core, const char *program);

#endif
