/* The packages of a Go program, and which functions each has. */
#ifndef GH_WRITE_PACKAGE_H
#define GH_WRITE_PACKAGE_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/intern.h"

/* Length in bytes of the package path that the function name NAME starts with, as the linker spells
 * it (a dot in its last element is "%2e"); 0 if it has none. What the compiler makes (equality
 * functions "type..eq.T", "go:buildid" and their kind) and the local labels of assembly files are
 * in no package. */
size_t gh_package_length(const char *name);

struct gh_packages {
	struct gh_intern names; /* package paths, by package number; in the image */
	uint32_t count;         /* packages; at least 1, even if none has a name */
	uint32_t *functions;    /* numbers of the functions, package by package, in each those in
				   Go and then those in assembly, both in address order; owned */
	uint32_t *first; /* count + 1 places in functions, where each package starts; owned */
};

/* Sorts the functions of TAB into packages. A function without one goes to the package of
 * the function before it, which is where the linker put it. False (ERR filled) if a function cannot
 * be read or memory ran out. To be freed with gh_packages_free. */
bool gh_packages_find(struct gh_packages *packages, const struct gh_pclntab *tab,
		      struct gh_error *err);

void gh_packages_free(struct gh_packages *packages);

#endif
