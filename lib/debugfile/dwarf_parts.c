/* The sections of DWARF that lib/debugfile/dwarf_info.c writes, several parts of them at once. */
#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <stdlib.h>

#include "lib/util/parallel.h"

/* A part has at least this many functions, unless it is the last. The parts are the same on any
 * number of processors. */
#define PART_FUNCTIONS 512

/* A part may take so many times its share of what the whole may. */
#define PART_SHARES 4

/* Some of the packages. */
struct part {
	struct gh_info info;       /* as if there were no other part */
	struct gh_strings strings; /* a copy, with the names that the part adds */
	uint32_t first;            /* its packages, by number */
	uint32_t end;
	bool made;
	struct gh_error err; /* why not */
};

struct job {
	struct gh_info_common common;
	struct gh_info *info; /* the whole */
	struct gh_strings *strings;
	struct part *parts; /* owned */
	uint32_t nparts;
	uint64_t text; /* bytes from the first function to the last */
};

static void refer(struct gh_info *info, bool from_aranges, size_t place,
		  enum gh_info_section section, size_t offset)
{
	gh_vector_push(&info->refs, (struct gh_info_ref){(uint32_t)place, (uint32_t)offset,
							 (uint8_t)section, from_aranges});
}

void gh_info_refer(struct gh_info *info, enum gh_info_section section, size_t offset)
{
	refer(info, false, info->info.size, section, offset);
	gh_buffer_u32(&info->info, 0);
}

void gh_info_refer_at(struct gh_info *info, size_t place, enum gh_info_section section,
		      size_t offset)
{
	refer(info, false, place, section, offset);
}

void gh_info_refer_aranges(struct gh_info *info, size_t unit)
{
	refer(info, true, info->aranges.size, GH_INFO_INFO, unit);
	gh_buffer_u32(&info->aranges, 0);
}

bool gh_info_check(const struct gh_info *info, const char *file, struct gh_error *err)
{
	bool failed = info->points.failed || info->refs.failed;
	const struct gh_buffer *sections[] = {&info->abbrev, &info->info, &info->line,
					      &info->ranges, &info->loc,  &info->aranges};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		failed |= sections[i]->failed;
		if (sections[i]->size > UINT32_MAX)
			return gh_fail(err, file, GH_NO_OFFSET, "less than 4 GiB of DWARF", "more");
	}
	return !failed || gh_fail_memory(err, file);
}

static void set_byte_order(struct gh_info *info, bool big_endian)
{
	struct gh_buffer *sections[] = {&info->abbrev, &info->info, &info->line,
					&info->ranges, &info->loc,  &info->aranges};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i]->big_endian = big_endian;
}

/* How many functions PART has. */
static uint32_t count_functions(const struct job *job, const struct part *part)
{
	const struct gh_packages *packages = job->common.packages;
	return packages->first[part->end] - packages->first[part->first];
}

/* How many bytes a part may take of each kind: a few times its share of the image's. */
static size_t find_limit(const struct job *job, const struct part *part)
{
	const struct gh_pclntab *tab = job->common.tab;
	const struct gh_packages *packages = job->common.packages;
	uint64_t bytes = 0;
	for (uint32_t i = packages->first[part->first]; i < packages->first[part->end]; i++) {
		struct gh_func func;
		if (gh_pclntab_func(tab, packages->functions[i], &func, NULL))
			bytes += func.end - func.entry;
	}
	double text = (double)bytes / ((double)job->text + 1);
	double functions = count_functions(job, part) / ((double)tab->nfunc + 1);
	double share = PART_SHARES * (text > functions ? text : functions);
	double size = (double)tab->image->size;
	return share < 1 ? (size_t)(share * size) : tab->image->size;
}

static void make_part(void *context, uint32_t number)
{
	const struct job *job = context;
	struct part *part = &job->parts[number];
	set_byte_order(&part->info, job->common.tab->image->arch->big_endian);
	part->made = gh_info_write(&part->info, &job->common, &part->strings, part->first,
				   part->end, find_limit(job, part), &part->err);
}

/* Sets the offsets in PART's entries and sets of addresses, which were put after what was there of
 * the whole: SIZES in its sections, and ARANGES. */
static void set_offsets(struct gh_info *whole, const struct gh_info *part, const size_t *sizes,
			size_t aranges)
{
	for (size_t i = 0; i < part->refs.count; i++) {
		struct gh_info_ref ref = part->refs.items[i];
		if (ref.section == GH_INFO_TYPE) {
			ref.place += (uint32_t)sizes[GH_INFO_INFO];
			gh_vector_push(&whole->refs, ref);
			continue;
		}
		uint64_t offset = sizes[ref.section] + ref.offset;
		if (ref.from_aranges)
			gh_buffer_patch(&whole->aranges, aranges + ref.place, offset, 4);
		else
			gh_buffer_patch(&whole->info, sizes[GH_INFO_INFO] + ref.place, offset, 4);
	}
}

