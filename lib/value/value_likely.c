#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"

/* What two words are no more than likely to be a string of, in bytes. */
#define MOST_TEXT ((uint64_t)1 << 16)

/* Beyond, a number is more often an address. */
#define MOST_NUMBER ((int64_t)1 << 32)

/* The two words are a string, as far as can be seen. Its bytes are to be found. */
static bool is_likely_text(struct gh_values *values, const uint64_t words[2])
{
	uint64_t size = words[1];
	if (words[0] == 0 || size == 0 || size > MOST_TEXT)
		return false;
	char *text = malloc(size);
	bool likely = text != NULL &&
		      gh_process_read_constant(values->process, words[0], text, size) &&
		      gh_escape_is_text(text, size);
	free(text);
	return likely;
}

/* A value of TYPE can be at ADDRESS, or be it. */
static bool can_be_at(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_process *process = values->process;
	uint8_t byte;
	return type->direct || type->size == 0 ||
	       (gh_process_read_constant(process, address, &byte, 1) &&
		gh_process_read_constant(process, address + type->size - 1, &byte, 1));
}

/* The type of the interface that the two words are, as far as can be seen; or GH_NO_RTYPE. */
static uint32_t find_interface(struct gh_values *values, const uint64_t words[2])
{
	const struct gh_rtypes *types = values->types;
	uint64_t bias = values->process->bias;
	uint64_t descriptor;
	uint64_t dynamic = words[0];
	uint32_t interface = GH_NO_RTYPE;
	if (gh_rtypes_at(types, dynamic - bias) != GH_NO_RTYPE)
		interface = gh_rtypes_named(types, "interface {}", NULL);
	else if (gh_value_word(values, words[0], &descriptor) &&
		 gh_value_word(values, words[0] + values->process->tab->pointer_size, &dynamic))
		interface = gh_rtypes_at(types, descriptor - bias);
	uint32_t number = gh_rtypes_at(types, dynamic - bias);
	bool likely = interface != GH_NO_RTYPE && number != GH_NO_RTYPE &&
		      types->items[interface].kind == GH_KIND_INTERFACE &&
		      can_be_at(values, &types->items[number], words[1]);
	return likely ? interface : GH_NO_RTYPE;
}

/* Appends the two words as a value of TYPE. */
static bool add_as(struct gh_values *values, uint32_t type, const uint64_t words[2])
{
	uint8_t word = values->process->tab->pointer_size;
	struct gh_buffer bytes = {.big_endian = values->process->memory.big_endian};
	if (type == GH_NO_RTYPE || values->types->items[type].size != 2U * word)
		return false;
	gh_buffer_uint(&bytes, words[0], word);
	gh_buffer_uint(&bytes, words[1], word);
	bool made = !bytes.failed;
	if (made)
		gh_value_print_own(values, type, bytes.data);
	gh_buffer_free(&bytes);
	return made;
}

bool gh_value_add_likely_text(struct gh_values *values, const uint64_t words[2])
{
	if (!is_likely_text(values, words) ||
	    !add_as(values, gh_rtypes_named(values->types, "string", NULL), words))
		return false;
	gh_value_add(values, "?");
	return true;
}

bool gh_value_add_likely_interface(struct gh_values *values, const uint64_t words[2])
{
	static const char unreadable[] = "(unreadable";
	struct gh_buffer *out = &values->out;
	size_t before = out->size;
	if (!add_as(values, find_interface(values, words), words))
		return false;
	/* What leads nowhere is something else. */
	if (out->failed || memmem(out->data + before, out->size - before, unreadable,
				  sizeof(unreadable) - 1) != NULL) {
		out->size = before;
		return false;
	}
	gh_value_add(values, "?");
	return true;
}

void gh_value_print_words(struct gh_values *values, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t number = (int64_t)words[i];
		gh_value_add(values, "%s", i > 0 ? ", " : "");
		if (i + 1 < count && (gh_value_add_likely_text(values, &words[i]) ||
				      gh_value_add_likely_interface(values, &words[i])))
			i++;
		else if (number > -MOST_NUMBER && number < MOST_NUMBER)
			gh_value_add(values, "%" PRId64 "?", number);
		else
			gh_value_add(values, "0x%" PRIx64 "?", words[i]);
	}
}
