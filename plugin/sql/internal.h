/* What the files beside this one share. */
#ifndef GH_PLUGIN_SQL_INTERNAL_H
#define GH_PLUGIN_SQL_INTERNAL_H

#include <sqlite3.h>
#include <stddef.h>

#include "lib/util/vector.h"
#include "lib/wait/wait.h"
#include "plugin/sql/sql.h"
#include "plugin/view/paths.h"

struct gh_sql_cursor;

/* What a column's value is of: a member of a struct, or, of calls, the whole struct gh_call. */
enum gh_sql_kind {
	GH_SQL_NUMBER,   /* an unsigned one of any size, or a bool */
	GH_SQL_KNOWN,    /* the same; NULL if it is 0 */
	GH_SQL_OBJECT,   /* an object's number: its address; NULL if that is GH_HEAP_NONE */
	GH_SQL_TEXT,     /* a string, which outlives the statement; NULL if there is none */
	GH_SQL_SLICE,    /* of the dump; NULL if it has none */
	GH_SQL_FUNCTION, /* of the call */
	GH_SQL_FILE,     /* where it is; NULL if that is not known */
	GH_SQL_LINE,     /* the same */
};

/* Where MEMBER of a column's struct TYPE is. */
#define GH_SQL_MEMBER(type, member)                                                                \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* A column of a table: its value, and, if it can be looked up by it or sorted by it without looking
 * at all rows, how. */
struct gh_sql_column {
	const char *name;
	const char *type; /* GH_SQL_ADDRESS, or what SQLite knows */
	/* Gives the row's value. NULL: it is the member that the next four tell of. */
	void (*give)(sqlite3_context *out, const struct gh_sql_cursor *cursor);
	/* The row's struct, or NULL if it has none. NULL: it is the cursor's state. */
	const void *(*row)(const struct gh_sql_cursor *cursor);
	enum gh_sql_kind kind;
	size_t offset; /* of the member in the struct, in bytes */
	size_t size;   /* of the member, in bytes */
	/* Has the cursor come to no other rows than those where it is VALUE; it may come to more.
	   NULL: it cannot be looked up. */
	void (*find)(struct gh_sql_cursor *cursor, sqlite3_value *value);
	/* Has the rows come sorted by it. NULL: they cannot. */
	void (*sort)(struct gh_sql_cursor *cursor);
	enum gh_sql_needs needs;
	double matches;    /* rows that have the same value, about, if it can be looked up */
	bool argument;     /* it is no column but the table's argument, which has to be given */
	const char *about; /* for a person, without a full stop */
};

/* The type of columns that are addresses: to SQLite it is that of integers. */
#define GH_SQL_ADDRESS "ADDRESS INTEGER"

/* A table. Its rows are parts of items, which are numbered: of refs, pointers of objects. */
struct gh_sql_table {
	const char *name;
	const char *about;                   /* a row of it, for a person, without a full stop */
	const struct gh_sql_column *columns; /* ended by one without a name */
	enum gh_sql_needs needs;             /* whatever is read of it */
	bool is_summary;                     /* of a heap of any size, some thousand rows */
	double rows;                         /* that there are in a heap of a million objects */
	size_t state;                        /* bytes of what a cursor keeps of the item it is at */
	/* Its items are records of these kinds; the second may be GH_DUMP_EOF: none. */
	enum gh_dump_kind records[2];
	/* The SELECT that it is a view of; NULL: it has items. A view's columns are names alone. */
	const char *query;
	/* How many items there are. */
	uint64_t (*count)(struct gh_sql_cursor *cursor);
	/* Has the cursor be at its item. False if that has no rows. NULL: there is nothing to do.
	 */
	bool (*load)(struct gh_sql_cursor *cursor);
	/* Has it be at the next part of the item, which is number cursor->part, from 1, unless that
	   is set to another that tells the parts of the item apart. False if there are no more.
	   NULL: an item is one row. */
	bool (*step)(struct gh_sql_cursor *cursor);
	/* Frees what the state has. NULL: nothing. */
	void (*close)(struct gh_sql_cursor *cursor);
};

