/* Commands of the goheap program, and what they are asked about.
 *
 * - commands.def, tasks.def: the lists of commands and of tasks; options.c: what a command line
 * says; exit.c: how the program ends; nearest.c: commands that a mistyped name may be meant for;
 * - target.c: the kind of what is looked at; find_program.c: its program; named_process.c:
 * processes by number or program name; named_functions.c: functions by the names that people type;
 * foreign.c: what is said where nothing is Go's;
 * - heap_query.c: a question about a heap (heap_query.h); wait_query.c: one about what goroutines
 *   wait for (wait_query.h);
 * - kept.c, answers.c: what is kept from one question to the next; prompt.c, sql_prompt.c: goheap's
 *   own prompts (kept.h);
 * - see.c: what to type next. */
#ifndef GH_PLUGIN_COMMAND_COMMAND_H
#define GH_PLUGIN_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/profile/profile.h"
#include "lib/util/buffer.h"
#include "lib/util/pattern.h"
#include "lib/value/value.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* The options of the commands: what a command line can say, the rows by which a command declares
 * what it takes, and the one parser. */

/* What objects are put in groups by. */
enum gh_grouping { GH_BY_TYPE, GH_BY_SIZE, GH_BY_SITE, GH_BY_PATH, GH_BY_ROOT };

/* The same in that order, as --by names them; object_groups.c makes them. */
#define GH_GROUPING_NAMES "type|size|site|path|root"

/* Bytes that a process's number takes as text. */
#define GH_PID_TEXT 16

/* What a command line says. A command takes some of it; what it does not take, or is not given, is
 * zero, but for the limit, the rate and the depth. Text is in argv. */
struct gh_options {
	const char *file;  /* the first operand: a program, heap dump or core file */
	const char *newer; /* the second file, where a command takes two */
	const char *older; /* a file after the first, where a command can do without */
	struct GH_VECTOR(uint64_t) addresses; /* the operands after the files; owned */
	uint64_t number;                      /* the operand after the file */
	const char *value; /* instead of an address, the bytes of a value, in hexadecimal */
	char **words;      /* the operands, as they are */
	int nwords;

	const char *program;           /* that wrote the dump, or that the core file is of (-e) */
	const char *process;           /* the number of one to read (-p); then also the last file */
	char number_text[GH_PID_TEXT]; /* of the process, if it was named by its program */
	char running[GH_PID_TEXT + sizeof("/proc//exe")]; /* what that runs, for FILE */
	const char *module;        /* which of the process's Go libraries (--module) */
	const char *names;         /* the same before it was stripped (--names) */
	const char *source;        /* directory of the program's source (--source) */
	const char *ldflags;       /* for the build of it (--ldflags) */
	const char *output;        /* to write to (-o) */
	const char *install;       /* directory of debug files to write to (--install) */
	const char *debugger;      /* that the file is for (--for); NULL: any */
	const char *tables;        /* directory of tables to write to (--tables) */
	const char *host;          /* that the heap is of (--host) */
	const char *status;        /* of the goroutines to print (-s) */
	const char *label;         /* of the goroutines to print (--label) */
	const char *part;          /* of the value to print (--part) */
	const char *http;          /* HOST:PORT to serve a page on (--http) */
	struct gh_pattern pattern; /* that a goroutine's text, or a string, must match (--grep) */
	bool has_pattern;          /* there is one */
	enum gh_grouping grouping; /* what to group by (--by) */
	size_t limit;              /* rows to print, or objects to draw (-n); SIZE_MAX: all */
	uint64_t depth;            /* pointers to follow, one behind the other (--depth) */
	uint64_t rate;             /* MemProfileRate, in bytes (--rate) */
	uint64_t keep;             /* folders of evidence (--keep) */
	const char *rss, *heap, *many_goroutines, *growth, *no_progress, *every; /* watch: limits */

	/* If the program was not given and is in the core file: where it is. */
	char made[GH_PROGRAM_IN_MEMORY_PATH];
	int made_fd; /* of it; owned; 0 if there is none */

