#include "plugin/gdb/gdb.h"

#include <stdlib.h>
#include <string.h>

/* The lines that begin the next part. */
static const char files_follow[] = "files\n";
static const char libraries_follow[] = "\nlibraries\n";

/* The text between the first BEFORE in TEXT and the next AFTER, to be freed; NULL if they are not
 * there. */
static char *copy_between(const char *text, const char *before, const char *after)
{
	const char *start = strstr(text, before);
	if (start == NULL)
		return NULL;
	start += strlen(before);
	const char *end = strstr(start, after);
	return end != NULL ? strndup(start, (size_t)(end - start)) : NULL;
}

bool gh_told_parse(struct gh_told *told, const char *text)
{
	const char *files = strstr(text, files_follow);
	const char *scalars = strstr(text, "\"scalars");
	*told = (struct gh_told){.scalars = scalars != NULL && files != NULL && scalars < files};
	if (files == NULL)
		return gh_infofiles_parse(&told->files, "");
	told->debug_directories =
	    copy_between(text, "separate debug symbols are searched for is \"", "\".\n");
	const char *libraries = strstr(files, libraries_follow);
	if (libraries != NULL) {
		told->libraries = strdup(libraries + strlen(libraries_follow));
		told->library_path = copy_between(libraries, "\nLD_LIBRARY_PATH = ", "\n");
	}
	return gh_infofiles_parse(&told->files, files + strlen(files_follow));
}

bool gh_told_read(struct gh_told *told, FILE *in)
{
	*told = (struct gh_told){0};
	char *text = gh_piped_text_read(in);
	bool parsed = text != NULL && gh_told_parse(told, text);
	free(text);
	return parsed;
}

void gh_told_free(struct gh_told *told)
{
	gh_infofiles_free(&told->files);
	free(told->debug_directories);
	free(told->libraries);
	free(told->library_path);
	*told = (struct gh_told){0};
}
