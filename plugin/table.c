#include "plugin/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/dumpfile.h"

/* Of a column of numbers, addresses or shares; those of a heap of a terabyte fit. */
#define NUMBER_WIDTH 15
#define SHARE_WIDTH  7

void gh_table_titles(const struct gh_table *table, const char *const *titles, size_t count,
		     size_t numbers)
{
	if (table->row.json)
		return;
	for (size_t i = 0; i < count; i++) {
		if (i >= numbers)
			printf("  %s", titles[i]);
		else
			printf("%*s", *titles[i] == '%' ? SHARE_WIDTH : NUMBER_WIDTH, titles[i]);
	}
	putchar('\n');
}

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

void gh_print_number(uint64_t value, int width)
{
	char text[32] = "";
	printf("%*s", width, format_number(text + sizeof(text) - 1, value));
}

void gh_print_count(uint64_t count, const char *what)
{
	gh_print_number(count, 0);
	printf(" %s%s", what, count == 1 ? "" : "s");
}

void gh_table_number(struct gh_table *table, const char *key, uint64_t value)
{
	if (table->row.json)
		gh_row_number(&table->row, key, value);
	else
		gh_print_number(value, NUMBER_WIDTH);
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
	printf("%*s", NUMBER_WIDTH, start);
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
		gh_print_bytes(stdout, value, strlen(value), table->row.json);
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
	gh_print_number(count - table->rows, 0);
	puts(" more: --limit 0 prints all");
}
