/* Connections to the web server: in place of libmicrohttpd, and of who answers. */
#ifndef TESTS_UNIT_WEBMAKER_H
#define TESTS_UNIT_WEBMAKER_H

#include "plugin/web/internal.h"

#define WEB_TOKEN "0123456789abcdef0123456789abcdef"

/* A connection, and what was sent by it. */
struct web_connection {
	void *request; /* the server's */
	int here;      /* its socket, and the one of who asks */
	int there;
	const char *url;
	const char *host;
	struct {
		const char *key;
		size_t key_size;
		const char *value;
		size_t value_size;
	} parameters[GH_WEB_PARAMETERS + 1];
	size_t nparameters;
	int suspended; /* times */
	int resumed;
	unsigned status; /* 0: nothing was sent */
	char text[256];
	char type[64];
	char allow[64];
	unsigned headers;
	union MHD_ConnectionInfo info;
};

/* The server; how many questions have ended, and been answered; and those that are likely, which
 * are none until they are set. */
extern struct gh_web_server web_server;
extern unsigned web_ended;
extern unsigned web_answered;
extern struct gh_web_question web_likely[2];

/* Starts a server that is called here:80. The name of a question says what is answered: "answer",
 * "known", "reason", "signal", "none", "bad" or "failed"; what has another goes on for ever. */
void web_start(void);

/* Opens a connection that asks for URL, and has its request taken up to its first line. */
void web_connect(struct web_connection *connection, const char *url);

/* Has the request be taken, with so many bytes of a body. */
enum MHD_Result web_take(struct web_connection *connection, const char *method, size_t body);

/* Who asks goes. */
void web_hang_up(const struct web_connection *connection);

void web_close(struct web_connection *connection);

/* Waits until the child of REQUEST has ended. */
void web_wait_for_child(const struct gh_web_request *request);

#endif
