/* goheap frame: what is known of the values in a frame that GDB has described. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/code/code.h"
#include "lib/util/escape.h"
#include "lib/value/value.h"
#include "plugin/cli/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/gdb/session_frame.h"

struct frame {
	const struct gh_options *options;
	const char *directory;        /* of the session */
	struct gh_session_frame told; /* what GDB says of it; owned */
};

static void print_heading(const struct gh_session_frame *frame, uint64_t pc)
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

static bool print_values(const struct frame *frame, struct gh_process *process,
			 const struct gh_rtypes *types, const struct gh_session_registers *from)
{
	uint64_t registers[GH_VALUE_REGISTERS];
	struct gh_error err;
	struct gh_signatures signatures;
	bool is_innermost = frame->told.level == 0;
	struct gh_values values = {.process = process,
				   .types = types,
				   .limit = frame->options->limit,
				   .depth = (unsigned)frame->options->depth};
	struct gh_value_frame place = {
	    .pc = from->pc, .sp = from->sp, .is_innermost = is_innermost};
	if (!gh_signatures_find(&signatures, types, &err)) {
		gh_print_error(&err);
		return false;
	}
	gh_session_registers_order(from, registers);
	if (is_innermost && from->all)
		place.registers = registers;
	if (!gh_value_print_frame(&values, &place, &signatures))
		puts("No function of the Go program's is there.");
	fwrite(values.out.data, 1, values.out.size, stdout);
	bool printed = !values.out.failed;
	if (!printed)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	gh_values_free(&values);
	gh_signatures_free(&signatures);
	return printed;
}

static bool print_frame(struct gh_process *process, void *context)
{
	const struct frame *frame = context;
	struct gh_session_registers registers;
	struct gh_rtypes types;
	struct gh_error err;
	if (!gh_session_registers_read(&registers, frame->directory, GH_SESSION_FRAME_REGISTERS,
				       process->tab->pointer_size)) {
		fputs("goheap: the frame's registers are not known\n", stderr);
		return false;
	}
	print_heading(&frame->told, registers.pc);
	if (frame->told.caller != 0) {
		printf("inlined into frame %u, which has the arguments: goheap frame %u\n",
		       frame->told.caller, frame->told.caller);
		return true;
	}
	if (!gh_rtypes_find(&types, process->tab, &err)) {
		gh_print_error(&err);
		return false;
	}
	bool printed = print_values(frame, process, &types, &registers);
	gh_rtypes_free(&types);
	return printed;
}

int gh_cmd_frame(const struct gh_options *options)
{
	struct frame frame = {.options = options, .directory = getenv(GH_SESSION_VARIABLE)};
	if (frame.directory == NULL) {
		fputs("goheap: frame is a command of GDB's: jit-reader-load goheap.so, then goheap "
		      "frame\n",
		      stderr);
		return GH_EXIT_USAGE;
	}
	if (options->program == NULL) {
		fputs("The program is not known: name it with the file command.\n", stderr);
		return GH_EXIT_INPUT;
	}
	bool printed = gh_session_frame_read(&frame.told, frame.directory);
	if (!printed)
		fputs("There is no such frame.\n", stderr);
	printed =
	    printed && gh_process_look(options->file, NULL, options->program, print_frame, &frame);
	gh_session_frame_free(&frame.told);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
