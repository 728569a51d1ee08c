/* The part of goheap that works with GDB. Three work together through the session, a directory:
 * goheap.so, which GDB loads; goheap.gdb, GDB's hooks and commands, which goheap.so has GDB read;
 * and the goheap program, which these run. Here are the session, the scripts that it has GDB run,
 * the cache of debug files, programs that only the target has, and the memory of what GDB debugs.
 *
 * - reader.c, registers.c, frames.c, moved_stack.c, c_stack.c, seen_program.c: goheap.so, which GDB
 *   loads and unwinds by, from single words of the target;
 * - memory_server.c: goheap.so handing out the target's memory; memory_client.c: the program's end
 *   of that, which lib/process/memory.c asks for blocks of GH_PROCESS_BLOCK;
 * - read_script.c: goheap.so having GDB read goheap.gdb;
 * - session.c, script.c, words.c, session_frame.c, session_value.c, piped_text.c, info_files.c,
 *   told.c: what GDB and goheap tell each other, some of it in told.h;
 * - cache.c, cache_clean.c: debug files that were made before;
 * - go_libraries.c, needed.c: Go libraries in programs of other languages;
 * - missing_file.c, remote_file.c, fetch_limit.c: programs that only the target has;
 * - wrong_program.c: those that GDB has of another build;
 * - goroutine_source.c, described.c: goroutines of what GDB debugs, or others; why it crashed;
 * - thread_names.c, frames_write.c: a dump's goroutines as threads. */
#ifndef GH_PLUGIN_GDB_GDB_H
#define GH_PLUGIN_GDB_GDB_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/debugfile/debugfile.h"
#include "lib/dump/dump.h"
#include "lib/elf/elf.h"
#include "lib/process/goroutine.h"
#include "plugin/gdb/told.h"
#include "plugin/view/view.h"

/* The session: the private directory of one GDB process, through which goheap.so, goheap.gdb and
 * the goheap program work together. */

/* The descriptor that holds the directory open in GDB; goheap.gdb names it too. It is far above
 * those that GDB comes to use and below the usual limit of 1024. */
#define GH_SESSION_FD 1000

/* The path by which GDB has files there, which it opens itself. */
#define GH_SESSION_PATH "/proc/self/fd/1000/"

/* The variables in GDB's environment, which only programs that GDB starts with `shell' and `pipe'
 * see: the directory's path, and the path of the goheap program. */
#define GH_SESSION_VARIABLE "GOHEAP_SESSION"
#define GH_PROGRAM_VARIABLE "GOHEAP_PROGRAM"

/* What `goheap load' leaves in the directory for as long as GDB has its core file open. */
#define GH_SESSION_CORE   "dump.core"   /* the core file */
#define GH_SESSION_FRAMES "dump.frames" /* its callers, or those of the goroutine chosen */
#define GH_SESSION_DEBUG  "dump.debug"  /* symbols, with the variables of its frames */
#define GH_SESSION_DUMP   "dump"        /* a link to the heap dump */
/* Links to the program that wrote it, if that is known, and to what that was before it was
 * stripped, if that is given. */
#define GH_SESSION_WRITER "dump.program"
#define GH_SESSION_NAMES  "dump.names"
/* The names of its threads, and the commands that give them to GDB's. */
#define GH_SESSION_THREADS "dump.threads"
#define GH_SESSION_NAMING  "dump.threads.gdb"

/* The words of the goheap command that GDB runs, as they were typed, each with a NUL after it. */
#define GH_SESSION_WORDS "words"

/* The value of the expression that a command was typed with, as GDB wrote it, and its Go type. */
#define GH_SESSION_VALUE "value"
#define GH_SESSION_TYPE  "value.type"

struct gh_session_value {
	char *bytes; /* "=" and its bytes in hexadecimal, or an argument's name; owned */
	char *type;  /* owned */
	char *part;  /* of the value that is asked for, behind the type; "": all of it */
};

/* Writes both into the session's DIRECTORY. False after printing an error. */
bool gh_session_type_write(const char *directory, const char *type, const char *part);

