#include "plugin/gdb/gdb.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/debugfile/debugfile.h"
#include "lib/elf/elf.h"
#include "lib/util/escape.h"
#include "lib/util/number_file.h"
#include "lib/util/open_file.h"
#include "lib/util/output.h"

/* In the session's directory: the program, made again from memory, which GDB does not have; and for
 * what process or core file that was last looked into. */
#define SESSION_MADE   "made"
#define SESSION_NOFILE "nofile"

/* What tells one file from another, and from itself written again. */
#define IDENTITY_SIZE 96

char *gh_missing_file_path(char buf[PATH_MAX], const char *directory, const char *name)
{
	snprintf(buf, PATH_MAX, "%s/%s", directory, name);
	return buf;
}

static bool identify(char identity[IDENTITY_SIZE], const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return false;
	snprintf(identity, IDENTITY_SIZE, "%jx.%jx.%jx.%jx.%lx", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino, (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec);
	return true;
}

static void write_text(const char *directory, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file = fopen(gh_missing_file_path(path, directory, name), "we");
	if (file == NULL)
		return;
	fputs(text, file);
	fclose(file);
}

bool gh_missing_file_seen(const char *directory, const char *identity)
{
	char path[PATH_MAX];
	char *last = NULL;
	size_t size = 0;
	FILE *file = fopen(gh_missing_file_path(path, directory, SESSION_NOFILE), "re");
	if (file != NULL) {
		if (getdelim(&last, &size, '\0', file) < 0)
			size = 0;
		fclose(file);
	}
	bool seen = last != NULL && size > 0 && strcmp(last, identity) == 0;
	free(last);
	if (!seen) {
		unlink(gh_missing_file_path(path, directory, SESSION_MADE));
		write_text(directory, SESSION_NOFILE, identity);
	}
	return seen;
}

static const char *program_of(char buf[PATH_MAX], int pid)
{
	snprintf(buf, PATH_MAX, "/proc/%d/exe", pid);
	return buf;
}

/* The files are of one size and of one time: a copy is given its original's. */
static bool is_copy(const char *copy, const char *original)
{
	struct stat first;
	struct stat second;
	return stat(copy, &first) == 0 && stat(original, &second) == 0 &&
	       first.st_size == second.st_size && first.st_mtim.tv_sec == second.st_mtim.tv_sec &&
	       first.st_mtim.tv_nsec == second.st_mtim.tv_nsec;
}

/* The file that GDB opened at PATH is there for no longer than its process. By way of the target
 * GDB may be slow, too; and it takes /proc for that of this machine, where it has no other file of
 * a process, even if that runs on another. */
static bool is_passing(const char *path)
{
	static const char target[] = "target:";
	int end = 0;
	if (strncmp(path, target, sizeof(target) - 1) == 0)
		return true;
	return sscanf(path, "/proc/%*d/exe%n", &end) == 0 && end > 0 && path[end] == '\0';
}

static bool has_copy(const char *directory, const struct gh_infofiles *files)
{
	char copy[PATH_MAX];
	return files->program != NULL &&
	       strcmp(files->program, gh_missing_file_path(copy, directory, GH_SESSION_PROGRAM)) ==
		   0;
}

/* GDB takes symbols from the file that the process runs, which is no Go program. Of a packed one
 * GDB does not say that it is its program, as that has no sections. */
static bool is_packed(const struct gh_infofiles *files)
{
	char exe[PATH_MAX];
	struct stat first;
	struct stat second;
	return files->pid != 0 && files->core == NULL && stat(files->symbols, &first) == 0 &&
	       stat(program_of(exe, files->pid), &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino && !gh_missing_file_is_go(files->symbols);
}

/* The process has a Go program, which was made again from memory or can be, and GDB's is none. */
static bool is_unpacked(const char *directory, const struct gh_infofiles *files)
{
	char made[PATH_MAX];
	uint64_t start;
	return files->pid != 0 && files->core == NULL &&
	       (access(gh_missing_file_path(made, directory, SESSION_MADE), R_OK) == 0 ||
		gh_live_program_find(files->pid, &start)) &&
	       !gh_missing_file_is_go(files->program);
}

/* The file at PATH, which may be NULL, is a Go program without section headers. */
static bool lacks_sections(const char *path)
{
	struct gh_image image;
	struct gh_error err;
	if (path == NULL || !gh_image_open_unrelocated(&image, path, &err))
		return false;
	bool lacks = image.nsections == 0;
	gh_image_close(&image);
	return lacks && gh_missing_file_is_go(path);
}

/* GDB's program; or that which it takes for none, though it is asked for its symbols. */
static const char *named_program(const struct gh_infofiles *files)
{
	return files->program != NULL ? files->program : files->symbols;
}

bool gh_missing_file_needed(const char *directory, const struct gh_infofiles *files)
{
	char copy[PATH_MAX];
	char original[PATH_MAX];
	if (files->program == NULL || is_passing(files->program) ||
	    lacks_sections(files->program) || is_unpacked(directory, files))
		return true;
	return files->pid != 0 && has_copy(directory, files) &&
	       !is_copy(gh_missing_file_path(copy, directory, GH_SESSION_PROGRAM),
			program_of(original, files->pid));
}

void gh_missing_file_take(const struct gh_missing_file *job, const char *name, const char *origin)
{
	char path[PATH_MAX];
	write_text(job->directory, GH_SESSION_ORIGIN, origin);
	gh_script_file(job->script, GH_SCRIPT_UNHOOKED "with print symbol-loading off -- file",
		       gh_missing_file_path(path, job->directory, name));
	fputs("_goheap_look\n", job->script);
}

/* Copies the file FROM. */
static bool copy_contents(int to, const char *from)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	bool copied = fd >= 0 && fstat(fd, &st) == 0 && gh_copy_file(to, fd, st.st_size);
	struct timespec times[] = {st.st_atim, st.st_mtim};
	copied = copied && futimens(to, times) == 0 && fchmod(to, 0700) == 0;
	if (fd >= 0)
		close(fd);
	return copied;
}

static bool copy_program(const struct gh_missing_file *job, const char *from, struct gh_error *err)
{
	char path[PATH_MAX];
	struct gh_output out;
	if (!gh_output_open(&out, gh_missing_file_path(path, job->directory, GH_SESSION_PROGRAM),
			    GH_OUTPUT_PUBLIC, err))
		return false;
	bool whole = copy_contents(out.fd, from) || gh_fail_errno(err, from, "copy");
	return gh_output_end(&out, whole, err);
}

bool gh_missing_file_is_go(const char *path)
{
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	if (!gh_image_open(&image, path, &err))
		return false;
	bool found = gh_pclntab_open(&tab, &image, &err);
	gh_pclntab_close(&tab);
	gh_image_close(&image);
	return found;
}

static bool is_deleted(const char *exe)
{
	char name[PATH_MAX] = "";
	return readlink(exe, name, sizeof(name) - 1) > 0 && gh_mapped_file_deleted(name) != 0;
}

/* GDB would add the bias of a position-independent program to addresses that have it. */
static void drop_program(const struct gh_missing_file *job)
{
	fputs(GH_SCRIPT_UNHOOKED "exec-file\n", job->script);
}

/* Has GDB take the symbols of the program IMAGE. */
static bool take_image(const struct gh_missing_file *job, const struct gh_image *image,
		       const char *name, const char *origin, struct gh_error *err)
{
	char path[PATH_MAX];
	struct gh_pclntab tab;
	snprintf(path, sizeof(path), "%s/%s.debug", job->directory, name);
	bool written = gh_pclntab_open(&tab, image, err) &&
		       gh_debugfile_write(&tab, NULL, GH_FOR_GDB, path, err);
	size_t nfunc = tab.nfunc;
	gh_pclntab_close(&tab);
	if (!written)
		return false;
	struct gh_buildinfo info;
	char version[64];
	gh_buildinfo_read(&info, image);
	gh_escape_text(version, sizeof(version), info.go_version != NULL ? info.go_version : "Go");
	gh_buildinfo_free(&info);
	if (job->drop)
		drop_program(job);
	gh_script_presence(job->script);
	gh_script_symbols(job->script, path);
	gh_script_say(job->script, "goheap: %s program (%s), %zu functions", version, origin,
		      nfunc);
	return true;
}

/* Leaves the program, SIZE bytes at DATA, to the commands that need it. */
static bool write_made(const struct gh_missing_file *job, const uint8_t *data, size_t size,
		       struct gh_error *err)
{
	char path[PATH_MAX];
	struct gh_output out;
	gh_missing_file_path(path, job->directory, SESSION_MADE);
	if (!gh_output_open(&out, path, GH_OUTPUT_PRIVATE, err))
		return false;
	bool whole = gh_write_all(out.fd, data, size) || gh_fail_errno(err, path, "write");
	return gh_output_end(&out, whole, err);
}

bool gh_missing_file_take_memory(const struct gh_missing_file *job, const struct gh_loaded *loaded,
				 const struct gh_memory *memory, const char *name,
				 const char *origin, struct gh_error *err)
{
	uint8_t *data;
	size_t size;
	struct gh_image image;
	if (!gh_loaded_make(loaded, memory, &data, &size, err))
		return false;
	bool taken = write_made(job, data, size, err) &&
		     gh_image_open_memory(&image, data, size, loaded->headers.path, err);
	if (taken) {
		taken = take_image(job, &image, name, origin, err);
		gh_image_close(&image);
	}
	free(data);
	return taken;
}

/* The number of the process that PID, which GDB tells of, is a thread of. */
static int process_of(int pid)
{
	char path[64];
	uint64_t number;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return gh_number_file_read(path, "Tgid:", &number) ? (int)number : pid;
}

/* The program has unpacked itself: what is in memory is in no file. It is as IDENTITY says. */
static void look_at_unpacked(const struct gh_missing_file *job, int pid, const char *identity)
{
	char seen[IDENTITY_SIZE + 16];
	uint8_t bytes[GH_LOADED_HEADERS];
	uint64_t start;
	struct gh_loaded loaded;
	struct gh_error err;
	struct gh_memory memory = gh_live_memory(&pid);
	memory.size = GH_LOADED_MOST;
	snprintf(seen, sizeof(seen), "%s.%d", identity, process_of(pid));
	if (gh_missing_file_seen(job->directory, seen) || !gh_live_program_find(pid, &start) ||
	    !memory.read(&memory, start, bytes, sizeof(bytes)) ||
	    !gh_loaded_open(&loaded, bytes, start, "the process", &err))
		return;
	if (!gh_missing_file_take_memory(job, &loaded, &memory, seen, "unpacked in memory", &err))
		gh_script_say(job->script, "goheap: %s", err.text);
	gh_loaded_close(&loaded);
}

/* The kernel has the program's file for as long as the process runs. */
static void look_at_process(const struct gh_missing_file *job, int pid)
{
	char exe[PATH_MAX];
	char identity[IDENTITY_SIZE];
	struct gh_error err;
	if (!identify(identity, program_of(exe, pid)))
		return;
	if (!gh_missing_file_is_go(exe)) {
		look_at_unpacked(job, pid, identity);
		return;
	}
	if (gh_missing_file_seen(job->directory, identity))
		return;
	if (copy_program(job, exe, &err))
		gh_missing_file_take(job, GH_SESSION_PROGRAM,
				     is_deleted(exe) ? "its file is deleted" : "from the process");
	else
		gh_script_say(job->script, "goheap: %s", err.text);
}

/* The kernel leaves out of a core file what is in files still, but for their first page. */
static void say_missing(const struct gh_missing_file *job, const struct gh_image *core,
			const struct gh_loaded *loaded)
{
	char name[256];
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, &loaded->headers);
	if (info.go_build_id != NULL) {
		const char *run = gh_core_execfn(core);
		gh_escape_text(name, sizeof(name), run != NULL ? run : "the program");
		gh_script_say(job->script,
			      "goheap: the core file is without its Go program: name %s with the "
			      "file command",
			      name);
	}
	gh_buildinfo_free(&info);
}

