#include "lib/dump/internal.h"

const char *gh_dump_kind_name(enum gh_dump_kind kind)
{
	static const char *const names[] = {
	    [GH_DUMP_EOF] = "end of file",
	    [GH_DUMP_OBJECT] = "object",
	    [GH_DUMP_OTHER_ROOT] = "root",
	    [GH_DUMP_TYPE] = "type",
	    [GH_DUMP_GOROUTINE] = "goroutine",
	    [GH_DUMP_FRAME] = "stack frame",
	    [GH_DUMP_PARAMS] = "parameters",
	    [GH_DUMP_FINALIZER] = "finalizer",
	    [GH_DUMP_ITAB] = "itab",
	    [GH_DUMP_THREAD] = "thread",
	    [GH_DUMP_MEMSTATS] = "memory statistics",
	    [GH_DUMP_QUEUED_FINALIZER] = "queued finalizer",
	    [GH_DUMP_DATA] = "data segment",
	    [GH_DUMP_BSS] = "bss segment",
	    [GH_DUMP_DEFER] = "defer",
	    [GH_DUMP_PANIC] = "panic",
	    [GH_DUMP_PROFILE] = "allocation profile",
	    [GH_DUMP_SAMPLE] = "allocation sample",
	    [GH_DUMP_STACK_ROOT] = "stack root",
	    [GH_DUMP_DATA_ROOT] = "data root",
	    [GH_DUMP_KINDS] = "unknown",
	};
	return names[kind];
}

static struct gh_dump_slice read_slice(struct gh_cursor *cur)
{
	struct gh_dump_slice slice = {.size = gh_cursor_uvarint(cur)};
	slice.offset = gh_cursor_offset(cur);
	gh_cursor_bytes(cur, slice.size);
	return slice;
}

static bool read_bool(struct gh_cursor *cur)
{
	return gh_cursor_uvarint(cur) != 0;
}

/* The fieldlist at CUR, which is the end of its record and not passed over. */
static struct gh_fieldlist fields_here(const struct gh_cursor *cur)
{
	return (struct gh_fieldlist){.offset = gh_cursor_offset(cur)};
}

static void read_object(struct gh_cursor *cur, enum gh_dump_format format,
			struct gh_dump_object *object)
{
	*object = (struct gh_dump_object){.address = gh_cursor_uvarint(cur)};
	if (format <= GH_DUMP_1_3) {
		object->type = gh_cursor_uvarint(cur);
		object->type_kind = gh_cursor_uvarint(cur);
	}
	object->contents = read_slice(cur);
	if (format >= GH_DUMP_1_4)
		object->fields = fields_here(cur);
}

/* CUR is over the whole file. */
static void read_bare_object(struct gh_cursor *cur, struct gh_dump_object *object)
{
	*object = (struct gh_dump_object){.address = gh_cursor_uvarint(cur)};
	uint64_t size = gh_cursor_uvarint(cur);
	if (size > gh_cursor_size(cur)) {
		cur->failed = true;
		return;
	}
	object->contents = (struct gh_dump_slice){gh_cursor_size(cur) - size, size};
	object->fields = fields_here(cur);
}

static void read_other_root(struct gh_cursor *cur, struct gh_dump_other_root *root)
{
	root->description = read_slice(cur);
	root->pointer = gh_cursor_uvarint(cur);
}

static void read_type(struct gh_cursor *cur, enum gh_dump_format format, struct gh_dump_type *type)
{
	type->address = gh_cursor_uvarint(cur);
	type->size = gh_cursor_uvarint(cur);
	type->name = read_slice(cur);
	type->indirect = read_bool(cur);
	type->fields = (struct gh_fieldlist){0};
	if (format == GH_DUMP_PROTOTYPE)
		type->fields = gh_fieldlist_skip_counted(cur);
	else if (format == GH_DUMP_1_3)
		type->fields = fields_here(cur);
}