/* Reads both; of ARG, if not NULL, the type alone. False after an error; always to be freed. */
bool gh_session_value_read(struct gh_session_value *value, const char *directory, const char *arg);
void gh_session_value_free(struct gh_session_value *value);

/* The socket of the process that keeps the heap from one command to the next. */
#define GH_SESSION_KEEPER "keeper"

/* What `goheap session' has seen: the program's identity, a space and its path, and the debug file
 * that was found for it, "" if none is to be. Both end with a NUL. */
#define GH_SESSION_STATE "state"

/* The identities of the core file whose crash, and of what is wrong with which, has been told. */
#define GH_SESSION_CRASH "crash"
#define GH_SESSION_FIRST "first"

/* What is there when the program's own file is out of GDB's reach. */
#define GH_SESSION_PROGRAM  "program"  /* a copy of it */
#define GH_SESSION_SECTIONS "sections" /* the same of one without section headers, with them */
#define GH_SESSION_ORIGIN   "origin"   /* why there is a copy, as a text */
#define GH_SESSION_FETCHED  "fetched"  /* what GDB has got from a remote target */

/* The session's boot.gdb: the script by which the goheap program has GDB do something. */

/* Begins a new script in the session's DIRECTORY; GDB may be running the one that is there. On
 * failure prints the error and returns NULL. To be ended with gh_script_commit. */
FILE *gh_script_open(const char *directory);

/* Puts SCRIPT in place. On failure prints the error and returns false. */
bool gh_script_commit(FILE *script, const char *directory);

