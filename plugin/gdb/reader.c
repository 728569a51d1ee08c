/* goheap.so: the JIT reader that GDB loads. It owns the session; the symbols themselves come from a
 * debug file, which `goheap session' writes and goheap.gdb has GDB read. */
#include <gdb/jit-reader.h>

#include <dlfcn.h>
#include <paths.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/gdb/gdb.h"
#include "plugin/gdb/internal.h"

GDB_DECLARE_GPL_COMPATIBLE_READER;

static struct gh_session session;
static struct gh_frames frames; /* of the heap dump that is loaded, or the goroutine chosen */
static struct gh_seen_program program;
static struct gh_moved_stack moved;
static struct gh_c_stack c_stack;
static char *frames_path; /* NULL while there is no session */

/* GDB registers code of the program's own just-in-time compilers here as well. Once declined, it
 * is tried as an ELF file in memory, which is what that code usually is. */
static enum gdb_status read_debug_info(struct gdb_reader_funcs *self,
				       struct gdb_symbol_callbacks *callbacks, void *memory,
				       long size)
{
	(void)self;
	(void)callbacks;
	(void)memory;
	(void)size;
	return GDB_FAIL;
}

/* Words as in the loaded dump. */
static struct gh_word_format frame_words(void)
{
	return (struct gh_word_format){.size = frames.header->pointer_size,
				       .big_endian = frames.header->big_endian};
}

/* The frame that GDB asks about, if the loaded dump has it and its caller. GDB aborts where it is
 * asked for a register that the machine does not have, so the pc is asked for only when all else
 * says that this is the dump's machine. */
static const struct gh_frames_row *find_frame(struct gdb_unwind_callbacks *callbacks)
{
	uint64_t sp;
	uint64_t pc;
	if (frames.header == NULL ||
	    !gh_register_get(callbacks, frames.header->dwarf_sp, frame_words(), &sp) ||
	    !gh_frames_has_sp(&frames, sp) ||
	    !gh_register_get(callbacks, frames.header->dwarf_pc, frame_words(), &pc))
		return NULL;
	return gh_frames_find(&frames, sp, pc);
}

/* ROW is of the frame that a goroutine's stack is shown below. */
static bool is_marker(const struct gh_frames_row *row)
{
	return row->sp == frames.header->marker_sp;
}

/* Where memory has another return address, this is another process. What the dump does not have of
 * a stack cannot be read. */
static bool is_called_so(struct gdb_unwind_callbacks *callbacks, const struct gh_frames_row *row)
{
	uint8_t size = frames.header->pointer_size;
	uint64_t found;
	if (is_marker(row) || row->caller_sp - row->sp < size)
		return true;
	uint64_t address = frames.header->dwarf_lr != 0 ? row->sp : row->caller_sp - size;
	return !gh_word_read(callbacks, address, frame_words(), &found) ||
	       found == row->return_address;
}

/* Unwinds a frame of a stack that was moved while its goroutine is stepped through, or of C code
 * that has no unwind information. */
static enum gdb_status unwind_program(struct gdb_unwind_callbacks *callbacks)
{
	struct gh_moved_frame frame;
	struct gh_c_caller caller;
	if (gh_moved_frame(&moved, &program, callbacks, &frame))
		caller = (struct gh_c_caller){.sp = frame.caller_sp, .pc = frame.caller_pc};
	else if (!gh_c_stack_caller(&c_stack, &program, callbacks, &caller))
		return GDB_FAIL;
	const struct gh_arch *arch = program.image.arch;
	struct gh_word_format words = gh_seen_program_words(&program);
	gh_register_set(callbacks, arch->dwarf_sp, words, caller.sp);
	gh_register_set(callbacks, arch->dwarf_pc, words, caller.pc);
	return GDB_SUCCESS;
}

/* Frames of a heap dump are unwound by what the dump says, and those of the goroutine that the user
 * has chosen by what its stack was seen to be: a debugger finds the same caller, but
 * would take it to have the registers of the frame that it called, and a goroutine that does not
 * run has none. Those that are not set here GDB knows to be unknown.
 *
 * All others but those of C code that has no unwind information are declined and go to GDB's own
 * unwinders: the debug file has unwind information for all Go functions, and a frame taken here
 * could not be the outermost. */
static enum gdb_status unwind(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *callbacks)
{
	(void)self;
	if (frames_path == NULL)
		return GDB_FAIL;
	gh_serve(callbacks);
	gh_frames_refresh(&frames, frames_path);
	const struct gh_frames_row *row = find_frame(callbacks);
	if (row == NULL)
		return unwind_program(callbacks);
	if (!is_called_so(callbacks, row))
		return GDB_FAIL;
	gh_register_set(callbacks, frames.header->dwarf_sp, frame_words(), row->caller_sp);
	gh_register_set(callbacks, frames.header->dwarf_pc, frame_words(), row->caller_pc);
	/* What GDB unwinds itself, a stack's last frame, may be by this, if it cannot read the code
	 * there: then nothing called it. */
	if (frames.header->dwarf_lr != 0)
		gh_register_set(callbacks, frames.header->dwarf_lr, frame_words(), 0);
	return GDB_SUCCESS;
}

