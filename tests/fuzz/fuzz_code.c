/* Fuzz target: what code says of types. The input is the code of a program with type descriptors,
 * after a byte that says which function of the runtime its last function is. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/code_types.h"
#include "tests/fuzz/target.h"
#include "tests/unit/typemaker.h"

#define X86_64 62

/* Of the code, in bytes: three functions. */
#define CODE_SIZE 0x78

static const char *const lasts[] = {
    "runtime.newobject",
    "runtime.makemap",
    "runtime.growslice",
    "runtime.gcWriteBarrier1",
    "runtime.morestack_noctxt",
    "runtime.AddCleanup[go.shape.int,go.shape.int]",
    "internal/sync.(*HashTrieMap[go.shape.int,go.shape.int]).Swap",
};
#define LASTS (sizeof(lasts) / sizeof(lasts[0]))

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void look_at_origin(const struct gh_word_origin *word, const struct gh_rtypes *types)
{
	require(word->nloads <= GH_RECEIVER_LOADS);
	require((word->from != GH_ORIGIN_MADE && word->from != GH_ORIGIN_USED) ||
		word->number < types->count);
	require(word->from != GH_ORIGIN_ARGUMENT || word->number < GH_ORIGIN_REGISTERS);
}

static void look_at_words(const struct gh_rtypes *types)
{
	struct gh_signatures signatures = {0};
	struct gh_error err;
	struct gh_word_origins words;
	struct gh_func func;
	const struct gh_passed_word *passed;
	require(gh_signatures_find(&signatures, types, &err));
	for (size_t i = 0; i < types->tab->nfunc; i++) {
		if (!gh_pclntab_record(types->tab, i, &func, NULL))
			continue;
		require(gh_word_origins_find(&words, types, &signatures, &func));
		for (size_t k = 0; k < words.kept.count; k++) {
			look_at_origin(&words.kept.items[k].word, types);
			require(gh_word_origins_kept(&words, words.kept.items[k].offset) != NULL);
		}
		for (size_t k = 0; k < words.placed.count; k++)
			require(words.placed.items[k].type < types->count);
		if (words.returns)
			look_at_origin(&words.returned, types);
		for (size_t k = 0; k < words.passed.count; k++) {
			uint64_t pc = words.passed.items[k].pc;
			look_at_origin(&words.passed.items[k].word, types);
			require(pc > func.entry && pc <= func.end);
			require(gh_word_origins_passed(&words, pc, &passed) > 0 &&
				passed->pc == pc);
		}
		gh_word_origins_free(&words);
	}
	gh_signatures_free(&signatures);
}

static void look_at_types(const struct gh_rtypes *types)
{
	struct gh_code_types found;
	struct gh_error err;
	require(gh_code_types_find(&found, types, SYNTHETIC_DATA, TYPES_ADDRESS, &err));
	for (size_t i = 0; i < found.globals.count; i++)
		require(found.globals.items[i].type < types->count &&
			found.globals.items[i].nloads <= GH_RECEIVER_LOADS);
	for (size_t i = 0; i < found.closures.count; i++)
		require(gh_code_types_closure(&found, found.closures.items[i].entry) <
			types->count);
	for (size_t i = 0; i < found.functions.count; i++)
		gh_code_types_parameter(&found, types, found.functions.items[i].entry);
	gh_code_types_free(&found);
}

/* Puts the SIZE bytes of CODE into IMAGE, which is in the memory at DATA. */
static void put_code(const struct gh_image *image, uint8_t *data, const uint8_t *code, size_t size)
{
	struct gh_cursor text;
	require(gh_image_at(image, SYNTHETIC_TEXT, &text));
	memcpy(data + (text.start - data), code, size < CODE_SIZE ? size : CODE_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *code, size_t code_size)
{
	struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .machine = X86_64};
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_rtypes types = {0};
	struct gh_error err;
	size_t size;
	if (code_size == 0)
		return 0;
	what.last = lasts[code[0] % LASTS];
	uint8_t *data = typemaker_make(&what, &size, NULL);
	require(gh_image_open_memory(&image, data, size, "input", &err));
	put_code(&image, data, code + 1, code_size - 1);
	require(gh_pclntab_open(&tab, &image, &err) && gh_rtypes_find(&types, &tab, &err));
	look_at_types(&types);
	look_at_words(&types);
	gh_rtypes_free(&types);
	gh_pclntab_close(&tab);
	gh_image_close(&image);
	free(data);
	return 0;
}

