#include "plugin/command/command.h"
#include "plugin/view/emit.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "lib/util/output.h"
#include "lib/value/value.h"
#include "plugin/command/kept.h"

enum {
	KEY_LONG = 0x100, /* past the letters: the keys of the options that have none */
	DECIMAL = 10,
	HEXADECIMAL = 16,
};

/* What argp and getopt print while the arguments are parsed. */
static struct {
	FILE *out;  /* where it is to go; NULL once it has gone there */
	char *text; /* owned */
	size_t size;
} messages;

static void print_messages(void)
{
	if (messages.out == NULL)
		return;
	fclose(stderr);
	stderr = messages.out;
	messages.out = NULL;
	if (messages.text != NULL)
		gh_escape_message(stderr, messages.text);
	free(messages.text);
	messages.text = NULL;
}

void gh_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	FILE *to = open_memstream(&messages.text, &messages.size);
	if (to != NULL && atexit(print_messages) == 0) {
		messages.out = stderr;
		stderr = to;
	}
	error_t lacks_memory = argp_parse(argp, argc, argv, flags, NULL, input);
	print_messages();
	if (lacks_memory != 0) {
		gh_say(GH_OUT_OF_MEMORY);
		exit(GH_EXIT_INPUT);
	}
}

/* What the parser fills, and for what. */
struct parse {
	struct gh_options *options;
	const struct gh_command *command;
	unsigned files;             /* how many there were */
	bool given[GH_OPTIONS_MAX]; /* by index in the command's options */
};

/* The number ARG, in digits of BASE. Exits, as on a usage error, if it is not a WHAT, or above
 * MOST. */
static uint64_t parse_number(const char *arg, int base, uint64_t most, const char *what,
			     const struct argp_state *state)
{
	char *end;
	errno = 0;
	uint64_t number = strtoull(arg, &end, base);
	/* Neither a sign nor a space, which strtoull takes. */
	bool begins =
	    base == HEXADECIMAL ? strchr("-+ ", *arg) == NULL : *arg >= '0' && *arg <= '9';
	if (!begins || end == arg || *end != '\0' || errno != 0 || number > most)
		argp_error(state, "not %s: %s", what, arg);
	return number;
}

/* The place of ARG among VALUES, from 0. Exits, as on a usage error, if it is none of them. */
static unsigned parse_value(const char *values, const char *arg, const struct argp_state *state)
{
	unsigned place = 0;
	size_t length = strlen(arg);
	for (const char *name = values; *name != '\0'; place++) {
		size_t end = strcspn(name, "|");
		if (end == length && memcmp(name, arg, end) == 0)
			return place;
		name += end + (name[end] == '|');
	}
	argp_error(state, "not %s: %s", values, arg);
	return 0;
}

static void parse_pattern(struct gh_options *options, const char *arg,
			  const struct argp_state *state)
{
	if (options->has_pattern)
		gh_pattern_free(&options->pattern);
	if (!gh_pattern_compile(&options->pattern, arg))
		argp_error(state, "not a regular expression: %s", arg);
	options->has_pattern = true;
}

static void parse_argument(struct gh_options *options, const struct gh_option *option, char *arg,
			   const struct argp_state *state)
{
	void *field = (char *)options + option->field;
	char what[64];
	switch (option->type) {
	case GH_OPTION_FLAG:
		*(bool *)field = true;
		break;
	case GH_OPTION_TEXT:
		if (option->values != NULL)
			parse_value(option->values, arg, state);
		*(const char **)field = arg;
		break;
	case GH_OPTION_FILE:
		*(const char **)field = arg;
		break;
	case GH_OPTION_LIMIT:
		options->limit = parse_number(arg, DECIMAL, SIZE_MAX, "a number", state);
		if (options->limit == 0)
			options->limit = SIZE_MAX;
		break;
	case GH_OPTION_NUMBER:
		snprintf(what, sizeof(what), "a number up to %" PRIu64, option->most);
		*(uint64_t *)field = parse_number(arg, DECIMAL, option->most, what, state);
		break;
	case GH_OPTION_GROUPING:
		options->grouping = GH_BY_TYPE + parse_value(option->values, arg, state);
		break;
	case GH_OPTION_PATTERN:
		parse_pattern(options, arg, state);
		break;
	case GH_OPTION_PROCESS:
		if (parse_number(arg, DECIMAL, INT_MAX, "a process's number", state) == 0)
			argp_error(state, "not a process's number: %s", arg);
		options->process = arg;
		break;
	case GH_OPTION_IGNORED:
		break;
	}
}

static int key_of(const struct gh_command *command, size_t index)
{
	char letter = command->options[index].letter;
	return letter != 0 ? letter : KEY_LONG + (int)index;
}

