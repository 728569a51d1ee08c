/* libdwarf, and what has changed in it since its header says which release it is: other names,
 * other types of pointers, fewer arguments. */
#ifndef TESTS_ORACLE_LIBDWARF_H
#define TESTS_ORACLE_LIBDWARF_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

#ifdef DW_LIBDWARF_VERSION_MAJOR
#define open_dwarf(path, dbg, error)                                                               \
	dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, error)
#define close_dwarf(dbg) dwarf_finish(dbg)
typedef Dwarf_Small *dwarf_bytes;
typedef Dwarf_Block dwarf_block;
typedef Dwarf_Unsigned dwarf_rule;
#else
#define open_dwarf(path, dbg, error)                                                               \
	dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, NULL, 0,  \
			NULL, error)
#define close_dwarf(dbg)           dwarf_finish(dbg, &error)
#define dwarf_dealloc_ranges       dwarf_ranges_dealloc
#define dwarf_dealloc_fde_cie_list dwarf_fde_cie_list_dealloc
#define dwarf_dealloc_loc_head_c   dwarf_loc_head_c_dealloc
typedef Dwarf_Ptr dwarf_bytes;
typedef Dwarf_Ptr dwarf_block;
typedef Dwarf_Signed dwarf_rule;
#endif

#endif
