#include "plugin/view/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looked-up pcs that are kept: goroutines of one program wait in few places. */
#define CACHE_SIZE 256

struct gh_symbols_entry {
	uint64_t pc; /* as asked for; 0 if nothing is kept here */
	bool found;
	struct gh_place place; /* if it was found */
};

static bool name_is(const struct gh_dump *dump, struct gh_dump_slice slice, const char *name)
{
	struct gh_cursor text = gh_dump_bytes(dump, slice);
	return gh_cursor_size(&text) == strlen(name) &&
	       memcmp(text.start, name, gh_cursor_size(&text)) == 0;
}

/* The file's address of the function that FRAME executes. False if there is none of its name. */
static bool find_by_name(const struct gh_pclntab *tab, const struct gh_dump *dump,
			 const struct gh_dump_frame *frame, uint64_t *entry)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++) {
		if (!gh_pclntab_func(tab, i, &func, NULL) ||
		    !name_is(dump, frame->function, gh_pclntab_name(tab, func.name)))
			continue;
		*entry = func.entry;
		return true;
	}
	return false;
}

/* Goroutines begin in runtime.goexit, whose name no other function has; any frame will do. */
static bool find_bias(struct gh_symbols *symbols, const struct gh_dump *dump)
{
	const struct gh_pclntab *tab = &symbols->program.tab;
	struct gh_dump_record record;
	size_t count = gh_dump_count(dump, GH_DUMP_FRAME);
	for (size_t i = 0; i < count; i++) {
		gh_dump_get(dump, GH_DUMP_FRAME, i, &record);
		if (i + 1 < count && !name_is(dump, record.frame.function, "runtime.goexit"))
			continue;
		uint64_t entry;
		if (!find_by_name(tab, dump, &record.frame, &entry))
			return false;
		symbols->bias = record.frame.entry - entry;
		return true;
	}
	return true;
}

/* FRAME executes a function of MODULE: of this name, at this address. */
static bool is_of(const struct gh_module *module, const struct gh_dump *dump,
		  const struct gh_dump_frame *frame)
{
	const struct gh_pclntab *tab = module->tab;
	struct gh_func func;
	uint64_t entry = frame->entry - module->bias;
	size_t index = gh_pclntab_find(tab, entry);
	return index != SIZE_MAX && gh_pclntab_func(tab, index, &func, NULL) &&
	       func.entry == entry &&
	       name_is(dump, frame->function, gh_pclntab_name(tab, func.name));
}

struct gh_module gh_symbols_module(const struct gh_symbols *symbols)
{
	return (struct gh_module){.tab = &symbols->program.tab, .bias = symbols->bias};
}

bool gh_symbols_types(struct gh_rtypes *types, const struct gh_symbols *symbols,
		      struct gh_error *err)
{
	const struct gh_module own = gh_symbols_module(symbols);
	return gh_rtypes_find_all(types, &own, symbols->others.list.items,
				  symbols->others.list.count, err);
}

/* FRAME executes a function of the program, or of another module. */
static bool belongs(const struct gh_symbols *symbols, const struct gh_dump *dump,
		    const struct gh_dump_frame *frame)
{
	const struct gh_module own = gh_symbols_module(symbols);
	/* What is nowhere in the program is a plugin's, which a dump in a file does not name. */
	return is_of(&own, dump, frame) ||
	       gh_pclntab_find(own.tab, frame->entry - own.bias) == SIZE_MAX;
}

/* Frames of C functions have no name of their own. */
static bool has_name(const struct gh_dump *dump, const struct gh_dump_frame *frame)
{
	return frame->function.size > 0 && !name_is(dump, frame->function, "unknown function");
}

static bool check_frames(const struct gh_symbols *symbols, const struct gh_dump *dump,
			 struct gh_error *err)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_FRAME); i++) {
		gh_dump_get(dump, GH_DUMP_FRAME, i, &record);
		if (!has_name(dump, &record.frame) || belongs(symbols, dump, &record.frame))
			continue;
		struct gh_cursor name = gh_dump_bytes(dump, record.frame.function);
		int length = gh_cursor_size(&name) < 100 ? (int)gh_cursor_size(&name) : 100;
		return gh_fail(err, symbols->program.image.path, GH_NO_OFFSET,
			       "the program that wrote the dump",
			       "one with no function %.*s at 0x%" PRIx64, length, name.start,
			       record.frame.entry - symbols->bias);
	}
	return true;
}

/* A segment KIND of DUMP, if there are any, is from START to END in the program's file. */
static bool has_segment(const struct gh_symbols *symbols, const struct gh_dump *dump,
			enum gh_dump_kind kind, uint64_t start, uint64_t end)
{
	struct gh_dump_record record;
	size_t count = gh_dump_count(dump, kind);
	for (size_t i = 0; i < count; i++) {
		gh_dump_get(dump, kind, i, &record);
		if (record.segment.address == start + symbols->bias &&
		    record.segment.contents.size == end - start)
			return true;
	}
	return count == 0;
}

/* Builds that differ in their variables alone have the same functions. */
static bool check_variables(const struct gh_symbols *symbols, const struct gh_dump *dump,
			    struct gh_error *err)
{
	const struct gh_moduledata *module = &symbols->program.tab.module;
	if (module->address == 0 ||
	    (has_segment(symbols, dump, GH_DUMP_DATA, module->data, module->edata) &&
	     has_segment(symbols, dump, GH_DUMP_BSS, module->bss, module->ebss)))
		return true;
	return gh_fail(err, symbols->program.image.path, GH_NO_OFFSET,
		       "the program that wrote the dump", "one whose variables are elsewhere");
}

