#include <string.h>

#include "lib/profile/internal.h"

/* The string table starts with these; the names of frames follow. */
enum string {
	STRING_NONE,
	STRING_INUSE_OBJECTS,
	STRING_INUSE_SPACE,
	STRING_COUNT,
	STRING_BYTES,
	STRING_SPACE,
	STRINGS,
};

static void write_header(struct gh_pprof_out *out, const struct gh_pprof_tree *tree)
{
	gh_pprof_write_type(out, GH_PPROF_PROFILE_SAMPLE_TYPE, STRING_INUSE_OBJECTS, STRING_COUNT);
	gh_pprof_write_type(out, GH_PPROF_PROFILE_SAMPLE_TYPE, STRING_INUSE_SPACE, STRING_BYTES);
	gh_pprof_write_int(out, GH_PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, STRING_INUSE_SPACE);
	gh_pprof_write_type(out, GH_PPROF_PROFILE_PERIOD_TYPE, STRING_SPACE, STRING_BYTES);
	gh_pprof_write_int(out, GH_PPROF_PROFILE_PERIOD, 1);
	gh_pprof_write_int(out, GH_PPROF_PROFILE_TIME_NANOS, gh_dump_last_gc(tree->dump));
}

/* The innermost frame comes first. */
static void write_sample(struct gh_pprof_out *out, const struct gh_pprof_tree *tree, size_t number)
{
	const struct gh_pprof_node *node = &tree->nodes[number];
	const uint64_t values[] = {node->objects, node->bytes};
	for (const struct gh_pprof_node *at = node; at != tree->nodes;
	     at = &tree->nodes[at->parent])
		gh_buffer_uleb128(&out->nested, (uint64_t)at->frame + 1);
	gh_pprof_end_nested(out, GH_PPROF_SAMPLE_LOCATION_ID);
	gh_pprof_put_ints(&out->message, GH_PPROF_SAMPLE_VALUE, values,
			  sizeof(values) / sizeof(values[0]));
	gh_pprof_end_message(out, GH_PPROF_PROFILE_SAMPLE);
}

/* pprof looks for the names of addresses in the program unless a mapping says that they are known.
 */
static void write_mapping(struct gh_pprof_out *out)
{
	gh_pprof_put_int(&out->message, GH_PPROF_MAPPING_ID, GH_PPROF_MAPPING);
	gh_pprof_put_int(&out->message, GH_PPROF_MAPPING_HAS_FUNCTIONS, true);
	gh_pprof_put_int(&out->message, GH_PPROF_MAPPING_HAS_FILENAMES, true);
	gh_pprof_put_int(&out->message, GH_PPROF_MAPPING_HAS_LINE_NUMBERS, true);
	gh_pprof_put_int(&out->message, GH_PPROF_MAPPING_HAS_INLINE_FRAMES, true);
	gh_pprof_end_message(out, GH_PPROF_PROFILE_MAPPING);
}

/* A frame is a function and a place that it is in. Of a system's name pprof would make another by
 * what it takes for C++. */
static void write_frame(struct gh_pprof_out *out, size_t number)
{
	gh_pprof_put_int(&out->message, GH_PPROF_FUNCTION_ID, number + 1);
	gh_pprof_put_int(&out->message, GH_PPROF_FUNCTION_NAME, STRINGS + number);
	gh_pprof_end_message(out, GH_PPROF_PROFILE_FUNCTION);
	gh_pprof_put_int(&out->message, GH_PPROF_LOCATION_ID, number + 1);
	gh_pprof_put_int(&out->message, GH_PPROF_LOCATION_MAPPING_ID, GH_PPROF_MAPPING);
	gh_pprof_put_int(&out->nested, GH_PPROF_LINE_FUNCTION_ID, number + 1);
	gh_pprof_end_nested(out, GH_PPROF_LOCATION_LINE);
	gh_pprof_end_message(out, GH_PPROF_PROFILE_LOCATION);
}

static void write_strings(struct gh_pprof_out *out, const struct gh_pprof_tree *tree)
{
	static const char *const strings[STRINGS] = {
	    [STRING_NONE] = "",
	    [STRING_INUSE_OBJECTS] = "inuse_objects",
	    [STRING_INUSE_SPACE] = "inuse_space",
	    [STRING_COUNT] = "count",
	    [STRING_BYTES] = "bytes",
	    [STRING_SPACE] = "space",
	};
	for (size_t i = 0; i < STRINGS; i++)
		gh_pprof_write_string(out, strings[i], strlen(strings[i]));
	for (size_t i = 0; i < tree->nframes && !out->failed; i++)
		gh_pprof_write_string(out, tree->frames[i], strlen(tree->frames[i]));
}

static void write_tree(struct gh_pprof_out *out, const void *context)
{
	const struct gh_pprof_tree *tree = context;
	write_header(out, tree);
	for (size_t i = 1; i < tree->nnodes && !out->failed; i++)
		if (tree->nodes[i].objects > 0)
			write_sample(out, tree, i);
	write_mapping(out);
	for (size_t i = 0; i < tree->nframes && !out->failed; i++)
		write_frame(out, i);
	write_strings(out, tree);
}

bool gh_pprof_write_tree(const struct gh_pprof_tree *tree, const char *path, struct gh_error *err)
{
	return gh_pprof_write_file(path, write_tree, tree, err);
}
