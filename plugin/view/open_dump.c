#include "plugin/view/view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "lib/util/open_file.h"
#include "plugin/view/emit.h"

static void print_damage(const struct gh_dump *dump)
{
	const struct gh_dump_damage *damage = &dump->damage;
	if (dump->warning.text[0] != '\0')
		gh_print_error(&dump->warning);
	gh_print_warning(dump->path, damage->orphan_frames, "stack frames without a goroutine");
	gh_print_warning(dump->path, damage->misplaced_frames,
			 "stack frames that do not follow their callee's");
	gh_print_warning(dump->path, damage->duplicate_ids, "goroutines with the id of another");
	gh_print_warning(dump->path, damage->strays,
			 "defers and panics of another goroutine than the one before");
	gh_print_warning(dump->path, damage->overlapping_objects,
			 "objects that begin within another");
	gh_print_warning(dump->path, damage->overlapping_frames,
			 "stack frames that begin within another");
	gh_print_warning(dump->path, damage->repeated_params, "parameters records more than one");
	gh_print_warning(dump->path, damage->trailing, "bytes after the last record");
}

bool gh_dumpfile_open(struct gh_dump *dump, const char *path)
{
	struct gh_error err;
	gh_progress_begin("goheap: reading", path);
	bool opened = gh_dump_open(dump, path, &err);
	gh_progress_end();
	if (!opened) {
		gh_print_error(&err);
		return false;
	}
	print_damage(dump);
	return true;
}

bool gh_dumpfile_write_core(const struct gh_dump *dump, const struct gh_core_program *program,
			    const char *path)
{
	struct gh_error err;
	gh_progress_begin("goheap: writing", path);
	size_t left_out;
	bool written = gh_corefile_write(dump, program, path, &left_out, &err);
	gh_progress_end();
	if (written)
		gh_print_warning(dump->path, left_out, "goroutines left out of the core file");
	else
		gh_print_error(&err);
	return written;
}

struct gh_dump_slice gh_dumpfile_type_name(const struct gh_dump *dump, uint64_t address)
{
	struct gh_dump_record record;
	size_t number = gh_dump_find(dump, GH_DUMP_TYPE, address);
	if (number == GH_DUMP_NONE)
		return (struct gh_dump_slice){0};
	gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	return record.type.name;
}
