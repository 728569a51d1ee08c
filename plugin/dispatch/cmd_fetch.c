/* goheap fetch: the steps by which GDB gets a program from a target whose files are not here. GDB
 * runs each in a script that the one before has written, for only GDB can ask the target:
 *
 *	info inferiors | fetch inferiors     which process it is
 *	remote get FILE NOWHERE | fetch open whether the target has its file; if so,
 *	source packets.gdb | fetch file      that file, piece by piece; else
 *	info auxv | fetch auxv               where its headers are in memory
 *	info files | fetch files START       whether GDB has a program already
 *	_goheap_serve | fetch memory START   the program, read through goheap.so
 *
 * Where GDB has a program, `_goheap_serve | fetch check START' compares it with the target's.
 * `goheap symbols memory' begins with the auxiliary vector, and with `fetch auxv --asked': then
 * what cannot be had is said. Nothing that the target tells goes into a command of GDB's but where
 * the headers are, and goheap.so is asked for no more than it can answer at once. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/process/process.h"
#include "lib/util/now.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/gdb/told.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* What is read of memory at once, in bytes, until it is seen how fast that comes. */
#define FIRST_PIECE 256

/* What one answer of GDB's is to take, in ms: no less than the former, no more than the latter. */
#define TOO_SHORT 20
#define TOO_LONG  200

static const char program_name[] = "the target's program";

struct step {
	struct gh_missing_file missing;
	uint64_t start; /* where the program's headers are in memory, if that is known */
	bool asked;     /* by the user, not by a hook */
	bool drop;      /* GDB has a program */
};

/* Says TEXT if the user waits for it. */
static void explain(const struct step *step, const char *text)
{
	if (step->asked)
		gh_script_say(step->missing.script, "goheap: %s", text);
}

/* Has GDB go on with the next step, which is NAME. */
static void go_on(const struct step *step, const char *command, const char *name)
{
	char arguments[96];
	snprintf(arguments, sizeof(arguments), "fetch %s 0x%" PRIx64 "%s%s", name, step->start,
		 step->asked ? " --asked" : "", step->drop ? " --drop" : "");
	gh_script_go_on(step->missing.script, command, arguments);
}

/* A command of GDB's for the current thread: with that its errors can be passed over, which would
 * end the user's command, or printed. */
#define IN_THREAD "thread apply $goheap_thread -q "
#define QUIETLY   IN_THREAD "-s "
#define LOUDLY    IN_THREAD "-c "

/* Sends the packets that are to be sent. */
#define PACKETS QUIETLY "source " GH_SESSION_PATH GH_SESSION_PACKETS

/* A file that cannot be written: GDB says so, once it has found and opened what it is to write. */
#define NOWHERE GH_SESSION_PATH "none/file"

/* The line of the current inferior, which says what process it is and on what connection, up to the
 * end of that: GDB's program comes next, which goheap may have GDB drop. */
static char *find_current(char *text)
{
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		if (line[0] != '*')
			continue;
		char *connection = strchr(line, ')');
		if (connection != NULL)
			connection[1] = '\0';
		return line;
	}
	return NULL;
}

static void fetch_inferiors(struct step *step)
{
	char path[64];
	char command[160];
	char *text = gh_piped_text_read(stdin);
	char *line = text != NULL ? find_current(text) : NULL;
	if (line == NULL || gh_missing_file_seen(step->missing.directory, line)) {
		free(text);
		return;
	}
	const char *process = strstr(line, "process ");
	if (process != NULL) {
		snprintf(path, sizeof(path), "/proc/%ld/exe",
			 strtol(process + strlen("process "), NULL, 10));
		snprintf(command, sizeof(command), LOUDLY "remote get %s " NOWHERE, path);
	}
	if (process != NULL && gh_remote_open(step->missing.directory, path))
		go_on(step, command, "open");
	else
		go_on(step, QUIETLY "info auxv", "auxv");
	free(text);
}

static void fetch_open(struct step *step)
{
	char *text = gh_piped_text_read(stdin);
	if (text != NULL && strstr(text, NOWHERE) != NULL)
		go_on(step, PACKETS, "file");
	else
		go_on(step, QUIETLY "info auxv", "auxv");
	free(text);
}

/* What is not read for its size, or for how long it takes, is told. */
static void refuse_size(const struct step *step, uint64_t size)
{
	char most[GH_SIZE_TEXT];
	gh_script_say(step->missing.script,
		      "goheap: %s is not read: expected at most %s, found %" PRIu64
		      " bytes by its headers",
		      program_name, gh_size_text(GH_LOADED_MOST, most), size);
}

