/* Fuzz target: what a program asks goheap.so of memory. The input is what it sends. */
#include <fcntl.h>
#include <gdb/jit-reader.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "plugin/gdb/gdb.h"
#include "tests/fuzz/target.h"

static char directory[] = "/tmp/goheap-fuzz-XXXXXX";
static bool prepared;

static const struct gh_serve_request seeds[][3] = {
    {{0x400000, 64}, {0x400001, 64}, {0x400040, GH_PROCESS_BLOCK}},
    {{0, 0}, {UINT64_MAX, 1}, {0, GH_PROCESS_BLOCK + 1}},
    {{UINT64_MAX - 1, GH_PROCESS_BLOCK}, {8, UINT64_MAX}, {0, 1}},
};

uint8_t *fuzz_seed(int number, size_t *size)
{
	if ((size_t)number >= sizeof(seeds) / sizeof(seeds[0]))
		return NULL;
	*size = sizeof(seeds[number]);
	uint8_t *seed = malloc(*size);
	if (seed != NULL)
		memcpy(seed, seeds[number], *size);
	return seed;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_directory(void)
{
	unlinkat(GH_SESSION_FD, GH_SESSION_MEMORY, 0);
	unlinkat(GH_SESSION_FD, GH_SESSION_WANTED, 0);
	rmdir(directory);
}

static void prepare(void)
{
	require(mkdtemp(directory) != NULL);
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(fd >= 0 && dup2(fd, GH_SESSION_FD) == GH_SESSION_FD);
	close(fd);
	atexit(remove_directory);
	gh_serve_open();
	prepared = true;
}

/* The target's memory: what is at an odd address cannot be read. */
static bool is_readable(uint64_t address)
{
	return address % 2 == 0;
}

static enum gdb_status read_target(GDB_CORE_ADDR address, void *to, int size)
{
	require(size >= 0 && size <= GH_PROCESS_BLOCK);
	memset(to, (int)address, (size_t)size);
	return is_readable(address) ? GDB_SUCCESS : GDB_FAIL;
}

/* How many bytes of answers the SIZE bytes of requests at DATA are to get. */
static size_t expect(const uint8_t *data, size_t size)
{
	struct gh_serve_request request;
	size_t expected = 1;
	for (; size >= sizeof(request); data += sizeof(request), size -= sizeof(request)) {
		memcpy(&request, data, sizeof(request));
		if (request.size > GH_PROCESS_BLOCK)
			break;
		expected += is_readable(request.address) ? 1 + request.size : 1;
	}
	return expected;
}

/* Counts what comes over the connection *ARGUMENT until it ends. */
static void *count_answers(void *argument)
{
	static uint8_t bytes[1 << 16];
	static size_t count;
	ssize_t got;
	count = 0;
	while ((got = read(*(int *)argument, bytes, sizeof(bytes))) > 0)
		count += (size_t)got;
	return &count;
}

static int connect_client(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, GH_SESSION_MEMORY);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(client >= 0 &&
		connect(client, (const struct sockaddr *)&address, sizeof(address)) == 0);
	return client;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gdb_unwind_callbacks callbacks = {.target_read = read_target};
	pthread_t reader = 0;
	void *count;
	if (!prepared)
		prepare();
	/* What the connection holds before anybody reads. */
	if (size > 4096)
		return 0;
	int wanted = openat(GH_SESSION_FD, GH_SESSION_WANTED, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	require(wanted >= 0);
	close(wanted);
	int client = connect_client();
	require(send(client, data, size, MSG_NOSIGNAL) == (ssize_t)size &&
		shutdown(client, SHUT_WR) == 0 &&
		pthread_create(&reader, NULL, count_answers, &client) == 0);
	gh_serve(&callbacks);
	require(pthread_join(reader, &count) == 0);
	close(client);
	require(*(size_t *)count == expect(data, size));
	return 0;
}
