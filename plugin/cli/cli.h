/* The commands, and what those of one kind share.
 *
 * - main.c: finds the command and runs it; generate*.c: what is made of the list of commands at
 * build time;
 * - cmd_*.c: the commands; cmd_records.c those that list one kind of records; first_program.c: the
 *   first answer about a program;
 * - static_program.c: functions of the C library, and of libraries that are loaded, in the static
 * program (static_program.h), which static-libraries takes out of their static forms;
 * - probe_values.c, probe_script.c: the arguments and results of functions that are probed, and the
 *   script for bpftrace;
 * - twin_recipe.c, twin_build.c: how a program was built, and its build again (twin_build.h);
 * - web_question.c, web_heap.c: what the page of goheap web asks, and of which heap
 *   (web_question.h). */
#ifndef GH_PLUGIN_CLI_CLI_H
#define GH_PLUGIN_CLI_CLI_H

#include <stdlib.h>

#include "lib/profile/profile.h"
#include "plugin/command/command.h"

/* Reads the decimal number that TEXT is, a goroutine's or a frame's. False if it is none. */
static inline bool gh_number_read(const char *text, uint64_t *number)
{
	char *end;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

/* Shared by the commands that list the records of a heap dump. */

/* Prints what PRINT does of the dump that OPTIONS name, laid out as LAYOUT; gives the exit status.
 */
int gh_records_print(const struct gh_options *options, enum gh_emit_layout layout,
		     void (*print)(struct gh_emit *emit));

/* `goheap types' on a heap dump. */
int gh_records_types(const struct gh_options *options);

/* A dump's allocation profile. */
struct gh_profile {
	struct gh_dump dump;
	struct gh_symbols symbols; /* zeros if no program is given */
	struct gh_allocations allocations;
	struct gh_live_stacks live; /* zeros if that is not asked for */
	char running[32];           /* path of the program that a process runs, if none is given */
	const char *program;        /* that or the one that is given; NULL if there is none */
};

/* Reads the profile that OPTIONS name. To be closed in any case; on failure prints the error and
 * returns false. */
bool gh_profile_open(struct gh_profile *profile, const struct gh_options *options);

void gh_profile_close(struct gh_profile *profile);

/* Describes the program that OPTIONS name, and who runs it. The exit status. */
int gh_program_describe(const struct gh_options *options);

/* Functions that are probed. */

/* A word of an argument or a result. */
struct gh_probe_word {
	enum gh_arg_where where;
	uint64_t offset; /* in the value, in bytes */
	uint64_t place;  /* in memory: above the CFA, in bytes */
	uint8_t number;  /* of the register, as DWARF numbers them */
	uint8_t size;    /* in bytes: 1, 2, 4 or 8 */
	bool is_pointer; /* known to be one */
	bool is_float;   /* the register is one for floating-point numbers */
};

struct gh_probe_value {
	uint32_t type;   /* its number; GH_NO_RTYPE if it is not known */
	unsigned number; /* of the argument, from 0 */
	size_t first;    /* of its words */
	size_t count;
	bool guessed; /* where it would be if what is before it, and it, are no floating-point
			 numbers or arrays */
};

struct gh_probe_values {
	struct GH_VECTOR(struct gh_probe_word) words;
	struct GH_VECTOR(struct gh_probe_value) items;
	bool is_cut;  /* there are more that are not known */
	bool guessed; /* the registers that first results would be in: there may be fewer */
};

#define GH_PROBE_EVENT 56 /* bytes of an event's name, with its NUL */

struct gh_probe {
	struct gh_func func;
	const char *name;           /* in the program */
	char event[GH_PROBE_EVENT]; /* letters, digits and underlines; each once */
	struct gh_probe_places places;
	struct gh_probe_values arguments;
	struct gh_probe_values results;
};

struct gh_probes {
	const struct gh_options *options;
	struct gh_program program;
	struct gh_rtypes types;
	struct gh_signatures signatures; /* of its methods */
	bool methods_told;               /* signatures tell where arguments are */
	bool has_symbols;    /* that libbcc finds, as bpftrace: in the program or its debug file */
	char path[PATH_MAX]; /* of the program: of the characters of GH_PROBE_PATH */
	int pid;             /* of the only process that is probed; 0: of any */
	struct GH_VECTOR(struct gh_probe) list;
};

/* The characters that no shell and no tool for probes takes for anything else. */
#define GH_PROBE_PATH "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+"

/* Finds the arguments and results of PROBE. What memory ran out for shows in their vectors. */
void gh_probe_values_find(struct gh_probe *probe, const struct gh_probes *probes);

/* The name of register NUMBER, as DWARF numbers them, in NAMES; of LENGTH bytes. "" if it has none.
 */
const char *gh_probe_register(const char *names, unsigned number, int *length);

/* Prints the return instructions of PLACES, of a function in IMAGE, as items of a list in JSON. */
void gh_returns_emit(struct gh_emit *emit, const struct gh_image *image,
		     const struct gh_probe_places *places);

/* Prints the script for bpftrace. False if memory ran out. */
bool gh_probe_script_print(const struct gh_probes *probes);

#endif
