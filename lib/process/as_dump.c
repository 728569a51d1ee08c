#include "lib/process/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/dump/record.h"
#include "lib/process/dump_parts.h"

static void add_text(struct gh_buffer *out, const char *text, size_t length)
{
	gh_buffer_uleb128(out, length);
	gh_buffer_bytes(out, text, length);
}

/* START and END bound the heap. */
static void add_params(struct gh_buffer *out, const struct gh_process *process, const char *version,
		       uint64_t start, uint64_t end)
{
	static const char header[] = "go1.7 heap dump\n";
	const struct gh_arch *arch = process->tab->image->arch;
	gh_buffer_bytes(out, header, strlen(header));
	gh_buffer_uleb128(out, GH_DUMP_PARAMS);
	gh_buffer_uleb128(out, arch->big_endian);
	gh_buffer_uleb128(out, arch->pointer_size);
	gh_buffer_uleb128(out, start);
	gh_buffer_uleb128(out, end);
	add_text(out, arch->goarch, strlen(arch->goarch));
	add_text(out, version, strlen(version));
	gh_buffer_uleb128(out, GH_DUMP_FROM_OUTSIDE); /* CPUs */
}

/* Adds the files of the modules beside the program. */
static void add_modules(struct gh_buffer *out, const struct gh_process *process)
{
	for (size_t i = 0; i < process->nothers; i++) {
		const struct gh_module *module = &process->others[i];
		char *note;
		int length = asprintf(&note, GH_DUMP_MODULE "%016" PRIx64 ": %s", module->bias,
				      module->tab->image->path);
		out->failed |= length < 0;
		if (length >= 0) {
			gh_dump_add_note(out, note);
			free(note);
		}
	}
}

bool gh_snapshot_make(struct gh_buffer *out, struct gh_process *process, const char *version,
		      uint64_t *lost, struct gh_error *err)
{
	struct gh_goroutines all;
	struct gh_dump_section section = {0};
	struct gh_dump_stream stream = gh_dump_stream_make(process, -1);
	if (!gh_goroutines_find(&all, process, err))
		return false;
	add_params(&stream.bytes, process, version, 0, 0);
	add_modules(&stream.bytes, process);
	bool made =
	    gh_dump_add_goroutines(&stream, &section, &all, process, NULL, NULL, NULL, lost);
	gh_buffer_uleb128(&stream.bytes, GH_DUMP_EOF);
	made = gh_dump_add_section(&stream, &section) && made;
	made = gh_dump_stream_end(&stream) && made;
	gh_goroutines_free(&all);
	*out = stream.bytes;
	return made || gh_fail_memory(err, process->tab->image->path);
}

/* What a dump of the heap is made of. */
struct maker {
	struct gh_process *process;
	struct gh_dump_stream stream;
	struct gh_rtypes rtypes;
	struct gh_dump_types types;
	struct gh_spans spans;
	struct gh_span_pointers pointers;
	struct gh_goroutines goroutines;
	struct gh_dump_section section;
	struct gh_dump_totals totals;
	struct gh_c_records c;
};

/* The arenas that have the spans, which are the bounds of the heap. */
static void add_heap_params(struct maker *maker, const char *version)
{
	const struct gh_span *items = maker->spans.list.items;
	size_t count = maker->spans.list.count;
	uint64_t arena = gh_heap_arena_size(maker->process);
	uint64_t start = 0, end = 0;
	if (count > 0) {
		start = items[0].start - items[0].start % arena;
		end = items[count - 1].start + items[count - 1].size - 1;
		end += arena - end % arena;
	}
	add_params(&maker->stream.bytes, maker->process, version, start, end);
}

/* Finds all that is to be read. */
static bool find_all(struct maker *maker, struct gh_error *err)
{
	struct gh_process *process = maker->process;
	if (!gh_goroutines_find(&maker->goroutines, process, err) ||
	    !gh_process_types(&maker->rtypes, process, err) ||
	    !gh_spans_find(&maker->spans, process, &maker->rtypes, err) ||
	    !gh_span_pointers_open(&maker->pointers, &maker->spans, process, err))
		return false;
	maker->types.types = &maker->rtypes;
	return true;
}

