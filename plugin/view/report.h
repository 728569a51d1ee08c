/* A report on one thing, as "key: value" lines or as one JSON object. */
#ifndef GH_PLUGIN_VIEW_REPORT_H
#define GH_PLUGIN_VIEW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct gh_report {
	bool json;
	bool started; /* a field has been printed */
};

/* Prints a field; KEY is a name in JSON, with spaces for its underscores in text. VALUE may be
 * NULL: not known. An address is text in JSON too: its numbers are exact to 53 bits only. */
void gh_report_key(struct gh_report *report, const char *key);
void gh_report_text(struct gh_report *report, const char *key, const char *value);
void gh_report_number(struct gh_report *report, const char *key, uint64_t value);
void gh_report_bool(struct gh_report *report, const char *key, bool value);
void gh_report_address(struct gh_report *report, const char *key, uint64_t value);

/* Ends the report. */
void gh_report_end(struct gh_report *report);

#endif
