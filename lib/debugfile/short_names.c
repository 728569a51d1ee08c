#include "lib/debugfile/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/elf/elf.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/escape.h"
#include "lib/util/hash.h"
#include "lib/util/parallel.h"

/* A function that is inlined in more places gets no short name: each place would be a symbol for
 * each of them, and one in twelve functions has most of the places. GDB takes a microsecond and 300
 * bytes for a symbol, whether it is ever asked for or not. */
#define MAX_PLACES 4

/* The names that are symbols; `goheap break' takes all forms. */
static const enum gh_name_form forms[] = {GH_NAME_WHOLE, GH_NAME_BASE, GH_NAME_RECEIVER,
					  GH_NAME_ELEMENT, GH_NAME_ELEMENT_POINTER};

/* A name that is taken by something else than a function's short name. */
#define TAKEN GH_NAME_FORMS

/* The function's name as tracebacks have it: main.(*tree[...]).push. */
#define TRACEBACK (GH_NAME_FORMS + 1)

/* A name that a function may be called by. */
struct candidate {
	uint64_t hash;    /* of the name */
	const char *name; /* the function's, or the name itself if it is taken; in the image */
	uint32_t first;   /* the function's first entry point; each takes bytes of .debug_info */
	uint8_t count;    /* how many it has, up to MAX_PLACES; 0: it gets no short names */
	uint8_t form;     /* enum gh_name_form, TAKEN or TRACEBACK */
};

struct candidates GH_VECTOR(struct candidate);

/* Candidates are divided by the highest byte of their hash. What has one name is in one part, and
 * parts are small enough for a processor's caches. */
#define PARTS 256

struct part {
	struct candidates candidates; /* freed when its names are found */
	struct gh_short_names names;  /* owned */
	bool failed;                  /* memory ran out for the candidates */
};

struct job {
	struct gh_short_names *out;           /* of all parts */
	const struct gh_entry_points *points; /* by name, then address */
	struct part parts[PARTS];             /* by the highest byte */
};

static void add_candidate(struct job *job, struct candidate candidate)
{
	gh_vector_push(&job->parts[candidate.hash >> 56].candidates, candidate);
}

/* Writes the name that CANDIDATE is; TAKEN ones are cut. */
static size_t write_candidate(const struct candidate *candidate, char *text)
{
	struct gh_func_name name;
	if (candidate->form == TRACEBACK)
		return gh_func_name_replace(candidate->name, "[...]", text);
	if (candidate->form != TAKEN)
		return gh_func_name_parse(&name, candidate->name)
			   ? gh_func_name_write(&name, candidate->form, text)
			   : 0;
	size_t size = strnlen(candidate->name, GH_NAME_FORM_SIZE - 1);
	memcpy(text, candidate->name, size);
	text[size] = '\0';
	return size;
}

/* No short name is so long. */
static void add_taken(struct job *job, const char *name)
{
	size_t size = strnlen(name, GH_NAME_FORM_SIZE);
	if (size > 0 && size < GH_NAME_FORM_SIZE)
		add_candidate(job, (struct candidate){
				       .hash = gh_hash_bytes(GH_HASH_START, name, size),
				       .name = name,
				       .form = TAKEN,
				   });
}

/* GDB calls these, or stops there, in programs in C. A name with an underscore first is C's, too.
 */
static bool is_c_name(const char *text)
{
	static const char *const names[] = {"main",  "malloc", "mmap",    "munmap",
					    "abort", "exit",   "longjmp", "siglongjmp"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0)
			return true;
	return *text == '_';
}

/* PACKAGE, as the linker spells it, is at PATH or below. */
static bool is_below(struct gh_name_part package, const char *path)
{
	size_t i = 0;
	for (; i < package.size && *path != '\0'; i++, path++) {
		bool escaped = package.size - i >= 3 && memcmp(package.text + i, "%2e", 3) == 0;
		if (*path != (escaped ? '.' : package.text[i]))
			return false;
		i += escaped ? 2 : 0;
	}
	return *path == '\0' && (i == package.size || package.text[i] == '/');
}

