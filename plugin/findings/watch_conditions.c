#include "plugin/findings/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/view/emit.h"

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)

/* What was reached is told of again when there is so many times as much. */
#define AGAIN 1.25

enum unit { BYTES, NUMBER, PERCENT, DURATION };

static const struct {
	const char *name;
	const char *unit;
	enum unit kind;
	size_t field; /* of struct gh_options */
} conditions[GH_WATCH_KINDS] = {
    [GH_WATCH_RSS] = {"rss", "bytes", BYTES, offsetof(struct gh_options, rss)},
    [GH_WATCH_HEAP] = {"heap", "bytes", BYTES, offsetof(struct gh_options, heap)},
    [GH_WATCH_GOROUTINES] = {"goroutines", "goroutines", NUMBER,
			     offsetof(struct gh_options, many_goroutines)},
    [GH_WATCH_GROWTH] = {"growth", "percent", PERCENT, offsetof(struct gh_options, growth)},
    [GH_WATCH_NO_PROGRESS] = {"no-progress", "seconds", DURATION,
			      offsetof(struct gh_options, no_progress)},
    [GH_WATCH_EVERY] = {"every", "seconds", DURATION, offsetof(struct gh_options, every)},
};

static const struct {
	enum unit unit;
	const char *text;
	double times;
} suffixes[] = {
    {BYTES, "", 1},         {BYTES, "B", 1},        {BYTES, "K", 1e3},      {BYTES, "M", 1e6},
    {BYTES, "G", 1e9},      {BYTES, "T", 1e12},     {BYTES, "kB", 1e3},     {BYTES, "MB", 1e6},
    {BYTES, "GB", 1e9},     {BYTES, "KiB", 0x1p10}, {BYTES, "MiB", 0x1p20}, {BYTES, "GiB", 0x1p30},
    {BYTES, "TiB", 0x1p40}, {NUMBER, "", 1},        {NUMBER, "k", 1e3},     {NUMBER, "M", 1e6},
    {PERCENT, "%/min", 1},  {PERCENT, "%", 1},      {DURATION, "s", 1},     {DURATION, "min", 60},
    {DURATION, "m", 60},    {DURATION, "h", 3600},  {DURATION, "", 1},
};

const char *gh_watch_name(enum gh_watch_kind kind)
{
	return conditions[kind].name;
}

const char *gh_watch_unit(enum gh_watch_kind kind)
{
	return conditions[kind].unit;
}

/* The number that TEXT is in UNIT; 0 if it is none above 0. */
static double parse(const char *text, enum unit unit)
{
	char *end;
	double number = strtod(text, &end);
	if (end == text || !isfinite(number) || number <= 0)
		return 0;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (suffixes[i].unit == unit && strcmp(suffixes[i].text, end) == 0)
			return number * suffixes[i].times;
	return 0;
}

bool gh_watch_parse(struct gh_watch *watch, const struct gh_options *options)
{
	static const char *const examples[] = {[BYTES] = "2G or 512MiB",
					       [NUMBER] = "10000",
					       [PERCENT] = "10%/min",
					       [DURATION] = "30s, 5min or 1h"};
	bool any = false;
	for (unsigned kind = 0; kind < GH_WATCH_KINDS; kind++) {
		const char *text = *(const char *const *)(const void *)((const char *)options +
									conditions[kind].field);
		if (text == NULL)
			continue;
		any = true;
		watch->limits[kind] = parse(text, conditions[kind].kind);
		if (watch->limits[kind] > 0)
			continue;
		gh_say("--%s: expected as %s, found %s", conditions[kind].name,
		       examples[conditions[kind].kind], text);
		return false;
	}
	if (!any)
		gh_say("nothing to watch for: --rss 2G, --heap 1G, --goroutines 10000, --growth "
		       "10%%/min, --no-progress 30s, --every 1h, or several of them");
	return any;
}

void gh_watch_begin(struct gh_watch *watch, uint64_t now)
{
	watch->points.count = 0;
	watch->since = watch->moved = watch->last = now;
	memset(watch->fired, 0, sizeof(watch->fired));
}

void gh_watch_add(struct gh_watch *watch, uint64_t now, const struct gh_live_sample *sample)
{
	struct gh_watch_point *points = watch->points.items;
	size_t count = watch->points.count;
	size_t old = 0;
	if (count > 0 && points[count - 1].sample.processors != sample->processors)
		watch->moved = now;
	/* One that is a minute old stays, to compare with. */
	while (old + 1 < count && now - points[old + 1].when >= MINUTE)
		old++;
	if (old > 0)
		memmove(points, points + old, (count - old) * sizeof(*points));
	watch->points.count -= old;
	gh_vector_push(&watch->points, (struct gh_watch_point){now, *sample});
}

/* By how many hundredths the process has grown since a minute ago; 0 before there is one. */
static double growth_of(const struct gh_watch *watch)
{
	const struct gh_watch_point *points = watch->points.items;
	const struct gh_watch_point *last = &points[watch->points.count - 1];
	double before = (double)points[0].sample.resident;
	if (last->when - points[0].when < MINUTE || before <= 0)
		return 0;
	return 100 * ((double)last->sample.resident - before) / before;
}

double gh_watch_value(const struct gh_watch *watch, enum gh_watch_kind kind)
{
	if (watch->points.count == 0)
		return 0;
	const struct gh_watch_point *last = &watch->points.items[watch->points.count - 1];
	switch (kind) {
	case GH_WATCH_RSS:
		return (double)last->sample.resident;
	case GH_WATCH_HEAP:
		return (double)last->sample.heap;
	case GH_WATCH_GOROUTINES:
		return (double)last->sample.goroutines;
	case GH_WATCH_GROWTH:
		return growth_of(watch);
	case GH_WATCH_NO_PROGRESS:
		return (double)(last->when - watch->moved) / (double)SECOND;
	case GH_WATCH_EVERY:
	case GH_WATCH_KINDS:
		break;
	}
	return (double)(last->when - watch->last) / (double)SECOND;
}

bool gh_watch_fires(struct gh_watch *watch, enum gh_watch_kind kind)
{
	double value = gh_watch_value(watch, kind);
	double *fired = &watch->fired[kind];
	bool is_reached = watch->limits[kind] > 0 && value >= watch->limits[kind];
	if (!is_reached) {
		*fired = 0;
		return false;
	}
	/* Whoever stands still does so all the longer. */
	bool again = kind != GH_WATCH_NO_PROGRESS && value >= AGAIN * *fired;
	if (*fired != 0 && !again)
		return false;
	*fired = value;
	if (kind != GH_WATCH_EVERY)
		return true;
	*fired = 0;
	watch->last = watch->points.items[watch->points.count - 1].when;
	return true;
}

void gh_watch_free(struct gh_watch *watch)
{
	gh_vector_free(&watch->points);
}
