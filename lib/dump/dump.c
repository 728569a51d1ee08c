#include "lib/dump/dump.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/internal.h"
#include "lib/elf/elf.h"
#include "lib/util/bsearch.h"

/* The first line, with the minor release's digit in between. */
#define HEADER_START "go1."
#define HEADER_END   " heap dump\n"
#define HEADER_DIGIT (sizeof(HEADER_START) - 1)
#define HEADER_SIZE  (HEADER_DIGIT + sizeof(HEADER_END))

/* The first record's tag tells the prototype from what was released. */
#define PROTOTYPE_PARAMS 10

bool gh_dump_recognise(const void *data, size_t size)
{
	const char *text = data;
	return size >= HEADER_SIZE && memcmp(text, HEADER_START, HEADER_DIGIT) == 0 &&
	       text[HEADER_DIGIT] >= '3' && text[HEADER_DIGIT] <= '7' &&
	       memcmp(text + HEADER_DIGIT + 1, HEADER_END, sizeof(HEADER_END) - 1) == 0;
}

const char *gh_dump_format_name(enum gh_dump_format format)
{
	static const char *const names[] = {"go1.3 prototype", "go1.3", "go1.4", "go1.5",
					    "go1.6",           "go1.7", "go1.7"};
	return names[format];
}

/* The file is no heap dump. gzip has been undone: only of heap dumps. */
static bool fail_of_kind(const struct gh_dump *dump, struct gh_error *err)
{
	const uint8_t *start = dump->file.start;
	size_t size = gh_cursor_size(&dump->file);
	bool is_elf = size >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0;
	return gh_fail(
	    err, dump->path, GH_NO_OFFSET, "a Go heap dump", "%s%s", gh_file_kind(start, size),
	    is_elf && dump->input.is_unpacked ? " that gzip compressed: unpack it with gzip -d"
					      : "");
}

static bool read_header(struct gh_dump *dump, struct gh_cursor *cur, struct gh_error *err)
{
	const uint8_t *line = gh_cursor_bytes(cur, HEADER_SIZE);
	if (line == NULL || !gh_dump_recognise(line, HEADER_SIZE))
		return fail_of_kind(dump, err);
	dump->format = (enum gh_dump_format)(GH_DUMP_1_3 + line[HEADER_DIGIT] - '3');
	struct gh_cursor ahead = *cur;
	if (dump->format == GH_DUMP_1_3 && gh_cursor_uvarint(&ahead) == PROTOTYPE_PARAMS)
		dump->format = GH_DUMP_PROTOTYPE;
	else if (dump->format == GH_DUMP_1_7 && dump->input.is_bare)
		dump->format = GH_DUMP_BARE;
	return true;
}

static void set_goarch(struct gh_dump *dump)
{
	const struct gh_arch *arch =
	    gh_arch_by_letter(dump->params.arch_char, dump->params.big_endian);
	const char *name = arch != NULL ? arch->goarch : "";
	size_t size = strlen(name);
	struct gh_cursor text = gh_dump_bytes(dump, dump->params.arch);
	if (dump->format >= GH_DUMP_1_7) {
		name = (const char *)text.start;
		size = gh_cursor_size(&text);
	}
	if (size < sizeof(dump->goarch))
		memcpy(dump->goarch, name, size);
}

static bool read_params(struct gh_dump *dump, struct gh_cursor *cur, struct gh_error *err)
{
	uint64_t offset = gh_cursor_offset(cur);
	struct gh_dump_record record;
	if (!gh_dump_record_read(cur, dump->format, &record) || record.kind != GH_DUMP_PARAMS)
		return gh_fail(err, dump->path, offset, "the parameters of a heap dump",
			       gh_dump_number_is_long(dump, cur) ? "a number of more than 64 bits"
			       : cur->failed                     ? "the end of the data"
								 : "another record");
	dump->params = record.params;
	if (dump->params.pointer_size != 4 && dump->params.pointer_size != 8)
		return gh_fail(err, dump->path, offset, "a pointer size of 4 or 8", "%" PRIu64,
			       dump->params.pointer_size);
	dump->word = (uint8_t)dump->params.pointer_size;
	dump->file.big_endian = dump->params.big_endian;
	set_goarch(dump);
	return true;
}

