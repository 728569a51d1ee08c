/* goheap session: what goheap.gdb runs whenever GDB's program may be another than before. Reads
 * what _goheap_tell prints there and writes the session's boot.gdb, which GDB then runs. Of a core
 * file it also says what the process crashed of, and what else is wrong with it or a process. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/debugfile/debugfile.h"
#include "lib/elf/elf.h"
#include "lib/util/cache_directory.h"
#include "lib/util/escape.h"
#include "lib/util/now.h"
#include "lib/util/number_file.h"
#include "lib/util/process_list.h"
#include "plugin/command/command.h"
#include "plugin/dispatch/dispatch.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"

struct job {
	char *directory;     /* of the session, canonical as GDB prints paths */
	char *cache;         /* directory of the cache; NULL if there is none */
	struct gh_told told; /* by GDB; owned */
	bool has_dump;       /* the core file is that of a heap dump, of `goheap load' */
	bool has_library;    /* the program is another's that has a Go library */
	char *identity;      /* tells the program from any other, and from itself rebuilt */
	FILE *boot;          /* the script that is being written */
	uint64_t start;      /* when the work began, by gh_now */
};

static char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* The text, to be freed; memory that ran out ends the program, which is this small. */
static char *format(const char *text, ...)
{
	char *out;
	va_list args;
	va_start(args, text);
	int length = vasprintf(&out, text, args);
	va_end(args);
	if (length < 0) {
		gh_say(GH_OUT_OF_MEMORY);
		exit(GH_EXIT_INPUT);
	}
	return out;
}

/* Has GDB print "goheap: TEXT", a line. TEXT is fit for a terminal. */
static void say(struct job *job, const char *text)
{
	gh_script_say(job->boot, "goheap: %s", text);
}

