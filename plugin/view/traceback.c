/* The rules are those of Go's src/runtime/traceback.go. */
#include "plugin/view/internal.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/dump/dump.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/escape.h"
#include "plugin/view/emit.h"

#define RUNTIME "runtime."

static bool is(const struct gh_call *call, const char *name)
{
	return call != NULL && call->length == strlen(name) &&
	       memcmp(call->name, name, call->length) == 0;
}

/* The bytes of TEXT begin with a capital letter. */
static bool is_exported(const char *text, size_t length)
{
	return length > 0 && text[0] >= 'A' && text[0] <= 'Z';
}

/* A function of package runtime that user code may call; a method's receiver counts as well. */
static bool is_exported_runtime(const struct gh_call *call)
{
	const char *name = call->name + strlen(RUNTIME);
	size_t length = call->length - strlen(RUNTIME);
	const char *dot = memrchr(name, '.', length);
	if (dot == NULL)
		return is_exported(name, length);
	size_t receiver = (size_t)(dot - name);
	if (!is_exported(dot + 1, length - receiver - 1))
		return false;
	if (receiver >= 3 && name[0] == '(' && name[1] == '*')
		return is_exported(name + 2, receiver - 2);
	return is_exported(name, receiver);
}

/* CALL is in a traceback of a release; MINOR as gh_dump_minor gives it. FIRST: nothing has been
 * printed before. */
static bool is_shown(const struct gh_call *call, int minor, bool first)
{
	if (is(call, "runtime.runFinalizers") || is(call, "runtime.runCleanups") ||
	    is(call, "runtime.panic"))
		return true;
	/* It was runtime.panic to Go 1.3, and the name that is looked for stayed so to 1.5. */
	if (is(call, "runtime.gopanic"))
		return !first && minor >= 6;
	if (memchr(call->name, '.', call->length) == NULL)
		return false;
	bool runtime =
	    call->length >= strlen(RUNTIME) && memcmp(call->name, RUNTIME, strlen(RUNTIME)) == 0;
	return !runtime || (minor >= 4 && is_exported_runtime(call));
}

/* Wrappers are left out, unless it is they that panicked. */
static bool elides_wrapper(const struct gh_call *callee)
{
	return !is(callee, "runtime.gopanic") && !is(callee, "runtime.sigpanic") &&
	       !is(callee, "runtime.panicwrap");
}

static struct gh_call *add_call(struct gh_traceback *traceback)
{
	struct gh_call *call = gh_vector_extend(&traceback->calls, 1);
	if (call == NULL)
		gh_leave_out();
	else
		*call = (struct gh_call){.file = ""};
	return call;
}

/* The call of Go's inside the one that comes next; NULL at the top. */
static const struct gh_call *last_call(const struct gh_traceback *traceback)
{
	size_t count = traceback->calls.count;
	while (count > 0 && traceback->calls.items[count - 1].object != NULL)
		count--;
	return count > 0 ? &traceback->calls.items[count - 1] : NULL;
}

/* Adds the calls that are in FRAME, of C code, to those of STACK. False if memory ran out. */
static bool add_c_frame(struct gh_traceback *traceback, const struct gh_dump *dump,
			const struct gh_dump_stack *stack, const struct gh_dump_c_frame *frame)
{
	struct gh_dump_c_place places[GH_DUMP_C_PLACES];
	size_t count = gh_dump_c_places(dump, frame, places);
	for (size_t i = 0; i < count; i++) {
		const struct gh_dump_c_place *place = &places[i];
		struct gh_call *call = add_call(traceback);
		if (call == NULL)
			return false;
		*call = (struct gh_call){
		    .name = place->function,
		    .length = strlen(place->function),
		    .file = place->file,
		    .line = place->line <= INT32_MAX ? (int32_t)place->line : 0,
		    .pc = frame->pc,
		    .offset = place->offset,
		    .frame = stack->first_frame + (size_t)frame->callees,
		    .object = place->object,
		    .inlined = place->inlined,
		};
	}
	return true;
}

