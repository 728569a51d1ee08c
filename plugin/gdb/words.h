/* The words of a goheap command that was typed in GDB. goheap.gdb hands them over one by one, as
 * they were typed, and they stay in the session's directory until the next command; no shell sees
 * them.
 */
#ifndef GH_PLUGIN_GDB_WORDS_H
#define GH_PLUGIN_GDB_WORDS_H

#include <stdbool.h>
#include <stdio.h>

struct gh_words {
	char *data;  /* what the words are in; owned */
	size_t size; /* of it, in bytes */
	char *
	    *typed; /* the words as they were typed, with their quotes, then NULL; owned, in data */
	char **args; /* the same without quotes, then NULL; owned, each of them too */
	int count;   /* of the words */
};

/* Reads from IN what GDB's `show' prints of the setting that holds a word, and adds the word to
 * those in the session's DIRECTORY. Returns how many there are; -1 after printing an error. */
int gh_words_append(const char *directory, FILE *in);

/* Reads the words in the session's DIRECTORY. Quotes and backslashes are taken away as
 * gdb_buildargv does, and a ~ at the start is replaced by a home directory, as GDB does with file
 * names. On failure prints the error and returns false, and there is nothing to free. */
bool gh_words_read(struct gh_words *words, const char *directory);

void gh_words_free(struct gh_words *words);

/* WORD without quotes and backslashes, and with a home directory in place of ~; to be freed. NULL
 * if it ends within quotes or after a backslash: *MISSING then says what would have to follow; or
 * if memory ran out: that is NULL. */
char *gh_words_unquote(const char *word, const char **missing);

#endif
