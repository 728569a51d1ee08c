/* Replaces functions of the C library that load libraries, in the static program: where it runs
 * there may be none, or those of another C library. The linker has all calls of NAME go to
 * __wrap_NAME (--wrap, Makefile.am). */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/cli/static_program.h"

/* The libraries whose functions are in the program, by the names that they are loaded by. */
static const char *const linked[] = {"libdw.so.1", "libmicrohttpd.so.12"};

static const char *failure;

/* A handle for a library that the program has in itself; NULL, and dlerror says why, for any other.
 */
void *__wrap_dlopen(const char *file, int mode)
{
	(void)mode;
	for (size_t i = 0; file != NULL && i < sizeof(linked) / sizeof(linked[0]); i++)
		if (strcmp(file, linked[i]) == 0)
			return (void *)gh_linked_functions;
	failure = "a static program loads no libraries";
	return NULL;
}

void *__wrap_dlsym(void *restrict handle, const char *restrict name)
{
	const struct gh_linked_function *function = handle;
	while (function != NULL && function->name != NULL && strcmp(function->name, name) != 0)
		function++;
	if (function != NULL && function->name != NULL)
		return function->function;
	failure = "the static program lacks a function of a library";
	return NULL;
}

char *__wrap_dlerror(void)
{
	const char *text = failure;
	failure = NULL;
	return (char *)text;
}

int __wrap_dlclose(void *handle)
{
	(void)handle;
	return 0;
}

/* Users are those of /etc/passwd, if that is there; no name service is asked. */

static FILE *users;

void __wrap_setpwent(void)
{
	if (users != NULL)
		rewind(users);
	else
		users = fopen("/etc/passwd", "re");
}

struct passwd *__wrap_getpwent(void)
{
	if (users == NULL)
		__wrap_setpwent();
	return users != NULL ? fgetpwent(users) : NULL;
}

void __wrap_endpwent(void)
{
	if (users != NULL)
		fclose(users);
	users = NULL;
}

struct passwd *__wrap_getpwuid(uid_t user)
{
	struct passwd *entry;
	__wrap_setpwent();
	while ((entry = __wrap_getpwent()) != NULL && entry->pw_uid != user)
		;
	return entry;
}

struct passwd *__wrap_getpwnam(const char *name)
{
	struct passwd *entry;
	__wrap_setpwent();
	while ((entry = __wrap_getpwent()) != NULL && strcmp(entry->pw_name, name) != 0)
		;
	return entry;
}

/* A port's number is what it is called by. Returns false if TEXT is none. */
static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	*port = htons((uint16_t)number);
	return *text >= '0' && *text <= '9' && *end == '\0' && number <= UINT16_MAX;
}

/* An address to listen on, by its number or as localhost; no name service is asked. */
int __wrap_getaddrinfo(const char *restrict host, const char *restrict port,
		       const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
	struct {
		struct addrinfo info;
		union {
			struct sockaddr any;
			struct sockaddr_in four;
			struct sockaddr_in6 six;
		} address;
	} *made = calloc(1, sizeof(*made));
	in_port_t number;
	if (made == NULL)
		return EAI_MEMORY;
	const char *text = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
	bool is_four = inet_pton(AF_INET, text, &made->address.four.sin_addr) == 1;
	if (!parse_port(port, &number) ||
	    (!is_four && inet_pton(AF_INET6, text, &made->address.six.sin6_addr) != 1)) {
		free(made);
		return EAI_NONAME;
	}
	if (is_four)
		made->address.four.sin_port = number;
	else
		made->address.six.sin6_port = number;
	made->address.any.sa_family = is_four ? AF_INET : AF_INET6;
	made->info.ai_family = made->address.any.sa_family;
	made->info.ai_socktype = hints->ai_socktype;
	made->info.ai_addr = &made->address.any;
	made->info.ai_addrlen = is_four ? sizeof(made->address.four) : sizeof(made->address.six);
	*found = &made->info;
	return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *found)
{
	free(found);
}

/* Search trees of elfutils 0.192, whose static libelf and libdw lack the functions of their own for
 * them: the root is a tree's first field. Source: lib/eu-search.h and .c there, of whose locks a
 * program that gives each file to one thread has no need. */
#define OF_ELFUTILS __attribute__((weak))

OF_ELFUTILS void *eu_tsearch(const void *key, void **tree,
			     int (*compare)(const void *, const void *))
{
	return tsearch(key, tree, compare);
}

OF_ELFUTILS void *eu_tfind(const void *key, void **tree, int (*compare)(const void *, const void *))
{
	return tfind(key, tree, compare);
}

OF_ELFUTILS void *eu_tdelete(const void *key, void **tree,
			     int (*compare)(const void *, const void *))
{
	return tdelete(key, tree, compare);
}

OF_ELFUTILS void eu_tdestroy(void **tree, void (*free_node)(void *))
{
	tdestroy(*tree, free_node);
	*tree = NULL;
}

OF_ELFUTILS void eu_search_tree_init(void **tree)
{
	*tree = NULL;
}

OF_ELFUTILS void eu_search_tree_fini(void **tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}
