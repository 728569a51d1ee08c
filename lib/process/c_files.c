#include "lib/process/dump_parts.h"

#include <unistd.h>

#include "lib/unwind/unwind.h"
#include "lib/util/open_file.h"

static uint64_t start_of_program(const struct gh_process *process)
{
	const struct gh_image *image = process->tab->image;
	return image->nloads > 0 ? image->loads[0]->p_vaddr + process->bias : 0;
}

static void add_program(struct gh_c_code *code, const struct gh_process *process)
{
	const struct gh_mapped_files *files = process->files;
	const char *name = process->tab->image->path;
	struct gh_error err;
	struct stat st;
	int fd = gh_open_file(name, &st, &err);
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].start == start_of_program(process))
			name = files->items[i].path;
	if (fd >= 0)
		gh_c_code_add(code, fd, name, process->bias);
}

/* Adds the file at PATH, if it is what the process has loaded as FILE. False if it is not. */
static bool add_file(struct gh_c_code *code, const struct gh_process *process,
		     const struct gh_mapped_file *file, char *path)
{
	struct gh_mapped_file there = {.path = path, .start = file->start, .end = file->end};
	struct gh_mapped_files one = {.items = &there, .count = 1};
	struct gh_error err;
	struct gh_image image;
	struct stat st;
	uint64_t bias;
	if (!gh_image_open_unrelocated(&image, path, &err))
		return false;
	bool found = gh_mapped_files_find(&one, process->memory.source, &image, &bias, &err);
	int fd = found ? gh_open_file(path, &st, &err) : -1;
	found = fd >= 0 && gh_is_same_file(&st, &image.file);
	if (found)
		gh_c_code_add(code, fd, file->path, bias);
	else if (fd >= 0)
		close(fd);
	gh_image_close(&image);
	return found;
}

/* Adds FILE, if it is what the process has loaded; of one that was removed or replaced since what
 * the kernel still has of it. */
static void add_library(struct gh_c_code *code, const struct gh_process *process,
			const struct gh_mapped_file *file)
{
	char path[64];
	if (!add_file(code, process, file, file->path) &&
	    gh_mapped_file_in_memory(path, sizeof(path), process->pid, file->start))
		add_file(code, process, file, path);
}

bool gh_c_files_open(struct gh_c_files *files, const struct gh_process *process)
{
	const struct gh_mapped_files *mapped = process->files;
	if (files->opened)
		return files->code != NULL;
	files->opened = true;
	/* GDB is to be asked rarely. */
	files->memory = gh_process_memory_of(process);
	files->code = gh_c_code_new(&files->memory, process->tab->image->arch);
	if (files->code == NULL)
		return false;
	add_program(files->code, process);
	for (size_t i = 0; i < mapped->count; i++)
		if (mapped->items[i].start != start_of_program(process))
			add_library(files->code, process, &mapped->items[i]);
	return true;
}

void gh_c_files_close(struct gh_c_files *files)
{
	gh_c_code_free(files->code);
	*files = (struct gh_c_files){0};
}
