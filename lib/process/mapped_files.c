#include "lib/process/internal.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* What tells one build of a library from another is compared up to that many bytes. */
#define IDENTITY_MAX 4096

static void add(struct gh_mapped_files *files, uint64_t start, const char *path)
{
	struct gh_mapped_file file = {.path = strdup(path), .start = start};
	if (file.path == NULL)
		files->failed = true;
	else if (!gh_vector_push(files, file))
		free(file.path);
}

size_t gh_mapped_file_deleted(const char *name)
{
	static const char end[] = " (deleted)";
	size_t length = strlen(name);
	return length >= sizeof(end) && strcmp(name + length + 1 - sizeof(end), end) == 0
		   ? length + 1 - sizeof(end)
		   : 0;
}

/* Where the process is in a container, the name is one there. */
static void add_live(struct gh_mapped_files *files, int pid, uint64_t start, const char *mapped)
{
	char path[PATH_MAX + 32];
	char name[PATH_MAX];
	struct stat here;
	struct stat there;
	snprintf(name, sizeof(name), "%s", mapped);
	size_t length = gh_mapped_file_deleted(name);
	if (length != 0)
		name[length] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, name);
	bool is_there = stat(path, &there) == 0;
	bool is_here = stat(name, &here) == 0 &&
		       (!is_there || (here.st_dev == there.st_dev && here.st_ino == there.st_ino));
	add(files, start, is_here || !is_there ? name : path);
}

/* The file whose beginning was mapped last, until it is known to have code. Files without code,
 * data, are left alone: there may be thousands, and one on a disk that is gone would hang whoever
 * asks about it. */
struct lister {
	struct gh_mapped_files *files;
	const struct gh_image *core; /* NULL if the process runs */
	char *name;                  /* NULL before the first; owned */
	uint64_t start;
	bool added;
};

/* GDB's core files are without most of what is in files, and its access: a program's or library's
 * first page tells, or that it is mapped in several parts. */
static bool has_code(const struct lister *lister, const struct gh_mapping *mapping)
{
	struct gh_cursor memory;
	if (mapping->access[0] != '\0')
		return mapping->access[2] == 'x';
	return mapping->offset != 0 ||
	       (gh_image_at(lister->core, mapping->start, &memory) &&
		gh_cursor_left(&memory) >= SELFMAG && memcmp(memory.pos, ELFMAG, SELFMAG) == 0);
}

static void add_if_code(struct lister *lister, int pid, const struct gh_mapping *mapping)
{
	struct gh_mapped_files *files = lister->files;
	if (mapping->offset == 0) {
		free(lister->name);
		lister->name = strdup(mapping->name);
		lister->start = mapping->start;
		lister->added = false;
		files->failed = files->failed || lister->name == NULL;
	}
	if (lister->name == NULL || strcmp(lister->name, mapping->name) != 0 ||
	    (!lister->added && !has_code(lister, mapping)))
		return;
	if (!lister->added && lister->core == NULL)
		add_live(files, pid, lister->start, lister->name);
	else if (!lister->added)
		add(files, lister->start, lister->name);
	lister->added = true;
	if (!files->failed)
		files->items[files->count - 1].end = mapping->end;
}

static void take_file(void *context, int pid, struct gh_mapping *mapping)
{
	if (mapping->name[0] == '/')
		add_if_code(context, pid, mapping);
}

bool gh_mapped_files_live(struct gh_mapped_files *files, int pid)
{
	struct lister lister = {.files = files};
	bool listed = gh_mappings_live(pid, "maps", take_file, &lister);
	free(lister.name);
	return listed && !files->failed;
}

/* What is looked for among mappings. */
struct in_memory {
	char *path;
	size_t size;
	uint64_t start;
	bool found;
};

static void take_in_memory(void *context, int pid, struct gh_mapping *mapping)
{
	struct in_memory *wanted = context;
	if (mapping->start != wanted->start || mapping->inode == 0)
		return;
	snprintf(wanted->path, wanted->size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
		 mapping->start, mapping->end);
	wanted->found = true;
}

bool gh_mapped_file_in_memory(char *path, size_t size, int pid, uint64_t start)
{
	struct in_memory wanted = {path, size, start, false};
	return pid != 0 && gh_mappings_live(pid, "maps", take_in_memory, &wanted) && wanted.found;
}

static void take_unbacked(void *context, int pid, struct gh_mapping *mapping)
{
	struct gh_starts *starts = context;
	(void)pid;
	if (mapping->access[0] == 'r' &&
	    (mapping->inode == 0 || gh_mapped_file_deleted(mapping->name) != 0))
		gh_vector_push(starts, mapping->start);
}

