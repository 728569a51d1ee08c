#include "plugin/gdb/internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/escape.h"

#define SCRIPT "goheap.gdb"

/* The part of Python's C interface that is used, of the Python in GDB's own process: goheap needs
 * none to be built or to run. Objects are passed on as they are. */
struct python {
	int (*is_initialized)(void);
	int (*lock)(void);
	void (*unlock)(int state);
	void *(*import)(const char *module);
	void *(*call)(void *object, const char *method, const char *format, ...);
	void (*release)(void *object);
	void (*clear_error)(void);
};

/* Puts the address of the function NAME into the pointer at FUNCTION. False if GDB has none. */
static bool find_function(void *function, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool find_python(struct python *python)
{
	return find_function(&python->is_initialized, "Py_IsInitialized") &&
	       find_function(&python->lock, "PyGILState_Ensure") &&
	       find_function(&python->unlock, "PyGILState_Release") &&
	       find_function(&python->import, "PyImport_ImportModule") &&
	       find_function(&python->call, "PyObject_CallMethod") &&
	       find_function(&python->release, "Py_DecRef") &&
	       find_function(&python->clear_error, "PyErr_Clear") && python->is_initialized() != 0;
}

/* Has GDB run COMMAND, in UTF-8. False if it has no Python, or the command failed. */
static bool run_command(const char *command)
{
	struct python python;
	if (!find_python(&python))
		return false;
	int state = python.lock();
	void *gdb = python.import("gdb");
	void *done = gdb != NULL ? python.call(gdb, "execute", "s", command) : NULL;
	bool ran = done != NULL;
	if (ran)
		python.release(done);
	else
		python.clear_error();
	if (gdb != NULL)
		python.release(gdb);
	python.unlock(state);
	return ran;
}

/* GDB has read a goheap.gdb before, whose hook-jit-reader-load makes this directory. */
static bool was_read(void)
{
	char path[PATH_MAX];
	const char *base = getenv("XDG_RUNTIME_DIR");
	snprintf(path, sizeof(path), "%s/" GH_READ_MARK "%d",
		 base != NULL && *base != '\0' ? base : "/tmp", (int)getpid());
	return rmdir(path) == 0;
}

/* Prints "goheap: BEFORE", the script's path, AFTER, a line. */
static void say_path(const char *before, const char *directory, const char *after)
{
	fprintf(stderr, "goheap: %s", before);
	gh_escape_print(stderr, directory);
	fprintf(stderr, "/" SCRIPT "%s\n", after);
}

void gh_script_read(const char *directory)
{
	bool read_before = was_read();
	/* By the descriptor's number, no name of a directory is part of a command. */
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool is_there = fd >= 0 && faccessat(fd, SCRIPT, R_OK, 0) == 0;
	char command[80];
	/* An assignment is spelled otherwise in some languages. */
	snprintf(command, sizeof(command), "with language c -- source /proc/self/fd/%d/" SCRIPT,
		 fd);
	bool is_read = is_there && run_command(command);
	if (!is_read && !read_before && is_there)
		say_path("type  source ", directory, "");
	else if (!is_read && !read_before)
		say_path("no commands: ", directory, " is missing");
	if (fd >= 0)
		close(fd);
}
