#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/dispatch/dispatch.h"

/* Reads where the session's link NAME leads; in BUF. False if there is none. */
static bool read_link(const char *directory, const char *name, char buf[PATH_MAX])
{
	char link[PATH_MAX];
	snprintf(link, sizeof(link), "%s/%s", directory, name);
	ssize_t length = readlink(link, buf, PATH_MAX - 1);
	if (length < 0)
		return false;
	buf[length] = '\0';
	return true;
}

/* GDB has the core file of the heap dump open. */
static bool has_dump(const struct gh_infofiles *files, const char *directory)
{
	char core[PATH_MAX];
	struct stat ours;
	struct stat theirs;
	snprintf(core, sizeof(core), "%s/" GH_SESSION_CORE, directory);
	return files->core != NULL && stat(core, &ours) == 0 && stat(files->core, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

bool gh_gdb_source_dump(struct gh_gdb_source *source, const char *directory,
			const struct gh_infofiles *files)
{
	source->of = (struct gh_kept_source){.file = source->dump};
	if (!has_dump(files, directory) || !read_link(directory, GH_SESSION_DUMP, source->dump))
		return false;
	if (read_link(directory, GH_SESSION_WRITER, source->program))
		source->of.program = source->program;
	if (read_link(directory, GH_SESSION_NAMES, source->names))
		source->of.names = source->names;
	return true;
}

bool gh_gdb_source_system(struct gh_gdb_source *source, const struct gh_infofiles *files)
{
	source->of = (struct gh_kept_source){.program = files->program};
	snprintf(source->process, sizeof(source->process), "%d", files->pid);
	if (files->pid != 0)
		source->of.process = source->process;
	else
		source->of.file = files->core;
	return source->of.process != NULL || source->of.file != NULL;
}
