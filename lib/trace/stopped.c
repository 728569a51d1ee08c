#include "lib/trace/trace.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/now.h"
#include "lib/util/number_file.h"

/* "process PID", for messages. */
struct name {
	char text[32];
};

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

/* The process that has the kernel's own threads as children. */
#define KERNEL_THREADS 2

static struct name name_of(int pid)
{
	struct name name;
	snprintf(name.text, sizeof(name.text), "process %d", pid);
	return name;
}

/* The number of the process that traces this one; 0 for none. */
static int find_other_tracer(int pid)
{
	char path[64];
	uint64_t number;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return gh_number_file_read(path, "TracerPid:", &number) ? (int)number : 0;
}

/* Fails as there is no such process, or none that runs a program. */
static bool fail_absent(int pid, struct gh_error *err)
{
	char path[64];
	uint64_t parent;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (!gh_number_file_read(path, "PPid:", &parent))
		return gh_fail_plainly(
		    err, "there is no process %d: it has ended, or the number is wrong", pid);
	if (pid == KERNEL_THREADS || parent == KERNEL_THREADS)
		return gh_fail_plainly(err, "process %d is the kernel's own", pid);
	return gh_fail_plainly(err,
			       "process %d has ended, and its parent, process %d, has not noticed",
			       pid, (int)parent);
}

/* Root may trace any process by this capability, which containers leave out. */
static bool lacks_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[0].effective & CAP_TO_MASK(CAP_SYS_PTRACE)) == 0;
}

/* Fails as this user may not read the process. */
static bool fail_forbidden(int pid, struct gh_error *err)
{
	char path[64];
	struct stat owner;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (geteuid() == 0 && lacks_capability())
		return gh_fail_plainly(err,
				       "process %d may not be read: root lacks the capability "
				       "CAP_SYS_PTRACE in this container: see goheap help pod",
				       pid);
	if (stat(path, &owner) == 0 && owner.st_uid != geteuid())
		return gh_fail_plainly(err,
				       "process %d belongs to another user: run goheap as user %u, "
				       "or as root",
				       pid, owner.st_uid);
	if (access(YAMA, F_OK) == 0)
		return gh_fail_plainly(err,
				       "the system lets nobody but root read process %d: run "
				       "goheap as root, or see " YAMA,
				       pid);
	return gh_fail_plainly(err,
			       "process %d may not be read: run goheap as root, or with the "
			       "capability CAP_SYS_PTRACE",
			       pid);
}

bool gh_stopped_fail(int pid, struct gh_error *err)
{
	struct name name = name_of(pid);
	int error = errno;
	if (error == ENOMEM)
		return gh_fail_memory(err, name.text);
	if (error == ESRCH)
		return fail_absent(pid, err);
	int other = find_other_tracer(pid);
	if (other != 0)
		return gh_fail_plainly(err,
				       "process %d is traced by process %d: end that, or have it "
				       "detach, first",
				       pid, other);
	if (error == EPERM || error == EACCES)
		return fail_forbidden(pid, err);
	errno = error;
	return gh_fail_errno(err, name.text, "stop it");
}

static bool is_traced(const struct gh_stopped *stopped, pid_t id)
{
	for (size_t i = 0; i < stopped->threads.count; i++)
		if (stopped->threads.items[i].id == id)
			return true;
	return false;
}

/* Seizes the threads that are not seized yet and has them stop; *COUNT is how many there were. A
 * thread may end meanwhile. */
static bool seize_new(struct gh_stopped *stopped, DIR *tasks, size_t *count, struct gh_error *err)
{
	const struct dirent *entry;
	*count = 0;
	rewinddir(tasks);
	while ((entry = readdir(tasks)) != NULL) {
		pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
		if (id <= 0 || is_traced(stopped, id))
			continue;
		if (ptrace(PTRACE_SEIZE, id, NULL, NULL) != 0) {
			if (errno == ESRCH && id != stopped->pid)
				continue;
			return gh_stopped_fail(stopped->pid, err);
		}
		struct gh_traced traced = {.id = id};
		if (!gh_vector_push(&stopped->threads, traced)) {
			ptrace(PTRACE_DETACH, id, NULL, NULL);
			return gh_fail_memory(err, name_of(stopped->pid).text);
		}
		ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
		++*count;
	}
	return true;
}

/* How long a thread that is in the kernel is waited for before it is taken for stuck, in ns.
 * Reading from a disk takes less. */
#define PATIENCE 100000000

