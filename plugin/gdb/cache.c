#include "plugin/gdb/gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/debugfile/debugfile.h"
#include "lib/util/blake2b.h"
#include "lib/util/hex.h"
#include "lib/util/output.h"
#include "plugin/gdb/internal.h"

/* Seconds in which file systems count at worst: FAT's. */
#define CLOCK_STEP 2

/* What follows the debug file, and nobody who reads ELF sees: a checksum of it. It tells damage,
 * not malice: nobody else can write here. */
#define TRAILER_FORMAT "\ngoheap crc32 %08lx\n"
#define TRAILER_SIZE   (sizeof("\ngoheap crc32 01234567\n") - 1)

/* Another goheap may write other debug files. Its size and the time it was made tell it apart. */
static void print_writer(FILE *out)
{
	struct stat st;
	if (stat("/proc/self/exe", &st) == 0)
		fprintf(out, "%jx.%jx.%lx", (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec,
			st.st_mtim.tv_nsec);
}

/* What the names in the cache end with, for DEBUGGER. */
static const char *kind_of(enum gh_debugger debugger)
{
	return debugger == GH_FOR_GDB ? "" : ".any";
}

/* The path of IMAGE's debug file for DEBUGGER, whether or not it is there. */
static char *debug_path(const char *directory, const struct gh_image *image,
			enum gh_debugger debugger)
{
	uint8_t hash[GH_BLAKE2B_SIZE];
	char digits[2 * GH_BLAKE2B_SIZE + 1];
	char *path = NULL;
	size_t length = 0;
	FILE *out = NULL;
	if (gh_blake2b_tree(image->data, image->size, hash))
		out = open_memstream(&path, &length);
	if (out == NULL)
		return NULL;
	gh_hex_text(digits, hash, sizeof(hash));
	fprintf(out, "%s/%s.", directory, digits);
	print_writer(out);
	fprintf(out, "%s.debug", kind_of(debugger));
	if (fclose(out) == 0)
		return path;
	free(path);
	return NULL;
}

/* What tells the file of ST in its present state from all others: no two states of a file, nor two
 * files, have all of these in common. Only the kernel sets the time of the last change (ctime). */
static void print_state(FILE *out, const struct stat *st)
{
	fprintf(out, "%jx.%jx.%jx.%jx.%lx.%jx.%lx", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
		(uintmax_t)st->st_size, (uintmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		(uintmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

/* Of a change that follows the last one of ST's file closely the time may be the same. */
static bool is_settled(const struct stat *st)
{
	return time(NULL) - st->st_ctim.tv_sec > CLOCK_STEP;
}

/* The path of the symbolic link by which the debug file of IMAGE's file for DEBUGGER is found
 * without a hash. */
static char *link_path(const char *directory, const struct gh_image *image,
		       enum gh_debugger debugger)
{
	char *path = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&path, &length);
	if (out == NULL)
		return NULL;
	fprintf(out, "%s/", directory);
	print_state(out, &image->file);
	fputc('.', out);
	print_writer(out);
	fprintf(out, "%s.link", kind_of(debugger));
	if (fclose(out) == 0)
		return path;
	free(path);
	return NULL;
}

/* What the link to the debug file at PATH says: its name and, after a space, the state in which it
 * was seen to be whole. That spares reading all of it. To be freed; NULL if it has none that lasts.
 */
static char *link_text(const char *path)
{
	struct stat st;
	char *text = NULL;
	size_t length = 0;
	if (lstat(path, &st) != 0)
		return NULL;
	FILE *out = open_memstream(&text, &length);
	if (out == NULL)
		return NULL;
	fprintf(out, "%s ", strrchr(path, '/') + 1);
	if (is_settled(&st))
		print_state(out, &st);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* What the link at PATH leads to, which is beside it; NULL if there is none. *WHOLE: it is as it
 * was when it was last seen to be whole. */
static char *follow_link(const char *directory, const char *path, bool *whole)
{
	char text[2 * NAME_MAX];
	char *target;
	*whole = false;
	ssize_t length = readlink(path, text, sizeof(text));
	if (length <= 0 || (size_t)length == sizeof(text) ||
	    memchr(text, '/', (size_t)length) != NULL)
		return NULL;
	text[length] = '\0';
	if (asprintf(&target, "%s/%.*s", directory, (int)strcspn(text, " "), text) < 0)
		return NULL;
	char *now = link_text(target);
	*whole = now != NULL && now[strlen(now) - 1] != ' ' && strcmp(now, text) == 0;
	free(now);
	return target;
}

/* Has the link at LINK lead to the debug file at PATH, which is whole. Without it the next one
 * makes a hash, too. */
static void keep_link(const char *link, const char *path)
{
	char *text = link_text(path);
	if (text != NULL) {
		unlink(link);
		if (symlink(text, link) != 0)
			errno = 0;
	}
	free(text);
}

/* Fills TRAILER with what ends a file whose first SIZE bytes FD has. */
static bool make_trailer(char trailer[TRAILER_SIZE + 1], int fd, size_t size)
{
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return false;
	uLong sum = crc32_z(crc32_z(0, NULL, 0), data, size);
	munmap(data, size);
	snprintf(trailer, TRAILER_SIZE + 1, TRAILER_FORMAT, sum);
	return true;
}

/* FD has a file of SIZE bytes that ends with the trailer of what is before it. */
static bool has_trailer(int fd, off_t size)
{
	char expected[TRAILER_SIZE + 1];
	char found[TRAILER_SIZE];
	off_t contents = size - (off_t)TRAILER_SIZE;
	return contents > 0 && pread(fd, found, TRAILER_SIZE, contents) == TRAILER_SIZE &&
	       make_trailer(expected, fd, (size_t)contents) &&
	       memcmp(found, expected, TRAILER_SIZE) == 0;
}

static bool is_whole(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	struct stat st;
	bool whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		     has_trailer(fd, st.st_size);
	close(fd);
	return whole;
}

static bool write_contents(const struct gh_output *out, const struct gh_pclntab *tab,
			   enum gh_debugger debugger)
{
	struct stat st;
	char trailer[TRAILER_SIZE + 1];
	bool written = gh_image_has_dwarf(tab->image)
			   ? gh_supplement_write_to(tab, out->fd, out->path, NULL)
			   : gh_debugfile_write_to(tab, NULL, debugger, out->fd, out->path, NULL);
	return written && fstat(out->fd, &st) == 0 &&
	       make_trailer(trailer, out->fd, (size_t)st.st_size) &&
	       lseek(out->fd, 0, SEEK_END) == st.st_size &&
	       gh_write_all(out->fd, trailer, TRAILER_SIZE);
}

static bool write_file(const char *path, const struct gh_pclntab *tab, enum gh_debugger debugger)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, NULL))
		return false;
	return gh_output_end(&out, write_contents(&out, tab, debugger), NULL);
}

/* Writes the debug file of IMAGE for DEBUGGER, unless it is there. Nobody who changes the program's
 * file meanwhile can have one program's symbols kept as those of another: what is hashed is a copy,
 * and is read again. Returns the path; NULL if it could not be written. */
static char *make_debug_file(const char *directory, const struct gh_image *image,
			     enum gh_debugger debugger)
{
	struct gh_image copy;
	struct gh_pclntab tab;
	gh_image_settle(image);
	char *path = debug_path(directory, image, debugger);
	if (path == NULL || is_whole(path))
		return path;
	bool written = false;
	if (gh_image_open_memory(&copy, image->data, image->size, image->path, NULL)) {
		if (gh_pclntab_open(&tab, &copy, NULL)) {
			written = write_file(path, &tab, debugger);
			gh_cache_clean(directory);
			gh_pclntab_close(&tab);
		}
		gh_image_close(&copy);
	}
	if (written)
		return path;
	free(path);
	return NULL;
}

char *gh_cache_get(const char *directory, const struct gh_image *image, enum gh_debugger debugger)
{
	bool whole = false;
	char *link = link_path(directory, image, debugger);
	char *path = link != NULL ? follow_link(directory, link, &whole) : NULL;
	if (whole) {
		free(link);
		return path;
	}
	if (path == NULL || !is_whole(path)) {
		free(path);
		path = make_debug_file(directory, image, debugger);
	}
	if (path != NULL && link != NULL && is_settled(&image->file))
		keep_link(link, path);
	free(link);
	return path;
}

bool gh_cache_has_links(const char *directory)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" GH_CACHE_LINKS, directory);
	return access(path, F_OK) == 0;
}

bool gh_build_id_path(char path[PATH_MAX], const char *directory, const char *build_id)
{
	int length = snprintf(path, PATH_MAX, "%s/" GH_CACHE_LINKS "/%.2s/%s.debug", directory,
			      build_id, strlen(build_id) > 2 ? build_id + 2 : "");
	if (length >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (char *slash = path + strlen(directory); slash != NULL; slash = strchr(slash, '/')) {
		*slash = '\0';
		bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
		*slash++ = '/';
		if (!made)
			return false;
	}
	return true;
}

bool gh_cache_link(const char *directory, const char *build_id, const char *path)
{
	char link[PATH_MAX];
	char part[PATH_MAX + 32];
	if (!gh_build_id_path(link, directory, build_id))
		return false;
	snprintf(part, sizeof(part), "%s.%d.part", link, getpid());
	return symlink(path, part) == 0 && rename(part, link) == 0;
}
