#include "plugin/gdb/gdb.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/util/bsearch.h"
#include "lib/util/open_file.h"

/* Maps the file FD, of at least a header. */
static void map(struct gh_frames *frames, int fd)
{
	frames->size = (size_t)frames->file.st_size;
	if (frames->size < sizeof(*frames->header))
		return;
	void *data = mmap(NULL, frames->size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return;
	frames->header = data;
	frames->rows = (const void *)(frames->header + 1);
	if (frames->header->count !=
	    (frames->size - sizeof(*frames->header)) / sizeof(*frames->rows))
		gh_frames_free(frames);
}

void gh_frames_refresh(struct gh_frames *frames, const char *path)
{
	struct stat now;
	if (stat(path, &now) != 0) {
		gh_frames_free(frames);
		return;
	}
	if (gh_is_same_file(&now, &frames->file))
		return;
	gh_frames_free(frames);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &frames->file) == 0)
		map(frames, fd);
	close(fd);
}

void gh_frames_free(struct gh_frames *frames)
{
	if (frames->header != NULL)
		munmap((void *)frames->header, frames->size);
	*frames = (struct gh_frames){0};
}

/* The first row at SP and PC or after them. */
static const struct gh_frames_row *lower_bound(const struct gh_frames *frames, uint64_t sp,
					       uint64_t pc)
{
	const struct gh_frames_row *rows = frames->rows;
	size_t count = frames->header != NULL ? (size_t)frames->header->count : 0;
	size_t found =
	    gh_lower_bound(count, i, rows[i].sp < sp || (rows[i].sp == sp && rows[i].pc < pc));
	return found < count ? &rows[found] : NULL;
}

bool gh_frames_has_sp(const struct gh_frames *frames, uint64_t sp)
{
	const struct gh_frames_row *row = lower_bound(frames, sp, 0);
	return row != NULL && row->sp == sp;
}

const struct gh_frames_row *gh_frames_find(const struct gh_frames *frames, uint64_t sp, uint64_t pc)
{
	const struct gh_frames_row *row = lower_bound(frames, sp, pc);
	return row != NULL && row->sp == sp && row->pc == pc ? row : NULL;
}
