#include "lib/typing/typing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/typing/internal.h"
#include "lib/util/hash.h"

/* Of a class's name, in bytes. What is longer is cut off: in a page or a picture the name may be
 * told of thousands of objects. */
#define MAX_NAME 4096

/* The making of classes. */
struct classifier {
	struct gh_typing *typing;
	struct gh_infer *infer;
	struct GH_VECTOR(struct gh_class) classes; /* without names */
	struct GH_VECTOR(size_t) offsets;          /* where in the names each class's is */
	struct GH_VECTOR(uint32_t) by_shape;       /* the class of each shape */
	struct gh_numbermap by_name; /* classes of unknown types, by a hash of their names */
	struct gh_shapes shapes;
	uint32_t *known; /* by layout, for one and for many: the class; owned */
};

/* Adds CLASS, whose name has been put at NAME. Gives its number. */
static uint32_t add_class(struct classifier *classifier, struct gh_class class, size_t name)
{
	struct gh_typing *typing = classifier->typing;
	gh_buffer_u8(&typing->names, 0);
	gh_vector_push(&classifier->classes, class);
	gh_vector_push(&classifier->offsets, name);
	return typing->nclasses++;
}

/* Appends the name of layout NUMBER to the names; that of an array's elements, if it is of MANY. */
static void add_layout(struct gh_typing *typing, uint32_t number, bool many)
{
	if (many)
		gh_buffer_bytes(&typing->names, "[]", 2);
	gh_layouts_name(&typing->layouts, number, &typing->names);
}

static void add_perhaps(struct gh_typing *typing)
{
	gh_buffer_bytes(&typing->names, ", perhaps ", strlen(", perhaps "));
}

/* Appends what FINDING is called to the names. */
static void add_name(struct gh_typing *typing, struct gh_finding finding)
{
	static const char shape[] = "go.shape.struct {...}";
	size_t name = typing->names.size;
	uint32_t shaped = gh_layouts_shaped(&typing->layouts, finding.layout);
	if (shaped != GH_NO_LAYOUT) {
		gh_buffer_bytes(&typing->names, "[]", finding.many ? 2 : 0);
		gh_buffer_bytes(&typing->names, shape, strlen(shape));
		add_perhaps(typing);
	}
	add_layout(typing, shaped != GH_NO_LAYOUT ? shaped : finding.layout, finding.many);
	/* The array of a slice is called like its type. */
	if (!finding.many && gh_layout(&typing->layouts, finding.layout)->kind == GH_LAYOUT_SLICE)
		gh_buffer_bytes(&typing->names, " header", strlen(" header"));
	if (typing->names.size - name > MAX_NAME) {
		typing->names.size = name + MAX_NAME;
		gh_buffer_bytes(&typing->names, "...", 3);
	}
}

static uint32_t typed_class(struct classifier *classifier, struct gh_finding finding)
{
	struct gh_typing *typing = classifier->typing;
	uint32_t *known = &classifier->known[2 * (size_t)finding.layout + finding.many];
	if (*known != GH_NOT_MAPPED)
		return *known;
	size_t name = typing->names.size;
	add_name(typing, finding);
	struct gh_class class = {.size = gh_layout(&typing->layouts, finding.layout)->size,
				 .layout = finding.layout,
				 .typed = true,
				 .array = finding.many};
	*known = add_class(classifier, class, name);
	return *known;
}

/* The class of the objects of SHAPE, which is new, as VIEW is: another shape may have the same
 * name.
 */
static uint32_t shape_class(struct classifier *classifier, uint32_t shape,
			    const struct gh_view *view)
{
	struct gh_typing *typing = classifier->typing;
	struct gh_finding guess = gh_infer_guess(classifier->infer, view);
	size_t name = typing->names.size;
	gh_shapes_name(&classifier->shapes, typing->heap->dump, shape, &typing->names);
	if (guess.layout != GH_INFER_NONE) {
		add_perhaps(typing);
		add_name(typing, guess);
	}
	if (typing->names.failed)
		return GH_NOT_MAPPED;
	uint64_t key =
	    gh_hash_bytes(GH_HASH_START, typing->names.data + name, typing->names.size - name);
	uint32_t known = gh_numbermap_get(&classifier->by_name, key);
	if (known != GH_NOT_MAPPED) {
		typing->names.size = name;
		return known;
	}
	bool perhaps = guess.layout != GH_INFER_NONE;
	struct gh_class class = {.size = view->size,
				 .layout = perhaps ? guess.layout : GH_NO_LAYOUT,
				 .perhaps = perhaps,
				 .array = perhaps && guess.many};
	uint32_t number = add_class(classifier, class, name);
	return gh_numbermap_put(&classifier->by_name, key, number) ? number : GH_NOT_MAPPED;
}

