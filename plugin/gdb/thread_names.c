/* GDB's Python gives 100,000 threads their names, of which it reads a file, in 0.05 s; GDB's own
 * commands take 2.7 s, and are for where it has no Python.
 *
 * GDB finds the thread that `thread apply N' is for by going through all that it has, which takes
 * minutes where there are 100,000. `thread apply all' goes through them once; so the one command
 * that it runs looks up, by the thread's number, which other command gives the thread its name.
 * Each use of a variable costs GDB a search of all registers and variables by name, so that command
 * uses only two: there is one array, of the CHUNK threads that the turn is at, and the first thread
 * of each chunk has a command that replaces the array. No line of this is long, whatever the number
 * of threads. */
#include "plugin/gdb/gdb.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "plugin/view/emit.h"
#include "plugin/view/view.h"

enum {
	CHUNK = 1000,    /* threads that are in one array */
	MAX_TEXT = 80,   /* of a wait reason, in bytes */
	MAX_TEXTS = 256, /* that are told apart; Go has some 40 */
	CHUNKS = 9000,   /* the number of the first chunk's command, after those of the texts */
};

/* Why a goroutine waits, or its status. */
struct text {
	const char *start; /* in the dump, or static */
	size_t size;       /* in bytes */
};

struct names {
	const struct gh_dump *dump;
	struct text texts[MAX_TEXTS];
	size_t ntexts;
};

static struct text text_of(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine)
{
	size_t size;
	const char *state = gh_goroutine_state(dump, goroutine, &size);
	return (struct text){state, size < MAX_TEXT ? size : MAX_TEXT};
}

/* The number of TEXT, which is added if it is new. If there are too many, that of the first, which
 * says no more than that a goroutine waits. */
static size_t find_text(struct names *names, struct text text)
{
	for (size_t i = 0; i < names->ntexts; i++)
		if (names->texts[i].size == text.size &&
		    memcmp(names->texts[i].start, text.start, text.size) == 0)
			return i;
	if (names->ntexts == MAX_TEXTS)
		return 0;
	names->texts[names->ntexts] = text;
	return names->ntexts++;
}

/* The first byte that gh_print_bytes may not print; NULL if there is none. In a user-defined
 * command $arg0 stands for an argument; and a line that ends in a backslash, even an escaped one,
 * goes on in the next. */
static const char *find_special(struct text text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.start[i] == '$' || text.start[i] == '\\')
			return text.start + i;
	return NULL;
}

static void print_text(FILE *script, struct text text)
{
	const char *special;
	while ((special = find_special(text)) != NULL) {
		size_t size = (size_t)(special - text.start);
		gh_print_bytes(script, text.start, size, false);
		fprintf(script, "\\x%02x", (unsigned)*special);
		text = (struct text){special + 1, text.size - size - 1};
	}
	gh_print_bytes(script, text.start, text.size, false);
}

/* The commands for a name: waiting for less than a minute, for one, and for more, which looks up
 * how many and has the last command say so. */
static void define_commands(FILE *script, struct text text, size_t number)
{
	static const char *const waits[] = {"", ", 1 minute", ", $arg0 minutes"};
	for (size_t i = 0; i < 3; i++) {
		fprintf(script, "with confirm off -- define _goheap_name %s%zu\nthread name ",
			i < 2 ? "" : "minutes_", 3 * number + i);
		print_text(script, text);
		fprintf(script, "%s\nend\n", waits[i]);
	}
	fprintf(script,
		"with confirm off -- define _goheap_name %zu\n"
		"eval \"_goheap_name minutes_%zu %%d\", $goheap_minutes[$_thread %% %d]\n"
		"end\n",
		3 * number + 2, 3 * number + 2, CHUNK);
}

static uint64_t minutes_of(struct names *names, const struct gh_dump_goroutine *goroutine)
{
	return gh_goroutine_minutes(names->dump, goroutine);
}

/* Which of the commands it is. */
static uint64_t command_of(struct names *names, const struct gh_dump_goroutine *goroutine)
{
	uint64_t minutes = minutes_of(names, goroutine);
	return 3 * find_text(names, text_of(names->dump, goroutine)) + (minutes < 2 ? minutes : 2);
}

/* VALUE of the thread NUMBER. Threads are numbered from 1. */
static uint64_t value_of(struct names *names, size_t number,
			 uint64_t (*value)(struct names *, const struct gh_dump_goroutine *))
{
	struct gh_dump_record record;
	gh_dump_get(names->dump, GH_DUMP_GOROUTINE, number - 1, &record);
	return value(names, &record.goroutine);
}

