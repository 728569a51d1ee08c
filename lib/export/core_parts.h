/* The parts of a core file, whether it is made from a heap dump or of a running process: headers,
 * notes, and a running process's threads, mappings and memory.
 *
 * - core_headers.c, core_notes.c: what any core file begins with, and tells of threads;
 * - live_core.c: the core file of a running process; live_threads.c: what its notes tell;
 *   live_mappings.c: what of its memory there is to be; live_pages.c: copies that. */
#ifndef GH_EXPORT_CORE_PARTS_H
#define GH_EXPORT_CORE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/arch.h"
#include "lib/process/process.h"
#include "lib/trace/trace.h"
#include "lib/util/buffer.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

/* The headers of a core file. Format: the System V ABI, chapters 4 and 5; PN_XNUM in elf(5). */

struct gh_core_segment {
	uint32_t type;      /* PT_... */
	uint32_t flags;     /* PF_... */
	uint64_t offset;    /* in the file */
	uint64_t address;   /* in memory */
	uint64_t file_size; /* bytes in the file; what follows of the segment is zero, or in another
			       file */
	uint64_t size;      /* bytes in memory */
	uint64_t align;
};

/* How many bytes the ELF header takes, and COUNT program headers with what counts them. */
size_t gh_core_headers_size(const struct gh_arch *arch, uint64_t count);

/* Appends the ELF header of a core file that has COUNT program headers at OFFSET. */
void gh_core_header_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t count,
			   uint64_t offset);

/* Appends a program header. */
void gh_core_segment_append(struct gh_buffer *out, const struct gh_arch *arch,
			    const struct gh_core_segment *segment);

/* Appends, after the last of COUNT program headers, the section header that counts them where they
 * are too many for the ELF header. */
void gh_core_count_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t count);

/* The notes of a Linux core file.
 *
 * Formats: gh_gregset and GH_PRSTATUS_PID of lib/elf/arch.h; struct elf_prstatus and elf_prpsinfo
 * of the kernel's include/linux/elfcore.h. */

/* A process, as the notes name it. */
struct gh_core_process {
	const char *name;      /* of the program; cut to fit */
	const char *arguments; /* likewise */
	int32_t id;
	int32_t parent;
	int32_t group;
	int32_t session;
	uint32_t user;
	uint32_t user_group;
	char state; /* as proc(5) has it; 0 if unknown */
	int8_t nice;
};

/* What is known of a thread. */
struct gh_thread {
	int32_t id; /* positive */
	uint64_t pc;
	uint64_t sp;
	uint64_t fp; /* the frame pointer; 0 if it is unknown, or the machine has none */
	uint64_t lr; /* the link register; likewise */
	const struct gh_core_process *process; /* NULL if it is unknown */
	const uint8_t *registers; /* all of them, as the kernel has them; NULL: only those above */
	uint16_t signal;          /* that it is about to be given; 0 for none */
	uint64_t blocked;         /* signals, by bits from 1 on */
};

/* Appends an NT_PRSTATUS note for THREAD. */
void gh_prstatus_append(struct gh_buffer *out, const struct gh_arch *arch,
			const struct gh_thread *thread);

/* Appends an NT_PRPSINFO note. */
void gh_prpsinfo_append(struct gh_buffer *out, const struct gh_arch *arch,
			const struct gh_core_process *process);

/* Appends an NT_AUXV note with the address of the program's entry point. */
void gh_auxv_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry);

/* Begins a note of TYPE, whose owner is NAME: what is appended from then on is what it says.
 * Returns where that begins, for gh_note_end. */
size_t gh_note_begin(struct gh_buffer *out, const char *name, uint32_t type);

void gh_note_end(struct gh_buffer *out, size_t start);

/* What the notes tell of a running process, PID: its name and ids. To be freed. */
struct gh_live_process {
	struct gh_core_process core;
	char name[32];       /* for core */
	char arguments[128]; /* likewise */
};

void gh_live_process_read(struct gh_live_process *process, int pid);

/* Appends an NT_PRSTATUS note for each thread of STOPPED, and what else the kernel tells of its
 * registers; the signals that they are about to be given, too. Adds their stack pointers to STACKS,
 * unless it is NULL. To be called by who stopped it. */
void gh_live_threads_append(struct gh_buffer *out, const struct gh_arch *arch,
			    const struct gh_stopped *stopped, const struct gh_core_process *process,
			    struct gh_memory_parts *stacks);

/* What a core file of a running process has of its memory. */