/* Each is the code from main.main on, which may call main.leaf at 0x50 and the last function at
 * 0x70. */
static const uint8_t made[] = {
    0x48, 0x8d, 0x05, 0x00, 0x00, 0x00, 0x00, /* lea type(%rip),%rax, put by put_type */
    0x48, 0x89, 0xc3,                         /* mov %rax,%rbx */
    0x48, 0x89, 0xc6,                         /* mov %rax,%rsi */
    0xe8, 0x5e, 0x00, 0x00, 0x00,             /* call 0x70 */
    0x48, 0x8d, 0x0d, 0x37, 0x00, 0x00, 0x00, /* lea main.leaf,%rcx */
    0x48, 0x89, 0x08,                         /* mov %rcx,(%rax) */
    0x48, 0x89, 0x05, 0xdd, 0x27, 0x00, 0x00, /* mov %rax,global(%rip) */
    0xc3,                                     /* ret */
};
static const uint8_t passed_on[] = {
    0x49, 0x3b, 0x66, 0x10,       /* cmp 0x10(%r14),%rsp */
    0x76, 0x22,                   /* jbe 0x28 */
    0x55,                         /* push %rbp */
    0x48, 0x89, 0xe5,             /* mov %rsp,%rbp */
    0x48, 0x83, 0xec, 0x10,       /* sub $0x10,%rsp */
    0x48, 0x89, 0x44, 0x24, 0x20, /* mov %rax,0x20(%rsp) */
    0x48, 0x8b, 0x42, 0x08,       /* mov 0x8(%rdx),%rax */
    0xe8, 0x34, 0x00, 0x00, 0x00, /* call main.leaf */
    0x48, 0x8b, 0x4c, 0x24, 0x20, /* mov 0x20(%rsp),%rcx */
    0x48, 0x83, 0xc4, 0x10,       /* add $0x10,%rsp */
    0x5d, 0xc3,                   /* pop %rbp; ret */
    0x48, 0x89, 0x44, 0x24, 0x08, /* mov %rax,0x8(%rsp) */
    0xe8, 0x3e, 0x00, 0x00, 0x00, /* call 0x70 */
    0xeb, 0xcc,                   /* jmp 0 */
};
static const uint8_t generic[] = {
    0x48, 0x8d, 0x05, 0xf9, 0x27, 0x00, 0x00, /* lea global(%rip),%rax */
    0x48, 0x8d, 0x1d, 0xf2, 0x2f, 0x00, 0x00, /* lea types(%rip),%rbx */
    0x48, 0x89, 0xd9,                         /* mov %rbx,%rcx */
    0xe8, 0x5a, 0x00, 0x00, 0x00,             /* call 0x70 */
    0xeb, 0xe8,                               /* jmp 0 */
};

/* Has the instruction of seven bytes at CODE load the address of a type. */
static void put_type(uint8_t *code)
{
	struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .machine = X86_64};
	struct typemaker_places places;
	size_t size;
	free(typemaker_make(&what, &size, &places));
	size_t address = places.types[TYPE_NODE] - TYPES_OFFSET + TYPES_ADDRESS;
	int32_t distance = (int32_t)(address - SYNTHETIC_TEXT - 7);
	memcpy(code + 3, &distance, sizeof(distance));
}

uint8_t *fuzz_seed(int number, size_t *size)
{
	static const struct {
		const uint8_t *code;
		size_t size;
	} seeds[] = {
	    {made, sizeof(made)}, {passed_on, sizeof(passed_on)}, {generic, sizeof(generic)}};
	size_t seed = (size_t)number / LASTS;
	if (seed >= sizeof(seeds) / sizeof(seeds[0]))
		return NULL;
	*size = seeds[seed].size + 1;
	uint8_t *data = malloc(*size);
	require(data != NULL);
	data[0] = (uint8_t)((size_t)number % LASTS);
	memcpy(data + 1, seeds[seed].code, seeds[seed].size);
	if (seeds[seed].code == made)
		put_type(data + 1);
	return data;
}
