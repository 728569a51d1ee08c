#include "lib/export/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/escape.h"

/* Bytes that are gathered before they are written. */
#define GATHERED (1 << 20)

/* A segment's length is 4 bytes, which some readers take for a signed number. */
#define MAX_SEGMENT (UINT64_C(1) << 30)

/* Bytes of a record before its body: tag, time, length. */
#define HEADER 9

/* A string of the file is never longer, and an escaped byte takes up to four. */
#define MAX_TEXT 4096

static void fail(struct gh_hprof_out *out)
{
	if (!out->failed)
		gh_fail_errno(&out->error, out->path, "write");
	out->failed = true;
}

static void write_now(struct gh_hprof_out *out, const void *data, size_t size)
{
	if (!out->failed && !gh_write_all(out->file.fd, data, size))
		fail(out);
	out->written += size;
}

static void flush(struct gh_hprof_out *out)
{
	if (out->pending.failed) {
		errno = ENOMEM;
		fail(out);
	}
	write_now(out, out->pending.data, out->pending.size);
	out->pending.size = 0;
}

bool gh_hprof_out_open(struct gh_hprof_out *out, const char *path, unsigned id_size, uint64_t time,
		       struct gh_error *err)
{
	*out = (struct gh_hprof_out){.path = path, .id_size = id_size};
	out->pending.big_endian = true;
	if (!gh_output_open(&out->file, path, GH_OUTPUT_PRIVATE, err))
		return false;
	gh_buffer_string(&out->pending, "JAVA PROFILE 1.0.2");
	gh_hprof_u4(out, id_size);
	gh_hprof_u8(out, time);
	return true;
}

void gh_hprof_u1(struct gh_hprof_out *out, uint8_t value)
{
	gh_buffer_u8(&out->pending, value);
}

void gh_hprof_u2(struct gh_hprof_out *out, uint16_t value)
{
	gh_buffer_u16(&out->pending, value);
}

void gh_hprof_u4(struct gh_hprof_out *out, uint32_t value)
{
	gh_buffer_u32(&out->pending, value);
}

void gh_hprof_u8(struct gh_hprof_out *out, uint64_t value)
{
	gh_buffer_u64(&out->pending, value);
}

void gh_hprof_id(struct gh_hprof_out *out, uint64_t id)
{
	gh_buffer_uint(&out->pending, id, out->id_size);
}

void gh_hprof_bytes(struct gh_hprof_out *out, const void *data, size_t size)
{
	if (size < GATHERED || out->is_part) {
		gh_buffer_bytes(&out->pending, data, size);
		return;
	}
	flush(out);
	write_now(out, data, size);
}

void gh_hprof_drain(struct gh_hprof_out *out)
{
	if (out->pending.size >= GATHERED && !out->is_part)
		flush(out);
}

void gh_hprof_record(struct gh_hprof_out *out, uint8_t tag, uint32_t size)
{
	gh_hprof_drain(out);
	gh_hprof_u1(out, tag);
	gh_hprof_u4(out, 0); /* us since the time in the file's header */
	gh_hprof_u4(out, size);
}

static uint64_t segment_size(const struct gh_hprof_out *out)
{
	return out->written + out->pending.size - out->segment - HEADER;
}

/* Puts the length of the open segment where it has to be. */
static void end_segment(struct gh_hprof_out *out)
{
	if (out->segment == 0)
		return;
	struct gh_buffer length = {.big_endian = true};
	gh_buffer_u32(&length, (uint32_t)segment_size(out));
	flush(out);
	if (!out->failed && (length.failed || pwrite(out->file.fd, length.data, length.size,
						     (off_t)out->segment + HEADER - 4) != 4))
		fail(out);
	gh_buffer_free(&length);
	out->segment = 0;
}

/* Has a segment be open in which SIZE bytes more have room. */
static void make_room(struct gh_hprof_out *out, uint64_t size)
{
	if (out->segment != 0 && segment_size(out) + size >= MAX_SEGMENT)
		end_segment(out);
	if (out->segment == 0) {
		out->segment = out->written + out->pending.size;
		gh_hprof_record(out, GH_HPROF_HEAP_DUMP_SEGMENT, 0);
	}
	gh_hprof_drain(out);
}

void gh_hprof_subrecord(struct gh_hprof_out *out, uint8_t tag, uint64_t size)
{
	if (!out->is_part)
		make_room(out, size);
	gh_hprof_u1(out, tag);
}

void gh_hprof_append(struct gh_hprof_out *out, const void *subrecords, size_t size)
{
	if (size == 0)
		return;
	make_room(out, size);
	gh_hprof_bytes(out, subrecords, size);
}

uint64_t gh_hprof_string(struct gh_hprof_out *out, const char *text, size_t length)
{
	char *copy = strndup(text, length < MAX_TEXT ? length : MAX_TEXT);
	char *escaped = malloc(4 * MAX_TEXT + 1);
	if (copy == NULL || escaped == NULL) {
		fail(out);
	} else {
		gh_escape_text(escaped, 4 * MAX_TEXT + 1, copy);
		gh_hprof_record(out, GH_HPROF_STRING, out->id_size + (uint32_t)strlen(escaped));
		gh_hprof_id(out, out->strings + 1);
		gh_hprof_bytes(out, escaped, strlen(escaped));
	}
	free(copy);
	free(escaped);
	return ++out->strings;
}

bool gh_hprof_out_commit(struct gh_hprof_out *out, struct gh_error *err)
{
	end_segment(out);
	gh_hprof_record(out, GH_HPROF_HEAP_DUMP_END, 0);
	flush(out);
	gh_buffer_free(&out->pending);
	if (out->failed)
		*err = out->error;
	return gh_output_end(&out->file, !out->failed, err);
}

void gh_hprof_out_discard(struct gh_hprof_out *out)
{
	gh_buffer_free(&out->pending);
	gh_output_discard(&out->file);
}

uint64_t gh_hprof_id_of(const struct gh_hprof_ids *ids, uint32_t object)
{
	if (object == GH_HEAP_NONE)
		return 0;
	uint64_t address = gh_heap_object(ids->heap, object).address;
	return address <= ids->limit ? address : 0;
}

uint64_t gh_hprof_id_new(struct gh_hprof_ids *ids)
{
	do {
		if (ids->last > ids->limit - 8)
			return 0;
		ids->last += 8;
		while (ids->next < ids->heap->count &&
		       gh_heap_object(ids->heap, ids->next).address < ids->last)
			ids->next++;
	} while (ids->next < ids->heap->count &&
		 gh_heap_object(ids->heap, ids->next).address == ids->last);
	return ids->last;
}
