#include "lib/write/dumpsymbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/output.h"
#include "lib/write/corefile.h"
#include "lib/write/dwarf.h"
#include "lib/write/elffile.h"

/* What the dump says of a pc. */
struct place {
	uint64_t address; /* that debuggers look a frame up by: its pc, or the byte before a return
			     address */
	uint64_t entry;   /* of the function */
	uint64_t size;    /* of the frame, in bytes */
	struct gh_dump_slice name; /* of the function */
	bool last;                 /* its stack ends here */
};

/* The parts of the file. */
struct symbols {
	const struct gh_dump *dump;
	const struct gh_arch *arch;
	struct gh_buffer places; /* struct place, by address, each address once */
	struct gh_buffer symtab;
	struct gh_buffer strtab;
	struct gh_buffer frames; /* .debug_frame */
	struct gh_elf elf;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a;
	const struct place *second = b;
	return (first->address > second->address) - (first->address < second->address);
}

static size_t count_places(const struct symbols *symbols)
{
	return symbols->places.size / sizeof(struct place);
}

static void add_stack(struct symbols *symbols, const struct gh_dump_stack *stack)
{
	for (size_t i = 0; i < stack->nframes; i++) {
		struct gh_dump_record record;
		gh_dump_get(symbols->dump, GH_DUMP_FRAME, stack->first_frame + i, &record);
		const struct gh_dump_frame *frame = &record.frame;
		if (frame->pc == 0 || frame->entry > frame->pc)
			continue;
		struct place place = {
		    .address = i == 0 ? gh_corefile_pc(symbols->arch, frame) : frame->pc - 1,
		    .entry = frame->entry,
		    .size = frame->contents.size,
		    .name = frame->function,
		    .last = i + 1 == stack->nframes,
		};
		gh_buffer_bytes(&symbols->places, &place, sizeof(place));
	}
}

/* Collects the pcs of all frames, by address, each once. */
static void collect_places(struct symbols *symbols)
{
	for (size_t i = 0; i < gh_dump_count(symbols->dump, GH_DUMP_GOROUTINE); i++)
		add_stack(symbols, gh_dump_stack(symbols->dump, i));
	struct place *places = (void *)symbols->places.data;
	size_t count = count_places(symbols);
	if (count == 0)
		return;
	qsort(places, count, sizeof(*places), compare_places);
	size_t kept = 1;
	for (size_t i = 1; i < count; i++)
		if (places[i].address != places[kept - 1].address)
			places[kept++] = places[i];
	symbols->places.size = kept * sizeof(*places);
}

static void put_symbol(struct symbols *symbols, const struct place *place, uint64_t end)
{
	struct gh_buffer *out = &symbols->symtab;
	unsigned word = symbols->arch->pointer_size;
	uint32_t name = (uint32_t)symbols->strtab.size;
	uint64_t size = end - place->entry;
	struct gh_cursor text = gh_dump_bytes(symbols->dump, place->name);
	size_t length = gh_cursor_left(&text);
	gh_buffer_bytes(&symbols->strtab, text.pos, length);
	if (!symbols->strtab.failed)
		gh_escape_overwrite((char *)symbols->strtab.data + name, length);
	gh_buffer_u8(&symbols->strtab, 0);
	gh_buffer_u32(out, name);
	if (word == 4) {
		gh_buffer_uint(out, place->entry, word);
		gh_buffer_uint(out, size, word);
	}
	gh_buffer_u8(out, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	gh_buffer_u8(out, STV_DEFAULT);
	gh_buffer_u16(out, 1); /* .text */
	if (word == 8) {
		gh_buffer_uint(out, place->entry, word);
		gh_buffer_uint(out, size, word);
	}
}

/* A symbol for each function, from its entry to its last pc. */
static void make_symtab(struct symbols *symbols)
{
	const struct place *places = (const void *)symbols->places.data;
	size_t count = count_places(symbols);
	size_t size = symbols->arch->pointer_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	void *null = gh_buffer_extend(&symbols->symtab, size);
	if (null != NULL)
		memset(null, 0, size);
	gh_buffer_u8(&symbols->strtab, 0);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || places[i + 1].entry != places[i].entry)
			put_symbol(symbols, &places[i], places[i].address + 1);
}

/* Ends the entry of .debug_frame that begins at START. */
static void end_entry(struct symbols *symbols, size_t start)
{
	gh_buffer_align(&symbols->frames, symbols->arch->pointer_size);
	gh_buffer_patch(&symbols->frames, start, symbols->frames.size - start - 4, 4);
}

static void put_common_entry(struct symbols *symbols)
{
	const struct gh_arch *arch = symbols->arch;
	struct gh_buffer *out = &symbols->frames;
	gh_buffer_u32(out, 0);
	gh_buffer_u32(out, UINT32_MAX);
	gh_buffer_u8(out, 4); /* version */
	gh_buffer_u8(out, 0); /* no augmentation */
	gh_buffer_u8(out, arch->pointer_size);
	gh_buffer_u8(out, 0);       /* no segment selector */
	gh_buffer_uleb128(out, 1);  /* code alignment */
	gh_buffer_sleb128(out, -1); /* data alignment */
	gh_buffer_uleb128(out, arch->dwarf_ra);
	end_entry(symbols, 0);
}

