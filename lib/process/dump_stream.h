/* The records of a heap dump on their way to a file, or kept in memory. */
#ifndef GH_PROCESS_DUMP_STREAM_H
#define GH_PROCESS_DUMP_STREAM_H

#include "lib/process/process.h"
#include "lib/util/buffer.h"

struct gh_dump_stream {
	struct gh_buffer bytes; /* not written yet; owned */
	int fd;                 /* where they go; -1: they stay in BYTES */
	uint64_t left;          /* bytes of the process's memory that may still be added: a process
				   that lies about its tables does not fill a disk */
	uint64_t missing;       /* bytes that were not in memory, and are 0 */
	bool failed;            /* the file could not be written; errno says why */
	void *gzip;             /* gzFile, by which the file is written; NULL: as it is; owned */
};

/* A stream of PROCESS's, to FD or, if that is -1, to memory. To be ended with gh_dump_stream_end.
 */
struct gh_dump_stream gh_dump_stream_make(const struct gh_process *process, int fd);

/* Has the stream compress what it writes. */
void gh_dump_stream_compress(struct gh_dump_stream *stream);

/* Hands what there is of whole records to the file, once that is much. */
void gh_dump_stream_pass(struct gh_dump_stream *stream);

/* Hands over the rest. False if that, or something before, failed. */
bool gh_dump_stream_end(struct gh_dump_stream *stream);

/* Adds a text or contents: its size, and the bytes. */
void gh_dump_stream_text(struct gh_dump_stream *stream, const char *text, size_t size);

/* Adds the size and the contents of SIZE bytes at ADDRESS in the process; zeros, counted as
 * missing, for what is not there. False, and nothing added, if there is more than may be added. */
bool gh_dump_stream_memory(struct gh_dump_stream *stream, struct gh_process *process,
			   uint64_t address, uint64_t size);

#endif
