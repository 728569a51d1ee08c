#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/web/internal.h"

#include "lib/util/now.h"

enum {
	MAX_RUNNING = 4,   /* children at a time */
	MAX_SECONDS = 120, /* that one may take */
};

/* The status of a request whose question has no answer, as that for the value of what has no type:
 * no error of HTTP, which a browser would tell of. */
#define NO_ANSWER 1

/* The type of the reason. */
#define REASON "text/x-reason; charset=utf-8"

/* What the page may do: load its own files, and ask. */
#define POLICY                                                                                     \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "    \
	"'self'; "                                                                                 \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Sends RESPONSE, which may be NULL, with what all have. */
static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
				     const char *type, struct MHD_Response *response)
{
	static const char *const headers[][2] = {
	    {"Content-Security-Policy", POLICY},
	    {"X-Content-Type-Options", "nosniff"},
	    {"Referrer-Policy", "no-referrer"},
	    {"Cache-Control", "no-store"},
	    {"Cross-Origin-Resource-Policy", "same-origin"},
	    {"Cross-Origin-Opener-Policy", "same-origin"},
	};
	if (response == NULL)
		return MHD_NO;
	gh_mhd.add_response_header(response, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		gh_mhd.add_response_header(response, headers[i][0], headers[i][1]);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		gh_mhd.add_response_header(response, "Allow", "GET, HEAD");
	enum MHD_Result queued = gh_mhd.queue_response(connection, status, response);
	gh_mhd.destroy_response(response);
	return queued;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
				 const char *text)
{
	return send_response(
	    connection, status, "text/plain; charset=utf-8",
	    gh_mhd.create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY));
}

/* Sends what the file FD in memory has. */
static enum MHD_Result send_file(struct MHD_Connection *connection, unsigned status,
				 const char *type, int fd)
{
	struct stat info;
	int copy = dup(fd); /* the response's to close */
	if (copy < 0 || fstat(copy, &info) != 0)
		return MHD_NO;
	return send_response(connection, status, type,
			     gh_mhd.create_response_from_fd((uint64_t)info.st_size, copy));
}

static enum MHD_Result send_answer(struct gh_web_request *request)
{
	struct MHD_Connection *connection = request->connection;
	const struct gh_web_question *question = &request->question;
	if (request->status == 0)
		return send_file(connection, MHD_HTTP_OK, question->type, question->out);
	bool is_for_all = request->server->answers->is_for_all;
	unsigned status = is_for_all ? MHD_HTTP_NOT_FOUND : request->status;
	if (status == NO_ANSWER)
		return send_file(connection, MHD_HTTP_OK, REASON, question->err);
	if (lseek(question->err, 0, SEEK_END) == 0)
		return send_text(connection, status, "goheap: there is no answer\n");
	return send_file(connection, status, "text/plain; charset=utf-8", question->err);
}

/* Appends TEXT to what the user is told of why there is no answer. */
static void say(const struct gh_web_question *question, const char *text)
{
	dprintf(question->err, "goheap: %s\n", text);
}

int gh_web_request_socket(const struct gh_web_request *request)
{
	if (request->connection == NULL)
		return -1;
	const union MHD_ConnectionInfo *info =
	    gh_mhd.get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info != NULL ? info->connect_fd : -1;
}

/* Whether the other end of REQUEST's connection has gone. One that has said all it has to say looks
 * like it, but may wait for the answer still: an interim response, which HTTP/1.1 lets a server
 * send at any time, is reset by one that has gone. */
