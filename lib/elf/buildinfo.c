#include "lib/elf/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/hex.h"

/* The header of .go.buildinfo: this magic, pointer size, flags, and (Go 1.13 to 1.17) pointers to
 * two Go strings at offset 16, or (flag 2, Go 1.18 and later) the two strings themselves at
 * offset 32. */
static const char magic[14] = "\xff Go buildinf:";

enum {
	FLAG_BIG_ENDIAN = 1,
	FLAG_INLINE_STRINGS = 2,
	BUILDINFO_ALIGN = 16,
	SENTINEL = 16, /* bytes before and after the module information's text */
	MAX_NOTES = 16,
	MAX_RELEASE = 24, /* bytes of a release's name */
	NOTE_HEADER = 16, /* bytes of a note with a name of 4 bytes, before its contents */
	MAX_ID = 256,     /* bytes of a build id */
};

/* A copy of the SIZE bytes at DATA as a string for INFO; NULL if there are none. */
static char *copy_text(struct gh_buildinfo *info, const void *data, uint64_t size)
{
	if (data == NULL || size == 0)
		return NULL;
	char *text = strndup(data, size);
	info->failed |= text == NULL;
	return text;
}

/* A string of the inline form: its length as a uvarint, then its bytes. */
static const uint8_t *inline_string(struct gh_cursor *cur, uint64_t *size)
{
	*size = gh_cursor_uvarint(cur);
	return gh_cursor_bytes(cur, *size);
}

/* A string of the pointer form: a pointer, at CUR, to a pointer and a length. */
static const uint8_t *pointed_string(const struct gh_image *image, struct gh_cursor *cur,
				     uint64_t *size)
{
	unsigned word = image->arch->pointer_size;
	struct gh_cursor header;
	struct gh_cursor text;
	if (!gh_image_at(image, gh_cursor_uint(cur, word), &header))
		return NULL;
	uint64_t address = gh_cursor_uint(&header, word);
	*size = gh_cursor_uint(&header, word);
	if (header.failed || !gh_image_at(image, address, &text))
		return NULL;
	return gh_cursor_bytes(&text, *size);
}

/* A copy of value NUMBER, counted from 0, of those that tabs are between in the line that begins
 * with KEY (with its tab) of the SIZE bytes of module information at TEXT; NULL if there is none.
 */
static char *module_field(struct gh_buildinfo *info, const char *text, size_t size, const char *key,
			  unsigned number)
{
	const char *end = text + size;
	size_t key_size = strlen(key);
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		if (line_end == NULL)
			line_end = end;
		size_t length = (size_t)(line_end - text);
		if (length > key_size && memcmp(text, key, key_size) == 0) {
			const char *value = text + key_size;
			const char *tab = memchr(value, '\t', (size_t)(line_end - value));
			for (; number > 0 && tab != NULL; number--) {
				value = tab + 1;
				tab = memchr(value, '\t', (size_t)(line_end - value));
			}
			if (number > 0)
				return NULL;
			return copy_text(info, value,
					 (size_t)((tab != NULL ? tab : line_end) - value));
		}
		text = line_end + 1;
	}
	return NULL;
}

/* Reads the structure that CUR starts with. */
static void read_buildinfo(struct gh_buildinfo *info, const struct gh_image *image,
			   struct gh_cursor cur)
{
	gh_cursor_bytes(&cur, sizeof(magic) + 1);
	uint8_t flags = gh_cursor_u8(&cur);
	uint64_t version_size = 0;
	uint64_t module_size = 0;
	const uint8_t *version;
	const uint8_t *module;
	if (flags & FLAG_INLINE_STRINGS) {
		gh_cursor_bytes(&cur, 16);
		version = inline_string(&cur, &version_size);
		module = inline_string(&cur, &module_size);
	} else {
		version = pointed_string(image, &cur, &version_size);
		module = pointed_string(image, &cur, &module_size);
	}
	info->go_version = copy_text(info, version, version_size);
	if (module != NULL && module_size > 2 * SENTINEL) {
		const char *text = (const char *)module + SENTINEL;
		module_size -= 2 * SENTINEL;
		info->path = module_field(info, text, module_size, "path\t", 0);
		info->module = module_field(info, text, module_size, "mod\t", 0);
		info->module_version = module_field(info, text, module_size, "mod\t", 1);
		info->settings = copy_text(info, text, module_size);
	}
}

