#include "plugin/view/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

const char *gh_goroutine_status(uint64_t status)
{
	/* gStatusStrings in src/runtime/traceback.go. */
	static const char *const names[] = {"idle",      "runnable", "running", "syscall",
					    "waiting",   "???",      "dead",    "???",
					    "copystack", "preempted"};
	return status < sizeof(names) / sizeof(names[0]) ? names[status] : "???";
}

size_t gh_goroutine_find(const struct gh_dump *dump, uint64_t id, struct gh_dump_record *record)
{
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_GOROUTINE); i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, record);
		if (record->goroutine.id == id)
			return i;
	}
	return GH_DUMP_NONE;
}

const char *gh_goroutine_state(const struct gh_dump *dump,
			       const struct gh_dump_goroutine *goroutine, size_t *size)
{
	struct gh_cursor reason = gh_dump_bytes(dump, goroutine->wait_reason);
	*size = gh_cursor_size(&reason);
	if (goroutine->status == GH_DUMP_WAITING && *size > 0)
		return (const char *)reason.start;
	const char *status = gh_goroutine_status(goroutine->status);
	*size = strlen(status);
	return status;
}

uint64_t gh_goroutine_minutes(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine)
{
	if (goroutine->status != GH_DUMP_WAITING && goroutine->status != GH_DUMP_SYSCALL)
		return 0;
	return gh_dump_waited(dump, goroutine) / GH_NS_PER_MINUTE;
}

bool gh_goroutine_has_call(const struct gh_goroutine_list *listing, const struct gh_call *call)
{
	return !call->hidden || listing->all || listing->traceback.all;
}

/* Prints the line and pc of CALL, of C code, as Go does where a symbolizer tells it of such
 * (printOneCgoTraceback of src/runtime/traceback.go). */
static void print_c_place(FILE *out, const struct gh_call *call)
{
	fputs("\t", out);
	if (*call->file != '\0') {
		gh_escape_print(out, call->file);
		fprintf(out, ":%" PRId32 " ", call->line);
	}
	fprintf(out, "pc=0x%" PRIx64 "\n", call->pc);
}

/* Prints the line of CALL's source. */
static void print_place(FILE *out, const struct gh_call *call)
{
	if (call->object != NULL) {
		print_c_place(out, call);
		return;
	}
	if (*call->file == '\0')
		return;
	fputs("\t", out);
	gh_escape_print(out, call->file);
	fprintf(out, ":%" PRId32, call->line);
	if (!call->inlined && call->offset > 0)
		fprintf(out, " +0x%" PRIx64, call->offset);
	fputs("\n", out);
}

bool gh_goroutine_find_creator(const struct gh_goroutine_list *listing,
			       const struct gh_dump_goroutine *goroutine, struct gh_call *call)
{
	return gh_traceback_creator(goroutine, listing->symbols, call) &&
	       (!call->hidden || listing->all);
}

/* How many calls are printed at either end of a stack that has more (tracebackInnerFrames and
 * tracebackOuterFrames of src/runtime/traceback.go). */
#define SHOWN_CALLS 50

/* How many calls of the stack are left out of its middle. */
static size_t count_elided(const struct gh_goroutine_list *listing)
{
	size_t count = 0;
	for (size_t i = 0; i < listing->traceback.calls.count; i++)
		count += gh_goroutine_has_call(listing, &listing->traceback.calls.items[i]);
	return count > 2 * SHOWN_CALLS && !listing->all ? count - 2 * SHOWN_CALLS : 0;
}

static void print_body(FILE *out, struct gh_goroutine_list *listing, size_t goroutine_number,
		       const struct gh_dump_goroutine *goroutine)
{
	const struct gh_traceback *traceback = &listing->traceback;
	size_t elided = count_elided(listing);
	size_t number = 0;
	for (size_t i = 0; i < traceback->calls.count; i++) {
		if (!gh_goroutine_has_call(listing, &traceback->calls.items[i]))
			continue;
		if (elided > 0 && number++ == SHOWN_CALLS)
			fprintf(out, "...%zu frames elided...\n", elided);
		if (elided > 0 && number > SHOWN_CALLS && number <= SHOWN_CALLS + elided)
			continue;
		gh_traceback_print_name(out, &traceback->calls.items[i]);
		/* Groups are of goroutines with the same stack, whatever they work on. */
		if (listing->group && traceback->calls.items[i].object == NULL)
			fputs("(...)", out);
		else
			gh_traceback_print_arguments(out, listing->dump, listing->symbols,
						     &traceback->calls.items[i]);
		fputs("\n", out);
		print_place(out, &traceback->calls.items[i]);
	}
	struct gh_call creator;
	if (gh_goroutine_find_creator(listing, goroutine, &creator)) {
		fputs("created by ", out);
		gh_traceback_print_name(out, &creator);
		uint64_t id = gh_dump_extras(listing->dump, goroutine_number).creator;
		if (id != 0 && !listing->group)
			fprintf(out, " in goroutine %" PRIu64, id);
		fputs("\n", out);
		print_place(out, &creator);
	}
}

