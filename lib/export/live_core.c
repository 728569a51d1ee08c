#include "lib/export/core_parts.h"
#include "lib/export/export.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/process/process.h"
#include "lib/util/output.h"

/* Memory begins at this place in the file, after the ELF header: a multiple of every machine's
 * page. */
#define FIRST (UINT64_C(1) << 16)

/* Copies are made while the process runs until less than so many bytes change from one to the next,
 * but no more of them than that. */
#define LITTLE      (UINT64_C(16) << 20)
#define COPIES_MOST 3

/* The file while it is written. */
struct writer {
	int pid;
	struct gh_memory_parts *go; /* as struct gh_live_core has it */
	const struct gh_arch *arch;
	struct gh_live_pages pages;
	struct gh_core_mappings mappings;
	struct gh_live_process process;
	struct gh_buffer threads; /* notes of them */
	struct gh_buffer notes;   /* all of them */
	struct gh_buffer headers; /* of the program */
	uint64_t nheaders;
	struct gh_error *err;
	bool ok; /* ERR is not filled */
};

/* Finds the machine of the program that the process runs. */
static bool find_arch(struct writer *writer)
{
	Elf32_Ehdr header; /* the other begins as this one does */
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/exe", writer->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, &header, sizeof(header)) : -1;
	if (fd < 0) {
		errno = errno == ENOENT ? ESRCH : errno;
		return gh_stopped_fail(writer->pid, writer->err);
	}
	close(fd);
	if (size == (ssize_t)sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0)
		writer->arch =
		    gh_arch_find(header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
				 header.e_ident[EI_DATA] == ELFDATA2MSB);
	return writer->arch != NULL ||
	       gh_fail_plainly(writer->err,
			       "process %d runs a program of another machine than Go's: "
			       "gcore writes its core file",
			       writer->pid);
}

static bool copy(struct writer *writer, struct gh_error *err)
{
	gh_core_mappings_free(&writer->mappings);
	if (!gh_core_mappings_list(&writer->mappings, writer->pid, writer->go))
		return gh_stopped_fail(writer->pid, err);
	if (writer->mappings.failed)
		return gh_fail_memory(err, writer->pages.path);
	return gh_live_pages_copy(&writer->pages, &writer->mappings, err);
}

/* Copies the memory while the process runs. */
static void copy_running(void *context)
{
	struct writer *writer = context;
	writer->ok = true;
	for (int i = 0; writer->ok && i < COPIES_MOST; i++) {
		writer->pages.tracked = gh_track_written(writer->pid);
		writer->ok = copy(writer, writer->err);
		if (writer->pages.changed < LITTLE)
			break;
	}
}

static bool copy_stopped(const struct gh_stopped *stopped, void *context, struct gh_error *err)
{
	struct writer *writer = context;
	gh_live_threads_append(&writer->threads, writer->arch, stopped, &writer->process.core,
			       writer->go);
	if (writer->go != NULL)
		gh_memory_parts_merge(writer->go);
	return copy(writer, err);
}

