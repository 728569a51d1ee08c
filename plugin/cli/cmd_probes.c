/* goheap probes: uprobes on functions of a program, with their arguments and results, for bpftrace,
 * perf and other tools. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/process/goroutine.h"
#include "plugin/cli/cli.h"

/* Puts the path of the program at FILE, which OPTIONS name, into PROBES. False, after saying why,
 * if there is none that tools for probes take. */
static bool find_path(struct gh_probes *probes, const char *file)
{
	struct stat named, other;
	const char *running = probes->options->running;
	if (file == probes->options->made) {
		gh_say("probes need the program's file: name that");
		return false;
	}
	char *path = realpath(file, NULL);
	bool is_it = path != NULL && strlen(path) < PATH_MAX && stat(file, &named) == 0 &&
		     stat(path, &other) == 0 && named.st_dev == other.st_dev &&
		     named.st_ino == other.st_ino;
	bool is_good = is_it && strspn(path, GH_PROBE_PATH) == strlen(path);
	/* That of a process may be gone, or in a container. */
	if (is_good || *running != '\0')
		snprintf(probes->path, sizeof(probes->path), "%s", is_good ? path : running);
	else if (!is_it)
		gh_print_errno(file);
	else
		gh_say("%s: probes need a path of letters, digits and _-./+: copy or link the "
		       "program",
		       path);
	free(path);
	return probes->path[0] != '\0';
}

/* FILE is in the directory BELOW another. */
static bool is_there(const char *directory, const char *below, const char *file)
{
	char path[3 * PATH_MAX];
	snprintf(path, sizeof(path), "%s%s/%s", directory, below, file);
	return access(path, R_OK) == 0;
}

/* libbcc finds symbols of the program of PROBES, at its path: in it, or in a debug file.
 *
 * Source: find_debug_file in src/cc/bcc_elf.c of BCC. */
static bool has_symbols(const struct gh_probes *probes)
{
	const struct gh_image *image = &probes->program.image;
	const struct gh_section *link = gh_image_section(image, ".gnu_debuglink");
	struct gh_buildinfo ids = {0};
	struct gh_cursor name;
	char directory[PATH_MAX], file[NAME_MAX + 1];
	bool found = gh_image_section(image, ".symtab") != NULL;
	gh_buildinfo_read_ids(&ids, image);
	if (ids.gnu_build_id != NULL && strlen(ids.gnu_build_id) > 2) {
		snprintf(directory, sizeof(directory), "%.2s", ids.gnu_build_id);
		snprintf(file, sizeof(file), "%s.debug", ids.gnu_build_id + 2);
		found |= is_there("/usr/lib/debug/.build-id/", directory, file);
	}
	gh_buildinfo_free(&ids);
	if (link == NULL || !gh_image_section_cursor(image, link, &name, NULL))
		return found;
	size_t length = (size_t)(strrchr(probes->path, '/') - probes->path);
	snprintf(directory, sizeof(directory), "%.*s", (int)length, probes->path);
	snprintf(file, sizeof(file), "%.*s", (int)gh_cursor_left(&name), (const char *)name.pos);
	return found || is_there(directory, "", file) || is_there(directory, "/.debug", file) ||
	       is_there("/usr/lib/debug", directory, file);
}

/* Puts the letters and digits of the name of PROBE into its event, others as one underline, with a
 * number behind if another of PROBES has that. */
static void name_event(struct gh_probe *probe, const struct gh_probes *probes)
{
	enum { NUMBER = 24 }; /* bytes for that */
	size_t size = 0;
	for (const char *c = probe->name; *c != '\0' && size < GH_PROBE_EVENT - NUMBER; c++)
		if (isalnum((unsigned char)*c))
			probe->event[size++] = *c;
		else if (size > 0 && probe->event[size - 1] != '_')
			probe->event[size++] = '_';
	if (size == 0 || isdigit((unsigned char)probe->event[0]))
		size = (size_t)snprintf(probe->event, GH_PROBE_EVENT, "f");
	for (size_t i = 0; i < probes->list.count; i++)
		if (strncmp(probes->list.items[i].event, probe->event, size) == 0)
			snprintf(probe->event + size, NUMBER, "_%zu", probes->list.count);
}

static void free_probe(struct gh_probe *probe)
{
	gh_vector_free(&probe->places.returns);
	gh_vector_free(&probe->arguments.words);
	gh_vector_free(&probe->arguments.items);
	gh_vector_free(&probe->results.words);
	gh_vector_free(&probe->results.items);
}

