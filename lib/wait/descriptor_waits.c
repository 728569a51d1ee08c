#include "lib/wait/internal.h"

/* How far the frames reach from where the goroutine is parked to the call of a poll.FD's method. */
#define FRAMES 8

/* No process has more descriptors. */
#define MOST_DESCRIPTORS (1 << 30)

/* Of poll.FD: Sysfd, after fdMutex, which has 16 bytes. */
#define SYSFD 16

/* No process has memory below, as Linux has it by default (vm.mmap_min_addr), in bytes. */
#define LEAST_ADDRESS 65536

/* Of fdMutex.state: how many use the descriptor. */
#define REFERENCES_SHIFT 3
#define REFERENCES_MASK  ((1 << 20) - 1)

/* Standard input, output and error, which no connection is made by. */
#define STANDARD 3

/* WORD is among those of the first COUNT frames of goroutine NUMBER. */
static bool is_on_stack(const struct gh_dump *dump, size_t number, size_t count, uint64_t word)
{
	struct gh_stack_scan scan = gh_stack_scan_start(dump, number, 0, count);
	uint64_t found;
	while (gh_stack_scan_next(&scan, &found))
		if (found == word)
			return true;
	return false;
}

/* ADDRESS is within the frames of goroutine NUMBER. */
static bool is_in_frames(const struct gh_dump *dump, size_t number, uint64_t address)
{
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	struct gh_dump_record first, last;
	gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame, &first);
	gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + stack->nframes - 1, &last);
	return address >= first.frame.sp && address < last.frame.sp;
}

/* Gives what the poll.FD at ADDRESS has for Sysfd. GH_NO_DESCRIPTOR if that is none that the
 * goroutine waits for with the FRAMES first frames of its stack: in use, and with the record that
 * they work on. While it CONNECTS nothing is counted as its user.
 *
 * Types FD and fdMutex in src/internal/poll: Sysfd, SysFile, which is a pointer, from Go 1.21 on,
 * and pd, which begins with a pointer to the runtime's record. */
static int64_t read_descriptor(const struct gh_dump *dump, size_t number, size_t frames,
			       uint64_t address, bool connects)
{
	if (address == 0 || address % dump->word != 0 || !gh_wait_may_be_object(dump, address))
		return GH_NO_DESCRIPTOR;
	uint64_t state = gh_wait_uint(dump, address, 8);
	uint64_t descriptor = gh_wait_word(dump, address + SYSFD);
	unsigned words = gh_dump_minor(dump) >= 21 ? 2 : 1;
	uint64_t record = gh_wait_word(dump, address + SYSFD + words * dump->word);
	bool fits = connects ? state == 0 && gh_wait_uint(dump, address + 8, 8) == 0 &&
				   descriptor >= STANDARD
			     : (state >> REFERENCES_SHIFT & REFERENCES_MASK) != 0;
	if (!fits || descriptor >= MOST_DESCRIPTORS || record < LEAST_ADDRESS ||
	    is_in_frames(dump, number, address) || !is_on_stack(dump, number, frames, record))
		return GH_NO_DESCRIPTOR;
	return (int64_t)descriptor;
}

/* Finds it among the words of FRAMES frames behind the POLL first. */
static int64_t find_descriptor(const struct gh_dump *dump, size_t number, size_t poll,
			       size_t frames, bool connects)
{
	struct gh_stack_scan scan = gh_stack_scan_start(dump, number, poll, frames);
	int64_t descriptor = GH_NO_DESCRIPTOR;
	uint64_t word;
	while (descriptor == GH_NO_DESCRIPTOR && gh_stack_scan_next(&scan, &word))
		descriptor = read_descriptor(dump, number, poll + 1, word, connects);
	return descriptor;
}

/* The frames of the methods have the poll.FD, among others. */
void gh_descriptor_wait_find(const struct gh_wait_finder *finder, struct gh_wait *wait)
{
	const struct gh_dump *dump = finder->dump;
	size_t poll =
	    gh_wait_frame_find(dump, wait->goroutine, FRAMES, "internal/poll.runtime_pollWait");
	if (poll == GH_DUMP_NONE)
		return;
	for (int connects = 0; connects < 2 && wait->descriptor == GH_NO_DESCRIPTOR; connects++)
		wait->descriptor =
		    find_descriptor(dump, wait->goroutine, poll + 1, FRAMES - poll, connects != 0);
}
