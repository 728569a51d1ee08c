/* Findings of what may be leaking, as text for a person and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/findings/suspects.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

/* Holders that are looked for of what several hold, that are told, and objects that are gone back
 * through for them. */
#define MAX_HOLDERS  4
#define TOLD_HOLDERS 2

/* A type of fewer objects is not a part of each; an average is wrong if it is more than a part. */
enum { LEAST_UNIFORM = 16, MOST_UNEVEN = 4 };

#define MAX_OBJECTS 100000

static void print_class(FILE *out, struct gh_suspects *suspects, uint32_t class)
{
	gh_escape_print(out, gh_names_class(&suspects->query->names, class));
}

/* Prints "2,000 main.Session", "12 objects of 48 bytes, pointers at 0 16". */
static void print_objects(FILE *out, struct gh_suspects *suspects, uint64_t count, uint32_t class)
{
	bool typed = gh_typing_class(&suspects->query->names.typing, class)->typed;
	if (typed)
		gh_print_number(out, count);
	else
		gh_print_count(out, count, "object");
	fputs(typed ? " " : " of ", out);
	print_class(out, suspects, class);
}

/* Prints "1,621,168 bytes, 97.2% of the heap". */
static void print_bytes(FILE *out, const struct gh_suspects *suspects, uint64_t bytes)
{
	uint64_t whole = suspects->query->heap.bytes;
	gh_print_size(out, bytes);
	fprintf(out, ", %.1f%% of the heap%s",
		whole > 0 ? 100 * (double)bytes / (double)whole : 0.0,
		suspects->query->dump.c_memory.count > 0 ? " and C's memory" : "");
}

/* Prints the type of what the holder's root points to, if that is most of what it keeps. */
static void print_type(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_heap *heap = &suspects->query->heap;
	const struct gh_dominators *dominators = &suspects->held.dominators;
	uint32_t object = heap->roots[suspects->held.holders.items[suspect->number].root].object;
	if (dominators->retained[object] < suspect->bytes / 2 ||
	    dominators->idom[object] != gh_dominators_holder(heap, suspect->number))
		return;
	/* That tells more than where the pointers are of an object whose type is not known. */
	const struct gh_names *names = &suspects->query->names;
	const char *perhaps =
	    strstr(gh_names_class(names, gh_names_classes(names)[object]), ", perhaps ");
	fputs(" (", out);
	if (perhaps != NULL)
		gh_escape_print(out, perhaps + strlen(", "));
	else
		gh_names_print(out, names, object);
	fputs(")", out);
}

/* The search for holders of an object that several hold. */
struct back {
	struct gh_suspects *suspects;
	uint8_t *seen;                    /* by object; owned */
	struct GH_VECTOR(uint32_t) queue; /* objects */
	uint32_t found[MAX_HOLDERS];      /* holders' numbers */
	size_t nfound;
};

/* Adds the holders whose roots, of RANK, point to OBJECT. */
static void add_holders(struct back *back, uint32_t object, enum gh_root_rank rank)
{
	const struct gh_heap *heap = &back->suspects->query->heap;
	const struct gh_root *roots;
	size_t count = gh_heap_roots(heap, object, &roots);
	for (size_t i = 0; i < count && back->nfound < MAX_HOLDERS; i++) {
		uint32_t holder = back->suspects->held.of[(size_t)(roots - heap->roots) + i];
		bool known = gh_root_rank(&roots[i]) != rank;
		for (size_t j = 0; j < back->nfound; j++)
			known |= back->found[j] == holder;
		if (!known)
			back->found[back->nfound++] = holder;
	}
}

static void add_objects(struct back *back, const uint32_t *objects, size_t count)
{
	for (size_t i = 0; i < count && back->queue.count < MAX_OBJECTS; i++) {
		if (back->seen[objects[i]] == 0)
			gh_vector_push(&back->queue, objects[i]);
		back->seen[objects[i]] = 1;
	}
}

/* The holder's name is one of the runtime's. */
static bool is_of_runtime(struct gh_suspects *suspects, uint32_t holder)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out != NULL)
		gh_held_print(out, &suspects->held, &suspects->query->names, holder);
	text = gh_text_end(out, &text);
	if (text == NULL)
		gh_leave_out();
	bool of_runtime = text != NULL && (strncmp(text, "runtime.", strlen("runtime.")) == 0 ||
					   strstr(text, " of runtime.") != NULL);
	free(text);
	return of_runtime;
}

