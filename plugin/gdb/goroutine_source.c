#include "plugin/gdb/internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/process/process.h"
#include "lib/util/now.h"
#include "plugin/view/view.h"

/* What is believed to be of a live process's memory, in bytes. */
#define MEMORY (UINT64_C(1) << 30)

/* Reads over a connection. */
static bool fetch(const struct gh_memory *memory, uint64_t address, void *buf, size_t size)
{
	return gh_memory_fetch(*(const int *)memory->from, address, buf, size);
}

/* Opens the heap of PROCESS, or writes it. */
static bool make_heap(struct gh_snapshot *snapshot, struct gh_process *process, const char *version)
{
	const char *name = process->tab->image->path, *output = snapshot->output;
	return output != NULL
		   ? gh_process_write_heap(process, version, name, output, snapshot->gzip)
		   : gh_process_open_heap(&snapshot->dump, process, version, name, false);
}

/* Lists the goroutines of PROCESS, and finds why it crashes. PATH is of what is missing, if
 * anything is. */
static bool make_list(struct gh_snapshot *snapshot, struct gh_process *process, const char *version,
		      const char *path)
{
	struct gh_error err;
	uint64_t lost;
	bool made = gh_snapshot_make(&snapshot->bytes, process, version, &lost, &err) &&
		    gh_dump_open_memory(&snapshot->dump, snapshot->bytes.data, snapshot->bytes.size,
					process->tab->image->path, &err) &&
		    (!snapshot->looks_for_crash || gh_crash_find(&snapshot->crash, process, &err));
	if (!made) {
		gh_print_error(&err);
		return false;
	}
	gh_print_lost_goroutines(path, lost);
	return snapshot->show == NULL || snapshot->show(snapshot, process, snapshot->context);
}

/* Makes the dump of PROCESS. PATH is of what is missing, if anything is. */
static bool make(struct gh_snapshot *snapshot, struct gh_process *process, const char *version,
		 const char *path)
{
	if (snapshot->look != NULL)
		return snapshot->look(process, snapshot->context);
	return snapshot->with_heap ? make_heap(snapshot, process, version)
				   : make_list(snapshot, process, version, path);
}

/* The same of what is DESCRIBED, whose memory is MEMORY, and which runs PROGRAM. */
static bool make_described(struct gh_snapshot *snapshot, const struct gh_described *described,
			   const struct gh_program *program, const struct gh_memory *memory)
{
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, &program->image);
	struct gh_process process = gh_process_of(program, memory, &info, described->entry);
	process.threads = described->threads.items;
	process.nthreads = described->threads.count;
	process.selected = described->selected;
	struct gh_other_modules others = {0};
	gh_other_modules_find(&others, &described->libraries, memory, &program->image,
			      process.bias);
	process.others = others.list.items;
	process.nothers = others.list.count;
	process.files = &described->libraries;
	process.pid = described->pid;
	if ((snapshot->how & (GH_HEAP_WITH_C | GH_HEAP_WITH_LARGE_C)) != 0)
		process.writable = &described->writable;
	process.only_large_c = (snapshot->how & GH_HEAP_WITH_C) == 0;
	bool made = make(snapshot, &process, info.go_version != NULL ? info.go_version : "",
			 program->image.path);
	if (made && snapshot->with_heap && snapshot->output == NULL)
		gh_check_c(&snapshot->dump, &process, snapshot->how);
	gh_process_memory_free(&process.memory);
	gh_other_modules_free(&others);
	gh_buildinfo_free(&info);
	if (made && described->pid != 0)
		snapshot->dump.latest = gh_now();
	return made;
}

/* Has PROCESS tell of PROGRAM, if that is one of its libraries. */
static bool find_library(struct gh_described *process, const struct gh_program *program,
			 const struct gh_memory *memory)
{
	struct gh_error err;
	uint64_t bias;
	if (!gh_image_is_library(&program->image))
		return true;
	if (!gh_mapped_files_find(&process->libraries, memory, &program->image, &bias, &err)) {
		gh_print_error(&err);
		return false;
	}
	process->entry = bias + program->image.header.e_entry;
	return true;
}

