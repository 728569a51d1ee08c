#include "plugin/dispatch/dispatch.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/trace/trace.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/hang/hang.h"
#include "plugin/view/view.h"

static void describe_parts(FILE *out, const struct gh_memory_parts *parts, const char *file)
{
	for (size_t i = 0; i < parts->count; i++)
		fprintf(out, "0x%" PRIx64 " 0x%" PRIx64 " 0x0 0x0 rw-p %s\n", parts->items[i].start,
			parts->items[i].end, file);
}

/* Describes the mappings of the core file at PATH, as GDB does those of a process. */
static void describe_core(FILE *out, const char *path)
{
	struct gh_image core;
	struct gh_writable writable;
	if (!gh_image_open_core(&core, path, NULL))
		return;
	gh_writable_core(&writable, &core);
	describe_parts(out, &writable.anonymous, "");
	describe_parts(out, &writable.of_files, "/");
	gh_writable_free(&writable);
	gh_image_close(&core);
}

/* Describes what GDB debugs, as far as that is known before GDB is asked for more. */
static bool describe(const char *directory, const struct gh_infofiles *files)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" GH_SESSION_PROCESS, directory);
	FILE *out = fopen(path, "we");
	if (out == NULL) {
		gh_print_errno(path);
		return false;
	}
	struct gh_mapped_files libraries = {0};
	fprintf(out, "entry 0x%" PRIx64 "\nnative 0x%x\n", files->entry, (unsigned)files->pid);
	gh_library_list(&libraries, files);
	for (size_t i = 0; i < libraries.count; i++)
		fprintf(out, "library 0x%" PRIx64 " %s\n", libraries.items[i].start,
			libraries.items[i].path);
	gh_mapped_files_free(&libraries);
	if (files->core != NULL)
		describe_core(out, files->core);
	bool written = fclose(out) == 0;
	/* A name can have what a line of GDB's cannot. */
	snprintf(path, sizeof(path), "%s/" GH_SESSION_RUN, directory);
	unlink(path);
	if (written && symlink(files->program, path) == 0)
		return true;
	gh_print_errno(path);
	return false;
}

/* GDB has let the process PID go on: none of its threads is stopped by a debugger. */
static bool goes_on(int pid)
{
	struct gh_thread_states states;
	return pid != 0 && gh_thread_states_read(&states, pid) && states.traced == 0;
}

/* The selected frame need not be the thread's top frame. */
static void write_registers(FILE *script, const char *threads)
{
	fprintf(script,
		"pipe %sframe apply 1 -q -s _goheap_registers | cat "
		">>\"$GOHEAP_SESSION\"/" GH_SESSION_PROCESS "\n",
		threads);
}

/* The thread's own stack, for which nothing needs to be known of the goroutines. */
static void write_leave(FILE *script)
{
	fputs("_goheap_leave\nframe 0\n", script);
}

/* GDB selects frame 0 when it has to unwind the stack again, as it has to be served. */
#define NOTE_FRAME                                                                                 \
	"pipe frame | sed -n '1s/^#\\([0-9]*\\) .*/frame level \\1/p' "                            \
	">\"$GOHEAP_SESSION\"/selected.gdb\n"
#define SELECT_FRAME "pipe source " GH_SESSION_PATH "selected.gdb | cat >/dev/null\n"

/* The rest, for a command that WRITES_SCRIPT for GDB to run, or does not. */
static void write_command(FILE *script, const struct gh_infofiles *files, const char *address,
			  bool writes_script)
{
	/* GDB does not move the sections of a position-independent program whose symbols are from
	 * another file, so the entry point among them may be the file's. */
	fputs("pipe info auxv | cat >>\"$GOHEAP_SESSION\"/" GH_SESSION_PROCESS "\n", script);
	if (files->core == NULL)
		fputs("pipe frame apply 1 -q -s info proc mappings | cat "
		      ">>\"$GOHEAP_SESSION\"/" GH_SESSION_PROCESS "\n",
		      script);
	write_registers(script, "");
	write_registers(script, "thread apply all -q -s ");
	char arguments[64];
	snprintf(arguments, sizeof(arguments), "live %s", address != NULL ? address : "");
	if (writes_script)
		gh_script_go_on(script, "_goheap_serve", arguments);
	else
		fprintf(script,
			NOTE_FRAME "pipe _goheap_serve | " GH_SCRIPT_PROGRAM_LAST "\n" SELECT_FRAME,
			arguments);
}

int gh_dispatch_live(const struct gh_words *words, const char *address, const char *directory,
		     const struct gh_infofiles *files)
{
	if (goes_on(files->pid)) {
		fputs("The process is running: interrupt it first.\n", stderr);
		return GH_EXIT_INPUT;
	}
	struct gh_error err;
	if (!gh_program_fits(files, &err)) {
		gh_say("%s", err.text);
		return GH_EXIT_INPUT;
	}
	FILE *script = describe(directory, files) ? gh_script_open(directory) : NULL;
	if (script == NULL)
		return GH_EXIT_INPUT;
	bool is_goroutine = strcmp(words->args[0], "goroutine") == 0;
	if (is_goroutine && words->count == 2 && strcmp(words->args[1], "0") == 0)
		write_leave(script);
	else
		write_command(script, files, address, is_goroutine);
	return gh_script_commit(script, directory) ? GH_EXIT_OK : GH_EXIT_INPUT;
}
