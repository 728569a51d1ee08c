/* Whether code of two builds does the same: the same instructions, which refer to the same
 * variables wherever each build has them. */
#include "lib/code/same_code.h"
#include "lib/code/internal.h"

#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/util/prefix.h"

bool gh_builds_make(struct gh_builds *builds, const struct gh_image *first,
		    const struct gh_image *second)
{
	*builds = (struct gh_builds){.first = first, .second = second};
	for (size_t i = 1; i < first->nsections; i++) {
		const GElf_Shdr *from = &first->sections[i].header;
		const struct gh_section *section =
		    gh_image_section(second, first->sections[i].name);
		if (section == NULL || from->sh_addr == 0 ||
		    (from->sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_TLS)) != SHF_ALLOC)
			continue;
		const GElf_Shdr *to = &section->header;
		struct gh_moved_section moved = {
		    .start = from->sh_addr,
		    .end = from->sh_addr + from->sh_size,
		    .to = to->sh_addr,
		    .to_end = to->sh_addr + to->sh_size,
		    .has_variables =
			(from->sh_flags & SHF_WRITE) != 0 && !gh_starts_with(section->name, ".go."),
		};
		gh_vector_push(&builds->sections, moved);
	}
	return !builds->sections.failed;
}

/* The section that ADDRESS of the first build is in, or, if none begins there, ends. */
static const struct gh_moved_section *section_of(const struct gh_builds *builds, uint64_t address)
{
	const struct gh_moved_section *ending = NULL;
	for (size_t i = 0; i < builds->sections.count; i++) {
		const struct gh_moved_section *section = &builds->sections.items[i];
		if (address - section->start < section->end - section->start)
			return section;
		if (address == section->end)
			ending = section;
	}
	return ending;
}

static bool is_in(const struct gh_moved_section *section, uint64_t address)
{
	return address - section->to <= section->to_end - section->to;
}

/* A variable is at A in the first build and at B in the second. False if another is there. */
static bool note_place(struct gh_builds *builds, uint64_t a, uint64_t b)
{
	uint32_t number = gh_numbermap_get(&builds->there, a);
	uint32_t count = (uint32_t)builds->places.count;
	if (number != gh_numbermap_get(&builds->back, b))
		return false;
	if (number != GH_NOT_MAPPED)
		return true;
	struct gh_moved_place place = {.from = a, .to = b};
	return gh_vector_push(&builds->places, place) &&
	       gh_numbermap_put(&builds->there, a, count) &&
	       gh_numbermap_put(&builds->back, b, count);
}

/* Address A of the first build and B of the second are of the same thing, as far as is known: of a
 * variable, which the linker may have given a value and so another section; or of a constant, which
 * are in an order of its own. */
static bool is_same_place(struct gh_builds *builds, uint64_t a, uint64_t b)
{
	const struct gh_moved_section *section = section_of(builds, a);
	bool is_same_kind = false;
	if (section == NULL)
		return a == b;
	for (size_t i = 0; i < builds->sections.count; i++)
		is_same_kind |= builds->sections.items[i].has_variables == section->has_variables &&
				is_in(&builds->sections.items[i], b);
	return is_same_kind && (!section->has_variables || note_place(builds, a, b));
}

/* The instructions at A and B, which are OF_A and OF_B, are the same but for their displacements.
 */
static bool is_same_but_for(const uint8_t *a, const uint8_t *b, const struct gh_x86 *of_a,
			    const struct gh_x86 *of_b)
{
	size_t at = of_a->displacement_at;
	size_t after = at + sizeof(int32_t);
	return of_b->displacement_at == at && memcmp(a, b, at) == 0 &&
	       memcmp(a + after, b + after, of_a->length - after) == 0;
}