/* The reason why PROBE cannot be made as OPTIONS want; NULL if it can be. */
static const char *find_problem(const struct gh_probe *probe, const struct gh_options *options)
{
	const struct gh_probe_places *places = &probe->places;
	if ((probe->func.flag & GH_FUNC_ASM) != 0)
		return "is in assembly: where its arguments are is not known";
	if (!places->is_whole)
		return "has instructions that goheap does not know";
	if (places->loops)
		return "begins with a loop: no place in it is passed once a call";
	if (!options->returns && !options->latency)
		return NULL;
	if (places->leaves)
		return "ends by a jump to another function: probe the returns of that";
	return places->returns.count == 0 ? "never returns" : NULL;
}

/* Adds FUNC. False, after saying why, if it cannot be probed. */
static bool add_probe(struct gh_probes *probes, const struct gh_func *func)
{
	const struct gh_pclntab *tab = &probes->program.tab;
	struct gh_probe probe = {.func = *func, .name = gh_pclntab_name(tab, func->name)};
	bool found = gh_probe_places_find(&probe.places, tab, func);
	const char *problem = find_problem(&probe, probes->options);
	gh_probe_values_find(&probe, probes);
	name_event(&probe, probes);
	found &= !probe.arguments.words.failed && !probe.arguments.items.failed &&
		 !probe.results.words.failed && !probe.results.items.failed;
	if (problem == NULL)
		found &= gh_vector_push(&probes->list, probe);
	if (!found)
		gh_say(GH_OUT_OF_MEMORY);
	else if (problem != NULL)
		gh_say("%s %s", probe.name, problem);
	if (!found || problem != NULL)
		free_probe(&probe);
	return found && problem == NULL;
}

/* The most functions that are probed: bpftrace has room for as many with a return each. */
#define MAX_PROBES 256

/* The compiler made the function that MAP is at the start of, to lead to another. */
static bool is_made(const struct gh_pclntab *tab, struct gh_sourcemap *map)
{
	struct gh_range range;
	return gh_sourcemap_next(map, &range) &&
	       gh_frame_is_wrapper(tab, &range.frames[range.nframes - 1]);
}

/* Adds the functions called NAME. False, after saying why, if there are none, or one cannot be
 * probed. */
static bool add_called(struct gh_probes *probes, const char *name)
{
	const struct gh_pclntab *tab = &probes->program.tab;
	struct gh_sourcemap map = {0};
	struct gh_func func;
	size_t before = probes->list.count;
	bool added = true;
	for (size_t i = 0; added && i < tab->nfunc && probes->list.count <= MAX_PROBES; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL) ||
		    strcmp(gh_pclntab_name(tab, func.name), name) != 0)
			continue;
		added = gh_program_walk(&probes->program, i, &func, &map) &&
			(is_made(tab, &map) || add_probe(probes, &func));
	}
	gh_sourcemap_free(&map);
	if (added && probes->list.count > MAX_PROBES) {
		gh_say("more than %d functions are called so: name fewer", MAX_PROBES);
		added = false;
	}
	if (added && probes->list.count == before) {
		gh_say("%s is inlined wherever it is called: probe its callers", name);
		added = false;
	}
	return added;
}

static bool add_named(struct gh_probes *probes, const char *wanted)
{
	struct gh_named_functions found;
	bool added = gh_named_functions_find(&found, &probes->program, wanted) &&
		     gh_named_functions_settle(&found, wanted);
	for (size_t i = 0; added && i < found.names.count; i++)
		added = add_called(probes, found.names.items[i]);
	gh_vector_free(&found.names);
	return added;
}

/* perf */

/* Prints the words of VALUES for perf; of the COUNT that are called "arg", or else "result". */
static void print_fetched(const struct gh_probes *probes, const struct gh_probe_values *values,
			  int32_t depth, const char *called)
{
	const struct gh_arch *arch = probes->program.image.arch;
	const char *names = arch->uprobe_registers;
	for (size_t i = 0; i < values->items.count; i++) {
		const struct gh_probe_value *value = &values->items.items[i];
		for (size_t j = 0; j < value->count; j++) {
			const struct gh_probe_word *word = &values->words.items[value->first + j];
			bool in_memory = word->where == GH_ARG_IN_MEMORY;
			int length;
			const char *name = gh_probe_register(
			    names, in_memory ? arch->dwarf_sp : word->number, &length);
			if (word->where == GH_ARG_UNKNOWN || (word->is_float && !in_memory))
				continue;
			printf(" %s%u", called, value->number);
			if (value->count > 1)
				printf("_%zu", j);
			if (in_memory)
				printf("=+%" PRIu64 "(%%%.*s)", word->place + (uint64_t)depth,
				       length, name);
			else
				printf("=%%%.*s", length, name);
			printf(":x%u", word->size * 8U);
		}
	}
}

