#include "tests/unit/profilewalk.h"

#include <iconv.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/heap/heap.h"
#include "lib/profile/profile.h"

/* A field of a message. */
struct field {
	unsigned number;
	bool is_bytes;
	uint64_t value;      /* if not; else the size */
	const uint8_t *data; /* if so */
};

/* A message that is left to read. */
struct message {
	const uint8_t *at, *end;
};

/* A function, location or sample, as it is in the profile. */
struct item {
	uint64_t id;
	struct message message;
};

struct items {
	struct item *items;
	size_t count;
};

/* A whole profile. */
struct parsed {
	struct items strings, functions, locations, mappings, samples;
};

static void must(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t read_varint(struct message *message)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		must(message->at < message->end && shift < 64);
		uint8_t byte = *message->at++;
		must(shift < 63 || byte < 2);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

static bool next_field(struct message *message, struct field *field)
{
	if (message->at == message->end)
		return false;
	uint64_t tag = read_varint(message);
	must(tag >> 3 > 0 && tag >> 3 < 20 && ((tag & 7) == 0 || (tag & 7) == 2));
	*field = (struct field){.number = (unsigned)(tag >> 3), .is_bytes = (tag & 7) == 2};
	field->value = read_varint(message);
	if (field->is_bytes) {
		must(field->value <= (uint64_t)(message->end - message->at));
		field->data = message->at;
		message->at += field->value;
	}
	return true;
}

static struct message nested(const struct field *field)
{
	must(field->is_bytes);
	return (struct message){field->data, field->data + field->value};
}

/* Adds the field to ITEMS, by the id in it; a string's id is its number. */
static void add_item(struct items *items, const struct field *field, bool has_id)
{
	struct item item = {.id = items->count, .message = nested(field)};
	struct message message = item.message;
	struct field id;
	if (has_id) {
		must(next_field(&message, &id) && id.number == 1 && !id.is_bytes && id.value > 0);
		item.id = id.value;
	}
	items->items = reallocarray(items->items, items->count + 1, sizeof(item));
	items->items[items->count++] = item;
}

static int compare(const void *a, const void *b)
{
	uint64_t first = ((const struct item *)a)->id;
	uint64_t second = ((const struct item *)b)->id;
	return (first > second) - (first < second);
}

static void sort(struct items *items)
{
	if (items->count > 0)
		qsort(items->items, items->count, sizeof(*items->items), compare);
	for (size_t i = 1; i < items->count; i++)
		must(items->items[i].id != items->items[i - 1].id);
}

static struct message find(const struct items *items, uint64_t id)
{
	const struct item key = {.id = id};
	const struct item *found = items->count == 0 ? NULL
						     : bsearch(&key, items->items, items->count,
							       sizeof(*items->items), compare);
	must(found != NULL);
	return found->message;
}

static void check_string(const struct message *string)
{
	uint32_t wide[64];
	char *in = (char *)string->at;
	size_t left = (size_t)(string->end - string->at);
	iconv_t conversion = iconv_open("UTF-32LE", "UTF-8");
	must(conversion != (iconv_t)-1);
	while (left > 0) {
		char *out = (char *)wide;
		size_t room = sizeof(wide);
		size_t before = left;
		iconv(conversion, &in, &left, &out, &room);
		must(left < before);
		for (size_t i = 0; i < (sizeof(wide) - room) / sizeof(wide[0]); i++)
			must(wide[i] >= 0x20 && !(wide[i] >= 0x7f && wide[i] <= 0x9f));
	}
	iconv_close(conversion);
}

static void parse(struct parsed *parsed, struct message message, struct walked_profile *profile)
{
	struct field field;
	while (next_field(&message, &field)) {
		switch (field.number) {
		case 2:
			add_item(&parsed->samples, &field, false);
			break;
		case 3:
			add_item(&parsed->mappings, &field, true);
			break;
		case 4:
			add_item(&parsed->locations, &field, true);
			break;
		case 5:
			add_item(&parsed->functions, &field, true);
			break;
		case 6:
			add_item(&parsed->strings, &field, false);
			check_string(&parsed->strings.items[parsed->strings.count - 1].message);
			break;
		case 9:
			profile->time = field.value;
			must(!field.is_bytes);
			break;
		case 12:
			profile->period = field.value;
			must(!field.is_bytes && field.value <= INT64_MAX);
			break;
		default:
			must(field.number == 1 || field.number == 11 || field.number == 14);
		}
	}
	must(parsed->strings.count > 0 &&
	     parsed->strings.items[0].message.at == parsed->strings.items[0].message.end);
	sort(&parsed->mappings);
	sort(&parsed->locations);
	sort(&parsed->functions);
}

/* Appends a call to STACK: the function of the line MESSAGE. */
static void add_call(const struct parsed *parsed, struct message message, char *stack, bool first)
{
	struct field field;
	uint64_t line = 0;
	struct message name = {0};
	while (next_field(&message, &field)) {
		must(!field.is_bytes);
		if (field.number == 2)
			line = field.value;
		if (field.number != 1)
			continue;
		struct message function = find(&parsed->functions, field.value);
		while (next_field(&function, &field)) {
			must(!field.is_bytes);
			if (field.number >= 2 && field.number <= 4)
				must(field.value < parsed->strings.count);
			if (field.number == 2)
				name = find(&parsed->strings, field.value);
		}
	}
	size_t length = strlen(stack);
	snprintf(stack + length, 512 - length, "%s%.*s:%llu", first ? " " : "<",
		 (int)(name.end - name.at), (const char *)name.at, (unsigned long long)line);
}

static void add_location(const struct parsed *parsed, uint64_t id, char *stack)
{
	struct message message = find(&parsed->locations, id);
	struct field field;
	bool first = true;
	while (next_field(&message, &field)) {
		if (field.number == 2)
			find(&parsed->mappings, field.value);
		if (field.number != 4)
			continue;
		add_call(parsed, nested(&field), stack, first);
		first = false;
	}
	must(!first);
}

static void read_sample(const struct parsed *parsed, struct message message, size_t expected,
			uint64_t values[4], uint64_t *label, char *stack)
{
	struct field field;
	size_t nvalues = 0;
	while (next_field(&message, &field)) {
		struct message inner = nested(&field);
		struct field part;
		if (field.number == 1) {
			while (inner.at < inner.end)
				add_location(parsed, read_varint(&inner), stack);
		} else if (field.number == 2) {
			for (; inner.at < inner.end; nvalues++) {
				must(nvalues < 4);
				values[nvalues] = read_varint(&inner);
				must(values[nvalues] <= INT64_MAX);
			}
		} else {
			must(field.number == 3);
			while (next_field(&inner, &part))
				if (part.number == 3)
					*label = part.value;
		}
	}
	must(nvalues == expected);
}

static void read_samples(const struct parsed *parsed, size_t nvalues,
			 struct walked_profile *profile)
{
	profile->nsamples = parsed->samples.count;
	for (size_t i = 0; i < parsed->samples.count; i++) {
		uint64_t values[4] = {0};
		uint64_t label = 0;
		char stack[512] = "";
		read_sample(parsed, parsed->samples.items[i].message, nvalues, values, &label,
			    stack);
		if (i >= PROFILE_MAX_SAMPLES)
			continue;
		memcpy(profile->values[i], values, sizeof(values));
		profile->label[i] = label;
		strcpy(profile->stacks[i], stack);
	}
}

static void read_mapping(const struct parsed *parsed, struct walked_profile *profile)
{
	must(parsed->mappings.count == 1);
	struct message message = parsed->mappings.items[0].message;
	struct field field;
	while (next_field(&message, &field))
		if (field.number >= 2 && field.number <= 4)
			profile->mapping[field.number - 2] = field.value;
}

static uint8_t *read_compressed(const char *path, size_t *size)
{
	uint8_t *data = NULL;
	int got;
	gzFile in = gzopen(path, "rb");
	must(in != NULL);
	*size = 0;
	do {
		data = realloc(data, *size + 65536);
		got = gzread(in, data + *size, 65536);
		must(got >= 0);
		*size += (size_t)got;
	} while (got > 0);
	must(gzclose(in) == Z_OK);
	return data;
}

/* Reads the profile at PATH, whose samples have NVALUES values each. */
static void read_profile(const char *path, size_t nvalues, struct walked_profile *profile)
{
	size_t size;
	uint8_t *data = read_compressed(path, &size);
	struct parsed parsed = {0};
	*profile = (struct walked_profile){0};
	parse(&parsed, (struct message){data, data + size}, profile);
	read_samples(&parsed, nvalues, profile);
	read_mapping(&parsed, profile);
	free(parsed.strings.items);
	free(parsed.functions.items);
	free(parsed.locations.items);
	free(parsed.mappings.items);
	free(parsed.samples.items);
	free(data);
}

/* Writes what is live in DUMP to PATH, too. */
static void walk_live(const struct gh_dump *dump, struct gh_pprof pprof, const char *path)
{
	static struct walked_profile profile;
	struct gh_heap heap;
	struct gh_dominators dominators;
	struct gh_live_stacks live;
	struct gh_error err;
	must(gh_heap_build(&heap, dump, &err));
	must(gh_dominators_build(&dominators, &heap, &err));
	must(gh_live_stacks_make(&live, pprof.allocations, &heap, &dominators, pprof.rate, &err));
	pprof.live = &live;
	must(gh_pprof_write(&pprof, path, &err));
	read_profile(path, 3, &profile);
	must(profile.nsamples == live.count);
	must(live.count <= gh_dump_count(dump, GH_DUMP_PROFILE));
	gh_live_stacks_free(&live);
	gh_dominators_free(&dominators);
	gh_heap_free(&heap);
}

void profile_walk(const struct gh_dump *dump, const struct gh_pclntab *tab, uint64_t rate,
		  const char *path, struct walked_profile *profile)
{
	static struct walked_profile unused;
	struct gh_allocations allocations;
	struct gh_error err;
	must(gh_allocations_make(&allocations, dump, tab, &err));
	must(allocations.stack_places.count <= gh_cursor_size(&dump->file));
	const struct gh_pprof pprof = {
	    .allocations = &allocations,
	    .rate = rate,
	    .program = tab != NULL ? tab->image : NULL,
	    .program_path = tab != NULL ? "/bin/program" : "",
	};
	walk_live(dump, pprof, path);
	must(gh_pprof_write(&pprof, path, &err));
	profile = profile != NULL ? profile : &unused;
	read_profile(path, 4, profile);
	must(profile->nsamples == gh_dump_count(dump, GH_DUMP_PROFILE));
	gh_allocations_free(&allocations);
}
