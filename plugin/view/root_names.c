/* What the roots of a heap are called. */
#include <inttypes.h>
#include <string.h>

#include "lib/dump/dump.h"
#include "lib/util/bsearch.h"
#include "lib/util/escape.h"
#include "plugin/view/emit.h"
#include "plugin/view/internal.h"
#include "plugin/view/paths.h"

/* Prints the name of the variable that ROOT is in. False if it is not known. */
static bool print_variable(FILE *out, const struct gh_names *names, const struct gh_root *root)
{
	struct gh_buffer text = {0};
	bool found = gh_typing_root(&names->typing, root, &text);
	if (found) {
		fputs(", ", out);
		gh_print_bytes(out, (const char *)text.data, text.size, false);
	}
	gh_buffer_free(&text);
	return found;
}

/* The outermost call in frame NUMBER of GOROUTINE; NULL if it is not known. */
static const struct gh_call *find_in_traceback(struct gh_names *names, size_t goroutine,
					       size_t number)
{
	struct gh_traceback *traceback = &names->traceback;
	if (names->symbols == NULL || goroutine == GH_DUMP_NONE)
		return NULL;
	if ((traceback->calls.count == 0 || names->goroutine != goroutine) &&
	    !gh_traceback_make(traceback, names->heap->dump, names->symbols, goroutine))
		return NULL;
	names->goroutine = goroutine;
	/* The frames ascend. */
	size_t after =
	    gh_lower_bound(traceback->calls.count, i, traceback->calls.items[i].frame <= number);
	bool found = after > 0 && traceback->calls.items[after - 1].frame == number;
	return found ? &traceback->calls.items[after - 1] : NULL;
}

/* Fills in the call that frame NUMBER is of, which calls that are inlined into it do not change. */
static void find_call(struct gh_root_place *from, struct gh_names *names, size_t number,
		      const struct gh_dump_frame *frame)
{
	const struct gh_dump *dump = names->heap->dump;
	struct gh_cursor name = gh_dump_bytes(dump, frame->function);
	from->goroutine = gh_where_goroutine_of_frame(dump, number);
	from->has_call = true;
	from->depth = frame->depth;
	from->call = (struct gh_call){
	    .name = (const char *)name.start, .length = gh_cursor_size(&name), .file = ""};
	const struct gh_call *call = find_in_traceback(names, from->goroutine, number);
	if (call != NULL)
		from->call = *call;
}

static void find_frame(struct gh_root_place *from, struct gh_names *names,
		       const struct gh_root *root, const struct gh_dump_record *record)
{
	from->kind = "stack";
	if (record->kind != GH_DUMP_FRAME) {
		from->address = record->stack_root.address;
		return;
	}
	from->slot = root->offset;
	from->address = record->frame.sp + root->offset;
	find_call(from, names, root->number, &record->frame);
}

static void find_segment(struct gh_root_place *from, const char *kind, const struct gh_root *root,
			 const struct gh_dump_record *record)
{
	from->kind = kind;
	from->address = record->kind == GH_DUMP_DATA_ROOT ? record->data_root.address
							  : record->segment.address + root->offset;
}

static const char *goroutine_slot(uint64_t offset)
{
	switch (offset) {
	case GH_ROOT_TOP_DEFER:
		return "its innermost deferred call";
	case GH_ROOT_TOP_PANIC:
		return "its innermost panic";
	default:
		return "its context";
	}
}

