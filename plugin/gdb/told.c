#include "plugin/gdb/gdb.h"

#include <stdlib.h>
#include <string.h>

/* The line that follows the setting. */
static const char files_follow[] = "files\n";

bool gh_told_parse(struct gh_told *told, const char *text)
{
	const char *files = strstr(text, files_follow);
	const char *scalars = strstr(text, "\"scalars");
	*told = (struct gh_told){.scalars = scalars != NULL && files != NULL && scalars < files};
	return gh_infofiles_parse(&told->files, files != NULL ? files + strlen(files_follow) : "");
}

bool gh_told_read(struct gh_told *told, FILE *in)
{
	*told = (struct gh_told){0};
	char *text = gh_piped_text_read(in);
	bool parsed = text != NULL && gh_told_parse(told, text);
	free(text);
	return parsed;
}
