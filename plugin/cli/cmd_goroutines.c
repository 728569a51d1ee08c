/* goheap goroutines: the goroutines of a heap dump, a core file, or what GDB debugs, as Go prints
 * tracebacks.
 */
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/cli/command.h"
#include "plugin/gdb/goroutine_source.h"
#include "plugin/view/goroutines.h"
#include "plugin/view/open_dump.h"
#include "plugin/view/print.h"
#include "plugin/view/traceback.h"

#define OUTPUT_BUFFER (1 << 18)

/* What is read, and how it is printed. */
struct listing {
	const struct gh_options *options; /* the caller's */
	FILE *out;                        /* the caller's */
	const uint64_t *only; /* the goroutine of this id alone, whatever it is; NULL for all */
	struct gh_snapshot snapshot;
	const struct gh_dump *dump; /* in the snapshot */
	struct gh_symbols *symbols; /* NULL if no program is given */
	struct gh_traceback traceback;
};

/* A goroutine, printed. */
struct entry {
	size_t number; /* of the goroutine */
	uint64_t id;
	uint64_t minutes; /* that it has waited */
	char *status;     /* escaped; owned */
	char *body;       /* its calls; owned */
	char *extra;      /* its defers and panics; owned */
};

/* Prints why the goroutine waits or, if it does not, what it does. */
static void print_status(FILE *out, const struct gh_dump *dump,
			 const struct gh_dump_goroutine *goroutine, bool json)
{
	size_t size;
	const char *state = gh_dumpfile_state(dump, goroutine, &size);
	gh_print_bytes(out, state, size, json);
}

static bool is_printed(const struct listing *listing, const struct gh_call *call)
{
	return !call->hidden || listing->options->all || listing->traceback.all;
}

/* Prints the line of CALL's source. */
static void print_place(FILE *out, const struct gh_call *call)
{
	if (*call->file == '\0')
		return;
	fputs("\t", out);
	gh_escape_print(out, call->file);
	fprintf(out, ":%" PRId32, call->line);
	if (!call->inlined && call->offset > 0)
		fprintf(out, " +0x%" PRIx64, call->offset);
	fputs("\n", out);
}

/* Fills CALL with where the goroutine was created. False if that is not to be printed. */
static bool find_creator(const struct listing *listing, const struct gh_dump_goroutine *goroutine,
			 struct gh_call *call)
{
	return gh_traceback_creator(goroutine, listing->symbols, call) &&
	       (!call->hidden || listing->options->all);
}

/* How many calls are printed at either end of a stack that has more (tracebackInnerFrames and
 * tracebackOuterFrames of src/runtime/traceback.go). */
#define SHOWN_CALLS 50

/* How many calls of the stack are left out of its middle. */
static size_t count_elided(const struct listing *listing)
{
	size_t count = 0;
	for (size_t i = 0; i < listing->traceback.ncalls; i++)
		count += is_printed(listing, &listing->traceback.calls[i]);
	return count > 2 * SHOWN_CALLS && !listing->options->all ? count - 2 * SHOWN_CALLS : 0;
}

static void print_body(FILE *out, struct listing *listing,
		       const struct gh_dump_goroutine *goroutine)
{
	const struct gh_traceback *traceback = &listing->traceback;
	size_t elided = count_elided(listing);
	size_t number = 0;
	for (size_t i = 0; i < traceback->ncalls; i++) {
		if (!is_printed(listing, &traceback->calls[i]))
			continue;
		if (elided > 0 && number++ == SHOWN_CALLS)
			fprintf(out, "...%zu frames elided...\n", elided);
		if (elided > 0 && number > SHOWN_CALLS && number <= SHOWN_CALLS + elided)
			continue;
		gh_traceback_print_name(out, &traceback->calls[i]);
		/* Groups are of goroutines with the same stack, whatever they work on. */
		if (listing->options->group)
			fputs("(...)", out);
		else
			gh_traceback_print_arguments(out, listing->dump, listing->symbols,
						     &traceback->calls[i]);
		fputs("\n", out);
		print_place(out, &traceback->calls[i]);
	}
	struct gh_call creator;
	if (find_creator(listing, goroutine, &creator)) {
		fputs("created by ", out);
		gh_traceback_print_name(out, &creator);
		fputs("\n", out);
		print_place(out, &creator);
	}
}