/* PACKAGE is of the program's own MODULE; where that is unknown, not of Go's own distribution,
 * whose import paths have no dot in their first element. */
static bool is_of_module(struct gh_name_part package, const char *module)
{
	if (package.size == 4 && memcmp(package.text, "main", 4) == 0)
		return true;
	if (module != NULL)
		return is_below(package, module);
	const char *slash = memchr(package.text, '/', package.size);
	return slash != NULL && memchr(package.text, '.', (size_t)(slash - package.text)) != NULL;
}

/* Adds the names for the function of the COUNT entry points from number FIRST on. A name without a
 * package stands for a function of the program's own MODULE only, as people name others by their
 * packages; it does for none where others have it, too. */
static void add_forms(struct job *job, const char *name, const char *module, uint32_t first,
		      uint8_t count)
{
	struct gh_func_name parts;
	char text[GH_NAME_FORM_SIZE];
	if (!gh_func_name_parse(&parts, name))
		return;
	bool own = is_of_module(parts.package, module);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		enum gh_name_form form = forms[i];
		bool bare = form == GH_NAME_BASE || form == GH_NAME_RECEIVER;
		size_t size = gh_func_name_write(&parts, form, text);
		if (size == 0 || (form == GH_NAME_BASE && is_c_name(text)))
			continue;
		/* The name as it is, or as it would be without type parameters. */
		bool taken = form == GH_NAME_WHOLE && strcmp(text, name) == 0;
		if (!taken)
			add_candidate(job, (struct candidate){
					       gh_hash_bytes(GH_HASH_START, text, size), name,
					       first, bare && !own ? 0 : count, (uint8_t)form});
	}
	size_t size = gh_func_name_replace(name, "[...]", text);
	if (size > 0 && strcmp(text, name) != 0)
		add_candidate(job, (struct candidate){gh_hash_bytes(GH_HASH_START, text, size),
						      name, first, count, TRACEBACK});
}

static int compare_points(const void *a, const void *b)
{
	const struct gh_entry_point *first = a;
	const struct gh_entry_point *second = b;
	if (first->name != second->name)
		return first->name < second->name ? -1 : 1;
	return (first->address > second->address) - (first->address < second->address);
}

static void add_functions(struct job *job, const struct gh_pclntab *tab)
{
	const struct gh_entry_points *points = job->points;
	const struct gh_entry_point *items = points->items;
	struct gh_buildinfo info;
	size_t end;
	gh_buildinfo_read(&info, tab->image);
	for (size_t i = 0; i < points->count; i = end) {
		bool own = true;
		for (end = i; end < points->count && items[end].name == items[i].name; end++)
			own &= items[end].is_own;
		size_t count = own && end - i <= MAX_PLACES ? end - i : 0;
		add_forms(job, gh_pclntab_name(tab, items[i].name), info.module, (uint32_t)i,
			  (uint8_t)count);
	}
	gh_buildinfo_free(&info);
}

static bool add_all_taken(struct job *job, const struct gh_pclntab *tab, struct gh_own_names taken,
			  struct gh_error *err)
{
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_record(tab, i, &func, err))
			return false;
		add_taken(job, gh_pclntab_name(tab, func.name));
	}
	for (const char *name; (name = gh_symtab_next_name(&taken)) != NULL;)
		add_taken(job, name);
	return true;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *first = a;
	const struct candidate *second = b;
	return (first->hash > second->hash) - (first->hash < second->hash);
}

/* Whether the COUNT candidates, whose names have one hash, are called TEXT and stand for one
 * function: its instances by type arguments are one. */
