#include "lib/profile/profile.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/elf/elf.h"
#include "lib/profile/internal.h"

/* The string table starts with these; the names of functions and files follow. */
enum string {
	STRING_NONE,
	STRING_ALLOC_OBJECTS,
	STRING_ALLOC_SPACE,
	STRING_INUSE_OBJECTS,
	STRING_INUSE_SPACE,
	STRING_LIVE_OBJECTS,
	STRING_LIVE_SPACE,
	STRING_RETAINED_SPACE,
	STRING_COUNT,
	STRING_BYTES,
	STRING_SPACE,
	STRING_FILENAME,
	STRING_BUILD_ID,
	STRINGS,
};

/* A profile being written. */
struct writing {
	const struct gh_pprof *pprof;
	struct gh_pprof_out *out;
	struct gh_intern functions; /* pairs of name and file, in the lines; by id - 1 */
};

static void write_sample_types(struct writing *writing)
{
	bool live = writing->pprof->live != NULL;
	if (live) {
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE, STRING_LIVE_OBJECTS,
				    STRING_COUNT);
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE, STRING_LIVE_SPACE,
				    STRING_BYTES);
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE,
				    STRING_RETAINED_SPACE, STRING_BYTES);
	} else {
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE,
				    STRING_ALLOC_OBJECTS, STRING_COUNT);
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE, STRING_ALLOC_SPACE,
				    STRING_BYTES);
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE,
				    STRING_INUSE_OBJECTS, STRING_COUNT);
		gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_SAMPLE_TYPE, STRING_INUSE_SPACE,
				    STRING_BYTES);
	}
	gh_pprof_write_int(writing->out, GH_PPROF_PROFILE_DEFAULT_SAMPLE_TYPE,
			   live ? STRING_LIVE_SPACE : STRING_INUSE_SPACE);
}

static void write_header(struct writing *writing)
{
	write_sample_types(writing);
	gh_pprof_write_type(writing->out, GH_PPROF_PROFILE_PERIOD_TYPE, STRING_SPACE, STRING_BYTES);
	gh_pprof_write_int(writing->out, GH_PPROF_PROFILE_PERIOD, writing->pprof->rate);
	gh_pprof_write_int(writing->out, GH_PPROF_PROFILE_TIME_NANOS,
			   gh_dump_last_gc(writing->pprof->allocations->dump));
}

/* Doubles are rounded as Go does, and do not wrap around. */
static uint64_t scaled(uint64_t value, double scale)
{
	double result = (double)value * scale;
	return result < (double)INT64_MAX ? (uint64_t)result : INT64_MAX;
}

void gh_pprof_scale(uint64_t rate, uint64_t size, uint64_t *count, uint64_t *bytes)
{
	*count = *count < INT64_MAX ? *count : INT64_MAX;
	*bytes = gh_profile_bytes(*count, size);
	if (*bytes == 0)
		*count = 0;
	if (*bytes == 0 || rate <= 1)
		return;
	double scale = 1 / (1 - exp(-(double)size / (double)rate));
	*count = scaled(*count, scale);
	*bytes = scaled(*bytes, scale);
}

/* The count and bytes that a sample has of COUNT objects of SIZE bytes. */
static void set_values(const struct gh_pprof *pprof, uint64_t count, uint64_t size,
		       uint64_t values[2])
{
	values[0] = count;
	gh_pprof_scale(pprof->raw ? 1 : pprof->rate, size, &values[0], &values[1]);
}

/* Begins a sample with the stack of profile record NUMBER. */
static void start_sample(struct writing *writing, size_t number)
{
	size_t count;
	const uint32_t *places = gh_allocations_stack(writing->pprof->allocations, number, &count);
	for (size_t i = 0; i < count; i++)
		gh_buffer_uleb128(&writing->out->nested, (uint64_t)places[i] + 1);
	gh_pprof_end_nested(writing->out, GH_PPROF_SAMPLE_LOCATION_ID);
}