const char *gh_goroutine_function(const struct gh_goroutine_list *listing, uint64_t pc)
{
	const struct gh_place *place =
	    listing->symbols != NULL && pc != 0 ? gh_symbols_find(listing->symbols, pc) : NULL;
	return place != NULL ? gh_pclntab_name(place->module.tab, place->func.name) : NULL;
}

/* Prints the function at PC, or the address SHOWN if it is not known. */
static void print_function(FILE *out, struct gh_goroutine_list *listing, uint64_t pc,
			   uint64_t shown)
{
	const char *name = gh_goroutine_function(listing, pc);
	if (name != NULL)
		gh_escape_print(out, name);
	else
		fprintf(out, "0x%" PRIx64, shown);
}

static void print_defer(FILE *out, struct gh_goroutine_list *listing, uint64_t id, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(listing->dump, GH_DUMP_DEFER, number, &record);
	fprintf(out, "deferred in goroutine %" PRIu64 ": ", id);
	if (record.defer.entry != 0)
		print_function(out, listing, record.defer.entry, record.defer.entry);
	else
		fputs("open-coded", out);
	/* What Go 1.3 itself defers while it panics has no pc, and no arguments (NoArgs, -1). */
	if (record.defer.argp != (listing->dump->word == 8 ? UINT64_MAX : UINT32_MAX)) {
		fputs(" by ", out);
		print_function(out, listing, record.defer.pc > 0 ? record.defer.pc - 1 : 0,
			       record.defer.pc);
	}
	fputs("\n", out);
}

static void print_panic(FILE *out, struct gh_goroutine_list *listing, uint64_t id, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(listing->dump, GH_DUMP_PANIC, number, &record);
	uint64_t type = record.panic.argument_type;
	struct gh_dump_slice name = gh_dumpfile_type_name(listing->dump, type);
	fprintf(out, "panicking in goroutine %" PRIu64 ": ", id);
	if (record.panic.value.size > 0) {
		gh_print_slice(out, listing->dump, record.panic.value, false);
		fputs("\n", out);
		return;
	}
	if (name.size > 0)
		gh_print_slice(out, listing->dump, name, false);
	else
		fprintf(out, "type 0x%" PRIx64, type);
	fprintf(out, ", data 0x%" PRIx64 "\n", record.panic.argument_data);
}

static void print_extra(FILE *out, struct gh_goroutine_list *listing, uint64_t id, size_t number)
{
	const struct gh_dump_stack *stack = gh_dump_stack(listing->dump, number);
	/* A crash report has them before the stack, with their values. */
	for (size_t i = 0; i < stack->npanics && !listing->panics_told; i++)
		print_panic(out, listing, id, stack->first_panic + i);
	for (size_t i = 0; i < stack->ndefers; i++)
		print_defer(out, listing, id, stack->first_defer + i);
}

static void print_status(FILE *out, const struct gh_dump *dump,
			 const struct gh_dump_goroutine *goroutine)
{
	size_t size;
	const char *state = gh_goroutine_state(dump, goroutine, &size);
	gh_print_bytes(out, state, size, false);
}

/* Go quotes a text for any other character than these (tracebackStringNeedsQuoting). */
static void print_label_text(FILE *out, const char *text, size_t size)
{
	bool quotes = false;
	for (size_t i = 0; i < size; i++)
		quotes = quotes || !(isalnum((unsigned char)text[i]) || text[i] == '.' ||
				     text[i] == '/' || text[i] == '_');
	gh_print_bytes(out, text, size, quotes);
}

static void print_labels(FILE *out, const struct gh_dump *dump, size_t number)
{
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	size_t count = gh_dump_labels(dump, number, labels);
	for (size_t i = 0; i < count; i++) {
		fputs(i == 0 ? " {" : ", ", out);
		print_label_text(out, labels[i].key, labels[i].key_size);
		fputs(": ", out);
		print_label_text(out, labels[i].value, labels[i].value_size);
	}
	if (count > 0)
		fputs("}", out);
}

/* Prints the first call that is not in the standard library, or the first, on one line. */
static void print_first_call(FILE *out, struct gh_goroutine_list *listing)
{
	const struct gh_traceback *traceback = &listing->traceback;
	const struct gh_call *found = NULL;
	for (size_t i = 0; i < traceback->calls.count; i++) {
		const struct gh_call *call = &traceback->calls.items[i];
		if (call->object != NULL || !gh_goroutine_has_call(listing, call) ||
		    (found != NULL && gh_call_is_standard(call)))
			continue;
		found = call;
		if (!gh_call_is_standard(call))
			break;
	}
	if (found == NULL)
		return;
	fputs(" ", out);
	gh_traceback_print_name(out, found);
	gh_traceback_print_arguments(out, listing->dump, listing->symbols, found);
	if (*found->file == '\0')
		return;
	fputs(" at ", out);
	gh_escape_print(out, found->file);
	fprintf(out, ":%" PRId32, found->line);
}

