#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"
#include "lib/util/numbermap.h"
#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* Longer lists tell less than a longer name would. */
#define MAX_LISTED 20

/* The search for the functions that a name may stand for. */
struct search {
	const struct gh_pclntab *tab;
	const char *wanted;
	char plain[GH_NAME_FORM_SIZE]; /* the same without type arguments that are "[...]" */
	struct gh_numbermap seen;      /* names that were looked at */
	struct gh_named_functions *found;
	bool failed; /* memory ran out */
};

/* Copies NAME to TEXT, of GH_NAME_FORM_SIZE bytes, without each of the WORDS. */
static void copy_without(char *text, const char *name, const char *const *words)
{
	size_t size = 0;
	while (*name != '\0' && size < GH_NAME_FORM_SIZE - 1) {
		size_t skip = 0;
		for (size_t i = 0; words[i] != NULL && skip == 0; i++)
			if (strncmp(name, words[i], strlen(words[i])) == 0)
				skip = strlen(words[i]);
		if (skip == 0)
			text[size++] = *name++;
		name += skip;
	}
	text[size] = '\0';
}

/* NAME, which has no type arguments, is a closure's, and PLAIN the last elements of it:
 * "list.each.func1" and "each.func1" for "main.(*list).each.func1". */
static bool is_closure_called(const char *name, const char *plain)
{
	static const char *const marks[] = {"(*", ")", NULL};
	char text[GH_NAME_FORM_SIZE], wanted[GH_NAME_FORM_SIZE];
	copy_without(text, name, marks);
	copy_without(wanted, plain, marks);
	size_t size = strlen(text), length = strlen(wanted);
	return strpbrk(wanted, ".-") != NULL && length < size &&
	       strcmp(text + size - length, wanted) == 0 &&
	       strchr("./", text[size - length - 1]) != NULL;
}

/* NAME is WANTED, as it is, as tracebacks have it, with "[...]" for all type arguments, or with
 * them as the source has them; or one of its short names is PLAIN, which is WANTED without "[...]".
 */
static bool is_called(const char *name, const char *wanted, const char *plain)
{
	static const char *const shapes[] = {"go.shape.", NULL};
	char text[GH_NAME_FORM_SIZE];
	struct gh_func_name parts;
	gh_func_name_replace(name, "[...]", text);
	if (strcmp(name, wanted) == 0 || strcmp(text, wanted) == 0)
		return true;
	copy_without(text, name, shapes);
	if (strcmp(text, wanted) == 0)
		return true;
	if (!gh_func_name_parse(&parts, name)) {
		gh_func_name_replace(name, "", text);
		return is_closure_called(text, plain);
	}
	for (unsigned form = 0; form < GH_NAME_FORMS; form++)
		if (gh_func_name_write(&parts, form, text) > 0 && strcmp(text, plain) == 0)
			return true;
	return false;
}

static void look_at(struct search *search, uint32_t name)
{
	if (gh_numbermap_get(&search->seen, name) != GH_NOT_MAPPED)
		return;
	search->failed |= !gh_numbermap_put(&search->seen, name, 0);
	const char *text = gh_pclntab_name(search->tab, name);
	if (!is_called(text, search->wanted, search->plain))
		return;
	/* Before Go 1.21 all instances of a generic function have one name. */
	for (size_t i = 0; i < search->found->names.count; i++)
		if (strcmp(search->found->names.items[i], text) == 0)
			return;
	gh_vector_push(&search->found->names, text);
}

/* Looks at the function that MAP goes over, and at those that are inlined into it. What the
 * compiler made to lead to another function is none that people mean. */
static void look_through(struct search *search, struct gh_sourcemap *map)
{
	struct gh_range range;
	while (gh_sourcemap_next(map, &range)) {
		const struct gh_frame *last = &range.frames[range.nframes - 1];
		bool is_made = gh_frame_is_wrapper(search->tab, last);
		for (unsigned i = 0; i + (is_made ? 1 : 0) < range.nframes; i++)
			look_at(search, range.frames[i].name);
	}
}

/* A whole name stands for its function alone. */
static void keep_exact(struct gh_named_functions *found, const char *wanted)
{
	for (size_t i = 0; i < found->names.count; i++) {
		if (strcmp(found->names.items[i], wanted) != 0)
			continue;
		found->names.items[0] = found->names.items[i];
		found->names.count = 1;
	}
}

bool gh_named_functions_find(struct gh_named_functions *found, const struct gh_program *program,
			     const char *wanted)
{
	char again[GH_NAME_FORM_SIZE];
	struct search search = {.tab = &program->tab, .wanted = wanted, .found = found};
	struct gh_sourcemap map = {0};
	struct gh_func func;
	bool read = true;
	*found = (struct gh_named_functions){0};
	if (gh_func_name_replace(wanted, "[...]", again) > 0 && strcmp(again, wanted) == 0)
		gh_func_name_replace(wanted, "", search.plain);
	found->all = search.plain[0] != '\0' && strcmp(search.plain, wanted) != 0;
	for (size_t i = 0; read && i < program->tab.nfunc; i++) {
		read = gh_program_walk(program, i, &func, &map);
		if (read)
			look_through(&search, &map);
	}
	gh_sourcemap_free(&map);
	gh_numbermap_free(&search.seen);
	keep_exact(found, wanted);
	if (read && (search.failed || found->names.failed)) {
		gh_say(GH_OUT_OF_MEMORY);
		read = false;
	}
	return read;
}

static void print_name(const char *name)
{
	gh_print_bytes(stderr, name, strlen(name), false);
	fputs("\n", stderr);
}

bool gh_named_functions_settle(const struct gh_named_functions *found, const char *wanted)
{
	size_t count = found->names.count;
	if (count == 1 || (found->all && count > 0 && count <= MAX_LISTED))
		return true;
	if (count == 0) {
		fputs("goheap: no function is called ", stderr);
		print_name(wanted);
		return false;
	}
	gh_say("%zu functions are called so; name one:", count);
	for (size_t i = 0; i < count && i < MAX_LISTED; i++)
		print_name(found->names.items[i]);
	if (count > MAX_LISTED)
		fprintf(stderr, "and %zu more\n", count - MAX_LISTED);
	return false;
}
