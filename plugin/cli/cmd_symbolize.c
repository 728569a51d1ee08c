/* goheap symbolize: functions and lines added to the stacks that other tools print of a program. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "lib/util/prefix.h"
#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* The program whose addresses are looked for, and where the text is. */
struct symbolizer {
	struct gh_program program;
	const char *name; /* the program's, without directories; not owned */
	uint64_t bias;    /* of the process's addresses over the file's; 0 if it is not known */
	bool in_stack;    /* the line before was one of a stack */
};

/* An address in a line of text. */
struct place {
	uint64_t number;
	bool is_offset; /* in the program's file */
	bool returns;   /* it is where a call returns to */
};

/* Skips spaces. */
static const char *skip(const char *text)
{
	return text + strspn(text, " \t");
}

/* Reads the hexadecimal number at TEXT, with 0x before it or not. Gives what follows it, or NULL if
 * there is none of so many digits at least. */
static const char *read_hex(const char *text, int least, uint64_t *number)
{
	char *end;
	if (text[0] == '0' && text[1] == 'x')
		text += 2;
	if (!isxdigit((unsigned char)*text))
		return NULL;
	*number = strtoull(text, &end, 16);
	return end - text >= least && end - text <= 16 ? end : NULL;
}

/* TEXT begins with the program's name. Gives what follows that, or NULL. */
static const char *skip_name(const struct symbolizer *to, const char *text)
{
	return gh_starts_with(text, to->name) ? text + strlen(to->name) : NULL;
}

/* The path from PATH to END is of the program. */
static bool is_of_program(const struct symbolizer *to, const char *path, const char *end)
{
	const char *name = end;
	while (name > path && name[-1] != '/')
		name--;
	return skip_name(to, name) == end;
}

/* The address of the program's first page, in its file. */
static uint64_t first_page(const struct gh_image *image)
{
	return image->nloads > 0 ? image->loads[0]->p_vaddr & ~(uint64_t)(GH_LOADED_HEADERS - 1)
				 : 0;
}

/* It is not known where the program was loaded. */
static bool is_anywhere(const struct symbolizer *to)
{
	return to->bias == 0 && gh_image_is_pie(&to->program.image);
}

/* A frame of eu-stack, GDB or systemd: "#1  0x0000000000483a20 in ?? ()"; systemd's has the
 * distance from where the program was loaded, too: "n/a (server + 0x83a20)". */
static bool read_numbered(const struct symbolizer *to, struct place *place, const char *line)
{
	char *end;
	uint64_t distance;
	unsigned long number = strtoul(line + 1, &end, 10);
	const char *after = end != line + 1 ? read_hex(skip(end), 1, &place->number) : NULL;
	const char *open = after != NULL ? strchr(after, '(') : NULL;
	const char *plus = open != NULL && is_anywhere(to) ? skip_name(to, open + 1) : NULL;
	place->returns = number > 0;
	if (plus != NULL && gh_starts_with(plus, " + 0x") &&
	    read_hex(plus + 3, 1, &distance) != NULL)
		place->number = first_page(&to->program.image) + distance;
	return after != NULL;
}

/* A frame of strace -k: " > /usr/bin/server(+0x0) [0x7eb89]". */
static bool read_strace(const struct symbolizer *to, struct place *place, const char *line)
{
	const char *bracket = strstr(line, ") [0x");
	place->is_offset = true;
	place->returns = to->in_stack;
	return bracket != NULL && is_of_program(to, line, line + strcspn(line, "(")) &&
	       read_hex(bracket + 3, 1, &place->number) != NULL;
}

/* A frame of perf script or of bpftrace's ustack: "7eb89 [unknown] (/usr/bin/server)", "0x47eb89".
 */
static bool read_plain(const struct symbolizer *to, struct place *place, const char *line)
{
	const char *after = read_hex(line, 4, &place->number);
	if (after == NULL)
		return false;
	after = skip(after);
	place->returns = to->in_stack;
	if (*after == '\n' || *after == '\0')
		return true;
	static const char unknown[] = "[unknown] (";
	const char *path = after + sizeof(unknown) - 1;
	return gh_starts_with(after, unknown) &&
	       is_of_program(to, path, path + strcspn(path, ")\n"));
}

/* The offset in the file of the program's code. */
static uint64_t code_offset(const struct gh_image *image)
{
	for (size_t i = 0; i < image->nloads; i++)
		if ((image->loads[i]->p_flags & PF_X) != 0)
			return image->loads[i]->p_offset;
	return 0;
}

/* Makes PLACE, where the kernel says that the program was, an offset in its file, by what TEXT says
 * of the mapping: "in server[55d0c8a00000+7f000]" or, of newer kernels, with the
 * offset in the file first.
 *
 * Source: print_vma_addr in the kernel's mm/memory.c. */
static void use_mapping(const struct symbolizer *to, struct place *place, const char *text)
{
	const char *in = strstr(text, " in ");
	const char *bracket = in != NULL ? skip_name(to, in + 4) : NULL;
	uint64_t start;
	if (bracket == NULL || *bracket != '[')
		return;
	const char *end = read_hex(bracket + 1, 1, &start);
	if (end == NULL || (*end != ',' && *end != '+'))
		return;
	place->is_offset = true;
	place->number =
	    *end == ',' ? start : place->number - start + code_offset(&to->program.image);
}