/* Prints the function at PC, or the address SHOWN if it is not known. */
static void print_function(FILE *out, struct listing *listing, uint64_t pc, uint64_t shown,
			   bool json)
{
	const struct gh_place *place =
	    listing->symbols != NULL && pc != 0 ? gh_symbols_find(listing->symbols, pc) : NULL;
	if (place == NULL) {
		if (json)
			fputs("null", out);
		else
			fprintf(out, "0x%" PRIx64, shown);
		return;
	}
	const char *name = gh_pclntab_name(&listing->symbols->program.tab, place->func.name);
	gh_escape_either(out, name, json);
}

static void print_defer(FILE *out, struct listing *listing, uint64_t id, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(listing->dump, GH_DUMP_DEFER, number, &record);
	fprintf(out, "deferred in goroutine %" PRIu64 ": ", id);
	if (record.defer.entry != 0)
		print_function(out, listing, record.defer.entry, record.defer.entry, false);
	else
		fputs("open-coded", out);
	/* What Go 1.3 itself defers while it panics has no pc, and no arguments (NoArgs, -1). */
	if (record.defer.argp != (listing->dump->word == 8 ? UINT64_MAX : UINT32_MAX)) {
		fputs(" by ", out);
		print_function(out, listing, record.defer.pc > 0 ? record.defer.pc - 1 : 0,
			       record.defer.pc, false);
	}
	fputs("\n", out);
}

static void print_panic(FILE *out, struct listing *listing, uint64_t id, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(listing->dump, GH_DUMP_PANIC, number, &record);
	uint64_t type = record.panic.argument_type;
	struct gh_dump_slice name = gh_dumpfile_type_name(listing->dump, type);
	fprintf(out, "panicking in goroutine %" PRIu64 ": ", id);
	if (name.size > 0)
		gh_print_slice(out, listing->dump, name, false);
	else
		fprintf(out, "type 0x%" PRIx64, type);
	fprintf(out, ", data 0x%" PRIx64 "\n", record.panic.argument_data);
}

static void print_extra(FILE *out, struct listing *listing, uint64_t id, size_t number)
{
	const struct gh_dump_stack *stack = gh_dump_stack(listing->dump, number);
	for (size_t i = 0; i < stack->npanics; i++)
		print_panic(out, listing, id, stack->first_panic + i);
	for (size_t i = 0; i < stack->ndefers; i++)
		print_defer(out, listing, id, stack->first_defer + i);
}

static void print_json_calls(FILE *out, struct listing *listing)
{
	const struct gh_traceback *traceback = &listing->traceback;
	const char *separator = "";
	fputs(",\"frames\":[", out);
	for (size_t i = 0; i < traceback->ncalls; i++) {
		const struct gh_call *call = &traceback->calls[i];
		if (!is_printed(listing, call))
			continue;
		fprintf(out, "%s{\"function\":", separator);
		gh_print_bytes(out, call->name, call->length, true);
		fputs(",\"file\":", out);
		if (*call->file != '\0')
			gh_escape_json(out, call->file);
		else
			fputs("null", out);
		fprintf(out,
			",\"line\":%" PRId32 ",\"pc\":\"0x%" PRIx64 "\",\"offset\":%" PRIu64
			",\"inlined\":%s}",
			call->line, call->pc, call->offset, call->inlined ? "true" : "false");
		separator = ",";
	}
	fputs("]", out);
}

static void print_json_creator(FILE *out, struct listing *listing,
			       const struct gh_dump_goroutine *goroutine)
{
	struct gh_call creator;
	fprintf(out, ",\"creator_pc\":\"0x%" PRIx64 "\",\"created_by\":", goroutine->creator_pc);
	if (!find_creator(listing, goroutine, &creator)) {
		fputs("null", out);
		return;
	}
	fputs("{\"function\":", out);
	gh_print_bytes(out, creator.name, creator.length, true);
	fputs(",\"file\":", out);
	gh_escape_json(out, creator.file);
	fprintf(out, ",\"line\":%" PRId32 "}", creator.line);
}

