#include "lib/elf/elf.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/buffer.h"

/* What alignment may leave unused between two segments in a file, in bytes. */
#define MAX_GAP 0x10000

uint64_t gh_loaded_start(uint64_t phdr, uint64_t phent)
{
	return phdr - (phent == sizeof(Elf64_Phdr) ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
}

/* Sets the field FIELD of the ELF header or program header at OFFSET in BUF. */
#define patch(buf, is64, offset, type, field, value)                                               \
	((is64) ? gh_buffer_patch(buf, (offset) + offsetof(Elf64_##type, field), value,            \
				  sizeof(((Elf64_##type *)NULL)->field))                           \
		: gh_buffer_patch(buf, (offset) + offsetof(Elf32_##type, field), value,            \
				  sizeof(((Elf32_##type *)NULL)->field)))

/* No section header is in memory. */
static void drop_sections(struct gh_buffer *file, bool is64)
{
	patch(file, is64, 0, Ehdr, e_shoff, 0);
	patch(file, is64, 0, Ehdr, e_shnum, 0);
	patch(file, is64, 0, Ehdr, e_shstrndx, 0);
}

static bool is_64(const uint8_t *header)
{
	return header[EI_CLASS] == ELFCLASS64;
}

/* The bias, from the segment that begins with the headers, which are at START. */
static bool find_bias(struct gh_loaded *loaded, uint64_t start, struct gh_error *err)
{
	const struct gh_image *headers = &loaded->headers;
	for (size_t i = 0; i < headers->nsegments; i++) {
		const GElf_Phdr *segment = &headers->segments[i];
		if (segment->p_type != PT_LOAD || segment->p_offset != 0)
			continue;
		loaded->bias = start - segment->p_vaddr;
		return true;
	}
	return gh_fail(err, headers->path, GH_NO_OFFSET, "a segment with the headers", "none");
}

bool gh_loaded_open(struct gh_loaded *loaded, const uint8_t bytes[GH_LOADED_HEADERS],
		    uint64_t start, const char *name, struct gh_error *err)
{
	*loaded = (struct gh_loaded){0};
	memcpy(loaded->bytes, bytes, sizeof(loaded->bytes));
	struct gh_buffer file = {.data = loaded->bytes, .size = sizeof(loaded->bytes)};
	drop_sections(&file, is_64(bytes));
	if (!gh_image_open_memory(&loaded->headers, loaded->bytes, sizeof(loaded->bytes), name,
				  err))
		return false;
	if (find_bias(loaded, start, err))
		return true;
	gh_loaded_close(loaded);
	return false;
}

void gh_loaded_close(struct gh_loaded *loaded)
{
	gh_image_close(&loaded->headers);
}

/* The next segment with contents from *INDEX, which starts as 0. NULL if there are no more. */
static const GElf_Phdr *next_load(const struct gh_loaded *loaded, size_t *index)
{
	const struct gh_image *headers = &loaded->headers;
	while (*index < headers->nsegments) {
		const GElf_Phdr *segment = &headers->segments[(*index)++];
		if (segment->p_type == PT_LOAD && segment->p_filesz > 0)
			return segment;
	}
	return NULL;
}

uint64_t gh_loaded_size(const struct gh_loaded *loaded)
{
	size_t index = 0;
	const GElf_Phdr *segment;
	uint64_t size = 0;
	while ((segment = next_load(loaded, &index)) != NULL) {
		size += segment->p_filesz;
		if (size < segment->p_filesz)
			return UINT64_MAX;
	}
	return size;
}

/* Where the file ends. False (ERR filled) if it is larger than it can be. */
static bool find_size(const struct gh_loaded *loaded, const struct gh_memory *memory,
		      uint64_t *size, struct gh_error *err)
{
	size_t index = 0;
	const GElf_Phdr *segment;
	uint64_t most = gh_loaded_size(loaded);
	if (most > memory->size)
		return gh_fail(err, loaded->headers.path, GH_NO_OFFSET,
			       "the program's segments in memory",
			       "headers that give them %" PRIu64 " bytes, of at most %" PRIu64,
			       most, memory->size);
	*size = 0;
	while ((segment = next_load(loaded, &index)) != NULL) {
		most += MAX_GAP;
		uint64_t end = segment->p_offset + segment->p_filesz;
		if (end < segment->p_filesz || end > most)
			return gh_fail(err, loaded->headers.path, GH_NO_OFFSET,
				       "segments one after the other in the program's file",
				       "a segment of %" PRIu64 " bytes at offset 0x%" PRIx64,
				       segment->p_filesz, segment->p_offset);
		if (end > *size)
			*size = end;
	}
	return *size >= GH_LOADED_HEADERS ||
	       gh_fail(err, loaded->headers.path, GH_NO_OFFSET, "segments with a program",
		       "%" PRIu64 " bytes", *size);
}

static bool read_segments(const struct gh_loaded *loaded, const struct gh_memory *memory,
			  uint8_t *file, struct gh_error *err)
{
	size_t index = 0;
	const GElf_Phdr *segment;
	while ((segment = next_load(loaded, &index)) != NULL) {
		uint64_t address = segment->p_vaddr + loaded->bias;
		if (!memory->read(memory, address, file + segment->p_offset,
				  (size_t)segment->p_filesz))
			return gh_fail(err, loaded->headers.path, GH_NO_OFFSET,
				       "the program's segments in memory", "none at 0x%" PRIx64,
				       address);
	}
	return true;
}

/* Has the headers give the addresses in memory, which nothing is to relocate once more. */
static void rebase(const struct gh_loaded *loaded, struct gh_buffer *file)
{
	const struct gh_image *headers = &loaded->headers;
	bool is64 = is_64(headers->data);
	uint64_t at = headers->header.e_phoff;
	patch(file, is64, 0, Ehdr, e_type, ET_EXEC);
	patch(file, is64, 0, Ehdr, e_entry, headers->header.e_entry + loaded->bias);
	for (size_t i = 0; i < headers->nsegments; i++) {
		const GElf_Phdr *segment = &headers->segments[i];
		patch(file, is64, at, Phdr, p_vaddr, segment->p_vaddr + loaded->bias);
		if (segment->p_type == PT_DYNAMIC)
			patch(file, is64, at, Phdr, p_type, PT_NULL);
		at += headers->header.e_phentsize;
	}
}

bool gh_loaded_make(const struct gh_loaded *loaded, const struct gh_memory *memory, uint8_t **data,
		    size_t *size, struct gh_error *err)
{
	uint64_t length = 0;
	if (!find_size(loaded, memory, &length, err))
		return false;
	/* Not a page of it is in use before it is read into: there may be no such memory. */
	uint8_t *bytes = calloc(1, (size_t)length);
	if (bytes == NULL)
		return gh_fail_memory(err, loaded->headers.path);
	if (!read_segments(loaded, memory, bytes, err)) {
		free(bytes);
		return false;
	}
	struct gh_buffer file = {
	    .data = bytes, .size = (size_t)length, .big_endian = loaded->headers.arch->big_endian};
	/* Segments may lie over each other: these are the headers that were checked. */
	memcpy(bytes, loaded->bytes, sizeof(loaded->bytes));
	rebase(loaded, &file);
	*data = file.data;
	*size = file.size;
	return true;
}

bool gh_image_is_packed(const struct gh_image *image)
{
	static const char magic[] = "UPX!";
	size_t size = image->size < GH_LOADED_HEADERS ? image->size : GH_LOADED_HEADERS;
	return memmem(image->data, size, magic, strlen(magic)) != NULL;
}
