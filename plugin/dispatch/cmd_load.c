/* goheap load: what goheap.gdb's command of that name runs. Reads what GDB's `info files' prints,
 * makes a core file of a heap dump in the session's directory, and writes the script by which GDB
 * opens it. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/debugfile/debugfile.h"
#include "lib/export/export.h"
#include "lib/util/escape.h"
#include "lib/util/parallel.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* What is loaded, and where. */
struct job {
	const struct gh_options *options;
	const char *directory;     /* of the session */
	struct gh_infofiles files; /* what GDB has */
	struct gh_dump dump;
	const struct gh_arch *arch; /* the dump's; once its core file is written */
	const char *program; /* the program that wrote the dump; NULL if there is none at hand */
	struct gh_symbols writer; /* the same, opened, if the dump is its */
	bool is_static;           /* the program has no libraries */
	const char *symbols;      /* what GDB is to have the symbols from; NULL if it has them */
	char *kept_twin;          /* that, if it is the program's twin; owned */
	bool belongs;             /* the dump is the program's */
};

/* The path of the session's file NAME; in BUF. */
static const char *path_in(const struct job *job, const char *name, char buf[PATH_MAX])
{
	snprintf(buf, PATH_MAX, "%s/%s", job->directory, name);
	return buf;
}

/* Whether to go on with a program, which the dump BELONGS to or not. */
static bool accepts(const struct job *job, bool belongs)
{
	if (!belongs && !job->options->force)
		gh_say("load -f loads it nonetheless");
	return belongs || job->options->force;
}

/* Fills PROGRAM from GDB's, if there is one, or from the one that is given for its names. False if
 * the dump is not theirs. */
static bool find_program(struct job *job, struct gh_core_program *program)
{
	struct gh_core_program twin;
	*program = (struct gh_core_program){.name = ""};
	job->program = job->files.program != NULL ? job->files.program : job->symbols;
	if (job->program != NULL) {
		job->belongs = gh_symbols_open(&job->writer, &job->dump, job->program);
		if (!accepts(job, job->belongs))
			return false;
		program->name = basename(job->program);
	}
	if (job->belongs)
		program->entry = job->writer.program.image.header.e_entry + job->writer.bias;
	return job->symbols == NULL || job->symbols == job->program ||
	       accepts(job, gh_symbols_program(&twin, &job->dump, job->symbols));
}

/* A text of the dump, made fit for a terminal; in BUF. */
static const char *text_of(const struct gh_dump *dump, struct gh_dump_slice slice, char *buf,
			   size_t size)
{
	char raw[64] = "";
	struct gh_cursor cur = gh_dump_bytes(dump, slice);
	size_t length = gh_cursor_left(&cur);
	memcpy(raw, cur.pos, length < sizeof(raw) ? length : sizeof(raw) - 1);
	return gh_escape_text(buf, size, raw);
}

/* NUMBER with a comma before every three digits; in BUF. */
static const char *with_commas(uint64_t number, char buf[GH_NUMBER_TEXT])
{
	char *end = buf + GH_NUMBER_TEXT - 1;
	*end = '\0';
	return gh_format_number(end, number, true);
}

static void say_what_is_loaded(FILE *script, const struct job *job)
{
	const struct gh_dump *dump = &job->dump;
	char version[128];
	char goroutines[GH_NUMBER_TEXT];
	char bytes[GH_SIZE_TEXT];
	char objects[GH_NUMBER_TEXT];
	text_of(dump, gh_dump_go_version(dump), version, sizeof(version));
	gh_script_say(script, "%s heap dump of %s%s linux/%s: %s goroutines, %s in %s objects",
		      gh_dump_format_name(dump->format),
		      *version != '\0' ? version : "an unknown Go",
		      *dump->goarch == '\0' ? ", taken for" : "", job->arch->goarch,
		      with_commas(gh_dump_count(dump, GH_DUMP_GOROUTINE), goroutines),
		      gh_size_text(dump->objects.bytes, bytes),
		      with_commas(gh_dump_count(dump, GH_DUMP_OBJECT), objects));
	gh_script_say(
	    script, "Not in a dump: variables without pointers (noptrdata, noptrbss), which show "
		    "what the program starts with; registers, but for pc and sp; which goroutines "
		    "were running: they are runnable.");
	if (dump->format == GH_DUMP_PROTOTYPE)
		gh_script_say(script, "The prototype has only those words of stacks and data that "
				      "are roots, and return addresses.");
	if (job->program == NULL)
		gh_script_say(script, "No program: function names are the dump's. For files and "
				      "lines, name it with the file command and load again.");
}

