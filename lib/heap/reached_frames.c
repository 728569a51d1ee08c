#include "lib/heap/internal.h"

#include <stdlib.h>
#include <string.h>

/* Turns the dump's order of frames round. */
static bool make_numbers(struct gh_reached_frames *frames)
{
	const size_t *order = frames->dump->frame_order;
	size_t count = frames->dump->frames.items.count;
	if (order == NULL)
		return true;
	frames->numbers = calloc(count, sizeof(*frames->numbers));
	for (size_t i = 0; frames->numbers != NULL && i < count; i++)
		frames->numbers[order[i]] = i;
	return frames->numbers != NULL;
}

bool gh_reached_frames_start(struct gh_reached_frames *frames, const struct gh_dump *dump)
{
	*frames = (struct gh_reached_frames){.dump = dump};
	frames->met = calloc(dump->frames.items.count / 8 + 1, 1);
	return frames->met != NULL && make_numbers(frames);
}

void gh_reached_frames_free(struct gh_reached_frames *frames)
{
	free(frames->met);
	free(frames->numbers);
	gh_vector_free(&frames->queue);
	*frames = (struct gh_reached_frames){0};
}

void gh_reached_frames_add(struct gh_reached_frames *frames, uint64_t address)
{
	size_t place = gh_extents_find(&frames->dump->frames, address);
	if (place == GH_NO_EXTENT)
		return;
	uint8_t bit = (uint8_t)(1U << place % 8);
	if ((frames->met[place / 8] & bit) != 0)
		return;
	frames->met[place / 8] |= bit;
	gh_vector_push(&frames->queue, place);
}

/* Marks the words that are in the fieldlist of FRAME. */
static void mark_listed(const struct gh_dump *dump, const struct gh_dump_record *frame,
			struct gh_frame_words *words)
{
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(dump, frame, &walk);
	while (gh_fields_next(&walk, &field))
		for (unsigned i = 0; i < gh_field_words(field.kind); i++) {
			uint64_t word = field.offset / dump->word + i;
			words->listed[word / 8] |= (uint8_t)(1U << word % 8);
		}
}

/* The words at a frame's end that are no variables: the return address, and the caller's frame
 * pointer, which would lead to the caller's frame. */
static size_t words_saved(const struct gh_dump *dump)
{
	const struct gh_arch *arch = gh_arch_by_name(dump->goarch);
	return arch != NULL ? gh_arch_words_saved(arch) : 0;
}

enum gh_reached_next gh_reached_frames_next(struct gh_reached_frames *frames,
					    struct gh_frame_words *words)
{
	const struct gh_dump *dump = frames->dump;
	if (frames->queue.failed)
		return GH_REACHED_FAILED;
	if (frames->next == frames->queue.count)
		return GH_REACHED_END;
	size_t place = frames->queue.items[frames->next++];
	*words = (struct gh_frame_words){.number = place, .word = dump->word};
	if (frames->numbers != NULL)
		words->number = frames->numbers[place];
	struct gh_dump_record frame;
	gh_dump_get(dump, GH_DUMP_FRAME, words->number, &frame);
	words->contents = gh_dump_bytes(dump, frame.frame.contents);
	size_t count = gh_cursor_size(&words->contents) / dump->word;
	words->end = count > words_saved(dump) ? count - words_saved(dump) : 0;
	words->listed = calloc(count / 8 + 1, 1);
	if (words->listed == NULL)
		return GH_REACHED_FAILED;
	mark_listed(dump, &frame, words);
	return GH_REACHED_FRAME;
}

bool gh_frame_words_next(struct gh_frame_words *words, uint64_t *offset, uint64_t *value)
{
	while (words->at < words->end && (words->listed[words->at / 8] >> words->at % 8 & 1) != 0)
		words->at++;
	if (words->at == words->end)
		return false;
	*offset = words->at++ * words->word;
	gh_cursor_seek(&words->contents, *offset);
	*value = gh_cursor_uint(&words->contents, words->word);
	return true;
}

void gh_frame_words_free(struct gh_frame_words *words)
{
	free(words->listed);
	*words = (struct gh_frame_words){0};
}
