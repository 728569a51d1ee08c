#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/util/hex.h"
#include "plugin/web/internal.h"

static bool make_token(char token[GH_WEB_TOKEN + 1])
{
	unsigned char bytes[GH_WEB_TOKEN / 2];
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	gh_hex_text(token, bytes, sizeof(bytes));
	return true;
}

/* Sets what ADDRESS is: the machine's own, or all that it has. */
static void classify(struct gh_web_guard *guard, const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6) {
		const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
		guard->is_local = IN6_IS_ADDR_LOOPBACK(six);
		guard->is_wildcard = IN6_IS_ADDR_UNSPECIFIED(six);
	} else {
		uint32_t four = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
		guard->is_local = four >> 24 == IN_LOOPBACKNET;
		guard->is_wildcard = four == INADDR_ANY;
	}
}

bool gh_web_guard_make(struct gh_web_guard *guard, int listener)
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);
	char host[NI_MAXHOST];
	if (!make_token(guard->token) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0)
		return false;
	if (getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), guard->port,
			sizeof(guard->port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		errno = EADDRNOTAVAIL;
		return false;
	}
	classify(guard, &address);
	if (guard->is_wildcard && gethostname(host, sizeof(host)) != 0)
		return false;
	host[sizeof(host) - 1] = '\0';
	snprintf(guard->authority, sizeof(guard->authority),
		 strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, guard->port);
	return true;
}

/* In a time that does not depend on where they differ. TEXT has as many bytes as a token, or fewer.
 */
static bool is_token(const char *token, const char *text)
{
	unsigned differ = 0;
	size_t length = strnlen(text, GH_WEB_TOKEN);
	for (size_t i = 0; i < GH_WEB_TOKEN; i++)
		differ |= (unsigned char)(token[i] ^ (i < length ? text[i] : '\0'));
	return differ == 0;
}

const char *gh_web_guard_strip(const struct gh_web_guard *guard, const char *url)
{
	if (url[0] != '/' || !is_token(guard->token, url + 1) || url[1 + GH_WEB_TOKEN] != '/')
		return NULL;
	return url + 1 + GH_WEB_TOKEN + 1;
}

/* Whether NAME, of LENGTH bytes, is a number of the network, not a name that somebody's DNS has
 * lead anywhere. */
static bool is_number(const char *name, size_t length)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;
	bool is_six = length > 2 && name[0] == '[' && name[length - 1] == ']';
	int written = is_six ? snprintf(text, sizeof(text), "%.*s", (int)length - 2, name + 1)
			     : snprintf(text, sizeof(text), "%.*s", (int)length, name);
	return written < (int)sizeof(text) &&
	       inet_pton(is_six ? AF_INET6 : AF_INET, text, &address) == 1;
}

/* HOST, a header, names this server. */
static bool is_here(const struct gh_web_guard *guard, const char *host)
{
	char local[GH_WEB_AUTHORITY];
	snprintf(local, sizeof(local), "localhost:%s", guard->port);
	if (strcasecmp(host, guard->authority) == 0 ||
	    (guard->is_local && strcasecmp(host, local) == 0))
		return true;
	const char *colon = strrchr(host, ':');
	return guard->is_wildcard && colon != NULL && strcmp(colon + 1, guard->port) == 0 &&
	       is_number(host, (size_t)(colon - host));
}

bool gh_web_guard_trusts(const struct gh_web_guard *guard, struct MHD_Connection *connection)
{
	static const char scheme[] = "http://";
	const char *host = gh_mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	const char *origin = gh_mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
	const char *site =
	    gh_mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
	if (host == NULL || !is_here(guard, host))
		return false;
	if (origin != NULL && (strncmp(origin, scheme, strlen(scheme)) != 0 ||
			       strcasecmp(origin + strlen(scheme), host) != 0))
		return false;
	/* A link in a mail or a chat may be followed. */
	const char *mode =
	    gh_mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Mode");
	return site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0 ||
	       (mode != NULL && strcmp(mode, "navigate") == 0);
}
