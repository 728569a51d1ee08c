/*
 * Twin prints what libdwarf reads from an unstripped program: the answers that goheap's must equal
 * for the stripped one.
 *
 *	twin funcs FILE    low, high, name, file and line of the declaration
 *	twin lines FILE    start, end, file, line, flags: s is_stmt, p prologue_end,
 *	                   e end of sequence follows
 *	twin inlines FILE  start, end, number of an inlined call, the function, and file,
 *	                   line and name of each call on the way to it, outermost first
 *	twin frames FILE   start, end, rule of the CFA, rule of the return address
 *	twin args FILE     start, end, address and name of the function, number and name
 *	                   of a parameter, and where it is there: places of its parts,
 *	                   each with its size after a colon if there are several
 *	twin types FILE    the same up to the parameter's name, the name of its type, and that
 *	                   of the type's unit
 *
 * Addresses are hexadecimal, columns are separated by tabs, rows are in address order. Functions
 * and lines are those of Go's units alone. An unknown file is ?, an unknown line 0. Rules are rN+M
 * (register and offset), cfa+M (saved there), rN (in that register), val(cfa+M), expr, undef, same.
 */
#define _GNU_SOURCE
#include "twin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format(const char *file, uint64_t line, const char *before, const char *after)
{
	char *text = NULL;

	/* libdwarf joins names to the unit's directory, and Go says "." where a name is not of a
	 * file. */
	while (!strncmp(file, "./", 2))
		file += 2;
	if (asprintf(&text, "%s%s\t%" PRIu64 "%s", before, file, line, after) < 0)
		return NULL;
	return text;
}

Dwarf_Unsigned number(Dwarf_Die entry, Dwarf_Half name)
{
	Dwarf_Attribute attribute;
	Dwarf_Unsigned value = 0;
	Dwarf_Signed negative = 0;
	Dwarf_Error error = NULL;

	if (dwarf_attr(entry, name, &attribute, &error) != DW_DLV_OK)
		return 0;
	if (dwarf_formudata(attribute, &value, &error) != DW_DLV_OK &&
	    dwarf_formsdata(attribute, &negative, &error) == DW_DLV_OK)
		value = (Dwarf_Unsigned)negative;
	return value;
}

struct unit {
	Dwarf_Half version;
	Dwarf_Die entry;
	char **files;
	Dwarf_Signed file_count;
};

static const char *file_name(const struct unit *unit, Dwarf_Unsigned n)
{
	/*
	 * From version 5 file numbers start at 0, which Go never uses. libdwarf 20210528 answers
	 * it where a line program sets no file, for which the standard says 1.
	 */
	if (unit->version >= 5 && n == 0)
		n = 1;
	if (unit->version < 5 && n-- == 0)
		return "?";
	return n < (Dwarf_Unsigned)unit->file_count ? unit->files[n] : "?";
}

/* A function that is inlined somewhere has its name in the entry that the copies share. */
Dwarf_Die named_entry(Dwarf_Debug dbg, Dwarf_Die entry)
{
	Dwarf_Attribute origin;
	Dwarf_Off offset;
	Dwarf_Die named = entry;
	Dwarf_Error error = NULL;

	if (dwarf_attr(entry, DW_AT_abstract_origin, &origin, &error) == DW_DLV_OK) {
		int result = dwarf_global_formref(origin, &offset, &error);

		if (result == DW_DLV_OK)
			result = dwarf_offdie_b(dbg, offset, 1, &named, &error);
		if (result != DW_DLV_OK)
			die("abstract origin", result, error);
	}
	return named;
}

const char *name_of(Dwarf_Debug dbg, Dwarf_Die entry)
{
	char *name;
	Dwarf_Error error = NULL;

	return dwarf_diename(named_entry(dbg, entry), &name, &error) == DW_DLV_OK ? name : "?";
}

