#include "plugin/gdb/gdb.h"

#include <gdb/jit-reader.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/process/process.h"

/* How long the program may take to start, in ms. */
#define PATIENCE 10000

static int listener = -1;
static int client = -1; /* stays behind when GDB is interrupted while it reads memory */

void gh_serve_open(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" GH_SESSION_MEMORY,
		 GH_SESSION_FD);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener >= 0 &&
	    bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(listener, 1) == 0)
		return;
	if (listener >= 0)
		close(listener);
	listener = -1;
}

static bool send_all(const void *data, size_t size)
{
	const char *bytes = data;
	while (size > 0) {
		ssize_t sent = send(client, bytes, size, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* False when the program is done. */
static bool answer(struct gdb_unwind_callbacks *callbacks)
{
	static unsigned char bytes[1 + GH_PROCESS_BLOCK];
	struct gh_serve_request request;
	if (recv(client, &request, sizeof(request), MSG_WAITALL) != sizeof(request) ||
	    request.size > GH_PROCESS_BLOCK)
		return false;
	bytes[0] =
	    callbacks->target_read(request.address, bytes + 1, (int)request.size) == GDB_SUCCESS;
	return send_all(bytes, bytes[0] ? 1 + request.size : 1);
}

/* The next connection; -1 if none comes. */
static int wait_for_client(void)
{
	struct pollfd ready = {.fd = listener, .events = POLLIN};
	if (poll(&ready, 1, PATIENCE) <= 0)
		return -1;
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

void gh_serve(struct gdb_unwind_callbacks *callbacks)
{
	if (listener < 0 || unlinkat(GH_SESSION_FD, GH_SESSION_WANTED, 0) != 0)
		return;
	if (client >= 0)
		close(client);
	client = wait_for_client();
	if (client < 0)
		return;
	if (send_all("", 1))
		while (answer(callbacks))
			;
	close(client);
	client = -1;
}
