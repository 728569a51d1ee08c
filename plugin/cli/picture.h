/* A picture of objects of a heap and of what they retain. */
#ifndef GH_PLUGIN_CLI_PICTURE_H
#define GH_PLUGIN_CLI_PICTURE_H

#include "plugin/cli/heap_query.h"
#include "plugin/view/dot.h"

/* A picture while it is drawn. */
struct gh_picture {
	struct gh_heap_query *query; /* the caller's; has dominators */
	struct gh_dot dot;
	size_t limit; /* of objects */
};

/* The bytes that OBJECT retains. */
uint64_t gh_picture_retained(const struct gh_picture *picture, uint32_t object);

/* Puts BYTES and their share of the heap, after BEFORE, into the label that is begun. */
void gh_picture_share(const struct gh_picture *picture, const char *before, uint64_t bytes);

/* Draws OBJECT; MARKED if it was asked for. */
void gh_picture_object(const struct gh_picture *picture, uint32_t object, bool marked);

/* Draws COUNT objects, of which OBJECT retains most, and which retain so many bytes together. */
void gh_picture_line(const struct gh_picture *picture, uint32_t object, uint32_t count,
		     uint64_t retained);

/* Draws ROOT and the line to its object, which is heavy if it is of the PATH. */
void gh_picture_root(struct gh_picture *picture, const struct gh_root *root, bool path);

/* Draws what the picture is of: the dump, and the SHOWN of its objects. */
void gh_picture_legend(struct gh_picture *picture, size_t shown);

#endif
