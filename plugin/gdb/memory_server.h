/* The memory of what GDB debugs, for the goheap program to read: only GDB can read every target's,
 * and only while it asks a JIT reader about a frame. */
#ifndef GH_PLUGIN_GDB_MEMORY_SERVER_H
#define GH_PLUGIN_GDB_MEMORY_SERVER_H

#include <stdint.h>

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

#endif
