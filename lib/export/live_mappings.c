#include "lib/export/core_parts.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "lib/util/bsearch.h"

#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif

/* Bits of /proc/PID/coredump_filter, core(5), and what they are if nobody set them. */
enum {
	ANONYMOUS_PRIVATE = 1 << 0,
	ANONYMOUS_SHARED = 1 << 1,
	FILE_PRIVATE = 1 << 2,
	FILE_SHARED = 1 << 3,
	ELF_HEADERS = 1 << 4,
	HUGE_PRIVATE = 1 << 5,
	HUGE_SHARED = 1 << 6,
	USUAL = ANONYMOUS_PRIVATE | ANONYMOUS_SHARED | ELF_HEADERS | HUGE_PRIVATE
};

/* A mapping that has no more in memory is small, in bytes. */
#define SMALL (256 << 10)

struct lister {
	struct gh_core_mappings *mappings;
	unsigned filter;
	const struct gh_memory_parts *only; /* of what is no file's; NULL for all */
	uint64_t file_end;                  /* the end of the last file's mapping */
};

static unsigned read_filter(int pid)
{
	char path[64];
	unsigned filter = USUAL;
	snprintf(path, sizeof(path), "/proc/%d/coredump_filter", pid);
	FILE *file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%x", &filter) != 1)
		filter = USUAL;
	if (file != NULL)
		fclose(file);
	return filter;
}

/* The bit that says whether all of MAPPING is in a core file. */
static unsigned choose_bit(const struct gh_mapping *mapping)
{
	bool is_shared = mapping->access[3] == 's';
	if (mapping->huge)
		return is_shared ? HUGE_SHARED : HUGE_PRIVATE;
	if (is_shared)
		return gh_mapped_file_deleted(mapping->name) != 0 ? ANONYMOUS_SHARED : FILE_SHARED;
	if (mapping->inode == 0 || mapping->own > 0 || mapping->swapped > 0)
		return ANONYMOUS_PRIVATE;
	return FILE_PRIVATE;
}

/* MAPPING is not to be left out, if some is: it is a file's or the kernel's, has some of the parts,
 * follows a file's with its variables, or is small: among those are the dynamic linker's, without
 * which debuggers find no libraries and threads. */
static bool is_wanted(struct lister *lister, const struct gh_mapping *mapping)
{
	bool follows = mapping->start == lister->file_end;
	if (mapping->inode != 0 || strcmp(mapping->name, "[vdso]") == 0) {
		lister->file_end = mapping->end;
		return lister->only == NULL || mapping->access[3] == 'p';
	}
	if (lister->only == NULL || follows || mapping->resident + mapping->swapped <= SMALL)
		return true;
	const struct gh_memory_part *parts = lister->only->items;
	size_t count = lister->only->count;
	size_t i = gh_lower_bound(count, k, parts[k].end <= mapping->start);
	return i < count && parts[i].start < mapping->end;
}

/* Finds how much of MAPPING is in the core file. */
static void choose(const struct lister *lister, const struct gh_mapping *mapping,
		   struct gh_core_mapping *chosen)
{
	bool is_kernels = strcmp(mapping->name, "[vdso]") == 0;
	unsigned bit = choose_bit(mapping);
	chosen->all_pages = is_kernels || bit == FILE_PRIVATE || bit == FILE_SHARED ||
			    (bit == ANONYMOUS_PRIVATE && mapping->inode != 0);
	chosen->is_own = mapping->inode == 0 && bit == ANONYMOUS_PRIVATE && !is_kernels;
	bool is_empty = !chosen->all_pages && mapping->resident == 0 && mapping->swapped == 0;
	if (!is_kernels && (mapping->left_out || (is_empty && !mapping->huge)))
		return;
	if (is_kernels || (lister->filter & bit) != 0)
		chosen->dumped = mapping->end;
	else if (bit == FILE_PRIVATE && (lister->filter & ELF_HEADERS) != 0 &&
		 mapping->offset == 0 && mapping->access[0] == 'r')
		chosen->dumped = mapping->start + (uint64_t)sysconf(_SC_PAGESIZE);
}

static void take(void *context, int pid, struct gh_mapping *mapping)
{
	struct lister *lister = context;
	struct gh_core_mapping chosen = {.start = mapping->start,
					 .end = mapping->end,
					 .dumped = mapping->start,
					 .offset = mapping->offset};
	(void)pid;
	/* It is the same in all processes, and above all that a process has. */
	if (strcmp(mapping->name, "[vsyscall]") == 0)
		return;
	memcpy(chosen.access, mapping->access, sizeof(chosen.access));
	if (is_wanted(lister, mapping))
		choose(lister, mapping, &chosen);
	if (mapping->inode != 0) {
		chosen.name = strdup(mapping->name);
		lister->mappings->failed = lister->mappings->failed || chosen.name == NULL;
	}
	if (!gh_vector_push(lister->mappings, chosen))
		free(chosen.name);
}

bool gh_core_mappings_list(struct gh_core_mappings *mappings, int pid,
			   const struct gh_memory_parts *only)
{
	struct lister lister = {.mappings = mappings, .filter = read_filter(pid), .only = only};
	*mappings = (struct gh_core_mappings){0};
	return gh_mappings_live(pid, "smaps", take, &lister);
}

void gh_core_mappings_free(struct gh_core_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		free(mappings->items[i].name);
	gh_vector_free(mappings);
}

void gh_files_append(struct gh_buffer *out, const struct gh_arch *arch,
		     const struct gh_core_mappings *mappings)
{
	unsigned word = arch->pointer_size;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t count = 0;
	size_t start = gh_note_begin(out, "CORE", NT_FILE);
	size_t count_at = out->size;
	gh_buffer_uint(out, 0, word);
	gh_buffer_uint(out, page, word);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct gh_core_mapping *mapping = &mappings->items[i];
		if (mapping->name == NULL)
			continue;
		gh_buffer_uint(out, mapping->start, word);
		gh_buffer_uint(out, mapping->end, word);
		gh_buffer_uint(out, mapping->offset / page, word);
		count++;
	}
	gh_buffer_patch(out, count_at, count, word);
	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->items[i].name != NULL)
			gh_buffer_string(out, mappings->items[i].name);
	gh_note_end(out, start);
}
