#include "plugin/gdb/gdb.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/process/process.h"
#include "lib/util/now.h"
#include "plugin/view/view.h"

/* What GDB debugs, as it is described in the session's directory. */
struct described {
	uint64_t entry; /* of the program, where it is loaded */
	int pid;        /* of a process of this machine, with its clock; 0 for others */
	bool selected;  /* the first thread is the one selected in GDB */
	const struct gh_gregset *registers; /* of its machine; NULL if it is not known */
	struct gh_thread_registers threads;
	struct gh_mapped_files libraries; /* Go's and others */
};

static void free_described(struct described *process)
{
	gh_vector_free(&process->threads);
	gh_mapped_files_free(&process->libraries);
}

/* Sets the register NAME of a thread, by its place among those of the machine. */
static void set_register(const struct gh_gregset *set, struct gh_registers *thread,
			 const char *name, uint64_t value)
{
	size_t length = strlen(name);
	const char *at = set->names;
	thread->count = set->count;
	for (unsigned i = 0; i < set->count; i++) {
		if (strncmp(at, name, length) == 0 && at[length] == ' ')
			thread->values[i] = value;
		at = strchr(at, ' ') + 1;
	}
}

/* Adds the register NAME of a thread. Some machines have pc and sp a second time among the others.
 */
static void add_register(const struct described *process, struct gh_registers *thread,
			 const char *name, uint64_t value)
{
	if (strcmp(name, "pc") == 0)
		thread->pc = value;
	else if (strcmp(name, "sp") == 0)
		thread->sp = value;
	if (process->registers != NULL && process->registers->names != NULL)
		set_register(process->registers, thread, name, value);
	else if (strcmp(name, "pc") != 0 && strcmp(name, "sp") != 0 &&
		 thread->count < GH_MAX_REGISTERS)
		thread->values[thread->count++] = value;
}

/* The system's number of the thread that GDB calls TEXT: "[Current thread is 1 (Thread 0x7ff3c740
 * (LWP 4711))]", of gdbserver's "(Thread 4711.4712)"; 0 if that has none. */
static int read_thread_id(const char *text)
{
	const char *number = strstr(text, "(LWP ");
	int id = 0;
	if (number == NULL || sscanf(number, "(LWP %d)", &id) != 1)
		sscanf(text, "[Current thread is %*[0-9.] (Thread %*d.%d)", &id);
	return id > 0 ? id : 0;
}

static void add_library(struct described *process, uint64_t start, const char *path)
{
	struct gh_mapped_file file = {.path = strdup(path), .start = start};
	if (file.path == NULL || !gh_vector_push(&process->libraries, file))
		free(file.path);
}

/* Reads the line at TEXT. */
static void read_line(struct described *process, const char *text)
{
	char name[32];
	uint64_t value = 0;
	struct gh_thread_registers *threads = &process->threads;
	const char *last = strrchr(text, ' ');
	if (strstr(text, " AT_ENTRY ") != NULL && last != NULL) {
		process->entry = strtoull(last, NULL, 16);
		return;
	}
	if (strncmp(text, "[Current thread is ", 19) == 0) {
		if (threads->count > 0)
			threads->items[threads->count - 1].id = read_thread_id(text);
		return;
	}
	int path = 0;
	int count = sscanf(text, "%31s %" SCNx64 " %n", name, &value, &path);
	if (count == 2 && strcmp(name, "native") == 0)
		process->pid = (int)value;
	else if (count == 1 && strcmp(name, "thread") == 0)
		gh_vector_push(threads, (struct gh_registers){0});
	else if (count == 2 && strcmp(name, "entry") == 0)
		process->entry = value;
	else if (count == 2 && strcmp(name, "library") == 0)
		add_library(process, value, text + path);
	else if (count == 2 && threads->count > 0)
		add_register(process, &threads->items[threads->count - 1], name, value);
}

/* Reads the description, which is beside the socket, in DIRECTORY, of a process on ARCH; NULL if
 * that is not known. */
