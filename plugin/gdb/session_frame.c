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
	uint8_t bytes[(2 + GH_SESSION_INTEGERS + 2 * GH_SESSION_FLOATS) * 8];
	size_t size = read_file(directory, name, bytes, sizeof(bytes));
	struct gh_cursor cur = gh_cursor_make(bytes, size, name, 0, false);
	*registers = (struct gh_session_registers){0};
	registers->pc = gh_cursor_uint(&cur, word);
	registers->sp = gh_cursor_uint(&cur, word);
	bool read = !cur.failed;
	for (size_t i = 0; i < GH_SESSION_INTEGERS; i++)
		registers->integers[i] = gh_cursor_u64(&cur);
	for (size_t i = 0; i < GH_SESSION_FLOATS; i++) {
		registers->floats[i] = gh_cursor_u64(&cur);
		gh_cursor_u64(&cur); /* the other half of an XMM register */
	}
	registers->all = !cur.failed;
	return read;
}

void gh_session_registers_order(const struct gh_session_registers *registers,
				uint64_t to[GH_VALUE_REGISTERS])
{
	struct gh_result_part part = {.is_float = false};
	memset(to, 0, GH_VALUE_REGISTERS * sizeof(*to));
	for (; part.number < GH_SESSION_INTEGERS; part.number++)
		to[gh_result_register(&part)] = registers->integers[part.number];
	part = (struct gh_result_part){.is_float = true};
	for (; part.number < GH_SESSION_FLOATS; part.number++)
		to[gh_result_register(&part)] = registers->floats[part.number];
}

bool gh_session_value_frame(struct gh_value_frame *frame, uint64_t registers[GH_VALUE_REGISTERS],
			    const char *directory, unsigned level, unsigned word)
{
	struct gh_session_registers from;
	if (!gh_session_registers_read(&from, directory, GH_SESSION_FRAME_REGISTERS, word))
		return false;
	*frame = (struct gh_value_frame){.pc = from.pc, .sp = from.sp, .is_innermost = level == 0};
	gh_session_registers_order(&from, registers);
	if (frame->is_innermost && from.all)
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
