#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/util/zeros.h"

/* Elements of a slice that are looked at to tell whether it is of spans. */
#define SAMPLE 64

/* So many of them, before the first one that is in use, may be in memory that cannot be read. */
#define MOST_MISSING 8

/* The states of a span (mSpanState). */
enum { SPAN_DEAD, SPAN_IN_USE, SPAN_MANUAL, SPAN_STATES };

/* spanInlineMarkBits, which is at the end of a page, and the place of its marks in that. */
#define INLINE_MARKS_SIZE 128
#define INLINE_MARKS      64

/* The size of the smallest element that has inline mark bits, in bytes. */
#define INLINE_MARKS_LEAST 16

/* What is read of an entry of the list. */
struct entry {
	struct gh_span span;
	uint8_t state;
};

static uint64_t field(const struct gh_cursor *bytes, struct gh_span_field where)
{
	struct gh_cursor cur = *bytes;
	if (where.size == 0)
		return 0;
	gh_cursor_seek(&cur, where.offset);
	return gh_cursor_uint(&cur, where.size);
}

/* Reads the mspan at ADDRESS. False if it is not in memory. */
static bool read_entry(const struct gh_span_layout *layout, struct gh_process *process,
		       uint64_t address, struct entry *entry)
{
	uint8_t bytes[GH_SPAN_SIZE] = {0};
	/* The last fields of the last mspan in a page may be short of it. */
	size_t size = sizeof(bytes);
	while (size >= GH_SPAN_SIZE / 2 && !gh_process_read(&process->memory, address, bytes, size))
		size -= 8;
	if (size < GH_SPAN_SIZE / 2)
		return false;
	struct gh_cursor cur =
	    gh_cursor_make(bytes, size, "runtime.mspan", address, process->memory.big_endian);
	*entry = (struct entry){
	    .state = (uint8_t)field(&cur, layout->state),
	    .span =
		{
		    .descriptor = address,
		    .start = field(&cur, layout->start),
		    .size = field(&cur, layout->npages),
		    .elemsize = field(&cur, layout->elemsize),
		    .nelems = field(&cur, layout->nelems),
		    .free_index = field(&cur, layout->free_index),
		    .alloc_bits = field(&cur, layout->alloc_bits),
		    .mark_bits = field(&cur, layout->mark_bits),
		    .specials = field(&cur, layout->specials),
		    .large_type = field(&cur, layout->large_type),
		    .sweepgen = (uint32_t)field(&cur, layout->sweepgen),
		    .class = (uint8_t)field(&cur, layout->class),
		},
	};
	return true;
}

/* Turns the size of ENTRY's span from pages into bytes. False if it is no span. */
static bool check_entry(const struct gh_process *process, struct entry *entry)
{
	struct gh_span *span = &entry->span;
	uint64_t most = process->tab->pointer_size == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t used;
	uint64_t end;
	if (entry->state >= SPAN_STATES || span->start % GH_HEAP_PAGE != 0)
		return false;
	if (entry->state == SPAN_DEAD)
		return true;
	if (span->start == 0 || span->size == 0 ||
	    __builtin_mul_overflow(span->size, GH_HEAP_PAGE, &span->size) ||
	    __builtin_add_overflow(span->start, span->size, &end) || end > most)
		return false;
	return entry->state == SPAN_MANUAL ||
	       (span->elemsize > 0 && span->nelems > 0 && span->free_index <= span->nelems &&
		!__builtin_mul_overflow(span->nelems, span->elemsize, &used) && used <= span->size);
}

/* A slice of pointers to spans. */
struct slice {
	uint64_t list;
	uint64_t count;
};

static bool read_pointer(struct gh_process *process, uint64_t list, uint64_t number,
			 uint64_t *address)
{
	unsigned word = process->tab->pointer_size;
	return gh_process_uint(&process->memory, list + number * word, word, address);
}

/* Of a sample of the slice's elements all that are in memory are spans, no two at one address, and
 * some are in use. */
