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
	for (size_t i = 0; i < dump->stacks.count && i < ASKED; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		uint64_t pc = record.goroutine.creator_pc;
		for (uint32_t k = FIRST_WORD; pc != 0 && k < LAST_WORD; k++)
			found[k] += gh_wait_word(dump, record.goroutine.g + k * dump->word) == pc;
	}
	for (uint32_t k = FIRST_WORD; k < LAST_WORD; k++)
		if (found[k] > found[best])
			best = k;
	return best * dump->word;
}

/* Source of what is not in gh_runtime_structs: type g in src/runtime/runtime2.go, where ancestors,
 * startpc and racectx are between gopc and waiting, cgoCtxt and labels between that and timer; and
 * type timer in src/runtime/time.go (from Go 1.14 on), where a pointer is before when; from 1.23 on
 * its lock, four flags and a count of 4 bytes are, and from 1.25 on a random number of 4 bytes,
 * too, which is aligned. */
struct gh_wait_layout gh_wait_layout_find(const struct gh_dump *dump)
{
	int minor = gh_dump_minor(dump);
	uint32_t word = dump->word;
	uint32_t creator = dump->format == GH_DUMP_1_7 && minor >= 11 ? find_creator(dump) : 0;
	if (creator == 0)
		return (struct gh_wait_layout){0};
	/* From Go 1.26 on elem and c are two words each, of which the second is always set. */
	uint32_t traced = minor >= 26 ? word : 0;
#define SUDOG(field) gh_runtime_offset(GH_RUNTIME_SUDOG, field, word, minor)
#define HCHAN(field) gh_runtime_offset(GH_RUNTIME_HCHAN, field, word, minor)
	return (struct gh_wait_layout){
	    .g_waiting = creator + 4 * word,
	    .g_sleep = creator + (minor >= 23 ? 10 : 9) * word,
	    .sleeps_by_timer = minor < 23,
	    .sudog_next = SUDOG("next"),
	    .sudog_elem = SUDOG("elem") + traced,
	    .sudog_waitlink = SUDOG("waitlink"),
	    .sudog_c = SUDOG("c") + traced,
	    .hchan_dataqsiz = HCHAN("dataqsiz"),
	    .hchan_elemsize = HCHAN("elemsize"),
	    .hchan_closed = HCHAN("closed"),
	    .hchan_timer = HCHAN("timer"),
	    .hchan_elemtype = HCHAN("elemtype"),
	    .hchan_recvq = HCHAN("recvq"),
	    .hchan_sendq = HCHAN("sendq"),
	    .timer_when = word + (minor >= 23 ? 8 : 0) + (minor >= 25 ? word : 0),
	};
#undef SUDOG
#undef HCHAN
}
