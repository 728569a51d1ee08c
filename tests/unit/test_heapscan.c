/* Heaps of every format, whose pointers and roots a linear scan of what was written finds as well.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/random.h"
#include "tests/unit/suites.h"

enum {
	OBJECTS = 24,
	MAX_WORDS = 12, /* of an object, frame or segment */
	SHAPES = 4,
	FRAMES = 4,
	MAX_EDGES = 3 * MAX_WORDS,
	MAX_ROOTS = 400,
	ROUNDS = 40, /* of each variant */
};

/* Fields by the numbers of 1.3. */
enum { POINTER = 1, STRING, SLICE, IFACE, EFACE };

/* What objects are of a type, by the numbers of 1.3. */
enum { REGULAR = 0, ARRAY = 1, CHANNEL = 2, CONSERVATIVE = 127 };

#define STACKS   UINT64_C(0x30000)
#define SEGMENTS UINT64_C(0x60000)

struct field {
	unsigned kind;
	unsigned word;
};

/* Fields, and how many words they are in; a type, before 1.4. */
struct shape {
	unsigned words;
	unsigned nfields;
	struct field fields[MAX_WORDS];
};

struct object {
	uint64_t address;
	unsigned words;
	unsigned extra; /* bytes after them */
	unsigned kind;
	unsigned shape;
	unsigned record; /* its number in the dump */
	uint64_t contents[MAX_WORDS];
};

/* A frame or segment. */
struct region {
	uint64_t address;
	unsigned words;
	uint64_t contents[MAX_WORDS];
	bool listed[MAX_WORDS];
};

/* A root as it is expected. */
struct expected {
	uint32_t object;
	bool conservative;
	enum gh_root_kind kind;
	uint32_t number;
	uint64_t offset;
};

static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;
static struct shape shapes[SHAPES];
static struct object objects[OBJECTS]; /* by address */
static struct region frames[FRAMES], data, bss;
static struct expected expected[MAX_ROOTS];
static unsigned nobjects, nexpected;

static uint32_t random_below(uint32_t below)
{
	return next_random() % below;
}

static bool has_types(void)
{
	return maker.format <= MAKER_1_3;
}

static uint64_t type_address(unsigned shape)
{
	return 0x5000 + 0x100 * shape;
}

/* Types of an odd number are in an interface by themselves, itabs likewise; the last of either is
 * not in the dump. */
static uint64_t random_type(void)
{
	return type_address(random_below(SHAPES + 1));
}

static uint64_t random_itab(void)
{
	return 0x7000 + 0x100 * random_below(3);
}

/* Whether an interface of 1.3, with this first word, has a pointer in its second. */
static bool holds_pointer(unsigned kind, uint64_t word)
{
	if (word == 0)
		return false;
	unsigned number = (unsigned)(kind == EFACE ? word - 0x5000 : word - 0x7000) / 0x100;
	bool known = number < (kind == EFACE ? SHAPES : 2U);
	return !known || number % 2 == 0;
}

static unsigned field_words(unsigned kind)
{
	return kind == POINTER ? 1 : kind == SLICE ? 3 : 2;
}

static void make_shape(struct shape *shape)
{
	memset(shape, 0, sizeof(*shape));
	shape->words = 1 + random_below(5);
	for (unsigned word = 0; word < shape->words;) {
		unsigned kind = POINTER + random_below(EFACE);
		if (word + field_words(kind) <= shape->words && random_below(3) > 0) {
			shape->fields[shape->nfields++] = (struct field){kind, word};
			word += field_words(kind);
		} else {
			word++;
		}
	}
}

static unsigned size_of(const struct object *object)
{
	return object->words * maker.word + object->extra;
}

/* From where OBJECT begins to the next, which it touches, if that can be. */
static uint64_t step_of(const struct object *object)
{
	unsigned size = size_of(object);
	return size == 0 ? 8 : (size + 7) / 8 * 8;
}

