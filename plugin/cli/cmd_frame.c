/* goheap frame: what is known of the values in a goroutine's frames, or in one that GDB has
 * described. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/code/code.h"
#include "lib/util/escape.h"
#include "lib/value/value.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/gdb/session_frame.h"

/* What values are printed by. */
struct printer {
	struct gh_values values;
	struct gh_rtypes types; /* owned, as the next */
	struct gh_signatures signatures;
};

static bool open_printer(struct printer *printer, struct gh_process *process,
			 const struct gh_options *options)
{
	struct gh_error err;
	*printer = (struct printer){0};
	if (!gh_process_types(&printer->types, process, &err)) {
		gh_print_error(&err);
		return false;
	}
	if (!gh_signatures_find(&printer->signatures, &printer->types, &err)) {
		gh_print_error(&err);
		gh_rtypes_free(&printer->types);
		return false;
	}
	printer->values = (struct gh_values){.process = process,
					     .types = &printer->types,
					     .limit = options->limit,
					     .depth = (unsigned)options->depth};
	return true;
}

static void close_printer(struct printer *printer)
{
	gh_values_free(&printer->values);
	gh_signatures_free(&printer->signatures);
	gh_rtypes_free(&printer->types);
}

/* Prints what the frame has. False if memory ran out. */
static bool print_values(struct printer *printer, const struct gh_value_frame *frame)
{
	struct gh_values *values = &printer->values;
	values->out.size = 0;
	if (!gh_value_print_frame(values, frame, &printer->signatures))
		puts("No function of the Go program's is there.");
	if (values->out.size > 0)
		fwrite(values->out.data, 1, values->out.size, stdout);
	if (values->out.failed)
		gh_say(GH_OUT_OF_MEMORY);
	return !values->out.failed;
}

static void print_inlined(unsigned caller)
{
	printf("inlined into frame %u, which has the arguments\n", caller);
}

/* Prints the command that tells of an object whose type only the heap tells. */
static void print_command(const struct printer *printer, const struct gh_options *options)
{
	if (printer->values.untyped == 0)
		return;
	gh_see_print(stdout, options, "print");
	printf(" 0x%" PRIx64 " (its type, by what else points to it)\n", printer->values.untyped);
}

/* The frame that GDB has described. */
struct told {
	const struct gh_options *options;
	const char *directory;         /* of the session */
	struct gh_session_frame frame; /* owned */
};

static void print_told_heading(const struct gh_session_frame *frame, uint64_t pc)
{
	printf("#%-3u0x%" PRIx64, frame->level, pc);
	if (frame->function != NULL) {
		fputs(" in ", stdout);
		gh_escape_print(stdout, frame->function);
	}
	if (frame->place != NULL) {
		fputs(" at ", stdout);
		gh_escape_print(stdout, frame->place);
	}
	putchar('\n');
}

static bool print_told(struct gh_process *process, void *context)
{
	const struct told *told = context;
	uint64_t registers[GH_VALUE_REGISTERS];
	struct gh_value_frame frame;
	struct printer printer;
	if (!gh_session_value_frame(&frame, registers, told->directory, told->frame.level,
				    process->tab->image->arch)) {
		gh_say("the frame's registers are not known");
		return false;
	}
	print_told_heading(&told->frame, frame.pc);
	if (told->frame.caller != 0) {
		print_inlined(told->frame.caller);
		return true;
	}
	if (!open_printer(&printer, process, told->options))
		return false;
	bool printed = print_values(&printer, &frame);
	print_command(&printer, told->options);
	close_printer(&printer);
	return printed;
}

static int run_in_gdb(const struct gh_options *options)
{
	struct told told = {.options = options, .directory = getenv(GH_SESSION_VARIABLE)};
	if (options->program == NULL) {
		fputs("The program is not known: name it with the file command.\n", stderr);
		return GH_EXIT_INPUT;
	}
	bool printed = gh_session_frame_read(&told.frame, told.directory);
	if (!printed)
		fputs("There is no such frame.\n", stderr);
	printed =
	    printed && gh_process_look(options->file, NULL, options->program, print_told, &told);
	gh_session_frame_free(&told.frame);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* A goroutine's frames. */
struct asked {
	const struct gh_options *options;
	const char *program;  /* its path */
	uint64_t goroutine;   /* its id */
	uint64_t level;       /* of the one that is asked for; UINT64_MAX: all of them */
	struct gh_dump *dump; /* the heap dump; NULL: there is none */
};

/* Prints call number LEVEL of the goroutine's. */
static bool print_call(struct printer *printer, const struct gh_dump *dump,
		       const struct gh_traceback *traceback, size_t level)
{
	const struct gh_call *call = &traceback->calls.items[level];
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_FRAME, call->frame, &record);
	printf("#%-3zu0x%" PRIx64 " in ", level, call->pc);
	gh_traceback_print_call(stdout, call);
	putchar('\n');
	if (call->inlined) {
		size_t caller = level;
		while (caller + 1 < traceback->calls.count &&
		       traceback->calls.items[caller].inlined)
			caller++;
		print_inlined((unsigned)caller);
		return true;
	}
	struct gh_value_frame frame = {
	    .pc = call->pc, .sp = record.frame.sp, .is_innermost = call->current};
	return print_values(printer, &frame);
}

