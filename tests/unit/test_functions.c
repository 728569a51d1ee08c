/* What functions' names and first instructions tell. */
#include <elf.h>
#include <string.h>

#include "lib/code/code.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

START_TEST(names_and_flags_tell_where_stacks_end)
{
	enum { TOP = GH_FUNC_TOP_FRAME, MOVES = GH_FUNC_SP_WRITE };
	static const struct {
		const char *name;
		uint8_t flag;
		enum gh_stack_end with_flags; /* if functions have them */
		enum gh_stack_end without;
	} functions[] = {
	    {"main.main", 0, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"main.main", TOP, GH_STACK_ENDS, GH_STACK_ENDS},
	    {"main.main", MOVES, GH_STACK_SWITCHES, GH_STACK_SWITCHES},
	    {"main.main", TOP | MOVES, GH_STACK_ENDS, GH_STACK_ENDS},
	    {"runtime.cgocallback", MOVES, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"runtime.cgocallback.abi0", MOVES, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"runtime.sigtramp", TOP, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"runtime.sigreturn", 0, GH_STACK_SIGNAL_FRAME, GH_STACK_SIGNAL_FRAME},
	    {"runtime.sigreturn__sigaction", 0, GH_STACK_SIGNAL_FRAME, GH_STACK_SIGNAL_FRAME},
	    {"runtime.sigreturn__sigaction.abi0", 0, GH_STACK_SIGNAL_FRAME, GH_STACK_SIGNAL_FRAME},
	    {"runtime.goexit", 0, GH_STACK_GOES_ON, GH_STACK_ENDS},
	    {"runtime.mstart", 0, GH_STACK_GOES_ON, GH_STACK_ENDS},
	    {"runtime.rt0_go", 0, GH_STACK_GOES_ON, GH_STACK_ENDS},
	    {"_rt0_go", 0, GH_STACK_ENDS, GH_STACK_ENDS},
	    {"runtime.mcall", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.systemstack", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.onM", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.asmcgocall", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.asmcgocall.abi0", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.morestack", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.gogo", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.nanotime1", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.walltime1", 0, GH_STACK_GOES_ON, GH_STACK_SWITCHES},
	    {"runtime.walltime", 0, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"runtime.mcall1", 0, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"_rt0_amd64_linux", 0, GH_STACK_ENDS, GH_STACK_ENDS},
	    {"_rt0_amd64_linux.abi0", 0, GH_STACK_ENDS, GH_STACK_ENDS},
	    {"_rt0_amd64_linux_lib", 0, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	    {"_rt1_amd64_linux", 0, GH_STACK_GOES_ON, GH_STACK_GOES_ON},
	};
	for (size_t i = 0; i < COUNT(functions); i++) {
		const struct gh_func func = {.flag = functions[i].flag};
		const char *name = functions[i].name;
		ck_assert_msg(gh_stack_end(&func, name, true) == functions[i].with_flags, "%s",
			      name);
		ck_assert_msg(gh_stack_end(&func, name, false) == functions[i].without, "%s", name);
	}
}
END_TEST

START_TEST(linkers_add_the_abi_to_names)
{
	ck_assert(gh_stack_is_named("runtime.x", "runtime.x"));
	ck_assert(gh_stack_is_named("runtime.x.abi0", "runtime.x"));
	ck_assert(gh_stack_is_named("runtime.x.abiinternal", "runtime.x"));
	ck_assert(!gh_stack_is_named("runtime.x.abi1", "runtime.x"));
	ck_assert(!gh_stack_is_named("runtime.xy", "runtime.x"));
	ck_assert(!gh_stack_is_named("runtime.", "runtime.x"));
	ck_assert(!gh_stack_is_named(".abi0", ""));
}
END_TEST

/* Whether the program whose last function is called LAST has a safepoint there. */
static bool is_safepoint(const char *last)
{
	struct fixture fixture;
	struct gh_callees callees;
	fixture_open_as(&fixture,
			&(struct synthetic){.format = SYNTHETIC_1_20, .word = 8, .last = last});
	ck_assert(gh_callees_find(&callees, &fixture.tab));
	ck_assert(gh_callees_have(&callees, SYNTHETIC_TEXT));
	ck_assert(gh_callees_have(&callees, SYNTHETIC_TEXT + 0x50));
	ck_assert(!gh_callees_have(&callees, SYNTHETIC_TEXT - 1));
	ck_assert(!gh_callees_have(&callees, SYNTHETIC_TEXT + 1));
	ck_assert(!gh_callees_have(&callees, SYNTHETIC_TEXT + 0x71));
	bool have = gh_callees_have(&callees, SYNTHETIC_TEXT + 0x70);
	gh_callees_free(&callees);
	fixture_close(&fixture);
	return have;
}

/* hasStackMap in plive.go, and the calls of the compiler's operations. */
START_TEST(some_functions_of_the_runtime_are_no_safepoints)
{
	static const char *const unsafe[] = {
	    "runtime.duffcopy",       "runtime.duffzero",        "runtime.duffzero.abi0",
	    "runtime.gcWriteBarrier", "runtime.gcWriteBarrier8", "runtime.gcWriteBarrierCX",
	    "runtime.typedmemclr",    "runtime.typedmemmove",    "runtime.udiv",
	    "runtime.wbMove",         "runtime.wbZero"};
	static const char *const safe[] = {
	    "runtime.goexit", "runtime.typedmemmovex", "runtime.typedmemclrz",  "runtime.udivmod",
	    "runtime.udiva",  "main.duffcopy",         "runtime.typedslicecopy"};
	for (size_t i = 0; i < COUNT(unsafe); i++)
		ck_assert_msg(!is_safepoint(unsafe[i]), "%s", unsafe[i]);
	for (size_t i = 0; i < COUNT(safe); i++)
		ck_assert_msg(is_safepoint(safe[i]), "%s", safe[i]);
}
END_TEST

/* Before Go 1.4 it was written in C, and then comes after what goroutines begin with. */
START_TEST(goroutines_return_to_a_function_in_c)
{
	struct fixture fixture;
	if (_i >= FIXTURE_FIRST_PLAN9 && !fixture_is_plan9(_i))
		return;
	bool plan9 = _i >= FIXTURE_FIRST_PLAN9;
	for (int in_c = 0; in_c < 2; in_c++) {
		fixture_open(&fixture, _i);
		enum synthetic_format format = fixture_variant(_i).format;
		char *file = memmem(fixture.data, fixture.size, "/go/asm.s", 10);
		if (in_c && file != NULL)
			file[8] = 'c';
		bool returns = plan9 || (format == SYNTHETIC_1_2 && in_c);
		ck_assert_uint_eq(gh_goexit_after(&fixture.tab, 1),
				  returns ? SYNTHETIC_TEXT + 0x70 : 0);
		ck_assert_uint_eq(gh_goexit_after(&fixture.tab, 0), 0);
		ck_assert_uint_eq(gh_goexit_after(&fixture.tab, 2), 0);
		fixture_close(&fixture);
	}
}
END_TEST

/* Code, as LLVM's assembler has it. */
struct code {
	const char *bytes;
	size_t size;
};
#define CODE(text) text, sizeof(text) - 1

START_TEST(moves_are_told_from_other_instructions)
{
	static const struct {
		const char *goarch;
		const char *bytes;
		size_t size;
		bool moves;
	} cases[] = {
	    {"arm64", CODE("\xe0\x07\x40\xf9"), true},  /* ldr x0,[sp,#8] */
	    {"arm64", CODE("\x20\x04\x40\xf9"), false}, /* from [x1,#8] */
	    {"arm64", CODE("\xe0\x07\x00\xb9"), true},  /* str w0,[sp,#4] */
	    {"arm64", CODE("\xe0\x07\x40\xfd"), true},  /* ldr d0,[sp,#8] */
	    {"arm64", CODE("\xe0\x83\x5f\xf8"), true},  /* ldur x0,[sp,#-8] */
	    {"arm64", CODE("\xe0\x83\x1f\xf8"), true},  /* stur x0,[sp,#-8] */
	    {"arm64", CODE("\x40\x80\x1f\xf8"), false}, /* to [x2,#-8] */
	    {"arm64", CODE("\xe0\x87\x40\xf8"), false}, /* ldr x0,[sp],#8 */
	    {"arm64", CODE("\xe0\x07\x41\xa9"), true},  /* ldp x0,x1,[sp,#16] */
	    {"arm64", CODE("\x9d\xfa\x3f\xa9"), false}, /* stp x29,x30,[x20,#-8] */
	    {"arm64", CODE("\xe0\x07\xc1\xa8"), false}, /* ldp x0,x1,[sp],#16 */
	    {"arm64", CODE("\xe0\x03\x01\xaa"), true},  /* mov x0,x1 */
	    {"arm64", CODE("\xe0\x03\x01\x2a"), true},  /* mov w0,w1 */
	    {"arm64", CODE("\xe0\x07\x01\xaa"), false}, /* with a shift */
	    {"arm64", CODE("\x40\x00\x01\xaa"), false}, /* orr x0,x2,x1 */
	    {"arm64", CODE("\x02\x00\x00\x14"), true},  /* b */
	    {"arm64", CODE("\x02\x00\x00\x94"), false}, /* bl */
	    {"arm64", CODE("\x20\x00\x02\x8b"), false}, /* add */
	    {"arm64", CODE("\xc0\x03\x5f\xd6"), false}, /* ret */
	    {"arm64", CODE("\x1f\x20\x03\xd5"), false}, /* nop */
	    {"arm64", CODE("\xe0\x03\x01\xaa\xc0\x03\x5f\xd6"), false},
	    {"arm64", CODE("\xe0\x03\x01\xaa\xe0\x03\x01\xaa"), true},
	    {"arm64", CODE("\xe0\x03\x01\xaa\xc0\x03\x5f"), true}, /* and no more that is whole */
	    {"amd64", CODE("\x48\x89\xc1"), true},                 /* mov rcx,rax */
	    {"amd64", CODE("\x48\x89\xc1\x48\x89\xc1"), true},
	    {"amd64", CODE("\x48\x89\xc1\x48\x01\xc1"), false}, /* and add rcx,rax */
	    {"amd64", CODE("\x48\x89\xc1\x48"), false},         /* and one that is cut off */
	    {"386", CODE("\x89\xc1"), true},
	    {"386", CODE("\x48"), false},         /* dec eax */
	    {"riscv64", CODE("\x2e\x85"), false}, /* mv a0,a1: of this machine none is known */
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_msg(gh_code_only_moves(gh_arch_by_name(cases[i].goarch),
						 (const uint8_t *)cases[i].bytes,
						 cases[i].size) == cases[i].moves,
			      "%zu", i);
}
END_TEST

/* Opens a program of MACHINE with CODE before main.main's offset 8, where its frame of 24 bytes is
 * set up, and AFTER from there on; gives the function. */
static void open_code(struct fixture *fixture, uint16_t machine, bool big_endian,
		      const struct code *code, const char *after, size_t size, struct gh_func *func)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20,
				       .word = machine == EM_386 ? 4 : 8,
				       .big_endian = big_endian,
				       .machine = machine};
	struct gh_cursor text;
	fixture_open_as(fixture, &what);
	ck_assert(gh_image_at(&fixture->image, SYNTHETIC_TEXT, &text));
	uint8_t *place = fixture->data + text.offset + 8;
	memcpy(place - code->size, code->bytes, code->size);
	memcpy(place, after, size);
	ck_assert(gh_pclntab_func(&fixture->tab, 0, func, NULL));
	ck_assert_uint_eq(gh_prologue_end(&fixture->tab, func), SYNTHETIC_TEXT + 8);
}