/* Objects with a gap between them or not; now and then they overlap, are not aligned or empty. */
static void make_objects(void)
{
	bool irregular = random_below(4) == 0;
	uint64_t address = 0x10000;
	nobjects = random_below(OBJECTS + 1);
	for (unsigned i = 0; i < nobjects; i++) {
		static const unsigned kinds[] = {REGULAR, ARRAY, CHANNEL, CONSERVATIVE};
		struct object *object = &objects[i];
		*object = (struct object){.address = address, .record = i};
		object->kind = kinds[random_below(4)];
		object->shape = random_below(SHAPES + 1);
		object->words = random_below(4) == 0 ? random_below(MAX_WORDS) : MAX_WORDS / 2;
		if (irregular)
			object->extra = random_below(maker.word);
		address += irregular ? random_below(64) : step_of(object);
		if (random_below(6) == 0)
			address += 8 * random_below(1000);
		/* Go 1.22 and later have something else at the end of a page. */
		if (address % 8192 > 7000)
			address += 8192 - address % 8192;
	}
	/* Records in another order. */
	for (unsigned i = nobjects; i > 1 && !irregular; i--) {
		unsigned j = random_below(i), record = objects[i - 1].record;
		objects[i - 1].record = objects[j].record;
		objects[j].record = record;
	}
}

/* Linear: the one that begins last at ADDRESS or before, if it holds that. */
static uint32_t find(uint64_t address)
{
	uint32_t found = GH_HEAP_NONE;
	for (unsigned i = 0; i < nobjects; i++)
		if (objects[i].address <= address)
			found = i;
	if (found != GH_HEAP_NONE && address - objects[found].address < size_of(&objects[found]))
		return found;
	return GH_HEAP_NONE;
}

/* A word that may be a pointer. */
static uint64_t random_word(void)
{
	switch (random_below(nobjects > 0 ? 6 : 3)) {
	case 0:
		return 0;
	case 1:
		return random_below(2) ? 0x10000 + random_below(9000) : random_below(1 << 30);
	case 2:
		return STACKS + random_below(FRAMES * 0x200);
	default:
		return objects[random_below(nobjects)].address + random_below(4) * random_below(30);
	}
}

typedef void on_pointer(void *context, unsigned word, uint64_t value);

/* Calls DO for the pointers of SHAPE at word BASE of OBJECT. */
static void shape_pointers(const struct object *object, const struct shape *shape, unsigned base,
			   on_pointer *call, void *context)
{
	for (unsigned i = 0; i < shape->nfields; i++) {
		unsigned kind = shape->fields[i].kind, word = base + shape->fields[i].word;
		bool interface = kind == IFACE || kind == EFACE;
		if (word + field_words(kind) > object->words ||
		    (interface && has_types() && !holds_pointer(kind, object->contents[word])))
			continue;
		call(context, word + interface, object->contents[word + interface]);
	}
}

static void object_pointers(const struct object *object, on_pointer *call, void *context)
{
	unsigned base = object->kind == CHANNEL ? 2 : 0;
	if (object->kind == CONSERVATIVE) {
		for (unsigned i = 0; i < object->words; i++)
			call(context, i, object->contents[i]);
		return;
	}
	if (object->shape == SHAPES)
		return;
	const struct shape *shape = &shapes[object->shape];
	do {
		if (object->kind == REGULAR || base + shape->words <= object->words)
			shape_pointers(object, shape, base, call, context);
		base += shape->words;
	} while (object->kind != REGULAR && base < object->words);
}

static void set_interfaces(struct object *object, const struct shape *shape, unsigned base)
{
	for (unsigned i = 0; i < shape->nfields; i++) {
		unsigned kind = shape->fields[i].kind, word = base + shape->fields[i].word;
		if (word < object->words && random_below(4) > 0 && (kind == IFACE || kind == EFACE))
			object->contents[word] = kind == IFACE ? random_itab() : random_type();
	}
}

static void fill_object(struct object *object)
{
	for (unsigned i = 0; i < object->words; i++)
		object->contents[i] = random_word();
	if (object->kind == CONSERVATIVE || object->shape == SHAPES)
		return;
	const struct shape *shape = &shapes[object->shape];
	unsigned base = object->kind == CHANNEL ? 2 : 0;
	for (; base < object->words; base += shape->words) {
		set_interfaces(object, shape, base);
		if (object->kind == REGULAR)
			break;
	}
}