static void write_sample(struct writing *writing, size_t number)
{
	const struct gh_pprof *pprof = writing->pprof;
	struct gh_dump_record record;
	gh_dump_get(pprof->allocations->dump, GH_DUMP_PROFILE, number, &record);
	const struct gh_dump_profile *profile = &record.profile;

	start_sample(writing, number);
	uint64_t values[4];
	set_values(pprof, profile->allocations, profile->size, values);
	set_values(pprof, gh_profile_inuse(profile), profile->size, values + 2);
	gh_pprof_put_ints(&writing->out->message, GH_PPROF_SAMPLE_VALUE, values, 4);
	/* Go's own writer divides bytes by objects, and labels no site that has neither yet. */
	if (profile->allocations > 0) {
		gh_pprof_put_int(&writing->out->nested, GH_PPROF_LABEL_KEY, STRING_BYTES);
		gh_pprof_put_int(&writing->out->nested, GH_PPROF_LABEL_NUM, profile->size);
		gh_pprof_end_nested(writing->out, GH_PPROF_SAMPLE_LABEL);
	}
	gh_pprof_end_message(writing->out, GH_PPROF_PROFILE_SAMPLE);
}

static void write_live_sample(struct writing *writing, const struct gh_live_stack *stack)
{
	const uint64_t values[] = {stack->objects, stack->bytes, stack->retained};
	start_sample(writing, stack->record);
	gh_pprof_put_ints(&writing->out->message, GH_PPROF_SAMPLE_VALUE, values,
			  sizeof(values) / sizeof(values[0]));
	gh_pprof_end_message(writing->out, GH_PPROF_PROFILE_SAMPLE);
}

static void write_samples(struct writing *writing)
{
	const struct gh_pprof *pprof = writing->pprof;
	size_t count = pprof->live != NULL
			   ? pprof->live->count
			   : gh_dump_count(pprof->allocations->dump, GH_DUMP_PROFILE);
	for (size_t i = 0; i < count && !writing->out->failed; i++) {
		if (pprof->live != NULL)
			write_live_sample(writing, &pprof->live->items[i]);
		else
			write_sample(writing, i);
	}
}

static void write_mapping(struct writing *writing)
{
	const struct gh_pprof *pprof = writing->pprof;
	struct gh_buffer *message = &writing->out->message;
	gh_pprof_put_int(message, GH_PPROF_MAPPING_ID, GH_PPROF_MAPPING);
	for (size_t i = 0; pprof->program != NULL && i < pprof->program->nsegments; i++) {
		const GElf_Phdr *segment = &pprof->program->segments[i];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		uint64_t start = segment->p_vaddr + pprof->bias;
		gh_pprof_put_int(message, GH_PPROF_MAPPING_MEMORY_START, start);
		gh_pprof_put_int(message, GH_PPROF_MAPPING_MEMORY_LIMIT, start + segment->p_memsz);
		gh_pprof_put_int(message, GH_PPROF_MAPPING_FILE_OFFSET, segment->p_offset);
		break;
	}
	gh_pprof_put_int(message, GH_PPROF_MAPPING_FILENAME, STRING_FILENAME);
	gh_pprof_put_int(message, GH_PPROF_MAPPING_BUILD_ID, STRING_BUILD_ID);
	/* Nothing is left for pprof to find. */
	gh_pprof_put_int(message, GH_PPROF_MAPPING_HAS_FUNCTIONS, true);
	gh_pprof_put_int(message, GH_PPROF_MAPPING_HAS_FILENAMES, true);
	gh_pprof_put_int(message, GH_PPROF_MAPPING_HAS_LINE_NUMBERS, true);
	gh_pprof_put_int(message, GH_PPROF_MAPPING_HAS_INLINE_FRAMES, pprof->program != NULL);
	gh_pprof_end_message(writing->out, GH_PPROF_PROFILE_MAPPING);
}

/* A function is a name and a file: as many as there are pairs of those in the lines. */
static const char *function_key(const struct gh_allocation_line *line, size_t *length)
{
	*length = sizeof(line->function) + sizeof(line->file);
	return (const char *)&line->function;
}

/* Writes the function of LINE, unless it has been. */
static void write_function(struct writing *writing, const struct gh_allocation_line *line)
{
	size_t length;
	const char *key = function_key(line, &length);
	uint32_t count = writing->functions.count;
	uint32_t number = gh_intern_add(&writing->functions, key, length);
	if (number == GH_INTERN_NONE) {
		errno = ENOMEM;
		writing->out->failed = true;
	}
	if (number != count)
		return;
	struct gh_buffer *message = &writing->out->message;
	gh_pprof_put_int(message, GH_PPROF_FUNCTION_ID, (uint64_t)number + 1);
	gh_pprof_put_int(message, GH_PPROF_FUNCTION_NAME, (uint64_t)STRINGS + line->function);
	gh_pprof_put_int(message, GH_PPROF_FUNCTION_SYSTEM_NAME,
			 (uint64_t)STRINGS + line->function);
	gh_pprof_put_int(message, GH_PPROF_FUNCTION_FILENAME, (uint64_t)STRINGS + line->file);
	gh_pprof_put_int(message, GH_PPROF_FUNCTION_START_LINE, (uint64_t)line->start_line);
	gh_pprof_end_message(writing->out, GH_PPROF_PROFILE_FUNCTION);
}

