/* goheap crash: what a process crashes of, and the goroutine that does, as Go prints it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* Prints TEXT, SIZE bytes, line by line, with its tabs. */
static void print_text(const char *text, size_t size)
{
	const char *end = text + size;
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		if (line_end == NULL)
			line_end = end;
		const char *tab;
		while ((tab = memchr(text, '\t', (size_t)(line_end - text))) != NULL) {
			gh_print_bytes(stdout, text, (size_t)(tab - text), false);
			putchar('\t');
			text = tab + 1;
		}
		gh_print_bytes(stdout, text, (size_t)(line_end - text), false);
		putchar('\n');
		text = line_end + 1;
	}
}

/* The crash, as a row of JSON; its goroutine's row follows, as of goheap goroutines. */
struct row {
	const char *part;
	struct gh_bytes text; /* lines */
	struct gh_known goroutine;
	bool in_c;
};

static int emit(const struct gh_snapshot *snapshot, const struct gh_options *options)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"text", GH_COL_BYTES(struct row, text)},
	    {"goroutine", GH_COL_KNOWN_NUMBER(struct row, goroutine)},
	    {"in_c", GH_COL_BOOL(struct row, in_c)},
	    {0},
	};
	const struct gh_crash *crash = &snapshot->crash;
	struct row row = {
	    .part = "crash",
	    .text = {(const char *)crash->text.data, crash->text.size},
	    .goroutine = {crash->goroutine, crash->has_goroutine},
	    .in_c = crash->in_c,
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &snapshot->dump, true);
	struct gh_symbols symbols;
	gh_emit_row(&emit, columns, &row);
	if (!crash->has_goroutine)
		return GH_EXIT_OK;
	if (!gh_symbols_open(&symbols, &snapshot->dump, options->program))
		return GH_EXIT_INPUT;
	struct gh_goroutine_list listing = {
	    .out = stdout,
	    .dump = &snapshot->dump,
	    .symbols = &symbols,
	    .only = &crash->goroutine,
	    .json = true,
	};
	bool printed = gh_goroutines_print(&listing);
	gh_symbols_close(&symbols);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Says where its values are. In GDB `goheap frame' is of the selected frame. */
static void print_next(const struct gh_options *options, uint64_t goroutine)
{
	if (getenv(GH_SESSION_VARIABLE) != NULL)
		return;
	putchar('\n');
	gh_see_print(stdout, options, "frame");
	printf(" %" PRIu64 " (the values in its frames)\n", goroutine);
}

static int show(const struct gh_snapshot *snapshot, const struct gh_options *options)
{
	const struct gh_crash *crash = &snapshot->crash;
	struct gh_symbols symbols;
	if (crash->text.size == 0) {
		fputs("goheap: there is no panic, no fatal error and no signal's handler in the "
		      "process: ",
		      stderr);
		gh_see_print(stderr, options, "goroutines");
		fputs("\n", stderr);
		return GH_EXIT_INPUT;
	}
	if (options->json)
		return emit(snapshot, options);
	print_text((const char *)crash->text.data, crash->text.size);
	if (!crash->has_goroutine) {
		fputs("\nNo goroutine crashed: ", stdout);
		if (crash->in_c) {
			puts("C code did, on a thread that runs none. GDB's backtrace of the core "
			     "file tells where.");
		} else {
			gh_see_print(stdout, options, "hang");
			puts(" (what they wait for)");
		}
		return GH_EXIT_OK;
	}
	if (!gh_symbols_open(&symbols, &snapshot->dump, options->program))
		return GH_EXIT_INPUT;
	putchar('\n');
	bool printed = gh_goroutines_print_one(stdout, &snapshot->dump, &symbols, crash->goroutine);
	gh_symbols_close(&symbols);
	if (printed)
		print_next(options, crash->goroutine);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_crash(const struct gh_options *options)
{
	struct gh_snapshot snapshot;
	if (!gh_snapshot_open_crash(&snapshot, options->file, options->program))
		return GH_EXIT_INPUT;
	int status = show(&snapshot, options);
	gh_snapshot_close(&snapshot);
	return status;
}
