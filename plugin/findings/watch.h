/* What a process is watched for, and the evidence that is kept of it (goheap watch).
 *
 * - watch_conditions.c: when something is to be kept; evidence.c: what is, and for how long. */
#ifndef GH_PLUGIN_FINDINGS_WATCH_H
#define GH_PLUGIN_FINDINGS_WATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/process/process.h"
#include "lib/util/vector.h"
#include "plugin/command/command.h"

/* What a process can be watched for. watch_conditions.c has their names. */
enum gh_watch_kind {
	GH_WATCH_RSS,
	GH_WATCH_HEAP,
	GH_WATCH_GOROUTINES,
	GH_WATCH_GROWTH,      /* of what is resident, within a minute */
	GH_WATCH_NO_PROGRESS, /* it takes no processor time */
	GH_WATCH_EVERY,
	GH_WATCH_KINDS
};

/* The name of KIND, which is its option's. */
const char *gh_watch_name(enum gh_watch_kind kind);

/* How a value of KIND is counted: "bytes", "goroutines", "percent" or "seconds". */
const char *gh_watch_unit(enum gh_watch_kind kind);

/* A sample, and when it was taken. */
struct gh_watch_point {
	uint64_t when; /* on the monotonic clock, in ns */
	struct gh_live_sample sample;
};

struct gh_watch {
	double limits[GH_WATCH_KINDS]; /* in the kind's unit; 0: it is not watched for */
	double fired[GH_WATCH_KINDS];  /* the value when it last was reached; 0: it is below now */
	uint64_t since;                /* when the watch of this process began */
	uint64_t last;                 /* when something was last kept without a reason */
	uint64_t moved;                /* when the process was last seen to take processor time */
	struct GH_VECTOR(struct gh_watch_point) points; /* of the last minute, the oldest first */
};

/* Fills WATCH's limits with what OPTIONS say, of which each is a number with a unit. False, and it
 * is said what is wrong, if one cannot be read, or none is there. */
bool gh_watch_parse(struct gh_watch *watch, const struct gh_options *options);

/* Begins to watch another process. */
void gh_watch_begin(struct gh_watch *watch, uint64_t now);

/* Adds a sample. */
void gh_watch_add(struct gh_watch *watch, uint64_t now, const struct gh_live_sample *sample);

/* What of KIND there is now, in its unit. */
double gh_watch_value(const struct gh_watch *watch, enum gh_watch_kind kind);

/* A limit of KIND is reached that was not before; or what was reached is larger by a quarter. */
bool gh_watch_fires(struct gh_watch *watch, enum gh_watch_kind kind);

void gh_watch_free(struct gh_watch *watch);

/* Evidence: a folder with what goheap says of the process. */
struct gh_evidence {
	const char *directory; /* that folders are made in */
	uint64_t keep;         /* so many are kept: the oldest goes first */
	bool no_dump;          /* without a heap dump */
	char path[PATH_MAX];   /* of the last one that was made */
	const char *lacks;     /* why the last one lacks the heap dump; NULL if it does not */
};

/* Keeps what goheap says of the process PID, for the reason WHY. False, and it is said why, if it
 * cannot be written: what was written stays. */
bool gh_evidence_keep(struct gh_evidence *evidence, int pid, const char *why);

#endif