START_TEST(debuggers_stop_where_room_is_made_for_the_frame)
{
	static const struct {
		uint16_t machine;
		bool big_endian;
		struct code code;
		uint64_t stop; /* from the function's start */
	} cases[] = {
	    {EM_X86_64, false, {CODE("\x48\x83\xec\x18")}, 4}, /* sub rsp,24 */
	    {EM_X86_64, false, {CODE("\x48\x83\xc4\xe8")}, 4}, /* add rsp,-24 */
	    {EM_X86_64, false, {CODE("\x48\x81\xec\x18\0\0\0")}, 1},
	    {EM_X86_64, false, {CODE("\x48\x81\xc4\xe8\xff\xff\xff")}, 1},
	    {EM_X86_64, false, {CODE("\x48\x83\xec\x19")}, 8}, /* 25 */
	    {EM_X86_64, false, {CODE("\x48\x83\xc4\x18")}, 8}, /* add rsp,24 */
	    {EM_X86_64, false, {CODE("\x48\x81\xec\x18\0\0\1")}, 8},
	    {EM_X86_64, false, {CODE("\x49\x83\xec\x18")}, 8}, /* sub r12,24 */
	    {EM_X86_64, false, {CODE("\x48\x83\xe4\x18")}, 8}, /* and rsp,24 */
	    {EM_386, false, {CODE("\x83\xec\x18")}, 5},
	    {EM_386, false, {CODE("\x81\xec\x18\0\0\0")}, 2},
	    {EM_386, false, {CODE("\x83\xed\x18")}, 8},         /* sub ebp,24 */
	    {EM_AARCH64, false, {CODE("\xfe\x0f\x1e\xf8")}, 4}, /* str x30,[sp,#-32]! */
	    {EM_PPC64, true, {CODE("\x7f\xe8\x02\xa6\xfb\xe1\xff\xe9")}, 0}, /* mflr r31 */
	    {EM_PPC64, true, {CODE("\xa6\x02\xe8\x7f\xfb\xe1\xff\xe9")}, 8},
	    {EM_PPC64, false, {CODE("\xa6\x02\xe8\x7f\xe9\xff\xe1\xfb")}, 0},
	    {EM_S390, true, {CODE("\xe3\xf0\xff\xe8\xff\x71")}, 8},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fixture fixture;
		struct gh_func func;
		open_code(&fixture, cases[i].machine, cases[i].big_endian, &cases[i].code, "", 0,
			  &func);
		ck_assert_msg(gh_prologue_stop(&fixture.tab, &func) ==
				  SYNTHETIC_TEXT + cases[i].stop,
			      "%zu", i);
		/* A function without a frame begins where it begins. */
		ck_assert(gh_pclntab_func(&fixture.tab, 2, &func, NULL));
		ck_assert_uint_eq(gh_prologue_end(&fixture.tab, &func), func.entry);
		ck_assert_uint_eq(gh_prologue_stop(&fixture.tab, &func), func.entry);
		fixture_close(&fixture);
	}
}
END_TEST

