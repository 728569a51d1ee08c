/* The goheap program's end of the connection by which goheap.so serves the memory of what GDB
 * debugs. */
#ifndef GH_PLUGIN_GDB_MEMORY_CLIENT_H
#define GH_PLUGIN_GDB_MEMORY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connects to the socket in DIRECTORY, the session's, and waits until GDB serves. GDB prints into
 * standard input what it does meanwhile: if that ends first, it does not come to serve. Returns the
 * descriptor, to be closed; -1 if GDB does not serve. */
int gh_memory_connect(int directory);

/* Reads SIZE bytes, at most GH_PROCESS_BLOCK, at ADDRESS into BUF over the connection FD. False if
 * they are not all there, or if standard input ends first: GDB serves no more. */
bool gh_memory_fetch(int fd, uint64_t address, void *buf, size_t size);

#endif