/* Has GDB print a line of TEXT, a format as printf's, which is fit for a terminal. */
void gh_script_say(FILE *script, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Has goheap.gdb take GDB's program for one that goheap has seen (STATE "fresh"), or has yet to
 * look at before the next command that needs symbols ("stale"). */
void gh_script_note_program(FILE *script, const char *state);

/* Has GDB run COMMAND with the name FILE, which holds no newline, as its argument. */
void gh_script_file(FILE *script, const char *command, const char *file);

/* Has GDB show (...) for arguments in backtraces: of what outer frames were called with nothing is
 * known. */
#define GH_SCRIPT_PRESENCE "set print frame-arguments presence\n"

/* The same, unless the user has chosen something else than GDB has by itself. */
void gh_script_presence(FILE *script);

/* Has GDB take its symbols, a Go program's, from FILE in place of those it has. */
void gh_script_symbols(FILE *script, const char *file);

/* Has GDB print what is wrong with what it has, if a person uses it: there is a file TERMINAL. */
#define GH_SESSION_TERMINAL "terminal"
void gh_script_first(FILE *script, const char *directory);

/* Has GDB print by COMMAND into `goheap ARGUMENTS' and run the script that this writes. */
void gh_script_go_on(FILE *script, const char *command, const char *arguments);

/* What goes before a command, to have GDB run it without the hooks of goheap's: goheap.gdb tells of
 * it. */
#define GH_SCRIPT_UNHOOKED "with history remove-duplicates " GH_SCRIPT_HELD " -- "

/* The value of that setting. */
#define GH_SCRIPT_HELD "19937"

/* The words of a goheap command that was typed in GDB. goheap.gdb hands them over one by one, as
 * they were typed, and they stay in the session's directory until the next command; no shell sees
 * them.
 */

struct gh_words {
	char *data;  /* what the words are in; owned */
	size_t size; /* of it, in bytes */
	char *
	    *typed; /* the words as they were typed, with their quotes, then NULL; owned, in data */
	char **args; /* the same without quotes, then NULL; owned, each of them too */
	int count;   /* of the words */
};

/* Reads from IN what GDB's `show' prints of the setting that holds a word, and adds the word to
 * those in the session's DIRECTORY. Returns how many there are; -1 after printing an error. */
int gh_words_append(const char *directory, FILE *in);

/* Reads the words in the session's DIRECTORY. Quotes and backslashes are taken away as
 * gdb_buildargv does, and a ~ at the start is replaced by a home directory, as GDB does with file
 * names. On failure prints the error and returns false, and there is nothing to free. */
bool gh_words_read(struct gh_words *words, const char *directory);

void gh_words_free(struct gh_words *words);

/* WORD without quotes and backslashes, and with a home directory in place of ~; to be freed. NULL
 * if it ends within quotes or after a backslash: *MISSING then says what would have to follow; or
 * if memory ran out: that is NULL. */
char *gh_words_unquote(const char *word, const char **missing);

/* What GDB prints into a pipe, as a person would see it. Under MI some releases, 18.1 for one, send
 * there what they would send to the front end: records, with what is printed as C strings behind a
 * "~". (GDB/MI Output Syntax in GDB's manual.) */

/* Reads IN to its end or a NUL: the text, to be freed, which may be empty. NULL if memory ran out.
 */
char *gh_piped_text_read(FILE *in);

/* Replaces in TEXT the records by what they print. Other lines stay. */
void gh_piped_text_decode(char *text);

/* The cache of debug files (lib/util/cache_directory.h): a program that was seen once gets its
 * symbols back at once. */

/* The path of the debug file of the Go program IMAGE for DEBUGGER, GH_FOR_GDB or GH_FOR_ANY, in the
 * cache DIRECTORY, where it is written unless it is there and whole. Its name has a cryptographic
 * hash of all that it is made from, since build ids can be copied, and what tells this goheap from
 * others; after its end it has a checksum of itself. What was not used for long is removed when one
 * is written. To be freed; NULL if it can be neither found nor written. */
char *gh_cache_get(const char *directory, const struct gh_image *image, enum gh_debugger debugger);

/* The path by which debuggers that look for debug files in DIRECTORY find that of BUILD_ID, in
 * lower-case hexadecimal. The directories are made. False, and errno set, if they cannot be. */
bool gh_build_id_path(char path[PATH_MAX], const char *directory, const char *build_id);

/* Go libraries in programs of other languages. */

struct gh_library_look {
	FILE *script;               /* for GDB to run */
	const char *session;        /* its directory, canonical */
	const char *cache;          /* where debug files are kept; may be the same */
	const struct gh_told *told; /* by GDB */
};

/* Has GDB find the debug files of stripped Go libraries: those that the program names as needed,
 * and those that are loaded. It is said in a line for each, once. True if there is one. */
bool gh_library_look(const struct gh_library_look *look);

/* A library that GDB is just loading. */
struct gh_library_loading {
	const char *path;     /* of its file, as GDB has it */
	const char *build_id; /* lower-case hexadecimal, "" if it has none */
	const char *debug;    /* the debug file that GDB has found for it; NULL if it has not */
};

/* The debug file that GDB is to read for LOADING, a stripped Go library, to be freed; NULL if there
 * is none, or GDB has it. LOOK's script gets only what is said; GDB has told of the process. */
char *gh_library_load(const struct gh_library_look *look, const struct gh_library_loading *loading);

/* Adds to LIBRARIES the libraries of what GDB debugs; they can be among other files. */
void gh_library_list(struct gh_mapped_files *libraries, const struct gh_infofiles *files);

/* Symbols where GDB has no file of the program that it can read: the file is deleted, in another
 * mount namespace or on another machine, or there is but a core file. */

struct gh_missing_file {
	FILE *script;          /* for GDB to run */
	const char *directory; /* of the session, canonical */
	bool drop;             /* GDB has a program, which it is to drop for one in memory */
};

/* GDB has no program file, or one that is there for the process only, or the copy of another's, or
 * one without section headers: looks for the Go program of the process or core file that FILES
 * tells of, and has GDB take it. What there is to say is said in one line; nothing is done a second
 * time. */
void gh_missing_file_look(const struct gh_missing_file *job, const struct gh_infofiles *files);

/* Notes that the process or core file that FILES tells of needs no look. */
void gh_missing_file_note(const struct gh_missing_file *job, const struct gh_infofiles *files);

/* GDB needs gh_missing_file_look for FILES. */
bool gh_missing_file_needed(const char *directory, const struct gh_infofiles *files);

/* Has GDB take NAME, a copy of a Go program in the session, for its program; ORIGIN says why. */
void gh_missing_file_take(const struct gh_missing_file *job, const char *name, const char *origin);

/* Has GDB take the symbols of the Go program that is LOADED in MEMORY. NAME is what tells the debug
 * file from others of the session. False (ERR filled) if there is none. */
bool gh_missing_file_take_memory(const struct gh_missing_file *job, const struct gh_loaded *loaded,
				 const struct gh_memory *memory, const char *name,
				 const char *origin, struct gh_error *err);

/* Has FILES name the program that was made again from memory, if GDB has none. DIRECTORY is the
 * session's. */
void gh_missing_file_made(const char *directory, struct gh_infofiles *files);

/* The file PATH has a pclntab that can be read. The notes that gh_file_is_go goes by do not tell
 * that of what was made again from memory. */
bool gh_missing_file_is_go(const char *path);

/* IDENTITY is what was last looked into; if not, notes that it is from now on. */
bool gh_missing_file_seen(const char *directory, const char *identity);

/* Puts the path of the session's file NAME into BUF, which it returns. */
char *gh_missing_file_path(char buf[PATH_MAX], const char *directory, const char *name);

/* Limits of time for reading a program from a target, which may be slow or hostile. */

struct gh_fetch_limit {
	uint64_t start; /* by gh_now */
	bool asked;     /* the user has asked for it, and waits as long as it takes */
};

/* It begins now. */
void gh_fetch_begin(struct gh_fetch_limit *limit, bool asked);

/* Whether to go on after DONE bytes of TOTAL, by how fast they came. */
bool gh_fetch_goes_on(const struct gh_fetch_limit *limit, uint64_t done, uint64_t total);

/* The program's file on a remote target, read by packets of the protocol that GDB is told to send
 * (vFile:open, vFile:pread). GDB's own `remote get' asks for more until the target says that there
 * is no more, writes all of that, and cannot be interrupted; between packets GDB can be. The
 * packets are specified in GDB's manual, "Host I/O Packets".
 *
 * Each step reads what GDB prints of the packets' answers, and writes the script of those that are
 * to be sent next; what is known meanwhile is in the session's directory. */

/* The script of packets, in the session's directory. */
#define GH_SESSION_PACKETS "packets.gdb"

enum gh_remote {
	GH_REMOTE_MORE,      /* the script is to be run */
	GH_REMOTE_WHOLE,     /* the file is in the session, as GH_SESSION_FETCHED */
	GH_REMOTE_NONE,      /* the target has no such file, or does not give it */
	GH_REMOTE_TOO_LARGE, /* by its headers */
	GH_REMOTE_TOO_SLOW
};

struct gh_remote_progress {
	uint64_t size; /* of the file in bytes, as far as it is known */
	long passed;   /* since the beginning, in ms */
};

/* Begins to read the file PATH; DIRECTORY is the session's. False if the script cannot be written.
 */
bool gh_remote_open(const char *directory, const char *path);

/* Goes on with TEXT, which GDB has printed of the answers, and tells the PROGRESS. After
 * GH_REMOTE_MORE the script is that of the next packets; after all others it closes the file. */
enum gh_remote gh_remote_step(const char *directory, const char *text,
			      struct gh_remote_progress *progress);

/* The memory of what GDB debugs, for the goheap program to read: only GDB can read every target's,
 * and only while it asks a JIT reader about a frame. */

struct gdb_unwind_callbacks;

/* A socket in the session's directory, and the file by whose presence GDB's scripts tell that a
 * program is about to connect to it. */
#define GH_SESSION_MEMORY "memory"
#define GH_SESSION_WANTED "memory.wanted"

/* What is asked for over the connection. It is answered by a byte, 1 if all of it could be read,
 * then followed by the bytes, else 0. Before the first request there comes a byte, too. */
struct gh_serve_request {
	uint64_t address;
	uint64_t size; /* in bytes; at most GH_PROCESS_BLOCK */
};

/* Makes the socket in the session's directory, which is open at GH_SESSION_FD. On failure there is
 * none. */
void gh_serve_open(void);

/* Where a program is about to connect, answers its requests until it closes the connection. */
void gh_serve(struct gdb_unwind_callbacks *callbacks);

/* The goheap program's end of the connection by which goheap.so serves the memory of what GDB
 * debugs. */

/* Connects to the socket in DIRECTORY, the session's, and waits until GDB serves. GDB prints into
 * standard input what it does meanwhile: if that ends first, it does not come to serve. Returns the
 * descriptor, to be closed; -1 if GDB does not serve. */
int gh_memory_connect(int directory);

/* Has this process stay connected until it ends, for what connects next, too. */
void gh_memory_keep(void);

/* Reads SIZE bytes, at most GH_PROCESS_BLOCK, at ADDRESS into BUF over the connection FD. False if
 * they are not all there, or if standard input ends first: GDB serves no more. */
bool gh_memory_fetch(int fd, uint64_t address, void *buf, size_t size);

/* Goroutines to be listed: of a heap dump, of a core file, or of what GDB debugs. */

/* What goheap.gdb leaves in the session's directory of what GDB debugs, in lines of text: "entry
 * ADDRESS" of the program, "native" if it is a process of this machine, "library ADDRESS PATH" for
 * each file that is mapped with code, the auxiliary vector as `info auxv' prints it, by which the
 * entry point is known for sure, mappings as `info proc mappings' does, and "thread" and registers
 * as `info registers' does, pc and sp first, of the selected thread, then of all. */
#define GH_SESSION_PROCESS "process"

/* And a link to its program. */
#define GH_SESSION_RUN "process.program"

struct gh_snapshot {
	struct gh_dump dump;
	struct gh_buffer bytes;       /* of the dump, if it was made from memory; owned */
	struct gh_registers selected; /* of GDB's selected thread; zeros if there is none */
	bool (*look)(struct gh_process *process,
		     void *context); /* it is all that is done; or NULL */
	/* Looks at the list of goroutines, while the process can be read; or NULL. */
	bool (*show)(struct gh_snapshot *snapshot, struct gh_process *process, void *context);
	void *context;        /* for LOOK, or SHOW */
	bool looks_for_crash; /* CRASH was asked for */
	bool with_heap, gzip; /* the heap was asked for; its dump is compressed */
	unsigned how;         /* the heap is read, or-ed: GH_HEAP_WITH_... */
	const char *output;   /* where its dump is to be written, and not opened; or NULL */
	struct gh_crash crash;
};

/* Opens the goroutines of the heap dump or core file at PATH; or, if PATH is the session's socket,
 * of GDB's process or core file. The last two run the program at PROGRAM. On failure prints the
 * error and returns false. To be closed with gh_snapshot_close. */
bool gh_snapshot_open(struct gh_snapshot *snapshot, const char *path, const char *program);

/* The same of the running process of this number; PROGRAM, if not NULL, is what it runs. */
bool gh_snapshot_open_process(struct gh_snapshot *snapshot, const char *process,
			      const char *program);

/* The same, and SHOW shows it, with CONTEXT, while the process can be read, which SHOW's second
 * argument is. False, too, if SHOW gives that. */
bool gh_snapshot_show(struct gh_snapshot *snapshot, const char *path, const char *program,
		      bool (*show)(struct gh_snapshot *snapshot, struct gh_process *process,
				   void *context),
		      void *context);

/* The same; of a core file or GDB's process, also what it crashes of. */
bool gh_snapshot_open_crash(struct gh_snapshot *snapshot, const char *path, const char *program);

void gh_snapshot_close(struct gh_snapshot *snapshot);

/* Has LOOK look, with CONTEXT, at the process that the heap dump or core file at PATH is of; that
 * GDB debugs, if PATH is the session's socket; that has the number PROCESS, if that is not NULL.
 * It runs PROGRAM, NULL only of the last. Returns as LOOK does, or false after printing an error.
 */
bool gh_process_look(const char *path, const char *process, const char *program,
		     bool (*look)(struct gh_process *process, void *context), void *context);

/* PATH is the session's socket. */
bool gh_is_debugged(const char *path);

/* Adds to MODULES those of GDB's process or core file, which runs PROGRAM; SOCKET is the session's.
 */
void gh_debugged_modules(struct gh_modules *modules, const char *socket, const char *program);

/* Opens the heap of GDB's process or core file, which runs PROGRAM, as a heap dump, to be closed
 * with gh_dump_close; SOCKET is the session's, HOW as gh_heap_open has it, of C's memory. On
 * failure prints the error and returns false. */
bool gh_debugged_heap_open(struct gh_dump *dump, const char *socket, const char *program,
			   unsigned how);

/* The same, written to the new file OUTPUT, compressed if GZIP says so. */
bool gh_debugged_heap_write(const char *output, const char *socket, const char *program, bool gzip,
			    unsigned how);

/* Looks for what the process of the core file at PATH, which ran PROGRAM, crashed of, as
 * gh_crash_find does. False, without a word, if that cannot be told. To be freed with
 * gh_crash_free in either case. */
bool gh_core_crash(struct gh_crash *crash, const char *path, const struct gh_program *program);

/* The session's dump.frames: for each stack frame of the heap dump that GDB has open, its caller.
 * `goheap load' writes it, and goheap.so unwinds by it. */

/* How the file begins; the rows follow. Numbers are in this machine's order: a file is for one
 * session. */
struct gh_frames_header {
	uint64_t count;       /* of rows */
	uint64_t marker_sp;   /* of the frame that a goroutine's stack is shown below; 0 if none */
	uint8_t pointer_size; /* in bytes */
	uint8_t dwarf_sp;     /* DWARF number of the stack pointer */
	uint8_t dwarf_pc;     /* DWARF number that GDB has for the pc */
	bool big_endian;
	uint8_t dwarf_lr; /* DWARF number of the link register, by which the return address is a
			     frame's lowest word; 0 if there is none: then it is the highest */
	uint8_t zero[3];
};

/* A frame, in the addresses of the dumped process. */
struct gh_frames_row {
	uint64_t sp;
	uint64_t pc; /* as GDB has it: of a top frame, at the call */
	uint64_t caller_sp;
	uint64_t caller_pc; /* likewise: a return address, or past an interrupted instruction or a
			       function's entry */
	uint64_t return_address; /* as memory has it */
	uint64_t entry;          /* of its function; 0 if unknown */
};

/* Writes the callers of DUMP's frames to PATH: whole or not at all. A stack's last frame has none.
 * False, and ERR filled, if it cannot be written. Where GDB knows no DWARF number for the machine's
 * pc there can be no such file: then none is written, and that is no error. */
bool gh_frames_write(const struct gh_dump *dump, const char *path, struct gh_error *err);

/* The same for goroutine NUMBER alone, which has a stack, below the frame at SP and PC: a thread's
 * top frame that has nothing to do with it. False where there can be no such file, too. */
bool gh_frames_write_below(const struct gh_dump *dump, size_t number, uint64_t sp, uint64_t pc,
			   const char *path, struct gh_error *err);

/* The file, mapped. Zero it before the first use. */
struct gh_frames {
	const struct gh_frames_header *header; /* NULL if there is none */
	const struct gh_frames_row *rows;      /* by sp, then pc */
	size_t size;                           /* of the mapping, in bytes */
	struct stat file;                      /* what was mapped */
};

/* Has FRAMES be what is at PATH now. */
void gh_frames_refresh(struct gh_frames *frames, const char *path);

/* A frame at SP is there. */
bool gh_frames_has_sp(const struct gh_frames *frames, uint64_t sp);

/* The frame at SP and PC; NULL if it is not there. */
const struct gh_frames_row *gh_frames_find(const struct gh_frames *frames, uint64_t sp,
					   uint64_t pc);

void gh_frames_free(struct gh_frames *frames);

/* The names of a heap dump's threads in GDB: why their goroutines wait, and for how long. */

/* Writes the names of DUMP's threads into the session's DIRECTORY. False after saying why. */
bool gh_threadnames_write(const char *directory, const struct gh_dump *dump);

/* Has GDB, which has that core file, give them to its threads. */
void gh_threadnames_apply(FILE *script);

#endif
