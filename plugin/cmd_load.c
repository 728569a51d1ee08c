/* goheap load: what gdbinit's command of that name runs. Reads what GDB's `info files' prints,
 * makes a core file of a heap dump in the session's directory, and writes the script by which GDB
 * opens it. */
#include <argp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/write/corefile.h"
#include "lib/write/dumpsymbols.h"
#include "plugin/command.h"
#include "plugin/dumpfile.h"
#include "plugin/infofiles.h"
#include "plugin/session.h"
#include "plugin/symbols.h"

struct arguments {
	const char *dump; /* the dump; in argv */
	bool force;       /* load it whether or not it belongs to the program */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case 'f':
		arguments->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->dump != NULL)
			argp_usage(state);
		arguments->dump = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Has GDB print FORMAT's text, a line, which is fit for a terminal. */
static void say(FILE *script, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(FILE *script, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gh_escape_echo(script, text);
}

/* Fills PROGRAM from GDB's, if there is one and the dump is its. False if it is not. */
static bool find_program(struct gh_core_program *program, const struct gh_dump *dump,
			 const struct gh_infofiles *files, bool force)
{
	*program = (struct gh_core_program){.name = ""};
	if (files->program == NULL)
		return true;
	if (gh_symbols_program(program, dump, files->program))
		return true;
	if (!force)
		fputs("goheap: load -f loads it nonetheless\n", stderr);
	return force;
}

/* What a thread is called: why its goroutine waits and for how long, or its status. */
static void name_thread(FILE *script, const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	const struct gh_dump_goroutine *goroutine = &record.goroutine;
	fprintf(script, "thread apply %zu -s thread name ", number + 1);
	struct gh_cursor reason = gh_dump_bytes(dump, goroutine->wait_reason);
	if (goroutine->status == GH_DUMP_WAITING && gh_cursor_left(&reason) > 0)
		gh_print_bytes(script, (const char *)reason.pos,
			       gh_cursor_left(&reason) < 80 ? gh_cursor_left(&reason) : 80, false);
	else
		fputs(gh_dumpfile_status(goroutine->status), script);
	uint64_t minutes = gh_dumpfile_minutes(dump, goroutine);
	if (minutes > 0)
		fprintf(script, ", %" PRIu64 " minute%s", minutes, minutes == 1 ? "" : "s");
	fputc('\n', script);
}

/* A text of the dump, made fit for a terminal; in BUF. */
static const char *text_of(const struct gh_dump *dump, struct gh_dump_slice slice, char *buf,
			   size_t size)
{
	char raw[64] = "";
	struct gh_cursor cur = gh_dump_bytes(dump, slice);
	size_t length = gh_cursor_left(&cur);
	memcpy(raw, cur.pos, length < sizeof(raw) ? length : sizeof(raw) - 1);
	return gh_escape_text(buf, size, raw);
}

static void say_what_is_loaded(FILE *script, const struct gh_dump *dump,
			       const struct gh_infofiles *files)
{
	char version[128];
	char goarch[64];
	text_of(dump, gh_dump_go_version(dump), version, sizeof(version));
	say(script, "%s heap dump of %s linux/%s: %zu goroutines, %" PRIu64 " bytes in %zu objects",
	    gh_dump_format_name(dump->format), *version != '\0' ? version : "an unknown Go",
	    gh_escape_text(goarch, sizeof(goarch), dump->goarch),
	    gh_dump_count(dump, GH_DUMP_GOROUTINE), dump->objects.bytes,
	    gh_dump_count(dump, GH_DUMP_OBJECT));
	say(script,
	    "Not in a dump: variables without pointers (noptrdata, noptrbss), which show what the "
	    "program starts with; registers, but for pc and sp.");
	if (files->program == NULL)
		say(script, "No program: function names are the dump's. For files and lines, name "
			    "it with the file command and load again.");
}

/* Writes the script that has GDB open CORE, and SYMBOLS unless that is NULL. */
static bool write_script(const char *directory, const char *core, const char *symbols,
			 const struct gh_dump *dump, const struct gh_infofiles *files)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/boot.gdb", directory);
	FILE *script = fopen(path, "we");
	if (script == NULL) {
		perror(path);
		return false;
	}
	if (symbols != NULL) {
		fputs("with print symbol-loading off -- symbol-file ", script);
		gh_escape_gdb(script, symbols);
		/* Symbols that are all GDB has it takes for mangled names. */
		fputs("\nset print demangle off\nset backtrace past-main on\n", script);
	}
	fputs("with print thread-events off -- core-file ", script);
	gh_escape_gdb(script, core);
	fputc('\n', script);
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_GOROUTINE); i++)
		name_thread(script, dump, i);
	say_what_is_loaded(script, dump, files);
	bool failed = ferror(script) != 0;
	return fclose(script) == 0 && !failed;
}

static bool load(const struct arguments *arguments, const char *directory,
		 const struct gh_infofiles *files)
{
	struct gh_dump dump;
	struct gh_core_program program;
	struct gh_error err;
	if (!gh_dumpfile_open(&dump, arguments->dump))
		return false;
	char core[4096];
	snprintf(core, sizeof(core), "%s/dump.core", directory);
	bool ok = find_program(&program, &dump, files, arguments->force);
	if (ok && !gh_corefile_write(&dump, &program, core, &err)) {
		gh_print_error(&err);
		ok = false;
	}
	char symbols[4096];
	snprintf(symbols, sizeof(symbols), "%s/dump.debug", directory);
	bool alone = ok && files->program == NULL;
	if (alone && !gh_dumpsymbols_write(&dump, symbols, &err)) {
		gh_print_error(&err);
		alone = false;
	}
	ok = ok && write_script(directory, core, alone ? symbols : NULL, &dump, files);
	gh_dump_close(&dump);
	return ok;
}

int gh_cmd_load(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "force", .key = 'f', .doc = "Load a dump that does not belong to the program"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "DUMP",
	    .doc = "Make GDB's session of the heap dump DUMP; for GDB's own command of that name.",
	};
	struct arguments arguments = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);

	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (directory == NULL) {
		fputs("goheap: load is a command of GDB's: jit-reader-load goheap.so, then goheap "
		      "load\n",
		      stderr);
		return GH_EXIT_USAGE;
	}
	struct gh_infofiles files;
	if (!gh_infofiles_read(&files, stdin)) {
		fputs("goheap: out of memory\n", stderr);
		return GH_EXIT_INPUT;
	}
	bool loaded = load(&arguments, directory, &files);
	gh_infofiles_free(&files);
	return loaded ? GH_EXIT_OK : GH_EXIT_INPUT;
}
