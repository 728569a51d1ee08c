#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "lib/trace/internal.h"

/* Bytes of the text; more are cut off. */
#define MAX_TEXT 8192

/* Descriptors of poll that are told. */
#define MAX_POLLED 4

#define PAGE 4096

/* The kernel's F_OFD_SETLKW, which C's headers hide. */
#define OFD_SETLKW 38

struct writer {
	const struct gh_calling *of;
	const uint64_t *arguments;
	char text[MAX_TEXT];
	size_t size; /* of that, without the 0 at its end */
	bool begun;  /* the next argument has a comma before it */
};

static void put(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...)
{
	va_list args;
	size_t left = sizeof(writer->text) - writer->size;
	va_start(args, format);
	int size = vsnprintf(writer->text + writer->size, left, format, args);
	va_end(args);
	if (size > 0)
		writer->size += (size_t)size < left ? (size_t)size : left - 1;
}

/* Separates the next argument from those before. */
static void begin(struct writer *writer)
{
	if (writer->begun)
		put(writer, ", ");
	writer->begun = true;
}

static bool read_memory(const struct writer *writer, uint64_t address, void *to, size_t size)
{
	const struct gh_memory *memory = writer->of->memory;
	return memory != NULL && address != 0 && memory->read(memory, address, to, size);
}

/* Reads the text at ADDRESS, which a 0 ends, into TEXT of SIZE bytes. False if it cannot be read,
 * or is longer. */
static bool read_text(const struct writer *writer, uint64_t address, char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t part = PAGE - (address + at) % PAGE;
		if (part > size - at)
			part = size - at;
		if (!read_memory(writer, address + at, text + at, part))
			return false;
		if (memchr(text + at, '\0', part) != NULL)
			return *text != '\0';
		at += part;
	}
	return false;
}

static void put_descriptor(struct writer *writer, int descriptor)
{
	static const struct gh_sockets none;
	const struct gh_calling *of = writer->of;
	char text[4096];
	put(writer, "%d", descriptor);
	if (of->pid != 0 &&
	    gh_descriptor_read(text, sizeof(text), of->sockets != NULL ? of->sockets : &none,
			       of->pid, descriptor, false))
		put(writer, ", %s", text);
}

static void put_path(struct writer *writer, uint64_t address)
{
	char text[4096];
	if (!read_text(writer, address, text, sizeof(text)))
		return;
	begin(writer);
	put(writer, "%s", text);
}

/* Puts the socket's address of SIZE bytes at ADDRESS, unless what the descriptor is of has it. */
static void put_address(struct writer *writer, uint64_t address, uint64_t size)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un local;
	} to = {0};
	char host[INET6_ADDRSTRLEN], text[sizeof(to.local.sun_path) + 8] = "";
	if (size < sizeof(to.any.sa_family) || size > sizeof(to) ||
	    !read_memory(writer, address, &to, size))
		return;
	if (to.any.sa_family == AF_INET &&
	    inet_ntop(AF_INET, &to.in.sin_addr, host, sizeof(host)) != NULL)
		snprintf(text, sizeof(text), "%s:%u", host, ntohs(to.in.sin_port));
	else if (to.any.sa_family == AF_INET6 &&
		 inet_ntop(AF_INET6, &to.in6.sin6_addr, host, sizeof(host)) != NULL)
		snprintf(text, sizeof(text), "[%s]:%u", host, ntohs(to.in6.sin6_port));
	else if (to.any.sa_family == AF_UNIX)
		snprintf(text, sizeof(text), "%.*s", (int)sizeof(to.local.sun_path),
			 to.local.sun_path);
	if (*text == '\0' || strstr(writer->text, text) != NULL)
		return;
	begin(writer);
	put(writer, "%s", text);
}

static void put_flock(struct writer *writer, uint64_t operation)
{
	begin(writer);
	put(writer, "%s",
	    (operation & LOCK_EX) != 0   ? "LOCK_EX"
	    : (operation & LOCK_SH) != 0 ? "LOCK_SH"
					 : "LOCK_UN");
}