/* Goes back from OBJECT to the nearest holders by roots of RANK. */
static void go_back(struct back *back, uint32_t object, enum gh_root_rank rank)
{
	const struct gh_heap *heap = &back->suspects->query->heap;
	memset(back->seen, 0, (size_t)heap->count + 1);
	back->queue.count = 0;
	add_objects(back, &object, 1);
	for (size_t at = 0; at < back->queue.count && back->nfound < MAX_HOLDERS; at++) {
		const uint32_t *referrers;
		uint32_t next = back->queue.items[at];
		add_holders(back, next, rank);
		size_t count = gh_heap_referrers(heap, next, &referrers);
		add_objects(back, referrers, count);
	}
}

/* Prints the nearest holders of OBJECT, the program's own first. */
static void print_holders(FILE *out, struct gh_suspects *suspects, uint32_t object)
{
	const struct gh_heap *heap = &suspects->query->heap;
	struct back back = {.suspects = suspects, .seen = calloc((size_t)heap->count + 1, 1)};
	size_t told = 0;
	for (enum gh_root_rank rank = 0;
	     back.seen != NULL && back.nfound == 0 && rank < GH_RANK_CONSERVATIVE; rank++)
		go_back(&back, object, rank);
	for (unsigned of_runtime = 0; of_runtime < 2; of_runtime++)
		for (size_t i = 0; i < back.nfound && told < TOLD_HOLDERS; i++) {
			if (is_of_runtime(suspects, back.found[i]) != (of_runtime == 1))
				continue;
			fputs(told++ > 0 ? " and " : "", out);
			gh_held_print(out, &suspects->held, &suspects->query->names, back.found[i]);
		}
	fputs(told == 0 ? "several" : told == 1 ? " and others" : "", out);
	gh_vector_free(&back.queue);
	free(back.seen);
}

/* Prints how much more there is than in the older heap. */
static void print_growth(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	if (!suspect->before.known)
		return;
	uint64_t before = suspect->objects_before.value;
	fputs("; ", out);
	gh_print_size(out, suspect->bytes - suspect->before.value);
	if (suspect->most.objects > before) {
		fputs(" and ", out);
		print_objects(out, suspects, suspect->most.objects - before, suspect->most.class);
	}
	fputs(" more than before", out);
}

/* True unless most of what COUNT objects of the suspect's type keep is one large thing, of which
 * each would seem to have a part. */
static bool is_uniform(const struct gh_suspect *suspect, uint64_t count)
{
	for (size_t i = 0; i < suspect->nparts; i++) {
		const struct gh_suspect_part *part = &suspect->parts[i];
		bool is_few = part->class != suspect->most.class &&
			      part->objects < count / LEAST_UNIFORM &&
			      part->bytes > suspect->bytes / MOST_UNEVEN;
		bool has_one = count >= LEAST_UNIFORM && part->size > suspect->bytes / MOST_UNEVEN;
		if (is_few || has_one)
			return false;
	}
	return true;
}

/* Prints what is kept, and what there is most of in it. */
static void print_kept(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	print_bytes(out, suspects, suspect->bytes);
	uint64_t count = suspect->most.objects;
	if (suspect->kind == GH_SUSPECT_SHARED && suspect->most.class == suspect->number) {
		count = suspect->shared;
	} else {
		fputs(": ", out);
		print_objects(out, suspects, count, suspect->most.class);
	}
	if (count > 1 && is_uniform(suspect, count)) {
		fputs(", ", out);
		gh_print_size(out, suspect->bytes / count);
		fputs(" for each", out);
	}
	print_growth(out, suspects, suspect);
}

/* Prints how many blocks C code has lost, and SIZE; if that is NULL, how many bytes these are. */
static void print_lost(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect,
		       const char *size)
{
	gh_print_count(out, suspect->shared, "block");
	fputs(" of C memory, ", out);
	if (size != NULL)
		fputs(size, out);
	else
		print_bytes(out, suspects, suspect->bytes);
	fputs(suspect->shared > 1 ? ", are pointed to by nothing: C code has lost them"
				  : ", is pointed to by nothing: C code has lost it",
	      out);
}

static void print_sentence(FILE *out, struct gh_suspects *suspects,
			   const struct gh_suspect *suspect)
{
	switch (suspect->kind) {
	case GH_SUSPECT_HOLDER:
		gh_held_print(out, &suspects->held, &suspects->query->names, suspect->number);
		print_type(out, suspects, suspect);
		fputs(suspects->held.holders.items[suspect->number].goroutines > 1 ? " keep "
										   : " keeps ",
		      out);
		print_kept(out, suspects, suspect);
		break;
	case GH_SUSPECT_SHARED:
		print_objects(out, suspects, suspect->shared, suspect->number);
		fputs(", held by ", out);
		print_holders(out, suspects, suspect->example);
		fputs(suspect->shared > 1 ? ", keep " : ", keeps ", out);
		print_kept(out, suspects, suspect);
		break;
	case GH_SUSPECT_GARBAGE:
		fputs(suspects->hides_cleanups ? "garbage, not collected yet, or what cleanups "
						 "keep, which a process tells of "
						 "(-p) and its own dump does not: "
					       : "garbage, not collected yet: ",
		      out);
		print_bytes(out, suspects, suspect->bytes);
		fputs(": ", out);
		gh_print_count(out, suspect->most.objects, "object");
		break;
	case GH_SUSPECT_LOST:
		print_lost(out, suspects, suspect, NULL);
		break;
	case GH_SUSPECT_STRING:
		gh_print_number(out, suspect->text.copies);
		fputs(" copies of one text of ", out);
		gh_print_size(out, suspect->text.length);
		fputs(" take ", out);
		print_bytes(out, suspects, suspect->bytes);
		fputs(", more than one would", out);
		break;
	}
	fputs("\n", out);
}

