/* goheap fetch: the steps by which GDB gets a program from a target whose files are not here. GDB
 *runs each in a script that the one before has written, for only GDB can ask the target:
 *
 *	info inferiors | fetch inferiors    which process it is; GDB then gets its file
 *	info files | fetch file             if that came, it is the program; else
 *	info auxv | fetch auxv              where its headers are in memory; GDB then gets those
 *	info files | fetch headers START    where its segments are; GDB then gets those
 *	info files | fetch segments START   which are the program
 *
 * `goheap symbols memory' begins with the auxiliary vector, and with `fetch auxv --asked': then
 *what cannot be had is said. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/buildinfo.h"
#include "plugin/command.h"
#include "plugin/nofile.h"
#include "plugin/program.h"
#include "plugin/script.h"
#include "plugin/session.h"

/* What GDB gets is put into the session's directory, which goheap.so holds open in GDB. */
#define FROM_GDB "/proc/self/fd/1000/"

#define HEADERS  "headers"
#define SEGMENTS "segments"

struct step {
	struct gh_nofile nofile;
	uint64_t start; /* where the program's headers are in memory, if that is known */
	bool asked;     /* by the user, not by a hook */
};

static void remove_file(const struct step *step, const char *name)
{
	char path[PATH_MAX];
	unlink(gh_nofile_path(path, step->nofile.directory, name));
}

/* Says TEXT if the user waits for it. */
static void explain(const struct step *step, const char *text)
{
	if (step->asked)
		gh_script_say(step->nofile.script, "goheap: %s", text);
}

/* Has GDB go on with the next step, which is NAME. */
static void go_on(const struct step *step, const char *command, const char *name)
{
	char arguments[96];
	snprintf(arguments, sizeof(arguments), "fetch %s 0x%" PRIx64 "%s", name, step->start,
		 step->asked ? " --asked" : "");
	gh_script_go_on(step->nofile.script, command, arguments);
}

/* A command of GDB's for the current thread: with that its errors can be passed over, which would
 * end the user's command. */
static const char quietly[] = "thread apply $goheap_thread -s -q";

/* The line of the current inferior, which says what process it is and on what connection. */
static char *find_current(char *text)
{
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
		if (line[0] == '*')
			return line;
	return NULL;
}

static void fetch_inferiors(struct step *step, char *text)
{
	char *line = find_current(text);
	if (line == NULL || gh_nofile_seen(step->nofile.directory, line))
		return;
	const char *process = strstr(line, "process ");
	remove_file(step, GH_SESSION_FETCHED);
	if (process != NULL)
		fprintf(step->nofile.script,
			"pipe %s remote get /proc/%ld/exe " FROM_GDB GH_SESSION_FETCHED
			" | cat >/dev/null\n",
			quietly, strtol(process + strlen("process "), NULL, 10));
	go_on(step, "info files", "file");
}

static void fetch_file(struct step *step, char *text)
{
	(void)text;
	char fetched[PATH_MAX];
	char program[PATH_MAX];
	gh_nofile_path(fetched, step->nofile.directory, GH_SESSION_FETCHED);
	gh_nofile_path(program, step->nofile.directory, GH_SESSION_PROGRAM);
	char command[64];
	snprintf(command, sizeof(command), "%s info auxv", quietly);
	if (access(fetched, R_OK) != 0)
		go_on(step, command, "auxv");
	else if (gh_nofile_is_go(fetched) && rename(fetched, program) == 0)
		gh_nofile_take(&step->nofile, "from the target");
}

/* The value of the entry NAME, the last number on its line. */
static bool find_auxv(const char *text, const char *name, uint64_t *value)
{
	const char *line = strstr(text, name);
	if (line == NULL)
		return false;
	const char *end = line + strcspn(line, "\n");
	while (end > line && end[-1] != ' ')
		end--;
	*value = strtoull(end, NULL, 0);
	return true;
}

static void fetch_auxv(struct step *step, char *text)
{
	uint64_t phdr;
	uint64_t phent;
	if (!find_auxv(text, "AT_PHDR ", &phdr) || !find_auxv(text, "AT_PHENT ", &phent)) {
		explain(step, "the target does not tell where its program is (AT_PHDR)");
		return;
	}
	step->start = gh_loaded_start(phdr, phent);
	remove_file(step, HEADERS);
	fprintf(step->nofile.script,
		"%s dump binary memory " FROM_GDB HEADERS " %" PRIu64 " %" PRIu64 "\n", quietly,
		step->start, step->start + GH_LOADED_HEADERS);
	go_on(step, "info files", "headers");
}

