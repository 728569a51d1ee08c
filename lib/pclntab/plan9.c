#include "lib/pclntab/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The numbers that components of paths can have. */
#define COMPONENTS 65536

/* The longest path, as in the runtime. */
#define MAX_PATH 1000

/* All paths together may be these many times as long as the symbol table: a component takes two
 * bytes there, however long it is. */
#define MAX_PATHS 4

/* Size of a pclntab's header without the number of functions, in bytes. */
#define HEADER_SIZE 8

struct function {
	uint64_t entry;     /* address of the first instruction */
	const char *name;   /* in the image */
	uint64_t frame;     /* size, in bytes, what the call pushed included */
	uint32_t args;      /* size of arguments and results in bytes; ArgsSizeUnknown if unknown */
	size_t first_place; /* the object's places, by number */
	size_t end_place;   /* one past them */
};

/* Where the assembler did not tell: the most negative number. */
#define ARGS_SIZE_UNKNOWN 0x80000000

/* What is read, and what is made of it. */
struct conversion {
	struct gh_buffer *out;           /* the pclntab of Go 1.2 */
	const struct gh_image *image;    /* the program */
	const struct gh_cursor *symtab;  /* over its symbols */
	const char **components;         /* of paths, by number; owned */
	struct function *functions;      /* in address order; owned */
	size_t nfunc;                    /* functions */
	uint64_t text, etext;            /* addresses; 0 if the symbols do not tell */
	struct gh_plan9_history history; /* of all objects */
	struct gh_plan9_lines lines;     /* at the function that is being written */
	struct gh_buffer pcln; /* the table of lines of a function, until that of files is whole */
};

static bool is_function(const struct gh_plan9_symbol *symbol)
{
	switch (symbol->type) {
	case GH_PLAN9_FUNCTION:
	case GH_PLAN9_STATIC_FUNCTION:
	case GH_PLAN9_LEAF:
	case GH_PLAN9_STATIC_LEAF:
		return true;
	default:
		return false;
	}
}

static bool out_of_memory(const struct conversion *conversion, struct gh_error *err)
{
	return gh_fail_memory(err, conversion->image->path);
}

/* The symbols of the text's start and end are of a function's type. */
static bool is_bound(struct conversion *conversion, const struct gh_plan9_symbol *symbol)
{
	if (strcmp(symbol->name, "text") == 0)
		conversion->text = symbol->value;
	else if (strcmp(symbol->name, "etext") == 0)
		conversion->etext = symbol->value;
	else
		return false;
	return true;
}

/* Takes what SYMBOL tells about FUNCTION, which is the one before it. */
static void read_number(struct function *function, const struct gh_plan9_symbol *symbol)
{
	if (strcmp(symbol->name, ".frame") == 0)
		function->frame = symbol->value;
	else if (strcmp(symbol->name, ".args") == 0)
		function->args = (uint32_t)symbol->value;
}

/* Counts the functions and keeps the components of paths. */
static bool count_functions(struct conversion *conversion, struct gh_plan9_symbols walk,
			    struct gh_error *err)
{
	size_t count = 0;
	struct gh_plan9_symbol symbol;
	conversion->components = calloc(COMPONENTS, sizeof(*conversion->components));
	if (conversion->components == NULL)
		return out_of_memory(conversion, err);
	while (gh_plan9_symbols_next(&walk, &symbol)) {
		if (is_function(&symbol) && !is_bound(conversion, &symbol))
			count++;
		else if (symbol.type == GH_PLAN9_FILE && symbol.value < COMPONENTS)
			conversion->components[symbol.value] = symbol.name;
	}
	if (count == 0)
		return gh_fail(err, conversion->image->path, conversion->symtab->offset,
			       "functions in the symbol table", "none");
	conversion->functions = calloc(count, sizeof(*conversion->functions));
	return conversion->functions != NULL || out_of_memory(conversion, err);
}

/* Reads the functions, and what files their objects are made of. */
static bool read_functions(struct conversion *conversion, struct gh_plan9_symbols walk,
			   struct gh_error *err)
{
	struct gh_plan9_history *history = &conversion->history;
	struct function *function = NULL;
	struct gh_plan9_symbol symbol;
	uint64_t offset = gh_cursor_offset(&walk.cur);
	for (; gh_plan9_symbols_next(&walk, &symbol); offset = gh_cursor_offset(&walk.cur)) {
		if (!gh_plan9_history_add(history, &symbol))
			return out_of_memory(conversion, err);
		if (symbol.type == GH_PLAN9_FRAME && function != NULL)
			read_number(function, &symbol);
		if (!is_function(&symbol) || is_bound(conversion, &symbol))
			continue;
		if (function != NULL && symbol.value < function->entry)
			return gh_fail(
			    err, conversion->image->path, offset, "functions in ascending order",
			    "0x%" PRIx64 " after 0x%" PRIx64, symbol.value, function->entry);
		function = &conversion->functions[conversion->nfunc++];
		*function = (struct function){
		    .entry = symbol.value,
		    .name = symbol.name,
		    .args = ARGS_SIZE_UNKNOWN,
		    .first_place = history->first,
		    .end_place = history->places.count,
		};
	}
	return true;
}

