#include <stdlib.h>
#include <string.h>

#include "lib/elf/elf.h"

static char *copy(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

void gh_identity_of_memory(struct gh_identity *identity, const struct gh_memory *memory,
			   uint64_t start, bool big_endian, const char *name)
{
	uint8_t page[GH_LOADED_HEADERS];
	*identity = (struct gh_identity){.name = copy(name)};
	if (memory->read(memory, start, page, sizeof(page)))
		gh_buildinfo_find_ids(&identity->ids,
				      gh_cursor_make(page, sizeof(page), name, start, big_endian));
}

void gh_identity_of_image(struct gh_identity *identity, const struct gh_image *image)
{
	size_t size = image->size < GH_LOADED_HEADERS ? image->size : GH_LOADED_HEADERS;
	*identity = (struct gh_identity){.name = copy(image->path)};
	gh_buildinfo_read_ids(&identity->ids, image);
	/* Stripped of its sections' headers, it has the notes that no segment tells of still. */
	gh_buildinfo_find_ids(&identity->ids, gh_cursor_make(image->data, size, image->path, 0,
							     image->arch->big_endian));
}

void gh_identity_free(struct gh_identity *identity)
{
	gh_buildinfo_free(&identity->ids);
	free(identity->path);
	free(identity->name);
	*identity = (struct gh_identity){0};
}

/* Compares one kind of id of two. */
static enum gh_identities compare(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return GH_IDENTITIES_UNKNOWN;
	return strcmp(a, b) == 0 ? GH_IDENTITIES_SAME : GH_IDENTITIES_DIFFER;
}

/* Go's build id says what the program was made of. The go command's do from Go 1.10 on, and have
 * slashes; before, they said which files, not what was in those, and tools that set it themselves
 * give it to all their programs. From Go 1.24 on GNU's is made of it. */
static bool is_of_contents(const char *go_build_id)
{
	return go_build_id == NULL || strchr(go_build_id, '/') != NULL;
}

enum gh_identities gh_identity_compare(const struct gh_identity *a, const struct gh_identity *b)
{
	enum gh_identities gnu = compare(a->ids.gnu_build_id, b->ids.gnu_build_id);
	enum gh_identities go = compare(a->ids.go_build_id, b->ids.go_build_id);
	enum gh_identities found = gnu > go ? gnu : go;
	bool certain = is_of_contents(a->ids.go_build_id) && is_of_contents(b->ids.go_build_id);
	return found == GH_IDENTITIES_SAME && !certain ? GH_IDENTITIES_UNKNOWN : found;
}

const char *gh_identity_told(const struct gh_identity *identity, const struct gh_identity *other)
{
	const struct gh_buildinfo *ids = &identity->ids;
	const char *id = ids->go_build_id;
	if (compare(ids->gnu_build_id, other->ids.gnu_build_id) == GH_IDENTITIES_DIFFER)
		id = ids->gnu_build_id;
	return id != NULL ? id : "unknown";
}