/* In a frame of SIZE bytes, from sp to its caller's: the return address is the highest word, or,
 * where calls leave it in a register, the lowest. */
static void put_place(struct symbols *symbols, const struct place *place)
{
	const struct gh_arch *arch = symbols->arch;
	struct gh_buffer *out = &symbols->frames;
	size_t start = out->size;
	gh_buffer_u32(out, 0);
	gh_buffer_u32(out, 0);
	gh_buffer_uint(out, place->address, arch->pointer_size);
	gh_buffer_uint(out, 1, arch->pointer_size);
	gh_buffer_u8(out, DW_CFA_def_cfa);
	gh_buffer_uleb128(out, arch->dwarf_sp);
	gh_buffer_uleb128(out, place->size);
	if (place->last || place->size < arch->pointer_size) {
		gh_buffer_u8(out, DW_CFA_undefined);
		gh_buffer_uleb128(out, arch->dwarf_ra);
	} else {
		gh_buffer_u8(out, DW_CFA_offset_extended);
		gh_buffer_uleb128(out, arch->dwarf_ra);
		gh_buffer_uleb128(out, arch->link_register ? place->size : arch->pointer_size);
	}
	end_entry(symbols, start);
}

static void make_frames(struct symbols *symbols)
{
	const struct place *places = (const void *)symbols->places.data;
	put_common_entry(symbols);
	for (size_t i = 0; i < count_places(symbols); i++)
		put_place(symbols, &places[i]);
}

static bool make_elf(struct symbols *symbols)
{
	const struct gh_arch *arch = symbols->arch;
	const struct place *places = (const void *)symbols->places.data;
	struct gh_elf *elf = &symbols->elf;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	memcpy(elf->header.e_ident, ELFMAG, SELFMAG);
	elf->header.e_ident[EI_CLASS] = arch->pointer_size == 8 ? ELFCLASS64 : ELFCLASS32;
	elf->header.e_ident[EI_DATA] = arch->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	elf->header.e_ident[EI_VERSION] = EV_CURRENT;
	elf->header.e_type = ET_EXEC;
	elf->header.e_machine = arch->machine;
	elf->header.e_version = EV_CURRENT;
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < count_places(symbols); i++)
		if (places[i].entry < first)
			first = places[i].entry;
	if (gh_elf_add(elf, "", SHT_NULL, 0) == NULL)
		return false;
	struct gh_elf_section *section =
	    gh_elf_add(elf, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR);
	if (section == NULL)
		return false;
	section->header.sh_addr = first;
	section->header.sh_size = places[count_places(symbols) - 1].address + 1 - first;
	section->header.sh_addralign = 1;
	section = gh_elf_add(elf, ".debug_frame", SHT_PROGBITS, 0);
	if (section == NULL)
		return false;
	section->header.sh_addralign = arch->pointer_size;
	gh_elf_add_piece(section, symbols->frames.data, symbols->frames.size);
	section = gh_elf_add(elf, ".symtab", SHT_SYMTAB, 0);
	if (section == NULL)
		return false;
	section->header.sh_link = (uint32_t)elf->nsections;
	section->header.sh_info = 1;
	section->header.sh_entsize =
	    arch->pointer_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	section->header.sh_addralign = arch->pointer_size;
	gh_elf_add_piece(section, symbols->symtab.data, symbols->symtab.size);
	section = gh_elf_add(elf, ".strtab", SHT_STRTAB, 0);
	if (section == NULL)
		return false;
	gh_elf_add_piece(section, symbols->strtab.data, symbols->strtab.size);
	return true;
}

static bool make_parts(struct symbols *symbols, struct gh_error *err)
{
	collect_places(symbols);
	if (!symbols->places.failed && count_places(symbols) == 0)
		return gh_fail(err, symbols->dump->path, GH_NO_OFFSET, "stack frames", "none");
	make_symtab(symbols);
	make_frames(symbols);
	if (symbols->places.failed || symbols->symtab.failed || symbols->strtab.failed ||
	    symbols->frames.failed || !make_elf(symbols))
		return gh_fail_errno(err, symbols->dump->path, "make its symbols");
	return true;
}

bool gh_dumpsymbols_write(const struct gh_dump *dump, const char *path, struct gh_error *err)
{
	struct symbols symbols = {.dump = dump, .arch = gh_dump_arch(dump, err)};
	if (symbols.arch == NULL)
		return false;
	symbols.symtab.big_endian = symbols.frames.big_endian = symbols.arch->big_endian;
	struct gh_output out;
	if (!gh_output_open(&out, path, err))
		return false;
	bool ok = make_parts(&symbols, err) && gh_elf_write(&symbols.elf, out.fd, path, err);
	gh_buffer_free(&symbols.places);
	gh_buffer_free(&symbols.symtab);
	gh_buffer_free(&symbols.strtab);
	gh_buffer_free(&symbols.frames);
	gh_elf_free(&symbols.elf);
	if (ok)
		return gh_output_commit(&out, err);
	gh_output_discard(&out);
	return false;
}
