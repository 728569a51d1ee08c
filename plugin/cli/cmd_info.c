/* goheap info: what a Go program is and how it was built, or what a heap dump has. */
#include "lib/elf/buildinfo.h"
#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/view/open_dump.h"
#include "plugin/view/open_program.h"
#include "plugin/view/report.h"

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

/* Go before 1.19 or so compressed its DWARF into sections of a name of their own. */
static void print_build(struct gh_report *report, const struct gh_image *image)
{
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, image);
	gh_report_text(report, "go_version", info.go_version);
	gh_report_text(report, "main_package", info.path);
	gh_report_text(report, "module", info.module);
	gh_report_text(report, "go_build_id", info.go_build_id);
	gh_report_text(report, "gnu_build_id", info.gnu_build_id);
	gh_buildinfo_free(&info);
}

static void print_report(struct gh_report *report, const struct gh_program *program)
{
	const struct gh_image *image = &program->image;
	const struct gh_pclntab *tab = &program->tab;
	gh_report_text(report, "file", image->path);
	gh_report_text(report, "machine", image->arch->goarch);
	print_build(report, image);
	gh_report_text(report, "pclntab_format", format_name(tab->format));
	gh_report_address(report, "pclntab_address", tab->address);
	gh_report_number(report, "functions", tab->nfunc);
	gh_report_number(report, "files", tab->nfiles);
	gh_report_bool(report, "pie", gh_image_is_pie(image));
	gh_report_bool(report, "stripped", gh_image_section(image, ".symtab") == NULL);
	gh_report_bool(report, "dwarf", gh_image_has_dwarf(image));
	gh_report_end(report);
}

static void report_count(struct gh_report *report, const char *key, const struct gh_dump *dump,
			 enum gh_dump_kind kind)
{
	gh_report_number(report, key, gh_dump_count(dump, kind));
}

static void report_version(struct gh_report *report, const struct gh_dump *dump)
{
	struct gh_dump_slice version = gh_dump_go_version(dump);
	if (version.size == 0) {
		gh_report_text(report, "go_version", NULL);
		return;
	}
	gh_report_key(report, "go_version");
	gh_print_slice(stdout, dump, version, report->json);
	if (!report->json)
		putchar('\n');
}

static void report_dump(struct gh_report *report, const struct gh_dump *dump)
{
	gh_report_text(report, "file", dump->path);
	gh_report_text(report, "heap_dump_format", gh_dump_format_name(dump->format));
	report_version(report, dump);
	gh_report_text(report, "machine", *dump->goarch != '\0' ? dump->goarch : NULL);
	gh_report_number(report, "pointer_size", dump->word);
	gh_report_bool(report, "big_endian", dump->file.big_endian);
	report_count(report, "goroutines", dump, GH_DUMP_GOROUTINE);
	report_count(report, "stack_frames", dump, GH_DUMP_FRAME);
	report_count(report, "objects", dump, GH_DUMP_OBJECT);
	gh_report_number(report, "object_bytes", dump->objects.bytes);
	gh_report_number(report, "stack_bytes", dump->frames.bytes);
	gh_report_number(report, "segment_bytes", dump->segments.bytes);
	report_count(report, "types", dump, GH_DUMP_TYPE);
	report_count(report, "itabs", dump, GH_DUMP_ITAB);
	report_count(report, "finalizers", dump, GH_DUMP_FINALIZER);
	report_count(report, "queued", dump, GH_DUMP_QUEUED_FINALIZER);
	report_count(report, "threads", dump, GH_DUMP_THREAD);
	report_count(report, "profile_records", dump, GH_DUMP_PROFILE);
	report_count(report, "samples", dump, GH_DUMP_SAMPLE);
	gh_report_bool(report, "whole", *dump->warning.text == '\0');
	gh_report_end(report);
}

static int dump_info(const struct gh_options *options)
{
	struct gh_dump dump;
	if (!gh_dumpfile_open(&dump, options->file))
		return GH_EXIT_INPUT;
	struct gh_report report = {.json = options->json};
	report_dump(&report, &dump);
	gh_dump_close(&dump);
	return GH_EXIT_OK;
}

int gh_cmd_info(const struct gh_options *options)
{
	if (gh_dumpfile_recognise(options->file))
		return dump_info(options);
	struct gh_program program;
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	struct gh_report report = {.json = options->json};
	print_report(&report, &program);
	gh_program_close(&program);
	return GH_EXIT_OK;
}
