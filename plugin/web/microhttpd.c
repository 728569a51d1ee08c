#include <dlfcn.h>

#include "plugin/view/emit.h"
#include "plugin/web/internal.h"

/* The library's name with the version of its binary interface, which microhttpd.h describes. */
#define LIBRARY "libmicrohttpd.so.12"

struct gh_microhttpd gh_mhd;

bool gh_microhttpd_load(void)
{
	static const char *const names[] = {
#define FUNCTION(name) "MHD_" #name,
	    GH_MICROHTTPD_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	void **functions = (void **)&gh_mhd;
	void *library = dlopen(LIBRARY, RTLD_NOW);
	bool found = library != NULL;
	for (size_t i = 0; found && i < sizeof(names) / sizeof(names[0]); i++)
		found = (functions[i] = dlsym(library, names[i])) != NULL;
	if (!found)
		gh_say("cannot load libmicrohttpd, which serves the page: %s", dlerror());
	return found;
}
