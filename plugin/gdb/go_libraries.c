#include "plugin/gdb/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/debugfile/debugfile.h"
#include "lib/util/escape.h"
#include "lib/util/now.h"

/* The libraries of which something was said, or that GDB was told to read again, in the session's
 * directory: texts, each with a NUL after it. */
#define SEEN_FILE "libraries"

/* A library that GDB has loaded. */
struct listed {
	uint64_t
	    from; /* addresses of its section .text or, as GDB 18 has it, of all that is loaded */
	uint64_t to;
	char *path; /* owned */
	bool has_symbols;
};

struct job {
	const struct gh_library_look *look;
	const struct gh_library_loading *loading; /* NULL at a stop */
	char *debug;                              /* that of what is being loaded; owned */
	uint64_t start;                           /* of the library that is looked at, by gh_now */
	struct GH_VECTOR(char *) seen;            /* what SEEN_FILE has, each owned */
	struct gh_needed needed;                  /* by the program, before there is a process */
	bool has_found;                           /* a Go library is among them */
	bool reads_again;                         /* GDB is to read libraries again */
	struct GH_VECTOR(char *) scripts;         /* what GDB is to do after that, each owned */
};

static void read_seen(struct job *job)
{
	char path[PATH_MAX];
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(gh_missing_file_path(path, job->look->session, SEEN_FILE), "re");
	while (file != NULL && getdelim(&text, &size, '\0', file) > 0 &&
	       gh_vector_push(&job->seen, text)) {
		text = NULL;
		size = 0;
	}
	free(text);
	if (file != NULL)
		fclose(file);
}

/* Notes WHAT of the library IMAGE. False if that was noted before. */
static bool note(struct job *job, const struct gh_image *image, const char *what)
{
	char path[PATH_MAX];
	char *text;
	const struct stat *st = &image->file;
	if (asprintf(&text, "%s %jx.%jx.%jx.%jx.%lx %s", what, (uintmax_t)st->st_dev,
		     (uintmax_t)st->st_ino, (uintmax_t)st->st_size, (uintmax_t)st->st_mtim.tv_sec,
		     st->st_mtim.tv_nsec, image->path) < 0)
		return false;
	for (size_t i = 0; i < job->seen.count; i++)
		if (strcmp(job->seen.items[i], text) == 0) {
			free(text);
			return false;
		}
	FILE *file = fopen(gh_missing_file_path(path, job->look->session, SEEN_FILE), "ae");
	if (file != NULL) {
		fwrite(text, 1, strlen(text) + 1, file);
		fclose(file);
	}
	if (!gh_vector_push(&job->seen, text))
		free(text);
	return true;
}

/* Of what is no Go library next to nothing is read. */
static bool is_stripped_go(const char *path)
{
	struct gh_image image;
	if (!gh_image_open_unrelocated(&image, path, NULL))
		return false;
	bool is_go = gh_image_is_go(&image) && !gh_image_has_dwarf(&image);
	gh_image_close(&image);
	return is_go;
}

static void say(const struct job *job, const struct gh_image *image, const struct gh_pclntab *tab,
		const struct gh_buildinfo *info)
{
	char version[64];
	char path[PATH_MAX];
	gh_escape_text(version, sizeof(version),
		       info->go_version != NULL ? info->go_version : "Go");
	gh_escape_text(path, sizeof(path), image->path);
	gh_script_say(job->look->script, "goheap: %s library %s, %zu functions, %ld ms", version,
		      path, tab->nfunc, gh_milliseconds_since(job->start));
}

/* How far IMAGE is loaded above its own addresses. */
static uint64_t bias_of(const struct gh_image *image, const struct listed *listed)
{
	const struct gh_section *text = gh_image_section(image, ".text");
	if (text != NULL && text->header.sh_size == listed->to - listed->from)
		return listed->from - text->header.sh_addr;
	uint64_t first = image->nloads > 0 ? image->loads[0]->p_vaddr : 0;
	return listed->from - (first & ~UINT64_C(0xfff));
}

/* The file of IMAGE is another than the one that is loaded. That can be told of a process of this
 * machine, and of a core file. GDB may be wrong about where it is loaded. */