struct gh_core_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t dumped; /* what is before this is in the file; START if nothing is */
	uint64_t offset; /* of START in the file that is mapped, in bytes */
	bool all_pages;  /* those that are not in memory, too: a file has them */
	bool is_own;     /* no file has it, and no other process: only this one writes it */
	char access[5];  /* as struct gh_mapping has it */
	char *name;      /* of the file that is mapped; NULL for none; owned */
};

/* By address. */
struct gh_core_mappings GH_VECTOR(struct gh_core_mapping);

/* Lists those of the process PID, with what the kernel's own core file would have of them by
 * /proc/PID/coredump_filter, but nothing that only is reserved; and, unless it is NULL, of memory
 * that is no file's only what has some of ONLY, is small, or follows a file's as its variables do.
 * False, and errno set, if they cannot be listed. In any case to be freed. Source: vma_dump_size in
 * the kernel's fs/coredump.c.
 */
bool gh_core_mappings_list(struct gh_core_mappings *mappings, int pid,
			   const struct gh_memory_parts *only);

void gh_core_mappings_free(struct gh_core_mappings *mappings);

/* Appends an NT_FILE note. Source: fill_files_note in the kernel's fs/binfmt_elf.c. */
void gh_files_append(struct gh_buffer *out, const struct gh_arch *arch,
		     const struct gh_core_mappings *mappings);

/* The memory of a running process, copied into a file.
 *
 * It is copied while the process runs, as often as it takes until little of it changes from one
 * copy to the next; then the process is stopped, and copied once more. What the file has already is
 * not written again, as its hash tells: so the process stands only while its memory is read. To
 * read it takes a fraction of what it takes to write it where the memory of the file, or of a copy,
 * has to be found first (0.4 s to 0.5 to 4 s for 1 GB, on a busy machine); and what has changed is
 * kept in memory until the process goes on, as a write to a file may have to wait for a disk.
 * Where the kernel tells which pages were written, no others of the process's own are read. It does
 * not tell of what devices write by themselves into memory that they were given before, as for
 * io_uring's registered buffers: that may be as old as the last copy but one.
 *
 * Interfaces: process_vm_readv(2); /proc/PID/mem, pagemap and clear_refs, proc(5) and
 * admin-guide/mm/soft-dirty.rst of the kernel. */
/* Memory some of which the file has. */
struct gh_live_chunk {
	uint64_t start;              /* address; a multiple of the size of chunks */
	uint64_t offset;             /* in the file, in bytes */
	uint64_t read;               /* units that the last copy has read, by bits */
	struct gh_live_hash *hashes; /* of what the file has of each unit; 0 for zeros; owned */
};
struct gh_live_chunks GH_VECTOR(struct gh_live_chunk);
struct gh_live_copiers;

struct gh_live_pages {
	int pid;
	int fd;           /* of the file; not owned */
	const char *path; /* its name, for errors; not owned */
	int pagemap;      /* -1 if it cannot be read: then each page may be in use */
	int memory;
	bool stopped; /* the process is */
	bool tracked; /* the kernel keeps what was written since before the last copy */
	const struct gh_core_mappings *mappings; /* that are copied; not owned */
	struct gh_live_chunks chunks;            /* by address; owned */
	struct gh_live_copiers *copiers;         /* owned */
	uint64_t changed;                        /* bytes that the last copy had to write */
	uint64_t end;                            /* where the memory ends in the file */
};

/* Prepares for copies of the memory of the process PID into the file FD from byte START on, a
 * multiple of the largest page. False (ERR filled) if the memory may not be read. In any case to be
 * freed. */
bool gh_live_pages_open(struct gh_live_pages *pages, int pid, int fd, const char *path,
			uint64_t start, struct gh_error *err);

/* Copies what has changed of MAPPINGS since the last copy. False (ERR filled) if the file cannot be
 * written, or memory ran out. */
bool gh_live_pages_copy(struct gh_live_pages *pages, const struct gh_core_mappings *mappings,
			struct gh_error *err);

/* Prepares for the last copy, while the process is stopped: what has changed is kept in memory,
 * half of what is free at most. */
void gh_live_pages_expect_stop(struct gh_live_pages *pages);

/* Writes what was kept. False (ERR filled) if it cannot be written. */
bool gh_live_pages_write_kept(struct gh_live_pages *pages, struct gh_error *err);

/* Finds where in the file the memory from ADDRESS on is, up to before END: puts that into *OFFSET,
 * or 0 if the file does not have it. Returns the address up to which that is so. */
uint64_t gh_live_pages_find(const struct gh_live_pages *pages, uint64_t address, uint64_t end,
			    uint64_t *offset);

void gh_live_pages_free(struct gh_live_pages *pages);

#endif
