#include "lib/code/code.h"

#include <string.h>

bool gh_is_injected(const char *name)
{
	return gh_stack_is_named(name, "runtime.sigpanic") ||
	       gh_stack_is_named(name, "runtime.sigpanic0") ||
	       gh_stack_is_named(name, "runtime.asyncPreempt") ||
	       strncmp(name, "runtime.debugCallV", strlen("runtime.debugCallV")) == 0;
}
