/* What the files of this room share: the session, registers, stacks that move, C code's callers,
 * the cache's eviction, and what GDB debugs. */
#ifndef GH_PLUGIN_GDB_INTERNAL_H
#define GH_PLUGIN_GDB_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/code/code.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/vector.h"
#include "plugin/gdb/gdb.h"

/* Who has the session. */

struct gh_session {
	char *path;    /* of the directory; owned, NULL while there is no session */
	int pid;       /* of the process that made it */
	bool in_place; /* GH_SESSION_FD is the directory */
};

/* Makes the directory (mode 0700, below $XDG_RUNTIME_DIR, $TMPDIR or /tmp), opens it close-on-exec
 * at GH_SESSION_FD, and puts its path and PROGRAM's into the environment. Directories that killed
 * GDBs of the same user left behind are removed. On failure returns a static text that says why,
 * and nothing is left behind; NULL on success. */
const char *gh_session_open(struct gh_session *session, const char *program);

/* Removes the directory and the variables. Does nothing if there is no session or the calling
 * process did not make it. */
void gh_session_close(struct gh_session *session);

/* Name of the directory, up to the number of GDB's process, by which a goheap.gdb that was read
 * says so. */
#define GH_READ_MARK "goheap-read."

/* Has GDB, whose process this is, read the goheap.gdb in DIRECTORY, where goheap.so is. GDB is
 * asked through its Python; if it has none, prints the command that is to be typed, unless GDB has
 * read a goheap.gdb before. */
void gh_script_read(const char *directory);

/* Registers and memory as a JIT reader is given them. */

struct gdb_unwind_callbacks;

/* The size and order of the target's words. */
struct gh_word_format {
	uint8_t size; /* in bytes: 4 or 8 */
	bool big_endian;
};

/* Number of WORDS.size bytes at BYTES. */
uint64_t gh_word(const unsigned char *bytes, struct gh_word_format words);

/* The register with this DWARF number. False if it is unknown, or of another size than WORDS': GDB
 * has another machine's program. GDB aborts where it is asked for a register that the machine does
 * not have. */
bool gh_register_get(struct gdb_unwind_callbacks *callbacks, int dwarf_number,
		     struct gh_word_format words, uint64_t *value);

/* Tells GDB that the register has VALUE in the caller. */
void gh_register_set(struct gdb_unwind_callbacks *callbacks, int dwarf_number,
		     struct gh_word_format words, uint64_t value);

/* Reads the word at ADDRESS. False if that cannot be read. */
bool gh_word_read(struct gdb_unwind_callbacks *callbacks, uint64_t address,
		  struct gh_word_format words, uint64_t *value);

/* The program that the session has seen, as goheap.so opens it. */

/* Zero it before the first use. */
struct gh_seen_program {
	char *identity; /* the session's state when the program was opened; owned, NULL if none is
			 */
	bool opened;    /* the program could be opened */
	struct gh_image image;
	struct gh_pclntab tab;
	bool has_flags; /* its functions have flags */
};

/* Reads up to SIZE bytes of the file NAME in the session's directory. Returns how many there were.
 */
size_t gh_session_read(const char *name, void *data, size_t size);

/* Opens the program, unless it is open already. False if it cannot be. */
bool gh_seen_program_open(struct gh_seen_program *program);

/* The words of PROGRAM, which is open. */
struct gh_word_format gh_seen_program_words(const struct gh_seen_program *program);

void gh_seen_program_close(struct gh_seen_program *program);

/* The frames of a goroutine that is stepped through, if its stack is moved meanwhile.
 *
 * GDB knows a frame by its canonical frame address (CFA), and would take those on a stack that has
 * grown or shrunk for others: where it waits for a function to return it would wait for ever. So
 * until it stops, frames that were there when it began have the CFAs that they had then. */

/* The file in the session's directory in which goheap.gdb tells what is stepped through, in the
 * target's words: the address of the goroutine's runtime.g, one past its stack, SP, and the address
 * of runtime.text. It has another size while nothing is. */
#define GH_SESSION_STEP "step"

struct gdb_unwind_callbacks;