static bool read_all(struct gh_dump *dump, struct gh_error *err)
{
	struct gh_cursor cur = dump->file;
	if (!read_header(dump, &cur, err))
		return false;
	uint64_t first = gh_cursor_offset(&cur);
	if (!read_params(dump, &cur, err))
		return false;
	return gh_dump_index(dump, first) || gh_fail_memory(err, dump->path);
}

/* Opens the SIZE bytes at DATA, which are INPUT's, if that is not NULL; then they are the dump's.
 */
static bool open_data(struct gh_dump *dump, const struct gh_dump_input *input, const void *data,
		      size_t size, const char *name, struct gh_error *err)
{
	*dump = (struct gh_dump){.path = strdup(name)};
	if (input != NULL)
		dump->input = *input;
	dump->file = gh_cursor_make(data, size, dump->path, 0, false);
	if (dump->path == NULL)
		gh_fail_errno(err, name, "read");
	else if (read_all(dump, err))
		return true;
	gh_dump_close(dump);
	return false;
}

bool gh_dump_open_memory(struct gh_dump *dump, const void *data, size_t size, const char *name,
			 struct gh_error *err)
{
	return open_data(dump, NULL, data, size, name, err);
}

bool gh_dump_open(struct gh_dump *dump, const char *path, struct gh_error *err)
{
	*dump = (struct gh_dump){0};
	struct gh_dump_input input;
	if (!gh_dump_input_open(&input, path, err))
		return false;
	/* No bytes, yet a pointer that a cursor may be over. */
	const void *data = input.data != NULL ? (const void *)input.data : "";
	if (!open_data(dump, &input, data, input.size, path, err))
		return false;
	if (input.limit != 0)
		gh_fail(&dump->warning, path, GH_NO_OFFSET, "room to unpack it",
			"half of what is free for temporary files, %" PRIu64
			" MB, is not enough: the rest is left out; set TMPDIR to a larger disk",
			input.limit / 1000000);
	else if (input.cut && dump->warning.text[0] == '\0')
		gh_fail(&dump->warning, path, GH_NO_OFFSET, "a whole gzip file", "a damaged one");
	return true;
}

static bool open_fd(struct gh_dump *dump, int fd, bool bare, const char *name, struct gh_error *err)
{
	*dump = (struct gh_dump){0};
	struct gh_dump_input input;
	if (!gh_dump_input_take(&input, fd, name, err))
		return false;
	input.is_bare = bare;
	const void *data = input.data != NULL ? (const void *)input.data : "";
	return open_data(dump, &input, data, input.size, name, err);
}

bool gh_dump_open_fd(struct gh_dump *dump, int fd, const char *name, struct gh_error *err)
{
	return open_fd(dump, fd, false, name, err);
}

bool gh_dump_open_bare(struct gh_dump *dump, int fd, const char *name, struct gh_error *err)
{
	return open_fd(dump, fd, true, name, err);
}

void gh_dump_close(struct gh_dump *dump)
{
	if (dump->is_copy) {
		*dump = (struct gh_dump){0};
		return;
	}
	gh_extents_free(&dump->objects);
	gh_extents_free(&dump->frames);
	gh_extents_free(&dump->segments);
	gh_extents_free(&dump->stack_words);
	gh_extents_free(&dump->data_words);
	gh_buffer_free(&dump->words);
	gh_vector_free(&dump->stacks);
	for (unsigned kind = 0; kind < GH_DUMP_KINDS; kind++) {
		gh_vector_free(&dump->offsets[kind]);
		free(dump->keys[kind]);
	}
	free(dump->frame_order);
	gh_vector_free(&dump->extras);
	gh_vector_free(&dump->c_frames);
	gh_vector_free(&dump->c_waits);
	gh_vector_free(&dump->c_memory);
	gh_vector_free(&dump->c_words);
	gh_vector_free(&dump->calls);
	gh_vector_free(&dump->panics);
	free(dump->path);
	gh_dump_input_close(&dump->input);
	*dump = (struct gh_dump){0};
}

size_t gh_dump_count(const struct gh_dump *dump, enum gh_dump_kind kind)
{
	switch (kind) {
	case GH_DUMP_OBJECT:
		return dump->objects.items.count;
	case GH_DUMP_FRAME:
		return dump->frames.items.count;
	case GH_DUMP_GOROUTINE:
		return dump->stacks.count;
	default:
		return dump->offsets[kind].count;
	}
}

