#include "lib/profile/profile.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/elf/elf.h"
#include "lib/util/escape.h"
#include "lib/util/output.h"

/* How a value of a message is written: https://protobuf.dev/programming-guides/encoding. */
enum wire_type {
	VARINT = 0,
	LENGTH_DELIMITED = 2,
};

static void put_tag(struct gh_buffer *message, unsigned field, enum wire_type type)
{
	gh_buffer_uleb128(message, (uint64_t)field << 3 | type);
}

/* Appends field FIELD to a message: an integer (a negative one as its two's complement). 0 is what
 * a field that is left out means: it is left out. */
static void put_int(struct gh_buffer *message, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(message, field, VARINT);
	gh_buffer_uleb128(message, value);
}

/* Appends a string or a message, SIZE bytes at DATA. A string must be UTF-8. */
static void put_bytes(struct gh_buffer *message, unsigned field, const void *data, size_t size)
{
	put_tag(message, field, LENGTH_DELIMITED);
	gh_buffer_uleb128(message, size);
	gh_buffer_bytes(message, data, size);
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;
	while (value >= 0x80) {
		value >>= 7;
		size++;
	}
	return size;
}

/* Appends COUNT integers, packed. */
static void put_ints(struct gh_buffer *message, unsigned field, const uint64_t *values,
		     size_t count)
{
	size_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += varint_size(values[i]);
	put_tag(message, field, LENGTH_DELIMITED);
	gh_buffer_uleb128(message, size);
	for (size_t i = 0; i < count; i++)
		gh_buffer_uleb128(message, values[i]);
}

/* The fields of profile.proto's messages. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_NUM = 3,

	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5,
};

/* The one mapping's id. */
#define MAPPING 1

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
	gzFile out;
	struct gh_buffer field;     /* of the Profile, to be written next */
	struct gh_buffer message;   /* in the field */
	struct gh_buffer nested;    /* in the message */
	struct gh_intern functions; /* pairs of name and file, in the lines; by id - 1 */
	bool failed;                /* it cannot be written: errno says why */
};

/* What OUT failed of, as far as is known. */
static void fail_writing(struct writing *writing)
{
	int number;
	gzerror(writing->out, &number);
	if (number != Z_ERRNO)
		errno = number == Z_MEM_ERROR ? ENOMEM : EIO;
	writing->failed = true;
}

/* Writes the field. */
static void flush(struct writing *writing)
{
	struct gh_buffer *field = &writing->field;
	/* gzwrite counts in int. */
	for (size_t done = 0; done < field->size && !writing->failed;) {
		size_t size = field->size - done < 1 << 20 ? field->size - done : 1 << 20;
		if (gzwrite(writing->out, field->data + done, (unsigned)size) <= 0)
			fail_writing(writing);
		done += size;
	}
	if (field->failed || writing->message.failed || writing->nested.failed) {
		errno = ENOMEM;
		writing->failed = true;
	}
	field->size = 0;
}

/* Writes an integer field of the Profile. */
static void write_int(struct writing *writing, unsigned field, uint64_t value)
{
	put_int(&writing->field, field, value);
	flush(writing);
}

/* Writes the message as a field of the Profile; the next starts empty. */
static void write_message(struct writing *writing, unsigned field)
{
	put_bytes(&writing->field, field, writing->message.data, writing->message.size);
	writing->message.size = 0;
	flush(writing);
}

/* Ends the nested message, a field of the message; the next starts empty. */
static void end_nested(struct writing *writing, unsigned field)
{
	put_bytes(&writing->message, field, writing->nested.data, writing->nested.size);
	writing->nested.size = 0;
}

static void write_type(struct writing *writing, unsigned field, enum string type, enum string unit)
{
	put_int(&writing->message, VALUE_TYPE_TYPE, type);
	put_int(&writing->message, VALUE_TYPE_UNIT, unit);
	write_message(writing, field);
}

