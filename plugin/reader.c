/* goheap.so: the JIT reader that GDB loads. It owns the session; the symbols themselves come from a
 * debug file, which `goheap session' writes and gdbinit has GDB read. */
#include <gdb/jit-reader.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/session.h"

GDB_DECLARE_GPL_COMPATIBLE_READER;

static struct gh_session session;

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

/* Declined, every frame goes to GDB's own unwinders: the debug file has unwind information for all
 * Go functions, and a frame taken here could not be the outermost. Only what such information
 * cannot express, a stack that continues on another stack, would have to be unwound here. */
static enum gdb_status unwind(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *callbacks)
{
	(void)self;
	(void)callbacks;
	return GDB_FAIL;
}

/* Asked only for frames that unwind took. */
static struct gdb_frame_id get_frame_id(struct gdb_reader_funcs *self,
					struct gdb_unwind_callbacks *callbacks)
{
	(void)self;
	(void)callbacks;
	return (struct gdb_frame_id){0};
}

static void destroy(struct gdb_reader_funcs *self)
{
	(void)self;
	gh_session_close(&session);
}

/* GDB does not unload the reader when it ends. */
__attribute__((destructor)) static void end(void)
{
	gh_session_close(&session);
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
	free(program);
	return &funcs;
}
