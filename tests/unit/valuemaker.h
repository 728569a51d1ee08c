/* Values in the memory of a made process, of types that its program is made to describe. It shares
 * no code with the reader. */
#ifndef TESTS_UNIT_VALUEMAKER_H
#define TESTS_UNIT_VALUEMAKER_H

#include "lib/value/internal.h"
#include "tests/unit/typemaker.h"

/* Number of programs that valuemaker_start makes: words of 4 bytes if bit 0 is set, big-endian if
 * bit 1 is. */
#define VALUEMAKER_VARIANTS 4

#define VALUEMAKER_ADDRESS UINT64_C(0x10000000) /* of the memory */
#define VALUEMAKER_SIZE    0x4000               /* of it, in bytes */

/* What is nowhere in the memory, nor in the program. */
#define VALUEMAKER_NOWHERE UINT64_C(0x50000000)

struct valuemaker {
	struct synthetic what; /* the program, of Go 1.20 */
	struct typemaker_places places;
	uint8_t *data; /* its file; owned */
	size_t size;   /* in bytes */
	size_t end;    /* where the next descriptor goes */
	uint8_t memory[VALUEMAKER_SIZE];
	size_t used; /* of the memory, in bytes */
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_rtypes types;
	struct gh_memory source;
	struct gh_process process;
	struct gh_values values; /* all of each value, and no JSON, unless a test says so */
};

/* A type is the address of its descriptor. */
struct valuemaker_field {
	const char *name;
	uint64_t type;
	bool embedded;
};

/* Starts a program that has the types of typemaker.h, and whose last function is called LAST; NULL:
 * runtime.goexit. */
void valuemaker_start(struct valuemaker *maker, int variant, const char *last);

/* The function of that name, and main.leaf. */
#define VALUEMAKER_LAST (SYNTHETIC_TEXT + 0x70)
#define VALUEMAKER_LEAF (SYNTHETIC_TEXT + 0x50)

/* These types, by their number in typemaker.h. */
uint64_t valuemaker_made(const struct valuemaker *maker, int number);

/* Describe a type. Those with the import path PACKAGE are declared with a name; NULL: it is not
 * declared. What has no elements: */
uint64_t valuemaker_basic(struct valuemaker *maker, enum gh_kind kind, const char *text,
			  const char *package);
uint64_t valuemaker_pointer(struct valuemaker *maker, uint64_t elem, const char *text);
uint64_t valuemaker_slice(struct valuemaker *maker, uint64_t elem, const char *text,
			  const char *package);
uint64_t valuemaker_array(struct valuemaker *maker, uint64_t elem, uint64_t count,
			  const char *text);
uint64_t valuemaker_channel(struct valuemaker *maker, uint64_t elem, const char *text);

/* An interface, of one method or of none. */
uint64_t valuemaker_interface(struct valuemaker *maker, bool has_method, const char *text);

/* A struct, the last field being the one before that without a name. */
uint64_t valuemaker_struct(struct valuemaker *maker, const char *text, const char *package,
			   const struct valuemaker_field *fields);

/* A map of package runtime's buckets of 8, which it describes, too. */
uint64_t valuemaker_map(struct valuemaker *maker, uint64_t key, uint64_t elem, const char *text);

/* Opens the program. From then on no more types are described. */
void valuemaker_open(struct valuemaker *maker);
void valuemaker_free(struct valuemaker *maker);

uint32_t valuemaker_number(const struct valuemaker *maker, uint64_t type);

/* The address where the next value is put, after which it may be of any type. */
uint64_t valuemaker_begin(struct valuemaker *maker);

/* Put what a value consists of, aligned as in Go: an integer of SIZE bytes, COUNT words, a string,
 * a slice of COUNT elements at DATA, an interface. */
void valuemaker_put(struct valuemaker *maker, uint64_t value, unsigned size);
void valuemaker_words(struct valuemaker *maker, unsigned count, const uint64_t *words);
void valuemaker_slice_of(struct valuemaker *maker, uint64_t data, uint64_t count,
			 uint64_t capacity);

/* Puts a value of its own, SIZE bytes of DATA, and returns its address. */
uint64_t valuemaker_bytes(struct valuemaker *maker, const void *data, size_t size);

/* The same of a string that is TEXT, and of an integer or word. */
uint64_t valuemaker_text(struct valuemaker *maker, const char *text);
uint64_t valuemaker_integer(struct valuemaker *maker, uint64_t value, unsigned size);

/* Writes an integer at ADDRESS. */
void valuemaker_set(struct valuemaker *maker, uint64_t address, uint64_t value, unsigned size);

/* Fail the test unless the value of TYPE at ADDRESS is printed as EXPECTED, as text or as JSON. */
void valuemaker_check(struct valuemaker *maker, uint64_t type, uint64_t address,
		      const char *expected);
void valuemaker_check_json(struct valuemaker *maker, uint64_t type, uint64_t address,
			   const char *expected);

/* Likewise of one that is quoted in JSON, and as text in parentheses after NAME. */
void valuemaker_check_text(struct valuemaker *maker, uint64_t type, uint64_t address,
			   const char *name, const char *expected);

/* Fails the test unless what was appended to the values since is EXPECTED. */
void valuemaker_check_out(struct valuemaker *maker, const char *expected);

#endif
