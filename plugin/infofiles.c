#include "plugin/infofiles.h"

#include <stdlib.h>
#include <string.h>

/* Finds what is between BEFORE and AFTER in TEXT; *END is where AFTER is. File names may hold
 * anything, newlines too, and GDB prints them as they are. NULL if it is not there. */
static const char *find_between(const char *text, const char *before, const char *after,
				const char **end)
{
	const char *start = strstr(text, before);
	if (start == NULL)
		return NULL;
	start += strlen(before);
	*end = strstr(start, after);
	return *end != NULL ? start : NULL;
}

/* Reads the line that names a file between BEFORE and AFTER, the first of *TEXT if it is there, and
 * has *TEXT point past the name. */
static bool parse_file(char **name, const char **text, const char *before, const char *after)
{
	const char *end;
	if (strncmp(*text, before, strlen(before)) != 0)
		return true;
	const char *start = find_between(*text, before, after, &end);
	if (start == NULL)
		return true;
	*text = end + strlen(after);
	*name = strndup(start, (size_t)(end - start));
	return *name != NULL;
}

/* Reads the lines about a process, the next if they are there: in each form of its name the number
 * that /proc knows it by is the last. */
static void parse_process(struct gh_infofiles *files, const char *text)
{
	static const char native[] = "Native process:\n\tUsing the running image of ";
	static const char remote[] = "emote target using gdb-specific protocol:\n";
	size_t line = strcspn(text, "\n");
	files->remote = line >= sizeof(remote) - 2 &&
			strncmp(text + line + 2 - sizeof(remote), remote, sizeof(remote) - 1) == 0;
	if (strncmp(text, native, sizeof(native) - 1) != 0)
		return;
	text += sizeof(native) - 1;
	for (const char *end = text + strcspn(text, "\n"); text < end;
	     text += strcspn(text, " \n") + 1)
		if (*text >= '0' && *text <= '9')
			files->pid = (int)strtol(text, NULL, 10);
}

static bool parse_program(struct gh_infofiles *files, const char *text)
{
	static const char before[] = "Local exec file:\n\t`";
	static const char entry[] = "\tEntry point: ";
	const char *end;
	const char *start = find_between(text, before, "', file type ", &end);
	if (start == NULL)
		return true;
	files->program = strndup(start, (size_t)(end - start));
	const char *line = strchr(end, '\n');
	if (line != NULL && strncmp(line + 1, entry, sizeof(entry) - 1) == 0)
		files->entry = strtoull(line + 1 + sizeof(entry) - 1, NULL, 16);
	/* What is more than a file comes before the program. */
	files->running = start != text + sizeof(before) - 1;
	return files->program != NULL;
}

bool gh_infofiles_parse(struct gh_infofiles *files, const char *text)
{
	*files = (struct gh_infofiles){0};
	bool parsed = parse_file(&files->symbols, &text, "Symbols from \"", "\".\n");
	const char *next = text;
	parse_process(files, text);
	parsed = parsed &&
		 parse_file(&files->core, &next, "Local core dump file:\n\t`", "', file type ");
	if (parsed && parse_program(files, text))
		return true;
	gh_infofiles_free(files);
	return false;
}

bool gh_infofiles_read(struct gh_infofiles *files, FILE *in)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length = getdelim(&text, &size, '\0', in);
	bool parsed = gh_infofiles_parse(files, length > 0 ? text : "");
	free(text);
	return parsed;
}

void gh_infofiles_free(struct gh_infofiles *files)
{
	free(files->program);
	free(files->symbols);
	free(files->core);
	*files = (struct gh_infofiles){0};
}
