/* Dumps whose goroutines wait: of the releases between which the runtime's structs changed, laid
 * out as its sources say. It shares no code with the reader. */
#ifndef TESTS_UNIT_WAITMAKER_H
#define TESTS_UNIT_WAITMAKER_H

#include "lib/wait/wait.h"
#include "tests/unit/heapfixture.h"

enum { WAIT_MOST_OBJECTS = 32, WAIT_OBJECT_BYTES = 512, WAIT_OBJECT_STEP = 0x400 };

/* Number of dumps that wait_start makes: of each release with two word sizes and byte orders. */
enum { WAIT_RELEASES = 5, WAIT_VARIANTS = 4 * WAIT_RELEASES };

/* Offsets in the runtime's structs, in bytes. */
struct wait_offsets {
	unsigned next; /* of runtime.sudog, up to channel; its goroutine is first */
	unsigned elem;
	unsigned waitlink;
	unsigned channel;
	unsigned elemsize; /* of runtime.hchan, up to sendq */
	unsigned closed;
	unsigned timer;
	unsigned elemtype;
	unsigned recvq;
	unsigned sendq;
	unsigned when; /* of a timer */
};

/* The dump that is made. */
extern struct wait_scene {
	unsigned minor;
	unsigned word;
	bool big_endian;
	struct wait_offsets at;
	uint8_t objects[WAIT_MOST_OBJECTS][WAIT_OBJECT_BYTES];
	unsigned nobjects;
	unsigned ngoroutines;
	struct maker maker;
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_waits waits; /* what is tested */
} wait_scene;

/* No object is there. */
#define WAIT_NOWHERE UINT64_C(0xff000)

/* Starts a dump of VARIANT. */
void wait_start(int variant);

/* A new object, of zeros. */
uint64_t wait_object(void);

/* Write an integer of SIZE bytes, or a word, at ADDRESS, which is in an object. */
void wait_put(uint64_t address, uint64_t value, unsigned size);
void wait_put_word(uint64_t address, uint64_t value);

/* A new runtime.g, whose first sudog is SUDOG: gopc is its word 40, and waiting four words on. */
uint64_t wait_g(uint64_t sudog);

/* The record of the goroutine that has G; its frames follow, callees first, each of two words that
 * are pointers. */
void wait_goroutine(uint64_t g, uint64_t status, const char *reason);
void wait_frame(unsigned depth, const char *function, uint64_t first, uint64_t second);

/* A new sudog for CHANNEL, which WAITLINK follows for its goroutine. */
uint64_t wait_sudog(uint64_t channel, uint64_t waitlink);

/* A new channel whose queues begin with these sudogs. */
uint64_t wait_channel(uint64_t receiver, uint64_t sender);

/* Ends the dump, and finds what its goroutines wait for. */
void wait_find(void);
void wait_clean_up(void);

#endif
