#include "lib/util/run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool prepare(posix_spawn_file_actions_t *actions, const struct gh_run *run)
{
	return posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ==
		   0 &&
	       posix_spawn_file_actions_adddup2(actions, run->output, STDOUT_FILENO) == 0 &&
	       (!run->takes_errors ||
		posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO) == 0) &&
	       (run->directory == NULL ||
		posix_spawn_file_actions_addchdir_np(actions, run->directory) == 0);
}

int gh_run(const struct gh_run *run)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status = -1;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	bool spawned =
	    prepare(&actions, run) &&
	    posix_spawn(&child, run->path, &actions, NULL, (char *const *)(uintptr_t)run->arguments,
			run->environment != NULL ? run->environment : environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	while (spawned && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return spawned && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
