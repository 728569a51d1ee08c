/* Numbers of package math/big.
 *
 * Source: type Int in src/math/big/int.go, nat.go: a slice of words, the least first; type Rat in
 * rat.go; type Float in float.go. */
#include "lib/value/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Larger ones are left as they are: their time is the square of the words. */
#define MOST_WORDS 1024

/* What is taken off a number at a time: as many digits as four bytes hold. */
#define UNIT        UINT32_C(1000000000)
#define UNIT_DIGITS 9

/* Divides the number of COUNT digits of 32 bits, the least first. Returns what is left. */
static uint32_t divide(uint32_t *digits, size_t count)
{
	uint64_t rest = 0;
	for (size_t i = count; i-- > 0;) {
		rest = rest << 32 | digits[i];
		digits[i] = (uint32_t)(rest / UNIT);
		rest %= UNIT;
	}
	return (uint32_t)rest;
}

/* Appends the number of COUNT digits, which become 0. */
static bool add_decimal(struct gh_values *values, uint32_t *digits, size_t count)
{
	/* Each takes off more than 29 bits. */
	size_t most = count * 32 / 29 + 1;
	uint32_t *units = calloc(most, sizeof(*units));
	size_t nunits = 0;
	if (units == NULL)
		return false;
	while (count > 0 && digits[count - 1] == 0)
		count--;
	while (count > 0 && nunits < most) {
		units[nunits++] = divide(digits, count);
		while (count > 0 && digits[count - 1] == 0)
			count--;
	}
	gh_value_add(values, "%" PRIu32, nunits > 0 ? units[nunits - 1] : 0);
	for (size_t i = nunits; i-- > 1;)
		gh_value_add(values, "%0*" PRIu32, UNIT_DIGITS, units[i - 1]);
	free(units);
	return true;
}

bool gh_value_add_big(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_process *process = values->process;
	unsigned word = process->tab->pointer_size;
	struct gh_rtype_part abs;
	uint64_t is_negative;
	uint64_t start;
	uint64_t count;
	if (!gh_value_field_uint(values, type, address, "neg", 1, &is_negative) ||
	    !gh_value_field(values->types, type, "abs", &abs) ||
	    !gh_value_slice(values, address + abs.offset, &start, &count) || count > MOST_WORDS)
		return false;
	uint32_t *digits = calloc(2 * MOST_WORDS, sizeof(*digits));
	bool read = digits != NULL;
	for (uint64_t i = 0; read && i < count; i++) {
		uint64_t bits;
		read = gh_process_constant_uint(process, start + i * word, word, &bits);
		for (unsigned part = 0; read && part < word / 4; part++)
			digits[i * (word / 4) + part] = (uint32_t)(bits >> 32 * part);
	}
	if (read && is_negative != 0)
		gh_value_add(values, "-");
	read = read && add_decimal(values, digits, (size_t)count * (word / 4));
	free(digits);
	return read;
}

bool gh_value_add_rat(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part a;
	struct gh_rtype_part b;
	struct gh_rtype_part abs;
	uint64_t start;
	uint64_t count;
	if (!gh_value_field(values->types, type, "a", &a) ||
	    !gh_value_field(values->types, type, "b", &b))
		return false;
	const struct gh_rtype *number = &values->types->items[b.type];
	if (!gh_value_field(values->types, number, "abs", &abs) ||
	    !gh_value_slice(values, address + b.offset + abs.offset, &start, &count) ||
	    !gh_value_add_big(values, number, address + a.offset))
		return false;
	gh_value_add(values, "/");
	/* That of an integer may have no words. */
	if (count > 0)
		return gh_value_add_big(values, number, address + b.offset);
	gh_value_add(values, "1");
	return true;
}

bool gh_value_add_big_float(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	enum { ZERO, FINITE, INFINITE };
	unsigned word = values->process->tab->pointer_size;
	uint64_t precision;
	uint64_t form;
	uint64_t is_negative;
	uint64_t exponent;
	uint64_t start;
	uint64_t count;
	struct gh_rtype_part mant;
	double number = 0;
	if (!gh_value_field_uint(values, type, address, "prec", 4, &precision) ||
	    !gh_value_field_uint(values, type, address, "form", 1, &form) ||
	    !gh_value_field_uint(values, type, address, "neg", 1, &is_negative) ||
	    !gh_value_field_uint(values, type, address, "exp", 4, &exponent) ||
	    !gh_value_field(values->types, type, "mant", &mant))
		return false;
	if (form == FINITE) {
		if (!gh_value_slice(values, address + mant.offset, &start, &count) ||
		    count > MOST_WORDS)
			return false;
		/* 0.mant, from the highest word on; those far below make no difference. */
		for (uint64_t i = 0; i < count && i < 64 / word; i++) {
			uint64_t bits;
			if (!gh_process_constant_uint(values->process,
						      start + (count - 1 - i) * word, word, &bits))
				return false;
			number += ldexp((double)bits, -8 * (int)word * (int)(i + 1));
		}
		number = ldexp(number, (int32_t)exponent);
		/* A larger exponent than a float64's. */
		if (number == 0 || isinf(number))
			return false;
	} else if (form == INFINITE) {
		number = INFINITY;
	}
	gh_value_add_float(values, is_negative != 0 ? -number : number);
	if (precision > 53)
		gh_value_add(values, "?");
	return true;
}
