#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "plugin/view/emit.h"
#include "plugin/web/internal.h"

enum {
	MAX_CONNECTIONS = 256,
	PATIENCE = 2,             /* how long one without a request may be silent, in seconds */
	REQUEST_MEMORY = 1 << 14, /* bytes of a request's headers */
	LOOK_AFTER = 500,         /* how often the time that children take is looked at, in ms */
};

/* Splits PLACE into HOST and PORT, both of SIZE bytes. False if it is too long. */
static bool split_place(const char *place, char *host, char *port, size_t size)
{
	const char *colon = strrchr(place, ':');
	const char *bracket = strrchr(place, ']');
	if (colon == NULL || (bracket != NULL && colon < bracket))
		colon = place + strlen(place);
	size_t length = (size_t)(colon - place);
	if (length >= size || strlen(colon) >= size)
		return false;
	if (length > 1 && place[0] == '[' && place[length - 1] == ']') {
		place++;
		length -= 2;
	}
	snprintf(host, size, "%.*s", (int)length, length > 0 ? place : "");
	snprintf(port, size, "%s", *colon == ':' && colon[1] != '\0' ? colon + 1 : "0");
	return true;
}

static int listen_on(const struct addrinfo *address)
{
	const int one = 1;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	/* The port of a server that has just ended can be used again. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 &&
	    listen(fd, MAX_CONNECTIONS) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static void print_failure(const char *place, const char *why)
{
	gh_say("cannot listen on %s: %s", place, why);
}

static int open_listener(const char *place)
{
	char host[NI_MAXHOST], port[NI_MAXHOST];
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	if (!split_place(place, host, port, sizeof(host))) {
		print_failure(place, "expected HOST:PORT");
		return -1;
	}
	int error = getaddrinfo(*host != '\0' ? host : "127.0.0.1", port, &hints, &found);
	if (error != 0) {
		print_failure(place, gai_strerror(error));
		return -1;
	}
	int fd = listen_on(found);
	if (fd < 0)
		print_failure(place, strerror(errno));
	freeaddrinfo(found);
	return fd;
}

static struct MHD_Daemon *start(struct gh_web_server *server, int listener)
{
	return gh_mhd.start_daemon(
	    MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, gh_web_request_take, server,
	    MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED, gh_web_request_end,
	    server, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	    (size_t)REQUEST_MEMORY, MHD_OPTION_END);
}

struct gh_web_server *gh_web_listen(const char *place, const struct gh_web_answers *answers)
{
	if (!gh_microhttpd_load())
		return NULL;
	place = place != NULL ? place : "";
	struct gh_web_server *server = calloc(1, sizeof(*server));
	if (server == NULL) {
		gh_say(GH_OUT_OF_MEMORY);
		return NULL;
	}
	server->answers = answers;
	int listener = open_listener(place);
	if (listener >= 0) {
		if (!gh_web_guard_make(&server->guard, listener))
			print_failure(place, strerror(errno));
		else if ((server->daemon = start(server, listener)) == NULL)
			print_failure(place, "the server does not start");
	}
	if (server->daemon == NULL) {
		if (listener >= 0)
			close(listener);
		free(server);
		return NULL;
	}
	int length = snprintf(server->address, sizeof(server->address), "http://%s",
			      server->guard.authority);
	if (!answers->is_for_all)
		snprintf(server->address + length, sizeof(server->address) - (size_t)length, "/%s/",
			 server->guard.token);
	return server;
}

const char *gh_web_address(const struct gh_web_server *server)
{
	return server->address;
}

bool gh_web_is_local(const struct gh_web_server *server)
{
	return server->guard.is_local;
}

/* Waits for what the network or a child has, or until it is time to look after them. */
static void wait_for_any(struct gh_web_server *server, int network)
{
	/* A connection whose request waits for an answer is not watched by MHD: its other end may
	 * go. */
	struct pollfd fds[1 + 2 * MAX_CONNECTIONS] = {{.fd = network, .events = POLLIN}};
	struct pollfd *next = fds + 1;
	MHD_UNSIGNED_LONG_LONG timeout;
	int wait = server->requests != NULL ? LOOK_AFTER : -1;
	if (gh_mhd.get_timeout(server->daemon, &timeout) == MHD_YES &&
	    (wait < 0 || timeout < LOOK_AFTER))
		wait = timeout < INT_MAX ? (int)timeout : INT_MAX;
	for (struct gh_web_request *one = server->requests;
	     one != NULL && next + 2 <= fds + 1 + 2 * MAX_CONNECTIONS; one = one->next) {
		*next++ = (struct pollfd){.fd = gh_web_request_socket(one),
					  .events = one->has_said_all ? 0 : POLLRDHUP};
		*next++ = (struct pollfd){.fd = one->child_end, .events = POLLIN};
	}
	poll(fds, (nfds_t)(next - fds), wait);
}

static unsigned count_connections(const struct gh_web_server *server)
{
	return gh_mhd.get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
	    ->num_connections;
}

void gh_web_serve(struct gh_web_server *server)
{
	const union MHD_DaemonInfo *info =
	    gh_mhd.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	unsigned before = count_connections(server);
	while (gh_mhd.run(server->daemon) == MHD_YES) {
		unsigned now = count_connections(server);
		/* MHD has more to do for a request that can be answered now. And where there were
		 * as many connections as it takes, it looks for others in the next run only: what
		 * it has us wait for does not tell of them before. */
		if (!gh_web_requests_look_after(server) && now >= before)
			wait_for_any(server, info->epoll_fd);
		before = now;
	}
	gh_say("the server has ended");
}
