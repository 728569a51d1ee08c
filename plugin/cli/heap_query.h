/* What the commands that answer a query about the heap share. */
#ifndef GH_PLUGIN_CLI_HEAP_QUERY_H
#define GH_PLUGIN_CLI_HEAP_QUERY_H

#include "lib/heap/heap.h"
#include "plugin/cli/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A query about the heap of a dump: what the commands that answer one read. */

struct gh_heap_query {
	const struct gh_options *options; /* the caller's */
	struct gh_dump dump;              /* that it is about */
	struct gh_heap heap;              /* of the dump */
	struct gh_dominators dominators;  /* zeros unless they were asked for */
	struct gh_dominator_tree tree;    /* of these; zeros unless gh_heap_query_prepare made it */
	struct gh_path_tree paths;        /* to all objects; zeros unless whoever asks made it */
	struct gh_names names;            /* of what is in the heap */
	struct gh_heap_strings strings;   /* none unless has_strings */
	struct gh_symbols symbols;        /* if a program is given */
	char running[32]; /* path of the program that a process runs, if none is given */
	const char *twin; /* path of that program with DWARF; NULL if there is none; not owned */
	bool is_kept;     /* for the next question */
	bool has_strings; /* they were found */
};

/* Opens the heap that PATH is for: of a heap dump, of a core file, of the process that OPTIONS name
 * by PATH, or of what GDB debugs, if PATH is the session's socket. On failure prints the error and
 * returns false. To be closed with gh_dump_close. */
bool gh_heap_query_dump(struct gh_dump *dump, const struct gh_options *options, const char *path);

/* DUMP is cut off before the data segments: what is garbage cannot be told. */
bool gh_heap_query_lacks_roots(const struct gh_dump *dump);

/* What a query needs: each, all before it too. */
enum gh_heap_with { GH_WITH_GRAPH, GH_WITH_NAMES, GH_WITH_DOMINATORS };

/* Reads the dump PATH and makes the graph of its heap, and what it is to be WITH; or takes what is
 * kept of it. What is wrong with the heap is told in one line. On failure prints the error and
 * returns NULL. To be closed with gh_heap_query_close. */
struct gh_heap_query *gh_heap_query_open(const struct gh_options *options, const char *path,
					 enum gh_heap_with with);

/* The same of DUMP, which is taken over, also on failure; PATH is what it was read from. */
struct gh_heap_query *gh_heap_query_make(const struct gh_options *options, struct gh_dump *dump,
					 const char *path, enum gh_heap_with with);

/* Finds the strings of QUERY, unless they were found before. False (ERR filled) if memory ran out.
 */
bool gh_heap_query_find_strings(struct gh_heap_query *query, struct gh_error *err);

/* Finds what many questions need, for which one alone would not wait: the strings of QUERY, which
 * has dominators, and the tree of these. False (ERR filled) if memory ran out. */
bool gh_heap_query_prepare(struct gh_heap_query *query, struct gh_error *err);

/* Says in one line on standard error what is wrong with the heap, if anything is. */
void gh_heap_query_print_damage(const struct gh_heap_query *query);

struct gh_sql_heap;

/* QUERY as the heap that SQL asks (plugin/sql/sql.h), as far as it was made. */
struct gh_sql_heap gh_heap_query_sql(struct gh_heap_query *query);

/* OLDER is the later one, by the last garbage collections of their dumps. */
bool gh_heap_query_is_reversed(const struct gh_heap_query *older,
			       const struct gh_heap_query *newer);

/* Says if the dumps of OLDER and NEWER are not of one build of a program, or were named the wrong
 * way round. */
void gh_heap_query_compare(const struct gh_heap_query *older, const struct gh_heap_query *newer);

/* QUERY may be NULL. */
void gh_heap_query_close(struct gh_heap_query *query);

/* Runs ANSWER on the dump that OPTIONS name. The exit status is the answer's, unless there is
 * nothing to answer on. */
int gh_heap_query_run(const struct gh_options *options, enum gh_heap_with with,
		      int (*answer)(struct gh_heap_query *query));