/* Has GDB take the symbols that were found. */
static void open_symbols(FILE *script, const struct job *job)
{
	if (job->symbols == NULL)
		return;
	if (job->symbols == job->program) {
		/* GDB, which has no program, may have to know where it was loaded. */
		gh_script_file(script, GH_SCRIPT_UNHOOKED "with print symbol-loading off -- file",
			       job->symbols);
		return;
	}
	gh_script_presence(script);
	gh_script_symbols(script, job->symbols);
	/* GDB takes names of types and itabs for mangled ones, GDB 13 for Ada's. Where there is
	 * no C++, nothing is lost. */
	if (job->program == NULL || job->is_static)
		fputs("set print demangle off\n", script);
}

/* NAME is a section's that can be given to GDB. */
static bool is_plain(const char *name)
{
	return *name != '\0' && name[strspn(name, "._-0123456789abcdefghijklmnopqrstuvwxyz"
						  "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

/* Has GDB read what the dump lacks from the program's file, a position-independent one's too, which
 * was loaded with its entry point at ENTRY: GDB moves the file that the symbols are from, no other.
 * Decimal is the same in every language that GDB may be set to. */
static void move_sections(FILE *script, const struct job *job, uint64_t entry)
{
	struct gh_image image;
	if (entry == 0 || !gh_image_open(&image, job->program, NULL))
		return;
	uint64_t bias = entry - image.header.e_entry;
	for (size_t i = 0; bias != 0 && i < image.nsections; i++) {
		const struct gh_section *section = &image.sections[i];
		uint64_t flags = section->header.sh_flags;
		if ((flags & SHF_ALLOC) != 0 && (flags & SHF_TLS) == 0 && is_plain(section->name))
			fprintf(script, "section %s %" PRIu64 "\n", section->name,
				section->header.sh_addr + bias);
	}
	gh_image_close(&image);
}

/* Writes the script that has GDB open CORE, the core file of PROGRAM. */
static bool write_script(const struct job *job, const struct gh_core_program *program,
			 const char *core)
{
	FILE *script = gh_script_open(job->directory);
	if (script == NULL)
		return false;
	/* What GDB has open until then is not to be seen by the frames of this dump. */
	fputs(GH_SCRIPT_UNHOOKED "core-file\n", script);
	/* The frames are the dump's from now on. */
	fputs("_goheap_set $goheap_goroutine $goheap_void\n", script);
	open_symbols(script, job);
	/* A goroutine's stack does not begin with main.main. */
	fputs("set backtrace past-main on\n", script);
	gh_script_file(script, "with print thread-events off -- core-file", core);
	move_sections(script, job, program->entry);
	gh_threadnames_apply(script);
	say_what_is_loaded(script, job);
	gh_script_first(script, job->directory);
	return gh_script_commit(script, job->directory);
}

/* Has the session's file NAME be a link to PATH; none if that is NULL. */
static bool put_link(const struct job *job, const char *name, const char *path)
{
	char link[PATH_MAX];
	char target[PATH_MAX];
	unlink(path_in(job, name, link));
	if (path == NULL || (realpath(path, target) != NULL && symlink(target, link) == 0))
		return true;
	gh_print_errno(link);
	return false;
}

/* IMAGE needs no libraries, which are C's or C++'s. */
static bool is_static(const struct gh_image *image)
{
	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].p_type == PT_INTERP)
			return false;
	return true;
}

/* Writes the debug file of the dump's program, with the variables of the dump's frames, if it has
 * need of one. */
static bool write_debug_file(struct job *job, const char *path, struct gh_error *err)
{
	const struct gh_program *program = &job->writer.program;
	struct gh_slots slots = {0};
	if (!job->belongs)
		return true;
	job->is_static = is_static(&program->image);
	if (gh_image_has_dwarf(&program->image))
		return true;
	job->symbols = job->kept_twin = gh_kept_twin_find(&program->image);
	if (job->symbols != NULL)
		return true;
	bool found = gh_slots_find(&slots, &job->dump, err);
	slots.bias = job->writer.bias;
	bool written = found && gh_debugfile_write(&program->tab, &slots, GH_FOR_GDB, path, err);
	gh_slots_free(&slots);
	if (written)
		job->symbols = path;
	return written;
}

/* Finds symbols for what GDB has none for. */
static bool write_symbols(struct job *job, struct gh_error *err)
{
	static char debug[PATH_MAX];
	if (job->symbols != NULL)
		return true;
	path_in(job, GH_SESSION_DEBUG, debug);
	if (job->program != NULL)
		return write_debug_file(job, debug, err);
	if (!gh_dumpsymbols_write(&job->dump, debug, err))
		return false;
	job->symbols = debug;
	return true;
}

/* What is made of a dump, each file without the others. */
enum { CORE, SYMBOLS, FRAMES, NFILES };

struct writing {
	struct job *job;
	const struct gh_core_program *program;
	bool written[NFILES];
	struct gh_error err[NFILES];
};

static void write_file(void *context, uint32_t number)
{
	struct writing *writing = context;
	struct job *job = writing->job;
	struct gh_error *err = &writing->err[number];
	char path[PATH_MAX];
	writing->written[number] =
	    number == CORE ? gh_dumpfile_write_core(&job->dump, writing->program,
						    path_in(job, GH_SESSION_CORE, path))
	    : number == SYMBOLS
		? write_symbols(job, err)
		: gh_frames_write(&job->dump, path_in(job, GH_SESSION_FRAMES, path), err);
}

/* Writes the files that GDB, goheap.so and the commands in GDB are to have. */
static bool write_files(struct job *job, const struct gh_core_program *program)
{
	struct writing writing = {.job = job, .program = program};
	gh_parallel(NFILES, write_file, &writing);
	if (!writing.written[CORE])
		return false;
	job->arch = gh_dump_arch(&job->dump, NULL);
	if (!writing.written[FRAMES]) {
		gh_print_error(&writing.err[FRAMES]);
		return false;
	}
	if (!writing.written[SYMBOLS])
		gh_print_error(&writing.err[SYMBOLS]);
	return gh_threadnames_write(job->directory, &job->dump) &&
	       put_link(job, GH_SESSION_DUMP, job->options->file) &&
	       put_link(job, GH_SESSION_WRITER, job->belongs ? job->program : NULL) &&
	       put_link(job, GH_SESSION_NAMES, job->belongs ? job->options->names : NULL);
}

static bool load(struct job *job)
{
	struct gh_core_program program;
	char core[PATH_MAX];
	if (!gh_dumpfile_open(&job->dump, job->options->file))
		return false;
	bool ok = find_program(job, &program) && write_files(job, &program) &&
		  write_script(job, &program, path_in(job, GH_SESSION_CORE, core));
	if (job->belongs)
		gh_symbols_close(&job->writer);
	gh_dump_close(&job->dump);
	return ok;
}

/* The file that names are to be from, by a name that GDB takes for a file's. */
static bool find_names(struct job *job)
{
	static char path[PATH_MAX];
	if (job->options->names == NULL)
		return true;
	if (realpath(job->options->names, path) == NULL) {
		gh_print_errno(job->options->names);
		return false;
	}
	if (strchr(path, '\n') != NULL) {
		gh_say("a file with a newline in its name cannot be given to GDB");
		return false;
	}
	job->symbols = path;
	return true;
}

int gh_cmd_load(const struct gh_options *options)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (directory == NULL) {
		gh_say("load is a command of GDB's: jit-reader-load goheap.so, then goheap load");
		return GH_EXIT_USAGE;
	}
	struct job job = {.options = options, .directory = directory};
	if (!gh_infofiles_read(&job.files, stdin)) {
		gh_say(GH_OUT_OF_MEMORY);
		return GH_EXIT_INPUT;
	}
	bool loaded = find_names(&job) && load(&job);
	gh_infofiles_free(&job.files);
	free(job.kept_twin);
	return loaded ? GH_EXIT_OK : GH_EXIT_INPUT;
}
