/* What the files that print values share. */
#ifndef GH_VALUE_INTERNAL_H
#define GH_VALUE_INTERNAL_H

#include "lib/value/value.h"

/* Appends text of the printf FORMAT, without what comes of the program. */
__attribute__((format(printf, 2, 3))) void gh_value_add(struct gh_values *values,
							const char *format, ...);

/* Appends a value; SHOWN: with its type, where that is not clear from what it looks like. */
void gh_value_add_any(struct gh_values *values, uint32_t type, uint64_t address, bool shown);

/* Appends TEXT, or if it is JSON that is made, JSON. */
void gh_value_add_either(struct gh_values *values, const char *text, const char *json);

/* Appends to JSON BEFORE, and a KEY; nothing to text. */
void gh_value_json(struct gh_values *values, const char *before, const char *key);

/* Appends that an unknown number more follow: TEXT, or JSON with BEFORE. */
void gh_value_add_rest(struct gh_values *values, const char *text, const char *before);

/* Appends that ADDRESS cannot be read. */
void gh_value_add_unreadable(struct gh_values *values, uint64_t address);

/* Appends the name of TYPE, and a space; nothing to JSON. */
void gh_value_add_type(struct gh_values *values, const struct gh_rtype *type);

/* Appends the NAME of a field, of LENGTH bytes, and a colon. */
void gh_value_add_key(struct gh_values *values, const char *name, size_t length);

/* Appends the pointer WORD, of the type called TYPE in LENGTH bytes, that is not followed: for it
 * leads back, if CYCLE. */
void gh_value_add_pointer(struct gh_values *values, const char *type, size_t length, uint64_t word,
			  bool cycle);

/* Appends the function whose closure is at WORD, with what that has captured, if it is known. */
void gh_value_add_function(struct gh_values *values, uint64_t word);

