#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/prefix.h"

/* No process has as many plugins. */
#define MAX_MODULES 256

struct gh_module_file {
	struct gh_image image;
	struct gh_pclntab tab; /* of the image */
};

/* Adds the module that is the file at PATH: one of FILES of the process that has MEMORY, or, if
 * FILES is NULL, loaded at BIAS. Leaves it out if it cannot be read, or is of another machine than
 * ARCH. */
static void add_module(struct gh_other_modules *modules, const struct gh_arch *arch,
		       const char *path, const struct gh_mapped_files *files,
		       const struct gh_memory *memory, uint64_t bias)
{
	struct gh_error err;
	struct gh_module_file *file = calloc(1, sizeof(*file));
	if (file == NULL || modules->files.count == MAX_MODULES ||
	    !gh_image_open(&file->image, path, &err)) {
		free(file);
		return;
	}
	bool found =
	    file->image.arch == arch &&
	    (files == NULL || gh_mapped_files_find(files, memory, &file->image, &bias, &err)) &&
	    gh_pclntab_open(&file->tab, &file->image, &err);
	const struct gh_module module = {.tab = &file->tab, .bias = bias};
	if (found && gh_vector_push(&modules->list, module) &&
	    gh_vector_push(&modules->files, file))
		return;
	if (found)
		gh_pclntab_close(&file->tab);
	modules->list.count = modules->files.count;
	gh_image_close(&file->image);
	free(file);
}

void gh_other_modules_find(struct gh_other_modules *modules, const struct gh_mapped_files *files,
			   const struct gh_memory *memory, const struct gh_image *program,
			   uint64_t bias)
{
	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->items[i].path;
		struct stat st;
		if (stat(path, &st) == 0 &&
		    (st.st_dev != program->file.st_dev || st.st_ino != program->file.st_ino) &&
		    gh_file_is_go(path))
			add_module(modules, program->arch, path, files, memory, 0);
	}
	gh_other_modules_link(modules, program, bias);
}

void gh_other_modules_link(struct gh_other_modules *modules, const struct gh_image *program,
			   uint64_t bias)
{
	struct gh_defined_symbols symbols = {0};
	if (modules->list.count == 0 || !gh_image_names_runtime(program))
		return;
	gh_defined_symbols_add(&symbols, program, bias);
	for (size_t i = 0; i < modules->list.count; i++) {
		struct gh_module *module = &modules->list.items[i];
		module->linked = gh_image_names_runtime(module->tab->image);
		if (module->linked)
			gh_defined_symbols_add(&symbols, module->tab->image, module->bias);
	}
	for (size_t i = 0; i < modules->list.count; i++)
		if (modules->list.items[i].linked)
			gh_relocate_undefined(&modules->files.items[i]->image, &symbols,
					      modules->list.items[i].bias);
	gh_defined_symbols_free(&symbols);
}

/* Adds the module that NOTE, a root's description, tells of. */
static void add_noted(struct gh_other_modules *modules, const struct gh_arch *arch,
		      struct gh_cursor note)
{
	static const char start[] = GH_DUMP_MODULE;
	const size_t digits = 16;
	char *text = strndup((const char *)note.start, gh_cursor_size(&note));
	char *end = NULL;
	if (text != NULL && gh_starts_with(text, start)) {
		uint64_t bias = strtoull(text + strlen(start), &end, 16);
		if (end == text + strlen(start) + digits && strncmp(end, ": ", 2) == 0)
			add_module(modules, arch, end + 2, NULL, NULL, bias);
	}
	free(text);
}

void gh_other_modules_of_dump(struct gh_other_modules *modules, const struct gh_arch *arch,
			      const struct gh_dump *dump)
{
	struct gh_dump_record record;
	size_t count = gh_dump_count(dump, GH_DUMP_OTHER_ROOT);
	/* The roots that tell of them come first, but for one. */
	for (size_t i = 0; i < count && i <= MAX_MODULES; i++) {
		gh_dump_get(dump, GH_DUMP_OTHER_ROOT, i, &record);
		if (record.other_root.pointer == 0)
			add_noted(modules, arch,
				  gh_dump_bytes(dump, record.other_root.description));
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
