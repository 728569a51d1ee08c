/* Fuzz target: the writer of debug files. */
#include "lib/debugfile/debugfile.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	if (gh_image_open_memory(&image, copy, size, "input", &err)) {
		uint8_t *debug;
		size_t debug_size;
		if (gh_pclntab_open(&tab, &image, &err) &&
		    gh_debugfile_make(&tab, NULL, &debug, &debug_size, &err))
			free(debug);
		gh_pclntab_close(&tab);
		gh_image_close(&image);
	}
	free(copy);
	return 0;
}