/* Appends an NT_AUXV note. */
static void append_auxv(struct writer *writer)
{
	char path[64];
	uint8_t bytes[4096];
	snprintf(path, sizeof(path), "/proc/%d/auxv", writer->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;
	if (fd >= 0)
		close(fd);
	size_t start = gh_note_begin(&writer->notes, "CORE", NT_AUXV);
	gh_buffer_bytes(&writer->notes, bytes, size > 0 ? (size_t)size : 0);
	gh_note_end(&writer->notes, start);
}

static void append_segment(struct writer *writer, const struct gh_core_segment *segment)
{
	gh_core_segment_append(&writer->headers, writer->arch, segment);
	writer->nheaders++;
}

/* Appends the segments of MAPPING: one for each part that is in one piece in the file, with what
 * follows it and is in memory alone. */
static void append_mapping(struct writer *writer, const struct gh_core_mapping *mapping)
{
	const char *access = mapping->access;
	struct gh_core_segment segment = {
	    .type = PT_LOAD,
	    .flags = (access[0] == 'r' ? PF_R : 0U) | (access[1] == 'w' ? PF_W : 0U) |
		     (access[2] == 'x' ? PF_X : 0U),
	    .offset = FIRST,
	    .address = mapping->start,
	    .align = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	for (uint64_t at = mapping->start, next; at < mapping->dumped; at = next) {
		uint64_t offset;
		next = gh_live_pages_find(&writer->pages, at, mapping->dumped, &offset);
		if (offset == 0)
			continue;
		if (at > segment.address) {
			segment.size = at - segment.address;
			append_segment(writer, &segment);
		}
		segment.address = at;
		segment.offset = offset;
		segment.file_size = next - at;
	}
	segment.size = mapping->end - segment.address;
	append_segment(writer, &segment);
}

/* Makes what is behind the memory: notes, then program headers. */
static void make_end(struct writer *writer)
{
	struct gh_core_segment notes = {
	    .type = PT_NOTE, .flags = PF_R, .offset = writer->pages.end, .align = 4};
	gh_prpsinfo_append(&writer->notes, writer->arch, &writer->process.core);
	append_auxv(writer);
	gh_files_append(&writer->notes, writer->arch, &writer->mappings);
	gh_buffer_bytes(&writer->notes, writer->threads.data, writer->threads.size);
	notes.file_size = writer->notes.size;
	append_segment(writer, &notes);
	/* Program headers follow, at a place fit for them. */
	gh_buffer_align(&writer->notes, 8);
	for (size_t i = 0; i < writer->mappings.count; i++)
		append_mapping(writer, &writer->mappings.items[i]);
	gh_core_count_append(&writer->headers, writer->arch, writer->nheaders);
}

static bool write_end(struct writer *writer, int fd, const char *path)
{
	struct gh_buffer header = {.big_endian = writer->arch->big_endian};
	make_end(writer);
	gh_core_header_append(&header, writer->arch, writer->nheaders,
			      writer->pages.end + writer->notes.size);
	bool failed = header.failed || writer->threads.failed || writer->notes.failed ||
		      writer->headers.failed;
	bool written = !failed && lseek(fd, 0, SEEK_SET) == 0 &&
		       gh_write_all(fd, header.data, header.size) &&
		       lseek(fd, (off_t)writer->pages.end, SEEK_SET) >= 0 &&
		       gh_write_all(fd, writer->notes.data, writer->notes.size) &&
		       gh_write_all(fd, writer->headers.data, writer->headers.size);
	gh_buffer_free(&header);
	if (failed)
		return gh_fail_memory(writer->err, path);
	return written || gh_fail_errno(writer->err, path, "write");
}

static bool write_core(struct writer *writer, struct gh_live_core *core, int fd, const char *path)
{
	if (!gh_live_pages_open(&writer->pages, writer->pid, fd, path, FIRST, writer->err))
		return false;
	gh_work_last_in_turn(copy_running, writer);
	if (!writer->ok)
		return false;
	gh_live_process_read(&writer->process, writer->pid);
	gh_live_pages_expect_stop(&writer->pages);
	if (!gh_stopped_run(writer->pid, copy_stopped, writer, &core->paused, writer->err))
		return false;
	gh_be_last_in_turn();
	return gh_live_pages_write_kept(&writer->pages, writer->err) && write_end(writer, fd, path);
}

/* Compresses the file FROM into TO. */
static bool compress_file(int to, int from, const char *path, struct gh_error *err)
{
	uint8_t bytes[1 << 16];
	ssize_t size = -1;
	int copy = dup(to);
	gzFile stream = copy >= 0 ? gzdopen(copy, "wb1") : NULL;
	if (stream == NULL) {
		if (copy >= 0)
			close(copy);
		return gh_fail_errno(err, path, "write");
	}
	off_t at = 0;
	while ((size = pread(from, bytes, sizeof(bytes), at)) > 0 &&
	       gzwrite(stream, bytes, (unsigned)size) == (int)size)
		at += size;
	int number = errno;
	bool closed = gzclose(stream) == Z_OK;
	if (size == 0 && closed)
		return true;
	/* zlib leaves the reason in errno; it has none of its own where memory runs out. */
	errno = number;
	return gh_fail_errno(err, path, "write");
}

bool gh_live_core_write(struct gh_live_core *core, const char *path, struct gh_error *err)
{
	struct writer writer = {
	    .pid = core->pid, .go = core->go, .err = err, .pages = {.pagemap = -1, .memory = -1}};
	struct gh_output out;
	struct gh_output plain;
	if (!find_arch(&writer) || !gh_output_open(&out, path, GH_OUTPUT_PRIVATE, err))
		return false;
	/* What is compressed cannot be written to out of order, and takes too long to make while
	 * the process changes. */
	if (core->gzip && !gh_output_open(&plain, path, GH_OUTPUT_PRIVATE, err)) {
		gh_output_discard(&out);
		return false;
	}
	writer.threads.big_endian = writer.notes.big_endian = writer.headers.big_endian =
	    writer.arch->big_endian;
	bool written = write_core(&writer, core, core->gzip ? plain.fd : out.fd, path);
	if (core->gzip) {
		written = written && compress_file(out.fd, plain.fd, path, err);
		gh_output_discard(&plain);
	}
	gh_live_pages_free(&writer.pages);
	gh_core_mappings_free(&writer.mappings);
	gh_buffer_free(&writer.threads);
	gh_buffer_free(&writer.notes);
	gh_buffer_free(&writer.headers);
	return gh_output_end(&out, written, err);
}