void gh_names_root_place(struct gh_root_place *from, struct gh_names *names,
			 const struct gh_root *root, struct gh_dump_record *record)
{
	const struct gh_dump *dump = names->heap->dump;
	gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, record);
	*from = (struct gh_root_place){.goroutine = GH_DUMP_NONE};
	switch (root->kind) {
	case GH_ROOT_DATA:
		find_segment(from, "data", root, record);
		break;
	case GH_ROOT_BSS:
		find_segment(from, "bss", root, record);
		break;
	case GH_ROOT_FRAME:
		find_frame(from, names, root, record);
		break;
	case GH_ROOT_GOROUTINE:
		from->kind = "goroutine";
		from->goroutine = root->number;
		from->what = goroutine_slot(root->offset);
		break;
	case GH_ROOT_DEFER:
		from->kind = "defer";
		from->goroutine = gh_where_goroutine_of_defer(dump, root->number);
		from->what = "a deferred call's closure";
		break;
	case GH_ROOT_PANIC:
		from->kind = "panic";
		from->goroutine = gh_where_goroutine_of_panic(dump, root->number);
		from->what = "a panic's argument";
		break;
	case GH_ROOT_FINALIZER:
		from->kind = "finalizer";
		break;
	case GH_ROOT_QUEUED_FINALIZER:
		from->kind = "queued finalizer";
		break;
	case GH_ROOT_CLEANUP_CLOSURE:
		from->kind = "cleanup";
		break;
	case GH_ROOT_OTHER:
	case GH_ROOT_KINDS:
		from->kind = "other";
		break;
	}
}

/* The name of the function that begins at ENTRY; NULL if it is not known. */
static const char *function_name(const struct gh_names *names, uint64_t entry)
{
	const struct gh_place *place =
	    names->symbols != NULL ? gh_symbols_find(names->symbols, entry) : NULL;
	return place != NULL ? gh_pclntab_name(place->module.tab, place->func.name) : NULL;
}

uint64_t gh_names_cleanup(const struct gh_names *names, const struct gh_root *root)
{
	struct gh_cleanup cleanup = {0};
	if (names->symbols != NULL)
		gh_cleanup_of(&cleanup, names->heap, &names->symbols->program.tab,
			      names->symbols->bias, root);
	return cleanup.entry;
}

void gh_names_print_function(FILE *out, const struct gh_names *names, uint64_t entry)
{
	const char *name = function_name(names, entry);
	if (name != NULL)
		gh_escape_print(out, name);
	else
		fprintf(out, "0x%" PRIx64, entry);
}

static void print_frame(FILE *out, const struct gh_names *names, const struct gh_root *root,
			const struct gh_root_place *from)
{
	if (from->goroutine == GH_DUMP_NONE)
		fputs("a stack", out);
	if (!from->has_call) {
		fprintf(out, ", 0x%" PRIx64, from->address);
		return;
	}
	fputs(", ", out);
	gh_traceback_print_call(out, &from->call);
	if (print_variable(out, names, root))
		fprintf(out, " (sp_0x%" PRIx64 ")", from->slot);
	else
		fprintf(out, ", sp_0x%" PRIx64, from->slot);
}

static void print_finalizer(FILE *out, const struct gh_names *names, const struct gh_root *root,
			    const struct gh_dump_record *record)
{
	const struct gh_dump_finalizer *finalizer = &record->finalizer;
	fprintf(out, "%sfinalizer ", root->kind == GH_ROOT_FINALIZER ? "" : "queued ");
	gh_names_print_function(out, names, finalizer->entry);
	fprintf(out, " of 0x%" PRIx64, finalizer->object);
	if (root->offset == GH_ROOT_CLOSURE) {
		fputs(", its closure", out);
	} else if (root->kind == GH_ROOT_FINALIZER) {
		uint32_t object = gh_heap_find(names->heap, finalizer->object);
		fputs(", ", out);
		gh_names_print_field(out, names, object, root->offset);
	}
}

/* Prints the word of a segment that is at HOLDER's address. */
static void print_global(FILE *out, struct gh_names *names, const struct gh_root_place *from)
{
	struct gh_global_way way;
	gh_globals_find(&names->globals, from->address, &way);
	if (gh_globals_print(out, &names->globals, &way))
		fprintf(out, " (%s, 0x%" PRIx64 ")", from->kind, from->address);
	else
		fprintf(out, "%s 0x%" PRIx64, from->kind, from->address);
	gh_globals_free_way(&way);
}