/* The same for what GDB debugs; DIRECTORY is the session's. */
static bool open_debugged(struct gh_snapshot *snapshot, int directory, const char *path)
{
	struct gh_described process;
	struct gh_program program;
	/* The session has a link to the program. Errors are to name the program. */
	char *target = realpath(path, NULL);
	/* GDB waits for the connection, whatever comes of it. */
	int fd = gh_memory_connect(directory);
	bool opened = fd >= 0 && gh_program_open(&program, target != NULL ? target : path);
	bool made = false;
	if (fd < 0)
		gh_say("GDB has no process whose memory can be read");
	if (opened && gh_described_read(&process, directory, program.image.arch)) {
		struct gh_memory memory = {.read = fetch, .from = &fd, .size = MEMORY};
		process.selected = process.threads.count > 0;
		if (process.selected)
			snapshot->selected = process.threads.items[0];
		made = find_library(&process, &program, &memory) &&
		       make_described(snapshot, &process, &program, &memory);
		gh_described_free(&process);
	}
	if (opened)
		gh_program_close(&program);
	if (fd >= 0)
		close(fd);
	free(target);
	return made;
}

/* The same for the core file at PATH. */
static bool open_core(struct gh_snapshot *snapshot, const char *path, const char *program)
{
	struct gh_target target;
	if (!gh_target_open_core(&target, path, program))
		return false;
	bool made = make(snapshot, &target.process, target.version, target.path);
	gh_target_close(&target);
	return made;
}

/* The directory that the file at PATH is in; -1 if it cannot be opened. */
static int open_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy != NULL ? open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0)
		gh_print_errno(path);
	free(copy);
	return fd;
}

/* The same for GDB's process; its socket is at PATH. */
static bool open_socket(struct gh_snapshot *snapshot, const char *path, const char *program)
{
	int directory = open_directory(path);
	if (directory < 0)
		return false;
	bool opened = open_debugged(snapshot, directory, program);
	close(directory);
	return opened;
}

static bool open_any(struct gh_snapshot *snapshot, const char *path, const char *program)
{
	bool opened;
	enum gh_target_kind kind = gh_target_kind(path, NULL);
	if (kind == GH_KIND_CORE || kind == GH_KIND_PROGRAM)
		opened = open_core(snapshot, path, program);
	else if (program != NULL && kind == GH_KIND_DEBUGGED)
		opened = open_socket(snapshot, path, program);
	else
		opened = gh_dumpfile_open(&snapshot->dump, path);
	if (!opened)
		gh_buffer_free(&snapshot->bytes);
	return opened;
}

bool gh_snapshot_open(struct gh_snapshot *snapshot, const char *path, const char *program)
{
	*snapshot = (struct gh_snapshot){0};
	return open_any(snapshot, path, program);
}

bool gh_snapshot_show(struct gh_snapshot *snapshot, const char *path, const char *program,
		      bool (*show)(struct gh_snapshot *snapshot, struct gh_process *process,
				   void *context),
		      void *context)
{
	*snapshot = (struct gh_snapshot){.show = show, .context = context};
	return open_any(snapshot, path, program);
}

bool gh_snapshot_open_process(struct gh_snapshot *snapshot, const char *process,
			      const char *program)
{
	struct gh_target target;
	*snapshot = (struct gh_snapshot){0};
	if (!gh_target_open_live(&target, atoi(process), program))
		return false;
	bool made = make_list(snapshot, &target.process, target.version, target.path);
	if (made)
		snapshot->dump.latest = gh_now();
	else
		gh_buffer_free(&snapshot->bytes);
	gh_target_close(&target);
	return made;
}

