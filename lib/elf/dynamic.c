#include "lib/elf/elf.h"

bool gh_dynamic_open(struct gh_dynamic *dynamic, const struct gh_image *image)
{
	*dynamic = (struct gh_dynamic){.word = image->arch->pointer_size};
	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].p_type == PT_DYNAMIC)
			return gh_image_at(image, image->segments[i].p_vaddr, &dynamic->entries);
	return false;
}

bool gh_dynamic_next(struct gh_dynamic *dynamic)
{
	if (gh_cursor_left(&dynamic->entries) < 2 * dynamic->word)
		return false;
	dynamic->tag = gh_cursor_uint(&dynamic->entries, dynamic->word);
	dynamic->value = gh_cursor_uint(&dynamic->entries, dynamic->word);
	return dynamic->tag != DT_NULL;
}

bool gh_dynamic_find(const struct gh_image *image, uint64_t tag, uint64_t *value)
{
	struct gh_dynamic dynamic;
	if (!gh_dynamic_open(&dynamic, image))
		return false;
	while (gh_dynamic_next(&dynamic))
		if (dynamic.tag == tag) {
			*value = dynamic.value;
			return true;
		}
	return false;
}

bool gh_image_is_library(const struct gh_image *image)
{
	uint64_t flags = 0;
	if (image->header.e_type != ET_DYN)
		return false;
	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].p_type == PT_INTERP)
			return false;
	/* A statically linked program may be position-independent. */
	return !gh_dynamic_find(image, DT_FLAGS_1, &flags) || (flags & DF_1_PIE) == 0;
}