/* Exits, as on a usage error: there is no place for the operand ARG. */
static void refuse_more(const char *arg, const struct argp_state *state)
{
	argp_error(state, "too many arguments: %s", arg);
}

/* Takes NAME for a process in place of the last file, if it is one and no file has that name: its
 * number, or the program that it runs. Gives the file. */
static const char *take_process_named(struct gh_options *options, const char *name)
{
	if (options->process == NULL)
		options->process = gh_named_process(name, options->number_text);
	return options->process != NULL ? options->process : name;
}

/* The address ARG of an object. Exits, as on a usage error, if it is none: it may be a type. */
static uint64_t parse_address(const char *arg, const struct argp_state *state)
{
	if (strchr(arg, '.') != NULL)
		argp_error(
		    state,
		    "not an address: %s; goheap instances TARGET TYPE lists a type's objects", arg);
	return parse_number(arg, HEXADECIMAL, UINT64_MAX, "an address", state);
}

/* An operand after the files. */
static void parse_rest(struct parse *parse, char *arg, struct argp_state *state)
{
	struct gh_options *options = parse->options;
	uint64_t address;
	switch (parse->command->operands.rest) {
	case GH_ONE_ADDRESS:
		if (options->addresses.count > 0)
			refuse_more(arg, state);
		/* fall through */
	case GH_ADDRESSES:
		address = parse_address(arg, state);
		gh_vector_push(&options->addresses, address);
		return;
	case GH_TYPE_AND_ADDRESS:
		options->words = state->argv + state->next - 1;
		options->nwords = state->argc - state->next;
		arg = state->argv[state->argc - 1];
		state->next = state->argc;
		options->value = *arg == '=' && options->nwords > 0 ? arg + 1 : NULL;
		address = options->value != NULL ? 0 : parse_address(arg, state);
		gh_vector_push(&options->addresses, address);
		return;
	case GH_ONE_NUMBER:
		if (options->nwords > 0)
			refuse_more(arg, state);
		options->number = parse_number(arg, DECIMAL, UINT64_MAX, "a number", state);
		options->nwords = 1;
		return;
	case GH_ONE_NEWER:
		if (options->older != NULL)
			refuse_more(arg, state);
		if (options->process != NULL) {
			options->older = arg;
		} else {
			options->older = options->file;
			options->file = take_process_named(options, arg);
		}
		return;
	case GH_ANY_WORDS:
		options->words = state->argv + state->next - 1;
		options->nwords = state->argc - state->next + 1;
		state->next = state->argc;
		return;
	case GH_NO_MORE:
		refuse_more(arg, state);
	}
}

static void take_file(struct parse *parse, const char *arg)
{
	if (parse->files++ == 0)
		parse->options->file = arg;
	else
		parse->options->newer = arg;
}

/* A process stands for the last file. Options are parsed before all operands. */
static void take_process(struct parse *parse)
{
	const char *process = parse->options->process;
	if (process != NULL && parse->files + 1 == parse->command->operands.files)
		take_file(parse, process);
}

static void parse_operand(struct parse *parse, char *arg, struct argp_state *state)
{
	take_process(parse);
	if (parse->files == parse->command->operands.files) {
		parse_rest(parse, arg, state);
		return;
	}
	bool is_last = parse->files + 1 == parse->command->operands.files;
	take_file(parse, is_last ? take_process_named(parse->options, arg) : arg);
}

bool gh_command_takes_addresses(const struct gh_command *command)
{
	return command->operands.rest == GH_ADDRESSES ||
	       command->operands.rest == GH_TYPE_AND_ADDRESS;
}

/* All that the command needs is given. */
static bool is_whole(const struct parse *parse)
{
	const struct gh_command *command = parse->command;
	const struct gh_options *options = parse->options;
	for (size_t i = 0; command->options[i].name != NULL; i++)
		if (command->options[i].required && !parse->given[i])
			return false;
	return (parse->files == command->operands.files || options->schema) &&
	       (!gh_command_takes_addresses(command) || options->addresses.count > 0) &&
	       (command->operands.rest != GH_ONE_NUMBER || options->nwords > 0);
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	if (key == ARGP_KEY_ARG) {
		parse_operand(parse, arg, state);
		return 0;
	}
	if (key == 'h')
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
	if (key == ARGP_KEY_END)
		take_process(parse);
	if (key == ARGP_KEY_END && !is_whole(parse))
		argp_usage(state);
	const struct gh_option *options = parse->command->options;
	for (size_t i = 0; options[i].name != NULL; i++) {
		if (key_of(parse->command, i) == key) {
			parse_argument(parse->options, &options[i], arg, state);
			parse->given[i] = true;
			return 0;
		}
	}
	if (key != 'p')
		return ARGP_ERR_UNKNOWN;
	parse_operand(parse, arg, state);
	return 0;
}

