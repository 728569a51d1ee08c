#include "lib/process/internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/util/prefix.h"

/* Allocators: what they are called, a function that each alone exports, and a text in its code,
 * which is left where it is linked into a program and stripped. */
static const struct {
	const char *name;
	const char *function;
	const char *text;
} known[] = {
    {"jemalloc", "mallctl", "<jemalloc>: "},
    {"tcmalloc", "tc_malloc", "tcmalloc: "},
    {"mimalloc", "mi_malloc", "mimalloc: "},
};

/* The C library, and its dynamic linker, which had one for itself. */
static bool is_c_library(const char *name)
{
	return gh_starts_with(name, "libc.") || gh_starts_with(name, "libc-") ||
	       gh_starts_with(name, "ld-") || gh_starts_with(name, "ld.");
}

static bool defines(const struct gh_image *image, const char *function)
{
	GElf_Sym symbol;
	return gh_dynamic_symbol(image, function, &symbol) && symbol.st_shndx != SHN_UNDEF;
}

/* A static program that has C code. */
static bool is_static_c(const struct gh_image *image)
{
	struct gh_dynamic dynamic;
	return !gh_dynamic_open(&dynamic, image) && gh_image_section(image, ".eh_frame") != NULL;
}

/* Looks for an allocator in the file IMAGE. */
static bool look(struct gh_allocator *allocator, const struct gh_image *image)
{
	bool has_malloc = defines(image, "malloc");
	if (!has_malloc && !is_static_c(image))
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && allocator->name == NULL; i++)
		if (defines(image, known[i].function) ||
		    memmem(image->data, image->size, known[i].text, strlen(known[i].text)) != NULL)
			allocator->name = known[i].name;
	return has_malloc || allocator->name != NULL;
}

/* The file cannot be read, but is named as an allocator's library: a core file may be looked at
 * without these. */
static bool is_named(struct gh_allocator *allocator, const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && allocator->name == NULL; i++)
		if (gh_starts_with(name, "lib") && gh_starts_with(name + 3, known[i].name))
			allocator->name = known[i].name;
	return allocator->name != NULL;
}

bool gh_allocator_find(struct gh_allocator *allocator, const struct gh_process *process)
{
	const struct gh_mapped_files *files = process->files;
	bool found = false;
	*allocator = (struct gh_allocator){0};
	for (size_t i = 0; files != NULL && i < files->count && !found; i++) {
		const char *slash = strrchr(files->items[i].path, '/');
		const char *name = slash != NULL ? slash + 1 : files->items[i].path;
		struct gh_image image;
		if (is_c_library(name))
			continue;
		if (gh_image_open_unrelocated(&image, files->items[i].path, NULL)) {
			found = look(allocator, &image);
			gh_image_close(&image);
		} else {
			found = is_named(allocator, name);
		}
		if (found)
			snprintf(allocator->file, sizeof(allocator->file), "%s", name);
	}
	return found;
}