/* Thread ID of process PID is where no signal reaches it. */
static bool is_uninterruptible(int pid, pid_t id)
{
	char path[64];
	char stat[512];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, id);
	FILE *file = fopen(path, "re");
	size_t size = file != NULL ? fread(stat, 1, sizeof(stat) - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	stat[size] = '\0';
	const char *after_name = strrchr(stat, ')');
	return after_name != NULL && strncmp(after_name, ") D", 3) == 0;
}

/* Waits until the thread has stopped, or ended, or is stuck. Gives what waitpid does: 0 for stuck.
 */
static pid_t wait_for(const struct gh_stopped *stopped, pid_t id, int *status)
{
	const struct timespec pause = {.tv_nsec = 20000};
	uint64_t start = gh_now();
	for (;;) {
		pid_t found = waitpid(id, status, __WALL | WNOHANG);
		if (found > 0 || (found < 0 && errno != EINTR))
			return found;
		if (gh_now() - start >= PATIENCE && is_uninterruptible(stopped->pid, id))
			return 0;
		nanosleep(&pause, NULL);
	}
}

/* Waits until each thread has stopped, or ended. One that was about to be given a signal is given
 * it when it goes on. */
static void wait_for_all(struct gh_stopped *stopped)
{
	for (size_t i = 0; i < stopped->threads.count; i++) {
		struct gh_traced *traced = &stopped->threads.items[i];
		int status;
		if (traced->stopped || traced->stuck || traced->id == 0)
			continue;
		pid_t id = wait_for(stopped, traced->id, &status);
		traced->stuck = id == 0;
		if (traced->stuck)
			continue;
		if (id != traced->id || !WIFSTOPPED(status)) {
			traced->id = 0;
			continue;
		}
		traced->stopped = true;
		traced->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	}
}

bool gh_stopped_make(struct gh_stopped *stopped, int pid, struct gh_error *err)
{
	char path[64];
	*stopped = (struct gh_stopped){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/task", stopped->pid);
	DIR *tasks = opendir(path);
	if (tasks == NULL) {
		errno = errno == ENOENT ? ESRCH : errno;
		return gh_stopped_fail(stopped->pid, err);
	}
	size_t count = 0;
	bool seized;
	/* While some run, they make others. */
	do {
		seized = seize_new(stopped, tasks, &count, err);
		wait_for_all(stopped);
	} while (seized && count > 0);
	closedir(tasks);
	return seized;
}

void gh_stopped_release(struct gh_stopped *stopped)
{
	for (size_t i = 0; i < stopped->threads.count; i++) {
		const struct gh_traced *traced = &stopped->threads.items[i];
		if (traced->id != 0)
			ptrace(PTRACE_DETACH, traced->id, NULL, (void *)(intptr_t)traced->signal);
	}
	gh_vector_free(&stopped->threads);
}

/* Blocks the signals that would stop goheap, or have it write to a terminal or a core file, while
 * the process is stopped: that would stay stopped as long. Those that end goheap at once resume the
 * process. *BEFORE is the mask to restore. */
static void block_signals(sigset_t *before)
{
	static const int delaying[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGALRM, SIGQUIT};
	sigset_t blocked;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(delaying) / sizeof(delaying[0]); i++)
		sigaddset(&blocked, delaying[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, before);
}

/* What is done while the process is stopped. */
struct run {
	int pid;
	gh_stopped_work *work;
	void *context;
	uint64_t paused;
	bool done;
	struct gh_error *err;
};

/* Stops the process, does the work, and lets it go on. */
static void *run_traced(void *context)
{
	struct run *run = context;
	struct gh_stopped stopped = {0};
	uint64_t start = gh_now();
	run->done = gh_stopped_make(&stopped, run->pid, run->err) &&
		    run->work(&stopped, run->context, run->err);
	gh_stopped_release(&stopped);
	run->paused = gh_now() - start;
	return NULL;
}

bool gh_stopped_run(int pid, gh_stopped_work *work, void *context, uint64_t *paused,
		    struct gh_error *err)
{
	struct run run = {.pid = pid, .work = work, .context = context, .err = err};
	/* With the thread that traces ends what it traces: no thread of the process stays stopped
	 * that comes back from the kernel later. */
	pthread_t tracer;
	sigset_t before;
	struct gh_watchdog watchdog = gh_watchdog_start(pid);
	/* Its threads inherit the mask. */
	block_signals(&before);
	if (pthread_create(&tracer, NULL, run_traced, &run) == 0)
		pthread_join(tracer, NULL);
	else
		gh_fail_memory(err, "a thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gh_watchdog_end(&watchdog);
	*paused = run.paused;
	return run.done;
}
