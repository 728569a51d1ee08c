/* goheap web: a page for a browser, that asks about a heap for as long as the user looks at it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "plugin/cli/web_question.h"
#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/dispatch/dispatch.h"
#include "plugin/gdb/gdb.h"
#include "plugin/web/web.h"

/* Of Linux 6.1; the C library does not have it yet. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* A row a line; and text for a person. */
#define JSON_TYPE "application/x-ndjson; charset=utf-8"
#define TEXT_TYPE "text/plain; charset=utf-8"

/* What answers are made of. */
struct answering {
	const struct gh_web_heap *heap; /* the caller's */
	struct gh_answers answers;      /* about the whole heap */
};

/* Writes the answer that is KNOWN already. */
static bool write_known(const struct gh_answer *known, int out)
{
	return write(out, known->text, known->size) == (ssize_t)known->size;
}

static enum gh_web_begun tell_source(const struct gh_web_heap *heap,
				     struct gh_web_question *question)
{
	FILE *out = fdopen(dup(question->out), "w");
	if (out == NULL)
		return GH_WEB_FAILED;
	gh_web_heap_print(out, heap, true);
	question->type = JSON_TYPE;
	return fclose(out) == 0 ? GH_WEB_ANSWERED : GH_WEB_FAILED;
}

static void free_words(struct gh_web_words *words)
{
	gh_web_words_free(words);
	free(words);
}

static enum gh_web_begun begin(void *context, struct gh_web_question *question, pid_t *child)
{
	struct answering *answering = context;
	if (strcmp(question->name, "source") == 0)
		return tell_source(answering->heap, question);
	struct gh_web_words *words = calloc(1, sizeof(*words));
	if (words == NULL || !gh_web_words_make(words, question, answering->heap)) {
		free(words);
		return GH_WEB_NO_QUESTION;
	}
	question->type = words->is_json ? JSON_TYPE : TEXT_TYPE;
	const struct gh_answer *known =
	    gh_answers_find(&answering->answers, words->argc, words->argv);
	if (known != NULL && write_known(known, question->out)) {
		free_words(words);
		return GH_WEB_ANSWERED;
	}
	/* argp writes to the vector. */
	char *argv[GH_WEB_WORDS + 1];
	memcpy(argv, words->argv, sizeof(argv));
	*child = gh_kept_start(words->command, words->argc, argv, question->out, question->err);
	if (*child < 0) {
		dprintf(question->err, "goheap: fork: %s\n", strerror(errno));
		free_words(words);
		return GH_WEB_FAILED;
	}
	question->words = words;
	return GH_WEB_BEGUN;
}

static void end(void *context, struct gh_web_question *question, bool answered)
{
	struct answering *answering = context;
	struct gh_web_words *words = question->words;
	/* What is about one object takes no time. */
	if (answered && !words->is_of_one)
		gh_answers_keep(&answering->answers, question->out, words->argc, words->argv);
	free_words(words);
}

static struct gh_web_question likely(void *context, size_t number)
{
	const struct answering *answering = context;
	return gh_web_whole(answering->heap, number);
}

/* Has MAPPING be in huge pages, if it can: memory that was allocated. */
static void use_huge_pages(void *context, int pid, struct gh_mapping *mapping)
{
	(void)context;
	(void)pid;
	if (mapping->inode == 0 && memcmp(mapping->access, "rw-p", 4) == 0)
		madvise((void *)(uintptr_t)mapping->start, mapping->end - mapping->start,
			MADV_COLLAPSE);
}

static void leave_terminal(int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (write(ready, "", 1) == 1)
		close(ready);
}

/* Serves; when the address is printed READY, a pipe, is told, unless it is -1, and the process goes
 * on without a terminal. */
static int serve(const struct gh_web_heap *heap, const char *place, int ready)
{
	struct answering answering = {.heap = heap};
	struct gh_web_answers answers = {begin, end, likely, &answering};
	struct gh_web_server *server = gh_web_listen(place, &answers);
	if (server == NULL)
		return GH_EXIT_INPUT;
	/* A process is made for each question, and ends: most of what that takes is for the tables
	   of its pages. */
	gh_mappings_live(getpid(), "maps", use_huge_pages, NULL);
	if (!gh_web_is_local(server))
		gh_say("other machines can ask this server, if they have the address");
	printf("%s\n", gh_web_address(server));
	fflush(stdout);
	/* A browser that goes away is not an error. */
	signal(SIGPIPE, SIG_IGN);
	gh_web_open_browser(gh_web_address(server));
	if (ready >= 0)
		leave_terminal(ready);
	gh_web_serve(server);
	return GH_EXIT_INPUT;
}

/* In GDB: serves in the background, the heap as it is now, until GDB ends. */
static int serve_gdb(const struct gh_web_heap *heap, const char *place, const char *directory)
{
	int ready[2];
	char byte;
	fflush(NULL);
	pid_t child = pipe2(ready, O_CLOEXEC) == 0 ? fork() : -1;
	if (child < 0) {
		perror("goheap: fork");
		return GH_EXIT_INPUT;
	}
	if (child == 0) {
		/* Whoever asked does not wait for what this process has open. */
		dup2(ready[1], STDERR_FILENO + 1);
		close_range(STDERR_FILENO + 2, ~0U, 0);
		setsid();
		if (!gh_keeper_end_with_gdb(directory))
			_exit(GH_EXIT_INPUT);
		_exit(serve(heap, place, STDERR_FILENO + 1));
	}
	close(ready[1]);
	bool serves = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return serves ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_web(const struct gh_options *options)
{
	struct gh_web_heap heap;
	const char *directory = getenv(GH_SESSION_VARIABLE);
	int status = GH_EXIT_INPUT;
	bool is_in_gdb = directory != NULL && gh_kept_is_child();
	if (gh_web_heap_open(&heap, options))
		status = is_in_gdb ? serve_gdb(&heap, options->http, directory)
				   : serve(&heap, options->http, -1);
	gh_web_heap_close(&heap);
	return status;
}
