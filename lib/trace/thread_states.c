#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/trace/trace.h"
#include "lib/util/number_file.h"

/* Reads the start of the file NAME of the thread whose directory in TASKS this is. */
static void read_start(char *text, size_t size, int tasks, const char *thread, const char *name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s/%s", tasks, thread, name);
	FILE *file = fopen(path, "re");
	size_t read = file != NULL ? fread(text, 1, size - 1, file) : 0;
	text[read] = '\0';
	if (file != NULL)
		fclose(file);
}

/* '?' if it is not known, or the thread has ended. */
static char state_of(int tasks, const char *thread)
{
	char stat[512];
	read_start(stat, sizeof(stat), tasks, thread, "stat");
	const char *after_name = strrchr(stat, ')');
	return after_name != NULL && after_name[1] == ' ' ? after_name[2] : '?';
}

static void add_thread(struct gh_thread_states *states, int tasks, const char *thread)
{
	char state = state_of(tasks, thread);
	states->count += state != '?';
	states->running += state == 'R';
	states->sleeping += state == 'S';
	states->stopped += state == 'T';
	states->traced += state == 't';
	if (state == 'D' && states->stuck++ == 0) {
		states->first_stuck = atoi(thread);
		read_start(states->where, sizeof(states->where), tasks, thread, "wchan");
	}
}

bool gh_thread_states_read(struct gh_thread_states *states, int pid)
{
	char path[64];
	*states = (struct gh_thread_states){0};
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	if (tasks == NULL)
		return false;
	const struct dirent *entry;
	while ((entry = readdir(tasks)) != NULL)
		if (entry->d_name[0] != '.')
			add_thread(states, dirfd(tasks), entry->d_name);
	closedir(tasks);
	return states->count > 0;
}

char gh_thread_state_read(char where[GH_KERNEL_FUNCTION], int pid, int thread)
{
	char path[64];
	char name[16];
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	snprintf(name, sizeof(name), "%d", thread);
	*where = '\0';
	int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tasks < 0)
		return '?';
	read_start(where, GH_KERNEL_FUNCTION, tasks, name, "wchan");
	if (strcmp(where, "0") == 0)
		*where = '\0';
	char state = state_of(tasks, name);
	close(tasks);
	return state;
}

bool gh_thread_is_stuck(int pid, int thread, uint64_t *switches)
{
	char where[GH_KERNEL_FUNCTION];
	char path[64];
	uint64_t given, taken;
	uint64_t before = *switches;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, thread);
	if (!gh_number_file_read(path, "voluntary_ctxt_switches:", &given) ||
	    !gh_number_file_read(path, "nonvoluntary_ctxt_switches:", &taken))
		return false;
	*switches = given + taken;
	return before == *switches && gh_thread_state_read(where, pid, thread) == 'D';
}

bool gh_descriptors_count(uint64_t *count, uint64_t *limit, int pid)
{
	char path[64];
	struct rlimit most;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *open = opendir(path);
	const struct dirent *entry;
	*count = 0;
	if (open == NULL)
		return false;
	while ((entry = readdir(open)) != NULL)
		*count += entry->d_name[0] != '.';
	closedir(open);
	if (prlimit(pid, RLIMIT_NOFILE, NULL, &most) != 0)
		return false;
	*limit = most.rlim_cur;
	return true;
}
