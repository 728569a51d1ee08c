#include "plugin/gdb/internal.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* No program needs as many. */
#define MAX_LIBRARIES 2000

/* The dynamic linker's own list of libraries: struct cache_file_new of glibc's
 * sysdeps/generic/dl-cache.h, which a struct cache_file may come before. */
#define CACHE_FILE        "/etc/ld.so.cache"
#define CACHE_MAGIC       "glibc-ld.so.cache1.1"
#define CACHE_HEADER_SIZE 48
#define OLD_MAGIC         "ld.so-1.7.0"
#define OLD_HEADER_SIZE   16
#define OLD_ENTRY_SIZE    12

/* Where libraries are that no list names. */
#define DEFAULT_PATH "/lib:/usr/lib:/lib64:/usr/lib64:/usr/local/lib"

struct search {
	struct gh_needed *found;
	struct GH_VECTOR(char *) names; /* that were looked for, each owned */
	struct gh_image program;
	const char *library_path; /* NULL if there is none */
	char *interpreter_path;   /* the directory of the dynamic linker; owned, NULL if unknown */
	struct gh_buffer cache;   /* what CACHE_FILE holds */
};

/* Takes the library at PATH if it is one of the program's machine. */
static bool try_path(struct search *search, const char *path)
{
	struct gh_image image;
	if (!gh_image_open_unrelocated(&image, path, NULL))
		return false;
	bool fits = image.arch == search->program.arch;
	gh_image_close(&image);
	char *copy = fits ? strdup(path) : NULL;
	return copy != NULL && gh_vector_push(search->found, copy);
}

/* DIRECTORY, of SIZE bytes, with ORIGIN in place of what stands for it at the start. */
static void expand(char out[PATH_MAX], const char *directory, size_t size, const char *origin)
{
	static const char *const names[] = {"$ORIGIN", "${ORIGIN}"};
	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(names[i]);
		if (size >= length && strncmp(directory, names[i], length) == 0) {
			snprintf(out, PATH_MAX, "%s%.*s", origin, (int)(size - length),
				 directory + length);
			return;
		}
	}
	snprintf(out, PATH_MAX, "%.*s", (int)size, directory);
}

/* Looks for NAME in the directories of PATH, which may be NULL. ORIGIN is that of who names them.
 */
static bool try_directories(struct search *search, const char *path, const char *origin,
			    const char *name)
{
	for (; path != NULL && *path != '\0'; path += *path != '\0') {
		char directory[PATH_MAX];
		char file[2 * PATH_MAX];
		size_t size = strcspn(path, ":;");
		expand(directory, path, size, origin);
		snprintf(file, sizeof(file), "%s/%s", size > 0 ? directory : ".", name);
		if (try_path(search, file))
			return true;
		path += size;
	}
	return false;
}

/* What is next in CUR is TEXT, which is passed over. */
static bool begins_with(struct gh_cursor *cur, const char *text)
{
	const uint8_t *bytes = gh_cursor_bytes(cur, strlen(text));
	return bytes != NULL && memcmp(bytes, text, strlen(text)) == 0;
}

/* Looks for NAME in the dynamic linker's list. */
static bool try_cache(struct search *search, const char *name)
{
	struct gh_cursor all = gh_cursor_make(search->cache.data, search->cache.size, CACHE_FILE, 0,
					      search->program.arch->big_endian);
	struct gh_cursor cur = all;
	if (begins_with(&cur, OLD_MAGIC)) {
		gh_cursor_seek(&cur, OLD_HEADER_SIZE - 4);
		uint64_t end = OLD_HEADER_SIZE + (uint64_t)gh_cursor_u32(&cur) * OLD_ENTRY_SIZE;
		end = (end + 7) & ~UINT64_C(7);
		all = gh_cursor_slice(&all, end, gh_cursor_size(&all) - end);
	}
	cur = all;
	if (!begins_with(&cur, CACHE_MAGIC))
		return false;
	uint32_t count = gh_cursor_u32(&cur);
	gh_cursor_seek(&cur, CACHE_HEADER_SIZE);
	while (count-- > 0 && !cur.failed) {
		struct gh_cursor key = all;
		struct gh_cursor value = all;
		gh_cursor_u32(&cur); /* flags */
		gh_cursor_seek(&key, gh_cursor_u32(&cur));
		gh_cursor_seek(&value, gh_cursor_u32(&cur));
		gh_cursor_bytes(&cur, 12); /* of the system and the processor */
		const char *named = gh_cursor_string(&key);
		const char *path = gh_cursor_string(&value);
		if (named != NULL && path != NULL && strcmp(named, name) == 0 &&
		    try_path(search, path))
			return true;
	}
	return false;
}