static void refuse_time(const struct step *step, uint64_t size)
{
	char text[GH_SIZE_TEXT];
	gh_script_say(step->missing.script,
		      "goheap: %s (%s) is not read, which would take too long: goheap symbols "
		      "memory reads it nevertheless",
		      program_name, gh_size_text(size, text));
}

/* The file is there. */
static void take_file(const struct step *step)
{
	char fetched[PATH_MAX];
	char program[PATH_MAX];
	gh_missing_file_path(fetched, step->missing.directory, GH_SESSION_FETCHED);
	gh_missing_file_path(program, step->missing.directory, GH_SESSION_PROGRAM);
	if (gh_missing_file_is_go(fetched) && rename(fetched, program) == 0)
		gh_missing_file_take(&step->missing, GH_SESSION_PROGRAM, "from the target");
	else
		unlink(fetched);
}

/* Many programs, one after the other, write one line on the terminal, which the last one wipes. */
static void show(const struct gh_remote_progress *progress, bool last)
{
	if (progress->passed < 1000 || !isatty(STDERR_FILENO))
		return;
	if (last)
		fputs("\r\x1b[K", stderr);
	else
		fprintf(stderr, "\rgoheap: reading %s, %ld s\x1b[K", program_name,
			progress->passed / 1000);
}

