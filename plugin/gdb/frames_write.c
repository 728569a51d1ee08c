#include <stdlib.h>

#include "lib/dump/dump.h"
#include "lib/util/output.h"
#include "lib/util/top.h"
#include "plugin/gdb/gdb.h"

/* Go's own DWARF has a caller for runtime.goexit too, at pc 0. GDB shows it and stops there, but
 * looks two frames further, and other unwinders need registers for that. */
static void add_end(struct gh_buffer *rows, const struct gh_dump_frame *last)
{
	uint64_t end = last->sp + last->size;
	for (uint64_t i = 0; i < 2; i++) {
		struct gh_frames_row row = {.sp = end + i, .caller_sp = end + i + 1};
		gh_buffer_bytes(rows, &row, sizeof(row));
	}
}

/* A frame's pc, which GDB takes for a return address, as all but a thread's top frame have: so one
 * that was interrupted has one that is past that. So has one at its very entry: it has not begun,
 * or is that of runtime.goexit, to which goroutines return before Go 1.4. */
static uint64_t as_return_address(const struct gh_dump_frame *frame)
{
	bool at_pc = frame->continuation == GH_DUMP_INTERRUPTED || frame->pc == frame->entry;
	return frame->pc + (at_pc ? 1 : 0);
}

/* TOP is the stack's first frame; GDB has PC for it. */
static void add_stack(struct gh_buffer *rows, const struct gh_dump *dump,
		      const struct gh_dump_stack *stack, const struct gh_dump_record *top,
		      uint64_t pc)
{
	struct gh_dump_record record = *top;
	struct gh_dump_record caller;
	for (size_t i = 1; i < stack->nframes; i++, record = caller) {
		gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + i, &caller);
		const struct gh_dump_frame *frame = &record.frame;
		struct gh_frames_row row = {
		    .sp = frame->sp,
		    .pc = i == 1 ? pc : as_return_address(frame),
		    .caller_sp = caller.frame.sp,
		    .caller_pc = as_return_address(&caller.frame),
		    .return_address = caller.frame.pc,
		    .entry = frame->entry,
		};
		if (row.pc != 0 && row.caller_pc != 0 && row.caller_sp >= row.sp)
			gh_buffer_bytes(rows, &row, sizeof(row));
	}
	add_end(rows, &record.frame);
}

static int compare_rows(const void *a, const void *b)
{
	const struct gh_frames_row *first = a;
	const struct gh_frames_row *second = b;
	if (first->sp != second->sp)
		return first->sp > second->sp ? 1 : -1;
	return (first->pc > second->pc) - (first->pc < second->pc);
}

static bool write_file(const struct gh_frames_header *header, const struct gh_buffer *rows,
		       const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (rows->failed)
		return gh_fail_errno(err, path, "write");
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	bool whole = (gh_write_all(out.fd, header, sizeof(*header)) &&
		      gh_write_all(out.fd, rows->data, rows->size)) ||
		     gh_fail_errno(err, path, "write");
	return gh_output_end(&out, whole, err);
}

/* Writes the file, of a dump of ARCH's, and frees ROWS. */
static bool write_rows(const struct gh_arch *arch, struct gh_buffer *rows, uint64_t marker_sp,
		       const char *path, struct gh_error *err)
{
	struct gh_frames_header header = {
	    .count = rows->size / sizeof(struct gh_frames_row),
	    .marker_sp = marker_sp,
	    .pointer_size = arch->pointer_size,
	    .dwarf_sp = arch->dwarf_sp,
	    .dwarf_pc = arch->dwarf_pc,
	    .big_endian = arch->big_endian,
	    .dwarf_lr = arch->link_register ? arch->dwarf_ra : 0,
	};
	if (header.count > 0)
		qsort(rows->data, header.count, sizeof(struct gh_frames_row), compare_rows);
	bool written = write_file(&header, rows, path, err);
	gh_buffer_free(rows);
	return written;
}

bool gh_frames_write(const struct gh_dump *dump, const char *path, struct gh_error *err)
{
	const struct gh_arch *arch = gh_dump_arch(dump, err);
	if (arch == NULL)
		return false;
	if (!arch->gdb_has_dwarf_pc)
		return true;
	struct gh_buffer rows = {0};
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_GOROUTINE); i++) {
		const struct gh_dump_stack *stack = gh_dump_stack(dump, i);
		struct gh_dump_record top;
		if (stack->nframes == 0)
			continue;
		gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame, &top);
		add_stack(&rows, dump, stack, &top, gh_top_frame_pc(arch, &top.frame));
	}
	return write_rows(arch, &rows, 0, path, err);
}

bool gh_frames_write_below(const struct gh_dump *dump, size_t number, uint64_t sp, uint64_t pc,
			   const char *path, struct gh_error *err)
{
	const struct gh_arch *arch = gh_dump_arch(dump, err);
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	if (arch == NULL)
		return false;
	if (!arch->gdb_has_dwarf_pc)
		return gh_fail(err, dump->path, GH_NO_OFFSET, "a machine whose pc GDB unwinds",
			       "%s", arch->goarch);
	struct gh_dump_record top;
	struct gh_buffer rows = {0};
	gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame, &top);
	struct gh_frames_row marker = {
	    .sp = sp,
	    .pc = pc,
	    .caller_sp = top.frame.sp,
	    .caller_pc = as_return_address(&top.frame),
	};
	gh_buffer_bytes(&rows, &marker, sizeof(marker));
	add_stack(&rows, dump, stack, &top, marker.caller_pc);
	return write_rows(arch, &rows, sp, path, err);
}
