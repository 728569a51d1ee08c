/* Fuzz target: what GDB's `info files' prints, which holds names of the user's and of the target's,
 * and the script that names those files to GDB again. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/gdb/gdb.h"
#include "tests/fuzz/target.h"

static const char *const texts[] = {
    "Symbols from \"/tmp/a b\".\nNative process:\n\tUsing the running image of child process 4711."
    "\n\tWhile running this, GDB does not access memory from...\nLocal exec file:\n\t`/tmp/a b', "
    "file type elf64-x86-64.\n\tEntry point: 0x45f5c0\n\t0x401000 - 0x4a1c2f is .text\n",
    "Symbols from \"/tmp/x.debug\".\nLocal core dump file:\n\t`/tmp/core', file type "
    "elf64-x86-64.\n\t0xc000000000 - 0xc000400000 is load1\nLocal exec file:\n\t`/tmp/x', file "
    "type elf64-x86-64.\n\tEntry point: 0x45f5c0\n",
    "Remote target using gdb-specific protocol:\n\tDebugging a target over a serial line.\n\tWhile "
    "running this, GDB does not access memory from...\nLocal exec file:\n\t`target:/proc/1/exe', "
    "file type elf64-x86-64.\n\tEntry point: 0x45f5c0\n",
    "Native process:\nLocal exec file:\n\t`/tmp/x', file type elf64-x86-64.\n\tEntry point: "
    "0x10\n\t0x401000 - 0x4a1c2f is .text\n\t0x7f1000 - 0x7f2000 is .init in /lib/a.so\n"
    "\t0x7f3000 - 0x7f4000 is .init in target:/lib/b c.so\n",
    ("Symbols from \"/tmp/a\".\nb\".\nLocal exec file:\n\t`/tmp/a', file type x\nb', file type "
     "elf64-x86-64.\n\tEntry point: 0x10\n"),
};

uint8_t *fuzz_seed(int number, size_t *size)
{
	if ((size_t)number >= sizeof(texts) / sizeof(texts[0]))
		return NULL;
	*size = strlen(texts[number]);
	return (uint8_t *)strdup(texts[number]);
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Takes the argument at the end of LINE apart as GDB's gdb_buildargv does. Returns the line's end.
 */
static const char *read_argument(const char *line, char *argument)
{
	char quote = '\0';
	for (; *line != '\0' && (quote != '\0' || *line != '\n'); line++) {
		require(*line != '\n' && (quote != '\0' || *line != ' '));
		if (*line == '\\')
			*argument++ = *++line;
		else if (*line == quote)
			quote = '\0';
		else if (quote == '\0' && (*line == '\'' || *line == '"'))
			quote = *line;
		else
			*argument++ = *line;
	}
	require(quote == '\0');
	*argument = '\0';
	return line;
}

/* GDB opens the file NAME, and does nothing else. */
static void check_file(const char *name)
{
	static const char command[] = "exec-file ";
	char *script;
	size_t size;
	if (name == NULL || name[0] == '\0' || strchr(name, '\n') != NULL)
		return;
	char *found = malloc(strlen(name) + 1);
	FILE *out = open_memstream(&script, &size);
	require(found != NULL && out != NULL);
	gh_script_file(out, "exec-file", name);
	fclose(out);
	require(strncmp(script, command, sizeof(command) - 1) == 0);
	const char *end = read_argument(script + sizeof(command) - 1, found);
	require(strcmp(end, "\n") == 0 && strcmp(found, name) == 0);
	free(script);
	free(found);
}

/* One character of what GDB's echo prints for *LINE, which it moves past that. */
static char read_echo(const char **line)
{
	const char *at = *line;
	if (*at != '\\') {
		*line = at + 1;
		return *at;
	}
	require(at[1] != '\0' && at[1] != '\n');
	if (at[1] >= '0' && at[1] <= '7') {
		char *end;
		char digits[] = {at[1], at[2], at[2] != '\0' ? at[3] : '\0', '\0'};
		long value = strtol(digits, &end, 8);
		*line = at + 1 + (end - digits);
		return (char)value;
	}
	*line = at + 2;
	return at[1] == 'n' ? '\n' : at[1] == 't' ? '\t' : at[1];
}

/* GDB prints TEXT as a person is to see it, one line of it, and does nothing else. */
static void check_say(const char *text)
{
	static const char command[] = "echo ";
	char line[512];
	char *script;
	size_t size;
	FILE *out = open_memstream(&script, &size);
	require(out != NULL);
	gh_escape_text(line, sizeof(line), text);
	gh_script_say(out, "%s", line);
	fclose(out);
	require(size > sizeof(command) && strncmp(script, command, sizeof(command) - 1) == 0);
	require(strchr(script, '\n') == script + size - 1);
	const char *at = script + sizeof(command) - 1;
	for (const char *expected = line; *expected != '\0'; expected++)
		require(read_echo(&at) == *expected);
	require(read_echo(&at) == '\n' && at == script + size - 1);
	free(script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_infofiles files;
	char *text = strndup((const char *)data, size);
	require(text != NULL && gh_infofiles_parse(&files, text));
	const char *names[] = {files.program, files.core, files.symbols};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		require(names[i] == NULL || strstr(text, names[i]) != NULL);
		check_file(names[i]);
	}
	check_say(text);
	struct gh_loaded_section section;
	for (const char *at = files.sections; gh_infofiles_section(&at, &section);)
		require(section.name + section.name_size < section.path &&
			memchr(section.path, '\n', section.path_size) == NULL);
	gh_infofiles_free(&files);
	struct gh_told told;
	require(gh_told_parse(&told, text));
	gh_told_free(&told);
	free(text);
	return 0;
}