/* A walk over the rows of a table. */
struct gh_sql_cursor {
	sqlite3_vtab_cursor base; /* SQLite's */
	struct gh_sql *sql;
	const struct gh_sql_heap *heap;
	const struct gh_sql_table *table;
	void *state;           /* of the table's size; owned */
	uint64_t at;           /* place of the next item */
	uint64_t end;          /* one past the last */
	const uint32_t *order; /* items by place; NULL: they are the places; not owned */
	uint32_t *found;       /* the same, owned; or NULL */
	uint32_t target;       /* refs: the object that all point to; or GH_HEAP_NONE */
	uint64_t item;         /* that it is at */
	uint64_t part;         /* of the item, that it is at */
	bool in_item;          /* more parts may follow */
	bool ended;
	bool failed; /* memory ran out */
};

/* All tables, in the order in which they are told of. */
extern const struct gh_sql_table *const gh_sql_tables[];
extern const size_t gh_sql_ntables;

extern const struct gh_sql_table gh_sql_objects, gh_sql_types, gh_sql_strings;
extern const struct gh_sql_table gh_sql_maps, gh_sql_paths, gh_sql_stacks;
extern const struct gh_sql_table gh_sql_goroutines, gh_sql_frames, gh_sql_slots, gh_sql_waits;
extern const struct gh_sql_table gh_sql_sites, gh_sql_samples, gh_sql_segments, gh_sql_itabs,
    gh_sql_finalizers;
extern const struct gh_sql_table gh_sql_refs, gh_sql_roots, gh_sql_retained, gh_sql_path;

/* What is held by a way and all that go on from it. */
struct gh_sql_held {
	uint64_t objects;
	uint64_t bytes; /* in them */
};

/* A goroutine's id, and its number. */
struct gh_sql_id {
	uint64_t id;
	uint32_t number;
};

/* A function that statements can call. */
struct gh_sql_function {
	const char *name;
	int arguments;
	void (*call)(sqlite3_context *out, int argc, sqlite3_value **argv);
	enum gh_sql_needs needs;
	const char *form;  /* for a person */
	const char *about; /* the same */
};

/* All of them, ended by one without a name. */
extern const struct gh_sql_function gh_sql_functions[];

/* Has them be there in the connection. Returns SQLite's result. */
int gh_sql_add_functions(struct gh_sql *sql);

/* What is made of the heap once a statement comes to need it. */
struct gh_sql_made {
	uint32_t *by_type;             /* objects, by their types' names; owned */
	uint32_t *ranks;               /* by rank: the class; owned */
	uint32_t *starts;              /* by rank: where its objects begin in by_type, and one past
					  the last; owned */
	struct gh_histogram_row *sums; /* by class; owned */
	struct gh_dominator_tree tree; /* of dominators */
	bool has_tree;
	struct gh_heap_strings strings;
	bool has_strings;
	struct GH_VECTOR(struct gh_sql_id) ids; /* of the goroutines, in ascending order */
	struct gh_waits waits;
	bool has_waits;
	struct gh_leaked leaked;
	bool has_leaked;
	struct gh_allocations allocations;
	bool has_allocations;
	struct gh_merged_paths paths;
	struct gh_sql_held *held;  /* by node of the paths; owned; NULL if there are none */
	struct gh_process process; /* whose memory is the dump's */
	struct gh_memory memory;   /* of the process */
	bool has_process;
};

struct gh_sql_statements GH_VECTOR(sqlite3_stmt *);

struct gh_sql {
	sqlite3 *db;
	struct gh_sql_statements statements;
	enum gh_sql_needs needs; /* of the statements */
	bool declares; /* a table is made known to SQLite, which runs statements of its own
			  then */
	struct gh_sql_heap heap; /* zeros until there is one */
	struct gh_sql_made made;
};