/* Writes the records in the order in which the runtime does. */
static bool write_all(struct maker *maker, const char *version, struct gh_heap_losses *losses)
{
	struct gh_process *process = maker->process;
	struct gh_dump_stream *stream = &maker->stream;
	add_heap_params(maker, version);
	gh_dump_add_note(&stream->bytes, GH_DUMP_HAS_STACK_OBJECTS);
	add_modules(&stream->bytes, process);
	gh_dump_add_itabs(stream, process, &maker->types);
	gh_dump_add_objects(stream, &maker->pointers, &maker->c, &maker->totals);
	gh_dump_add_c_blocks(stream, process, &maker->c);
	bool listed = gh_dump_add_goroutines(stream, &maker->section, &maker->goroutines, process,
					     &maker->spans, &maker->c.memory, &maker->types,
					     &losses->goroutines);
	gh_dump_add_threads(stream, process, &maker->rtypes, &maker->goroutines);
	bool masks = gh_dump_add_globals(stream, process, &maker->c);
	gh_dump_add_c_roots(stream, process, &maker->spans, &maker->c);
	gh_dump_add_specials(stream, process, &maker->spans, &maker->types);
	gh_dump_add_queued_finalizers(stream, process, &maker->types);
	gh_dump_add_queued_cleanups(stream, process);
	gh_dump_add_memstats(stream, process, &maker->spans, &maker->totals);
	bool profile = gh_dump_add_profile(stream, process, &maker->spans);
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_EOF);
	gh_c_records_end(&maker->c, &maker->section);
	listed = gh_dump_add_section(stream, &maker->section) && listed;
	losses->spans = maker->spans.lost;
	losses->objects = maker->totals.skipped;
	losses->bytes = stream->missing;
	losses->untyped = maker->pointers.unknown;
	losses->variables = !masks;
	losses->c_arenas = maker->c.memory.corrupt;
	return gh_dump_stream_end(stream) && listed && profile && !maker->types.failed &&
	       !maker->pointers.failed;
}

/* Has a bare dump, written to FD, end in the zeros that stand for contents. */
static bool add_zeros(struct gh_dump_stream *stream)
{
	off_t size = lseek(stream->fd, 0, SEEK_CUR);
	stream->failed = size < 0 || ftruncate(stream->fd, size + (off_t)stream->bare_size) != 0;
	return !stream->failed;
}

bool gh_heap_dump_write(int fd, enum gh_heap_form form, const char *path,
			struct gh_process *process, const char *version,
			struct gh_heap_losses *losses, struct gh_error *err)
{
	struct maker maker = {.process = process, .stream = gh_dump_stream_make(process, fd)};
	*losses = (struct gh_heap_losses){0};
	bool found = find_all(&maker, err);
	maker.stream.bare = form == GH_HEAP_BARE;
	if (found && form == GH_HEAP_GZIP)
		gh_dump_stream_compress(&maker.stream);
	bool opened = found && gh_c_records_open(&maker.c, process, &maker.spans);
	bool written = opened && write_all(&maker, version, losses) &&
		       (form != GH_HEAP_BARE || add_zeros(&maker.stream));
	if (found && !written && maker.stream.failed)
		gh_fail_errno(err, path, "write");
	else if (found && !written)
		gh_fail_memory(err, path);
	gh_c_records_free(&maker.c);
	gh_goroutines_free(&maker.goroutines);
	gh_span_pointers_free(&maker.pointers);
	gh_spans_free(&maker.spans);
	gh_numbermap_free(&maker.types.written);
	gh_rtypes_free(&maker.rtypes);
	gh_buffer_free(&maker.stream.bytes);
	return written;
}
