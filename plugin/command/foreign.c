#include "plugin/command/command.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/process/process.h"
#include "lib/util/escape.h"
#include "lib/util/vector.h"
#include "plugin/gdb/gdb.h"

/* So many processes that a process has started, and they, are looked at, and Go's are told. */
enum { MOST_LOOKED_AT = 256, MOST_TOLD = 4 };

struct pids GH_VECTOR(int);

bool gh_file_is_foreign(const char *path)
{
	return access(path, R_OK) == 0 && !gh_file_is_go(path) && !gh_missing_file_is_go(path);
}

/* Adds the processes that thread TASK of the process PID has started. Source: children of
 * proc_pid_task(5). */
static void add_children(struct pids *pids, int pid, const char *task)
{
	char path[sizeof("/proc//task//children") + 2 * 20 + NAME_MAX];
	int child;
	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, task);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return;
	while (pids->count < MOST_LOOKED_AT && fscanf(file, "%d", &child) == 1)
		gh_vector_push(pids, child);
	fclose(file);
}

static void add_all_children(struct pids *pids, int pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	while (tasks != NULL && (entry = readdir(tasks)) != NULL)
		if (entry->d_name[0] != '.')
			add_children(pids, pid, entry->d_name);
	if (tasks != NULL)
		closedir(tasks);
}

/* Prints which of the processes that PID has started, and that those have, run Go programs: it may
 * be a shell, or what a container begins with. */
static void print_go_children(int pid)
{
	struct pids pids = {0};
	unsigned told = 0;
	gh_vector_push(&pids, pid);
	for (size_t i = 0; i < pids.count && told < MOST_TOLD; i++) {
		char exe[64];
		snprintf(exe, sizeof(exe), "/proc/%d/exe", pids.items[i]);
		if (i > 0 && gh_file_is_go(exe))
			fprintf(stderr, "%s %d",
				told++ == 0 ? "; Go programs that it has started:" : " or",
				pids.items[i]);
		add_all_children(&pids, pids.items[i]);
	}
	gh_vector_free(&pids);
}

/* The compiler that made the program at PATH of Go, if it is not Go's own; else NULL. */
static const char *other_compiler(const char *path)
{
	struct gh_image image;
	struct gh_error err;
	if (!gh_image_open_unrelocated(&image, path, &err))
		return NULL;
	const char *compiler = gh_image_other_compiler(&image);
	gh_image_close(&image);
	return compiler;
}

static bool tell_process(int pid)
{
	char link[64];
	char path[PATH_MAX] = "";
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	if (readlink(link, path, sizeof(path) - 1) <= 0 || !gh_file_is_foreign(link))
		return false;
	fprintf(stderr, "goheap: process %d runs ", pid);
	gh_escape_print(stderr, path);
	const char *compiler = other_compiler(link);
	if (compiler != NULL)
		fprintf(stderr, ", which %s built: " GH_OTHER_COMPILER_ADVICE, compiler);
	else
		fputs(", which is no Go program, and has loaded no Go library", stderr);
	print_go_children(pid);
	fputs("\n", stderr);
	return true;
}

bool gh_foreign_tell_core(const char *path)
{
	char program[PATH_MAX];
	gh_core_program_path(path, program);
	if (!gh_file_is_foreign(program))
		return false;
	const char *compiler = other_compiler(program);
	if (compiler != NULL)
		gh_say("%s is of a process that ran %s, which %s built: " GH_OTHER_COMPILER_ADVICE,
		       path, program, compiler);
	else
		gh_say("%s is of a process that ran %s, which is no Go program, and had loaded no "
		       "Go library that is here",
		       path, program);
	return true;
}

bool gh_foreign_tell(const char *path, const char *process)
{
	return process != NULL ? tell_process(atoi(process)) : gh_foreign_tell_core(path);
}

void gh_foreign_tell_file(const char *path)
{
	const char *compiler = other_compiler(path);
	if (compiler != NULL)
		gh_say("%s built %s: " GH_OTHER_COMPILER_ADVICE, compiler, path);
	else
		gh_say("%s is no Go program, core file or heap dump", path);
}

const char *gh_foreign_describe(const struct gh_image *image, struct gh_error *err)
{
	char path[sizeof(err->text) / 2];
	if (!gh_image_is_go(image) && !gh_image_is_packed(image)) {
		const char *compiler = gh_image_other_compiler(image);
		gh_escape_text(path, sizeof(path), image->path);
		if (compiler != NULL)
			snprintf(err->text, sizeof(err->text),
				 "%s built %s: " GH_OTHER_COMPILER_ADVICE, compiler, path);
		else
			snprintf(err->text, sizeof(err->text),
				 "%s is no Go program; Go libraries are named as it loads them",
				 path);
	}
	return err->text;
}

void gh_foreign_tell_debugged(const char *program)
{
	/* A session has a link to it. */
	char *path = realpath(program, NULL);
	const char *compiler = other_compiler(program);
	if (path != NULL)
		program = path;
	if (compiler != NULL)
		gh_say("%s built %s: " GH_OTHER_COMPILER_ADVICE, compiler, program);
	else
		gh_say("%s is no Go program, and no Go library is loaded", program);
	free(path);
}
