#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/process/goroutine.h"
#include "lib/util/escape.h"
#include "plugin/cli/cli.h"

/* Texts of a line, each of 64 bytes, for which a probe of bpftrace 0.17 has room. */
#define MOST_TEXTS 4

/* What is escaped in a name takes at most four bytes for one. */
#define NAME_TEXT 1024

/* A probe's code, while it is made. */
struct code {
	const struct gh_probes *probes;
	FILE *before;    /* statements before the line is printed */
	FILE *format;    /* of the line */
	FILE *arguments; /* for the format, each after a comma */
	unsigned texts;  /* that the line has */
	unsigned types;  /* of interfaces that are read */
};

/* Prints the name in a string that is a format of bpftrace's, which has no other way than %c to a
 * percent sign in some releases. Gives how many there are. */
static unsigned print_name(const char *name)
{
	char escaped[NAME_TEXT];
	unsigned count = 0;
	for (name = gh_escape_text(escaped, sizeof(escaped), name); *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			putchar('\\');
		if (*name == '%')
			count++;
		fputs(*name == '%' ? "%c" : (const char[]){*name, '\0'}, stdout);
	}
	return count;
}

static void print_register(FILE *out, const struct gh_probes *probes, unsigned number)
{
	int length;
	const char *name =
	    gh_probe_register(probes->program.image.arch->bpftrace_registers, number, &length);
	fprintf(out, "reg(\"%.*s\")", length, name);
}

/* Prints the WORD, as a number with a sign if IS_SIGNED. */
static void print_word(FILE *out, const struct gh_probes *probes, const struct gh_probe_word *word,
		       bool is_signed)
{
	unsigned bits = word->size * 8U;
	const char *sign = is_signed ? "" : "u";
	if (word->where == GH_ARG_IN_MEMORY) {
		fprintf(out, "*(%sint%u *)($cfa + %" PRIu64 ")", sign, bits, word->place);
		return;
	}
	if (bits < 64)
		fprintf(out, "(%sint%u)", sign, bits);
	print_register(out, probes, word->number);
}

/* BPF has no way to the word, or it is not known where it is. */
static bool is_out_of_reach(const struct gh_probe_word *word)
{
	return word->where == GH_ARG_UNKNOWN ||
	       (word->where == GH_ARG_IN_REGISTER && word->is_float);
}

/* Adds the WORD to the line, in hexadecimal or as a number. */
static void add_word(struct code *code, const struct gh_probe_word *word, bool is_hexadecimal,
		     bool is_signed)
{
	if (is_out_of_reach(word)) {
		fputs("?", code->format);
		return;
	}
	const char *size = word->size == 8 ? "l" : "";
	fprintf(code->format, "%s%%%s%s", is_hexadecimal ? "0x" : "", size,
		is_hexadecimal ? "x"
		: is_signed    ? "d"
			       : "u");
	fputs(", ", code->arguments);
	print_word(code->arguments, code->probes, word, is_signed && !is_hexadecimal);
}

/* Adds the words within braces. */
static void add_words(struct code *code, const struct gh_probe_word *words, size_t count)
{
	fputs("{", code->format);
	for (size_t i = 0; i < count; i++) {
		fputs(i > 0 ? ", " : "", code->format);
		add_word(code, &words[i], true, false);
	}
	fputs("}", code->format);
}

/* Adds the text of two words, an address and a length, and the length. */
static void add_text(struct code *code, const struct gh_probe_word *words)
{
	code->texts++;
	fputs("\\\"%r\\\"", code->format);
	fputs(", buf(", code->arguments);
	print_word(code->arguments, code->probes, &words[0], false);
	fputs(", ", code->arguments);
	print_word(code->arguments, code->probes, &words[1], false);
	fputs(")", code->arguments);
}

/* Adds the name of the type that an interface's first WORD leads to: that of a value's descriptor,
 * or, HAS_METHODS, of an itab. Nothing is there if it is nil.
 *
 * Source: Type and Name in src/internal/abi/type.go, ITab in iface.go there. */
