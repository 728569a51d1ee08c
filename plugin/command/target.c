#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/open_file.h"
#include "lib/util/output.h"
#include "lib/util/prefix.h"
#include "lib/util/zeros.h"
#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/view/view.h"

/* Where standard input is opened. */
static const char *input_path(void)
{
	return access(GH_INPUT_PATH, F_OK) == 0 ? GH_INPUT_PATH : "/proc/self/fd/0";
}

/* Copies standard input to the file FD, pages of zeros as holes. */
static bool spool_input(int fd)
{
	uint8_t bytes[1 << 16];
	off_t end = 0;
	size_t size;
	while ((size = fread(bytes, 1, sizeof(bytes), stdin)) > 0) {
		end += (off_t)size;
		if (gh_is_zeros(bytes, size) ? lseek(fd, end, SEEK_SET) < 0
					     : !gh_write_all(fd, bytes, size))
			return false;
	}
	return !ferror(stdin) && ftruncate(fd, end) == 0;
}

/* Makes standard input a file, which can be read more than once, if it is a pipe. */
static bool keep_input(void)
{
	struct stat st;
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) && access(input_path(), R_OK) == 0)
		return true;
	int fd = gh_open_temporary();
	bool kept = fd >= 0 && spool_input(fd) && dup2(fd, STDIN_FILENO) >= 0;
	if (!kept)
		gh_print_failure("standard input", "keep it");
	if (fd >= 0)
		close(fd);
	return kept;
}

/* The program of a process that ends is gone when its core file has been read, as core_pattern
 * hands it over: opens it before. */
static void hold_program(struct gh_options *options)
{
	int fd = options->program != NULL && gh_starts_with(options->program, "/proc/")
		     ? open(options->program, O_RDONLY | O_CLOEXEC)
		     : -1;
	if (fd < 0)
		return;
	snprintf(options->made, sizeof(options->made), "/proc/self/fd/%d", fd);
	options->made_fd = fd;
	options->program = options->made;
}

/* Names standard input by a path where a file is "-". Returns an exit status. */
static int take_input(struct gh_options *options, const struct gh_command *command)
{
	const char **const files[] = {&options->file, &options->newer, &options->older};
	unsigned count = 0;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (*files[i] == NULL || strcmp(*files[i], "-") != 0)
			continue;
		*files[i] = input_path();
		count++;
	}
	if (count == 0)
		return GH_EXIT_OK;
	if (count > 1 || command->run == gh_cmd_ask ||
	    (command->run == gh_cmd_sql && options->nwords == 0 && options->output == NULL)) {
		gh_say(count > 1 ? "standard input is one file: name the other"
				 : "%s reads its questions from standard input: name a file",
		       command->name);
		return GH_EXIT_USAGE;
	}
	hold_program(options);
	return keep_input() ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* What to ask instead, of each %s; rows without a command are for all. */
static const struct {
	enum gh_target_kind kind;
	int (*run)(const struct gh_options *options);
	const char *text;
} refusals[] = {
    {GH_KIND_PROCESS, gh_cmd_crash,
     "%s is a running process, which has not crashed: goheap hang %s"},
    {GH_KIND_DUMP, gh_cmd_crash, "%s is a heap dump, which has no crash: goheap goroutines %s"},
    {GH_KIND_DUMP, gh_cmd_memory,
     "%s is a heap dump, which has the Go heap alone: goheap suspects %s"},
    {GH_KIND_DUMP, gh_cmd_dump, "%s is a heap dump already: goheap info %s"},
    {GH_KIND_DUMP, gh_cmd_watch, "%s is a heap dump, which does not change: goheap suspects %s"},
    {GH_KIND_CORE, gh_cmd_watch, "%s is a core file, which does not change: goheap suspects %s"},
    {GH_KIND_PROGRAM, gh_cmd_crash, "%s is a program: name its core file, and it with -e %s"},
    {GH_KIND_PROGRAM, gh_cmd_memory,
     "%s is a program: name its process, PID, or its core file, and it with -e %s"},
    {GH_KIND_PROGRAM, gh_cmd_dump,
     "%s is a program: name its process, PID, or its core file, and it with -e %s"},
    {GH_KIND_PROGRAM, NULL,
     "%s is a program: name its process, PID, or its core file or heap dump, and it with -e %s"},
};

/* Says what to do with the target NAME, of KIND, which COMMAND does not answer. */
static void refuse(const struct gh_command *command, enum gh_target_kind kind, const char *name)
{
	if (kind == GH_KIND_PROGRAM && !gh_file_is_go(name) && !gh_missing_file_is_go(name)) {
		gh_foreign_tell_file(name);
		return;
	}
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (refusals[i].kind != kind ||
		    (refusals[i].run != NULL && refusals[i].run != command->run))
			continue;
		gh_say(refusals[i].text, name, name);
		return;
	}
}

/* COMMAND answers the target NAME, of KIND. Else says what does. */
static bool check_kind(const struct gh_command *command, enum gh_target_kind kind, const char *name)
{
	unsigned kinds = gh_command_kinds(command);
	bool answers = kind == GH_KIND_DEBUGGED || (kinds & kind) != 0 ||
		       ((kinds & GH_KIND_ITS_PROGRAM) != 0 && kind != GH_KIND_NONE);
	if (!answers)
		refuse(command, kind, name);
	return answers;
}