static void write_functions(struct writing *writing)
{
	const struct gh_allocations *allocations = writing->pprof->allocations;
	for (size_t i = 0; i < allocations->lines.count && !writing->out->failed; i++)
		write_function(writing, &allocations->lines.items[i]);
}

static uint64_t function_id(const struct writing *writing, const struct gh_allocation_line *line)
{
	size_t length;
	const char *key = function_key(line, &length);
	return (uint64_t)gh_intern_find(&writing->functions, key, length) + 1;
}

static void write_location(struct writing *writing, uint32_t number)
{
	const struct gh_allocations *allocations = writing->pprof->allocations;
	const struct gh_allocation_place *place = gh_allocations_place(allocations, number);
	struct gh_buffer *message = &writing->out->message;
	gh_pprof_put_int(message, GH_PPROF_LOCATION_ID, (uint64_t)number + 1);
	gh_pprof_put_int(message, GH_PPROF_LOCATION_MAPPING_ID, GH_PPROF_MAPPING);
	if (place->address != 0)
		gh_pprof_put_int(message, GH_PPROF_LOCATION_ADDRESS,
				 place->address + writing->pprof->bias);
	for (uint32_t i = 0; i < place->nlines; i++) {
		const struct gh_allocation_line *line = gh_allocations_line(allocations, number, i);
		gh_pprof_put_int(&writing->out->nested, GH_PPROF_LINE_FUNCTION_ID,
				 function_id(writing, line));
		gh_pprof_put_int(&writing->out->nested, GH_PPROF_LINE_LINE, line->line);
		gh_pprof_end_nested(writing->out, GH_PPROF_LOCATION_LINE);
	}
	gh_pprof_end_message(writing->out, GH_PPROF_PROFILE_LOCATION);
}

static void write_strings(struct writing *writing)
{
	const struct gh_pprof *pprof = writing->pprof;
	struct gh_buildinfo info = {0};
	if (pprof->program != NULL)
		gh_buildinfo_read(&info, pprof->program);
	const char *strings[STRINGS] = {
	    [STRING_NONE] = "",
	    [STRING_ALLOC_OBJECTS] = "alloc_objects",
	    [STRING_ALLOC_SPACE] = "alloc_space",
	    [STRING_INUSE_OBJECTS] = "inuse_objects",
	    [STRING_INUSE_SPACE] = "inuse_space",
	    [STRING_LIVE_OBJECTS] = "live_objects",
	    [STRING_LIVE_SPACE] = "live_space",
	    [STRING_RETAINED_SPACE] = "retained_space",
	    [STRING_COUNT] = "count",
	    [STRING_BYTES] = "bytes",
	    [STRING_SPACE] = "space",
	    [STRING_FILENAME] = pprof->program_path,
	    [STRING_BUILD_ID] = info.gnu_build_id != NULL ? info.gnu_build_id : "",
	};
	for (size_t i = 0; i < STRINGS; i++)
		gh_pprof_write_string(writing->out, strings[i], strlen(strings[i]));
	gh_buildinfo_free(&info);
	const struct gh_intern *texts = &pprof->allocations->texts;
	for (uint32_t i = 0; i < texts->count && !writing->out->failed; i++)
		gh_pprof_write_string(writing->out, texts->items[i]->text, texts->items[i]->length);
}

static void write_profile(struct gh_pprof_out *out, const void *context)
{
	const struct gh_pprof *pprof = context;
	struct writing profile = {.pprof = pprof, .out = out};
	struct writing *writing = &profile;
	const struct gh_allocations *allocations = pprof->allocations;
	write_header(writing);
	write_samples(writing);
	write_mapping(writing);
	write_functions(writing);
	size_t nplaces = allocations->places.count;
	for (size_t i = 0; i < nplaces && !writing->out->failed; i++)
		write_location(writing, (uint32_t)i);
	write_strings(writing);
	gh_intern_free(&writing->functions);
}

bool gh_pprof_write(const struct gh_pprof *pprof, const char *path, struct gh_error *err)
{
	return gh_pprof_write_file(path, write_profile, pprof, err);
}