/* Prints the command that defines an event of PROBE at ADDRESS, called so with SUFFIX behind. */
static void print_definition(const struct gh_probes *probes, const struct gh_probe *probe,
			     const char *suffix, uint64_t address)
{
	printf("perf probe -x %s 'goheap:%s%s=0x%" PRIx64, probes->path, probe->event, suffix,
	       gh_image_offset(&probes->program.image, address));
}

static void print_perf(const struct gh_probes *probes)
{
	const struct gh_arch *arch = probes->program.image.arch;
	int32_t depth = arch->link_register ? 0 : arch->pointer_size;
	for (size_t i = 0; i < probes->list.count; i++) {
		const struct gh_probe *probe = &probes->list.items[i];
		char suffix[32];
		print_definition(probes, probe, "", probe->places.entry);
		print_fetched(probes, &probe->arguments, probe->places.depth, "arg");
		printf("'\n");
		for (size_t j = 0; probes->options->returns && j < probe->places.returns.count;
		     j++) {
			snprintf(suffix, sizeof(suffix), "_return_%zu", j);
			print_definition(probes, probe, suffix, probe->places.returns.items[j]);
			print_fetched(probes, &probe->results, depth, "result");
			printf("'\n");
		}
	}
}

/* JSON */

/* An argument or a result, for a list. */
struct value_row {
	const struct gh_probes *probes;
	const struct gh_probe_values *values;
	const struct gh_probe_value *value;
	struct gh_bytes type; /* NULL: not known */
	bool guessed;
};

struct word_row {
	struct gh_bytes name;   /* of the register; NULL: it is in memory, or not known */
	struct gh_known place;  /* above the CFA */
	uint64_t offset, size;  /* as in struct gh_probe_word */
	bool is_float, pointer; /* likewise */
};

static void print_word_list(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"offset", GH_COL_NUMBER(struct word_row, offset)},
	    {"size", GH_COL_NUMBER(struct word_row, size)},
	    {"register", GH_COL_BYTES(struct word_row, name), .optional = true},
	    {"cfa_offset", GH_COL_KNOWN_NUMBER(struct word_row, place), .optional = true},
	    {"float", GH_COL_BOOL(struct word_row, is_float), .optional = true},
	    {"pointer", GH_COL_BOOL(struct word_row, pointer), .optional = true},
	    {0},
	};
	const struct value_row *row = member;
	const char *names = row->probes->program.image.arch->uprobe_registers;
	for (size_t i = 0; i < row->value->count; i++) {
		const struct gh_probe_word *word = &row->values->words.items[row->value->first + i];
		int length = 0;
		struct word_row item = {
		    .place = {word->place, word->where == GH_ARG_IN_MEMORY},
		    .offset = word->offset,
		    .size = word->size,
		    .is_float = word->is_float,
		    .pointer = word->is_pointer,
		};
		if (word->where == GH_ARG_IN_REGISTER) {
			const char *name = gh_probe_register(names, word->number, &length);
			item.name = (struct gh_bytes){length > 0 ? name : NULL, (size_t)length};
		}
		gh_emit_item(emit, columns, &item);
	}
}

static void print_values(struct gh_emit *emit, const struct gh_probes *probes,
			 const struct gh_probe_values *values)
{
	static const struct gh_column columns[] = {
	    {"type", GH_COL_BYTES(struct value_row, type), .optional = true},
	    {"words", GH_COL_LIST(print_word_list)},
	    {"guessed", GH_COL_BOOL(struct value_row, guessed), .optional = true},
	    {0},
	};
	for (size_t i = 0; i < values->items.count; i++) {
		const struct gh_probe_value *value = &values->items.items[i];
		struct value_row row = {probes, values, value, {NULL, 0}, value->guessed};
		if (value->type != GH_NO_RTYPE) {
			struct gh_rtype_text text = probes->types.items[value->type].text;
			row.type = (struct gh_bytes){text.start, text.length};
		}
		gh_emit_item(emit, columns, &row);
	}
}

/* A function, as a row. */
struct row {
	const struct gh_probes *probes;
	const struct gh_probe *probe;
	const char *name, *event, *program;
	uint64_t entry, address, offset, depth;
	struct gh_bytes goroutine; /* the register */
	struct gh_known id;        /* where the goroutine's struct has its number, in bytes */
	bool is_cut;
	bool guessed;
};

static void print_arguments(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	print_values(emit, row->probes, &row->probe->arguments);
}

static void print_results(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	print_values(emit, row->probes, &row->probe->results);
}

static void print_return_list(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	gh_returns_emit(emit, &row->probes->program.image, &row->probe->places);
}

