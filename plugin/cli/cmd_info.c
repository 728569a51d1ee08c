/* goheap info: what a Go program is and how it was built, or what a heap dump, a process or a core
 * file has. */
#include "lib/elf/elf.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

static const char *format_name(enum gh_pclntab_format format)
{
	switch (format) {
	case GH_PCLNTAB_1_0:
		return "go1.0";
	case GH_PCLNTAB_1_1:
		return "go1.1";
	case GH_PCLNTAB_1_2:
		return "go1.2";
	case GH_PCLNTAB_1_16:
		return "go1.16";
	case GH_PCLNTAB_1_18:
		return "go1.18";
	case GH_PCLNTAB_1_20:
		return "go1.20";
	}
	return NULL;
}

/* What is told of a program. */
struct program_report {
	const char *file;
	const char *machine;
	const char *go_version;
	const char *main_package;
	const char *module;
	const char *go_build_id;
	const char *gnu_build_id;
	const char *format;
	uint64_t address; /* of the function table */
	uint64_t functions;
	uint64_t files;
	bool pie;
	bool stripped;
	bool dwarf;
};

static const struct gh_column program_columns[] = {
    {"file", GH_COL_TEXT(struct program_report, file)},
    {"machine", GH_COL_TEXT(struct program_report, machine)},
    {"go_version", GH_COL_TEXT(struct program_report, go_version)},
    {"main_package", GH_COL_TEXT(struct program_report, main_package)},
    {"module", GH_COL_TEXT(struct program_report, module)},
    {"go_build_id", GH_COL_TEXT(struct program_report, go_build_id)},
    {"gnu_build_id", GH_COL_TEXT(struct program_report, gnu_build_id)},
    {"pclntab_format", GH_COL_TEXT(struct program_report, format)},
    {"pclntab_address", GH_COL_ADDRESS(struct program_report, address)},
    {"functions", GH_COL_NUMBER(struct program_report, functions)},
    {"files", GH_COL_NUMBER(struct program_report, files)},
    {"pie", GH_COL_BOOL(struct program_report, pie)},
    {"stripped", GH_COL_BOOL(struct program_report, stripped)},
    {"dwarf", GH_COL_BOOL(struct program_report, dwarf)},
    {0},
};

static void print_program(const struct gh_program *program, bool json)
{
	const struct gh_image *image = &program->image;
	const struct gh_pclntab *tab = &program->tab;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_REPORT, NULL, json);
	struct gh_buildinfo build;
	gh_buildinfo_read(&build, image);
	struct program_report report = {
	    .file = image->path,
	    .machine = image->arch->goarch,
	    .go_version = build.go_version,
	    .main_package = build.path,
	    .module = build.module,
	    .go_build_id = build.go_build_id,
	    .gnu_build_id = build.gnu_build_id,
	    .format = format_name(tab->format),
	    .address = tab->address,
	    .functions = tab->nfunc,
	    .files = tab->nfiles,
	    .pie = gh_image_is_pie(image),
	    .stripped = gh_image_section(image, ".symtab") == NULL,
	    .dwarf = gh_image_has_dwarf(image),
	};
	gh_emit_row(&emit, program_columns, &report);
	if (build.failed)
		gh_leave_out();
	gh_buildinfo_free(&build);
}

/* What is told of a heap dump. */
struct dump_report {
	const char *file;
	const char *format;
	struct gh_dump_slice version; /* Go's */
	const char *main_package;     /* NULL unless the program is known, as the next */
	const char *module;
	const char *go_build_id;
	const char *gnu_build_id;
	const char *machine;
	uint64_t word; /* in bytes */
	bool big_endian;
	uint64_t counts[GH_DUMP_KINDS]; /* of records, by kind */
	uint64_t object_bytes;
	uint64_t stack_bytes;
	uint64_t segment_bytes;
	bool whole;
};

#define COUNT(kind) GH_COL_NUMBER(struct dump_report, counts[GH_DUMP_##kind])

static const struct gh_column dump_columns[] = {
    {"file", GH_COL_TEXT(struct dump_report, file)},
    {"heap_dump_format", GH_COL_TEXT(struct dump_report, format)},
    {"go_version", GH_COL_KNOWN_SLICE(struct dump_report, version)},
    {"machine", GH_COL_TEXT(struct dump_report, machine)},
    {0},
};

