#include "tests/unit/dumpmaker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/bytes.h"

static void append(struct maker *maker, const void *data, size_t size)
{
	if (maker->capacity - maker->size < size) {
		maker->capacity = 2 * (maker->capacity + size);
		maker->data = realloc(maker->data, maker->capacity);
		if (maker->data == NULL)
			abort();
	}
	if (size > 0)
		memcpy(maker->data + maker->size, data, size);
	maker->size += size;
}

void maker_number(struct maker *maker, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;
	for (; value > 127; value >>= 7)
		bytes[n++] = (uint8_t)(value & 127) | 128;
	bytes[n++] = (uint8_t)value;
	append(maker, bytes, n);
}

void maker_length(struct maker *maker, uint64_t value)
{
	if (maker->nlengths == MAKER_MAX_LENGTHS)
		abort();
	maker->lengths[maker->nlengths++] = maker->size;
	maker_number(maker, value);
}

void maker_numbers(struct maker *maker, unsigned count, const uint64_t *values)
{
	for (unsigned i = 0; i < count; i++)
		maker_number(maker, values[i]);
}

void maker_bytes(struct maker *maker, const void *data, size_t size)
{
	maker_length(maker, size);
	append(maker, data, size);
}

void maker_text(struct maker *maker, const char *text)
{
	maker_bytes(maker, text, strlen(text));
}

void maker_words(struct maker *maker, unsigned count, const uint64_t *words)
{
	maker_length(maker, (uint64_t)count * maker->word);
	for (unsigned i = 0; i < count; i++) {
		uint8_t bytes[8];
		bytes_store(bytes, words[i], maker->word, maker->big_endian);
		append(maker, bytes, maker->word);
	}
}

void maker_start(struct maker *maker, enum maker_format format, unsigned word, bool big_endian)
{
	char line[32];
	int digit = format == MAKER_PROTOTYPE ? 3 : 2 + (int)format;
	*maker = (struct maker){.format = format, .word = word, .big_endian = big_endian};
	append(maker, line, (size_t)sprintf(line, "go1.%d heap dump\n", digit));
}

void maker_tag(struct maker *maker, unsigned released, unsigned prototype)
{
	maker_number(maker, maker->format == MAKER_PROTOTYPE ? prototype : released);
}

void maker_params(struct maker *maker)
{
	static const char letters[] = {'6', '5', 'z', 'm'};
	static const char *const names[] = {"amd64", "arm", "s390x", "mips"};
	unsigned arch = (maker->word == 4 ? 1U : 0) + (maker->big_endian ? 2U : 0);
	maker_tag(maker, 6, 10);
	maker_number(maker, maker->big_endian);
	maker_number(maker, maker->word);
	if (maker->format <= MAKER_1_3)
		maker_number(maker, 2 * maker->word);
	maker_number(maker, 0x10000);
	maker_number(maker, 0x20000);
	if (maker->format == MAKER_PROTOTYPE)
		return;
	if (maker->format == MAKER_1_7)
		maker_text(maker, names[arch]);
	else
		maker_number(maker, (unsigned char)letters[arch]);
	maker_text(maker, maker->format == MAKER_1_7 ? "go1.99.1" : "fieldtrack");
	maker_number(maker, 4);
}

/* A field of 1.3 by its own numbers: pointer, string, slice, iface, eface. */
static void old_field(struct maker *maker, unsigned kind, unsigned word)
{
	maker_number(maker, maker->format == MAKER_PROTOTYPE ? kind - 1 : kind);
	maker_number(maker, word * maker->word);
}

static void types(struct maker *maker)
{
	maker_tag(maker, 3, 7);
	maker_number(maker, 0x5000);
	maker_number(maker, 8 * maker->word);
	maker_text(maker, "main.T");
	maker_number(maker, 1);
	if (maker->format == MAKER_PROTOTYPE)
		maker_length(maker, 4);
	if (maker->format <= MAKER_1_3) {
		old_field(maker, 1, 0);
		old_field(maker, 2, 1);
		old_field(maker, 3, 3);
		old_field(maker, 4, 6);
	}
	if (maker->format == MAKER_1_3)
		maker_number(maker, 0);

	maker_tag(maker, 3, 7);
	maker_number(maker, 0x5100);
	maker_number(maker, 2 * maker->word);
	maker_text(maker, "main.E");
	maker_number(maker, 0);
	if (maker->format == MAKER_PROTOTYPE)
		maker_length(maker, 1);
	if (maker->format <= MAKER_1_3)
		old_field(maker, 5, 0);
	if (maker->format == MAKER_1_3)
		maker_number(maker, 0);
}

