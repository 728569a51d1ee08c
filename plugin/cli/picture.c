#include "plugin/cli/picture.h"

#include <inttypes.h>

#include "lib/util/escape.h"
#include "plugin/view/print.h"

uint64_t gh_picture_retained(const struct gh_picture *picture, uint32_t object)
{
	return picture->question->dominators.retained[object];
}

void gh_picture_share(const struct gh_picture *picture, const char *before, uint64_t bytes)
{
	FILE *out = picture->dot.label;
	uint64_t whole = picture->dot.whole;
	char size[GH_SIZE_TEXT];
	fprintf(out, "%s%s (%.1f%%)", before, gh_size_text(bytes, size),
		whole > 0 ? 100 * (double)bytes / (double)whole : 0);
}

void gh_picture_object(const struct gh_picture *picture, uint32_t object, uint32_t count,
		       bool marked)
{
	const struct gh_question *question = picture->question;
	struct gh_heap_object extent = gh_heap_object(&question->heap, object);
	uint64_t retained = gh_picture_retained(picture, object);
	FILE *label = picture->dot.label;
	gh_dot_object(&picture->dot, object, retained, marked);
	gh_names_print(label, &question->names, object, false);
	fprintf(label, "\n0x%" PRIx64, extent.address);
	if (count > 1)
		fprintf(label, ", first of %" PRIu32, count);
	gh_picture_share(picture, "\n", extent.size);
	if (retained == 0)
		fputs("\ngarbage", label);
	else if (retained != extent.size)
		gh_picture_share(picture, "\nof ", retained);
	gh_dot_end(&picture->dot);
}

void gh_picture_root(struct gh_picture *picture, const struct gh_root *root, bool path)
{
	gh_dot_note(&picture->dot, root->object, path);
	gh_names_print_root(picture->dot.label, &picture->question->names, root);
	gh_dot_end(&picture->dot);
}

void gh_picture_legend(struct gh_picture *picture, size_t shown)
{
	const struct gh_question *question = picture->question;
	FILE *label = picture->dot.label;
	gh_dot_legend(&picture->dot);
	gh_escape_print(label, question->options->file);
	char size[GH_SIZE_TEXT];
	fprintf(label, "\n%s in %" PRIu32 " objects\n%zu shown",
		gh_size_text(picture->dot.whole, size), question->heap.count, shown);
	gh_dot_end(&picture->dot);
}