static bool is_list(const struct gh_span_layout *layout, struct gh_process *process,
		    const struct slice *slice)
{
	uint64_t sample = slice->count < SAMPLE ? slice->count : SAMPLE;
	uint64_t used = 0, missing = 0;
	uint64_t starts[SAMPLE];
	for (uint64_t i = 0; i < sample; i++) {
		struct entry entry;
		uint64_t address;
		if (!read_pointer(process, slice->list, i * (slice->count / sample), &address))
			missing++;
		else if (!gh_process_may_point(process, address))
			return false;
		else if (!read_entry(layout, process, address, &entry))
			missing++;
		else if (!check_entry(process, &entry))
			return false;
		else if (entry.state == SPAN_IN_USE)
			starts[used++] = entry.span.start;
		if (used == 0 && missing > MOST_MISSING)
			return false;
	}
	for (uint64_t i = 1; i < used; i++)
		for (uint64_t k = 0; k < i; k++)
			if (starts[i] == starts[k])
				return false;
	return used > missing;
}

/* Looks through the program's variables for the longest slice of spans. */
static void search(struct gh_spans *spans, struct gh_process *process, struct slice *best)
{
	const struct gh_moduledata *module = &process->tab->module;
	unsigned word = process->tab->pointer_size;
	uint64_t most = process->memory.source->size / word;
	uint64_t at = module->bss + process->bias;
	uint64_t end = module->ebss + process->bias;
	*best = (struct slice){0};
	struct slice found;
	at += (word - at % word) % word;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &found.list); at += word) {
		uint64_t capacity;
		if (!gh_process_may_point(process, found.list) ||
		    !gh_process_uint(&process->memory, at + word, word, &found.count) ||
		    found.count <= best->count || found.count > most ||
		    !gh_process_uint(&process->memory, at + 2 * word, word, &capacity) ||
		    capacity < found.count || !is_list(&spans->layout, process, &found))
			continue;
		*best = found;
		spans->allspans = at;
	}
}

