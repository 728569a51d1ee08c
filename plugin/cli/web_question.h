/* What the page of `goheap web' asks, as the words of a command. */
#ifndef GH_PLUGIN_CLI_WEB_QUESTION_H
#define GH_PLUGIN_CLI_WEB_QUESTION_H

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/command/kept.h"
#include "plugin/web/web.h"

/* The most words of a command line. */
#define GH_WEB_WORDS 32

/* What is asked about: a heap with its dominators, and perhaps an older one that it is compared
 * with. */
struct gh_web_heap {
	struct gh_kept_source source;
	const char *older;            /* path of the older dump; NULL if there is none */
	bool is_partial;              /* roots may be missing */
	struct gh_heap_query *now;    /* owned */
	struct gh_heap_query *before; /* the older one; owned; NULL if there is none */
};

/* Opens the heaps that OPTIONS say, which are used until they are closed, and prepares them for
 * many questions. On failure prints the error and returns false. To be closed either way. */
bool gh_web_heap_open(struct gh_web_heap *heap, const struct gh_options *options);

void gh_web_heap_close(struct gh_web_heap *heap);

/* Prints as JSON what the page asks first, as `source': what it is about; with the WHOLE paths of
 * files, or their names. */
void gh_web_heap_print(FILE *out, const struct gh_web_heap *heap, bool whole);

/* The question NUMBER about the whole heap, as the page's views ask it: what is seen first comes
 * first. Its name is NULL after the last. */
struct gh_web_question gh_web_whole(const struct gh_web_heap *heap, size_t number);

/* A command line that answers a question. */
struct gh_web_words {
	const struct gh_command *command;
	char *argv[GH_WEB_WORDS + 1]; /* with a NULL */
	int argc;
	char *own[GH_WEB_PARAMETERS]; /* those of argv that are owned */
	size_t nown;
	bool is_of_one;   /* it is about an object, or a goroutine */
	bool is_of_older; /* it is about the older dump */
	bool is_json;     /* and not text */
};

/* Fills WORDS for QUESTION about HEAP. False, and the reason in the question's err, if it is none
 * that the page asks. To be freed with gh_web_words_free. */
bool gh_web_words_make(struct gh_web_words *words, const struct gh_web_question *question,
		       const struct gh_web_heap *heap);

void gh_web_words_free(struct gh_web_words *words);

#endif
