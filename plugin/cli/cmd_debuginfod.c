/* goheap debuginfod: debug files and executables of Go programs, by build id, for debuggers of
 * other machines. Source: debuginfod(8), WEBAPI. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/blake2b.h"
#include "lib/util/cache_directory.h"
#include "lib/util/escape.h"
#include "lib/util/hex.h"
#include "lib/util/now.h"
#include "lib/util/open_file.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"
#include "plugin/web/web.h"

#define PLACE "127.0.0.1:8002" /* debuginfod's own port */

/* Bytes of a build id that is made of Go's own, as many as Go's linker makes of it since 1.24. */
#define MADE_SIZE 20

enum {
	MOST_DIGITS = 128, /* of a build id that is asked for */
	SCANNED_FOR = 10,  /* seconds for which what was not found is not searched for again */
	MOST_DEPTH = 64,   /* of directories */
};

/* A Go program that can be asked for. */
struct served {
	char *id;    /* its GNU build id, or one made of Go's; in lower-case hexadecimal */
	char *go_id; /* Go's, if the program has no other; else NULL */
	char *path;
	bool has_dwarf;
	struct stat file; /* when it was looked at */
};

struct serving {
	char **directories;                       /* up to a NULL */
	struct GH_VECTOR(struct served) programs; /* owned */
	uint64_t scanned;                         /* when they were searched for, by gh_now */
};

static void free_program(struct served *program)
{
	free(program->id);
	free(program->go_id);
	free(program->path);
}

static void free_programs(struct serving *serving)
{
	for (size_t i = 0; i < serving->programs.count; i++)
		free_program(&serving->programs.items[i]);
	gh_vector_free(&serving->programs);
}

/* The build id that stands for GO_ID, a hash of it; NULL if memory ran out. */
static char *make_id(const char *go_id)
{
	uint8_t hash[GH_BLAKE2B_SIZE];
	char *id = malloc(2 * MADE_SIZE + 1);
	gh_blake2b(go_id, strlen(go_id), hash);
	if (id != NULL)
		gh_hex_text(id, hash, MADE_SIZE);
	return id;
}

/* Adds the program at PATH, if it is Go's and has a build id. */
static void add_program(struct serving *serving, const char *path, const struct stat *file)
{
	struct gh_image image;
	struct gh_buildinfo info;
	if (!gh_file_is_go(path) || !gh_image_open_unrelocated(&image, path, NULL))
		return;
	gh_buildinfo_read_ids(&info, &image);
	struct served program = {
	    .path = strdup(path), .has_dwarf = gh_image_has_dwarf(&image), .file = *file};
	gh_image_close(&image);
	if (info.gnu_build_id != NULL) {
		program.id = strdup(info.gnu_build_id);
	} else if (info.go_build_id != NULL) {
		program.id = make_id(info.go_build_id);
		program.go_id = strdup(info.go_build_id);
	}
	gh_buildinfo_free(&info);
	bool is_whole = program.path != NULL && program.id != NULL;
	if (!is_whole || !gh_vector_push(&serving->programs, program))
		free_program(&program);
}

/* Searches the directories. Links in them are not followed. */
static void scan(struct serving *serving)
{
	const int how = FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR;
	FTS *files = fts_open(serving->directories, how, NULL);
	free_programs(serving);
	for (FTSENT *entry; files != NULL && (entry = fts_read(files)) != NULL;) {
		if (entry->fts_info == FTS_D && entry->fts_level > MOST_DEPTH)
			fts_set(files, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F)
			add_program(serving, entry->fts_path, entry->fts_statp);
	}
	if (files != NULL)
		fts_close(files);
	serving->scanned = gh_now();
}

/* The kinds of files that are served. */
enum kind {
	NO_KIND,
	DEBUGINFO,
	EXECUTABLE,
};

/* The program with the build id ID: for its debug file, the unstripped one if both are there. NULL
 * if there is none. */
static const struct served *find_known(const struct serving *serving, enum kind kind,
				       const char *id)
{
	const struct served *found = NULL;
	for (size_t i = 0; i < serving->programs.count; i++) {
		const struct served *program = &serving->programs.items[i];
		if (strcmp(program->id, id) != 0)
			continue;
		if (program->has_dwarf == (kind == DEBUGINFO))
			return program;
		found = program;
	}
	return found;
}

/* The program is as it was when its build id was read. */
static bool is_unchanged(const struct served *program)
{
	struct stat now;
	return lstat(program->path, &now) == 0 && gh_is_same_file(&now, &program->file);
}

/* The program with the build id ID, for KIND; it may have come after the last search. NULL if there
 * is none. */
static const struct served *find(struct serving *serving, enum kind kind, const char *id)
{
	const struct served *found = find_known(serving, kind, id);
	bool was_searched = gh_now() - serving->scanned < SCANNED_FOR * UINT64_C(1000000000);
	if ((found != NULL && is_unchanged(found)) || (found == NULL && was_searched))
		return found;
	scan(serving);
	return find_known(serving, kind, id);
}

