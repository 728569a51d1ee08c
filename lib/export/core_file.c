#include "lib/export/core_parts.h"
#include "lib/export/export.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/dump/dump.h"
#include "lib/util/open_file.h"
#include "lib/util/output.h"
#include "lib/util/parallel.h"
#include "lib/util/zeros.h"

#define PAGE 4096

/* Memory is written so many bytes at a time: objects are small. A multiple of PAGE. */
#define GATHERED (1 << 20)

/* Notes may be this many times as large as the dump, or take so many bytes. A goroutine that a dump
 * says little of takes 14 bytes there, and 352 as a thread. */
#define MAX_NOTES_RATIO 4
#define LEAST_NOTES     (1 << 16)

/* A loadable segment: regions of one kind, and the holes between them. */
struct segment {
	uint64_t address;
	uint64_t size; /* in bytes */
	enum gh_dump_kind kind;
};

/* The file being written. */
struct core {
	const struct gh_dump *dump;
	const struct gh_arch *arch;
	const char *path; /* for errors */
	int fd;
	struct GH_VECTOR(struct segment) segments; /* by address */
	struct GH_VECTOR(int64_t) ids;             /* of threads, by goroutine number */
	struct gh_buffer notes;
	struct gh_buffer headers;
	size_t left_out;  /* goroutines that are no threads, for want of room */
	uint64_t allglen; /* address of runtime.allglen, which has a segment of its own; 0: none */
	struct gh_buffer length; /* what is there: how many goroutines there are; owned */
	uint64_t first;          /* where the first segment's contents go, at or after */
	uint64_t end;            /* where the last one's end */
};

/* What writes the part of the file from START to before END: several do at once. */
struct writer {
	const struct core *core;
	uint64_t start;
	uint64_t end;
	uint8_t *gathered; /* GATHERED bytes to be written, zero where there are none; owned */
	uint64_t gathered_offset; /* where they go; a multiple of PAGE */
	size_t gathered_size;     /* in bytes, from the first to the last that is not zero */
	unsigned flushes;
	struct gh_error err;
	bool ok; /* ERR is not filled */
};

static uint64_t align_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/* Puts the regions into segments. Only objects are merged with objects, and frames with frames:
 * what lies between others is the program's, and the debugger reads it from the program's file. */
static void plan_segments(struct core *core)
{
	struct gh_regions walk = {0};
	struct gh_region region;
	struct segment *last = NULL;
	while (gh_regions_next(core->dump, &walk, &region)) {
		uint64_t gap = last != NULL ? region.address - (last->address + last->size) : 0;
		bool joins = last != NULL && region.kind == last->kind &&
			     gap < (region.kind == GH_DUMP_DATA ? 1 : PAGE);
		if (joins) {
			last->size += gap + region.size;
			continue;
		}
		struct segment segment = {region.address, region.size, region.kind};
		if (!gh_vector_push(&core->segments, segment))
			return;
		last = &core->segments.items[core->segments.count - 1];
	}
}

/* Delve lists as many goroutines of runtime.allgs, a slice that the dump has, as runtime.allglen
 * says, which is the slice's length. */
static void plan_length(struct core *core, const struct gh_core_program *program)
{
	struct gh_cursor cur;
	uint8_t word = core->arch->pointer_size;
	if (program->allgs == 0 || program->allglen == 0 ||
	    gh_dump_memory(core->dump, program->allglen, &cur) ||
	    !gh_dump_memory(core->dump, program->allgs + word, &cur))
		return;
	uint64_t length = gh_cursor_uint(&cur, word);
	if (cur.failed)
		return;
	core->allglen = program->allglen;
	core->length.big_endian = core->arch->big_endian;
	gh_buffer_uint(&core->length, length, word);
}

static int compare_ids(const void *a, const void *b)
{
	int64_t first = *(const int64_t *)a;
	int64_t second = *(const int64_t *)b;
	return (first > second) - (first < second);
}