static bool is_buildinfo(const struct gh_cursor *cur)
{
	return gh_cursor_left(cur) >= 32 && memcmp(cur->pos, magic, sizeof(magic)) == 0;
}

/* Finds the structure: in its section, or at the start of a data segment, where the linker puts it.
 */
static bool find_buildinfo(const struct gh_image *image, struct gh_cursor *cur)
{
	const struct gh_section *section = gh_image_section(image, ".go.buildinfo");
	if (section != NULL && gh_image_section_cursor(image, section, cur, NULL) &&
	    is_buildinfo(cur))
		return true;
	for (size_t i = 0; i < image->nloads; i++) {
		if ((image->loads[i]->p_flags & PF_X) != 0 ||
		    !gh_image_at(image, image->loads[i]->p_vaddr, cur))
			continue;
		uint64_t skew = image->loads[i]->p_vaddr % BUILDINFO_ALIGN;
		gh_cursor_bytes(cur, skew == 0 ? 0 : BUILDINFO_ALIGN - skew);
		for (; gh_cursor_left(cur) >= BUILDINFO_ALIGN;
		     gh_cursor_bytes(cur, BUILDINFO_ALIGN))
			if (is_buildinfo(cur))
				return true;
	}
	return false;
}

/* Whether the SIZE bytes at TEXT are a release's name: "go1.4.3", "go1.8rc2". */
static bool is_release(const uint8_t *text, uint64_t size)
{
	if (size < 5 || memcmp(text, "go1.", 4) != 0)
		return false;
	for (uint64_t i = 4; i < size; i++)
		if (text[i] != '.' && !(text[i] >= '0' && text[i] <= '9') &&
		    !(text[i] >= 'a' && text[i] <= 'z'))
			return false;
	return text[4] >= '0' && text[4] <= '9';
}

/* The release whose name is the string with the header (address, length) that CUR is at; an empty
 * slice if it is none. */
static struct gh_cursor release_at(const struct gh_image *image, struct gh_cursor *cur)
{
	struct gh_cursor text = {0};
	struct gh_cursor header = *cur;
	unsigned word = image->arch->pointer_size;
	uint64_t address = gh_cursor_uint(&header, word);
	uint64_t size = gh_cursor_uint(&header, word);
	if (size > MAX_RELEASE || size == 0 || !gh_image_at(image, address, &text))
		return (struct gh_cursor){0};
	text = gh_cursor_slice(&text, (uint64_t)(text.pos - text.start), size);
	return !text.failed && is_release(text.pos, size) ? text : (struct gh_cursor){0};
}

/* String headers of releases' names, in a program's data. */
struct releases {
	struct gh_cursor text; /* the first one's name */
	uint64_t address;      /* its header's */
	unsigned count;        /* of the headers */
	bool differ;           /* the names do */
};

/* Adds those of the segments that are writable, or of all. */
static void find_releases(struct releases *found, const struct gh_image *image, bool writable)
{
	unsigned word = image->arch->pointer_size;
	for (size_t i = 0; i < image->nloads; i++) {
		const GElf_Phdr *segment = image->loads[i];
		uint64_t address = segment->p_vaddr + -segment->p_vaddr % word;
		struct gh_cursor cur;
		if ((segment->p_flags & PF_X) != 0 || (writable && !(segment->p_flags & PF_W)) ||
		    !gh_image_at(image, segment->p_vaddr, &cur))
			continue;
		gh_cursor_bytes(&cur, -segment->p_vaddr % word);
		for (; gh_cursor_left(&cur) >= 2 * word; gh_cursor_bytes(&cur, word)) {
			struct gh_cursor text = release_at(image, &cur);
			size_t size = gh_cursor_left(&text);
			if (size > 0 && found->count++ == 0) {
				found->text = text;
				found->address = address;
			} else if (size > 0) {
				found->differ |= gh_cursor_left(&found->text) != size ||
						 memcmp(found->text.pos, text.pos, size) != 0;
			}
			address += word;
		}
	}
}

uint64_t gh_build_version(const struct gh_image *image)
{
	struct releases found = {0};
	find_releases(&found, image, true);
	return found.count == 1 ? found.address : 0;
}