static void add_dynamic_type(struct code *code, const struct gh_probe_word *word, bool has_methods)
{
	const struct gh_rtypes *types = &code->probes->types;
	int release = gh_rtypes_release(types);
	uint32_t descriptor = gh_runtime_struct("internal/abi.Type");
	uint32_t name = gh_runtime_offset(descriptor, "Str", 8, release);
	uint32_t flags = gh_runtime_offset(descriptor, "TFlag", 8, release);
	unsigned n = code->types++;
	FILE *out = code->before;
	fprintf(out, "\t$type%u = ", n);
	print_word(out, code->probes, word, false);
	fprintf(out, ";\n\t$name%u = (uint64)0;\n\t$length%u = (uint64)0;\n", n, n);
	fprintf(out, "\tif ($type%u != 0) {\n", n);
	if (has_methods)
		fprintf(out, "\t\t$type%u = *(uint64 *)($type%u + 8);\n", n, n);
	/* The flag is that of a star before the name, which is not the type's. */
	fprintf(out,
		"\t\t$star%u = (uint64)*(uint8 *)($type%u + %u) / 2 %% 2;\n"
		"\t\t$name%u = $types + (uint64)*(uint32 *)($type%u + %u) + 1;\n"
		"\t\t$length%u = (uint64)*(uint8 *)uptr($name%u);\n"
		"\t\tif ($length%u > 127) { $name%u = $name%u + 1; }\n"
		"\t\t$name%u = $name%u + 1 + $star%u;\n"
		"\t\t$length%u = $length%u - $star%u;\n\t}\n",
		n, n, flags, n, n, name, n, n, n, n, n, n, n, n, n, n, n);
	code->texts++;
	fputs("%r", code->format);
	fprintf(code->arguments, ", buf(uptr($name%u), $length%u)", n, n);
}

/* The words look like a string's, whose type is not known. */
static bool is_likely_text(const struct gh_probe_word *words, size_t count)
{
	return count == 2 && words[0].is_pointer && words[0].size == 8 && !words[1].is_pointer &&
	       words[1].size == 8;
}

/* Adds a value of KIND, of COUNT words, one at least. */
static void add_kind(struct code *code, enum gh_kind kind, const struct gh_rtype *type,
		     const struct gh_probe_word *words, size_t count)
{
	bool has_room = code->texts < MOST_TEXTS;
	for (size_t i = 0; i < count; i++)
		has_room &= !is_out_of_reach(&words[i]);
	if (kind == GH_KIND_STRING && count == 2 && has_room) {
		add_text(code, words);
		fputs(" len ", code->format);
		add_word(code, &words[1], false, true);
	} else if (kind == GH_KIND_INTERFACE && count == 2 && has_room) {
		fputs("(", code->format);
		add_dynamic_type(code, &words[0], type->nparts > 0);
		fputs(") ", code->format);
		add_words(code, words, count);
	} else if (kind == GH_KIND_SLICE && count == 3) {
		add_word(code, &words[0], true, false);
		fputs(" len ", code->format);
		add_word(code, &words[1], false, true);
		fputs(" cap ", code->format);
		add_word(code, &words[2], false, true);
	} else if (kind >= GH_KIND_BOOL && kind <= GH_KIND_UINT64 && count == 1) {
		add_word(code, &words[0], false, kind >= GH_KIND_INT && kind <= GH_KIND_INT64);
	} else if (count == 1) {
		add_word(code, &words[0], true, false);
	} else {
		add_words(code, words, count);
	}
}

/* Adds a value. */
static void add_value(struct code *code, const struct gh_probe_values *values,
		      const struct gh_probe_value *value)
{
	const struct gh_probe_word *words = values->words.items + value->first;
	if (value->count == 0) {
		fputs("{}", code->format);
	} else if (value->type != GH_NO_RTYPE) {
		const struct gh_rtype *type = &code->probes->types.items[value->type];
		add_kind(code, type->kind, type, words, value->count);
	} else if (value->count == 1) {
		/* As GDB shows them. */
		add_word(code, words, words->is_pointer, words->size >= 4);
	} else {
		bool is_text = is_likely_text(words, value->count);
		add_kind(code, is_text ? GH_KIND_STRING : GH_KIND_STRUCT, NULL, words,
			 value->count);
		fputs(is_text && !value->guessed ? "?" : "", code->format);
	}
	fputs(value->guessed ? "?" : "", code->format);
}

