/* A growable array of items of one type.
 *
 * Memory that runs out is remembered, as by a buffer (buffer.h): what is added from then on is
 * lost, and one look at `failed`, after the last item was added, tells whether all are there. */
#ifndef GH_UTIL_VECTOR_H
#define GH_UTIL_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* The body of a vector's type: of a named one, which functions can take,
 *
 *     struct gh_roots GH_VECTOR(struct gh_root);
 *
 * or of a single field or variable:
 *
 *     struct GH_VECTOR(uint64_t) pcs;
 *
 * A vector of zero bytes is an empty one. To hand the array over, take `items` and forget the
 * vector; free releases it. */
#define GH_VECTOR(type)                                                                            \
	{                                                                                          \
		type *items;     /* owned; NULL while none was added */                            \
		size_t count;    /* items in use */                                                \
		size_t capacity; /* items allocated */                                             \
		bool failed;     /* memory ran out: what was added since is lost */                \
	}

/* Private: ITEMS, which are *CAPACITY of SIZE bytes each, moved to where there is room for MORE
 * after the first COUNT; *CAPACITY is set to how many there are. NULL if memory ran out, and ITEMS
 * are as before. */
void *gh_vector_resize(void *items, size_t size, size_t count, size_t more, size_t *capacity);

/* Makes room for MORE items, not in use yet. False, and the vector failed, if memory ran out, then
 * or before. */
#define gh_vector_reserve(vector, more)                                                            \
	__extension__({                                                                            \
		__auto_type gh_vector_ = (vector);                                                 \
		size_t gh_more_ = (more);                                                          \
		if (gh_more_ > gh_vector_->capacity - gh_vector_->count) {                         \
			void *gh_items_ =                                                          \
			    gh_vector_->failed                                                     \
				? NULL                                                             \
				: gh_vector_resize(gh_vector_->items, sizeof(*gh_vector_->items),  \
						   gh_vector_->count, gh_more_,                    \
						   &gh_vector_->capacity);                         \
			if (gh_items_ != NULL)                                                     \
				gh_vector_->items = gh_items_;                                     \
			else                                                                       \
				gh_vector_->failed = true;                                         \
		}                                                                                  \
		!gh_vector_->failed;                                                               \
	})

/* Adds MORE items, at least one, and returns the first of them, not initialised. NULL, and the
 * vector failed, if memory ran out. */
#define gh_vector_extend(vector, more)                                                             \
	__extension__({                                                                            \
		__auto_type gh_extended_ = (vector);                                               \
		size_t gh_added_ = (more);                                                         \
		bool gh_fits_ = gh_vector_reserve(gh_extended_, gh_added_);                        \
		if (gh_fits_)                                                                      \
			gh_extended_->count += gh_added_;                                          \
		gh_fits_ ? gh_extended_->items + gh_extended_->count - gh_added_ : NULL;           \
	})

/* Adds an item, a value of the vector's type. False, and the vector failed, if memory ran out. */
#define gh_vector_push(vector, ...)                                                                \
	__extension__({                                                                            \
		__auto_type gh_pushed_ = (vector);                                                 \
		/* Before there is room: the value may be read from the vector itself. */          \
		__typeof__(*gh_pushed_->items) gh_item_ = __VA_ARGS__;                             \
		bool gh_fits_ = gh_vector_reserve(gh_pushed_, 1);                                  \
		if (gh_fits_)                                                                      \
			gh_pushed_->items[gh_pushed_->count++] = gh_item_;                         \
		gh_fits_;                                                                          \
	})

/* Frees the items and makes the vector empty. */
#define gh_vector_free(vector)                                                                     \
	do {                                                                                       \
		__auto_type gh_freed_ = (vector);                                                  \
		free(gh_freed_->items);                                                            \
		gh_freed_->items = NULL;                                                           \
		gh_freed_->count = 0;                                                              \
		gh_freed_->capacity = 0;                                                           \
		gh_freed_->failed = false;                                                         \
	} while (0)

#endif