/* Asked only for frames that unwind took. To DWARF the canonical frame address is the stack
 * pointer's value in the caller; GDB checks that it is no lower there than in what was called. That
 * of the frame that a goroutine's stack is shown below is not known: at 0 nothing can be read. */
static struct gdb_frame_id get_frame_id(struct gdb_reader_funcs *self,
					struct gdb_unwind_callbacks *callbacks)
{
	(void)self;
	const struct gh_frames_row *row = find_frame(callbacks);
	struct gh_moved_frame frame;
	if (row == NULL && gh_moved_frame(&moved, &program, callbacks, &frame))
		return (struct gdb_frame_id){.code_address = frame.entry,
					     .stack_address = frame.old_cfa};
	struct gh_c_caller caller;
	if (row == NULL && gh_c_stack_caller(&c_stack, &program, callbacks, &caller))
		return (struct gdb_frame_id){.code_address = caller.object,
					     .stack_address = caller.sp};
	if (row == NULL)
		return (struct gdb_frame_id){0};
	if (is_marker(row))
		return (struct gdb_frame_id){.code_address = row->pc};
	return (struct gdb_frame_id){.code_address = row->entry, .stack_address = row->caller_sp};
}

static void close_session(void)
{
	gh_session_close(&session);
	gh_frames_free(&frames);
	gh_c_stack_free(&c_stack);
	gh_seen_program_close(&program);
	free(frames_path);
	frames_path = NULL;
}

static void destroy(struct gdb_reader_funcs *self)
{
	(void)self;
	close_session();
}

/* GDB does not unload the reader when it ends. */
__attribute__((destructor)) static void end(void)
{
	close_session();
}

/* The directory that goheap.so was loaded from, links followed. To be freed; NULL if it cannot be
 * found. */
static char *find_directory(void)
{
	Dl_info info;
	char *path = NULL;
	if (dladdr(&session, &info) != 0 && info.dli_fname != NULL)
		path = realpath(info.dli_fname, NULL);
	if (path != NULL)
		*strrchr(path, '/') = '\0';
	return path;
}

/* Path of the goheap program: in DIRECTORY, as in the build tree, else where it was to be
 * installed. To be freed; NULL if there is none. */
static char *find_program(const char *directory)
{
	char *path = NULL;
	if (directory != NULL && asprintf(&path, "%s/goheap", directory) < 0)
		return NULL;
	if (path != NULL && access(path, X_OK) == 0)
		return path;
	free(path);
	return access(GOHEAP_BINDIR "/goheap", X_OK) == 0 ? strdup(GOHEAP_BINDIR "/goheap") : NULL;
}

/* Has GDB go on where a program that it pipes into ends early. GDB 13 without Python would end.
 * What GDB debugs starts with the signals as they were when GDB started. */
static void ignore_sigpipe(void)
{
	struct sigaction action;
	if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

/* Without a session the reader is useless, but GDB crashes when it is given none. */
struct gdb_reader_funcs *gdb_init_reader(void)
{
	static struct gdb_reader_funcs funcs = {
	    .reader_version = GDB_READER_INTERFACE_VERSION,
	    .read = read_debug_info,
	    .unwind = unwind,
	    .get_frame_id = get_frame_id,
	    .destroy = destroy,
	};
	ignore_sigpipe();
	if (access(_PATH_BSHELL, X_OK) != 0) {
		fputs("goheap: not loaded: there is no " _PATH_BSHELL
		      ", by which GDB runs goheap; the program goheap needs none: goheap PID\n",
		      stderr);
		return &funcs;
	}
	/* Before there is a session, goheap.gdb does no more than define its commands; the load's
	 * own hook is among them. */
	char *directory = find_directory();
	if (directory != NULL)
		gh_script_read(directory);
	char *goheap = find_program(directory);
	const char *problem =
	    goheap == NULL ? "the program goheap is neither beside goheap.so nor in " GOHEAP_BINDIR
			   : gh_session_open(&session, goheap);
	if (problem != NULL)
		fprintf(stderr, "goheap: no session: %s\n", problem);
	else if (asprintf(&frames_path, "%s/" GH_SESSION_FRAMES, session.path) < 0)
		frames_path = NULL;
	else
		gh_serve_open();
	free(goheap);
	free(directory);
	return &funcs;
}