START_TEST(frame_pointers_are_saved_before_the_frame_or_in_it)
{
	static const struct {
		uint16_t machine;
		struct code before;
		struct code after;
		int32_t delta;
		uint64_t saved; /* from the function's start; 0: nowhere */
	} cases[] = {
	    /* push rbp; mov rbp,rsp */
	    {EM_X86_64, {CODE("\x55")}, {CODE("\x48\x89\xe5")}, 8, 8},
	    {EM_X86_64, {CODE("\x55")}, {CODE("\x48\x89\xe5")}, 16, 0},
	    {EM_X86_64, {CODE("\x55")}, {CODE("\x48\x89\xe6")}, 8, 0},
	    {EM_X86_64, {CODE("\x56")}, {CODE("\x48\x89\xe5")}, 8, 0},
	    /* mov [rsp+16],rbp, in a frame of 24 bytes */
	    {EM_X86_64, {CODE("")}, {CODE("\x48\x89\x6c\x24\x10")}, 24, 13},
	    {EM_X86_64, {CODE("")}, {CODE("\x48\x89\x6c\x24\x10")}, 32, 0},
	    {EM_X86_64, {CODE("")}, {CODE("\x48\x89\x64\x24\x10")}, 24, 0},
	    {EM_X86_64, {CODE("")}, {CODE("\x4c\x89\x6c\x24\x10")}, 24, 0},
	    {EM_X86_64, {CODE("")}, {CODE("\x48\x8b\x6c\x24\x10")}, 24, 0},
	    {EM_X86_64, {CODE("")}, {CODE("\x48\x89\x6b\x10")}, 24, 0},
	    /* stur x29,[sp,#-8]; and stp x29,x30,[x20,#-8] before sp is moved */
	    {EM_AARCH64, {CODE("")}, {CODE("\xfd\x83\x1f\xf8")}, 24, 12},
	    {EM_AARCH64, {CODE("\x9d\xfa\x3f\xa9\x9f\x02\0\x91")}, {CODE("")}, 24, 8},
	    {EM_AARCH64, {CODE("\x9f\x02\0\x91")}, {CODE("")}, 24, 0},
	    {EM_S390, {CODE("")}, {CODE("\xfd\x83\x1f\xf8")}, 24, 0},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fixture fixture;
		struct gh_func func;
		open_code(&fixture, cases[i].machine, cases[i].machine == EM_S390, &cases[i].before,
			  cases[i].after.bytes, cases[i].after.size, &func);
		uint64_t expected = cases[i].saved != 0 ? SYNTHETIC_TEXT + cases[i].saved : 0;
		ck_assert_msg(gh_frame_pointer_saved(&fixture.tab, &func, SYNTHETIC_TEXT + 8,
						     cases[i].delta) == expected,
			      "%zu", i);
		ck_assert_uint_eq(
		    gh_frame_pointer_saved(&fixture.tab, &func, func.entry - 1, cases[i].delta), 0);
		ck_assert_uint_eq(
		    gh_frame_pointer_saved(&fixture.tab, &func, func.end + 1, cases[i].delta), 0);
		fixture_close(&fixture);
	}
}
END_TEST

