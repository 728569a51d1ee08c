#include "lib/write/argregs.h"

#include <elf.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

#define MAX_RUNS 4

static const struct {
	uint16_t machine; /* ELF e_machine */
	struct gh_register_run runs[MAX_RUNS];
} machines[] = {
    /* RAX; RCX, RBX, RSI and RDI; R8 to R11; X0 to X14 */
    {EM_X86_64, {{0, 1}, {2, 4}, {8, 4}, {17, 15}}},
    {EM_AARCH64, {{0, 16}, {64, 16}}},
    {EM_LOONGARCH, {{4, 16}, {32, 16}}},
    {EM_PPC64, {{3, 8}, {14, 4}, {33, 12}}},
    {EM_RISCV, {{8, 16}, {40, 16}}},
    {EM_S390, {{2, 8}, {16, 16}}},
};

const struct gh_register_run *gh_arg_registers(const struct gh_arch *arch, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].machine != arch->machine)
			continue;
		while (*count < MAX_RUNS && machines[i].runs[*count].count != 0)
			++*count;
		return machines[i].runs;
	}
	return NULL;
}