static bool is_replaced(const struct job *job, const struct gh_image *image)
{
	const struct gh_infofiles *files = &job->look->told->files;
	struct gh_mapped_files mapped = {0};
	struct gh_image core = {0};
	struct gh_memory memory;
	bool listed = false;
	if (files->pid != 0) {
		memory = gh_live_memory(&files->pid);
		listed = gh_mapped_files_live(&mapped, files->pid);
	} else if (files->core != NULL && gh_image_open_core(&core, files->core, NULL)) {
		memory = gh_core_memory(&core);
		listed = gh_mapped_files_core(&mapped, &core);
	}
	bool replaced = listed && gh_mapped_files_replaced(&mapped, &memory, image);
	gh_mapped_files_free(&mapped);
	gh_image_close(&core);
	return replaced;
}

/* Has GDB use DEBUG, the debug file of the library IMAGE, at a stop. */
static void use(struct job *job, const struct gh_image *image, const char *build_id,
		const char *debug, const struct listed *listed)
{
	char what[32] = "loaded";
	if (build_id != NULL && gh_cache_link(job->look->cache, build_id, debug)) {
		job->has_found = true;
		if (listed != NULL && note(job, image, what))
			job->reads_again = true;
	} else if (listed != NULL) {
		job->has_found = true;
		/* Nothing by which GDB could find it. */
		uint64_t bias = bias_of(image, listed);
		snprintf(what, sizeof(what), "%" PRIx64, bias);
		char *script = NULL;
		size_t size;
		FILE *out = note(job, image, what) ? open_memstream(&script, &size) : NULL;
		if (out == NULL)
			return;
		gh_escape_gdb(out, debug);
		fprintf(out, " -o %" PRIu64, bias);
		if (fclose(out) != 0 || !gh_vector_push(&job->scripts, script))
			free(script);
	}
}

/* The library that GDB is loading is that whose file has this BUILD_ID, which may be NULL. Of the
 * files of another machine nothing else tells. */
static bool is_loading(const struct job *job, const char *build_id)
{
	if (build_id == NULL)
		return job->loading->build_id[0] == '\0' && job->look->told->files.pid != 0;
	return strcmp(job->loading->build_id, build_id) == 0;
}

/* Gives GDB the debug file of the library IMAGE, which TAB is of, and says so. */
static void add_symbols(struct job *job, const struct gh_image *image, const struct gh_pclntab *tab,
			const struct listed *listed)
{
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, image);
	bool is_meant = job->loading == NULL || is_loading(job, info.gnu_build_id);
	char *debug = is_meant ? gh_cache_get(job->look->cache, image, GH_FOR_GDB) : NULL;
	if (debug != NULL) {
		if (job->loading == NULL)
			use(job, image, info.gnu_build_id, debug, listed);
		if (note(job, image, "said"))
			say(job, image, tab, &info);
	}
	if (job->loading != NULL)
		job->debug = debug;
	else
		free(debug);
	gh_buildinfo_free(&info);
}

/* Finds the symbols of the library at PATH, if it is a stripped one of Go's. LISTED is it where GDB
 * has loaded it, else NULL. */
static void look_at(struct job *job, const char *path, const struct listed *listed)
{
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	job->start = gh_now();
	if (strchr(path, '\n') != NULL || !is_stripped_go(path) ||
	    !gh_image_open(&image, path, NULL))
		return;
	if (listed != NULL && is_replaced(job, &image)) {
		char name[PATH_MAX];
		gh_escape_text(name, sizeof(name), path);
		if (note(job, &image, "said"))
			gh_script_say(job->look->script,
				      "goheap: %s was replaced since it was loaded: its symbols "
				      "are not those of the process",
				      name);
	} else if (listed != NULL && listed->has_symbols) {
		job->has_found = true;
	} else if (gh_pclntab_open(&tab, &image, &err)) {
		add_symbols(job, &image, &tab, listed);
		gh_pclntab_close(&tab);
	} else if (note(job, &image, "said")) {
		gh_script_say(job->look->script, "goheap: %s", err.text);
	}
	gh_image_close(&image);
}