static void fetch_file(struct step *step)
{
	struct gh_remote_progress progress = {0};
	char *text = gh_piped_text_read(stdin);
	enum gh_remote result = text != NULL
				    ? gh_remote_step(step->missing.directory, text, &progress)
				    : GH_REMOTE_NONE;
	free(text);
	show(&progress, result != GH_REMOTE_MORE);
	if (result == GH_REMOTE_MORE) {
		go_on(step, PACKETS, "file");
		return;
	}
	fputs("pipe " PACKETS " | cat >/dev/null\n", step->missing.script);
	if (result == GH_REMOTE_WHOLE)
		take_file(step);
	else if (result == GH_REMOTE_TOO_LARGE)
		refuse_size(step, progress.size);
	else
		go_on(step, QUIETLY "info auxv", "auxv");
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

static void fetch_auxv(struct step *step)
{
	uint64_t phdr;
	uint64_t phent;
	char *text = gh_piped_text_read(stdin);
	bool found = text != NULL && find_auxv(text, "AT_PHDR ", &phdr) &&
		     find_auxv(text, "AT_PHENT ", &phent);
	free(text);
	if (!found) {
		explain(step, "the target does not tell where its program is (AT_PHDR)");
		return;
	}
	step->start = gh_loaded_start(phdr, phent);
	go_on(step, "info files", "files");
}

static void fetch_files(struct step *step)
{
	struct gh_infofiles files;
	if (!gh_infofiles_read(&files, stdin))
		return;
	step->drop = files.program != NULL;
	gh_missing_file_note(&step->missing, &files);
	gh_infofiles_free(&files);
	go_on(step, QUIETLY "_goheap_serve", "memory");
}

/* The target's memory, read in pieces that GDB answers soon, so that it can be left. */
struct paced {
	struct gh_fetch_limit limit;
	int fd;         /* of the connection */
	size_t piece;   /* bytes to ask for */
	uint64_t done;  /* bytes read */
	uint64_t total; /* bytes to read in all, as far as that is known */
	bool too_slow;  /* it was left */
};

static bool read_piece(struct paced *paced, uint64_t address, void *to, size_t size)
{
	uint64_t start = gh_now();
	if (!gh_memory_fetch(paced->fd, address, to, size))
		return false;
	long passed = gh_milliseconds_since(start);
	if (passed < TOO_SHORT && paced->piece < GH_PROCESS_BLOCK)
		paced->piece *= 2;
	else if (passed > TOO_LONG && paced->piece > FIRST_PIECE)
		paced->piece /= 2;
	paced->done += size;
	return true;
}

static bool read_paced(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	struct paced *paced = *(struct paced *const *)memory->from;
	uint8_t *bytes = to;
	while (size > 0) {
		size_t part = size < paced->piece ? size : paced->piece;
		if (!gh_fetch_goes_on(&paced->limit, paced->done, paced->total)) {
			paced->too_slow = true;
			return false;
		}
		if (!read_piece(paced, address, bytes, part))
			return false;
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
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

static void take_segments(const struct step *step, const struct gh_loaded *loaded,
			  const struct gh_memory *memory, struct paced *paced)
{
	char name[32];
	struct gh_error err;
	paced->total = gh_loaded_size(loaded);
	if (paced->total > memory->size) {
		refuse_size(step, paced->total);
		return;
	}
	snprintf(name, sizeof(name), "memory.%" PRIx64, step->start);
	if (!gh_missing_file_take_memory(&step->missing, loaded, memory, name, "from memory",
					 &err) &&
	    !paced->too_slow)
		explain(step, err.text);
}

static void take_program(const struct step *step, struct paced *paced)
{
	struct gh_memory memory = {.read = read_paced, .from = &paced, .size = GH_LOADED_MOST};
	struct gh_loaded loaded;
	struct gh_error err;
	uint8_t headers[GH_LOADED_HEADERS];
	if (!memory.read(&memory, step->start, headers, sizeof(headers))) {
		explain(step, "the target's memory is without the program's headers");
		return;
	}
	if (!gh_loaded_open(&loaded, headers, step->start, "the target's memory", &err)) {
		explain(step, err.text);
		return;
	}
	if (is_worth_reading(step, &loaded))
		take_segments(step, &loaded, &memory, paced);
	gh_loaded_close(&loaded);
}

/* GDB takes it for an error if what it prints is not read. */
static void read_rest(void)
{
	char text[256];
	while (read(STDIN_FILENO, text, sizeof(text)) > 0)
		;
}

/* Reads the target's memory for WORK. */
static void serve(struct step *step, void (*work)(const struct step *step, struct paced *paced))
{
	int directory = open(step->missing.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct paced paced = {.piece = FIRST_PIECE, .total = GH_LOADED_HEADERS};
	paced.fd = directory >= 0 ? gh_memory_connect(directory) : -1;
	step->missing.drop = step->drop;
	if (paced.fd >= 0) {
		gh_fetch_begin(&paced.limit, step->asked);
		gh_progress_begin("goheap: reading", program_name);
		work(step, &paced);
		gh_progress_end();
		close(paced.fd);
		read_rest();
	} else {
		explain(step, "GDB has no process whose memory can be read");
	}
	if (paced.too_slow)
		refuse_time(step, paced.total);
	if (directory >= 0)
		close(directory);
}

static void fetch_memory(struct step *step)
{
	serve(step, take_program);
}

static void check_program(const struct step *step, struct paced *paced)
{
	const struct gh_memory memory = {.read = read_paced, .from = &paced};
	gh_program_check_target(step->missing.script, step->missing.directory, &memory,
				step->start);
	paced->too_slow = false;
}

static void fetch_check(struct step *step)
{
	serve(step, check_program);
}

static const struct {
	const char *name;
	void (*run)(struct step *step);
} steps[] = {
    {"inferiors", fetch_inferiors}, {"open", fetch_open},   {"file", fetch_file},
    {"auxv", fetch_auxv},           {"files", fetch_files}, {"memory", fetch_memory},
    {"check", fetch_check},
};

/* Runs the step that is called NAME on what GDB prints. */
static bool run(struct step *step, const char *name)
{
	char *text = NULL;
	size_t size;
	/* GDB may write scripts, and run them, until it has printed all. */
	step->missing.script = open_memstream(&text, &size);
	if (step->missing.script == NULL)
		return false;
	/* `thread apply' takes no variable whose value GDB computes. */
	fputs("_goheap_set $goheap_thread $_thread\n", step->missing.script);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(steps[i].name, name) == 0)
			steps[i].run(step);
	bool made = fclose(step->missing.script) == 0;
	FILE *script = made ? gh_script_open(step->missing.directory) : NULL;
	if (script != NULL)
		fwrite(text, 1, size, script);
	free(text);
	return script != NULL && gh_script_commit(script, step->missing.directory);
}

int gh_cmd_fetch(const struct gh_options *options)
{
	const char *session = getenv(GH_SESSION_VARIABLE);
	if (options->nwords == 0 || session == NULL) {
		fputs("goheap fetch: only for goheap in GDB to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	char *directory = realpath(session, NULL);
	if (directory == NULL) {
		gh_print_errno(session);
		return GH_EXIT_INPUT;
	}
	struct step step = {
	    .missing.directory = directory, .asked = options->asked, .drop = options->drop};
	if (options->nwords > 1)
		step.start = strtoull(options->words[1], NULL, 16);
	bool done = run(&step, options->words[0]);
	free(directory);
	return done ? GH_EXIT_OK : GH_EXIT_INPUT;
}