/* Sets the array $goheap_NAME to FIRST and VALUE of the threads of CHUNK from 1 on. */
static void set_array(FILE *script, struct names *names, const char *name, size_t chunk,
		      uint64_t first,
		      uint64_t (*value)(struct names *, const struct gh_dump_goroutine *))
{
	size_t count = gh_dump_count(names->dump, GH_DUMP_GOROUTINE);
	fprintf(script, "set variable $goheap_%s = {%" PRIu64, name, first);
	for (size_t i = 1; i < CHUNK && chunk * CHUNK + i <= count; i++)
		fprintf(script, ",%" PRIu64, value_of(names, chunk * CHUNK + i, value));
	fputs("}\n", script);
}

/* The command that the first thread of CHUNK has for its name: it sets the chunk's arrays, in which
 * the place of that thread is for the command of the next chunk. There is no thread 0. */
static void define_chunk(FILE *script, struct names *names, size_t chunk)
{
	size_t first = chunk * CHUNK;
	fprintf(script, "with confirm off -- define _goheap_name %zu\n", CHUNKS + chunk);
	set_array(script, names, "names", chunk, CHUNKS + chunk + 1, command_of);
	set_array(script, names, "minutes", chunk,
		  chunk > 0 ? value_of(names, first, minutes_of) : 0, minutes_of);
	if (chunk > 0)
		fprintf(script, "_goheap_name %" PRIu64 "\n", value_of(names, first, command_of));
	fputs("end\n", script);
}

/* Writes the commands by which a GDB without Python names its threads. */
static void write_commands(FILE *script, const struct gh_dump *dump)
{
	const char *waiting = gh_goroutine_status(GH_DUMP_WAITING);
	struct names names = {.dump = dump, .texts = {{waiting, strlen(waiting)}}, .ntexts = 1};
	size_t count = gh_dump_count(dump, GH_DUMP_GOROUTINE);
	fputs("with confirm off -- define-prefix _goheap_name\n", script);
	for (size_t chunk = 0; chunk <= count / CHUNK; chunk++)
		define_chunk(script, &names, chunk);
	for (size_t i = 0; i < names.ntexts; i++)
		define_commands(script, names.texts[i], i);
	/* What GDB says of the language is not for the user, who has not set it. */
	fprintf(script,
		"pipe with language c -- _goheap_name %d | cat >/dev/null\n"
		"pipe with language c -- thread apply all -ascending -q -s "
		"eval \"_goheap_name %%d\", $goheap_names[$_thread %% %d] | cat >/dev/null\n",
		CHUNKS, CHUNK);
}

/* Writes the names themselves, a line for each thread. */
static void write_names(FILE *names, const struct gh_dump *dump)
{
	size_t count = gh_dump_count(dump, GH_DUMP_GOROUTINE);
	for (size_t i = 0; i < count; i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		print_text(names, text_of(dump, &record.goroutine));
		gh_minutes_print(names, gh_goroutine_minutes(dump, &record.goroutine));
		fputc('\n', names);
	}
}

/* Writes the session's file NAME, of DUMP. False after printing an error. */
static bool write_file(const char *directory, const char *name, const struct gh_dump *dump,
		       void (*write)(FILE *file, const struct gh_dump *dump))
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "we");
	if (file == NULL) {
		gh_print_errno(path);
		return false;
	}
	write(file, dump);
	bool failed = ferror(file) != 0;
	if (fclose(file) != 0 || failed) {
		gh_print_errno(path);
		return false;
	}
	return true;
}

bool gh_threadnames_write(const char *directory, const struct gh_dump *dump)
{
	return write_file(directory, GH_SESSION_THREADS, dump, write_names) &&
	       write_file(directory, GH_SESSION_NAMING, dump, write_commands);
}

void gh_threadnames_apply(FILE *script)
{
	fputs("if $_isvoid($_streq)\n"
	      "source " GH_SESSION_PATH GH_SESSION_NAMING "\n"
	      "else\n"
	      "python [setattr(thread, \"name\", name) for thread, name in zip("
	      "sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num), "
	      "open(\"" GH_SESSION_PATH GH_SESSION_THREADS
	      "\", encoding=\"ascii\", errors=\"backslashreplace\").read().split(\"\\n\"))]\n"
	      "end\n",
	      script);
}