/* Appends a number, string or function of TYPE that is at ADDRESS. */
void gh_value_add_basic(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* What elements are: of a type by number, or, if NAME is not NULL, by name. */
struct gh_value_elem {
	uint32_t number; /* GH_NO_RTYPE, without a name: it is not known */
	const char *name;
	uint64_t size; /* in bytes */
};

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

/* The header of a map, or of a channel, of TYPE is at HEADER. */
bool gh_value_is_map(const struct gh_values *values, const struct gh_rtype *type, uint64_t header);
bool gh_value_is_channel(struct gh_values *values, const struct gh_rtype *type, uint64_t header);

/* Adds the entries of the map of TYPE whose header is at HEADER to ENTRIES, which is to be freed;
 * *WHOLE: all could be read. False if the program does not describe what it is made of. */
bool gh_value_map_entries(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
			  struct gh_map_entries *entries, bool *whole);

/* Appends values->part of a value of the type called NAME, at WHERE or, if IS_VALUE, that is WHERE.
 * False (ERR filled) if there is no such part. */
bool gh_value_add_part(struct gh_values *values, const char *name, uint64_t where, bool is_value,
		       struct gh_error *err);

/* Appends the channel whose runtime.hchan is at HEADER. False, and nothing, if the program does not
 * describe the type of its elements. */
bool gh_value_add_hchan(struct gh_values *values, const struct gh_rtype *type, uint64_t header);

/* Appends what an interface, or the like, of TYPE holds: a value of type NUMBER at DATA. */
void gh_value_add_dynamic(struct gh_values *values, const struct gh_rtype *type, uint32_t number,
			  uint64_t data);

/* Appends NUMBER as package fmt does. */
void gh_value_add_float(struct gh_values *values, double number);

/* Append the number that a big.Int, big.Rat or big.Float at ADDRESS is, the address that a
 * netip.Addr or net.IP is, and that and the bits of a netip.Prefix. False if it cannot be told. */
bool gh_value_add_big(struct gh_values *values, const struct gh_rtype *type, uint64_t address);
bool gh_value_add_rat(struct gh_values *values, const struct gh_rtype *type, uint64_t address);
bool gh_value_add_big_float(struct gh_values *values, const struct gh_rtype *type,
			    uint64_t address);
bool gh_value_add_netip(struct gh_values *values, const struct gh_rtype *type, uint64_t address);
bool gh_value_add_prefix(struct gh_values *values, const struct gh_rtype *type, uint64_t address);
bool gh_value_add_ip(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* What is known of a context.emptyCtx: which of the two it is an address tells, that has no name.
 */
#define GH_VALUE_EMPTY_CONTEXT "context.Background?"

/* Appends the context of TYPE at ADDRESS, with those that it was made of. False, and nothing, if it
 * is to be told by its fields. */
bool gh_value_add_context(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* Appends the SIZE bytes at START as a string, of which a long one is cut. */
void gh_value_add_string(struct gh_values *values, uint64_t start, uint64_t size);

/* The same of bytes that are readable text. False, and nothing, if they are not. */
bool gh_value_add_text(struct gh_values *values, uint64_t start, uint64_t size);

/* Appends the bytes from number FIRST on of the slice at ADDRESS as a string. False, and nothing,
 * if it cannot be read, or has no so many. */
bool gh_value_add_bytes(struct gh_values *values, uint64_t address, uint64_t first);

/* Appends a value of an array, slice or struct TYPE that has a row in value_known.c by what it
 * means: a time, an address, a lock. False, and nothing, if it has none. */
bool gh_value_add_known(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* Appends the time.Time at ADDRESS, in UTC. False, and nothing, if it cannot be read. */
bool gh_value_add_time(struct gh_values *values, const struct gh_rtype *type, uint64_t address);

/* The seconds since 1970, and the nanoseconds after them, of the time.Time at ADDRESS. False if it
 * cannot be read. */
bool gh_value_time(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
		   int64_t *seconds, unsigned *nanoseconds);

/* A value of TYPE, a pointer, map, channel or function, is a pointer and nothing else. */
bool gh_value_is_pointer(const struct gh_rtype *type);

/* Appends a value of type number TYPE, which is BYTES. */
void gh_value_print_own(struct gh_values *values, uint32_t type, const uint8_t *bytes);

/* Begins to follow a pointer to ADDRESS. False if that is as deep as it goes. Ends with
 * gh_value_leave. */
bool gh_value_enter(struct gh_values *values, uint64_t address);
void gh_value_leave(struct gh_values *values);

/* Appends that COUNT more follow, if there are any, behind others if not FIRST. */
void gh_value_add_more(struct gh_values *values, uint64_t count, bool first);

/* A word that holds a pointer, of the memory or the program's file. False, and *VALUE 0, if it is
 * not there. */
bool gh_value_word(struct gh_values *values, uint64_t address, uint64_t *value);

/* Where the bytes of the string or the elements of the slice at ADDRESS are, and how many. False if
 * it cannot be read. */
bool gh_value_slice(struct gh_values *values, uint64_t address, uint64_t *start, uint64_t *length);

/* The dynamic type of the interface of type TYPE at ADDRESS, and where its value is: *NUMBER is
 * GH_NO_RTYPE and *DESCRIPTOR the type's address if the program describes none there, which is 0
 * if the interface is nil. False if it cannot be read. */
bool gh_value_dynamic(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
		      uint32_t *number, uint64_t *descriptor, uint64_t *data);

/* The number of the field NAME of the struct TYPE in *PART. False if it has none. */
bool gh_value_field(const struct gh_rtypes *types, const struct gh_rtype *type, const char *name,
		    struct gh_rtype_part *part);

/* The integer of SIZE bytes that the field NAME of the struct of TYPE at ADDRESS is, or begins
 * with. False, and *VALUE 0, if it cannot be read. */
bool gh_value_field_uint(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			 const char *name, unsigned size, uint64_t *value);

/* Appends the string, or the interface, that two words look like, and a question mark. False, and
 * nothing, if they do not. */
bool gh_value_add_likely_text(struct gh_values *values, const uint64_t words[2]);
bool gh_value_add_likely_interface(struct gh_values *values, const uint64_t words[2]);

/* Puts the parts of PASSED, which is in REGISTERS of ARCH, into the SIZE bytes that it has in
 * memory. */
void gh_value_take_passed(const struct gh_arch *arch, const struct gh_result *passed,
			  const uint64_t registers[GH_VALUE_REGISTERS], uint8_t *bytes,
			  size_t size);

/* The size of a value of the type called NAME, in bytes. False (ERR filled) if there is no such
 * type. */
bool gh_value_named_size(const struct gh_values *values, const char *name, uint64_t *size,
			 struct gh_error *err);

#endif
