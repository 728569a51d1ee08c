#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/open_file.h"
#include "plugin/view/view.h"

/* The kind that a file has which begins with the SIZE bytes at START. */
static enum gh_target_kind kind_of(const uint8_t *start, size_t size)
{
	if (size >= EI_NIDENT + 2 && memcmp(start, ELFMAG, SELFMAG) == 0) {
		bool is_big_endian = start[EI_DATA] == ELFDATA2MSB;
		return start[EI_NIDENT + is_big_endian] == ET_CORE ? GH_KIND_CORE : GH_KIND_PROGRAM;
	}
	bool is_packed = size > 2 && start[0] == 0x1f && start[1] == 0x8b;
	return gh_dump_recognise(start, size) || is_packed ? GH_KIND_DUMP : GH_KIND_NONE;
}

enum gh_target_kind gh_target_kind(const char *path, struct gh_error *err)
{
	uint8_t start[EI_NIDENT + 2];
	struct stat st;
	if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		return GH_KIND_DEBUGGED;
	int fd = gh_open_file(path, &st, err);
	if (fd < 0)
		return GH_KIND_NONE;
	ssize_t count = read(fd, start, sizeof(start));
	close(fd);
	size_t size = count > 0 ? (size_t)count : 0;
	enum gh_target_kind kind = kind_of(start, size);
	if (kind == GH_KIND_NONE)
		gh_fail(err, path, GH_NO_OFFSET, "a core file, heap dump or program", "%s",
			gh_file_kind(start, size));
	return kind;
}
