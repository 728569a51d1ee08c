#include "plugin/command/command.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/trace/trace.h"
#include "lib/util/error.h"
#include "lib/util/output.h"

/* As close_stdout of the GNU core utilities. A descriptor that was closed from the start is an
 * error only if there was something to write. */
static void close_stdout(void)
{
	bool pending = __fpending(stdout) != 0;
	bool failed = ferror(stdout) != 0;
	errno = 0;
	if (fclose(stdout) != 0 && (pending || errno != EBADF))
		failed = true;
	if (!failed && !gh_has_left_out())
		return;
	if (failed)
		gh_say("cannot write the output%s%s", errno != 0 ? ": " : "",
		       errno != 0 ? strerror(errno) : "");
	_exit(GH_EXIT_INPUT);
}

/* Finds the file that is mapped at ADDRESS. False if there is none. */
static bool find_mapped(uintptr_t address, char path[PATH_MAX])
{
	char line[PATH_MAX + 128];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
		uintptr_t start;
		uintptr_t end;
		int name = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &start, &end,
			   &name) != 2 ||
		    address < start || address >= end || name == 0 || line[name] != '/')
			continue;
		snprintf(path, PATH_MAX, "%s", line + name);
		found = true;
	}
	if (maps != NULL)
		fclose(maps);
	return found;
}

/* A part of a mapped file is no longer there. The handler runs where the memory is read, which is
 * in no function of the C library that holds a lock: it may do more than other handlers. */
static void end_on_bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	static atomic_flag ending = ATOMIC_FLAG_INIT;
	char path[PATH_MAX];
	struct gh_error err;
	/* Several threads may read what is gone: the first tells of it. */
	while (atomic_flag_test_and_set(&ending))
		pause();
	gh_output_remove_temporary();
	if (!find_mapped((uintptr_t)info->si_addr, path)) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	gh_fail(&err, path, GH_NO_OFFSET, "a file that stays as it is",
		"one that was cut short while it was read (or whose disk failed)");
	dprintf(STDERR_FILENO, "goheap: %s\n", err.text);
	_exit(GH_EXIT_INPUT);
}

/* Ends the process as the signal would have. */
static void end_on_signal(int number)
{
	gh_output_remove_temporary();
	signal(number, SIG_DFL);
	raise(number);
}

void gh_exit_prepare(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction bus = {.sa_sigaction = end_on_bus_error, .sa_flags = SA_SIGINFO};
	struct sigaction end = {.sa_handler = end_on_signal};
	atexit(close_stdout);
	/* In a container's memory there may be little room beside the process that is asked about:
	   no answer is worth that the system ends that. */
	gh_be_first_to_go(true);
	sigaction(SIGBUS, &bus, NULL);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		struct sigaction before;
		/* nohup, and a shell for what is in the background, have some ignored. */
		if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(ending[i], &end, NULL);
	}
}
