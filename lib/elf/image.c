#include "lib/elf/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/util/bsearch.h"
#include "lib/util/open_file.h"

static int compare_loads(const void *a, const void *b)
{
	const GElf_Phdr *first = *(const GElf_Phdr *const *)a;
	const GElf_Phdr *second = *(const GElf_Phdr *const *)b;
	return (first->p_vaddr > second->p_vaddr) - (first->p_vaddr < second->p_vaddr);
}

/* Picks the segments that have contents in the file, so that an address is found by binary search.
 */
static bool sort_loads(struct gh_image *image, struct gh_error *err)
{
	image->loads = calloc(image->nsegments, sizeof(*image->loads));
	if (image->loads == NULL)
		return gh_fail_memory(err, image->path);
	uint64_t total = 0;
	for (size_t i = 0; i < image->nsegments; i++) {
		const GElf_Phdr *segment = &image->segments[i];
		if (segment->p_type != PT_LOAD || segment->p_filesz == 0 ||
		    segment->p_offset >= image->size)
			continue;
		uint64_t size = image->size - segment->p_offset;
		total += segment->p_filesz < size ? segment->p_filesz : size;
		if (total > 2 * (uint64_t)image->size)
			return gh_fail(err, image->path, image->header.e_phoff,
				       "segments with bytes of their own", "overlapping ones");
		image->loads[image->nloads++] = segment;
	}
	qsort(image->loads, image->nloads, sizeof(*image->loads), compare_loads);
	return true;
}

/* libelf did not find what is EXPECTED at OFFSET in the file; errno was 0 before. Its
 * own message is "no error" for much that is damaged. */
static bool fail_of_libelf(const struct gh_image *image, uint64_t offset, const char *expected,
			   struct gh_error *err)
{
	return errno == ENOMEM ? gh_fail_memory(err, image->path)
			       : gh_fail(err, image->path, offset, expected, "damage");
}

/* Reads the program headers. False (ERR filled) if they are not all in the file. */
static bool read_segments(struct gh_image *image, struct gh_error *err)
{
	size_t count;
	errno = 0;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return fail_of_libelf(image, image->header.e_phoff, "program headers", err);
	if (count == 0)
		return true;
	image->segments = calloc(count, sizeof(*image->segments));
	if (image->segments == NULL)
		return gh_fail_memory(err, image->path);
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(image->elf, (int)i, &image->segments[i]) == NULL)
			return fail_of_libelf(image, image->header.e_phoff, "program headers", err);
	}
	image->nsegments = count;
	return sort_loads(image, err);
}

static const char *section_name(const GElf_Shdr *header, const struct gh_cursor *names)
{
	struct gh_cursor cur = *names;
	gh_cursor_seek(&cur, header->sh_name);
	const char *name = gh_cursor_string(&cur);
	return name != NULL ? name : "";
}

/* Reads the section headers. Damaged ones count as none: a program runs without them, and
 * everything can be found without them. */
static bool read_sections(struct gh_image *image, struct gh_error *err)
{
	size_t count;
	size_t names_index;
	if (elf_getshdrnum(image->elf, &count) != 0 || count == 0)
		return true;
	image->sections = calloc(count, sizeof(*image->sections));
	if (image->sections == NULL)
		return gh_fail_memory(err, image->path);
	for (size_t i = 0; i < count; i++) {
		Elf_Scn *scn = elf_getscn(image->elf, i);
		if (scn == NULL || gelf_getshdr(scn, &image->sections[i].header) == NULL)
			return true;
		image->sections[i].name = "";
	}
	image->nsections = count;
	struct gh_cursor names;
	if (elf_getshdrstrndx(image->elf, &names_index) != 0 || names_index >= count ||
	    !gh_image_section_cursor(image, &image->sections[names_index], &names, NULL))
		return true;
	for (size_t i = 0; i < count; i++)
		image->sections[i].name = section_name(&image->sections[i].header, &names);
	return true;
}