/* The same of the dump at PATH. */
static bool look_at_dump(const struct gh_snapshot *snapshot, const char *path, const char *program)
{
	struct gh_dump dump;
	struct gh_symbols symbols;
	struct gh_process process;
	struct gh_memory memory;
	bool looked = false;
	if (program == NULL) {
		gh_say("the program, whose types these are, is not known: -e PROGRAM");
		return false;
	}
	if (!gh_dumpfile_open(&dump, path))
		return false;
	if (gh_symbols_open(&symbols, &dump, program)) {
		gh_dump_process(&process, &memory, &dump, &symbols);
		looked = snapshot->look(&process, snapshot->context);
		gh_process_memory_free(&process.memory);
		gh_symbols_close(&symbols);
	}
	gh_dump_close(&dump);
	return looked;
}

/* The same of the running process of this number. */
static bool look_at_running(const struct gh_snapshot *snapshot, const char *process,
			    const char *program)
{
	struct gh_target target;
	if (!gh_target_open_live(&target, atoi(process), program))
		return false;
	bool looked = snapshot->look(&target.process, snapshot->context);
	gh_target_close(&target);
	return looked;
}

bool gh_process_look(const char *path, const char *process, const char *program,
		     bool (*look)(struct gh_process *process, void *context), void *context)
{
	struct gh_snapshot snapshot = {.look = look, .context = context};
	if (process != NULL)
		return look_at_running(&snapshot, process, program);
	enum gh_target_kind kind = gh_target_kind(path, NULL);
	if (kind == GH_KIND_DUMP || kind == GH_KIND_NONE)
		return look_at_dump(&snapshot, path, program);
	return open_any(&snapshot, path, program);
}

bool gh_snapshot_open_crash(struct gh_snapshot *snapshot, const char *path, const char *program)
{
	*snapshot = (struct gh_snapshot){.looks_for_crash = true};
	return open_any(snapshot, path, program);
}

bool gh_core_crash(struct gh_crash *crash, const char *path, const struct gh_program *program)
{
	struct gh_error err;
	struct gh_image core;
	*crash = (struct gh_crash){0};
	if (!gh_image_open_core(&core, path, &err))
		return false;
	bool found = false;
	if (core.arch == program->image.arch) {
		struct gh_thread_registers threads = {0};
		struct gh_buildinfo info;
		struct gh_memory memory = gh_core_memory(&core);
		uint64_t entry = 0;
		gh_core_threads(&threads, &core);
		gh_core_auxv(&core, AT_ENTRY, &entry);
		gh_buildinfo_read(&info, &program->image);
		struct gh_process process = gh_process_of(program, &memory, &info, entry);
		process.threads = threads.items;
		process.nthreads = threads.count;
		found = gh_crash_find(crash, &process, &err);
		gh_process_memory_free(&process.memory);
		gh_buildinfo_free(&info);
		gh_vector_free(&threads);
	}
	gh_image_close(&core);
	return found;
}

bool gh_is_debugged(const char *path)
{
	return gh_target_kind(path, NULL) == GH_KIND_DEBUGGED;
}

void gh_debugged_modules(struct gh_modules *modules, const char *socket, const char *program)
{
	struct gh_described process;
	int directory = open_directory(socket);
	if (directory < 0)
		return;
	if (gh_described_read(&process, directory, NULL)) {
		gh_modules_add(modules, &process.libraries, program);
		gh_described_free(&process);
	}
	close(directory);
}

bool gh_debugged_heap_open(struct gh_dump *dump, const char *socket, const char *program,
			   unsigned how)
{
	struct gh_snapshot snapshot = {.with_heap = true, .how = how};
	if (!open_socket(&snapshot, socket, program))
		return false;
	*dump = snapshot.dump;
	return true;
}

bool gh_debugged_heap_write(const char *output, const char *socket, const char *program, bool gzip,
			    unsigned how)
{
	struct gh_snapshot snapshot = {
	    .with_heap = true, .how = how, .output = output, .gzip = gzip};
	return open_socket(&snapshot, socket, program);
}

void gh_snapshot_close(struct gh_snapshot *snapshot)
{
	gh_dump_close(&snapshot->dump);
	gh_buffer_free(&snapshot->bytes);
	gh_crash_free(&snapshot->crash);
}
