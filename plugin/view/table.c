#include "plugin/view/table.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/util/escape.h"
#include "plugin/view/open_dump.h"

/* Of columns. The numbers' is wider if need be. */
#define NUMBER_WIDTH  12
#define ADDRESS_WIDTH 16
#define SHARE_WIDTH   7

/* Bytes of a text that are printed. */
#define START 60

/* VALUE with its commas, before END; gives where it begins. */
static char *format_number(char *end, uint64_t value)
{
	unsigned digits = 0;
	do {
		if (digits > 0 && digits % 3 == 0)
			*--end = ',';
		*--end = (char)('0' + value % 10);
		digits++;
	} while ((value /= 10) > 0);
	return end;
}

struct gh_table gh_table_start(const struct gh_dump *dump, bool json)
{
	char text[32] = "";
	char *end = text + sizeof(text) - 1;
	int length = (int)(end - format_number(end, dump->objects.bytes));
	return (struct gh_table){
	    .row = {.dump = dump, .json = json},
	    .width = length + 2 > NUMBER_WIDTH ? length + 2 : NUMBER_WIDTH,
	};
}

void gh_table_titles(const struct gh_table *table, const char *const *titles, size_t count,
		     size_t numbers)
{
	if (table->row.json)
		return;
	for (size_t i = 0; i < count; i++) {
		if (i >= numbers)
			printf("  %s", titles[i]);
		else if (*titles[i] == '@')
			printf("%*s", ADDRESS_WIDTH, titles[i] + 1);
		else
			printf("%*s", *titles[i] == '%' ? SHARE_WIDTH : table->width, titles[i]);
	}
	putchar('\n');
}

/* Prints VALUE with a comma after each three digits, right-aligned in WIDTH characters. */
static void print_number(uint64_t value, int width)
{
	char text[32] = "";
	printf("%*s", width, format_number(text + sizeof(text) - 1, value));
}

void gh_print_count(uint64_t count, const char *what)
{
	print_number(count, 0);
	printf(" %s%s", what, count == 1 ? "" : "s");
}

void gh_table_number(struct gh_table *table, const char *key, uint64_t value)
{
	if (table->row.json)
		gh_row_number(&table->row, key, value);
	else
		print_number(value, table->width);
}

void gh_table_signed(struct gh_table *table, const char *key, int64_t value)
{
	if (table->row.json) {
		gh_row_key(&table->row, key);
		printf("%" PRId64, value);
		return;
	}
	char text[32] = "";
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char *start = format_number(text + sizeof(text) - 1, magnitude);
	if (value != 0)
		*--start = value < 0 ? '-' : '+';
	printf("%*s", table->width, start);
}

void gh_table_address(struct gh_table *table, const char *key, uint64_t value)
{
	char text[24];
	if (table->row.json) {
		gh_row_address(&table->row, key, value);
		return;
	}
	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	printf("%*s", ADDRESS_WIDTH, text);
}

void gh_table_no_address(struct gh_table *table, const char *key)
{
	if (table->row.json) {
		gh_row_key(&table->row, key);
		fputs("null", stdout);
	} else {
		printf("%*s", ADDRESS_WIDTH, "");
	}
}

void gh_table_share(struct gh_table *table, uint64_t part, uint64_t whole)
{
	if (!table->row.json)
		printf("%*.1f%%", SHARE_WIDTH - 1,
		       whole > 0 ? 100 * (double)part / (double)whole : 0);
}

void gh_table_text(struct gh_table *table, const char *key, const char *value)
{
	gh_table_key(table, key);
	if (value == NULL)
		fputs(table->row.json ? "null" : "?", stdout);
	else
		gh_escape_either(stdout, value, table->row.json);
}

void gh_table_object(struct gh_table *table, const struct gh_names *names, uint32_t object)
{
	if (!table->row.json) {
		fputs("  ", stdout);
		gh_names_print_object(stdout, names, object);
		return;
	}
	gh_row_address(&table->row, "object", gh_heap_object(names->heap, object).address);
	gh_row_key(&table->row, "type");
	gh_names_print(stdout, names, object, true);
}

void gh_table_key(struct gh_table *table, const char *key)
{
	if (table->row.json)
		gh_row_key(&table->row, key);
	else
		fputs("  ", stdout);
}

void gh_table_end(struct gh_table *table)
{
	gh_row_end(&table->row);
	table->rows++;
}

void gh_table_finish(const struct gh_table *table, uint64_t count)
{
	if (table->row.json || count <= table->rows)
		return;
	fputs("and ", stdout);
	print_number(count - table->rows, 0);
	puts(" more: --limit 0 prints all");
}

void gh_print_start(const char *data, size_t length)
{
	size_t shown = length;
	if (length > START) {
		shown = START;
		/* A character is not cut. */
		while (shown > 0 && ((uint8_t)data[shown] & 0xc0) == 0x80)
			shown--;
	}
	gh_print_bytes(stdout, data, shown, false);
	if (shown < length)
		fputs("...", stdout);
}
