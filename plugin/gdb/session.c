#include "plugin/gdb/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/error.h"

static const char prefix[] = "goheap-session.";

enum {
	PREFIX_LENGTH = sizeof(prefix) - 1,
	SUFFIX_LENGTH = 6, /* what mkdtemp puts in place of XXXXXX */
};

/* Times to try again when a sweep of another GDB takes the new directory for a leftover. */
#define MAX_ATTEMPTS 8

static int open_directory(int parent, const char *path)
{
	return openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes the files in the directory FD, which holds no directories. */
static void remove_files(int fd)
{
	int copy = open_directory(fd, ".");
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	if (directory == NULL) {
		if (copy >= 0)
			close(copy);
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(directory)) != NULL)
		unlinkat(fd, entry->d_name, 0);
	closedir(directory);
}

/* Every session's directory is locked for as long as its GDB lives, so one whose lock can be had is
 * a leftover. Process ids would lie where containers share a directory. */
static void remove_leftover(int base, const char *name)
{
	int fd = open_directory(base, name);
	if (fd < 0)
		return;
	struct stat st;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		remove_files(fd);
		unlinkat(base, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void remove_leftovers(const char *base)
{
	static const char mark[] = GH_READ_MARK;
	DIR *directory = opendir(base);
	if (directory == NULL)
		return;
	const struct dirent *entry;
	while ((entry = readdir(directory)) != NULL) {
		int pid = strncmp(entry->d_name, mark, sizeof(mark) - 1) == 0
			      ? atoi(entry->d_name + sizeof(mark) - 1)
			      : 0;
		/* Of a GDB that did not come to load goheap.so. */
		if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
			unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
		if (strncmp(entry->d_name, prefix, PREFIX_LENGTH) == 0 &&
		    strlen(entry->d_name) == PREFIX_LENGTH + SUFFIX_LENGTH)
			remove_leftover(dirfd(directory), entry->d_name);
	}
	closedir(directory);
}

/* Makes a directory below BASE. Returns its path, to be freed, and in *FD the directory open and
 * locked; NULL if that cannot be done there. */
static char *make_locked(const char *base, int *fd)
{
	char *path = NULL;
	if (asprintf(&path, "%s/%sXXXXXX", base, prefix) < 0)
		return NULL;
	if (mkdtemp(path) == NULL) {
		free(path);
		return NULL;
	}
	*fd = open_directory(AT_FDCWD, path);
	struct stat st;
	if (*fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0 && fstat(*fd, &st) == 0 &&
	    st.st_nlink > 0)
		return path;
	if (*fd >= 0)
		close(*fd);
	rmdir(path);
	free(path);
	return NULL;
}

/* Every command of every GDB takes the name as it is: some know quotes and some do not. */
static bool is_plain(const char *path)
{
	return path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789/._-+")] == '\0';
}

/* The same below the first directory that will do. */
static char *make_anywhere(int *fd)
{
	const char *bases[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
	char *path = NULL;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]) && path == NULL; i++) {
		if (bases[i] == NULL || bases[i][0] != '/' || !is_plain(bases[i]))
			continue;
		remove_leftovers(bases[i]);
		for (int n = 0; n < MAX_ATTEMPTS && path == NULL; n++)
			path = make_locked(bases[i], fd);
	}
	return path;
}

/* Moves FD to GH_SESSION_FD, or closes it. */
static bool move_to_place(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, GH_SESSION_FD);
	close(fd);
	if (moved >= 0 && moved != GH_SESSION_FD)
		close(moved);
	return moved == GH_SESSION_FD;
}

/* GDB is to run commands and end: -batch, or more of that word. */
static bool is_batch(void)
{
	char words[4096];
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t size = file != NULL ? fread(words, 1, sizeof(words) - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	words[size] = '\0';
	for (const char *word = words; word < words + size; word += strlen(word) + 1) {
		word += *word == '-';
		if (strncmp(word, "-batch", 6) == 0)
			return true;
	}
	return false;
}

/* Notes in the session's directory that a person uses GDB. */
static void note_terminal(void)
{
	int fd = -1;
	if (isatty(STDIN_FILENO) && !is_batch())
		fd = openat(GH_SESSION_FD, GH_SESSION_TERMINAL, O_WRONLY | O_CREAT | O_CLOEXEC,
			    0600);
	if (fd >= 0)
		close(fd);
}

/* An outer GDB's session may be in the environment. */
static void clear_environment(void)
{
	unsetenv(GH_SESSION_VARIABLE);
	unsetenv(GH_PROGRAM_VARIABLE);
}

const char *gh_session_open(struct gh_session *session, const char *program)
{
	clear_environment();
	int fd = -1;
	char *path = make_anywhere(&fd);
	if (path == NULL)
		return "cannot make a temporary directory";
	session->path = path;
	session->pid = getpid();
	session->in_place = move_to_place(fd);

	const char *problem = NULL;
	if (!session->in_place)
		problem = "descriptor 1000 is in use or above the limit (ulimit -n)";
	else if (setenv(GH_SESSION_VARIABLE, path, 1) != 0 ||
		 setenv(GH_PROGRAM_VARIABLE, program, 1) != 0)
		problem = GH_OUT_OF_MEMORY;
	if (problem != NULL)
		gh_session_close(session);
	else
		note_terminal();
	return problem;
}

void gh_session_close(struct gh_session *session)
{
	if (session->path == NULL || session->pid != getpid())
		return;
	int fd = open_directory(AT_FDCWD, session->path);
	if (fd >= 0) {
		remove_files(fd);
		close(fd);
	}
	rmdir(session->path);
	if (session->in_place)
		close(GH_SESSION_FD);
	clear_environment();
	free(session->path);
	session->path = NULL;
}
