#include <readline/history.h>
#include <readline/readline.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"

/* The user has interrupted what is typed. */
static volatile sig_atomic_t interrupted;

static void stay(int number)
{
	(void)number;
	interrupted = 1;
}

/* Has readline, which calls it while it waits, return when it is interrupted. */
static int end_line(void)
{
	if (interrupted) {
		rl_replace_line("", 0);
		rl_done = 1;
	}
	return 0;
}

void gh_prompt_work(bool begins)
{
	static struct sigaction before;
	if (begins)
		sigaction(SIGINT, &before, NULL);
	else
		sigaction(SIGINT, &(struct sigaction){.sa_handler = stay}, &before);
}

/* A line that is not for a terminal has no prompt. NULL at the end; to be freed. */
static char *read_line(bool is_terminal, const char *text)
{
	char *line = NULL;
	size_t size = 0;
	interrupted = 0;
	if (is_terminal)
		return readline(text);
	ssize_t length = getline(&line, &size, stdin);
	if (length < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

int gh_prompt_run(const struct gh_prompt *prompt, const struct gh_options *options)
{
	struct gh_kept_source source = {
	    .file = options->file,
	    .program = options->program,
	    .names = options->names,
	    .process = options->process,
	    .c = options->c,
	    .is_prompted = true,
	};
	bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	enum gh_prompt_next next = GH_PROMPT_NEXT;
	gh_kept_begin(&source);
	if (!gh_kept_open(true, 0))
		return GH_EXIT_INPUT;
	rl_readline_name = "goheap";
	rl_attempted_completion_function = prompt->complete;
	rl_completer_word_break_characters = prompt->breaks;
	rl_event_hook = end_line;
	/* What a child has not read it would give back when it exits, to be read again. */
	setvbuf(stdin, NULL, _IONBF, 0);
	gh_prompt_work(false);
	while (next != GH_PROMPT_END) {
		char *line = read_line(is_terminal,
				       next == GH_PROMPT_MORE ? prompt->more_text : prompt->text);
		if (line == NULL)
			break;
		if (is_terminal && *line != '\0')
			add_history(line);
		if (interrupted && prompt->forget != NULL)
			prompt->forget();
		next = interrupted ? GH_PROMPT_NEXT : prompt->answer(&source, line);
		free(line);
	}
	if (is_terminal && next != GH_PROMPT_END)
		putchar('\n');
	if (next != GH_PROMPT_END)
		prompt->answer(&source, NULL);
	return GH_EXIT_OK;
}
