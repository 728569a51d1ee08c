#include "lib/process/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/float_text.h"

bool gh_panic_record_read(struct gh_process *process, uint64_t address, struct gh_panic *panic)
{
	/* Where runtime._panic has its fields, newest first: the value and the link, which follows
	   it, may come after argp. */
	static const struct {
		int since;     /* the first minor release */
		uint8_t value; /* in words from its start, as flags */
		uint8_t flags; /* the first is recovered */
		uint8_t again; /* repanicked: in bytes from the flags, as goexit; 0 for none */
		uint8_t goexit;
	} layouts[] = {{26, 0, 11, 1, 2},
		       {25, 1, 12, 1, 2},
		       {22, 1, 12, 0, 1},
		       {14, 1, 6, 0, 2},
		       {0, 1, 4, 0, 0}};
	struct gh_process_memory *memory = &process->memory;
	unsigned word = process->tab->pointer_size;
	uint8_t flags[3];
	size_t i = 0;
	while (process->minor < layouts[i].since)
		i++;
	uint64_t value = address + layouts[i].value * word;
	if (!gh_process_uint(memory, value, word, &panic->type) ||
	    !gh_process_uint(memory, value + word, word, &panic->data) ||
	    !gh_process_uint(memory, value + 2 * word, word, &panic->next) ||
	    !gh_process_read(memory, address + layouts[i].flags * word, flags, sizeof(flags)))
		return false;
	panic->recovered = flags[0] != 0;
	panic->repanicked = layouts[i].again != 0 && flags[layouts[i].again] != 0;
	panic->goexit = layouts[i].goexit != 0 && flags[layouts[i].goexit] != 0;
	return true;
}

/* The longest text that is read, in bytes. */
#define MAX_TEXT 4096

/* Errors that are followed through those that wrap them. */
#define MAX_WRAPS 8

/* What is being printed. */
struct value {
	struct gh_buffer *out;
	struct gh_process *process;
	const struct gh_rtypes *types;
	unsigned depth; /* of errors that wrap others */
};

