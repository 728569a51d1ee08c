/* goheap watch: keeps evidence of a process when something is wrong with it. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/trace/trace.h"
#include "lib/util/now.h"
#include "lib/util/process_list.h"
#include "plugin/command/command.h"
#include "plugin/findings/watch.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

#define SECOND UINT64_C(1000000000)

/* What is not known of the heap, before there was a collection, is looked for so often. */
#define FIND_EVERY (10 * SECOND)

/* The file of samples is begun again when it has so many bytes; the one before is kept. */
#define MOST_SAMPLES (64 << 20)

struct watching {
	const struct gh_options *options;
	struct gh_watch watch;
	struct gh_evidence evidence;
	struct gh_live_counters counters;
	struct gh_live_sample sample;
	int pid;
	uint64_t found;         /* when the counters were last looked for */
	char program[PATH_MAX]; /* that it runs */
	FILE *samples;
	bool fails; /* samples could not be written: that was told */
};

static const struct timespec second = {.tv_sec = 1};

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* An event, as it is printed. */
struct event {
	char when[32];
	const char *time;
	const char *event;
	const char *program;
	struct gh_known pid;
	struct gh_known value;
	struct gh_known limit;
	const char *unit;
	uint64_t resident;
	struct gh_known heap;
	struct gh_known goroutines;
	const char *evidence;
	const char *lacks;
};

static struct gh_known known(uint64_t value)
{
	return (struct gh_known){value, value != 0};
}

