/* goheap info: what a Go program is and how it was built. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/elf/buildinfo.h"
#include "lib/util/escape.h"
#include "plugin/command.h"
#include "plugin/options.h"
#include "plugin/program.h"

/* The report, as "key: value" lines or as one JSON object. */
struct report {
	bool json;
	bool started; /* a field has been printed */
};

static void print_key(struct report *report, const char *key)
{
	if (report->json) {
		printf("%s\"%s\":", report->started ? "," : "{", key);
	} else {
		int width = 0;
		for (; *key != '\0'; key++, width++)
			putchar(*key == '_' ? ' ' : *key);
		printf(":%*s", 17 - width, "");
	}
	report->started = true;
}

/* VALUE may be NULL: not known. */
static void print_text(struct report *report, const char *key, const char *value)
{
	print_key(report, key);
	if (value == NULL)
		fputs(report->json ? "null" : "unknown", stdout);
	else if (report->json)
		gh_escape_json(stdout, value);
	else
		gh_escape_print(stdout, value);
	if (!report->json)
		putchar('\n');
}

static void print_number(struct report *report, const char *key, uint64_t value)
{
	print_key(report, key);
	printf("%" PRIu64 "%s", value, report->json ? "" : "\n");
}

static void print_bool(struct report *report, const char *key, bool value)
{
	print_key(report, key);
	if (report->json)
		fputs(value ? "true" : "false", stdout);
	else
		puts(value ? "yes" : "no");
}

/* An address is text in JSON too: its numbers are exact to 53 bits only. */
static void print_address(struct report *report, const char *key, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	print_text(report, key, text);
}

static const char *format_name(enum gh_pclntab_format format)
{
	switch (format) {
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
static bool has_dwarf(const struct gh_image *image)
{
	return gh_image_section(image, ".debug_info") != NULL ||
	       gh_image_section(image, ".zdebug_info") != NULL;
}

static void print_build(struct report *report, const struct gh_image *image)
{
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, image);
	print_text(report, "go_version", info.go_version);
	print_text(report, "main_package", info.path);
	print_text(report, "module", info.module);
	print_text(report, "go_build_id", info.go_build_id);
	print_text(report, "gnu_build_id", info.gnu_build_id);
	gh_buildinfo_free(&info);
}

static void print_report(struct report *report, const struct gh_program *program)
{
	const struct gh_image *image = &program->image;
	const struct gh_pclntab *tab = &program->tab;
	print_text(report, "file", image->path);
	print_text(report, "machine", image->arch->goarch);
	print_build(report, image);
	print_text(report, "pclntab_format", format_name(tab->format));
	print_address(report, "pclntab_address", tab->address);
	print_number(report, "functions", tab->nfunc);
	print_number(report, "files", tab->nfiles);
	print_bool(report, "pie", gh_image_is_pie(image));
	print_bool(report, "stripped", gh_image_section(image, ".symtab") == NULL);
	print_bool(report, "dwarf", has_dwarf(image));
	if (report->json)
		puts("}");
}

int gh_cmd_info(int argc, char **argv)
{
	struct gh_options options =
	    gh_options_parse(argc, argv, "Tell what the Go program FILE is and how it was built.");
	struct gh_program program;
	if (!gh_program_open(&program, options.file))
		return GH_EXIT_INPUT;
	struct report report = {.json = options.json};
	print_report(&report, &program);
	gh_program_close(&program);
	return GH_EXIT_OK;
}
