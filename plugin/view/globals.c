#include "plugin/view/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/util/escape.h"
#include "plugin/view/emit.h"

/* Functions of one global that are named in JSON. */
#define MAX_FUNCTIONS 10

/* Of what telling_of gives. */
#define MOST_TELLING 2

/* Looks for the references of the code to the segments of the dump, the first time. */
static void find_refs(struct gh_globals *globals)
{
	const struct gh_dump *dump = globals->typing->heap->dump;
	uint64_t start = UINT64_MAX, end = 0;
	if (globals->found || globals->symbols == NULL)
		return;
	globals->found = true;
	for (size_t i = 0; i < dump->segments.items.count; i++) {
		struct gh_extent extent = gh_extents_get(&dump->segments, i);
		start = extent.address < start ? extent.address : start;
		end = extent.address + extent.size > end ? extent.address + extent.size : end;
	}
	uint64_t bias = globals->symbols->bias;
	if (start < end && !gh_global_refs_find(&globals->refs, &globals->symbols->program.tab,
						start - bias, end - bias))
		gh_leave_out();
}

/* Names the word at ADDRESS by the functions that refer to it, or to the last place before it that
 * any refers to: no nearer place has one that is a variable's or a value's. */
static void find_functions(struct gh_globals *globals, uint64_t address, struct gh_global_way *way)
{
	uint64_t bias = globals->symbols != NULL ? globals->symbols->bias : 0;
	find_refs(globals);
	way->refs = gh_global_refs_before(&globals->refs, address - bias, &way->nrefs);
	way->start = way->refs != NULL ? way->refs->address + bias : address;
	way->offset = address - way->start;
}

/* The name of the function of REF. */
static const char *name_of(const struct gh_globals *globals, const struct gh_global_ref *ref)
{
	struct gh_func func;
	const struct gh_pclntab *tab = &globals->symbols->program.tab;
	return gh_pclntab_record(tab, ref->function, &func, NULL) ? gh_pclntab_name(tab, func.name)
								  : "";
}

/* NAME is of a function that sets variables up. */
static bool is_init(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot != NULL && (strcmp(dot, ".init") == 0 || strstr(name, ".init.") != NULL);
}

/* NAME is of a function without a name of its own, or of the one that programs begin with. */
static bool is_anonymous(const char *name)
{
	const char *closure = strstr(name, ".func");
	return strcmp(name, "main.main") == 0 ||
	       (closure != NULL && isdigit((unsigned char)closure[strlen(".func")]));
}

/* How much the function NAME tells of a global that it refers to: least if it is the runtime's or
 * sets variables up. */
static int telling_of(const char *name)
{
	if (is_init(name) || strncmp(name, "runtime.", strlen("runtime.")) == 0)
		return 0;
	return is_anonymous(name) ? 1 : MOST_TELLING;
}

/* The word at ADDRESS is in another global than GLOBAL's value begins: code refers to a place
 * between, or to that value
 * itself. Code that sets variables up refers to fields of values, too. */
static bool is_referred_to(struct gh_globals *globals, uint64_t address,
			   const struct gh_global *global)
{
	if (global->typed)
		return false;
	find_refs(globals);
	/* Without the code's references it may be in any global that is between. */
	if (globals->refs.count == 0)
		return true;
	uint64_t bias = globals->symbols->bias;
	const struct gh_global_ref *refs = globals->refs.items;
	size_t count = globals->refs.count;
	size_t at = gh_lower_bound(count, i, refs[i].address < global->start - bias);
	for (; at < count && refs[at].address <= address - bias; at++)
		if (!is_init(name_of(globals, &refs[at])))
			return true;
	return false;
}

/* The value at ADDRESS leads to itself. */
static bool has_static(const struct gh_global_way *way, uint64_t address)
{
	for (size_t i = 0; i < way->nstatics; i++)
		if (way->statics[i].address == address)
			return true;
	return false;
}