/* The text of IMAGE's first dynamic entry with this TAG; NULL if it has none. */
static const char *dynamic_text(const struct gh_image *image, uint64_t tag)
{
	uint64_t offset;
	uint64_t table;
	struct gh_cursor strings;
	if (!gh_dynamic_find(image, tag, &offset) || !gh_dynamic_find(image, DT_STRTAB, &table) ||
	    !gh_image_at(image, table, &strings))
		return NULL;
	gh_cursor_bytes(&strings, offset);
	return gh_cursor_string(&strings);
}

/* Looks for NAME, which OF, in the directory ORIGIN, needs. */
static void find(struct search *search, const struct gh_image *of, const char *origin,
		 const char *name)
{
	for (size_t i = 0; i < search->names.count; i++)
		if (strcmp(search->names.items[i], name) == 0)
			return;
	char *copy = strdup(name);
	if (copy == NULL || !gh_vector_push(&search->names, copy)) {
		free(copy);
		return;
	}
	if (strchr(name, '/') != NULL) {
		try_path(search, name);
		return;
	}
	const char *runpath = dynamic_text(of, DT_RUNPATH);
	const char *rpath = runpath == NULL ? dynamic_text(of, DT_RPATH) : NULL;
	(void)(try_directories(search, rpath, origin, name) ||
	       try_directories(search, search->library_path, origin, name) ||
	       try_directories(search, runpath, origin, name) || try_cache(search, name) ||
	       try_directories(search, search->interpreter_path, origin, name) ||
	       try_directories(search, DEFAULT_PATH, origin, name));
}

/* Looks for what IMAGE needs. */
static void find_needed(struct search *search, const struct gh_image *image)
{
	char *real = realpath(image->path, NULL);
	const char *origin = real != NULL ? dirname(real) : "/";
	struct gh_dynamic dynamic;
	uint64_t table;
	struct gh_cursor strings;
	if (gh_dynamic_find(image, DT_STRTAB, &table) && gh_image_at(image, table, &strings) &&
	    gh_dynamic_open(&dynamic, image))
		while (search->names.count < MAX_LIBRARIES && gh_dynamic_next(&dynamic)) {
			struct gh_cursor at = strings;
			gh_cursor_bytes(&at, dynamic.value);
			const char *name = dynamic.tag == DT_NEEDED ? gh_cursor_string(&at) : NULL;
			if (name != NULL)
				find(search, image, origin, name);
		}
	free(real);
}

/* The directory of the program's dynamic linker, to be freed. NULL if the program has none. */
static char *find_interpreter_path(const struct gh_image *program)
{
	struct gh_cursor cur;
	for (size_t i = 0; i < program->nsegments; i++) {
		if (program->segments[i].p_type != PT_INTERP ||
		    !gh_image_at(program, program->segments[i].p_vaddr, &cur))
			continue;
		const char *path = gh_cursor_string(&cur);
		char *real = path != NULL ? realpath(path, NULL) : NULL;
		char *directory = real != NULL ? strdup(dirname(real)) : NULL;
		free(real);
		return directory;
	}
	return NULL;
}

static void read_cache(struct gh_buffer *cache)
{
	FILE *file = fopen(CACHE_FILE, "re");
	size_t size = 0;
	do {
		uint8_t *to = file != NULL ? gh_buffer_extend(cache, 65536) : NULL;
		size = to != NULL ? fread(to, 1, 65536, file) : 0;
		if (to != NULL)
			cache->size -= 65536 - size;
	} while (size > 0);
	if (file != NULL)
		fclose(file);
}

void gh_needed_find(struct gh_needed *needed, const char *program, const char *library_path)
{
	struct search search = {.found = needed, .library_path = library_path};
	*needed = (struct gh_needed){0};
	if (!gh_image_open_unrelocated(&search.program, program, NULL))
		return;
	search.interpreter_path = find_interpreter_path(&search.program);
	/* What is linked statically needs nothing. */
	if (search.interpreter_path != NULL) {
		read_cache(&search.cache);
		find_needed(&search, &search.program);
	}
	for (size_t i = 0; i < needed->count; i++) {
		struct gh_image image;
		if (gh_image_open_unrelocated(&image, needed->items[i], NULL)) {
			find_needed(&search, &image);
			gh_image_close(&image);
		}
	}
	for (size_t i = 0; i < search.names.count; i++)
		free(search.names.items[i]);
	gh_vector_free(&search.names);
	gh_buffer_free(&search.cache);
	free(search.interpreter_path);
	gh_image_close(&search.program);
}

void gh_needed_free(struct gh_needed *needed)
{
	for (size_t i = 0; i < needed->count; i++)
		free(needed->items[i]);
	gh_vector_free(needed);
}
