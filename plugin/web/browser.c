#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/trace/trace.h"
#include "plugin/web/web.h"

/* The time that a browser has to start, in seconds. */
#define PATIENCE 20

/* Writes a page that leads to ADDRESS, for the user alone: what a program is called with is to be
 * seen by all users. It is where a browser that may not read all files may read it. False if it
 * cannot be written. */
static bool write_page(const char *address, char *path, size_t size)
{
	static const char end[] = ".html";
	const char *home = getenv("HOME");
	int length = snprintf(path, size, "%s/goheap-XXXXXX%s", home != NULL ? home : "", end);
	int fd = (size_t)length < size ? mkostemps(path, sizeof(end) - 1, O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	bool written = dprintf(fd,
			       "<!DOCTYPE html>\n<title>goheap</title>\n"
			       "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
			       address) > 0;
	close(fd);
	if (!written)
		unlink(path);
	return written;
}

/* The opener ends at once or stays as long as the browser: nobody waits for it, only the page does.
 */
static void open_here(const char *address)
{
	char path[4096];
	if (fork() != 0)
		_exit(0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	setsid();
	gh_be_first_to_go(false);
	if (!write_page(address, path, sizeof(path)))
		_exit(1);
	if (fork() == 0) {
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(127);
	}
	sleep(PATIENCE);
	unlink(path);
	_exit(0);
}

void gh_web_open_browser(const char *address)
{
	int status;
	if (!isatty(STDOUT_FILENO) ||
	    (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL))
		return;
	pid_t child = fork();
	if (child == 0)
		open_here(address);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
}
