/* goheap first: what GDB has goheap run once for each process, core file and heap dump that is
 * opened at a terminal. Reads what `info files' prints, and has GDB print what is wrong, in three
 * lines at the most. */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/command/command.h"
#include "plugin/dispatch/dispatch.h"
#include "plugin/findings/findings.h"

/* The most lines. */
enum { LINES = 3 };

/* Prints what was looked at, for a person, and that nothing is wrong with it. */
static void print_nothing(FILE *out, const struct gh_diagnosis *diagnosis,
			  const struct gh_about *about)
{
	char size[GH_SIZE_TEXT];
	fputs("goheap: nothing unusual: ", out);
	if (about->resident.known)
		fprintf(out, "memory %s, ", gh_size_text(about->resident.value, size));
	if (diagnosis->figures.heap > 0)
		fprintf(out, "Go heap %s, ", gh_size_text(diagnosis->figures.heap, size));
	if (about->threads.known) {
		gh_print_count(out, about->threads.value, "thread");
		fputs(", ", out);
	}
	gh_print_count(out, about->goroutines, "goroutine");
	fputs(diagnosis->left_heap ? "; what holds the heap was not looked at: goheap diagnose\n"
				   : "\n",
	      out);
}

/* Prints that there are MORE findings than those that were told, and that the heap was left out. */
static void print_rest(FILE *out, const struct gh_diagnosis *diagnosis, size_t more)
{
	fputs("goheap: ", out);
	if (more > 0) {
		fputs("and ", out);
		gh_print_count(out, more, "more finding");
	}
	if (diagnosis->left_heap)
		fprintf(out, "%swhat holds the heap was not looked at", more > 0 ? "; " : "");
	fputs(": goheap diagnose\n", out);
}

/* Prints the gravest findings, a line each. Why a core file's process crashed has been told. */
static void print_findings(FILE *out, const struct gh_diagnosis *diagnosis,
			   const struct gh_about *about)
{
	const struct gh_findings *findings = &diagnosis->findings;
	size_t told = findings->count > 0 && findings->items[0].kind == GH_FINDING_CRASH;
	size_t count = findings->count - told, room = LINES - told;
	if (count == 0 && told == 0)
		print_nothing(out, diagnosis, about);
	if (count == 0)
		return;
	bool has_rest = diagnosis->left_heap || count > room;
	size_t shown = count < room - has_rest ? count : room - has_rest;
	for (size_t i = told; i < told + shown; i++) {
		const struct gh_finding *finding = &findings->items[i];
		fprintf(out, "goheap: %s", finding->sentence);
		if (finding->command != NULL)
			fprintf(out, " (%s)", finding->command);
		putc('\n', out);
	}
	if (has_rest)
		print_rest(out, diagnosis, count - shown);
}

/* Has GDB print TEXT, lines that are fit for a terminal. */
static bool write_script(const char *directory, const char *text)
{
	FILE *script = gh_script_open(directory);
	if (script == NULL)
		return false;
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");
		gh_script_say(script, "%.*s", (int)length, text);
		text += length + (text[length] == '\n');
	}
	return gh_script_commit(script, directory);
}

/* Looks at SOURCE, and writes the script. */
static bool answer(const struct gh_kept_source *source, const char *directory)
{
	const struct gh_options options = {
	    .file = source->process != NULL ? source->process : source->file,
	    .process = source->process,
	    .program = source->program,
	    .names = source->names,
	};
	struct gh_diagnosis diagnosis = {.options = &options, .brief = true};
	struct gh_about about;
	char *text = NULL;
	size_t size;
	enum gh_target_kind kind =
	    options.process != NULL ? GH_KIND_PROCESS : gh_target_kind(options.file, NULL);
	bool looked = gh_diagnose(&diagnosis, &about, kind);
	FILE *out = looked ? open_memstream(&text, &size) : NULL;
	if (out != NULL)
		print_findings(out, &diagnosis, &about);
	text = gh_text_end(out, &text);
	gh_diagnosis_free(&diagnosis, &about);
	bool written = text != NULL && write_script(directory, text);
	free(text);
	return written;
}

int gh_cmd_first(const struct gh_options *options)
{
	(void)options;
	const char *directory = getenv(GH_SESSION_VARIABLE);
	struct gh_infofiles files;
	struct gh_gdb_source source;
	if (directory == NULL) {
		fputs("goheap first: only for goheap in GDB to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	/* Nobody has asked: nothing is said of what it cannot be told of. */
	bool answered =
	    freopen("/dev/null", "we", stderr) != NULL && gh_infofiles_read(&files, stdin);
	if (answered) {
		answered = (gh_gdb_source_dump(&source, directory, &files) ||
			    gh_gdb_source_system(&source, &files)) &&
			   answer(&source.of, directory);
		gh_infofiles_free(&files);
	}
	return answered ? GH_EXIT_OK : GH_EXIT_INPUT;
}
