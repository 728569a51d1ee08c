/* goheap bodies: the breakpoints by which GDB's next stops in the bodies of loops over iterators
 * (for x := range seq, Go 1.23 and later). The compiler makes such a body a function, F-range1 of
 * F, that the iterator calls: GDB would go over all of the loop as over one call. Delve does the
 * same: next in pkg/proc/target_exec.go.
 *
 * Reads what _goheap_tell_place in goheap.gdb prints. The status is 0 if the place is in a function
 * that has such loops; `goheap bodies set' writes the session's boot.gdb, too, which sets the
 * breakpoints. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/debugfile/debugfile.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/vector.h"
#include "plugin/command/command.h"
#include "plugin/dispatch/dispatch.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"

enum {
	MAX_FRAMES = 64, /* that goheap.gdb tells of */
	MAX_BREAKS = 512,
};

/* What GDB does at a breakpoint; goheap.gdb has the numbers in _goheap_stop_in_bodies. */
enum kind {
	SHOW = 1, /* stops */
	LEAVE,    /* goes on without the breakpoints of this kind: the iterator runs */
	STEP,     /* steps on from there */
};

struct stop {
	enum kind kind;
	uint64_t pc;
	char *condition; /* beside the goroutine's; owned */
};

/* A frame of the stack, without those of inlined calls. */
struct place {
	uint64_t pc, sp;
	unsigned shown; /* frames that GDB shows there, those of inlined calls included */
};

/* A function that has loops over iterators, and their bodies. */
struct family {
	const char *name;
	size_t length; /* of the name */
};

struct job {
	struct gh_program program;
	uint64_t bias;       /* of the process's addresses over the file's */
	uint64_t stack_high; /* the end of the goroutine's stack */
	uint64_t goid;
	struct GH_VECTOR(struct place) places; /* innermost first */
	struct family family;
	struct gh_frame at;                      /* that GDB shows */
	struct GH_VECTOR(struct gh_func) bodies; /* functions that are */
	struct GH_VECTOR(struct stop) stops;
};

/* The code of a place. */
struct code {
	struct gh_func func;
	struct gh_sourcemap map; /* owned */
	struct gh_range range;   /* that the place is in */
};

static const char *name_of(const struct job *job, const struct gh_frame *frame)
{
	return gh_pclntab_name(&job->program.tab, frame->name);
}

/* The length of the name of the function that NAME, a body's, is a part of: without "-range1" and
 * its like at the end. All of it if it is no body's. */
static size_t outer_length(const char *name)
{
	static const char mark[] = "-range";
	const size_t mark_length = sizeof(mark) - 1;
	size_t length = strlen(name);
	for (size_t end = length;; length = end) {
		while (end > 0 && isdigit((unsigned char)name[end - 1]))
			end--;
		if (end == length || end <= mark_length ||
		    memcmp(name + end - mark_length, mark, mark_length) != 0)
			return length;
		end -= mark_length;
	}
}

static bool is_body(const char *name)
{
	return name[outer_length(name)] != '\0';
}

/* NAME is the family's function, or one of the bodies. */
static bool is_of_family(const struct family *family, const char *name)
{
	return outer_length(name) == family->length &&
	       memcmp(name, family->name, family->length) == 0;
}

static bool open_code(const struct job *job, struct code *code, uint64_t pc)
{
	code->map = (struct gh_sourcemap){0};
	return gh_find_lines(&code->map, &job->program.tab, pc - job->bias, &code->func,
			     &code->range);
}

static void close_code(struct code *code)
{
	gh_sourcemap_free(&code->map);
}

/* Finds the functions that are bodies of FAMILY. */
static void find_bodies(struct job *job, const struct family *family)
{
	const struct gh_pclntab *tab = &job->program.tab;
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(tab, func.name);
		if (strncmp(name, family->name, family->length) == 0 && is_body(name) &&
		    is_of_family(family, name))
			gh_vector_push(&job->bodies, func);
	}
}

/* The function of CODE has inlined bodies of FAMILY. */
static bool has_inlined_bodies(const struct job *job, struct code *code,
			       const struct family *family)
{
	struct gh_range range;
	bool found = false;
	if (!gh_sourcemap_start(&code->map, &job->program.tab, &code->func))
		return false;
	while (!found && gh_sourcemap_next(&code->map, &range))
		for (unsigned i = 0; i + 1 < range.nframes; i++) {
			const char *name = name_of(job, &range.frames[i]);
			found |= is_body(name) && is_of_family(family, name);
		}
	return found;
}

