/* A picture of objects, in the language of Graphviz's dot; it looks as pprof's do. */
#ifndef GH_PLUGIN_VIEW_DOT_H
#define GH_PLUGIN_VIEW_DOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gh_dot {
	FILE *out;      /* where it goes; not owned */
	FILE *label;    /* what is written to it is a label, quoted; owned */
	uint64_t whole; /* bytes that shares are of */
	uint64_t most;  /* bytes that the largest retains: it has the largest letters */
	unsigned notes; /* that were drawn */
};

/* How an edge is drawn. */
enum gh_dot_edge {
	GH_DOT_POINTER,
	GH_DOT_PATH,     /* of what keeps the object alive that was asked for */
	GH_DOT_INDIRECT, /* by way of what is not drawn */
};

/* Begins a picture on OUT. False if memory ran out. To be ended with gh_dot_close. */
bool gh_dot_open(struct gh_dot *dot, FILE *out);

/* Each of these begins something, whose label the caller then writes to dot->label, fit for a
 * person, and ends with gh_dot_end. A newline is one in the picture. */

/* The legend, in a corner. */
void gh_dot_legend(const struct gh_dot *dot);

/* Object NUMBER, which retains so many bytes. MARKED: it is the one that was asked for. */
void gh_dot_object(const struct gh_dot *dot, uint32_t number, uint64_t retained, bool marked);

/* A note that points to OBJECT, with a heavy line if it is on the path. */
void gh_dot_note(struct gh_dot *dot, uint32_t object, bool path);

/* An edge from one object to another, which retains so many bytes. */
void gh_dot_edge(const struct gh_dot *dot, uint32_t from, uint32_t to, uint64_t retained,
		 enum gh_dot_edge edge);

void gh_dot_end(const struct gh_dot *dot);

/* Ends the picture. */
void gh_dot_close(struct gh_dot *dot);

#endif
