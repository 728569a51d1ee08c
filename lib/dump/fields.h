/* Fieldlists: which words of a memory region hold pointers. They stay in the file. */
#ifndef GH_DUMP_FIELDS_H
#define GH_DUMP_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dump/format.h"
#include "lib/util/cursor.h"

enum gh_field_kind {
	GH_FIELD_POINTER,
	GH_FIELD_STRING, /* pointer, length */
	GH_FIELD_SLICE,  /* pointer, length, capacity */
	GH_FIELD_IFACE,  /* itab, data */
	GH_FIELD_EFACE,  /* type, data */
	GH_FIELD_KINDS,  /* also: a kind that is not known */
};

struct gh_field {
	enum gh_field_kind kind;
	uint64_t offset; /* from the start of the region, in bytes */
};

/* Where a fieldlist is. */
struct gh_fieldlist {
	uint64_t offset; /* of the first pair in the file; 0 if there is no list */
	uint64_t count;  /* pairs, in the prototype; else the list ends itself */
};

/* Passes over the fieldlist at CUR, of a format that ends it with a mark, and notes where it is.
 * CUR fails if its end is not there. */
static inline struct gh_fieldlist gh_fieldlist_skip(struct gh_cursor *cur)
{
	struct gh_fieldlist list = {.offset = gh_cursor_offset(cur)};
	while (gh_cursor_u8(cur) != 0) {
		if (cur->pos[-1] >= 0x80)
			gh_cursor_skip_uvarint(cur);
		gh_cursor_skip_uvarint(cur);
	}
	return list;
}

/* The same for the prototype, where the number of pairs precedes them. */
struct gh_fieldlist gh_fieldlist_skip_counted(struct gh_cursor *cur);

/* A walk over the fields of a region. The fields are private. */
struct gh_fields {
	struct gh_cursor list;     /* from the first pair to the end of the file */
	struct gh_cursor cur;      /* at the next pair */
	struct gh_fieldlist where; /* of the list */
	uint64_t left;             /* pairs left, in the prototype */
	uint64_t budget;           /* pairs that may still be read */
	uint64_t base;             /* of the element that the list is applied to, in the region */
	uint64_t stride;           /* from one element to the next; 0 if there is but one */
	uint64_t element;          /* size of an element, in bytes */
	uint64_t size;             /* of the region, in bytes */
	uint8_t word;              /* pointer size, in bytes */
	uint64_t beyond;           /* fields passed over: beyond the region, or of unknown kinds */
	bool every_word;           /* no list: each word may be a pointer */
	enum gh_dump_format format;
};

/* Starts a walk over LIST, of a region of SIZE bytes. FILE is a cursor over the whole file; WORD
 * the pointer size. */
void gh_fields_start(struct gh_fields *walk, const struct gh_cursor *file,
		     enum gh_dump_format format, uint8_t word, struct gh_fieldlist list,
		     uint64_t size);

/* Gives the next field that lies within the region. Fields beyond it (runtime.goexit's frame has
 * some) and of unknown kinds are passed over. False at the end. */
bool gh_fields_next(struct gh_fields *walk, struct gh_field *field);

/* Size of a field in words. */
unsigned gh_field_words(enum gh_field_kind kind);

#endif