/* Chooses the thread ids: a debugger takes threads of one id for one thread. */
static void choose_ids(struct core *core)
{
	size_t count = gh_dump_count(core->dump, GH_DUMP_GOROUTINE);
	int64_t *by_value = calloc(count + 1, sizeof(*by_value));
	if (by_value == NULL || !gh_vector_reserve(&core->ids, count)) {
		core->ids.failed = true;
		free(by_value);
		return;
	}
	int64_t *ids = core->ids.items;
	core->ids.count = count;
	for (size_t i = 0; i < count; i++) {
		struct gh_dump_record record;
		gh_dump_get(core->dump, GH_DUMP_GOROUTINE, i, &record);
		uint64_t id = record.goroutine.id;
		ids[i] = id > 0 && id <= INT32_MAX / 2 ? (int64_t)id : 0;
		by_value[i] = ids[i];
	}
	qsort(by_value, count, sizeof(*by_value), compare_ids);
	int64_t spare = INT32_MAX;
	for (size_t i = 0; i < count; i++) {
		int64_t *found = bsearch(&ids[i], by_value, count, sizeof(*by_value), compare_ids);
		bool shared = found == NULL || (found > by_value && found[-1] == ids[i]) ||
			      (found < by_value + count - 1 && found[1] == ids[i]);
		if (ids[i] == 0 || shared)
			ids[i] = spare--;
	}
	free(by_value);
}

/* The frame pointer in a frame of SIZE bytes at SP, where Go has one: it points to where the
 * caller's was saved. */
static uint64_t frame_pointer(const struct gh_arch *arch, uint64_t sp, uint64_t size)
{
	uint64_t saved = (uint64_t)gh_arch_words_saved(arch) * arch->pointer_size;
	if (!gh_arch_has_frame_pointer(arch) || size < saved)
		return 0;
	return sp + size - gh_arch_frame_pointer_place(arch, size);
}

/* Fills THREAD from the frames of STACK, which has some. */
static void set_registers(const struct core *core, const struct gh_dump_stack *stack,
			  struct gh_thread *thread)
{
	struct gh_dump_record record;
	gh_dump_get(core->dump, GH_DUMP_FRAME, stack->first_frame, &record);
	uint64_t size = record.frame.size;
	thread->pc = gh_top_frame_pc(core->arch, &record.frame);
	thread->sp = record.frame.sp;
	thread->fp = frame_pointer(core->arch, thread->sp, size);
	/* It was stopped before it had made its frame. */
	if (core->arch->link_register && size == 0 && stack->nframes > 1) {
		gh_dump_get(core->dump, GH_DUMP_FRAME, stack->first_frame + 1, &record);
		thread->lr = record.frame.pc;
	}
}

static void make_notes(struct core *core, const struct gh_core_program *program)
{
	const int64_t *ids = core->ids.items;
	size_t count = gh_dump_count(core->dump, GH_DUMP_GOROUTINE);
	uint64_t limit = MAX_NOTES_RATIO * (uint64_t)core->dump->input.size;
	const struct gh_core_process process = {.name = program->name,
						.arguments = program->name,
						.id = count > 0 ? (int32_t)ids[0] : 1};
	gh_prpsinfo_append(&core->notes, core->arch, &process);
	if (program->entry != 0)
		gh_auxv_append(&core->notes, core->arch, program->entry);
	for (size_t i = 0; i < count; i++) {
		struct gh_dump_record record;
		if (core->notes.size > limit && core->notes.size > LEAST_NOTES) {
			core->left_out = count - i;
			return;
		}
		gh_dump_get(core->dump, GH_DUMP_GOROUTINE, i, &record);
		struct gh_thread thread = {.id = (int32_t)ids[i], .sp = record.goroutine.sp};
		const struct gh_dump_stack *stack = gh_dump_stack(core->dump, i);
		if (stack->nframes > 0)
			set_registers(core, stack, &thread);
		gh_prstatus_append(&core->notes, core->arch, &thread);
	}
}