/* The same for each of the addresses, in their order: ANSWER gets the object there. An address in
 * none is an error, told in one line. */
int gh_heap_query_run_each(const struct gh_options *options, enum gh_heap_with with,
			   int (*answer)(struct gh_heap_query *query, uint32_t object,
					 uint64_t address));

/* The heap that is kept from one question to the next. The process that keeps it forks for each
 * question, and has the child run the command as if there were no other: what a command does to the
 * graph, or to the process, ends with it. What is needed and is not there yet the child does not
 * make: it ends, and begins again when the process has made it. Answers about the whole heap are
 * kept as well, for as long as it is as it was. */

/* A heap to keep, and the programs that it is read by; these may be NULL. Not owned. The heap of a
 * process stays as it was when it was read. */
struct gh_kept_source {
	const char *file; /* a dump, a core file, the session's socket, or PROCESS itself */
	const char *program;
	const char *names;
	const char *process; /* the number of the one whose heap it is; NULL if it is of a file */
	bool is_prompted;    /* commands are typed at goheap's own prompt */
};

/* Room that the same takes on a command line, with the command's name and the end. */
#define GH_KEPT_ARGUMENTS 8

/* Fills ARGV with the command line by which COMMAND is run on SOURCE with the arguments WORDS, of
 * which there are COUNT. Returns how many words there are. */
int gh_kept_arguments(const struct gh_kept_source *source, const struct gh_command *command,
		      int count, char *const *words, char **argv);

/* Has the heap of SOURCE, which stays the caller's, be kept from the first question on. */
void gh_kept_begin(const struct gh_kept_source *source);

/* Makes its graph now; WITH_DOMINATORS, these too. On failure prints the error and returns false.
 */
bool gh_kept_open(bool with_dominators);

/* Runs COMMAND as gh_command_run does, in a child. There WORKS is called with true first, and here
 * with true before, and with false after, something is made for it: who stays when the user
 * interrupts a command need not do so then. Returns the exit status; GH_EXIT_INPUT if there can be
 * none. */
int gh_kept_run(const struct gh_command *command, int argc, char **argv,
		void (*works)(bool begins));

/* In a child, the heap that is kept, if it is what OPTIONS and PATH ask for; it does not return if
 * that is to be made first. Else NULL. */
struct gh_heap_query *gh_kept_heap(const struct gh_options *options, const char *path,
				   enum gh_heap_with with);

/* Likewise a copy of the dump that it was made of: that stays open when DUMP is closed. */
bool gh_kept_dump(struct gh_dump *dump, const struct gh_options *options, const char *path);

/* In a child that answers about the whole of the heap that is kept: has the answer be kept, too. */
void gh_kept_record(void);

/* Begins to answer, in a child whose output is lost, what people are likely to ask about the whole
 * heap next. Returns the child; -1 if there is nothing of that kind left. */
pid_t gh_kept_begin_ahead(void);

/* Waits for CHILD, which did that. Or, STOPS, ends it: it begins again later. */
void gh_kept_end_ahead(pid_t child, bool stops);

/* This is the child that runs a command on the heap that is kept. */
bool gh_kept_is_child(void);

/* Has QUERY be the heap that is kept, for as long as it is; SOURCE says what it was read from. And
 * OLDER_QUERY that of the older dump OLDER; both may be NULL. All stay the caller's, and have
 * dominators. */
void gh_kept_take(const struct gh_kept_source *source, struct gh_heap_query *query,
		  const char *older, struct gh_heap_query *older_query);

/* In a child, a descriptor of the program that the process ran whose heap gh_kept_take has kept, if
 * OPTIONS ask for that or for the older dump: the process may have ended since. Else -1. */
int gh_kept_running(const struct gh_options *options);

/* Begins to run COMMAND in a child, as gh_kept_run does, for the files OUT and ERR to have what it
 * prints. Returns the child, to be waited for; -1 (errno) if there is none. */
pid_t gh_kept_start(const struct gh_command *command, int argc, char **argv, int out, int err);

/* Runs COMMAND in this process, which answers nothing else after that but what gh_kept_take has
 * kept. Returns the exit status. */
