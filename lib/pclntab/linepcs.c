#include "lib/pclntab/linepcs.h"

#include <string.h>

/* PATH is FILE, or ends in it after a slash. */
static bool names_file(const char *path, const char *file)
{
	size_t path_length = strlen(path);
	size_t length = strlen(file);
	if (length == 0 || length > path_length || strcmp(path + path_length - length, file) != 0)
		return false;
	return length == path_length || path[path_length - length - 1] == '/';
}

/* Goes to the next function that can be read. */
static bool next_function(struct gh_line_pcs *walk, const struct gh_pclntab *tab)
{
	while (walk->next < tab->nfunc) {
		if (gh_pclntab_func(tab, walk->next++, &walk->func, NULL)) {
			walk->walking = true;
			return gh_sourcemap_start(&walk->map, tab, &walk->func);
		}
	}
	return false;
}

bool gh_line_pcs_next(struct gh_line_pcs *walk, const struct gh_pclntab *tab, const char *file,
		      int32_t line, struct gh_range *range)
{
	while (walk->walking || next_function(walk, tab)) {
		while (gh_sourcemap_next(&walk->map, range)) {
			const struct gh_frame *frame = &range->frames[0];
			if (frame->line == line &&
			    names_file(gh_pclntab_file(tab, frame->file), file))
				return true;
		}
		walk->walking = false;
	}
	return false;
}

void gh_line_pcs_free(struct gh_line_pcs *walk)
{
	gh_sourcemap_free(&walk->map);
}
