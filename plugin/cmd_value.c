/* goheap value: has GDB print what is at an address of the loaded heap dump, whose type is found.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/command.h"
#include "plugin/question.h"
#include "plugin/script.h"
#include "plugin/session.h"

static int print_value(struct gh_question *question, uint32_t object, uint64_t address)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	FILE *script = directory != NULL ? gh_script_open(directory) : NULL;
	if (script == NULL) {
		fputs("goheap: value is for GDB's command goheap print\n", stderr);
		return GH_EXIT_USAGE;
	}
	bool known = gh_names_print_command(script, &question->names, object);
	if (!gh_script_close(script, directory))
		return GH_EXIT_INPUT;
	if (known)
		return GH_EXIT_OK;
	fprintf(stderr, "goheap: 0x%" PRIx64 ": not of a type that GDB can name: ", address);
	gh_names_print(stderr, &question->names, object, false);
	fputs("\n", stderr);
	return GH_EXIT_INPUT;
}

int gh_cmd_value(int argc, char **argv)
{
	struct gh_question_options options =
	    gh_question_parse(argc, argv, GH_ASKS_ADDRESSES,
			      "Have GDB print what is at an address; for GDB's own goheap print.");
	return gh_question_run_each(&options, false, print_value);
}
