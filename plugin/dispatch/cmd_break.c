/* goheap break: has GDB stop at a function that is called by less than its whole name, or tells
 * which functions the name may stand for. For GDB's own command of that name. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* What a place is asked for by. */
struct request {
	char *name;  /* of a function, or a file and a line; owned */
	uint64_t id; /* of the goroutine; 0: any */
};

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%()*@+[]-"

/* TEXT is a word to GDB within quotes and, of a file, wherever it stands. */
static bool is_word(const char *text)
{
	return *text != '\0' && *text != '-' && strspn(text, LETTERS) == strlen(text);
}

/* TEXT is one within quotes: type arguments have more in them. */
static bool is_quoted_word(const char *text)
{
	return *text != '\0' && *text != '-' && strspn(text, LETTERS " ,;{}<>=:\"") == strlen(text);
}

/* TEXT is a file and a line. */
static bool is_line(const char *text)
{
	const char *colon = strrchr(text, ':');
	return colon != NULL && colon != text && colon[1] != '\0' &&
	       strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* Has GDB stop at the COUNT FUNCTIONS or, if there are none, at the line that REQUEST names. */
static int write_break(const struct request *request, const char *const *functions, size_t count)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	char file[GH_NAME_FORM_SIZE];
	const char *line = count == 0 ? strrchr(request->name, ':') : NULL;
	snprintf(file, sizeof(file), "%.*s", line == NULL ? 0 : (int)(line - request->name),
		 request->name);
	bool is_good = count > 0 || is_word(file);
	for (size_t i = 0; i < count; i++)
		is_good &= is_quoted_word(functions[i]);
	if (!is_good) {
		gh_say("that place has a name for GDB's own break command only");
		return GH_EXIT_INPUT;
	}
	FILE *script = gh_script_open(directory);
	if (script == NULL)
		return GH_EXIT_INPUT;
	fputs("with confirm off -- define _goheap_then\n", script);
	for (size_t i = 0; i == 0 || i < count; i++) {
		if (count > 0)
			fprintf(script, "break -function '%s'", functions[i]);
		else
			fprintf(script, "break -source %s -line %s", file, line + 1);
		if (request->id != 0)
			fprintf(script, " if goid == %" PRIu64, request->id);
		fputs("\n", script);
	}
	fputs("end\n", script);
	return gh_script_commit(script, directory) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static int tell(const struct request *request, const struct gh_named_functions *found)
{
	if (found->names.count == 0 && is_line(request->name))
		return write_break(request, NULL, 0);
	return gh_named_functions_settle(found, request->name)
		   ? write_break(request, found->names.items, found->names.count)
		   : GH_EXIT_INPUT;
}

/* Reads NAME [goroutine ID]; type arguments in a name may have spaces. False, after saying so, if
 * the words are others. */
static bool read_request(struct request *request, const struct gh_options *options)
{
	char *end = "";
	struct gh_options name = *options;
	int count = options->nwords;
	const char *id = count >= 3 && strcmp(options->words[count - 2], "goroutine") == 0
			     ? options->words[count - 1]
			     : NULL;
	errno = 0;
	if (id != NULL) {
		request->id = strtoull(id, &end, 10);
		name.nwords -= 2;
	}
	request->name = gh_options_join(&name);
	bool is_good =
	    count > 0 &&
	    (id == NULL || (request->id != 0 && errno == 0 && *end == '\0' && *id != '-'));
	if (!is_good)
		fputs("usage: goheap break FUNCTION|FILE:LINE [goroutine ID]\n", stderr);
	return is_good && request->name != NULL;
}

static int run(const struct request *request, const char *file)
{
	struct gh_program program;
	struct gh_named_functions found;
	if (!gh_program_open(&program, file))
		return GH_EXIT_INPUT;
	int status = gh_named_functions_find(&found, &program, request->name)
			 ? tell(request, &found)
			 : GH_EXIT_INPUT;
	gh_vector_free(&found.names);
	gh_program_close(&program);
	return status;
}

int gh_cmd_break(const struct gh_options *options)
{
	struct request request = {0};
	if (getenv(GH_SESSION_VARIABLE) == NULL) {
		gh_say("break is a command of GDB's: jit-reader-load goheap.so, then goheap break");
		return GH_EXIT_USAGE;
	}
	int status = read_request(&request, options) ? run(&request, options->file) : GH_EXIT_USAGE;
	free(request.name);
	return status;
}