/* Finds the family of the function that is shown, or else of one that it may be inlined into. False
 * if that has no loops over iterators. */
static bool find_family(struct job *job, struct code *code)
{
	const struct gh_range *range = &code->range;
	unsigned shown = job->places.items[0].shown;
	unsigned first = shown != 0 && shown < range->nframes ? range->nframes - shown : 0;
	for (unsigned i = first; i < (shown == 0 ? range->nframes : first + 1); i++) {
		const char *name = name_of(job, &range->frames[i]);
		struct family family = {name, outer_length(name)};
		find_bodies(job, &family);
		job->family = family;
		job->at = range->frames[i];
		if (job->bodies.count > 0 || has_inlined_bodies(job, code, &family))
			return true;
	}
	return false;
}

static bool is_same_line(const struct job *job, const struct gh_frame *frame)
{
	return frame->file == job->at.file && frame->line == job->at.line;
}

static void add_stop(struct job *job, enum kind kind, uint64_t pc, char *condition)
{
	if (condition == NULL || job->stops.count == MAX_BREAKS)
		free(condition);
	else
		gh_vector_push(&job->stops,
			       ((struct stop){.kind = kind, .pc = pc, .condition = condition}));
}

/* Adds a stop at PC, of the process, where SP is that of PLACE. */
static void add_stop_in(struct job *job, enum kind kind, uint64_t pc, const struct place *place)
{
	char *condition = NULL;
	if (asprintf(&condition, "$sp + %" PRIu64 " == _goheap_stack",
		     job->stack_high - place->sp) >= 0)
		add_stop(job, kind, pc, condition);
}

/* The condition that the closure of a body is in the frame of the functions that called it, the
 * first COUNT that are of the family, or in the heap. To be freed. */
static char *closure_condition(const struct job *job, const size_t *callers, size_t count)
{
	const char *closure = job->program.image.arch->gdb_closure;
	char *text = NULL;
	size_t size = 0;
	FILE *out = closure != NULL ? open_memstream(&text, &size) : NULL;
	if (out == NULL)
		return NULL;
	fprintf(out, "(%s < $sp || %s >= _goheap_stack", closure, closure);
	for (size_t i = 0; i < count; i++)
		if (callers[i] + 1 < job->places.count) {
			const struct place *place = &job->places.items[callers[i]];
			fprintf(out,
				" || (_goheap_stack - %s <= %" PRIu64
				" && _goheap_stack - %s > %" PRIu64 ")",
				closure, job->stack_high - place[0].sp, closure,
				job->stack_high - place[1].sp);
		}
	fputs(")", out);
	fclose(out);
	return text;
}

/* Adds stops where the bodies that are functions begin. */
static void add_bodies(struct job *job, const size_t *callers, size_t count)
{
	const struct gh_pclntab *tab = &job->program.tab;
	for (size_t i = 0; i < job->bodies.count; i++) {
		uint64_t pc = gh_prologue_stop(tab, &job->bodies.items[i]);
		struct code code;
		if (open_code(job, &code, pc + job->bias))
			add_stop(job, is_same_line(job, &code.range.frames[0]) ? STEP : SHOW,
				 pc + job->bias, closure_condition(job, callers, count));
		close_code(&code);
	}
}

/* A call that RANGE is in, or its function, is the one that is shown. */
static bool is_within(const struct job *job, const struct gh_range *range)
{
	bool found = false;
	for (unsigned i = 0; i < range->nframes; i++)
		found |= range->frames[i].tree_index == job->at.tree_index;
	return found;
}

/* Adds stops at the statements of the family's in the function of CODE, of the frame PLACE: in
 * SHOWN, the frame that GDB shows, other lines' alone. Where that is of the function itself, GDB
 * finds these; where it is an inlined body's, GDB does not know what that returns to. */
