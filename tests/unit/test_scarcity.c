/* What is done where memory or room on the disk runs out, at each place in turn: it is told,
 * nothing is left behind, and whatever is done nonetheless is whole. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/debugfile/debugfile.h"
#include "lib/export/export.h"
#include "lib/profile/profile.h"
#include "tests/unit/dumpwalk.h"
#include "tests/unit/elfmaker.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/heapwalk.h"
#include "tests/unit/resources.h"
#include "tests/unit/snapshot.h"
#include "tests/unit/suites.h"

/* The dump, heap and types that all is tried with, and the file that is written. */
static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;
static struct gh_typing typing;
static char path[64];

static void open_dump(int variant)
{
	static const struct gh_typing_program program = {0};
	struct gh_error err;
	maker_everything(&maker, variant);
	heap_open(&maker, &dump, &heap);
	ck_assert_msg(gh_typing_build(&typing, &heap, &program, &err), "%s", err.text);
	strcpy(path, "/tmp/goheap-scarcity-XXXXXX");
	close(mkstemp(path));
}

static void close_dump(void)
{
	unlink(path);
	gh_typing_free(&typing);
	heap_close(&maker, &dump, &heap);
}

/* Does something that may lack memory: false, and ERR filled, if it does. */
typedef bool try_function(struct gh_error *err);

/* Has each of its allocations fail in turn, until it makes no more. CHECK is called, with memory,
 * for what is done nonetheless. At least one failure is told. */
static void check_memory(try_function *try, void (*check)(void))
{
	unsigned long told = 0;
	for (unsigned long number = 1;; number++) {
		struct gh_error err = {""};
		resources_fail_at(number);
		bool done = try(&err);
		bool all = resources_fail_no_more() < number;
		ck_assert_msg(done || strstr(err.text, "out of memory") != NULL ||
				  strstr(err.text, "Cannot allocate memory") != NULL,
			      "allocation %lu: %s", number, err.text);
		ck_assert(done || !all);
		told += !done;
		if (done)
			check();
		if (all)
			break;
	}
	ck_assert_uint_gt(told, 0);
}

static struct gh_dump again;

static bool try_dump(struct gh_error *err)
{
	return gh_dump_open_memory(&again, maker.data, maker.size, "made", err);
}

static bool try_packed_dump(struct gh_error *err)
{
	return gh_dump_open(&again, path, err);
}

static void check_dump(void)
{
	ck_assert_uint_eq(again.format, dump.format);
	for (enum gh_dump_kind kind = 0; kind < GH_DUMP_KINDS; kind++)
		ck_assert_uint_eq(gh_dump_count(&again, kind), gh_dump_count(&dump, kind));
	ck_assert_str_eq(again.warning.text, "");
	dump_walk(&again);
	gh_dump_close(&again);
}

START_TEST(a_dump_is_opened_whole_or_not_at_all)
{
	open_dump(_i);
	check_memory(try_dump, check_dump);
	gzFile out = gzopen(path, "wb");
	ck_assert_int_eq(gzwrite(out, maker.data, (unsigned)maker.size), (int)maker.size);
	ck_assert_int_eq(gzclose(out), Z_OK);
	check_memory(try_packed_dump, check_dump);
	close_dump();
}
END_TEST

static struct gh_heap built;

static bool try_heap(struct gh_error *err)
{
	return gh_heap_build(&built, &dump, err);
}

static void check_heap(void)
{
	ck_assert_uint_eq(built.count, heap.count);
	ck_assert_uint_eq(built.bytes, heap.bytes);
	ck_assert_uint_eq(built.nroots, heap.nroots);
	for (size_t i = 0; i < heap.nroots; i++) {
		ck_assert_uint_eq(built.roots[i].object, heap.roots[i].object);
		ck_assert_uint_eq(built.roots[i].kind, heap.roots[i].kind);
		ck_assert_uint_eq(built.roots[i].number, heap.roots[i].number);
		ck_assert_uint_eq(built.roots[i].offset, heap.roots[i].offset);
		ck_assert_int_eq(built.roots[i].conservative, heap.roots[i].conservative);
		ck_assert_int_eq(built.roots[i].passing, heap.roots[i].passing);
	}
	heap_walk(&built);
	gh_heap_free(&built);
}

/* Of all objects together. */
static struct gh_histogram_row row;

