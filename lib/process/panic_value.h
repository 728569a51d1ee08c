/* The value of a panic, as Go prints it. */
#ifndef GH_PROCESS_PANIC_VALUE_H
#define GH_PROCESS_PANIC_VALUE_H

#include "lib/process/process.h"
#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"

/* Reads SIZE bytes at ADDRESS: from PROCESS, or from the program, as the kernel leaves constants
 * out of core files. False if they are in neither. */
bool gh_panic_read(struct gh_process *process, uint64_t address, void *buf, size_t size);

/* The same of a pointer. */
bool gh_panic_read_word(struct gh_process *process, uint64_t address, uint64_t *word);

/* Appends the string of SIZE bytes at ADDRESS in the process, what follows a newline being
 * indented (runtime.printindented). Long ones are cut. */
void gh_panic_string(struct gh_buffer *out, struct gh_process *process, uint64_t address,
		     uint64_t size);

/* Appends the value of the interface whose words are TYPE and DATA (runtime.printpanicval), the
 * types of the program being TYPES. Of errors and Stringers, whose methods cannot be called, the
 * text is known of the runtime's and of those of packages errors, fmt, io/fs and os; other values
 * are a type and an address. */
void gh_panic_value(struct gh_buffer *out, struct gh_process *process,
		    const struct gh_rtypes *types, uint64_t type, uint64_t data);

#endif