static void print_parts(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	for (size_t i = 0; i < suspect->nparts; i++) {
		fputs(i == 0 ? "   made of " : "; ", out);
		gh_print_size(out, suspect->parts[i].bytes);
		fputs(" in ", out);
		print_objects(out, suspects, suspect->parts[i].objects, suspect->parts[i].class);
	}
	fputs(suspect->nparts > 0 ? "\n" : "", out);
}

/* Slices that use next to nothing of what they keep. */
static void print_slices(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_names *names = &suspects->query->names;
	struct gh_suspect_slices slices;
	if (!gh_suspect_slices_find(&slices, suspects, suspect))
		return;
	fputs("   of these slices use ", out);
	gh_print_size(out, slices.used);
	fputs(" of ", out);
	gh_print_size(out, slices.bytes);
	fputs(": ", out);
	print_class(out, suspects, gh_names_classes(names)[slices.object]);
	gh_names_print_pointer(out, names, slices.object, slices.offset);
	if (slices.count > 1) {
		fputs(", and ", out);
		gh_print_number(out, slices.count - 1);
		fputs(" more like it", out);
	}
	fputs("\n", out);
}

/* Maps that have grown and were emptied. */
static void print_maps(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	struct gh_suspect_maps maps;
	if (!gh_suspect_maps_find(&maps, suspects, suspect))
		return;
	fputs(maps.count > 1 ? "   these maps have room for " : "   the map has room for ", out);
	gh_print_number(out, maps.room);
	fputs(maps.count > 1 ? " entries and hold " : " entries and holds ", out);
	gh_print_number(out, maps.entries);
	fputs(": a map does not shrink when entries are deleted\n", out);
}

/* The command that says more. */
static void print_command(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_options *options = suspects->query->options;
	bool has_c = suspects->query->dump.c_memory.count > 0;
	const char *command = suspect->kind == GH_SUSPECT_LOST      ? "unreachable --c"
			      : suspect->kind == GH_SUSPECT_GARBAGE ? "unreachable"
			      : suspect->kind == GH_SUSPECT_STRING  ? "strings"
			      : has_c                               ? "path --c"
								    : "path";
	fputs("   ", out);
	gh_see_print(out, options, command);
	if (suspect->example != GH_HEAP_NONE && suspect->kind != GH_SUSPECT_STRING &&
	    suspect->kind != GH_SUSPECT_LOST)
		fprintf(out, " 0x%" PRIx64,
			gh_heap_object(&suspects->query->heap, suspect->example).address);
	fputs("\n", out);
}

void gh_suspect_print(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	print_sentence(out, suspects, suspect);
	gh_suspect_print_ways(out, suspects, suspect);
	print_parts(out, suspects, suspect);
	print_slices(out, suspects, suspect);
	print_maps(out, suspects, suspect);
	print_command(out, suspects, suspect);
}

void gh_suspect_print_short(FILE *out, struct gh_suspects *suspects,
			    const struct gh_suspect *suspect)
{
	char size[GH_SIZE_TEXT];
	uint64_t whole = suspects->query->heap.bytes;
	bool shared = suspect->kind == GH_SUSPECT_SHARED;
	bool same = shared && suspect->most.class == suspect->number;
	uint64_t count = same ? suspect->shared : suspect->most.objects;
	if (suspect->kind == GH_SUSPECT_LOST) {
		print_lost(out, suspects, suspect, gh_size_text(suspect->bytes, size));
		fputs(" (most are of ", out);
		gh_print_size(out, gh_heap_object(&suspects->query->heap, suspect->example).size);
		fputs(")", out);
		return;
	}
	bool keep_all = same || suspect->most.retained >= suspect->bytes / 4 * 3;
	const char *keep = count > 1 ? " keep " : " keeps ";
	if (keep_all) {
		print_objects(out, suspects, count, suspect->most.class);
		fputs(keep, out);
	}
	fprintf(out, "%s, %.0f %% of the Go heap%s", gh_size_text(suspect->bytes, size),
		100 * (double)suspect->bytes / (double)whole,
		suspects->query->dump.c_memory.count > 0 ? " and C's memory" : "");
	if (!keep_all) {
		fputs(", of which ", out);
		print_objects(out, suspects, count, suspect->most.class);
		fprintf(out, "%s%s", keep, gh_size_text(suspect->most.retained, size));
	}
	fputs("; held by ", out);
	if (shared)
		print_holders(out, suspects, suspect->example);
	else
		gh_held_print(out, &suspects->held, &suspects->query->names, suspect->number);
}

