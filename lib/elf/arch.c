#include "lib/elf/arch.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* DWARF numbers as Go's linker uses them (Dwarfregsp, Dwarfreglr in
 * src/cmd/link/internal/<arch>/l.go), which are those of each machine's ABI. */
static const struct gh_arch arches[] = {
    {"386", EM_386, 4, 1, 4, 8, false, false},
    {"amd64", EM_X86_64, 8, 1, 7, 16, false, false},
    {"arm", EM_ARM, 4, 4, 13, 14, false, true},
    {"arm64", EM_AARCH64, 8, 4, 31, 30, false, true},
    {"loong64", EM_LOONGARCH, 8, 4, 3, 1, false, true},
    {"mips", EM_MIPS, 4, 4, 29, 31, true, true},
    {"mipsle", EM_MIPS, 4, 4, 29, 31, false, true},
    {"mips64", EM_MIPS, 8, 4, 29, 31, true, true},
    {"mips64le", EM_MIPS, 8, 4, 29, 31, false, true},
    {"ppc64", EM_PPC64, 8, 4, 1, 65, true, true},
    {"ppc64le", EM_PPC64, 8, 4, 1, 65, false, true},
    {"riscv64", EM_RISCV, 8, 4, 2, 1, false, true},
    {"s390x", EM_S390, 8, 2, 15, 14, true, true},
};

const struct gh_arch *gh_arch_find(uint16_t machine, uint8_t pointer_size, bool big_endian)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		const struct gh_arch *arch = &arches[i];
		if (arch->machine == machine && arch->pointer_size == pointer_size &&
		    arch->big_endian == big_endian)
			return arch;
	}
	return NULL;
}

const struct gh_arch *gh_arch_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++)
		if (strcmp(arches[i].goarch, name) == 0)
			return &arches[i];
	return NULL;
}

uint8_t gh_arch_above_frame(const struct gh_arch *arch)
{
	if (arch->machine == EM_PPC64)
		return 32;
	return arch->link_register ? arch->pointer_size : 0;
}

uint64_t gh_arch_call_pc(const struct gh_arch *arch, uint64_t return_address)
{
	return return_address == 0 ? 0 : return_address - arch->quantum;
}
