#include "plugin/gdb/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/code/code.h"

size_t gh_session_read(const char *name, void *data, size_t size)
{
	int fd = openat(GH_SESSION_FD, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t count = read(fd, data, size);
	close(fd);
	return count > 0 ? (size_t)count : 0;
}

bool gh_seen_program_open(struct gh_seen_program *program)
{
	char state[PATH_MAX + 256];
	struct gh_error err;
	size_t size = gh_session_read(GH_SESSION_STATE, state, sizeof(state) - 1);
	state[size] = '\0';
	const char *path = strchr(state, ' ');
	if (path == NULL)
		return false;
	if (program->identity != NULL && strcmp(program->identity, state) == 0)
		return program->opened;
	gh_seen_program_close(program);
	program->identity = strdup(state);
	program->opened = gh_image_open(&program->image, path + 1, &err) &&
			  gh_pclntab_open(&program->tab, &program->image, &err);
	if (program->opened)
		program->has_flags = gh_stack_has_flags(&program->tab);
	return program->opened;
}

struct gh_word_format gh_seen_program_words(const struct gh_seen_program *program)
{
	return (struct gh_word_format){.size = program->image.arch->pointer_size,
				       .big_endian = program->image.arch->big_endian};
}

void gh_seen_program_close(struct gh_seen_program *program)
{
	gh_pclntab_close(&program->tab);
	gh_image_close(&program->image);
	free(program->identity);
	*program = (struct gh_seen_program){0};
}