static void add_statements(struct job *job, struct code *code, const struct place *place,
			   bool shown)
{
	bool in_inlined = shown && job->at.tree_index >= 0 && is_body(name_of(job, &job->at));
	struct gh_statements statements;
	struct gh_range range;
	bool was_within = true;
	size_t next = 0;
	if (!gh_statements_find(&statements, &job->program.tab, &code->func))
		return;
	bool started = gh_sourcemap_start(&code->map, &job->program.tab, &code->func);
	while (started && gh_sourcemap_next(&code->map, &range)) {
		const struct gh_frame *frame = &range.frames[0];
		bool within = is_within(job, &range);
		while (next < statements.count && statements.items[next] < range.start)
			next++;
		bool is_statement = next < statements.count && statements.items[next] < range.end;
		uint64_t pc = is_statement ? statements.items[next] : range.start;
		if (is_statement && is_of_family(&job->family, name_of(job, frame)) &&
		    (!shown || (!is_same_line(job, frame) &&
				(in_inlined || frame->tree_index != job->at.tree_index))))
			add_stop_in(job, SHOW, pc + job->bias, place);
		/* GDB also stops where a range of an inlined call begins. */
		else if (in_inlined && (!within || !was_within))
			add_stop_in(job, LEAVE, range.start + job->bias, place);
		was_within = within;
	}
	gh_vector_free(&statements);
}

/* Adds stops where the iterator, which runs when a body has returned, returns to the frame at
 * INDEX. */
static void add_return(struct job *job, struct code *code, size_t index)
{
	const struct place *place = &job->places.items[index];
	const char *outermost = name_of(job, &code->range.frames[code->range.nframes - 1]);
	if (is_of_family(&job->family, name_of(job, &code->range.frames[0]))) {
		add_stop_in(job, STEP, place->pc, place);
		return;
	}
	add_statements(job, code, place, false);
	if (index + 1 < job->places.count)
		add_stop_in(job, is_body(outermost) ? LEAVE : STEP, place[1].pc, place + 1);
}

/* Adds the stops in the frames that have called the body that is shown, up to that of the family's
 * function, to which CALLERS is the way, from the body. Returns how many that are. */
static size_t add_callers(struct job *job, size_t callers[MAX_FRAMES])
{
	const struct gh_arch *arch = job->program.image.arch;
	size_t count = 1;
	bool is_last = false;
	for (size_t i = 1; i < job->places.count && !is_last; i++) {
		struct code code;
		bool is_caller = false;
		if (open_code(job, &code, gh_arch_call_pc(arch, job->places.items[i].pc))) {
			for (unsigned j = 0; j < code.range.nframes; j++) {
				const char *name = name_of(job, &code.range.frames[j]);
				is_caller |= is_of_family(&job->family, name);
				is_last |= is_of_family(&job->family, name) && !is_body(name);
			}
			if (is_caller) {
				callers[count++] = i;
				add_return(job, &code, i);
			}
		}
		close_code(&code);
	}
	return count;
}

static void find_stops(struct job *job, struct code *code)
{
	const struct place *place = &job->places.items[0];
	size_t callers[MAX_FRAMES] = {0};
	size_t count = 1;
	const char *outermost = name_of(job, &code->range.frames[code->range.nframes - 1]);
	add_statements(job, code, place, true);
	if (is_body(outermost) && is_of_family(&job->family, outermost) && job->places.count > 1) {
		add_stop_in(job, LEAVE, place[1].pc, place + 1);
		count = add_callers(job, callers);
	}
	add_bodies(job, callers, count);
}

static void write_stops(const struct job *job, FILE *script, bool leaving)
{
	for (size_t i = 0; i < job->stops.count; i++) {
		const struct stop *stop = &job->stops.items[i];
		if ((stop->kind == LEAVE) == leaving)
			fprintf(script,
				"break *%" PRIu64 " if _goheap_goid == %" PRIu64
				" && %s && ($goheap_body = %d)\n_goheap_count_bodies\n",
				stop->pc, job->goid, stop->condition, stop->kind);
	}
}

