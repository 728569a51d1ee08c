/* The suites of the unit tests, in the order in which they run; test_NAME.c has the tests of each.
 */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include <check.h>

/* clang-format off */
#define SUITES(X) \
	X(cursor) X(blake2b) X(bsearch) X(buffer) X(error) X(func_name) X(hash) X(intern) \
	X(numbermap) X(open_file) X(output) X(output_directory) X(parallel) X(pattern) X(vector) \
	X(escape) X(image) X(buildinfo) X(loaded) X(relocate) X(dynamic) X(eh_frame) X(core) X(debug_section) \
	X(pcvalue) X(pclntab) X(plan9) X(damage) X(debugfile) X(debug_types) X(own_symbols) \
	X(own_types) X(rtype) X(runtime_structs) X(signature) X(inline) X(core_notes) X(dump) \
	X(dump_damage) X(graph) X(dump_files) X(dump_gzip) X(heap) X(heap_strings) X(heapscan) \
	X(piped_text) X(pprof) X(call_site) X(slots) X(functions) X(arguments) X(spills) X(stack) \
	X(stackmap) X(x86_decode) X(known_values) X(known_calls) X(layouts) X(sizeclass) X(links) \
	X(typing) X(traceback) X(frames) X(value) X(value_known) X(value_map) X(value_nested) \
	X(value_net) X(value_part) X(words) X(cache) X(view) X(emit) X(profile_text) X(dot) \
	X(goroutine_list) X(root_names) X(holders) X(print_answers) X(web) X(web_request) \
	X(web_running) X(process) X(g_layout) X(goroutine_scan) X(panic) X(mappings) \
	X(first_words) X(free_memory) X(collections) X(waits) X(sync_waits) X(leaked) X(modules) X(span_pointers) X(arenas) \
	X(closure) X(pool_lists) X(core_symbols) X(scarcity)
/* clang-format on */

#define DECLARE(name) void name##_tests(TCase *tests);
SUITES(DECLARE)
#undef DECLARE

#endif