static void add_arguments(struct code *code, const struct gh_probe_values *arguments)
{
	fputs("(", code->format);
	for (size_t i = 0; i < arguments->items.count; i++) {
		const struct gh_probe_value *value = &arguments->items.items[i];
		fprintf(code->format, "%sarg%u=", i > 0 ? ", " : "", value->number);
		add_value(code, arguments, value);
	}
	fputs(arguments->is_cut ? ", ...)" : ")", code->format);
}

static void add_results(struct code *code, const struct gh_probe_values *results)
{
	const char *names = code->probes->program.image.arch->bpftrace_registers;
	fputs(results->guessed || results->items.count == 0 ? " returned" : " =", code->format);
	for (size_t i = 0; i < results->items.count; i++) {
		const struct gh_probe_value *value = &results->items.items[i];
		int length;
		fputs(i > 0 && !results->guessed ? ", " : " ", code->format);
		if (results->guessed) {
			const char *name = gh_probe_register(
			    names, results->words.items[value->first].number, &length);
			fprintf(code->format, "%.*s=", length, name);
		}
		add_value(code, results, value);
	}
	fputs(" (%ld ns)", code->format);
	fputs(", $ns", code->arguments);
}

/* Prints the attach point at ADDRESS. Where bpftrace finds a symbol that has the number in it, it
 * takes that for an address, else, if it may be unsafe, for an offset in the file. */
static void print_point(const struct gh_probes *probes, uint64_t address, const char *end)
{
	const struct gh_image *image = &probes->program.image;
	uint64_t offset = gh_image_offset(image, address);
	bool is_address = probes->has_symbols && offset >= image->loads[0]->p_vaddr;
	printf("uprobe:%s:0x%" PRIx64 "%s", probes->path, is_address ? address : offset, end);
}

/* Prints what begins the code of a probe at ADDRESS, where SP is DEPTH below the CFA. */
static void print_begin(const struct gh_probes *probes, uint64_t address, int32_t depth,
			bool needs_types)
{
	const struct gh_arch *arch = probes->program.image.arch;
	/* In a container with process numbers of its own bpftrace 0.23 takes pid for tid, and tid
	 * for pid. */
	if (probes->pid != 0)
		printf("/pid == %d || tid == %d/\n{\n\t$process = %d;\n", probes->pid, probes->pid,
		       probes->pid);
	else
		printf("{\n\t$process = pid;\n");
	printf("\t$g = ");
	print_register(stdout, probes, arch->dwarf_g);
	printf(";\n\t$cfa = ");
	print_register(stdout, probes, arch->dwarf_sp);
	printf(" + %" PRId32 ";\n", depth);
	if (needs_types) {
		printf("\t$types = (uint64)0x%" PRIx64, probes->types.start);
		if (gh_image_is_pie(&probes->program.image)) {
			printf(" + ");
			print_register(stdout, probes, arch->dwarf_pc);
			printf(" - 0x%" PRIx64, address);
		}
		printf(";\n");
	}
}

/* Prints the key of a call of function NUMBER: how far its frame is from the top of its stack does
 * not change when the stack is moved. */
static void print_key(size_t number)
{
	printf("@entered[$process, $g, *(uint64 *)($g + %d) - $cfa, %zu]", GH_G_STACK_HI, number);
}

/* Prints the statement that prints a line about PROBE, as CODE has it. */
static void print_line(const struct gh_probes *probes, const struct gh_probe *probe,
		       const char *before, const char *format, const char *arguments)
{
	int release = probes->types.minor;
	bool has_id = release != GH_GO_UNKNOWN;
	printf("%s\tprintf(\"%%lu %%d goroutine %s: ", before, has_id ? "%ld" : "0x%lx");
	unsigned percents = print_name(probe->name);
	printf("%s\\n\", nsecs, $process, ", format);
	if (has_id)
		printf("*(uint64 *)($g + %u)", gh_g_layout_of(8, release).id);
	else
		printf("$g");
	for (; percents > 0; percents--)
		printf(", %d", '%');
	printf("%s);\n", arguments);
}

/* The texts that CODE's streams write to. */
struct texts {
	char *before, *format, *arguments;
	size_t sizes[3];
};