static void fill_region(struct region *region, uint64_t address)
{
	*region = (struct region){.address = address, .words = 1 + random_below(MAX_WORDS)};
	for (unsigned i = 0; i < region->words; i++) {
		region->contents[i] = random_word();
		region->listed[i] = random_below(2);
	}
}

/* What goes into the dump. */

static void put_types(void)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		maker_tag(&maker, 3, 7);
		maker_numbers(&maker, 2,
			      (const uint64_t[]){type_address(i), shapes[i].words * maker.word});
		maker_text(&maker, "T");
		maker_number(&maker, i % 2 == 0);
		if (maker.format == MAKER_PROTOTYPE)
			maker_number(&maker, shapes[i].nfields);
		for (unsigned j = 0; j < shapes[i].nfields && has_types(); j++) {
			maker_number(&maker,
				     shapes[i].fields[j].kind - (maker.format == MAKER_PROTOTYPE));
			maker_number(&maker, shapes[i].fields[j].word * maker.word);
		}
		if (maker.format == MAKER_1_3)
			maker_number(&maker, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		maker_tag(&maker, 8, 12);
		maker_number(&maker, 0x7000 + 0x100 * i);
		maker_number(&maker, has_types() ? i % 2 == 0 : type_address(i));
	}
}

static void put_contents(const uint64_t *words, unsigned count, unsigned extra)
{
	maker_number(&maker, count * maker.word + extra);
	for (unsigned i = 0; i < count * maker.word + extra; i++) {
		unsigned byte = i % maker.word;
		unsigned shift = 8 * (maker.big_endian ? maker.word - 1 - byte : byte);
		uint64_t word = i < count * maker.word ? words[i / maker.word] : 0;
		uint8_t value = (uint8_t)(word >> shift);
		maker_number(&maker, value & 0x7f);
		/* Any byte goes, but a number does not write all as one. */
		maker.data[maker.size - 1] = value;
	}
}

static void put_field(void *context, unsigned word, uint64_t value)
{
	(void)context;
	(void)value;
	maker_numbers(&maker, 2, (const uint64_t[]){1, word * maker.word});
}

/* Fields of 1.4: some as interfaces, whose first word is before the pointer. */
static void put_fields(const struct object *object)
{
	if (object->kind == CONSERVATIVE || object->shape == SHAPES) {
		object_pointers(object, put_field, NULL);
	} else {
		const struct shape *shape = &shapes[object->shape];
		unsigned base = object->kind == CHANNEL ? 2 : 0;
		do {
			for (unsigned i = 0; i < shape->nfields; i++) {
				unsigned kind = shape->fields[i].kind;
				unsigned word = base + shape->fields[i].word;
				if (object->kind != REGULAR && base + shape->words > object->words)
					continue;
				/* What lies beyond is to be passed over. */
				maker_number(&maker, kind == IFACE ? 2 : kind == EFACE ? 3 : 1);
				if (word + field_words(kind) > object->words)
					word = object->words + 1;
				maker_number(&maker, word * maker.word);
			}
			base += shape->words;
		} while (object->kind != REGULAR && base < object->words);
	}
	maker_number(&maker, 0);
}

static void put_object(const struct object *object)
{
	maker_numbers(&maker, 2, (const uint64_t[]){1, object->address});
	if (has_types())
		maker_numbers(
		    &maker, 2,
		    (const uint64_t[]){object->shape == SHAPES ? 0 : type_address(object->shape),
				       object->kind});
	put_contents(object->contents, object->words, object->extra);
	if (!has_types())
		put_fields(object);
}

static void put_objects(void)
{
	for (unsigned record = 0; record < nobjects; record++)
		for (unsigned i = 0; i < nobjects; i++)
			if (objects[i].record == record)
				put_object(&objects[i]);
}

static void put_region_fields(const struct region *region)
{
	for (unsigned i = 0; i < region->words; i++)
		if (region->listed[i])
			put_field(NULL, i, 0);
	maker_number(&maker, 0);
}

static void put_segment(unsigned tag, const struct region *region)
{
	maker_numbers(&maker, 2, (const uint64_t[]){tag, region->address});
	put_contents(region->contents, region->words, 0);
	put_region_fields(region);
}