static uint32_t untyped_class(struct classifier *classifier, uint32_t object)
{
	struct gh_view view;
	gh_infer_view(classifier->infer, object, &view);
	size_t before = classifier->shapes.items.count;
	uint32_t shape =
	    gh_shapes_of(&classifier->shapes, classifier->typing->heap->dump, &view.record.object);
	if (shape == GH_NOT_MAPPED)
		return GH_NOT_MAPPED;
	if (shape == before)
		gh_vector_push(&classifier->by_shape, shape_class(classifier, shape, &view));
	if (classifier->by_shape.failed)
		return GH_NOT_MAPPED;
	return classifier->by_shape.items[shape];
}

/* Gives each object its class. False if memory ran out. */
static bool classify(struct classifier *classifier)
{
	struct gh_typing *typing = classifier->typing;
	for (uint32_t i = 0; i < typing->heap->count; i++) {
		struct gh_finding finding = classifier->infer->findings[i];
		uint64_t size = gh_heap_object(typing->heap, i).size;
		gh_heap_passed(typing->heap, i);
		bool typed = finding.layout != GH_INFER_NONE;
		uint32_t number =
		    typed ? typed_class(classifier, finding) : untyped_class(classifier, i);
		if (number == GH_NOT_MAPPED || classifier->classes.failed ||
		    classifier->offsets.failed || typing->names.failed)
			return false;
		typing->numbers[i] = number;
		typing->bytes += size;
		typing->typed_objects += typed;
		typing->typed_bytes += typed ? size : 0;
		bool perhaps = classifier->classes.items[number].perhaps;
		typing->perhaps_objects += perhaps;
		typing->perhaps_bytes += perhaps ? size : 0;
	}
	return true;
}

/* Hands the classes over, now that their names stay where they are. */
static void take_classes(struct classifier *classifier)
{
	struct gh_typing *typing = classifier->typing;
	const size_t *offsets = classifier->offsets.items;
	typing->classes = classifier->classes.items;
	for (uint32_t i = 0; i < typing->nclasses; i++)
		typing->classes[i].name = (const char *)typing->names.data + offsets[i];
	classifier->classes.items = NULL;
}

static bool make_classes(struct gh_typing *typing, struct gh_infer *infer)
{
	struct classifier classifier = {.typing = typing, .infer = infer};
	size_t nknown = 2 * (size_t)typing->layouts.count;
	typing->numbers = malloc(((size_t)typing->heap->count + 1) * sizeof(*typing->numbers));
	classifier.known = malloc((nknown + 1) * sizeof(*classifier.known));
	bool made = typing->numbers != NULL && classifier.known != NULL;
	for (size_t i = 0; made && i < nknown; i++)
		classifier.known[i] = GH_NOT_MAPPED;
	made = made && gh_infer_guess_start(infer) && classify(&classifier);
	if (made)
		take_classes(&classifier);
	gh_vector_free(&classifier.classes);
	gh_vector_free(&classifier.offsets);
	gh_vector_free(&classifier.by_shape);
	gh_numbermap_free(&classifier.by_name);
	gh_shapes_free(&classifier.shapes);
	free(classifier.known);
	return made;
}

static bool find_types(struct gh_typing *typing, struct gh_infer *infer, struct gh_error *err)
{
	if (!gh_infer_read_code(infer, err))
		return false;
	gh_infer_seed_exact(infer);
	gh_infer_seed_records(infer);
	gh_infer_seed_variables(infer, &typing->variables);
	gh_infer_seed_segments(infer);
	if (typing->variables.globals.count == 0) {
		gh_infer_seed_code(infer);
		gh_infer_seed_frames(infer);
	}
	gh_infer_propagate(infer);
	gh_infer_seed_objects(infer);
	gh_infer_propagate(infer);
	typing->conflicts = infer->conflicts;
	return !infer->failed && !infer->objects.failed && !infer->stretches.failed &&
	       gh_statics_make(&typing->statics, &infer->statics, typing->heap);
}

