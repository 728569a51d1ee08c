#include "lib/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How often the watchdog looks, in ms, and after how many looks without any work done the process
 * is ended: together less than the two seconds that another may stand for its sake. */
#define LOOK  100
#define LOOKS 15

/* The processors' time that the process of CLOCK has had, in ns. A process that is stopped, or
 * waits for a disk, has none. */
static uint64_t read_clock(clockid_t clock)
{
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Closes all descriptors but standard error and LINE: who reads what goheap writes is not to wait
 * for its watchdog. */
static void close_others(int line)
{
	int most = (int)sysconf(_SC_OPEN_MAX);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, line - 1, 0) == 0 &&
	    syscall(SYS_close_range, line + 1, ~0U, 0) == 0)
		most = STDERR_FILENO;
#endif
	for (int fd = 0; fd < most; fd++)
		if (fd != STDERR_FILENO && fd != line)
			close(fd);
}

/* Ends PARENT once it has stood still, unless LINE is closed before. */
static void watch(pid_t parent, int line, const char *message)
{
	struct pollfd closed = {.fd = line};
	clockid_t clock;
	if (clock_getcpuclockid(parent, &clock) != 0)
		return;
	uint64_t before = read_clock(clock);
	for (int still = 0; still < LOOKS;) {
		if (poll(&closed, 1, LOOK) != 0)
			return;
		uint64_t now = read_clock(clock);
		still = now == before ? still + 1 : 0;
		before = now;
	}
	/* It has ended if another is the parent now. */
	if (getppid() != parent || kill(parent, SIGKILL) != 0)
		return;
	ssize_t written = write(STDERR_FILENO, message, strlen(message));
	(void)written;
}

struct gh_watchdog gh_watchdog_start(int pid)
{
	struct gh_watchdog watchdog = {.child = -1, .line = -1};
	int ends[2];
	sigset_t all;
	sigset_t before;
	char message[96];
	pid_t parent = getpid();
	snprintf(message, sizeof(message),
		 "goheap: ended, as it stood still while process %d was stopped\n", pid);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return watchdog;
	/* No signal is for the watchdog, nor for handlers that it has from its parent. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	watchdog.child = fork();
	if (watchdog.child == 0) {
		/* What stops a group of processes would stop it, too. */
		setpgid(0, 0);
		close_others(ends[0]);
		watch(parent, ends[0], message);
		_exit(0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	watchdog.line = ends[1];
	return watchdog;
}

void gh_watchdog_end(struct gh_watchdog *watchdog)
{
	close(watchdog->line);
	while (watchdog->child > 0 && waitpid(watchdog->child, NULL, 0) < 0 && errno == EINTR)
		;
}
