#include "lib/write/injected.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "lib/write/stackend.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* The gap is sys.MinFrameSize, aligned to sys.StackAlign. */
static const struct gh_injected machines[] = {
    {EM_ARM, 4, 15},    {EM_AARCH64, 16, 32}, {EM_LOONGARCH, 8, 64},
    {EM_PPC64, 32, 67}, {EM_RISCV, 8, 64},    {EM_S390, 8, 65},
};

static const struct gh_injected mips = {EM_MIPS, 4, 66};
static const struct gh_injected mips64 = {EM_MIPS, 8, 66};

bool gh_is_injected(const char *name)
{
	return gh_stack_is_named(name, "runtime.sigpanic") ||
	       gh_stack_is_named(name, "runtime.sigpanic0") ||
	       gh_stack_is_named(name, "runtime.asyncPreempt") ||
	       strncmp(name, "runtime.debugCallV", strlen("runtime.debugCallV")) == 0;
}

const struct gh_injected *gh_injected(const struct gh_arch *arch, const char *name)
{
	if (!arch->link_register || !gh_is_injected(name))
		return NULL;
	if (arch->machine == EM_MIPS)
		return arch->pointer_size == 8 ? &mips64 : &mips;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == arch->machine)
			return &machines[i];
	return NULL;
}
