/* What goheap.gdb runs for a command that was typed in GDB. `goheap word' takes the command's words
 * from GDB, one by one. `goheap dispatch' reads what GDB's `info files' prints, and runs the
 * command on the heap dump that is loaded, or on GDB's program; `goheap dispatch ADDRESS' does so
 * where GDB has made an address of what was typed, and `goheap dispatch value' where it has written
 * its value; `goheap dispatch frame' where it has described a frame. Which of the former is to be
 * `goheap dispatch type' finds, which reads what GDB's `whatis' prints. `goheap live' runs it on
 * what GDB debugs, and serves memory of. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/dispatch/dispatch.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"

/* Those that goheap.gdb hands over at the most. */
#define MAX_WORDS 119

/* What tells of a part of a value: the option and its argument, and a type that was not typed. */
#define PART_WORDS 3

/* What there is to do. */
struct job {
	const char *directory;     /* of the session */
	struct gh_infofiles files; /* what GDB has */
	struct gh_words words;     /* the command and its arguments */
	const struct gh_command *command;
	char **args; /* the arguments, in words, or the address; the array is owned */
	int count;   /* of the arguments */
	char *query; /* the one that is SQL; owned; NULL if none is */
	struct gh_print_words typed;   /* zeros unless ARGS are in them */
	const char *address;           /* that GDB has made of them, or "value"; or NULL */
	struct gh_session_value value; /* owned */
};

/* Runs the command on SOURCE, if that has a file; one about the heap where that is kept, unless a
 * type tells what is to be printed, or the command also asks the system. */
static int run(const struct job *job, const struct gh_kept_source *source)
{
	char *argv[MAX_WORDS + GH_SQL_WORDS + PART_WORDS + GH_KEPT_ARGUMENTS];
	const struct gh_command *command = job->command;
	int argc = gh_kept_arguments(source, command, job->count, job->args, argv);
	if ((command->gdb.on & (GH_ON_DUMP | GH_ON_SYSTEM)) == GH_ON_DUMP &&
	    gh_command_takes(command, "names") && job->typed.type == NULL)
		return gh_keeper_run(job->directory, source, command, argc, argv);
	return gh_command_run(command, argc, argv);
}

/* Says why it is not run on a heap dump, and what can be done. */
static int refuse_dump(const struct job *job)
{
	int (*command)(const struct gh_options *options) = job->command->run;
	fputs(command == gh_cmd_goroutine ? "A heap dump's goroutines are threads: info threads\n"
	      : command == gh_cmd_break
		  ? "A heap dump does not run: close it with core-file, then break\n"
	      : command == gh_cmd_crash
		  ? "A heap dump does not tell of a crash, as a core file does: core-file CORE\n"
		  : "A heap dump is loaded; this asks a process or a core file: attach PID, or "
		    "core-file CORE\n",
	      stderr);
	return GH_EXIT_INPUT;
}

/* Runs it on the process or core file that GDB debugs, as a shell would. */
static int run_on_system(const struct job *job)
{
	struct gh_gdb_source source;
	if (gh_gdb_source_system(&source, &job->files))
		return run(job, &source.of);
	fputs("No process of this machine and no core file is debugged.\n", stderr);
	return GH_EXIT_INPUT;
}

/* Runs it on what GDB has. */
static int run_on_files(const struct job *job)
{
	struct gh_gdb_source source;
	const struct gh_infofiles *files = &job->files;
	bool on_program = (job->command->gdb.on & GH_ON_PROGRAM) != 0;
	bool on_process = (job->command->gdb.on & GH_ON_PROCESS) != 0;
	bool debugs = files->program != NULL && files->running;
	if (gh_gdb_source_dump(&source, job->directory, files))
		return (job->command->gdb.on & GH_ON_DUMP) != 0 ? run(job, &source.of)
								: refuse_dump(job);
	if ((job->command->gdb.on & GH_ON_SYSTEM) != 0)
		return run_on_system(job);
	if (on_program && files->program != NULL)
		return run(job, &(struct gh_kept_source){.file = files->program});
	if (debugs && on_process)
		return gh_dispatch_live(&job->words, job->address, job->directory, files);
	fputs(on_program ? "No program: name one with the file command.\n"
	      : on_process && files->running
		  ? "The program is not known: name it with the file command.\n"
	      : on_process ? "No process, core file or heap dump is loaded.\n"
			   : "No heap dump is loaded: goheap load DUMP\n",
	      stderr);
	return GH_EXIT_INPUT;
}

/* What GDB is to find of an expression. */
enum wanted {
	NOTHING,
	ITS_VALUE,   /* the bytes, in a file */
	ITS_ADDRESS, /* the value as a number */
	ITS_FRAME,   /* the frame, of an argument whose name it is */
};