static void add_function(Dwarf_Debug dbg, const struct unit *unit, Dwarf_Die entry)
{
	Dwarf_Addr low, high;
	Dwarf_Half form;
	enum Dwarf_Form_Class class;
	Dwarf_Die named;
	Dwarf_Error error = NULL;
	Dwarf_Bool present = 0;
	char *name, *before;

	if (dwarf_lowpc(entry, &low, &error) != DW_DLV_OK ||
	    dwarf_highpc_b(entry, &high, &form, &class, &error) != DW_DLV_OK)
		return;
	if (class == DW_FORM_CLASS_CONSTANT)
		high += low;

	named = named_entry(dbg, entry);
	if (dwarf_diename(named, &name, &error) != DW_DLV_OK)
		return;

	Dwarf_Die declared = named;

	if (dwarf_hasattr(entry, DW_AT_decl_file, &present, &error) == DW_DLV_OK && present)
		declared = entry;
	else if (dwarf_hasattr(named, DW_AT_decl_file, &present, &error) != DW_DLV_OK)
		present = 0;
	if (asprintf(&before, "%s\t", name) < 0)
		before = NULL;
	add_row(low, high,
		!before ? NULL
			: format(present ? file_name(unit, number(declared, DW_AT_decl_file)) : "?",
				 number(declared, DW_AT_decl_line), before, ""));
	free(before);
}

/* The same from DWARF 5's .debug_rnglists. */
static void add_rnglist(Dwarf_Attribute attribute, const char *text)
{
	Dwarf_Half form;
	Dwarf_Unsigned value = 0, n, offset, raw1, raw2, low, high;
	Dwarf_Off place = 0;
	unsigned length;
	Dwarf_Bool unavailable;
	Dwarf_Rnglists_Head head;
	Dwarf_Error error = NULL;
	int result = dwarf_whatform(attribute, &form, &error);

	if (result == DW_DLV_OK && form == DW_FORM_rnglistx)
		result = dwarf_formudata(attribute, &value, &error);
	else if (result == DW_DLV_OK) {
		result = dwarf_global_formref(attribute, &place, &error);
		value = place;
	}
	if (result == DW_DLV_OK)
		result =
		    dwarf_rnglists_get_rle_head(attribute, form, value, &head, &n, &offset, &error);
	if (result != DW_DLV_OK)
		die(".debug_rnglists", result, error);
	for (Dwarf_Unsigned i = 0; i < n; i++) {
		unsigned code;

		result = dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw1, &raw2,
							   &unavailable, &low, &high, &error);
		if (result != DW_DLV_OK)
			die(".debug_rnglists", result, error);
		if (code == DW_RLE_offset_pair || code == DW_RLE_start_end ||
		    code == DW_RLE_start_length || code == DW_RLE_startx_length)
			add_row(low, high, strdup(text));
	}
	dwarf_dealloc_rnglists_head(head);
}

/* The ranges of ENTRY, each as a row with TEXT. BASE is what those in .debug_ranges are relative
 * to. */