static bool has_gone(struct gh_web_request *request)
{
	static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
	int fd = gh_web_request_socket(request);
	struct pollfd end = {.fd = fd, .events = POLLRDHUP};
	if (poll(&end, 1, 0) <= 0)
		return false;
	if ((end.revents & POLLRDHUP) != 0 && !request->has_said_all) {
		request->has_said_all = true;
		if (request->takes_interim)
			send(fd, interim, strlen(interim), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	return (end.revents & (POLLHUP | POLLERR)) != 0;
}

static void end_child(struct gh_web_request *request)
{
	if (request->child_end >= 0)
		close(request->child_end);
	request->child_end = -1;
	request->child = 0;
}

/* Has REQUEST, which is not to be waited for any more, be answered by STATUS. */
static void finish(struct gh_web_request *request, unsigned status)
{
	struct gh_web_request **link = &request->server->requests;
	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	end_child(request);
	request->state = GH_WEB_DONE;
	request->status = status;
	request->server->has_answers = true;
	if (request->connection != NULL)
		gh_mhd.resume_connection(request->connection);
	else
		gh_web_request_free(request);
}

static void set_deadline(struct gh_web_request *request)
{
	request->deadline = gh_now() + MAX_SECONDS * UINT64_C(1000000000);
}

static void begin(struct gh_web_request *request)
{
	const struct gh_web_answers *answers = request->server->answers;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		finish(request, MHD_HTTP_SERVICE_UNAVAILABLE);
		return;
	}
	enum gh_web_begun begun =
	    answers->begin(answers->context, &request->question, &request->child);
	/* Now the child alone has this end. */
	close(ends[1]);
	request->child_end = ends[0];
	switch (begun) {
	case GH_WEB_NO_QUESTION:
		finish(request, MHD_HTTP_BAD_REQUEST);
		return;
	case GH_WEB_FAILED:
		finish(request, MHD_HTTP_SERVICE_UNAVAILABLE);
		return;
	case GH_WEB_ANSWERED:
		finish(request, 0);
		return;
	case GH_WEB_BEGUN:
		break;
	}
	set_deadline(request);
	request->state = GH_WEB_RUNNING;
}

/* The child has ended with STATUS; perhaps because it was too late. */
static void take_end(struct gh_web_request *request, int status, bool is_late)
{
	bool answered = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	const struct gh_web_answers *answers = request->server->answers;
	answers->end(answers->context, &request->question, answered);
	bool is_too_large = WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
	if (WIFSIGNALED(status) && is_late)
		say(&request->question,
		    "it took longer than two minutes: goheap in a shell takes as long as it needs");
	else if (is_too_large)
		say(&request->question,
		    "the answer has more than 256 MB, which is more than the page carries: ask for "
		    "fewer rows (LIMIT and WHERE in SQL), or goheap in a shell");
	else if (WIFSIGNALED(status))
		dprintf(request->question.err,
			"goheap: the process that answers was ended by signal %d\n",
			WTERMSIG(status));
	finish(request, answered ? 0
			: WIFEXITED(status) || is_late || is_too_large
			    ? NO_ANSWER
			    : MHD_HTTP_INTERNAL_SERVER_ERROR);
}

static void look_after(struct gh_web_request *request)
{
	int status;
	bool is_late = gh_now() > request->deadline;
	if (is_late || has_gone(request))
		kill(request->child, SIGKILL);
	pid_t ended = waitpid(request->child, &status, is_late ? 0 : WNOHANG);
	if (ended == request->child)
		take_end(request, status, is_late);
}

static bool is_same_question(const struct gh_web_question *a, const struct gh_web_question *b)
{
	bool is_same = strcmp(a->name, b->name) == 0 && a->count == b->count;
	for (size_t i = 0; is_same && i < a->count; i++)
		is_same = strcmp(a->parameters[i].key, b->parameters[i].key) == 0 &&
			  strcmp(a->parameters[i].value, b->parameters[i].value) == 0;
	return is_same;
}

/* What is asked is being answered already: it is known then. */
static bool is_being_answered(const struct gh_web_request *request)
{
	for (const struct gh_web_request *one = request->server->requests; one != NULL;
	     one = one->next)
		if (one->state == GH_WEB_RUNNING &&
		    is_same_question(&one->question, &request->question))
			return true;
	return false;
}

/* REQUEST, which nobody made, is not to keep back what people wait for. */
static bool is_in_the_way(const struct gh_web_request *request)
{
	bool others_wait = false;
	for (const struct gh_web_request *one = request->server->requests; one != NULL;
	     one = one->next) {
		if (one->connection != NULL && is_same_question(&one->question, &request->question))
			return false;
		others_wait |= one->connection != NULL;
	}
	return others_wait;
}

/* Has the child of REQUEST stand still, or go on. What stands still takes no time. */
static void hold_back(struct gh_web_request *request, bool holds)
{
	kill(request->child, holds ? SIGSTOP : SIGCONT);
	if (holds)
		set_deadline(request);
}

bool gh_web_requests_look_after(struct gh_web_server *server)
{
	server->has_answers = false;
	unsigned running = 0;
	struct gh_web_request *next;
	for (struct gh_web_request *one = server->requests; one != NULL; one = next) {
		next = one->next;
		if (one->state == GH_WEB_RUNNING)
			look_after(one);
		else if (has_gone(one))
			finish(one, MHD_HTTP_SERVICE_UNAVAILABLE);
	}
	gh_web_ahead_next(server);
	for (struct gh_web_request *one = server->requests; one != NULL; one = one->next)
		running += one->state == GH_WEB_RUNNING && one->connection != NULL;
	for (struct gh_web_request *one = server->requests; one != NULL && running < MAX_RUNNING;
	     one = next) {
		next = one->next;
		if (one->state != GH_WEB_WAITING || is_being_answered(one))
			continue;
		begin(one);
		running++;
	}
	for (struct gh_web_request *one = server->requests; one != NULL; one = one->next)
		if (one->state == GH_WEB_RUNNING && one->connection == NULL)
			hold_back(one, is_in_the_way(one));
	return server->has_answers;
}

/* Adds a part of the address to the question CLS. */
static enum MHD_Result add_parameter(void *cls, enum MHD_ValueKind kind, const char *key,
				     size_t key_size, const char *value, size_t value_size)
{
	(void)kind;
	struct gh_web_question *question = cls;
	/* There can be NULs in it. */
	if (question->count < GH_WEB_PARAMETERS && strlen(key) == key_size &&
	    (value == NULL || strlen(value) == value_size)) {
		question->parameters[question->count++] =
		    (struct gh_web_parameter){key, value != NULL ? value : ""};
		return MHD_YES;
	}
	question->name = NULL;
	return MHD_NO;
}

bool gh_web_request_open(struct gh_web_request *request)
{
	struct gh_web_question *question = &request->question;
	question->out = memfd_create("answer", MFD_CLOEXEC);
	question->err = memfd_create("reason", MFD_CLOEXEC);
	return question->out >= 0 && question->err >= 0;
}

void gh_web_request_free(struct gh_web_request *request)
{
	if (request->question.out >= 0)
		close(request->question.out);
	if (request->question.err >= 0)
		close(request->question.err);
	free(request);
}

/* Has the question NAME wait for its turn. */
static enum MHD_Result wait_for_turn(struct gh_web_request *request, const char *name)
{
	struct gh_web_question *question = &request->question;
	struct gh_web_request **last = &request->server->requests;
	question->name = name;
	gh_mhd.get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, add_parameter,
				       question);
	if (question->name == NULL)
		return send_text(request->connection, MHD_HTTP_BAD_REQUEST,
				 "goheap: no such question\n");
	if (!gh_web_request_open(request))
		return send_text(request->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "goheap: no more files can be opened\n");
	while (*last != NULL)
		last = &(*last)->next;
	*last = request;
	request->state = GH_WEB_WAITING;
	gh_mhd.suspend_connection(request->connection);
	return MHD_YES;
}

