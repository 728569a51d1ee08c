#include <stdlib.h>

#include "plugin/web/internal.h"

/* A request that nobody made, for QUESTION. NULL if there can be none. */
static struct gh_web_request *make_request(struct gh_web_server *server,
					   const struct gh_web_question *question)
{
	struct gh_web_request *request = calloc(1, sizeof(*request));
	if (request == NULL)
		return NULL;
	request->server = server;
	request->question = *question;
	request->child_end = -1;
	request->state = GH_WEB_WAITING;
	if (gh_web_request_open(request))
		return request;
	gh_web_request_free(request);
	return NULL;
}

void gh_web_ahead_next(struct gh_web_server *server)
{
	const struct gh_web_answers *answers = server->answers;
	if (server->requests != NULL || answers->likely == NULL)
		return;
	struct gh_web_question question = answers->likely(answers->context, server->ahead);
	if (question.name == NULL)
		return;
	server->ahead++;
	server->requests = make_request(server, &question);
}
