/* The rules are those of src/runtime/panic.go: fatalthrow, fatalpanic and printpanics. */
#include "lib/process/dump_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/dump/record.h"

/* From a crash's own calls to what crashed there are fewer frames. */
#define MAX_FRAMES 64

/* Panics of one goroutine that are printed. */
#define MAX_PANICS 64

/* The longest text of a fatal error, in bytes. */
#define MAX_FATAL 512

/* The words of a frame that are looked at for a fatal error's text. */
#define MAX_WORDS 64

struct finder {
	struct gh_crash *crash;
	struct gh_process *process;
	struct gh_goroutines all;
	struct gh_stack stack;
	struct gh_rtypes types;
	struct GH_VECTOR(struct gh_goroutine) goroutines; /* those that may have crashed */
	struct gh_goroutine panicking; /* the first that panics, one that will not recover before
					  others; its id is 0 if there is none */
	bool fatal_panic;              /* it will not recover */
};

static void add_line(struct gh_crash *crash, const char *text)
{
	gh_buffer_bytes(&crash->text, text, strlen(text));
}

/* The SIZE bytes at ADDRESS are what a fatal error says. */
static bool is_message(struct gh_process *process, uint64_t address, uint64_t size)
{
	char text[MAX_FATAL];
	if (size < 4 || size > sizeof(text) ||
	    !gh_process_read_constant(process, address, text, (size_t)size))
		return false;
	for (uint64_t i = 0; i < size; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* Looks for the string that runtime.throw or runtime.fatal was called with: it is in the closure in
 * its FRAME, which the caller's frame at END follows, or above it. */
static bool add_fatal(const struct finder *finder, const struct gh_stack_frame *frame, uint64_t end)
{
	struct gh_process *process = finder->process;
	unsigned word = process->tab->pointer_size;
	uint64_t address = frame->sp;
	for (unsigned i = 0; i < MAX_WORDS && address <= end; i++, address += word) {
		uint64_t text;
		uint64_t size;
		if (!gh_process_uint(&process->memory, address, word, &text) ||
		    !gh_process_uint(&process->memory, address + word, word, &size) ||
		    !is_message(process, text, size))
			continue;
		struct gh_buffer fatal = {0};
		gh_buffer_bytes(&fatal, "fatal error: ", strlen("fatal error: "));
		gh_panic_string(&fatal, process, text, size);
		gh_buffer_bytes(&fatal, "\n", sizeof("\n"));
		if (!fatal.failed) {
			gh_crash_add_printed(&finder->crash->text, process, (char *)fatal.data);
			add_line(finder->crash, (char *)fatal.data);
		}
		finder->crash->text.failed |= fatal.failed;
		gh_buffer_free(&fatal);
		return true;
	}
	return false;
}

/* Looks through the frames of the walk that has begun for a fatal error; and for panics, of the
 * goroutine G if it is not NULL. True if there is an error. */
static bool look_through(struct finder *finder, const struct gh_goroutine *g)
{
	struct gh_stack_frame frame;
	struct gh_stack_frame last = {.name = ""};
	bool fatal = false;
	for (unsigned i = 0; i < MAX_FRAMES && gh_stack_next(&finder->stack, &frame); i++) {
		if (gh_stack_is_named(last.name, "runtime.throw") ||
		    gh_stack_is_named(last.name, "runtime.fatal"))
			return add_fatal(finder, &last, frame.sp);
		fatal = fatal || gh_stack_is_named(frame.name, "runtime.fatalpanic");
		if (g != NULL && g->top_panic != 0 && !finder->fatal_panic &&
		    (finder->panicking.id == 0 || fatal) &&
		    gh_stack_is_named(frame.name, "runtime.gopanic")) {
			finder->panicking = *g;
			finder->fatal_panic = fatal;
		}
		last = frame;
	}
	return false;
}

static void set_goroutine(struct gh_crash *crash, const struct gh_goroutine *g)
{
	crash->has_goroutine = true;
	crash->goroutine = g->id;
}

/* Finds the goroutine that the thread at SP runs. NULL if it is none. */
static const struct gh_goroutine *find_goroutine(struct finder *finder, uint64_t sp)
{
	for (size_t i = 0; i < finder->goroutines.count; i++) {
		const struct gh_goroutine *g = &finder->goroutines.items[i];
		if (!gh_goroutine_is_on(&finder->all, finder->process, g, sp))
			continue;
		set_goroutine(finder->crash, g);
		return g;
	}
	return NULL;
}

/* What runtime.g has of a signal that made the goroutine panic or throw. */
struct g_signal {
	uint64_t number; /* g.sig */
	uint64_t code;   /* g.sigcode0 */
	uint64_t addr;   /* g.sigcode1 */
	uint64_t pc;     /* g.sigpc */
};

/* Reads that of the runtime.g at G. False if there was none that Go has a name for. */
static bool read_signal(struct finder *finder, uint64_t g, struct g_signal *signal)
{
	struct gh_process *process = finder->process;
	struct gh_process_memory *memory = &process->memory;
	const struct gh_g_layout *layout = &finder->all.layout;
	unsigned word = process->tab->pointer_size;
	uint64_t creator = g + layout->creator;
	uint64_t code = creator - layout->parent_before - 3 * (uint64_t)word;
	return layout->creator >= layout->signal_before &&
	       gh_process_uint(memory, creator - layout->signal_before, 4, &signal->number) &&
	       gh_process_uint(memory, code, word, &signal->code) &&
	       gh_process_uint(memory, code + word, word, &signal->addr) &&
	       gh_process_uint(memory, code + 2 * word, word, &signal->pc) &&
	       gh_crash_signal_name((uint32_t)signal->number) != NULL;
}

/* Appends the line on the signal that made the runtime.g at G panic or throw, if one did (dopanic_m
 * in src/runtime/panic.go). */
static void add_signal_of(struct finder *finder, uint64_t g)
{
	struct g_signal signal;
	char text[160];
	if (!read_signal(finder, g, &signal))
		return;
	snprintf(text, sizeof(text),
		 "[signal %s code=0x%" PRIx64 " addr=0x%" PRIx64 " pc=0x%" PRIx64 "]\n",
		 gh_crash_signal_name((uint32_t)signal.number), signal.code, signal.addr,
		 signal.pc);
	add_line(finder->crash, text);
}

/* Adds to the fatal error of the runtime.g at G what Go prints of a signal that was its cause. What
 * is no fault at a nil pointer it tells before (sigpanic in src/runtime/signal_unix.go). */
static void add_fault(struct finder *finder, uint64_t g)
{
	static const char fault[] = "fatal error: fault\n";
	struct gh_buffer *text = &finder->crash->text;
	struct g_signal signal;
	char before[64];
	if (text->size == sizeof(fault) - 1 && memcmp(text->data, fault, text->size) == 0 &&
	    read_signal(finder, g, &signal)) {
		snprintf(before, sizeof(before), "unexpected fault address 0x%" PRIx64 "\n",
			 signal.addr);
		text->size = 0;
		add_line(finder->crash, before);
		add_line(finder->crash, fault);
	}
	add_signal_of(finder, g);
}

/* Adds what there is of a signal to the fatal error of the thread at SP. C code is called on the
 * thread's own stack: to Go 1.19 a fault there is g0's, the first field of a runtime.m. */
static void add_fault_of_thread(struct finder *finder, uint64_t sp)
{
	const struct gh_goroutine *g = find_goroutine(finder, sp);
	unsigned word = finder->process->tab->pointer_size;
	uint64_t own;
	if (g != NULL && g->thread != 0 &&
	    gh_process_uint(&finder->process->memory, g->thread, word, &own))
		add_signal_of(finder, own);
}

/* A fatal error of a thread's own, or of a goroutine. Notes the goroutine that panics, too. */
static bool find_fatal(struct finder *finder)
{
	struct gh_stack *stack = &finder->stack;
	for (size_t i = 0; i < finder->process->nthreads; i++) {
		gh_stack_start_thread(stack, &stack->threads[i]);
		if (look_through(finder, NULL)) {
			add_fault_of_thread(finder, stack->threads[i].at.sp);
			return true;
		}
	}
	for (size_t i = 0; i < finder->goroutines.count; i++) {
		const struct gh_goroutine *g = &finder->goroutines.items[i];
		gh_stack_start(stack, g);
		if (look_through(finder, g)) {
			set_goroutine(finder->crash, g);
			add_fault(finder, g->address);
			return true;
		}
	}
	return false;
}

/* Appends the panics of G, the first one first. */
static void add_panics(struct finder *finder, const struct gh_goroutine *g)
{
	struct gh_buffer *text = &finder->crash->text;
	struct gh_panic panics[MAX_PANICS];
	size_t count = 0;
	for (uint64_t at = g->top_panic; at != 0 && count < MAX_PANICS; at = panics[count++].next)
		if (!gh_panic_record_read(finder->process, at, &panics[count]))
			break;
	for (size_t i = count; i-- > 0;) {
		const struct gh_panic *panic = &panics[i];
		const struct gh_panic *before = i + 1 < count ? &panics[i + 1] : NULL;
		if (panic->goexit || (before != NULL && before->repanicked))
			continue;
		add_line(finder->crash,
			 before != NULL && !before->goexit ? "\tpanic: " : "panic: ");
		gh_panic_value(text, finder->process, &finder->types, panic->type, panic->data);
		if (panic->recovered)
			add_line(finder->crash,
				 panic->repanicked ? " [recovered, repanicked]" : " [recovered]");
		add_line(finder->crash, "\n");
	}
	add_signal_of(finder, g->address);
	set_goroutine(finder->crash, g);
}

/* A signal that is being handled and ends programs, preferably not the one that the runtime has
 * other threads print their stacks by. */
static void find_signal(struct finder *finder)
{
	enum { QUIT = 3 };
	struct gh_process *process = finder->process;
	const struct gh_stack_thread *found = NULL;
	struct gh_m_list list = {0};
	gh_m_list_find(&list, process, &finder->types, &finder->all);
	for (size_t i = 0; i < process->nthreads; i++) {
		const struct gh_stack_thread *thread = &finder->stack.threads[i];
		if (gh_crash_signal_name(thread->signal.number) != NULL &&
		    (found == NULL || (found->signal.number == QUIT &&
				       (thread->signal.number != QUIT ||
					gh_crash_is_dying(process, &finder->all, &list, thread)))))
			found = thread;
	}
	if (found == NULL)
		return;
	gh_crash_add_signal(&finder->crash->text, process, &finder->all, &list, found);
	find_goroutine(finder, found->at.sp);
	/* Code 0 (SI_USER) is of a signal that somebody sent. */
	finder->crash->in_c = !finder->crash->has_goroutine && found->signal.code != 0 &&
			      *gh_process_function(process, found->at.pc) == '\0';
}

/* Reads the goroutines that may have crashed. */
static bool read_goroutines(struct finder *finder)
{
	struct gh_goroutine g;
	while (gh_goroutines_next(&finder->all, finder->process, &g))
		if (g.thread != 0 || g.top_panic != 0)
			gh_vector_push(&finder->goroutines, g);
	return !finder->goroutines.failed && !finder->all.failed;
}

static void find_crash(struct finder *finder)
{
	bool fatal = find_fatal(finder);
	if (!fatal && finder->fatal_panic)
		add_panics(finder, &finder->panicking);
	else if (!fatal)
		find_signal(finder);
	if (finder->crash->text.size == 0 && finder->panicking.id != 0)
		add_panics(finder, &finder->panicking);
}

bool gh_crash_find(struct gh_crash *crash, struct gh_process *process, struct gh_error *err)
{
	struct finder finder = {.crash = crash, .process = process};
	*crash = (struct gh_crash){0};
	if (!gh_process_types(&finder.types, process, err)) {
		gh_rtypes_free(&finder.types);
		return false;
	}
	bool found = gh_goroutines_find(&finder.all, process, err);
	if (found) {
		bool whole = gh_stack_open(&finder.stack, process) && read_goroutines(&finder);
		if (whole)
			find_crash(&finder);
		gh_stack_free(&finder.stack);
		gh_goroutines_free(&finder.all);
		if (!whole || crash->text.failed)
			found = gh_fail_memory(err, process->tab->image->path);
	}
	gh_vector_free(&finder.goroutines);
	gh_rtypes_free(&finder.types);
	return found;
}

void gh_crash_free(struct gh_crash *crash)
{
	gh_buffer_free(&crash->text);
}
