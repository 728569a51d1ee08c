/* What the page of `goheap web' asks, as the words of a command. */
#ifndef GH_PLUGIN_CLI_WEB_QUESTION_H
#define GH_PLUGIN_CLI_WEB_QUESTION_H

#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/web/web.h"

/* The most words of a command line. */
#define GH_WEB_WORDS 32

/* What is asked about. */
struct gh_web_heap {
	const struct gh_kept_source *source;
	const char *older; /* path of the dump that it is compared with; NULL if there is none */
	bool is_partial;   /* its roots may be missing */
	uint64_t objects;  /* in it */
	uint64_t bytes;    /* in them */
};

/* A command line that answers a question. */
struct gh_web_words {
	const struct gh_command *command;
	char *argv[GH_WEB_WORDS + 1]; /* with a NULL */
	int argc;
	char *own[GH_WEB_PARAMETERS]; /* those of argv that are owned */
	size_t nown;
	bool has_address; /* it is about an object */
	bool is_of_older; /* it is about the older dump */
	bool is_json;     /* and not text */
};

/* Fills WORDS for QUESTION about HEAP. False, and the reason in the question's err, if it is none
 * that the page asks. To be freed with gh_web_words_free. */
bool gh_web_words_make(struct gh_web_words *words, const struct gh_web_question *question,
		       const struct gh_web_heap *heap);

/* Frees WORDS itself, too. */
void gh_web_words_free(struct gh_web_words *words);

#endif