/* Reads what `info sharedlibrary' prints of a library, in a LINE of SIZE bytes. */
static bool parse_line(struct listed *listed, const char *line, size_t size)
{
	static const char mark[] = "Yes";
	static const char lacks[] = "(*)";
	int at = 0;
	char *text = strndup(line, size);
	*listed = (struct listed){0};
	if (text != NULL &&
	    sscanf(text, "0x%" SCNx64 " 0x%" SCNx64 " %n", &listed->from, &listed->to, &at) == 2 &&
	    at > 0) {
		const char *rest = text + at;
		/* Where there are several, the namespace of the dynamic linker. */
		if (strncmp(rest, "[[", 2) == 0)
			rest += strcspn(rest, "]") + strspn(rest + strcspn(rest, "]"), "] ");
		if (strncmp(rest, mark, strlen(mark)) == 0) {
			rest += strlen(mark);
			rest += strspn(rest, " ");
			listed->has_symbols = strncmp(rest, lacks, strlen(lacks)) != 0;
			rest += listed->has_symbols ? 0 : strlen(lacks);
			rest += strspn(rest, " ");
			/* Whatever the target has there, GDB compares the build id. */
			if (strncmp(rest, "target:", 7) == 0)
				rest += 7;
			listed->path = strdup(rest);
		}
	}
	free(text);
	return listed->path != NULL;
}

static void look_at_listed(struct job *job)
{
	const char *text = job->look->told->libraries;
	for (; text != NULL && *text != '\0'; text += *text != '\0') {
		struct listed listed;
		size_t size = strcspn(text, "\n");
		if (parse_line(&listed, text, size)) {
			look_at(job, listed.path, &listed);
			free(listed.path);
		}
		text += size;
	}
}

/* Before there is a process, looks at the libraries that the program names. */
static void look_at_needed(struct job *job)
{
	const struct gh_told *told = job->look->told;
	if (told->files.program == NULL || (told->files.running && !told->files.remote))
		return;
	gh_needed_find(&job->needed, told->files.program, told->library_path);
	for (size_t i = 0; i < job->needed.count; i++)
		look_at(job, job->needed.items[i], NULL);
}

/* The directories in LIST, with colons between, have DIRECTORY among them. */
static bool has_directory(const char *list, const char *directory)
{
	size_t length = strlen(directory);
	for (const char *at = list; (at = strstr(at, directory)) != NULL; at++)
		if ((at == list || at[-1] == ':') && (at[length] == ':' || at[length] == '\0'))
			return true;
	return false;
}

/* Has GDB look for debug files in the cache, after the directories that the user has named. */
static void add_directory(const struct job *job)
{
	const char *list = job->look->told->debug_directories;
	const char *cache = job->look->cache;
	if (list == NULL || has_directory(list, cache) || strchr(cache, ':') != NULL ||
	    strpbrk(list, "\n\\$") != NULL || strpbrk(cache, "\\$") != NULL)
		return;
	fprintf(job->look->script, "set debug-file-directory %s%s%s\n", list,
		*list != '\0' ? ":" : "", cache);
}

/* Libraries may be loaded by the program's next stop if it is linked dynamically: has GDB compare
 * then how many there are, with the program and the vDSO among them. */
static void note_count(const struct job *job)
{
	const char *listed = job->look->told->libraries;
	FILE *script = job->look->script;
	if (listed != NULL && strstr(listed, "\n0x") != NULL)
		/* It is counted at the next stop, for once. That the frame is in another language
		   is not to be told. */
		fputs("if $_isvoid($goheap_libraries)\n"
		      "pipe with language c -- _goheap_expect_libraries 0 | cat >/dev/null\nend\n",
		      script);
	else if (job->needed.count > 0)
		fprintf(script, "with language c -- _goheap_expect_libraries %zu\n",
			job->needed.count + 2);
}

/* A stripped position-independent Go program. */
static bool is_stripped_pie(const char *path)
{
	struct gh_image image;
	if (path == NULL || !gh_image_open_unrelocated(&image, path, NULL))
		return false;
	bool is = gh_image_is_pie(&image) && gh_image_is_go(&image) && !gh_image_has_dwarf(&image);
	gh_image_close(&image);
	return is;
}

/* Before such a program runs, has GDB find its libraries at the first stop; in a core file that was
 * opened after it, at once. */
static void await_libraries(const struct job *job)
{
	const struct gh_told *told = job->look->told;
	const struct gh_infofiles *files = &told->files;
	bool has_core = files->core != NULL &&
			(told->libraries == NULL || strstr(told->libraries, "\n0x") == NULL);
	if ((files->running && !has_core) || !is_stripped_pie(files->program))
		return;
	if (!has_core)
		fputs("with confirm off -- _goheap_await_libraries\n", job->look->script);
	else
		fputs("_goheap_silently _goheap_place_dynamic\n"
		      "pipe info sharedlibrary | grep ^0x >/dev/null\n"
		      "if $_shell_exitcode\nelse\n_goheap_look\nend\n",
		      job->look->script);
}