static void put_frame(unsigned depth, uint64_t child_sp, const struct region *frame)
{
	maker_numbers(&maker, 4, (const uint64_t[]){5, frame->address, depth, child_sp});
	put_contents(frame->contents, frame->words, 0);
	maker_numbers(&maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401018});
	maker_text(&maker, "main.f");
	put_region_fields(frame);
}

/* Expects a root, if ADDRESS is in an object. */
static void expect(enum gh_root_kind kind, unsigned number, uint64_t offset, uint64_t address,
		   bool conservative)
{
	uint32_t object = address != 0 ? find(address) : GH_HEAP_NONE;
	ck_assert_uint_lt(nexpected, MAX_ROOTS);
	if (object != GH_HEAP_NONE)
		expected[nexpected++] =
		    (struct expected){object, conservative, kind, number, offset};
}

/* Frames that a pointer on a stack leads to, as far as they were met yet. */
static bool met[FRAMES];

static bool meet(uint64_t address)
{
	for (unsigned i = 0; i < FRAMES; i++)
		if (!met[i] && address >= frames[i].address &&
		    address < frames[i].address + frames[i].words * maker.word &&
		    find(address) == GH_HEAP_NONE)
			return met[i] = true;
	return false;
}

static void put_goroutine(unsigned number)
{
	uint64_t words[4] = {random_word(), random_word(), random_word(), random_word()};
	maker_numbers(&maker, 6, (const uint64_t[]){4, 0x9000 + number, 0, number + 1, 0, 4});
	maker_numbers(&maker, 3, (const uint64_t[]){0, 0, 0});
	maker_text(&maker, "select");
	maker_numbers(&maker, 4, words);
	expect(GH_ROOT_GOROUTINE, number, GH_ROOT_CONTEXT, words[0], false);
	expect(GH_ROOT_GOROUTINE, number, GH_ROOT_TOP_DEFER, words[2], false);
	expect(GH_ROOT_GOROUTINE, number, GH_ROOT_TOP_PANIC, words[3], false);
	meet(words[0]);
	meet(words[2]);
	meet(words[3]);
}

/* The words at the end of a frame that may be a variable's no more: on amd64, which has the return
 * address and the frame pointer there. */
static unsigned saved_words(void)
{
	return maker.word == 8 && !maker.big_endian ? 2 : 0;
}

static void expect_region(enum gh_root_kind kind, unsigned number, const struct region *region,
			  bool listed)
{
	for (unsigned i = 0; i < region->words; i++)
		if (region->listed[i] == listed && (listed || i + saved_words() < region->words))
			expect(kind, number, i * maker.word, region->contents[i], !listed);
}

/* Until nothing is met any more: what a frame that was met holds is met as well. */
static void expect_met(void)
{
	for (bool more = true; more;) {
		more = false;
		for (unsigned i = 0; i < FRAMES; i++)
			for (unsigned j = 0; j < frames[i].words; j++)
				if (frames[i].listed[j] ||
				    (met[i] && j + saved_words() < frames[i].words))
					more = meet(frames[i].contents[j]) || more;
	}
	for (unsigned i = 0; i < FRAMES; i++)
		if (met[i])
			expect_region(GH_ROOT_FRAME, i, &frames[i], false);
}

/* Two goroutines with two frames each, a defer and a panic. */
static void put_stacks(void)
{
	memset(met, 0, sizeof(met));
	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t child = i % 2 == 1 ? frames[i - 1].address : 0;
		if (i % 2 == 0)
			put_goroutine(i / 2);
		put_frame(i % 2, child, &frames[i]);
		expect_region(GH_ROOT_FRAME, i, &frames[i], true);
		if (i % 2 == 0)
			continue;
		uint64_t closure = random_word(), argument = random_word();
		maker_numbers(&maker, 8,
			      (const uint64_t[]){14, 1, 0x9000 + i / 2, 0, 0, closure, 0, 0});
		maker_numbers(&maker, 7,
			      (const uint64_t[]){15, 1, 0x9000 + i / 2, 2, argument, 0, 0});
		expect(GH_ROOT_DEFER, i / 2, 0, closure, false);
		expect(GH_ROOT_PANIC, i / 2, 0, argument, false);
		meet(closure);
		meet(argument);
	}
}

