#include "tests/unit/spanmaker.h"

#include <check.h>
#include <string.h>

static uint8_t *find_byte(const struct spanmaker *maker, uint64_t address)
{
	for (size_t i = 0; i < maker->npieces; i++)
		if (address - maker->pieces[i].address < SPANMAKER_PIECE)
			return (uint8_t *)&maker->pieces[i].bytes[address % SPANMAKER_PIECE];
	return NULL;
}

static bool read_made(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const uint8_t *byte = find_byte(memory->from, address + i);
		if (byte == NULL)
			return false;
		((uint8_t *)to)[i] = *byte;
	}
	return true;
}

uint8_t *spanmaker_byte(struct spanmaker *maker, uint64_t address)
{
	uint8_t *byte = find_byte(maker, address);
	if (byte != NULL)
		return byte;
	ck_assert_uint_lt(maker->npieces, SPANMAKER_PIECES);
	struct spanmaker_piece *piece = &maker->pieces[maker->npieces++];
	*piece = (struct spanmaker_piece){.address = address / SPANMAKER_PIECE * SPANMAKER_PIECE};
	return &piece->bytes[address % SPANMAKER_PIECE];
}

void spanmaker_put(struct spanmaker *maker, uint64_t address, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned shift = 8 * (maker->process.memory.big_endian ? size - 1 - i : i);
		*spanmaker_byte(maker, address + i) = (uint8_t)(value >> shift);
	}
}

void spanmaker_put_word(struct spanmaker *maker, uint64_t address, uint64_t value)
{
	spanmaker_put(maker, address, value, maker->word);
}

void spanmaker_start(struct spanmaker *maker, int variant, int minor)
{
	*maker = (struct spanmaker){.word = variant & 1 ? 4 : 8};
	/* No object is larger than all memory. */
	maker->memory = (struct gh_memory){.read = read_made, .from = maker, .size = 1 << 20};
	maker->tab.pointer_size = (uint8_t)maker->word;
	maker->tab.image = &maker->image;
	maker->image.path = "made";
	maker->process = (struct gh_process){
	    .memory = {.source = &maker->memory, .big_endian = variant & 2},
	    .tab = &maker->tab,
	    .minor = minor,
	};
	maker->spans.allspans = SPANMAKER_ALLSPANS;
	maker->pointers =
	    (struct gh_span_pointers){.spans = &maker->spans, .process = &maker->process};
	/* A span of the eighth page of an arena, or, where a test moves it, elsewhere. */
	maker->span = (struct gh_span){
	    .start = 0x40000000 + 8 * GH_HEAP_PAGE, .size = GH_HEAP_PAGE, .class = 8};
}

void spanmaker_free(struct spanmaker *maker)
{
	gh_span_pointers_free(&maker->pointers);
	gh_vector_free(&maker->spans.list);
	gh_process_memory_free(&maker->process.memory);
}

void spanmaker_check(struct spanmaker *maker, uint64_t index, uint64_t header, const char *expected)
{
	uint64_t unknown = maker->pointers.unknown;
	const uint64_t *words = gh_span_pointers_of(&maker->pointers, &maker->span, index, header);
	ck_assert_uint_eq(maker->pointers.unknown, unknown + (expected == NULL));
	ck_assert(!maker->pointers.failed);
	ck_assert((words == NULL) == (expected == NULL));
	size_t length = expected != NULL ? strlen(expected) : 0;
	for (size_t i = 0; words != NULL && i < maker->span.elemsize / maker->word; i++)
		ck_assert_msg((words[i / 64] >> i % 64 & 1) == (i < length && expected[i] == '1'),
			      "word %zu", i);
}