/* Reads what NAME, the path of an address, asks for: its kind, and the build id to ID. */
static enum kind read_name(const char *name, char id[MOST_DIGITS + 1])
{
	static const char start[] = "buildid/";
	if (strncmp(name, start, strlen(start)) != 0)
		return NO_KIND;
	name += strlen(start);
	size_t length = strspn(name, "0123456789abcdef");
	if (length == 0 || length > MOST_DIGITS)
		return NO_KIND;
	snprintf(id, MOST_DIGITS + 1, "%.*s", (int)length, name);
	name += length;
	return strcmp(name, "/debuginfo") == 0    ? DEBUGINFO
	       : strcmp(name, "/executable") == 0 ? EXECUTABLE
						  : NO_KIND;
}

/* Has FD be the file at PATH. */
static bool replace(int fd, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool replaced = file >= 0 && dup3(file, fd, O_CLOEXEC) == fd;
	if (file >= 0)
		close(file);
	return replaced;
}

/* Prints the programs that can be asked for. */
static enum gh_web_begun list(const struct serving *serving, const struct gh_web_question *question)
{
	FILE *out = fdopen(dup(question->out), "w");
	if (out == NULL)
		return GH_WEB_FAILED;
	for (size_t i = 0; i < serving->programs.count; i++) {
		const struct served *program = &serving->programs.items[i];
		fprintf(out, "%s  ", program->id);
		gh_escape_print(out, program->path);
		if (program->go_id != NULL) {
			fputs("  Go build id ", out);
			gh_escape_print(out, program->go_id);
		}
		fputc('\n', out);
	}
	return fclose(out) == 0 ? GH_WEB_ANSWERED : GH_WEB_FAILED;
}

/* The path of the file that has the debug information of the stripped program at PATH: its twin, or
 * one in the cache. To be freed; NULL, and a message printed, if there is none. */
static char *make_debuginfo(const char *path)
{
	struct gh_image image;
	struct gh_error err;
	if (!gh_image_open(&image, path, &err)) {
		gh_print_error(&err);
		return NULL;
	}
	char *cache = gh_cache_directory(true);
	char *made = gh_kept_twin_find(&image);
	if (made == NULL && cache != NULL)
		made = gh_cache_get(cache, &image, GH_FOR_ANY);
	if (made == NULL)
		gh_say("the debug file of %s can be neither made nor kept", path);
	free(cache);
	gh_image_close(&image);
	return made;
}

/* Begins a process that writes the path of the program's debug file. */
static enum gh_web_begun begin_debuginfo(const char *path, const struct gh_web_question *question,
					 pid_t *child)
{
	*child = fork();
	if (*child < 0) {
		dprintf(question->err, "goheap: fork: %s\n", strerror(errno));
		return GH_WEB_FAILED;
	}
	if (*child > 0)
		return GH_WEB_BEGUN;
	dup2(question->err, STDERR_FILENO);
	char *made = make_debuginfo(path);
	_exit(made != NULL && dprintf(question->out, "%s", made) > 0 ? GH_EXIT_OK : GH_EXIT_INPUT);
}

static enum gh_web_begun begin(void *context, struct gh_web_question *question, pid_t *child)
{
	struct serving *serving = context;
	char id[MOST_DIGITS + 1];
	question->type = "application/octet-stream";
	if (*question->name == '\0') {
		question->type = "text/plain; charset=utf-8";
		return list(serving, question);
	}
	enum kind kind = read_name(question->name, id);
	const struct served *program = kind != NO_KIND ? find(serving, kind, id) : NULL;
	if (program == NULL) {
		dprintf(question->err, "goheap: %s\n",
			kind != NO_KIND ? "no program here has this build id"
					: "expected buildid/HEX/debuginfo or /executable");
		return GH_WEB_NO_QUESTION;
	}
	if (kind == DEBUGINFO && !program->has_dwarf)
		return begin_debuginfo(program->path, question, child);
	return replace(question->out, program->path) ? GH_WEB_ANSWERED : GH_WEB_NO_QUESTION;
}

/* The file whose path was written is the answer. */
static void end(void *context, struct gh_web_question *question, bool answered)
{
	char path[PATH_MAX];
	(void)context;
	ssize_t length = answered ? pread(question->out, path, sizeof(path) - 1, 0) : -1;
	path[length > 0 ? length : 0] = '\0';
	if (length > 0 && !replace(question->out, path) && ftruncate(question->out, 0) != 0)
		errno = 0;
}

int gh_cmd_debuginfod(const struct gh_options *options)
{
	char *here[] = {".", NULL};
	struct serving serving = {.directories = options->nwords > 0 ? options->words : here};
	struct gh_web_answers answers = {
	    .begin = begin, .end = end, .context = &serving, .is_for_all = true};
	for (char **directory = serving.directories; *directory != NULL; directory++) {
		struct stat st;
		if (stat(*directory, &st) == 0 && S_ISDIR(st.st_mode))
			continue;
		gh_say("%s: expected a directory", *directory);
		return GH_EXIT_INPUT;
	}
	struct gh_web_server *server =
	    gh_web_listen(options->http != NULL ? options->http : PLACE, &answers);
	if (server == NULL)
		return GH_EXIT_INPUT;
	scan(&serving);
	if (!gh_web_is_local(server))
		gh_say("other machines can have these programs from this server");
	printf("Go programs: %zu; for debuggers: export DEBUGINFOD_URLS=%s\n",
	       serving.programs.count, gh_web_address(server));
	fflush(stdout);
	signal(SIGPIPE, SIG_IGN);
	gh_web_serve(server);
	free_programs(&serving);
	return GH_EXIT_INPUT;
}