	bool json;          /* print JSON instead of text */
	bool bytes;         /* sizes and counts in text to the last digit */
	bool all;           /* goroutines: also what Go leaves out */
	bool one_line;      /* goroutines: one line for each */
	bool group;         /* goroutines: those with the same stack together */
	bool leaked;        /* goroutines: those alone that can never go on */
	bool deadlocks;     /* waits: for each other's mutexes */
	bool graph;         /* waits: as a picture */
	bool memory;        /* goroutines: the same, with what only they hold */
	bool merged;        /* dominators: in JSON, too, an entry a row */
	bool live;          /* pprof: what is live, and what it retains */
	bool paths;         /* pprof: the heap, by the ways that hold it */
	bool raw;           /* pprof: do not scale */
	bool inlines;       /* lines, addr2line: inlined calls, too */
	bool show_address;  /* addr2line: print the address, too */
	bool show_function; /* addr2line: print the function, too */
	bool base_names;    /* addr2line: files without their directories */
	bool short_names;   /* debug: those by which GDB finds functions, too */
	bool pretty;        /* addr2line: all of an address on one line */
	bool gzip;          /* dump, core: compress it */
	bool go;            /* core: only what Go's debuggers read */
	bool no_pause;      /* dump: do not stop the process */
	bool csv;           /* sql: print CSV */
	bool summary;       /* export: sums alone */
	bool schema;        /* sql: print the tables that there are, instead of asking */
	bool force;         /* load: any program; dump, core: replace a file */
	bool asked;         /* fetch: by the user, not by a hook */
	bool partial;       /* the heap's: also of a dump whose roots are cut off */
	bool asks_roots;    /* the command takes that */
	bool drop;          /* fetch: GDB has a program */
	bool c;             /* the heap's: with C's memory */
	bool follow;        /* watch: go on when the program runs again */
	bool no_dump;       /* watch: keep no heap dumps */
	bool network;       /* twin: modules and toolchains may be fetched */
	bool print;         /* twin: print the command alone */
	bool returns;       /* probes: on the functions' returns, too */
	bool latency;       /* probes: count how long calls take */
};

/* How the argument of an option is read. */
enum gh_option_type {
	GH_OPTION_FLAG, /* there is none: sets a bool */
	GH_OPTION_TEXT, /* sets a const char * */
	GH_OPTION_FILE, /* a path: sets a const char * */
	GH_OPTION_LIMIT,
	GH_OPTION_NUMBER, /* sets a uint64_t, up to the most */
	GH_OPTION_GROUPING,
	GH_OPTION_PATTERN,
	GH_OPTION_PROCESS, /* stands for the last file */
	GH_OPTION_IGNORED,
};

/* An option that a command takes. */
struct gh_option {
	const char *name;         /* the long one; NULL ends a list */
	char letter;              /* the short one; 0 if there is none */
	enum gh_option_type type; /* of the argument */
	const char *arg;          /* what --help calls it; NULL if there is none */
	const char *values;       /* all that it can be, a bar between two; NULL if it is any */
	const char *doc;          /* for --help */
	size_t field;       /* of struct gh_options, for flags, text and numbers: its offset */
	uint64_t otherwise; /* the limit or number if none is given */
	uint64_t most;      /* of a number */
	bool required;
};

/* The most that one command takes, with the end of the list. */
#define GH_OPTIONS_MAX 15

/* Rows of such lists. */
#define GH_FLAG(long_name, short_name, member, text)                                               \
	{                                                                                          \
		.name = long_name, .letter = short_name, .type = GH_OPTION_FLAG, .doc = text,      \
		.field = offsetof(struct gh_options, member)                                       \
	}
#define GH_PATH(long_name, short_name, argument, member, text, is_required)                        \
	{                                                                                          \
		.name = long_name, .letter = short_name, .type = GH_OPTION_FILE, .arg = argument,  \
		.doc = text, .field = offsetof(struct gh_options, member), .required = is_required \
	}

/* Rows that several commands share. */
/* Of the commands that print sizes. */
#define GH_BYTES                                                                                   \
	GH_FLAG("bytes", 0, bytes, "Print sizes and counts to the last digit, as JSON has them")
#define GH_JSON               GH_FLAG("json", 0, json, "Print JSON instead of text")
#define GH_EXE(text)          GH_PATH("exe", 'e', "PROGRAM", program, text, false)
#define GH_EXE_REQUIRED(text) GH_PATH("exe", 'e', "PROGRAM", program, text, true)
#define GH_NAMES(text)        GH_PATH("names", 0, "PROGRAM", names, text, false)
#define GH_OUTPUT(file, text) GH_PATH("output", 'o', file, output, text, false)
#define GH_OUTPUT_REQUIRED(file)                                                                   \
	GH_PATH("output", 'o', file, output, "Write " file " (required)", true)
#define GH_LIMIT(number, text)                                                                     \
	{                                                                                          \
		.name = "limit", .letter = 'n', .type = GH_OPTION_LIMIT, .arg = "N", .doc = text,  \
		.otherwise = number                                                                \
	}
