/* libdw's functions, and the code that they read. */
#ifndef GH_UNWIND_INTERNAL_H
#define GH_UNWIND_INTERNAL_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "lib/unwind/unwind.h"
#include "lib/util/vector.h"

/* The functions of libdw that are called. It is loaded when a goroutine is in C, and not linked to:
 * libdwarf, which goheap is linked to, has functions of the same names. */
#define GH_LIBDW_FUNCTIONS(FUNCTION)                                                               \
	FUNCTION(dwarf_attr_integrate)                                                             \
	FUNCTION(dwarf_cfi_addrframe)                                                              \
	FUNCTION(dwarf_diename)                                                                    \
	FUNCTION(dwarf_filesrc)                                                                    \
	FUNCTION(dwarf_formstring)                                                                 \
	FUNCTION(dwarf_formudata)                                                                  \
	FUNCTION(dwarf_getscopes)                                                                  \
	FUNCTION(dwarf_getscopes_die)                                                              \
	FUNCTION(dwarf_getsrcfiles)                                                                \
	FUNCTION(dwarf_tag)                                                                        \
	FUNCTION(dwfl_addrmodule)                                                                  \
	FUNCTION(dwfl_attach_state)                                                                \
	FUNCTION(dwfl_begin)                                                                       \
	FUNCTION(dwfl_build_id_find_debuginfo)                                                     \
	FUNCTION(dwfl_end)                                                                         \
	FUNCTION(dwfl_frame_pc)                                                                    \
	FUNCTION(dwfl_frame_reg)                                                                   \
	FUNCTION(dwfl_getthread_frames)                                                            \
	FUNCTION(dwfl_lineinfo)                                                                    \
	FUNCTION(dwfl_module_addrdie)                                                              \
	FUNCTION(dwfl_module_addrinfo)                                                             \
	FUNCTION(dwfl_module_dwarf_cfi)                                                            \
	FUNCTION(dwfl_module_eh_cfi)                                                               \
	FUNCTION(dwfl_module_getelf)                                                               \
	FUNCTION(dwfl_module_getsrc)                                                               \
	FUNCTION(dwfl_module_getsym_info)                                                          \
	FUNCTION(dwfl_module_getsymtab)                                                            \
	FUNCTION(dwfl_module_info)                                                                 \
	FUNCTION(dwfl_report_begin)                                                                \
	FUNCTION(dwfl_report_elf)                                                                  \
	FUNCTION(dwfl_report_end)                                                                  \
	FUNCTION(dwfl_thread_state_register_pc)                                                    \
	FUNCTION(dwfl_thread_state_registers)                                                      \
	FUNCTION(free)

struct gh_libdw {
#define FUNCTION(name) __typeof__(name) *name;
	GH_LIBDW_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* All of them, once they are loaded; `free' is that of the library's allocator. */
extern struct gh_libdw gh_libdw;

/* Loads them, once. False if they cannot be. */
bool gh_libdw_load(void);

/* Variables of one file. */
struct gh_c_variables {
	Dwfl_Module *module;                         /* NULL: none yet */
	struct GH_VECTOR(struct gh_c_variable) list; /* by address; owned */
};

struct gh_c_code {
	const struct gh_memory *memory; /* the caller's */
	const struct gh_arch *arch;
	Dwfl *dwfl;
	bool listed;                       /* all files have been added */
	bool ready;                        /* the same, and stacks can be walked over */
	const struct gh_c_registers *from; /* of the walk that is made */
	struct gh_c_variables variables;
};

/* Ends the list of files. False if there are none of the machine's. */
bool gh_c_code_make_ready(struct gh_c_code *code);

/* The module that has the code at PC; NULL for none. */
Dwfl_Module *gh_c_code_module(struct gh_c_code *code, uint64_t pc);

/* The address by which FRAME is looked up: within the call that it is after. */
uint64_t gh_c_frame_address(const struct gh_c_frame *frame);

#endif
