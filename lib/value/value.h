/* Values in the memory of a process, by the types that the program describes, as Delve prints them:
 * structs with their fields, what is behind pointers, the contents of strings, slices, maps and
 * channels, dynamic types and values of interfaces, functions by name.
 *
 * Format: writeTo and its kind in service/api/prettyprint.go of Delve; but a map's entries are in
 * the order of package fmt's, by key, and a channel has its elements.
 *
 * - value.c: what is behind pointers, and parts of values; value_form.c: what JSON has in another
 *   form than text;
 * - value_basic.c: numbers, and a time.Duration; value_text.c: strings and bytes;
 *   value_function.c: functions; value_map.c: maps, and where they have keys and values;
 *   value_channel.c: channels;
 * - value_known.c: the structs and slices that are printed by what they mean, each a row of its
 *   table, with the code for those of time, sync, strings, bytes and reflect; value_context.c has
 *   that for contexts, value_big.c for math/big, value_netip.c for net and net/netip;
 * - value_named.c: types by name; value_bytes.c: values that are in registers;
 * - value_frame.c: what a frame of the stack has; value_likely.c: words of no type;
 * - value_field.c: a field of a value as a number or text; value_part.c: a part of a value, by
 *   fields, indexes, keys and dynamic types. */
#ifndef GH_VALUE_VALUE_H
#define GH_VALUE_VALUE_H

#include "lib/code/code.h"
#include "lib/process/process.h"
#include "lib/rtype/rtype.h"

/* The most pointers that are followed, one behind the other. */
#define GH_VALUE_DEPTH_MAX 64

struct gh_values {
	struct gh_process *process;    /* whose memory it is; not owned */
	const struct gh_rtypes *types; /* of its program; not owned */
	size_t limit;                  /* elements that are printed of each value; SIZE_MAX: all */
	unsigned depth;       /* pointers that are followed, one behind the other; those of slices,
				 maps and channels, too */
	bool json;            /* JSON is made, and no text */
	const char *part;     /* what gh_value_print_named and gh_value_print_bytes print of the
				 value, as Go writes it: ".Next.Names[0]", "[\"key\"].(*main.User)";
				 a pointer's target is ".*"; NULL: all of it; not owned */
	struct gh_buffer out; /* the text, which a terminal may be given; owned */
	uint64_t untyped;     /* the first pointer of a frame that is shown as an address alone and
				 may be an object's of the heap; 0: none yet */
	/* Private: */
	uint64_t path[GH_VALUE_DEPTH_MAX]; /* that were followed to here */
	unsigned followed;                 /* of these, how many */
	unsigned nested;                   /* interfaces that what is printed is in */
};

/* Appends a value of type number TYPE, of the types, that is at ADDRESS. What cannot be read says
 * so. No more is appended once the text is very long. */
void gh_value_print(struct gh_values *values, uint32_t type, uint64_t address);

/* The same of a type whose values are a pointer and nothing else: the value is WORD. */
void gh_value_print_pointer(struct gh_values *values, uint32_t type, uint64_t word);

/* The same by the type's name as Go writes it, of which the program need not describe what begins
 * it: "*", "[]" or "[N]". Where values of it are pointers WHERE is the value, else its address; of
 * a map, channel or function either.
 * False (ERR filled) if the program describes no such type, or several of that name. */
bool gh_value_print_named(struct gh_values *values, const char *name, uint64_t where,
			  struct gh_error *err);

/* The same of the value's own BYTES, SIZE of them in the order of memory: it may be in registers.
 */
bool gh_value_print_bytes(struct gh_values *values, const char *name, const uint8_t *bytes,
			  size_t size, struct gh_error *err);

/* COUNT values of type ELEM, one after the other from ADDRESS on, as of a slice. */
void gh_value_print_elements(struct gh_values *values, uint32_t elem, uint64_t address,
			     uint64_t count);

/* Begins and ends a JSON object that tells the type of the value that is appended between:
 * {"type": BEFORE and TYPE, "value": ...}, unless TYPE is empty; PERHAPS: that it may be another.
 */
