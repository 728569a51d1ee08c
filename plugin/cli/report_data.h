/* What the page that `goheap report' writes shows of a heap. */
#ifndef GH_PLUGIN_CLI_REPORT_DATA_H
#define GH_PLUGIN_CLI_REPORT_DATA_H

#include "plugin/cli/heap_query.h"

/* Prints a JSON object to OUT: the dump's name and sums; its classes; and nodes, each after the one
 * that dominates it, for the objects that retain most, each with a shortest path from a root, and
 * by class for what else these dominate. QUERY has dominators. False (ERR filled) if memory ran
 * out. */
bool gh_reportdata_print(FILE *out, struct gh_heap_query *query, struct gh_error *err);

#endif
