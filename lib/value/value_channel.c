#include "lib/value/internal.h"

#include <inttypes.h>

#include "lib/process/goroutine.h"

/* More goroutines that wait are not listed. */
#define MOST_WAITING 16

/* What runtime.hchan has. */
struct channel {
	uint64_t count;     /* of elements */
	uint64_t size;      /* of the buffer, in elements */
	uint64_t buffer;    /* its address */
	uint64_t closed;    /* not 0: it is */
	uint64_t next;      /* place of the first element in the buffer */
	uint64_t receivers; /* address of the queue of those that wait to receive, and to send */
	uint64_t senders;
	uint32_t elem; /* the elements' type; GH_NO_RTYPE: not known, and next is not set */
};

/* The offset of a field of the runtime's struct NUMBER. */
static uint32_t offset_of(const struct gh_values *values, uint32_t number, const char *field)
{
	const struct gh_process *process = values->process;
	return gh_runtime_offset(number, field, process->tab->pointer_size, process->minor);
}

/* Reads the channel at HEADER, whose elements are of type ELEM; GH_NO_RTYPE if that is not known.
 */
static bool read_channel(struct gh_values *values, uint32_t elem, uint64_t header,
			 struct channel *channel)
{
	struct gh_process *process = values->process;
	unsigned word = process->tab->pointer_size;
	uint64_t type;
#define AT(field) (header + offset_of(values, GH_RUNTIME_HCHAN, field))
	channel->receivers = AT("recvq");
	channel->senders = AT("sendq");
	channel->elem = GH_NO_RTYPE;
	if (!gh_process_constant_uint(process, header, word, &channel->count) ||
	    !gh_process_constant_uint(process, AT("dataqsiz"), word, &channel->size) ||
	    !gh_value_word(values, AT("buf"), &channel->buffer) ||
	    !gh_process_constant_uint(process, AT("closed"), 4, &channel->closed))
		return false;
	if (!gh_value_word(values, AT("elemtype"), &type))
		return true;
	uint32_t number = gh_rtypes_at(values->types, type - process->bias);
	if (number == GH_NO_RTYPE || (elem != GH_NO_RTYPE && number != elem))
		return true;
	channel->elem = number;
	return gh_process_constant_uint(process, AT("recvx"), word, &channel->next);
#undef AT
}

/* Appends the goroutines in the queue at ADDRESS, by what they do. */
static void add_waiting(struct gh_values *values, uint64_t address, const char *doing)
{
	struct gh_process *process = values->process;
	unsigned word = process->tab->pointer_size;
	struct gh_g_layout layout = gh_g_layout_of(word, process->minor);
	uint32_t next = offset_of(values, GH_RUNTIME_SUDOG, "next");
	uint64_t waiting;
	unsigned i = 0;
	gh_value_word(values, address, &waiting);
	for (; waiting != 0 && i < MOST_WAITING; i++) {
		uint64_t g;
		uint64_t id;
		if (!gh_value_word(values, waiting, &g) ||
		    !gh_process_constant_uint(values->process, g + layout.id, 8, &id))
			break;
		if (i == 0 && !values->json)
			gh_value_add(values, ", %s: goroutine ", doing);
		else if (i == 0)
			gh_value_json(values, ",", doing);
		gh_value_add(values, "%s%" PRIu64, i > 0 ? ", " : values->json ? "[" : "", id);
		gh_value_word(values, waiting + next, &waiting);
	}
	if (waiting != 0)
		gh_value_add_rest(values, ", ...", ",");
	if (i > 0)
		gh_value_add_either(values, "", "]");
}

static void add_contents(struct gh_values *values, const struct channel *channel, uint64_t header)
{
	gh_value_json(values, "{", "count");
	gh_value_add(values, "%" PRIu64, channel->count);
	gh_value_json(values, ",", "capacity");
	gh_value_add(values, values->json ? "%" PRIu64 : "/%" PRIu64, channel->size);
	if (channel->elem == GH_NO_RTYPE)
		return;
	if (channel->count > 0 && gh_value_enter(values, header)) {
		struct gh_value_elem elem = {.number = channel->elem,
					     .size = values->types->items[channel->elem].size};
		gh_value_add_either(values, " ", "");
		gh_value_json(values, ",", "elements");
		gh_value_add_elements(values, &elem, channel->buffer, channel->count, channel->next,
				      channel->size);
		gh_value_leave(values);
	}
	if (channel->closed != 0) {
		gh_value_json(values, ",", "closed");
		gh_value_add_either(values, ", closed", "true");
	}
	add_waiting(values, channel->receivers, "receiving");
	add_waiting(values, channel->senders, "sending");
}

void gh_value_add_channel(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
			  bool shown)
{
	struct channel channel = {0};
	if (shown)
		gh_value_add_type(values, type);
	if (header == 0) {
		gh_value_add_either(values, "nil", "null");
	} else if (read_channel(values, gh_rtype_elem(values->types, type), header, &channel)) {
		add_contents(values, &channel, header);
		gh_value_add_either(values, "", "}");
	} else {
		gh_value_add_unreadable(values, header);
	}
}

bool gh_value_is_channel(struct gh_values *values, const struct gh_rtype *type, uint64_t header)
{
	struct channel channel = {0};
	const struct gh_rtype *types = values->types->items;
	uint32_t elem = gh_rtype_elem(values->types, type);
	/* Other modules have descriptors of their own of one type. */
	return read_channel(values, GH_NO_RTYPE, header, &channel) && channel.elem != GH_NO_RTYPE &&
	       (elem == GH_NO_RTYPE || types[elem].size == types[channel.elem].size);
}

bool gh_value_add_hchan(struct gh_values *values, const struct gh_rtype *type, uint64_t header)
{
	struct channel channel = {0};
	(void)type;
	if (!read_channel(values, GH_NO_RTYPE, header, &channel) || channel.elem == GH_NO_RTYPE)
		return false;
	gh_value_add_either(values, "chan ", "");
	gh_value_add_type(values, &values->types->items[channel.elem]);
	add_contents(values, &channel, header);
	gh_value_add_either(values, "", "}");
	return true;
}
