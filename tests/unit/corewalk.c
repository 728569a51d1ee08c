#include "tests/unit/corewalk.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/dump.h"

static void must(bool condition)
{
	if (!condition)
		abort();
}

static size_t count_threads(Elf *elf, const GElf_Phdr *segment)
{
	size_t count = 0, next, name, contents;
	GElf_Nhdr note;
	Elf_Data *data =
	    elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_NHDR);
	must(data != NULL);
	for (size_t at = 0; (next = gelf_getnote(data, at, &note, &name, &contents)) > 0; at = next)
		count += note.n_type == NT_PRSTATUS;
	return count;
}

/* The core's segment SEGMENT holds REGION, as the dump has it. */
static bool holds(const GElf_Phdr *segment, const uint8_t *core, const struct gh_dump *dump,
		  const struct gh_region *region)
{
	uint64_t offset = region->address - segment->p_vaddr;
	if (segment->p_type != PT_LOAD || region->address < segment->p_vaddr ||
	    offset >= segment->p_filesz)
		return false;
	struct gh_cursor contents = gh_region_contents(dump, region);
	must(segment->p_filesz - offset >= region->size);
	return memcmp(core + segment->p_offset + offset, contents.pos, region->size) == 0;
}

static void check_core(const struct gh_dump *dump, size_t left_out, Elf *elf)
{
	size_t nsegments = 0, size;
	struct gh_regions walk = {0};
	struct gh_region region;
	GElf_Phdr segment;
	const uint8_t *core = (const uint8_t *)elf_rawfile(elf, &size);
	must(core != NULL && elf_getphdrnum(elf, &nsegments) == 0 && nsegments > 0);
	must(gelf_getphdr(elf, 0, &segment) != NULL && segment.p_type == PT_NOTE);
	must(count_threads(elf, &segment) == gh_dump_count(dump, GH_DUMP_GOROUTINE) - left_out);
	for (size_t i = 0; i < nsegments; i++) {
		must(gelf_getphdr(elf, (int)i, &segment) != NULL);
		must(segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset);
	}
	size_t at = 0;
	while (gh_regions_next(dump, &walk, &region)) {
		/* A crafted dump of a small machine may have addresses that it could not. */
		if (dump->word == 4 && region.address + region.size - 1 > UINT32_MAX)
			break;
		do {
			at++;
			must(at < nsegments);
			gelf_getphdr(elf, (int)at, &segment);
		} while (!holds(&segment, core, dump, &region));
		at--;
	}
}

bool core_walk(const struct gh_dump *dump, const struct gh_core_program *program, const char *path)
{
	struct gh_error err;
	size_t left_out;
	if (!gh_corefile_write(dump, program, path, &left_out, &err))
		return false;
	FILE *in = fopen(path, "rbe");
	must(in != NULL && elf_version(EV_CURRENT) != EV_NONE);
	Elf *elf = elf_begin(fileno(in), ELF_C_READ_MMAP, NULL);
	must(elf != NULL && elf_kind(elf) == ELF_K_ELF);
	check_core(dump, left_out, elf);
	elf_end(elf);
	fclose(in);
	return true;
}
