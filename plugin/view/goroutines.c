#include "plugin/view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/view/internal.h"

/* More in a group are counted, not named: a line of a hundred thousand is of no use. */
#define SHOWN_IDS 10

/* STATUS is what was ASKED for, or that and more within parentheses: "select" is "select (no
 * cases)", too. */
static bool is_status(const char *status, const char *asked)
{
	size_t length = strlen(asked);
	return strncmp(status, asked, length) == 0 &&
	       (status[length] == '\0' || strncmp(status + length, " (", 2) == 0);
}

/* Goroutine NUMBER has the label KEY=VALUE that is asked for; or, of KEY alone, any such. */
static bool has_label(const struct gh_goroutine_list *listing, size_t number)
{
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	size_t count = gh_dump_labels(listing->dump, number, labels);
	size_t length = strcspn(listing->label, "=");
	const char *value = listing->label[length] == '=' ? listing->label + length + 1 : NULL;
	for (size_t i = 0; i < count; i++)
		if (labels[i].key_size == length &&
		    memcmp(labels[i].key, listing->label, length) == 0 &&
		    (value == NULL || (labels[i].value_size == strlen(value) &&
				       memcmp(labels[i].value, value, strlen(value)) == 0)))
			return true;
	return false;
}

/* Some goroutines are asked for, by what they are or do. */
static bool is_asked(const struct gh_goroutine_list *listing)
{
	return listing->status != NULL || listing->label != NULL || listing->pattern != NULL;
}

/* The goroutine is one of those asked for. */
static bool is_wanted(const struct gh_goroutine_list *listing,
		      const struct gh_dump_goroutine *goroutine,
		      const struct gh_goroutine_text *entry)
{
	if (listing->status != NULL && !is_status(entry->status, listing->status) &&
	    strcmp(listing->status, gh_goroutine_status(goroutine->status)) != 0)
		return false;
	if (listing->label != NULL && !has_label(listing, entry->number))
		return false;
	if (listing->pattern == NULL)
		return true;
	char *text = gh_goroutine_text_whole(entry);
	/* One of which it cannot be told is rather shown than lost. */
	bool matches =
	    text != NULL && gh_pattern_matches(listing->pattern, text, strlen(text)) != GH_MATCH_NO;
	free(text);
	return matches;
}

/* 0 for goroutines of the same group: with the same status and calls. */
static int compare_stacks(const struct gh_goroutine_text *x, const struct gh_goroutine_text *y)
{
	int order = strcmp(x->body, y->body);
	if (order == 0)
		order = strcmp(x->status, y->status);
	if (order == 0)
		order = x->locked - y->locked;
	return order;
}