static bool take_core(const struct gh_missing_file *job, const struct gh_image *core,
		      const char *identity)
{
	struct gh_loaded loaded;
	struct gh_error err;
	struct gh_memory memory = gh_core_memory(core);
	if (!gh_core_loaded(&loaded, core, &err))
		return false;
	bool taken =
	    gh_missing_file_take_memory(job, &loaded, &memory, identity, "in the core file", &err);
	if (!taken)
		say_missing(job, core, &loaded);
	gh_loaded_close(&loaded);
	return taken;
}

static bool is_ours(const struct gh_missing_file *job, const char *path)
{
	size_t length = strlen(job->directory);
	return strncmp(path, job->directory, length) == 0 && path[length] == '/';
}

static void look_at_core(const struct gh_missing_file *job, const struct gh_infofiles *files)
{
	char identity[IDENTITY_SIZE];
	struct gh_image core;
	struct gh_error err;
	/* That of a heap dump has symbols. */
	if (is_ours(job, files->core) || !identify(identity, files->core) ||
	    gh_missing_file_seen(job->directory, identity))
		return;
	bool taken = false;
	if (gh_image_open_core(&core, files->core, &err)) {
		taken = take_core(job, &core, identity);
		gh_image_close(&core);
	}
	/* Those of another core file. */
	if (!taken && files->symbols != NULL)
		fputs("symbol-file\n", job->script);
}

