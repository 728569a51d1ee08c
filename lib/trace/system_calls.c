#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "lib/trace/trace.h"

/* Those in which threads wait, or that take long, by the numbers of the machine that goheap runs
 * on. Not every machine has the older ones. */
static const struct {
	int64_t number;
	const char *name;
	bool has_descriptor; /* as its first argument */
} names[] = {
#define CALL(name)                                                                                 \
	{                                                                                          \
		SYS_##name, #name, false                                                           \
	}
#define CALL_ON_FD(name)                                                                           \
	{                                                                                          \
		SYS_##name, #name, true                                                            \
	}
    CALL_ON_FD(accept),
    CALL_ON_FD(accept4),
    CALL(clock_nanosleep),
    CALL(clone),
    CALL_ON_FD(close),
    CALL_ON_FD(connect),
    CALL_ON_FD(copy_file_range),
    CALL_ON_FD(epoll_pwait),
    CALL_ON_FD(fallocate),
    CALL_ON_FD(fcntl),
    CALL_ON_FD(fdatasync),
    CALL_ON_FD(flock),
    CALL_ON_FD(fsync),
    CALL_ON_FD(ftruncate),
    CALL(futex),
    CALL(getrandom),
    CALL(io_getevents),
    CALL_ON_FD(io_uring_enter),
    CALL_ON_FD(ioctl),
    CALL(madvise),
    CALL(mmap),
    CALL(mount),
    CALL(msgrcv),
    CALL(msgsnd),
    CALL(munmap),
    CALL(nanosleep),
    CALL(openat),
    CALL(ppoll),
    CALL_ON_FD(pread64),
    CALL_ON_FD(preadv),
    CALL(pselect6),
    CALL_ON_FD(pwrite64),
    CALL_ON_FD(pwritev),
    CALL_ON_FD(read),
    CALL_ON_FD(readv),
    CALL_ON_FD(recvfrom),
    CALL_ON_FD(recvmmsg),
    CALL_ON_FD(recvmsg),
    CALL(renameat2),
    CALL(rt_sigsuspend),
    CALL(rt_sigtimedwait),
    CALL(semop),
    CALL(semtimedop),
    CALL_ON_FD(sendfile),
    CALL_ON_FD(sendmmsg),
    CALL_ON_FD(sendmsg),
    CALL_ON_FD(sendto),
    CALL_ON_FD(splice),
    CALL(sync),
    CALL_ON_FD(syncfs),
    CALL(unlinkat),
    CALL(wait4),
    CALL(waitid),
    CALL_ON_FD(write),
    CALL_ON_FD(writev),
#ifdef SYS_open
    CALL_ON_FD(epoll_wait),
    CALL(open),
    CALL(pause),
    CALL(poll),
    CALL(select),
    CALL(vfork),
#endif
};

const char *gh_system_call_name(const struct gh_system_call *call, bool *has_descriptor)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number == call->number) {
			*has_descriptor = names[i].has_descriptor;
			return names[i].name;
		}
	}
	*has_descriptor = false;
	return NULL;
}

void gh_system_calls_read(struct gh_system_calls *calls, int pid)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		struct gh_system_call call;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", pid, entry->d_name);
		call.thread = atoi(entry->d_name);
		FILE *file = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
		if (file == NULL)
			continue;
		if (fscanf(file, "%" SCNd64 " %" SCNx64 " %*x %*x %*x %*x %*x %" SCNx64,
			   &call.number, &call.first, &call.sp) == 3)
			gh_vector_push(calls, call);
		fclose(file);
	}
	if (tasks != NULL)
		closedir(tasks);
}