/* Makes the headers, and finds where the segments' contents go. */
static void make_headers(struct core *core)
{
	const struct segment *segments = core->segments.items;
	uint64_t count = 1 + core->segments.count + (core->allglen != 0);
	uint64_t size = gh_core_headers_size(core->arch, count);
	struct gh_core_segment notes = {.type = PT_NOTE,
					.flags = PF_R,
					.offset = size,
					.file_size = core->notes.size,
					.align = 4};
	struct gh_core_segment load = {.type = PT_LOAD, .flags = PF_R | PF_W, .align = PAGE};
	core->first = align_up(size + core->notes.size, PAGE);
	gh_core_header_append(&core->headers, core->arch, count,
			      gh_core_headers_size(core->arch, 0));
	gh_core_segment_append(&core->headers, core->arch, &notes);
	load.offset = core->first;
	for (size_t i = 0; i < core->segments.count; i++) {
		/* The offset and the address are the same modulo the page size. */
		load.offset += (segments[i].address - load.offset) % PAGE;
		load.address = segments[i].address;
		load.file_size = load.size = segments[i].size;
		gh_core_segment_append(&core->headers, core->arch, &load);
		load.offset += segments[i].size;
	}
	core->end = load.offset;
	if (core->allglen != 0) {
		load.offset += (core->allglen - load.offset) % PAGE;
		load.address = core->allglen;
		load.file_size = load.size = core->length.size;
		gh_core_segment_append(&core->headers, core->arch, &load);
		core->end = load.offset + core->length.size;
	}
	gh_core_count_append(&core->headers, core->arch, count);
}

static bool write_at(const struct core *core, const void *data, size_t size, uint64_t offset,
		     struct gh_error *err)
{
	return gh_write_at(core->fd, data, size, offset) || gh_fail_errno(err, core->path, "write");
}

/* The first place from START on, in steps of PAGE, where the gathered bytes are a page of zeros, or
 * are not if ZERO is false; or where they end. */
static size_t find_page(const struct writer *writer, size_t start, bool zero)
{
	size_t place = start;
	while (place < writer->gathered_size && gh_is_zeros(writer->gathered + place, PAGE) != zero)
		place += PAGE;
	return place < writer->gathered_size ? place : writer->gathered_size;
}

/* Writes what is gathered, but leaves out pages of zeros: the file has none there. Now and then
 * lets go of the memory that the dump's file has been mapped to, or all of it would be there in the
 * end. */
static void flush(struct writer *writer)
{
	size_t end;
	for (size_t start = find_page(writer, 0, false); start < writer->gathered_size;
	     start = find_page(writer, end, false)) {
		end = find_page(writer, start, true);
		writer->ok =
		    writer->ok && write_at(writer->core, writer->gathered + start, end - start,
					   writer->gathered_offset + start, &writer->err);
	}
	memset(writer->gathered, 0, writer->gathered_size);
	writer->gathered_size = 0;
	if (++writer->flushes % 16 == 0)
		gh_dump_input_release(&writer->core->dump->input, 0, UINT64_MAX);
}

/* Gathers the SIZE bytes at DATA, which go to OFFSET, past all that were before. */
static void gather(struct writer *writer, const uint8_t *data, uint64_t size, uint64_t offset)
{
	while (size > 0) {
		if (offset - writer->gathered_offset >= GATHERED) {
			flush(writer);
			writer->gathered_offset = offset / PAGE * PAGE;
		}
		size_t place = offset - writer->gathered_offset;
		size_t length = size < GATHERED - place ? (size_t)size : GATHERED - place;
		memcpy(writer->gathered + place, data, length);
		writer->gathered_size = place + length;
		data += length;
		size -= length;
		offset += length;
	}
}

