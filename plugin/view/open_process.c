#include "plugin/view/view.h"

#include <errno.h>
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/process/process.h"
#include "lib/trace/trace.h"
#include "lib/unwind/unwind.h"
#include "lib/util/escape.h"
#include "lib/util/free_memory.h"
#include "lib/util/now.h"
#include "lib/util/open_file.h"
#include "lib/util/output.h"
#include "lib/util/zeros.h"
#include "plugin/view/emit.h"

struct gh_process gh_process_of(const struct gh_program *program, const struct gh_memory *memory,
				const struct gh_buildinfo *info, uint64_t entry)
{
	const struct gh_image *image = &program->image;
	return (struct gh_process){
	    .memory = {.source = memory, .big_endian = image->arch->big_endian},
	    .tab = &program->tab,
	    .minor = gh_go_minor(info->go_version),
	    .bias = gh_image_is_pie(image) ? entry - image->header.e_entry : 0,
	};
}

static bool read_dump(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	struct gh_cursor cur;
	uint8_t *bytes = to;
	while (size > 0) {
		if (!gh_dump_memory(memory->from, address, &cur) || gh_cursor_left(&cur) == 0)
			return false;
		size_t part = gh_cursor_left(&cur) < size ? gh_cursor_left(&cur) : size;
		memcpy(bytes, gh_cursor_bytes(&cur, part), part);
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
}

void gh_dump_process(struct gh_process *process, struct gh_memory *memory,
		     const struct gh_dump *dump, const struct gh_symbols *symbols)
{
	struct gh_buildinfo info;
	const struct gh_program *program = &symbols->program;
	*memory = (struct gh_memory){
	    .read = read_dump, .from = dump, .size = gh_cursor_size(&dump->file)};
	gh_buildinfo_read(&info, &program->image);
	*process =
	    gh_process_of(program, memory, &info, program->image.header.e_entry + symbols->bias);
	process->others = symbols->others.list.items;
	process->nothers = symbols->others.list.count;
	gh_buildinfo_free(&info);
}

/* Opens the program of TARGET, at PATH, and reads how it was built. */
static bool open_program(struct gh_target *target, const char *path)
{
	if (!gh_program_open(&target->program, path))
		return false;
	gh_buildinfo_read(&target->info, &target->program.image);
	target->version = target->info.go_version != NULL ? target->info.go_version : "";
	return true;
}

/* Fills what is told by the program, whose entry point is at ENTRY in the process. */
static void describe(struct gh_target *target, uint64_t entry)
{
	target->process = gh_process_of(&target->program, &target->memory, &target->info, entry);
}

/* Finds the modules beside the program's among the files. */
static void find_others(struct gh_target *target)
{
	gh_other_modules_find(&target->others, &target->files, &target->memory,
			      &target->program.image, target->process.bias);
	target->process.others = target->others.list.items;
	target->process.nothers = target->others.list.count;
	target->process.files = &target->files;
}

/* Finds where the program's entry point is in the core file's process. */
static bool find_entry(struct gh_target *target, uint64_t *entry)
{
	struct gh_error err;
	struct gh_mapped_files files = {0};
	const struct gh_image *image = &target->program.image;
	uint64_t bias;
	*entry = 0;
	if (!gh_image_is_library(image)) {
		gh_core_auxv(&target->core, AT_ENTRY, entry);
		return true;
	}
	gh_mapped_files_core(&files, &target->core);
	bool found = gh_mapped_files_find(&files, &target->memory, image, &bias, &err);
	if (found)
		*entry = bias + image->header.e_entry;
	else
		gh_print_error(&err);
	gh_mapped_files_free(&files);
	return found;
}

/* The program, which was named, is the one that the process of IDENTITY runs; else says so. A
 * library is looked for among what the process has mapped. IDENTITY is freed. */
static bool check_identity(struct gh_target *target, struct gh_identity *identity,
			   const struct gh_memory *memory)
{
	struct gh_error err;
	bool same =
	    gh_image_is_library(&target->program.image) ||
	    gh_identity_check(identity, &target->program.tab, memory, target->process.bias, &err);
	if (!same)
		gh_print_error(&err);
	gh_identity_free(identity);
	return same;
}

static bool open_core(struct gh_target *target, const char *path, const char *program)
{
	struct gh_error err;
	uint64_t entry;
	if (!gh_image_open_core(&target->core, path, &err)) {
		gh_print_error(&err);
		return false;
	}
	if (!open_program(target, program))
		return false;
	if (target->core.arch != target->program.image.arch) {
		gh_fail(&err, path, GH_NO_OFFSET, "a core file of the program", "one of %s",
			target->core.arch->goarch);
		gh_print_error(&err);
		return false;
	}
	gh_print_warning(path, gh_core_missing(&target->core),
			 "bytes missing at its end: the core file was cut short");
	target->memory = gh_core_memory(&target->core);
	if (!find_entry(target, &entry))
		return false;
	describe(target, entry);
	struct gh_identity identity;
	gh_identity_of_core(&identity, &target->core);
	if (!check_identity(target, &identity, &target->memory))
		return false;
	gh_mapped_files_core(&target->files, &target->core);
	find_others(target);
	gh_core_threads(&target->threads, &target->core);
	target->process.threads = target->threads.items;
	target->process.nthreads = target->threads.count;
	return true;
}

/* Says what is wrong with the file at PATH, or that a core file needs its program. */
static void refuse_core(const char *path)
{
	struct gh_image core;
	struct gh_error err;
	if (!gh_image_open_core(&core, path, &err)) {
		gh_print_error(&err);
	} else {
		gh_say("for %s, name the program: -e PROGRAM", path);
		gh_image_close(&core);
	}
}

bool gh_target_open_core(struct gh_target *target, const char *path, const char *program)
{
	*target = (struct gh_target){.path = path};
	if (program == NULL) {
		refuse_core(path);
		return false;
	}
	bool opened = open_core(target, path, program);
	if (!opened)
		gh_target_close(target);
	return opened;
}

/* Copies the memory of the process again, while it stands. */
static bool copy_stopped(struct gh_target *target)
{
	struct gh_error err;
	/* What is kept of the first copy is not of this one. */
	gh_process_memory_free(&target->process.memory);
	bool copied = gh_live_copy_stop(&target->live, &err);
	if (copied)
		gh_say_paused(target->live.paused);
	else
		gh_print_error(&err);
	return copied;
}

/* What /proc and the kernel's calls mean by a process's number is the same. Else says so. */
static bool check_numbers(void)
{
	struct gh_error err;
	char own[16] = "";
	if (readlink("/proc/self", own, sizeof(own) - 1) > 0 && atoi(own) == getpid())
		return true;
	gh_fail(&err, "/proc", GH_NO_OFFSET, "the processes of the pid namespace that goheap is in",
		"others: mount -t proc proc /proc");
	gh_print_error(&err);
	return false;
}

/* What the process runs, at LINK, may be read. Else says why. */
static bool check_link(int pid, const char *link)
{
	struct gh_error err;
	char path[1];
	if (readlink(link, path, sizeof(path)) > 0)
		return true;
	/* Threads of the kernel's, and processes that have ended, run nothing. */
	if (errno == ENOENT)
		errno = ESRCH;
	gh_stopped_fail(pid, &err);
	gh_print_error(&err);
	return false;
}

bool gh_target_check_running(int pid)
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	return check_numbers() && check_link(pid, link);
}