__attribute__((format(printf, 2, 3))) static void add(struct gh_buffer *out, const char *format,
						      ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length > 0)
		gh_buffer_bytes(out, text,
				(size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

void gh_panic_string(struct gh_buffer *out, struct gh_process *process, uint64_t address,
		     uint64_t size)
{
	char text[MAX_TEXT];
	size_t length = size < sizeof(text) ? (size_t)size : sizeof(text);
	if (!gh_process_read_constant(process, address, text, length)) {
		add(out, "(a string that cannot be read)");
		return;
	}
	for (size_t i = 0; i < length; i++) {
		gh_buffer_u8(out, (uint8_t)text[i]);
		if (text[i] == '\n' && process->minor >= 23)
			gh_buffer_u8(out, '\t');
	}
	if (length < size)
		add(out, "...");
}

/* The word at ADDRESS; 0 if it cannot be read. */
static uint64_t read_word(const struct value *value, uint64_t address)
{
	return gh_process_constant_pointer(value->process, address);
}

/* Appends the string whose header is at ADDRESS. */
static void add_string(const struct value *value, uint64_t address)
{
	unsigned word = value->process->tab->pointer_size;
	gh_panic_string(value->out, value->process, read_word(value, address),
			read_word(value, address + word));
}

/* Appends NUMBER of SIZE bytes as runtime.printfloat does: with three digits of exponent; from
 * Go 1.26 on printfloat64 and printfloat32, with no more digits than it takes, and a plus only
 * WITH_SIGN. */
static void add_float(const struct value *value, double number, unsigned size, bool with_sign)
{
	char text[GH_FLOAT_TEXT];
	bool shortest = value->process->minor >= 26;
	if (shortest || !isfinite(number)) {
		gh_float_text(text, number, size, shortest && with_sign);
		add(value->out, "%s", text);
		return;
	}
	snprintf(text, sizeof(text), "%+.6e", number);
	char *exponent = strchr(text, 'e');
	add(value->out, "%.*s%03d", (int)(exponent + 2 - text), text,
	    (int)strtol(exponent + 2, NULL, 10));
}

/* Appends the number of this KIND and SIZE in bytes, BITS. */
static void add_number(const struct value *value, unsigned kind, unsigned size, uint64_t bits)
{
	struct gh_buffer *out = value->out;
	if (kind == GH_KIND_BOOL)
		add(out, "%s", bits != 0 ? "true" : "false");
	else if (kind == GH_KIND_FLOAT32 || kind == GH_KIND_FLOAT64)
		add_float(value, gh_process_float(bits, size), size, false);
	else if (kind >= GH_KIND_UINT)
		add(out, "%" PRIu64, bits);
	else
		add(out, "%" PRId64, (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
}

static bool is_complex(const struct gh_rtype *type)
{
	return type->kind == GH_KIND_COMPLEX64 || type->kind == GH_KIND_COMPLEX128;
}

/* Appends the value of a basic TYPE at ADDRESS. False if TYPE is another, or it cannot be read. */
static bool add_basic(const struct value *value, const struct gh_rtype *type, uint64_t address)
{
	uint64_t bits;
	uint64_t imaginary;
	unsigned size = (unsigned)type->size;
	if (type->kind == GH_KIND_STRING) {
		add_string(value, address);
		return true;
	}
	if (is_complex(type)) {
		size /= 2;
		if ((size != 4 && size != 8) ||
		    !gh_process_constant_uint(value->process, address, size, &bits) ||
		    !gh_process_constant_uint(value->process, address + size, size, &imaginary))
			return false;
		add(value->out, "(");
		add_float(value, gh_process_float(bits, size), size, false);
		add_float(value, gh_process_float(imaginary, size), size, true);
		add(value->out, "i)");
		return true;
	}
	if (type->kind < GH_KIND_BOOL || type->kind > GH_KIND_FLOAT64 ||
	    (size != 1 && size != 2 && size != 4 && size != 8) ||
	    !gh_process_constant_uint(value->process, address, size, &bits))
		return false;
	add_number(value, type->kind, size, bits);
	return true;
}

/* Appends runtime.boundsError, which is at ADDRESS: x, y, whether x is signed, and the code. */
static void add_bounds(const struct value *value, uint64_t address)
{
	static const char *const formats[] = {
	    "index out of range [%x] with length %y",
	    "slice bounds out of range [:%x] with length %y",
	    "slice bounds out of range [:%x] with capacity %y",
	    "slice bounds out of range [%x:%y]",
	    "slice bounds out of range [::%x] with length %y",
	    "slice bounds out of range [::%x] with capacity %y",
	    "slice bounds out of range [:%x:%y]",
	    "slice bounds out of range [%x:%y:]",
	    "cannot convert slice with length %y to array or pointer to array with length %x",
	};
	static const char *const negative[] = {
	    "index out of range [%x]",          "slice bounds out of range [:%x]",
	    "slice bounds out of range [:%x]",  "slice bounds out of range [%x:]",
	    "slice bounds out of range [::%x]", "slice bounds out of range [::%x]",
	    "slice bounds out of range [:%x:]", "slice bounds out of range [%x::]",
	};
	unsigned word = value->process->tab->pointer_size;
	uint64_t x;
	uint64_t is_signed;
	uint64_t code;
	if (!gh_process_constant_uint(value->process, address, 8, &x) ||
	    !gh_process_constant_uint(value->process, address + 8 + word, 1, &is_signed) ||
	    !gh_process_constant_uint(value->process, address + 8 + word + 1, 1, &code))
		return;
	bool below = is_signed != 0 && (int64_t)x < 0;
	size_t count =
	    below ? sizeof(negative) / sizeof(negative[0]) : sizeof(formats) / sizeof(formats[0]);
	const char *format = code >= count ? "out of range"
			     : below       ? negative[code]
					   : formats[code];
	/* Arrays came in Go 1.20. */
	if (!below && code + 1 == count && value->process->minor < 20)
		format = "cannot convert slice with length %y to pointer to array with length %x";
	add(value->out, "runtime error: ");
	for (; *format != '\0'; format++) {
		if (*format != '%')
			gh_buffer_u8(value->out, (uint8_t)*format);
		else if (*++format == 'y')
			add(value->out, "%" PRId64, (int64_t)read_word(value, address + 8));
		else if (is_signed != 0)
			add(value->out, "%" PRId64, (int64_t)x);
		else
			add(value->out, "%" PRIu64, x);
	}
}

static void add_interface(struct value *value, uint64_t type, uint64_t data);

/* Appends the error whose interface, with methods, is at ADDRESS: the itab's second word is the
 * type. */
static void add_error(struct value *value, uint64_t address)
{
	unsigned word = value->process->tab->pointer_size;
	uint64_t itab = read_word(value, address);
	if (value->depth++ < MAX_WRAPS)
		add_interface(value, itab == 0 ? 0 : read_word(value, itab + word),
			      read_word(value, address + word));
}

/* Appends the text of an error whose type and value's place are known. False if they are not. */
static bool add_known_error(struct value *value, const struct gh_rtype *type, uint64_t address)
{
	/* Structs, and pointers to them, that begin with the text. */
	static const char *const texts[] = {"*errors.errorString", "*fmt.wrapError",
					    "*fmt.wrapErrors"};
	static const char *const operations[] = {"*fs.PathError", "*os.PathError"};
	unsigned word = value->process->tab->pointer_size;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (gh_rtype_text_is(type->text, texts[i])) {
			add_string(value, address);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (gh_rtype_text_is(type->text, operations[i])) {
			add_string(value, address);
			add(value->out, " ");
			add_string(value, address + 2 * word);
			add(value->out, ": ");
			add_error(value, address + 4 * word);
			return true;
		}
	}
	if (gh_rtype_text_is(type->text, "*os.SyscallError")) {
		add_string(value, address);
		add(value->out, ": ");
		add_error(value, address + 2 * word);
	} else if (gh_rtype_text_is(type->text, "runtime.errorString") ||
		   gh_rtype_text_is(type->text, "runtime.errorAddressString")) {
		add(value->out, "runtime error: ");
		add_string(value, address);
	} else if (gh_rtype_text_is(type->text, "runtime.plainError")) {
		add_string(value, address);
	} else if (gh_rtype_text_is(type->text, "runtime.boundsError")) {
		add_bounds(value, address);
	} else {
		return false;
	}
	return true;
}

/* A type that is Go's own, not one declared from it. */
static bool is_predeclared(const struct gh_rtype *type)
{
	return memchr(type->text.start, '.', type->text.length) == NULL;
}

/* Appends what an interface holds: of TYPE, 0 for nil, and at DATA. */
static void add_interface(struct value *value, uint64_t type, uint64_t data)
{
	const struct gh_rtypes *types = value->types;
	struct gh_buffer *out = value->out;
	if (type == 0) {
		add(out, "nil");
		return;
	}
	uint32_t number = gh_rtypes_at(types, type - value->process->bias);
	if (number == GH_NO_RTYPE) {
		add(out, "(type 0x%" PRIx64 ") 0x%" PRIx64, type, data);
		return;
	}
	const struct gh_rtype *known = &types->items[number];
	if (add_known_error(value, known, data))
		return;
	bool basic = known->kind <= GH_KIND_COMPLEX128 || known->kind == GH_KIND_STRING;
	if (!basic || known->direct) {
		add(out, "(");
		gh_buffer_bytes(out, known->text.start, known->text.length);
		add(out, ") 0x%" PRIx64, data);
		return;
	}
	bool declared = !is_predeclared(known);
	bool parentheses = declared && !is_complex(known); /* complex numbers have their own */
	const char *quote = known->kind == GH_KIND_STRING ? "\"" : "";
	if (declared)
		gh_buffer_bytes(out, known->text.start, known->text.length);
	if (parentheses)
		add(out, "(%s", quote);
	if (!add_basic(value, known, data))
		add(out, "a value that cannot be read");
	if (parentheses)
		add(out, "%s)", quote);
}

void gh_panic_value(struct gh_buffer *out, struct gh_process *process,
		    const struct gh_rtypes *types, uint64_t type, uint64_t data)
{
	struct value value = {.out = out, .process = process, .types = types};
	add_interface(&value, type, data);
}