/* The end of function INDEX: where the next begins. */
static uint64_t end_of(const struct conversion *conversion, size_t index)
{
	if (index + 1 < conversion->nfunc)
		return conversion->functions[index + 1].entry;
	uint64_t entry = conversion->functions[index].entry;
	return conversion->etext > entry ? conversion->etext : entry;
}

static uint32_t write_frame(struct conversion *conversion, const struct function *function,
			    uint64_t end)
{
	struct gh_pcvalue_writer writer;
	uint32_t place = (uint32_t)conversion->out->size;
	gh_pcvalue_write_start(&writer, conversion->out, function->entry,
			       conversion->image->arch->quantum);
	gh_plan9_frame_write(&writer, conversion->image, function->entry, end, function->frame);
	gh_pcvalue_write_end(&writer);
	return place;
}

/* Writes the tables of files and lines; returns the place of the first and sets PCLN to that of the
 * second. */
static uint32_t write_lines(struct conversion *conversion, const struct function *function,
			    uint64_t end, uint32_t *pcln)
{
	struct gh_plan9_lines *lines = &conversion->lines;
	struct gh_pcvalue_writer files;
	struct gh_pcvalue_writer numbers;
	uint32_t place = (uint32_t)conversion->out->size;
	uint8_t quantum = conversion->image->arch->quantum;
	conversion->pcln.size = 0;
	gh_pcvalue_write_start(&files, conversion->out, function->entry, quantum);
	gh_pcvalue_write_start(&numbers, &conversion->pcln, function->entry, quantum);
	for (uint64_t pc = function->entry; pc < end; pc = lines->end) {
		gh_plan9_lines_seek(lines, pc);
		uint64_t run_end = lines->end < end ? lines->end : end;
		uint32_t file;
		int32_t line;
		gh_plan9_history_find(&conversion->history, function->first_place,
				      function->end_place, lines->line, &file, &line);
		gh_pcvalue_write_run(&files, run_end, (int32_t)file);
		gh_pcvalue_write_run(&numbers, run_end, line);
	}
	gh_pcvalue_write_end(&files);
	gh_pcvalue_write_end(&numbers);
	*pcln = (uint32_t)conversion->out->size;
	gh_buffer_bytes(conversion->out, conversion->pcln.data, conversion->pcln.size);
	conversion->out->failed |= conversion->pcln.failed;
	return place;
}

/* Writes NAME with a dot for each middle dot (U+00B7), which the compilers wrote in some of the
 * names that they made: as debug/gosym has them. */
static uint32_t write_name(struct gh_buffer *out, const char *name)
{
	static const char middle_dot[] = "\xc2\xb7";
	uint32_t place = (uint32_t)out->size;
	const char *dot;
	while ((dot = strstr(name, middle_dot)) != NULL) {
		gh_buffer_bytes(out, name, (size_t)(dot - name));
		gh_buffer_u8(out, '.');
		name = dot + strlen(middle_dot);
	}
	gh_buffer_string(out, name);
	return place;
}

/* Writes the _func record of function INDEX and what belongs to it. */
static void write_function(struct conversion *conversion, size_t index)
{
	const struct function *function = &conversion->functions[index];
	struct gh_buffer *out = conversion->out;
	uint8_t word = conversion->image->arch->pointer_size;
	uint64_t end = end_of(conversion, index);
	uint32_t name = write_name(out, function->name);
	uint32_t pcsp = write_frame(conversion, function, end);
	uint32_t pcln;
	uint32_t pcfile = write_lines(conversion, function, end, &pcln);
	gh_buffer_align(out, word);
	size_t pair = HEADER_SIZE + word + 2 * index * word;
	if (out->failed)
		return;
	gh_buffer_patch(out, pair, function->entry, word);
	gh_buffer_patch(out, pair + word, out->size, word);
	gh_buffer_uint(out, function->entry, word);
	gh_buffer_u32(out, name);
	gh_buffer_u32(out, function->args);
	gh_buffer_u32(out, (uint32_t)function->frame);
	gh_buffer_u32(out, pcsp);
	gh_buffer_u32(out, pcfile);
	gh_buffer_u32(out, pcln);
	gh_buffer_u32(out, 0); /* npcdata */
	gh_buffer_u32(out, 0); /* nfuncdata */
}

