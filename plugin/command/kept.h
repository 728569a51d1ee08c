/* What is kept from one question to the next, and goheap's own prompts, at which questions follow
 * each other. */
#ifndef GH_PLUGIN_COMMAND_KEPT_H
#define GH_PLUGIN_COMMAND_KEPT_H

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "sys/types.h"

/* The heap that is kept from one question to the next. The process that keeps it forks for each
 * question, and has the child run the command as if there were no other: what a command does to the
 * graph, or to the process, ends with it. What is needed and is not there yet the child does not
 * make: it ends, and begins again when the process has made it. Answers about the whole heap are
 * kept as well, for as long as it is as it was. */

/* A heap to keep, and the programs that it is read by; these may be NULL. Not owned. The heap of a
 * process stays as it was when it was read. */
struct gh_kept_source {
	const char *file; /* a dump, a core file, the session's socket, or PROCESS itself */
	const char *program;
	const char *names;
	const char *process; /* the number of the one whose heap it is; NULL if it is of a file */
	bool c;              /* with C's memory */
	bool is_prompted;    /* commands are typed at goheap's own prompt */
};

/* Room that the same takes on a command line, with the command's name and the end. */
#define GH_KEPT_ARGUMENTS 8

/* Fills ARGV with the command line by which COMMAND is run on SOURCE with the arguments WORDS, of
 * which there are COUNT. Returns how many words there are. */
int gh_kept_arguments(const struct gh_kept_source *source, const struct gh_command *command,
		      int count, char *const *words, char **argv);

/* Has the heap of SOURCE, which stays the caller's, be kept from the first question on. */
void gh_kept_begin(const struct gh_kept_source *source);

/* Makes its graph now; WITH_DOMINATORS, these too. HOW says how the heap is read, as gh_heap_open
 * has it. On failure prints the error and returns false. */
bool gh_kept_open(bool with_dominators, unsigned how);

/* Runs COMMAND as gh_command_run does, in a child. There WORKS is called with true first, and here
 * with true before, and with false after, something is made for it: who stays when the user
 * interrupts a command need not do so then. Returns the exit status; GH_EXIT_INPUT if there can be
 * none. */
int gh_kept_run(const struct gh_command *command, int argc, char **argv,
		void (*works)(bool begins));

/* In a child, the heap that is kept, if it is what OPTIONS and PATH ask for; it does not return if
 * that is to be made first, and read as HOW says. Else NULL. */
struct gh_heap_query *gh_kept_heap(const struct gh_options *options, const char *path,
				   enum gh_heap_with with, unsigned how);

/* Likewise a copy of the dump that it was made of: that stays open when DUMP is closed. */
bool gh_kept_dump(struct gh_dump *dump, const struct gh_options *options, const char *path);

/* In a child that answers about the whole of the heap that is kept: has the answer be kept, too. */
void gh_kept_record(void);

/* Begins to answer, in a child whose output is lost, what people are likely to ask about the whole
 * heap next. Returns the child; -1 if there is nothing of that kind left. */
pid_t gh_kept_begin_ahead(void);

/* Waits for CHILD, which did that. Or, STOPS, ends it: it begins again later. */
void gh_kept_end_ahead(pid_t child, bool stops);

/* This is the child that runs a command on the heap that is kept. */
bool gh_kept_is_child(void);

/* Has QUERY be the heap that is kept, for as long as it is; SOURCE says what it was read from. And
 * OLDER_QUERY that of the older dump OLDER; both may be NULL. All stay the caller's, and have
 * dominators. */
void gh_kept_take(const struct gh_kept_source *source, struct gh_heap_query *query,
		  const char *older, struct gh_heap_query *older_query);

/* In a child, a descriptor of the program that the process ran whose heap gh_kept_take has kept, if
 * OPTIONS ask for that or for the older dump: the process may have ended since. Else -1. */
int gh_kept_running(const struct gh_options *options);

/* Begins to run COMMAND in a child, as gh_kept_run does, for the files OUT and ERR to have what it
 * prints. Returns the child, to be waited for; -1 (errno) if there is none. */
pid_t gh_kept_start(const struct gh_command *command, int argc, char **argv, int out, int err);

/* Runs COMMAND in this process, which answers nothing else after that but what gh_kept_take has
 * kept. Returns the exit status. */
int gh_kept_answer(const struct gh_command *command, int argc, char **argv);

/* The command that runs was typed at goheap's own prompt. */
bool gh_kept_is_prompted(void);

/* A prompt, at which one line after the other is answered from the heap that is kept. */

/* What comes after a line. */
enum gh_prompt_next {
	GH_PROMPT_NEXT,
	GH_PROMPT_MORE, /* a line that goes on */
	GH_PROMPT_END,
};

struct gh_prompt {
	const char *text;
	const char *more_text;                                    /* before a line that goes on */
	const char *breaks;                                       /* the characters between words */
	char **(*complete)(const char *text, int start, int end); /* as readline has it */
	/* Forgets the lines that go on, which the user interrupts. NULL: none do. */
	void (*forget)(void);
	/* Answers LINE, which it may change; NULL at the end. */
	enum gh_prompt_next (*answer)(const struct gh_kept_source *source, char *line);
};

/* Runs PROMPT on the heap that OPTIONS say, until the end. The exit status. */
int gh_prompt_run(const struct gh_prompt *prompt, const struct gh_options *options);

/* For gh_kept_run: the user interrupts what works, not the prompt. */
void gh_prompt_work(bool begins);

/* That of `goheap sql' without a query. */
int gh_sql_prompt(const struct gh_options *options);

/* Arguments that gh_sql_words may add. */
#define GH_SQL_WORDS 2

/* Has ARGS, which are *COUNT words that were TYPED after `sql' without their quotes, be the options
 * among them, and the rest, with its quotes, as one argument, which is returned to be freed. NULL
 * if there is none, or memory ran out. */
char *gh_sql_words(int *count, char **args, char *const *typed);

/* Answers that are kept as they were printed: what looks at the whole heap takes seconds. */

struct gh_answer {
	char *question; /* the command's words, a NUL after each; owned */
	size_t length;  /* of the question, in bytes */
	char *text;     /* owned */
	size_t size;    /* of the text, in bytes */
};

struct gh_answers {
	struct GH_VECTOR(struct gh_answer) all;
	int record; /* a file in memory, into which the process that answers copies what it prints
		     */
};

/* There are none. False if none can be kept. */
bool gh_answers_begin(struct gh_answers *answers);

/* What they are about has changed. */
void gh_answers_forget(struct gh_answers *answers);

/* What the command line ARGV, of ARGC words, printed. NULL if it is to be asked again. */
const struct gh_answer *gh_answers_find(const struct gh_answers *answers, int argc, char **argv);

/* Before another process answers. */
void gh_answers_clear_record(const struct gh_answers *answers);

/* In that process: has all that it prints from now on be recorded. */
void gh_answers_record(struct gh_answers *answers);

/* After it has answered ARGV, keeps what is in the file RECORD, unless it is long. */
void gh_answers_keep(struct gh_answers *answers, int record, int argc, char **argv);

#endif