/* Puts the value that has the word before those of WAY. */
static void add_static(struct gh_global_way *way, const struct gh_global_static *value)
{
	memmove(&way->statics[1], &way->statics[0], way->nstatics * sizeof(*value));
	way->statics[0] = *value;
	way->nstatics++;
}

void gh_globals_find(struct gh_globals *globals, uint64_t address, struct gh_global_way *way)
{
	*way = (struct gh_global_way){0};
	while (way->nstatics < GH_GLOBAL_STATICS) {
		struct gh_global global;
		struct gh_buffer text = {0};
		bool known = gh_typing_global(globals->typing, address, &global, &text);
		if (text.failed)
			gh_leave_out();
		if (known && global.is_variable) {
			way->variable = text;
			way->start = global.start;
			way->offset = address - global.start;
			return;
		}
		if (!known || !global.has_holder || has_static(way, global.start) ||
		    is_referred_to(globals, address, &global)) {
			gh_buffer_free(&text);
			break;
		}
		struct gh_global_static value = {
		    .address = global.start,
		    .offset = address - global.start,
		    .typed = global.typed,
		    .text = text,
		};
		add_static(way, &value);
		address = global.holder;
	}
	find_functions(globals, address, way);
}

void gh_globals_free_way(struct gh_global_way *way)
{
	gh_buffer_free(&way->variable);
	for (size_t i = 0; i < way->nstatics; i++)
		gh_buffer_free(&way->statics[i].text);
	*way = (struct gh_global_way){0};
}

/* The functions that refer to WAY's global: the telling ones first. Gives how many of at most LIMIT
 * there are. */
static size_t list_functions(const struct gh_globals *globals, const struct gh_global_way *way,
			     const char **names, size_t limit)
{
	size_t count = 0;
	for (int telling = MOST_TELLING; telling >= 0; telling--)
		for (size_t i = 0; i < way->nrefs && count < limit; i++) {
			const char *name = name_of(globals, &way->refs[i]);
			if (telling_of(name) == telling)
				names[count++] = name;
		}
	return count;
}

static void print_text(FILE *out, const struct gh_buffer *text)
{
	gh_print_bytes(out, (const char *)text->data, text->size, false);
}

/* The bytes of the function NAME that are its package's path. */
static size_t package_size(const char *name)
{
	/* Type arguments have packages, too. */
	size_t end = strcspn(name, "[");
	size_t slash = end;
	while (slash > 0 && name[slash - 1] != '/')
		slash--;
	const char *dot = memchr(name + slash, '.', end - slash);
	return dot != NULL ? (size_t)(dot - name) : 0;
}

/* NAME is a function of the package whose path is the first SIZE bytes of PACKAGE. */
static bool is_of_package(const char *name, const char *package, size_t size)
{
	return package_size(name) == size && memcmp(name, package, size) == 0;
}

/* Gives a function of the package that WAY's global is of: those of no other refer to it, but for
 * package main, into which calls may have been inlined, and which nobody imports. NULL if there are
 * several. */
static const char *find_package(const struct gh_globals *globals, const struct gh_global_way *way)
{
	const char *package = NULL;
	for (size_t i = 0; i < way->nrefs; i++) {
		const char *name = name_of(globals, &way->refs[i]);
		if (package == NULL || is_of_package(package, "main", strlen("main")))
			package = name;
		else if (!is_of_package(name, package, package_size(package)) &&
			 !is_of_package(name, "main", strlen("main")))
			return NULL;
	}
	return package;
}

/* Prints the functions that refer to WAY's global: its package, if it is known, one that tells what
 * it is for, and how many more there are. */
