/* What has another form in JSON than in text. */
#include "lib/value/internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/util/escape.h"

void gh_value_add_either(struct gh_values *values, const char *text, const char *json)
{
	gh_value_add(values, "%s", values->json ? json : text);
}

void gh_value_json(struct gh_values *values, const char *before, const char *key)
{
	if (values->json)
		gh_value_add(values, "%s\"%s\":", before, key);
}

void gh_value_add_rest(struct gh_values *values, const char *text, const char *before)
{
	gh_value_add_either(values, "", before);
	gh_value_json(values, "{", "more");
	gh_value_add_either(values, text, "null}");
}

void gh_value_add_unreadable(struct gh_values *values, uint64_t address)
{
	gh_value_json(values, "{", "unreadable");
	gh_value_add(values, values->json ? "\"0x%" PRIx64 "\"}" : "(unreadable 0x%" PRIx64 ")",
		     address);
}

void gh_value_add_type(struct gh_values *values, const struct gh_rtype *type)
{
	if (values->json)
		return;
	gh_buffer_bytes(&values->out, type->text.start, type->text.length);
	gh_buffer_u8(&values->out, ' ');
}

void gh_value_add_key(struct gh_values *values, const char *name, size_t length)
{
	if (values->json)
		gh_escape_json_bytes(&values->out, name, length);
	else
		gh_buffer_bytes(&values->out, name, length);
	gh_value_add_either(values, ": ", ":");
}

void gh_value_add_pointer(struct gh_values *values, const char *type, size_t length, uint64_t word,
			  bool cycle)
{
	if (!values->json) {
		gh_value_add(values, "(");
		gh_escape_utf8(&values->out, type, length);
		gh_value_add(values, ")(0x%" PRIx64 ")%s", word, cycle ? " (cycle)" : "");
		return;
	}
	gh_value_json(values, "{", "type");
	gh_escape_json_bytes(&values->out, type, length);
	gh_value_json(values, ",", "address");
	gh_value_add(values, "\"0x%" PRIx64 "\"", word);
	if (cycle) {
		gh_value_json(values, ",", "cycle");
		gh_value_add(values, "true");
	}
	gh_value_add(values, "}");
}

void gh_value_add_more(struct gh_values *values, uint64_t count, bool first)
{
	if (count == 0)
		return;
	gh_value_add(values, "%s", first ? "" : ",");
	gh_value_json(values, "{", "more");
	gh_value_add(values, values->json ? "%" PRIu64 "}" : "...+%" PRIu64 " more", count);
}

void gh_value_open(struct gh_values *values, const char *before, struct gh_rtype_text type,
		   bool perhaps)
{
	struct gh_buffer name = {0};
	gh_value_add(values, "{");
	if (perhaps) {
		gh_value_json(values, "", "perhaps");
		gh_value_add(values, "true,");
	}
	if (type.length > 0) {
		gh_buffer_bytes(&name, before, strlen(before));
		gh_buffer_bytes(&name, type.start, type.length);
		gh_value_json(values, "", "type");
		gh_escape_json_bytes(&values->out, (const char *)name.data, name.size);
		gh_value_add(values, ",");
		values->out.failed |= name.failed;
		gh_buffer_free(&name);
	}
	gh_value_json(values, "", "value");
}

void gh_value_close(struct gh_values *values)
{
	gh_value_add(values, "}");
}
