/* Fuzz target: what GDB prints of a remote target, which goheap reads step by step, and the scripts
 * that it writes for the next step. The input's first byte is the step, the others are the text. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "tests/fuzz/target.h"

static const char *const steps[] = {"inferiors", "open", "file", "auxv", "files"};

static const char *const texts[] = {
    "\000  Num  Description       Connection                Executable        \n"
    "* 1    process 4711      1 (remote :1234)          target:/proc/4711/exe \n",
    "\001Cannot open file '/proc/self/fd/1000/none/file': No such file or directory.\n",
    "\002Sending packet: $vFile:open...\nReceived: \"F5\"\nReceived: \"F10;abc\"\n",
    "\0033    AT_PHDR              Program headers for program    0x400040\n"
    "4    AT_PHENT             Size of program header entry   56\n"
    "5    AT_PHNUM             Number of program headers      7\n",
    "\004Remote target using gdb-specific protocol:\n\tDebugging a target over a serial line.\n",
};

static char directory[] = "/tmp/goheap-fuzz-XXXXXX";
static char *words[] = {NULL, "0x400000"};
static const struct gh_options options = {.words = words, .nwords = 2};

uint8_t *fuzz_seed(int number, size_t *size)
{
	if ((size_t)number >= sizeof(texts) / sizeof(texts[0]))
		return NULL;
	*size = 1 + strlen(texts[number] + 1);
	uint8_t *seed = malloc(*size);
	if (seed != NULL)
		memcpy(seed, texts[number], *size);
	return seed;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_directory(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	require(system(command) == 0);
}

static void prepare(void)
{
	require(mkdtemp(directory) != NULL && setenv(GH_SESSION_VARIABLE, directory, 1) == 0);
	atexit(remove_directory);
}

/* TEXT at its place in LINE is what goheap has the shell do itself: it is no finding. */
static void forget(char *line, const char *text)
{
	char *at = strstr(line, text);
	if (at != NULL)
		memset(at, ' ', strlen(text));
}

/* Reads a script, whose lines begin with these commands and hold nothing that ends a word or a
 * shell's argument but what goheap has written itself. */
static void check_script(const char *name)
{
	static const char *const commands[] = {"with history remove-duplicates 19937 -- ",
					       "with confirm off -- define _goheap_",
					       "_goheap_",
					       "thread apply $goheap_thread ",
					       "maint packet vFile:",
					       "pipe ",
					       "if $",
					       "else",
					       "end",
					       "source /",
					       "echo "};
	char path[128];
	char line[8192];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *in = fopen(path, "re");
	while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
		bool known = false;
		forget(line, " INT;");
		forget(line, "|| exit 1;");
		forget(line, "status=0 || status=1; cat >/dev/null; exit $status; ");
		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			known = known || strncmp(line, commands[i], strlen(commands[i])) == 0;
		require(known && strchr(line, '`') == NULL && strchr(line, ';') == NULL &&
			strchr(line, '(') == NULL);
		for (const char *at = line; *at != '\0'; at++)
			require((*at >= ' ' && *at <= '~') || *at == '\n');
	}
	if (in != NULL)
		fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (words[0] == NULL)
		prepare();
	FILE *saved = stdin;
	stdin = fmemopen((void *)(data + 1), size - 1, "r");
	require(stdin != NULL);
	words[0] = (char *)steps[data[0] % (sizeof(steps) / sizeof(steps[0]))];
	require(gh_cmd_fetch(&options) == GH_EXIT_OK);
	fclose(stdin);
	stdin = saved;
	check_script("boot.gdb");
	return 0;
}
