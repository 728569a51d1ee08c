/* goheap twin: builds a stripped program again, with its DWARF, and proves that it is the same. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/debugfile/debugfile.h"
#include "lib/util/cache_directory.h"
#include "lib/util/escape.h"
#include "lib/util/output_directory.h"
#include "plugin/cli/twin_build.h"
#include "plugin/command/command.h"
#include "plugin/view/view.h"

/* Packages with other code that are named. */
enum { MOST_PACKAGES = 5 };

/* A package of Go's own: the first element of the others' paths has a dot, or is main. */
static bool is_standard(const struct gh_twin_package *package)
{
	size_t size = 0;
	while (size < package->path.size && package->path.text[size] != '/')
		size++;
	return memchr(package->path.text, '.', size) == NULL &&
	       !(size == 4 && memcmp(package->path.text, "main", 4) == 0);
}

/* Why the builds are not the same, most likely. */
static const char *likely_cause(const struct gh_twin *twin, const struct gh_twin_recipe *recipe)
{
	size_t own = 0;
	for (size_t i = 0; i < twin->packages.count; i++)
		own += !is_standard(&twin->packages.items[i]);
	if (gh_image_section(twin->program->image, ".init") != NULL &&
	    gh_image_section(twin->build->image, ".init") == NULL)
		return "it was linked by the C linker: --ldflags=-linkmode=external";
	if (own == twin->packages.count && own > 0)
		return recipe->is_modified ? "the checkout that it was built of had changes which "
					     "no commit has"
					   : "the source is not the one that it was built of";
	if (own == 0)
		return "the toolchain is the same release with other patches, or other settings";
	return "the toolchain or its settings, or the source, are not those that it was built with";
}

static void print_packages(const struct gh_twin *twin)
{
	size_t count = twin->packages.count;
	for (size_t i = 0; i < count && i < MOST_PACKAGES; i++) {
		const struct gh_twin_package *package = &twin->packages.items[i];
		char name[256];
		char escaped[512];
		snprintf(name, sizeof(name), "%.*s", (int)package->path.size, package->path.text);
		printf("%s%s (%zu)", i == 0 ? "other code: " : ", ",
		       *name != '\0' ? gh_escape_text(escaped, sizeof(escaped), name)
				     : "no package",
		       package->functions);
	}
	if (count > MOST_PACKAGES)
		printf(" and %zu packages more", count - MOST_PACKAGES);
	if (count > 0)
		putchar('\n');
	if (twin->elsewhere > 0)
		printf("elsewhere, and so not compared: %zu\n", twin->elsewhere);
}

/* Says how much of the program the twin has. */
static void print_proof(const struct gh_twin *twin, const struct gh_twin_recipe *recipe)
{
	bool proved = gh_twin_is_proved(twin);
	printf("%zu of %zu functions are the same: the twin is %sproved\n", twin->same,
	       twin->functions, proved ? "" : "not ");
	if (!proved) {
		print_packages(twin);
		printf("most likely: %s\n", likely_cause(twin, recipe));
	} else if (!twin->same_c) {
		puts("C code is not the same, by another compiler or library: it stays without");
	}
}

/* Writes the twin to PATH. */
static bool write_twin(struct gh_twin *twin, const char *path)
{
	struct gh_error err;
	bool written = gh_twin_write(twin, path, &err);
	if (!written)
		gh_print_error(&err);
	return written;
}

static void print_kept(const struct gh_twin *twin, const char *path)
{
	if (twin->hidden > 0)
		printf("%zu variables of packages are left out: where the program has them is not "
		       "known, as with other -ldflags=-X\n",
		       twin->hidden);
	printf("goheap, and GDB with it, use it for this program from now on: %s\n", path);
}