static void add_ranges(Dwarf_Debug dbg, const struct unit *unit, Dwarf_Die entry, const char *text)
{
	Dwarf_Addr low, high, base = 0;
	Dwarf_Half form;
	enum Dwarf_Form_Class class;
	Dwarf_Attribute attribute;
	Dwarf_Off offset, real;
	Dwarf_Ranges *ranges;
	Dwarf_Signed n;
	Dwarf_Unsigned size;
	Dwarf_Error error = NULL;
	int result;

	if (dwarf_lowpc(entry, &low, &error) == DW_DLV_OK &&
	    dwarf_highpc_b(entry, &high, &form, &class, &error) == DW_DLV_OK) {
		add_row(low, class == DW_FORM_CLASS_CONSTANT ? low + high : high, strdup(text));
		return;
	}
	if (dwarf_attr(entry, DW_AT_ranges, &attribute, &error) != DW_DLV_OK)
		return;
	if (dwarf_lowpc(unit->entry, &base, &error) != DW_DLV_OK)
		base = 0;
	if (unit->version >= 5) {
		add_rnglist(attribute, text);
		return;
	}
	result = dwarf_global_formref(attribute, &offset, &error);
	if (result == DW_DLV_OK)
		result = dwarf_get_ranges_b(dbg, offset, entry, &real, &ranges, &n, &size, &error);
	if (result != DW_DLV_OK)
		die(".debug_ranges", result, error);
	for (Dwarf_Signed i = 0; i < n; i++) {
		if (ranges[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = ranges[i].dwr_addr2;
		else if (ranges[i].dwr_type == DW_RANGES_ENTRY)
			add_row(base + ranges[i].dwr_addr1, base + ranges[i].dwr_addr2,
				strdup(text));
	}
	dwarf_dealloc_ranges(dbg, ranges, n);
}

static unsigned calls;

/* The inlined calls in ENTRY, and those in them. OUTER is the function and the calls that ENTRY is
 * in. */
static void add_inlines(Dwarf_Debug dbg, const struct unit *unit, Dwarf_Die entry,
			const char *outer)
{
	Dwarf_Die child, next;
	Dwarf_Error error = NULL;
	Dwarf_Half tag;
	int result = dwarf_child(entry, &child, &error);

	while (result == DW_DLV_OK) {
		char *text = NULL, *row = NULL;

		if (dwarf_tag(child, &tag, &error) != DW_DLV_OK)
			tag = 0;
		if (tag == DW_TAG_lexical_block)
			add_inlines(dbg, unit, child, outer);
		if (tag == DW_TAG_inlined_subroutine) {
			char *place = format(file_name(unit, number(child, DW_AT_call_file)),
					     number(child, DW_AT_call_line), "", "");

			if (!place ||
			    asprintf(&text, "%s\t%s\t%s", outer, place, name_of(dbg, child)) < 0 ||
			    asprintf(&row, "%u\t%s", ++calls, text) < 0)
				die("out of memory", DW_DLV_NO_ENTRY, NULL);
			add_ranges(dbg, unit, child, row);
			add_inlines(dbg, unit, child, text);
			free(place);
			free(text);
			free(row);
		}
		result = dwarf_siblingof_b(dbg, child, 1, &next, &error);
		dwarf_dealloc(dbg, child, DW_DLA_DIE);
		child = next;
	}
	if (result == DW_DLV_ERROR)
		die(".debug_info", result, error);
}

static void add_functions(Dwarf_Debug dbg, const struct unit *unit, const char *wanted)
{
	Dwarf_Die child, next;
	Dwarf_Error error = NULL;
	Dwarf_Half tag;
	int result = dwarf_child(unit->entry, &child, &error);

	/* Go has no functions within functions: a closure is one of the unit's too. */
	while (result == DW_DLV_OK) {
		if (dwarf_tag(child, &tag, &error) == DW_DLV_OK && tag == DW_TAG_subprogram) {
			if (!strcmp(wanted, "args") || !strcmp(wanted, "types"))
				add_parameters(dbg, child, !strcmp(wanted, "types"));
			else if (!strcmp(wanted, "inlines"))
				add_inlines(dbg, unit, child, name_of(dbg, child));
			else
				add_function(dbg, unit, child);
		}
		result = dwarf_siblingof_b(dbg, child, 1, &next, &error);
		dwarf_dealloc(dbg, child, DW_DLA_DIE);
		child = next;
	}
	if (result == DW_DLV_ERROR)
		die(".debug_info", result, error);
}

struct line {
	Dwarf_Addr address;
	Dwarf_Unsigned number, file;
	Dwarf_Bool statement, prologue_end, sequence_end;
};

static struct line line_of(Dwarf_Line from)
{
	struct line line;
	Dwarf_Bool epilogue;
	Dwarf_Unsigned isa, discriminator;
	Dwarf_Error error = NULL;

	if (dwarf_lineaddr(from, &line.address, &error) != DW_DLV_OK ||
	    dwarf_lineno(from, &line.number, &error) != DW_DLV_OK ||
	    dwarf_line_srcfileno(from, &line.file, &error) != DW_DLV_OK ||
	    dwarf_linebeginstatement(from, &line.statement, &error) != DW_DLV_OK ||
	    dwarf_lineendsequence(from, &line.sequence_end, &error) != DW_DLV_OK ||
	    dwarf_prologue_end_etc(from, &line.prologue_end, &epilogue, &isa, &discriminator,
				   &error) != DW_DLV_OK)
		die("line", DW_DLV_ERROR, error);
	return line;
}

static void add_lines(const struct unit *unit)
{
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context context;
	Dwarf_Line *lines;
	Dwarf_Signed n;
	Dwarf_Error error = NULL;
	int result = dwarf_srclines_b(unit->entry, &version, &tables, &context, &error);

	if (result == DW_DLV_NO_ENTRY)
		return;
	if (result == DW_DLV_OK)
		result = dwarf_srclines_from_linecontext(context, &lines, &n, &error);
	if (result != DW_DLV_OK)
		die(".debug_line", result, error);
	for (Dwarf_Signed i = 0; i + 1 < n; i++) {
		struct line line = line_of(lines[i]), next = line_of(lines[i + 1]);
		char flags[8] = "\t", *end = flags + 1;

		if (line.sequence_end)
			continue;
		if (line.statement)
			*end++ = 's';
		if (line.prologue_end)
			*end++ = 'p';
		if (next.sequence_end)
			*end++ = 'e';
		if (end == flags + 1)
			*end++ = '-';
		*end = '\0';
		add_row(line.address, next.address,
			format(file_name(unit, line.file), line.number, "", flags));
	}
	dwarf_srclines_dealloc_b(context);
}

static void walk_units(Dwarf_Debug dbg, const char *wanted)
{
	Dwarf_Error error = NULL;

	for (;;) {
		Dwarf_Unsigned length, type_offset, next;
		Dwarf_Off abbreviations;
		Dwarf_Half address_size, length_size, extension, type;
		Dwarf_Sig8 signature;
		struct unit unit = {0};
		int result = dwarf_next_cu_header_d(dbg, 1, &length, &unit.version, &abbreviations,
						    &address_size, &length_size, &extension,
						    &signature, &type_offset, &next, &type, &error);

		if (result == DW_DLV_NO_ENTRY)
			return;
		if (result == DW_DLV_OK)
			result = dwarf_siblingof_b(dbg, NULL, 1, &unit.entry, &error);
		if (result != DW_DLV_OK)
			die(".debug_info", result, error);
		if (number(unit.entry, DW_AT_language) == DW_LANG_Go) {
			result = dwarf_srcfiles(unit.entry, &unit.files, &unit.file_count, &error);
			if (result == DW_DLV_ERROR)
				die("file names", result, error);
			if (!strcmp(wanted, "lines"))
				add_lines(&unit);
			else
				add_functions(dbg, &unit, wanted);
		}
		dwarf_dealloc(dbg, unit.entry, DW_DLA_DIE);
	}
}

int main(int argc, char **argv)
{
	Dwarf_Debug dbg;
	Dwarf_Error error = NULL;
	int result;

	if (argc != 3 || (strcmp(argv[1], "funcs") != 0 && strcmp(argv[1], "lines") != 0 &&
			  strcmp(argv[1], "inlines") != 0 && strcmp(argv[1], "frames") != 0 &&
			  strcmp(argv[1], "args") != 0 && strcmp(argv[1], "types") != 0)) {
		fprintf(stderr, "usage: twin funcs|lines|inlines|frames|args|types FILE\n");
		return 2;
	}
	set_input(argv[2]);
	result = open_dwarf(argv[2], &dbg, &error);
	if (result != DW_DLV_OK)
		die("DWARF", result, error);
	if (!strcmp(argv[1], "frames"))
		add_frames(dbg);
	else
		walk_units(dbg, argv[1]);
	print_rows();
	close_dwarf(dbg);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
