/* The rows that twin prints, which it sorts first. */
#include "twin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *input;

void set_input(const char *path)
{
	input = path;
}

void die(const char *doing, int result, Dwarf_Error error)
{
	fprintf(stderr, "twin: %s: %s: %s\n", input, doing,
		result == DW_DLV_ERROR ? dwarf_errmsg(error) : "there is none");
	exit(1);
}

struct row {
	uint64_t start, end;
	char *text;
	size_t order;
};

static struct row *rows;
static size_t count, room;

void add_row(uint64_t start, uint64_t end, char *text)
{
	if (count == room) {
		room = room ? 2 * room : 1 << 16;
		rows = realloc(rows, room * sizeof(*rows));
	}
	if (!rows || !text)
		die("out of memory", DW_DLV_NO_ENTRY, NULL);
	rows[count] = (struct row){start, end, text, count};
	count++;
}

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void print_rows(void)
{
	if (count)
		qsort(rows, count, sizeof(*rows), by_address);
	for (size_t i = 0; i < count; i++)
		printf("0x%" PRIx64 "\t0x%" PRIx64 "\t%s\n", rows[i].start, rows[i].end,
		       rows[i].text);
	for (size_t i = 0; i < count; i++)
		free(rows[i].text);
	free(rows);
}