/* The goroutine, when the step began. */
struct gh_moved_stack {
	uint64_t goroutine;  /* address of the runtime.g; 0 if nothing is stepped through */
	uint64_t stack_high; /* one past its stack */
	uint64_t sp;
	uint64_t bias; /* of the process's addresses over the program file's */
};

/* A frame of the goroutine, in addresses of the process as it is now. */
struct gh_moved_frame {
	uint64_t entry;   /* of its function */
	uint64_t old_cfa; /* what its CFA was before the stack was moved */
	uint64_t caller_sp;
	uint64_t caller_pc;
};

/* The frame that GDB asks about. False if it is none of a stack that was moved. */
bool gh_moved_frame(struct gh_moved_stack *stack, struct gh_seen_program *program,
		    struct gdb_unwind_callbacks *callbacks, struct gh_moved_frame *frame);

/* C code without unwind information, as musl's: where Go called it.
 *
 * GDB takes the word at SP for the return address there, and its backtrace ends. The C part of the
 * stack is searched for the return address of runtime.asmcgocall instead, where what that saved
 * leads to a goroutine's stack. The C functions in between are not shown. */

/* The executable code of a program or library in the process. */
struct gh_code_object {
	uint64_t start;
	uint64_t end;
	bool is_program;
	bool declined;              /* it has unwind information, or nothing is known of it */
	struct gh_eh_ranges ranges; /* the code that has, else */
};

/* Zero it before the first use. */
struct gh_c_stack {
	char *identity;              /* of the program that this is of; owned */
	struct gh_switches switches; /* its calls of C, once they were searched for */
	bool searched;
	struct GH_VECTOR(struct gh_code_object) objects;
};

/* The caller in Go of the C code that GDB asks about. False if that has unwind information, or Go
 * did not call it: on amd64 only. */
struct gh_c_caller {
	uint64_t object; /* address of the program or library that the C code is in */
	uint64_t sp;
	uint64_t pc;
};
bool gh_c_stack_caller(struct gh_c_stack *stack, struct gh_seen_program *program,
		       struct gdb_unwind_callbacks *callbacks, struct gh_c_caller *caller);

void gh_c_stack_free(struct gh_c_stack *stack);

/* The shared libraries that a program needs by name, and those that they need. */

struct gh_needed GH_VECTOR(char *); /* their paths, each owned */

/* Finds those of PROGRAM, as ld.so(8) would with this LIBRARY_PATH, which may be NULL. What cannot
 * be found is left out. To be freed with gh_needed_free. */
void gh_needed_find(struct gh_needed *needed, const char *program, const char *library_path);

void gh_needed_free(struct gh_needed *needed);

/* Where debuggers look for debug files by build id, below a directory for such files. */
#define GH_CACHE_LINKS ".build-id"

/* Has debuggers that look for debug files in DIRECTORY find that at PATH, which is there, by
 * BUILD_ID, in lower-case hexadecimal. False, and errno set, if they will not. */
bool gh_cache_link(const char *directory, const char *build_id, const char *path);

/* DIRECTORY may have such debug files. */
bool gh_cache_has_links(const char *directory);

/* Eviction from the cache of debug files: what has not been used for long goes. */

/* Removes from the cache DIRECTORY the debug files and links that were neither written nor read for
 * 30 days, and what finds those that are gone by their build ids. */
void gh_cache_clean(const char *directory);

/* What GDB debugs, as it is described in the session's directory: see GH_SESSION_PROCESS. */

struct gh_described {
	uint64_t entry; /* of the program, where it is loaded */
	int pid;        /* of a process of this machine, with its clock; 0 for others */
	bool selected;  /* the first thread is the one selected in GDB */
	const struct gh_gregset *registers; /* of its machine; NULL if it is not known */
	struct gh_thread_registers threads;
	struct gh_mapped_files libraries; /* Go's and others */
	struct gh_writable writable;
};

/* Reads the description in DIRECTORY of a process on ARCH; if that is NULL, registers are in no
 * order, and the libraries are those that GDB has listed, without the program. False, after an
 * error, if that cannot be. To be freed with gh_described_free if it is true. */
bool gh_described_read(struct gh_described *process, int directory, const struct gh_arch *arch);

void gh_described_free(struct gh_described *process);

#endif