/* The value of runtime.buildVersion, or of the constant it was before Go 1.4: the one release's
 * name of which the program's data have a string header. NULL if they have none, or of several. */
static char *find_version(struct gh_buildinfo *info, const struct gh_image *image)
{
	struct releases found = {0};
	find_releases(&found, image, false);
	return found.differ ? NULL : copy_text(info, found.text.pos, gh_cursor_left(&found.text));
}

/* The text of runtime.buildVersion in what -buildmode=shared makes: the variable gets its address
 * by a relocation. */
static char *find_shared_version(struct gh_buildinfo *info, const struct gh_image *image)
{
	GElf_Sym symbol;
	struct gh_cursor cur;
	if (!gh_dynamic_symbol(image, "runtime.buildVersion.str", &symbol) ||
	    !gh_image_at(image, symbol.st_value, &cur))
		return NULL;
	const char *text = gh_cursor_string(&cur);
	size_t size = text != NULL ? strlen(text) : 0;
	return size <= MAX_RELEASE && is_release((const uint8_t *)text, size)
		   ? copy_text(info, text, size)
		   : NULL;
}

/* A copy of SIZE bytes as hexadecimal digits, for INFO. */
static char *copy_hex(struct gh_buildinfo *info, const uint8_t *data, size_t size)
{
	char *text = malloc(2 * size + 1);
	info->failed |= text == NULL;
	if (text != NULL)
		gh_hex_text(text, data, size);
	return text;
}

/* Takes the build ids from the notes in CUR. */
static void read_notes(struct gh_buildinfo *info, struct gh_cursor cur)
{
	while (gh_cursor_left(&cur) > 0) {
		uint32_t name_size = gh_cursor_u32(&cur);
		uint32_t size = gh_cursor_u32(&cur);
		uint32_t type = gh_cursor_u32(&cur);
		const uint8_t *name = gh_cursor_bytes(&cur, ((uint64_t)name_size + 3) & ~3ULL);
		const uint8_t *data = gh_cursor_bytes(&cur, size);
		if (cur.failed)
			return;
		if (size > 0 && name_size == 4 && memcmp(name, "Go\0", 4) == 0 && type == 4 &&
		    info->go_build_id == NULL)
			info->go_build_id = copy_text(info, data, size);
		else if (size > 0 && name_size == 4 && memcmp(name, ELF_NOTE_GNU, 4) == 0 &&
			 type == NT_GNU_BUILD_ID && info->gnu_build_id == NULL)
			info->gnu_build_id = copy_hex(info, data, size);
		uint32_t padding = -size & 3;
		gh_cursor_bytes(&cur,
				padding < gh_cursor_left(&cur) ? padding : gh_cursor_left(&cur));
	}
}

/* The same for the SIZE bytes at OFFSET in the file. */
static void read_notes_at(struct gh_buildinfo *info, const struct gh_image *image, uint64_t offset,
			  uint64_t size)
{
	struct gh_cursor all =
	    gh_cursor_make(image->data, image->size, image->path, 0, image->arch->big_endian);
	struct gh_cursor notes = gh_cursor_slice(&all, offset, size);
	if (!notes.failed)
		read_notes(info, notes);
}

void gh_buildinfo_read_ids(struct gh_buildinfo *info, const struct gh_image *image)
{
	*info = (struct gh_buildinfo){0};
	unsigned notes_left = MAX_NOTES;
	for (size_t i = 0; i < image->nsegments && notes_left > 0; i++) {
		const GElf_Phdr *segment = &image->segments[i];
		if (segment->p_type != PT_NOTE)
			continue;
		notes_left--;
		read_notes_at(info, image, segment->p_offset, segment->p_filesz);
	}
	/* Go's linker leaves the GNU build id out of the segment. */
	for (size_t i = 0; i < image->nsections && notes_left > 0; i++) {
		const GElf_Shdr *section = &image->sections[i].header;
		if (section->sh_type != SHT_NOTE)
			continue;
		notes_left--;
		read_notes_at(info, image, section->sh_offset, section->sh_size);
	}
}