static bool check_running(struct gh_target *target, int pid)
{
	struct gh_identity identity;
	const struct gh_memory memory = gh_live_memory(&pid);
	gh_identity_of_process(&identity, pid);
	return check_identity(target, &identity, &memory);
}

/* Reads the system calls that the threads are in, before a stop has them leave these. */
static void read_calls(struct gh_target *target, int pid)
{
	struct gh_sockets sockets = {0};
	const struct gh_memory memory = gh_live_memory(&pid);
	const struct gh_calling of = {&memory, &sockets, pid};
	/* A program of 32 bits has other numbers. */
	if (target->program.image.arch->pointer_size != sizeof(void *))
		return;
	gh_sockets_read(&sockets, pid);
	gh_system_calls_read(&target->process.calls, &of);
	gh_vector_free(&sockets);
}

/* Says that the copy of process PID is in a file, as memory is short. */
static void say_short(int pid)
{
	char left[GH_SIZE_TEXT];
	struct gh_free_memory memory = gh_free_memory_find("");
	gh_say(
	    "%s of memory are free%s: the copy of process %d is in a temporary file, which takes "
	    "longer",
	    gh_size_text(memory.bytes, left), memory.in_container ? " in this container" : "", pid);
}

/* What is wanted of a process. */
enum want { RUNNING, STOPPED };

