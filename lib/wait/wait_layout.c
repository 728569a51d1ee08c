#include "lib/wait/internal.h"

/* Goroutines that are asked where runtime.g has its fields. */
#define ASKED 1000

/* The words of runtime.g that its field gopc is searched in: after the scheduling state, the status
 * and what else comes before it in all releases, and before the end in all. */
#define FIRST_WORD 20
#define LAST_WORD  64

/* Finds in which word runtime.g has the pc of its go statement, by the records, which tell it. 0 if
 * it is in none. */
static uint32_t find_creator(const struct gh_dump *dump)
{
	uint32_t found[LAST_WORD] = {0};
	uint32_t best = 0;
	struct gh_dump_record record;
	for (size_t i = 0; i < dump->nstacks && i < ASKED; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		uint64_t pc = record.goroutine.creator_pc;
		for (uint32_t k = FIRST_WORD; pc != 0 && k < LAST_WORD; k++)
			found[k] +=
			    gh_wait_word(dump, record.goroutine.descriptor + k * dump->word) == pc;
	}
	for (uint32_t k = FIRST_WORD; k < LAST_WORD; k++)
		if (found[k] > found[best])
			best = k;
	return best * dump->word;
}

/* Sources: type g, type sudog in src/runtime/runtime2.go; type hchan in src/runtime/chan.go. In a
 * sudog, elem and c are two words each from Go 1.26 on. In a channel, timer came with 1.23, bubble
 * with 1.25. In a timer (src/runtime/time.go) its lock, four flags and a count of 4 bytes are
 * before when, and from 1.25 on a random number of 4 bytes, which is aligned. Between gopc and
 * waiting in runtime.g are ancestors, startpc and racectx; between waiting and timer are cgoCtxt
 * and labels. */
struct gh_wait_layout gh_wait_layout_find(const struct gh_dump *dump)
{
	int minor = gh_dump_minor(dump);
	uint32_t word = dump->word;
	uint32_t traced = minor >= 26 ? 2 : 1;
	uint32_t creator =
	    dump->format == GH_DUMP_1_7 && (minor < 0 || minor >= 11) ? find_creator(dump) : 0;
	if (creator == 0)
		return (struct gh_wait_layout){0};
	struct gh_wait_layout layout = {
	    .g_waiting = creator + 4 * word,
	    .g_sleep = creator + (minor >= 23 ? 10 : 9) * word,
	    .sleeps_by_timer = minor < 23,
	    .sudog_next = word,
	    .sudog_elem = (3 + traced - 1) * word,
	    .sudog_select = (3 + traced) * word + 20,
	    .channel_timer = minor >= 23 ? 3 * word + 8 : 0,
	    .timer_when = word + 8 + (minor >= 25 ? word : 0),
	};
	/* acquiretime, releasetime, ticket and some flags are before these. */
	uint32_t parent = (3 + traced) * word + 24;
	layout.sudog_link = parent + word;
	layout.sudog_channel = parent + (3 + traced - 1) * word;
	layout.channel_type = 3 * word + 8 + (minor >= 23 ? word : 0);
	layout.channel_receivers = layout.channel_type + 3 * word;
	layout.channel_senders = layout.channel_receivers + 2 * word;
	return layout;
}
