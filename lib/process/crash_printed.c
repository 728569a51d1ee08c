#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/process/dump_parts.h"

/* The size of runtime.printBacklog, a ring, in bytes. */
#define RING 512

/* Finds the variables of the program's own, without pointers and zero at first, that its function
 * NAME refers to. False if there is no such function. */
static bool find_variables(struct gh_global_refs *refs, const struct gh_pclntab *tab,
			   const char *name)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, &func, NULL) &&
		    strcmp(gh_pclntab_name(tab, func.name), name) == 0) {
			size_t kept = 0;
			gh_global_refs_of(refs, tab, &func);
			for (size_t k = 0; k < refs->count; k++)
				if (refs->items[k].address - tab->module.noptrbss <
				    tab->module.enoptrbss - tab->module.noptrbss)
					refs->items[kept++] = refs->items[k];
			refs->count = kept;
			return true;
		}
	return false;
}

/* Reads the ring at ADDRESS into TEXT, the oldest byte first: the next would be written at index
 * NEXT. False if it does not end with FATAL. */
static bool read_ring(struct gh_process *process, uint64_t address, uint64_t next,
		      const char *fatal, char text[RING])
{
	char ring[RING];
	size_t size = strlen(fatal);
	if (next >= RING || size > RING || !gh_process_read(&process->memory, address, ring, RING))
		return false;
	memcpy(text, ring + next, RING - (size_t)next);
	memcpy(text + RING - next, ring, (size_t)next);
	return memcmp(text + RING - size, fatal, size) == 0;
}

/* Looks for the ring, and the index where it goes on, among the variables of REFS. */
static bool find_ring(struct gh_process *process, const struct gh_global_refs *refs,
		      const char *fatal, char text[RING])
{
	unsigned word = process->tab->pointer_size;
	for (size_t i = 0; i < refs->count; i++)
		for (size_t k = 0; k < refs->count; k++) {
			uint64_t next;
			if (gh_process_uint(&process->memory,
					    refs->items[k].address + process->bias, word, &next) &&
			    read_ring(process, refs->items[i].address + process->bias, next, fatal,
				      text))
				return true;
		}
	return false;
}

/* The runtime begins a line so that explains a fatal error; the program's own lines may be before.
 */
static bool is_explanation(const char *line)
{
	static const char *const starts[] = {
	    "runtime: ", "object=0x",
	    " *(object", "unexpected fault address ",
	    "stack: ",   "accessed data from freed user arena ",
	};
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

void gh_crash_add_printed(struct gh_buffer *out, struct gh_process *process, const char *fatal)
{
	struct gh_global_refs refs = {0};
	char text[RING];
	if ((find_variables(&refs, process->tab, "runtime.recordForPanic") ||
	     find_variables(&refs, process->tab, "runtime.gwrite")) &&
	    find_ring(process, &refs, fatal, text)) {
		size_t end = RING - strlen(fatal);
		size_t start = end;
		/* Goes back line by line; the first may be cut off. */
		while (start > 0) {
			size_t line = start - 1;
			while (line > 0 && text[line - 1] != '\n' && text[line - 1] != '\0')
				line--;
			if (text[start - 1] != '\n' || !is_explanation(text + line))
				break;
			start = line;
		}
		gh_buffer_bytes(out, text + start, end - start);
	}
	gh_global_refs_free(&refs);
}