static int compare_starts(const void *left, const void *right)
{
	const struct gh_span *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Takes out those that overlap the one before. */
static void drop_overlaps(struct gh_spans *spans)
{
	struct gh_span *items = spans->list.items;
	size_t kept = 0;
	if (spans->list.count > 0)
		qsort(items, spans->list.count, sizeof(*items), compare_starts);
	for (size_t i = 0; i < spans->list.count; i++) {
		if (kept > 0 && items[i].start - items[kept - 1].start < items[kept - 1].size)
			spans->lost++;
		else
			items[kept++] = items[i];
	}
	spans->list.count = kept;
}

/* The elements that all spans have at most, for each byte of the process's memory: each has a bit
 * there that tells whether it is in use. */
#define ELEMENTS_OF_BYTE 8

/* Reads the spans that LIST has. */
static bool read_all(struct gh_spans *spans, struct gh_process *process, const struct slice *list)
{
	uint64_t left;
	if (__builtin_mul_overflow(process->memory.source->size, ELEMENTS_OF_BYTE, &left))
		left = UINT64_MAX;
	for (uint64_t i = 0; i < list->count; i++) {
		struct entry entry;
		uint64_t address;
		bool read = read_pointer(process, list->list, i, &address) &&
			    read_entry(&spans->layout, process, address, &entry) &&
			    check_entry(process, &entry);
		if (read && entry.state == SPAN_MANUAL)
			gh_vector_push(&spans->manual, entry.span);
		if (read && entry.state != SPAN_IN_USE)
			continue;
		if (read && entry.span.nelems <= left) {
			left -= entry.span.nelems;
			gh_vector_push(&spans->list, entry.span);
		} else {
			spans->lost++;
		}
	}
	drop_overlaps(spans);
	return !spans->list.failed && !spans->manual.failed;
}

/* How many spans have a sweepgen that the heap's, if it is GEN, allows: those to be swept, being
 * swept, swept, and cached before or after. */
static size_t count_fitting(const struct gh_spans *spans, uint32_t gen)
{
	size_t count = 0;
	for (size_t i = 0; i < spans->list.count; i++) {
		uint32_t ahead = spans->list.items[i].sweepgen - gen + 2;
		count += ahead <= 3 || ahead == 5;
	}
	return count;
}

/* Reads the heap's sweepgen at so many bytes BEFORE allspans. False if it is none: most spans do
 * not go with it. */
static bool read_sweepgen(struct gh_spans *spans, struct gh_process *process, unsigned before)
{
	uint64_t gen;
	if (!gh_process_uint(&process->memory, spans->allspans - before, 4, &gen) || gen % 2 != 0)
		return false;
	spans->sweepgen = (uint32_t)gen;
	return count_fitting(spans, spans->sweepgen) > spans->list.count / 2;
}

/* The heap's sweepgen, of 4 bytes, is before allspans, up to Go 1.17 with two more such fields
 * between the two. If it is not there, some span has it. */
static void find_sweepgen(struct gh_spans *spans, struct gh_process *process)
{
	unsigned word = process->tab->pointer_size;
	unsigned three = (12 + word - 1) / word * word;
	bool old = process->minor < 18;
	if (!read_sweepgen(spans, process, old ? three : word) &&
	    !read_sweepgen(spans, process, old ? word : three) && spans->list.count > 0)
		spans->sweepgen = spans->list.items[0].sweepgen & ~1U;
}

bool gh_span_has_heap_bits(const struct gh_process *process, uint64_t elemsize)
{
	unsigned word = process->tab->pointer_size;
	return elemsize <= 8ULL * word * word;
}

/* Whether SPAN's elements are of a size for which it would have inline mark bits. */
static bool may_have_marks(const struct gh_process *process, const struct gh_span *span)
{
	return span->elemsize >= INLINE_MARKS_LEAST && !GH_SPAN_IS_LARGE(span) &&
	       gh_span_has_heap_bits(process, span->elemsize);
}

/* Whether spans are short of the elements in the place of which inline mark bits are: an experiment
 * of Go 1.25's that is the default since 1.26. A program has them in all spans or in none. */
static bool find_inline_marks(const struct gh_spans *spans, const struct gh_process *process)
{
	unsigned word = process->tab->pointer_size;
	for (size_t i = 0; i < spans->list.count; i++) {
		const struct gh_span *span = &spans->list.items[i];
		if (!may_have_marks(process, span))
			continue;
		uint64_t bits = span->class & GH_SPAN_NOSCAN ? 0 : span->size / word / 8;
		uint64_t with = (span->size - bits - INLINE_MARKS_SIZE) / span->elemsize;
		uint64_t without = (span->size - bits) / span->elemsize;
		if (with != without)
			return span->nelems == with;
	}
	return false;
}

bool gh_spans_find(struct gh_spans *spans, struct gh_process *process,
		   const struct gh_rtypes *types, struct gh_error *err)
{
	const char *path = process->tab->image->path;
	struct slice list;
	*spans = (struct gh_spans){0};
	if (!gh_span_layout_find(&spans->layout, types, process->minor))
		return gh_fail(err, path, GH_NO_OFFSET, "a program whose heap's layout is known",
			       "one that does not describe runtime.mspan: its goroutines can be "
			       "listed nonetheless");
	search(spans, process, &list);
	if (list.count == 0)
		return gh_fail(err, path, GH_NO_OFFSET, "a process with a Go heap",
			       "none in its variables: it may have just started, or the core file "
			       "lacks them");
	if (!read_all(spans, process, &list))
		return gh_fail_memory(err, path);
	find_sweepgen(spans, process);
	spans->inline_marks = process->minor >= 25 && find_inline_marks(spans, process);
	return true;
}

void gh_spans_free(struct gh_spans *spans)
{
	gh_vector_free(&spans->list);
	gh_vector_free(&spans->manual);
}

uint64_t gh_spans_stack_bytes(const struct gh_spans *spans)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < spans->manual.count; i++)
		if (gh_span_is_of_stacks(&spans->manual.items[i]))
			bytes += spans->manual.items[i].size;
	return bytes;
}

bool gh_spans_have(const struct gh_spans *spans, uint64_t address)
{
	const struct gh_span *items = spans->list.items;
	size_t after = gh_lower_bound(spans->list.count, i, items[i].start <= address);
	return after > 0 && address - items[after - 1].start < items[after - 1].size;
}

bool gh_spans_meet(const struct gh_spans *spans, uint64_t start, uint64_t end)
{
	const struct gh_span *items = spans->list.items;
	size_t i = gh_lower_bound(spans->list.count, k, items[k].start + items[k].size <= start);
	return i < spans->list.count && items[i].start < end;
}

static bool has_marks(const struct gh_spans *spans, const struct gh_process *process,
		      const struct gh_span *span)
{
	return spans->inline_marks && may_have_marks(process, span);
}

uint64_t gh_span_after_heap_bits(const struct gh_spans *spans, const struct gh_process *process,
				 const struct gh_span *span)
{
	return has_marks(spans, process, span) ? INLINE_MARKS_SIZE : 0;
}