/* What CALL prints to `out', to be freed; NULL if memory ran out. */
#define CAPTURE(text, call)                                                                        \
	do {                                                                                       \
		size_t captured_size = 0;                                                          \
		FILE *out = open_memstream(&(text), &captured_size);                               \
		if (out != NULL) {                                                                 \
			call;                                                                      \
			fclose(out);                                                               \
		}                                                                                  \
	} while (0)

void gh_goroutine_text_free(struct gh_goroutine_text *text)
{
	free(text->status);
	free(text->labels);
	free(text->body);
	free(text->extra);
}

bool gh_goroutine_text_make(struct gh_goroutine_text *text, struct gh_goroutine_list *listing,
			    size_t number, const struct gh_dump_record *record)
{
	const struct gh_dump_goroutine *goroutine = &record->goroutine;
	struct gh_dump_extras extras = gh_dump_extras(listing->dump, number);
	*text = (struct gh_goroutine_text){
	    .number = number,
	    .id = goroutine->id,
	    .minutes = gh_goroutine_minutes(listing->dump, goroutine),
	    .locked = extras.locked,
	    .one_line = listing->one_line,
	    .selected = extras.selected && !listing->group,
	};
	if (!gh_traceback_make(&listing->traceback, listing->dump, listing->symbols, number))
		return false;
	CAPTURE(text->status, print_status(out, listing->dump, goroutine));
	CAPTURE(text->labels, print_labels(out, listing->dump, number));
	if (listing->one_line) {
		CAPTURE(text->body, print_first_call(out, listing));
		text->extra = strdup("");
	} else {
		CAPTURE(text->body, print_body(out, listing, number, goroutine));
		CAPTURE(text->extra, print_extra(out, listing, goroutine->id, number));
	}
	if (text->status != NULL && text->labels != NULL && text->body != NULL &&
	    text->extra != NULL)
		return true;
	gh_goroutine_text_free(text);
	return false;
}

void gh_goroutine_print_state(FILE *out, const struct gh_goroutine_text *text, uint64_t minutes)
{
	fprintf(out, "[%s", text->status);
	gh_minutes_print_as_go(out, minutes);
	if (text->locked)
		fputs(", locked to thread", out);
	if (text->selected)
		fputs(", on selected thread", out);
	fputs("]", out);
}

void gh_goroutine_text_print(FILE *out, const struct gh_goroutine_text *text)
{
	fprintf(out, "goroutine %" PRIu64 " ", text->id);
	gh_goroutine_print_state(out, text, text->minutes);
	fprintf(out, "%s:%s%s", text->labels, text->one_line ? "" : "\n", text->body);
	if (text->one_line)
		fputs("\n", out);
	if (*text->extra != '\0')
		fprintf(out, "\n%s", text->extra);
}

char *gh_goroutine_text_whole(const struct gh_goroutine_text *text)
{
	char *whole = NULL;
	CAPTURE(whole, gh_goroutine_text_print(out, text));
	return whole;
}

/* The last two parts of the path of CALL's source. */
static const char *short_file(const struct gh_call *call)
{
	const char *start = call->file + strlen(call->file);
	for (unsigned slashes = 0; start > call->file; start--) {
		slashes += start[-1] == '/';
		if (slashes == 2)
			break;
	}
	return start;
}

static void print_order(FILE *out, const struct gh_goroutine_list *listing)
{
	/* Modules that were downloaded are in directories with their versions: "NAME@v1.2.3". */
	enum { MAIN, OWN, MODULE, STANDARD, KINDS };
	unsigned counts[KINDS] = {0};
	const struct gh_traceback *traceback = &listing->traceback;
	for (size_t i = 0; i < traceback->calls.count; i++) {
		const struct gh_call *call = &traceback->calls.items[i];
		if (call->object != NULL || !gh_goroutine_has_call(listing, call))
			continue;
		counts[MAIN] += gh_call_is_main(call);
		if (gh_call_is_standard(call))
			counts[STANDARD]++;
		else
			counts[strchr(call->file, '@') != NULL ? MODULE : OWN]++;
	}
	for (unsigned i = 0; i < KINDS; i++)
		fprintf(out, "%010u ", UINT_MAX - counts[i]);
	for (size_t i = 0; i < traceback->calls.count; i++) {
		const struct gh_call *call = &traceback->calls.items[i];
		if (call->object != NULL || !gh_goroutine_has_call(listing, call))
			continue;
		gh_traceback_print_name(out, call);
		fprintf(out, "\n%s\n%010" PRId32 "\n", short_file(call), call->line);
	}
}

char *gh_goroutine_order(struct gh_goroutine_list *listing, size_t number)
{
	char *text = NULL;
	if (gh_traceback_make(&listing->traceback, listing->dump, listing->symbols, number))
		CAPTURE(text, print_order(out, listing));
	return text;
}