/* -p and --pid, by which each command takes a process that takes it as an operand. */
static bool names_process(const struct gh_command *command)
{
	for (size_t i = 0; command->options[i].name != NULL; i++)
		if (command->options[i].letter == 'p')
			return command->options[i].type == GH_OPTION_PROCESS;
	return command->operands.files > 0;
}

/* What --help says of the operands: a command's that writes a file, with that. */
static void describe_operands(const struct gh_command *command, char *text, size_t size)
{
	const char *names = command->operands.names;
	int length = snprintf(text, size, "%s", names != NULL ? names : "");
	for (const struct gh_option *option = command->options; option->name != NULL; option++)
		if (option->required && length >= 0 && (size_t)length < size)
			length += snprintf(text + length, size - (size_t)length, " -%c %s",
					   option->letter, option->arg);
}

/* The numbers where none are given. */
static void set_numbers(struct gh_options *options, const struct gh_command *command)
{
	for (const struct gh_option *option = command->options; option->name != NULL; option++)
		if (option->type == GH_OPTION_NUMBER)
			*(uint64_t *)(void *)((char *)options + option->field) = option->otherwise;
}

/* The limit where none is given. */
static void limit_rows(struct parse *parse)
{
	const struct gh_option *option = parse->command->options;
	for (; option->name != NULL; option++)
		if (option->type == GH_OPTION_LIMIT && parse->options->limit == 0)
			parse->options->limit = parse->options->json ? SIZE_MAX : option->otherwise;
}

void gh_options_parse(struct gh_options *options, const struct gh_command *command, int argc,
		      char **argv)
{
	char operands[64];
	struct argp_option known[GH_OPTIONS_MAX + 3] = {0};
	size_t count = 0;
	for (size_t i = 0; command->options[i].name != NULL; i++) {
		const struct gh_option *option = &command->options[i];
		known[count++] = (struct argp_option){
		    .name = option->name,
		    .key = key_of(command, i),
		    .arg = option->arg,
		    .doc = option->doc,
		    .flags = option->type == GH_OPTION_IGNORED ? OPTION_ARG_OPTIONAL : 0,
		};
	}
	known[count++] = (struct argp_option){.key = 'h', .flags = OPTION_HIDDEN};
	if (names_process(command))
		known[count] = (struct argp_option){
		    .name = "pid", .key = 'p', .arg = "PID", .flags = OPTION_HIDDEN};
	describe_operands(command, operands, sizeof(operands));
	struct argp argp = {
	    .options = known,
	    .parser = parse_key,
	    .args_doc = *operands != '\0' ? operands : NULL,
	    .doc = command->about,
	};
	*options = (struct gh_options){0};
	set_numbers(options, command);
	struct parse parse = {.options = options, .command = command};
	gh_arguments_parse(&argp, argc, argv, 0, &parse);
	gh_print_exact(options->bytes || options->json);
	limit_rows(&parse);
	options->asks_roots = gh_command_takes(command, "partial");
}

char *gh_options_join(const struct gh_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (int i = 0; out != NULL && i < options->nwords; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", options->words[i]);
	text = gh_text_end(out, &text);
	if (text == NULL)
		gh_say(GH_OUT_OF_MEMORY);
	return text;
}

int gh_pid_parse(const char *text)
{
	char *end;
	long number = strtol(text, &end, DECIMAL);
	bool is = *text >= '1' && *text <= '9' && *end == '\0' && number <= INT_MAX;
	return is ? (int)number : 0;
}

bool gh_options_check_output(const struct gh_options *options)
{
	struct gh_output out;
	struct gh_error err;
	struct stat there;
	if (!gh_check_output(options->output, options->file) ||
	    !gh_check_output(options->output, options->program))
		return false;
	if (!options->force && stat(options->output, &there) == 0 && S_ISREG(there.st_mode)) {
		gh_say("%s exists: name another file, or replace it with --force", options->output);
		return false;
	}
	if (!gh_output_open(&out, options->output, GH_OUTPUT_PRIVATE, &err)) {
		gh_print_error(&err);
		return false;
	}
	gh_output_discard(&out);
	return true;
}

const char *gh_options_program(const struct gh_options *options, char running[32])
{
	int kept = gh_kept_running(options);
	if (options->program != NULL || (kept < 0 && options->process == NULL))
		return options->program;
	if (kept >= 0)
		snprintf(running, 32, "/proc/self/fd/%d", kept);
	else
		snprintf(running, 32, "/proc/%s/exe", options->process);
	return running;
}

void gh_options_free(struct gh_options *options)
{
	gh_vector_free(&options->addresses);
	if (options->made_fd > 0)
		close(options->made_fd);
	if (options->has_pattern)
		gh_pattern_free(&options->pattern);
}
