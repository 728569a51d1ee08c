/* The server behind `goheap web': a page for a browser, and the answers to what that asks, for who
 * knows the address that was printed; and behind `goheap debuginfod', which answers everybody. It
 * is one thread; each question is answered by a process of its own.
 *
 * - server.c: listens, runs, and ends;
 * - request.c: a request, from its line to its response;
 * - ahead.c: answers what is likely to be asked before it is;
 * - guard.c: who may ask;
 * - browser.c: opens one;
 * - microhttpd.c: loads the library that speaks HTTP;
 * - recording.c: the page with answers in it, as one file, for which there is no server;
 * - page_files.c, made from the files in page/ when goheap is built: what the page is made of. */
#ifndef GH_PLUGIN_WEB_WEB_H
#define GH_PLUGIN_WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <zlib.h>

#include "lib/util/buffer.h"

/* A part of an address after its question mark: KEY=VALUE. */
struct gh_web_parameter {
	const char *key;
	const char *value;
};

/* The most that a question has. */
#define GH_WEB_PARAMETERS 16

/* What the page asks: api/NAME?KEY=VALUE&...; where everybody may ask, NAME is the whole path. */
struct gh_web_question {
	const char *name;
	struct gh_web_parameter parameters[GH_WEB_PARAMETERS];
	size_t count;     /* of them */
	int out;          /* a file in memory: the answer */
	int err;          /* another: why there is none */
	const char *type; /* of the answer, for HTTP; static */
	void *words;      /* whatever who answers needs to know of it */
};

/* What begins to answer did. */
enum gh_web_begun {
	GH_WEB_NO_QUESTION, /* there is no such question: err may say why */
	GH_WEB_ANSWERED,    /* out has the answer already */
	GH_WEB_BEGUN,       /* a process is to write it */
	GH_WEB_FAILED,      /* there is no process: err says why */
};

/* Who answers. */
struct gh_web_answers {
	/* Begins to answer QUESTION: fills in its type and, GH_WEB_BEGUN, *CHILD, a process that
	 * writes to out and err, and whose exit status is 0 if it has answered. */
	enum gh_web_begun (*begin)(void *context, struct gh_web_question *question, pid_t *child);
	/* The question has been answered, or not. To free its words. */
	void (*end)(void *context, struct gh_web_question *question, bool answered);
	/* The question that is NUMBERth likely to be asked, and takes long; its name is NULL after
	 * the last. Answered ahead, it is known when it is asked. NULL: none is. */
	struct gh_web_question (*likely)(void *context, size_t number);
	void *context;
	/* Who reaches the server may ask: there is no token and no page, and what has no answer is
	 * not found (404). */
	bool is_for_all;
};

struct gh_web_server;

/* Listens on PLACE, HOST:PORT: each part may be left out, the host for the loopback address and the
 * port for a free one; NULL for both. On failure prints the error and returns NULL. ANSWERS is the
 * caller's. */
struct gh_web_server *gh_web_listen(const char *place, const struct gh_web_answers *answers);

/* The address by which the page is opened; whoever knows it may ask. Without a page, that of the
 * server alone. It is the server's. */
const char *gh_web_address(const struct gh_web_server *server);

/* Only this machine can reach the server. */
bool gh_web_is_local(const struct gh_web_server *server);

/* Answers for as long as nothing is wrong. Prints the error and returns. */
void gh_web_serve(struct gh_web_server *server);

/* Opens the user's browser at ADDRESS, if there is a desktop to open it on. */
void gh_web_open_browser(const char *address);

/* The page as one file that needs no server: what it asks is in it, with the answers, as far as
 * there is room. They are packed by gzip, in base64: no name of a heap is part of the page. */
struct gh_web_recording {
	z_stream streams[2];     /* the current one, and its copy while something is added */
	unsigned current;        /* which that is */
	struct gh_buffer packed; /* the answers */
	size_t room;             /* for them, in bytes */
};

/* Begins one of at most SIZE bytes, page and all. False if memory ran out. To be freed then, too.
 */
bool gh_web_recording_begin(struct gh_web_recording *recording, size_t size);

/* Adds SIZE bytes of DATA: answers, before each a line as recording.js reads it. False, and nothing
 * is added, if there is no room. */
bool gh_web_recording_add(struct gh_web_recording *recording, const void *data, size_t size);

/* Prints the page to OUT, and ends the recording. False if memory ran out. */
bool gh_web_recording_print(struct gh_web_recording *recording, FILE *out);

void gh_web_recording_free(struct gh_web_recording *recording);

#endif
