#include "plugin/view/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/util/escape.h"

/* Column of the values in text. */
#define WIDTH 17

void gh_report_key(struct gh_report *report, const char *key)
{
	if (report->json) {
		printf("%s\"%s\":", report->started ? "," : "{", key);
	} else {
		int width = 0;
		for (; *key != '\0'; key++, width++)
			putchar(*key == '_' ? ' ' : *key);
		printf(":%*s", WIDTH - width, "");
	}
	report->started = true;
}

void gh_report_text(struct gh_report *report, const char *key, const char *value)
{
	gh_report_key(report, key);
	if (value == NULL)
		fputs(report->json ? "null" : "unknown", stdout);
	else
		gh_escape_either(stdout, value, report->json);
	if (!report->json)
		putchar('\n');
}

void gh_report_number(struct gh_report *report, const char *key, uint64_t value)
{
	gh_report_key(report, key);
	printf("%" PRIu64 "%s", value, report->json ? "" : "\n");
}

void gh_report_bool(struct gh_report *report, const char *key, bool value)
{
	gh_report_key(report, key);
	if (report->json)
		fputs(value ? "true" : "false", stdout);
	else
		puts(value ? "yes" : "no");
}

void gh_report_address(struct gh_report *report, const char *key, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	gh_report_text(report, key, text);
}

void gh_report_end(struct gh_report *report)
{
	if (report->json)
		puts(report->started ? "}" : "{}");
}
