#include <inttypes.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"

/* Bytes of the tables that are compared at once. */
#define BLOCK 4096

/* Compares TABLE, a part of TAB, with what MEMORY has of it; of what it lacks nothing is said. */
static bool is_in_memory(const struct gh_pclntab *tab, struct gh_cursor table,
			 const struct gh_memory *memory, uint64_t bias)
{
	uint8_t bytes[BLOCK];
	uint64_t address = tab->address + (table.offset - tab->header_offset) + bias;
	size_t size = gh_cursor_size(&table);
	for (size_t part, done = 0; done < size; done += part) {
		part = size - done < sizeof(bytes) ? size - done : sizeof(bytes);
		if (memory->read(memory, address + done, bytes, part) &&
		    memcmp(bytes, table.start + done, part) != 0)
			return false;
	}
	return true;
}

/* The words of the moduledata that point to the tables and bound the text and the data. */
#define MODULE_WORDS 24

/* Pointers are relocated in memory, numbers are not. */
static bool is_module_in_memory(const struct gh_pclntab *tab, const struct gh_memory *memory,
				uint64_t bias)
{
	struct gh_cursor cur;
	uint8_t bytes[MODULE_WORDS * sizeof(uint64_t)];
	size_t size = (size_t)MODULE_WORDS * tab->pointer_size;
	if (tab->module.address == 0 || !gh_image_at(tab->image, tab->module.address, &cur) ||
	    gh_cursor_left(&cur) < size ||
	    !memory->read(memory, tab->module.address + bias, bytes, size))
		return true;
	struct gh_cursor there = gh_cursor_make(bytes, size, "", 0, cur.big_endian);
	for (unsigned i = 0; i < MODULE_WORDS; i++) {
		uint64_t here = gh_cursor_uint(&cur, tab->pointer_size);
		uint64_t value = gh_cursor_uint(&there, tab->pointer_size);
		if (value != here && value != here + bias)
			return false;
	}
	return true;
}

bool gh_pclntab_fits_memory(const struct gh_pclntab *tab, const struct gh_memory *memory,
			    uint64_t bias)
{
	if (!is_module_in_memory(tab, memory, bias))
		return false;
	/* Of Go 1.0 and 1.1 the table was converted; to Go 1.17 it has addresses, which are
	 * relocated. */
	if (tab->converted.size > 0 || (bias != 0 && tab->format < GH_PCLNTAB_1_18))
		return true;
	return is_in_memory(tab, tab->functab, memory, bias) &&
	       is_in_memory(tab, tab->names, memory, bias) &&
	       is_in_memory(tab, tab->pctab, memory, bias);
}

/* The variables of both are as far apart, or it is not known where they are: what else the linker
 * puts before them differs with its flags. */
static bool have_same_variables(const struct gh_moduledata *a, const struct gh_moduledata *b,
				uint64_t distance)
{
	return a->address == 0 || b->address == 0 ||
	       (b->noptrdata - a->noptrdata == distance && b->data - a->data == distance &&
		b->edata - a->edata == distance && b->bss - a->bss == distance &&
		b->ebss - a->ebss == distance && b->noptrbss - a->noptrbss == distance &&
		b->enoptrbss - a->enoptrbss == distance);
}

bool gh_pclntab_check_twin(const struct gh_pclntab *twin, const struct gh_pclntab *program,
			   struct gh_error *err)
{
	struct gh_func a, b;
	uint64_t distance = 0;
	if (twin->nfunc != program->nfunc)
		return gh_fail(err, twin->image->path, GH_NO_OFFSET,
			       "the program before it was stripped, with its functions",
			       "another build: it has %zu, and %s has %zu", twin->nfunc,
			       program->image->path, program->nfunc);
	for (size_t i = 0; i < twin->nfunc; i++) {
		if (!gh_pclntab_record(twin, i, &a, err) || !gh_pclntab_record(program, i, &b, err))
			return false;
		if (i == 0)
			distance = b.entry - a.entry;
		if (b.entry - a.entry == distance &&
		    strcmp(gh_pclntab_name(twin, a.name), gh_pclntab_name(program, b.name)) == 0)
			continue;
		return gh_fail(err, twin->image->path, GH_NO_OFFSET,
			       "the program before it was stripped, with its functions",
			       "another build: in %.100s there is another function in place of "
			       "%.100s",
			       program->image->path, gh_pclntab_name(twin, a.name));
	}
	if (!have_same_variables(&twin->module, &program->module, distance))
		return gh_fail(err, twin->image->path, GH_NO_OFFSET,
			       "the program before it was stripped, with its variables",
			       "another build: in %.100s they are elsewhere", program->image->path);
	return true;
}