static bool try_dominators(struct gh_error *err)
{
	struct gh_dominators dominators;
	struct gh_dominator_tree tree;
	uint32_t *groups = calloc(heap.count + 1, sizeof(*groups));
	bool built_them = gh_dominators_build(&dominators, &heap, err);
	bool done = groups != NULL && built_them;
	if (groups == NULL)
		gh_fail_memory(err, "groups");
	if (built_them) {
		if (!gh_dominator_tree_make(&tree, &heap, &dominators))
			done = gh_fail_memory(err, "tree");
		gh_dominator_tree_free(&tree);
	}
	row = (struct gh_histogram_row){0};
	done = done && gh_histogram_make(&row, 1, &heap, groups, &dominators, err);
	if (built_them)
		gh_dominators_free(&dominators);
	free(groups);
	return done;
}

static void check_row(void)
{
	ck_assert_uint_eq(row.objects, heap.count);
	ck_assert_uint_eq(row.bytes, heap.bytes);
}

/* Objects that a path leads to by one way of finding it and not by the other. */
static unsigned differ;

static bool try_paths(struct gh_error *err)
{
	struct gh_path_tree tree;
	bool done = gh_path_tree_build(&tree, &heap, GH_PATH_NEAREST, err);
	for (uint32_t i = 0; done && i < heap.count; i++) {
		struct gh_path found;
		enum gh_path_result result = gh_path_find(&heap, i, &found, err);
		if (result == GH_PATH_FOUND)
			gh_path_free(&found);
		done = result != GH_PATH_FAILED;
		if (!done)
			break;
		differ += (result == GH_PATH_FOUND) != (tree.parents[i] != GH_HEAP_NONE);
		result = gh_path_tree_find(&tree, &heap, i, &found, err);
		if (result == GH_PATH_FOUND)
			gh_path_free(&found);
		done = result != GH_PATH_FAILED;
	}
	gh_path_tree_free(&tree);
	return done;
}

static void check_paths(void)
{
	ck_assert_uint_eq(differ, 0);
}

static bool try_strings(struct gh_error *err)
{
	struct gh_heap_strings texts = {0};
	bool done = gh_heap_strings_find(&texts, &heap, err);
	gh_vector_free(&texts);
	return done;
}

static void check_nothing(void)
{
}

START_TEST(a_heap_is_made_whole_or_not_at_all)
{
	open_dump(_i);
	check_memory(try_heap, check_heap);
	check_memory(try_dominators, check_row);
	check_memory(try_paths, check_paths);
	check_memory(try_strings, check_nothing);
	close_dump();
}
END_TEST

static bool get_stack(void *context, size_t number, struct gh_hprof_stack *stack)
{
	static struct gh_hprof_call calls[64];
	const struct gh_dump_stack *place = gh_dump_stack(&dump, number);
	(void)context;
	*stack = (struct gh_hprof_stack){.name = "goroutine", .calls = calls};
	for (; stack->ncalls < place->nframes; stack->ncalls++) {
		struct gh_dump_record record;
		size_t frame = place->first_frame + stack->ncalls;
		gh_dump_get(&dump, GH_DUMP_FRAME, frame, &record);
		struct gh_cursor name = gh_dump_bytes(&dump, record.frame.function);
		calls[stack->ncalls] = (struct gh_hprof_call){
		    .function = (const char *)name.start,
		    .length = gh_cursor_size(&name),
		    .file = "/src/main.go",
		    .frame = frame,
		};
	}
	return true;
}

static bool write_hprof(struct gh_error *err)
{
	const struct gh_hprof_stacks stacks = {get_stack, NULL};
	struct gh_hprof_damage damage;
	return gh_hprof_write(&heap, &typing, &stacks, 0, path, &damage, err);
}

static bool write_core(struct gh_error *err)
{
	size_t left_out;
	const struct gh_core_program program = {.name = "program"};
	return gh_corefile_write(&dump, &program, path, &left_out, err);
}

static bool write_symbols(struct gh_error *err)
{
	return gh_dumpsymbols_write(&dump, path, err);
}

