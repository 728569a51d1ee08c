#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/util/bsearch.h"
#include "lib/util/escape.h"

/* Code alignment leaves at most these many bytes between two functions. */
#define MAX_PADDING 64

/* The units as they are written, one after the other. */
struct writer {
	struct gh_info *info;
	const struct gh_info_common *common;
	const struct gh_pclntab *tab;
	struct gh_strings *strings;
	struct gh_line_table lines;
	struct gh_inlines inlines;
	struct gh_words live;
	struct gh_arg_writer args;
	struct gh_sourcemap map;
	size_t name_bytes;     /* bytes of names that may still be written */
	size_t unit;           /* where the unit starts in .debug_info */
	size_t ranges;         /* the same of its reference to .debug_ranges */
	size_t aranges;        /* where its set starts in .debug_aranges */
	struct gh_buffer runs; /* its runs of functions, as .debug_ranges has them */
	uint64_t low;          /* address of the run's first function */
	uint64_t high;         /* one past its last one so far; 0 before the first */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The linker writes some bytes of a package path as %xx, so that a symbol's name can be taken apart
 * (objabi.PathToPrefix). */
static void add_package_path(struct gh_buffer *out, const struct gh_interned *name)
{
	const char *text = name->text;
	size_t start = out->size;
	for (size_t i = 0; i < name->length; i++) {
		if (text[i] == '%' && name->length - i > 2) {
			int high = hex_digit(text[i + 1]);
			int low = hex_digit(text[i + 2]);
			if (high >= 0 && low >= 0 && high + low > 0) {
				gh_buffer_u8(out, (uint8_t)(high << 4 | low));
				i += 2;
				continue;
			}
		}
		gh_buffer_u8(out, (uint8_t)text[i]);
	}
	if (!out->failed)
		gh_escape_overwrite((char *)out->data + start, out->size - start);
	gh_buffer_u8(out, 0);
}

/* The name of package number PACKAGE; NULL if it has none, or if the bytes left are too few for it:
 * where names overlap, a crafted table could have a long one for each of its functions. */
static const struct gh_interned *package_name(struct writer *writer,
					      const struct gh_packages *packages, uint32_t package)
{
	if (package >= packages->names.count)
		return NULL;
	const struct gh_interned *name = packages->names.items[package];
	if (name->length > writer->name_bytes)
		return NULL;
	writer->name_bytes -= name->length;
	return name;
}

/* NAME may be NULL. */
static void begin_unit(struct writer *writer, const struct gh_interned *name)
{
	struct gh_buffer *out = &writer->info->info;
	uint8_t word = writer->tab->pointer_size;
	writer->high = 0;
	writer->runs.size = 0;
	writer->unit = gh_unit_begin(out, 0, word);
	gh_buffer_u8(out, GH_ABBREV_UNIT);
	gh_buffer_u32(out, GH_STRINGS_PRODUCER);
	gh_buffer_u8(out, gh_unit_language(writer->info->debugger));
	gh_info_refer(writer->info, GH_INFO_LINE, writer->info->line.size);
	gh_buffer_uint(out, 0, word); /* what ranges are relative to */
	writer->ranges = out->size;
	gh_buffer_u32(out, 0);
	if (name != NULL)
		add_package_path(out, name);
	else
		gh_buffer_string(out, "");
	gh_buffer_string(out, "."); /* directory of the compilation */

	out = &writer->info->aranges;
	writer->aranges = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u16(out, 2); /* version */
	gh_info_refer_aranges(writer->info, writer->unit);
	gh_buffer_u8(out, word);
	gh_buffer_u8(out, 0); /* size of a segment selector: none */
	gh_buffer_align(out, 2U * word);
	gh_inlines_begin_unit(&writer->inlines, writer->unit);
	gh_word_begin_unit(&writer->live, writer->unit);
}

/* Writes the run of functions from low to high. */
static void end_run(struct writer *writer)
{
	uint8_t word = writer->tab->pointer_size;
	gh_buffer_uint(&writer->runs, writer->low, word);
	gh_buffer_uint(&writer->runs, writer->high, word);
	gh_buffer_uint(&writer->info->aranges, writer->low, word);
	gh_buffer_uint(&writer->info->aranges, writer->high - writer->low, word);
}

/* Takes FUNC into the run, or begins a run with it. Returns whether it joins the function before
 * it. */
static bool add_to_run(struct writer *writer, const struct gh_func *func, bool neighbour)
{
	bool joined = neighbour && func->entry - writer->high <= MAX_PADDING;
	if (!joined) {
		if (writer->high != 0)
			end_run(writer);
		writer->low = func->entry;
	}
	writer->high = func->end;
	return joined;
}

static void end_unit(struct writer *writer)
{
	struct gh_info *info = writer->info;
	uint8_t word = writer->tab->pointer_size;
	end_run(writer);
	gh_info_refer_at(info, writer->ranges, GH_INFO_RANGES, info->ranges.size);
	gh_buffer_bytes(&info->ranges, writer->runs.data, writer->runs.size);
	gh_buffer_uint(&info->ranges, 0, word);
	gh_buffer_uint(&info->ranges, 0, word);
	gh_unit_end(&info->info, writer->unit);
	gh_buffer_uint(&info->aranges, 0, word);
	gh_buffer_uint(&info->aranges, 0, word);
	gh_buffer_patch(&info->aranges, writer->aranges, info->aranges.size - writer->aranges - 4,
			4);
	gh_line_finish(&writer->lines, &info->line);
}

/* The offset in .debug_str of what FUNC is called. */
static uint32_t function_name(const struct writer *writer, const struct gh_func *func)
{
	const char *name = gh_pclntab_name(writer->tab, func->name);
	if (gh_stack_end(func, name, true) == GH_STACK_SIGNAL_FRAME)
		return GH_STRINGS_SIGNAL_FRAME;
	return gh_strings_offset(writer->strings, name);
}

/* Writes the entry of FUNC without what is nested in it. Returns the place of the offset of the
 * entry that follows the nested ones: a debugger that lists functions passes over those, which are
 * most of what there is. */
static size_t write_function(struct writer *writer, const struct gh_func *func, struct gh_decl decl,
			     bool has_children)
{
	struct gh_buffer *out = &writer->info->info;
	if (has_children)
		gh_buffer_u8(out, decl.file != 0 ? GH_ABBREV_FUNCTION_CHILDREN
						 : GH_ABBREV_FUNCTION_CHILDREN_NO_FILE);
	else
		gh_buffer_u8(out, decl.file != 0 ? GH_ABBREV_FUNCTION : GH_ABBREV_FUNCTION_NO_FILE);
	size_t sibling = out->size;
	if (has_children)
		gh_buffer_u32(out, 0);
	gh_buffer_u32(out, function_name(writer, func));
	gh_buffer_uint(out, func->entry, writer->tab->pointer_size);
	gh_buffer_uleb128(out, func->end - func->entry);
	gh_buffer_u8(out, 1); /* length of the frame base's expression */
	gh_buffer_u8(out, DW_OP_call_frame_cfa);
	if (decl.file != 0) {
		gh_buffer_uleb128(out, decl.file);
		gh_buffer_uleb128(out, (uint64_t)decl.line);
	}
	return sibling;
}

/* Adds where a breakpoint on FUNC stops, if that is in RANGE. What the compiler made to lead to
 * another function is not what people mean by the name. */
static void add_point(struct writer *writer, const struct gh_func *func,
		      const struct gh_range *range)
{
	uint64_t stop = writer->lines.stop;
	const struct gh_frame *outermost = &range->frames[range->nframes - 1];
	if (stop < range->start || stop >= range->end ||
	    gh_frame_is_wrapper(writer->tab, outermost))
		return;
	gh_vector_push(&writer->info->points,
		       (struct gh_entry_point){.address = func->entry,
					       .name = func->name,
					       .is_own = range->nframes == 1});
}

/* The number of the first site at ADDRESS of the program's file, or after it. */
static size_t find_site(const struct gh_slots *slots, uint64_t address)
{
	return gh_lower_bound(slots->nsites, i, slots->sites[i].address - slots->bias < address);
}

/* Writes the blocks of the sites from number START to before END, all in FUNC. A variable is the
 * function's own; the calls that are inlined around it are nested in its block once more. */
static void write_sites(struct writer *writer, const struct gh_func *func, size_t start, size_t end)
{
	struct gh_range range = {0};
	bool more = gh_sourcemap_start(&writer->map, writer->tab, func);
	for (size_t i = start; i < end; i++) {
		const struct gh_site *site = &writer->common->slots->sites[i];
		uint64_t address = site->address - writer->common->slots->bias;
		while (more && range.end <= address)
			more = gh_sourcemap_next(&writer->map, &range);
		gh_slot_block_begin(&writer->info->info, &writer->common->slot_types,
				    writer->common->slots, site);
		if (more && range.start <= address)
			gh_inlines_write_at(&writer->inlines, &range, address,
					    site->end - writer->common->slots->bias);
		gh_buffer_u8(&writer->info->info, 0);
	}
}

/* Writes the rows and the entry of FUNC, with its arguments, inlined calls and variables. False if
 * memory ran out. */
static bool add_function(struct writer *writer, const struct gh_func *func, bool joined)
{
	if (!gh_sourcemap_start(&writer->map, writer->tab, func))
		return false;
	gh_line_begin(&writer->lines, func, joined);
	gh_inlines_begin(&writer->inlines);
	gh_word_begin(&writer->live, func);
	struct gh_range range;
	/* GDB looks for the inlined calls of a signal's frame before its pc, and for its block at
	   its pc, and aborts where the two differ. */
	bool flat = gh_is_injected(gh_pclntab_name(writer->tab, func->name));
	while (gh_sourcemap_next(&writer->map, &range)) {
		if (flat) {
			range.frames[0] = range.frames[range.nframes - 1];
			range.nframes = 1;
		}
		gh_line_range(&writer->lines, &range);
		add_point(writer, func, &range);
		uint32_t call = gh_inlines_range(&writer->inlines, &range);
		gh_word_range(&writer->live, range.start, call);
	}
	gh_word_end(&writer->live);
	bool has_calls = gh_inlines_any(&writer->inlines);
	size_t first_site = find_site(writer->common->slots, func->entry);
	size_t end_site = find_site(writer->common->slots, func->end);
	bool has_args = gh_args_begin(&writer->args, func);
	bool has_live = gh_word_has(&writer->live, GH_INLINE_NONE);
	bool has_children = has_calls || has_args || has_live || first_site < end_site;
	struct gh_buffer *info = &writer->info->info;
	size_t sibling = write_function(writer, func, gh_line_end(&writer->lines), has_children);
	if (has_args)
		gh_args_write(&writer->args, func);
	/* Of two blocks that have an address GDB takes the first. */
	write_sites(writer, func, first_site, end_site);
	if (has_live)
		gh_word_write(&writer->live, GH_INLINE_NONE);
	if (has_calls)
		gh_inlines_write(&writer->inlines, &writer->live);
	if (has_children) {
		gh_buffer_u8(info, 0); /* no more of them */
		gh_buffer_patch(info, sibling, info->size - writer->unit, 4);
	}
	return true;
}

/* Adds what debuggers find at the end of function NUMBER when they look for the call before a
 * return to the entry of runtime.goexit: a piece of that. */
static bool add_before_goexit(struct writer *writer, uint32_t number)
{
	struct gh_func goexit;
	if (!gh_pclntab_func(writer->tab, (size_t)number + 1, &goexit, NULL))
		return false;
	goexit.end = goexit.entry;
	goexit.entry -= writer->tab->quantum;
	bool joined = add_to_run(writer, &goexit, true);
	return add_function(writer, &goexit, joined);
}

static bool add_unit(struct writer *writer, const struct gh_packages *packages, uint32_t package,
		     struct gh_error *err)
{
	begin_unit(writer, package_name(writer, packages, package));
	for (uint32_t i = packages->first[package]; i < packages->first[package + 1]; i++) {
		uint32_t number = packages->functions[i];
		bool neighbour =
		    i > packages->first[package] && number == packages->functions[i - 1] + 1;
		struct gh_func func;
		if (!gh_pclntab_func(writer->tab, number, &func, err))
			return false;
		uint64_t goexit = gh_goexit_after(writer->tab, number);
		if (goexit != 0 && func.end == goexit)
			func.end -= writer->tab->quantum;
		bool joined = add_to_run(writer, &func, neighbour);
		bool added = add_function(writer, &func, joined);
		if (goexit != 0)
			added = added && add_before_goexit(writer, number);
		if (!added)
			return gh_fail_memory(err, writer->tab->image->path);
	}
	end_unit(writer);
	return true;
}

/* Checks that all that was written is there. */
static bool check_whole(const struct writer *writer, struct gh_error *err)
{
	const char *file = writer->tab->image->path;
	bool failed = writer->runs.failed || gh_inlines_failed(&writer->inlines) ||
		      gh_word_failed(&writer->live) || gh_line_failed(&writer->lines);
	return failed ? gh_fail_memory(err, file) : gh_info_check(writer->info, file, err);
}

/* Frees all but the sections. */
static void free_writer(struct writer *writer)
{
	gh_buffer_free(&writer->runs);
	gh_sourcemap_free(&writer->map);
	gh_args_free(&writer->args);
	gh_inlines_free(&writer->inlines);
	gh_word_free(&writer->live);
	gh_line_free(&writer->lines);
}

bool gh_info_write(struct gh_info *info, const struct gh_info_common *common,
		   struct gh_strings *strings, uint32_t first, uint32_t end, size_t limit,
		   struct gh_error *err)
{
	const struct gh_pclntab *tab = common->tab;
	struct writer writer = {.info = info,
				.common = common,
				.tab = tab,
				.strings = strings,
				.name_bytes = limit,
				.runs = {.big_endian = tab->image->arch->big_endian}};
	gh_line_init(&writer.lines, tab, limit);
	gh_inlines_init(&writer.inlines, tab, strings, &writer.lines, info, limit);
	gh_args_init(&writer.args, common, info, limit);
	gh_word_init(&writer.live, tab, &common->live_type, info, limit);
	bool written = true;
	for (uint32_t i = first; written && i < end; i++)
		written = add_unit(&writer, common->packages, i, err);
	written = written && check_whole(&writer, err);
	free_writer(&writer);
	return written;
}
