#include "lib/debugfile/dwarf_entries.h"

#include <string.h>

#include "lib/code/code.h"

#define NT_STAPSDT 3

/* The functions that matter are shorter; the bound keeps crafted ones from costing much. */
#define MAX_CODE 4096

/* CALL rel32. */
#define CALL_OPCODE 0xe8
#define CALL_SIZE   5

/* MOVQ REG, (SP): the register is the third byte. */
#define STORE_SIZE 4

static const char vendor[] = "stapsdt";
static const char provider[] = "libgcc";
static const char probe[] = "unwind";

/* The function in which control leaves the goroutine's frames, by a call of the other to the pc in
 * the *gobuf that is its argument. */
static const char leaving[] = "runtime.recovery";
static const char callee[] = "runtime.gogo";

/* A probe's arguments: the frame's address, which GDB does not use, and where it goes on. The pc is
 * a gobuf's second word. */
static const char *const from_gobuf[] = {"8@%rsp 8@8(%rax)", "8@%rsp 8@8(%rcx)", "8@%rsp 8@8(%rdx)",
					 "8@%rsp 8@8(%rbx)"};

static void add_note(struct gh_buffer *out, uint64_t address, const char *arguments)
{
	size_t size =
	    3 * sizeof(uint64_t) + sizeof(provider) + sizeof(probe) + strlen(arguments) + 1;
	gh_buffer_u32(out, sizeof(vendor));
	gh_buffer_u32(out, (uint32_t)size);
	gh_buffer_u32(out, NT_STAPSDT);
	gh_buffer_bytes(out, vendor, sizeof(vendor));
	gh_buffer_uint(out, address, sizeof(address));
	gh_buffer_uint(out, 0, sizeof(uint64_t)); /* address of .stapsdt.base */
	gh_buffer_uint(out, 0, sizeof(uint64_t)); /* no semaphore */
	gh_buffer_bytes(out, provider, sizeof(provider));
	gh_buffer_bytes(out, probe, sizeof(probe));
	gh_buffer_bytes(out, arguments, strlen(arguments) + 1);
	gh_buffer_align(out, 4);
}

/* ADDRESS is the entry of a function called NAME. */
static bool is_function(const struct gh_pclntab *tab, uint64_t address, const char *name)
{
	struct gh_func func;
	return gh_pclntab_at(tab, address, &func) &&
	       gh_stack_is_named(gh_pclntab_name(tab, func.name), name);
}

/* The arguments of a probe at the call at AT in CODE: NULL if the register that its own argument is
 * in is not known. */
static const char *arguments_at(struct gh_cursor *code, uint64_t at)
{
	if (at < STORE_SIZE)
		return NULL;
	gh_cursor_seek(code, at - STORE_SIZE);
	uint16_t opcode = gh_cursor_u16(code);
	uint8_t modrm = gh_cursor_u8(code);
	uint8_t sib = gh_cursor_u8(code);
	if (opcode != 0x8948 || (modrm & 0xe7) != 0x04 || sib != 0x24)
		return NULL;
	return from_gobuf[modrm >> 3];
}

/* Adds a note for each such call in FUNC. */
static void add_calls(struct gh_buffer *out, const struct gh_pclntab *tab,
		      const struct gh_func *func)
{
	struct gh_cursor code;
	uint64_t size = func->end - func->entry;
	if (!gh_image_at(tab->image, func->entry, &code))
		return;
	for (uint64_t at = 0; at + CALL_SIZE <= size && at < MAX_CODE; at++) {
		gh_cursor_seek(&code, at);
		if (gh_cursor_u8(&code) != CALL_OPCODE)
			continue;
		uint64_t distance = (uint64_t)(int64_t)(int32_t)gh_cursor_u32(&code);
		if (!is_function(tab, func->entry + at + CALL_SIZE + distance, callee))
			continue;
		const char *arguments = arguments_at(&code, at);
		if (arguments != NULL)
			add_note(out, func->entry + at, arguments);
	}
}

bool gh_probes_make(struct gh_buffer *out, const struct gh_pclntab *tab, struct gh_error *err)
{
	*out = (struct gh_buffer){.big_endian = tab->image->arch->big_endian};
	if (tab->image->arch->isa != GH_ISA_AMD64)
		return true;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		/* To find where a function ends takes longer than to read its name. */
		if (!gh_pclntab_record(tab, i, &func, err))
			return false;
		if (strcmp(gh_pclntab_name(tab, func.name), leaving) != 0)
			continue;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		add_calls(out, tab, &func);
	}
	return !out->failed || gh_fail_memory(err, tab->image->path);
}

bool gh_probes_add(struct gh_elf *elf, const struct gh_buffer *probes)
{
	if (probes->size == 0)
		return true;
	struct gh_elf_section *section = gh_elf_add(elf, ".note.stapsdt", SHT_NOTE, 0);
	if (section == NULL)
		return false;
	section->header.sh_addralign = 4;
	gh_elf_add_piece(section, probes->data, probes->size);
	/* What addresses of probes are relative to: at address 0. */
	section = gh_elf_add(elf, ".stapsdt.base", SHT_PROGBITS, 0);
	if (section == NULL)
		return false;
	gh_elf_add_piece(section, "", 1);
	return true;
}
