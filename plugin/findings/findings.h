/* What is wrong with a process, core file or heap dump.
 *
 * - diagnosis.c: what is looked at, and all that is wrong with it;
 * - findings.c: the list of findings; find_hangs.c, find_threads.c, find_memory.c: who adds to it;
 *   finalizer_queue.c: blocked finalizers; deep_stack.c: a stack that is out of proportion;
 * - suspects.c: what may leak; suspects_text.c: how that is worded; suspect_parts.c: the ways to
 *   what is kept; suspect_unused.c: what slices and maps keep and do not use (suspects.h);
 * - object_groups.c, growth.c, picture.c, neighborhood.c: answers about the heap (suspects.h). */
#ifndef GH_PLUGIN_FINDINGS_FINDINGS_H
#define GH_PLUGIN_FINDINGS_FINDINGS_H

#include "lib/trace/trace.h"
#include "lib/util/process_list.h"
#include "plugin/hang/hang.h"

/* The first answer about a process, core file or heap dump: what it is, and what is wrong with it.
 */

/* Kinds of findings, the gravest first. findings.c has their names. */
enum gh_finding_kind {
	GH_FINDING_CRASH,
	GH_FINDING_STOPPED,
	GH_FINDING_DEADLOCK,
	GH_FINDING_LEFT_LOCKED,
	GH_FINDING_LOCK,
	GH_FINDING_REQUESTS,
	GH_FINDING_KERNEL,
	GH_FINDING_DESCRIPTORS,
	GH_FINDING_FINALIZERS,
	GH_FINDING_LEAKED,
	GH_FINDING_CROWD,
	GH_FINDING_LIMIT,
	GH_FINDING_COLLECTOR,
	GH_FINDING_THREADS,
	GH_FINDING_MALLOC,
	GH_FINDING_LOST,
	GH_FINDING_STACKS,
	GH_FINDING_HOLDER,
	GH_FINDING_FREE,
	GH_FINDING_KINDS
};

/* What is wrong, and the command that shows more. */
struct gh_finding {
	enum gh_finding_kind kind;
	uint64_t weight; /* of those of one kind, the largest comes first */
	char *sentence;  /* owned */
	char *command;   /* owned; NULL if none shows more */
};

struct gh_findings GH_VECTOR(struct gh_finding);

/* The figures by which it is judged that nothing is wrong. */
struct gh_figures {
	uint64_t resident;   /* bytes in memory; 0 if they are not known */
	uint64_t goroutines; /* but for the runtime's own */
	uint64_t blocked;    /* that wait for locks */
	uint64_t lock_wait;  /* ns that one of them has waited at the most */
	uint64_t leaked;     /* that can never go on */
	uint64_t deadlocks;
	uint64_t descriptors; /* that are open; limit 0: not known */
	uint64_t descriptor_limit;
	uint64_t holder; /* bytes that what holds most of the heap keeps; 0 if it was not asked */
	uint64_t heap;   /* bytes of the heap's objects */
};

struct gh_diagnosis {
	const struct gh_options *options;
	bool brief;     /* no large heap is looked at, and whoever debugs the process asks */
	bool left_heap; /* it was, or is too large for the memory */
	int pid;        /* of a process that runs; 0 of others */
	uint64_t now;   /* when that was copied, in ns since 1970 */
	struct gh_footprint footprint; /* zeros unless: */
	bool has_footprint;
	struct gh_thread_states threads; /* count 0 if they are not known */
	struct gh_figures figures;
	struct gh_findings findings;
	struct gh_finding open; /* that is being written */
	FILE *out;              /* its sentence; NULL if memory ran out, or none is open */
	size_t size;            /* private: of that */
};