int gh_kept_answer(const struct gh_command *command, int argc, char **argv);

/* The command that runs was typed at goheap's own prompt. */
bool gh_kept_is_prompted(void);

/* A prompt, at which one line after the other is answered from the heap that is kept. */

/* What comes after a line. */
enum gh_prompt_next {
	GH_PROMPT_NEXT,
	GH_PROMPT_MORE, /* a line that goes on */
	GH_PROMPT_END,
};

struct gh_prompt {
	const char *text;
	const char *more_text;                                    /* before a line that goes on */
	const char *breaks;                                       /* the characters between words */
	char **(*complete)(const char *text, int start, int end); /* as readline has it */
	/* Forgets the lines that go on, which the user interrupts. NULL: none do. */
	void (*forget)(void);
	/* Answers LINE, which it may change; NULL at the end. */
	enum gh_prompt_next (*answer)(const struct gh_kept_source *source, char *line);
};

/* Runs PROMPT on the heap that OPTIONS say, until the end. The exit status. */
int gh_prompt_run(const struct gh_prompt *prompt, const struct gh_options *options);

/* For gh_kept_run: the user interrupts what works, not the prompt. */
void gh_prompt_work(bool begins);

/* That of `goheap sql' without a query. */
int gh_sql_prompt(const struct gh_options *options);

/* Arguments that gh_sql_words may add. */
#define GH_SQL_WORDS 2

/* Has ARGS, which are *COUNT words that were TYPED after `sql' without their quotes, be the options
 * among them, and the rest, with its quotes, as one argument, which is returned to be freed. NULL
 * if there is none, or memory ran out. */
char *gh_sql_words(int *count, char **args, char *const *typed);

/* Runs COMMAND on the heap that SOURCE says, as gh_kept_run does, in the process that keeps it for
 * the GDB whose session is in DIRECTORY. There is one until GDB ends, however it does, or nothing
 * has been asked for long. */
int gh_keeper_run(const char *directory, const struct gh_kept_source *source,
		  const struct gh_command *command, int argc, char **argv);

/* Has this process end when the GDB does whose session is in DIRECTORY. False if it cannot. */
bool gh_keeper_end_with_gdb(const char *directory);

/* Answers that are kept as they were printed: what looks at the whole heap takes seconds. */

struct gh_answer {
	char *question; /* the command's words, a NUL after each; owned */
	size_t length;  /* of the question, in bytes */
	char *text;     /* owned */
	size_t size;    /* of the text, in bytes */
};

struct gh_answers {
	struct GH_VECTOR(struct gh_answer) all;
	int record; /* a file in memory, into which the process that answers copies what it prints
		     */
};

/* There are none. False if none can be kept. */
bool gh_answers_begin(struct gh_answers *answers);

/* What they are about has changed. */
void gh_answers_forget(struct gh_answers *answers);

/* What the command line ARGV, of ARGC words, printed. NULL if it is to be asked again. */
const struct gh_answer *gh_answers_find(const struct gh_answers *answers, int argc, char **argv);

/* Before another process answers. */
void gh_answers_clear_record(const struct gh_answers *answers);

/* In that process: has all that it prints from now on be recorded. */
void gh_answers_record(struct gh_answers *answers);

/* After it has answered ARGV, keeps what is in the file RECORD, unless it is long. */
void gh_answers_keep(struct gh_answers *answers, int record, int argc, char **argv);

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

/* The objects of a heap in groups: by type, by size, by the place that allocated them, or by what
 * holds them. */

struct gh_groups {
	const struct gh_names *names; /* the query's */
	enum gh_grouping by;          /* what they have in common */
	const uint32_t *of;           /* by object: its group's number */
	uint32_t *numbers;            /* the same, if it is not the names'; owned */
	struct GH_VECTOR(
	    char *) texts; /* by number: what they are called, unless that is by type */
	size_t count;      /* of groups */
};

/* Groups the objects of QUERY. False, and the error printed, if memory ran out. To be freed either
 * way. */
bool gh_groups_make(struct gh_groups *groups, struct gh_heap_query *query, enum gh_grouping by);

