#include "plugin/gdb/internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "plugin/view/view.h"

void gh_described_free(struct gh_described *process)
{
	gh_vector_free(&process->threads);
	gh_mapped_files_free(&process->libraries);
	gh_writable_free(&process->writable);
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
static void add_register(const struct gh_described *process, struct gh_registers *thread,
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

/* Adds a file to the libraries, which are by address. */
static void add_library(struct gh_described *process, uint64_t start, const char *path)
{
	struct gh_mapped_file file = {.path = strdup(path), .start = start};
	struct gh_mapped_files *files = &process->libraries;
	if (file.path == NULL || !gh_vector_push(files, file)) {
		free(file.path);
		return;
	}
	for (size_t i = files->count - 1; i > 0 && files->items[i - 1].start > start; i--) {
		files->items[i] = files->items[i - 1];
		files->items[i - 1] = file;
	}
}

/* Adds the mapping at TEXT: start, end, size, offset, access and file, as GDB prints it. False if
 * that is none. */
static bool add_mapping(struct gh_described *process, const char *text)
{
	struct gh_mapping mapping = {0};
	int end = 0;
	if (sscanf(text, " 0x%" SCNx64 " 0x%" SCNx64 " 0x%*x 0x%*x %4s %n", &mapping.start,
		   &mapping.end, mapping.access, &end) != 3)
		return false;
	mapping.inode = text[end] == '/';
	gh_writable_add(&process->writable, &mapping);
	return true;
}

/* Reads the line at TEXT. */
static void read_line(struct gh_described *process, const char *text)
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
	if (add_mapping(process, text))
		return;
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

/* Adds the program that PROCESS runs, to which DIRECTORY has a link, unless it is there. */
static void add_program(struct gh_described *process, int directory)
{
	char path[PATH_MAX] = "";
	struct gh_image image;
	bool is_there = false;
	if (readlinkat(directory, GH_SESSION_RUN, path, sizeof(path) - 1) <= 0 ||
	    !gh_image_open_unrelocated(&image, path, NULL))
		return;
	uint64_t start = process->entry - image.header.e_entry +
			 (image.nloads > 0 ? image.loads[0]->p_vaddr : 0);
	for (size_t i = 0; i < process->libraries.count; i++)
		is_there = is_there || process->libraries.items[i].start == start;
	if (!is_there)
		add_library(process, start, path);
	gh_image_close(&image);
}

bool gh_described_read(struct gh_described *process, int directory, const struct gh_arch *arch)
{
	*process = (struct gh_described){.registers = arch != NULL ? &arch->gregs : NULL};
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
	if (arch != NULL)
		add_program(process, directory);
	return !process->threads.failed;
}
