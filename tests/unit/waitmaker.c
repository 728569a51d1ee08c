#include "tests/unit/waitmaker.h"

#include <check.h>
#include <stdio.h>

#include "tests/unit/bytes.h"

#define OBJECTS UINT64_C(0x100000) /* where the objects are */
#define CREATOR UINT64_C(0x400123) /* where all goroutines were made */

/* The releases whose layouts differ. */
static const unsigned releases[WAIT_RELEASES] = {11, 20, 23, 25, 26};

struct wait_scene wait_scene;

/* Source: type sudog in src/runtime/runtime2.go, type hchan in chan.go, type timer in time.go. */
static struct wait_offsets layout_of(unsigned minor, unsigned word)
{
	bool wide = word == 8;
	struct wait_offsets at = {.next = minor < 15 ? 2 * word : word,
				  .elem = minor < 15 ? 4 * word : 3 * word,
				  .waitlink = wide ? 64 : 44,
				  .channel = wide ? 80 : 52,
				  .elemsize = 3 * word,
				  .closed = 3 * word + 4,
				  .elemtype = 3 * word + 8,
				  .recvq = 5 * word + (wide ? 16 : 12),
				  .sendq = 7 * word + (wide ? 16 : 12),
				  .when = word};
	if (minor < 15 && wide) {
		at.waitlink = 72;
		at.channel = 88;
	}
	if (minor >= 23) {
		at.timer = 3 * word + 8;
		at.elemtype += word;
		at.recvq += word;
		at.sendq += word;
		at.when = word + 8;
	}
	if (minor >= 25)
		at.when += word;
	if (minor >= 26) {
		/* elem and channel have two words, of which the second is read. */
		at.elem += word;
		at.waitlink += word;
		at.channel += 2 * word;
	}
	return at;
}

/* Starts a dump of a program of VARIANT. */
void wait_start(int variant)
{
	unsigned minor = releases[variant / 4];
	char version[16];
	wait_scene = (struct wait_scene){
	    .minor = minor, .word = variant & 1 ? 4 : 8, .big_endian = variant & 2};
	wait_scene.at = layout_of(minor, wait_scene.word);
	struct maker *maker = &wait_scene.maker;
	maker_start(maker, MAKER_1_7, wait_scene.word, wait_scene.big_endian);
	maker_numbers(
	    maker, 5,
	    (const uint64_t[]){6, wait_scene.big_endian, wait_scene.word, OBJECTS, OBJECTS * 2});
	static const char *const names[] = {"amd64", "arm", "s390x", "mips"};
	maker_text(maker, names[variant % 4]);
	snprintf(version, sizeof(version), "go1.%u", minor);
	maker_text(maker, version);
	maker_number(maker, 4);
}

/* A new object. */
uint64_t wait_object(void)
{
	return OBJECTS + WAIT_OBJECT_STEP * (uint64_t)wait_scene.nobjects++;
}

/* Writes an integer of SIZE bytes at ADDRESS, which is in an object. */
void wait_put(uint64_t address, uint64_t value, unsigned size)
{
	uint8_t *to = &wait_scene.objects[(address - OBJECTS) / WAIT_OBJECT_STEP]
					 [(address - OBJECTS) % WAIT_OBJECT_STEP];
	bytes_store(to, value, size, wait_scene.big_endian);
}

void wait_put_word(uint64_t address, uint64_t value)
{
	wait_put(address, value, wait_scene.word);
}

/* Goroutine NUMBER's runtime.g: gopc is word 40, and waiting four words on. */
uint64_t wait_g(uint64_t sudog)
{
	uint64_t g = wait_object();
	wait_put_word(g + 40 * (uint64_t)wait_scene.word, CREATOR);
	wait_put_word(g + 44 * (uint64_t)wait_scene.word, sudog);
	return g;
}

/* The record of a goroutine, whose frames follow. */
void wait_goroutine(uint64_t g, uint64_t status, const char *reason)
{
	struct maker *maker = &wait_scene.maker;
	uint64_t sp = 0x30000 + 0x1000 * (uint64_t)wait_scene.ngoroutines++;
	maker_numbers(
	    maker, 9,
	    (const uint64_t[]){4, g, sp, wait_scene.ngoroutines, CREATOR, status, 0, 0, 0});
	maker_text(maker, reason);
	maker_numbers(maker, 4, (const uint64_t[]){0, 0, 0, 0});
}

/* A frame of it: two words, both pointers. */
void wait_frame(unsigned depth, const char *function, uint64_t first, uint64_t second)
{
	struct maker *maker = &wait_scene.maker;
	uint64_t sp = 0x30000 + 0x1000 * (uint64_t)(wait_scene.ngoroutines - 1);
	uint64_t size = 2 * (uint64_t)wait_scene.word;
	maker_numbers(maker, 4,
		      (const uint64_t[]){5, sp + depth * size, depth,
					 depth > 0 ? sp + (depth - 1) * size : 0});
	maker_words(maker, 2, (const uint64_t[]){first, second});
	maker_numbers(maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401018});
	maker_text(maker, function);
	maker_numbers(maker, 5, (const uint64_t[]){1, 0, 1, wait_scene.word, 0});
}

void wait_find(void)
{
	struct gh_error err;
	struct maker *maker = &wait_scene.maker;
	for (unsigned i = 0; i < wait_scene.nobjects; i++) {
		maker_numbers(maker, 2, (const uint64_t[]){1, OBJECTS + WAIT_OBJECT_STEP * i});
		maker_bytes(maker, wait_scene.objects[i], WAIT_OBJECT_BYTES);
		maker_number(maker, 0);
	}
	maker_end(maker);
	heap_open(maker, &wait_scene.dump, &wait_scene.heap);
	ck_assert(gh_waits_find(&wait_scene.waits, &wait_scene.dump, &err));
}

void wait_clean_up(void)
{
	gh_waits_free(&wait_scene.waits);
	heap_close(&wait_scene.maker, &wait_scene.dump, &wait_scene.heap);
}

/* A sudog of G for CHANNEL, which WAITLINK follows for its goroutine. */
uint64_t wait_sudog(uint64_t channel, uint64_t waitlink)
{
	uint64_t sudog = wait_object();
	wait_put_word(sudog + wait_scene.at.channel, channel);
	wait_put_word(sudog + wait_scene.at.waitlink, waitlink);
	return sudog;
}

/* A channel whose queues begin with these sudogs. */
uint64_t wait_channel(uint64_t receiver, uint64_t sender)
{
	uint64_t channel = wait_object();
	wait_put_word(channel + wait_scene.at.recvq, receiver);
	wait_put_word(channel + wait_scene.at.sendq, sender);
	return channel;
}
