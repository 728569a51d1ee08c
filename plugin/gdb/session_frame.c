#include "plugin/gdb/session_frame.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/cursor.h"

/* The most that GDB says of a frame: names of functions and files are long, but not that long. */
#define MOST_TEXT 16384

/* Reads the file NAME of the session's DIRECTORY into BUF. Returns its size; 0 if it cannot be
 * read.
 */
static size_t read_file(const char *directory, const char *name, void *buf, size_t size)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "re");
	size_t count = file != NULL ? fread(buf, 1, size, file) : 0;
	if (file != NULL)
		fclose(file);
	return count;
}

bool gh_session_registers_read(struct gh_session_registers *registers, const char *directory,
			       const char *name, unsigned word)
{
	uint8_t bytes[(2 + GH_SESSION_REGISTERS) * 8];
	size_t size = read_file(directory, name, bytes, sizeof(bytes));
	struct gh_cursor cur = gh_cursor_make(bytes, size, name, 0, false);
	*registers = (struct gh_session_registers){0};
	registers->pc = gh_cursor_uint(&cur, word);
	registers->sp = gh_cursor_uint(&cur, word);
	bool read = !cur.failed;
	while (read && gh_cursor_left(&cur) >= 8 && registers->count < GH_SESSION_REGISTERS)
		registers->words[registers->count++] = gh_cursor_u64(&cur);
	return read;
}

bool gh_session_registers_order(const struct gh_session_registers *registers,
				const struct gh_arch *arch, uint64_t to[GH_VALUE_REGISTERS])
{
	const struct gh_passing *passing = &arch->passing;
	const uint64_t *floats = &registers->words[passing->integers];
	memset(to, 0, GH_VALUE_REGISTERS * sizeof(*to));
	if (passing->since == 0 || registers->count < passing->integers + 2U * passing->floats)
		return false;
	for (size_t i = 0; i < passing->integers; i++)
		to[passing->dwarf[i]] = registers->words[i];
	/* The other half of each holds no number of Go's. */
	for (size_t i = 0; i < passing->floats; i++)
		to[passing->first_float + i] = floats[2 * i];
	return true;
}

bool gh_session_value_frame(struct gh_value_frame *frame, uint64_t registers[GH_VALUE_REGISTERS],
			    const char *directory, unsigned level, const struct gh_arch *arch)
{
	struct gh_session_registers from;
	if (!gh_session_registers_read(&from, directory, GH_SESSION_FRAME_REGISTERS,
				       arch->pointer_size))
		return false;
	*frame = (struct gh_value_frame){.pc = from.pc, .sp = from.sp, .is_innermost = level == 0};
	if (gh_session_registers_order(&from, arch, registers) && frame->is_innermost)
		frame->registers = registers;
	return true;
}

/* One past TEXT's first PREFIX; NULL if there is none. */
static char *find_after(char *text, const char *prefix)
{
	char *found = strstr(text, prefix);
	return found != NULL ? found + strlen(prefix) : NULL;
}

/* Sets the function and its place: "pc = 0x48 in main.(*T).f (main.go:3); saved pc = 0x47". */
static void split_place(struct gh_session_frame *frame, char *text)
{
	char *start = find_after(text, "\n");
	char *end = start != NULL ? strstr(start, "; saved") : NULL;
	if (end == NULL)
		end = start != NULL ? strchr(start, '\n') : NULL;
	if (end == NULL)
		return;
	*end = '\0';
	start = find_after(start, " in ");
	if (start == NULL)
		return;
	frame->function = start;
	char *open = strrchr(start, '(');
	if (open == NULL || open == start || open[-1] != ' ' || end[-1] != ')')
		return;
	open[-1] = '\0';
	end[-1] = '\0';
	frame->place = open + 1;
}

bool gh_session_frame_read(struct gh_session_frame *frame, const char *directory)
{
	*frame = (struct gh_session_frame){.text = malloc(MOST_TEXT)};
	if (frame->text == NULL)
		return false;
	size_t size = read_file(directory, GH_SESSION_FRAME, frame->text, MOST_TEXT - 1);
	frame->text[size] = '\0';
	char *inlined = find_after(frame->text, "\n inlined into frame ");
	frame->caller = inlined != NULL ? (unsigned)strtoul(inlined, NULL, 10) : 0;
	if (sscanf(frame->text, "Stack level %u,", &frame->level) != 1)
		return false;
	split_place(frame, frame->text);
	return true;
}

void gh_session_frame_free(struct gh_session_frame *frame)
{
	free(frame->text);
}
