#include "tests/unit/codewalk.h"

#include <check.h>
#include <string.h>

#include "tests/unit/fixture.h"

/* Behind the code: a call, before which is looked, of the next instruction. */
static const char call[] = "\xe8\x00\x00\x00\x00";

static bool note_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	struct last_call *last = reading->context;
	last->known = reading->known;
	last->count += reading->is_last;
	last->at = at;
	last->callee = callee;
	return last->keeps;
}

void codewalk_read(struct gh_reading *reading, const char *code, size_t size)
{
	uint8_t whole[128];
	struct fixture fixture;
	fixture_open(&fixture, SYNTHETIC_1_20 * 8);
	ck_assert_uint_le(size + sizeof(call), sizeof(whole));
	memcpy(whole, code, size);
	memcpy(whole + size, call, sizeof(call) - 1);
	reading->code = gh_cursor_make(whole, size + sizeof(call) - 1, "code", 0, false);
	reading->entry = ENTRY;
	gh_reading_survey(reading, &fixture.tab);
	gh_reading_run(reading);
	struct last_call *last = reading->context;
	if (last->goes_back) {
		last->count = 0;
		gh_reading_run_again(reading);
	}
	ck_assert(!gh_reading_failed(reading));
	gh_reading_free(reading);
	fixture_close(&fixture);
}

struct gh_reading codewalk_reading(struct last_call *last)
{
	return (struct gh_reading){.is_64_bit = true,
				   .in_registers = true,
				   .follows = true,
				   .below = 32,
				   .context = last,
				   .on_call = note_call};
}

bool codewalk_holds(const struct gh_value *value, const struct gh_value *expected)
{
	if (value->from != expected->from || value->from == GH_VALUE_UNKNOWN)
		return value->from == expected->from;
	return value->number == expected->number && value->nloads == expected->nloads &&
	       memcmp(value->offsets, expected->offsets,
		      (value->nloads + 1U) * sizeof(*value->offsets)) == 0;
}

void codewalk_check(struct gh_reading (*make)(struct last_call *last),
		    const struct code_value *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct last_call last = {.count = 0};
		struct gh_reading reading = make(&last);
		codewalk_read(&reading, rows[i].code, rows[i].size);
		ck_assert_msg(last.count == 1 && last.at == rows[i].size, "%zu", i);
		ck_assert_msg(codewalk_holds(&last.known.registers[rows[i].number], &rows[i].value),
			      "%zu", i);
	}
}