static void print_json_extra(FILE *out, struct listing *listing, size_t number)
{
	const struct gh_dump_stack *stack = gh_dump_stack(listing->dump, number);
	struct gh_dump_record record;
	fputs(",\"defers\":[", out);
	for (size_t i = 0; i < stack->ndefers; i++) {
		gh_dump_get(listing->dump, GH_DUMP_DEFER, stack->first_defer + i, &record);
		fprintf(out, "%s{\"function\":", i > 0 ? "," : "");
		print_function(out, listing, record.defer.entry, 0, true);
		fprintf(out, ",\"entry\":\"0x%" PRIx64 "\",\"pc\":\"0x%" PRIx64 "\"}",
			record.defer.entry, record.defer.pc);
	}
	fputs("],\"panics\":[", out);
	for (size_t i = 0; i < stack->npanics; i++) {
		gh_dump_get(listing->dump, GH_DUMP_PANIC, stack->first_panic + i, &record);
		fprintf(out,
			"%s{\"argument_type\":\"0x%" PRIx64 "\",\"argument_data\":\"0x%" PRIx64
			"\"}",
			i > 0 ? "," : "", record.panic.argument_type, record.panic.argument_data);
	}
	fputs("]", out);
}

/* The value of PRINT's output, to be freed; NULL if memory ran out. */
#define CAPTURE(text, call)                                                                        \
	do {                                                                                       \
		size_t captured_size = 0;                                                          \
		FILE *out = open_memstream(&(text), &captured_size);                               \
		if (out != NULL) {                                                                 \
			call;                                                                      \
			fclose(out);                                                               \
		}                                                                                  \
	} while (0)

static void free_entry(struct entry *entry)
{
	free(entry->status);
	free(entry->body);
	free(entry->extra);
}

/* Fills ENTRY with goroutine NUMBER, whose RECORD was read. False if memory ran out. */
static bool make_entry(struct listing *listing, size_t number, const struct gh_dump_record *record,
		       struct entry *entry)
{
	const struct gh_dump_goroutine *goroutine = &record->goroutine;
	*entry = (struct entry){
	    .number = number,
	    .id = goroutine->id,
	    .minutes = gh_dumpfile_minutes(listing->dump, goroutine),
	};
	if (!gh_traceback_make(&listing->traceback, listing->dump, listing->symbols, number))
		return false;
	CAPTURE(entry->status, print_status(out, listing->dump, goroutine, false));
	CAPTURE(entry->body, print_body(out, listing, goroutine));
	CAPTURE(entry->extra, print_extra(out, listing, goroutine->id, number));
	if (entry->status != NULL && entry->body != NULL && entry->extra != NULL)
		return true;
	free_entry(entry);
	return false;
}

/* Prints the state that a goroutine's or group's line ends with. */
static void print_state(FILE *out, const char *status, uint64_t minutes)
{
	fprintf(out, "[%s", status);
	if (minutes > 0)
		fprintf(out, ", %" PRIu64 " minutes", minutes);
	fputs("]:\n", out);
}

static void print_text(FILE *out, const struct entry *entry)
{
	fprintf(out, "goroutine %" PRIu64 " ", entry->id);
	print_state(out, entry->status, entry->minutes);
	fputs(entry->body, out);
	if (*entry->extra != '\0')
		fprintf(out, "\n%s", entry->extra);
}

/* The goroutine is one of those asked for. */
static bool is_wanted(const struct listing *listing, const struct gh_dump_goroutine *goroutine,
		      const struct entry *entry)
{
	const struct gh_options *options = listing->options;
	if (options->status != NULL && strcmp(options->status, entry->status) != 0 &&
	    strcmp(options->status, gh_dumpfile_status(goroutine->status)) != 0)
		return false;
	if (!options->has_pattern)
		return true;
	char *text = NULL;
	CAPTURE(text, print_text(out, entry));
	bool matches = text != NULL && regexec(&options->pattern, text, 0, NULL, 0) == 0;
	free(text);
	return matches;
}

