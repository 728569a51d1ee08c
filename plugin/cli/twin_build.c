#include "plugin/cli/twin_build.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "lib/util/prefix.h"
#include "lib/util/run.h"
#include "plugin/view/view.h"

/* What is run: a program of Go's or git, without a shell between. */
struct running {
	const char *directory;          /* to run it in; NULL: this one */
	struct gh_twin_words arguments; /* the first is its path; they end with NULL */
	struct gh_twin_words variables; /* of its environment; the same */
	bool failed;                    /* memory ran out */
};

static void add_word(struct running *running, struct gh_twin_words *words, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_word(struct running *running, struct gh_twin_words *words, const char *format, ...)
{
	char *word = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&word, format, args) < 0 || !gh_vector_push(words, word)) {
		free(word);
		running->failed = true;
	}
	va_end(args);
}

static void running_free(struct running *running)
{
	gh_twin_words_free(&running->arguments);
	gh_twin_words_free(&running->variables);
}

/* The environment has NAME, by WORDS. */
static bool is_set(const struct gh_twin_words *words, const char *name)
{
	size_t size = strcspn(name, "=");
	for (size_t i = 0; i < words->count; i++)
		if (strncmp(words->items[i], name, size + 1) == 0)
			return true;
	return false;
}

/* Runs it, and has what it prints go to OUTPUT. Its status; -1 if it could not be run. */
static int run(struct running *running, int output)
{
	extern char **environ;
	struct gh_twin_words all = {0};
	int status = -1;
	for (size_t i = 0; i < running->variables.count; i++)
		gh_vector_push(&all, running->variables.items[i]);
	for (char **variable = environ; *variable != NULL; variable++)
		if (!is_set(&running->variables, *variable))
			gh_vector_push(&all, *variable);
	gh_vector_push(&all, NULL);
	gh_vector_push(&running->arguments, NULL);
	if (!running->failed && !all.failed && !running->arguments.failed) {
		const struct gh_run command = {
		    .path = running->arguments.items[0],
		    .arguments = (const char *const *)running->arguments.items,
		    .environment = all.items,
		    .directory = running->directory,
		    .output = output,
		};
		status = gh_run(&command);
	}
	gh_vector_free(&all);
	return status;
}

/* Runs it, and fills TEXT with the first line that it prints. False if it fails. */
static bool run_for_line(struct running *running, char *text, size_t size)
{
	int fd = memfd_create("goheap", MFD_CLOEXEC);
	bool done = fd >= 0 && run(running, fd) == 0;
	ssize_t length = done ? pread(fd, text, size - 1, 0) : -1;
	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	return done;
}

/* Toolchains */

/* The release of the go command at PATH; "" if there is none. */
static void find_release(const char *path, char *text, size_t size)
{
	struct running running = {0};
	*text = '\0';
	if (access(path, X_OK) == 0) {
		add_word(&running, &running.arguments, "%s", path);
		add_word(&running, &running.arguments, "env");
		add_word(&running, &running.arguments, "GOVERSION");
		add_word(&running, &running.variables, "GOTOOLCHAIN=local");
		run_for_line(&running, text, size);
	}
	running_free(&running);
}

/* The first program called NAME on the PATH, but for directories that depend on this one; "" if
 * there is none. */
static void find_on_path(const char *name, char path[PATH_MAX])
{
	const char *directories = getenv("PATH");
	*path = '\0';
	while (directories != NULL && *directories != '\0') {
		size_t size = strcspn(directories, ":");
		int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)size, directories, name);
		if (*directories == '/' && length < PATH_MAX && access(path, X_OK) == 0)
			return;
		*path = '\0';
		directories += size + (directories[size] == ':');
	}
}

/* Finds the go command of RELEASE: on the PATH, and where Debian, golang.org/dl and Go's own
 * installation have it. False if there is none; then PATH is the one on the PATH, whose release is
 * OTHER. */
static bool find_go(const char *release, char path[PATH_MAX], char other[64])
{
	char found[64];
	const char *home = getenv("HOME");
	char candidate[PATH_MAX];
	int minor = gh_go_minor(release);
	find_on_path("go", path);
	find_release(path, other, 64);
	if (strcmp(other, release) == 0)
		return true;
	for (unsigned i = 0; i < 4; i++) {
		if (i == 0)
			snprintf(candidate, sizeof(candidate), "/usr/lib/go-1.%d/bin/go", minor);
		else if (i == 1)
			snprintf(candidate, sizeof(candidate), "/usr/local/go/bin/go");
		else if (i == 2)
			snprintf(candidate, sizeof(candidate), "%s/sdk/%s/bin/go",
				 home != NULL ? home : "", release);
		else
			snprintf(candidate, sizeof(candidate),
				 "%s/go/pkg/mod/golang.org/toolchain@v0.0.1-%s.linux-amd64/bin/go",
				 home != NULL ? home : "", release);
		find_release(candidate, found, sizeof(found));
		if (strcmp(found, release) == 0) {
			snprintf(path, PATH_MAX, "%s", candidate);
			return true;
		}
	}
	return false;
}

static void say_no_toolchain(const struct gh_twin_making *making, const char *other)
{
	const char *release = making->recipe->release;
	char escaped[64];
	gh_say("%s was built by %s, which is not here (%s%s on the PATH): go install "
	       "golang.org/dl/%s@latest, then %s download; or --network",
	       making->program, release, *other != '\0' ? "" : "no go",
	       gh_escape_text(escaped, sizeof(escaped), other), release, release);
}

/* The checkout */

