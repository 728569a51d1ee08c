/* A synthetic program with type descriptors, made byte by byte. It shares no code with the reader.
 */
#ifndef TESTS_UNIT_TYPEMAKER_H
#define TESTS_UNIT_TYPEMAKER_H

#include "tests/unit/synthetic.h"

/* The types, in the order of their addresses. */
enum {
	TYPE_INT,    /* int */
	TYPE_STRING, /* string */
	TYPE_NODE, /* type Node struct { value int; Node *Node (embedded); words []string }, of the
		      package example.org/x/main */
	TYPE_POINTER, /* *Node */
	TYPE_SLICE,   /* []string */
	TYPE_ARRAY,   /* [3]int */
	TYPE_FUNC,    /* func(int, ...string) *Node */
	TYPE_IFACE,   /* interface { Do(int, ...string) *Node }, its method's type is TYPE_FUNC */
	TYPE_MAP,     /* map[string]int, whose bucket is TYPE_NODE for want of another */
	TYPE_CHAN,    /* chan int */
	TYPE_UNSAFE,  /* unsafe.Pointer */
	TYPE_NONE,    /* [0]*Node */
	TYPE_ATOMIC,  /* type Pointer[Node] struct { _ [0]*Node; v unsafe.Pointer }, of sync/atomic
		       */
	TYPES
};

#define TYPES_ADDRESS 0x404000 /* of the range of types */
#define TYPES_OFFSET  0x2000   /* of the same, in the file */
#define TYPES_SIZE    0x1000   /* in bytes */

struct typemaker_places {
	size_t types[TYPES]; /* offsets in the file of the descriptors */
	size_t fields;       /* of the first field's record */
	size_t field_count;  /* of the number of fields */
	size_t atomic;       /* of the name of TYPE_ATOMIC's package */
};

/* The program is as synthetic_make's, and more. The caller frees it. PLACES may be NULL. Programs
 * of format SYNTHETIC_1_16 and before have shifted offsets of fields and two-byte lengths of names.
 */
uint8_t *typemaker_make(const struct synthetic *what, size_t *size,
			struct typemaker_places *places);

#endif