/* The program's name and what tells one file of that name from another. */
static char *identify(const char *program)
{
	struct stat st;
	if (stat(program, &st) != 0)
		return format("- %s", program);
	return format("%jx.%jx.%jx.%jx.%lx %s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
		      (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		      program);
}

/* What the session last saw: the program's identity, and the debug file that was found for it, ""
 * if none is to be. Both end with a NUL. */
struct state {
	char *identity; /* owned; NULL if there is no state yet */
	char *debug;    /* owned */
};

static char *read_field(FILE *file)
{
	char *text = NULL;
	size_t size = 0;
	if (getdelim(&text, &size, '\0', file) >= 0)
		return text;
	free(text);
	return NULL;
}

static struct state read_state(const struct job *job)
{
	struct state state = {0};
	char *path = format("%s/" GH_SESSION_STATE, job->directory);
	FILE *file = fopen(path, "re");
	free(path);
	if (file == NULL)
		return state;
	state.identity = read_field(file);
	state.debug = read_field(file);
	fclose(file);
	return state;
}

/* If it fails, the next hook does the work again. */
static void write_state(const struct job *job, const char *debug)
{
	char *path = format("%s/" GH_SESSION_STATE, job->directory);
	FILE *file = fopen(path, "we");
	free(path);
	if (file == NULL)
		return;
	fprintf(file, "%s%c%s%c", job->identity, '\0', debug, '\0');
	fclose(file);
}

static bool same_file(const char *a, const char *b)
{
	struct stat first;
	struct stat second;
	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* Removes the file NAME from the session. False if there was none. */
static bool remove_file(const struct job *job, const char *name)
{
	char *path = format("%s/%s", job->directory, name);
	bool removed = unlink(path) == 0;
	free(path);
	return removed;
}

/* A heap dump that GDB no longer has open is not to be taken for what it has now. */
static void forget_dump(struct job *job)
{
	char *core = format("%s/%s", job->directory, GH_SESSION_CORE);
	job->has_dump = job->told.files.core != NULL && same_file(job->told.files.core, core);
	free(core);
	if (job->has_dump)
		return;
	remove_file(job, GH_SESSION_WRITER);
	remove_file(job, GH_SESSION_NAMES);
	/* Frames may also be those of a process's goroutine, which _goheap_leave removes. GDB may
	 * have asked for the dump's stack already. */
	if (remove_file(job, GH_SESSION_DUMP) && remove_file(job, GH_SESSION_FRAMES))
		fputs("maint flush register-cache\n", job->boot);
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	return strncmp(path, directory, length) == 0 && path[length] == '/';
}

/* The symbols that GDB has are of our making: of this program or of an earlier one. */
static bool has_our_symbols(const struct job *job)
{
	const char *symbols = job->told.files.symbols;
	return symbols != NULL && (is_below(symbols, job->directory) ||
				   (job->cache != NULL && is_below(symbols, job->cache)));
}

/* What GDB has is what the program had of its own, or ours. Other symbols are of the user's
 * choosing, and stay. */
static bool may_replace_symbols(const struct job *job)
{
	const char *symbols = job->told.files.symbols;
	return symbols == NULL || same_file(symbols, job->told.files.program) ||
	       has_our_symbols(job);
}

/* The symbols are those that `goheap load' made. */
static bool has_dump_symbols(const struct job *job)
{
	char *debug = format("%s/%s", job->directory, GH_SESSION_DEBUG);
	bool has = strcmp(job->told.files.symbols, debug) == 0;
	free(debug);
	return has && job->has_dump;
}

/* The program is the one last seen, and nothing is left to do for it. Where GDB has dropped the
 * symbols altogether, the user has told it to. */
static bool is_done(const struct job *job)
{
	const char *symbols = job->told.files.symbols;
	struct state state = read_state(job);
	bool done = state.identity != NULL && state.debug != NULL &&
		    strcmp(state.identity, job->identity) == 0 &&
		    (state.debug[0] == '\0' || symbols == NULL ||
		     strcmp(symbols, state.debug) == 0 || has_dump_symbols(job));
	free(state.identity);
	free(state.debug);
	return done;
}

/* The path of the program's debug file, which is written where it is not kept from another time, or
 * failing that in the session. To be freed; NULL with ERR filled if it cannot be written. */
static char *find_debug_file(const struct job *job, const struct gh_program *program,
			     struct gh_error *err)
{
	char *path =
	    job->cache != NULL ? gh_cache_get(job->cache, &program->image, GH_FOR_GDB) : NULL;
	if (path != NULL)
		return path;
	/* The file's identity, up to its name, has GDB take a rebuilt program's for another. */
	path = format("%s/%.*s.debug", job->directory, (int)strcspn(job->identity, " "),
		      job->identity);
	bool written = access(path, R_OK) == 0;
	if (!written && gh_image_has_dwarf(&program->image))
		written = gh_supplement_write(&program->tab, path, err);
	else if (!written)
		written = gh_debugfile_write(&program->tab, NULL, GH_FOR_GDB, path, err);
	if (written)
		return path;
	free(path);
	return NULL;
}

/* There is something by which GDB looks for a file of debug information. */
static bool names_debug_file(const struct gh_program *program, const struct gh_buildinfo *info)
{
	return info->gnu_build_id != NULL ||
	       gh_image_section(&program->image, ".gnu_debuglink") != NULL;
}

/* GDB may have found debug information of the program's own in another file. Nothing but the
 * presence of lines tells, so GDB is asked for that of a function, before it does what follows up
 * to the end of the condition. */
static void begin_unless_lines(struct job *job, const struct gh_program *program)
{
	const struct gh_image *image = &program->image;
	uint64_t bias = 0;
	if (gh_image_is_pie(image) && job->told.files.entry != 0)
		bias = job->told.files.entry - image->header.e_entry;
	struct gh_func func;
	struct gh_error err;
	uint64_t address = image->header.e_entry;
	if (gh_pclntab_func(&program->tab, program->tab.nfunc / 2, &func, &err))
		address = func.entry;
	/* Decimal is the same in every language that GDB may be set to. */
	fprintf(job->boot,
		"pipe info line *%" PRIu64 " | { read -r text; cat >/dev/null; "
		"case $text in Line*|'~\"Line'*) ;; *) exit 1;; esac; }\n",
		address + bias);
	fputs("if $_shell_exitcode\n", job->boot);
}

/* GDB 13 looks for the program's main function once, when it opens the program, and would not find
 * it for `start', nor know that the language is Go. GDB 16 would run a rebuilt PIE with the old
 * file's layout, and not relocate its symbols. The hook on exec-file is not to look now. */
static void open_again(struct job *job)
{
	if (job->told.files.running || strchr(job->told.files.program, '\n') != NULL)
		return;
	gh_script_file(job->boot, GH_SCRIPT_UNHOOKED "exec-file", job->told.files.program);
}

/* Why GDB has a copy of the program, for a person: "" if it has the program itself. To be freed. */
static char *read_origin(const struct job *job)
{
	char path[PATH_MAX];
	char text[256] = "";
	const char *program = job->told.files.program;
	if (strcmp(program, gh_missing_file_path(path, job->directory, GH_SESSION_PROGRAM)) != 0 &&
	    strcmp(program, gh_missing_file_path(path, job->directory, GH_SESSION_SECTIONS)) != 0)
		return format("%s", "");
	FILE *file = fopen(gh_missing_file_path(path, job->directory, GH_SESSION_ORIGIN), "re");
	if (file != NULL) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	return format(" (%s)", text);
}

/* Has GDB read the symbols in DEBUG, of PROGRAM or of its twin, and say so. */
static void load_symbols(struct job *job, const struct gh_program *program,
			 const struct gh_buildinfo *info, const char *debug, bool is_twin)
{
	bool has_dwarf = gh_image_has_dwarf(&program->image);
	bool may_have_lines =
	    !has_dwarf && !has_our_symbols(job) && names_debug_file(program, info);
	if (may_have_lines)
		begin_unless_lines(job, program);

	open_again(job);
	if (!has_dwarf && job->told.scalars)
		fputs(GH_SCRIPT_PRESENCE, job->boot);
	gh_script_symbols(job->boot, debug);

	char version[64];
	gh_escape_text(version, sizeof(version),
		       info->go_version != NULL ? info->go_version : "Go");
	char *origin = read_origin(job);
	const char *dwarf = is_twin ? " with its twin's DWARF" : has_dwarf ? " with DWARF" : "";
	char *line = format("%s program%s%s, %zu functions, %ld ms", version, origin, dwarf,
			    program->tab.nfunc, gh_milliseconds_since(job->start));
	say(job, line);
	free(line);
	free(origin);
	if (may_have_lines)
		fputs("end\n", job->boot);
}

/* Says why a program has no functions of Go's. Who has goheap in every session, as Debian's package
 * loads it, is not told of each program in C. */
static void say_foreign(struct job *job, const struct gh_image *image, struct gh_error *err)
{
	bool is_go = gh_image_is_go(image) || gh_image_is_packed(image);
	fputs(is_go ? "if 1\n" : "if $_isvoid($goheap_preloaded)\n", job->boot);
	say(job, gh_foreign_describe(image, err));
	fputs("end\n", job->boot);
}

/* Opens the twin that is kept of PROGRAM, which is stripped. False if there is none. */
static bool open_twin(struct gh_program *twin, const struct gh_program *program)
{
	char *path =
	    gh_image_has_dwarf(&program->image) ? NULL : gh_kept_twin_find(&program->image);
	bool opened = path != NULL && gh_image_open(&twin->image, path, NULL) &&
		      gh_pclntab_open(&twin->tab, &twin->image, NULL);
	free(path);
	return opened;
}

/* The Go program's debug file, made and loaded; to be freed. NULL, after saying why, if there is
 * none. */
static char *add_symbols(struct job *job, struct gh_program *program)
{
	struct gh_error err;
	if (!gh_pclntab_open(&program->tab, &program->image, &err)) {
		if (!job->has_library)
			say_foreign(job, &program->image, &err);
		return NULL;
	}
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, &program->image);
	gh_script_stepping(job->boot, &program->tab);
	struct gh_program twin = {0};
	bool has_twin = open_twin(&twin, program);
	const struct gh_program *described = has_twin ? &twin : program;
	char *debug = find_debug_file(job, described, &err);
	if (debug != NULL)
		load_symbols(job, described, &info, debug, has_twin);
	else
		say(job, err.text);
	gh_program_close(&twin);
	gh_buildinfo_free(&info);
	return debug;
}

static char *look_at_program(struct job *job)
{
	struct gh_program program = {0};
	struct gh_error err;
	if (!gh_image_open(&program.image, job->told.files.program, &err)) {
		say(job, err.text);
		return NULL;
	}
	char *debug = add_symbols(job, &program);
	gh_program_close(&program);
	return debug;
}

/* IDENTITY is not what the session's file NAME has, which then has it. */
static bool is_new(const struct job *job, const char *name, const char *identity)
{
	char *path = format("%s/%s", job->directory, name);
	FILE *file = fopen(path, "re");
	char *seen = file != NULL ? read_field(file) : NULL;
	bool found = seen == NULL || strcmp(seen, identity) != 0;
	if (file != NULL)
		fclose(file);
	file = found ? fopen(path, "we") : NULL;
	if (file != NULL) {
		fprintf(file, "%s%c", identity, '\0');
		fclose(file);
	}
	free(seen);
	free(path);
	return found;
}

/* GDB has attached to the process PID, and not started it. */
static bool is_attached(int pid)
{
	char path[64];
	uint64_t parent = 0, tracer = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return gh_number_file_read(path, "PPid:", &parent) &&
	       gh_number_file_read(path, "TracerPid:", &tracer) && tracer != 0 && tracer != parent;
}

/* Says what a core file's process crashed of, and what is wrong with it or with the process that
 * GDB has attached to, once for each. */
static void tell_first(struct job *job)
{
	const struct gh_infofiles *files = &job->told.files;
	struct gh_process_summary process;
	char *identity = NULL;
	if (files->core != NULL) {
		identity = identify(files->core);
		if (is_new(job, GH_SESSION_CRASH, identity))
			gh_script_crash(job->boot, files->core, files->program);
	} else if (files->pid != 0 && is_attached(files->pid) &&
		   gh_process_summary_read(&process, files->pid)) {
		identity = format("%d %" PRIu64, files->pid, process.started);
	}
	if (identity != NULL && is_new(job, GH_SESSION_FIRST, identity))
		gh_script_first(job->boot, job->directory);
	free(identity);
}

/* Has GDB find the symbols of the Go libraries that the program has, or will. */
static void look_at_libraries(struct job *job)
{
	const struct gh_library_look look = {
	    .script = job->boot,
	    .session = job->directory,
	    .cache = job->cache != NULL ? job->cache : job->directory,
	    .told = &job->told,
	};
	job->has_library = gh_library_look(&look);
}

/* Writes the commands for what GDB has now. */
static void write_commands(struct job *job)
{
	forget_dump(job);
	if (job->told.files.unclear) {
		say(job, "the program cannot be told from what GDB prints of it: give its file a "
			 "name without line breaks");
		return;
	}
	look_at_libraries(job);
	if (gh_missing_file_needed(job->directory, &job->told.files)) {
		struct gh_missing_file missing = {.script = job->boot, .directory = job->directory};
		/* GDB learns of a program in other ways than those that are hooked. */
		gh_script_note_program(job->boot, "stale");
		gh_missing_file_look(&missing, &job->told.files);
		gh_missing_file_made(job->directory, &job->told.files);
		if (job->told.files.program != NULL && !job->has_dump)
			tell_first(job);
		return;
	}
	if (!job->has_dump &&
	    gh_program_refuse(job->boot, job->directory, &job->told.files, has_our_symbols(job)))
		return;
	job->identity = identify(job->told.files.program);
	if (!is_done(job) && may_replace_symbols(job)) {
		char *debug = look_at_program(job);
		write_state(job, debug != NULL ? debug : "");
		free(debug);
	}
	if (!job->has_dump)
		tell_first(job);
	if (job->told.files.remote)
		gh_program_ask_target(job->boot, job->directory, &job->told.files);
	free(job->identity);
}

/* Writes the script, which first notes that the program is STATE. False, after printing why,
 * if it cannot be written. */
static bool write_boot(struct job *job, const char *state)
{
	job->boot = gh_script_open(job->directory);
	if (job->boot == NULL)
		return false;
	gh_script_note_program(job->boot, state);
	job->cache = gh_cache_directory(true);
	write_commands(job);
	free(job->cache);
	return gh_script_commit(job->boot, job->directory);
}

int gh_cmd_session(const struct gh_options *options)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (directory == NULL || options->nwords != 1) {
		fputs("goheap session: only for goheap.so to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	struct job job = {.directory = realpath(directory, NULL)};
	job.start = gh_now();
	int status = GH_EXIT_INPUT;
	bool read = gh_told_read(&job.told, stdin);
	if (job.directory == NULL)
		gh_print_failure(directory, "find the session's directory");
	else if (!read)
		gh_say(GH_OUT_OF_MEMORY);
	else if (write_boot(&job, options->words[0]))
		status = GH_EXIT_OK;
	gh_told_free(&job.told);
	free(job.directory);
	return status;
}