static void read_goroutine(struct gh_cursor *cur, enum gh_dump_format format,
			   struct gh_dump_goroutine *goroutine)
{
	*goroutine = (struct gh_dump_goroutine){.g = gh_cursor_uvarint(cur)};
	goroutine->sp = gh_cursor_uvarint(cur);
	goroutine->id = gh_cursor_uvarint(cur);
	goroutine->creator_pc = gh_cursor_uvarint(cur);
	goroutine->status = gh_cursor_uvarint(cur);
	goroutine->system = read_bool(cur);
	goroutine->background = read_bool(cur);
	goroutine->wait_start = gh_cursor_uvarint(cur);
	goroutine->wait_reason = read_slice(cur);
	if (format == GH_DUMP_PROTOTYPE)
		return;
	goroutine->context = gh_cursor_uvarint(cur);
	goroutine->thread = gh_cursor_uvarint(cur);
	goroutine->top_defer = gh_cursor_uvarint(cur);
	goroutine->top_panic = gh_cursor_uvarint(cur);
}

/* No code is at addresses that are less. */
#define FIRST_PAGE 4096

static void read_frame(struct gh_cursor *cur, enum gh_dump_format format,
		       struct gh_dump_frame *frame)
{
	*frame = (struct gh_dump_frame){.sp = gh_cursor_uvarint(cur)};
	if (format == GH_DUMP_PROTOTYPE) {
		frame->parent_sp = gh_cursor_uvarint(cur);
		frame->entry = gh_cursor_uvarint(cur);
		frame->pc = gh_cursor_uvarint(cur);
		frame->function = read_slice(cur);
		if (frame->parent_sp > frame->sp)
			frame->size = frame->parent_sp - frame->sp;
		return;
	}
	frame->depth = gh_cursor_uvarint(cur);
	frame->child_sp = gh_cursor_uvarint(cur);
	frame->contents = read_slice(cur);
	frame->size = frame->contents.size;
	frame->entry = gh_cursor_uvarint(cur);
	frame->pc = gh_cursor_uvarint(cur);
	struct gh_cursor before = *cur;
	frame->continuation = gh_cursor_uvarint(cur);
	/* The beta releases of Go 1.3 had none: then that is the length of the function's name. */
	if (format == GH_DUMP_1_3 && frame->continuation != 0 && frame->continuation < FIRST_PAGE) {
		frame->continuation = frame->pc;
		*cur = before;
	}
	frame->function = read_slice(cur);
	frame->fields = fields_here(cur);
}

static void read_params(struct gh_cursor *cur, enum gh_dump_format format,
			struct gh_dump_params *params)
{
	*params = (struct gh_dump_params){.big_endian = read_bool(cur)};
	params->pointer_size = gh_cursor_uvarint(cur);
	if (format <= GH_DUMP_1_3)
		params->channel_header = gh_cursor_uvarint(cur);
	params->heap_start = gh_cursor_uvarint(cur);
	params->heap_end = gh_cursor_uvarint(cur);
	if (format == GH_DUMP_PROTOTYPE)
		return;
	if (format >= GH_DUMP_1_7)
		params->arch = read_slice(cur);
	else
		params->arch_char = gh_cursor_uvarint(cur);
	params->experiment = read_slice(cur);
	params->ncpu = gh_cursor_uvarint(cur);
}

static void read_finalizer(struct gh_cursor *cur, struct gh_dump_finalizer *finalizer)
{
	finalizer->object = gh_cursor_uvarint(cur);
	finalizer->func_value = gh_cursor_uvarint(cur);
	finalizer->entry = gh_cursor_uvarint(cur);
	finalizer->argument_type = gh_cursor_uvarint(cur);
	finalizer->object_type = gh_cursor_uvarint(cur);
}

static void read_itab(struct gh_cursor *cur, enum gh_dump_format format, struct gh_dump_itab *itab)
{
	*itab = (struct gh_dump_itab){.address = gh_cursor_uvarint(cur)};
	if (format <= GH_DUMP_1_3)
		itab->indirect = read_bool(cur);
	else
		itab->type = gh_cursor_uvarint(cur);
}