static void put_prototype_roots(void)
{
	for (unsigned i = 0; i < 6; i++) {
		uint64_t word = random_word();
		maker_numbers(&maker, 4, (const uint64_t[]){4, STACKS + 8 * i, word, STACKS});
		expect(GH_ROOT_FRAME, i, 0, word, false);
		word = random_word();
		maker_numbers(&maker, 3, (const uint64_t[]){5, SEGMENTS + 8 * i, word});
		expect(GH_ROOT_DATA, i, 0, word, false);
	}
}

static void expect_of_finalizer(void *context, unsigned word, uint64_t value)
{
	expect(GH_ROOT_FINALIZER, *(unsigned *)context, word * maker.word, value, false);
}

/* Two, of which the second may be for the same object. */
static void put_finalizers(void)
{
	uint32_t before = GH_HEAP_NONE;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t object = random_word(), closure = random_word();
		uint32_t found = object != 0 ? find(object) : GH_HEAP_NONE;
		maker_tag(&maker, 7, 11);
		maker_numbers(&maker, 5, (const uint64_t[]){object, closure, 1, 2, 3});
		expect(GH_ROOT_FINALIZER, i, GH_ROOT_CLOSURE, closure, false);
		if (found != GH_HEAP_NONE && found != before)
			object_pointers(&objects[found], expect_of_finalizer, &i);
		before = found;
	}
	if (maker.format == MAKER_PROTOTYPE)
		return;
	uint64_t object = random_word(), closure = random_word();
	maker_numbers(&maker, 6, (const uint64_t[]){11, object, closure, 1, 2, 3});
	expect(GH_ROOT_QUEUED_FINALIZER, 0, 0, object, false);
	expect(GH_ROOT_QUEUED_FINALIZER, 0, GH_ROOT_CLOSURE, closure, false);
}

static void put_roots(void)
{
	uint64_t other = random_word();
	maker_tag(&maker, 2, 6);
	maker_text(&maker, "root");
	maker_number(&maker, other);
	expect(GH_ROOT_OTHER, 0, 0, other, false);
	put_finalizers();
	if (maker.format == MAKER_PROTOTYPE) {
		put_prototype_roots();
		return;
	}
	put_segment(12, &data);
	put_segment(13, &bss);
	expect_region(GH_ROOT_DATA, 0, &data, true);
	expect_region(GH_ROOT_BSS, 0, &bss, true);
	put_stacks();
}

static void make_heap(int variant)
{
	maker_start(&maker, (enum maker_format)(variant / 4), variant & 1 ? 4 : 8, variant & 2);
	for (unsigned i = 0; i < SHAPES; i++)
		make_shape(&shapes[i]);
	make_objects();
	for (unsigned i = 0; i < nobjects; i++)
		fill_object(&objects[i]);
	for (unsigned i = 0; i < FRAMES; i++)
		fill_region(&frames[i], STACKS + 0x200 * i);
	fill_region(&data, SEGMENTS);
	fill_region(&bss, SEGMENTS + 0x1000);
	nexpected = 0;
	maker_params(&maker);
	put_types();
	put_objects();
	put_roots();
	maker_end(&maker);
}

/* What is found, against what was expected. */

static void check_object(unsigned number)
{
	const struct object *object = &objects[number];
	struct gh_heap_object found = gh_heap_object(&heap, number);
	ck_assert_uint_eq(found.address, object->address);
	ck_assert_uint_eq(found.size, size_of(object));
	ck_assert_uint_eq(found.number, object->record);
	for (uint64_t address = object->address - 9; address < object->address + 200; address++)
		ck_assert_uint_eq(gh_heap_find(&heap, address), find(address));
}

/* The pointers of an object, in the order of its fields. */
struct pointers {
	struct gh_pointer list[MAX_EDGES];
	unsigned count;
};

static void note_pointer(void *context, unsigned word, uint64_t value)
{
	struct pointers *pointers = context;
	ck_assert_uint_lt(pointers->count, MAX_EDGES);
	pointers->list[pointers->count++] =
	    (struct gh_pointer){word * maker.word, value, value != 0 ? find(value) : GH_HEAP_NONE};
}