void gh_names_print_root(FILE *out, struct gh_names *names, const struct gh_root *root)
{
	const struct gh_dump *dump = names->heap->dump;
	struct gh_dump_record record;
	struct gh_root_place from;
	gh_names_root_place(&from, names, root, &record);
	if (from.goroutine != GH_DUMP_NONE)
		fprintf(out, "goroutine %" PRIu64, gh_where_goroutine_id(dump, from.goroutine));
	if (root->kind == GH_ROOT_FRAME) {
		print_frame(out, names, root, &from);
	} else if (from.what != NULL) {
		fprintf(out, "%s%s", from.goroutine != GH_DUMP_NONE ? ", " : "", from.what);
	} else if (root->kind == GH_ROOT_FINALIZER || root->kind == GH_ROOT_QUEUED_FINALIZER) {
		print_finalizer(out, names, root, &record);
	} else if (root->kind == GH_ROOT_CLEANUP_CLOSURE) {
		fputs("cleanup ", out);
		gh_names_print_function(out, names, gh_names_cleanup(names, root));
	} else if (root->kind == GH_ROOT_OTHER) {
		fputs("root: ", out);
		gh_print_slice(out, dump, record.other_root.description, false);
	} else {
		print_global(out, names, &from);
	}
	/* The description of such another root says so. */
	if (root->conservative && root->kind != GH_ROOT_OTHER)
		fputs(", perhaps", out);
}

void gh_names_print_slot(FILE *out, struct gh_names *names, const struct gh_root *root)
{
	struct gh_dump_record record;
	struct gh_root_place from;
	struct gh_global_way way;
	gh_names_root_place(&from, names, root, &record);
	if (root->kind == GH_ROOT_QUEUED_FINALIZER) {
		fputs("queued finalizer ", out);
		gh_names_print_function(out, names, record.finalizer.entry);
		return;
	}
	if (root->kind != GH_ROOT_DATA && root->kind != GH_ROOT_BSS) {
		gh_names_print_root(out, names, root);
		return;
	}
	gh_globals_find(&names->globals, from.address, &way);
	if (!gh_globals_print(out, &names->globals, &way))
		fprintf(out, "%s 0x%" PRIx64, from.kind, from.address);
	gh_globals_free_way(&way);
}

/* Prints where the program's own code is on the stack of GOROUTINE. */
static void print_own_call(FILE *out, struct gh_names *names, size_t goroutine)
{
	struct gh_traceback *traceback = &names->traceback;
	if (goroutine == GH_DUMP_NONE ||
	    !gh_traceback_make(traceback, names->heap->dump, names->symbols, goroutine))
		return;
	names->goroutine = goroutine;
	const struct gh_call *own = gh_traceback_own_call(traceback);
	if (own == NULL)
		return;
	fputs(" in ", out);
	gh_traceback_print_call(out, own);
}

void gh_names_print_stack(FILE *out, struct gh_names *names, const struct gh_root *root,
			  uint64_t count)
{
	struct gh_dump_record record;
	struct gh_root_place from;
	gh_names_root_place(&from, names, root, &record);
	if (count > 1)
		gh_print_count(out, count, "goroutine");
	else if (from.goroutine != GH_DUMP_NONE)
		fprintf(out, "goroutine %" PRIu64,
			gh_where_goroutine_id(names->heap->dump, from.goroutine));
	print_own_call(out, names, from.goroutine);
	if (root->kind == GH_ROOT_FRAME)
		print_variable(out, names, root);
	if (root->conservative)
		fputs(", perhaps", out);
}

/* A root, as it is printed in JSON: what does not belong to its kind is not there. */
struct root_row {
	const struct gh_root_place *from;
	const char *kind;
	struct gh_bytes variable;
	struct gh_known address;
	struct gh_known goroutine; /* its id */
	uint64_t depth;
	uint64_t slot;
	struct gh_bytes function;
	const char *file;
	const char *what;
	uint64_t object;       /* that a finalizer is for: an address */
	const char *finalizer; /* its function; NULL if it is not known */
	bool closure;          /* it is the finalizer's closure that points, not the object */
	struct gh_dump_slice description;
	bool conservative;
};

/* Without a file there is no line. */
static void print_line(struct gh_emit *emit, const void *member)
{
	const struct gh_call *call = &((const struct root_row *)member)->from->call;
	if (*call->file == '\0')
		fputs("null", emit->out);
	else
		fprintf(emit->out, "%" PRId32, call->line);
}

