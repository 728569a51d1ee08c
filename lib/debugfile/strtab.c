#include "lib/debugfile/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"

/* The strings after the names may be these many times as long as the image. */
#define MAX_OTHERS 4

/* What every header begins with, at the offsets that are named for it. The producer follows. */
static const char fixed[] = "\0"
			    "runtime.sigreturn__sigaction\0"
			    "__morestack\0"
			    "_goheap_dynamic\0"
			    "_goheap_words\0"
			    "runtime.etext";

/* Debuggers of Go take the release from the producer, and whether functions are called with
 * registers: "regabi", as writeUnitInfo in src/cmd/link/internal/ld/dwarf.go adds flags. */
static void make_header(struct gh_strings *strings, const struct gh_image *image)
{
	struct gh_buildinfo info;
	char *producer = strings->header + GH_STRINGS_PRODUCER;
	size_t room = sizeof(strings->header) - GH_STRINGS_PRODUCER;
	_Static_assert(sizeof(fixed) == GH_STRINGS_PRODUCER, "the producer comes last");
	memcpy(strings->header, fixed, sizeof(fixed));
	gh_buildinfo_read(&info, image);
	int minor = gh_go_minor(info.go_version);
	bool in_registers = minor >= 18 && gh_arch_has_arg_registers(image->arch);
	if (minor == GH_GO_UNKNOWN)
		snprintf(producer, room, "goheap");
	else
		snprintf(producer, room, "Go cmd/compile %s%s", info.go_version,
			 in_registers ? "; regabi" : "");
	gh_escape_overwrite(producer, strlen(producer));
	strings->header_size = GH_STRINGS_PRODUCER + strlen(producer) + 1;
	gh_buildinfo_free(&info);
}

/* Copies the names, and rids the copy of control characters; the NULs that end names stay. */
static bool make_clean(struct gh_strings *strings, const struct gh_pclntab *tab,
		       struct gh_error *err)
{
	strings->clean = malloc(strings->names_size);
	if (strings->clean == NULL)
		return gh_fail_memory(err, tab->image->path);
	memcpy(strings->clean, strings->start, strings->names_size);
	char *end = strings->clean + strings->names_size;
	for (char *name = strings->clean; name < end; name++) {
		size_t length = strings->split ? 1 : strnlen(name, (size_t)(end - name));
		if (*name != '\0')
			gh_escape_overwrite(name, length);
		name += strings->split ? 0 : length;
	}
	strings->names = strings->clean;
	return true;
}

/* Extends the names to the end of NAME. */
static void extend(struct gh_strings *strings, const char *name)
{
	size_t length = strlen(name);
	size_t end = (size_t)(name - strings->start) + length + 1;
	strings->dirty |= gh_escape_find_control(name, length) < length;
	strings->split |= ((uint8_t)*name & 0xc0) == 0x80;
	if (end > strings->names_size)
		strings->names_size = end;
}

void gh_strings_init(struct gh_strings *strings, const struct gh_pclntab *tab)
{
	*strings = (struct gh_strings){.names = ""};
	make_header(strings, tab->image);
	strings->others_limit = MAX_OTHERS * tab->image->size;
}

bool gh_strings_find(struct gh_strings *strings, const struct gh_pclntab *tab, struct gh_error *err)
{
	gh_strings_init(strings, tab);
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		const char *name = gh_pclntab_name(tab, func.name);
		if (*name == '\0')
			continue;
		if (strings->start == NULL) {
			strings->start = name;
		} else if (name < strings->start) {
			strings->names_size += (size_t)(strings->start - name);
			strings->start = name;
		}
		extend(strings, name);
	}
	return true;
}

uint32_t gh_strings_add(struct gh_strings *strings, const char *name)
{
	if (*name == '\0' || strings->start == NULL || name < strings->start)
		return 0;
	extend(strings, name);
	return gh_strings_offset(strings, name);
}

void gh_strings_join(struct gh_strings *strings, const struct gh_strings *part)
{
	strings->dirty |= part->dirty;
	strings->split |= part->split;
	if (part->names_size > strings->names_size)
		strings->names_size = part->names_size;
}

bool gh_strings_finish(struct gh_strings *strings, const struct gh_pclntab *tab,
		       struct gh_error *err)
{
	if (strings->names_size > UINT32_MAX - strings->header_size)
		return gh_fail(err, tab->image->path, GH_NO_OFFSET, "less than 4 GiB of names",
			       "%zu bytes", strings->names_size);
	if (strings->start != NULL)
		strings->names = strings->start;
	return !strings->dirty || make_clean(strings, tab, err);
}

void gh_strings_free(struct gh_strings *strings)
{
	free(strings->clean);
	gh_buffer_free(&strings->others);
}

uint32_t gh_strings_offset(const struct gh_strings *strings, const char *name)
{
	if (*name == '\0')
		return 0;
	return (uint32_t)(strings->header_size + (size_t)(name - strings->start));
}

size_t gh_strings_size(const struct gh_strings *strings)
{
	return strings->header_size + strings->names_size + strings->others.size;
}

void gh_strings_put(struct gh_elf_section *section, const struct gh_strings *strings)
{
	gh_elf_add_piece(section, strings->header, strings->header_size);
	gh_elf_add_piece(section, strings->names, strings->names_size);
	gh_elf_add_piece(section, strings->others.data, strings->others.size);
}

uint32_t gh_strings_append(struct gh_strings *strings, const void *text, size_t length)
{
	size_t offset = gh_strings_size(strings);
	if (length >= strings->others_limit - strings->others.size || length >= UINT32_MAX - offset)
		return 0;
	char *copy = gh_buffer_extend(&strings->others, length + 1);
	if (copy == NULL)
		return 0;
	memcpy(copy, text, length);
	gh_escape_overwrite(copy, length);
	copy[length] = '\0';
	return (uint32_t)offset;
}