/* The commit that is checked out in DIRECTORY. False if that is no checkout of git's. */
static bool find_revision(const char *directory, char *text, size_t size)
{
	struct running running = {.directory = directory};
	char git[PATH_MAX];
	find_on_path("git", git);
	if (*git == '\0')
		return false;
	add_word(&running, &running.arguments, "%s", git);
	add_word(&running, &running.arguments, "rev-parse");
	add_word(&running, &running.arguments, "HEAD");
	bool found = run_for_line(&running, text, size);
	running_free(&running);
	return found;
}

/* The directory of the source, as it is named; without a name it is this one. */
static const char *source_of(const struct gh_twin_making *making)
{
	return making->source != NULL ? making->source : ".";
}

/* The directory may be the program's source. *STAMPED: the build is to tell its commit. */
static bool check_source(const struct gh_twin_making *making, bool *stamped)
{
	const struct gh_twin_recipe *recipe = making->recipe;
	const char *source = source_of(making);
	char revision[128];
	char escaped[128];
	struct stat st;
	*stamped = false;
	if (stat(source, &st) != 0 || !S_ISDIR(st.st_mode)) {
		gh_say("%s: no directory: name the checkout of %s, --source DIR", source,
		       recipe->module != NULL ? recipe->module : recipe->package);
		return false;
	}
	if (recipe->revision == NULL)
		return true;
	if (!find_revision(source, revision, sizeof(revision))) {
		gh_say("%s was built of revision %s; %s is no checkout that says which it is",
		       making->program, recipe->revision, source);
		return true;
	}
	*stamped = strcmp(revision, recipe->revision) == 0;
	if (!*stamped)
		gh_say("%s was built of revision %s, and %s is at %s: git -C %s checkout %s",
		       making->program, recipe->revision, source,
		       gh_escape_text(escaped, sizeof(escaped), revision), source,
		       recipe->revision);
	else if (recipe->is_modified)
		gh_say("%s was built of a checkout with changes that no commit has: the twin may "
		       "lack them",
		       making->program);
	return *stamped;
}

/* The command */

/* It is a released version of a module, as `go install' gets it, and no checkout. */
static bool is_module(const struct gh_twin_making *making)
{
	const struct gh_twin_recipe *recipe = making->recipe;
	return making->source == NULL && recipe->version != NULL &&
	       gh_starts_with(recipe->version, "v") && recipe->revision == NULL;
}

/* Fills RUNNING with the command. */
static void make_command(struct running *running, const struct gh_twin_making *making,
			 const char *go, bool is_exact, bool stamped)
{
	const struct gh_twin_recipe *recipe = making->recipe;
	struct gh_twin_words *arguments = &running->arguments;
	bool module = is_module(making);
	char directory[PATH_MAX];
	snprintf(directory, sizeof(directory), "%s", making->output);
	*strrchr(directory, '/') = '\0';
	running->directory = module ? directory : making->source;
	add_word(running, &running->variables, "GOFLAGS=");
	add_word(running, &running->variables, "GOTOOLCHAIN=%s",
		 is_exact ? "local" : recipe->release);
	if (!making->network)
		add_word(running, &running->variables, "GOPROXY=off");
	if (module)
		add_word(running, &running->variables, "GOBIN=%s", directory);
	for (size_t i = 0; i < recipe->variables.count; i++)
		add_word(running, &running->variables, "%s", recipe->variables.items[i]);
	add_word(running, arguments, "%s", go);
	add_word(running, arguments, module ? "install" : "build");
	if (!stamped && !module)
		add_word(running, arguments, "-buildvcs=false");
	for (size_t i = 0; i < recipe->flags.count; i++)
		add_word(running, arguments, "%s", recipe->flags.items[i]);
	if (module) {
		add_word(running, arguments, "%s@%s", recipe->package, recipe->version);
		return;
	}
	add_word(running, arguments, "-o");
	add_word(running, arguments, "%s", making->output);
	bool is_files = strcmp(recipe->package, "command-line-arguments") == 0;
	add_word(running, arguments, "%s", is_files ? "." : recipe->package);
}

/* Prints WORD as a shell takes it for one. */
static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+:,@%-=";
	if (*word != '\0' && word[strspn(word, plain)] == '\0') {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	}
	putchar('\'');
}

static void print_command(const struct running *running)
{
	if (running->directory != NULL) {
		fputs("cd ", stdout);
		print_word(running->directory);
		fputs(" && ", stdout);
	}
	for (size_t i = 0; i < running->variables.count; i++) {
		const char *value = strchr(running->variables.items[i], '=') + 1;
		printf("%.*s", (int)(value - running->variables.items[i]),
		       running->variables.items[i]);
		if (*value != '\0')
			print_word(value);
		putchar(' ');
	}
	for (size_t i = 0; i < running->arguments.count; i++) {
		if (i > 0)
			putchar(' ');
		print_word(running->arguments.items[i]);
	}
	putchar('\n');
	fflush(stdout);
}

bool gh_twin_make(const struct gh_twin_making *making)
{
	char go[PATH_MAX];
	char other[64];
	bool stamped = false;
	bool is_exact = find_go(making->recipe->release, go, other);
	if (!is_exact && !(making->network && *go != '\0')) {
		say_no_toolchain(making, other);
		return false;
	}
	if (!is_module(making) && !check_source(making, &stamped))
		return false;
	struct running running = {0};
	make_command(&running, making, go, is_exact, stamped);
	print_command(&running);
	int status = making->print ? 0 : run(&running, STDERR_FILENO);
	bool failed = running.failed;
	running_free(&running);
	if (status == 0 || failed) {
		if (failed)
			gh_say(GH_OUT_OF_MEMORY);
		return !failed;
	}
	gh_say("go could not build %s again: its message is above%s", making->program,
	       making->network ? "" : "; modules that are not here are fetched with --network");
	return false;
}