static int compare_numbers(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* Those of a group are neighbours, by id. */
static int compare_entries(const void *a, const void *b)
{
	const struct gh_goroutine_text *x = a, *y = b;
	int order = compare_stacks(x, y);
	return order != 0 ? order : compare_numbers(x->id, y->id);
}

/* The order of panicparse (stack/bucket.go and stack.go, https://github.com/maruel/panicparse). Of
 * groups that differ in who created them alone, the smaller one is first there, too. */
static int compare_groups(const void *a, const void *b)
{
	const struct gh_goroutine_group *x = a, *y = b;
	int order = y->leads - x->leads;
	if (order == 0)
		order = strcmp(x->key, y->key);
	if (order == 0)
		order = y->first->locked - x->first->locked;
	if (order == 0)
		order = strcmp(x->first->status, y->first->status);
	if (order == 0)
		order = compare_numbers(x->count, y->count);
	return order != 0 ? order : compare_numbers(x->first->id, y->first->id);
}

/* The group of ENTRY comes first: it crashed, or else it is what the user looks at. */
static bool is_leader(const struct gh_goroutine_list *listing,
		      const struct gh_goroutine_text *entry)
{
	return listing->crashed != 0 ? entry->id == listing->crashed
				     : gh_dump_extras(listing->dump, entry->number).selected;
}

uint64_t gh_goroutine_group_wait(const struct gh_goroutine_group *group)
{
	uint64_t minutes = 0;
	for (size_t i = 0; i < group->count; i++)
		if (group->first[i].minutes > minutes)
			minutes = group->first[i].minutes;
	return minutes;
}

static void print_group(FILE *out, const struct gh_goroutine_group *group)
{
	fprintf(out, "%zu goroutine%s ", group->count, group->count > 1 ? "s" : "");
	gh_goroutine_print_state(out, group->first, gh_goroutine_group_wait(group));
	fprintf(out, ":\n%s", group->first->body);
	fputs("\ngoroutines", out);
	for (size_t i = 0; i < group->count && i < SHOWN_IDS; i++)
		fprintf(out, " %" PRIu64, group->first[i].id);
	if (group->count > SHOWN_IDS)
		fprintf(out, " and %zu more", group->count - SHOWN_IDS);
	fputs("\n", out);
	for (size_t i = 0; i < group->count; i++)
		fputs(group->first[i].extra, out);
}

static bool print_groups(struct gh_goroutine_list *listing, struct gh_goroutine_text *entries,
			 size_t count)
{
	struct gh_goroutine_group *groups = calloc(count + 1, sizeof(*groups));
	if (groups == NULL)
		return false;
	qsort(entries, count, sizeof(*entries), compare_entries);
	struct gh_goroutine_group *group = NULL;
	bool ok = true;
	size_t ngroups = 0;
	for (size_t i = 0; ok && i < count; i++) {
		if (group == NULL || compare_stacks(group->first, &entries[i]) != 0) {
			group = &groups[ngroups++];
			group->first = &entries[i];
			group->key = gh_goroutine_order(listing, entries[i].number);
			ok = group->key != NULL;
		}
		group->count++;
		group->leads = group->leads || is_leader(listing, &entries[i]);
	}
	if (ok)
		qsort(groups, ngroups, sizeof(*groups), compare_groups);
	for (size_t i = 0; ok && i < ngroups; i++) {
		if (listing->json) {
			ok = gh_goroutine_json_print_group(listing, &groups[i]);
			continue;
		}
		if (i > 0)
			fputs("\n", listing->out);
		print_group(listing->out, &groups[i]);
	}
	for (size_t i = 0; i < ngroups; i++)
		free(groups[i].key);
	free(groups);
	return ok;
}

/* Prints the goroutines that are wanted or, if they are to be grouped, gathers them in ENTRIES.
 * Counts them. False if memory ran out. */
static bool walk(struct gh_goroutine_list *listing, struct gh_goroutine_text *entries,
		 size_t *count)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < listing->dump->stacks.count; i++) {
		struct gh_goroutine_text entry;
		gh_dump_get(listing->dump, GH_DUMP_GOROUTINE, i, &record);
		if (listing->only != NULL ? record.goroutine.id != *listing->only
					  : record.goroutine.system && !listing->all)
			continue;
		if (listing->leaked != NULL && !listing->leaked[i])
			continue;
		if (!gh_goroutine_text_make(&entry, listing, i, &record))
			return false;
		if (!is_wanted(listing, &record.goroutine, &entry)) {
			gh_goroutine_text_free(&entry);
			continue;
		}
		if (entries != NULL) {
			entries[(*count)++] = entry;
			continue;
		}
		if (listing->json) {
			gh_goroutine_json_print(listing, i, &record.goroutine);
		} else {
			if (*count > 0 && !listing->one_line)
				fputs("\n", listing->out);
			gh_goroutine_text_print(listing->out, &entry);
		}
		++*count;
		gh_goroutine_text_free(&entry);
	}
	return true;
}

bool gh_goroutines_print(struct gh_goroutine_list *listing)
{
	struct gh_goroutine_text *entries = NULL;
	size_t count = 0;
	bool ok = true;
	if (listing->group) {
		entries = calloc(listing->dump->stacks.count + 1, sizeof(*entries));
		ok = entries != NULL;
	}
	ok = ok && walk(listing, entries, &count);
	if (ok && entries != NULL)
		ok = print_groups(listing, entries, count);
	if (ok && count == 0 && !listing->json && is_asked(listing))
		gh_say("none of the goroutines matches");
	for (size_t i = 0; entries != NULL && i < count; i++)
		gh_goroutine_text_free(&entries[i]);
	free(entries);
	gh_traceback_free(&listing->traceback);
	if (!ok)
		gh_say(GH_OUT_OF_MEMORY);
	if (ok && count == 0 && listing->only != NULL) {
		gh_say("there is no goroutine %" PRIu64, *listing->only);
		return false;
	}
	return ok;
}

bool gh_goroutines_print_one(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			     uint64_t id)
{
	struct gh_goroutine_list listing = {
	    .out = out, .dump = dump, .symbols = symbols, .only = &id, .panics_told = true};
	return gh_goroutines_print(&listing);
}
