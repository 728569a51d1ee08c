/* A program's build, made again from its source by Go's own tools. */
#ifndef GH_PLUGIN_CLI_TWIN_BUILD_H
#define GH_PLUGIN_CLI_TWIN_BUILD_H

#include "lib/elf/elf.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

struct gh_twin_words GH_VECTOR(char *); /* each owned */

void gh_twin_words_free(struct gh_twin_words *words);

/* How a program was built, by what it says. Text of a program is never more than an argument of
 * `go build', or a variable of its environment, and only such as cannot have it run or write
 * anything else. */
struct gh_twin_recipe {
	char *release;                  /* of Go: go1.24.4; owned, as what follows */
	char *package;                  /* import path of its main package */
	char *module;                   /* NULL if the program does not say, as what follows */
	char *version;                  /* of the module */
	char *revision;                 /* of the checkout */
	bool is_modified;               /* that had changes which were not committed */
	struct gh_twin_words flags;     /* of `go build' */
	struct gh_twin_words variables; /* NAME=VALUE */
};

/* Reads what the program IMAGE, which INFO is of, says, but for flags by which it was stripped.
 * LDFLAGS, unless NULL, are the linker's flags in place of those. False (ERR filled) if it says
 * nothing, or has a flag that is not to be repeated by itself. In any case RECIPE is to be freed.
 */
bool gh_twin_recipe_read(struct gh_twin_recipe *recipe, const struct gh_image *image,
			 const struct gh_buildinfo *info, const char *ldflags,
			 struct gh_error *err);

void gh_twin_recipe_free(struct gh_twin_recipe *recipe);

/* How the build is to be made. */
struct gh_twin_making {
	const struct gh_twin_recipe *recipe;
	const char *program; /* its name, for errors */
	const char *source;  /* directory of the checkout; NULL: a module of the module cache */
	const char *output;  /* path of the file to make, in a directory without others */
	bool network;        /* modules and toolchains may be fetched */
	bool print;          /* only print the command */
};

/* Finds the toolchain, checks the checkout, prints the command, and runs it. False if there is no
 * file then, after saying why. */
bool gh_twin_make(const struct gh_twin_making *making);

#endif
