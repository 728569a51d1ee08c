#include "plugin/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "lib/elf/elf.h"
#include "lib/process/process.h"

static bool is_same(const char *a, const char *b)
{
	struct stat first;
	struct stat second;
	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

static bool has(const struct gh_modules *modules, const char *path)
{
	for (size_t i = 0; i < modules->count; i++)
		if (strcmp(modules->items[i], path) == 0)
			return true;
	return false;
}

void gh_modules_add(struct gh_modules *modules, const struct gh_mapped_files *files,
		    const char *program)
{
	bool (*is_meant)(const char *path) = gh_file_is_go;
	if (!modules->any && gh_file_needs_runtime(program))
		is_meant = gh_file_shares_runtime;
	else if (!modules->any && gh_file_is_go(program))
		return;
	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->items[i].path;
		char *copy = !is_same(path, program) && is_meant(path) && !has(modules, path)
				 ? strdup(path)
				 : NULL;
		if (copy != NULL && !gh_vector_push(modules, copy))
			free(copy);
	}
}

/* The same of the process PID. */
static void add_live(struct gh_modules *modules, int pid)
{
	char program[64];
	struct gh_mapped_files files = {0};
	snprintf(program, sizeof(program), "/proc/%d/exe", pid);
	if (gh_mapped_files_live(&files, pid))
		gh_modules_add(modules, &files, program);
	gh_mapped_files_free(&files);
}

/* The path of the program among FILES, whose headers are at ADDRESS; "" if it is none of them. */
static const char *find_program(const struct gh_mapped_files *files, uint64_t address)
{
	const char *program = "";
	for (size_t i = 0; i < files->count && files->items[i].start <= address; i++)
		program = files->items[i].path;
	return program;
}

void gh_core_program_path(const char *path, char program[PATH_MAX])
{
	struct gh_image core;
	struct gh_mapped_files files = {0};
	uint64_t headers = 0;
	program[0] = '\0';
	if (!gh_image_open_core(&core, path, NULL))
		return;
	gh_core_auxv(&core, AT_PHDR, &headers);
	if (gh_mapped_files_core(&files, &core))
		snprintf(program, PATH_MAX, "%s", find_program(&files, headers));
	gh_mapped_files_free(&files);
	gh_image_close(&core);
}

/* The same of the core file at PATH. */
static void add_core(struct gh_modules *modules, const char *path)
{
	struct gh_image core;
	struct gh_mapped_files files = {0};
	uint64_t headers = 0;
	if (!gh_image_open_core(&core, path, NULL))
		return;
	gh_core_auxv(&core, AT_PHDR, &headers);
	if (gh_mapped_files_core(&files, &core))
		gh_modules_add(modules, &files, find_program(&files, headers));
	gh_mapped_files_free(&files);
	gh_image_close(&core);
}

void gh_modules_find(struct gh_modules *modules, const char *path, const char *process)
{
	if (process != NULL)
		add_live(modules, atoi(process));
	else
		add_core(modules, path);
}

bool gh_module_is(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	return strcmp(path, name) == 0 || (base != NULL && strcmp(base + 1, name) == 0);
}

void gh_modules_free(struct gh_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		free(modules->items[i]);
	gh_vector_free(modules);
}