struct gh_dump_extras gh_dump_extras(const struct gh_dump *dump, size_t number)
{
	return number < dump->extras.count ? dump->extras.items[number]
					   : (struct gh_dump_extras){0};
}

/* The text at CUR, after its size. */
static const char *take_text(struct gh_cursor *cur, size_t *size)
{
	*size = (size_t)gh_cursor_uvarint(cur);
	return (const char *)gh_cursor_bytes(cur, *size);
}

static int compare_labels(const void *a, const void *b)
{
	const struct gh_dump_label *x = a, *y = b;
	size_t size = x->key_size < y->key_size ? x->key_size : y->key_size;
	int order = memcmp(x->key, y->key, size);
	return order != 0 ? order : (x->key_size > y->key_size) - (x->key_size < y->key_size);
}

size_t gh_dump_labels(const struct gh_dump *dump, size_t number,
		      struct gh_dump_label labels[GH_DUMP_LABELS_MAX])
{
	struct gh_cursor cur = gh_dump_bytes(dump, dump->labels);
	uint64_t place = gh_dump_extras(dump, number).labels;
	size_t found = 0;
	if (place == 0)
		return 0;
	gh_cursor_seek(&cur, place);
	uint64_t count = gh_cursor_uvarint(&cur);
	for (; found < count && found < GH_DUMP_LABELS_MAX; found++) {
		struct gh_dump_label *label = &labels[found];
		label->key = take_text(&cur, &label->key_size);
		label->value = take_text(&cur, &label->value_size);
		if (cur.failed)
			break;
	}
	qsort(labels, found, sizeof(*labels), compare_labels);
	return found;
}

const struct gh_dump_stack *gh_dump_stack(const struct gh_dump *dump, size_t number)
{
	return &dump->stacks.items[number];
}

/* Where record NUMBER of KIND is in the file. */
static uint64_t record_offset(const struct gh_dump *dump, enum gh_dump_kind kind, size_t number)
{
	switch (kind) {
	case GH_DUMP_OBJECT:
		return gh_extents_get(&dump->objects, number).offset;
	case GH_DUMP_FRAME:
		if (dump->frame_order != NULL)
			number = dump->frame_order[number];
		return gh_extents_get(&dump->frames, number).offset;
	case GH_DUMP_GOROUTINE:
		return gh_dump_stack(dump, number)->offset;
	default:
		return dump->offsets[kind].items[number];
	}
}

void gh_dump_get(const struct gh_dump *dump, enum gh_dump_kind kind, size_t number,
		 struct gh_dump_record *record)
{
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, record_offset(dump, kind, number));
	gh_dump_record_read_again(&cur, dump->format, record);
	if (kind == GH_DUMP_PANIC)
		record->panic.value = number < dump->panics.count ? dump->panics.items[number]
								  : (struct gh_dump_slice){0};
}

uint64_t gh_dump_last_gc(const struct gh_dump *dump)
{
	struct gh_dump_record record;
	if (gh_dump_count(dump, GH_DUMP_MEMSTATS) == 0)
		return 0;
	gh_dump_get(dump, GH_DUMP_MEMSTATS, 0, &record);
	return record.memstats.counters[GH_DUMP_LAST_GC];
}

size_t gh_dump_find_object(const struct gh_dump *dump, uint64_t address)
{
	return gh_extents_find(&dump->objects, address);
}

size_t gh_dump_find(const struct gh_dump *dump, enum gh_dump_kind kind, uint64_t key)
{
	const struct gh_dump_key *keys = dump->keys[kind];
	size_t count = keys != NULL ? gh_dump_count(dump, kind) : 0;
	size_t found = gh_lower_bound(count, i, keys[i].key < key);
	return found < count && keys[found].key == key ? keys[found].number : GH_DUMP_NONE;
}

struct gh_cursor gh_dump_bytes(const struct gh_dump *dump, struct gh_dump_slice slice)
{
	return gh_cursor_slice(&dump->file, slice.offset, slice.size);
}

bool gh_dump_is_cleanup(const struct gh_dump *dump, const struct gh_dump_other_root *root)
{
	struct gh_cursor text = gh_dump_bytes(dump, root->description);
	size_t length = strlen(GH_DUMP_CLEANUP);
	return gh_cursor_size(&text) >= length && memcmp(text.start, GH_DUMP_CLEANUP, length) == 0;
}

