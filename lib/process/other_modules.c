#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

/* No process has as many plugins. */
#define MAX_MODULES 256

struct gh_module_file {
	struct gh_image image;
	struct gh_pclntab tab; /* of the image */
};

bool gh_other_modules_add(struct gh_other_modules *modules, const struct gh_arch *arch,
			  const char *path, const struct gh_mapped_files *files,
			  const struct gh_memory *memory, uint64_t bias)
{
	struct gh_error err;
	struct gh_module_file *file = calloc(1, sizeof(*file));
	if (file == NULL || modules->files.count == MAX_MODULES ||
	    !gh_image_open(&file->image, path, &err)) {
		free(file);
		return false;
	}
	bool found =
	    file->image.arch == arch &&
	    (files == NULL || gh_mapped_files_find(files, memory, &file->image, &bias, &err)) &&
	    gh_pclntab_open(&file->tab, &file->image, &err);
	const struct gh_process_module module = {&file->tab, bias};
	if (found && gh_vector_push(&modules->list, module) &&
	    gh_vector_push(&modules->files, file))
		return true;
	if (found)
		gh_pclntab_close(&file->tab);
	modules->list.count = modules->files.count;
	gh_image_close(&file->image);
	free(file);
	return false;
}

void gh_other_modules_find(struct gh_other_modules *modules, const struct gh_mapped_files *files,
			   const struct gh_memory *memory, const struct gh_image *program)
{
	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->items[i].path;
		struct stat st;
		if (stat(path, &st) == 0 &&
		    (st.st_dev != program->file.st_dev || st.st_ino != program->file.st_ino) &&
		    gh_file_is_go(path))
			gh_other_modules_add(modules, program->arch, path, files, memory, 0);
	}
}

void gh_other_modules_tell(const struct gh_process *process, struct gh_dump *dump)
{
	for (size_t i = 0; i < process->nothers; i++) {
		const struct gh_process_module *other = &process->others[i];
		struct gh_dump_module module = {strdup(other->tab->image->path), other->bias};
		if (module.path == NULL || !gh_vector_push(&dump->modules, module))
			free(module.path);
	}
}

void gh_other_modules_free(struct gh_other_modules *modules)
{
	for (size_t i = 0; i < modules->files.count; i++) {
		struct gh_module_file *file = modules->files.items[i];
		gh_pclntab_close(&file->tab);
		gh_image_close(&file->image);
		free(file);
	}
	gh_vector_free(&modules->files);
	gh_vector_free(&modules->list);
}
