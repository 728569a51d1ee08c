#include "lib/value/internal.h"

#include <inttypes.h>

#include "lib/process/goroutine.h"

/* More goroutines that wait are not listed. */
#define MOST_WAITING 16

/* Where runtime.hchan, which begins with qcount, dataqsiz and buf, has the rest: offsets in bytes.
 *
 * Source: type hchan and type sudog in src/runtime/chan.go and runtime2.go. */
struct channel {
	uint64_t count;
	uint64_t size;
	uint64_t buffer;
	uint64_t closed;
	uint64_t next;      /* sendx, then recvx: place of the first element */
	uint64_t receivers; /* recvq, then sendq: the first and the last that wait */
	uint32_t elem; /* the elements' type; GH_NO_RTYPE: it and the last three are not known */
};

/* The type of the elements at ADDRESS, where ELEMTYPE may be: ELEM if that is known. GH_NO_RTYPE if
 * it is not there. */
static uint32_t read_elem(struct gh_values *values, uint32_t elem, uint64_t address)
{
	uint64_t found;
	if (!gh_value_word(values, address, &found))
		return GH_NO_RTYPE;
	uint32_t number = gh_rtypes_at(values->types, found - values->process->bias);
	return elem == GH_NO_RTYPE || number == elem ? number : GH_NO_RTYPE;
}

/* Reads the channel at HEADER, whose elements are of type ELEM; GH_NO_RTYPE if that is not known.
 * ELEMTYPE follows `closed', or, from Go 1.23 on, a timer. */
static bool read_channel(struct gh_values *values, uint32_t elem, uint64_t header,
			 struct channel *channel)
{
	unsigned word = values->process->tab->pointer_size;
	uint64_t at = header + 3 * (uint64_t)word + 4;
	if (!gh_process_constant_uint(values->process, header, word, &channel->count) ||
	    !gh_process_constant_uint(values->process, header + word, word, &channel->size) ||
	    !gh_value_word(values, header + 2 * (uint64_t)word, &channel->buffer) ||
	    !gh_process_constant_uint(values->process, at, 4, &channel->closed))
		return false;
	at += 4;
	channel->elem = GH_NO_RTYPE;
	for (unsigned i = 0; i < 2 && channel->elem == GH_NO_RTYPE; i++, at += word)
		channel->elem = read_elem(values, elem, at);
	channel->receivers = at + 2 * (uint64_t)word;
	return channel->elem == GH_NO_RTYPE ||
	       gh_process_constant_uint(values->process, at + word, word, &channel->next);
}

/* Appends the goroutines in the queue at ADDRESS, by what they do. */
static void add_waiting(struct gh_values *values, uint64_t address, const char *doing)
{
	struct gh_process *process = values->process;
	unsigned word = process->tab->pointer_size;
	struct gh_g_layout layout = gh_g_layout_of(word, process->minor);
	/* Before Go 1.14 a flag is between the goroutine and the next that waits. */
	unsigned next = process->minor >= 0 && process->minor < 14 ? 2 * word : word;
	uint64_t waiting;
	unsigned i = 0;
	gh_value_word(values, address, &waiting);
	for (; waiting != 0 && i < MOST_WAITING; i++) {
		uint64_t g;
		uint64_t id;
		if (!gh_value_word(values, waiting, &g) ||
		    !gh_process_constant_uint(values->process, g + layout.id, 8, &id))
			return;
		if (i == 0)
			gh_value_add(values, ", %s: goroutine %" PRIu64, doing, id);
		else
			gh_value_add(values, ", %" PRIu64, id);
		gh_value_word(values, waiting + next, &waiting);
	}
	if (waiting != 0)
		gh_value_add(values, ", ...");
}

static void add_contents(struct gh_values *values, const struct channel *channel, uint64_t header)
{
	unsigned word = values->process->tab->pointer_size;
	gh_value_add(values, "%" PRIu64 "/%" PRIu64, channel->count, channel->size);
	if (channel->elem == GH_NO_RTYPE)
		return;
	if (channel->count > 0 && gh_value_enter(values, header)) {
		struct gh_value_elem elem = {.number = channel->elem,
					     .size = values->types->items[channel->elem].size};
		gh_value_add(values, " ");
		gh_value_add_elements(values, &elem, channel->buffer, channel->count, channel->next,
				      channel->size);
		gh_value_leave(values);
	}
	if (channel->closed != 0)
		gh_value_add(values, ", closed");
	add_waiting(values, channel->receivers, "receiving");
	add_waiting(values, channel->receivers + 2 * (uint64_t)word, "sending");
}

void gh_value_add_channel(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
			  bool shown)
{
	struct channel channel = {0};
	if (shown)
		gh_value_add_type(values, type);
	if (header == 0)
		gh_value_add(values, "nil");
	else if (read_channel(values, gh_rtype_elem(values->types, type), header, &channel))
		add_contents(values, &channel, header);
	else
		gh_value_add_unreadable(values, header);
}

bool gh_value_add_hchan(struct gh_values *values, uint64_t header)
{
	struct channel channel = {0};
	if (!read_channel(values, GH_NO_RTYPE, header, &channel) || channel.elem == GH_NO_RTYPE)
		return false;
	gh_value_add(values, "chan ");
	gh_value_add_type(values, &values->types->items[channel.elem]);
	add_contents(values, &channel, header);
	return true;
}
