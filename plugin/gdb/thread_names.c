/* GDB finds the thread that `thread apply N' is for by going through all that it has, which takes
 * minutes where there are 100,000. `thread apply all' goes through them once; so the one command
 * that it runs looks up, by the thread's number, which other command gives the thread its name, and
 * the minutes in it. No line of this is long, whatever the number of threads. */
#include "plugin/gdb/gdb.h"

#include <inttypes.h>
#include <string.h>

#include "plugin/view/emit.h"
#include "plugin/view/view.h"

enum {
	CHUNK = 1000,    /* threads that are in one array */
	MAX_TEXT = 80,   /* of a wait reason, in bytes */
	MAX_TEXTS = 256, /* that are told apart; Go has some 40 */
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

/* The commands for a name: waiting for less than a minute, for one, and for more. */
static void define_commands(FILE *script, struct text text, size_t number)
{
	static const char *const waits[] = {"", ", 1 minute", ", $arg0 minutes"};
	for (size_t i = 0; i < 3; i++) {
		fprintf(script, "with confirm off -- define _goheap_name_%zu\nthread name ",
			3 * number + i);
		print_text(script, text);
		fprintf(script, "%s\nend\n", waits[i]);
	}
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

/* An array, $goheap_NAME_CHUNK, of VALUE of the threads from FIRST to before END, by their numbers
 * modulo CHUNK. */
static void put_array(FILE *script, struct names *names, const char *name, size_t first, size_t end,
		      uint64_t (*value)(struct names *, const struct gh_dump_goroutine *))
{
	struct gh_dump_record record;
	fprintf(script, "with language c -- set $goheap_%s_%zu = {", name, first / CHUNK);
	for (size_t thread = first; thread < end; thread++) {
		/* Threads are numbered from 1. */
		gh_dump_get(names->dump, GH_DUMP_GOROUTINE, thread > 0 ? thread - 1 : 0, &record);
		fprintf(script, "%s%" PRIu64, thread > first ? "," : "",
			value(names, &record.goroutine));
	}
	fputs("}\n", script);
}

void gh_threadnames_define(FILE *script, const struct gh_dump *dump)
{
	const char *waiting = gh_goroutine_status(GH_DUMP_WAITING);
	struct names names = {.dump = dump, .texts = {{waiting, strlen(waiting)}}, .ntexts = 1};
	size_t count = gh_dump_count(dump, GH_DUMP_GOROUTINE);
	if (count == 0)
		return;
	for (size_t first = 0; first <= count; first += CHUNK) {
		size_t end = first + CHUNK <= count ? first + CHUNK : count + 1;
		put_array(script, &names, "commands", first, end, command_of);
		put_array(script, &names, "minutes", first, end, minutes_of);
	}
	for (size_t i = 0; i < names.ntexts; i++)
		define_commands(script, names.texts[i], i);
	fprintf(script,
		"with confirm off -- define _goheap_name\n"
		"eval \"eval \\\"_goheap_name_%%%%d %%%%d\\\", $goheap_commands_%%d[%%d], "
		"$goheap_minutes_%%d[%%d]\", $_thread / %d, $_thread %% %d, $_thread / %d, "
		"$_thread %% %d\n"
		"end\n",
		CHUNK, CHUNK, CHUNK, CHUNK);
}

void gh_threadnames_apply(FILE *script)
{
	/* What GDB says of the language is not for the user, who has not set it. */
	fputs("pipe with language c -- thread apply all -q -s _goheap_name | cat >/dev/null\n",
	      script);
}