/* TABLE takes an argument. */
bool gh_sql_has_argument(const struct gh_sql_table *table);

/* Has the tables be there in the connection. Returns SQLite's result. */
int gh_sql_add_tables(struct gh_sql *sql);

/* Prints the rows that STATEMENT gives. Returns SQLite's result: SQLITE_DONE at the end. */
int gh_sql_print_rows(sqlite3_stmt *statement, enum gh_sql_form form, FILE *out);

/* Values of columns. */

/* The value of COLUMN, which is a member. */
void gh_sql_give_member(sqlite3_context *out, const struct gh_sql_cursor *cursor,
			const struct gh_sql_column *column);

void gh_sql_give_number(sqlite3_context *out, uint64_t number);

/* The same, or NULL if it is 0. */
void gh_sql_give_known(sqlite3_context *out, uint64_t number);

/* TEXT, which outlives the statement; or NULL. */
void gh_sql_give_text(sqlite3_context *out, const char *text);

/* The SIZE bytes at DATA, which outlive the statement. */
void gh_sql_give_bytes(sqlite3_context *out, const void *data, size_t size);

/* SLICE of the dump; or NULL, if that has none. */
void gh_sql_give_slice(sqlite3_context *out, const struct gh_sql_cursor *cursor,
		       struct gh_dump_slice slice);

/* The address of OBJECT; or NULL, if that is GH_HEAP_NONE. */
void gh_sql_give_object(sqlite3_context *out, const struct gh_sql_cursor *cursor, uint32_t object);

/* The address, and what it is called, of the object that CURSOR is at: of tables whose items are
 * objects. */
void gh_sql_give_item(sqlite3_context *out, const struct gh_sql_cursor *cursor);
void gh_sql_give_item_type(sqlite3_context *out, const struct gh_sql_cursor *cursor);

/* A copy of what BUFFER has, which is freed; or NULL, if it was not FOUND. */
void gh_sql_give_buffer(sqlite3_context *out, struct gh_buffer *buffer, bool found);

/* The name of the type whose descriptor is at ADDRESS: the program's, or the dump's; or NULL. */
void gh_sql_give_type_at(sqlite3_context *out, const struct gh_sql_cursor *cursor,
			 uint64_t address);

/* What STREAM, of open_memstream, has written to *TEXT, *SIZE bytes, all of it if WRITTEN; STREAM
 * is closed, and may be NULL, if memory ran out. */
void gh_sql_give_stream(sqlite3_context *out, FILE *stream, bool written, char **text,
			size_t *size);

/* Has CURSOR come to those items alone that are numbered from FIRST up to END, which is not one. */
void gh_sql_take(struct gh_sql_cursor *cursor, uint64_t first, uint64_t end);

/* The object that begins at VALUE, or that has it; or GH_HEAP_NONE. */
uint32_t gh_sql_object(const struct gh_sql_cursor *cursor, sqlite3_value *value);

/* Has CURSOR come to object VALUE alone: of tables whose items are objects. */
void gh_sql_find_object(struct gh_sql_cursor *cursor, sqlite3_value *value);

/* For columns by which the rows come sorted anyway: objects are numbered by address. */
void gh_sql_stay_sorted(struct gh_sql_cursor *cursor);

/* The id of goroutine NUMBER. */
uint64_t gh_sql_goroutine_id(const struct gh_sql_cursor *cursor, size_t number);

/* The number of objects. */
uint64_t gh_sql_count_objects(struct gh_sql_cursor *cursor);

/* What objects are called, by number. */
const char *gh_sql_type_of(const struct gh_sql_cursor *cursor, uint32_t object);

/* Frees what was made, and has it be made anew. */
void gh_sql_free_made(struct gh_sql_made *made);

/* Finds the waits, unless they are there. False if memory ran out. */
bool gh_sql_find_waits(struct gh_sql *sql);

#endif