/* The fields of an object of a format where its type has them. */
static void typed_fields(const struct gh_dump *dump, const struct gh_dump_object *object,
			 struct gh_fields *walk)
{
	uint64_t size = object->contents.size;
	size_t number =
	    object->type != 0 ? gh_dump_find(dump, GH_DUMP_TYPE, object->type) : GH_DUMP_NONE;
	struct gh_dump_record record = {.type = {0}};
	if (number != GH_DUMP_NONE)
		gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	gh_fields_start(walk, &dump->file, dump->format, dump->word, record.type.fields, size);
	walk->every_word = object->type_kind == GH_DUMP_CONSERVATIVE;
	/* An object holds no more pairs than words, so that a list which is longer than its type
	 * would have it cannot be read over and over. */
	walk->budget = size / dump->word + 1;
	if (record.type.size == 0 || object->type_kind == GH_DUMP_REGULAR || walk->every_word)
		return;

	/* And as many ends of the list as elements. */
	walk->budget += size / record.type.size;
	walk->element = record.type.size;
	walk->stride = record.type.size;
	if (object->type_kind == GH_DUMP_CHANNEL)
		walk->base = dump->params.channel_header;
	if (walk->base > size || size - walk->base < walk->element)
		walk->budget = 0;
}

void gh_dump_fields(const struct gh_dump *dump, const struct gh_dump_record *record,
		    struct gh_fields *walk)
{
	struct gh_fieldlist list = {0};
	uint64_t size = 0;
	switch (record->kind) {
	case GH_DUMP_OBJECT:
		if (dump->format <= GH_DUMP_1_3) {
			typed_fields(dump, &record->object, walk);
			return;
		}
		list = record->object.fields;
		size = record->object.contents.size;
		break;
	case GH_DUMP_FRAME:
		list = record->frame.fields;
		size = record->frame.contents.size;
		break;
	case GH_DUMP_DATA:
	case GH_DUMP_BSS:
		list = record->segment.fields;
		size = record->segment.contents.size;
		break;
	case GH_DUMP_TYPE:
		list = record->type.fields;
		size = record->type.size;
		break;
	default:
		break;
	}
	gh_fields_start(walk, &dump->file, dump->format, dump->word, list, size);
}

uint64_t gh_dump_waited(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine)
{
	if (goroutine->wait_start == 0 || goroutine->wait_start > dump->latest)
		return 0;
	return dump->latest - goroutine->wait_start;
}

struct gh_dump_slice gh_dump_go_version(const struct gh_dump *dump)
{
	struct gh_cursor text = gh_dump_bytes(dump, dump->params.experiment);
	size_t size = gh_cursor_size(&text);
	if ((size >= 3 && memcmp(text.start, "go1", 3) == 0) ||
	    (size >= 5 && memcmp(text.start, "devel", 5) == 0))
		return dump->params.experiment;
	return (struct gh_dump_slice){0};
}

int gh_dump_minor(const struct gh_dump *dump)
{
	static const int minor[] = {3, 3, 4, 5, 6};
	if (dump->format < GH_DUMP_1_7)
		return minor[dump->format];
	struct gh_cursor text = gh_dump_bytes(dump, gh_dump_go_version(dump));
	size_t size = gh_cursor_size(&text);
	if (size == 0)
		return 16;
	const char *found = memmem(text.start, size, "go1.", 4);
	if (found == NULL)
		return GH_GO_UNKNOWN;
	char version[16] = "";
	size -= (size_t)(found - (const char *)text.start);
	memcpy(version, found, size < sizeof(version) ? size : sizeof(version) - 1);
	return gh_go_minor(version);
}

const struct gh_arch *gh_dump_arch(const struct gh_dump *dump, struct gh_error *err)
{
	/* The prototype ran on two machines. */
	const struct gh_arch *arch = dump->format == GH_DUMP_PROTOTYPE
					 ? gh_arch_by_letter(dump->word == 8 ? '6' : '8', false)
					 : gh_arch_by_name(dump->goarch);
	if (arch != NULL && arch->pointer_size == dump->word &&
	    arch->big_endian == dump->file.big_endian)
		return arch;
	gh_fail(err, dump->path, GH_NO_OFFSET, "a dump of a machine that Go runs on",
		"\"%s\" with %s-endian pointers of %u bytes",
		arch != NULL ? arch->goarch : dump->goarch,
		dump->file.big_endian ? "big" : "little", dump->word);
	return NULL;
}