static void print(const struct watching *watching, struct event event)
{
	static const struct gh_column columns[] = {
	    {"time", GH_COL_TEXT(struct event, time)},
	    {"event", GH_COL_TEXT(struct event, event)},
	    {"pid", GH_COL_KNOWN_NUMBER(struct event, pid)},
	    {"program", GH_COL_NAME(struct event, program)},
	    {"value", GH_COL_KNOWN_NUMBER(struct event, value), .optional = true},
	    {"limit", GH_COL_KNOWN_NUMBER(struct event, limit), .optional = true},
	    {"unit", GH_COL_TEXT(struct event, unit), .optional = true},
	    {"resident", GH_COL_NUMBER(struct event, resident)},
	    {"heap", GH_COL_KNOWN_NUMBER(struct event, heap)},
	    {"goroutines", GH_COL_KNOWN_NUMBER(struct event, goroutines)},
	    {"evidence", GH_COL_NAME(struct event, evidence), .optional = true},
	    {"lacks_dump", GH_COL_TEXT(struct event, lacks), .optional = true},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	struct tm parts;
	time_t now = time(NULL);
	strftime(event.when, sizeof(event.when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
	event.time = event.when;
	event.program = watching->program;
	event.pid = known((uint64_t)watching->pid);
	event.resident = watching->sample.resident;
	event.heap = known(watching->sample.heap);
	event.goroutines = known(watching->sample.goroutines);
	gh_emit_row(&emit, columns, &event);
	fflush(stdout);
}

static void print_event(const struct watching *watching, const char *name)
{
	print(watching, (struct event){.event = name});
}

/* Opens the file of samples, at its end; one that is large makes room for another. */
static void open_samples(struct watching *watching)
{
	static const char titles[] = "time,pid,resident,heap,goroutines,collections,processor_ns\n";
	char path[PATH_MAX], before[PATH_MAX];
	struct stat file;
	snprintf(path, sizeof(path), "%s/samples.csv", watching->evidence.directory);
	snprintf(before, sizeof(before), "%s/samples.before.csv", watching->evidence.directory);
	if (stat(path, &file) == 0 && file.st_size >= MOST_SAMPLES)
		rename(path, before);
	if (watching->samples != NULL)
		fclose(watching->samples);
	watching->samples = fopen(path, "ae");
	if (watching->samples != NULL && ftell(watching->samples) == 0)
		fputs(titles, watching->samples);
}

/* Adds the sample. What cannot be written is told once, until it can be again. */
static void write_sample(struct watching *watching)
{
	const struct gh_live_sample *sample = &watching->sample;
	if (watching->samples == NULL || ftell(watching->samples) >= MOST_SAMPLES)
		open_samples(watching);
	bool written =
	    watching->samples != NULL &&
	    fprintf(watching->samples,
		    "%ld,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		    (long)time(NULL), watching->pid, sample->resident, sample->heap,
		    sample->goroutines, sample->collections, sample->processors) > 0 &&
	    fflush(watching->samples) == 0;
	if (!written && watching->samples != NULL) {
		fclose(watching->samples);
		watching->samples = NULL;
	}
	if (!written && !watching->fails)
		print_event(watching, "samples cannot be written");
	watching->fails = !written;
}

/* Finds what tells of the heap of the process. */
static bool find_counters(struct watching *watching)
{
	struct gh_program program;
	struct gh_buildinfo info;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/exe", watching->pid);
	if (!gh_program_open(&program, path))
		return false;
	gh_buildinfo_read(&info, &program.image);
	gh_live_counters_find(&watching->counters, watching->pid, &program.tab,
			      gh_go_minor(info.go_version));
	watching->found = gh_now();
	gh_buildinfo_free(&info);
	gh_program_close(&program);
	return true;
}

/* Begins to watch the process PID. */
static bool begin(struct watching *watching, int pid)
{
	struct gh_process_summary process;
	watching->pid = pid;
	if (!gh_target_check_running(pid) || !gh_process_summary_read(&process, pid) ||
	    !find_counters(watching))
		return false;
	snprintf(watching->program, sizeof(watching->program), "%s", process.program);
	gh_watch_begin(&watching->watch, gh_now());
	return gh_live_counters_read(&watching->counters, &watching->sample);
}

/* Another process that runs the program. */
struct search {
	const struct watching *watching;
	int found;
};

static void take(void *context, const struct gh_process_summary *process)
{
	struct search *search = context;
	if (process->pid != search->watching->pid &&
	    strcmp(process->program, search->watching->program) == 0)
		search->found = process->pid;
}

/* Waits until the program runs again. False if goheap is to end before. */
static bool wait_for_restart(struct watching *watching)
{
	struct search search = {.watching = watching};
	while (!ended) {
		gh_process_list(take, &search);
		if (search.found != 0 && begin(watching, search.found))
			return true;
		search.found = 0;
		nanosleep(&second, NULL);
	}
	return false;
}

static void keep(struct watching *watching, enum gh_watch_kind kind)
{
	const char *name = gh_watch_name(kind);
	struct event event = {
	    .event = name,
	    .value = {(uint64_t)gh_watch_value(&watching->watch, kind), true},
	    .limit = {(uint64_t)watching->watch.limits[kind], true},
	    .unit = gh_watch_unit(kind),
	};
	bool kept = gh_evidence_keep(&watching->evidence, watching->pid, name);
	event.evidence = watching->evidence.path;
	event.lacks = watching->evidence.lacks;
	print(watching, event);
	if (!kept)
		print_event(watching, "evidence is missing");
}

/* Looks at the process once. False if it has ended. */
static bool look(struct watching *watching)
{
	uint64_t now = gh_now();
	if (watching->counters.heap == 0 && now - watching->found >= FIND_EVERY &&
	    !find_counters(watching))
		return false;
	if (!gh_live_counters_read(&watching->counters, &watching->sample))
		return false;
	gh_watch_add(&watching->watch, now, &watching->sample);
	write_sample(watching);
	for (unsigned kind = 0; kind < GH_WATCH_KINDS && !ended; kind++)
		if (gh_watch_fires(&watching->watch, (enum gh_watch_kind)kind))
			keep(watching, (enum gh_watch_kind)kind);
	return true;
}

static void watch(struct watching *watching)
{
	print_event(watching, "watching");
	while (!ended) {
		if (look(watching)) {
			nanosleep(&second, NULL);
			continue;
		}
		print_event(watching, "the process has ended");
		if (!watching->options->follow || !wait_for_restart(watching))
			break;
		print_event(watching, "watching");
	}
	if (ended)
		print_event(watching, "no longer watching");
}

/* Makes the folder, which may be there. */
static bool make_directory(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return true;
	gh_print_errno(path);
	return false;
}

int gh_cmd_watch(const struct gh_options *options)
{
	struct watching watching = {
	    .options = options,
	    .evidence = {.directory = options->output,
			 .keep = options->keep,
			 .no_dump = options->no_dump},
	};
	const struct sigaction action = {.sa_handler = end};
	if (!gh_watch_parse(&watching.watch, options))
		return GH_EXIT_USAGE;
	if (!make_directory(options->output) || !begin(&watching, atoi(options->process)))
		return GH_EXIT_INPUT;
	gh_be_last_in_turn();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	watch(&watching);
	if (watching.samples != NULL)
		fclose(watching.samples);
	gh_watch_free(&watching.watch);
	return GH_EXIT_OK;
}
