#include "plugin/view/emit.h"

#include <inttypes.h>
#include <math.h>

/* Sizes of letters, in points. */
#define LEAST_POINTS 8
#define MORE_POINTS  16

/* The width of lines. */
#define HEAVY 4

/* In labels dot knows HTML's entities, too. */
static void put_quoted(FILE *out, char c)
{
	switch (c) {
	case '\n':
		fputs("\\n", out);
		break;
	case '"':
	case '\\':
		fprintf(out, "\\%c", c);
		break;
	case '&':
		fputs("&amp;", out);
		break;
	default:
		putc(c, out);
	}
}

static ssize_t write_quoted(void *cookie, const char *text, size_t size)
{
	const struct gh_dot *dot = cookie;
	for (size_t i = 0; i < size; i++)
		put_quoted(dot->out, text[i]);
	return (ssize_t)size;
}

bool gh_dot_open(struct gh_dot *dot, FILE *out)
{
	*dot = (struct gh_dot){.out = out};
	dot->label = fopencookie(dot, "w", (cookie_io_functions_t){.write = write_quoted});
	if (dot->label == NULL)
		return false;
	fputs("digraph goheap {\nrankdir=LR\nnode [style=filled fillcolor=\"#f8f8f8\"]\n", out);
	return true;
}

void gh_dot_close(struct gh_dot *dot)
{
	fclose(dot->label);
	fputs("}\n", dot->out);
}

static void begin_label(const struct gh_dot *dot)
{
	fputs(" label=\"", dot->out);
}

void gh_dot_end(const struct gh_dot *dot)
{
	fflush(dot->label);
	fputs("\"]\n", dot->out);
}

static double share(uint64_t part, uint64_t whole)
{
	return part < whole ? (double)part / (double)whole : 1;
}

/* From grey, for what retains little, to red. LIGHT: for the inside of a box. */
static void put_color(const struct gh_dot *dot, const char *name, uint64_t retained, bool light)
{
	double value = light ? 0.93 : 0.7;
	double saturation = (light ? 0.1 : 1) * sqrt(share(retained, dot->whole));
	unsigned red = (unsigned)(255 * value);
	unsigned other = (unsigned)(255 * value * (1 - saturation));
	fprintf(dot->out, " %s=\"#%02x%02x%02x\"", name, red, other, other);
}

void gh_dot_legend(const struct gh_dot *dot)
{
	fputs("legend [shape=box fontsize=16", dot->out);
	begin_label(dot);
}

void gh_dot_object(const struct gh_dot *dot, uint32_t number, uint64_t retained, bool marked)
{
	double points = LEAST_POINTS + MORE_POINTS * sqrt(share(retained, dot->most));
	fprintf(dot->out, "N%" PRIu32 " [shape=box fontsize=%.1f", number, points);
	put_color(dot, "color", retained, false);
	put_color(dot, "fillcolor", retained, true);
	if (marked)
		fprintf(dot->out, " penwidth=%d", HEAVY);
	begin_label(dot);
}

void gh_dot_note(struct gh_dot *dot, uint32_t object, bool path)
{
	unsigned number = ++dot->notes;
	fprintf(dot->out, "R%u -> N%" PRIu32 " [penwidth=%d]\n", number, object, path ? HEAVY : 1);
	fprintf(dot->out, "R%u [shape=ellipse fontsize=10", number);
	begin_label(dot);
}

void gh_dot_edge(const struct gh_dot *dot, uint32_t from, uint32_t to, uint64_t retained,
		 enum gh_dot_edge edge)
{
	fprintf(dot->out, "N%" PRIu32 " -> N%" PRIu32 " [fontsize=10 penwidth=%.1f%s", from, to,
		edge == GH_DOT_PATH ? HEAVY : 1 + (HEAVY - 1) * share(retained, dot->whole),
		edge == GH_DOT_INDIRECT ? " style=dotted" : "");
	put_color(dot, "color", retained, false);
	begin_label(dot);
}