static void write_script(const struct job *job)
{
	FILE *script = job->look->script;
	if (job->has_found || gh_cache_has_links(job->look->cache))
		add_directory(job);
	if (job->reads_again)
		fputs("with print symbol-loading off -- nosharedlibrary\n"
		      "with print symbol-loading off -- sharedlibrary\n",
		      script);
	for (size_t i = 0; i < job->scripts.count; i++)
		fprintf(script, "with print symbol-loading off -- add-symbol-file %s\n",
			job->scripts.items[i]);
	note_count(job);
	await_libraries(job);
}

static void free_seen(struct job *job)
{
	for (size_t i = 0; i < job->seen.count; i++)
		free(job->seen.items[i]);
	gh_vector_free(&job->seen);
}

bool gh_library_look(const struct gh_library_look *look)
{
	struct job job = {.look = look};
	read_seen(&job);
	look_at_needed(&job);
	look_at_listed(&job);
	write_script(&job);
	gh_needed_free(&job.needed);
	free_seen(&job);
	for (size_t i = 0; i < job.scripts.count; i++)
		free(job.scripts.items[i]);
	gh_vector_free(&job.scripts);
	return job.has_found;
}

char *gh_library_load(const struct gh_library_look *look, const struct gh_library_loading *loading)
{
	struct job job = {.look = look, .loading = loading};
	size_t length = strlen(look->cache);
	bool is_ours = loading->debug != NULL &&
		       strncmp(loading->debug, look->cache, length) == 0 &&
		       loading->debug[length] == '/';
	struct listed listed = {.has_symbols = loading->debug != NULL && !is_ours};
	read_seen(&job);
	look_at(&job, loading->path, &listed);
	free_seen(&job);
	if (loading->debug == NULL)
		return job.debug;
	free(job.debug);
	return NULL;
}

/* Finds where the library at PATH begins, by SECTION of it. False if that is not its file. */
static bool find_start(const struct gh_loaded_section *section, const char *path, uint64_t *start)
{
	char name[64];
	struct gh_image image;
	snprintf(name, sizeof(name), "%.*s", (int)section->name_size, section->name);
	if (!gh_image_open_unrelocated(&image, path, NULL))
		return false;
	const struct gh_section *found = gh_image_section(&image, name);
	const struct gh_section *text = gh_image_section(&image, ".text");
	/* GDB lists debug files that it was told to add, too. */
	bool is_file = found != NULL && image.nloads > 0 &&
		       (text == NULL || text->header.sh_type != SHT_NOBITS);
	if (is_file)
		*start = section->address - found->header.sh_addr + image.loads[0]->p_vaddr;
	gh_image_close(&image);
	return is_file;
}

static bool has_library(const struct gh_mapped_files *libraries, uint64_t start)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (libraries->items[i].start == start)
			return true;
	return false;
}

void gh_library_list(struct gh_mapped_files *libraries, const struct gh_infofiles *files)
{
	const char *text = files->sections;
	struct gh_loaded_section section;
	struct gh_loaded_section last = {.path = ""};
	struct gh_image core;
	bool listed = files->pid != 0 && gh_mapped_files_live(libraries, files->pid);
	if (!listed && files->core != NULL && gh_image_open_core(&core, files->core, NULL)) {
		listed = gh_mapped_files_core(libraries, &core);
		gh_image_close(&core);
	}
	/* GDB may not have found what was loaded by a relative path. */
	if (listed)
		return;
	gh_mapped_files_free(libraries);
	while (text != NULL && gh_infofiles_section(&text, &section)) {
		bool is_next = section.path_size != last.path_size ||
			       memcmp(section.path, last.path, last.path_size) != 0;
		last = section;
		struct gh_mapped_file file = {
		    .path = is_next ? strndup(section.path, section.path_size) : NULL};
		/* Of a remote target GDB lists the sections twice. */
		if (file.path != NULL &&
		    (!find_start(&section, file.path, &file.start) ||
		     has_library(libraries, file.start) || !gh_vector_push(libraries, file)))
			free(file.path);
	}
}
