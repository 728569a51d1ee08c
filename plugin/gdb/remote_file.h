/* The program's file on a remote target, read by packets of the protocol that GDB is told to send
 * (vFile:open, vFile:pread). GDB's own `remote get' asks for more until the target says that there
 * is no more, writes all of that, and cannot be interrupted; between packets GDB can be. The
 * packets are specified in GDB's manual, "Host I/O Packets".
 *
 * Each step reads what GDB prints of the packets' answers, and writes the script of those that are
 * to be sent next; what is known meanwhile is in the session's directory. */
#ifndef GH_PLUGIN_GDB_REMOTE_FILE_H
#define GH_PLUGIN_GDB_REMOTE_FILE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