/* The file is none of what was EXPECTED. */
static bool fail_of_kind(const struct gh_image *image, const char *expected, struct gh_error *err)
{
	return gh_fail(err, image->path, GH_NO_OFFSET, expected, "%s",
		       gh_file_kind(image->data, image->size));
}

/* Checks the ELF header and fills the image from it; a file that has none is not what was EXPECTED.
 */
static bool read_header(struct gh_image *image, const char *expected, struct gh_error *err)
{
	if (image->size < EI_NIDENT || memcmp(image->data, ELFMAG, SELFMAG) != 0)
		return fail_of_kind(image, expected, err);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return gh_fail(err, image->path, GH_NO_OFFSET, "libelf", "an older one");
	errno = 0;
	image->elf = elf_memory((char *)image->data, image->size);
	if (image->elf == NULL || elf_kind(image->elf) != ELF_K_ELF ||
	    gelf_getehdr(image->elf, &image->header) == NULL)
		return fail_of_libelf(image, 0, "an ELF header", err);
	const GElf_Ehdr *header = &image->header;
	uint8_t pointer_size = header->e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	bool big_endian = header->e_ident[EI_DATA] == ELFDATA2MSB;
	image->arch = gh_arch_find(header->e_machine, pointer_size, big_endian);
	if (image->arch == NULL)
		return gh_fail(err, image->path, EI_NIDENT + 2, "a machine that Go runs on",
			       "ELF machine %u, %u-bit, %s-endian", header->e_machine,
			       pointer_size * 8U, big_endian ? "big" : "little");
	return true;
}

static bool check_program(const struct gh_image *image, struct gh_error *err)
{
	uint16_t type = image->header.e_type;
	return type == ET_EXEC || type == ET_DYN ||
	       fail_of_kind(image, "an executable or a shared object", err);
}

static bool read_program(struct gh_image *image, bool relocate, struct gh_error *err)
{
	if (!read_header(image, "an ELF file", err) || !check_program(image, err) ||
	    !read_segments(image, err))
		return false;
	/* Relocations write where a crafted file has them: what is checked is read after that. */
	if (relocate)
		gh_relocate(image);
	return read_sections(image, err);
}

/* Maps the file FD privately, so that relocations can be applied without copying it. */
static bool map_open(struct gh_image *image, int fd, const struct stat *st, struct gh_error *err)
{
	/* There is no mapping of no bytes: who reads the header says what was expected. */
	if (st->st_size <= 0)
		return true;
	void *data = mmap(NULL, (size_t)st->st_size, PROT_READ | PROT_WRITE,
			  /* A core file may be larger than the memory there is. */
			  MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (data == MAP_FAILED)
		return gh_fail_errno(err, image->path, "map");
	image->data = data;
	image->size = (size_t)st->st_size;
	image->file = *st;
	image->mapped = true;
	return true;
}

static bool map_file(struct gh_image *image, const char *path, struct gh_error *err)
{
	struct stat st;
	int fd = gh_open_file(path, &st, err);
	if (fd < 0)
		return false;
	bool mapped = map_open(image, fd, &st, err);
	close(fd);
	return mapped;
}

static bool open_program(struct gh_image *image, const char *path, bool relocate,
			 struct gh_error *err)
{
	*image = (struct gh_image){.path = strdup(path)};
	if (image->path == NULL)
		return gh_fail_memory(err, path);
	if (map_file(image, path, err) && read_program(image, relocate, err))
		return true;
	gh_image_close(image);
	return false;
}

bool gh_image_open(struct gh_image *image, const char *path, struct gh_error *err)
{
	return open_program(image, path, true, err);
}

bool gh_image_open_unrelocated(struct gh_image *image, const char *path, struct gh_error *err)
{
	return open_program(image, path, false, err);
}

static bool read_core(struct gh_image *image, struct gh_error *err)
{
	static const char expected[] = "a core file";
	return read_header(image, expected, err) &&
	       (image->header.e_type == ET_CORE || fail_of_kind(image, expected, err)) &&
	       read_segments(image, err);
}

bool gh_image_open_core(struct gh_image *image, const char *path, struct gh_error *err)
{
	*image = (struct gh_image){.path = strdup(path)};
	if (image->path == NULL)
		return gh_fail_memory(err, path);
	if (map_file(image, path, err) && read_core(image, err))
		return true;
	gh_image_close(image);
	return false;
}

bool gh_image_open_core_fd(struct gh_image *image, int fd, const char *name, struct gh_error *err)
{
	struct stat st;
	*image = (struct gh_image){.path = strdup(name)};
	if (image->path == NULL)
		return gh_fail_memory(err, name);
	if ((fstat(fd, &st) == 0 || gh_fail_errno(err, name, "read")) &&
	    map_open(image, fd, &st, err) && read_core(image, err))
		return true;
	gh_image_close(image);
	return false;
}

bool gh_image_open_memory(struct gh_image *image, void *data, size_t size, const char *name,
			  struct gh_error *err)
{
	*image = (struct gh_image){.path = strdup(name), .data = data, .size = size};
	if (image->path == NULL)
		return gh_fail_memory(err, name);
	if (read_program(image, true, err))
		return true;
	gh_image_close(image);
	return false;
}

void gh_image_settle(const struct gh_image *image)
{
	if (!image->mapped)
		return;
	/* Each page that is written to becomes a private copy. */
	volatile uint8_t *data = image->data;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t offset = 0; offset < image->size; offset += page)
		data[offset] = data[offset];
}