void gh_buildinfo_find_ids(struct gh_buildinfo *info, struct gh_cursor cur)
{
	static const struct {
		uint32_t type;
		char name[4];
	} ids[] = {{4, "Go\0"}, {NT_GNU_BUILD_ID, "GNU"}};
	for (uint64_t at = 0; at + NOTE_HEADER <= gh_cursor_size(&cur); at += 4) {
		gh_cursor_seek(&cur, at);
		uint32_t name_size = gh_cursor_u32(&cur);
		uint32_t size = gh_cursor_u32(&cur);
		uint32_t type = gh_cursor_u32(&cur);
		const uint8_t *name = gh_cursor_bytes(&cur, 4);
		if (name_size != 4 || size > MAX_ID || name == NULL)
			continue;
		for (unsigned i = 0; i < 2; i++)
			if (type == ids[i].type && memcmp(name, ids[i].name, 4) == 0 &&
			    size <= gh_cursor_left(&cur))
				read_notes(info, gh_cursor_slice(&cur, at, NOTE_HEADER + size));
	}
}

void gh_buildinfo_read(struct gh_buildinfo *info, const struct gh_image *image)
{
	struct gh_cursor cur;
	gh_buildinfo_read_ids(info, image);
	if (find_buildinfo(image, &cur))
		read_buildinfo(
		    info, image,
		    gh_cursor_slice(&cur, (uint64_t)(cur.pos - cur.start), gh_cursor_left(&cur)));
	else if ((info->go_version = find_shared_version(info, image)) == NULL)
		info->go_version = find_version(info, image);
}

void gh_buildinfo_free(struct gh_buildinfo *info)
{
	free(info->go_version);
	free(info->path);
	free(info->module);
	free(info->module_version);
	free(info->go_build_id);
	free(info->gnu_build_id);
	free(info->settings);
	*info = (struct gh_buildinfo){0};
}

bool gh_image_is_go(const struct gh_image *image)
{
	struct gh_buildinfo ids;
	gh_buildinfo_read_ids(&ids, image);
	/* What -buildmode=shared makes has neither, but a note of its own. */
	bool is_go = ids.go_build_id != NULL || gh_image_section(image, ".go.buildinfo") != NULL ||
		     gh_image_section(image, ".note.go.abihash") != NULL;
	gh_buildinfo_free(&ids);
	return is_go;
}

/* Reads the symbol of a variable that each runtime has, and each module that is linked with
 * another's needs. False if IMAGE does not name it. */
static bool find_runtime(const struct gh_image *image, GElf_Sym *symbol)
{
	return gh_dynamic_symbol(image, "runtime.lastmoduledatap", symbol);
}

bool gh_image_names_runtime(const struct gh_image *image)
{
	GElf_Sym symbol;
	return find_runtime(image, &symbol);
}

static bool shares_runtime(const struct gh_image *image)
{
	GElf_Sym symbol;
	return gh_image_section(image, ".note.go.abihash") != NULL &&
	       find_runtime(image, &symbol) && symbol.st_shndx != SHN_UNDEF;
}

static bool needs_runtime(const struct gh_image *image)
{
	GElf_Sym symbol;
	return gh_image_is_go(image) && find_runtime(image, &symbol) &&
	       symbol.st_shndx == SHN_UNDEF;
}

/* IS says so of the file at PATH, which can be read. */
static bool ask_file(const char *path, bool (*is)(const struct gh_image *image))
{
	struct gh_image image;
	if (!gh_image_open_unrelocated(&image, path, NULL))
		return false;
	bool answer = is(&image);
	gh_image_close(&image);
	return answer;
}

bool gh_file_is_go(const char *path)
{
	return ask_file(path, gh_image_is_go);
}

bool gh_file_shares_runtime(const char *path)
{
	return ask_file(path, shares_runtime);
}

bool gh_file_needs_runtime(const char *path)
{
	return ask_file(path, needs_runtime);
}

int gh_go_minor(const char *version)
{
	int minor;
	if (version == NULL || sscanf(version, "go1.%3d", &minor) != 1 || minor < 0)
		return GH_GO_UNKNOWN;
	return minor;
}

int gh_image_go_minor(const struct gh_image *image)
{
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, image);
	int minor = gh_go_minor(info.go_version);
	gh_buildinfo_free(&info);
	return minor;
}
