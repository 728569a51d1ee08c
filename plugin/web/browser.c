#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/web/web.h"

/* The opener ends at once or stays as long as the browser: nobody waits for it. */
static void open_here(const char *address)
{
	if (fork() != 0)
		_exit(0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	setsid();
	execlp("xdg-open", "xdg-open", address, (char *)NULL);
	_exit(127);
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