/* A finding, as it is printed. */
struct row {
	struct gh_suspects *suspects;
	const struct gh_suspect *suspect;
	const char *kind;
	struct gh_bytes sentence;
	uint64_t bytes;
	struct gh_known before;
	const char *type;
	uint64_t objects;
	struct gh_known objects_before;
	struct gh_known example;
};

static void print_root(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	const struct gh_held *held = &row->suspects->held;
	const struct gh_heap *heap = &row->suspects->query->heap;
	if (row->suspect->kind == GH_SUSPECT_HOLDER)
		gh_names_emit_root(emit, &row->suspects->query->names,
				   &heap->roots[held->holders.items[row->suspect->number].root]);
	else
		fputs("null", emit->out);
}

static void print_part_list(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"type", GH_COL_TEXT(struct row, type)},
	    {"objects", GH_COL_NUMBER(struct row, objects)},
	    {"bytes", GH_COL_NUMBER(struct row, bytes)},
	    {0},
	};
	const struct row *row = member;
	for (size_t i = 0; i < row->suspect->nparts; i++) {
		const struct gh_suspect_part *part = &row->suspect->parts[i];
		struct row item = {
		    .type = gh_names_class(&row->suspects->query->names, part->class),
		    .objects = part->objects,
		    .bytes = part->bytes,
		};
		gh_emit_item(emit, columns, &item);
	}
}

static void emit_suspect(struct gh_emit *emit, struct gh_suspects *suspects,
			 const struct gh_suspect *suspect)
{
	static const char *const kinds[] = {
	    [GH_SUSPECT_HOLDER] = "holder",   [GH_SUSPECT_SHARED] = "shared",
	    [GH_SUSPECT_GARBAGE] = "garbage", [GH_SUSPECT_LOST] = "lost",
	    [GH_SUSPECT_STRING] = "string",
	};
	static const struct gh_column columns[] = {
	    {"kind", GH_COL_TEXT(struct row, kind)},
	    {"finding", GH_COL_BYTES(struct row, sentence)},
	    {"bytes", GH_COL_NUMBER(struct row, bytes)},
	    {"bytes_before", GH_COL_KNOWN_NUMBER(struct row, before), .optional = true},
	    {"root", GH_COL_PRINTED(print_root)},
	    {"type", GH_COL_TEXT(struct row, type)},
	    {"objects", GH_COL_NUMBER(struct row, objects)},
	    {"objects_before", GH_COL_KNOWN_NUMBER(struct row, objects_before), .optional = true},
	    {"example", GH_COL_KNOWN_ADDRESS(struct row, example), .optional = true},
	    {"parts", GH_COL_LIST(print_part_list)},
	    {0},
	};
	struct row row = {
	    .suspects = suspects,
	    .suspect = suspect,
	    .kind = kinds[suspect->kind],
	    .bytes = suspect->bytes,
	    .before = suspect->before,
	    .objects =
		suspect->kind == GH_SUSPECT_STRING ? suspect->text.copies : suspect->most.objects,
	    .objects_before = suspect->objects_before,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *sentence = open_memstream(&text, &size);
	if (sentence != NULL)
		print_sentence(sentence, suspects, suspect);
	text = gh_text_end(sentence, &text);
	if (text == NULL)
		gh_leave_out();
	row.sentence = (struct gh_bytes){text, text != NULL && size > 0 ? size - 1 : 0};
	if (suspect->nparts > 0)
		row.type = gh_names_class(&suspects->query->names, suspect->most.class);
	if (suspect->example != GH_HEAP_NONE)
		row.example = (struct gh_known){
		    gh_heap_object(&suspects->query->heap, suspect->example).address, true};
	gh_emit_row(emit, columns, &row);
	free(text);
}

void gh_suspects_emit(FILE *out, struct gh_suspects *suspects)
{
	struct gh_emit emit = gh_emit_start(out, GH_EMIT_ROWS, &suspects->query->dump, true);
	for (size_t i = 0; i < suspects->count; i++)
		emit_suspect(&emit, suspects, &suspects->found[i]);
}
