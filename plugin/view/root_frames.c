/* What the roots of a heap are called where all that are alike are one. */
#include <inttypes.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/hash.h"
#include "plugin/view/internal.h"

/* A longer text is cut off, in bytes: it would be told of each node that has the frame. */
#define MAX_FRAME 4096

char *gh_frame_of_part(const struct gh_layouts *layouts, const struct gh_part *part)
{
	struct gh_buffer text = {0};
	gh_buffer_bytes(&text, part->name.start, part->name.length);
	gh_buffer_bytes(&text, " (", 2);
	gh_layouts_name(layouts, part->layout, &text);
	if (text.size > MAX_FRAME)
		text.size = MAX_FRAME;
	gh_buffer_bytes(&text, ")", sizeof(")"));
	if (!text.failed)
		return (char *)text.data;
	gh_buffer_free(&text);
	return NULL;
}

char *gh_frame_of_offset(uint64_t offset)
{
	char *text;
	if (offset >= GH_FRAME_OFFSETS)
		return strdup("[]");
	return asprintf(&text, "+%" PRIu64, offset) >= 0 ? text : NULL;
}

/* A text that is printed. */
struct text {
	FILE *out;
	char *bytes;
	size_t size;
};

/* Begins a text. False if memory ran out. */
static bool open_text(struct text *text, struct gh_root_frames *frames)
{
	*text = (struct text){0};
	text->out = open_memstream(&text->bytes, &text->size);
	frames->texts.failed |= text->out == NULL;
	return text->out != NULL;
}

/* Adds TEXT, which is the frames' from now on; NULL is memory that ran out. */
static void add(struct gh_root_frames *frames, char *text)
{
	if (text == NULL || !gh_vector_push(&frames->texts, text)) {
		free(text);
		frames->texts.failed = true;
	}
}

/* Adds a text that has been printed. */
static void add_text(struct gh_root_frames *frames, struct text *text)
{
	add(frames, gh_text_end(text->out, &text->bytes));
}

/* Adds the parts of a value of LAYOUT that the byte at OFFSET is in; it is the last of what is
 * known. */
static void add_parts(struct gh_root_frames *frames, const struct gh_names *names, uint32_t layout,
		      uint64_t offset)
{
	const struct gh_layouts *layouts = &names->typing.layouts;
	struct gh_parts parts = {0};
	frames->layout = gh_layouts_parts(layouts, layout, offset, &parts);
	for (size_t i = 0; i < parts.count; i++)
		add(frames, gh_frame_of_part(layouts, &parts.items[i]));
	frames->texts.failed |= parts.failed;
	gh_vector_free(&parts);
}

/* Adds what is at OFFSET in the value that the linker put at ADDRESS, which the frames lead to. */
static void add_static(struct gh_root_frames *frames, const struct gh_names *names,
		       uint64_t address, uint64_t offset)
{
	const struct gh_static *value = gh_statics_find(&names->typing.statics, address);
	if (value == NULL) {
		frames->layout = GH_NO_LAYOUT;
		add(frames, strdup("(static)"));
		add(frames, gh_frame_of_offset(offset));
		return;
	}
	if (frames->layout == GH_NO_LAYOUT) {
		struct gh_buffer text = {0};
		gh_layouts_name(&names->typing.layouts, value->layout, &text);
		gh_buffer_bytes(&text, " (static)", sizeof(" (static)"));
		add(frames, text.failed ? NULL : (char *)text.data);
	}
	uint64_t size = gh_layout(&names->typing.layouts, value->layout)->size;
	if (size > 0 && value->size > size)
		add(frames, strdup("[]"));
	add_parts(frames, names, value->layout, size > 0 ? offset % size : offset);
}

/* Adds the word of a segment that is at ADDRESS. */
static void add_global(struct gh_root_frames *frames, struct gh_names *names, const char *segment,
		       uint64_t address)
{
	struct gh_global_way way;
	struct text text;
	gh_globals_find(&names->globals, address, &way);
	const struct gh_variable *variable =
	    way.variable.size > 0 ? gh_variables_global(&names->typing.variables,
							way.start + way.offset - names->typing.bias)
				  : NULL;
	if (variable != NULL) {
		add(frames, strdup(variable->name));
		add_parts(frames, names, variable->layout, way.offset);
	} else if (open_text(&text, frames)) {
		if (!gh_globals_print_first(text.out, &names->globals, &way))
			fprintf(text.out, "%s 0x%" PRIx64, segment, way.start);
		add_text(frames, &text);
		if (way.offset > 0)
			add(frames, gh_frame_of_offset(way.offset));
	}
	for (size_t i = 0; i < way.nstatics; i++)
		add_static(frames, names, way.statics[i].address, way.statics[i].offset);
	gh_globals_free_way(&way);
}

static const char *perhaps(const struct gh_root *root)
{
	return root->conservative ? ", perhaps" : "";
}

/* Prints the function that VARIABLE is of: an argument's is in its caller's frame. */
static void print_function_of(FILE *out, const struct gh_names *names,
			      const struct gh_variable *variable, const struct gh_dump_frame *frame)
{
	struct gh_symbols *symbols = names->symbols;
	const struct gh_place *place = variable != NULL && symbols != NULL
					   ? gh_symbols_find(symbols, variable->pc + symbols->bias)
					   : NULL;
	if (place != NULL)
		gh_escape_print(out, gh_pclntab_name(place->module.tab, place->func.name));
	else
		gh_print_slice(out, names->heap->dump, frame->function, false);
}

