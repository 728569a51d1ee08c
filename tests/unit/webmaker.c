#include "tests/unit/webmaker.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A response: one at a time. */
static struct web_connection response;

struct gh_web_server web_server;
unsigned web_ended;
unsigned web_answered;
struct gh_web_question web_likely[2];

static struct web_connection *of(struct MHD_Connection *connection)
{
	return (struct web_connection *)(void *)connection;
}

static const char *look_up(struct MHD_Connection *connection, enum MHD_ValueKind kind,
			   const char *key)
{
	(void)kind;
	return strcmp(key, "Host") == 0 ? of(connection)->host : NULL;
}

static struct MHD_Response *from_buffer(size_t size, void *data, enum MHD_ResponseMemoryMode mode)
{
	(void)mode;
	response = (struct web_connection){0};
	ck_assert_uint_lt(size, sizeof(response.text));
	memcpy(response.text, data, size);
	return (struct MHD_Response *)(void *)&response;
}

static struct MHD_Response *from_fd(uint64_t size, int fd)
{
	response = (struct web_connection){0};
	ck_assert_uint_lt(size, sizeof(response.text));
	ck_assert_int_eq(pread(fd, response.text, size, 0), (ssize_t)size);
	close(fd);
	return (struct MHD_Response *)(void *)&response;
}

static enum MHD_Result add_header(struct MHD_Response *to, const char *name, const char *text)
{
	(void)to;
	response.headers++;
	if (strcmp(name, "Content-Type") == 0)
		snprintf(response.type, sizeof(response.type), "%s", text);
	if (strcmp(name, "Allow") == 0)
		snprintf(response.allow, sizeof(response.allow), "%s", text);
	return MHD_YES;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
			     struct MHD_Response *which)
{
	(void)which;
	struct web_connection *to = of(connection);
	to->status = status;
	memcpy(to->text, response.text, sizeof(to->text));
	memcpy(to->type, response.type, sizeof(to->type));
	memcpy(to->allow, response.allow, sizeof(to->allow));
	to->headers = response.headers;
	return MHD_YES;
}

static void destroy(struct MHD_Response *which)
{
	(void)which;
}

static const union MHD_ConnectionInfo *get_info(struct MHD_Connection *connection,
						enum MHD_ConnectionInfoType type, ...)
{
	ck_assert_int_eq(type, MHD_CONNECTION_INFO_CONNECTION_FD);
	of(connection)->info.connect_fd = of(connection)->here;
	return &of(connection)->info;
}

static int get_values(struct MHD_Connection *connection, enum MHD_ValueKind kind,
		      MHD_KeyValueIteratorN call, void *context)
{
	struct web_connection *from = of(connection);
	ck_assert_int_eq(kind, MHD_GET_ARGUMENT_KIND);
	for (size_t i = 0; i < from->nparameters; i++)
		if (call(context, kind, from->parameters[i].key, from->parameters[i].key_size,
			 from->parameters[i].value, from->parameters[i].value_size) == MHD_NO)
			break;
	return (int)from->nparameters;
}

static enum MHD_Result set_option(struct MHD_Connection *connection,
				  enum MHD_CONNECTION_OPTION option, ...)
{
	(void)connection;
	return option == MHD_CONNECTION_OPTION_TIMEOUT ? MHD_YES : MHD_NO;
}

static void suspend(struct MHD_Connection *connection)
{
	of(connection)->suspended++;
}

static void resume(struct MHD_Connection *connection)
{
	of(connection)->resumed++;
}

/* Begins what the name of the question says. */
static enum gh_web_begun begin(void *context, struct gh_web_question *question, pid_t *child)
{
	ck_assert_ptr_eq(context, &web_server);
	question->type = "text/of-the-answer";
	if (strcmp(question->name, "none") == 0)
		return GH_WEB_NO_QUESTION;
	if (strcmp(question->name, "bad") == 0) {
		dprintf(question->err, "why\n");
		return GH_WEB_NO_QUESTION;
	}
	if (strcmp(question->name, "failed") == 0) {
		dprintf(question->err, "no process\n");
		return GH_WEB_FAILED;
	}
	if (strcmp(question->name, "known") == 0) {
		dprintf(question->out, "known answer");
		return GH_WEB_ANSWERED;
	}
	*child = fork();
	if (*child != 0)
		return GH_WEB_BEGUN;
	alarm(60);
	if (strcmp(question->name, "answer") == 0)
		_exit(dprintf(question->out, "an answer") < 0);
	if (strcmp(question->name, "reason") == 0)
		_exit(dprintf(question->err, "a reason") > 0);
	if (strcmp(question->name, "signal") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(question->name, "large") == 0)
		kill(getpid(), SIGXFSZ);
	for (;;)
		pause();
}

static void end(void *context, struct gh_web_question *question, bool is_answered)
{
	ck_assert_ptr_eq(context, &web_server);
	ck_assert_ptr_nonnull(question->name);
	web_ended++;
	web_answered += is_answered;
}

static struct gh_web_question next_likely(void *context, size_t number)
{
	ck_assert_ptr_eq(context, &web_server);
	return number < 2 ? web_likely[number] : (struct gh_web_question){0};
}

static const struct gh_web_answers answers = {begin, end, next_likely, &web_server};

void web_start(void)
{
	gh_mhd = (struct gh_microhttpd){.lookup_connection_value = look_up,
					.create_response_from_buffer = from_buffer,
					.create_response_from_fd = from_fd,
					.add_response_header = add_header,
					.queue_response = queue,
					.destroy_response = destroy,
					.get_connection_info = get_info,
					.set_connection_option = set_option,
					.suspend_connection = suspend,
					.resume_connection = resume};
	gh_mhd.get_connection_values_n = get_values;
	web_server = (struct gh_web_server){
	    .answers = &answers,
	    .guard = {.token = WEB_TOKEN, .authority = "here:80", .port = "80"}};
	web_ended = web_answered = 0;
	memset(web_likely, 0, sizeof(web_likely));
}

enum MHD_Result web_take(struct web_connection *connection, const char *method, size_t body)
{
	return gh_web_request_take(&web_server, (struct MHD_Connection *)(void *)connection,
				   connection->url, method, "HTTP/1.1", NULL, &body,
				   &connection->request);
}

void web_connect(struct web_connection *connection, const char *url)
{
	int ends[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	*connection = (struct web_connection){
	    .here = ends[0], .there = ends[1], .url = url, .host = "here:80"};
	ck_assert_int_eq(web_take(connection, "GET", 0), MHD_YES);
	ck_assert_ptr_nonnull(connection->request);
}

void web_close(struct web_connection *connection)
{
	gh_web_request_end(&web_server, (struct MHD_Connection *)(void *)connection,
			   &connection->request, MHD_REQUEST_TERMINATED_COMPLETED_OK);
	ck_assert_ptr_null(connection->request);
	close(connection->here);
	close(connection->there);
}

/* Processes that answer may have the socket still. */
void web_hang_up(const struct web_connection *connection)
{
	ck_assert_int_eq(shutdown(connection->there, SHUT_RDWR), 0);
}

void web_wait_for_child(const struct gh_web_request *request)
{
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)request->child, &info, WEXITED | WNOWAIT), 0);
}