/* What the kernel tells of a signal: "ip 000000000047eb89 sp ..."; a register: "pc=0x47eb89". */
static bool read_told(const struct symbolizer *to, struct place *place, const char *line)
{
	static const char *const before[] = {" ip ", " ip:", "pc=0x", "PC=0x"};
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		const char *at = strstr(line, before[i]);
		if (at == NULL || read_hex(at + strlen(before[i]), 4, &place->number) == NULL)
			continue;
		if (is_anywhere(to))
			use_mapping(to, place, at);
		return true;
	}
	return false;
}

/* Finds the address in LINE that is of a stack, or where the program was. */
static bool find_place(struct symbolizer *to, struct place *place, const char *line)
{
	const char *text = skip(line);
	bool is_frame = true;
	bool found = false;
	*place = (struct place){0};
	if (*text == '#')
		found = read_numbered(to, place, text);
	else if (*text == '>')
		found = read_strace(to, place, text);
	else if (text > line && isxdigit((unsigned char)*text))
		found = read_plain(to, place, text);
	else
		is_frame = false;
	to->in_stack = is_frame;
	return found || (!is_frame && read_told(to, place, line));
}

/* The program has the address PC, in code. */
static bool has_code(const struct gh_pclntab *tab, uint64_t pc)
{
	struct gh_func func;
	size_t index = gh_pclntab_find(tab, pc);
	return index != SIZE_MAX && gh_pclntab_func(tab, index, &func, NULL) && pc < func.end;
}

/* The address in the program's file that PLACE is; 0 for none. */
static uint64_t find_pc(const struct symbolizer *to, const struct place *place)
{
	const struct gh_pclntab *tab = &to->program.tab;
	const struct gh_image *image = &to->program.image;
	if (!place->is_offset && has_code(tab, place->number - to->bias))
		return place->number - to->bias;
	for (size_t i = 0; i < image->nloads; i++) {
		const GElf_Phdr *load = image->loads[i];
		uint64_t pc = place->number - load->p_offset + load->p_vaddr;
		if (place->number >= load->p_offset &&
		    place->number - load->p_offset < load->p_filesz && has_code(tab, pc))
			return pc;
	}
	return 0;
}

/* Prints the functions and lines at PC, the innermost first. */
static void print_calls(struct symbolizer *to, uint64_t pc)
{
	const struct gh_pclntab *tab = &to->program.tab;
	struct gh_func func;
	struct gh_range range;
	struct gh_sourcemap map = {0};
	bool found = gh_find_lines(&map, tab, pc, &func, &range);
	for (unsigned i = 0; found && i < range.nframes; i++) {
		const struct gh_frame *frame = &range.frames[i];
		fputs(i == 0 ? "  " : " (inlined by) ", stdout);
		gh_print_name(stdout, gh_pclntab_name(tab, frame->name), false);
		fputs(" at ", stdout);
		gh_print_name(stdout, gh_pclntab_file(tab, frame->file), false);
		if (frame->line > 0)
			printf(":%" PRId32, frame->line);
	}
	gh_sourcemap_free(&map);
}

/* Prints LINE, of LENGTH bytes, as it is, and what is at the address in it, if one is. */
static void print_line(struct symbolizer *to, const char *line, size_t length)
{
	struct place place;
	bool ends = length > 0 && line[length - 1] == '\n';
	fwrite(line, 1, length - ends, stdout);
	uint64_t pc = find_place(to, &place, line) ? find_pc(to, &place) : 0;
	if (pc != 0)
		print_calls(to, pc - place.returns);
	if (ends)
		putchar('\n');
}

/* Puts the path of what the process PID runs into PATH; "" if it cannot be read. */
static void read_path(char path[PATH_MAX], int pid)
{
	char link[32];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t length = readlink(link, path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
	size_t deleted = gh_mapped_file_deleted(path);
	if (deleted > 0)
		path[deleted] = '\0';
}

static bool symbolize(struct symbolizer *to, const char *path)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *in = path != NULL ? fopen(path, "re") : stdin;
	if (in == NULL) {
		gh_print_errno(path);
		return false;
	}
	while ((length = getline(&line, &size, in)) >= 0)
		print_line(to, line, (size_t)length);
	bool read = ferror(in) == 0;
	if (!read)
		gh_print_errno(path != NULL ? path : "standard input");
	free(line);
	if (path != NULL)
		fclose(in);
	return read;
}

int gh_cmd_symbolize(const struct gh_options *options)
{
	struct symbolizer to = {.name = options->file};
	char path[PATH_MAX];
	if (!gh_program_open(&to.program, options->file))
		return GH_EXIT_INPUT;
	const struct gh_image *image = &to.program.image;
	if (options->process != NULL) {
		int pid = atoi(options->process);
		uint64_t entry = gh_image_is_pie(image) ? gh_live_entry(pid, image->arch) : 0;
		to.bias = entry != 0 ? entry - image->header.e_entry : 0;
		read_path(path, pid);
		to.name = path;
	}
	to.name = strrchr(to.name, '/') != NULL ? strrchr(to.name, '/') + 1 : to.name;
	bool done = symbolize(&to, options->nwords > 0 ? options->words[0] : NULL);
	gh_program_close(&to.program);
	return done ? GH_EXIT_OK : GH_EXIT_INPUT;
}