static void print_json(struct listing *listing, const struct gh_dump_goroutine *goroutine,
		       size_t number)
{
	const struct gh_dump *dump = listing->dump;
	FILE *out = listing->out;
	fprintf(out, "{\"id\":%" PRIu64 ",\"status\":\"%s\",\"wait_reason\":", goroutine->id,
		gh_dumpfile_status(goroutine->status));
	gh_print_slice(out, dump, goroutine->wait_reason, true);
	fprintf(out,
		",\"wait_start\":%" PRIu64 ",\"waited_ns\":%" PRIu64
		",\"system\":%s,\"background\":%s",
		goroutine->wait_start, gh_dump_waited(dump, goroutine),
		goroutine->system ? "true" : "false", goroutine->background ? "true" : "false");
	fprintf(out,
		",\"descriptor\":\"0x%" PRIx64 "\",\"sp\":\"0x%" PRIx64
		"\",\"context\":\"0x%" PRIx64 "\",\"thread\":\"0x%" PRIx64 "\"",
		goroutine->descriptor, goroutine->sp, goroutine->context, goroutine->thread);
	print_json_creator(out, listing, goroutine);
	print_json_calls(out, listing);
	print_json_extra(out, listing, number);
	fputs("}\n", out);
}

/* Goroutines with the same status and calls are neighbours, in the dump's order. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->body, y->body);
	if (order == 0)
		order = strcmp(x->status, y->status);
	if (order == 0)
		order = (x->number > y->number) - (x->number < y->number);
	return order;
}

/* A run of the sorted entries. */
struct group {
	const struct entry *first;
	size_t count;
};

/* The largest first, then in the dump's order. */
static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->first->number > y->first->number) - (x->first->number < y->first->number);
}

/* The longest wait in GROUP. */
static uint64_t longest_wait(const struct group *group)
{
	uint64_t minutes = 0;
	for (size_t i = 0; i < group->count; i++)
		if (group->first[i].minutes > minutes)
			minutes = group->first[i].minutes;
	return minutes;
}

static void print_ids(FILE *out, const struct group *group, const char *separator)
{
	for (size_t i = 0; i < group->count; i++)
		fprintf(out, "%s%" PRIu64, i > 0 ? separator : "", group->first[i].id);
}

static void print_group(FILE *out, const struct group *group)
{
	fprintf(out, "%zu goroutine%s ", group->count, group->count > 1 ? "s" : "");
	print_state(out, group->first->status, longest_wait(group));
	fputs(group->first->body, out);
	fputs("\ngoroutines ", out);
	print_ids(out, group, " ");
	fputs("\n", out);
	for (size_t i = 0; i < group->count; i++)
		fputs(group->first[i].extra, out);
}

static bool print_json_group(struct listing *listing, const struct group *group)
{
	struct gh_dump_record record;
	gh_dump_get(listing->dump, GH_DUMP_GOROUTINE, group->first->number, &record);
	if (!gh_traceback_make(&listing->traceback, listing->dump, listing->symbols,
			       group->first->number))
		return false;
	FILE *out = listing->out;
	fprintf(out, "{\"count\":%zu,\"status\":", group->count);
	print_status(out, listing->dump, &record.goroutine, true);
	fprintf(out, ",\"minutes\":%" PRIu64 ",\"goroutines\":[", longest_wait(group));
	print_ids(out, group, ",");
	fputs("]", out);
	print_json_calls(out, listing);
	fputs("}\n", out);
	return true;
}