static const struct gh_column kind_columns[] = {
    {"kind", GH_COL_TEXT(struct root_row, kind)},
    {"variable", GH_COL_BYTES(struct root_row, variable), .optional = true},
    {0},
};

static const struct gh_column root_columns[] = {
    {"address", GH_COL_KNOWN_ADDRESS(struct root_row, address), .optional = true},
    {"goroutine", GH_COL_KNOWN_NUMBER(struct root_row, goroutine), .optional = true},
    {0},
};

static const struct gh_column call_columns[] = {
    {"depth", GH_COL_NUMBER(struct root_row, depth)},
    {"slot", GH_COL_NUMBER(struct root_row, slot)},
    {"function", GH_COL_BYTES(struct root_row, function)},
    {"file", GH_COL_TEXT(struct root_row, file)},
    {"line", GH_COL_PRINTED(print_line)},
    {0},
};

static const struct gh_column what_columns[] = {
    {"what", GH_COL_TEXT(struct root_row, what), .optional = true},
    {0},
};

static const struct gh_column finalizer_columns[] = {
    {"object", GH_COL_ADDRESS(struct root_row, object)},
    {"function", GH_COL_TEXT(struct root_row, finalizer)},
    {"closure", GH_COL_BOOL(struct root_row, closure)},
    {0},
};

static const struct gh_column other_columns[] = {
    {"description", GH_COL_SLICE(struct root_row, description)},
    {0},
};

static const struct gh_column last_columns[] = {
    {"conservative", GH_COL_BOOL(struct root_row, conservative), .optional = true},
    {0},
};

static void emit_global(struct gh_emit *emit, struct gh_names *names, uint64_t address)
{
	struct gh_global_way way;
	gh_globals_find(&names->globals, address, &way);
	gh_globals_emit(emit, &names->globals, &way);
	gh_globals_free_way(&way);
}

void gh_names_emit_root(struct gh_emit *emit, struct gh_names *names, const struct gh_root *root)
{
	const struct gh_dump *dump = names->heap->dump;
	struct gh_dump_record record;
	struct gh_root_place from;
	struct gh_buffer variable = {0};
	gh_names_root_place(&from, names, root, &record);
	struct root_row row = {
	    .from = &from,
	    .kind = from.kind,
	    .address = {from.address, from.address != 0},
	    .depth = from.depth,
	    .slot = from.slot,
	    .function = {from.call.name, from.call.length},
	    .file = from.has_call && *from.call.file != '\0' ? from.call.file : NULL,
	    .what = from.what,
	    .closure = root->offset == GH_ROOT_CLOSURE,
	    .conservative = root->conservative,
	};
	bool is_global = root->kind == GH_ROOT_DATA || root->kind == GH_ROOT_BSS;
	if (!is_global && gh_typing_root(&names->typing, root, &variable))
		row.variable = (struct gh_bytes){(const char *)variable.data, variable.size};
	if (from.goroutine != GH_DUMP_NONE)
		row.goroutine =
		    (struct gh_known){gh_where_goroutine_id(dump, from.goroutine), true};
	gh_emit_open(emit);
	gh_emit_values(emit, kind_columns, &row);
	if (is_global)
		emit_global(emit, names, from.address);
	gh_emit_values(emit, root_columns, &row);
	if (from.has_call)
		gh_emit_values(emit, call_columns, &row);
	gh_emit_values(emit, what_columns, &row);
	if (root->kind == GH_ROOT_FINALIZER || root->kind == GH_ROOT_QUEUED_FINALIZER) {
		row.object = record.finalizer.object;
		row.finalizer = function_name(names, record.finalizer.entry);
		gh_emit_values(emit, finalizer_columns, &row);
	}
	if (root->kind == GH_ROOT_CLEANUP_CLOSURE) {
		row.object = gh_heap_object(names->heap, root->object).address;
		row.finalizer = function_name(names, gh_names_cleanup(names, root));
		gh_emit_values(emit, finalizer_columns, &row);
	}
	if (root->kind == GH_ROOT_OTHER) {
		row.description = record.other_root.description;
		gh_emit_values(emit, other_columns, &row);
	}
	gh_emit_values(emit, last_columns, &row);
	gh_emit_close(emit);
	gh_buffer_free(&variable);
}