/* The frame was interrupted, its pc no return address: it was made to call what CALLEE is. */
static bool was_interrupted(const struct gh_call *callee)
{
	return is(callee, "runtime.sigpanic") || is(callee, "runtime.asyncPreempt") ||
	       is(callee, "runtime.debugCallV1") || is(callee, "runtime.debugCallV2");
}

/* Fills CALL with what entry N of PLACE's stack is. */
static void set_call(struct gh_call *call, const struct gh_place *place, unsigned n)
{
	const struct gh_pclntab *tab = place->module.tab;
	const struct gh_frame *frame = &place->range.frames[n];
	call->name = gh_pclntab_name(tab, frame->name);
	call->length = strlen(call->name);
	call->file = gh_pclntab_file(tab, frame->file);
	call->line = frame->line;
	call->inlined = n + 1 < place->range.nframes;
}

/* FRAME's function was made by the compiler to call another. */
static bool is_wrapper(const struct gh_symbols *symbols, const struct gh_place *place,
		       const struct gh_call *call)
{
	return !call->inlined && symbols->wrapper >= 0 && place->func.func_id == symbols->wrapper;
}

/* Adds the calls that are in frame NUMBER, the goroutine's last if IS_LAST. FIRST: nothing is shown
 * yet. */
static bool add_frame(struct gh_traceback *traceback, const struct gh_dump *dump,
		      struct gh_symbols *symbols, size_t number, bool is_last, bool *first)
{
	int minor = gh_dump_minor(dump);
	bool is_top = last_call(traceback) == NULL;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_FRAME, number, &record);
	const struct gh_dump_frame *frame = &record.frame;
	uint64_t pc = frame->pc;
	/* To Go 1.3 the top frame has the line after its call. */
	bool as_is = is_top && minor < 4;
	if (pc > frame->entry && frame->continuation != GH_DUMP_INTERRUPTED && !as_is &&
	    !was_interrupted(last_call(traceback)))
		pc--;
	const struct gh_place *place = symbols != NULL ? gh_symbols_find(symbols, pc) : NULL;
	struct gh_dump_record caller = {0};
	if (!is_last)
		gh_dump_get(dump, GH_DUMP_FRAME, number + 1, &caller);
	unsigned count = place != NULL ? place->range.nframes : 1;
	for (unsigned i = 0; i < count; i++) {
		bool elides = elides_wrapper(last_call(traceback));
		struct gh_call *call = add_call(traceback);
		if (call == NULL)
			return false;
		struct gh_cursor name = gh_dump_bytes(dump, frame->function);
		call->name = (const char *)name.start;
		call->length = gh_cursor_size(&name);
		call->pc = frame->pc;
		call->offset = frame->pc > frame->entry ? frame->pc - frame->entry : 0;
		call->frame = number;
		call->at = pc;
		call->sp = caller.frame.sp;
		call->current = is_top && frame->continuation == GH_DUMP_INTERRUPTED;
		if (place != NULL)
			set_call(call, place, i);
		call->hidden = !is_shown(call, minor, *first) ||
			       (place != NULL && elides && is_wrapper(symbols, place, call));
		*first = *first && call->hidden;
	}
	return true;
}

bool gh_traceback_make(struct gh_traceback *traceback, const struct gh_dump *dump,
		       struct gh_symbols *symbols, size_t number)
{
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	size_t left;
	const struct gh_dump_c_frame *next = gh_dump_c_frames(dump, number, &left);
	bool first = true;
	traceback->calls.count = 0;
	for (size_t i = 0; i <= stack->nframes; i++) {
		for (; left > 0 && next->callees <= i; next++, left--)
			if (!add_c_frame(traceback, dump, stack, next))
				return false;
		if (i < stack->nframes &&
		    !add_frame(traceback, dump, symbols, stack->first_frame + i,
			       i + 1 == stack->nframes, &first))
			return false;
	}
	traceback->all = first;
	return true;
}

/* Go gives the function itself, but the line of what is inlined there. */
bool gh_traceback_call_at(struct gh_symbols *symbols, uint64_t pc, struct gh_call *call)
{
	const struct gh_place *place = gh_symbols_find(symbols, pc);
	if (place == NULL)
		return false;
	*call = (struct gh_call){.pc = pc, .offset = pc - place->module.bias - place->func.entry};
	set_call(call, place, 0);
	return true;
}