/* The time of the last garbage collection, which the profile is as of; 0 if there was none. */
static uint64_t profile_time(const struct gh_dump *dump)
{
	struct gh_dump_record record;
	if (gh_dump_count(dump, GH_DUMP_MEMSTATS) == 0)
		return 0;
	gh_dump_get(dump, GH_DUMP_MEMSTATS, 0, &record);
	return record.memstats.counters[GH_DUMP_LAST_GC];
}

static void write_sample_types(struct writing *writing)
{
	bool live = writing->pprof->live != NULL;
	if (live) {
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_LIVE_OBJECTS, STRING_COUNT);
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_LIVE_SPACE, STRING_BYTES);
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_RETAINED_SPACE, STRING_BYTES);
	} else {
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_ALLOC_OBJECTS, STRING_COUNT);
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_ALLOC_SPACE, STRING_BYTES);
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_INUSE_OBJECTS, STRING_COUNT);
		write_type(writing, PROFILE_SAMPLE_TYPE, STRING_INUSE_SPACE, STRING_BYTES);
	}
	write_int(writing, PROFILE_DEFAULT_SAMPLE_TYPE,
		  live ? STRING_LIVE_SPACE : STRING_INUSE_SPACE);
}

static void write_header(struct writing *writing)
{
	write_sample_types(writing);
	write_type(writing, PROFILE_PERIOD_TYPE, STRING_SPACE, STRING_BYTES);
	write_int(writing, PROFILE_PERIOD, writing->pprof->rate);
	write_int(writing, PROFILE_TIME_NANOS, profile_time(writing->pprof->allocations->dump));
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
		gh_buffer_uleb128(&writing->nested, (uint64_t)places[i] + 1);
	end_nested(writing, SAMPLE_LOCATION_ID);
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
	put_ints(&writing->message, SAMPLE_VALUE, values, 4);
	put_int(&writing->nested, LABEL_KEY, STRING_BYTES);
	put_int(&writing->nested, LABEL_NUM, profile->size);
	end_nested(writing, SAMPLE_LABEL);
	write_message(writing, PROFILE_SAMPLE);
}

static void write_live_sample(struct writing *writing, const struct gh_live_stack *stack)
{
	const uint64_t values[] = {stack->objects, stack->bytes, stack->retained};
	start_sample(writing, stack->record);
	put_ints(&writing->message, SAMPLE_VALUE, values, sizeof(values) / sizeof(values[0]));
	write_message(writing, PROFILE_SAMPLE);
}

static void write_samples(struct writing *writing)
{
	const struct gh_pprof *pprof = writing->pprof;
	size_t count = pprof->live != NULL
			   ? pprof->live->count
			   : gh_dump_count(pprof->allocations->dump, GH_DUMP_PROFILE);
	for (size_t i = 0; i < count && !writing->failed; i++) {
		if (pprof->live != NULL)
			write_live_sample(writing, &pprof->live->items[i]);
		else
			write_sample(writing, i);
	}
}

static void write_mapping(struct writing *writing)
{
	const struct gh_pprof *pprof = writing->pprof;
	struct gh_buffer *message = &writing->message;
	put_int(message, MAPPING_ID, MAPPING);
	for (size_t i = 0; pprof->program != NULL && i < pprof->program->nsegments; i++) {
		const GElf_Phdr *segment = &pprof->program->segments[i];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		uint64_t start = segment->p_vaddr + pprof->bias;
		put_int(message, MAPPING_MEMORY_START, start);
		put_int(message, MAPPING_MEMORY_LIMIT, start + segment->p_memsz);
		put_int(message, MAPPING_FILE_OFFSET, segment->p_offset);
		break;
	}
	put_int(message, MAPPING_FILENAME, STRING_FILENAME);
	put_int(message, MAPPING_BUILD_ID, STRING_BUILD_ID);
	/* Nothing is left for pprof to find. */
	put_int(message, MAPPING_HAS_FUNCTIONS, true);
	put_int(message, MAPPING_HAS_FILENAMES, true);
	put_int(message, MAPPING_HAS_LINE_NUMBERS, true);
	put_int(message, MAPPING_HAS_INLINE_FRAMES, pprof->program != NULL);
	write_message(writing, PROFILE_MAPPING);
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
		writing->failed = true;
	}
	if (number != count)
		return;
	struct gh_buffer *message = &writing->message;
	put_int(message, FUNCTION_ID, (uint64_t)number + 1);
	put_int(message, FUNCTION_NAME, (uint64_t)STRINGS + line->function);
	put_int(message, FUNCTION_SYSTEM_NAME, (uint64_t)STRINGS + line->function);
	put_int(message, FUNCTION_FILENAME, (uint64_t)STRINGS + line->file);
	put_int(message, FUNCTION_START_LINE, (uint64_t)line->start_line);
	write_message(writing, PROFILE_FUNCTION);
}

