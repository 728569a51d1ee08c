#include "lib/elf/elf_writer.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/open_file.h"
#include "lib/util/output.h"

/* What is added is aligned to this, in bytes; no section of it needs more. */
#define ALIGN 16

/* Copies the file of IMAGE, which must be the one that was opened: the image itself is relocated.
 */
static bool copy_image(const struct gh_image *image, int fd, const char *path, struct gh_error *err)
{
	struct stat now;
	int in = gh_open_file(image->path, &now, err);
	if (in < 0)
		return false;
	bool same = gh_is_same_file(&now, &image->file);
	bool copied = same && gh_copy_file(fd, in, now.st_size);
	if (!same)
		gh_fail(err, image->path, GH_NO_OFFSET, "the file as it was opened",
			"it has changed meanwhile: try again");
	else if (!copied)
		gh_fail_errno(err, path, "write");
	close(in);
	return copied;
}

bool gh_image_output(const struct gh_image *image, struct gh_output *out, const char *path,
		     struct gh_error *err)
{
	mode_t mode = image->file.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
	return gh_output_open(out, path, mode | S_IWUSR, err);
}

bool gh_image_copy(const struct gh_image *image, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_image_output(image, &out, path, err))
		return false;
	return gh_output_end(&out, copy_image(image, out.fd, path, err), err);
}

/* Adds NULs to OUT, whose bytes come at OFFSET, up to a multiple of ALIGN. */
static void pad(struct gh_buffer *out, uint64_t offset)
{
	while ((offset + out->size) % ALIGN != 0)
		gh_buffer_u8(out, 0);
}

/* Appends the header of a section as it is in the file. */
static void put_header(struct gh_buffer *out, const struct gh_image *image, const GElf_Shdr *header)
{
	bool is_64 = image->header.e_ident[EI_CLASS] == ELFCLASS64;
	uint8_t bytes[sizeof(Elf64_Shdr)];
	Elf64_Shdr wide = *header;
	Elf32_Shdr narrow = {
	    .sh_name = header->sh_name,
	    .sh_type = header->sh_type,
	    .sh_flags = (Elf32_Word)header->sh_flags,
	    .sh_addr = (Elf32_Addr)header->sh_addr,
	    .sh_offset = (Elf32_Off)header->sh_offset,
	    .sh_size = (Elf32_Word)header->sh_size,
	    .sh_link = header->sh_link,
	    .sh_info = header->sh_info,
	    .sh_addralign = (Elf32_Word)header->sh_addralign,
	    .sh_entsize = (Elf32_Word)header->sh_entsize,
	};
	Elf_Data from = {.d_type = ELF_T_SHDR, .d_version = EV_CURRENT};
	from.d_buf = is_64 ? (void *)&wide : (void *)&narrow;
	from.d_size = is_64 ? sizeof(wide) : sizeof(narrow);
	Elf_Data to = from;
	to.d_buf = bytes;
	if (gelf_xlatetof(image->elf, &to, &from, image->header.e_ident[EI_DATA]) == NULL)
		out->failed = true;
	else
		gh_buffer_bytes(out, bytes, to.d_size);
}

/* Appends the contents of the sections from FIRST on, and then all section headers: in OUT, which
 * comes at OFFSET of the file. Gives the place of the headers. */
static uint64_t put_sections(struct gh_buffer *out, struct gh_elf *elf,
			     const struct gh_image *image, size_t first, uint64_t offset)
{
	for (size_t i = first; i < elf->sections.count; i++) {
		struct gh_elf_section *section = &elf->sections.items[i];
		pad(out, offset);
		section->header.sh_offset = offset + out->size;
		for (unsigned j = 0; j < section->npieces; j++)
			gh_buffer_bytes(out, section->pieces[j].data, section->pieces[j].size);
		section->header.sh_size = offset + out->size - section->header.sh_offset;
	}
	pad(out, offset);
	uint64_t headers = offset + out->size;
	elf->sections.items[0].header = (GElf_Shdr){0};
	for (size_t i = 0; i < elf->sections.count; i++)
		put_header(out, image, &elf->sections.items[i].header);
	return headers;
}

/* Has the ELF header at the start of FD tell of COUNT section headers at PLACE, the last of which
 * is of their names. */
static bool patch_header(const struct gh_image *image, uint64_t place, size_t count, int fd)
{
	union {
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header, bytes;
	bool is_64 = image->header.e_ident[EI_CLASS] == ELFCLASS64;
	size_t size = is_64 ? sizeof(header.wide) : sizeof(header.narrow);
	Elf_Data from = {
	    .d_buf = &header, .d_size = size, .d_type = ELF_T_EHDR, .d_version = EV_CURRENT};
	Elf_Data to = from;
	to.d_buf = &bytes;
	unsigned order = image->header.e_ident[EI_DATA];
	if (pread(fd, &bytes, size, 0) != (ssize_t)size ||
	    gelf_xlatetom(image->elf, &from, &to, order) == NULL)
		return false;
	if (is_64) {
		header.wide.e_shoff = place;
		header.wide.e_shentsize = sizeof(Elf64_Shdr);
		header.wide.e_shnum = (uint16_t)count;
		header.wide.e_shstrndx = (uint16_t)(count - 1);
	} else {
		header.narrow.e_shoff = (Elf32_Off)place;
		header.narrow.e_shentsize = sizeof(Elf32_Shdr);
		header.narrow.e_shnum = (uint16_t)count;
		header.narrow.e_shstrndx = (uint16_t)(count - 1);
	}
	return gelf_xlatetof(image->elf, &to, &from, order) != NULL &&
	       pwrite(fd, &bytes, size, 0) == (ssize_t)size;
}

bool gh_elf_append(struct gh_elf *elf, const struct gh_image *image, size_t first, int fd,
		   const char *path, struct gh_error *err)
{
	struct gh_buffer names = {0};
	struct gh_buffer added = {0};
	bool is_64 = image->header.e_ident[EI_CLASS] == ELFCLASS64;
	bool written = gh_elf_add_names(elf, &names);
	if (!written)
		gh_fail_memory(err, path);
	else if (elf->sections.count >= SHN_LORESERVE)
		written = gh_fail(err, image->path, GH_NO_OFFSET, "fewer sections than 65280",
				  "%zu", elf->sections.count);
	written = written && copy_image(image, fd, path, err);
	if (written) {
		uint64_t place = put_sections(&added, elf, image, first, image->size);
		if (added.failed)
			written = gh_fail_memory(err, path);
		else if (!is_64 && image->size + added.size > UINT32_MAX)
			written = gh_fail(err, image->path, GH_NO_OFFSET,
					  "symbols with which the file stays below 4 GiB", "more");
		else if (!gh_write_all(fd, added.data, added.size) ||
			 !patch_header(image, place, elf->sections.count, fd))
			written = gh_fail_errno(err, path, "write");
	}
	gh_buffer_free(&names);
	gh_buffer_free(&added);
	return written;
}
