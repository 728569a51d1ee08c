/* What the files that index a heap dump share. */
#ifndef GH_DUMP_INTERNAL_H
#define GH_DUMP_INTERNAL_H

#include "lib/dump/dump.h"

/* The one pass over a dump's records that makes its index. */

/* Fills the index of DUMP, whose format and params are known, from the records at the offset FIRST
 * on. False if memory ran out. */
bool gh_dump_index(struct gh_dump *dump, uint64_t first);

/* CUR failed at a number of more than 64 bits: it ends there, and not
 * where the dump does. */
static inline bool gh_dump_number_is_long(const struct gh_dump *dump, const struct gh_cursor *cur)
{
	return cur->failed && cur->end < dump->file.end;
}

/* Reads goheap's own section, which begins at CUR, behind the record that ends DUMP, if it has one.
 * Other bytes there are counted as damage. False if memory ran out. */
bool gh_dump_read_section(struct gh_dump *dump, struct gh_cursor *cur);

/* Reads the object records of a dump, which are most of it, for the pass that makes its index. */

/* Adds the objects from CUR on, up to another record, to DUMP's index. Leaves CUR before that, or
 * before an object that it did not read: gh_dump_record_read goes on with either. False if memory
 * ran out. */
bool gh_objects_read(struct gh_dump *dump, struct gh_cursor *cur);

/* The extents of an index, as they are made. */

/* EXTENT goes on with the last run. */
static inline bool gh_extents_follows(const struct gh_extents *extents,
				      const struct gh_extent *extent)
{
	const struct gh_extent_run *run = &extents->last;
	uint64_t past = extent->address - run->address;
	if (extents->runs.count == 0 || extent->address < extents->end ||
	    extent->size != run->size || past > UINT16_MAX * GH_EXTENT_UNIT ||
	    past % GH_EXTENT_UNIT != 0 || extent->offset - run->offset > UINT16_MAX)
		return false;
	return extent->address == extents->end ||
	       extent->address / GH_EXTENT_PAGE == (extents->end - 1) / GH_EXTENT_PAGE;
}

/* Adds EXTENT to the last run. */
static inline bool gh_extents_add_to_run(struct gh_extents *extents, const struct gh_extent *extent)
{
	const struct gh_extent_run *run = &extents->last;
	struct gh_extent_item item = {
	    .address = (uint16_t)((extent->address - run->address) / GH_EXTENT_UNIT),
	    .offset = (uint16_t)(extent->offset - run->offset),
	};
	if (!gh_vector_push(&extents->items, item))
		return false;
	if (__builtin_add_overflow(extent->address, extent->size, &extents->end))
		extents->end = UINT64_MAX;
	if (__builtin_add_overflow(extents->bytes, extent->size, &extents->bytes))
		extents->bytes = UINT64_MAX;
	return true;
}

/* Adds EXTENT as a run. */
bool gh_extents_add_slowly(struct gh_extents *extents, const struct gh_extent *extent);

/* Adds an extent, whose record is after those before in the file; it gets the next number. False if
 * memory ran out. Most of the time that an index takes is spent here: it is inline. */
static inline bool gh_extents_add(struct gh_extents *extents, const struct gh_extent *extent)
{
	return gh_extents_follows(extents, extent) ? gh_extents_add_to_run(extents, extent)
						   : gh_extents_add_slowly(extents, extent);
}

/* Sorts, once all are added: then they are found. False if memory ran out. */
bool gh_extents_finish(struct gh_extents *extents);

/* Gives the next extent. False at the end. */
bool gh_extents_next(const struct gh_extents *extents, struct gh_extent_walk *walk,
		     struct gh_extent *extent);

void gh_extents_free(struct gh_extents *extents);

/* The file of a dump. */

/* Maps PATH. What gzip made is unpacked into a temporary file without a name, in $TMPDIR or /tmp,
 * and takes half of what is free there at most; zeros take no room. False (ERR filled) if it cannot
 * be read. To be closed with gh_dump_input_close. */
bool gh_dump_input_open(struct gh_dump_input *input, const char *path, struct gh_error *err);

/* Maps the file FD, not compressed, which is the input's from now on, also on failure. PATH is for
 * errors. */
bool gh_dump_input_take(struct gh_dump_input *input, int fd, const char *path,
			struct gh_error *err);

void gh_dump_input_close(struct gh_dump_input *input);

/* Copies bytes of the file, from OFFSET on, to the SIZE bytes at BUF. To go through a large file
 * this is faster than to have all of it mapped. Returns how many bytes it were: 0 if there are
 * none, or they cannot be read. */
size_t gh_dump_input_copy(const struct gh_dump_input *input, void *buf, size_t size,
			  uint64_t offset);

/* Records. */

/* What a kind of record is called, for a person: "stack frame". */
const char *gh_dump_kind_name(enum gh_dump_kind kind);

/* gh_fieldlist_skip for the prototype, where the number of pairs precedes them. */
struct gh_fieldlist gh_fieldlist_skip_counted(struct gh_cursor *cur);

/* Reads the record at CUR, which is over the whole file, and leaves CUR after it. False if it is
 * not all there (the cursor has failed), or its tag is not known (GH_DUMP_KINDS; CUR is after the
 * tag).
 */
bool gh_dump_record_read(struct gh_cursor *cur, enum gh_dump_format format,
			 struct gh_dump_record *record);

#endif
