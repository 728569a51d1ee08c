#include "lib/elf/elf.h"

#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/util/bsearch.h"

/* Finds the segment of notes, of which there is one. */
static bool find_notes(const struct gh_image *core, struct gh_cursor *notes)
{
	struct gh_cursor all =
	    gh_cursor_make(core->data, core->size, core->path, 0, core->arch->big_endian);
	for (size_t i = 0; i < core->nsegments; i++) {
		const GElf_Phdr *segment = &core->segments[i];
		if (segment->p_type != PT_NOTE)
			continue;
		*notes = gh_cursor_slice(&all, segment->p_offset, segment->p_filesz);
		return !notes->failed;
	}
	return false;
}

static bool is_kernels(const uint8_t *name, uint32_t size)
{
	return (size == 5 && memcmp(name, "CORE", 5) == 0) ||
	       (size == 6 && memcmp(name, "LINUX", 6) == 0);
}

bool gh_core_note(const struct gh_image *core, uint64_t *at, uint32_t *type, struct gh_cursor *note)
{
	struct gh_cursor notes;
	if (!find_notes(core, &notes))
		return false;
	gh_cursor_seek(&notes, *at);
	while (gh_cursor_left(&notes) > 0) {
		uint32_t name_size = gh_cursor_u32(&notes);
		uint32_t size = gh_cursor_u32(&notes);
		*type = gh_cursor_u32(&notes);
		const uint8_t *name = gh_cursor_bytes(&notes, ((uint64_t)name_size + 3) & ~3ULL);
		uint64_t start = (uint64_t)(notes.pos - notes.start);
		gh_cursor_bytes(&notes, ((uint64_t)size + 3) & ~3ULL);
		if (notes.failed)
			return false;
		*at = (uint64_t)(notes.pos - notes.start);
		if (is_kernels(name, name_size)) {
			*note = gh_cursor_slice(&notes, start, size);
			return true;
		}
	}
	return false;
}

bool gh_core_note_find(const struct gh_image *core, uint32_t type, struct gh_cursor *note)
{
	uint64_t at = 0;
	uint32_t found;
	while (gh_core_note(core, &at, &found, note))
		if (found == type)
			return true;
	return false;
}

bool gh_core_auxv(const struct gh_image *core, uint64_t type, uint64_t *value)
{
	unsigned word = core->arch->pointer_size;
	struct gh_cursor auxv;
	if (!gh_core_note_find(core, NT_AUXV, &auxv))
		return false;
	while (gh_cursor_left(&auxv) >= 2 * word) {
		uint64_t found = gh_cursor_uint(&auxv, word);
		*value = gh_cursor_uint(&auxv, word);
		if (found == type)
			return true;
	}
	return false;
}

const char *gh_core_execfn(const struct gh_image *core)
{
	uint64_t address;
	struct gh_cursor cur;
	if (!gh_core_auxv(core, AT_EXECFN, &address) || !gh_image_at(core, address, &cur))
		return NULL;
	return gh_cursor_string(&cur);
}

uint64_t gh_core_missing(const struct gh_image *core)
{
	uint64_t end = core->size;
	for (size_t i = 0; i < core->nsegments; i++) {
		const GElf_Phdr *segment = &core->segments[i];
		uint64_t segment_end;
		if (__builtin_add_overflow(segment->p_offset, segment->p_filesz, &segment_end))
			segment_end = UINT64_MAX;
		if (segment_end > end)
			end = segment_end;
	}
	return end - core->size;
}

static bool read_core(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	uint8_t *bytes = to;
	struct gh_cursor cur;
	while (size > 0) {
		if (!gh_image_at(memory->from, address, &cur))
			return false;
		size_t part = gh_cursor_left(&cur) < size ? gh_cursor_left(&cur) : size;
		memcpy(bytes, cur.pos, part);
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
}

static bool next_part(const struct gh_memory *memory, uint64_t *address, uint64_t *size)
{
	const struct gh_image *core = memory->from;
	size_t after = gh_lower_bound(core->nloads, i, core->loads[i]->p_vaddr <= *address);
	for (size_t i = after > 0 ? after - 1 : 0; i < core->nloads; i++) {
		const GElf_Phdr *segment = core->loads[i];
		uint64_t start = segment->p_vaddr;
		struct gh_cursor cur;
		if (start < *address)
			start = *address;
		if (start - segment->p_vaddr >= segment->p_filesz ||
		    !gh_image_at(core, start, &cur) || gh_cursor_left(&cur) == 0)
			continue;
		*address = start;
		*size = gh_cursor_left(&cur);
		return true;
	}
	return false;
}

struct gh_memory gh_core_memory(const struct gh_image *core)
{
	return (struct gh_memory){
	    .read = read_core,
	    .next = next_part,
	    .from = core,
	    .size = core->size,
	};
}

bool gh_core_loaded(struct gh_loaded *loaded, const struct gh_image *core, struct gh_error *err)
{
	uint64_t phdr;
	uint64_t phent;
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_memory memory = gh_core_memory(core);
	if (!gh_core_auxv(core, AT_PHDR, &phdr) || !gh_core_auxv(core, AT_PHENT, &phent))
		return gh_fail(err, core->path, GH_NO_OFFSET,
			       "where the program's headers are in memory", "no AT_PHDR");
	uint64_t start = gh_loaded_start(phdr, phent);
	if (!memory.read(&memory, start, bytes, sizeof(bytes)))
		return gh_fail(err, core->path, GH_NO_OFFSET, "the program's headers in memory",
			       "none at 0x%" PRIx64, start);
	return gh_loaded_open(loaded, bytes, start, core->path, err);
}