/* Writes the script that sets the breakpoints, those that leave the iterator last. */
static int write_script(const struct job *job)
{
	FILE *script = gh_script_open(getenv(GH_SESSION_VARIABLE));
	if (script == NULL)
		return GH_EXIT_INPUT;
	fputs("with confirm off -- define _goheap_break_bodies\n", script);
	write_stops(job, script, false);
	fputs("set variable $goheap_bodies_left = $goheap_bodies_last\n", script);
	write_stops(job, script, true);
	fputs("end\n"
	      "pipe _goheap_break_bodies | cat >/dev/null\n"
	      "if $goheap_bodies\n"
	      "commands $goheap_bodies-$goheap_bodies_last\n"
	      "silent\n"
	      "end\n"
	      "end\n",
	      script);
	return gh_script_commit(script, getenv(GH_SESSION_VARIABLE)) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Reads what GDB printed: the address of runtime.text, the end of the goroutine's stack, and its
 * id; then pc and sp of each frame. */
static bool read_places(struct job *job, uint64_t *text)
{
	char *printed = gh_piped_text_read(stdin);
	int length = 0;
	bool read = printed != NULL && sscanf(printed, "%" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
					      text, &job->stack_high, &job->goid, &length) == 3;
	for (const char *at = printed; read && job->places.count < MAX_FRAMES;) {
		struct place place = {.shown = 1};
		struct place *last = job->places.items + job->places.count;
		at += length;
		if (sscanf(at, "%" SCNu64 " %" SCNu64 "%n", &place.pc, &place.sp, &length) != 2)
			break;
		if (job->places.count > 0 && last[-1].sp == place.sp && last[-1].pc == place.pc)
			last[-1].shown++;
		else
			gh_vector_push(&job->places, place);
	}
	free(printed);
	return read && job->places.count > 0;
}

/* Opens the program that the session has seen. Its path is behind what tells it from others. */
static bool open_program(struct job *job)
{
	char path[PATH_MAX];
	char state[PATH_MAX + 256];
	snprintf(path, sizeof(path), "%s/" GH_SESSION_STATE, getenv(GH_SESSION_VARIABLE));
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	size_t size = fread(state, 1, sizeof(state) - 1, file);
	fclose(file);
	state[size] = '\0';
	const char *space = strchr(state, ' ');
	return space != NULL && gh_program_open(&job->program, space + 1);
}

static int run(struct job *job, bool set)
{
	struct code code;
	int status = GH_EXIT_INPUT;
	if (!set)
		job->places.items[0].shown = 0;
	if (open_code(job, &code, job->places.items[0].pc) && find_family(job, &code)) {
		if (set)
			find_stops(job, &code);
		status = set ? write_script(job) : GH_EXIT_OK;
	}
	close_code(&code);
	return status;
}

/* The offset of runtime.coroswitch in the program's text; 0 if it has none. */
static uint64_t find_switch(const struct gh_pclntab *tab)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, &func, NULL) &&
		    strcmp(gh_pclntab_name(tab, func.name), "runtime.coroswitch") == 0)
			return func.entry - tab->module.text;
	return 0;
}

void gh_script_stepping(FILE *script, const struct gh_pclntab *tab)
{
	uint64_t coroswitch = find_switch(tab);
	/* Inlined functions have names there, too. */
	struct gh_cursor names = tab->names;
	size_t size = gh_cursor_left(&names);
	const void *text = gh_cursor_bytes(&names, size);
	fputs("with confirm off -- define _goheap_stop_in_loops\n", script);
	if (text != NULL && memmem(text, size, "-range", strlen("-range")) != NULL)
		fputs("_goheap_stop_in_bodies\n", script);
	fputs("end\nwith confirm off -- define _goheap_watch_switch\n", script);
	if (coroswitch != 0)
		fprintf(script, "_goheap_watch_switch_at %" PRIu64 "\n", coroswitch);
	fputs("end\n", script);
}

int gh_cmd_bodies(const struct gh_options *options)
{
	struct job job = {0};
	uint64_t text;
	int status = GH_EXIT_INPUT;
	if (getenv(GH_SESSION_VARIABLE) == NULL) {
		fputs("goheap bodies: only for goheap.so to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	if (read_places(&job, &text) && open_program(&job)) {
		job.bias = text - job.program.tab.module.text;
		status = run(&job, options->nwords > 0);
		gh_program_close(&job.program);
	}
	for (size_t i = 0; i < job.stops.count; i++)
		free(job.stops.items[i].condition);
	gh_vector_free(&job.stops);
	gh_vector_free(&job.bodies);
	gh_vector_free(&job.places);
	return status;
}