static void write_functions(struct writing *writing)
{
	const struct gh_allocations *allocations = writing->pprof->allocations;
	for (size_t i = 0; i < allocations->lines.count && !writing->failed; i++)
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
	struct gh_buffer *message = &writing->message;
	put_int(message, LOCATION_ID, (uint64_t)number + 1);
	put_int(message, LOCATION_MAPPING_ID, MAPPING);
	if (place->address != 0)
		put_int(message, LOCATION_ADDRESS, place->address + writing->pprof->bias);
	for (uint32_t i = 0; i < place->nlines; i++) {
		const struct gh_allocation_line *line = gh_allocations_line(allocations, number, i);
		put_int(&writing->nested, LINE_FUNCTION_ID, function_id(writing, line));
		put_int(&writing->nested, LINE_LINE, line->line);
		end_nested(writing, LOCATION_LINE);
	}
	write_message(writing, PROFILE_LOCATION);
}

static void write_string(struct writing *writing, const char *text, size_t size)
{
	gh_escape_utf8(&writing->message, text, size);
	write_message(writing, PROFILE_STRING_TABLE);
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
		write_string(writing, strings[i], strlen(strings[i]));
	gh_buildinfo_free(&info);
	const struct gh_intern *texts = &pprof->allocations->texts;
	for (uint32_t i = 0; i < texts->count && !writing->failed; i++)
		write_string(writing, texts->items[i]->text, texts->items[i]->length);
}

static void write_profile(struct writing *writing)
{
	const struct gh_allocations *allocations = writing->pprof->allocations;
	write_header(writing);
	write_samples(writing);
	write_mapping(writing);
	write_functions(writing);
	size_t nplaces = allocations->places.count;
	for (size_t i = 0; i < nplaces && !writing->failed; i++)
		write_location(writing, (uint32_t)i);
	write_strings(writing);
}

/* Writes the profile, compressed, to FD, which stays open. False, and errno set, if it cannot. */
static bool write_compressed(const struct gh_pprof *pprof, int fd)
{
	int copy = dup(fd);
	struct writing writing = {.pprof = pprof};
	if (copy < 0)
		return false;
	errno = 0;
	writing.out = gzdopen(copy, "wb");
	if (writing.out == NULL) {
		close(copy);
		errno = errno != 0 ? errno : ENOMEM;
		return false;
	}
	write_profile(&writing);
	int number = errno;
	/* What is left in zlib's buffers is written now. */
	if (gzclose(writing.out) != Z_OK && !writing.failed) {
		number = errno;
		writing.failed = true;
	}
	gh_buffer_free(&writing.field);
	gh_buffer_free(&writing.message);
	gh_buffer_free(&writing.nested);
	gh_intern_free(&writing.functions);
	errno = number;
	return !writing.failed;
}

bool gh_pprof_write(const struct gh_pprof *pprof, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	if (write_compressed(pprof, out.fd))
		return gh_output_commit(&out, err);
	gh_fail_errno(err, path, "write");
	gh_output_discard(&out);
	return false;
}
