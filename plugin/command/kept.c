#include "plugin/command/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/open_file.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"

/* What a child ends with that needs something first: no command's exit status, nor what a shell
 * makes of a signal. */
enum {
	NEEDS_HEAP = 100,           /* and how it is to be read, as far as C's memory goes */
	NEEDS_HEAP_DOMINATED = 101, /* at once, which is faster than one after the other */
	NEEDS_DOMINATORS = 108,
};

#define OF_C (GH_HEAP_WITH_C | GH_HEAP_WITH_LARGE_C)
_Static_assert(OF_C % 2 == 0 && NEEDS_HEAP_DOMINATED + OF_C < NEEDS_DOMINATORS, "they differ");

/* The exit status of who ended by a signal, less its number, as shells have it. */
#define OF_SIGNAL 128

enum {
	MAX_DESCRIPTORS = 1024, /* that a server has */
	MAX_OUTPUT = 1 << 28,   /* bytes of an answer that is not printed */
};

static struct {
	const struct gh_kept_source *source; /* NULL: nothing is to be kept */
	struct gh_options options;           /* by which it is read */
	struct gh_heap_query *query;         /* NULL until it is needed */
	struct stat files[3];                /* what it was read from */
	bool is_current;                     /* that is what there is to be read now */
	const char *older;                   /* an older dump of the same program; or NULL */
	struct gh_heap_query *older_query;   /* of that */
	int running;        /* the program that the process runs; 0 or -1 if there is none */
	bool is_child;      /* this process has a question to answer */
	bool keeps_answers; /* about what the query is about: */
	struct gh_answers answers;
	size_t ahead; /* so many of the likely questions have been answered ahead, or cannot be */
} kept;

void gh_kept_begin(const struct gh_kept_source *source)
{
	kept.source = source;
	kept.options = (struct gh_options){
	    .file = source->file,
	    .program = source->program,
	    .names = source->names,
	    .process = source->process,
	    .c = source->c,
	};
	kept.keeps_answers = gh_answers_begin(&kept.answers);
}

