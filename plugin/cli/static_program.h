/* The functions of libraries that the static program has in itself. */
#ifndef GH_PLUGIN_CLI_STATIC_PROGRAM_H
#define GH_PLUGIN_CLI_STATIC_PROGRAM_H

struct gh_linked_function {
	const char *name;
	void *function;
};

/* Those of libdw and libmicrohttpd that goheap calls; the last has no name.
 * plugin/cli/static-libraries writes it. */
extern const struct gh_linked_function gh_linked_functions[];

#endif
