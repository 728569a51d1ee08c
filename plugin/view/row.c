#include "plugin/view/row.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/util/escape.h"
#include "plugin/view/open_dump.h"

void gh_row_key(struct gh_row *row, const char *key)
{
	if (row->json)
		printf("%s\"%s\":", row->started ? "," : "{", key);
	else if (row->started)
		putchar('\t');
	row->started = true;
}

void gh_row_number(struct gh_row *row, const char *key, uint64_t value)
{
	gh_row_key(row, key);
	printf("%" PRIu64, value);
}

void gh_row_address(struct gh_row *row, const char *key, uint64_t value)
{
	gh_row_key(row, key);
	printf(row->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

void gh_row_bool(struct gh_row *row, const char *key, bool value)
{
	gh_row_key(row, key);
	if (row->json)
		fputs(value ? "true" : "false", stdout);
	else
		fputs(value ? "yes" : "no", stdout);
}

void gh_row_text(struct gh_row *row, const char *key, const char *value)
{
	gh_row_key(row, key);
	gh_escape_either(stdout, value, row->json);
}

void gh_row_slice(struct gh_row *row, const char *key, struct gh_dump_slice value)
{
	gh_row_key(row, key);
	if (value.offset == 0)
		fputs(row->json ? "null" : "?", stdout);
	else
		gh_print_slice(stdout, row->dump, value, row->json);
}

void gh_row_fields(struct gh_row *row, const struct gh_dump_record *record)
{
	static const char *const kinds[] = {"pointer", "string", "slice", "iface", "eface"};
	if (!row->json)
		return;
	gh_row_key(row, "fields");
	struct gh_fields walk;
	struct gh_field field;
	const char *separator = "";
	putchar('[');
	gh_dump_fields(row->dump, record, &walk);
	while (gh_fields_next(&walk, &field)) {
		printf("%s[\"%s\",%" PRIu64 "]", separator, kinds[field.kind], field.offset);
		separator = ",";
	}
	putchar(']');
}

void gh_row_end(struct gh_row *row)
{
	puts(row->json ? "}" : "");
	row->started = false;
}
