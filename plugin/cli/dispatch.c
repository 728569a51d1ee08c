/* What goheap.gdb runs for a command that was typed in GDB. `goheap word' takes the command's words
 * from GDB, one by one. `goheap dispatch' reads what GDB's `info files' prints, and runs the
 * command on the heap dump that is loaded, or on GDB's program; `goheap dispatch ADDRESS' does so
 * where GDB has made an address of what was typed. `goheap live' runs it on what GDB debugs, and
 * serves memory of. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"

/* Those that goheap.gdb hands over at the most. */
#define MAX_WORDS 119

/* Reads where the session's link NAME leads; in BUF. False if there is none. */
static bool read_link(const char *directory, const char *name, char buf[PATH_MAX])
{
	char link[PATH_MAX];
	snprintf(link, sizeof(link), "%s/%s", directory, name);
	ssize_t length = readlink(link, buf, PATH_MAX - 1);
	if (length < 0)
		return false;
	buf[length] = '\0';
	return true;
}

/* GDB has the core file of the heap dump open. */
static bool has_dump(const struct gh_infofiles *files, const char *directory)
{
	char core[PATH_MAX];
	struct stat ours;
	struct stat theirs;
	snprintf(core, sizeof(core), "%s/" GH_SESSION_CORE, directory);
	return files->core != NULL && stat(core, &ours) == 0 && stat(files->core, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* What there is to do. */
struct job {
	const char *directory;     /* of the session */
	struct gh_infofiles files; /* what GDB has */
	struct gh_words words;     /* the command and its arguments */
	const struct gh_command *command;
	char **args;         /* the arguments, then NULL; in words, or the address */
	int count;           /* of the arguments */
	const char *address; /* that GDB has made of them; or NULL */
};

/* Runs the command on SOURCE, if that has a file; one about the heap where that is kept. */
static int run(const struct job *job, const struct gh_kept_source *source)
{
	char *argv[MAX_WORDS + GH_KEPT_ARGUMENTS];
	const struct gh_command *command = job->command;
	int argc = gh_kept_arguments(source, command, job->count, job->args, argv);
	if ((command->gdb.on & GH_ON_DUMP) != 0 && gh_command_takes(command, "names"))
		return gh_keeper_run(job->directory, source, command, argc, argv);
	return gh_command_run(command, argc, argv);
}

/* Says why it is not run on a heap dump, and what can be done. */
static int refuse_dump(const struct job *job)
{
	int (*command)(const struct gh_options *options) = job->command->run;
	fputs(command == gh_cmd_goroutine ? "A heap dump's goroutines are threads: info threads\n"
	      : command == gh_cmd_break
		  ? "A heap dump does not run: name the program with the file command\n"
	      : command == gh_cmd_crash
		  ? "A heap dump does not tell of a crash, as a core file does: core-file CORE\n"
		  : "A heap dump is loaded; this asks a process or a core file: attach PID, or "
		    "core-file CORE\n",
	      stderr);
	return GH_EXIT_INPUT;
}

/* Runs it on the heap dump DUMP, that GDB has open. */
static int run_on_dump(const struct job *job, const char *dump)
{
	char program[PATH_MAX];
	char names[PATH_MAX];
	struct gh_kept_source source = {.file = dump};
	if (read_link(job->directory, GH_SESSION_WRITER, program))
		source.program = program;
	if (read_link(job->directory, GH_SESSION_NAMES, names))
		source.names = names;
	return run(job, &source);
}

/* Runs it on what GDB has. */
static int run_on_files(const struct job *job)
{
	char dump[PATH_MAX];
	const struct gh_infofiles *files = &job->files;
	bool on_program = (job->command->gdb.on & GH_ON_PROGRAM) != 0;
	bool on_process = (job->command->gdb.on & GH_ON_PROCESS) != 0;
	bool debugs = files->program != NULL && files->running;
	if (has_dump(files, job->directory) && read_link(job->directory, GH_SESSION_DUMP, dump))
		return (job->command->gdb.on & GH_ON_DUMP) != 0 ? run_on_dump(job, dump)
								: refuse_dump(job);
	if (on_program && files->program != NULL)
		return run(job, &(struct gh_kept_source){.file = files->program});
	if (debugs && on_process)
		return gh_dispatch_live(&job->words, job->address, job->directory, files);
	fputs(on_program ? "No program: name one with the file command.\n"
	      : on_process && files->running
		  ? "The program is not known: name it with the file command.\n"
	      : on_process ? "No process, core file or heap dump is loaded.\n"
	      : debugs && gh_command_takes(job->command, "names")
		  ? "This asks a heap dump: goheap dump -o DUMP, then goheap load DUMP\n"
		  : "No heap dump is loaded: goheap load DUMP\n",
	      stderr);
	return GH_EXIT_INPUT;
}

/* Writes the words from FIRST on, as they were typed, as the end of a line: an expression. False,
 * after saying why, if GDB cannot be given it. */
static bool write_expression(FILE *script, const struct gh_words *words, int first, const char *end)
{
	for (int i = first; i < words->count; i++) {
		if (strchr(words->typed[i], '\n') != NULL) {
			fputs("goheap: an expression is one line\n", stderr);
			return false;
		}
		fprintf(script, "%s ", words->typed[i]);
	}
	fprintf(script, "%s\n", end);
	return true;
}

/* Has GDB run the command again with the value of an expression, by a command of its own: an error
 * is not in a line of the script then. */
static bool write_evaluation(FILE *script, const struct gh_words *words)
{
	fputs(
	    "eval \"pipe info files | { trap \\\"exit 1\\\" INT; \\\"$GOHEAP_PROGRAM\\\" dispatch "
	    "%#lx || exit 1; }\", ",
	    script);
	return write_expression(script, words, 1, "\n_goheap_finish");
}

/* Has GDB print what is at an address as a value of a type. GDB's own expressions in Go know no
 * types but Go's predeclared ones. In C they know all, but then values print as C's. The type's
 * name, which may be a text of the program's, is within the quotes that it cannot have. */
static bool write_print(FILE *script, const struct gh_words *words)
{
	if (strpbrk(words->args[1], "'\n") != NULL) {
		fputs("goheap print: the name of a type that GDB can find has no quote and no "
		      "newline in it\n",
		      stderr);
		return false;
	}
	/* GDB would warn that the frame's language is another. */
	fputs("pipe _goheap_point | cat >/dev/null\nprint *$goheap_pointer\nend\n"
	      "with confirm off -- define _goheap_point\n"
	      "with language c -- set $goheap_pointer = ('",
	      script);
	for (const char *at = words->args[1]; *at != '\0'; at++)
		fputc(*at, script);
	fputs("' *) (", script);
	return write_expression(script, words, 2, ")");
}

/* Writes the script that GDB runs after the command, and what it then does: WRITE, or nothing. */
static int write_script(const struct job *job,
			bool (*write)(FILE *script, const struct gh_words *words))
{
	FILE *script = gh_script_open(job->directory);
	bool written = true;
	if (script == NULL)
		return GH_EXIT_INPUT;
	if (write != NULL) {
		fputs("with confirm off -- define _goheap_then\n", script);
		written = write(script, &job->words);
		fputs("end\n", script);
	}
	return gh_script_commit(script, job->directory) && written ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static int run_typed(struct job *job)
{
	bool prints = job->command->run == gh_cmd_print;
	if (write_script(job, NULL) != GH_EXIT_OK)
		return GH_EXIT_INPUT;
	if (job->command->operands.rest != GH_ADDRESSES)
		return run_on_files(job);
	if (job->count == 0 || (prints && job->count > 2)) {
		fprintf(stderr, "usage: goheap %s %s\n", job->command->name,
			job->command->gdb.operands);
		return GH_EXIT_USAGE;
	}
	return write_script(job, prints && job->count == 2 ? write_print : write_evaluation);
}

/* Runs it on the ADDRESS that GDB has made of the arguments. */
static int run_at(struct job *job, char *address)
{
	char *args[] = {address, NULL};
	if (write_script(job, NULL) != GH_EXIT_OK)
		return GH_EXIT_INPUT;
	job->args = args;
	job->count = 1;
	job->address = address;
	return run_on_files(job);
}

/* Has JOB be what was typed. The session is this GDB's. False after printing why not: PROGRAM is
 * the command that runs. */
static bool open_job(struct job *job, const char *program)
{
	job->directory = getenv(GH_SESSION_VARIABLE);
	if (job->directory == NULL) {
		fprintf(stderr, "goheap %s: only for goheap in GDB to run\n", program);
		return false;
	}
	if (!gh_words_read(&job->words, job->directory))
		return false;
	if (job->words.count == 0 || job->words.count > MAX_WORDS) {
		fprintf(stderr, "goheap %s: expected a command's words from GDB, found %d\n",
			program, job->words.count);
		gh_words_free(&job->words);
		return false;
	}
	job->command = gh_command_find(job->words.args[0]);
	if (job->command == NULL || job->command->gdb.summary == NULL) {
		fputs("goheap: no such command: ", stderr);
		gh_escape_print(stderr, job->words.args[0]);
		fputs("\n", stderr);
		gh_words_free(&job->words);
		return false;
	}
	job->args = job->words.args + 1;
	job->count = job->words.count - 1;
	return true;
}

int gh_cmd_dispatch(const struct gh_options *options)
{
	struct job job = {0};
	if (!open_job(&job, "dispatch"))
		return GH_EXIT_USAGE;
	int status = GH_EXIT_INPUT;
	if (job.command->run == gh_cmd_load) {
		if (write_script(&job, NULL) == GH_EXIT_OK)
			status = run(&job, &(struct gh_kept_source){0});
	} else if (gh_infofiles_read(&job.files, stdin)) {
		gh_missing_file_made(job.directory, &job.files);
		status = options->nwords > 0 ? run_at(&job, options->words[0]) : run_typed(&job);
		gh_infofiles_free(&job.files);
	} else {
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	}
	gh_words_free(&job.words);
	return status;
}

int gh_cmd_live(const struct gh_options *options)
{
	struct job job = {0};
	char socket[PATH_MAX];
	char program[PATH_MAX];
	if (!open_job(&job, "live"))
		return GH_EXIT_USAGE;
	snprintf(socket, sizeof(socket), "%s/" GH_SESSION_MEMORY, job.directory);
	snprintf(program, sizeof(program), "%s/" GH_SESSION_RUN, job.directory);
	if (options->nwords > 0) {
		job.args = options->words;
		job.count = options->nwords;
	}
	int status = run(&job, &(struct gh_kept_source){.file = socket, .program = program});
	gh_words_free(&job.words);
	return status;
}

int gh_cmd_word(const struct gh_options *options)
{
	(void)options;
	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (directory == NULL) {
		fputs("goheap word: only for goheap in GDB to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	int count = gh_words_append(directory, stdin);
	if (count < 0 || count > MAX_WORDS)
		/* Not to be taken for a number of words. */
		raise(SIGKILL);
	return count;
}