#define GH_RATE                                                                                    \
	{                                                                                          \
		.name = "rate", .type = GH_OPTION_NUMBER, .arg = "BYTES",                          \
		.doc = "Its MemProfileRate, if not 524288", .otherwise = GH_PPROF_RATE,            \
		.most = INT64_MAX, .field = offsetof(struct gh_options, rate)                      \
	}
#define GH_DEPTH(number)                                                                           \
	{                                                                                          \
		.name = "depth", .type = GH_OPTION_NUMBER, .arg = "N", .otherwise = number,        \
		.doc = "Follow no more than N pointers, one behind the other (" #number ")",       \
		.most = GH_VALUE_DEPTH_MAX, .field = offsetof(struct gh_options, depth)            \
	}
#define GH_GREP(what)                                                                              \
	{                                                                                          \
		.name = "grep", .type = GH_OPTION_PATTERN, .arg = "RE",                            \
		.doc = "Print those " what " only whose text matches the extended regular "        \
		       "expression RE"                                                             \
	}
#define GH_BY                                                                                      \
	{                                                                                          \
		.name = "by", .type = GH_OPTION_GROUPING, .arg = "WHAT",                           \
		.values = GH_GROUPING_NAMES,                                                       \
		.doc = "Put objects together by type; size; site, the place that "                 \
		       "allocated them; path, the way that holds them; or root, where that starts" \
	}
#define GH_LIMIT_ROWS                                                                              \
	GH_LIMIT(20, "Print no more than N rows; 0 for all (20, or all if it is JSON)")

/* The debugger that a file is for. */
#define GH_FOR                                                                                     \
	{                                                                                          \
		.name = "for", .type = GH_OPTION_TEXT, .arg = "DEBUGGER", .values = "lldb",        \
		.doc = "Have LLDB show arguments and their values; other debuggers show less",     \
		.field = offsetof(struct gh_options, debugger)                                     \
	}

#define GH_MODULE                                                                                  \
	{                                                                                          \
		.name = "module", .type = GH_OPTION_TEXT, .arg = "NAME",                           \
		.doc = "Read the Go library of that name or path, if there are several",           \
		.field = offsetof(struct gh_options, module)                                       \
	}
#define GH_PID(text)                                                                               \
	{                                                                                          \
		.name = "process", .letter = 'p', .type = GH_OPTION_PROCESS, .arg = "PID",         \
		.doc = text                                                                        \
	}
#define GH_PROCESS GH_PID("Read the process PID in place of a heap dump"), GH_MODULE

#define GH_PARTIAL                                                                                 \
	GH_FLAG("partial", 0, partial, "Answer although the dump is cut off before its roots")

#define GH_C                                                                                       \
	GH_FLAG("c", 0, c, "Take the memory of glibc's malloc, block by block, as objects, too")

/* What the commands on the heap of a dump share. */
#define GH_OF_HEAP                                                                                 \
	GH_PROCESS, GH_EXE("The program that wrote the dump, for types, files and lines"),         \
	    GH_NAMES("The program before it was stripped, for variables, and types that "          \
		     "they tell"),                                                                 \
	    GH_C

/* What the commands that list the records of a dump share. */
#define GH_OF_RECORDS GH_PROCESS, GH_EXE("The program that the core file is of")

/* What follows the files on a command line. */
enum gh_operands_rest {
	GH_NO_MORE,
	GH_ONE_ADDRESS, /* hexadecimal; it can be left out */
	GH_ADDRESSES,   /* one at least */
	GH_ONE_NUMBER,  /* decimal */
	GH_ONE_NEWER,   /* the file that it is about, if there is one: what is before it is older */
	GH_TYPE_AND_ADDRESS, /* a type, of any words, that can be left out; hexadecimal */
	GH_ANY_WORDS,        /* for the command to read */
};

/* The operands of a command. */
struct gh_operands {
	const char *names; /* for --help */
	unsigned files;    /* how many of them are files: 2 at the most */
	enum gh_operands_rest rest;
	unsigned kinds; /* of target that it answers, or-ed; 0: process, core file and heap dump */
};

/* A command answers every kind of target. */
#define GH_KIND_ANY (GH_KIND_PROGRAM | GH_KIND_PROCESS | GH_KIND_CORE | GH_KIND_DUMP)

/* Of a kind of target that a command does not answer itself, it answers for its program. */
#define GH_KIND_ITS_PROGRAM (1U << 8)

struct gh_command;

/* Parses the command line of COMMAND, whose name is argv[0]. Exits, as argp does, on --help and on
 * a usage error. To be freed with gh_options_free. */
void gh_options_parse(struct gh_options *options, const struct gh_command *command, int argc,
		      char **argv);

