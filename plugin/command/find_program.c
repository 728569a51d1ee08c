/* Finds the program of a core file or heap dump that was named without it. */
#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "lib/util/process_list.h"
#include "plugin/command/command.h"
#include "plugin/view/view.h"

/* The most files of a directory that are looked at. */
enum { MOST_FILES = 1024 };

/* Calls TAKE with each program in the directory of the file BESIDE, or in this one for standard
 * input, until that returns true. Returns whether it has. */
static bool find_beside(const char *beside, bool (*take)(void *context, const char *path),
			void *context)
{
	char copy[PATH_MAX];
	char path[PATH_MAX];
	bool found = false;
	snprintf(copy, sizeof(copy), "%s", strcmp(beside, GH_INPUT_PATH) == 0 ? "." : beside);
	const char *directory = dirname(copy);
	DIR *files = opendir(directory);
	const struct dirent *entry;
	for (int i = 0; files != NULL && !found && i < MOST_FILES; i++) {
		if ((entry = readdir(files)) == NULL)
			break;
		bool is_here = strcmp(directory, ".") == 0;
		int length = snprintf(path, sizeof(path), "%s%s%s", is_here ? "" : directory,
				      is_here ? "" : "/", entry->d_name);
		found = length < PATH_MAX && gh_target_kind(path, NULL) == GH_KIND_PROGRAM &&
			take(context, path);
	}
	if (files != NULL)
		closedir(files);
	return found;
}

/* The search for the program of a core file. */
struct search {
	const char *core;             /* its path */
	struct gh_identity identity;  /* of the program */
	struct gh_identity replaced;  /* of what is at the program's path now; zeros if it is it */
	char *program;                /* the path that was found, of PATH_MAX bytes */
	enum gh_identities certainty; /* of that */
};

/* The Go program at PATH is the one that is searched for, or, if UNKNOWN will do, may be. */
static bool is_it(struct search *search, const char *path, bool unknown)
{
	struct gh_image image;
	struct gh_identity found;
	if (!gh_file_is_go(path) || !gh_image_open_unrelocated(&image, path, NULL))
		return false;
	gh_identity_of_image(&found, &image);
	gh_image_close(&image);
	search->certainty = gh_identity_compare(&search->identity, &found);
	bool is = search->certainty == GH_IDENTITIES_SAME ||
		  (unknown && search->certainty == GH_IDENTITIES_UNKNOWN);
	if (is)
		snprintf(search->program, PATH_MAX, "%s", path);
	if (!is && unknown && search->replaced.name == NULL)
		search->replaced = found;
	else
		gh_identity_free(&found);
	return is;
}

static bool take_beside(void *context, const char *path)
{
	return is_it(context, path, false);
}

/* The process runs it, or has it at the same path below its own root, as in a container. */
static void take_process(void *context, const struct gh_process_summary *process)
{
	struct search *search = context;
	struct stat root, own;
	char path[PATH_MAX];
	if (*search->program != '\0' || !process->readable)
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
	if (is_it(search, path, false))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root", process->pid);
	if (search->identity.path == NULL || stat(path, &root) != 0 || stat("/", &own) != 0 ||
	    (root.st_dev == own.st_dev && root.st_ino == own.st_ino))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root%s", process->pid, search->identity.path);
	is_it(search, path, false);
}

/* Where debuggers look. Source: Separate Debug Files in GDB's manual. */
static bool find_by_build_id(struct search *search)
{
	static const char *const places[] = {"/usr/lib/debug/.build-id", "/usr/lib/.build-id"};
	const char *id = search->identity.ids.gnu_build_id;
	char path[PATH_MAX];
	bool found = false;
	for (size_t i = 0; id != NULL && !found && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%.2s/%s", places[i], id, id + strnlen(id, 2));
		found = is_it(search, path, false);
	}
	return found;
}

/* Asks the servers in $DEBUGINFOD_URLS, if there are any. Source: debuginfod_find_debuginfo(3). */
static bool find_by_debuginfod(struct search *search)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	const char *id = search->identity.ids.gnu_build_id;
	void *library = id != NULL && servers != NULL && *servers != '\0'
			    ? dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL)
			    : NULL;
	if (library == NULL)
		return false;
	void *(*begin)(void) = (void *(*)(void))dlsym(library, "debuginfod_begin");
	void (*end)(void *) = (void (*)(void *))dlsym(library, "debuginfod_end");
	int (*find)(void *, const unsigned char *, int, char **) =
	    (int (*)(void *, const unsigned char *, int, char **))dlsym(
		library, "debuginfod_find_executable");
	void *client = begin != NULL && end != NULL && find != NULL ? begin() : NULL;
	char *path = NULL;
	int fd = -1;
	if (client != NULL) {
		gh_progress_begin("goheap: asking debuginfod for the program of", search->core);
		fd = find(client, (const unsigned char *)id, 0, &path);
		gh_progress_end();
		end(client);
	}
	bool found = fd >= 0 && path != NULL && is_it(search, path, false);
	if (fd >= 0)
		close(fd);
	free(path);
	return found;
}