/* Gathers what WRITER's part has of REGION, which goes to OFFSET. */
static void gather_region(struct writer *writer, const struct gh_region *region, uint64_t offset)
{
	uint64_t start = offset > writer->start ? offset : writer->start;
	uint64_t end = offset + region->size < writer->end ? offset + region->size : writer->end;
	if (start >= end)
		return;
	struct gh_cursor contents = gh_region_contents(writer->core->dump, region);
	gather(writer, contents.start + (start - offset), end - start, start);
}

/* Writes the regions where the headers say that their segments are. */
static void write_part(struct writer *writer)
{
	const struct core *core = writer->core;
	const struct segment *segment = core->segments.items;
	struct gh_regions walk = {0};
	struct gh_region region;
	uint64_t offset = core->first + (segment->address - core->first) % PAGE;
	while (offset < writer->end && gh_regions_next(core->dump, &walk, &region)) {
		while (region.address - segment->address >= segment->size) {
			offset += segment->size;
			segment++;
			offset += (segment->address - offset) % PAGE;
		}
		gather_region(writer, &region, offset + (region.address - segment->address));
	}
	flush(writer);
}

static void write_numbered(void *context, uint32_t number)
{
	struct writer *writer = (struct writer *)context + number;
	writer->gathered = calloc(1, GATHERED);
	writer->ok = writer->gathered != NULL || gh_fail_memory(&writer->err, writer->core->path);
	if (writer->ok)
		write_part(writer);
	free(writer->gathered);
}

static bool write_memory(const struct core *core, struct gh_error *err)
{
	struct writer writers[GH_PARALLEL_MAX];
	uint32_t count = gh_parallel_width();
	uint64_t size = align_up((core->end - core->first) / count + 1, GATHERED);
	if (core->segments.count == 0)
		return true;
	for (uint32_t i = 0; i < count; i++)
		writers[i] = (struct writer){
		    .core = core,
		    .start = core->first + i * size,
		    .end = core->first + (i + 1) * size,
		    .gathered_offset = core->first + i * size,
		};
	gh_parallel(count, write_numbered, writers);
	for (uint32_t i = 0; i < count; i++) {
		if (writers[i].ok)
			continue;
		*err = writers[i].err;
		return false;
	}
	if (ftruncate(core->fd, (off_t)core->end) != 0)
		return gh_fail_errno(err, core->path, "write");
	return true;
}

static bool write_core(struct core *core, const struct gh_core_program *program,
		       struct gh_error *err)
{
	plan_segments(core);
	plan_length(core, program);
	choose_ids(core);
	if (core->segments.failed || core->ids.failed || core->length.failed)
		return gh_fail_errno(err, core->path, "write");
	make_notes(core, program);
	make_headers(core);
	if (core->notes.failed || core->headers.failed)
		return gh_fail_errno(err, core->path, "write");
	return write_at(core, core->headers.data, core->headers.size, 0, err) &&
	       write_at(core, core->notes.data, core->notes.size, core->headers.size, err) &&
	       write_memory(core, err) &&
	       write_at(core, core->length.data, core->length.size, core->end - core->length.size,
			err);
}

bool gh_corefile_write(const struct gh_dump *dump, const struct gh_core_program *program,
		       const char *path, size_t *left_out, struct gh_error *err)
{
	struct core core = {.dump = dump, .arch = gh_dump_arch(dump, err), .path = path};
	if (core.arch == NULL)
		return false;
	core.notes.big_endian = core.headers.big_endian = core.arch->big_endian;
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PRIVATE, err))
		return false;
	core.fd = out.fd;
	bool ok = write_core(&core, program, err);
	gh_vector_free(&core.segments);
	gh_vector_free(&core.ids);
	gh_buffer_free(&core.length);
	gh_buffer_free(&core.notes);
	gh_buffer_free(&core.headers);
	*left_out = core.left_out;
	return gh_output_end(&out, ok, err);
}
