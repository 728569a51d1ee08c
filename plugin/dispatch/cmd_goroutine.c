/* goheap goroutine: has GDB show a goroutine's stack below the selected thread's top frame. For
 * GDB's own command of that name. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/value/value.h"
#include "plugin/command/command.h"
#include "plugin/command/wait_query.h"
#include "plugin/gdb/gdb.h"
#include "plugin/hang/hang.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* What a goroutine waits for, while it is found. */
struct waited {
	const struct gh_options *options;
	struct gh_wait_query query;
	struct gh_process *process;
	FILE *out;
};

/* Prints the channels of WAIT as goheap print does. */
static void print_channels(struct waited *waited, const struct gh_wait *wait)
{
	const struct gh_waits *waits = &waited->query.waits;
	struct gh_error err;
	char name[1024];
	for (size_t i = 0; i < wait->ncases && i < 8; i++) {
		const struct gh_channel *channel =
		    &waits->channels.items[waits->cases.items[wait->first + i].channel];
		struct gh_bytes type = gh_wait_elem_type(&waited->query, channel);
		struct gh_values values = {.process = waited->process,
					   .types = &waited->query.types,
					   .limit = 8,
					   .depth = 2};
		snprintf(name, sizeof(name), "chan %.*s", (int)type.size, type.data);
		if (type.size > 0 && type.size < sizeof(name) - 8 &&
		    gh_value_print_named(&values, name, channel->address, &err) &&
		    !values.out.failed) {
			fwrite(values.out.data, 1, values.out.size, waited->out);
			putc('\n', waited->out);
		}
		gh_values_free(&values);
	}
}

/* Finds what the goroutine waits for, and writes that. */
static bool find_waited(struct gh_snapshot *snapshot, struct gh_process *process, void *context)
{
	struct waited *waited = context;
	struct gh_wait_query *query = &waited->query;
	struct gh_dump_record record;
	struct gh_error err;
	size_t number = gh_goroutine_find(&snapshot->dump, waited->options->number, &record);
	struct gh_memory memory = gh_process_memory_of(process);
	if (number == GH_DUMP_NONE || waited->out == NULL)
		return true;
	waited->process = process;
	query->options = waited->options;
	query->out = waited->out;
	query->dump = snapshot->dump;
	query->dump.memory = &memory;
	if (gh_symbols_open(&query->program, &query->dump, waited->options->program)) {
		query->symbols = &query->program;
		if (gh_symbols_types(&query->types, &query->program, &err) &&
		    gh_waits_find_one(&query->waits, &query->dump, number, &err) &&
		    query->waits.list.count > 0) {
			gh_wait_print_clause(waited->out, query, query->waits.list.items, false);
			putc('\n', waited->out);
			print_channels(waited, query->waits.list.items);
		}
		gh_wait_query_free_found(query);
		gh_symbols_close(&query->program);
	}
	return true;
}

static bool is_selected(const struct gh_snapshot *snapshot, const struct gh_dump_frame *top)
{
	return top->sp == snapshot->selected.sp && top->pc == snapshot->selected.pc;
}

static void print_state(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine)
{
	size_t size;
	const char *state = gh_goroutine_state(dump, goroutine, &size);
	printf("goroutine %" PRIu64 " [", goroutine->id);
	gh_print_bytes(stdout, state, size, false);
	gh_minutes_print_as_go(stdout, gh_goroutine_minutes(dump, goroutine));
	puts("], from frame 1 on");
}

/* Has GDB tell of a frame whether it was interrupted: then nothing returns to its pc, and the one
 * that GDB has for it is in the middle of an instruction. */
static void write_interrupted(FILE *script, const struct gh_dump *dump, size_t number)
{
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	fputs("with confirm off -- define _goheap_note_interrupted\n"
	      "set variable $goheap_interrupted = 0\n",
	      script);
	for (size_t i = 0; i < stack->nframes; i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + i, &record);
		if (record.frame.continuation == GH_DUMP_INTERRUPTED)
			fprintf(script,
				"if $sp == %" PRIu64
				"\nset variable $goheap_interrupted = 1\nend\n",
				record.frame.sp);
	}
	fputs("end\n", script);
}

/* Has GDB show goroutine NUMBER's stack, and know what finish needs: whose it is, where its upper
 * end is told, and below which frame it is shown. The selected thread's top frame may be
 * main.main's. */
static int write_script(const struct gh_snapshot *snapshot, size_t number, const char *directory)
{
	const struct gh_dump *dump = &snapshot->dump;
	struct gh_dump_record record;
	FILE *script = gh_script_open(directory);
	if (script == NULL)
		return GH_EXIT_INPUT;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	write_interrupted(script, dump, number);
	fprintf(script,
		"_goheap_set $goheap_goroutine %" PRIu64 "\n"
		/* Modula-2 has no numbers of 64 bits. */
		"with language auto -- set variable $goheap_stack_hi = %" PRIu64 "\n"
		"with language auto -- set variable $goheap_top_sp = %" PRIu64 "\n"
		"set backtrace past-main on\n"
		"_goheap_forget_frames\nframe 1\n",
		record.goroutine.id, record.goroutine.g + dump->params.pointer_size,
		snapshot->selected.sp);
	return gh_script_commit(script, directory) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static int show(const struct gh_snapshot *snapshot, uint64_t id, const char *directory,
		const char *waited)
{
	const struct gh_dump *dump = &snapshot->dump;
	struct gh_dump_record record;
	struct gh_dump_record top;
	struct gh_error err;
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" GH_SESSION_FRAMES, directory);
	size_t number = gh_goroutine_find(dump, id, &record);
	if (number == GH_DUMP_NONE) {
		gh_say("there is no goroutine %" PRIu64, id);
		return GH_EXIT_INPUT;
	}
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	if (stack->nframes == 0) {
		gh_say("goroutine %" PRIu64 " has no stack that can be read", id);
		return GH_EXIT_INPUT;
	}
	gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame, &top);
	if (is_selected(snapshot, &top.frame)) {
		gh_say("goroutine %" PRIu64 " is what the selected thread runs", id);
		return GH_EXIT_INPUT;
	}
	if (!gh_frames_write_below(dump, number, snapshot->selected.sp, snapshot->selected.pc, path,
				   &err)) {
		gh_print_error(&err);
		return GH_EXIT_INPUT;
	}
	print_state(dump, &record.goroutine);
	fputs(waited, stdout);
	return write_script(snapshot, number, directory);
}

int gh_cmd_goroutine(const struct gh_options *options)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	struct gh_snapshot snapshot;
	if (directory == NULL) {
		gh_say("goroutine is a command of GDB's; here it is goheap goroutines TARGET ID");
		return GH_EXIT_USAGE;
	}
	if (options->program == NULL) {
		gh_say("the program is not known: name it with the file command");
		return GH_EXIT_INPUT;
	}
	char *text = NULL;
	size_t size;
	struct waited waited = {.options = options, .out = open_memstream(&text, &size)};
	bool opened =
	    gh_snapshot_show(&snapshot, options->file, options->program, find_waited, &waited);
	bool written = waited.out != NULL && fclose(waited.out) == 0;
	int status = GH_EXIT_INPUT;
	if (opened) {
		status = show(&snapshot, options->number, directory, written ? text : "");
		gh_snapshot_close(&snapshot);
	}
	free(text);
	return status;
}