static void check_pointers(unsigned number, const struct pointers *pointers)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	const uint32_t *targets;
	size_t ntargets = gh_heap_targets(&heap, number, &targets), at = 0;
	gh_pointers_start(&heap, number, &walk);
	for (unsigned i = 0; i < pointers->count; i++) {
		const struct gh_pointer *want = &pointers->list[i];
		ck_assert(gh_pointers_next(&walk, &pointer));
		ck_assert_uint_eq(pointer.offset, want->offset);
		ck_assert_uint_eq(pointer.value, want->value);
		ck_assert_uint_eq(pointer.target, want->target);
		if (want->target != GH_HEAP_NONE) {
			ck_assert_uint_lt(at, ntargets);
			ck_assert_uint_eq(targets[at++], want->target);
		}
	}
	ck_assert(!gh_pointers_next(&walk, &pointer));
	ck_assert_uint_eq(at, ntargets);
}

static bool points_to(const struct pointers *pointers, unsigned object)
{
	for (unsigned i = 0; i < pointers->count; i++)
		if (pointers->list[i].target == object)
			return true;
	return false;
}

static void check_edges(void)
{
	static struct pointers pointers[OBJECTS];
	memset(pointers, 0, sizeof(pointers));
	for (unsigned i = 0; i < nobjects; i++) {
		object_pointers(&objects[i], note_pointer, &pointers[i]);
		check_pointers(i, &pointers[i]);
	}
	for (unsigned i = 0; i < nobjects; i++) {
		const uint32_t *referrers;
		size_t count = gh_heap_referrers(&heap, i, &referrers), at = 0;
		for (unsigned j = 0; j < nobjects; j++) {
			if (!points_to(&pointers[j], i))
				continue;
			ck_assert_uint_lt(at, count);
			ck_assert_uint_eq(referrers[at++], j);
		}
		ck_assert_uint_eq(at, count);
	}
}

static int compare_expected(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->conservative != y->conservative)
		return x->conservative ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool has_certain_root(uint32_t object)
{
	for (unsigned i = 0; i < nexpected; i++)
		if (expected[i].object == object && !expected[i].conservative)
			return true;
	return false;
}

static void check_roots(void)
{
	unsigned kept = 0;
	qsort(expected, nexpected, sizeof(expected[0]), compare_expected);
	for (unsigned i = 0; i < nexpected; i++)
		if (!expected[i].conservative || !has_certain_root(expected[i].object))
			expected[kept++] = expected[i];
	nexpected = kept;
	ck_assert_uint_eq(heap.nroots, nexpected);
	for (unsigned i = 0; i < nexpected; i++) {
		ck_assert_uint_eq(heap.roots[i].object, expected[i].object);
		ck_assert_int_eq(heap.roots[i].kind, expected[i].kind);
		ck_assert_uint_eq(heap.roots[i].number, expected[i].number);
		ck_assert_uint_eq(heap.roots[i].offset, expected[i].offset);
		ck_assert_int_eq(heap.roots[i].conservative, expected[i].conservative);
	}
	for (unsigned i = 0, at = 0; i < nobjects; i++) {
		const struct gh_root *roots;
		size_t count = gh_heap_roots(&heap, i, &roots);
		for (size_t j = 0; j < count; j++, at++)
			ck_assert_ptr_eq(&roots[j], &heap.roots[at]);
	}
}

START_TEST(linear_scan)
{
	struct gh_error err;
	for (unsigned round = 0; round < ROUNDS; round++) {
		make_heap(_i);
		if (maker.format == MAKER_1_7)
			expect_met();
		if (!gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err) ||
		    !gh_heap_build(&heap, &dump, &err))
			ck_abort_msg("%s", err.text);
		ck_assert_str_eq(dump.warning.text, "");
		ck_assert_uint_eq(heap.count, nobjects);
		for (unsigned i = 0; i < nobjects; i++)
			check_object(i);
		check_edges();
		check_roots();
		gh_heap_free(&heap);
		gh_dump_close(&dump);
		free(maker.data);
	}
}
END_TEST

Suite *heapscan_suite(void)
{
	Suite *suite = suite_create("heapscan");
	TCase *tcase = tcase_create("heapscan");
	tcase_add_loop_test(tcase, linear_scan, 0, MAKER_VARIANTS);
	suite_add_tcase(suite, tcase);
	return suite;
}
