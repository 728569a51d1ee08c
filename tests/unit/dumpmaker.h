/* Heap dumps made byte by byte, in any format, for any pointer size and byte order. It shares no
 * code with the reader. */
#ifndef TESTS_UNIT_DUMPMAKER_H
#define TESTS_UNIT_DUMPMAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum maker_format {
	MAKER_PROTOTYPE,
	MAKER_1_3,
	MAKER_1_4,
	MAKER_1_5,
	MAKER_1_6,
	MAKER_1_7,
	MAKER_FORMATS,
};

/* Lengths and counts in one dump, at most. */
#define MAKER_MAX_LENGTHS 256

struct maker {
	enum maker_format format;
	unsigned word;                     /* pointer size, 4 or 8 bytes */
	bool big_endian;                   /* byte order of pointers */
	uint8_t *data;                     /* the dump so far; the caller frees it */
	size_t size;                       /* in bytes */
	size_t capacity;                   /* of data */
	size_t lengths[MAKER_MAX_LENGTHS]; /* offsets of the numbers that are a length or a count */
	size_t nlengths;
};

/* Starts a dump with its first line. */
void maker_start(struct maker *maker, enum maker_format format, unsigned word, bool big_endian);

/* The primitives. */
void maker_number(struct maker *maker, uint64_t value);
void maker_length(struct maker *maker, uint64_t value); /* a number that is noted in lengths */
void maker_text(struct maker *maker, const char *text);
void maker_bytes(struct maker *maker, const void *data, size_t size);

/* A record's tag, which is one number in the released formats and another in the prototype. */
void maker_tag(struct maker *maker, unsigned released, unsigned prototype);

/* Contents of COUNT words: their length, and each in the byte order of the dump. */
void maker_words(struct maker *maker, unsigned count, const uint64_t *words);

/* COUNT numbers. */
void maker_numbers(struct maker *maker, unsigned count, const uint64_t *values);

/* Records that tests put together; the rest of the formats is in maker_everything. */
void maker_params(struct maker *maker);
void maker_goroutine(struct maker *maker, uint64_t descriptor, uint64_t id, uint64_t status,
		     const char *reason, uint64_t wait_start);
void maker_frame(struct maker *maker, uint64_t sp, uint64_t depth, uint64_t child_sp,
		 const char *function); /* of two words; one pointer, at 0 */
void maker_object(struct maker *maker, uint64_t address, size_t size); /* without pointers */
void maker_root(struct maker *maker, uint64_t pointer);
void maker_end(struct maker *maker);

/* The beginning of goheap's own section, which goes behind the end; its parts are numbers and
 * texts: a tag, and maker_bytes. */
void maker_section(struct maker *maker);

/* A whole dump with every kind of record and of field; the values are in dumpmaker.c, and in the
 * tests once more. Variant NUMBER is of format NUMBER / 4, with pointers of 4 bytes if bit 0 is
 * set, big-endian if bit 1 is. */
void maker_everything(struct maker *maker, int number);

#define MAKER_VARIANTS (MAKER_FORMATS * 4)

#endif
