#include "tests/unit/processmaker.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/bytes.h"

enum { LIST = 0x80, GOROUTINES = 0x100, GOROUTINE_SIZE = 0x200, STACKS = 0xc00 };

/* In main.leaf, whose frame then has 16 bytes; in main.main, 24; in runtime.goexit. */
#define IN_LEAF   (SYNTHETIC_TEXT + 0x60)
#define IN_MAIN   (SYNTHETIC_TEXT + 0x20)
#define IN_GOEXIT (SYNTHETIC_TEXT + 0x74)

uint64_t process_list(void)
{
	return PROCESS_ADDRESS + LIST;
}

uint64_t process_goroutine(int number)
{
	return PROCESS_ADDRESS + GOROUTINES + (uint64_t)number * GOROUTINE_SIZE;
}

uint64_t process_stack(int number)
{
	return PROCESS_ADDRESS + STACKS + (uint64_t)number * PROCESS_STACK;
}

void process_put(struct processmaker *maker, uint64_t address, uint64_t value, unsigned size)
{
	bytes_store(maker->bytes + (address - PROCESS_ADDRESS), value, size,
		    maker->what.big_endian);
}

void process_put_word(struct processmaker *maker, uint64_t address, uint64_t value)
{
	process_put(maker, address, value, maker->what.word);
}

/* stack, stackguard0, stackguard1, _panic, _defer and m are 7 words, then sched: sp, pc, g, ctxt,
 * ret (not in Go 1.25), lr, bp. */
uint64_t process_syscall_sp_at(const struct processmaker *maker)
{
	return (maker->minor == 22 ? 14 : 13) * (uint64_t)maker->what.word;
}

/* syscallsp, syscallpc, syscallbp (in Go 1.25), stktopsp, param. */
uint64_t process_status_at(const struct processmaker *maker)
{
	return process_syscall_sp_at(maker) +
	       (maker->minor == 22 ? 4 : 5) * (uint64_t)maker->what.word;
}

static void put_stack(struct processmaker *maker, int number)
{
	uint64_t sp = process_stack(number);
	unsigned word = maker->what.word;
	if (maker->link_register) {
		process_put_word(maker, sp, IN_MAIN);
		process_put_word(maker, sp + 16, IN_GOEXIT);
	} else {
		process_put_word(maker, sp + 16, IN_MAIN);
		process_put_word(maker, sp + 16 + word + 24, IN_GOEXIT);
	}
}

static void put_goroutine(struct processmaker *maker, int number)
{
	uint64_t g = process_goroutine(number);
	uint64_t status = g + process_status_at(maker);
	unsigned word = maker->what.word;
	process_put_word(maker, g, process_stack(number));
	process_put_word(maker, g + word, process_stack(number) + PROCESS_STACK);
	process_put_word(maker, g + 7 * word, process_stack(number));
	process_put_word(maker, g + 8 * word, IN_LEAF);
	process_put_word(maker, g + 9 * word, g);
	process_put(maker, status, 4, 4); /* waiting */
	process_put(maker, status + 8, (uint64_t)number + 1, 8);
	process_put_word(maker, g + 40 * word, IN_MAIN);               /* gopc */
	process_put_word(maker, g + 42 * word, SYNTHETIC_TEXT + 0x50); /* startpc */
}

void process_make(struct processmaker *maker)
{
	maker->size = PROCESS_SIZE;
	maker->bytes = calloc(1, maker->size);
	unsigned word = maker->what.word;
	process_put_word(maker, PROCESS_ADDRESS + 2 * word, process_list());
	process_put_word(maker, PROCESS_ADDRESS + 3 * word, PROCESS_GOROUTINES);
	process_put_word(maker, PROCESS_ADDRESS + 4 * word, PROCESS_GOROUTINES);
	for (int i = 0; i < PROCESS_GOROUTINES; i++) {
		process_put_word(maker, process_list() + (unsigned)i * word, process_goroutine(i));
		put_goroutine(maker, i);
		put_stack(maker, i);
	}
}

void process_resize(struct processmaker *maker, size_t size)
{
	maker->bytes = realloc(maker->bytes, size);
	if (size > maker->size)
		memset(maker->bytes + maker->size, 0, size - maker->size);
	maker->size = size;
}

static bool read_made(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct processmaker *maker = memory->from;
	uint64_t offset = address - PROCESS_ADDRESS;
	if (offset > maker->size || size > maker->size - offset)
		return false;
	memcpy(to, maker->bytes + offset, size);
	return true;
}

struct gh_memory process_memory(const struct processmaker *maker)
{
	return (struct gh_memory){.read = read_made, .from = maker, .size = maker->size};
}
