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
#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/cli/web_question.h"
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
	struct gh_web_heap heap;
	struct gh_answers answers; /* about the whole heap */
};

/* Writes the answer that is KNOWN already. */
static bool write_known(const struct gh_answer *known, int out)
{
	return write(out, known->text, known->size) == (ssize_t)known->size;
}

/* Answers what the page asks first: what it is about. */
static enum gh_web_begun tell_source(const struct gh_web_heap *heap,
				     struct gh_web_question *question)
{
	static const struct gh_column columns[] = {
	    {"file", GH_COL_TEXT(struct gh_kept_source, file)},
	    {"program", GH_COL_TEXT(struct gh_kept_source, program)},
	    {"names", GH_COL_TEXT(struct gh_kept_source, names)},
	    {"process", GH_COL_TEXT(struct gh_kept_source, process)},
	    {0},
	};
	static const struct gh_column sums[] = {
	    {"older", GH_COL_TEXT(struct gh_web_heap, older)},
	    {"objects", GH_COL_NUMBER(struct gh_web_heap, objects)},
	    {"bytes", GH_COL_NUMBER(struct gh_web_heap, bytes)},
	    {0},
	};
	FILE *out = fdopen(dup(question->out), "w");
	if (out == NULL)
		return GH_WEB_FAILED;
	struct gh_emit emit = gh_emit_start(out, GH_EMIT_ROWS, NULL, true);
	gh_emit_values(&emit, columns, heap->source);
	gh_emit_row(&emit, sums, heap);
	question->type = JSON_TYPE;
	return fclose(out) == 0 ? GH_WEB_ANSWERED : GH_WEB_FAILED;
}