/* Puts a part after those before it. */
static void take_part(void *context, uint32_t number)
{
	struct job *job = context;
	struct part *part = &job->parts[number];
	struct gh_info *whole = job->info;
	struct {
		struct gh_buffer *to;
		const struct gh_buffer *from;
	} sections[] = {{&whole->info, &part->info.info},
			{&whole->line, &part->info.line},
			{&whole->ranges, &part->info.ranges},
			{&whole->loc, &part->info.loc},
			{&whole->aranges, &part->info.aranges}};
	size_t sizes[] = {whole->info.size, whole->line.size, whole->ranges.size, whole->loc.size};
	size_t aranges = whole->aranges.size;
	bool failed = false;
	for (size_t i = 0; part->made && i < sizeof(sections) / sizeof(sections[0]); i++) {
		gh_buffer_bytes(sections[i].to, sections[i].from->data, sections[i].from->size);
		failed |= sections[i].to->failed;
	}
	if (part->made && !failed)
		set_offsets(whole, &part->info, sizes, aranges);
	for (size_t i = 0; i < part->info.points.count; i++)
		gh_vector_push(&whole->points, part->info.points.items[i]);
	gh_strings_join(job->strings, &part->strings);
	gh_info_free(&part->info);
}

/* Makes parts of the packages. False if memory ran out. */
static bool divide(struct job *job)
{
	const struct gh_packages *packages = job->common.packages;
	const struct gh_pclntab *tab = job->common.tab;
	struct gh_func first_func;
	struct gh_func last_func;
	if (tab->nfunc > 0 && gh_pclntab_func(tab, 0, &first_func, NULL) &&
	    gh_pclntab_func(tab, tab->nfunc - 1, &last_func, NULL))
		job->text = last_func.end - first_func.entry;
	job->parts = calloc(packages->count, sizeof(*job->parts));
	if (job->parts == NULL)
		return false;
	for (uint32_t first = 0; first < packages->count;) {
		struct part *part = &job->parts[job->nparts++];
		part->info.debugger = job->info->debugger;
		part->first = part->end = first;
		part->strings = *job->strings;
		while (part->end < packages->count && count_functions(job, part) < PART_FUNCTIONS)
			part->end++;
		first = part->end;
	}
	return true;
}

/* Writes the units of what is known of types, then the packages. */
static bool make_units(struct job *job, const struct gh_slots *slots, struct gh_error *err)
{
	struct gh_info_common *common = &job->common;
	struct gh_info *info = job->info;
	const struct gh_pclntab *tab = common->tab;
	const char *file = tab->image->path;
	const char *producer = job->strings->header + GH_STRINGS_PRODUCER;
	gh_arg_types_put(&common->arg_types, tab, producer, info);
	/* A dump's own words are those of its frames, with their types. */
	bool put = slots != NULL
		       ? gh_slot_types_put(&common->slot_types, slots, producer, &info->info)
		       : gh_word_type_put(&common->live_type, tab, producer, info);
	gh_variable_abbrevs(&info->abbrev);
	gh_abbrevs_make(&info->abbrev);
	if (!put || !divide(job) || !gh_parallel_ordered(job->nparts, make_part, take_part, job))
		return gh_fail_memory(err, file);
	for (uint32_t i = 0; i < job->nparts; i++) {
		if (!job->parts[i].made) {
			if (err != NULL)
				*err = job->parts[i].err;
			return false;
		}
	}
	return gh_info_check(info, file, err);
}

bool gh_info_make(struct gh_info *info, const struct gh_pclntab *tab,
		  const struct gh_packages *packages, struct gh_strings *strings,
		  const struct gh_slots *slots, const struct gh_rtypes *types, struct gh_error *err)
{
	static const struct gh_slots none;
	struct job job = {.info = info,
			  .strings = strings,
			  .common = {.tab = tab,
				     .packages = packages,
				     .slots = slots != NULL ? slots : &none,
				     .types = types}};
	set_byte_order(info, tab->image->arch->big_endian);
	job.common.methods_told = types != NULL && gh_parameters_told(types);
	bool made = (types == NULL || (!gh_arg_places_told(tab) && !job.common.methods_told) ||
		     gh_signatures_find(&job.common.signatures, types, err)) &&
		    make_units(&job, slots, err);
	gh_slot_types_free(&job.common.slot_types);
	gh_word_type_free(&job.common.live_type);
	gh_signatures_free(&job.common.signatures);
	free(job.parts);
	return made;
}

void gh_info_free(struct gh_info *info)
{
	gh_buffer_free(&info->abbrev);
	gh_buffer_free(&info->info);
	gh_buffer_free(&info->line);
	gh_buffer_free(&info->ranges);
	gh_buffer_free(&info->loc);
	gh_buffer_free(&info->aranges);
	gh_vector_free(&info->points);
	gh_vector_free(&info->refs);
}
