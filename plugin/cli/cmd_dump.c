/* goheap dump: the heap of a process or core file as a heap dump. */
#include <stdio.h>

#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"

static bool open_target(struct gh_target *target, const struct gh_options *options)
{
	int pid = options->process != NULL ? atoi(options->process) : 0;
	if (pid != 0 && options->no_pause) {
		if (!gh_target_open_running(target, pid, options->program))
			return false;
		gh_say("not paused: what changed while it was read may not fit together");
		return true;
	}
	if (pid != 0)
		return gh_target_open_live(target, pid, options->program);
	return gh_target_open_core(target, options->file, options->program);
}

int gh_cmd_dump(const struct gh_options *options)
{
	struct gh_target target;
	if (!gh_options_check_output(options))
		return GH_EXIT_INPUT;
	if (options->program != NULL && gh_is_debugged(options->file))
		return gh_debugged_heap_write(options->output, options->file, options->program,
					      options->gzip, options->c ? GH_HEAP_WITH_C : 0)
			   ? GH_EXIT_OK
			   : GH_EXIT_INPUT;
	if (!open_target(&target, options))
		return GH_EXIT_INPUT;
	gh_target_want_c(&target, options->c ? GH_HEAP_WITH_C : 0);
	bool written = gh_process_write_heap(&target.process, target.version, target.path,
					     options->output, options->gzip);
	gh_target_close(&target);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