/* Keeps the twin, and writes it to the output that OPTIONS name. */
static bool keep(struct gh_twin *twin, const struct gh_options *options)
{
	char *path = gh_kept_twin_path(twin->program->image);
	bool kept = path != NULL && write_twin(twin, path);
	if (kept)
		print_kept(twin, path);
	else if (path == NULL)
		gh_say("%s: the twin cannot be kept for later: there is no directory of your own "
		       "below ~/.cache: name one, XDG_CACHE_HOME=DIR",
		       options->file);
	free(path);
	if (options->output == NULL)
		return kept;
	return write_twin(twin, options->output);
}

/* Compares the build at PATH with PROGRAM, says what is the same, and keeps what is proved. */
static bool compare(const struct gh_program *program, const char *path,
		    const struct gh_twin_recipe *recipe, const struct gh_options *options)
{
	struct gh_program build;
	struct gh_twin twin = {0};
	struct gh_error err;
	if (!gh_program_open(&build, path))
		return false;
	bool compared = gh_image_has_dwarf(&build.image)
			    ? gh_twin_compare(&twin, &build.tab, &program->tab, &err)
			    : gh_fail(&err, path, GH_NO_OFFSET, "a build with DWARF",
				      "one that is stripped: leave out -s and -w");
	if (compared)
		print_proof(&twin, recipe);
	else
		gh_print_error(&err);
	bool proved = compared && gh_twin_is_proved(&twin) && keep(&twin, options);
	gh_twin_free(&twin);
	gh_program_close(&build);
	return proved;
}

/* The path of the file that was built in DIRECTORY: `go install' names it by itself. */
static bool find_built(const char *directory, char path[PATH_MAX])
{
	DIR *files = opendir(directory);
	const struct dirent *entry;
	bool found = false;
	while (files != NULL && !found && (entry = readdir(files)) != NULL) {
		snprintf(path, PATH_MAX, "%s/%s", directory, entry->d_name);
		found = entry->d_name[0] != '.';
	}
	if (files != NULL)
		closedir(files);
	return found;
}

/* Builds the program again in a directory that is gone afterwards, and compares. */
static bool build(const struct gh_program *program, const struct gh_twin_recipe *recipe,
		  const struct gh_options *options)
{
	struct gh_output_directory out;
	struct gh_error err;
	char top[PATH_MAX];
	char path[PATH_MAX];
	char *cache = gh_cache_directory(true);
	if (cache == NULL) {
		gh_say("there is no directory of your own below ~/.cache: name one, "
		       "XDG_CACHE_HOME=DIR");
		return false;
	}
	snprintf(top, sizeof(top), "%s/" GH_KEPT_TWINS, cache);
	free(cache);
	if (!gh_output_directory_open(&out, top, &err)) {
		gh_print_error(&err);
		return false;
	}
	snprintf(path, sizeof(path), "%s/build", out.path);
	const struct gh_twin_making making = {
	    .recipe = recipe,
	    .program = options->file,
	    .source = options->source,
	    .output = path,
	    .network = options->network,
	    .print = options->print,
	};
	bool done = gh_twin_make(&making);
	if (done && !options->print)
		done = find_built(out.path, path) && compare(program, path, recipe, options);
	gh_output_directory_discard(&out);
	return done;
}

int gh_cmd_twin(const struct gh_options *options)
{
	struct gh_program program;
	struct gh_error err;
	struct gh_twin_recipe recipe = {0};
	if (!gh_check_output(options->output, options->file) ||
	    !gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, &program.image);
	bool done = false;
	if (gh_image_has_dwarf(&program.image))
		gh_say("%s has its DWARF: it needs no twin", options->file);
	else if (options->names != NULL)
		done = compare(&program, options->names, &recipe, options);
	else if (gh_twin_recipe_read(&recipe, &program.image, &info, options->ldflags, &err))
		done = build(&program, &recipe, options);
	else
		gh_print_error(&err);
	gh_twin_recipe_free(&recipe);
	gh_buildinfo_free(&info);
	gh_program_close(&program);
	return done ? GH_EXIT_OK : GH_EXIT_INPUT;
}