static void read_thread(struct gh_cursor *cur, struct gh_dump_thread *thread)
{
	thread->m = gh_cursor_uvarint(cur);
	thread->id = gh_cursor_uvarint(cur);
	thread->os_id = gh_cursor_uvarint(cur);
}

static void read_memstats(struct gh_cursor *cur, struct gh_dump_memstats *stats)
{
	for (unsigned i = 0; i < GH_DUMP_COUNTERS; i++)
		stats->counters[i] = gh_cursor_uvarint(cur);
	for (unsigned i = 0; i < GH_DUMP_PAUSES; i++)
		stats->pauses[i] = gh_cursor_uvarint(cur);
	stats->ngc = gh_cursor_uvarint(cur);
}

static void read_segment(struct gh_cursor *cur, struct gh_dump_segment *segment)
{
	segment->address = gh_cursor_uvarint(cur);
	segment->contents = read_slice(cur);
	segment->fields = fields_here(cur);
}

static void read_defer(struct gh_cursor *cur, struct gh_dump_defer *defer)
{
	defer->record = gh_cursor_uvarint(cur);
	defer->goroutine = gh_cursor_uvarint(cur);
	defer->argp = gh_cursor_uvarint(cur);
	defer->pc = gh_cursor_uvarint(cur);
	defer->func_value = gh_cursor_uvarint(cur);
	defer->entry = gh_cursor_uvarint(cur);
	defer->next = gh_cursor_uvarint(cur);
}

static void read_panic(struct gh_cursor *cur, struct gh_dump_panic *panic)
{
	panic->record = gh_cursor_uvarint(cur);
	panic->goroutine = gh_cursor_uvarint(cur);
	panic->argument_type = gh_cursor_uvarint(cur);
	panic->argument_data = gh_cursor_uvarint(cur);
	panic->defer = gh_cursor_uvarint(cur);
	panic->next = gh_cursor_uvarint(cur);
}

bool gh_profile_next(struct gh_cursor *cur, struct gh_profile_frame *frame)
{
	frame->function = read_slice(cur);
	frame->file = read_slice(cur);
	frame->line = gh_cursor_uvarint(cur);
	return !cur->failed;
}

static void read_profile(struct gh_cursor *cur, struct gh_dump_profile *profile)
{
	profile->id = gh_cursor_uvarint(cur);
	profile->size = gh_cursor_uvarint(cur);
	profile->nframes = gh_cursor_uvarint(cur);
	profile->frames = gh_cursor_offset(cur);
	struct gh_profile_frame frame;
	for (uint64_t i = 0; i < profile->nframes && gh_profile_next(cur, &frame); i++)
		;
	profile->allocations = gh_cursor_uvarint(cur);
	profile->frees = gh_cursor_uvarint(cur);
}

static void read_sample(struct gh_cursor *cur, struct gh_dump_sample *sample)
{
	sample->object = gh_cursor_uvarint(cur);
	sample->profile = gh_cursor_uvarint(cur);
}

static void read_stack_root(struct gh_cursor *cur, struct gh_dump_stack_root *root)
{
	root->address = gh_cursor_uvarint(cur);
	root->pointer = gh_cursor_uvarint(cur);
	root->sp = gh_cursor_uvarint(cur);
}

static void read_data_root(struct gh_cursor *cur, struct gh_dump_data_root *root)
{
	root->address = gh_cursor_uvarint(cur);
	root->pointer = gh_cursor_uvarint(cur);
}