void gh_value_open(struct gh_values *values, const char *before, struct gh_rtype_text type,
		   bool perhaps);
void gh_value_close(struct gh_values *values);

/* One past what closes the bracket at TEXT, quoted text aside; NULL if nothing does. */
const char *gh_value_index_end(const char *text);

/* Appends COUNT words of 8 bytes whose types are not known, each with a question mark: numbers, or,
 * two neighbours, the string or the interface that they look like. */
void gh_value_print_words(struct gh_values *values, const uint64_t *words, size_t count);

/* Registers, by DWARF's numbers, that can pass arguments and results. */
#define GH_VALUE_REGISTERS 80

/* Appends the parameter or result PASSED in REGISTERS, or in memory, where such begin at STACK. */
void gh_value_print_passed(struct gh_values *values, const struct gh_result *passed,
			   const uint64_t registers[GH_VALUE_REGISTERS], uint64_t stack);

/* A frame of the stack. */
struct gh_value_frame {
	uint64_t pc;               /* where it is, in the process */
	uint64_t sp;               /* its stack pointer there */
	bool is_innermost;         /* it goes on at PC; else it has called, which returns there */
	const uint64_t *registers; /* of the innermost; NULL: they are not known; not owned */
};

/* Appends the arguments of FRAME, a line each, as "arg0 = ...", and of one that has called the
 * words that hold pointers, named by their offset from SP, as "sp_0x18 = ...". SIGNATURES are of
 * the types. What is only likely is followed by a question mark: arguments where the function has
 * saved them, but for those of a function that has just begun; and what two words look like that
 * have no type, a string of valid UTF-8 or an interface. False if the program has no function
 * there.
 */
bool gh_value_print_frame(struct gh_values *values, const struct gh_value_frame *frame,
			  const struct gh_signatures *signatures);

/* Appends the value of FRAME's argument NUMBER to BYTES. *LIKELY: it is what the function has
 * saved, which may have changed since. Gives its type; GH_NO_RTYPE if that or a part of it is not
 * known, or memory ran out. */
uint32_t gh_value_frame_argument(struct gh_values *values, const struct gh_value_frame *frame,
				 const struct gh_signatures *signatures, unsigned number,
				 struct gh_buffer *bytes, bool *likely);

/* Appends the words of FRAME's argument NUMBER, whose type is not known, to BYTES. *LIKELY is as
 * above. False if not all of them are known, or memory ran out. */
bool gh_value_frame_words(struct gh_values *values, const struct gh_value_frame *frame,
			  const struct gh_signatures *signatures, unsigned number,
			  struct gh_buffer *bytes, bool *likely);

/* Appends the value of FRAME's argument NUMBER, of which the type need not be known, as
 * gh_value_print_frame does. False if nothing of it is known. */
bool gh_value_print_argument(struct gh_values *values, const struct gh_value_frame *frame,
			     const struct gh_signatures *signatures, unsigned number);

/* What a field has. */
enum gh_scalar_kind {
	GH_SCALAR_NONE, /* there is no such field, it is nil, or it cannot be read */
	GH_SCALAR_INTEGER,
	GH_SCALAR_REAL,
	GH_SCALAR_TEXT, /* in gh_values.out */
};

struct gh_scalar {
	enum gh_scalar_kind kind;
	int64_t integer; /* a pointer's is an address, and a slice's that of its first element */
	double real;
};

/* Reads the field PATH of the value of type TYPE that is at ADDRESS: "header.next.name", through
 * pointers and interfaces; "" is the value itself, and the last name may be len, of a string or
 * slice, or cap. A time.Time is seconds since 1970, what else is a struct or array is text, as
 * gh_value_print appends it. No more than a megabyte of a string is read. */
void gh_value_read_field(struct gh_values *values, uint32_t type, uint64_t address,
			 const char *path, struct gh_scalar *scalar);

/* Frees the text. */
void gh_values_free(struct gh_values *values);

#endif