static bool open_live(struct gh_target *target, int pid, const char *program, enum want want,
		      enum gh_live_bare bare)
{
	struct gh_error err;
	char link[64];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	if (!check_numbers() || (program == NULL && !check_link(pid, link)) ||
	    !open_program(target, program != NULL ? program : link))
		return false;
	if (!gh_live_copy_running(&target->live, pid, &target->program.tab,
				  gh_go_minor(target->info.go_version), bare, &err)) {
		gh_print_error(&err);
		return false;
	}
	if (target->live.file != NULL)
		say_short(pid);
	target->memory = gh_live_copy_memory(&target->live);
	target->path = target->program.image.path;
	describe(target, target->live.entry);
	if (program != NULL && !check_running(target, pid))
		return false;
	gh_mapped_files_live(&target->files, pid);
	find_others(target);
	target->process.pid = pid;
	if (want != RUNNING)
		read_calls(target, pid);
	if (want != RUNNING && !copy_stopped(target))
		return false;
	/* From here on only whoever asks waits. */
	gh_be_last_in_turn();
	target->memory.size = target->live.size;
	target->process.threads = target->live.threads.items;
	target->process.nthreads = target->live.threads.count;
	return true;
}

static bool open_process(struct gh_target *target, int pid, const char *program, enum want want,
			 enum gh_live_bare bare)
{
	*target = (struct gh_target){0};
	bool opened = open_live(target, pid, program, want, bare);
	if (!opened)
		gh_target_close(target);
	return opened;
}

bool gh_target_open_live(struct gh_target *target, int pid, const char *program)
{
	return open_process(target, pid, program, STOPPED, GH_LIVE_WHOLE);
}

/* Opens the process PID for HOW its heap is to be read. */
static bool open_for_heap(struct gh_target *target, int pid, const char *program, unsigned how)
{
	enum gh_live_bare bare = GH_LIVE_WHOLE;
	if ((how & GH_HEAP_NO_DATA) != 0 && (how & GH_HEAP_WITH_C) == 0)
		bare = (how & GH_HEAP_WITH_LARGE_C) != 0 ? GH_LIVE_BARE_UNLESS_C : GH_LIVE_BARE;
	return open_process(target, pid, program, STOPPED, bare);
}

void gh_target_want_c(struct gh_target *target, unsigned how)
{
	if ((how & (GH_HEAP_WITH_C | GH_HEAP_WITH_LARGE_C)) == 0 || target->live.bare)
		return;
	if (target->core.nsegments > 0)
		gh_writable_core(&target->writable, &target->core);
	target->process.writable =
	    target->core.nsegments > 0 ? &target->writable : &target->live.writable;
	target->process.only_large_c = (how & GH_HEAP_WITH_C) == 0;
}

bool gh_target_open_running(struct gh_target *target, int pid, const char *program)
{
	return open_process(target, pid, program, RUNNING, GH_LIVE_WHOLE);
}

void gh_target_close(struct gh_target *target)
{
	gh_process_memory_free(&target->process.memory);
	gh_system_calls_free(&target->process.calls);
	gh_live_copy_free(&target->live);
	gh_vector_free(&target->threads);
	gh_writable_free(&target->writable);
	gh_buildinfo_free(&target->info);
	gh_other_modules_free(&target->others);
	gh_mapped_files_free(&target->files);
	gh_program_close(&target->program);
	gh_image_close(&target->core);
#ifdef __GLIBC__
	/* What was needed to read it lies between what stays: whole pages go back to the system. */
	malloc_trim(0);
#endif
}

void gh_print_lost_goroutines(const char *path, uint64_t lost)
{
	gh_print_warning(path, lost, "goroutines left out: their memory is missing or damaged");
	if (gh_c_code_lacks_library())
		gh_say("functions in C are not shown: libdw.so.1, elfutils' library, cannot be "
		       "loaded");
}

