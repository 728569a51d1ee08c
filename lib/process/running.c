/* The program of a process, and whether a file is of the same build. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/process/process.h"

static char *copy(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

void gh_identity_of_core(struct gh_identity *identity, const struct gh_image *core)
{
	uint64_t phdr, phent;
	struct gh_mapped_files files = {0};
	struct gh_memory memory = gh_core_memory(core);
	if (!gh_core_auxv(core, AT_PHDR, &phdr) || !gh_core_auxv(core, AT_PHENT, &phent)) {
		*identity = (struct gh_identity){.name = copy(core->path)};
		return;
	}
	uint64_t start = gh_loaded_start(phdr, phent);
	gh_identity_of_memory(identity, &memory, start, core->arch->big_endian, core->path);
	if (gh_mapped_files_core(&files, core))
		for (size_t i = 0; i < files.count && identity->path == NULL; i++)
			if (files.items[i].start == start)
				identity->path = copy(files.items[i].path);
	gh_mapped_files_free(&files);
}

void gh_identity_of_process(struct gh_identity *identity, int pid)
{
	char link[64];
	char text[PATH_MAX] = "";
	struct gh_image image;
	snprintf(text, sizeof(text), "process %d", pid);
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	*identity = (struct gh_identity){0};
	if (gh_image_open_unrelocated(&image, link, NULL)) {
		gh_identity_of_image(identity, &image);
		gh_image_close(&image);
	}
	free(identity->name);
	identity->name = copy(text);
	ssize_t length = readlink(link, text, sizeof(text) - 1);
	text[length > 0 ? length : 0] = '\0';
	identity->path = length > 0 ? copy(text) : NULL;
}

/* The program FILE, which TAB is of, is in MEMORY by the build id there: the process runs the
 * dynamic linker, which was told to load it. */
static bool is_loaded(const struct gh_identity *file, const struct gh_pclntab *tab,
		      const struct gh_memory *memory, uint64_t bias)
{
	const struct gh_image *image = tab->image;
	struct gh_identity there;
	gh_identity_of_memory(&there, memory, image->loads[0]->p_vaddr + bias,
			      image->arch->big_endian, image->path);
	bool same = gh_identity_compare(file, &there) == GH_IDENTITIES_SAME;
	gh_identity_free(&there);
	return same;
}

bool gh_identity_check(const struct gh_identity *identity, const struct gh_pclntab *tab,
		       const struct gh_memory *memory, uint64_t bias, struct gh_error *err)
{
	struct gh_identity file;
	char expected[300];
	const char *name = identity->name != NULL ? identity->name : "the process";
	const char *path = identity->path != NULL ? identity->path : "";
	const char *is = *path != '\0' ? ", which is " : "";
	gh_identity_of_image(&file, tab->image);
	enum gh_identities found = gh_identity_compare(&file, identity);
	if (found == GH_IDENTITIES_DIFFER && is_loaded(&file, tab, memory, bias))
		found = GH_IDENTITIES_SAME;
	bool same = found == GH_IDENTITIES_SAME ||
		    (found == GH_IDENTITIES_UNKNOWN && gh_pclntab_fits_memory(tab, memory, bias));
	if (found == GH_IDENTITIES_DIFFER) {
		snprintf(expected, sizeof(expected),
			 "the program of %.60s, build id %.100s%s%.100s", name,
			 gh_identity_told(identity, &file), is, path);
		gh_fail(err, tab->image->path, GH_NO_OFFSET, expected,
			"another build of it or another program, build id %s",
			gh_identity_told(&file, identity));
	} else if (!same) {
		snprintf(expected, sizeof(expected), "the program of %.60s%s%.200s", name, is,
			 path);
		gh_fail(err, tab->image->path, GH_NO_OFFSET, expected,
			"another, by its table of functions");
	}
	gh_identity_free(&file);
	return same;
}