void gh_unbacked_live(struct gh_starts *starts, int pid)
{
	gh_mappings_live(pid, "maps", take_unbacked, starts);
}

void gh_unbacked_core(struct gh_starts *starts, const struct gh_image *core)
{
	for (size_t i = 0; i < core->nsegments; i++) {
		const GElf_Phdr *segment = &core->segments[i];
		if (segment->p_type == PT_LOAD && segment->p_filesz > GH_LOADED_HEADERS)
			gh_vector_push(starts, segment->p_vaddr);
	}
}

static void take_core_file(void *context, int pid, struct gh_mapping *mapping)
{
	add_if_code(context, pid, mapping);
}

bool gh_mapped_files_core(struct gh_mapped_files *files, const struct gh_image *core)
{
	struct lister lister = {.files = files, .core = core};
	bool listed = gh_mappings_core_files(core, take_core_file, &lister);
	free(lister.name);
	return listed && !files->failed;
}

void gh_mapped_files_free(struct gh_mapped_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->items[i].path);
	gh_vector_free(files);
}

static bool read_process(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};
	return process_vm_readv(*(const int *)memory->from, &local, 1, &remote, 1, 0) ==
	       (ssize_t)size;
}

struct gh_memory gh_live_memory(const int *pid)
{
	return (struct gh_memory){.read = read_process, .from = pid, .size = UINT64_MAX};
}

/* What is in memory in place of IMAGE. */
enum presence { UNKNOWN, SAME, OTHER };

static enum presence compare(const struct gh_image *image, const struct gh_memory *memory,
			     uint64_t bias, uint64_t vaddr, uint64_t size)
{
	uint8_t bytes[IDENTITY_MAX];
	struct gh_cursor cur;
	if (size == 0 || size > sizeof(bytes) || !gh_image_at(image, vaddr, &cur) ||
	    gh_cursor_left(&cur) < size || !memory->read(memory, vaddr + bias, bytes, size))
		return UNKNOWN;
	return memcmp(bytes, cur.pos, size) == 0 ? SAME : OTHER;
}

/* The program headers, and the notes, one of which is the build id, are the same before and after a
 * file is stripped. */
static enum presence look_at(const struct gh_image *image, const struct gh_memory *memory,
			     uint64_t bias)
{
	const GElf_Ehdr *header = &image->header;
	enum presence found =
	    compare(image, memory, bias, image->loads[0]->p_vaddr + header->e_phoff,
		    (uint64_t)header->e_phnum * header->e_phentsize);
	for (size_t i = 0; i < image->nsegments && found == SAME; i++) {
		const GElf_Phdr *segment = &image->segments[i];
		if (segment->p_type == PT_NOTE &&
		    compare(image, memory, bias, segment->p_vaddr, segment->p_filesz) == OTHER)
			found = OTHER;
	}
	return found;
}

static bool is_image(const char *path, const struct gh_image *image)
{
	struct stat st;
	return strcmp(path, image->path) == 0 ||
	       (stat(path, &st) == 0 && st.st_dev == image->file.st_dev &&
		st.st_ino == image->file.st_ino);
}

/* What there is of the image: by its path, or else of the same build. */
static enum presence find(const struct gh_mapped_files *files, const struct gh_memory *memory,
			  const struct gh_image *image, uint64_t *bias)
{
	enum presence found = UNKNOWN;
	bool replaced = false;
	for (size_t i = 0; i < files->count && image->nloads > 0; i++) {
		const struct gh_mapped_file *file = &files->items[i];
		uint64_t here = file->start - image->loads[0]->p_vaddr;
		enum presence presence = look_at(image, memory, here);
		bool is_named = is_image(file->path, image);
		if (is_named && presence != OTHER) {
			*bias = here;
			return SAME;
		}
		replaced = replaced || is_named;
		/* Another copy, or what it was before it was stripped. */
		if (found == UNKNOWN && presence == SAME) {
			*bias = here;
			found = SAME;
		}
	}
	return replaced ? OTHER : found;
}

bool gh_mapped_files_replaced(const struct gh_mapped_files *files, const struct gh_memory *memory,
			      const struct gh_image *image)
{
	uint64_t bias;
	return find(files, memory, image, &bias) == OTHER;
}

bool gh_mapped_files_find(const struct gh_mapped_files *files, const struct gh_memory *memory,
			  const struct gh_image *image, uint64_t *bias, struct gh_error *err)
{
	enum presence found = find(files, memory, image, bias);
	return found == SAME ||
	       gh_fail(err, image->path, GH_NO_OFFSET,
		       "the file of a library that the process has loaded", "%s",
		       found == OTHER ? "another: it was replaced since" : "none of those");
}
