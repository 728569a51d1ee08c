#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/trace/internal.h"

/* The calls in which threads wait, or that take long, by the numbers of the machine that goheap
 * runs on, each with the form of its arguments: see gh_call_arguments_write. Not every machine has
 * the older ones. */
static const struct {
	int64_t number;
	const char *name;
	const char *form;
} known[] = {
#define CALL(name, form)                                                                           \
	{                                                                                          \
		SYS_##name, #name, form                                                            \
	}
    CALL(accept, "d"),
    CALL(accept4, "d"),
    CALL(clock_nanosleep, "__T"),
    CALL(clone, ""),
    CALL(close, "d"),
    CALL(connect, "ds"),
    CALL(copy_file_range, "d_d"),
    CALL(epoll_pwait, "d__m"),
    CALL(fallocate, "d"),
    CALL(fcntl, "dl"),
    CALL(fdatasync, "d"),
    CALL(flock, "dk"),
    CALL(fsync, "d"),
    CALL(ftruncate, "d"),
    CALL(futex, "a__u"),
    CALL(getrandom, ""),
    CALL(io_getevents, ""),
    CALL(io_uring_enter, "d"),
    CALL(ioctl, "da"),
    CALL(madvise, ""),
    CALL(mmap, ""),
    CALL(mount, ""),
    CALL(msgrcv, ""),
    CALL(msgsnd, ""),
    CALL(munmap, ""),
    CALL(nanosleep, "t"),
    CALL(openat, "_n"),
    CALL(ppoll, "p_t"),
    CALL(pread64, "d"),
    CALL(preadv, "d"),
    CALL(pselect6, ""),
    CALL(pwrite64, "d"),
    CALL(pwritev, "d"),
    CALL(read, "d"),
    CALL(readv, "d"),
    CALL(recvfrom, "d"),
    CALL(recvmmsg, "d"),
    CALL(recvmsg, "d"),
    CALL(renameat2, "_n_n"),
    CALL(restart_syscall, ""),
    CALL(rt_sigsuspend, ""),
    CALL(rt_sigtimedwait, "__t"),
    CALL(semop, ""),
    CALL(semtimedop, ""),
    CALL(sendfile, "dd"),
    CALL(sendmmsg, "d"),
    CALL(sendmsg, "d"),
    CALL(sendto, "d"),
    CALL(splice, "d_d"),
    CALL(sync, ""),
    CALL(syncfs, "d"),
    CALL(unlinkat, "_n"),
    CALL(wait4, "i"),
    CALL(waitid, ""),
    CALL(write, "d"),
    CALL(writev, "d"),
#ifdef SYS_open
    CALL(epoll_wait, "d__m"),
    CALL(open, "n"),
    CALL(pause, ""),
    CALL(poll, "p_m"),
    CALL(select, ""),
    CALL(vfork, ""),
#endif
};

/* Results of calls that a signal or a debugger interrupted, and of those that did not end yet:
 * include/linux/errno.h and arch/x86/entry/entry_64.S of the kernel. */
static const int64_t unfinished[] = {-512, -513, -514, -516, -4, -38};

static bool is_in_table(int64_t number, const char **name, const char **form)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].number != number)
			continue;
		*name = known[i].name;
		*form = known[i].form;
		return true;
	}
	return false;
}

/* Adds to CALLS, of OF, the call NUMBER of THREAD, whose stack pointer is SP, unless it is one in
 * which threads do not wait. */
static void add(struct gh_system_calls *calls, const struct gh_calling *of, int thread, uint64_t sp,
		int64_t number, const uint64_t arguments[GH_CALL_ARGUMENTS])
{
	const char *form;
	struct gh_system_call call = {.thread = thread, .sp = sp, .descriptor = GH_NOT_OPEN};
	if (!is_in_table(number, &call.name, &form))
		return;
	if (*form == 'd')
		call.descriptor = (int)arguments[0];
	call.arguments = gh_call_arguments_write(of, form, arguments);
	if (!gh_vector_push(calls, call))
		free(call.arguments);
}

void gh_system_calls_read(struct gh_system_calls *calls, const struct gh_calling *of)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "/proc/%d/task", of->pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		int64_t number;
		uint64_t arguments[GH_CALL_ARGUMENTS], sp;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", of->pid, entry->d_name);
		FILE *file = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
		if (file == NULL)
			continue;
		if (fscanf(file,
			   "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
			   " %" SCNx64 " %" SCNx64,
			   &number, &arguments[0], &arguments[1], &arguments[2], &arguments[3],
			   &arguments[4], &arguments[5], &sp) == 2 + GH_CALL_ARGUMENTS)
			add(calls, of, atoi(entry->d_name), sp, number, arguments);
		fclose(file);
	}
	if (tasks != NULL)
		closedir(tasks);
	gh_sleeps_read(calls, of->pid);
}

/* The thread's PC is at the instruction ENTERS, which enters the kernel, or behind it. */
static bool is_at_entry(const struct gh_memory *memory, uint64_t pc, uint32_t enters)
{
	uint32_t code[2];
	return memory->read(memory, pc - sizeof(*code), code, sizeof(code)) &&
	       (code[0] == enters || code[1] == enters);
}

static bool is_unfinished(int64_t result)
{
	for (size_t i = 0; i < sizeof(unfinished) / sizeof(unfinished[0]); i++)
		if (unfinished[i] == result)
			return true;
	return false;
}

void gh_system_calls_add(struct gh_system_calls *calls, const struct gh_calling *of,
			 const struct gh_arch *arch, int thread, const uint64_t *values)
{
	const struct gh_gregset *set = &arch->gregs;
	uint64_t arguments[GH_CALL_ARGUMENTS];
	if (set->futex == 0 || !gh_arch_is_own(arch))
		return;
	if (set->enters != 0 ? !is_at_entry(of->memory, values[set->pc], set->enters)
			     : !is_unfinished((int64_t)values[set->result]))
		return;
	for (unsigned i = 0; i < GH_CALL_ARGUMENTS; i++)
		arguments[i] = values[set->arguments[i]];
	add(calls, of, thread, values[set->sp], (int64_t)values[set->call], arguments);
}

void gh_system_calls_free(struct gh_system_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		free(calls->items[i].arguments);
	gh_vector_free(calls);
}