/* Opens the headers that GDB got. False, perhaps after saying why, if they are none. */
static bool open_headers(const struct step *step, struct gh_loaded *loaded)
{
	char path[PATH_MAX];
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_error err;
	FILE *file = fopen(gh_nofile_path(path, step->nofile.directory, HEADERS), "re");
	size_t size = file != NULL ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file != NULL)
		fclose(file);
	if (size < sizeof(bytes)) {
		explain(step, "the target's memory is without the program's headers");
		return false;
	}
	if (gh_loaded_open(loaded, bytes, step->start, "the target's memory", &err))
		return true;
	explain(step, err.text);
	return false;
}

/* It takes long to read much from a target. */
static bool is_worth_reading(const struct step *step, const struct gh_loaded *loaded)
{
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, &loaded->headers);
	bool worth = step->asked || info.go_build_id != NULL;
	gh_buildinfo_free(&info);
	return worth;
}

static void fetch_headers(struct step *step, char *text)
{
	(void)text;
	struct gh_loaded loaded;
	if (!open_headers(step, &loaded))
		return;
	if (is_worth_reading(step, &loaded)) {
		size_t index = 0;
		uint64_t address;
		uint64_t size;
		remove_file(step, SEGMENTS);
		while (gh_loaded_next(&loaded, &index, &address, &size))
			fprintf(step->nofile.script,
				"%s append binary memory " FROM_GDB SEGMENTS " %" PRIu64 " %" PRIu64
				"\n",
				quietly, address, address + size);
		go_on(step, "info files", "segments");
	}
	gh_loaded_close(&loaded);
}

/* GDB has put the segments into a file one after the other. */
static bool read_segments(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	(void)address;
	return fread(to, 1, size, *(FILE *const *)memory->from) == size;
}

static void take_segments(const struct step *step, const struct gh_loaded *loaded, FILE *file)
{
	char name[32];
	struct gh_error err;
	struct gh_memory memory = {.read = read_segments, .from = &file};
	if (file == NULL) {
		explain(step, "the target's memory is without the program's segments");
		return;
	}
	fseek(file, 0, SEEK_END);
	memory.size = (uint64_t)ftell(file);
	rewind(file);
	snprintf(name, sizeof(name), "memory.%" PRIx64, step->start);
	if (!gh_nofile_take_memory(&step->nofile, loaded, &memory, name, "from memory", &err))
		explain(step, err.text);
	fclose(file);
	remove_file(step, SEGMENTS);
}

static void fetch_segments(struct step *step, char *text)
{
	char path[PATH_MAX];
	struct gh_loaded loaded;
	struct gh_infofiles files;
	if (!gh_infofiles_parse(&files, text))
		return;
	if (open_headers(step, &loaded)) {
		FILE *file = fopen(gh_nofile_path(path, step->nofile.directory, SEGMENTS), "re");
		step->nofile.drop = files.program != NULL;
		gh_nofile_note(&step->nofile, &files);
		take_segments(step, &loaded, file);
		gh_loaded_close(&loaded);
	}
	gh_infofiles_free(&files);
}

static const struct {
	const char *name;
	void (*run)(struct step *step, char *text);
} steps[] = {
    {"inferiors", fetch_inferiors}, {"file", fetch_file},         {"auxv", fetch_auxv},
    {"headers", fetch_headers},     {"segments", fetch_segments},
};

/* Runs the step that is called NAME on what GDB prints. */
static bool run(struct step *step, const char *name)
{
	char *text = NULL;
	size_t size = 0;
	if (getdelim(&text, &size, '\0', stdin) < 0) {
		free(text);
		text = strdup("");
	}
	step->nofile.script = gh_script_open(step->nofile.directory);
	if (text == NULL || step->nofile.script == NULL) {
		free(text);
		return false;
	}
	/* `thread apply' takes no variable whose value GDB computes. */
	fputs("_goheap_set $goheap_thread $_thread\n", step->nofile.script);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(steps[i].name, name) == 0)
			steps[i].run(step, text);
	free(text);
	return gh_script_close(step->nofile.script, step->nofile.directory);
}

int gh_cmd_fetch(int argc, char **argv)
{
	const char *session = getenv(GH_SESSION_VARIABLE);
	if (argc < 2 || session == NULL) {
		fprintf(stderr, "%s: only for gdbinit to run\n", argv[0]);
		return GH_EXIT_USAGE;
	}
	char *directory = realpath(session, NULL);
	if (directory == NULL) {
		perror(session);
		return GH_EXIT_INPUT;
	}
	struct step step = {.nofile.directory = directory};
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--asked") == 0)
			step.asked = true;
		else
			step.start = strtoull(argv[i], NULL, 16);
	}
	bool done = run(&step, argv[1]);
	free(directory);
	return done ? GH_EXIT_OK : GH_EXIT_INPUT;
}
