/* What the files of the web server share. */
#ifndef GH_PLUGIN_WEB_INTERNAL_H
#define GH_PLUGIN_WEB_INTERNAL_H

#include <microhttpd.h>
#include <netdb.h>
#include <sys/socket.h>

#include "plugin/web/web.h"

/* Hexadecimal digits of a token: 16 bytes. */
#define GH_WEB_TOKEN 32

/* Bytes of "HOST:PORT", with its NUL. */
#define GH_WEB_AUTHORITY (NI_MAXHOST + NI_MAXSERV + 4)

/* The functions of libmicrohttpd that the server calls. It is loaded when a server starts, and not
 * linked to: with the ten libraries that it needs it would take half of the time that goheap takes
 * to start, and GDB starts goheap several times for each of goheap's commands. */
#define GH_MICROHTTPD_FUNCTIONS(FUNCTION)                                                          \
	FUNCTION(add_response_header)                                                              \
	FUNCTION(create_response_from_buffer)                                                      \
	FUNCTION(create_response_from_fd)                                                          \
	FUNCTION(destroy_response)                                                                 \
	FUNCTION(get_connection_info)                                                              \
	FUNCTION(get_connection_values_n)                                                          \
	FUNCTION(get_daemon_info)                                                                  \
	FUNCTION(get_timeout)                                                                      \
	FUNCTION(lookup_connection_value)                                                          \
	FUNCTION(queue_response)                                                                   \
	FUNCTION(resume_connection)                                                                \
	FUNCTION(run)                                                                              \
	FUNCTION(set_connection_option)                                                            \
	FUNCTION(start_daemon)                                                                     \
	FUNCTION(suspend_connection)

struct gh_microhttpd {
#define FUNCTION(name) __typeof__(MHD_##name) *name;
	GH_MICROHTTPD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* All of them, once they are loaded. */
extern struct gh_microhttpd gh_mhd;

/* Loads them. False, and a message printed, if they cannot be. */
bool gh_microhttpd_load(void);

/* How long a connection may be silent that has sent a whole request, in seconds. */
enum { GH_WEB_PATIENCE = 10 };

/* Who may ask. */
struct gh_web_guard {
	char token[GH_WEB_TOKEN + 1];     /* random */
	char authority[GH_WEB_AUTHORITY]; /* HOST:PORT, as in the address */
	char port[NI_MAXSERV];
	bool is_local;    /* the address that is listened on is the machine's own */
	bool is_wildcard; /* all addresses are listened on */
};

/* Fills GUARD for what LISTENER listens on. False, and errno set, if there is no token. */
bool gh_web_guard_make(struct gh_web_guard *guard, int listener);

/* What URL asks for, after the token in it; NULL if that is not the guard's. */
const char *gh_web_guard_strip(const struct gh_web_guard *guard, const char *url);

/* A browser that shows a page of this server asks: another site's name that leads here, or its
 * page, does not. */
bool gh_web_guard_trusts(const struct gh_web_guard *guard, struct MHD_Connection *connection);

/* A request while it is answered. */
struct gh_web_request {
	struct gh_web_server *server;      /* whose it is */
	struct MHD_Connection *connection; /* NULL: nobody asks yet */
	struct gh_web_question question;
	enum {
		GH_WEB_NEW,
		GH_WEB_WAITING, /* for others to be answered */
		GH_WEB_RUNNING, /* the child runs */
		GH_WEB_DONE,
	} state;
	bool takes_interim; /* it is HTTP/1.1: interim responses are understood */
	bool has_said_all;  /* the other end has closed its direction of the connection */
	pid_t child;
	int child_end;               /* can be read when the child has ended; -1 if there is none */
	unsigned status;             /* of the response; 0 if that is the answer */
	uint64_t deadline;           /* when the child is ended, by gh_now */
	struct gh_web_request *next; /* that waits or runs */
};

struct gh_web_server {
	const struct gh_web_answers *answers; /* the caller's */
	struct gh_web_guard guard;
	struct MHD_Daemon *daemon;
	struct gh_web_request *requests; /* that wait or run, the first to come first */
	bool has_answers;                /* a request has been done since this was looked at */
	size_t ahead;                    /* so many of the likely questions were begun ahead */
	char address[GH_WEB_AUTHORITY + GH_WEB_TOKEN + 16];
};

/* Called by MHD for each request, the server being CLS: see MHD_AccessHandlerCallback. */
enum MHD_Result gh_web_request_take(void *cls, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **request);

/* Called by MHD when it is through with one: see MHD_RequestCompletedCallback. */
void gh_web_request_end(void *cls, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode why);

/* Frees REQUEST, which has no connection or is through with it. */
void gh_web_request_free(struct gh_web_request *request);

/* Opens the files that the answer to REQUEST goes to. False if there can be none. */
bool gh_web_request_open(struct gh_web_request *request);

/* Has the next likely question be asked, by nobody, if there is one: when no other waits or runs.
 */
void gh_web_ahead_next(struct gh_web_server *server);

/* The socket of the connection that REQUEST is from; -1 if there is none. */
int gh_web_request_socket(const struct gh_web_request *request);

/* Begins what waits, if not too many run; ends what has run too long; and has answered what has
 * ended. Whether any can be answered now. */
bool gh_web_requests_look_after(struct gh_web_server *server);

/* A file of the page. */
struct gh_web_file {
	const char *name; /* "" for the page itself */
	const char *type; /* for HTTP */
	const char *text;
	size_t size; /* of the text, in bytes */
};

/* All of them, up to one without a name. */
extern const struct gh_web_file gh_web_files[];

#endif
