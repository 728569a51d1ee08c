/* goheap.so: the JIT reader that GDB loads. It owns the session; the symbols themselves come from a
 * debug file, which `goheap session' writes and gdbinit has GDB read. */
#include <gdb/jit-reader.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/frames.h"
#include "plugin/serve.h"
#include "plugin/session.h"

GDB_DECLARE_GPL_COMPATIBLE_READER;

static struct gh_session session;
static struct gh_frames frames; /* of the heap dump that is loaded, or the goroutine chosen */
static char *frames_path;       /* NULL while there is no session */

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

/* Number of SIZE bytes at BYTES. */
static uint64_t get_number(const unsigned char *bytes, unsigned size, bool big_endian)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * (big_endian ? size - 1 - i : i);
	return value;
}

/* False if the register is unknown, or of another size than the dump's addresses: GDB has something
 * else open. */
static bool get_register(struct gdb_unwind_callbacks *callbacks, int dwarf_number, uint64_t *value)
{
	struct gdb_reg_value *reg = callbacks->reg_get(callbacks, dwarf_number);
	unsigned size = frames.header->pointer_size;
	bool known = reg->defined && reg->size == (int)size;
	if (known)
		*value = get_number(reg->value, size, frames.header->big_endian);
	reg->free(reg);
	return known;
}

static void free_register(struct gdb_reg_value *reg)
{
	free(reg);
}

static void set_register(struct gdb_unwind_callbacks *callbacks, int dwarf_number, uint64_t value)
{
	unsigned size = frames.header->pointer_size;
	struct gdb_reg_value *reg = malloc(sizeof(*reg) + size);
	if (reg == NULL)
		return;
	reg->size = (int)size;
	reg->defined = 1;
	reg->free = free_register;
	for (unsigned i = 0; i < size; i++)
		reg->value[frames.header->big_endian ? size - 1 - i : i] =
		    (unsigned char)(value >> 8 * i);
	callbacks->reg_set(callbacks, dwarf_number, reg);
}

/* The frame that GDB asks about, if the loaded dump has it and its caller. GDB aborts where it is
 * asked for a register that the machine does not have, so the pc is asked for only when all else
 * says that this is the dump's machine. */
static const struct gh_frames_row *find_frame(struct gdb_unwind_callbacks *callbacks)
{
	uint64_t sp;
	uint64_t pc;
	if (frames.header == NULL || !get_register(callbacks, frames.header->dwarf_sp, &sp) ||
	    !gh_frames_has_sp(&frames, sp) ||
	    !get_register(callbacks, frames.header->dwarf_pc, &pc))
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
	unsigned size = frames.header->pointer_size;
	unsigned char bytes[8];
	if (is_marker(row) || row->caller_sp - row->sp < size)
		return true;
	uint64_t address = frames.header->dwarf_lr != 0 ? row->sp : row->caller_sp - size;
	return callbacks->target_read(address, bytes, (int)size) != GDB_SUCCESS ||
	       get_number(bytes, size, frames.header->big_endian) == row->caller_pc;
}

/* Frames of a heap dump are unwound by what the dump says, and those of the goroutine that the user
 * has chosen by what its stack was seen to be: a debugger finds the same caller, but
 * would take it to have the registers of the frame that it called, and a goroutine that does not
 * run has none. Those that are not set here GDB knows to be unknown.
 *
 * All others are declined and go to GDB's own unwinders: the debug file has unwind information for
 * all Go functions, and a frame taken here could not be the outermost. */
static enum gdb_status unwind(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *callbacks)
{
	(void)self;
	if (frames_path == NULL)
		return GDB_FAIL;
	gh_serve(callbacks);
	gh_frames_refresh(&frames, frames_path);
	const struct gh_frames_row *row = find_frame(callbacks);
	if (row == NULL || !is_called_so(callbacks, row))
		return GDB_FAIL;
	set_register(callbacks, frames.header->dwarf_sp, row->caller_sp);
	set_register(callbacks, frames.header->dwarf_pc, row->caller_pc);
	/* What GDB unwinds itself, a stack's last frame, may be by this, if it cannot read the code
	 * there: then nothing called it. */
	if (frames.header->dwarf_lr != 0)
		set_register(callbacks, frames.header->dwarf_lr, 0);
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

/* Path of the goheap program: beside this file in the build tree, else where it was to be
 * installed. To be freed; NULL if memory ran out. */
static char *find_program(void)
{
	char *path = NULL;
	Dl_info info;
	const char *name = NULL;
	if (dladdr(&session, &info) != 0 && info.dli_fname != NULL)
		name = strrchr(info.dli_fname, '/');
	if (name != NULL) {
		int length = (int)(name - info.dli_fname);
		if (asprintf(&path, "%.*s/goheap", length, info.dli_fname) < 0)
			return NULL;
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return strdup(GOHEAP_BINDIR "/goheap");
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
	char *program = find_program();
	const char *problem =
	    program == NULL ? "out of memory" : gh_session_open(&session, program);
	if (problem != NULL)
		fprintf(stderr, "goheap: no session: %s\n", problem);
	else if (asprintf(&frames_path, "%s/" GH_SESSION_FRAMES, session.path) < 0)
		frames_path = NULL;
	else
		gh_serve_open();
	free(program);
	return &funcs;
}
