/* Fuzz target: the graph of a heap, and the writer of hprof files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/export/export.h"
#include "tests/fuzz/target.h"

enum {
	MAX_CALLS = 64,
	/* The file is to be within a small multiple of the dump, and what every file has. */
	BASE = 8192,
	MULTIPLE = 64,
};

static char directory[] = "/tmp/goheap-fuzz-XXXXXX";
static char path[sizeof(directory) + 8];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_directory(void)
{
	unlink(path);
	rmdir(directory);
}

static void prepare(void)
{
	require(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/hprof", directory);
	atexit(remove_directory);
}

static bool get_stack(void *context, size_t number, struct gh_hprof_stack *stack)
{
	static struct gh_hprof_call calls[MAX_CALLS];
	const struct gh_dump *dump = context;
	const struct gh_dump_stack *place = gh_dump_stack(dump, number);
	*stack = (struct gh_hprof_stack){.name = "goroutine", .calls = calls};
	for (; stack->ncalls < place->nframes && stack->ncalls < MAX_CALLS; stack->ncalls++) {
		struct gh_dump_record record;
		size_t frame = place->first_frame + stack->ncalls;
		gh_dump_get(dump, GH_DUMP_FRAME, frame, &record);
		struct gh_cursor name = gh_dump_bytes(dump, record.frame.function);
		calls[stack->ncalls] = (struct gh_hprof_call){
		    .function = (const char *)name.start,
		    .length = gh_cursor_size(&name),
		    .file = "",
		    .frame = frame,
		};
	}
	return true;
}

/* Goes over the records, of which the last is the end of the heap dump. */
static void walk(const uint8_t *data, size_t size)
{
	struct gh_cursor cur = gh_cursor_make(data, size, "hprof", 0, true);
	uint8_t tag = 0;
	gh_cursor_string(&cur);
	gh_cursor_u32(&cur);
	gh_cursor_u64(&cur);
	while (gh_cursor_left(&cur) > 0) {
		tag = gh_cursor_u8(&cur);
		gh_cursor_u32(&cur);
		gh_cursor_bytes(&cur, gh_cursor_u32(&cur));
	}
	require(!cur.failed && tag == 0x2c);
}

static void read_back(size_t most)
{
	FILE *in = fopen(path, "rbe");
	uint8_t *data = malloc(most);
	require(in != NULL && data != NULL);
	size_t size = fread(data, 1, most, in);
	require(size < most);
	walk(data, size);
	free(data);
	fclose(in);
}

static void write_hprof(struct gh_dump *dump, size_t size)
{
	struct gh_heap heap = {0};
	struct gh_error err;
	struct gh_hprof_damage damage;
	struct gh_typing typing = {0};
	const struct gh_typing_program program = {0};
	const struct gh_hprof_stacks stacks = {get_stack, dump};
	require(gh_heap_build(&heap, dump, &err));
	require(gh_typing_build(&typing, &heap, &program, &err));
	require(gh_hprof_write(&heap, &typing, &stacks, 0, path, &damage, &err));
	gh_typing_free(&typing);
	gh_heap_free(&heap);
	read_back(BASE + MULTIPLE * size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_error err;
	if (path[0] == '\0')
		prepare();
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		write_hprof(&dump, size);
		gh_dump_close(&dump);
	}
	return 0;
}