static bool read_description(struct described *process, int directory, const struct gh_arch *arch)
{
	*process = (struct described){.registers = arch != NULL ? &arch->gregs : NULL};
	int fd = openat(directory, GH_SESSION_PROCESS, O_RDONLY | O_CLOEXEC);
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (in == NULL) {
		perror(GH_SESSION_PROCESS);
		return false;
	}
	char *text = NULL;
	size_t size = 0;
	bool read = getdelim(&text, &size, '\0', in) >= 0;
	fclose(in);
	if (read)
		gh_piped_text_decode(text);
	for (char *line = read ? strtok(text, "\n") : NULL; line != NULL; line = strtok(NULL, "\n"))
		read_line(process, line);
	free(text);
	return !process->threads.failed;
}

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
	const char *name = process->tab->image->path;
	if (snapshot->output != NULL)
		return gh_process_write_heap(process, version, name, snapshot->output,
					     snapshot->gzip);
	return gh_process_open_heap(&snapshot->dump, process, version, name, false);
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
static bool make_described(struct gh_snapshot *snapshot, const struct described *described,
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
	bool made = make(snapshot, &process, info.go_version != NULL ? info.go_version : "",
			 program->image.path);
	gh_process_memory_free(&process.memory);
	gh_other_modules_free(&others);
	gh_buildinfo_free(&info);
	if (made && described->pid != 0)
		snapshot->dump.latest = gh_now();
	return made;
}

/* Adds the program that PROCESS runs, to which DIRECTORY has a link, to its libraries: it is
 * another module where a library has the runtime. */
static void add_program(struct described *process, int directory)
{
	char path[PATH_MAX] = "";
	struct gh_image image;
	if (readlinkat(directory, GH_SESSION_RUN, path, sizeof(path) - 1) <= 0 ||
	    !gh_image_open_unrelocated(&image, path, NULL))
		return;
	if (image.nloads > 0)
		add_library(process,
			    process->entry - image.header.e_entry + image.loads[0]->p_vaddr, path);
	gh_image_close(&image);
}

/* Has PROCESS, which is described in DIRECTORY, tell of PROGRAM, if that is one of its libraries.
 */
static bool find_library(struct described *process, int directory, const struct gh_program *program,
			 const struct gh_memory *memory)
{
	struct gh_error err;
	uint64_t bias;
	if (!gh_image_is_library(&program->image))
		return true;
	add_program(process, directory);
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
	struct described process;
	struct gh_program program;
	/* The session has a link to the program. Errors are to name the program. */
	char *target = realpath(path, NULL);
	/* GDB waits for the connection, whatever comes of it. */
	int fd = gh_memory_connect(directory);
	bool opened = fd >= 0 && gh_program_open(&program, target != NULL ? target : path);
	bool made = false;
	if (fd < 0)
		gh_say("GDB has no process whose memory can be read");
	if (opened && read_description(&process, directory, program.image.arch)) {
		struct gh_memory memory = {.read = fetch, .from = &fd, .size = MEMORY};
		process.selected = process.threads.count > 0;
		if (process.selected)
			snapshot->selected = process.threads.items[0];
		made = find_library(&process, directory, &program, &memory) &&
		       make_described(snapshot, &process, &program, &memory);
		free_described(&process);
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

/* Frees what the dump was made in. */
static void free_memory(struct gh_snapshot *snapshot)
{
	gh_buffer_free(&snapshot->bytes);
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
		free_memory(snapshot);
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
		free_memory(snapshot);
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
	struct described process;
	int directory = open_directory(socket);
	if (directory < 0)
		return;
	if (read_description(&process, directory, NULL)) {
		gh_modules_add(modules, &process.libraries, program);
		free_described(&process);
	}
	close(directory);
}

bool gh_debugged_heap_open(struct gh_dump *dump, const char *socket, const char *program)
{
	struct gh_snapshot snapshot = {.with_heap = true};
	if (!open_socket(&snapshot, socket, program))
		return false;
	*dump = snapshot.dump;
	return true;
}

bool gh_debugged_heap_write(const char *output, const char *socket, const char *program, bool gzip)
{
	struct gh_snapshot snapshot = {.with_heap = true, .output = output, .gzip = gzip};
	return open_socket(&snapshot, socket, program);
}

void gh_snapshot_close(struct gh_snapshot *snapshot)
{
	gh_dump_close(&snapshot->dump);
	free_memory(snapshot);
	gh_crash_free(&snapshot->crash);
}
