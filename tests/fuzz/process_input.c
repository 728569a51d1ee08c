#include "tests/fuzz/process_input.h"

#include <stdlib.h>
#include <string.h>

void require(bool holds)
{
	if (!holds)
		abort();
}

uint8_t *process_seed(struct processmaker *maker, uint8_t variant, size_t *size)
{
	*size = maker->size + 1;
	uint8_t *seed = malloc(*size);
	seed[0] = variant;
	memcpy(seed + 1, maker->bytes, maker->size);
	free(maker->bytes);
	return seed;
}

void process_input(const uint8_t *data, size_t size,
		   struct processmaker (*describe)(uint8_t variant),
		   void (*read)(const struct processmaker *maker, struct gh_pclntab *tab,
				uint8_t variant))
{
	if (size == 0)
		return;
	struct processmaker maker = describe(data[0]);
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	size_t program_size;
	uint8_t *program = synthetic_make(&maker.what, &program_size, NULL);
	require(gh_image_open_memory(&image, program, program_size, "program", &err) &&
		gh_pclntab_open(&tab, &image, &err));
	maker.size = size - 1;
	maker.bytes = malloc(size);
	memcpy(maker.bytes, data + 1, maker.size);
	read(&maker, &tab, data[0]);
	free(maker.bytes);
	gh_pclntab_close(&tab);
	gh_image_close(&image);
	free(program);
}