static void print_uses(FILE *out, const struct gh_globals *globals, const struct gh_global_way *way)
{
	const char *names[MAX_FUNCTIONS];
	size_t count = list_functions(globals, way, names, MAX_FUNCTIONS);
	const char *package = find_package(globals, way);
	size_t size = package != NULL ? package_size(package) : 0, told = 0;
	if (count == 0)
		return;
	while (size > 0 && told < count - 1 && !is_of_package(names[told], package, size))
		told++;
	const char *name = names[told];
	if (size > 0) {
		fputs(" of ", out);
		gh_print_bytes(out, package, size, false);
		name += is_of_package(name, package, size) ? size + 1 : 0;
	}
	fputs(", used in ", out);
	gh_escape_print(out, name);
	if (way->nrefs > 1)
		fprintf(out, " and %zu more", way->nrefs - 1);
}

bool gh_globals_print_first(FILE *out, const struct gh_globals *globals,
			    const struct gh_global_way *way)
{
	if (way->variable.size > 0) {
		print_text(out, &way->variable);
		return true;
	}
	if (way->refs == NULL && way->nstatics == 0)
		return false;
	fprintf(out, "global 0x%" PRIx64, way->start);
	if (way->refs != NULL)
		print_uses(out, globals, way);
	return true;
}

bool gh_globals_print(FILE *out, const struct gh_globals *globals, const struct gh_global_way *way)
{
	if (!gh_globals_print_first(out, globals, way))
		return false;
	if (way->variable.size == 0 && way->offset > 0)
		fprintf(out, ", +%" PRIu64, way->offset);
	for (size_t i = 0; i < way->nstatics; i++) {
		const struct gh_global_static *value = &way->statics[i];
		fputs(" -> ", out);
		if (value->typed)
			print_text(out, &value->text);
		else
			fprintf(out, "static 0x%" PRIx64, value->address);
		if (!value->typed && value->offset > 0)
			fprintf(out, ", +%" PRIu64, value->offset);
	}
	return true;
}

/* A way, as it is printed. */
struct row {
	const struct gh_globals *globals;
	const struct gh_global_way *way;
	struct gh_bytes variable;
	uint64_t start;
};

static void print_functions(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	const char *names[MAX_FUNCTIONS];
	size_t count = list_functions(row->globals, row->way, names, MAX_FUNCTIONS);
	for (size_t i = 0; i < count; i++) {
		gh_emit_next(emit);
		gh_print_bytes(emit->out, names[i], strlen(names[i]), true);
	}
}

/* A statically allocated value, as it is printed. */
struct static_row {
	struct gh_bytes text;
	uint64_t address;
	uint64_t offset;
};

static void print_statics(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"address", GH_COL_ADDRESS(struct static_row, address)},
	    {"offset", GH_COL_NUMBER(struct static_row, offset)},
	    {"name", GH_COL_BYTES(struct static_row, text)},
	    {0},
	};
	const struct row *row = member;
	for (size_t i = 0; i < row->way->nstatics; i++) {
		const struct gh_global_static *value = &row->way->statics[i];
		struct static_row item = {.address = value->address, .offset = value->offset};
		if (value->typed)
			item.text =
			    (struct gh_bytes){(const char *)value->text.data, value->text.size};
		gh_emit_item(emit, columns, &item);
	}
}

void gh_globals_emit(struct gh_emit *emit, const struct gh_globals *globals,
		     const struct gh_global_way *way)
{
	static const struct gh_column variable[] = {
	    {"variable", GH_COL_BYTES(struct row, variable)}, {0}};
	static const struct gh_column global[] = {
	    {"global", GH_COL_ADDRESS(struct row, start)},
	    {"functions", GH_COL_LIST(print_functions)},
	    {0},
	};
	static const struct gh_column statics[] = {{"statics", GH_COL_LIST(print_statics)}, {0}};
	struct row row = {
	    .globals = globals,
	    .way = way,
	    .variable = {(const char *)way->variable.data, way->variable.size},
	    .start = way->start,
	};
	if (way->variable.size > 0)
		gh_emit_values(emit, variable, &row);
	else if (way->refs != NULL)
		gh_emit_values(emit, global, &row);
	if (way->nstatics > 0)
		gh_emit_values(emit, statics, &row);
}

void gh_globals_free(struct gh_globals *globals)
{
	gh_global_refs_free(&globals->refs);
}