/* Writes the script that GDB runs after the command: nothing, or to run the command again with what
 * is WANTED of EXPRESSION, by a command of GDB's own: an error is not in a line of the script then.
 */
static int write_script(const struct job *job, enum wanted wanted, const char *expression)
{
	static const char *const forms[] = {
	    [ITS_VALUE] = "dump binary value " GH_SESSION_PATH GH_SESSION_VALUE " %s\n"
			  "pipe info files | { trap \"exit 1\" INT; "
			  "\"$GOHEAP_PROGRAM\" dispatch value || exit 1; }\n",
	    [ITS_ADDRESS] = "eval \"pipe info files | { trap \\\"exit 1\\\" INT; "
			    "\\\"$GOHEAP_PROGRAM\\\" dispatch %#lx || exit 1; }\", %s\n",
	    [ITS_FRAME] = "_goheap_note_frame\npipe info files | { trap \"exit 1\" INT; "
			  "\"$GOHEAP_PROGRAM\" dispatch %s || exit 1; }\n",
	};
	FILE *script = gh_script_open(job->directory);
	if (script == NULL)
		return GH_EXIT_INPUT;
	if (wanted != NOTHING) {
		fputs("with confirm off -- define _goheap_then\n", script);
		const char *form = forms[wanted];
		const char *gap = strstr(form, "%s");
		fprintf(script, "%.*s%s%s", (int)(gap - form), form, expression, gap + 2);
		fputs("_goheap_finish\nend\n", script);
	}
	return gh_script_commit(script, job->directory) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Has GDB tell the types of EXPRESSION and of what it may be a part of, and run the command again.
 */
static int ask_type(const struct job *job, const char *expression)
{
	struct gh_print_part parts[GH_PRINT_PARTS];
	size_t count = gh_print_parts(parts, expression);
	FILE *script = gh_script_open(job->directory);
	for (size_t i = 0; script != NULL && i <= GH_PRINT_PARTS; i++) {
		fprintf(script, "with confirm off -- define _goheap_asked%zu\n", i);
		if (i <= count)
			fprintf(script, "whatis %s\n", i == 0 ? expression : parts[i - 1].operand);
		fputs("end\n", script);
	}
	const char *operand = count > 0 ? parts[0].operand : expression;
	if (script != NULL)
		fprintf(script, "with confirm off -- define _goheap_asked_value\n%s%s\nend\n",
			gh_print_is_argument(operand) ? "output " : "echo",
			gh_print_is_argument(operand) ? operand : "");
	gh_print_parts_free(parts, count);
	if (script == NULL)
		return GH_EXIT_INPUT;
	fputs("with confirm off -- define _goheap_then\n_goheap_note_level\n"
	      "pipe source " GH_SESSION_PATH "level.gdb | { trap \"exit 1\" INT; "
	      "\"$GOHEAP_PROGRAM\" dispatch type || exit 1; }\n_goheap_finish\nend\n",
	      script);
	return gh_script_commit(script, job->directory) ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Tells what is to be typed. */
static int tell_usage(const struct job *job)
{
	fprintf(stderr, "usage: goheap %s %s\n", job->command->name, job->command->gdb.operands);
	return GH_EXIT_USAGE;
}

/* Has GDB describe the frame that was typed, or the selected one, and run the command again. */
static int ask_frame(const struct job *job)
{
	struct gh_print_words typed;
	if (!gh_print_words_read(&typed, &job->words, false))
		return GH_EXIT_INPUT;
	int status = GH_EXIT_INPUT;
	size_t digits = strspn(typed.expression, "0123456789");
	bool is_number = typed.expression[digits] == '\0' && digits <= 9;
	FILE *script = is_number ? gh_script_open(job->directory) : NULL;
	if (script != NULL) {
		fprintf(script,
			"with confirm off -- define _goheap_then\n_goheap_note_frame %s\n"
			"pipe info files | { trap \"exit 1\" INT; \"$GOHEAP_PROGRAM\" "
			"dispatch frame || exit 1; }\n_goheap_finish\nend\n",
			typed.expression);
		status = gh_script_commit(script, job->directory) ? GH_EXIT_OK : GH_EXIT_INPUT;
	}
	free(typed.text);
	if (is_number)
		return status;
	tell_usage(job);
	fputs("N is of the selected thread or goroutine: goheap goroutine ID selects one\n",
	      stderr);
	return GH_EXIT_USAGE;
}

/* Has the arguments be the options that were typed: GDB has described the frame. */
static bool leave_frame_out(struct job *job)
{
	struct gh_print_words typed;
	if (!gh_print_words_read(&typed, &job->words, false))
		return false;
	job->count = typed.noptions;
	free(typed.text);
	return true;
}

/* Runs it on the frame that GDB has described. */
static int run_on_frame(struct job *job)
{
	if (write_script(job, NOTHING, NULL) != GH_EXIT_OK || !leave_frame_out(job))
		return GH_EXIT_INPUT;
	return run_on_files(job);
}

static int run_typed(struct job *job)
{
	struct gh_print_words typed;
	const char *operands = job->command->gdb.operands;
	if (job->count == 0 && operands != NULL && operands[0] != '[')
		return tell_usage(job);
	if (job->command->run == gh_cmd_frame)
		return ask_frame(job);
	if (!gh_command_takes_addresses(job->command))
		return write_script(job, NOTHING, NULL) == GH_EXIT_OK ? run_on_files(job)
								      : GH_EXIT_INPUT;
	if (!gh_print_words_read(&typed, &job->words, job->command->run == gh_cmd_print))
		return GH_EXIT_INPUT;
	int status = GH_EXIT_USAGE;
	if (typed.expression[0] == '\0')
		tell_usage(job);
	else if (strchr(typed.expression, '\n') != NULL)
		gh_say("an expression is one line");
	else if (!gh_print_words_whole(&typed))
		status = GH_EXIT_INPUT;
	else if (job->command->run != gh_cmd_print)
		status = write_script(job, ITS_ADDRESS, typed.expression);
	else if (job->files.running)
		status = ask_type(job, typed.expression);
	else
		status = run_on_files(job);
	free(typed.text);
	return status;
}

/* Has GDB write the value of the operand of TYPED that it knows a Go type of, for goheap to find
 * the part: GDB's own indexes are C's. False if there is none; else STATUS is the command's. */
static bool ask_part(const struct job *job, const struct gh_print_words *typed,
		     const struct gh_print_answers *answers, int *status)
{
	struct gh_print_part parts[GH_PRINT_PARTS];
	size_t at = typed->type == NULL ? gh_print_parts(parts, typed->expression) : 0;
	size_t count = at;
	bool has_index = at > 0 && strchr(typed->expression, '[') != NULL;
	while (at > 0 &&
	       (answers->types[at] == NULL || !gh_print_is_value(typed, answers->types[at])))
		at--;
	/* Of what is an argument's goheap knows the type. */
	bool is_argument = count > 0 && gh_print_is_argument(parts[0].operand);
	bool found = at > 0 && (has_index || is_argument || answers->types[0] == NULL);
	*status = GH_EXIT_INPUT;
	if (found && gh_session_type_write(job->directory, answers->types[at], parts[at - 1].part))
		*status = write_script(job, ITS_VALUE, parts[at - 1].operand);
	gh_print_parts_free(parts, count);
	return found;
}

/* Has GDB describe the frame, for goheap to find the argument that TYPED is a part of, of whose
 * value GDB knows no place. False if there is no such argument. STATUS is the command's then. */
static bool ask_argument(const struct job *job, const struct gh_print_words *typed,
			 const struct gh_print_answers *answers, int *status)
{
	struct gh_print_part part;
	const char *type = gh_print_answers_lost(answers, typed, &part);
	if (type == NULL)
		return false;
	*status = gh_session_type_write(job->directory, type, part.part)
		      ? write_script(job, ITS_FRAME, part.operand)
		      : GH_EXIT_INPUT;
	gh_print_parts_free(&part, 1);
	return true;
}

/* Has GDB write the value of the whole expression of TYPED, or what address it is. */
static int ask_whole(const struct job *job, const struct gh_print_words *typed,
		     const struct gh_print_answers *answers)
{
	const char *type = answers->types[0];
	if (gh_print_answers_refuse(answers, typed))
		return GH_EXIT_INPUT;
	if (!gh_print_is_value(typed, type))
		return write_script(job, ITS_ADDRESS, typed->expression);
	if (gh_session_type_write(job->directory, type, ""))
		return write_script(job, ITS_VALUE, typed->expression);
	return GH_EXIT_INPUT;
}

/* Runs `goheap dispatch type'. */
static int take_type(struct job *job)
{
	char *text = gh_piped_text_read(stdin);
	struct gh_print_words typed = {0};
	struct gh_print_answers answers;
	int status = GH_EXIT_INPUT;
	if (text != NULL && gh_print_words_read(&typed, &job->words, true)) {
		gh_print_answers_read(&answers, text);
		if (!ask_argument(job, &typed, &answers, &status) &&
		    !ask_part(job, &typed, &answers, &status))
			status = ask_whole(job, &typed, &answers);
	}
	free(typed.text);
	free(text);
	return status;
}

/* Has the arguments be the options and the type that were typed, and the ADDRESS that GDB made of
 * the rest; or, if that is "value", the value that it has written and, if none was typed, its type.
 */
static bool set_address(struct job *job, char *address)
{
	if (!gh_print_words_read(&job->typed, &job->words, job->command->run == gh_cmd_print))
		return false;
	job->count = job->typed.noptions;
	if (strcmp(address, "value") == 0 || gh_print_is_argument(address)) {
		const char *argument = gh_print_is_argument(address) ? address : NULL;
		if (!gh_session_value_read(&job->value, job->directory, argument))
			return false;
		address = job->value.bytes;
		if (job->typed.type == NULL)
			job->typed.type = job->value.type;
		if (job->value.part[0] != '\0') {
			job->args[job->count++] = (char *)"--part";
			job->args[job->count++] = job->value.part;
		}
	}
	if (job->typed.type != NULL)
		job->args[job->count++] = job->typed.type;
	job->args[job->count++] = address;
	return true;
}

/* Runs it on the ADDRESS that GDB has made of the arguments. */
static int run_at(struct job *job, char *address)
{
	if (write_script(job, NOTHING, NULL) != GH_EXIT_OK || !set_address(job, address))
		return GH_EXIT_INPUT;
	job->address = address;
	return run_on_files(job);
}

/* Has JOB be what was typed. The session is this GDB's. False after printing why not: PROGRAM is
 * the command that runs. */
static bool open_job(struct job *job, const char *program)
{
	job->directory = getenv(GH_SESSION_VARIABLE);
	if (job->directory == NULL) {
		fprintf(stderr, "goheap %s: only for goheap in GDB to run\n", program);
		return false;
	}
	if (!gh_words_read(&job->words, job->directory))
		return false;
	if (job->words.count == 0 || job->words.count > MAX_WORDS) {
		fprintf(stderr, "goheap %s: expected a command's words from GDB, found %d\n",
			program, job->words.count);
		gh_words_free(&job->words);
		return false;
	}
	job->command = gh_command_find(job->words.args[0]);
	if (job->command == NULL || job->command->gdb.summary == NULL) {
		gh_say("no such command: %s", job->words.args[0]);
		gh_words_free(&job->words);
		return false;
	}
	job->args =
	    calloc((size_t)job->words.count + GH_SQL_WORDS + PART_WORDS, sizeof(*job->args));
	if (job->args == NULL) {
		gh_say(GH_OUT_OF_MEMORY);
		gh_words_free(&job->words);
		return false;
	}
	job->count = job->words.count - 1;
	memcpy(job->args, job->words.args + 1, (size_t)job->count * sizeof(*job->args));
	if (job->command->run == gh_cmd_sql)
		job->query = gh_sql_words(&job->count, job->args, job->words.typed + 1);
	return true;
}

static void close_job(struct job *job)
{
	free(job->args);
	free(job->query);
	free(job->typed.text);
	gh_session_value_free(&job->value);
	gh_words_free(&job->words);
}

int gh_cmd_dispatch(const struct gh_options *options)
{
	struct job job = {0};
	if (!open_job(&job, "dispatch"))
		return GH_EXIT_USAGE;
	int status = GH_EXIT_INPUT;
	if (job.command->run == gh_cmd_load) {
		if (write_script(&job, NOTHING, NULL) == GH_EXIT_OK)
			status = run(&job, &(struct gh_kept_source){0});
	} else if (options->nwords > 0 && strcmp(options->words[0], "type") == 0) {
		status = take_type(&job);
	} else if (gh_infofiles_read(&job.files, stdin)) {
		gh_missing_file_made(job.directory, &job.files);
		status = options->nwords == 0               ? run_typed(&job)
			 : job.command->run == gh_cmd_frame ? run_on_frame(&job)
							    : run_at(&job, options->words[0]);
		gh_infofiles_free(&job.files);
	} else {
		gh_say(GH_OUT_OF_MEMORY);
	}
	close_job(&job);
	return status;
}

int gh_cmd_live(const struct gh_options *options)
{
	struct job job = {0};
	char socket[PATH_MAX];
	char program[PATH_MAX];
	if (!open_job(&job, "live"))
		return GH_EXIT_USAGE;
	snprintf(socket, sizeof(socket), "%s/" GH_SESSION_MEMORY, job.directory);
	snprintf(program, sizeof(program), "%s/" GH_SESSION_RUN, job.directory);
	int status = GH_EXIT_INPUT;
	bool set = job.command->run == gh_cmd_frame ? leave_frame_out(&job)
		   : options->nwords > 0            ? set_address(&job, options->words[0])
						    : true;
	if (set)
		status = run(&job, &(struct gh_kept_source){.file = socket, .program = program});
	close_job(&job);
	return status;
}

int gh_cmd_word(const struct gh_options *options)
{
	(void)options;
	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (directory == NULL) {
		fputs("goheap word: only for goheap in GDB to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	int count = gh_words_append(directory, stdin);
	if (count < 0 || count > MAX_WORDS)
		/* Not to be taken for a number of words. */
		raise(SIGKILL);
	return count;
}
