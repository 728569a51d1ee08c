/* goheap within: what gdbinit runs for a command that the shell has too. Reads what GDB's `info
 * files' prints, and runs the command on the heap dump that is loaded, or on GDB's program. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/command.h"
#include "plugin/debugged.h"
#include "plugin/infofiles.h"
#include "plugin/script.h"
#include "plugin/session.h"

/* A dump and two programs, with their options. */
#define MAX_FILES 5

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

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* The command asks about the heap: it takes the program that wrote the dump, and what that was
 * before it was stripped. */
static bool asks_heap(const char *name)
{
	static const char *const names[] = {
	    "objects", "referrers", "path",   "reachable", "histogram", "dominators", "unreachable",
	    "diff",    "strings",   "report", "hprof",     "dot",       "value",      NULL};
	return is_one_of(name, names);
}

/* The command takes the program alone. */
static bool takes_program(const char *name)
{
	static const char *const names[] = {"goroutines", "profile", "pprof", NULL};
	return is_one_of(name, names);
}

/* Runs the command that is ARGV[0] with its arguments and those in FILES before them; the dump that
 * `diff' compares with an older one comes last. */
static int run(char **argv, int argc, const char *const *files)
{
	const char *program = getenv(GH_PROGRAM_VARIABLE);
	const char **args = calloc((size_t)argc + 3 + MAX_FILES, sizeof(*args));
	size_t count = 0;
	if (program == NULL || args == NULL)
		return GH_EXIT_INPUT;
	args[count++] = "goheap";
	args[count++] = argv[0];
	bool is_diff = strcmp(argv[0], "diff") == 0;
	if (is_diff) {
		memcpy(args + count, argv + 1, (size_t)(argc - 1) * sizeof(*args));
		count += (size_t)argc - 1;
	}
	while (*files != NULL)
		args[count++] = *files++;
	if (!is_diff)
		memcpy(args + count, argv + 1, (size_t)(argc - 1) * sizeof(*args));
	execv(program, (char *const *)args);
	perror(program);
	free(args);
	return GH_EXIT_INPUT;
}

/* Runs it on the heap dump DUMP, that GDB has open. */
static int run_on_dump(char **argv, int argc, const char *directory, const char *dump)
{
	char program[PATH_MAX];
	char names[PATH_MAX];
	const char *args[MAX_FILES + 1] = {dump};
	size_t count = 1;
	bool asks = asks_heap(argv[0]);
	if (strcmp(argv[0], "goroutine") == 0) {
		fputs("A heap dump's goroutines are threads: info threads\n", stderr);
		return GH_EXIT_INPUT;
	}
	if ((asks || takes_program(argv[0])) && read_link(directory, GH_SESSION_WRITER, program)) {
		args[count++] = "-e";
		args[count++] = program;
	}
	if (asks && read_link(directory, GH_SESSION_NAMES, names)) {
		args[count++] = "--names";
		args[count++] = names;
	}
	return run(argv, argc, args);
}

/* Runs it on what GDB has. */
static int run_on_files(char **argv, int argc, const char *directory,
			const struct gh_infofiles *files)
{
	char dump[PATH_MAX];
	const char *args[2] = {NULL};
	bool is_info = strcmp(argv[0], "info") == 0;
	bool debugs = files->program != NULL && files->running;
	if (has_dump(files, directory) && read_link(directory, GH_SESSION_DUMP, dump))
		return run_on_dump(argv, argc, directory, dump);
	if (is_info && files->program != NULL) {
		args[0] = files->program;
		return run(argv, argc, args);
	}
	if (debugs && gh_debugged_has(argv[0]))
		return gh_debugged_run(argv, argc, directory, files);
	fputs(is_info                    ? "No program: name one with the file command.\n"
	      : gh_debugged_has(argv[0]) ? "No process, core file or heap dump is loaded.\n"
	      : debugs && asks_heap(argv[0])
		  ? "Of a process the heap is not known, but of its dump: goheap load DUMP\n"
		  : "No heap dump is loaded: goheap load DUMP\n",
	      stderr);
	return GH_EXIT_INPUT;
}

/* After each command GDB runs a script. */
static bool write_empty_script(const char *directory)
{
	FILE *script = gh_script_open(directory);
	return script != NULL && gh_script_close(script, directory);
}

int gh_cmd_within(int argc, char **argv)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (argc < 2 || directory == NULL) {
		fprintf(stderr, "%s: only for gdbinit to run\n", argv[0]);
		return GH_EXIT_USAGE;
	}
	struct gh_infofiles files;
	if (!gh_infofiles_read(&files, stdin)) {
		fputs("goheap: out of memory\n", stderr);
		return GH_EXIT_INPUT;
	}
	int status = GH_EXIT_INPUT;
	if (write_empty_script(directory))
		status = run_on_files(argv + 1, argc - 1, directory, &files);
	gh_infofiles_free(&files);
	return status;
}