/* What objects of group NUMBER are called; to be escaped. */
const char *gh_groups_name(const struct gh_groups *groups, uint32_t number);

/* The last column of a table of groups: their names, which are the members at OFFSET in its rows;
 * in JSON a size is a number. */
struct gh_column gh_groups_column(const struct gh_groups *groups, size_t offset);

void gh_groups_free(struct gh_groups *groups);

/* Prints to OUT what has grown from OLDER to NEWER, which have dominators, in groups: the LIMIT
 * that have changed by most bytes, as a table with its sums, or as JSON, an object a line. False if
 * memory ran out. */
bool gh_growth_print(FILE *out, struct gh_heap_query *older, struct gh_heap_query *newer,
		     enum gh_grouping by, size_t limit, bool json);

/* A picture of objects of a heap and of what they retain. */

/* A picture while it is drawn. */
struct gh_picture {
	struct gh_heap_query *query; /* the caller's; has dominators */
	struct gh_dot dot;
	size_t limit; /* of objects */
};

/* The bytes that OBJECT retains. */
uint64_t gh_picture_retained(const struct gh_picture *picture, uint32_t object);

/* Puts BYTES and their share of the heap, after BEFORE, into the label that is begun. */
void gh_picture_share(const struct gh_picture *picture, const char *before, uint64_t bytes);

/* Draws OBJECT; MARKED if it was asked for. */
void gh_picture_object(const struct gh_picture *picture, uint32_t object, bool marked);

/* Draws COUNT objects, of which OBJECT retains most, and which retain so many bytes together. */
void gh_picture_line(const struct gh_picture *picture, uint32_t object, uint32_t count,
		     uint64_t retained);

/* Draws ROOT and the line to its object, which is heavy if it is of the PATH. */
void gh_picture_root(struct gh_picture *picture, const struct gh_root *root, bool path);

/* Draws what the picture is of: the dump, and the SHOWN of its objects. */
void gh_picture_legend(struct gh_picture *picture, size_t shown);

/* What is around an object, as a picture: the shortest way to it from a root, what points to it,
 * and what it points to. */

/* Draws what is around CENTER, so many objects as are the picture's limit. False if memory ran out.
 */
bool gh_neighborhood_draw(struct gh_picture *picture, uint32_t center);

/* What keeps most of the heap alive, as a tree: the objects that retain most, each below what
 * dominates it. A map of a million entries is not a million lines of it, nor a list: objects of one
 * class are one line if they are dominated by objects of one line, and an object is in the line of
 * one of its class that dominates it. Those that nothing dominates are if no root points to them,
 * or if those that do are of the same slot in the frames of goroutines with the same stack. */

struct gh_merged_line {
	uint32_t object;   /* that of the line that retains most */
	uint32_t count;    /* objects in the line */
	uint32_t heads;    /* those of them that none of the line dominates */
	uint64_t retained; /* bytes that would go with the line */
	uint32_t parent;   /* the line that it is below; GH_HEAP_NONE for none */
	uint32_t child;    /* the first line below; GH_HEAP_NONE for none */
	uint32_t sibling;  /* the next line with its parent; GH_HEAP_NONE for none */
};

struct gh_merged_dominators {
	struct gh_merged_line *lines; /* the largest first; owned */
	size_t count;                 /* of lines */
	uint64_t seen;                /* how many there would be without a limit */
};

/* Makes the tree of the LIMIT (SIZE_MAX: all) lines of HEAP that retain most; of the object TOP and
 * what it dominates, unless that is GH_HEAP_NONE. CLASSES are by object. False if memory ran out;
 * to be freed either way. */
bool gh_merged_dominators_make(struct gh_merged_dominators *tree, const struct gh_heap *heap,
			       const struct gh_dominators *dominators, const uint32_t *classes,
			       uint32_t top, size_t limit);

void gh_merged_dominators_free(struct gh_merged_dominators *tree);

/* What in a heap may be leaking: the holders that by themselves keep much of it alive, the objects
 * that several hold together, with what there is most of in each; much garbage; and a text that
 * takes much by its copies. What is worth telling is by what roots reach, but for garbage; the
 * shares that are told are of the whole heap, as those of all commands. */

