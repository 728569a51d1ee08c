#include "lib/dump/internal.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

/* Going through a file's bytes is fastest where a processor has them in its cache, and another has
 * just put them there: while the objects in one window are read, the next is copied. */
#define WINDOW (2 << 20)

/* Bytes that are in two windows, so that what is cut off in one is whole in the other. */
#define OVERLAP (64 << 10)

/* A copy of a part of the file. */
struct window {
	const struct gh_dump_input *input;
	uint8_t *bytes;  /* WINDOW of them, of which size are in use; owned */
	uint64_t offset; /* of the first, in the file */
	size_t size;     /* in bytes; 0 if it cannot be read */
};

/* A thread that copies one window after the other. */
struct copier {
	struct window *window; /* to be copied; NULL to end */
	sem_t wanted;          /* the thread has something to do */
	sem_t copied;          /* it has done it */
	pthread_t thread;
	bool started; /* there is a thread; else windows are copied at once */
};

static void copy(struct window *window)
{
	window->size = gh_dump_input_copy(window->input, window->bytes, WINDOW, window->offset);
}

/* A signal's handler may interrupt it. */
static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		;
}

static void *copy_windows(void *arg)
{
	struct copier *copier = arg;
	for (;;) {
		wait_for(&copier->wanted);
		if (copier->window == NULL)
			return NULL;
		copy(copier->window);
		sem_post(&copier->copied);
	}
}

static void start_copier(struct copier *copier)
{
	sem_init(&copier->wanted, 0, 0);
	sem_init(&copier->copied, 0, 0);
	copier->started = pthread_create(&copier->thread, NULL, copy_windows, copier) == 0;
}

static void end_copier(struct copier *copier)
{
	copier->window = NULL;
	sem_post(&copier->wanted);
	if (copier->started)
		pthread_join(copier->thread, NULL);
	sem_destroy(&copier->wanted);
	sem_destroy(&copier->copied);
}

/* Starts to copy into WINDOW what is at OFFSET. */
static void start(struct copier *copier, struct window *window, uint64_t offset)
{
	window->offset = offset;
	copier->window = window;
	if (copier->started)
		sem_post(&copier->wanted);
	else
		copy(window);
}

/* Waits until it is copied. */
static void finish(struct copier *copier)
{
	if (copier->started)
		wait_for(&copier->copied);
}

/* An object of DUMP begins with TAG. */
static bool is_object(const struct gh_dump *dump, uint8_t tag)
{
	return tag == GH_DUMP_OBJECT ||
	       (tag == GH_DUMP_BARE_OBJECT && dump->format == GH_DUMP_BARE);
}

/* Adds the objects at CUR, up to another record or one that is not all there. This is
 * gh_dump_record_read for them alone. False if memory ran out. */
static bool read_whole(struct gh_dump *dump, struct gh_cursor *cur)
{
	struct gh_cursor next = *cur;
	uint8_t tag;
	while (is_object(dump, tag = gh_cursor_u8(&next))) {
		struct gh_extent object = {.offset = gh_cursor_offset(cur)};
		object.address = gh_cursor_uvarint(&next);
		object.size = gh_cursor_uvarint(&next);
		if (tag == GH_DUMP_OBJECT)
			gh_cursor_bytes(&next, object.size);
		gh_fieldlist_skip(&next);
		if (next.failed)
			break;
		if (!gh_extents_add(&dump->objects, &object))
			return false;
		cur->pos = next.pos;
	}
	return true;
}

/* The same with the bytes that WINDOW has. */
static bool read_window(struct gh_dump *dump, const struct window *window, struct gh_cursor *cur)
{
	uint64_t at = gh_cursor_offset(cur);
	size_t size = window->size;
	if (size > gh_cursor_size(cur) - window->offset)
		size = gh_cursor_size(cur) - window->offset;
	struct gh_cursor copied =
	    gh_cursor_make(window->bytes, size, cur->file, window->offset, cur->big_endian);
	gh_cursor_seek(&copied, at - window->offset);
	if (!read_whole(dump, &copied))
		return false;
	gh_cursor_seek(cur, gh_cursor_offset(&copied));
	return true;
}

/* CUR is at an object of DUMP which may be whole in WINDOW. */
static bool is_in(const struct gh_dump *dump, const struct window *window,
		  const struct gh_cursor *cur)
{
	uint64_t at = gh_cursor_offset(cur);
	return at >= window->offset && at - window->offset < window->size &&
	       is_object(dump, window->bytes[at - window->offset]);
}

/* Copies what is at CUR, now. */
static void copy_at(struct copier *copier, struct window *window, const struct gh_cursor *cur)
{
	start(copier, window, gh_cursor_offset(cur));
	finish(copier);
}

/* The same with copies, as long as they bring CUR on. */
static bool read_windows(struct gh_dump *dump, struct copier *copier, struct window *windows,
			 struct gh_cursor *cur)
{
	struct window *this = &windows[0], *next = &windows[1];
	bool ok = true;
	copy_at(copier, this, cur);
	while (ok && is_in(dump, this, cur)) {
		uint64_t before = gh_cursor_offset(cur);
		start(copier, next, this->offset + WINDOW - OVERLAP);
		ok = read_window(dump, this, cur);
		finish(copier);
		struct window *last = this;
		this = next;
		next = last;
		/* An object may be too large for both. */
		if (!is_in(dump, this, cur) && gh_cursor_offset(cur) > before)
			copy_at(copier, this, cur);
	}
	return ok;
}

static bool read_copies(struct gh_dump *dump, struct gh_cursor *cur)
{
	struct window windows[2] = {{.input = &dump->input}, {.input = &dump->input}};
	windows[0].bytes = malloc(WINDOW);
	windows[1].bytes = malloc(WINDOW);
	bool ok = windows[0].bytes != NULL && windows[1].bytes != NULL;
	if (ok) {
		struct copier copier = {0};
		start_copier(&copier);
		ok = read_windows(dump, &copier, windows, cur);
		end_copier(&copier);
	}
	free(windows[0].bytes);
	free(windows[1].bytes);
	return ok;
}

bool gh_objects_read(struct gh_dump *dump, struct gh_cursor *cur)
{
	if (dump->format < GH_DUMP_1_4)
		return true;
	if (dump->input.data == NULL || gh_cursor_left(cur) <= WINDOW)
		return read_whole(dump, cur);
	/* To start is worth it after as much as that costs. */
	struct gh_cursor near = *cur;
	near.end = near.pos + WINDOW;
	if (!read_whole(dump, &near))
		return false;
	cur->pos = near.pos;
	if (near.end - near.pos > OVERLAP || !is_object(dump, *cur->pos))
		return true;
	return read_copies(dump, cur);
}