/* Puts the lock of a file that fcntl waits for; COMMAND is its second argument. */
static void put_lock(struct writer *writer, uint64_t command, uint64_t address)
{
	/* struct flock of machines of 64 bits: include/uapi/asm-generic/fcntl.h of the kernel. */
	struct {
		int16_t type, whence;
		int64_t start, length;
	} lock;
	bool is_own = command == OFD_SETLKW;
	if ((command != F_SETLKW && !is_own) || sizeof(void *) != sizeof(int64_t) ||
	    !read_memory(writer, address, &lock, sizeof(lock)))
		return;
	begin(writer);
	put(writer, "%s, %s", is_own ? "F_OFD_SETLKW" : "F_SETLKW",
	    lock.type == F_WRLCK   ? "F_WRLCK"
	    : lock.type == F_RDLCK ? "F_RDLCK"
				   : "F_UNLCK");
	if (lock.whence != SEEK_SET || (lock.start == 0 && lock.length == 0))
		return;
	put(writer, ", from %" PRId64, lock.start);
	if (lock.length != 0)
		put(writer, ", %" PRId64 " bytes", lock.length);
}

static void put_polled(struct writer *writer, uint64_t address, uint64_t count)
{
	struct pollfd polled[MAX_POLLED];
	size_t shown = count < MAX_POLLED ? (size_t)count : MAX_POLLED;
	if (shown == 0 || !read_memory(writer, address, polled, shown * sizeof(*polled)))
		return;
	begin(writer);
	for (size_t i = 0; i < shown; i++) {
		put(writer, "%s", i > 0 ? "; " : "");
		put_descriptor(writer, polled[i].fd);
	}
	if (count > shown)
		put(writer, "; %" PRIu64 " more", count - shown);
}

static void put_seconds(struct writer *writer, double seconds, const char *more)
{
	begin(writer);
	put(writer, seconds < 0.01 ? "%.6f s%s" : "%.2f s%s", seconds, more);
}

/* Puts the struct timespec at ADDRESS: for how long, or until when on CLOCK. */
static void put_time(struct writer *writer, uint64_t address, bool is_absolute, clockid_t clock)
{
	int64_t time[2];
	struct timespec now;
	if (sizeof(void *) != sizeof(int64_t) || !read_memory(writer, address, time, sizeof(time)))
		return;
	double seconds = (double)time[0] + (double)time[1] / 1e9;
	if (!is_absolute) {
		put_seconds(writer, seconds, "");
		return;
	}
	if (writer->of->pid == 0 || clock_gettime(clock, &now) != 0)
		return;
	seconds -= (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (seconds > 0)
		put_seconds(writer, seconds, " more");
}

/* Puts when futex gives up; ADDRESS is of that. */
static void put_futex_time(struct writer *writer, uint64_t operation, uint64_t address)
{
	unsigned command = (unsigned)operation & (unsigned)FUTEX_CMD_MASK;
	clockid_t clock =
	    (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)
		put_time(writer, address, command == FUTEX_WAIT_BITSET, clock);
}

/* Puts argument number I, of the form LETTER. */
static void put_argument(struct writer *writer, char letter, unsigned i)
{
	const uint64_t *arguments = writer->arguments;
	uint64_t value = arguments[i];
	switch (letter) {
	case 'd':
		begin(writer);
		put_descriptor(writer, (int)value);
		break;
	case 'a':
		begin(writer);
		put(writer, "0x%" PRIx64, value);
		break;
	case 'i':
		begin(writer);
		put(writer, "%d", (int)value);
		break;
	case 'n':
		put_path(writer, value);
		break;
	case 's':
		put_address(writer, value, arguments[i + 1]);
		break;
	case 'k':
		put_flock(writer, value);
		break;
	case 'l':
		put_lock(writer, value, arguments[i + 1]);
		break;
	case 'p':
		put_polled(writer, value, arguments[i + 1]);
		break;
	case 'm':
		if ((int)value >= 0)
			put_seconds(writer, (int)value / 1e3, "");
		break;
	case 't':
		put_time(writer, value, false, CLOCK_MONOTONIC);
		break;
	case 'T':
		put_time(writer, value, (arguments[i - 1] & TIMER_ABSTIME) != 0,
			 (clockid_t)arguments[i - 2]);
		break;
	case 'u':
		put_futex_time(writer, arguments[i - 2], value);
		break;
	default:
		break;
	}
}

char *gh_call_arguments_write(const struct gh_calling *of, const char *form,
			      const uint64_t arguments[GH_CALL_ARGUMENTS])
{
	struct writer writer = {.of = of, .arguments = arguments};
	for (unsigned i = 0; form[i] != '\0'; i++)
		put_argument(&writer, form[i], i);
	return writer.size > 0 ? strdup(writer.text) : NULL;
}