static enum MHD_Result send_page(struct MHD_Connection *connection, const char *name)
{
	for (const struct gh_web_file *file = gh_web_files; file->name != NULL; file++)
		if (strcmp(file->name, name) == 0)
			return send_response(
			    connection, MHD_HTTP_OK, file->type,
			    gh_mhd.create_response_from_buffer(file->size, (void *)file->text,
							       MHD_RESPMEM_PERSISTENT));
	return send_text(connection, MHD_HTTP_NOT_FOUND, "goheap: there is no such page\n");
}

static enum MHD_Result answer(struct gh_web_request *request, const char *url, const char *method)
{
	static const char api[] = "api/";
	struct MHD_Connection *connection = request->connection;
	const struct gh_web_guard *guard = &request->server->guard;
	bool is_for_all = request->server->answers->is_for_all;
	const char *name = is_for_all ? url + (*url == '/') : gh_web_guard_strip(guard, url);
	/* A server for the network has names that it does not know itself. */
	bool is_trusted = is_for_all && !guard->is_local;
	if (name == NULL || (!is_trusted && !gh_web_guard_trusts(guard, connection)))
		return send_text(connection, MHD_HTTP_FORBIDDEN,
				 "goheap: use the address that goheap printed\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "goheap: expected GET\n");
	if (is_for_all)
		return wait_for_turn(request, name);
	if (strncmp(name, api, strlen(api)) == 0)
		return wait_for_turn(request, name + strlen(api));
	return send_page(connection, name);
}

enum MHD_Result gh_web_request_take(void *cls, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **context)
{
	(void)upload;
	struct gh_web_request *request = *context;
	if (request == NULL) {
		*context = request = calloc(1, sizeof(*request));
		if (request == NULL)
			return MHD_NO;
		*request = (struct gh_web_request){
		    .server = cls,
		    .connection = connection,
		    .takes_interim = strcmp(version, MHD_HTTP_VERSION_1_1) == 0,
		    .question = {.out = -1, .err = -1},
		    .child_end = -1,
		};
		return MHD_YES;
	}
	gh_mhd.set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
				     (unsigned)GH_WEB_PATIENCE);
	/* A body is of no use to any. */
	if (*upload_size != 0)
		return MHD_NO;
	return request->state == GH_WEB_DONE ? send_answer(request) : answer(request, url, method);
}

void gh_web_request_end(void *cls, struct MHD_Connection *connection, void **context,
			enum MHD_RequestTerminationCode why)
{
	(void)cls;
	(void)connection;
	(void)why;
	struct gh_web_request *request = *context;
	if (request != NULL)
		gh_web_request_free(request);
	*context = NULL;
}