/* Adds the slot of a frame, as the variable of the function: "main.handle.r". */
static void add_slot(struct gh_root_frames *frames, struct gh_names *names,
		     const struct gh_root *root, const struct gh_dump_record *record)
{
	struct text text;
	uint64_t offset = 0;
	const struct gh_variable *variable = record->kind == GH_DUMP_FRAME
						 ? gh_typing_variable(&names->typing, root, &offset)
						 : NULL;
	if (!open_text(&text, frames))
		return;
	if (record->kind == GH_DUMP_FRAME)
		print_function_of(text.out, names, variable, &record->frame);
	else
		fputs("a stack", text.out);
	if (variable != NULL) {
		fputc('.', text.out);
		gh_escape_print(text.out, variable->name);
	} else if (record->kind == GH_DUMP_FRAME) {
		fprintf(text.out, ", sp_0x%" PRIx64, root->offset);
	}
	fputs(perhaps(root), text.out);
	add_text(frames, &text);
	if (variable != NULL)
		add_parts(frames, names, variable->layout, offset);
}

static void add_finalizer(struct gh_root_frames *frames, struct gh_names *names,
			  const struct gh_root *root, const struct gh_dump_finalizer *finalizer)
{
	struct text text;
	bool registered = root->kind == GH_ROOT_FINALIZER;
	if (!open_text(&text, frames))
		return;
	fprintf(text.out, "%sfinalizer ", registered ? "" : "queued ");
	gh_names_print_function(text.out, names, finalizer->entry);
	fputs(root->offset == GH_ROOT_CLOSURE ? ", its closure" : "", text.out);
	add_text(frames, &text);
	uint32_t object = gh_heap_find(names->heap, finalizer->object);
	if (!registered || root->offset == GH_ROOT_CLOSURE || object == GH_HEAP_NONE)
		return;
	const struct gh_class *class =
	    gh_typing_class(&names->typing, gh_typing_of(&names->typing, object));
	if (class->typed)
		add_parts(frames, names, class->layout, root->offset);
}

/* Adds what is called the same of all goroutines. */
static void add_fixed(struct gh_root_frames *frames, const struct gh_root *root, const char *name)
{
	char *text;
	add(frames, asprintf(&text, "%s%s", name, perhaps(root)) >= 0 ? text : NULL);
}

static void add_other(struct gh_root_frames *frames, struct gh_names *names,
		      const struct gh_root *root, const struct gh_dump_record *record)
{
	struct text text;
	if (!open_text(&text, frames))
		return;
	if (root->kind == GH_ROOT_CLEANUP_CLOSURE) {
		fputs("cleanup ", text.out);
		gh_names_print_function(text.out, names, gh_names_cleanup(names, root));
		fputs(perhaps(root), text.out);
	} else {
		fputs("root: ", text.out);
		gh_print_slice(text.out, names->heap->dump, record->other_root.description, false);
	}
	add_text(frames, &text);
}

void gh_root_frames_find(struct gh_root_frames *frames, struct gh_names *names,
			 const struct gh_root *root)
{
	const struct gh_dump *dump = names->heap->dump;
	struct gh_dump_record record;
	*frames = (struct gh_root_frames){.layout = GH_NO_LAYOUT};
	gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, &record);
	switch (root->kind) {
	case GH_ROOT_DATA:
	case GH_ROOT_BSS:
		add_global(frames, names, root->kind == GH_ROOT_DATA ? "data" : "bss",
			   record.kind == GH_DUMP_DATA_ROOT
			       ? record.data_root.address
			       : record.segment.address + root->offset);
		break;
	case GH_ROOT_FRAME:
		add_slot(frames, names, root, &record);
		break;
	case GH_ROOT_GOROUTINE:
		add_fixed(frames, root,
			  root->offset == GH_ROOT_TOP_DEFER   ? "a goroutine's deferred call"
			  : root->offset == GH_ROOT_TOP_PANIC ? "a goroutine's panic"
							      : "a goroutine's context");
		break;
	case GH_ROOT_DEFER:
		add_fixed(frames, root, "a deferred call's closure");
		break;
	case GH_ROOT_PANIC:
		add_fixed(frames, root, "a panic's argument");
		break;
	case GH_ROOT_FINALIZER:
	case GH_ROOT_QUEUED_FINALIZER:
		add_finalizer(frames, names, root, &record.finalizer);
		break;
	case GH_ROOT_CLEANUP_CLOSURE:
	case GH_ROOT_OTHER:
	case GH_ROOT_KINDS:
		add_other(frames, names, root, &record);
	}
}

uint64_t gh_root_frames_key(const struct gh_names *names, const struct gh_root *root)
{
	const struct gh_dump *dump = names->heap->dump;
	struct gh_dump_record record;
	if (root->kind != GH_ROOT_FRAME || gh_root_record(dump, root->kind) != GH_DUMP_FRAME)
		return 0;
	/* An argument is known by the function that was called (gh_infer_seed_variable_of). */
	uint64_t called = 0;
	if (root->number > 0) {
		gh_dump_get(dump, GH_DUMP_FRAME, root->number - 1, &record);
		called = record.frame.pc;
	}
	gh_dump_get(dump, GH_DUMP_FRAME, root->number, &record);
	const uint64_t parts[] = {record.frame.pc, record.frame.size, called, root->offset,
				  root->conservative};
	return gh_hash_bytes(GH_HASH_START, parts, sizeof(parts));
}
