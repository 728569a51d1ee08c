#include "tests/unit/heapmaker.h"

#include <string.h>

#include "tests/unit/random.h"

enum { SHAPES = 4 };

/* Fields by the numbers of 1.3. */
enum { POINTER = 1, STRING, SLICE, IFACE, EFACE };

/* What objects are of a type, by the numbers of 1.3. */
enum { REGULAR = 0, ARRAY = 1, CHANNEL = 2, CONSERVATIVE = 127 };

struct field {
	unsigned kind;
	unsigned word;
};

/* Fields, and how many words they are in; a type, before 1.4. */
struct shape {
	unsigned words;
	unsigned nfields;
	struct field fields[MADE_WORDS];
};

struct made_heap made;
static struct shape shapes[SHAPES];

uint32_t made_random(uint32_t below)
{
	return next_random() % below;
}

static bool has_types(void)
{
	return made.maker.format <= MAKER_1_3;
}

static uint64_t type_address(unsigned shape)
{
	return 0x5000 + 0x100 * shape;
}

/* Types of an odd number are in an interface by themselves, itabs likewise; the last of either is
 * not in the dump. */
static uint64_t random_type(void)
{
	return type_address(made_random(SHAPES + 1));
}

static uint64_t random_itab(void)
{
	return 0x7000 + 0x100 * made_random(3);
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
	shape->words = 1 + made_random(5);
	for (unsigned word = 0; word < shape->words;) {
		unsigned kind = POINTER + made_random(EFACE);
		if (word + field_words(kind) <= shape->words && made_random(3) > 0) {
			shape->fields[shape->nfields++] = (struct field){kind, word};
			word += field_words(kind);
		} else {
			word++;
		}
	}
}

unsigned made_size(const struct made_object *object)
{
	return object->words * made.maker.word + object->extra;
}

/* From where OBJECT begins to the next, which it touches, if that can be. */
static uint64_t step_of(const struct made_object *object)
{
	unsigned size = made_size(object);
	return size == 0 ? 8 : (size + 7) / 8 * 8;
}

/* Objects with a gap between them or not; now and then they overlap, are not aligned or empty. */
static void make_objects(void)
{
	bool irregular = made_random(4) == 0;
	uint64_t address = 0x10000;
	made.nobjects = made_random(MADE_OBJECTS + 1);
	for (unsigned i = 0; i < made.nobjects; i++) {
		static const unsigned kinds[] = {REGULAR, ARRAY, CHANNEL, CONSERVATIVE};
		struct made_object *object = &made.objects[i];
		*object = (struct made_object){.address = address, .record = i};
		object->kind = kinds[made_random(4)];
		object->shape = made_random(SHAPES + 1);
		object->words = made_random(4) == 0 ? made_random(MADE_WORDS) : MADE_WORDS / 2;
		if (irregular)
			object->extra = made_random(made.maker.word);
		address += irregular ? made_random(64) : step_of(object);
		if (made_random(6) == 0)
			address += 8 * made_random(1000);
		/* Go 1.22 and later have something else at the end of a page. */
		if (address % 8192 > 7000)
			address += 8192 - address % 8192;
	}
	/* Records in another order. */
	for (unsigned i = made.nobjects; i > 1 && !irregular; i--) {
		unsigned j = made_random(i), record = made.objects[i - 1].record;
		made.objects[i - 1].record = made.objects[j].record;
		made.objects[j].record = record;
	}
}

/* Linear: the one that begins last at ADDRESS or before, if it holds that. */
uint32_t made_find(uint64_t address)
{
	uint32_t found = GH_HEAP_NONE;
	for (unsigned i = 0; i < made.nobjects; i++)
		if (made.objects[i].address <= address)
			found = i;
	if (found != GH_HEAP_NONE &&
	    address - made.objects[found].address < made_size(&made.objects[found]))
		return found;
	return GH_HEAP_NONE;
}

/* A word that may be a pointer. */
uint64_t made_word(void)
{
	switch (made_random(made.nobjects > 0 ? 6 : 3)) {
	case 0:
		return 0;
	case 1:
		return made_random(2) ? 0x10000 + made_random(9000) : made_random(1 << 30);
	case 2:
		return MADE_STACKS + made_random(MADE_STACKS_SIZE);
	default:
		return made.objects[made_random(made.nobjects)].address +
		       made_random(4) * made_random(30);
	}
}

/* Calls DO for the pointers of SHAPE at word BASE of OBJECT. */
static void shape_pointers(const struct made_object *object, const struct shape *shape,
			   unsigned base, made_on_pointer *call, void *context)
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