void gh_image_close(struct gh_image *image)
{
	if (image->elf != NULL)
		elf_end(image->elf);
	if (image->mapped)
		munmap(image->data, image->size);
	free(image->loads);
	free(image->segments);
	free(image->sections);
	free(image->path);
	*image = (struct gh_image){0};
}

const struct gh_section *gh_image_section(const struct gh_image *image, const char *name)
{
	for (size_t i = 0; i < image->nsections; i++)
		if (strcmp(image->sections[i].name, name) == 0)
			return &image->sections[i];
	return NULL;
}

/* A cursor over the SIZE bytes at OFFSET in the file. */
static struct gh_cursor file_cursor(const struct gh_image *image, uint64_t offset, uint64_t size)
{
	struct gh_cursor all = gh_cursor_make(image->data, image->size, image->path, 0,
					      image->header.e_ident[EI_DATA] == ELFDATA2MSB);
	return gh_cursor_slice(&all, offset, size);
}

bool gh_image_section_cursor(const struct gh_image *image, const struct gh_section *section,
			     struct gh_cursor *cur, struct gh_error *err)
{
	const GElf_Shdr *header = &section->header;
	if (header->sh_type == SHT_NOBITS)
		return gh_fail(err, image->path, header->sh_offset, "a section with contents",
			       "section %s without", section->name);
	*cur = file_cursor(image, header->sh_offset, header->sh_size);
	if (cur->failed)
		return gh_cursor_fail(cur, err, "the contents of a section");
	return true;
}

bool gh_image_at(const struct gh_image *image, uint64_t vaddr, struct gh_cursor *cur)
{
	size_t after = gh_lower_bound(image->nloads, i, image->loads[i]->p_vaddr <= vaddr);
	if (after == 0)
		return false;
	const GElf_Phdr *segment = image->loads[after - 1];
	uint64_t size = image->size - segment->p_offset;
	if (size > segment->p_filesz)
		size = segment->p_filesz;
	uint64_t skip = vaddr - segment->p_vaddr;
	if (skip >= size)
		return false;
	*cur = file_cursor(image, segment->p_offset + skip, size - skip);
	return true;
}

uint64_t gh_image_offset(const struct gh_image *image, uint64_t vaddr)
{
	struct gh_cursor cur;
	return gh_image_at(image, vaddr, &cur) ? cur.offset : 0;
}

bool gh_image_is_pie(const struct gh_image *image)
{
	return image->header.e_type == ET_DYN;
}

bool gh_image_has_dwarf(const struct gh_image *image)
{
	return gh_image_section(image, ".debug_info") != NULL ||
	       gh_image_section(image, ".zdebug_info") != NULL;
}
