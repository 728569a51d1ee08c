#include "plugin/command/command.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "lib/util/process_list.h"
#include "lib/util/vector.h"

/* The most processes of one name that are listed. */
enum { MOST_LISTED = 20 };

const char *gh_user_text(char text[GH_USER_TEXT], unsigned user)
{
	const struct passwd *entry = getpwuid(user);
	if (entry != NULL)
		snprintf(text, GH_USER_TEXT, "%s", entry->pw_name);
	else
		snprintf(text, GH_USER_TEXT, "%u", user);
	return text;
}

/* The processes whose program has a name. */
struct search {
	const char *name;
	struct GH_VECTOR(struct gh_process_summary) found;
};

/* The file name of PROGRAM, without the kernel's note that the file was deleted, is NAME. */
static bool is_named(const char *program, const char *name)
{
	const char *slash = strrchr(program, '/');
	const char *base = slash != NULL ? slash + 1 : program;
	size_t length = strlen(name);
	return strncmp(base, name, length) == 0 &&
	       (base[length] == '\0' || strcmp(base + length, " (deleted)") == 0);
}

static void take(void *context, const struct gh_process_summary *summary)
{
	struct search *search = context;
	if (is_named(summary->program, search->name) && summary->pid != getpid())
		gh_vector_push(&search->found, *summary);
}

static int by_number(const void *a, const void *b)
{
	const struct gh_process_summary *first = a;
	const struct gh_process_summary *second = b;
	return (first->pid > second->pid) - (first->pid < second->pid);
}

/* Says which processes have the name, of which one is to be chosen. */
static void list(const struct search *search)
{
	fprintf(stderr, "goheap: %zu processes run ", search->found.count);
	gh_escape_print(stderr, search->name);
	fputs(": name one by its number\n", stderr);
	for (size_t i = 0; i < search->found.count && i < MOST_LISTED; i++) {
		const struct gh_process_summary *process = &search->found.items[i];
		char user[GH_USER_TEXT];
		fprintf(stderr, "%9d  started ", process->pid);
		gh_time_print(stderr, process->started);
		fputs(" by ", stderr);
		gh_escape_print(stderr, gh_user_text(user, process->user));
		fputs("  ", stderr);
		gh_escape_print(stderr, process->program);
		putc('\n', stderr);
	}
	if (search->found.count > MOST_LISTED)
		fprintf(stderr, "and %zu more\n", search->found.count - MOST_LISTED);
}

const char *gh_named_process(const char *name, char number[GH_PID_TEXT])
{
	struct search search = {.name = name};
	if (access(name, F_OK) == 0 || *name == '\0' || strchr(name, '/') != NULL)
		return NULL;
	if (gh_pid_parse(name) != 0)
		return name;
	gh_process_list(take, &search);
	if (search.found.count > 1) {
		qsort(search.found.items, search.found.count, sizeof(*search.found.items),
		      by_number);
		list(&search);
		exit(GH_EXIT_USAGE);
	}
	const char *process = search.found.count == 1 ? number : NULL;
	if (process != NULL) {
		snprintf(number, GH_PID_TEXT, "%d", search.found.items[0].pid);
		fprintf(stderr, "goheap: process %s runs ", number);
		gh_escape_print(stderr, search.found.items[0].program);
		putc('\n', stderr);
	}
	gh_vector_free(&search.found);
	return process;
}
