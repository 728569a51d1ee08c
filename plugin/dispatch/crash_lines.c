#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/dispatch/dispatch.h"

/* Of a crash's text, and of each line of it, this much is said when the core file is opened. */
#define CRASH_LINES 10
#define CRASH_WIDTH 400

/* Has GDB print TEXT, SIZE bytes of lines, after which nothing may be added. */
static void say_lines(FILE *script, const char *text, size_t size)
{
	const char *end = text + size;
	for (unsigned i = 0; i < CRASH_LINES && text < end; i++) {
		char line[CRASH_WIDTH];
		char escaped[CRASH_WIDTH];
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		if (line_end == NULL)
			line_end = end;
		int tabs = 0;
		for (; text < line_end && *text == '\t'; text++)
			tabs++;
		snprintf(line, sizeof(line), "%.*s", (int)(line_end - text), text);
		gh_escape_text(escaped, sizeof(escaped), line);
		gh_script_say(script, "%*s%s", 8 * tabs, "", escaped);
		text = line_end + 1;
	}
}

void gh_script_crash(FILE *script, const char *core, const char *program_path)
{
	struct gh_program program = {0};
	struct gh_error err;
	struct gh_crash crash;
	if (!gh_image_open(&program.image, program_path, &err))
		return;
	if (gh_pclntab_open(&program.tab, &program.image, &err)) {
		if (gh_core_crash(&crash, core, &program) && crash.text.size > 0) {
			say_lines(script, (const char *)crash.text.data, crash.text.size);
			if (crash.has_goroutine)
				gh_script_say(script,
					      "goheap: goroutine %" PRIu64
					      " crashed; goheap crash prints its stack",
					      crash.goroutine);
			else
				gh_script_say(script, "goheap: no goroutine crashed; %s",
					      crash.in_c ? "C code did: see backtrace"
							 : "goheap hang tells what they wait for");
		}
		gh_crash_free(&crash);
	}
	gh_program_close(&program);
}
