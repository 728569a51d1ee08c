/* Findings: what is wrong with a process, as data, and as text and JSON of that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/findings/findings.h"

/* Columns of a line, and of what is before its text. */
enum { WIDTH = 100, INDENT = 3 };

/* The most findings that are shown to a person. */
enum { MOST_SHOWN = 8 };

static const char *const names[GH_FINDING_KINDS] = {
    [GH_FINDING_CRASH] = "crash",
    [GH_FINDING_STOPPED] = "stopped",
    [GH_FINDING_DEADLOCK] = "deadlock",
    [GH_FINDING_LEFT_LOCKED] = "left locked",
    [GH_FINDING_LOCK] = "lock",
    [GH_FINDING_REQUESTS] = "requests",
    [GH_FINDING_KERNEL] = "kernel",
    [GH_FINDING_DESCRIPTORS] = "descriptors",
    [GH_FINDING_FINALIZERS] = "finalizers",
    [GH_FINDING_LEAKED] = "leaked goroutines",
    [GH_FINDING_CROWD] = "many goroutines",
    [GH_FINDING_LIMIT] = "memory limit",
    [GH_FINDING_COLLECTOR] = "collector",
    [GH_FINDING_THREADS] = "threads",
    [GH_FINDING_MALLOC] = "malloc",
    [GH_FINDING_LOST] = "lost",
    [GH_FINDING_STACKS] = "stacks",
    [GH_FINDING_HOLDER] = "holder",
    [GH_FINDING_FREE] = "free memory",
};

FILE *gh_finding_begin(struct gh_diagnosis *diagnosis, enum gh_finding_kind kind, uint64_t weight)
{
	diagnosis->open = (struct gh_finding){.kind = kind, .weight = weight};
	diagnosis->out = open_memstream(&diagnosis->open.sentence, &diagnosis->size);
	if (diagnosis->out == NULL)
		gh_leave_out();
	return diagnosis->out;
}

static char *make_command(const struct gh_options *options, const char *command)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out != NULL)
		gh_command_line_print(out, options, command);
	return gh_text_end(out, &text);
}

void gh_finding_end(struct gh_diagnosis *diagnosis, const char *command)
{
	struct gh_finding finding = diagnosis->open;
	finding.sentence = gh_text_end(diagnosis->out, &diagnosis->open.sentence);
	diagnosis->out = NULL;
	if (command != NULL)
		finding.command = make_command(diagnosis->options, command);
	bool whole = finding.sentence != NULL && (command == NULL || finding.command != NULL);
	if (whole && gh_vector_push(&diagnosis->findings, finding))
		return;
	gh_leave_out();
	free(finding.sentence);
	free(finding.command);
}

static int compare_findings(const void *left, const void *right)
{
	const struct gh_finding *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

void gh_findings_sort(struct gh_findings *findings)
{
	if (findings->count > 0)
		qsort(findings->items, findings->count, sizeof(*findings->items), compare_findings);
}

/* Prints TEXT or, if OUT is NULL, nothing, in lines of WIDTH columns, all but the first indented.
 * Returns how many lines there are. A word that is longer has a line to itself. */
static unsigned print_wrapped(FILE *out, const char *text)
{
	unsigned lines = 1;
	size_t column = INDENT;
	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		if (column > INDENT && column + 1 + length > WIDTH) {
			if (out != NULL)
				fprintf(out, "\n%*s", INDENT, "");
			column = INDENT;
			lines++;
		} else if (column > INDENT) {
			if (out != NULL)
				putc(' ', out);
			column++;
		}
		if (out != NULL)
			fprintf(out, "%.*s", (int)length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	return lines;
}

static void print_text(const struct gh_findings *findings, unsigned lines)
{
	size_t shown = 0;
	for (; shown < findings->count && shown < MOST_SHOWN; shown++) {
		const struct gh_finding *finding = &findings->items[shown];
		unsigned needed = print_wrapped(NULL, finding->sentence) +
				  (finding->command != NULL) + (shown + 1 < findings->count);
		/* The first is the answer. */
		if (shown > 0 && needed > lines)
			break;
		lines -= needed < lines ? needed : lines;
		printf("%zu. ", shown + 1);
		print_wrapped(stdout, finding->sentence);
		putchar('\n');
		if (finding->command != NULL)
			printf("%*s%s\n", INDENT, "", finding->command);
	}
	if (shown < findings->count)
		printf("and %zu more, which --json prints\n", findings->count - shown);
}

static void print_json(const struct gh_findings *findings)
{
	struct row {
		const char *part;
		const char *kind;
		uint64_t rank;
		const char *sentence;
		const char *command;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"rank", GH_COL_NUMBER(struct row, rank)},
	    {"kind", GH_COL_TEXT(struct row, kind)},
	    {"finding", GH_COL_TEXT(struct row, sentence)},
	    {"command", GH_COL_TEXT(struct row, command), .optional = true},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	for (size_t i = 0; i < findings->count; i++) {
		const struct gh_finding *finding = &findings->items[i];
		struct row row = {"finding", names[finding->kind], i + 1, finding->sentence,
				  finding->command};
		gh_emit_row(&emit, columns, &row);
	}
}

void gh_findings_print(struct gh_diagnosis *diagnosis, unsigned lines)
{
	if (diagnosis->options->json)
		print_json(&diagnosis->findings);
	else
		print_text(&diagnosis->findings, lines);
}

void gh_findings_free(struct gh_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].sentence);
		free(findings->items[i].command);
	}
	gh_vector_free(findings);
}

void gh_finding_emit(FILE *out, const struct gh_dump *dump, const struct gh_column *columns,
		     const void *row, struct gh_bytes *sentence,
		     void (*print)(FILE *out, const void *row))
{
	struct gh_emit rows = gh_emit_start(out, GH_EMIT_ROWS, dump, true);
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (stream != NULL)
		print(stream, row);
	text = gh_text_end(stream, &text);
	if (text == NULL)
		gh_leave_out();
	*sentence = (struct gh_bytes){text, text != NULL ? size : 0};
	gh_emit_row(&rows, columns, row);
	free(text);
	*sentence = (struct gh_bytes){0};
}
