#include "plugin/findings/suspects.h"

#include <inttypes.h>

#include "lib/util/escape.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

uint64_t gh_picture_retained(const struct gh_picture *picture, uint32_t object)
{
	return picture->query->dominators.retained[object];
}

void gh_picture_share(const struct gh_picture *picture, const char *before, uint64_t bytes)
{
	FILE *out = picture->dot.label;
	uint64_t whole = picture->dot.whole;
	char size[GH_SIZE_TEXT];
	fprintf(out, "%s%s (%.1f%%)", before, gh_size_text(bytes, size),
		whole > 0 ? 100 * (double)bytes / (double)whole : 0);
}

/* Draws COUNT objects that retain so many bytes, by OBJECT. */
static void draw(const struct gh_picture *picture, uint32_t object, uint32_t count,
		 uint64_t retained, bool marked)
{
	const struct gh_heap_query *query = picture->query;
	struct gh_heap_object extent = gh_heap_object(&query->heap, object);
	FILE *label = picture->dot.label;
	gh_dot_object(&picture->dot, object, retained, marked);
	gh_names_print(label, &query->names, object);
	fprintf(label, "\n0x%" PRIx64, extent.address);
	if (count > 1)
		fprintf(label, ", one of %" PRIu32, count);
	gh_picture_share(picture, "\n", extent.size);
	if (retained == 0)
		fputs("\ngarbage", label);
	else if (retained != extent.size)
		gh_picture_share(picture, "\nof ", retained);
	gh_dot_end(&picture->dot);
}

void gh_picture_object(const struct gh_picture *picture, uint32_t object, bool marked)
{
	draw(picture, object, 1, gh_picture_retained(picture, object), marked);
}

void gh_picture_line(const struct gh_picture *picture, uint32_t object, uint32_t count,
		     uint64_t retained)
{
	draw(picture, object, count, retained, false);
}

void gh_picture_root(struct gh_picture *picture, const struct gh_root *root, bool path)
{
	gh_dot_note(&picture->dot, root->object, path);
	gh_names_print_root(picture->dot.label, &picture->query->names, root);
	gh_dot_end(&picture->dot);
}

void gh_picture_legend(struct gh_picture *picture, size_t shown)
{
	const struct gh_heap_query *query = picture->query;
	FILE *label = picture->dot.label;
	gh_dot_legend(&picture->dot);
	gh_escape_print(label, query->options->file);
	char size[GH_SIZE_TEXT];
	fprintf(label, "\n%s in %" PRIu32 " objects\n%zu shown",
		gh_size_text(picture->dot.whole, size), query->heap.count, shown);
	gh_dot_end(&picture->dot);
}