void made_pointers(const struct made_object *object, made_on_pointer *call, void *context)
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

static void set_interfaces(struct made_object *object, const struct shape *shape, unsigned base)
{
	for (unsigned i = 0; i < shape->nfields; i++) {
		unsigned kind = shape->fields[i].kind, word = base + shape->fields[i].word;
		if (word < object->words && made_random(4) > 0 && (kind == IFACE || kind == EFACE))
			object->contents[word] = kind == IFACE ? random_itab() : random_type();
	}
}

static void fill_object(struct made_object *object)
{
	for (unsigned i = 0; i < object->words; i++)
		object->contents[i] = made_word();
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

/* What goes into the dump. */

static void put_types(void)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		maker_tag(&made.maker, 3, 7);
		maker_numbers(
		    &made.maker, 2,
		    (const uint64_t[]){type_address(i), shapes[i].words * made.maker.word});
		maker_text(&made.maker, "T");
		maker_number(&made.maker, i % 2 == 0);
		if (made.maker.format == MAKER_PROTOTYPE)
			maker_number(&made.maker, shapes[i].nfields);
		for (unsigned j = 0; j < shapes[i].nfields && has_types(); j++) {
			maker_number(&made.maker, shapes[i].fields[j].kind -
						      (made.maker.format == MAKER_PROTOTYPE));
			maker_number(&made.maker, shapes[i].fields[j].word * made.maker.word);
		}
		if (made.maker.format == MAKER_1_3)
			maker_number(&made.maker, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		maker_tag(&made.maker, 8, 12);
		maker_number(&made.maker, 0x7000 + 0x100 * i);
		maker_number(&made.maker, has_types() ? i % 2 == 0 : type_address(i));
	}
}

void made_put_contents(const uint64_t *words, unsigned count, unsigned extra)
{
	maker_number(&made.maker, count * made.maker.word + extra);
	for (unsigned i = 0; i < count * made.maker.word + extra; i++) {
		unsigned byte = i % made.maker.word;
		unsigned shift = 8 * (made.maker.big_endian ? made.maker.word - 1 - byte : byte);
		uint64_t word = i < count * made.maker.word ? words[i / made.maker.word] : 0;
		uint8_t value = (uint8_t)(word >> shift);
		maker_number(&made.maker, value & 0x7f);
		/* Any byte goes, but a number does not write all as one. */
		made.maker.data[made.maker.size - 1] = value;
	}
}

void made_put_field(void *context, unsigned word, uint64_t value)
{
	(void)context;
	(void)value;
	maker_numbers(&made.maker, 2, (const uint64_t[]){1, word * made.maker.word});
}

/* Fields of 1.4: some as interfaces, whose first word is before the pointer. */
static void put_fields(const struct made_object *object)
{
	if (object->kind == CONSERVATIVE || object->shape == SHAPES) {
		made_pointers(object, made_put_field, NULL);
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
				maker_number(&made.maker, kind == IFACE   ? 2
							  : kind == EFACE ? 3
									  : 1);
				if (word + field_words(kind) > object->words)
					word = object->words + 1;
				maker_number(&made.maker, word * made.maker.word);
			}
			base += shape->words;
		} while (object->kind != REGULAR && base < object->words);
	}
	maker_number(&made.maker, 0);
}

static void put_object(const struct made_object *object)
{
	maker_numbers(&made.maker, 2, (const uint64_t[]){1, object->address});
	if (has_types())
		maker_numbers(
		    &made.maker, 2,
		    (const uint64_t[]){object->shape == SHAPES ? 0 : type_address(object->shape),
				       object->kind});
	made_put_contents(object->contents, object->words, object->extra);
	if (!has_types())
		put_fields(object);
}

static void put_objects(void)
{
	for (unsigned record = 0; record < made.nobjects; record++)
		for (unsigned i = 0; i < made.nobjects; i++)
			if (made.objects[i].record == record)
				put_object(&made.objects[i]);
}

void made_make(int variant)
{
	maker_start(&made.maker, (enum maker_format)(variant / 4), variant & 1 ? 4 : 8,
		    variant & 2);
	for (unsigned i = 0; i < SHAPES; i++)
		make_shape(&shapes[i]);
	make_objects();
	for (unsigned i = 0; i < made.nobjects; i++)
		fill_object(&made.objects[i]);
	made_fill_regions();
	made.nroots = 0;
	maker_params(&made.maker);
	put_types();
	put_objects();
	made_put_roots();
	maker_end(&made.maker);
}