void gh_options_free(struct gh_options *options);

/* The words after the files, joined by spaces; owned. NULL, and it is said, if memory ran out. */
char *gh_options_join(const struct gh_options *options);

/* The number of a process that TEXT is, in decimal; 0 if it is none. */
int gh_pid_parse(const char *text);

/* The output can be written, and ends no file that it may not. Else says so. */
bool gh_options_check_output(const struct gh_options *options);

/* The number of the process that NAME is, if no file has that name: a number, or the name of the
 * program that one process runs, whose number is put in NUMBER and told. NULL if no process has
 * that name. Exits, as on a usage error, after listing them if several have it. */
const char *gh_named_process(const char *name, char number[GH_PID_TEXT]);

/* Functions of a program that a name may stand for: its own, or one as goheap break takes it. */
struct gh_named_functions {
	struct GH_VECTOR(const char *) names; /* of these, each once; in the program */
	bool all; /* the name has "[...]" for type arguments: it stands for all of them */
};

/* Finds those of PROGRAM that WANTED may stand for, inlined ones, too. False, after it printed why,
 * if the program cannot be read. The names are to be freed either way. */
bool gh_named_functions_find(struct gh_named_functions *found, const struct gh_program *program,
			     const char *wanted);

/* WANTED stands for one function, or for all that were FOUND. Else says so. */
bool gh_named_functions_settle(const struct gh_named_functions *found, const char *wanted);

#define GH_USER_TEXT 64 /* bytes that a user's name takes as text */

/* The name of USER, or its number if it has none; in TEXT. To be escaped. */
const char *gh_user_text(char text[GH_USER_TEXT], unsigned user);

/* The program that OPTIONS name (-e); else, if they name a process, the path of what that runs, in
 * RUNNING; else NULL. */
const char *gh_options_program(const struct gh_options *options, char running[32]);

struct argp;

/* Parses ARGV as argp_parse does, for ARGP's parser to fill INPUT; what is wrong with it is told
 * without what a terminal would act on. Exits, as argp does, on --help, on a usage error and where
 * memory runs out. */
void gh_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
			void *input);

/* The commands of the goheap program: what each is, and how one is run. */

/* The exit statuses of every command. */
enum {
	GH_EXIT_OK = 0,
	GH_EXIT_INPUT = 1, /* an input is bad, or an output cannot be written */
	GH_EXIT_USAGE = 2, /* the command line is */
};

/* The groups of commands in `goheap --help'. */
enum gh_command_group {
	GH_GROUP_CRASH,
	GH_GROUP_HANG,
	GH_GROUP_MEMORY,
	GH_GROUP_LOOK,
	GH_GROUP_RECORDS, /* of a heap dump, as its format has them: on one line of that list */
	GH_GROUP_PROGRAM,
	GH_GROUP_EXPORT,
	GH_GROUP_GDB, /* what only goheap in GDB runs: not in that list */
};

/* What a command in GDB can be run on. Whether a process runs is for the command itself to see; one
 * that GDB itself is to carry out, as goroutine, has its script in dispatch_live.c. */
enum {
	GH_ON_NOTHING = 0,      /* it needs none */
	GH_ON_PROGRAM = 1 << 0, /* GDB's program, which need not run */
	GH_ON_PROCESS = 1 << 1, /* what GDB debugs: a process, or a core file's */
	GH_ON_DUMP = 1 << 2,    /* the heap dump that is loaded */
	GH_ON_SYSTEM = 1 << 3,  /* what GDB debugs, as goheap reads it from the system */
};

/* The user's command of that name in GDB: goheap NAME. */
struct gh_gdb_command {
	unsigned on;          /* GH_ON_..., or-ed */
	const char *operands; /* what its help says is typed after it; NULL for nothing */
	const char *summary;  /* for help, without a full stop; NULL if GDB has no such command */
	const char *more;     /* lines that follow it there; NULL for none */
};

/* A command, as commands.def tells of it. */
struct gh_command {
	const char *name;
	int (*run)(const struct gh_options *options); /* below */
	enum gh_command_group group;
	const char *summary; /* for `goheap --help'; NULL for those that are GDB's */
	struct gh_operands operands;
	const char *about; /* for its own --help */
	struct gh_option options[GH_OPTIONS_MAX];
	struct gh_gdb_command gdb;
};

/* Each prints to standard output and (errors, one line) to standard error, and returns an exit
 * status. */
#define COMMAND(name, ...) int gh_cmd_##name(const struct gh_options *options);
#include "plugin/command/commands.def"
#undef COMMAND