void gh_missing_file_note(const struct gh_missing_file *job, const struct gh_infofiles *files)
{
	char exe[PATH_MAX];
	char identity[IDENTITY_SIZE];
	if (identify(identity, files->core != NULL ? files->core : program_of(exe, files->pid)))
		gh_missing_file_seen(job->directory, identity);
}

void gh_missing_file_made(const char *directory, struct gh_infofiles *files)
{
	char path[PATH_MAX];
	gh_missing_file_path(path, directory, SESSION_MADE);
	if (!files->running || access(path, R_OK) != 0 ||
	    (files->program != NULL && !is_unpacked(directory, files)))
		return;
	free(files->program);
	files->program = strdup(path);
}

/* Has GDB take a copy of its program that has section headers. False if its program has them. */
static bool take_with_sections(const struct gh_missing_file *job, const struct gh_infofiles *files)
{
	char path[PATH_MAX];
	char identity[IDENTITY_SIZE];
	struct gh_image image;
	struct gh_error err;
	const char *program = named_program(files);
	if (!lacks_sections(program) || !gh_image_open_unrelocated(&image, program, &err))
		return false;
	gh_missing_file_path(path, job->directory, GH_SESSION_SECTIONS);
	if (gh_debugfile_add_sections(&image, path, &err))
		gh_missing_file_take(job, GH_SESSION_SECTIONS,
				     "with section headers, which GDB needs");
	else if (identify(identity, program) && !gh_missing_file_seen(job->directory, identity))
		gh_script_say(job->script, "goheap: %s", err.text);
	gh_image_close(&image);
	return true;
}

/* The commands by which GDB asks the target are hooked: they are not to look, too. */
static void look_at_target(const struct gh_missing_file *job)
{
	gh_script_note_program(job->script, "fresh");
	gh_script_go_on(job->script, "info inferiors", "fetch inferiors");
	gh_script_note_program(job->script, "stale");
}

void gh_missing_file_look(const struct gh_missing_file *job, const struct gh_infofiles *files)
{
	if (take_with_sections(job, files))
		return;
	/* Symbols of the user's choosing stay. */
	if (files->symbols != NULL && !is_passing(files->symbols) &&
	    !is_ours(job, files->symbols) && !has_copy(job->directory, files) && !is_packed(files))
		return;
	if (files->core != NULL)
		look_at_core(job, files);
	else if (files->pid != 0)
		look_at_process(job, files->pid);
	else if (files->remote)
		look_at_target(job);
}
