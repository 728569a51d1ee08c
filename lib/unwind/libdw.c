#include "lib/unwind/internal.h"

#include <dlfcn.h>
#include <pthread.h>

/* The library's name with the version of its binary interface. */
#define LIBRARY "libdw.so.1"

struct gh_libdw gh_libdw;

static bool loaded;
static bool is_missing;

/* Each of the library's functions has to call the library's own, and not libdwarf's. Address
 * sanitizers end a program that asks for that: there the library is as if it were missing. */
static void load(void)
{
#ifndef __SANITIZE_ADDRESS__
	static const char *const names[] = {
#define FUNCTION(name) #name,
	    GH_LIBDW_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	void **functions = (void **)&gh_libdw;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	loaded = library != NULL;
	is_missing = library == NULL;
	for (size_t i = 0; loaded && i < sizeof(names) / sizeof(names[0]); i++)
		loaded = (functions[i] = dlsym(library, names[i])) != NULL;
#endif
}

bool gh_libdw_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	return loaded;
}

bool gh_c_code_lacks_library(void)
{
	return is_missing;
}
