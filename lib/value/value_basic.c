#include "lib/value/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/util/float_text.h"

/* As fmt does; if WITH_SIGN, with a plus. */
static void add_float(struct gh_values *values, double number, unsigned size, bool with_sign)
{
	char text[GH_FLOAT_TEXT];
	gh_float_text(text, number, size, with_sign);
	gh_value_add(values, "%s", text);
}

void gh_value_add_float(struct gh_values *values, double number)
{
	add_float(values, number, 8, false);
}

/* JSON has no infinite numbers. */
static void add_real(struct gh_values *values, double number, unsigned size)
{
	const char *quote = isfinite(number) ? "" : "\"";
	gh_value_add_either(values, "", quote);
	add_float(values, number, size, false);
	gh_value_add_either(values, "", quote);
}

static void add_string(struct gh_values *values, uint64_t address)
{
	uint64_t start;
	uint64_t size;
	if (gh_value_slice(values, address, &start, &size))
		gh_value_add_string(values, start, size);
	else
		gh_value_add_unreadable(values, address);
}

static void add_complex(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	unsigned size = type->kind == GH_KIND_COMPLEX64 ? 4 : 8;
	uint64_t real;
	uint64_t imaginary;
	if (!gh_process_constant_uint(values->process, address, size, &real) ||
	    !gh_process_constant_uint(values->process, address + size, size, &imaginary)) {
		gh_value_add_unreadable(values, address);
		return;
	}
	gh_value_add_either(values, "(", "\"(");
	add_float(values, gh_process_float(real, size), size, false);
	add_float(values, gh_process_float(imaginary, size), size, true);
	gh_value_add_either(values, "i)", "i)\"");
}

/* The text of DURATION, in ns, as its String has it. */
static void add_duration(struct gh_values *values, int64_t duration)
{
	char text[32];
	uint64_t ns = duration < 0 ? 0 - (uint64_t)duration : (uint64_t)duration;
	uint64_t unit = ns < 1000         ? 1
			: ns < 1000000    ? 1000
			: ns < 1000000000 ? 1000000
					  : 1000000000;
	uint64_t whole = ns / unit;
	const char *sign = duration < 0 ? "-" : "";
	int length = snprintf(text, sizeof(text), ".%09" PRIu64, ns % unit * (1000000000 / unit));
	while (length > 0 && (text[length - 1] == '0' || text[length - 1] == '.'))
		text[--length] = '\0';
	if (ns == 0)
		gh_value_add(values, "0s");
	else if (unit < 1000000000)
		gh_value_add(values, "%s%" PRIu64 "%s%s", sign, whole, text,
			     unit == 1      ? "ns"
			     : unit == 1000 ? "\302\265s"
					    : "ms");
	else if (whole < 60)
		gh_value_add(values, "%s%" PRIu64 "%ss", sign, whole, text);
	else if (whole < 3600)
		gh_value_add(values, "%s%" PRIu64 "m%" PRIu64 "%ss", sign, whole / 60, whole % 60,
			     text);
	else
		gh_value_add(values, "%s%" PRIu64 "h%" PRIu64 "m%" PRIu64 "%ss", sign, whole / 3600,
			     whole / 60 % 60, whole % 60, text);
}

/* Appends the name that NUMBER has as a value of TYPE, and NUMBER, as Delve does. False, and
 * nothing, if it has none. */
static bool add_constant(struct gh_values *values, const struct gh_rtype *type, int64_t number)
{
	static const char *const months[] = {
	    NULL,   "January", "February",  "March",   "April",    "May",     "June",
	    "July", "August",  "September", "October", "November", "December"};
	static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
					   "Thursday", "Friday", "Saturday"};
	const char *name = NULL;
	if (!type->named || values->json || number < 0 || number > INT32_MAX)
		return false;
	if (gh_rtype_text_is(type->text, "time.Month") && number <= 12)
		name = months[number];
	else if (gh_rtype_text_is(type->text, "time.Weekday") && number <= 6)
		name = days[number];
	else if (gh_rtype_text_is(type->text, "syscall.Errno") && number > 0)
		name = strerrorname_np((int)number);
	if (name != NULL)
		gh_value_add(values, "%s (%" PRId64 ")", name, number);
	return name != NULL;
}

static void add_number(struct gh_values *values, const struct gh_rtype *type, uint64_t bits)
{
	unsigned size = (unsigned)type->size;
	int64_t number = (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
	if (type->kind == GH_KIND_BOOL)
		gh_value_add(values, "%s", bits != 0 ? "true" : "false");
	else if (type->kind == GH_KIND_FLOAT32 || type->kind == GH_KIND_FLOAT64)
		add_real(values, gh_process_float(bits, size), size);
	else if (type->kind == GH_KIND_UNSAFE_POINTER && bits == 0)
		gh_value_add_either(values, "unsafe.Pointer(nil)", "null");
	else if (type->kind == GH_KIND_UNSAFE_POINTER)
		gh_value_add(values,
			     values->json ? "\"0x%" PRIx64 "\"" : "unsafe.Pointer(0x%" PRIx64 ")",
			     bits);
	else if (add_constant(values, type, number))
		return;
	else if (type->kind >= GH_KIND_UINT)
		gh_value_add(values, "%" PRIu64, bits);
	else if (gh_rtype_text_is(type->text, "time.Duration") && !values->json)
		add_duration(values, number);
	else if (gh_rtype_text_is(type->text, "context.emptyCtx") && !values->json)
		gh_value_add(values, GH_VALUE_EMPTY_CONTEXT);
	else
		gh_value_add(values, "%" PRId64, number);
}

void gh_value_add_basic(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	uint64_t bits;
	unsigned size = (unsigned)type->size;
	if (type->kind == GH_KIND_STRING)
		add_string(values, address);
	else if (type->kind == GH_KIND_COMPLEX64 || type->kind == GH_KIND_COMPLEX128)
		add_complex(values, type, address);
	else if (type->kind == GH_KIND_UNSAFE_POINTER
		     ? gh_value_word(values, address, &bits)
		     : gh_process_constant_uint(values->process, address, size, &bits))
		add_number(values, type, bits);
	else
		gh_value_add_unreadable(values, address);
}
