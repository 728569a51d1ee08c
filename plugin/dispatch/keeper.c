#include "plugin/dispatch/dispatch.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/gdb/gdb.h"

enum {
	DESCRIPTORS = 4, /* standard input, output and error, and the working directory */
	MAX_WORDS = 256,
	MAX_SIZE = 1 << 16,    /* of a question, in bytes */
	PATIENCE = 30 * 60000, /* how long nothing may be asked, in ms */
};

/* A question: words, each with a NUL after it, which are those of the source, "" for what it does
 * not have, and those of the command. */
struct question {
	char text[MAX_SIZE];
	size_t size;
	int fds[DESCRIPTORS];
};

static const char *word_of(const char *text)
{
	return text != NULL ? text : "";
}

static bool add_word(struct question *question, const char *word)
{
	size_t size = strlen(word) + 1;
	if (size > MAX_SIZE - question->size)
		return false;
	memcpy(question->text + question->size, word, size);
	question->size += size;
	return true;
}

static bool add_source(struct question *question, const struct gh_kept_source *source)
{
	return add_word(question, source->file) && add_word(question, word_of(source->program)) &&
	       add_word(question, word_of(source->names));
}

/* Sends QUESTION with its descriptors, or fills it with those that come. */
static bool exchange(int fd, struct question *question, bool sends)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(question->fds))];
	} control = {0};
	struct iovec part = {question->text, sends ? question->size : MAX_SIZE};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = &control.header;
	if (sends) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(question->fds));
		memcpy(CMSG_DATA(header), question->fds, sizeof(question->fds));
		return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)question->size;
	}
	ssize_t size = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (size <= 0 || question->text[size - 1] != '\0' ||
	    header->cmsg_len != CMSG_LEN(sizeof(question->fds)))
		return false;
	question->size = (size_t)size;
	memcpy(question->fds, CMSG_DATA(header), sizeof(question->fds));
	return true;
}

/* A socket at NAME in DIRECTORY, whose own name may be too long. */
static int open_socket(int directory, bool listens)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct sockaddr *name = (const struct sockaddr *)&address;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" GH_SESSION_KEEPER,
		 directory);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (listens)
		unlinkat(directory, GH_SESSION_KEEPER, 0);
	if (listens ? bind(fd, name, sizeof(address)) == 0 && listen(fd, 1) == 0
		    : connect(fd, name, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The process that keeps the heap. */

static pid_t asking; /* the group of the process that asks */

/* Whatever works for GDB's user ends when GDB is interrupted, but not what keeps. */
static void work(bool begins)
{
	setpgid(0, begins ? asking : 0);
}

/* The session's directory is locked for as long as GDB lives. */
static void *end_with_gdb(void *directory)
{
	while (flock(*(const int *)directory, LOCK_SH) != 0)
		;
	_exit(GH_EXIT_OK);
}

static bool watch_gdb(int *directory)
{
	pthread_t thread;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool watches = pthread_create(&thread, NULL, end_with_gdb, directory) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return watches;
}

bool gh_keeper_end_with_gdb(const char *directory)
{
	static int fd;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && watch_gdb(&fd);
}

static void use(const int fds[3])
{
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
}

/* Answers the QUESTION that CLIENT has sent. False if it is about something else. */
static bool answer(int client, struct question *question, const struct gh_kept_source *source)
{
	static struct question expected;
	char *argv[MAX_WORDS + 1];
	int argc = 0;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	expected.size = 0;
	if (!add_source(&expected, source) || question->size <= expected.size ||
	    memcmp(question->text, expected.text, expected.size) != 0)
		return false;
	char *end = question->text + question->size;
	for (char *word = question->text + expected.size; word < end; word += strlen(word) + 1) {
		if (argc == MAX_WORDS)
			return false;
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	const struct gh_command *command = gh_command_find(argv[0]);
	if (command == NULL || getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
	    fchdir(question->fds[3]) != 0 || send(client, "", 1, MSG_NOSIGNAL) != 1)
		return false;
	use(question->fds);
	asking = getpgid(peer.pid);
	int status = gh_kept_run(command, argc, argv, work);
	send(client, &status, sizeof(status), MSG_NOSIGNAL);
	return true;
}

/* Waits until a client connects to LISTENER, and has questions be answered ahead meanwhile. False
 * if none does for long. */
static bool wait_for_client(int listener)
{
	for (;;) {
		pid_t ahead = gh_kept_begin_ahead();
		int end = ahead > 0 ? (int)syscall(SYS_pidfd_open, ahead, 0) : -1;
		/* Without a descriptor, a client waits until that is answered. */
		struct pollfd next[2] = {{.fd = listener, .events = POLLIN},
					 {.fd = end, .events = POLLIN}};
		bool waits = ahead <= 0 || end >= 0;
		bool answers = waits && poll(next, 2, PATIENCE) > 0;
		if (ahead > 0)
			gh_kept_end_ahead(ahead, next[0].revents != 0);
		if (end >= 0)
			close(end);
		if (next[0].revents != 0 || (waits && !answers))
			return answers;
	}
}

static void keep(int listener, int *directory, const struct gh_kept_source *source)
{
	static struct question question;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool goes_on = null >= 0 && watch_gdb(directory);
	gh_kept_begin(source);
	while (goes_on) {
		setpgid(0, 0);
		use((const int[]){null, null, null});
		int client =
		    wait_for_client(listener) ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
		goes_on = client >= 0 && exchange(client, &question, false);
		if (goes_on) {
			goes_on = answer(client, &question, source);
			for (size_t i = 0; i < DESCRIPTORS; i++)
				close(question.fds[i]);
		}
		if (client >= 0)
			close(client);
	}
	_exit(GH_EXIT_OK);
}

/* Starts it. Whoever connects from now on waits for it. */
static bool start(int *directory, const struct gh_kept_source *source)
{
	int listener = open_socket(*directory, true);
	if (listener < 0)
		return false;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		keep(listener, directory, source);
	close(listener);
	return child > 0;
}

/* The process that asks. */

/* False if nobody answers that it is asked. */
static bool ask(int directory, struct question *question, int *status)
{
	char taken;
	int fd = open_socket(directory, false);
	bool is_taken = fd >= 0 && exchange(fd, question, true) && recv(fd, &taken, 1, 0) == 1;
	if (is_taken && recv(fd, status, sizeof(*status), 0) != sizeof(*status)) {
		gh_say("the process that keeps the heap has ended");
		*status = GH_EXIT_INPUT;
	}
	if (fd >= 0)
		close(fd);
	return is_taken;
}

int gh_keeper_run(const char *directory, const struct gh_kept_source *source,
		  const struct gh_command *command, int argc, char **argv)
{
	static struct question question;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool can_ask = fd >= 0 && here >= 0 && add_source(&question, source) &&
		       add_word(&question, command->name);
	for (int i = 1; i < argc && can_ask; i++)
		can_ask = add_word(&question, argv[i]);
	memcpy(question.fds, (const int[]){0, 1, 2, here}, sizeof(question.fds));
	fflush(NULL);
	int status;
	bool answered = can_ask && (ask(fd, &question, &status) ||
				    (start(&fd, source) && ask(fd, &question, &status)));
	if (here >= 0)
		close(here);
	if (fd >= 0)
		close(fd);
	return answered ? status : gh_command_run(command, argc, argv);
}
