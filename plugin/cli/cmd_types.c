/* goheap types: the types of a Go program, or those in a heap dump. */
#include <stdio.h>

#include "lib/rtype/rtype.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A type, as it is printed. */
struct row {
	uint64_t address; /* of its descriptor */
	uint64_t size;    /* of a value, in bytes */
	const char *kind;
	const char *name;
};

static const struct gh_column columns[] = {
    {"address", GH_COL_ADDRESS(struct row, address)},
    {"size", GH_COL_NUMBER(struct row, size)},
    {"kind", GH_COL_TEXT(struct row, kind)},
    {"name", GH_COL_NAME(struct row, name)},
    {0},
};

static bool print_types(const struct gh_rtypes *types, bool json)
{
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, json);
	struct gh_buffer name = {0};
	for (uint32_t i = 0; i < types->count && !name.failed; i++) {
		const struct gh_rtype *type = &types->items[i];
		name.size = 0;
		gh_rtype_name(&name, types, i);
		gh_buffer_u8(&name, 0);
		if (name.failed)
			break;
		struct row row = {
		    .address = type->address,
		    .size = type->size,
		    .kind = gh_kind_name(type->kind),
		    .name = (const char *)name.data,
		};
		gh_emit_row(&emit, columns, &row);
	}
	bool whole = !name.failed;
	gh_buffer_free(&name);
	return whole;
}

static int program_types(const struct gh_options *options)
{
	struct gh_program program;
	struct gh_rtypes types;
	struct gh_error err;
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	bool printed = false;
	if (!gh_rtypes_find(&types, &program.tab, &err))
		gh_print_error(&err);
	else if (!(printed = print_types(&types, options->json)))
		gh_say(GH_OUT_OF_MEMORY);
	gh_rtypes_free(&types);
	gh_program_close(&program);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_types(const struct gh_options *options)
{
	return gh_target_kind(options->file, NULL) == GH_KIND_DUMP ? gh_records_types(options)
								   : program_types(options);
}