bool gh_traceback_creator(const struct gh_dump_goroutine *goroutine, struct gh_symbols *symbols,
			  struct gh_call *call)
{
	uint64_t pc = goroutine->creator_pc;
	if (symbols == NULL || pc == 0 || goroutine->id == 1)
		return false;
	const struct gh_place *place = gh_symbols_find(symbols, pc - 1);
	if (place == NULL)
		return false;
	*call = (struct gh_call){.pc = pc, .offset = pc - place->module.bias - place->func.entry};
	set_call(call, place, 0);
	call->name = gh_pclntab_name(place->module.tab, place->func.name);
	call->length = strlen(call->name);
	call->inlined = false;
	call->hidden = !is_shown(call, INT_MAX, false) || is_wrapper(symbols, place, call);
	return true;
}

bool gh_call_is_main(const struct gh_call *call)
{
	return call->length > 5 && memcmp(call->name, "main.", 5) == 0;
}

bool gh_call_is_standard(const struct gh_call *call)
{
	const char *end = memchr(call->name, '/', call->length);
	const char *dot = memchr(call->name, '.', call->length);
	return !gh_call_is_main(call) && (end == NULL || dot == NULL || dot > end);
}

/* The function is of the runtime's, or of what waits for it. */
static bool is_waiting(const struct gh_call *call)
{
	static const char *const packages[] = {"runtime.", "sync.",    "internal/", "syscall.",
					       "time.",    "runtime/", "os.",       "net.",
					       "io.",      "bufio.",   "context.",  "reflect."};
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strlen(packages[i]) <= call->length &&
		    memcmp(call->name, packages[i], strlen(packages[i])) == 0)
			return true;
	return false;
}

/* CALL is of the function that cgo has written for one of C's. */
static bool is_cgo_wrapper(const struct gh_call *call)
{
	static const char mark[] = "._Cfunc_";
	return memmem(call->name, call->length, mark, sizeof(mark) - 1) != NULL;
}

const struct gh_call *gh_traceback_own_call(const struct gh_traceback *traceback)
{
	const struct gh_call *own = NULL;
	for (size_t i = 0; i < traceback->calls.count; i++) {
		const struct gh_call *call = &traceback->calls.items[i];
		if (call->object != NULL || is(call, "runtime.goexit") ||
		    (call->hidden && !traceback->all))
			continue;
		if (!gh_call_is_standard(call) && !is_cgo_wrapper(call))
			return call;
		/* What waits, up to the first call that does not. */
		if (own == NULL || is_waiting(own))
			own = call;
	}
	return own;
}

/* Where the type arguments in CALL's name end: after the last bracket. NULL if it has none. */
static const char *find_arguments(const char *name, size_t length, const char **end)
{
	const char *open = memchr(name, '[', length);
	const char *close = memrchr(name, ']', length);
	if (open == NULL || close == NULL || close < open)
		return NULL;
	*end = close + 1;
	return open;
}

void gh_traceback_print_function(FILE *out, const char *name, size_t length)
{
	const char *end;
	const char *arguments = find_arguments(name, length, &end);
	if (arguments == NULL) {
		gh_print_bytes(out, name, length, false);
		return;
	}
	gh_print_bytes(out, name, (size_t)(arguments - name), false);
	fputs("[...]", out);
	gh_print_bytes(out, end, (size_t)(name + length - end), false);
}

/* Prints the name of a function in C, and the file that has it, unless the name begins with that:
 * libc.so.6+0x12ab. */
static void print_c_name(FILE *out, const struct gh_call *call)
{
	size_t length = strlen(call->object);
	gh_print_bytes(out, call->name, call->length, false);
	if (length == 0 || (call->length > length && call->name[length] == '+' &&
			    memcmp(call->name, call->object, length) == 0))
		return;
	fputs(" in ", out);
	gh_escape_print(out, call->object);
}

void gh_traceback_print_name(FILE *out, const struct gh_call *call)
{
	if (call->object != NULL)
		print_c_name(out, call);
	else if (is(call, "runtime.gopanic"))
		fputs("panic", out);
	else
		gh_traceback_print_function(out, call->name, call->length);
}