/* Begins the line of a probe. False if memory ran out. */
static bool begin_code(struct code *code, struct texts *texts, const struct gh_probes *probes)
{
	*texts = (struct texts){0};
	*code = (struct code){
	    .probes = probes,
	    .before = open_memstream(&texts->before, &texts->sizes[0]),
	    .format = open_memstream(&texts->format, &texts->sizes[1]),
	    .arguments = open_memstream(&texts->arguments, &texts->sizes[2]),
	};
	return code->before != NULL && code->format != NULL && code->arguments != NULL;
}

/* Ends it. False if memory ran out. */
static bool end_code(struct code *code, struct texts *texts)
{
	texts->before = gh_text_end(code->before, &texts->before);
	texts->format = gh_text_end(code->format, &texts->format);
	texts->arguments = gh_text_end(code->arguments, &texts->arguments);
	return texts->before != NULL && texts->format != NULL && texts->arguments != NULL;
}

static void free_texts(struct texts *texts)
{
	free(texts->before);
	free(texts->format);
	free(texts->arguments);
}

/* Prints the probe at the entry of function NUMBER. */
static bool print_entry(const struct gh_probes *probes, size_t number)
{
	const struct gh_options *options = probes->options;
	const struct gh_probe *probe = &probes->list.items[number];
	struct code code;
	struct texts texts;
	bool made = begin_code(&code, &texts, probes);
	if (made && !options->latency)
		add_arguments(&code, &probe->arguments);
	made = end_code(&code, &texts) && made;
	if (made) {
		print_point(probes, probe->places.entry, "\n");
		print_begin(probes, probe->places.entry, probe->places.depth, code.types > 0);
		if (options->returns || options->latency) {
			printf("\t");
			print_key(number);
			printf(" = nsecs;\n");
		}
		if (!options->latency)
			print_line(probes, probe, texts.before, texts.format, texts.arguments);
		printf("}\n\n");
	}
	free_texts(&texts);
	return made;
}

/* Prints the statements at a return of function NUMBER that find how long the call took. */
static void print_duration(size_t number)
{
	printf("\t$entered = ");
	print_key(number);
	printf(";\n\t$ns = (int64)-1;\n\tif ($entered != 0) {\n\t\t$ns = (int64)(nsecs - "
	       "$entered);\n\t\tdelete(");
	print_key(number);
	printf(");\n\t}\n");
}

/* Prints the attach points at COUNT ADDRESSES. */
static void print_points(const struct gh_probes *probes, const uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_point(probes, addresses[i], i + 1 < count ? ",\n" : "\n");
}

/* Prints the probes at the return instructions of function NUMBER. In a program that can be loaded
 * anywhere each tells where that is by its own address. */
static bool print_returns(const struct gh_probes *probes, size_t number)
{
	const struct gh_arch *arch = probes->program.image.arch;
	const struct gh_probe *probe = &probes->list.items[number];
	const uint64_t *returns = probe->places.returns.items;
	size_t count = probe->places.returns.count;
	int32_t depth = arch->link_register ? 0 : arch->pointer_size;
	struct code code;
	struct texts texts;
	bool made = begin_code(&code, &texts, probes);
	if (made && !probes->options->latency)
		add_results(&code, &probe->results);
	made = end_code(&code, &texts) && made;
	size_t each = code.types > 0 && gh_image_is_pie(&probes->program.image) ? 1 : count;
	for (size_t i = 0; made && i < count; i += each) {
		print_points(probes, returns + i, each);
		print_begin(probes, returns[i], depth, code.types > 0);
		print_duration(number);
		if (probes->options->latency)
			printf("\tif ($entered != 0) { @%s = hist($ns); }\n", probe->event);
		else
			print_line(probes, probe, texts.before, texts.format, texts.arguments);
		printf("}\n\n");
	}
	free_texts(&texts);
	return made;
}

bool gh_probe_script_print(const struct gh_probes *probes)
{
	const struct gh_options *options = probes->options;
	bool returns = options->returns || options->latency;
	printf(
	    "#!/usr/bin/env -S bpftrace --unsafe\n"
	    "// Without its symbols, bpftrace probes a program by offsets, with --unsafe alone.\n"
	    "\n");
	for (size_t i = 0; i < probes->list.count; i++) {
		printf("// ");
		gh_print_name(stdout, probes->list.items[i].name, false);
		printf("\n");
		if (!print_entry(probes, i) || (returns && !print_returns(probes, i)))
			return false;
	}
	if (returns)
		printf("END\n{\n\tclear(@entered);\n}\n");
	return true;
}
