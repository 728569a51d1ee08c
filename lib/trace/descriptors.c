#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/trace/trace.h"
#include "lib/util/bsearch.h"

/* States of a socket in /proc/PID/net/tcp, as the kernel's include/net/tcp_states.h has them. */
#define CONNECTS 2  /* TCP_SYN_SENT */
#define CLOSED   8  /* TCP_CLOSE_WAIT: by the other side alone */
#define LISTENS  10 /* TCP_LISTEN */

/* An address in hexadecimal digits: words of 4 bytes, each in the byte order of the machine. */
#define MAX_DIGITS 32

/* Writes the address and port of DIGITS to TEXT, "[::1]:80", of SIZE bytes. */
static void print_address(char *text, size_t size, const char *digits, unsigned port)
{
	uint32_t words[MAX_DIGITS / 8] = {0};
	char address[INET6_ADDRSTRLEN] = "?";
	size_t count = strlen(digits) / 8;
	for (size_t i = 0; i < count && i < MAX_DIGITS / 8; i++)
		sscanf(digits + 8 * i, "%8" SCNx32, &words[i]);
	/* A socket for both has an address of version 4 in one of version 6. */
	bool mapped = count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
	bool is_6 = count == 4 && !mapped;
	inet_ntop(is_6 ? AF_INET6 : AF_INET, mapped ? &words[3] : words, address, sizeof(address));
	snprintf(text, size, is_6 ? "[%s]:%u" : "%s:%u", address, port);
}

/* Reads a line of /proc/PID/net/tcp or one of its like. False if it is none. */
static bool read_internet(struct gh_socket *socket, const char *line, const char *protocol)
{
	char local[MAX_DIGITS + 1], remote[MAX_DIGITS + 1], from[64], to[64];
	unsigned local_port, remote_port, state;
	if (sscanf(line,
		   " %*u: %32[0-9A-F]:%x %32[0-9A-F]:%x %x %*x:%*x %*x:%*x %*x %*u %*u %" SCNu64,
		   local, &local_port, remote, &remote_port, &state, &socket->inode) != 6)
		return false;
	print_address(from, sizeof(from), local, local_port);
	print_address(to, sizeof(to), remote, remote_port);
	socket->port = local_port;
	socket->listens = state == LISTENS;
	if (remote_port != 0)
		snprintf(socket->text, sizeof(socket->text), "%.3s %s to %s%s", protocol, from, to,
			 state == CONNECTS ? ", connecting"
			 : state == CLOSED ? ", which closed it"
					   : "");
	else
		snprintf(socket->text, sizeof(socket->text), "%.3s %s%s", protocol, from,
			 state == LISTENS ? ", listening" : "");
	return true;
}

/* The same of /proc/PID/net/unix. */
static bool read_unix(struct gh_socket *socket, const char *line, const char *protocol)
{
	char path[sizeof(socket->text) - 8] = "";
	if (sscanf(line, "%*[0-9a-f]: %*x %*x %*x %*x %*x %" SCNu64 " %111[^\n]", &socket->inode,
		   path) < 1)
		return false;
	snprintf(socket->text, sizeof(socket->text), "%s%s%s", protocol, *path != '\0' ? " " : "",
		 path);
	return true;
}

static void read_table(struct gh_sockets *sockets, int pid, const char *protocol)
{
	char path[64];
	char line[512];
	bool is_unix = strcmp(protocol, "unix") == 0;
	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, protocol);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		struct gh_socket socket = {0};
		if (is_unix ? read_unix(&socket, line, protocol)
			    : read_internet(&socket, line, protocol))
			gh_vector_push(sockets, socket);
	}
	if (file != NULL)
		fclose(file);
}

static int compare(const void *a, const void *b)
{
	const struct gh_socket *x = a, *y = b;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* Notes which of SOCKETS are the server's ends of connections. */
static void find_accepted(struct gh_sockets *sockets)
{
	bool listens[UINT16_MAX + 1] = {0};
	for (size_t i = 0; i < sockets->count; i++)
		if (sockets->items[i].listens)
			listens[sockets->items[i].port & UINT16_MAX] = true;
	for (size_t i = 0; i < sockets->count; i++) {
		struct gh_socket *socket = &sockets->items[i];
		socket->accepted = !socket->listens && listens[socket->port & UINT16_MAX];
	}
}

void gh_sockets_read(struct gh_sockets *sockets, int pid)
{
	static const char *const protocols[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		read_table(sockets, pid, protocols[i]);
	if (sockets->count > 0)
		qsort(sockets->items, sockets->count, sizeof(*sockets->items), compare);
	find_accepted(sockets);
}

/* Writes what SOCKET is to TEXT; with END without what differs between connections to one server.
 */
static void write_socket(char *text, size_t size, const struct gh_socket *socket, bool end)
{
	const char *to = end && socket->port != 0 ? strstr(socket->text, " to ") : NULL;
	int protocol = (int)strcspn(socket->text, " ");
	const char *own = socket->text + protocol + 1;
	if (to == NULL)
		snprintf(text, size, "%s", socket->text);
	else if (socket->accepted)
		snprintf(text, size, "%.*s at %.*s", protocol, socket->text, (int)(to - own), own);
	else
		snprintf(text, size, "%.*s%s", protocol, socket->text, to);
}

bool gh_descriptor_read(char *text, size_t size, const struct gh_sockets *sockets, int pid,
			int64_t descriptor, bool end)
{
	char path[64];
	uint64_t inode;
	snprintf(path, sizeof(path), "/proc/%d/fd/%" PRId64, pid, descriptor);
	ssize_t length = readlink(path, text, size - 1);
	if (length < 0)
		return false;
	text[length] = '\0';
	if (sscanf(text, "socket:[%" SCNu64 "]", &inode) != 1)
		return true;
	size_t i = gh_lower_bound(sockets->count, k, sockets->items[k].inode < inode);
	if (i < sockets->count && sockets->items[i].inode == inode)
		write_socket(text, size, &sockets->items[i], end);
	return true;
}