void gh_traceback_print_call(FILE *out, const struct gh_call *call)
{
	gh_traceback_print_name(out, call);
	if (*call->file != '\0') {
		fputs(" at ", out);
		gh_escape_print(out, call->file);
		fprintf(out, ":%" PRId32, call->line);
	}
}

/* The arguments that CALL need not have saved in memory: its thread is in the prologue, or little
 * further. No call of another function can be there, which is why Go does not tell. */
static void find_unsaved(struct gh_arg_places *unsaved, const struct gh_pclntab *tab,
			 const struct gh_func *func, const struct gh_call *call, uint64_t pc)
{
	unsaved->count = 0;
	if (!call->current)
		return;
	gh_arg_places_find(unsaved, tab, func);
	if (pc != func->entry && pc >= unsaved->end && pc >= gh_arg_liveness_begins(tab, func))
		unsaved->count = 0;
}

static bool is_unsaved(const struct gh_arg_places *unsaved, uint8_t offset)
{
	for (size_t i = 0; i < unsaved->count; i++)
		if (unsaved->items[i].arg.offset == offset)
			return unsaved->items[i].where != GH_ARG_IN_MEMORY;
	return false;
}

/* Prints the list of WALK, whose words are in memory from BASE on, but for those UNSAVED. */
static void print_list(FILE *out, const struct gh_dump *dump, struct gh_arg_walk *walk,
		       struct gh_arg_liveness *liveness, const struct gh_arg_places *unsaved,
		       uint64_t base)
{
	enum gh_arg_token token;
	const char *separator = "";
	while ((token = gh_arg_walk_next(walk)) != GH_ARG_LIST_END) {
		struct gh_cursor cur;
		if (token != GH_ARG_END)
			fputs(separator, out);
		separator = token == GH_ARG_BEGIN ? "" : ", ";
		switch (token) {
		case GH_ARG_BEGIN:
			fputs("{", out);
			break;
		case GH_ARG_END:
			fputs("}", out);
			break;
		case GH_ARG_FAR_WORD:
			fputs("_", out);
			break;
		case GH_ARG_DOTS:
			fputs("...", out);
			break;
		default:
			if (gh_dump_memory(dump, base + walk->offset, &cur))
				fprintf(out, "0x%" PRIx64, gh_cursor_uint(&cur, walk->size));
			if (!gh_arg_is_live(liveness, walk->offset) ||
			    is_unsaved(unsaved, walk->offset))
				fputs("?", out);
		}
	}
}

/* All words of FUNC's arguments are in DUMP, from BASE on. */
static bool has_arguments(const struct gh_dump *dump, const struct gh_pclntab *tab,
			  const struct gh_func *func, uint64_t base)
{
	struct gh_cursor cur;
	uint64_t extent = gh_args_extent(tab, func);
	return extent == 0 || (gh_dump_memory(dump, base, &cur) && gh_cursor_left(&cur) >= extent);
}

void gh_traceback_print_arguments(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
				  const struct gh_call *call)
{
	if (call->object != NULL)
		return;
	const struct gh_place *place =
	    symbols != NULL && !call->inlined ? gh_symbols_find(symbols, call->at) : NULL;
	const struct gh_pclntab *tab = place != NULL ? place->module.tab : NULL;
	uint64_t base = tab != NULL ? call->sp + tab->image->arch->min_frame : 0;
	if (tab == NULL || tab->format < GH_PCLNTAB_1_18 ||
	    !has_arguments(dump, tab, &place->func, base)) {
		fputs("(...)", out);
		return;
	}
	struct gh_arg_walk walk;
	struct gh_arg_liveness liveness;
	struct gh_arg_places unsaved;
	uint64_t pc = call->at - place->module.bias;
	fputs("(", out);
	gh_arg_liveness_start(&liveness, tab, &place->func, pc);
	find_unsaved(&unsaved, tab, &place->func, call, pc);
	if (gh_arg_walk_start(&walk, tab, &place->func))
		print_list(out, dump, &walk, &liveness, &unsaved, base);
	fputs(")", out);
}

void gh_traceback_free(struct gh_traceback *traceback)
{
	gh_vector_free(&traceback->calls);
}
