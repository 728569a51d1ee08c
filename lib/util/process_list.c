#include "lib/util/process_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/number_file.h"

/* The field of /proc/PID/stat with the time at which a process started, in clock ticks since the
 * machine did, counted from the state, which is field 3. Source: proc_pid_stat(5). */
enum { STARTTIME = 22 };

/* Digits of a container's id, as Docker, containerd, CRI-O and Podman name control groups. */
enum { CONTAINER_ID = 64 };

void gh_proc_read(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t length = file != NULL ? fread(text, 1, size - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	text[length] = '\0';
}

const char *gh_proc_stat_field(const char *stat, unsigned number)
{
	/* A name may have any letters, brackets and spaces among them. */
	const char *at = strrchr(stat, ')');
	for (unsigned field = 2; at != NULL && field < number; field++) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	return at;
}

/* Reads the start of the process PID, in clock ticks; 0 if it has ended. */
static uint64_t read_start_ticks(int pid)
{
	char path[64];
	char stat[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	gh_proc_read(stat, sizeof(stat), path);
	const char *start = gh_proc_stat_field(stat, STARTTIME);
	return start != NULL ? strtoull(start, NULL, 10) : 0;
}

/* Fills SUMMARY. The machine was BOOTED so many seconds after the epoch, or 0 if that is not known.
 * False if there is no process PID. */
static bool describe(struct gh_process_summary *summary, int pid, uint64_t booted)
{
	char path[64];
	struct stat st;
	*summary = (struct gh_process_summary){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) != 0)
		return false;
	summary->user = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	ssize_t length = readlink(path, summary->program, sizeof(summary->program) - 1);
	summary->readable = length >= 0 || (errno != EACCES && errno != EPERM);
	uint64_t ticks = read_start_ticks(pid);
	long per_second = sysconf(_SC_CLK_TCK);
	if (ticks > 0 && per_second > 0 && booted > 0)
		summary->started = booted + ticks / (uint64_t)per_second;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (gh_number_file_read(path, "VmRSS:", &summary->resident))
		summary->resident *= 1024;
	return true;
}

/* Reads when the machine was booted, in seconds since the epoch; 0 if that is not known. */
static uint64_t read_boot_time(void)
{
	uint64_t booted;
	/* The kernel takes long to make this file on machines with many processors. */
	return gh_number_file_read("/proc/stat", "btime ", &booted) ? booted : 0;
}

bool gh_process_summary_read(struct gh_process_summary *summary, int pid)
{
	return describe(summary, pid, read_boot_time());
}

void gh_process_container_read(char text[GH_CONTAINER_TEXT], int pid)
{
	static const char digits[] = "0123456789abcdef";
	char path[64];
	char *line = NULL;
	size_t size = 0;
	*text = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	FILE *file = fopen(path, "re");
	while (file != NULL && *text == '\0' && getline(&line, &size, file) >= 0) {
		for (const char *at = line; *at != '\0' && *text == '\0'; at++) {
			size_t length = strspn(at, digits);
			if (length == CONTAINER_ID)
				snprintf(text, GH_CONTAINER_TEXT, "%s", at);
			at += length > 0 ? length - 1 : 0;
		}
	}
	free(line);
	if (file != NULL)
		fclose(file);
}

bool gh_process_list(gh_process_take *take, void *context)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	struct gh_process_summary summary;
	uint64_t booted = read_boot_time();
	while (processes != NULL && (entry = readdir(processes)) != NULL) {
		long pid = strtol(entry->d_name, NULL, 10);
		if (pid > 0 && pid <= INT_MAX && describe(&summary, (int)pid, booted))
			take(context, &summary);
	}
	if (processes != NULL)
		closedir(processes);
	return processes != NULL;
}