static bool write_profile(struct gh_error *err)
{
	struct gh_allocations allocations;
	struct gh_dominators dominators = {0};
	struct gh_live_stacks live = {0};
	bool done = gh_allocations_make(&allocations, &dump, NULL, err) &&
		    gh_dominators_build(&dominators, &heap, err) &&
		    gh_live_stacks_make(&live, &allocations, &heap, &dominators, 1, err);
	struct gh_pprof pprof = {.allocations = &allocations, .rate = 1, .program_path = ""};
	done = done && gh_pprof_write(&pprof, path, err);
	pprof.live = &live;
	done = done && gh_pprof_write(&pprof, path, err);
	gh_live_stacks_free(&live);
	gh_dominators_free(&dominators);
	gh_allocations_free(&allocations);
	return done;
}

static bool write_tree(struct gh_error *err)
{
	static char first[] = "main.f", second[] = "main.g";
	static char *const frames[] = {first, second};
	static const struct gh_pprof_node nodes[] = {{0}, {0, 0, 1, 16}, {1, 1, 2, 48}};
	const struct gh_pprof_tree tree = {&dump, nodes, 3, frames, 2};
	return gh_pprof_write_tree(&tree, path, err);
}

static struct fixture program;

static bool write_debugfile(struct gh_error *err)
{
	return gh_debugfile_write(&program.tab, NULL, GH_FOR_GDB, path, err);
}

static bool write_unstripped(struct gh_error *err)
{
	return gh_debugfile_unstrip(&program.tab, GH_FOR_LLDB, path, err);
}

/* What writes a file. */
static try_function *const writers[] = {
    write_hprof, write_core,      write_symbols,    write_profile,
    write_tree,  write_debugfile, write_unstripped,
};

#define NWRITERS (int)(sizeof(writers) / sizeof(writers[0]))

/* The file as it is when nothing lacks. */
static uint8_t whole[1 << 20];
static size_t whole_size;

static size_t read_file(uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	size_t got = fread(bytes, 1, size, file);
	ck_assert_uint_lt(got, size);
	fclose(file);
	return got;
}

static void check_file(void)
{
	static uint8_t bytes[sizeof(whole)];
	ck_assert_uint_eq(read_file(bytes, sizeof(bytes)), whole_size);
	ck_assert_mem_eq(bytes, whole, whole_size);
	/* The next one is not to be taken for this one. */
	ck_assert_int_eq(truncate(path, 0), 0);
}

/* The program, in a file of its own, and what WRITE makes of it or the dump. */
static void open_writer(try_function *write, char *program_path)
{
	struct gh_error err;
	open_dump(20);
	fixture_open(&program, SYNTHETIC_1_20 * 8 + 4);
	strcpy(program_path, "/tmp/goheap-scarcity-XXXXXX");
	fixture_write(&program, program_path);
	gh_pclntab_close(&program.tab);
	gh_image_close(&program.image);
	if (!gh_image_open(&program.image, program_path, &err) ||
	    !gh_pclntab_open(&program.tab, &program.image, &err) || !write(&err))
		ck_abort_msg("%s", err.text);
	whole_size = read_file(whole, sizeof(whole));
	ck_assert_uint_gt(whole_size, 0);
}

static void close_writer(const char *program_path)
{
	unlink(program_path);
	fixture_close(&program);
	close_dump();
}

START_TEST(a_file_is_written_whole_or_memory_is_told_to_lack)
{
	char program_path[64];
	open_writer(writers[_i], program_path);
	ck_assert_int_eq(truncate(path, 0), 0);
	check_memory(writers[_i], check_file);
	close_writer(program_path);
}
END_TEST

/* A file may be of so many bytes: what was there stays. */
START_TEST(a_file_that_has_no_room_is_not_there)
{
	static const char before[] = "before";
	struct rlimit all, less;
	char program_path[64];
	open_writer(writers[_i], program_path);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
	less = all;
	size_t step = whole_size / 50 + 1;
	for (size_t size = 0; size < whole_size; size += step) {
		struct gh_error err = {""};
		FILE *file = fopen(path, "w");
		fputs(before, file);
		fclose(file);
		less.rlim_cur = size;
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &less), 0);
		bool written = writers[_i](&err);
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
		ck_assert_msg(!written, "%zu of %zu bytes", size, whole_size);
		ck_assert_ptr_nonnull(strstr(err.text, ": cannot write: File too large"));
		ck_assert_ptr_eq(strstr(err.text, path), err.text);
		uint8_t bytes[16];
		ck_assert_uint_eq(read_file(bytes, sizeof(bytes)), strlen(before));
		ck_assert_mem_eq(bytes, before, strlen(before));
	}
	signal(SIGXFSZ, SIG_DFL);
	close_writer(program_path);
}
END_TEST

