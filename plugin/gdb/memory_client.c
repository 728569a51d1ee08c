#include "plugin/gdb/gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Waits for GDB to send something over FD. False if it does not come to that: where its command
 * fails, as it does when the target is gone, it leaves the connection as it is, but closes our
 * standard input. */
static bool wait_for_gdb(int fd)
{
	for (;;) {
		struct pollfd ready[] = {{.fd = fd, .events = POLLIN},
					 {.fd = STDIN_FILENO, .events = POLLIN}};
		if (poll(ready, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (ready[0].revents != 0)
			return true;
		char text[256];
		if (ready[1].revents != 0 && read(STDIN_FILENO, text, sizeof(text)) <= 0)
			return false;
	}
}

static bool is_served(int fd)
{
	char greeting;
	return wait_for_gdb(fd) && read(fd, &greeting, 1) == 1;
}

/* GDB serves one connection for each command. */
static bool keeps;
static int kept = -1;

void gh_memory_keep(void)
{
	keeps = true;
}

int gh_memory_connect(int directory)
{
	if (kept >= 0)
		return fcntl(kept, F_DUPFD_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	/* The directory's own name may be too long. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" GH_SESSION_MEMORY,
		 directory);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    is_served(fd)) {
		kept = keeps ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	/* GDB would wait for a program when it next unwinds a frame. */
	unlinkat(directory, GH_SESSION_WANTED, 0);
	return -1;
}

/* Signals may cut short what is received at once. */
static bool receive(int fd, void *buf, size_t size)
{
	char *bytes = buf;
	while (size > 0) {
		ssize_t part = recv(fd, bytes, size, 0);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		bytes += part;
		size -= (size_t)part;
	}
	return true;
}

bool gh_memory_fetch(int fd, uint64_t address, void *buf, size_t size)
{
	struct gh_serve_request request = {.address = address, .size = size};
	char done;
	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request) &&
	       wait_for_gdb(fd) && receive(fd, &done, 1) && done == 1 && receive(fd, buf, size);
}