/* Finds the variables of the program before it was stripped, if that is given. */
static bool find_variables(struct gh_typing *typing, const struct gh_typing_program *program,
			   struct gh_error *err)
{
	struct gh_pcs pcs = {0};
	if (program->twin == NULL)
		return true;
	gh_infer_seed_pcs(typing->heap, program->own.tab, typing->bias, &pcs);
	bool found = gh_variables_find(&typing->variables, &typing->layouts, program->twin,
				       pcs.items, pcs.count, err);
	gh_vector_free(&pcs);
	return found;
}

static bool no_memory(const struct gh_heap *heap, struct gh_error *err)
{
	return gh_fail_memory(err, heap->dump->path);
}

static bool build(struct gh_typing *typing, struct gh_infer *infer,
		  const struct gh_typing_program *program, struct gh_error *err)
{
	const struct gh_heap *heap = typing->heap;
	bool known = program->own.tab != NULL;
	if (known && !gh_rtypes_find_all(&typing->types, &program->own, program->others,
					 program->nothers, err))
		return false;
	if (!gh_layouts_make(&typing->layouts, known ? &typing->types : NULL, heap->dump->word))
		return no_memory(heap, err);
	if (known && !find_variables(typing, program, err))
		return false;
	if (gh_infer_make(infer, heap, &typing->layouts, program->own.tab, program->own.bias) &&
	    find_types(typing, infer, err) && make_classes(typing, infer) &&
	    !typing->layouts.items.failed && !typing->layouts.fields.failed &&
	    !typing->layouts.links.failed)
		return true;
	return no_memory(heap, err);
}

bool gh_typing_build(struct gh_typing *typing, const struct gh_heap *heap,
		     const struct gh_typing_program *program, struct gh_error *err)
{
	struct gh_infer infer = {0};
	*typing = (struct gh_typing){.heap = heap, .bias = program->own.bias};
	bool built = build(typing, &infer, program, err);
	gh_infer_free(&infer);
	if (!built)
		gh_typing_free(typing);
	return built;
}

void gh_typing_free(struct gh_typing *typing)
{
	gh_rtypes_free(&typing->types);
	gh_layouts_free(&typing->layouts);
	gh_variables_free(&typing->variables);
	gh_statics_free(&typing->statics);
	gh_buffer_free(&typing->names);
	free(typing->numbers);
	free(typing->classes);
	*typing = (struct gh_typing){0};
}

uint32_t gh_typing_of(const struct gh_typing *typing, uint32_t object)
{
	return typing->numbers[object];
}

const struct gh_class *gh_typing_class(const struct gh_typing *typing, uint32_t number)
{
	return &typing->classes[number];
}

const struct gh_rtype *gh_typing_described(const struct gh_typing *typing, uint32_t number)
{
	uint32_t layout = typing->classes[number].layout;
	uint32_t shaped =
	    layout != GH_NO_LAYOUT ? gh_layouts_shaped(&typing->layouts, layout) : GH_NO_LAYOUT;
	if (shaped != GH_NO_LAYOUT)
		layout = shaped;
	return layout < typing->types.count ? &typing->types.items[layout] : NULL;
}

uint64_t gh_typing_value(const struct gh_typing *typing, uint32_t object)
{
	struct gh_infer infer = {.heap = typing->heap,
				 .allocator = gh_allocator_of(typing->heap->dump, NULL)};
	struct gh_view view;
	gh_infer_view(&infer, object, &view);
	return view.address;
}

/* Appends "[3].name" for what is OFFSET bytes into values of LAYOUT, if there are MANY. */
static void add_part(const struct gh_typing *typing, uint32_t layout, bool many, uint64_t offset,
		     struct gh_buffer *out)
{
	uint64_t size = gh_layout(&typing->layouts, layout)->size;
	char index[32];
	if (many) {
		int length = snprintf(index, sizeof(index), "[%" PRIu64 "]", offset / size);
		gh_buffer_bytes(out, index, (size_t)length);
	}
	gh_layouts_part_name(&typing->layouts, layout, many ? offset % size : offset, out);
}

