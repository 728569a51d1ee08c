#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* Each frame of a chain must stay one, whatever the C compiler's options. */
#define FRAME __attribute__((noinline, noclone))

/* Waits for ever. */
FRAME static int wait_forever(void)
{
	int ends[2];
	char byte;
	volatile int result;
	if (pipe(ends))
		return 1;
	result = (int)read(ends[0], &byte, 1);
	return result + 1;
}

/* A function whose call frame information lies while it waits. */
#define LIAR(name, lie)                                                                            \
	FRAME int name(void)                                                                       \
	{                                                                                          \
		volatile int result;                                                               \
		__asm__ volatile(".cfi_remember_state\n" lie);                                     \
		result = wait_forever();                                                           \
		__asm__ volatile(".cfi_restore_state");                                            \
		return result + 1;                                                                 \
	}

/* An expression that never ends (DW_OP_skip to itself), one that fills its stack (DW_OP_dup). */
LIAR(in_endless, ".cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff")
LIAR(in_overflow, ".cfi_escape 0x0f, 5, 0x30, 0x12, 0x2f, 0xfc, 0xff")
/* Offsets that lead out of all memory; the return address is at 16, and at what is at 0. */
LIAR(in_huge, ".cfi_def_cfa_offset 0x7fffffffffffff0")
LIAR(in_wild, ".cfi_escape 0x10, 16, 1, 0x40")
LIAR(in_null, ".cfi_escape 0x0f, 2, 0x30, 0x06")
/* It called itself, each time further up the stack: the return address is its own (DW_OP_breg16).
 */
LIAR(in_climb, ".cfi_def_cfa_offset 16\n.cfi_escape 0x16, 16, 2, 0x80, 0x00")

int in_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*wait)(int (*)(void)) =
	    library ? (int (*)(int (*)(void)))dlsym(library, "library_waits") : 0;
	if (wait == 0) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	return wait(wait_forever);
}
