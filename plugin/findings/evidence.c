#include "plugin/findings/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/util/process_list.h"
#include "lib/util/run.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A folder's name: 20261128T234005Z-rss. */
#define TIME_FORMAT "%Y%m%dT%H%M%SZ"
#define TIME_LENGTH 16

/* A dump is written only where there is room for it and as much again. */
#define ROOM 2

/* The files that a folder has. */
#define ANSWER     "answer.txt"
#define GOROUTINES "goroutines.txt"
#define SUSPECTS   "suspects.txt"
#define HEAP       "heap.gz"
#define MESSAGES   "messages.txt"

/* Runs goheap itself with ARGUMENTS, a list that NULL ends, and has what it prints go to the file
 * OUTPUT, which is new. False if it could not be run, or failed. */
static bool run(const char *const *arguments, const char *output)
{
	int fd = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	const struct gh_run run = {
	    .path = "/proc/self/exe", .arguments = arguments, .output = fd, .takes_errors = true};
	bool done = gh_run(&run) == 0;
	close(fd);
	return done;
}

/* The path of NAME in the folder; false if it is too long. */
static bool path_in(char path[PATH_MAX], const struct gh_evidence *evidence, const char *name)
{
	int length = snprintf(path, PATH_MAX, "%s/%s", evidence->path, name);
	return length > 0 && length < PATH_MAX;
}

/* Has goheap answer COMMAND, NULL for the first answer, with OPTION, which may be NULL, about the
 * process into the file NAME. */
static bool ask(const struct gh_evidence *evidence, int pid, const char *command,
		const char *option, const char *name)
{
	char number[16];
	char path[PATH_MAX];
	const char *arguments[] = {"goheap", number, NULL, NULL, NULL};
	snprintf(number, sizeof(number), "%d", pid);
	if (command != NULL) {
		arguments[1] = command;
		arguments[2] = option != NULL ? option : number;
		arguments[3] = option != NULL ? number : NULL;
	}
	return path_in(path, evidence, name) && run(arguments, path);
}

/* Writes the heap dump, if there is room for it. */
static bool write_dump(struct gh_evidence *evidence, int pid, uint64_t resident)
{
	char number[16];
	char path[PATH_MAX];
	char messages[PATH_MAX];
	struct statvfs disk;
	const char *arguments[] = {"goheap", "dump", "--gzip", "-o", path, number, NULL};
	snprintf(number, sizeof(number), "%d", pid);
	if (statvfs(evidence->directory, &disk) != 0 ||
	    (uint64_t)disk.f_bavail * disk.f_frsize / ROOM < resident) {
		evidence->lacks = "too little is free on the disk";
		return true;
	}
	return path_in(path, evidence, HEAP) && path_in(messages, evidence, MESSAGES) &&
	       run(arguments, messages);
}

/* NAME is that of a folder with evidence. */
static bool is_evidence(const char *name)
{
	struct tm when;
	char text[TIME_LENGTH + 1] = "";
	if (strlen(name) <= TIME_LENGTH || name[TIME_LENGTH] != '-')
		return false;
	memcpy(text, name, TIME_LENGTH);
	const char *end = strptime(text, TIME_FORMAT, &when);
	return end != NULL && *end == '\0';
}

static int take_evidence(const struct dirent *entry)
{
	return is_evidence(entry->d_name);
}

/* Removes the folder NAME of DIRECTORY with the files that evidence has, and nothing else. */
static void remove_folder(const char *directory, const char *name)
{
	static const char *const files[] = {ANSWER, GOROUTINES, SUSPECTS, HEAP, MESSAGES};
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int length = snprintf(path, sizeof(path), "%s/%s/%s", directory, name, files[i]);
		if (length > 0 && length < (int)sizeof(path))
			unlink(path);
	}
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	rmdir(path);
}

/* Removes the oldest folders but as many as are kept. Their names are in the order of time. */
static void remove_oldest(const struct gh_evidence *evidence)
{
	struct dirent **entries;
	int count = scandir(evidence->directory, &entries, take_evidence, alphasort);
	for (int i = 0; i < count; i++) {
		if ((uint64_t)(count - i) > evidence->keep)
			remove_folder(evidence->directory, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

bool gh_evidence_keep(struct gh_evidence *evidence, int pid, const char *why)
{
	char when[TIME_LENGTH + 1];
	struct tm parts;
	struct gh_process_summary process = {0};
	time_t now = time(NULL);
	strftime(when, sizeof(when), TIME_FORMAT, gmtime_r(&now, &parts));
	int length = snprintf(evidence->path, sizeof(evidence->path), "%s/%s-%s",
			      evidence->directory, when, why);
	evidence->lacks = NULL;
	if (length <= 0 || length >= PATH_MAX || mkdir(evidence->path, 0700) != 0) {
		gh_print_errno(evidence->path);
		return false;
	}
	gh_process_summary_read(&process, pid);
	bool kept = ask(evidence, pid, NULL, NULL, ANSWER) &&
		    ask(evidence, pid, "goroutines", "--group", GOROUTINES) &&
		    ask(evidence, pid, "suspects", NULL, SUSPECTS) &&
		    (evidence->no_dump || write_dump(evidence, pid, process.resident));
	if (!kept)
		gh_say("%s: not all of the evidence could be kept", evidence->path);
	remove_oldest(evidence);
	return kept;
}