/* The command NAME, or the one whose name begins so if no other's does. NULL if there is none. */
const struct gh_command *gh_command_find(const char *name);

/* Returns "; did you mean NAME?" with the commands that NAME may be meant for, and TASKS if it may
 * be one, or "", to be freed. NULL if memory ran out. */
char *gh_command_nearest(const char *name, bool tasks);

/* A task that people come with, as tasks.def has it. The list ends with one without a name. */
struct gh_task {
	const char *name, *aliases, *title, *text;
};
extern const struct gh_task gh_tasks[];

/* Prints the lists that completion in SHELL needs, at build time. False if SHELL is none. */
bool gh_generate_completion(const char *shell);

/* Command NUMBER, from 0; NULL if there are no more. */
const struct gh_command *gh_command_number(size_t number);

/* Whether COMMAND takes the option whose long name is NAME. */
bool gh_command_takes(const struct gh_command *command, const char *name);

/* The kinds of target that COMMAND answers; 0 if it takes none. */
static inline unsigned gh_command_kinds(const struct gh_command *command)
{
	unsigned kinds = command->operands.kinds;
	if (command->operands.files == 0)
		return 0;
	return kinds != 0 ? kinds : GH_KIND_PROCESS | GH_KIND_CORE | GH_KIND_DUMP;
}

/* Whether COMMAND needs an address after its files: in GDB, that is an expression. */
bool gh_command_takes_addresses(const struct gh_command *command);

/* Standard input, as a file. */
#define GH_INPUT_PATH "/dev/stdin"

/* Finds what the targets that OPTIONS name are, of which "-" is standard input. Returns
 * GH_EXIT_OK if COMMAND answers them, or their program, which then stands for them; else says what
 * to ask instead. */
int gh_target_take(struct gh_options *options, const struct gh_command *command);

/* Finds the program of the target, if COMMAND needs one and OPTIONS do not name it. False, and it
 * is said what to do, if a core file's is not found. */
bool gh_target_find_program(struct gh_options *options, const struct gh_command *command);

/* Runs COMMAND with the arguments ARGV[1] to ARGV[ARGC - 1]; ARGV[0] is written to, and ARGV[ARGC]
 * is NULL. Returns its exit status. Exits, as argp does, on --help and on a usage error. */
int gh_command_run(const struct gh_command *command, int argc, char **argv);

/* How the program ends other than by a return from main. */

/* Has the program say so, and exit with status 1, when its standard output cannot be written, or
 * lacks what gh_leave_out left out, even where a library exits (argp's --help); when a file that it
 * reads is cut short, which would end it with SIGBUS; and remove its temporary files when SIGINT,
 * SIGTERM or SIGHUP ends it. To be called first in main. */
void gh_exit_prepare(void);

/* What is said where nothing is Go's: a process in another language that has loaded no Go library,
 * its core file, or the same in GDB. */

/* The file at PATH can be read, and is no Go program. */
bool gh_file_is_foreign(const char *path);

/* Says that the process of this number or, if PROCESS is NULL, that of the core file at PATH, which
 * has no Go library, runs no Go program. False, and nothing is said, if it does, or that is not
 * known. */
bool gh_foreign_tell(const char *path, const char *process);

/* Says it of the file at PATH, an ELF file that is no core file; of the core file's process. */
void gh_foreign_tell_file(const char *path);
bool gh_foreign_tell_core(const char *path);

/* Says it of what GDB debugs, which runs PROGRAM. */
void gh_foreign_tell_debugged(const char *program);

/* What is to be said of IMAGE, which has no pclntab for the reason in ERR: that, or that it is no
 * Go program. ERR has the text. */
const char *gh_foreign_describe(const struct gh_image *image, struct gh_error *err);

/* Prints "goheap COMMAND", with the files and the process that OPTIONS name, as it is to be typed
 * where this one was. */
void gh_command_line_print(FILE *out, const struct gh_options *options, const char *command);

/* The same after "see ". */
void gh_see_print(FILE *out, const struct gh_options *options, const char *command);

/* The program of a target that was named without it. */

/* Looks for the program of the core file at PATH, which lacks it: where the process had it, beside
 * the core file, among running programs, and where debuggers look. Puts its path into PROGRAM and
 * says in one line that it was found; or returns false, and says where it was looked for. */
bool gh_core_program_find(const char *path, char program[PATH_MAX]);

/* Looks for a program that fits all COUNT heap dumps PATHS in the directory of the first; puts its
 * path into PROGRAM and says so. False, and nothing is said, if there is none, or several. */
bool gh_dump_program_find(const char *const *paths, size_t count, char program[PATH_MAX]);

#endif
