#include "plugin/gdb/gdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* File names may hold anything, newlines too, and GDB prints them as they are. So a name ends only
 * where what follows has the form of what GDB prints next. */

/* GDB prints a line that begins so after the one that names the symbols. */
static bool begins_block(const char *line)
{
	static const char *const starts[] = {"Local exec file:\n", "Local core dump file:\n",
					     "Native process:\n", "Remote target using ",
					     "Extended remote target using "};
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	return *line == '\0';
}

/* Where the name of the symbols' file at START ends; NULL if nowhere. */
static const char *end_of_symbols(const char *start)
{
	static const char after[] = "\".\n";
	const char *end = strstr(start, after);
	for (const char *at = end; at != NULL; at = strstr(at + 1, after))
		if (begins_block(at + strlen(after)))
			return at;
	return end;
}

/* The same of a file at START, whose type GDB tells on the same line, and more in a line that
 * begins with NEXT. *COUNT is where it may be. */
static const char *end_of_file(const char *start, const char *next, size_t *count)
{
	static const char after[] = "', file type ";
	const char *end = strstr(start, after);
	const char *found = NULL;
	*count = 0;
	for (const char *at = end; at != NULL;) {
		const char *line = strchr(at, '\n');
		const char *following = strstr(at + 1, after);
		/* The type is the last on its line. */
		if (line != NULL && line[-1] == '.' && (following == NULL || following > line) &&
		    strncmp(line + 1, next, strlen(next)) == 0 && (*count)++ == 0)
			found = at;
		at = following;
	}
	return found != NULL ? found : end;
}

/* Takes the name from START to END. */
static bool take_name(char **name, const char *start, const char *end)
{
	*name = strndup(start, (size_t)(end - start));
	return *name != NULL;
}

/* Reads the line that names the file of the symbols, the first of *TEXT if it is there, and has
 * *TEXT point past it. It may be the program's. */
static bool parse_symbols(struct gh_infofiles *files, const char **text)
{
	static const char before[] = "Symbols from \"";
	static const char after[] = "\".\n";
	if (strncmp(*text, before, strlen(before)) != 0)
		return true;
	const char *start = *text + strlen(before);
	size_t length = files->program != NULL ? strlen(files->program) : 0;
	const char *end = length > 0 && strncmp(start, files->program, length) == 0 &&
				  strncmp(start + length, after, strlen(after)) == 0
			      ? start + length
			      : end_of_symbols(start);
	if (end == NULL)
		return true;
	*text = end + strlen(after);
	return take_name(&files->symbols, start, end);
}

/* Reads the lines that name the core file, the first of TEXT if they are there. */
static bool parse_core(struct gh_infofiles *files, const char *text)
{
	static const char before[] = "Local core dump file:\n\t`";
	size_t count;
	if (strncmp(text, before, strlen(before)) != 0)
		return true;
	const char *start = text + strlen(before);
	const char *end = end_of_file(start, "\t0x", &count);
	return end == NULL || take_name(&files->core, start, end);
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

/* Reads the lines that name the program. */
static bool parse_program(struct gh_infofiles *files, const char *text)
{
	static const char before[] = "Local exec file:\n\t`";
	static const char entry[] = "\tEntry point: ";
	size_t count;
	const char *start = strstr(text, before);
	if (start == NULL)
		return true;
	start += strlen(before);
	const char *end = end_of_file(start, entry, &count);
	if (end == NULL)
		return true;
	files->unclear = count > 1 || strstr(start, before) != NULL;
	if (files->unclear)
		return true;
	const char *line = strchr(end + 1, '\n');
	if (line != NULL && strncmp(line + 1, entry, strlen(entry)) == 0)
		files->entry = strtoull(line + 1 + strlen(entry), NULL, 16);
	return take_name(&files->program, start, end);
}

bool gh_infofiles_section(const char **text, struct gh_loaded_section *section)
{
	static const char in[] = " in ";
	static const char remote[] = "target:";
	while (**text != '\0') {
		const char *line = *text;
		int name = 0;
		size_t size = strcspn(line, "\n");
		*text += size + (line[size] == '\n');
		if (sscanf(line, "\t0x%" SCNx64 " - 0x%*x is %n", &section->address, &name) != 1 ||
		    name == 0 || (size_t)name > size)
			continue;
		const char *end = line + size;
		const char *path = memmem(line + name, size - (size_t)name, in, sizeof(in) - 1);
		if (path == NULL)
			continue;
		section->name = line + name;
		section->name_size = (size_t)(path - section->name);
		section->path = path + sizeof(in) - 1;
		if (strncmp(section->path, remote, sizeof(remote) - 1) == 0)
			section->path += sizeof(remote) - 1;
		section->path_size = (size_t)(end - section->path);
		return true;
	}
	return false;
}

bool gh_infofiles_parse(struct gh_infofiles *files, const char *text)
{
	*files = (struct gh_infofiles){0};
	if (!parse_program(files, text) || !parse_symbols(files, &text) ||
	    !parse_core(files, text)) {
		gh_infofiles_free(files);
		return false;
	}
	parse_process(files, text);
	files->sections = strdup(text);
	/* What is more than a file comes before the program. */
	files->running = *text != '\0' && strncmp(text, "Local exec", 10) != 0;
	return true;
}

bool gh_infofiles_read(struct gh_infofiles *files, FILE *in)
{
	char *text = gh_piped_text_read(in);
	bool parsed = gh_infofiles_parse(files, text != NULL ? text : "");
	free(text);
	return parsed;
}

void gh_infofiles_free(struct gh_infofiles *files)
{
	free(files->program);
	free(files->symbols);
	free(files->core);
	free(files->sections);
	*files = (struct gh_infofiles){0};
}