/* Adds COMPONENT to PATH, which is *LENGTH bytes long so far. */
static void add_component(char *path, size_t *length, const char *component)
{
	size_t size = strnlen(component, MAX_PATH);
	bool slash = *length > 0 && path[*length - 1] != '/';
	if (*length + slash + size > MAX_PATH)
		return;
	if (slash)
		path[(*length)++] = '/';
	memcpy(path + *length, component, size);
	*length += size;
}

/* Writes the path that is encoded as ITEM; an empty one if it is none, or all would be too long. */
static void write_path(struct conversion *conversion, const struct gh_interned *item, size_t limit)
{
	char path[MAX_PATH + 1];
	size_t length = 0;
	for (size_t i = 0; i + 2 <= item->length; i += 2) {
		const uint8_t *bytes = (const uint8_t *)item->text + i;
		const char *component = conversion->components[bytes[0] << 8 | bytes[1]];
		if (component != NULL)
			add_component(path, &length, component);
	}
	if (conversion->out->size + length > limit)
		length = 0;
	path[length] = '\0';
	gh_buffer_string(conversion->out, path);
}

/* Writes the paths and, before them, where each is; returns the place of that. */
static uint32_t write_files(struct conversion *conversion)
{
	struct gh_buffer *out = conversion->out;
	const struct gh_intern *paths = &conversion->history.paths;
	gh_buffer_align(out, 4);
	size_t place = out->size;
	size_t limit = place + MAX_PATHS * (paths->count + gh_cursor_size(conversion->symtab));
	gh_buffer_u32(out, paths->count + 1);
	for (uint32_t i = 0; i < paths->count; i++)
		gh_buffer_u32(out, 0);
	for (uint32_t i = 0; i < paths->count && !out->failed; i++) {
		gh_buffer_patch(out, place + 4 + 4 * (size_t)i, out->size, 4);
		write_path(conversion, paths->items[i], limit);
	}
	return (uint32_t)place;
}

static bool write_table(struct conversion *conversion, struct gh_error *err)
{
	struct gh_buffer *out = conversion->out;
	const struct gh_arch *arch = conversion->image->arch;
	size_t nfunc = conversion->nfunc;
	gh_buffer_u32(out, 0xfffffffb);
	gh_buffer_u16(out, 0);
	gh_buffer_u8(out, arch->quantum);
	gh_buffer_u8(out, arch->pointer_size);
	gh_buffer_uint(out, nfunc, arch->pointer_size);
	size_t pairs = out->size;
	for (size_t i = 0; i < 2 * nfunc + 1; i++)
		gh_buffer_uint(out, 0, arch->pointer_size);
	gh_buffer_u32(out, 0); /* where the files are */
	for (size_t i = 0; i < nfunc && !out->failed; i++)
		write_function(conversion, i);
	uint32_t files = write_files(conversion);
	if (out->failed || out->size > UINT32_MAX)
		return out_of_memory(conversion, err);
	size_t last = pairs + 2 * nfunc * arch->pointer_size;
	gh_buffer_patch(out, last, end_of(conversion, nfunc - 1), arch->pointer_size);
	gh_buffer_patch(out, last + arch->pointer_size, files, 4);
	return true;
}

/* The functions' code must be in the file: what is made of it is then bounded. */
static bool check_text(const struct conversion *conversion, struct gh_error *err)
{
	uint64_t start = conversion->functions[0].entry;
	uint64_t end = end_of(conversion, conversion->nfunc - 1);
	struct gh_cursor code;
	if (!gh_image_at(conversion->image, start, &code) || end - start > gh_cursor_left(&code))
		return gh_fail(err, conversion->image->path, conversion->symtab->offset,
			       "functions inside one loadable segment",
			       "0x%" PRIx64 " to 0x%" PRIx64, start, end);
	return true;
}

bool gh_plan9_convert(struct gh_buffer *out, enum gh_pclntab_format *format,
		      const struct gh_image *image, const struct gh_cursor *symtab,
		      const struct gh_cursor *lines, struct gh_error *err)
{
	struct conversion conversion = {.out = out, .image = image, .symtab = symtab};
	struct gh_plan9_symbols walk;
	gh_plan9_symbols_start(&walk, *symtab, image->arch->pointer_size);
	*format = walk.format;
	*out = (struct gh_buffer){.big_endian = image->arch->big_endian};
	bool converted = count_functions(&conversion, walk, err) &&
			 read_functions(&conversion, walk, err) && check_text(&conversion, err);
	if (converted) {
		uint64_t text = conversion.text;
		gh_plan9_lines_start(&conversion.lines, *lines,
				     text != 0 ? text : conversion.functions[0].entry,
				     image->arch->quantum);
		converted = write_table(&conversion, err);
	}
	free(conversion.components);
	free(conversion.functions);
	gh_plan9_history_free(&conversion.history);
	gh_buffer_free(&conversion.pcln);
	return converted;
}