START_TEST(each_call_passes_a_probe_once)
{
	static const struct {
		uint16_t machine;
		struct code code; /* of a function without a frame */
		size_t returns;
		bool is_whole, loops, leaves;
	} cases[] = {
	    /* jl to the ret behind the next one */
	    {EM_X86_64, {CODE("\x7c\x01\xc3\xc3")}, 2, true, false, false},
	    /* jne and jmp to the function's begin */
	    {EM_X86_64, {CODE("\x90\x75\xfd\xc3")}, 1, true, true, false},
	    {EM_X86_64, {CODE("\x90\xe9\xfa\xff\xff\xff")}, 0, true, true, false},
	    /* jmp rax, as to a table's entries */
	    {EM_X86_64, {CODE("\xff\xe0\xc3")}, 1, true, false, false},
	    /* a constant that has a ret's byte in it: mov eax,0xc3c3 */
	    {EM_X86_64, {CODE("\xb8\xc3\xc3\0\0\xc3")}, 1, true, false, false},
	    {EM_X86_64, {CODE("\x06\xc3")}, 0, false, false, false}, /* push es */
	    {EM_AARCH64, {CODE("\xc0\x03\x5f\xd6\xc0\x03\x5f\xd6")}, 2, true, false, false},
	    {EM_AARCH64, {CODE("\0\0\0\xb4\xc0\x03\x5f\xd6")}, 1, true, true, false},    /* cbz */
	    {EM_AARCH64, {CODE("\0\0\x1f\xd6\xc0\x03\x5f\xd6")}, 1, true, false, false}, /* br */
	    {EM_S390, {CODE("\x07\xfe")}, 0, false, false, false},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct synthetic what = {.format = SYNTHETIC_1_20,
					       .word = 8,
					       .big_endian = cases[i].machine == EM_S390,
					       .machine = cases[i].machine};
		struct fixture fixture;
		struct gh_func func;
		struct gh_cursor text;
		struct gh_probe_places places;
		fixture_open_as(&fixture, &what);
		ck_assert(gh_pclntab_func(&fixture.tab, 2, &func, NULL));
		ck_assert(gh_image_at(&fixture.image, func.entry, &text));
		uint8_t *place = fixture.data + text.offset;
		memset(place, cases[i].machine == EM_X86_64 ? 0xcc : 0, func.end - func.entry);
		memcpy(place, cases[i].code.bytes, cases[i].code.size);
		ck_assert(gh_probe_places_find(&places, &fixture.tab, &func));
		ck_assert_uint_eq(places.entry, func.entry);
		ck_assert_int_eq(places.depth, cases[i].machine == EM_X86_64 ? 8 : 0);
		ck_assert_msg(places.returns.count == cases[i].returns &&
				  places.is_whole == cases[i].is_whole &&
				  places.loops == cases[i].loops &&
				  places.leaves == cases[i].leaves,
			      "%zu: %zu %d %d %d", i, places.returns.count, places.is_whole,
			      places.loops, places.leaves);
		gh_vector_free(&places.returns);

		/* A jump to another function. */
		if (cases[i].machine != EM_AARCH64) {
			fixture_close(&fixture);
			continue;
		}
		const uint32_t branch =
		    0x14000000 | ((uint32_t)(SYNTHETIC_TEXT - func.entry) / 4 & 0x3ffffff);
		for (unsigned j = 0; j < 4; j++)
			place[j] = (uint8_t)(branch >> 8 * j);
		ck_assert(gh_probe_places_find(&places, &fixture.tab, &func));
		ck_assert(places.leaves);
		gh_vector_free(&places.returns);
		fixture_close(&fixture);
	}
}
END_TEST

void functions_tests(TCase *tests)
{
	tcase_add_test(tests, names_and_flags_tell_where_stacks_end);
	tcase_add_test(tests, linkers_add_the_abi_to_names);
	tcase_add_test(tests, some_functions_of_the_runtime_are_no_safepoints);
	tcase_add_loop_test(tests, goroutines_return_to_a_function_in_c, 0, FIXTURE_END_PLAN9);
	tcase_add_test(tests, moves_are_told_from_other_instructions);
	tcase_add_test(tests, debuggers_stop_where_room_is_made_for_the_frame);
	tcase_add_test(tests, each_call_passes_a_probe_once);
	tcase_add_test(tests, frame_pointers_are_saved_before_the_frame_or_in_it);
}