static bool print_calls(const struct asked *asked, struct printer *printer,
			const struct gh_dump *dump, const struct gh_traceback *traceback)
{
	const struct gh_call *own = gh_traceback_own_call(traceback);
	bool printed = true;
	if (asked->level != UINT64_MAX && asked->level >= traceback->calls.count) {
		gh_say("goroutine %" PRIu64 " has %zu frames, from 0 on", asked->goroutine,
		       traceback->calls.count);
		return false;
	}
	for (size_t i = 0; printed && i < traceback->calls.count; i++) {
		/* The program's own come before those that its calls of libraries have. */
		if (&traceback->calls.items[i] == own)
			printer->values.untyped = 0;
		if (asked->level == UINT64_MAX || asked->level == i)
			printed = print_call(printer, dump, traceback, i);
	}
	return printed;
}

/* Prints the frames of the goroutine that DUMP has, from the memory of PROCESS. */
static bool print_goroutine(const struct asked *asked, struct gh_process *process,
			    const struct gh_dump *dump)
{
	struct gh_dump_record record;
	struct gh_symbols symbols;
	struct gh_traceback traceback = {0};
	struct printer printer;
	size_t number = gh_goroutine_find(dump, asked->goroutine, &record);
	if (number == GH_DUMP_NONE) {
		gh_say("there is no goroutine %" PRIu64, asked->goroutine);
		return false;
	}
	if (!gh_symbols_open(&symbols, dump, asked->program))
		return false;
	bool printed = open_printer(&printer, process, asked->options);
	if (printed) {
		printed = gh_traceback_make(&traceback, dump, &symbols, number);
		if (printed)
			printed = print_calls(asked, &printer, dump, &traceback);
		else
			gh_say(GH_OUT_OF_MEMORY);
		print_command(&printer, asked->options);
		close_printer(&printer);
	}
	gh_traceback_free(&traceback);
	gh_symbols_close(&symbols);
	return printed;
}

static bool print_asked(struct gh_process *process, void *context)
{
	const struct asked *asked = context;
	struct gh_dump made;
	struct gh_buffer bytes = {0};
	struct gh_error err;
	uint64_t lost;
	if (asked->dump != NULL)
		return print_goroutine(asked, process, asked->dump);
	bool printed =
	    gh_snapshot_make(&bytes, process, "", &lost, &err) &&
	    gh_dump_open_memory(&made, bytes.data, bytes.size, process->tab->image->path, &err);
	if (printed) {
		printed = print_goroutine(asked, process, &made);
		gh_dump_close(&made);
	} else {
		gh_print_error(&err);
	}
	gh_buffer_free(&bytes);
	return printed;
}

static bool read_number(const char *text, uint64_t *number)
{
	bool is_number = gh_number_read(text, number);
	if (!is_number)
		gh_say("expected a number, found %s", text);
	return is_number;
}

int gh_cmd_frame(const struct gh_options *options)
{
	char running[32];
	struct gh_dump dump;
	struct asked asked = {.options = options, .level = UINT64_MAX};
	/* Those that GDB has described are without a goroutine. */
	if (options->nwords == 0 && getenv(GH_SESSION_VARIABLE) != NULL)
		return run_in_gdb(options);
	if (options->nwords == 0 || options->nwords > 2) {
		gh_say("expected a goroutine's ID, and the number of a frame or none");
		return GH_EXIT_USAGE;
	}
	if (!read_number(options->words[0], &asked.goroutine) ||
	    (options->nwords == 2 && !read_number(options->words[1], &asked.level)))
		return GH_EXIT_USAGE;
	asked.program = gh_options_program(options, running);
	if (asked.program == NULL) {
		gh_say("the program, whose frames these are, is not known: -e PROGRAM");
		return GH_EXIT_USAGE;
	}
	if (gh_target_kind(options->file, NULL) == GH_KIND_DUMP) {
		if (!gh_dumpfile_open(&dump, options->file))
			return GH_EXIT_INPUT;
		asked.dump = &dump;
	}
	bool printed =
	    gh_process_look(options->file, options->process, asked.program, print_asked, &asked);
	if (asked.dump != NULL)
		gh_dump_close(&dump);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