bool gh_typing_field(const struct gh_typing *typing, uint32_t object, uint64_t offset,
		     struct gh_buffer *out)
{
	const struct gh_class *class = &typing->classes[typing->numbers[object]];
	struct gh_buffer name = {0};
	uint64_t header =
	    gh_typing_value(typing, object) - gh_heap_object(typing->heap, object).address;
	if (!class->typed || class->size == 0 || offset < header)
		return false;
	add_part(typing, class->layout, class->array, offset - header, &name);
	bool known = name.size > 0 && !name.failed;
	size_t dot = known && name.data[0] == '.';
	if (known)
		gh_buffer_bytes(out, name.data + dot, name.size - dot);
	out->failed |= name.failed;
	gh_buffer_free(&name);
	return known;
}

uint32_t gh_typing_parts(const struct gh_typing *typing, uint32_t number, uint64_t offset,
			 struct gh_parts *parts)
{
	static const struct gh_rtype_text any_element = {"[]", 2};
	const struct gh_class *class = &typing->classes[number];
	if (!class->typed || class->size == 0)
		return GH_NO_LAYOUT;
	if (!class->array)
		return gh_layouts_parts(&typing->layouts, class->layout, offset, parts);
	if (!gh_layout(&typing->layouts, class->layout)->of_runtime)
		gh_vector_push(parts, (struct gh_part){any_element, class->layout});
	return gh_layouts_parts(&typing->layouts, class->layout, offset % class->size, parts);
}

const struct gh_variable *gh_typing_variable(const struct gh_typing *typing,
					     const struct gh_root *root, uint64_t *offset)
{
	return gh_infer_seed_variable_of(&typing->variables, typing->heap->dump, typing->bias, root,
					 offset);
}

bool gh_typing_root(const struct gh_typing *typing, const struct gh_root *root,
		    struct gh_buffer *out)
{
	uint64_t offset;
	const struct gh_variable *variable = gh_typing_variable(typing, root, &offset);
	if (variable == NULL)
		return false;
	gh_buffer_bytes(out, variable->name, strlen(variable->name));
	gh_layouts_part_name(&typing->layouts, variable->layout, offset, out);
	return true;
}

/* Appends what VALUE is called, and what is at ADDRESS in it. */
static void name_static(const struct gh_typing *typing, const struct gh_static *value,
			uint64_t address, struct gh_buffer *out)
{
	bool many = value->size > gh_layout(&typing->layouts, value->layout)->size;
	if (many)
		gh_buffer_bytes(out, "[]", 2);
	gh_layouts_name(&typing->layouts, value->layout, out);
	gh_buffer_bytes(out, " (static)", strlen(" (static)"));
	add_part(typing, value->layout, many, address - value->address, out);
}

bool gh_typing_global(const struct gh_typing *typing, uint64_t address, struct gh_global *global,
		      struct gh_buffer *out)
{
	const struct gh_variable *variable =
	    gh_variables_global(&typing->variables, address - typing->bias);
	const struct gh_static *value = gh_statics_find(&typing->statics, address);
	*global = (struct gh_global){.is_variable = variable != NULL, .typed = value != NULL};
	if (variable != NULL) {
		global->start = variable->start - variable->offset + typing->bias;
		gh_buffer_bytes(out, variable->name, strlen(variable->name));
		gh_layouts_part_name(&typing->layouts, variable->layout,
				     address - typing->bias - variable->start + variable->offset,
				     out);
		return true;
	}
	if (value != NULL)
		name_static(typing, value, address, out);
	const struct gh_static_pointer *pointer =
	    gh_statics_pointer(&typing->statics, value != NULL ? value->address : address);
	global->start = value != NULL ? value->address : pointer != NULL ? pointer->value : 0;
	global->has_holder = pointer != NULL && pointer->value == global->start;
	global->holder = global->has_holder ? pointer->slot : 0;
	return value != NULL || pointer != NULL;
}