static bool check_file(const struct gh_command *command, const char *path)
{
	struct gh_error err;
	enum gh_target_kind kind = gh_target_kind(path, &err);
	if (kind != GH_KIND_NONE)
		return check_kind(command, kind, path);
	/* A wrong command line is told before a path that is not there. */
	if (access(path, F_OK) != 0 && strchr(path, '/') != NULL)
		return true;
	if (access(path, F_OK) != 0 && gh_pid_parse(path) != 0)
		gh_say("process %s cannot be the older: goheap dump %s -o OLD keeps what it is now",
		       path, path);
	else if (access(path, F_OK) != 0)
		gh_say("%s: there is no such file, and no process runs a program of that name",
		       path);
	else
		gh_print_error(&err);
	return false;
}

/* Finds the program of the core file at PATH: in it, or where the process had it. False, and it is
 * said why, if there is none. */
static bool find_core_program(struct gh_options *options, const char *path)
{
	/* The options point to it. */
	static char found[PATH_MAX];
	if (!gh_core_program_make(path, options->made, &options->made_fd))
		return false;
	if (options->made[0] != '\0') {
		options->program = options->made;
		return true;
	}
	if (!gh_core_program_find(path, found))
		return false;
	options->program = found;
	return true;
}

/* Finds the program of the heap dumps that OPTIONS name; there may be none. */
static void find_dump_program(struct gh_options *options)
{
	static char found[PATH_MAX];
	const char *paths[3] = {options->file};
	size_t count = 1;
	if (options->newer != NULL)
		paths[count++] = options->newer;
	if (options->older != NULL)
		paths[count++] = options->older;
	if (gh_dump_program_find(paths, count, found))
		options->program = found;
}

bool gh_target_find_program(struct gh_options *options, const struct gh_command *command)
{
	const char *const files[] = {options->file, options->newer, options->older};
	if (options->program != NULL || !gh_command_takes(command, "exe"))
		return true;
	if (options->process != NULL &&
	    gh_live_program_make(atoi(options->process), options->made, &options->made_fd)) {
		options->program = options->made;
		return true;
	}
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] != NULL && files[i] != options->process &&
		    gh_target_kind(files[i], NULL) == GH_KIND_CORE)
			return find_core_program(options, files[i]);
	/* A question at a prompt, of the page or in GDB is with the program that is known; export
	 * takes dumps of many programs. */
	if (options->process == NULL && options->file != NULL && options->names == NULL &&
	    gh_target_kind(options->file, NULL) == GH_KIND_DUMP && command->run != gh_cmd_export &&
	    !gh_kept_is_child() && getenv(GH_SESSION_VARIABLE) == NULL)
		find_dump_program(options);
	return true;
}

/* The program of the target stands for it. */
static bool take_its_program(struct gh_options *options, enum gh_target_kind kind)
{
	if (kind == GH_KIND_CORE) {
		if (!find_core_program(options, options->file))
			return false;
		options->file = options->program;
	} else if (kind == GH_KIND_PROCESS) {
		int pid = atoi(options->process);
		if (!gh_target_check_running(pid) || gh_foreign_tell(NULL, options->process))
			return false;
		snprintf(options->running, sizeof(options->running), "/proc/%d/exe", pid);
		options->file = options->running;
		if (gh_live_program_make(pid, options->made, &options->made_fd))
			options->file = options->made;
	} else if (kind == GH_KIND_DUMP) {
		find_dump_program(options);
		if (options->program == NULL)
			gh_say("%s is a heap dump, and no program beside it fits: name that",
			       options->file);
		options->file = options->program;
		return options->program != NULL;
	}
	return true;
}

/* COMMAND answers each target that OPTIONS name. */
static bool check_all(const struct gh_options *options, const struct gh_command *command)
{
	const char *const files[] = {options->file, options->newer, options->older};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] != NULL &&
		    !(files[i] == options->process ? check_kind(command, GH_KIND_PROCESS, files[i])
						   : check_file(command, files[i])))
			return false;
	return true;
}

int gh_target_take(struct gh_options *options, const struct gh_command *command)
{
	unsigned kinds = command->operands.kinds;
	if (command->operands.files == 0 || options->file == NULL ||
	    (command->group == GH_GROUP_GDB && command->run != gh_cmd_diagnose))
		return GH_EXIT_OK;
	int status = take_input(options, command);
	if (status != GH_EXIT_OK)
		return status;
	/* What is kept is not read again. */
	if (!gh_kept_is_child() && !check_all(options, command))
		return GH_EXIT_INPUT;
	enum gh_target_kind kind =
	    options->process != NULL ? GH_KIND_PROCESS : gh_target_kind(options->file, NULL);
	bool stands = (kinds & GH_KIND_ITS_PROGRAM) != 0 && (kinds & kind) == 0;
	return !stands || take_its_program(options, kind) ? GH_EXIT_OK : GH_EXIT_INPUT;
}