static bool print_groups(struct listing *listing, struct entry *entries, size_t count)
{
	struct group *groups = calloc(count + 1, sizeof(*groups));
	if (groups == NULL)
		return false;
	qsort(entries, count, sizeof(*entries), compare_entries);
	size_t ngroups = 0;
	for (size_t i = 0; i < count; i++) {
		const struct entry *first = ngroups > 0 ? groups[ngroups - 1].first : NULL;
		if (first != NULL && strcmp(first->body, entries[i].body) == 0 &&
		    strcmp(first->status, entries[i].status) == 0)
			groups[ngroups - 1].count++;
		else
			groups[ngroups++] = (struct group){&entries[i], 1};
	}
	qsort(groups, ngroups, sizeof(*groups), compare_groups);
	bool ok = true;
	for (size_t i = 0; ok && i < ngroups; i++) {
		if (listing->options->json) {
			ok = print_json_group(listing, &groups[i]);
			continue;
		}
		if (i > 0)
			fputs("\n", listing->out);
		print_group(listing->out, &groups[i]);
	}
	free(groups);
	return ok;
}

/* Prints the goroutines that are wanted or, if they are to be grouped, gathers them in ENTRIES.
 * Counts them. False if memory ran out. */
static bool walk(struct listing *listing, struct entry *entries, size_t *count)
{
	const struct gh_options *options = listing->options;
	struct gh_dump_record record;
	for (size_t i = 0; i < listing->dump->nstacks; i++) {
		struct entry entry;
		gh_dump_get(listing->dump, GH_DUMP_GOROUTINE, i, &record);
		if (listing->only != NULL ? record.goroutine.id != *listing->only
					  : record.goroutine.system && !options->all)
			continue;
		if (!make_entry(listing, i, &record, &entry))
			return false;
		if (!is_wanted(listing, &record.goroutine, &entry)) {
			free_entry(&entry);
			continue;
		}
		if (entries != NULL) {
			entries[(*count)++] = entry;
			continue;
		}
		if (options->json) {
			print_json(listing, &record.goroutine, i);
		} else {
			if (*count > 0)
				fputs("\n", listing->out);
			print_text(listing->out, &entry);
		}
		++*count;
		free_entry(&entry);
	}
	return true;
}

static int print_listing(struct listing *listing)
{
	struct entry *entries = NULL;
	size_t count = 0;
	bool ok = true;
	if (listing->options->group) {
		entries = calloc(listing->dump->nstacks + 1, sizeof(*entries));
		ok = entries != NULL;
	}
	ok = ok && walk(listing, entries, &count);
	if (ok && entries != NULL)
		ok = print_groups(listing, entries, count);
	for (size_t i = 0; entries != NULL && i < count; i++)
		free_entry(&entries[i]);
	free(entries);
	gh_traceback_free(&listing->traceback);
	if (!ok)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	return ok ? GH_EXIT_OK : GH_EXIT_INPUT;
}

bool gh_goroutines_print_groups(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols)
{
	static const struct gh_options options = {.group = true, .json = true};
	struct listing listing = {
	    .options = &options, .out = out, .dump = dump, .symbols = symbols};
	return print_listing(&listing) == GH_EXIT_OK;
}

bool gh_goroutines_print_one(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			     uint64_t id)
{
	static const struct gh_options options = {0};
	struct listing listing = {
	    .options = &options, .out = out, .only = &id, .dump = dump, .symbols = symbols};
	return print_listing(&listing) == GH_EXIT_OK;
}

static int run(const struct gh_options *options)
{
	struct listing listing = {.options = options, .out = stdout};
	struct gh_symbols symbols;
	char running[32];
	const char *program = gh_options_program(options, running);
	if (options->process != NULL
		? !gh_snapshot_open_process(&listing.snapshot, options->process, program)
		: !gh_snapshot_open(&listing.snapshot, options->file, program))
		return GH_EXIT_INPUT;
	listing.dump = &listing.snapshot.dump;
	int status = GH_EXIT_INPUT;
	if (program == NULL) {
		status = print_listing(&listing);
	} else if (gh_symbols_open(&symbols, listing.dump, program)) {
		listing.symbols = &symbols;
		status = print_listing(&listing);
		gh_symbols_close(&symbols);
	}
	gh_snapshot_close(&listing.snapshot);
	return status;
}

int gh_cmd_goroutines(const struct gh_options *options)
{
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	return run(options);
}