/* It is at its own path, or one of its name or build is beside the core file. */
static bool find_near(struct search *search)
{
	char core[PATH_MAX];
	char path[PATH_MAX];
	const char *own = search->identity.path;
	if (own != NULL && is_it(search, own, true))
		return true;
	if (own != NULL) {
		const char *slash = strrchr(own, '/');
		snprintf(core, sizeof(core), "%s", search->core);
		int length = snprintf(path, sizeof(path), "%s/%s", dirname(core),
				      slash != NULL ? slash + 1 : own);
		if (length < PATH_MAX && search->replaced.name == NULL && is_it(search, path, true))
			return true;
	}
	return find_beside(search->core, take_beside, search);
}

static bool find(struct search *search)
{
	if (find_near(search))
		return true;
	gh_process_list(take_process, search);
	return *search->program != '\0' || find_by_build_id(search) || find_by_debuginfod(search);
}

static void tell_found(const struct search *search)
{
	if (search->certainty == GH_IDENTITIES_SAME)
		gh_say("%s: its program is %s, by its build id", search->core, search->program);
	else
		gh_say("%s: its program is taken to be %s: no build id says so", search->core,
		       search->program);
}

/* The kernel leaves out of a core file what is in files still, unless its coredump_filter says to
 * write that, too. */
static void tell_missing(const struct search *search, const char *execfn)
{
	static const char places[] = "beside the core file, among running programs and in "
				     "/usr/lib/debug/.build-id";
	const struct gh_identity *identity = &search->identity;
	const char *id = identity->ids.gnu_build_id != NULL ? identity->ids.gnu_build_id
							    : identity->ids.go_build_id;
	const char *own = identity->path != NULL ? identity->path : execfn;
	if (search->replaced.name != NULL)
		gh_say("%s: its program was %s, build id %s; that file has been replaced since by "
		       "build id %s: name the right one, -e PROGRAM (looked for %s)",
		       search->core, own, gh_identity_told(identity, &search->replaced),
		       gh_identity_told(&search->replaced, identity), places);
	else if (!gh_foreign_tell_core(search->core))
		gh_say("%s is without its program %s, build id %s, which is not there any more: "
		       "name it, -e "
		       "PROGRAM (looked for %s)",
		       search->core, own != NULL ? own : "of unknown name",
		       id != NULL ? id : "unknown", places);
}

bool gh_core_program_find(const char *path, char program[PATH_MAX])
{
	struct gh_image core;
	struct gh_error err;
	struct search search = {.core = path, .program = program};
	*program = '\0';
	if (!gh_image_open_core(&core, path, &err)) {
		gh_print_error(&err);
		return false;
	}
	gh_identity_of_core(&search.identity, &core);
	bool found = find(&search);
	if (found)
		tell_found(&search);
	else
		tell_missing(&search, gh_core_execfn(&core));
	gh_identity_free(&search.replaced);
	gh_identity_free(&search.identity);
	gh_image_close(&core);
	return found;
}

/* The search for the program of heap dumps. */
struct dump_search {
	const char *const *paths; /* of the dumps */
	size_t count;
	struct gh_dump dump; /* the first; opened when a program is there */
	bool is_open;
	bool has_twin;               /* the program that was found has DWARF */
	struct gh_identity identity; /* of that */
	bool has_other;              /* one of another build fits, too */
	char *program;               /* the path that was found, of PATH_MAX bytes */
};

/* Notes whether the program at PATH fits the first dump. All are looked at: two of one build that
 * do are it before it was stripped, and after. */
static bool take_fitting(void *context, const char *path)
{
	struct dump_search *search = context;
	struct gh_image image;
	if (!gh_file_is_go(path))
		return false;
	if (!search->is_open)
		search->is_open = gh_dump_open(&search->dump, search->paths[0], NULL);
	if (!search->is_open)
		return true;
	if (!gh_symbols_fit(&search->dump, path) || !gh_image_open(&image, path, NULL))
		return false;
	struct gh_identity identity;
	gh_identity_of_image(&identity, &image);
	bool has_twin = gh_image_has_dwarf(&image);
	bool is_first = *search->program == '\0';
	if (!is_first && gh_identity_compare(&identity, &search->identity) == GH_IDENTITIES_DIFFER)
		search->has_other = true;
	if (is_first || (has_twin && !search->has_twin)) {
		snprintf(search->program, PATH_MAX, "%s", path);
		search->has_twin = has_twin;
	}
	if (is_first)
		search->identity = identity;
	else
		gh_identity_free(&identity);
	gh_image_close(&image);
	return false;
}

bool gh_dump_program_find(const char *const *paths, size_t count, char program[PATH_MAX])
{
	struct dump_search search = {.paths = paths, .count = count, .program = program};
	*program = '\0';
	find_beside(paths[0], take_fitting, &search);
	if (search.has_other)
		*program = '\0';
	gh_identity_free(&search.identity);
	if (search.is_open)
		gh_dump_close(&search.dump);
	for (size_t i = 1; i < count && *program != '\0'; i++) {
		if (!gh_dump_open(&search.dump, paths[i], NULL))
			continue;
		if (!gh_symbols_fit(&search.dump, program))
			*program = '\0';
		gh_dump_close(&search.dump);
	}
	if (*program != '\0')
		gh_say("%s: its program is %s, whose functions and variables fit", paths[0],
		       program);
	return *program != '\0';
}