static void print_json(const struct gh_probes *probes)
{
	static const struct gh_column columns[] = {
	    {"function", GH_COL_NAME(struct row, name)},
	    {"event", GH_COL_TEXT(struct row, event)},
	    {"program", GH_COL_TEXT(struct row, program)},
	    {"entry", GH_COL_ADDRESS(struct row, entry)},
	    {"address", GH_COL_ADDRESS(struct row, address)},
	    {"offset", GH_COL_ADDRESS(struct row, offset)},
	    {"cfa_above_sp", GH_COL_NUMBER(struct row, depth)},
	    {"goroutine_register", GH_COL_BYTES(struct row, goroutine)},
	    {"goroutine_id_offset", GH_COL_KNOWN_NUMBER(struct row, id), .optional = true},
	    {"arguments", GH_COL_LIST(print_arguments)},
	    {"more_arguments", GH_COL_BOOL(struct row, is_cut), .optional = true},
	    {"returns", GH_COL_LIST(print_return_list)},
	    {"results", GH_COL_LIST(print_results)},
	    {"results_guessed", GH_COL_BOOL(struct row, guessed), .optional = true},
	    {0},
	};
	const struct gh_image *image = &probes->program.image;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	int release = probes->types.minor;
	int length;
	const char *g =
	    gh_probe_register(image->arch->uprobe_registers, image->arch->dwarf_g, &length);
	for (size_t i = 0; i < probes->list.count; i++) {
		const struct gh_probe *probe = &probes->list.items[i];
		struct row row = {
		    .probes = probes,
		    .probe = probe,
		    .name = probe->name,
		    .event = probe->event,
		    .program = probes->path,
		    .entry = probe->func.entry,
		    .address = probe->places.entry,
		    .offset = gh_image_offset(image, probe->places.entry),
		    .depth = (uint64_t)probe->places.depth,
		    .goroutine = {g, (size_t)length},
		    .id = {gh_g_layout_of(8, release).id, release != GH_GO_UNKNOWN},
		    .is_cut = probe->arguments.is_cut,
		    .guessed = probe->results.guessed,
		};
		gh_emit_row(&emit, columns, &row);
	}
}

static int print(const struct gh_probes *probes)
{
	const char *tool = probes->options->debugger;
	if (tool != NULL && strcmp(tool, "json") == 0)
		print_json(probes);
	else if (tool != NULL && strcmp(tool, "perf") == 0)
		print_perf(probes);
	else if (!gh_probe_script_print(probes))
		gh_leave_out();
	return GH_EXIT_OK;
}

/* Makes the probes on all functions that the options name. The types are there. */
static int make(struct gh_probes *probes)
{
	const struct gh_options *options = probes->options;
	struct gh_error err;
	if (!gh_signatures_find(&probes->signatures, &probes->types, &err)) {
		gh_print_error(&err);
		return GH_EXIT_INPUT;
	}
	probes->methods_told = gh_parameters_told(&probes->types);
	bool made = true;
	for (int i = 0; made && i < options->nwords; i++)
		made = add_named(probes, options->words[i]);
	int status = made ? print(probes) : GH_EXIT_INPUT;
	for (size_t i = 0; i < probes->list.count; i++)
		free_probe(&probes->list.items[i]);
	gh_vector_free(&probes->list);
	gh_signatures_free(&probes->signatures);
	return status;
}

/* The options go together, and the program is one that probes are made for. Else says so. */
static bool check(const struct gh_probes *probes)
{
	const struct gh_options *options = probes->options;
	const struct gh_program *program = &probes->program;
	if (program->image.arch->uprobe_registers == NULL)
		gh_say("%s: probes are made for programs of amd64 and arm64", options->file);
	else if (!gh_arg_places_told(&program->tab))
		gh_say("%s: probes are made for programs of Go 1.18 and later", options->file);
	else
		return true;
	return false;
}

int gh_cmd_probes(const struct gh_options *options)
{
	struct gh_probes probes = {.options = options};
	struct gh_error err;
	if (options->nwords == 0 || (options->latency && options->debugger != NULL &&
				     strcmp(options->debugger, "bpftrace") != 0)) {
		gh_say(options->nwords == 0 ? "no function is named: goheap probes TARGET FUNC..."
					    : "--latency is for bpftrace alone");
		return GH_EXIT_USAGE;
	}
	if (!gh_program_open(&probes.program, options->file))
		return GH_EXIT_INPUT;
	int status = GH_EXIT_INPUT;
	probes.pid = options->process != NULL ? atoi(options->process) : 0;
	if (check(&probes) && find_path(&probes, options->file)) {
		if (gh_rtypes_find(&probes.types, &probes.program.tab, &err)) {
			probes.has_symbols = has_symbols(&probes);
			status = make(&probes);
			gh_rtypes_free(&probes.types);
		} else {
			gh_print_error(&err);
		}
	}
	gh_program_close(&probes.program);
	return status;
}
