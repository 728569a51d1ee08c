#include "lib/process/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"

/* The kernel's note of what a process has mapped, as the elf.h of older systems lacks it. */
#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif

/* Reads START-END ACCESS OFFSET DEVICE INODE NAME, without a newline. False if LINE is another. */
static bool read_line(char *line, struct gh_mapping *mapping)
{
	int name = 0;
	*mapping = (struct gh_mapping){0};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n",
		   &mapping->start, &mapping->end, mapping->access, &mapping->offset,
		   &mapping->inode, &name) != 5)
		return false;
	mapping->name = line + name;
	return mapping->end > mapping->start;
}

/* Reads the flags of MAPPING, of two letters each. */
static void read_flags(const char *flags, struct gh_mapping *mapping)
{
	mapping->huge = strstr(flags, " ht") != NULL;
	mapping->is_device = strstr(flags, " io") != NULL || strstr(flags, " pf") != NULL;
	mapping->left_out = strstr(flags, " dd") != NULL || mapping->is_device;
	mapping->is_locked = strstr(flags, " lo") != NULL;
	mapping->is_spare = strstr(flags, " nr") != NULL;
}

/* Reads a line of smaps that tells of MAPPING: KEY: NUMBER kB, or its flags. */
static void read_property(const char *line, struct gh_mapping *mapping)
{
	static const struct {
		const char *key;
		size_t field;
	} sizes[] = {
	    {"Rss:", offsetof(struct gh_mapping, resident)},
	    {"Swap:", offsetof(struct gh_mapping, swapped)},
	    {"Anonymous:", offsetof(struct gh_mapping, own)},
	};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t length = strlen(sizes[i].key);
		uint64_t *field = (uint64_t *)(void *)((char *)mapping + sizes[i].field);
		if (strncmp(line, sizes[i].key, length) == 0)
			*field = strtoull(line + length, NULL, 10) * 1024;
	}
	if (strncmp(line, "VmFlags:", 8) == 0)
		read_flags(line + 8, mapping);
}

bool gh_mappings_live(int pid, const char *file, gh_mapping_take *take, void *context)
{
	char path[64];
	char *line = NULL;
	char *first = NULL; /* the last mapping's */
	size_t size = 0;
	struct gh_mapping mapping = {0};
	struct gh_mapping next;
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	FILE *maps = fopen(path, "re");
	while (maps != NULL && getline(&line, &size, maps) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		/* Addresses are in small letters. */
		if ((line[0] >= 'A' && line[0] <= 'Z') || !read_line(line, &next)) {
			read_property(line, &mapping);
			continue;
		}
		if (mapping.name != NULL)
			take(context, pid, &mapping);
		free(first);
		first = line;
		line = NULL;
		mapping = next;
	}
	bool whole = maps != NULL && feof(maps);
	int error = errno;
	if (mapping.name != NULL)
		take(context, pid, &mapping);
	free(first);
	free(line);
	if (maps != NULL)
		fclose(maps);
	errno = error;
	return whole;
}

void gh_mapping_set_access(struct gh_mapping *mapping, const GElf_Phdr *segment)
{
	mapping->access[0] = segment->p_flags & PF_R ? 'r' : '-';
	mapping->access[1] = segment->p_flags & PF_W ? 'w' : '-';
	mapping->access[2] = segment->p_flags & PF_X ? 'x' : '-';
	mapping->access[3] = 'p';
}

/* Fills in the access to MAPPING, if a segment of CORE begins there. Both lists are by address: the
 * search goes on AT the place where the last one ended. */
static void find_access(struct gh_mapping *mapping, const struct gh_image *core, size_t *at)
{
	while (*at < core->nsegments && (core->segments[*at].p_type != PT_LOAD ||
					 core->segments[*at].p_vaddr < mapping->start))
		++*at;
	if (*at < core->nsegments && core->segments[*at].p_vaddr == mapping->start)
		gh_mapping_set_access(mapping, &core->segments[*at]);
}

bool gh_mappings_core_files(const struct gh_image *core, gh_mapping_take *take, void *context)
{
	size_t segment = 0;
	unsigned word = core->arch->pointer_size;
	struct gh_cursor ranges;
	if (!gh_core_note_find(core, NT_FILE, &ranges))
		return false;
	uint64_t count = gh_cursor_uint(&ranges, word);
	uint64_t page = gh_cursor_uint(&ranges, word);
	if (count > gh_cursor_left(&ranges) / (3 * word))
		return false;
	struct gh_cursor names = ranges;
	gh_cursor_bytes(&names, count * 3 * word);
	for (uint64_t i = 0; i < count; i++) {
		struct gh_mapping mapping = {0};
		mapping.start = gh_cursor_uint(&ranges, word);
		mapping.end = gh_cursor_uint(&ranges, word);
		mapping.offset = gh_cursor_uint(&ranges, word) * page;
		const char *name = gh_cursor_string(&names);
		if (name == NULL)
			return false;
		mapping.name = name;
		find_access(&mapping, core, &segment);
		take(context, 0, &mapping);
	}
	return true;
}

bool gh_writable_add(struct gh_writable *writable, const struct gh_mapping *mapping)
{
	const char *access = mapping->access;
	struct gh_memory_part part = {mapping->start, mapping->end};
	bool is_own = access[0] == 'r' && access[1] == 'w' && access[3] == 'p' &&
		      part.end - part.start <= GH_MOST_MAPPED;
	if (is_own)
		gh_vector_push(mapping->inode != 0 ? &writable->of_files : &writable->anonymous,
			       part);
	return is_own;
}

/* Moves the mapping FILE of WRITABLE, a core file's that has only those of no file yet, to those of
 * files. */
static void move_to_files(void *context, int pid, struct gh_mapping *file)
{
	struct gh_writable *writable = context;
	struct gh_memory_part *items = writable->anonymous.items;
	(void)pid;
	size_t at = gh_lower_bound(writable->anonymous.count, i, items[i].start < file->start);
	if (at == writable->anonymous.count || items[at].start != file->start)
		return;
	gh_vector_push(&writable->of_files, items[at]);
	items[at].end = items[at].start;
}

void gh_writable_core(struct gh_writable *writable, const struct gh_image *core)
{
	const unsigned access = PF_R | PF_W;
	*writable = (struct gh_writable){0};
	for (size_t i = 0; i < core->nsegments; i++) {
		const GElf_Phdr *segment = &core->segments[i];
		struct gh_memory_part part = {.start = segment->p_vaddr};
		if (segment->p_type == PT_LOAD && (segment->p_flags & access) == access &&
		    !__builtin_add_overflow(part.start, segment->p_memsz, &part.end))
			gh_vector_push(&writable->anonymous, part);
	}
	gh_memory_parts_sort(&writable->anonymous);
	gh_mappings_core_files(core, move_to_files, writable);
	gh_memory_parts_sort(&writable->of_files);
}
