#include "lib/typing/internal.h"

#include <stddef.h>
#include <string.h>

#include "lib/elf/elf.h"

#define PAGE      8192
#define MAX_SMALL 32768

/* The size classes of Go 1.16 and later, in bytes. Go 1.8 to 1.15 had all of them but that of 24
 * bytes (has_24 in struct gh_allocator). How many there are stands in lib/process/dump_memstats.c,
 * too: SIZE_CLASSES. */
static const uint16_t classes[] = {
    8,     16,    24,    32,    48,    64,    80,    96,    112,   128,   144,  160,   176,   192,
    208,   224,   240,   256,   288,   320,   352,   384,   416,   448,   480,  512,   576,   640,
    704,   768,   896,   1024,  1152,  1280,  1408,  1536,  1792,  2048,  2304, 2688,  3072,  3200,
    3456,  4096,  4864,  5376,  6144,  6528,  6784,  6912,  8192,  9472,  9728, 10240, 10880, 12288,
    13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768};

/* Those of Go 1.2 to 1.7, which the runtime worked out as it started. */
static const uint16_t old_classes[] = {
    8,     16,    32,    48,    64,    80,    96,    112,   128,   144,  160,  176,   192,   208,
    224,   240,   256,   288,   320,   352,   384,   416,   448,   480,  512,  576,   640,   704,
    768,   896,   1024,  1152,  1280,  1408,  1536,  1664,  2048,  2304, 2560, 2816,  3072,  3328,
    4096,  4608,  5376,  6144,  6400,  6656,  6912,  8192,  8448,  8704, 9472, 10496, 12288, 13568,
    14080, 16384, 16640, 17664, 20480, 21248, 24576, 24832, 28416, 32768};

static bool has_object_of(const struct gh_dump *dump, uint64_t size)
{
	const struct gh_extent_run *runs = dump->objects.runs.items;
	for (size_t i = 0; i < dump->objects.runs.count; i++)
		if (runs[i].size == size)
			return true;
	return false;
}

struct gh_allocator gh_allocator_of(const struct gh_dump *dump, const struct gh_image *program)
{
	int release = gh_dump_minor(dump);
	bool told = dump->format < GH_DUMP_1_7 || gh_dump_go_version(dump).size > 0;
	if (!told && program != NULL && gh_image_go_minor(program) != GH_GO_UNKNOWN) {
		release = gh_image_go_minor(program);
		told = true;
	}
	return (struct gh_allocator){
	    .old = release < 8,
	    .interface_types = release >= 5 && release < 11,
	    .has_24 = told ? release >= 16 : has_object_of(dump, 24),
	    .headers = release >= 22,
	    .word = dump->word,
	};
}

/* Values up to this size have a bitmap of their pointers elsewhere in their span. */
static uint64_t max_without_header(const struct gh_allocator *allocator)
{
	return (uint64_t)allocator->word * allocator->word * 8;
}

/* What follows a value of SIZE bytes in a program built by -asan, in bytes: computeRZlog, in
 * src/runtime/malloc.go. */
static uint64_t redzone(uint64_t size)
{
	static const uint32_t sizes[] = {64, 128, 512, 4096, 1 << 14, 1 << 15, 1 << 16};
	uint64_t zone = 16;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && size > sizes[i] - zone; i++)
		zone *= 2;
	return zone;
}

bool gh_allocator_adds_redzones(const struct gh_pclntab *tab)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, &func, NULL) &&
		    strcmp(gh_pclntab_name(tab, func.name), "runtime.asanread") == 0)
			return true;
	return false;
}

uint64_t gh_allocator_size(const struct gh_allocator *allocator, uint64_t size, bool has_pointers)
{
	if (size == 0 || size > INT64_MAX)
		return UINT64_MAX;
	if (allocator->redzones)
		size += redzone(size);
	if (allocator->headers && has_pointers && size > max_without_header(allocator) &&
	    size <= MAX_SMALL - GH_OBJECT_HEADER)
		size += GH_OBJECT_HEADER;
	/* Others share the smallest class. */
	if (!has_pointers && size < GH_TINY_BLOCK)
		return GH_TINY_BLOCK;
	const uint16_t *list = allocator->old ? old_classes : classes;
	size_t count = allocator->old ? sizeof(old_classes) / sizeof(old_classes[0])
				      : sizeof(classes) / sizeof(classes[0]);
	for (size_t i = 0; i < count; i++)
		if (size <= list[i] && (list[i] != 24 || allocator->has_24))
			return list[i];
	return (size + PAGE - 1) / PAGE * PAGE;
}

bool gh_allocator_has_header(const struct gh_allocator *allocator, uint64_t size)
{
	return allocator->headers && size > max_without_header(allocator) && size <= MAX_SMALL;
}

bool gh_allocator_repeats(const struct gh_allocator *allocator, uint64_t size)
{
	return allocator->headers && (allocator->redzones || size > max_without_header(allocator));
}