static const struct gh_column build_columns[] = {
    {"main_package", GH_COL_TEXT(struct dump_report, main_package)},
    {"module", GH_COL_TEXT(struct dump_report, module)},
    {"go_build_id", GH_COL_TEXT(struct dump_report, go_build_id)},
    {"gnu_build_id", GH_COL_TEXT(struct dump_report, gnu_build_id)},
    {0},
};

static const struct gh_column memory_columns[] = {
    {"pointer_size", GH_COL_NUMBER(struct dump_report, word)},
    {"big_endian", GH_COL_BOOL(struct dump_report, big_endian)},
    {"goroutines", COUNT(GOROUTINE)},
    {"stack_frames", COUNT(FRAME)},
    {"objects", COUNT(OBJECT)},
    {"object_bytes", GH_COL_SIZE(struct dump_report, object_bytes), .title = "size of objects"},
    {"stack_bytes", GH_COL_SIZE(struct dump_report, stack_bytes), .title = "size of stacks"},
    {"segment_bytes", GH_COL_SIZE(struct dump_report, segment_bytes), .title = "size of segments"},
    {"types", COUNT(TYPE)},
    {"itabs", COUNT(ITAB)},
    {"finalizers", COUNT(FINALIZER)},
    {"queued", COUNT(QUEUED_FINALIZER)},
    {"threads", COUNT(THREAD)},
    {"profile_records", COUNT(PROFILE)},
    {"samples", COUNT(SAMPLE)},
    {"whole", GH_COL_BOOL(struct dump_report, whole)},
    {0},
};

/* Reads what the program tells of its build. False if it is not known which that is. */
static bool read_build(struct gh_buildinfo *build, const struct gh_options *options)
{
	char running[32];
	struct gh_image image;
	const char *program = gh_options_program(options, running);
	if (program == NULL || !gh_image_open(&image, program, NULL))
		return false;
	gh_buildinfo_read(build, &image);
	gh_image_close(&image);
	return true;
}

static void print_dump(const struct gh_dump *dump, const struct gh_options *options)
{
	bool json = options->json;
	struct gh_buildinfo build = {0};
	struct gh_dump_slice version = gh_dump_go_version(dump);
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_REPORT, dump, json);
	struct dump_report report = {
	    .file = dump->path,
	    .format = gh_dump_format_name(dump->format),
	    .version = version.size > 0 ? version : (struct gh_dump_slice){0},
	    .machine = *dump->goarch != '\0' ? dump->goarch : NULL,
	    .word = dump->word,
	    .big_endian = dump->file.big_endian,
	    .object_bytes = dump->objects.bytes,
	    .stack_bytes = dump->frames.bytes,
	    .segment_bytes = dump->segments.bytes,
	    .whole = *dump->warning.text == '\0',
	};
	for (unsigned kind = 0; kind < GH_DUMP_KINDS; kind++)
		report.counts[kind] = gh_dump_count(dump, kind);
	bool has_build = read_build(&build, options);
	report.main_package = build.path;
	report.module = build.module;
	report.go_build_id = build.go_build_id;
	report.gnu_build_id = build.gnu_build_id;
	gh_emit_values(&emit, dump_columns, &report);
	if (has_build)
		gh_emit_values(&emit, build_columns, &report);
	gh_emit_row(&emit, memory_columns, &report);
	gh_buildinfo_free(&build);
}

static int dump_info(const struct gh_options *options)
{
	struct gh_dump dump;
	if (!gh_heap_query_dump(&dump, options, options->file, false))
		return GH_EXIT_INPUT;
	print_dump(&dump, options);
	gh_dump_close(&dump);
	return GH_EXIT_OK;
}

int gh_cmd_info(const struct gh_options *options)
{
	if (options->process != NULL || gh_target_kind(options->file, NULL) != GH_KIND_PROGRAM)
		return dump_info(options);
	struct gh_program program;
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	print_program(&program, options->json);
	gh_program_close(&program);
	return GH_EXIT_OK;
}
