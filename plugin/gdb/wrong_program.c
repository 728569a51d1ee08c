#include <elf.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "plugin/gdb/gdb.h"

/* The process PID runs the very file PROGRAM. */
static bool runs_file(int pid, const char *program)
{
	char exe[64];
	struct stat first;
	struct stat second;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	return stat(exe, &first) == 0 && stat(program, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Compares the build ids of the program PATH with those of IDENTITY. */
static enum gh_identities compare_ids(const struct gh_identity *identity, const char *path)
{
	struct gh_image image;
	if (!gh_image_open_unrelocated(&image, path, NULL))
		return GH_IDENTITIES_SAME;
	struct gh_identity program;
	gh_identity_of_image(&program, &image);
	enum gh_identities found = gh_identity_compare(identity, &program);
	gh_identity_free(&program);
	gh_image_close(&image);
	return found;
}

/* Checks the program PATH, whose entry point is at ENTRY in MEMORY, or 0 if that is unknown: by
 * build ids or, where there are none, by a Go program's tables. */
static bool check(const struct gh_identity *identity, const char *path,
		  const struct gh_memory *memory, uint64_t entry, struct gh_error *err)
{
	struct gh_program program = {0};
	struct gh_error ignored;
	if (compare_ids(identity, path) == GH_IDENTITIES_SAME ||
	    !gh_image_open(&program.image, path, &ignored))
		return true;
	bool moves = entry != 0 && gh_image_is_pie(&program.image);
	uint64_t bias = moves ? entry - program.image.header.e_entry : 0;
	bool found = !gh_pclntab_open(&program.tab, &program.image, &ignored) ||
		     gh_identity_check(identity, &program.tab, memory, bias, err);
	gh_program_close(&program);
	return found;
}

static bool check_core(const struct gh_infofiles *files, struct gh_error *err)
{
	struct gh_image core;
	struct gh_identity identity;
	uint64_t entry;
	if (!gh_image_open_core(&core, files->core, NULL))
		return true;
	gh_identity_of_core(&identity, &core);
	struct gh_memory memory = gh_core_memory(&core);
	if (!gh_core_auxv(&core, AT_ENTRY, &entry))
		entry = 0;
	bool found = check(&identity, files->program, &memory, entry, err);
	gh_identity_free(&identity);
	gh_image_close(&core);
	return found;
}

static bool check_process(const struct gh_infofiles *files, struct gh_error *err)
{
	struct gh_identity identity;
	if (runs_file(files->pid, files->program))
		return true;
	struct gh_memory memory = gh_live_memory(&files->pid);
	gh_identity_of_process(&identity, files->pid);
	bool found = check(&identity, files->program, &memory, files->entry, err);
	gh_identity_free(&identity);
	return found;
}

bool gh_program_fits(const struct gh_infofiles *files, struct gh_error *err)
{
	if (files->program == NULL)
		return true;
	if (files->core != NULL)
		return check_core(files, err);
	return files->pid == 0 || check_process(files, err);
}

/* Has GDB drop the symbols that were made of PROGRAM. */
static void drop_symbols(FILE *script, const char *directory, const char *program)
{
	char path[PATH_MAX];
	gh_script_file(script, GH_SCRIPT_UNHOOKED "with print symbol-loading off -- symbol-file",
		       program);
	unlink(gh_missing_file_path(path, directory, GH_SESSION_STATE));
}

bool gh_program_refuse(FILE *script, const char *directory, const struct gh_infofiles *files,
		       bool has_ours)
{
	struct gh_error err;
	if (gh_program_fits(files, &err))
		return false;
	if (!gh_missing_file_seen(directory, err.text) || has_ours)
		gh_script_say(script, "goheap: %s", err.text);
	if (has_ours)
		drop_symbols(script, directory, files->program);
	return true;
}

void gh_program_ask_target(FILE *script, const char *directory, const struct gh_infofiles *files)
{
	char path[PATH_MAX];
	char arguments[64];
	struct gh_image image;
	gh_missing_file_path(path, directory, GH_SESSION_REMOTE);
	unlink(path);
	if (!gh_image_open_unrelocated(&image, files->program, NULL))
		return;
	if (image.nloads > 0 && symlink(files->program, path) == 0) {
		bool moves = files->entry != 0 && gh_image_is_pie(&image);
		uint64_t bias = moves ? files->entry - image.header.e_entry : 0;
		snprintf(arguments, sizeof(arguments), "fetch check 0x%" PRIx64,
			 image.loads[0]->p_vaddr + bias);
		/* GDB looks no further meanwhile. */
		gh_script_note_program(script, "fresh");
		fputs("_goheap_set $goheap_thread $_thread\n", script);
		gh_script_go_on(script, "thread apply $goheap_thread -q -s _goheap_serve",
				arguments);
	}
	gh_image_close(&image);
}

void gh_program_check_target(FILE *script, const char *directory, const struct gh_memory *memory,
			     uint64_t start)
{
	char path[PATH_MAX];
	char program[PATH_MAX];
	struct gh_image image;
	struct gh_identity file;
	struct gh_identity there;
	gh_missing_file_path(path, directory, GH_SESSION_REMOTE);
	ssize_t length = readlink(path, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	if (!gh_image_open_unrelocated(&image, program, NULL))
		return;
	gh_identity_of_image(&file, &image);
	gh_identity_of_memory(&there, memory, start, image.arch->big_endian, "the target");
	if (gh_identity_compare(&file, &there) == GH_IDENTITIES_DIFFER) {
		char name[256];
		gh_escape_text(name, sizeof(name), program);
		gh_script_say(script,
			      "goheap: %s: expected the target's program, build id %.100s, found "
			      "another build of it or another program, build id %.100s",
			      name, gh_identity_told(&there, &file),
			      gh_identity_told(&file, &there));
		drop_symbols(script, directory, program);
	}
	gh_identity_free(&there);
	gh_identity_free(&file);
	gh_image_close(&image);
}
