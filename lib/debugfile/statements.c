#include "lib/debugfile/debugfile.h"
#include "lib/debugfile/internal.h"

bool gh_statements_find(struct gh_statements *statements, const struct gh_pclntab *tab,
			const struct gh_func *func)
{
	struct gh_line_table lines;
	struct gh_sourcemap map = {0};
	struct gh_range range;
	*statements = (struct gh_statements){0};
	gh_line_init(&lines, tab, SIZE_MAX);
	bool started = gh_sourcemap_start(&map, tab, func);
	if (started) {
		gh_line_begin(&lines, func, false);
		while (gh_sourcemap_next(&map, &range))
			gh_line_range(&lines, &range);
		gh_line_end(&lines);
	}
	for (size_t i = 0; i < lines.rows.count; i++)
		if (lines.rows.items[i].is_stmt)
			gh_vector_push(statements, lines.rows.items[i].address);
	bool failed = !started || gh_line_failed(&lines) || statements->failed;
	gh_sourcemap_free(&map);
	gh_line_free(&lines);
	if (failed)
		gh_vector_free(statements);
	return !failed;
}