/* Compares SIZE bytes at ADDRESS. Behind an instruction that is not known, bytes. */
static bool is_same_amd64(struct gh_builds *builds, const uint8_t *a, const uint8_t *b, size_t size,
			  uint64_t address)
{
	struct gh_x86 of_a, of_b;
	for (size_t at = 0; at < size; at += of_a.length) {
		if (!gh_x86_decode(&of_a, a + at, size - at, true) ||
		    !gh_x86_decode(&of_b, b + at, size - at, true))
			return memcmp(a + at, b + at, size - at) == 0;
		if (of_a.length != of_b.length)
			return false;
		uint64_t next = address + at + of_a.length;
		bool same =
		    gh_x86_memory(&of_a).is_relative
			? is_same_but_for(a + at, b + at, &of_a, &of_b) &&
			      is_same_place(builds, next + (uint64_t)(int64_t)of_a.displacement,
					    next + (uint64_t)(int64_t)of_b.displacement)
			: memcmp(a + at, b + at, of_a.length) == 0;
		if (!same)
			return false;
	}
	return true;
}

/* The same of SIZE bytes in A and B; an ADRP and what adds to it may differ together. */
static bool is_same_arm64(struct gh_builds *builds, struct gh_cursor a, struct gh_cursor b,
			  uint64_t size, uint64_t address)
{
	enum { WORD = 4 };
	const uint32_t pages = 0x60ffffe0, offset = 0x003ffc00; /* what may differ */
	for (uint64_t at = 0; at + WORD <= size; at += WORD) {
		uint32_t of_a = gh_cursor_u32(&a), of_b = gh_cursor_u32(&b);
		struct gh_cursor after_a = a, after_b = b;
		bool has_next = at + 2 * WORD <= size;
		uint32_t next_a = has_next ? gh_cursor_u32(&after_a) : 0;
		uint32_t next_b = has_next ? gh_cursor_u32(&after_b) : 0;
		uint64_t to_a, to_b;
		if (gh_arm64_target(of_a, next_a, address + at, &to_a) &&
		    gh_arm64_target(of_b, next_b, address + at, &to_b)) {
			if (((of_a ^ of_b) & ~pages) != 0 || ((next_a ^ next_b) & ~offset) != 0 ||
			    !is_same_place(builds, to_a, to_b))
				return false;
			a = after_a;
			b = after_b;
			at += WORD;
		} else if (of_a != of_b) {
			return false;
		}
	}
	return true;
}

bool gh_code_is_same(struct gh_builds *builds, uint64_t address, uint64_t size)
{
	struct gh_cursor a, b;
	if (!gh_image_at(builds->first, address, &a) || !gh_image_at(builds->second, address, &b) ||
	    gh_cursor_left(&a) < size || gh_cursor_left(&b) < size)
		return false;
	if (builds->first->arch->isa == GH_ISA_AMD64)
		return is_same_amd64(builds, a.pos, b.pos, (size_t)size, address);
	if (builds->first->arch->isa == GH_ISA_ARM64)
		return is_same_arm64(builds, a, b, size, address);
	return memcmp(a.pos, b.pos, (size_t)size) == 0;
}

static int by_address(const void *a, const void *b)
{
	const struct gh_moved_place *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

void gh_builds_settle(struct gh_builds *builds)
{
	if (builds->places.count > 0)
		qsort(builds->places.items, builds->places.count, sizeof(*builds->places.items),
		      by_address);
}

bool gh_moved_address(const struct gh_builds *builds, uint64_t address, uint64_t *to)
{
	const struct gh_moved_section *section = section_of(builds, address);
	const struct gh_moved_place *places = builds->places.items;
	*to = address;
	if (section == NULL)
		return true;
	size_t after =
	    gh_lower_bound(builds->places.count, i, builds->places.items[i].from <= address);
	uint64_t before = section->to - section->start;
	uint64_t behind = section->to_end - section->end;
	if (after > 0 && places[after - 1].from >= section->start)
		before = places[after - 1].to - places[after - 1].from;
	if (after > 0 && places[after - 1].from == address)
		behind = before;
	else if (after < builds->places.count && places[after].from < section->end)
		behind = places[after].to - places[after].from;
	*to = address + before;
	return before == behind;
}

void gh_builds_free(struct gh_builds *builds)
{
	gh_vector_free(&builds->sections);
	gh_vector_free(&builds->places);
	gh_numbermap_free(&builds->there);
	gh_numbermap_free(&builds->back);
}
