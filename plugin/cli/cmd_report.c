/* goheap report: a page for a browser that shows what fills a heap and what keeps it there. */
#include <stdlib.h>

#include "lib/util/output.h"
#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/cli/wait_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* Rows of what has grown. */
#define MAX_GROWTHS 1000

/* A JSON text in memory, on its way to the page. */
struct json {
	FILE *out; /* NULL if memory ran out */
	char *text;
	size_t size;
};

static void begin_json(struct json *json)
{
	*json = (struct json){0};
	json->out = open_memstream(&json->text, &json->size);
}

/* Puts the text on the PAGE as the element ID. A browser ends a script at "</script", wherever that
 * is. False if memory ran out. */
static bool end_json(struct json *json, FILE *page, const char *id)
{
	bool ok = fclose(json->out) == 0;
	fprintf(page, "<script type=\"application/json\" id=\"%s\">", id);
	for (size_t i = 0; ok && i < json->size; i++) {
		if (json->text[i] == '<')
			fputs("\\u003c", page);
		else
			putc(json->text[i], page);
	}
	fputs("</script>\n", page);
	free(json->text);
	return ok;
}

static bool put_heap(FILE *page, struct gh_heap_query *query, struct gh_error *err)
{
	struct json json;
	begin_json(&json);
	bool ok = json.out != NULL && gh_reportdata_print(json.out, query, err);
	if (json.out == NULL || !end_json(&json, page, "heap"))
		return gh_fail_memory(err, query->dump.path);
	return ok;
}

static bool put_suspects(FILE *page, struct gh_heap_query *query, struct gh_heap_query *older,
			 struct gh_error *err)
{
	struct json json;
	struct gh_suspects suspects = {0};
	struct gh_suspects before = {0};
	begin_json(&json);
	bool ok = (older == NULL || gh_suspects_find(&before, older, NULL, err)) &&
		  gh_suspects_find(&suspects, query, older != NULL ? &before : NULL, err);
	if (ok && json.out != NULL)
		gh_suspects_emit(json.out, &suspects);
	gh_suspects_free(&suspects);
	gh_suspects_free(&before);
	if (json.out == NULL || !end_json(&json, page, "findings"))
		return gh_fail_memory(err, query->dump.path);
	return ok;
}

/* Puts what has grown since OLDER, in each way, and the sums of that. */
static bool put_growth(FILE *page, struct gh_heap_query *query, struct gh_heap_query *older,
		       struct gh_error *err)
{
	static const struct {
		const char *id;
		enum gh_grouping by;
	} ways[] = {
	    {"growth-type", GH_BY_TYPE}, {"growth-path", GH_BY_PATH}, {"growth-root", GH_BY_ROOT}};
	struct json json;
	begin_json(&json);
	if (json.out != NULL)
		gh_reportdata_print_sums(json.out, older);
	bool ok = json.out != NULL && end_json(&json, page, "older");
	for (size_t i = 0; ok && i < sizeof(ways) / sizeof(ways[0]); i++) {
		begin_json(&json);
		ok = json.out != NULL &&
		     gh_growth_print(json.out, older, query, ways[i].by, MAX_GROWTHS, true);
		if (json.out != NULL && !end_json(&json, page, ways[i].id))
			ok = false;
	}
	return ok || gh_fail_memory(err, query->dump.path);
}

static bool put_stacks(FILE *page, struct gh_heap_query *query, struct gh_error *err)
{
	struct json json;
	begin_json(&json);
	bool ok = json.out != NULL &&
		  gh_goroutines_print_groups(json.out, &query->dump, query->names.symbols);
	if (json.out != NULL && !end_json(&json, page, "stacks"))
		ok = false;
	return ok || gh_fail_memory(err, query->dump.path);
}

/* What goroutines wait for, as text, in lines. */
static bool put_waits(FILE *page, struct gh_heap_query *query, struct gh_error *err)
{
	struct row {
		struct gh_bytes text;
	};
	static const struct gh_column columns[] = {{"text", GH_COL_BYTES(struct row, text)}, {0}};
	struct json json;
	char *text = NULL;
	struct row row = {0};
	FILE *out = open_memstream(&text, &row.text.size);
	bool ok = out != NULL && gh_waits_print(out, query);
	ok = out != NULL && fclose(out) == 0 && ok;
	begin_json(&json);
	if (ok && json.out != NULL) {
		struct gh_emit emit = gh_emit_start(json.out, GH_EMIT_ROWS, &query->dump, true);
		row.text.data = text;
		gh_emit_row(&emit, columns, &row);
	}
	if (json.out == NULL || !end_json(&json, page, "waits"))
		ok = false;
	free(text);
	return ok || gh_fail_memory(err, query->dump.path);
}

static bool write_page(const struct gh_output *output, struct gh_heap_query *query,
		       struct gh_heap_query *older, struct gh_error *err)
{
	FILE *page = gh_output_stream(output, err);
	if (page == NULL)
		return false;
	fputs(gh_report_page, page);
	bool ok = put_heap(page, query, err) && put_suspects(page, query, older, err) &&
		  (older == NULL || put_growth(page, query, older, err)) &&
		  put_stacks(page, query, err) && put_waits(page, query, err);
	fputs("</body>\n</html>\n", page);
	bool written = !ferror(page);
	if (fclose(page) != 0 || !written)
		return gh_fail_errno(err, output->path, "write");
	return ok;
}

static bool write_report(const char *path, struct gh_heap_query *query, struct gh_heap_query *older,
			 struct gh_error *err)
{
	struct gh_output output;
	if (!gh_output_open(&output, path, GH_OUTPUT_PUBLIC, err))
		return false;
	return gh_output_end(&output, write_page(&output, query, older, err), err);
}

static int answer(struct gh_heap_query *query)
{
	struct gh_error err;
	const struct gh_options *options = query->options;
	struct gh_heap_query *older = NULL;
	if (options->older != NULL) {
		older = gh_heap_query_open(options, options->older, GH_WITH_DOMINATORS);
		if (older == NULL)
			return GH_EXIT_INPUT;
		gh_heap_query_compare(older, query);
	}
	gh_progress_begin("goheap: writing", options->output);
	bool ok = write_report(options->output, query, older, &err);
	gh_progress_end();
	gh_heap_query_close(older);
	if (!ok)
		gh_print_error(&err);
	return ok ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_report(const struct gh_options *options)
{
	return gh_heap_query_run(options, GH_WITH_DOMINATORS, answer);
}