/* The kind of record that TAG stands for. */
static enum gh_dump_kind record_kind(enum gh_dump_format format, uint64_t tag)
{
	static const enum gh_dump_kind prototype[] = {
	    GH_DUMP_KINDS,      GH_DUMP_OBJECT,    GH_DUMP_KINDS,      GH_DUMP_EOF,
	    GH_DUMP_STACK_ROOT, GH_DUMP_DATA_ROOT, GH_DUMP_OTHER_ROOT, GH_DUMP_TYPE,
	    GH_DUMP_GOROUTINE,  GH_DUMP_FRAME,     GH_DUMP_PARAMS,     GH_DUMP_FINALIZER,
	    GH_DUMP_ITAB,
	};
	if (tag == GH_DUMP_BARE_OBJECT && format == GH_DUMP_BARE)
		return GH_DUMP_OBJECT;
	if (format != GH_DUMP_PROTOTYPE)
		return tag < GH_DUMP_TAGS ? (enum gh_dump_kind)tag : GH_DUMP_KINDS;
	return tag < sizeof(prototype) / sizeof(prototype[0]) ? prototype[tag] : GH_DUMP_KINDS;
}

/* RECORD, which was read up to there, ends with a fieldlist that ends itself. */
static bool ends_with_fields(enum gh_dump_format format, const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_OBJECT:
		return format >= GH_DUMP_1_4;
	case GH_DUMP_TYPE:
		return format == GH_DUMP_1_3;
	case GH_DUMP_FRAME:
		return format != GH_DUMP_PROTOTYPE;
	case GH_DUMP_DATA:
	case GH_DUMP_BSS:
		return true;
	default:
		return false;
	}
}

bool gh_dump_record_read(struct gh_cursor *cur, enum gh_dump_format format,
			 struct gh_dump_record *record)
{
	if (!gh_dump_record_read_again(cur, format, record))
		return false;
	if (ends_with_fields(format, record))
		gh_fieldlist_skip(cur);
	return !cur->failed;
}

bool gh_dump_record_read_again(struct gh_cursor *cur, enum gh_dump_format format,
			       struct gh_dump_record *record)
{
	record->offset = gh_cursor_offset(cur);
	record->tag = gh_cursor_uvarint(cur);
	record->kind = cur->failed ? GH_DUMP_KINDS : record_kind(format, record->tag);
	switch (record->kind) {
	case GH_DUMP_EOF:
		break;
	case GH_DUMP_OBJECT:
		if (record->tag == GH_DUMP_BARE_OBJECT)
			read_bare_object(cur, &record->object);
		else
			read_object(cur, format, &record->object);
		break;
	case GH_DUMP_OTHER_ROOT:
		read_other_root(cur, &record->other_root);
		break;
	case GH_DUMP_TYPE:
		read_type(cur, format, &record->type);
		break;
	case GH_DUMP_GOROUTINE:
		read_goroutine(cur, format, &record->goroutine);
		break;
	case GH_DUMP_FRAME:
		read_frame(cur, format, &record->frame);
		break;
	case GH_DUMP_PARAMS:
		read_params(cur, format, &record->params);
		break;
	case GH_DUMP_FINALIZER:
	case GH_DUMP_QUEUED_FINALIZER:
		read_finalizer(cur, &record->finalizer);
		break;
	case GH_DUMP_ITAB:
		read_itab(cur, format, &record->itab);
		break;
	case GH_DUMP_THREAD:
		read_thread(cur, &record->thread);
		break;
	case GH_DUMP_MEMSTATS:
		read_memstats(cur, &record->memstats);
		break;
	case GH_DUMP_DATA:
	case GH_DUMP_BSS:
		read_segment(cur, &record->segment);
		break;
	case GH_DUMP_DEFER:
		read_defer(cur, &record->defer);
		break;
	case GH_DUMP_PANIC:
		read_panic(cur, &record->panic);
		break;
	case GH_DUMP_PROFILE:
		read_profile(cur, &record->profile);
		break;
	case GH_DUMP_SAMPLE:
		read_sample(cur, &record->sample);
		break;
	case GH_DUMP_STACK_ROOT:
		read_stack_root(cur, &record->stack_root);
		break;
	case GH_DUMP_DATA_ROOT:
		read_data_root(cur, &record->data_root);
		break;
	case GH_DUMP_KINDS:
		return false;
	}
	return !cur->failed;
}