/* Findings that are told, and the parts of one. */
#define GH_SUSPECTS_MAX  5
#define GH_SUSPECT_PARTS 3

enum gh_suspect_kind {
	GH_SUSPECT_HOLDER,  /* one holds it all */
	GH_SUSPECT_SHARED,  /* objects of one class that several hold */
	GH_SUSPECT_GARBAGE, /* what nothing holds, and was not collected yet */
	GH_SUSPECT_STRING,  /* one text many times */
};

/* Objects of a class. */
struct gh_suspect_part {
	uint32_t class;
	uint64_t objects;
	uint64_t bytes; /* in them */
};

struct gh_suspect {
	enum gh_suspect_kind kind;
	uint32_t number;             /* of the holder, or the class of those that are shared */
	uint64_t shared;             /* how many those are */
	uint64_t bytes;              /* that would go with it */
	struct gh_known before;      /* as many in the older heap */
	struct gh_suspect_part most; /* the class that tells most of what it is, if by few bytes */
	struct gh_known objects_before;
	uint32_t example; /* one of those objects; GH_HEAP_NONE if there is none */
	struct gh_suspect_part parts[GH_SUSPECT_PARTS]; /* the most bytes first */
	size_t nparts;
	struct gh_heap_string text; /* of GH_SUSPECT_STRING */
};

/* The analysis of one heap. */
struct gh_suspects {
	struct gh_heap_query *query; /* the caller's */
	struct gh_held held;
	uint32_t *above;               /* by class: zeros, for counting; owned */
	struct gh_histogram_row *rows; /* by class: of the finding that is looked at; owned */
	struct gh_suspect found[GH_SUSPECTS_MAX]; /* what keeps, or has grown, most comes first */
	size_t count;
	uint64_t reachable;  /* bytes that roots lead to */
	bool hides_cleanups; /* garbage may be what cleanups keep */
	bool compares;       /* with an older heap */
};

/* Finds what in the heap of QUERY is suspect; with OLDER, an analysis of the same program's, what
 * has grown since. OLDER may be NULL. False (ERR filled) if memory ran out. To be freed either way.
 */
bool gh_suspects_find(struct gh_suspects *suspects, struct gh_heap_query *query,
		      struct gh_suspects *older, struct gh_error *err);

void gh_suspects_free(struct gh_suspects *suspects);

/* Slices each of which alone keeps an array and has a sliver of it. */
struct gh_suspect_slices {
	uint64_t count;
	uint64_t used;   /* bytes of the arrays that they have */
	uint64_t bytes;  /* in the arrays */
	uint32_t object; /* that the first of them is in */
	uint64_t offset; /* there, in bytes */
};

/* Finds those for the arrays that SUSPECT is mostly made of. False if it is not, or they are not
 * held like that. */
bool gh_suspect_slices_find(struct gh_suspect_slices *slices, const struct gh_suspects *suspects,
			    const struct gh_suspect *suspect);

/* Maps that keep room for many more entries than they have. */
struct gh_suspect_maps {
	uint64_t count;
	uint64_t entries; /* of all of them */
	uint64_t room;    /* for so many */
	uint64_t bytes;   /* of that room */
};

/* Finds those of which SUSPECT is mostly made. False if it is not, or they have no such room. */
bool gh_suspect_maps_find(struct gh_suspect_maps *maps, const struct gh_suspects *suspects,
			  const struct gh_suspect *suspect);

/* Objects of the class NAME are what a map keeps its entries in. */
bool gh_suspect_is_of_map(const char *name);

/* Prints SUSPECT for a person, as a sentence and some lines that say more. */
void gh_suspect_print(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect);

/* Prints SUSPECT, which is no garbage and no text, as one clause: what there is most of, how much
 * of the heap that is, and who holds it. */
void gh_suspect_print_short(FILE *out, struct gh_suspects *suspects,
			    const struct gh_suspect *suspect);

/* Prints all of them as JSON, an object a line. */
void gh_suspects_emit(FILE *out, struct gh_suspects *suspects);

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

/* Findings beside the heap's holders. */

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