/* An object up to its contents; from 1.4 on there is no type. */
static void object(struct maker *maker, uint64_t address, uint64_t type, unsigned kind)
{
	maker_number(maker, 1);
	maker_number(maker, address);
	if (maker->format <= MAKER_1_3) {
		maker_number(maker, type);
		maker_number(maker, kind);
	}
}

/* Fields of 1.4 and later: pairs of kind and word, 0 at the end. */
static void fields(struct maker *maker, const unsigned (*pairs)[2])
{
	if (maker->format <= MAKER_1_3)
		return;
	for (; (*pairs)[0] != 0; pairs++) {
		maker_number(maker, (*pairs)[0]);
		maker_number(maker, (*pairs)[1] * maker->word);
	}
	maker_number(maker, 0);
}

void maker_object(struct maker *maker, uint64_t address, size_t size)
{
	object(maker, address, 0, 0);
	uint8_t *zeros = calloc(size + 1, 1);
	maker_bytes(maker, zeros, size);
	free(zeros);
	if (maker->format >= MAKER_1_4)
		maker_number(maker, 0);
}

static void objects(struct maker *maker)
{
	static const uint64_t words[] = {0x10100, 0x10200, 5, 0x10300, 2, 3, 0x7000, 0x10108, 99};
	object(maker, 0x10000, 0x5000, 0);
	maker_words(maker, 8, words);
	fields(maker, (const unsigned[][2]){{1, 0}, {2, 6}, {3, 3}, {0, 0}});
	object(maker, 0x10100, 0x5100, 1);
	maker_words(maker, 7, words);
	fields(maker, (const unsigned[][2]){{1, 0}, {1, 1}, {0, 0}});
	object(maker, 0x10200, 0x5100, 2);
	maker_words(maker, 6, words);
	fields(maker, (const unsigned[][2]){{0, 0}});
	object(maker, 0x10300, 0, 127);
	maker_words(maker, 3, words);
	fields(maker, (const unsigned[][2]){{1, 2}, {0, 0}});
	maker_object(maker, 0xff00, 64);
}

void maker_goroutine(struct maker *maker, uint64_t descriptor, uint64_t id, uint64_t status,
		     const char *reason, uint64_t wait_start)
{
	maker_tag(maker, 4, 8);
	maker_numbers(maker, 5, (const uint64_t[]){descriptor, 0x30000, id, 0x400123, status});
	maker_number(maker, id == 2);
	maker_number(maker, 0);
	maker_number(maker, wait_start);
	maker_text(maker, reason);
	if (maker->format != MAKER_PROTOTYPE)
		maker_numbers(maker, 4, (const uint64_t[]){0x9100, 0xa000, 0xb000, 0xc000});
}

void maker_frame(struct maker *maker, uint64_t sp, uint64_t depth, uint64_t child_sp,
		 const char *function)
{
	maker_tag(maker, 5, 9);
	maker_number(maker, sp);
	if (maker->format == MAKER_PROTOTYPE) {
		maker_number(maker, sp + 2 * maker->word);
		maker_numbers(maker, 2, (const uint64_t[]){0x401000, 0x401010});
		maker_text(maker, function);
		return;
	}
	maker_number(maker, depth);
	maker_number(maker, child_sp);
	maker_words(maker, 2, (const uint64_t[]){0x10000 + depth, 0x401020});
	maker_numbers(maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401018});
	maker_text(maker, function);
	maker_numbers(maker, 3, (const uint64_t[]){1, 0, 0});
}

/* A goexit frame, of one word, with fields that lie beyond it. */
static void last_frame(struct maker *maker, uint64_t sp)
{
	if (maker->format == MAKER_PROTOTYPE) {
		maker_frame(maker, sp, 2, 0, "runtime.goexit");
		return;
	}
	maker_numbers(maker, 4, (const uint64_t[]){5, sp, 2, sp - 2 * maker->word});
	maker_words(maker, 1, (const uint64_t[]){0});
	maker_numbers(maker, 3, (const uint64_t[]){0x402000, 0x402001, 0x402001});
	maker_text(maker, "runtime.goexit");
	maker_numbers(maker, 7, (const uint64_t[]){1, 0, 1, maker->word, 1, 5 * maker->word, 0});
}

