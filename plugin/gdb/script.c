#include "plugin/gdb/gdb.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/escape.h"
#include "plugin/view/view.h"

/* The name of the script or of the one that is being written, to be freed. NULL if memory ran out.
 */
static char *name_in(const char *directory, const char *name)
{
	char *path;
	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

FILE *gh_script_open(const char *directory)
{
	char *part = name_in(directory, "boot.part");
	FILE *script = part != NULL ? fopen(part, "we") : NULL;
	if (script == NULL)
		gh_print_failure("boot.gdb", "write");
	else
		/* What the command before had left to do. */
		fputs("with confirm off -- define _goheap_then\nend\n", script);
	free(part);
	return script;
}

bool gh_script_commit(FILE *script, const char *directory)
{
	char *part = name_in(directory, "boot.part");
	char *path = name_in(directory, "boot.gdb");
	bool failed = ferror(script) != 0;
	bool written = fclose(script) == 0 && !failed && part != NULL && path != NULL &&
		       rename(part, path) == 0;
	if (!written)
		gh_print_failure("boot.gdb", "write");
	free(part);
	free(path);
	return written;
}

void gh_script_say(FILE *script, const char *text, ...)
{
	char *line;
	va_list args;
	va_start(args, text);
	int length = vasprintf(&line, text, args);
	va_end(args);
	if (length < 0)
		return;
	gh_escape_echo(script, line);
	free(line);
}

void gh_script_note_program(FILE *script, const char *state)
{
	fprintf(script, "with confirm off -- _goheap_be_%s\n", state);
}

void gh_script_file(FILE *script, const char *command, const char *file)
{
	fprintf(script, "%s ", command);
	gh_escape_gdb(script, file);
	fputc('\n', script);
}

void gh_script_presence(FILE *script)
{
	fputs("pipe show print frame-arguments | grep -E '\"scalars\\\\?\"' >/dev/null\n"
	      "if $_shell_exitcode\nelse\n" GH_SCRIPT_PRESENCE "end\n",
	      script);
}

void gh_script_symbols(FILE *script, const char *file)
{
	/* A Go program's stack does not begin with main.main, as its own tracebacks show. */
	fputs("set backtrace past-main on\n", script);
	gh_script_file(script, "with print symbol-loading off -- symbol-file", file);
}

void gh_script_first(FILE *script, const char *directory)
{
	char *path = name_in(directory, GH_SESSION_TERMINAL);
	if (path != NULL && access(path, F_OK) == 0) {
		fputs("if $goheap_first_answer\n", script);
		gh_script_go_on(script, "info files", "first");
		fputs("end\n", script);
	}
	free(path);
}

void gh_script_go_on(FILE *script, const char *command, const char *arguments)
{
	fprintf(script, "pipe %s | " GH_SCRIPT_PROGRAM_LAST "\n", command, arguments);
	/* If it failed, the script there is this one. */
	fprintf(script, "if $_shell_exitcode\nelse\nsource /proc/self/fd/%d/boot.gdb\nend\n",
		GH_SESSION_FD);
}
