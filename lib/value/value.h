/* Values in the memory of a process, by the types that the program describes, as Delve prints them:
 * structs with their fields, what is behind pointers, the contents of strings, slices, maps and
 * channels, dynamic types and values of interfaces, functions by name.
 *
 * Format: writeTo and its kind in service/api/prettyprint.go of Delve; but a map's entries are in
 * the order of package fmt's, by key, and a channel has its elements.
 *
 * - value.c: what is behind pointers, and parts of values;
 * - value_basic.c, value_map.c, value_channel.c, value_known.c: kinds of values;
 * - value_named.c: types by name. */
#ifndef GH_VALUE_VALUE_H
#define GH_VALUE_VALUE_H

#include "lib/process/process.h"
#include "lib/rtype/rtype.h"

/* Pointers that are followed, one behind the other: unless told, and the most. */
#define GH_VALUE_DEPTH     4
#define GH_VALUE_DEPTH_MAX 64

struct gh_values {
	struct gh_process *process;    /* whose memory it is; not owned */
	const struct gh_rtypes *types; /* of its program; not owned */
	size_t limit;                  /* elements that are printed of each value; SIZE_MAX: all */
	unsigned depth;       /* pointers that are followed, one behind the other; those of slices,
				 maps and channels, too */
	struct gh_buffer out; /* the text, which a terminal may be given; owned */
	/* Private: */
	uint64_t path[GH_VALUE_DEPTH_MAX]; /* that were followed to here */
	unsigned followed;                 /* of these, how many */
};

/* Appends a value of type number TYPE, of the types, that is at ADDRESS. What cannot be read says
 * so. No more is appended once the text is very long. */
void gh_value_print(struct gh_values *values, uint32_t type, uint64_t address);

/* The same of a type whose values are a pointer (gh_value_is_pointer): the value is WORD. */
void gh_value_print_pointer(struct gh_values *values, uint32_t type, uint64_t word);

/* A value of TYPE, a pointer, map, channel or function, is a pointer and nothing else. */
bool gh_value_is_pointer(const struct gh_rtype *type);

/* The same by the type's name as Go writes it, of which the program need not describe what begins
 * it: "*", "[]" or "[N]". Where values of it are pointers WHERE is the value, else its address.
 * False (ERR filled) if the program describes no such type, or several of that name. */
bool gh_value_print_named(struct gh_values *values, const char *name, uint64_t where,
			  struct gh_error *err);

/* COUNT values of type ELEM, one after the other from ADDRESS on, as of a slice. */
void gh_value_print_elements(struct gh_values *values, uint32_t elem, uint64_t address,
			     uint64_t count);

/* Frees the text. */
void gh_values_free(struct gh_values *values);

/* What the files of values share. */

/* Appends text of the printf FORMAT, without what comes of the program. */
__attribute__((format(printf, 2, 3))) void gh_value_add(struct gh_values *values,
							const char *format, ...);

/* Appends a value; SHOWN: with its type, where that is not clear from what it looks like. */
void gh_value_add_any(struct gh_values *values, uint32_t type, uint64_t address, bool shown);

/* Appends that ADDRESS cannot be read. */
void gh_value_add_unreadable(struct gh_values *values, uint64_t address);

/* Appends the name of TYPE, and a space. */
void gh_value_add_type(struct gh_values *values, const struct gh_rtype *type);

/* Appends a number, string or function of TYPE that is at ADDRESS. */
void gh_value_add_basic(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* What elements are: of a type by number, or, if NAME is not NULL, by name. */
struct gh_value_elem {
	uint32_t number; /* GH_NO_RTYPE, without a name: it is not known */
	const char *name;
	uint64_t size; /* in bytes */
};

/* The elements of TYPE, an array, channel or slice. */
struct gh_value_elem gh_value_elem(const struct gh_values *values, const struct gh_rtype *type);

/* Appends COUNT elements of a ring of PLACES, which begins at ADDRESS, from place FIRST on. */
void gh_value_add_elements(struct gh_values *values, const struct gh_value_elem *elem,
			   uint64_t address, uint64_t count, uint64_t first, uint64_t places);

/* Appends the slice at ADDRESS, and, if SHOWN, before it its length and capacity. */
void gh_value_add_slice(struct gh_values *values, const struct gh_value_elem *elem,
			uint64_t address, bool shown);

/* Appends a value of the type called NAME, at WHERE, or, if IS_VALUE, that is WHERE. */
void gh_value_add_named(struct gh_values *values, const char *name, uint64_t where, bool is_value);

/* Appends a map or a channel, whose header is at HEADER. */
void gh_value_add_map(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
		      bool shown);
void gh_value_add_channel(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
			  bool shown);

/* Appends a value of package time or sync by what it means. False, and nothing, if TYPE is another.
 */
bool gh_value_add_known(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* Begins to follow a pointer to ADDRESS. False if that is as deep as it goes. Ends with
 * gh_value_leave. */
bool gh_value_enter(struct gh_values *values, uint64_t address);
void gh_value_leave(struct gh_values *values);

/* Appends that COUNT more follow, if there are any, behind others if not FIRST. */
void gh_value_add_more(struct gh_values *values, uint64_t count, bool first);

/* A word that holds a pointer, of the memory or the program's file. False, and *VALUE 0, if it is
 * not there. */
bool gh_value_word(struct gh_values *values, uint64_t address, uint64_t *value);

/* The dynamic type of the interface of type TYPE at ADDRESS, and where its value is: *NUMBER is
 * GH_NO_RTYPE and *DESCRIPTOR the type's address if the program describes none there, which is 0
 * if the interface is nil. False if it cannot be read. */
bool gh_value_dynamic(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
		      uint32_t *number, uint64_t *descriptor, uint64_t *data);

/* The number of the field NAME of the struct TYPE in *PART. False if it has none. */
bool gh_value_field(const struct gh_rtypes *types, const struct gh_rtype *type, const char *name,
		    struct gh_rtype_part *part);

#endif