/* What is looked at, as a row of JSON. */
struct gh_about {
	const char *part;
	const char *kind;    /* "process", "core file", "heap dump" */
	const char *file;    /* NULL of a process */
	const char *program; /* NULL if it is not known, as all of these: */
	const char *version; /* of Go */
	const char *machine;
	const char *module;
	const char *module_version;
	const char *user;
	const char *container;
	struct gh_known pid;
	struct gh_known started; /* seconds since the epoch */
	struct gh_known resident;
	uint64_t heap;
	struct gh_known threads;
	uint64_t goroutines;
	struct gh_known paused; /* ns */
	bool lacks_program;     /* what is in its program is not known */
	bool lacks_roots;       /* a heap dump is cut off before them */

	char program_text[PATH_MAX];
	char version_text[64];
	char machine_text[32];
	char user_text[GH_USER_TEXT];
	char container_text[GH_CONTAINER_TEXT];
	struct gh_buildinfo info; /* owned */
};

/* Looks at what the OPTIONS of DIAGNOSIS name, which is of KIND, and finds what is wrong with it,
 * the gravest first. On failure prints the error and returns false. To be freed either way. */
bool gh_diagnose(struct gh_diagnosis *diagnosis, struct gh_about *about, enum gh_target_kind kind);
void gh_diagnosis_free(struct gh_diagnosis *diagnosis, struct gh_about *about);

/* Begins a finding, whose sentence the caller writes to what this returns, fit for a person. NULL
 * if memory ran out: there is nothing to write, and nothing to end. */
FILE *gh_finding_begin(struct gh_diagnosis *diagnosis, enum gh_finding_kind kind, uint64_t weight);

/* Ends it. COMMAND is typed after goheap, with what is looked at, to see more; NULL for none. */
void gh_finding_end(struct gh_diagnosis *diagnosis, const char *command);

/* Sorts the findings, the gravest first. */
void gh_findings_sort(struct gh_findings *findings);

/* Prints them as text, in no more than LINES lines, or as JSON. */
void gh_findings_print(struct gh_diagnosis *diagnosis, unsigned lines);

void gh_findings_free(struct gh_findings *findings);

/* Adds what is wrong with the goroutines of QUERY. */
void gh_find_hangs(struct gh_diagnosis *diagnosis, struct gh_wait_query *query);

/* Adds what is wrong with the memory of DUMP, and the collector; and what holds its HEAP, unless
 * that is NULL. */
void gh_find_memory(struct gh_diagnosis *diagnosis, const struct gh_dump *dump,
		    struct gh_heap_query *heap);

/* Adds what is wrong with the threads and descriptors of a process that runs; the goroutines of
 * QUERY say what the threads do. */
void gh_find_threads(struct gh_diagnosis *diagnosis, struct gh_wait_query *query);

/* The collector runs again and again to stay below the limit of memory; IS_LIVE: now. */
bool gh_collections_are_limited(const struct gh_collections *collections, bool is_live);

/* Opens the running process PID, which a debugger may have stopped, or, if PID is 0, the core file
 * that OPTIONS name. On failure prints the error and returns false. */
bool gh_memory_target_open(struct gh_target *target, int pid, const struct gh_options *options);

/* Findings beside the heap's holders. */

/* Prints ROW to OUT as JSON, with COLUMNS, of which SENTENCE, a member of ROW, is what PRINT prints
 * of it: that is there until this returns. */
void gh_finding_emit(FILE *out, const struct gh_dump *dump, const struct gh_column *columns,
		     const void *row, struct gh_bytes *sentence,
		     void (*print)(FILE *out, const void *row));

/* Prints to OUT each goroutine of DUMP that runs finalizers or cleanups and is blocked in one for
 * which others wait, and has been for WAITED ns, a line each or, as JSON, a row each, with PART
 * unless that is NULL. SYMBOLS may be NULL. Gives how many there are. */
size_t gh_blocked_finalizers_print(FILE *out, const struct gh_dump *dump,
				   struct gh_symbols *symbols, uint64_t waited, const char *part,
				   bool json);

/* Prints the goroutine of DUMP with the largest stack, if that is out of proportion; as above. */
void gh_deep_stack_print(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			 const char *part, bool json);

#endif
