#include <string.h>

#include "lib/process/dump_parts.h"

/* All labels, and all values of panics, take no more than this, in bytes. */
#define MAX_TEXTS (64 << 20)

/* Adds the labels of G, if no other goroutine had the same, and returns where they are. */
static uint32_t add_labels(struct gh_dump_section *section, struct gh_process *process,
			   const struct gh_goroutine *g)
{
	/* Nothing is at place 0. */
	if (section->labels.size == 0)
		gh_buffer_u8(&section->labels, 0);
	if (g->labels == 0)
		return 0;
	uint32_t known = gh_numbermap_get(&section->known, g->labels);
	if (known != GH_NOT_MAPPED || section->labels.size > MAX_TEXTS)
		return known != GH_NOT_MAPPED ? known : 0;
	uint32_t place = (uint32_t)section->labels.size;
	gh_labels_read(&section->labels, process, g->labels);
	if (!gh_numbermap_put(&section->known, g->labels, place))
		section->labels.failed = true;
	return place;
}

void gh_dump_section_goroutine(struct gh_dump_section *section, struct gh_process *process,
			       const struct gh_goroutine *g, unsigned flags)
{
	gh_buffer_uleb128(&section->goroutines, g->creator_id);
	gh_buffer_uleb128(&section->goroutines, flags);
	gh_buffer_uleb128(&section->goroutines, add_labels(section, process, g));
	gh_buffer_uleb128(&section->stacks,
			  g->stack_high > g->stack_low ? g->stack_high - g->stack_low : 0);
}

void gh_dump_section_panic(struct gh_dump_section *section, struct gh_process *process,
			   const struct gh_rtypes *types, const struct gh_panic *panic)
{
	struct gh_buffer text = {0};
	if (types != NULL && !panic->goexit && section->panics.size < MAX_TEXTS)
		gh_panic_value(&text, process, types, panic->type, panic->data);
	gh_buffer_uleb128(&section->panics, text.failed ? 0 : text.size);
	if (!text.failed)
		gh_buffer_bytes(&section->panics, text.data, text.size);
	gh_buffer_free(&text);
}

static void add_part(struct gh_dump_stream *stream, enum gh_section_tag tag, struct gh_buffer *part)
{
	gh_buffer_uleb128(&stream->bytes, tag);
	gh_buffer_uleb128(&stream->bytes, part->size);
	gh_buffer_bytes(&stream->bytes, part->data, part->size);
	gh_dump_stream_pass(stream);
	gh_buffer_free(part);
}

bool gh_dump_add_section(struct gh_dump_stream *stream, struct gh_dump_section *section)
{
	bool whole =
	    !section->goroutines.failed && !section->labels.failed && !section->stacks.failed;
	gh_buffer_bytes(&stream->bytes, GH_DUMP_SECTION, strlen(GH_DUMP_SECTION));
	add_part(stream, GH_SECTION_GOROUTINES, &section->goroutines);
	add_part(stream, GH_SECTION_LABELS, &section->labels);
	if (section->lost.goroutines > 0 || section->lost.stacks > 0) {
		struct gh_buffer lost = {0};
		gh_buffer_uleb128(&lost, section->lost.goroutines);
		gh_buffer_uleb128(&lost, section->lost.stacks);
		whole = whole && !lost.failed;
		add_part(stream, GH_SECTION_LOST, &lost);
	}
	add_part(stream, GH_SECTION_STACKS, &section->stacks);
	whole = whole && !section->c_places.failed && !section->c_frames.failed &&
		!section->c_waits.failed && !section->calls.failed;
	if (section->c_frames.size > 0) {
		add_part(stream, GH_SECTION_C_PLACES, &section->c_places);
		add_part(stream, GH_SECTION_C_FRAMES, &section->c_frames);
	}
	if (section->c_waits.size > 0)
		add_part(stream, GH_SECTION_C_WAITS, &section->c_waits);
	whole = whole && !section->c_memory.failed && !section->c_words.failed;
	if (section->c_memory.size > 0)
		add_part(stream, GH_SECTION_C_MEMORY, &section->c_memory);
	if (section->c_words.size > 0)
		add_part(stream, GH_SECTION_C_WORDS, &section->c_words);
	gh_buffer_free(&section->c_memory);
	gh_buffer_free(&section->c_words);
	if (section->calls.size > 0)
		add_part(stream, GH_SECTION_CALLS, &section->calls);
	gh_buffer_free(&section->calls);
	whole = whole && !section->panics.failed;
	if (section->panics.size > 0)
		add_part(stream, GH_SECTION_PANICS, &section->panics);
	gh_buffer_free(&section->panics);
	gh_buffer_free(&section->c_waits);
	gh_buffer_free(&section->c_places);
	gh_buffer_free(&section->c_frames);
	gh_buffer_uleb128(&stream->bytes, GH_SECTION_END);
	gh_numbermap_free(&section->known);
	return whole;
}