static void print_losses(const char *path, const struct gh_heap_losses *losses)
{
	gh_print_lost_goroutines(path, losses->goroutines);
	gh_print_warning(path, losses->spans,
			 "spans of the heap left out: their memory is "
			 "missing or damaged");
	gh_print_warning(path, losses->objects,
			 "objects left out: they are larger than the memory that there is");
	gh_print_warning(path, losses->bytes,
			 "bytes of objects, stacks and variables missing: "
			 "they are 0 in the dump");
	gh_print_warning(
	    path, losses->untyped,
	    "objects whose pointers are not known: their types or bitmaps are missing");
	gh_print_warning(path, losses->c_arenas,
			 "arenas of C's malloc known in part: their chunks do not fit together, as "
			 "after a write past the end of a block");
	gh_print_warning(path, losses->variables,
			 "program whose variables' pointers are not known");
}

static bool write_dump(struct gh_process *process, const char *version, const char *name,
		       const char *path, int fd, enum gh_heap_form form, struct gh_error *err)
{
	struct gh_heap_losses losses;
	gh_progress_begin("goheap: reading the heap of", name);
	bool written = gh_heap_dump_write(fd, form, path, process, version, &losses, err);
	gh_progress_end();
	if (written)
		print_losses(name, &losses);
	return written;
}

bool gh_process_write_heap(struct gh_process *process, const char *version, const char *name,
			   const char *path, bool gzip)
{
	struct gh_error err;
	struct gh_output output;
	bool written = gh_output_open(&output, path, GH_OUTPUT_PRIVATE, &err);
	if (written) {
		written = write_dump(process, version, name, path, output.fd,
				     gzip ? GH_HEAP_GZIP : GH_HEAP_WHOLE, &err);
		written = gh_output_end(&output, written, &err);
	}
	if (!written)
		gh_print_error(&err);
	return written;
}

bool gh_process_open_heap(struct gh_dump *dump, struct gh_process *process, const char *version,
			  const char *name, bool bare)
{
	struct gh_error err;
	int fd = gh_open_temporary();
	if (fd < 0) {
		gh_print_errno("a temporary file for the heap");
		return false;
	}
	bool written =
	    write_dump(process, version, name, name, fd, bare ? GH_HEAP_BARE : GH_HEAP_WHOLE, &err);
	if (!written)
		close(fd);
	bool opened = written && (bare ? gh_dump_open_bare(dump, fd, name, &err)
				       : gh_dump_open_fd(dump, fd, name, &err));
	if (!opened)
		gh_print_error(&err);
	return opened;
}

void gh_check_c(const struct gh_dump *dump, const struct gh_process *process, unsigned how)
{
	struct gh_allocator allocator;
	char file[2 * sizeof(allocator.file)];
	if ((how & GH_HEAP_WITH_C) == 0 || dump->c_memory.count > 0)
		return;
	if (process != NULL && gh_allocator_find(&allocator, process))
		gh_say("%s: its malloc is %s, of %s: goheap knows the blocks of glibc's alone; see "
		       "goheap memory for how much it has",
		       dump->path, allocator.name != NULL ? allocator.name : "another",
		       gh_escape_text(file, sizeof(file), allocator.file));
	else
		gh_say("%s: no memory of glibc's malloc is there: a dump has it that goheap wrote "
		       "with --c of the process or core file",
		       dump->path);
}

bool gh_heap_open(struct gh_dump *dump, const char *path, const char *process, const char *program,
		  unsigned how)
{
	struct gh_target target;
	enum gh_target_kind kind = process == NULL ? gh_target_kind(path, NULL) : GH_KIND_PROCESS;
	if (kind == GH_KIND_DUMP || kind == GH_KIND_NONE) {
		bool opened = gh_dumpfile_open(dump, path);
		if (opened)
			gh_check_c(dump, NULL, how);
		return opened;
	}
	bool found = process == NULL ? gh_target_open_core(&target, path, program)
				     : open_for_heap(&target, atoi(process), program, how);
	if (!found)
		return false;
	gh_target_want_c(&target, how);
	uint64_t now = gh_now();
	bool bare =
	    (how & GH_HEAP_NO_DATA) != 0 && process != NULL && target.process.writable == NULL;
	bool opened =
	    gh_process_open_heap(dump, &target.process, target.version, target.path, bare);
	if (opened && process != NULL && now > dump->latest)
		dump->latest = now;
	if (opened)
		gh_check_c(dump, &target.process, how);
	gh_target_close(&target);
	return opened;
}