static bool check(struct gh_symbols *symbols, const struct gh_dump *dump, struct gh_error *err)
{
	const struct gh_image *image = &symbols->program.image;
	if (image->arch->pointer_size != dump->word ||
	    image->arch->big_endian != dump->file.big_endian)
		return gh_fail(err, image->path, GH_NO_OFFSET, "the program that wrote the dump",
			       "one for %s", image->arch->goarch);
	gh_other_modules_of_dump(&symbols->others, image->arch, dump);
	if (!find_bias(symbols, dump))
		return gh_fail(err, image->path, GH_NO_OFFSET, "the program that wrote the dump",
			       gh_file_needs_runtime(image->path)
				   ? "one whose runtime is in a library (-linkshared): give that "
				     "library instead, which ldd names"
				   : "one without its functions");
	gh_other_modules_link(&symbols->others, image, symbols->bias);
	return check_frames(symbols, dump, err) && check_variables(symbols, dump, err);
}

static const char *entry_file(const struct gh_pclntab *tab, const struct gh_func *func)
{
	int32_t file = gh_pcvalue_at(tab, func, func->pcfile, func->entry);
	return gh_pclntab_file(tab, gh_pclntab_cu_file(tab, func, file));
}

/* Each release numbers funcIDs anew. Of the functions that are in no source file, only wrappers
 * have one. */
static int find_wrapper(const struct gh_pclntab *tab)
{
	struct gh_func func;
	for (size_t i = 0; tab->has_func_id && i < tab->nfunc; i++) {
		if (gh_pclntab_func(tab, i, &func, NULL) && func.func_id != 0 &&
		    strcmp(entry_file(tab, &func), "<autogenerated>") == 0)
			return func.func_id;
	}
	return -1;
}

bool gh_symbols_open(struct gh_symbols *symbols, const struct gh_dump *dump, const char *path)
{
	struct gh_error err;
	*symbols = (struct gh_symbols){0};
	if (!gh_program_open(&symbols->program, path))
		return false;
	symbols->cache = calloc(CACHE_SIZE, sizeof(*symbols->cache));
	if (symbols->cache == NULL) {
		gh_say(GH_OUT_OF_MEMORY);
	} else if (!check(symbols, dump, &err)) {
		gh_print_error(&err);
	} else {
		symbols->wrapper = find_wrapper(&symbols->program.tab);
		return true;
	}
	gh_symbols_close(symbols);
	return false;
}

bool gh_symbols_fit(const struct gh_dump *dump, const char *path)
{
	struct gh_symbols symbols = {0};
	struct gh_image *image = &symbols.program.image;
	if (gh_dump_count(dump, GH_DUMP_FRAME) == 0 || gh_dump_count(dump, GH_DUMP_DATA) == 0 ||
	    !gh_image_open(image, path, NULL))
		return false;
	bool fits = gh_pclntab_open(&symbols.program.tab, image, NULL);
	if (fits) {
		fits = symbols.program.tab.module.address != 0 && check(&symbols, dump, NULL);
		gh_other_modules_free(&symbols.others);
		gh_pclntab_close(&symbols.program.tab);
	}
	gh_image_close(image);
	return fits;
}

void gh_symbols_close(struct gh_symbols *symbols)
{
	gh_sourcemap_free(&symbols->map);
	free(symbols->cache);
	gh_other_modules_free(&symbols->others);
	gh_program_close(&symbols->program);
	*symbols = (struct gh_symbols){0};
}

bool gh_find_lines(struct gh_sourcemap *map, const struct gh_pclntab *tab, uint64_t pc,
		   struct gh_func *func, struct gh_range *range)
{
	size_t index = gh_pclntab_find(tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, func, NULL))
		return false;
	if (gh_sourcemap_start(map, tab, func))
		return gh_sourcemap_seek(map, pc, range);
	gh_leave_out();
	return false;
}

static bool look_up_in(struct gh_symbols *symbols, const struct gh_module *module, uint64_t pc,
		       struct gh_place *place)
{
	place->module = *module;
	return gh_find_lines(&symbols->map, module->tab, pc - module->bias, &place->func,
			     &place->range);
}

static bool look_up(struct gh_symbols *symbols, uint64_t pc, struct gh_place *place)
{
	const struct gh_module own = gh_symbols_module(symbols);
	bool found = look_up_in(symbols, &own, pc, place);
	for (size_t i = 0; i < symbols->others.list.count && !found; i++)
		found = look_up_in(symbols, &symbols->others.list.items[i], pc, place);
	return found;
}

const struct gh_place *gh_symbols_find(struct gh_symbols *symbols, uint64_t pc)
{
	struct gh_symbols_entry *entry = &symbols->cache[(pc ^ pc >> 8) % CACHE_SIZE];
	if (pc == 0 || entry->pc != pc) {
		entry->pc = pc;
		entry->found = look_up(symbols, pc, &entry->place);
	}
	return entry->found ? &entry->place : NULL;
}

bool gh_symbols_program(struct gh_core_program *program, const struct gh_dump *dump,
			const char *path)
{
	*program = (struct gh_core_program){.name = basename(path)};
	struct gh_symbols symbols;
	if (!gh_symbols_open(&symbols, dump, path))
		return false;
	program->entry = symbols.program.image.header.e_entry + symbols.bias;
	gh_symbols_close(&symbols);
	return true;
}