static enum gh_web_begun begin(void *context, struct gh_web_question *question, pid_t *child)
{
	struct answering *answering = context;
	if (strcmp(question->name, "source") == 0)
		return tell_source(&answering->heap, question);
	struct gh_web_words *words = calloc(1, sizeof(*words));
	if (words == NULL || !gh_web_words_make(words, question, &answering->heap)) {
		free(words);
		return GH_WEB_NO_QUESTION;
	}
	question->type = words->is_json ? JSON_TYPE : TEXT_TYPE;
	const struct gh_answer *known =
	    gh_answers_find(&answering->answers, words->argc, words->argv);
	if (known != NULL && write_known(known, question->out)) {
		gh_web_words_free(words);
		return GH_WEB_ANSWERED;
	}
	/* argp writes to the vector. */
	char *argv[GH_WEB_WORDS + 1];
	memcpy(argv, words->argv, sizeof(argv));
	*child = gh_kept_start(words->command, words->argc, argv, question->out, question->err);
	if (*child < 0) {
		dprintf(question->err, "goheap: fork: %s\n", strerror(errno));
		gh_web_words_free(words);
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
	if (answered && !words->has_address)
		gh_answers_keep(&answering->answers, question->out, words->argc, words->argv);
	gh_web_words_free(words);
}

/* Those of the views that look at the whole heap, as the page asks them: what is seen first comes
 * first. */
static struct gh_web_question likely(void *context, size_t number)
{
	static const struct gh_web_question questions[] = {
	    {.name = "suspects"},
	    {.name = "histogram", .parameters = {{"by", "type"}}, .count = 1},
	    {.name = "dominators", .parameters = {{"merged", ""}, {"limit", "10000"}}, .count = 2},
	    {.name = "goroutines", .parameters = {{"group", ""}}, .count = 1},
	    {.name = "histogram", .parameters = {{"by", "path"}, {"limit", "10000"}}, .count = 2},
	    {.name = "strings", .parameters = {{"limit", "100"}}, .count = 1},
	    {.name = "dominators", .parameters = {{"limit", "1000"}}, .count = 1},
	    {.name = "goroutines", .parameters = {{"memory", ""}}, .count = 1},
	    {.name = "waits", .parameters = {{"group", ""}}, .count = 1},
	    {.name = "goroutines", .parameters = {{"leaked", ""}}, .count = 1},
	    {.name = "dominators", .parameters = {{"limit", "100"}}, .count = 1},
	    {.name = "histogram", .parameters = {{"by", "root"}}, .count = 1},
	    {.name = "histogram", .parameters = {{"by", "site"}}, .count = 1},
	    {.name = "histogram", .parameters = {{"by", "size"}}, .count = 1},
	};
	static const struct gh_web_question compared[] = {
	    {.name = "diff", .parameters = {{"by", "type"}, {"limit", "10000"}}, .count = 2},
	    {.name = "diff", .parameters = {{"by", "path"}, {"limit", "10000"}}, .count = 2},
	    {.name = "diff", .parameters = {{"by", "root"}, {"limit", "10000"}}, .count = 2},
	    {.name = "diff", .parameters = {{"by", "site"}, {"limit", "10000"}}, .count = 2},
	};
	static const size_t count = sizeof(questions) / sizeof(questions[0]);
	const struct answering *answering = context;
	size_t all = count;
	if (answering->heap.older != NULL)
		all += sizeof(compared) / sizeof(compared[0]);
	if (number >= all)
		return (struct gh_web_question){0};
	return number < count ? questions[number] : compared[number - count];
}

static bool prepare(struct gh_heap_query *query)
{
	struct gh_error err;
	gh_progress_begin("goheap: finding the strings of", query->dump.path);
	bool found = gh_heap_query_prepare(query, &err);
	gh_progress_end();
	if (!found)
		gh_print_error(&err);
	return found;
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
static int serve(struct gh_heap_query *query, struct gh_heap_query *older, int ready)
{
	const struct gh_options *options = query->options;
	struct gh_kept_source source = {
	    .file = options->file,
	    .program = options->program,
	    .names = options->names,
	    .process = options->process,
	};
	struct answering answering = {.heap = {&source, options->older, options->partial,
					       query->heap.count, query->heap.bytes}};
	struct gh_web_answers answers = {begin, end, likely, &answering};
	struct gh_web_server *server = gh_web_listen(options->http, &answers);
	if (server == NULL || !prepare(query))
		return GH_EXIT_INPUT;
	gh_kept_take(&source, query, options->older, older);
	/* A process is made for each question, and ends: most of what that takes is for the tables
	   of its pages. */
	gh_mappings_live(getpid(), "maps", use_huge_pages, NULL);
	if (!gh_web_is_local(server))
		fputs("goheap: other machines can ask this server, if they have the address\n",
		      stderr);
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
static int serve_gdb(struct gh_heap_query *query, struct gh_heap_query *older,
		     const char *directory)
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
		_exit(serve(query, older, STDERR_FILENO + 1));
	}
	close(ready[1]);
	bool serves = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return serves ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static int serve_here(struct gh_heap_query *query, struct gh_heap_query *older)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	return directory != NULL && gh_kept_is_child() ? serve_gdb(query, older, directory)
						       : serve(query, older, -1);
}

/* With the older dump, if there is one, which is kept, too. */
static int serve_all(const struct gh_options *options, struct gh_heap_query *query)
{
	if (options->older == NULL)
		return serve_here(query, NULL);
	struct gh_heap_query *older =
	    gh_heap_query_open(options, options->older, GH_WITH_DOMINATORS);
	bool is_ready = older != NULL && prepare(older);
	int status = is_ready ? serve_here(query, older) : GH_EXIT_INPUT;
	gh_heap_query_close(older);
	return status;
}

int gh_cmd_web(const struct gh_options *options)
{
	struct gh_heap_query *query =
	    gh_heap_query_open(options, options->file, GH_WITH_DOMINATORS);
	int status = query != NULL ? serve_all(options, query) : GH_EXIT_INPUT;
	gh_heap_query_close(query);
	return status;
}