int gh_kept_arguments(const struct gh_kept_source *source, const struct gh_command *command,
		      int count, char *const *words, char **argv)
{
	const char *const given[] = {source->program, source->names, source->process};
	static const char *const options[] = {"exe", "names", "process"};
	static const char *const texts[] = {"--exe", "--names", "--process"};
	const char *file = source->process == NULL ? source->file : NULL;
	int argc = 0;
	argv[argc++] = (char *)command->name;
	/* After the older one that it is compared with. */
	bool comes_last = command->run == gh_cmd_diff || command->operands.rest == GH_ONE_NEWER;
	for (size_t i = 0; i < 3; i++) {
		if (given[i] == NULL || !gh_command_takes(command, options[i]))
			continue;
		argv[argc++] = (char *)texts[i];
		argv[argc++] = (char *)given[i];
	}
	if (file != NULL && !comes_last)
		argv[argc++] = (char *)file;
	for (int i = 0; i < count; i++)
		argv[argc++] = words[i];
	if (file != NULL && comes_last)
		argv[argc++] = (char *)file;
	argv[argc] = NULL;
	return argc;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Zeros for what is not there. */
static void look(struct stat files[3])
{
	const char *const paths[] = {kept.source->file, kept.source->program, kept.source->names};
	for (size_t i = 0; i < 3; i++)
		if (paths[i] == NULL || stat(paths[i], &files[i]) != 0)
			files[i] = (struct stat){0};
}

static bool has_same_files(void)
{
	struct stat files[3];
	look(files);
	for (size_t i = 0; i < 3; i++)
		if (!gh_is_same_file(&files[i], &kept.files[i]))
			return false;
	return true;
}

/* Both were made of the same memory. */
static bool is_same_dump(const struct gh_dump *a, const struct gh_dump *b)
{
	size_t size = gh_cursor_size(&a->file);
	return size == gh_cursor_size(&b->file) && memcmp(a->file.start, b->file.start, size) == 0;
}

/* A process may have gone on, and the user may have changed its memory: whether it is as it was is
 * known when it has been read again, which takes a small part of the time that its graph takes. */
bool gh_kept_open(bool with_dominators, unsigned how)
{
	struct gh_dump dump;
	struct stat files[3];
	bool has_changed = kept.query == NULL || !has_same_files();
	look(files);
	if (!gh_heap_query_dump(&dump, &kept.options, kept.source->file, how))
		return false;
	memcpy(kept.files, files, sizeof(files));
	kept.is_current = true;
	if (!has_changed && is_same_dump(&dump, &kept.query->dump)) {
		gh_dump_close(&dump);
		return true;
	}
	gh_answers_forget(&kept.answers);
	kept.ahead = 0;
	gh_heap_query_close(kept.query);
	kept.query = gh_heap_query_make(&kept.options, &dump, kept.source->file,
					with_dominators ? GH_WITH_DOMINATORS : GH_WITH_NAMES);
	kept.is_current = kept.query != NULL;
	return kept.is_current;
}

static bool find_dominators(void)
{
	struct gh_error err;
	gh_progress_begin("goheap: following the pointers of", kept.source->file);
	bool found = gh_dominators_build(&kept.query->dominators, &kept.query->heap, &err);
	gh_progress_end();
	if (!found)
		gh_print_error(&err);
	return found;
}

/* In a child: OPTIONS and PATH ask for what is kept. What is debugged is read for each question. */
static bool is_asked(const struct gh_options *options, const char *path)
{
	return kept.is_child && is_same_text(options->process, kept.source->process) &&
	       is_same_text(path, kept.source->file) &&
	       (!options->c || kept.source->c || gh_is_debugged(path));
}

/* Or for the older one. */
static bool is_older_asked(const char *path)
{
	return kept.is_child && kept.older_query != NULL && is_same_text(path, kept.older);
}

/* By the same program, or, of a command that knows none, by any. */
static bool is_its_program(const struct gh_options *options)
{
	return options->program == NULL || is_same_text(options->program, kept.source->program);
}

bool gh_kept_dump(struct gh_dump *dump, const struct gh_options *options, const char *path)
{
	bool is_older = is_older_asked(path);
	if ((!is_older && (!is_asked(options, path) || !kept.is_current)) ||
	    !is_its_program(options))
		return false;
	*dump = is_older ? kept.older_query->dump : kept.query->dump;
	dump->is_copy = true;
	return true;
}

struct gh_heap_query *gh_kept_heap(const struct gh_options *options, const char *path,
				   enum gh_heap_with with, unsigned how)
{
	bool with_dominators = with == GH_WITH_DOMINATORS;
	if (kept.source == NULL || !is_same_text(options->names, kept.source->names) ||
	    !is_same_text(options->program, kept.source->program))
		return NULL;
	if (is_older_asked(path))
		return kept.older_query;
	if (!is_asked(options, path))
		return NULL;
	if (!kept.is_current)
		_exit((with_dominators ? NEEDS_HEAP_DOMINATED : NEEDS_HEAP) + (int)(how & OF_C));
	if (with_dominators && kept.query->dominators.idom == NULL)
		_exit(NEEDS_DOMINATORS);
	return kept.query;
}

bool gh_kept_is_child(void)
{
	return kept.is_child;
}

bool gh_kept_is_prompted(void)
{
	return kept.is_child && kept.source->is_prompted;
}

void gh_kept_record(void)
{
	if (kept.is_child && kept.keeps_answers)
		gh_answers_record(&kept.answers);
}

/* A child, in which a command is to run. */
static pid_t fork_child(void)
{
	fflush(NULL);
	if (kept.keeps_answers)
		gh_answers_clear_record(&kept.answers);
	/* Who started goheap may have ignored it: then no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	pid_t child = fork();
	if (child == 0) {
		kept.is_child = true;
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	}
	return child;
}

/* Waits for CHILD, and keeps its answer. Returns the exit status. */
static int wait_for(pid_t child, int argc, char **argv)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return GH_EXIT_INPUT;
	if (!WIFEXITED(status))
		return OF_SIGNAL + WTERMSIG(status);
	/* A command that is not about the whole heap has recorded nothing. */
	if (WEXITSTATUS(status) == GH_EXIT_OK && kept.keeps_answers &&
	    lseek(kept.answers.record, 0, SEEK_END) > 0)
		gh_answers_keep(&kept.answers, kept.answers.record, argc, argv);
	return WEXITSTATUS(status);
}

static int run_child(const struct gh_command *command, int argc, char **argv,
		     void (*works)(bool begins))
{
	const struct gh_answer *known =
	    kept.is_current ? gh_answers_find(&kept.answers, argc, argv) : NULL;
	pid_t child = fork_child();
	if (child == 0) {
		works(true);
		if (known == NULL)
			exit(gh_command_run(command, argc, argv));
		gh_heap_query_print_damage(kept.query);
		fwrite(known->text, 1, known->size, stdout);
		exit(GH_EXIT_OK);
	}
	if (child < 0) {
		perror("goheap: fork");
		return GH_EXIT_INPUT;
	}
	return wait_for(child, argc, argv);
}

void gh_kept_take(const struct gh_kept_source *source, struct gh_heap_query *query,
		  const char *older, struct gh_heap_query *older_query)
{
	kept.source = source;
	kept.query = query;
	kept.is_current = true;
	kept.older = older;
	kept.older_query = older_query;
	/* Who keeps the answers is the caller's to say. */
	kept.keeps_answers = false;
	if (source->process == NULL)
		return;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%s/exe", source->process);
	kept.running = open(path, O_RDONLY | O_CLOEXEC);
}

int gh_kept_running(const struct gh_options *options)
{
	if (!kept.is_child || kept.running <= 0)
		return -1;
	bool is_kept = options->process != NULL
			   ? is_same_text(options->process, kept.source->process)
			   : is_older_asked(options->file);
	return is_kept ? kept.running : -1;
}

/* Closes what another process is connected to: it is not for who answers to hold, or to write to.
 */
static void close_sockets(void)
{
	struct stat info;
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	for (int fd = STDERR_FILENO + 1; (rlim_t)fd < limit.rlim_cur && fd < MAX_DESCRIPTORS; fd++)
		if (fstat(fd, &info) == 0 && (S_ISSOCK(info.st_mode)))
			close(fd);
}

pid_t gh_kept_start(const struct gh_command *command, int argc, char **argv, int out, int err)
{
	const struct rlimit size = {MAX_OUTPUT, MAX_OUTPUT};
	pid_t child = fork_child();
	if (child != 0)
		return child;
	/* One that was stopped ends by no other signal. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_sockets();
	setrlimit(RLIMIT_FSIZE, &size);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(GH_EXIT_INPUT);
	exit(gh_command_run(command, argc, argv));
}

int gh_kept_answer(const struct gh_command *command, int argc, char **argv)
{
	struct gh_options options;
	kept.is_child = true;
	gh_options_parse(&options, command, argc, argv);
	int status = command->run(&options);
	gh_options_free(&options);
	return status;
}

/* What is likely to be asked, what takes least time first. */
static const char *const likely[] = {"histogram", "dominators", "strings", "suspects"};

/* Fills ARGV with the next of those questions. Returns how many words it has. */
static int next_ahead(const struct gh_command **command, char *argv[GH_KEPT_ARGUMENTS])
{
	*command = gh_command_find(likely[kept.ahead]);
	return gh_kept_arguments(kept.source, *command, 0, NULL, argv);
}

/* What is debugged goes on, and has to be read again to be known to be the same. */
static bool can_be_ahead(void)
{
	return kept.keeps_answers && kept.query != NULL && !gh_is_debugged(kept.source->file) &&
	       has_same_files();
}

pid_t gh_kept_begin_ahead(void)
{
	const struct gh_command *command;
	char *argv[GH_KEPT_ARGUMENTS];
	kept.is_current = can_be_ahead();
	for (; kept.is_current && kept.ahead < sizeof(likely) / sizeof(likely[0]); kept.ahead++) {
		int argc = next_ahead(&command, argv);
		if (gh_answers_find(&kept.answers, argc, argv) != NULL)
			continue;
		pid_t child = fork_child();
		if (child != 0)
			return child;
		setpriority(PRIO_PROCESS, 0, 19);
		exit(gh_command_run(command, argc, argv));
	}
	return -1;
}

void gh_kept_end_ahead(pid_t child, bool stops)
{
	const struct gh_command *command;
	char *argv[GH_KEPT_ARGUMENTS];
	int argc = next_ahead(&command, argv);
	if (stops)
		kill(child, SIGKILL);
	wait_for(child, argc, argv);
	if (!stops)
		kept.ahead++;
}

int gh_kept_run(const struct gh_command *command, int argc, char **argv, void (*works)(bool begins))
{
	kept.is_current =
	    kept.query != NULL && !gh_is_debugged(kept.source->file) && has_same_files();
	for (;;) {
		int status = run_child(command, argc, argv, works);
		if (status < NEEDS_HEAP || status > NEEDS_DOMINATORS)
			return status;
		works(true);
		bool made = status == NEEDS_DOMINATORS
				? find_dominators()
				: gh_kept_open((status - NEEDS_HEAP) % 2 != 0 ||
						   !gh_is_debugged(kept.source->file),
					       (unsigned)(status - NEEDS_HEAP) & OF_C);
		works(false);
		if (!made)
			return GH_EXIT_INPUT;
	}
}