/* Adds the marks that are in SPAN itself to BITS. */
static bool add_inline_marks(struct gh_process *process, const struct gh_span *span, uint8_t *bits,
			     size_t size)
{
	uint8_t marks[INLINE_MARKS_SIZE - INLINE_MARKS];
	uint64_t page = span->start + GH_HEAP_PAGE;
	/* The last byte is the span's class. */
	if (!gh_process_read(&process->memory, page - INLINE_MARKS_SIZE + INLINE_MARKS, marks,
			     sizeof(marks) - 1))
		return false;
	for (size_t i = 0; i < size && i < sizeof(marks) - 1; i++)
		bits[i] |= marks[i];
	return true;
}

/* Reads the marks of SPAN. False if they are not there. */
static bool read_marks(const struct gh_spans *spans, struct gh_process *process,
		       const struct gh_span *span, uint8_t *bits, size_t size)
{
	return gh_process_read(&process->memory, span->mark_bits, bits, size) &&
	       (!has_marks(spans, process, span) || add_inline_marks(process, span, bits, size));
}

/* The sweep revives objects with finalizers, for these to be run. */
static void add_finalizers(const struct gh_spans *spans, struct gh_process *process,
			   const struct gh_span *span, uint8_t *bits, uint64_t *left)
{
	struct gh_special special;
	uint64_t address = span->specials;
	for (; address != 0 && *left > 0; --*left) {
		if (!gh_special_read(spans, process, address, &special))
			return;
		uint64_t index = special.offset / span->elemsize;
		if (special.kind == spans->layout.kinds.finalizer && index < span->nelems)
			bits[index / 8] |= (uint8_t)(1U << index % 8);
		address = special.next;
	}
}

/* From Go 1.25 on, freeIndexForScan stays where it was while the collector marks: what is allocated
 * meanwhile is marked. A span that was swept has no other marks than those of objects. */
static void add_marked(const struct gh_spans *spans, struct gh_process *process,
		       const struct gh_span *span, uint8_t *bits, size_t size)
{
	uint8_t marks[GH_HEAP_PAGE / 8 / 8];
	uint8_t *more = size <= sizeof(marks) ? marks : malloc(size);
	if (more != NULL && read_marks(spans, process, span, more, size))
		for (size_t i = 0; i < size; i++)
			bits[i] |= more[i];
	if (more != marks)
		free(more);
}

bool gh_span_objects(const struct gh_spans *spans, struct gh_process *process,
		     const struct gh_span *span, uint8_t *bits, uint64_t *specials)
{
	size_t size = (size_t)((span->nelems + 7) / 8);
	uint32_t behind = spans->sweepgen - span->sweepgen;
	/* Two behind: to be swept; one: being swept; one ahead: cached since before. What has been
	   swept a moment ago has no marks. */
	bool unswept = behind == 2 || behind == 1 || behind == UINT32_MAX;
	if (unswept && read_marks(spans, process, span, bits, size) &&
	    (behind != 1 || !gh_is_zeros(bits, size))) {
		add_finalizers(spans, process, span, bits, specials);
		return true;
	}
	bool read = gh_process_read(&process->memory, span->alloc_bits, bits, size);
	uint64_t all = read ? span->free_index : span->nelems;
	memset(bits, 0xff, (size_t)(all / 8));
	if (all % 8 != 0)
		bits[all / 8] |= (uint8_t)(0xff >> (8 - all % 8));
	if (process->minor >= 25)
		add_marked(spans, process, span, bits, size);
	return read;
}

uint64_t gh_specials_most(const struct gh_spans *spans, const struct gh_process *process)
{
	return process->memory.source->size / spans->layout.special_size;
}

bool gh_special_read(const struct gh_spans *spans, struct gh_process *process, uint64_t address,
		     struct gh_special *special)
{
	const struct gh_span_layout *layout = &spans->layout;
	unsigned word = process->tab->pointer_size;
	uint64_t kind;
	bool read = gh_process_uint(&process->memory, address, word, &special->next) &&
		    gh_process_uint(&process->memory, address + word, layout->special_offset_size,
				    &special->offset) &&
		    gh_process_uint(&process->memory, address + word + layout->special_offset_size,
				    1, &kind);
	special->kind = read ? (uint8_t)kind : 0;
	return read;
}
