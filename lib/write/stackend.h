/* Functions whose caller cannot be found on the stack. */
#ifndef GH_WRITE_STACKEND_H
#define GH_WRITE_STACKEND_H

#include "lib/pclntab/pclntab.h"

enum gh_stack_end {
	GH_STACK_GOES_ON,  /* the return address is where the frame says */
	GH_STACK_ENDS,     /* nothing called it: a goroutine, a thread or the program starts here */
	GH_STACK_SWITCHES, /* it moves SP to another stack: its caller is known at its entry only */
	GH_STACK_SIGNAL_FRAME /* the kernel's frame of a signal: debuggers know it by its code */
};

/* Whether the functions of TAB have flags (Go 1.17 and later): some assembly function has one. */
bool gh_stack_has_flags(const struct gh_pclntab *tab);

/* NAME is that of the assembly function FUNCTION, which some linkers add the ABI to. */
bool gh_stack_is_named(const char *name, const char *function);

/* What kind of function FUNC, called NAME, is. If its table HAS_FLAGS they say so for most: a name
 * is then also that of the wrapper through which other Go code calls the assembly function. Without
 * them it is told by the name. */
enum gh_stack_end gh_stack_end(const struct gh_func *func, const char *name, bool has_flags);

#endif