static bool is_one(const struct candidate *candidates, size_t count, const char *text)
{
	char texts[2][GH_NAME_FORM_SIZE];
	char own[GH_NAME_FORM_SIZE];
	struct candidate whole = candidates[0];
	whole.form = GH_NAME_WHOLE;
	if (candidates[0].form == TAKEN || write_candidate(&whole, texts[0]) == 0)
		return false;
	for (size_t i = 1; i < count; i++) {
		if (candidates[i].form == TAKEN)
			return false;
		whole = candidates[i];
		whole.form = GH_NAME_WHOLE;
		if (write_candidate(&whole, texts[1]) == 0 || strcmp(texts[0], texts[1]) != 0)
			return false;
		write_candidate(&candidates[i], own);
		if (strcmp(text, own) != 0)
			return false;
	}
	return true;
}

/* Adds the symbols of the COUNT candidates if their name stands for one function. */
static void add_symbols(struct gh_short_names *out, const struct gh_entry_points *points,
			const struct candidate *candidates, size_t count)
{
	char text[GH_NAME_FORM_SIZE];
	size_t places = 0;
	for (size_t i = 0; i < count; i++) {
		if (candidates[i].count == 0)
			return;
		places += candidates[i].count;
	}
	size_t size = write_candidate(&candidates[0], text);
	if (places > MAX_PLACES || !is_one(candidates, count, text))
		return;
	gh_escape_overwrite(text, size);
	struct gh_short_name symbol = {.text = out->texts.size};
	gh_buffer_string(&out->texts, text);
	for (size_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < candidates[i].count; j++) {
			symbol.address = points->items[candidates[i].first + j].address;
			gh_vector_push(&out->list, symbol);
		}
	}
}

static void find_part(void *context, uint32_t number)
{
	struct job *job = context;
	struct part *part = &job->parts[number];
	struct candidates *all = &part->candidates;
	size_t end;
	if (all->count > 0)
		qsort(all->items, all->count, sizeof(*all->items), compare_candidates);
	for (size_t i = 0; i < all->count; i = end) {
		for (end = i + 1; end < all->count; end++)
			if (all->items[end].hash != all->items[i].hash)
				break;
		add_symbols(&part->names, job->points, &all->items[i], end - i);
	}
	part->failed = all->failed;
	gh_vector_free(all);
}

/* Appends what part NUMBER has to the whole. */
static void take_part(void *context, uint32_t number)
{
	struct job *job = context;
	const struct gh_short_names *names = &job->parts[number].names;
	struct gh_short_names *out = job->out;
	for (size_t i = 0; i < names->list.count; i++) {
		struct gh_short_name symbol = names->list.items[i];
		symbol.text += out->texts.size;
		gh_vector_push(&out->list, symbol);
	}
	gh_buffer_bytes(&out->texts, names->texts.data, names->texts.size);
}

/* Returns whether there was memory for all of them. */
static bool free_parts(struct job *job)
{
	bool failed = false;
	for (size_t i = 0; i < PARTS; i++) {
		struct part *part = &job->parts[i];
		failed |= part->failed || part->names.list.failed || part->names.texts.failed;
		gh_vector_free(&part->candidates);
		gh_short_names_free(&part->names);
	}
	return !failed;
}

bool gh_short_names_find(struct gh_short_names *out, const struct gh_pclntab *tab,
			 struct gh_entry_points *points, struct gh_own_names taken,
			 struct gh_error *err)
{
	struct job job = {.out = out, .points = points};
	*out = (struct gh_short_names){0};
	if (points->count > 0)
		qsort(points->items, points->count, sizeof(*points->items), compare_points);
	bool read = add_all_taken(&job, tab, taken, err);
	if (read)
		add_functions(&job, tab);
	bool found = read && gh_parallel_ordered(PARTS, find_part, take_part, &job);
	bool whole = free_parts(&job) && !out->list.failed && !out->texts.failed;
	return read && ((found && whole) || gh_fail_memory(err, tab->image->path));
}

void gh_short_names_free(struct gh_short_names *names)
{
	gh_vector_free(&names->list);
	gh_buffer_free(&names->texts);
}
