/* The frames that pointers on stacks lead to, each once: they hold variables whose pointers a dump
 * does not list. */
#ifndef GH_HEAP_REACHED_FRAMES_H
#define GH_HEAP_REACHED_FRAMES_H

#include "lib/dump/dump.h"
#include "lib/util/vector.h"

struct gh_reached_frames {
	const struct gh_dump *dump;
	uint8_t *met;    /* a bit for each frame, by its place in the dump's frames; owned */
	size_t *numbers; /* by place: the frame's number; NULL if that is the same; owned */
	struct GH_VECTOR(size_t) queue; /* places of those that were met */
	size_t next;                    /* to be taken from the queue */
};

/* Starts with no frame of DUMP met. False if memory ran out. To be freed either way. */
bool gh_reached_frames_start(struct gh_reached_frames *frames, const struct gh_dump *dump);

void gh_reached_frames_free(struct gh_reached_frames *frames);

/* A pointer on a stack leads to ADDRESS. */
void gh_reached_frames_add(struct gh_reached_frames *frames, uint64_t address);

/* The words of a frame where variables are that its fieldlist does not have. */
struct gh_frame_words {
	size_t number;             /* of the frame */
	struct gh_cursor contents; /* private */
	uint8_t *listed;           /* private: a bit for each word in the fieldlist; owned */
	size_t at;                 /* private: the next word */
	size_t end;                /* private: past the last */
	uint8_t word;              /* private: size, in bytes */
};

enum gh_reached_next {
	GH_REACHED_FRAME, /* there is one more: WORDS is to be freed with gh_frame_words_free */
	GH_REACHED_END,
	GH_REACHED_FAILED, /* memory ran out, now or when a frame was met */
};

/* Starts a walk over the words of the next frame met. More may be met on the way. */
enum gh_reached_next gh_reached_frames_next(struct gh_reached_frames *frames,
					    struct gh_frame_words *words);

/* Gives the next word, and its offset in the frame's contents, in bytes. False at the end. */
bool gh_frame_words_next(struct gh_frame_words *words, uint64_t *offset, uint64_t *value);

void gh_frame_words_free(struct gh_frame_words *words);

#endif