static void goroutines(struct maker *maker)
{
	uint64_t frame = 2 * maker->word;
	maker_goroutine(maker, 0x9000, 1, 4, "chan receive", 100000000000);
	maker_frame(maker, 0x30000, 0, 0, "main.f");
	maker_frame(maker, 0x30000 + frame, 1, 0x30000, "main.main");
	last_frame(maker, 0x30000 + 2 * frame);
	if (maker->format != MAKER_PROTOTYPE) {
		maker_number(maker, 14);
		maker_numbers(
		    maker, 7,
		    (const uint64_t[]){0xb000, 0x9000, 0x30010, 0x401005, 0xb100, 0x403000, 0});
		maker_number(maker, 15);
		maker_numbers(maker, 6,
			      (const uint64_t[]){0xc000, 0x9000, 0x5000, 0x10000, 0xb000, 0});
	}
	maker_goroutine(maker, 0x9200, 2, 1, "", 220000000000);
	maker_frame(maker, 0x31000, 0, 0, "runtime.goexit");
}

static void roots(struct maker *maker)
{
	maker_tag(maker, 2, 6);
	maker_text(maker, "runtime type info");
	maker_number(maker, 0x10300);
	maker_tag(maker, 7, 11);
	maker_numbers(maker, 5, (const uint64_t[]){0x10000, 0x10100, 0x404000, 0x5000, 0x5100});
	if (maker->format == MAKER_PROTOTYPE) {
		maker_numbers(maker, 4, (const uint64_t[]){4, 0x30000, 0x10000, 0x30000});
		maker_numbers(maker, 3, (const uint64_t[]){5, 0x60000, 0x10100});
		return;
	}
	maker_number(maker, 12);
	maker_number(maker, 0x60000);
	maker_words(maker, 3, (const uint64_t[]){0x10000, 7, 8});
	maker_numbers(maker, 3, (const uint64_t[]){1, 0, 0});
	maker_number(maker, 13);
	maker_number(maker, 0x61000);
	maker_words(maker, 2, (const uint64_t[]){0, 0x10200});
	maker_numbers(maker, 3, (const uint64_t[]){1, maker->word, 0});
	maker_number(maker, 11);
	maker_numbers(maker, 5, (const uint64_t[]){0xff00, 0x10108, 0x404100, 0x5100, 0x5000});
}

static void statistics(struct maker *maker)
{
	maker_numbers(maker, 4, (const uint64_t[]){9, 0xa000, 3, 4242});
	maker_number(maker, 10);
	for (unsigned i = 0; i < 24; i++)
		maker_number(maker, 1000 * i + 1);
	for (unsigned i = 0; i < 256; i++)
		maker_number(maker, 3 * i);
	maker_number(maker, 77);
	maker_numbers(maker, 3, (const uint64_t[]){16, 0xd000, 48});
	maker_length(maker, 2);
	maker_text(maker, "main.alloc");
	maker_text(maker, "/src/main.go");
	maker_number(maker, 10);
	maker_text(maker, "main.main");
	maker_text(maker, "/src/main.go");
	maker_number(maker, 20);
	maker_numbers(maker, 2, (const uint64_t[]){9, 4});
	maker_numbers(maker, 3, (const uint64_t[]){17, 0x10000, 0xd000});
}

void maker_root(struct maker *maker, uint64_t pointer)
{
	maker_number(maker, 2);
	maker_text(maker, "root");
	maker_number(maker, pointer);
}

void maker_end(struct maker *maker)
{
	maker_tag(maker, 0, 3);
}

void maker_section(struct maker *maker)
{
	static const char line[] = "goheap section 1\n";
	append(maker, line, strlen(line));
}

void maker_everything(struct maker *maker, int number)
{
	maker_start(maker, (enum maker_format)(number / 4), number & 1 ? 4 : 8, number & 2);
	maker_params(maker);
	maker_tag(maker, 8, 12);
	maker_number(maker, 0x7000);
	maker_number(maker, maker->format <= MAKER_1_3 ? 1 : 0x5000);
	types(maker);
	objects(maker);
	types(maker);
	goroutines(maker);
	roots(maker);
	if (maker->format != MAKER_PROTOTYPE)
		statistics(maker);
	maker_end(maker);
}
