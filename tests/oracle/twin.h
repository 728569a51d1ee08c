/* What the files of twin share: its rows, and attributes of entries. */
#ifndef TESTS_ORACLE_TWIN_H
#define TESTS_ORACLE_TWIN_H

#include <stdint.h>

#include "libdwarf.h"

/* Names the program that is read, for die. */
void set_input(const char *path);

/* Says what could not be done, and why by RESULT and ERROR; and exits. */
_Noreturn void die(const char *doing, int result, Dwarf_Error error);

/* Adds a row of the addresses from START to END; TEXT, from malloc, is the rest of it. NULL means
 * that memory ran out. */
void add_row(uint64_t start, uint64_t end, char *text);

/* Prints the rows by address, those of one address as they were added, and frees them. */
void print_rows(void);

/* The value of the attribute NAME of ENTRY, 0 if it has none. */
Dwarf_Unsigned number(Dwarf_Die entry, Dwarf_Half name);

/* The entry with the name of ENTRY's function: of one that is inlined somewhere that of which the
 * copies are. */
Dwarf_Die named_entry(Dwarf_Debug dbg, Dwarf_Die entry);

/* The name of ENTRY, or "?". */
const char *name_of(Dwarf_Debug dbg, Dwarf_Die entry);

/* Adds rows of where the parameters of FUNCTION are, but its results, or of their TYPES. */
void add_parameters(Dwarf_Debug dbg, Dwarf_Die function, int types);

/* Adds rows of the rules in .debug_frame. */
void add_frames(Dwarf_Debug dbg);

#endif
