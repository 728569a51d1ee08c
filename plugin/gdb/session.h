/* The session: the private directory of one GDB process, through which goheap.so, goheap.gdb and
 * the goheap program work together. */
#ifndef GH_PLUGIN_GDB_SESSION_H
#define GH_PLUGIN_GDB_SESSION_H

#include <stdbool.h>

/* The descriptor that holds the directory open in GDB; goheap.gdb names it too. It is far above
 * those that GDB comes to use and below the usual limit of 1024. */
#define GH_SESSION_FD 1000

/* The variables in GDB's environment, which only programs that GDB starts with `shell' and `pipe'
 * see: the directory's path, and the path of the goheap program. */
#define GH_SESSION_VARIABLE "GOHEAP_SESSION"
#define GH_PROGRAM_VARIABLE "GOHEAP_PROGRAM"

/* What `goheap load' leaves in the directory for as long as GDB has its core file open. */
#define GH_SESSION_CORE "dump.core" /* the core file */
#define GH_SESSION_FRAMES                                                                          \
	"dump.frames" /* the callers of its frames, for goheap.so; or those of the goroutine       \
		   that was chosen in a process */
#define GH_SESSION_DEBUG "dump.debug" /* symbols, with the variables of its frames */
#define GH_SESSION_DUMP  "dump"       /* a link to the heap dump */
/* Links to the program that wrote it, if that is known, and to what that was before it was
 * stripped, if that is given. */
#define GH_SESSION_WRITER "dump.program"
#define GH_SESSION_NAMES  "dump.names"

/* The words of the goheap command that GDB runs, as they were typed, each with a NUL after it. */
#define GH_SESSION_WORDS "words"

/* What `goheap session' has seen: the program's identity, a space and its path, and the debug file
 * that was found for it, "" if none is to be. Both end with a NUL. */
#define GH_SESSION_STATE "state"

/* The identity of the core file whose crash has been told of, and a space and its path. */
#define GH_SESSION_TOLD "told"

/* What is there when the program's own file is out of GDB's reach. */
#define GH_SESSION_PROGRAM "program" /* a copy of it */
#define GH_SESSION_ORIGIN  "origin"  /* why there is a copy, as a text */
#define GH_SESSION_FETCHED "fetched" /* what GDB has got from a remote target */
#define GH_SESSION_MADE    "made"    /* the program, made again from memory; GDB does not have it */
#define GH_SESSION_NOFILE  "nofile"  /* for what process or core file that was last looked into */

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

#endif