static struct snapshot snapshot;

static bool try_snapshot(struct gh_error *err)
{
	snapshot.bytes = (struct gh_buffer){0};
	bool made =
	    gh_snapshot_make(&snapshot.bytes, &snapshot.process, "go1.0", &snapshot.lost, err);
	gh_process_memory_free(&snapshot.process.memory);
	snapshot.process.memory = (struct gh_process_memory){
	    .source = &snapshot.memory, .big_endian = snapshot.maker.what.big_endian};
	if (!made)
		gh_buffer_free(&snapshot.bytes);
	return made;
}

static void check_snapshot(void)
{
	struct gh_error err;
	ck_assert(gh_dump_open_memory(&snapshot.dump, snapshot.bytes.data, snapshot.bytes.size,
				      "snapshot", &err));
	ck_assert_uint_eq(snapshot.lost, 0);
	ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	for (unsigned i = 0; i < PROCESS_GOROUTINES; i++)
		snapshot_check_stack(&snapshot, i);
	gh_dump_close(&snapshot.dump);
	gh_buffer_free(&snapshot.bytes);
}

START_TEST(a_process_is_read_whole_or_not_at_all)
{
	snapshot_make(&snapshot, _i);
	snapshot.memory = process_memory(&snapshot.maker);
	check_memory(try_snapshot, check_snapshot);
	snapshot.dump = (struct gh_dump){0};
	snapshot.bytes = (struct gh_buffer){0};
	snapshot_release(&snapshot);
}
END_TEST

static bool says_all;

static bool try_image(struct gh_error *err)
{
	struct gh_image image;
	struct gh_buildinfo info;
	if (!gh_image_open(&image, path, err))
		return false;
	gh_buildinfo_read(&info, &image);
	bool done = !info.failed || gh_fail_memory(err, path);
	says_all = done && info.go_version != NULL && strcmp(info.go_version, "go1.16.3") == 0 &&
		   info.gnu_build_id != NULL && strcmp(info.gnu_build_id, "0abcdef0") == 0;
	gh_buildinfo_free(&info);
	gh_image_close(&image);
	return done;
}

static void check_image(void)
{
	ck_assert(says_all);
}

/* A program with a version and a build id. */
START_TEST(what_a_program_says_is_known_or_memory_is_told_to_lack)
{
	struct elfmaker file;
	elfmaker_make(&file, &elfmaker_machines[0]);
	strcpy((char *)file.bytes + ELFMAKER_WORDS, "\xff Go buildinf:\x08\x02");
	file.bytes[ELFMAKER_WORDS + 32] = 8;
	strcpy((char *)file.bytes + ELFMAKER_WORDS + 33, "go1.16.3");
	memcpy(file.bytes + ELFMAKER_WORDS + 0x80, "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\x0a\xbc\xde\xf0",
	       20);
	elfmaker_store(&file, 56, 2, 3); /* program headers */
	elfmaker_store(&file, ELFMAKER_SEGMENTS + 2 * 56, 4, PT_NOTE);
	elfmaker_store(&file, ELFMAKER_SEGMENTS + 2 * 56 + 8, 8, ELFMAKER_WORDS + 0x80);
	elfmaker_store(&file, ELFMAKER_SEGMENTS + 2 * 56 + 32, 8, 20);
	strcpy(path, "/tmp/goheap-scarcity-XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, file.bytes, ELFMAKER_FILE_SIZE), ELFMAKER_FILE_SIZE);
	close(fd);
	check_memory(try_image, check_image);
	unlink(path);
}
END_TEST

void scarcity_tests(TCase *tests)
{
	tcase_add_loop_test(tests, a_dump_is_opened_whole_or_not_at_all, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tests, a_heap_is_made_whole_or_not_at_all, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tests, a_file_is_written_whole_or_memory_is_told_to_lack, 0, NWRITERS);
	tcase_add_loop_test(tests, a_file_that_has_no_room_is_not_there, 0, NWRITERS);
	tcase_add_loop_test(tests, a_process_is_read_whole_or_not_at_all, 0, FIXTURE_VARIANTS);
	tcase_add_test(tests, what_a_program_says_is_known_or_memory_is_told_to_lack);
}
