/* goheap core: a process, or a heap dump, as a core file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/export/export.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/view.h"

/* Finds where the program at PATH has its list of goroutines. */
static bool find_goroutines(struct gh_core_program *program, const char *path)
{
	struct gh_program file;
	struct gh_switches switches;
	struct gh_error err;
	if (!gh_program_open(&file, path))
		return false;
	bool found = gh_switches_find(&switches, &file.tab, &err);
	if (!found)
		gh_print_error(&err);
	uint64_t bias = program->entry != 0 ? program->entry - file.image.header.e_entry : 0;
	if (found && switches.runtime.allgs != 0) {
		program->allgs = switches.runtime.allgs + bias;
		program->allglen = switches.runtime.allglen + bias;
	}
	gh_switches_free(&switches);
	gh_program_close(&file);
	return found;
}

/* PROGRAM is NULL if it was not given. */
static bool write_core(const struct gh_dump *dump, const char *path, const char *output)
{
	struct gh_core_program program = {.name = ""};
	if (path != NULL &&
	    !(gh_symbols_program(&program, dump, path) && find_goroutines(&program, path)))
		return false;
	return gh_dumpfile_write_core(dump, &program, output);
}

/* Finds what of the process PID's memory is Go's. */
static bool find_go(struct gh_memory_parts *starts, int pid)
{
	struct gh_program program;
	struct gh_buildinfo info;
	struct gh_error err;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (!gh_program_open(&program, path))
		return false;
	gh_buildinfo_read(&info, &program.image);
	bool found =
	    gh_live_go_memory(starts, pid, &program.tab, gh_go_minor(info.go_version), &err);
	if (!found)
		gh_print_error(&err);
	gh_buildinfo_free(&info);
	gh_program_close(&program);
	return found;
}

/* Writes the core file of the process PID. */
static int write_live(const struct gh_options *options, int pid)
{
	struct gh_live_core core = {.pid = pid, .gzip = options->gzip};
	struct gh_memory_parts go = {0};
	struct gh_error err;
	if (options->go && !find_go(&go, pid))
		return GH_EXIT_INPUT;
	core.go = options->go ? &go : NULL;
	bool written = gh_live_core_write(&core, options->output, &err);
	gh_vector_free(&go);
	if (core.paused != 0)
		gh_say_paused(core.paused);
	if (!written)
		gh_print_error(&err);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_core(const struct gh_options *options)
{
	char running[32];
	struct gh_dump dump;
	if (!gh_options_check_output(options))
		return GH_EXIT_INPUT;
	if (options->process != NULL)
		return write_live(options, atoi(options->process));
	if (!gh_heap_query_dump(&dump, options, options->file, false))
		return GH_EXIT_INPUT;
	bool written = write_core(&dump, gh_options_program(options, running), options->output);
	gh_dump_close(&dump);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
