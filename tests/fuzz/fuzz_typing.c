/* Fuzz target: the types of a heap's objects and the merged ways that hold them, with a program
 * that has descriptors. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/view/paths.h"
#include "tests/fuzz/target.h"
#include "tests/unit/typemaker.h"

static struct gh_symbols symbols;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void close_program(void)
{
	gh_symbols_close(&symbols);
}

/* Opens the program from a file, as that of a dump without frames: damaged ones may have any. */
static void open_program(void)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8};
	const struct gh_dump dump = {.word = 8};
	size_t size;
	char path[32];
	uint8_t *data = typemaker_make(&what, &size, NULL);
	int fd = memfd_create("program", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	free(data);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	require(gh_symbols_open(&symbols, &dump, path));
	close(fd);
	atexit(close_program);
}

/* Asks for all names of the fields that are pointers in OBJECT. */
static void name_fields(const struct gh_typing *typing, uint32_t object)
{
	struct gh_buffer name = {0};
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(typing->heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		name.size = 0;
		require(gh_typing_field(typing, object, pointer.offset, &name) == (name.size > 0));
	}
	gh_buffer_free(&name);
}

/* Asks for what has the words of the segments that are roots. */
static void name_globals(const struct gh_typing *typing)
{
	struct gh_buffer name = {0};
	struct gh_global global;
	for (size_t i = 0; i < typing->statics.pointers.count; i++) {
		uint64_t value = typing->statics.pointers.items[i].value;
		name.size = 0;
		require(gh_typing_global(typing, value, &global, &name));
		require(global.start <= value && (!global.has_holder || global.holder != 0));
	}
	gh_buffer_free(&name);
}

/* Each object is in one node of the ways, which are all there are. */
static void look_at_ways(struct gh_names *names)
{
	struct gh_merged_paths paths;
	struct gh_error err;
	uint64_t objects = 0;
	require(gh_merged_paths_make(&paths, names, &err));
	for (uint32_t i = 0; i < names->heap->count; i++)
		require(paths.of[i] < paths.nodes.count);
	for (size_t i = 0; i < paths.nodes.count; i++) {
		require(i == 0 || paths.nodes.items[i].parent < i);
		objects += paths.nodes.items[i].objects;
	}
	require(objects == names->heap->count);
	gh_merged_paths_free(&paths);
}

static void look_at_heap(const struct gh_dump *dump)
{
	struct gh_heap heap;
	struct gh_names names = {.symbols = dump->word == 8 ? &symbols : NULL};
	const struct gh_typing *typing = &names.typing;
	struct gh_error err;
	uint64_t typed = 0;
	require(gh_heap_build(&heap, dump, &err));
	require(gh_names_make(&names, &heap, NULL, &err));
	for (uint32_t i = 0; i < heap.count; i++) {
		uint32_t number = gh_typing_of(typing, i);
		require(number < typing->nclasses);
		typed += gh_typing_class(typing, number)->typed;
		name_fields(typing, i);
	}
	name_globals(typing);
	require(typed == typing->typed_objects &&
		typing->typed_bytes + typing->perhaps_bytes <= typing->bytes);
	look_at_ways(&names);
	gh_names_free(&names);
	gh_heap_free(&heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_error err;
	if (symbols.cache == NULL)
		open_program();
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		look_at_heap(&dump);
		gh_dump_close(&dump);
	}
	return 0;
}
