/* Where calls are, and where control goes, by the instructions of each machine. */
#include "lib/code/internal.h"
#include "tests/unit/suites.h"

/* Whether the first call in CODE, at ADDRESS, ends at END and leads to TARGET, 0 for none. */
static bool calls_at(const char *goarch, const char *code, size_t size, uint64_t address,
		     size_t end, uint64_t target)
{
	struct gh_callsites walk;
	struct gh_callsite site;
	gh_callsites_start(&walk, gh_arch_by_name(goarch), (const uint8_t *)code, size, address);
	return gh_callsites_next(&walk, &site) && gh_callsites_check(&walk, &site, 0) &&
	       site.end == end && site.direct == (target != 0) && site.target == target;
}
#define CALLS(goarch, code, end, target)                                                           \
	calls_at(goarch, code, sizeof(code) - 1, 0x10000, end, target)

START_TEST(calls_of_each_machine)
{
	ck_assert(CALLS("amd64", "\x90\xe8\x0a\x00\x00\x00", 6, 0x10010));
	ck_assert(CALLS("amd64", "\x48\x89\xc8\xff\xd1", 5, 0));             /* CALL RCX */
	ck_assert(CALLS("amd64", "\x41\xff\xd0", 3, 0));                     /* CALL R8 */
	ck_assert(CALLS("amd64", "\xff\x94\x24\x01\x02\x03\x04\x90", 7, 0)); /* through memory */
	ck_assert(CALLS("386", "\xe8\xfb\xff\xff\xff", 5, 0x10000));
	ck_assert(CALLS("386", "\x40\xff\xd1", 3, 0));
	ck_assert(CALLS("arm64", "\xff\xff\xff\x97", 4, 0xfffc));
	ck_assert(CALLS("arm64", "\x1f\x20\x03\xd5\x20\x00\x3f\xd6", 8, 0));
	ck_assert(CALLS("arm", "\xfe\xff\xff\xeb", 4, 0x10000));
	ck_assert(CALLS("arm", "\x32\xff\x2f\xe1", 4, 0));
	ck_assert(CALLS("loong64", "\x00\x10\x00\x54", 4, 0x10010));
	ck_assert(CALLS("loong64", "\x81\x00\x00\x4c", 4, 0));
	ck_assert(CALLS("mips64", "\x0c\x00\x40\x04\0\0\0\0", 8, 0x10010));
	/* JAL's target is in the 256 MB of the instruction after it. */
	ck_assert(calls_at("mips", "\x0c\x00\x40\x04\0\0\0\0", 8, 0x1ffffffc, 8, 0x20010010));
	ck_assert(CALLS("mipsle", "\x09\xf8\x20\x00\0\0\0\0", 8, 0));
	ck_assert(CALLS("ppc64le", "\x11\x00\x00\x48", 4, 0x10010));
	ck_assert(CALLS("ppc64", "\x4e\x80\x04\x21", 4, 0));
	ck_assert(CALLS("riscv64", "\x01\x00\xef\x00\x00\x01", 6, 0x10012)); /* after C.NOP */
	ck_assert(CALLS("riscv64", "\xe7\x80\x02\x00", 4, 0));
	ck_assert(CALLS("riscv64", "\x82\x92", 2, 0));
	ck_assert(CALLS("s390x", "\x18\x12\xc0\xe5\x00\x00\x00\x08", 8, 0x10012));
	ck_assert(CALLS("s390x", "\x0d\xe1", 2, 0));
}
END_TEST

START_TEST(no_calls)
{
	/* Jumps, and calls that are cut off. */
	ck_assert(!CALLS("amd64", "\xe9\x0a\x00\x00\x00\xff\xe0", 5, 0x1000f));
	ck_assert(!CALLS("amd64", "\xe8\x0a\x00\x00", 4, 0x1000f));
	ck_assert(!CALLS("amd64", "\xff", 1, 0));
	ck_assert(!CALLS("amd64", "\xff\x14", 2, 0));
	ck_assert(!CALLS("arm64", "\x00\x00\x00\x14\x00\x00", 4, 0x10000));
	ck_assert(!CALLS("arm64", "\x00\x00\x00", 4, 0x10000));
	ck_assert(!CALLS("mips64", "\x0c\x00\x40\x04\0\0\0", 8, 0x10010));
	ck_assert(!CALLS("riscv64", "\x02\x90", 2, 0)); /* EBREAK */
	ck_assert(!CALLS("s390x", "\x0d\xe0", 2, 0));
	ck_assert(!CALLS("s390x", "\xc0\xe5\x00\x00", 4, 0x10000));
	/* In the middle of other instructions: a constant, and after one that is unknown. */
	ck_assert(!CALLS("amd64", "\xb8\xff\xd1\x90\x90", 3, 0));
	ck_assert(!CALLS("amd64", "\x06\xff\xd1", 3, 0));
}
END_TEST

/* Many candidates in instructions that are never known take no longer than few. */
START_TEST(hostile_code)
{
	enum { SIZE = 1 << 22 };
	static uint8_t code[SIZE];
	struct gh_callsites walk;
	struct gh_callsite site;
	for (size_t i = 0; i < SIZE; i++)
		code[i] = i % 2 == 0 ? 0xff : 0xd0;
	code[0] = _i == 0 ? 0x06 : 0xb0;
	gh_callsites_start(&walk, gh_arch_by_name("amd64"), code, SIZE, 0x10000);
	size_t found = 0;
	while (gh_callsites_next(&walk, &site))
		found += gh_callsites_check(&walk, &site, 0);
	ck_assert_uint_eq(found, _i == 0 ? 0 : SIZE / 2 - 1);
}
END_TEST

/* Where control goes from the instruction CODE, at 0x10000. */
static bool flows(const char *goarch, const char *code, size_t size, struct gh_flow expected)
{
	struct gh_flow flow;
	return gh_flow_read(&flow, gh_arch_by_name(goarch), (const uint8_t *)code, size, 0x10000) &&
	       flow.after == expected.after && flow.target == expected.target &&
	       flow.callee == expected.callee && flow.indirect == expected.indirect &&
	       flow.returns == expected.returns;
}
#define FLOWS(goarch, code, ...)                                                                   \
	flows(goarch, code, sizeof(code) - 1, (struct gh_flow){__VA_ARGS__})

START_TEST(flow_of_each_machine)
{
	struct gh_flow flow;
	ck_assert(FLOWS("amd64", "\x74\x02", .after = 0x10002, .target = 0x10004)); /* JE */
	ck_assert(FLOWS("amd64", "\x0f\x8f\x0a\0\0\0", .after = 0x10006, .target = 0x10010));
	ck_assert(FLOWS("amd64", "\xeb\xfe", .target = 0x10000));                   /* JMP */
	ck_assert(FLOWS("amd64", "\xe3\x02", .after = 0x10002, .target = 0x10004)); /* JRCXZ */
	ck_assert(FLOWS("386", "\xe8\x0b\0\0\0", .after = 0x10005, .callee = 0x10010));
	ck_assert(FLOWS("amd64", "\xff\xd0", .after = 0x10002, .indirect = true));
	ck_assert(FLOWS("amd64", "\xc3", .returns = true));
	ck_assert(FLOWS("amd64", "\x0f\x0b", .after = 0)); /* UD2 */
	ck_assert(!FLOWS("amd64", "\xff\xe0", .after = 0));
	ck_assert(FLOWS("arm64", "\x02\0\0\x94", .after = 0x10004, .callee = 0x10008));
	ck_assert(FLOWS("arm64", "\xff\xff\xff\x17", .target = 0xfffc));
	ck_assert(FLOWS("arm64", "\x40\0\0\xb4", .after = 0x10004, .target = 0x10008)); /* CBZ */
	ck_assert(FLOWS("arm64", "\x41\0\0\x54", .after = 0x10004, .target = 0x10008)); /* B.NE */
	ck_assert(FLOWS("arm64", "\x40\0\0\x36", .after = 0x10004, .target = 0x10008)); /* TBZ */
	ck_assert(FLOWS("arm64", "\0\0\x3f\xd6", .after = 0x10004, .indirect = true));
	ck_assert(FLOWS("arm64", "\xc0\x03\x5f\xd6", .returns = true)); /* RET */
	ck_assert(!FLOWS("arm64", "\0\0\x1f\xd6", .after = 0));         /* BR */
	/* Cut off, and of a machine that it is not known of. */
	ck_assert(!gh_flow_read(&flow, gh_arch_by_name("arm64"), (const uint8_t *)"\x1f\x20\x03", 3,
				0x10000));
	ck_assert(!FLOWS("s390x", "\x07\xfe", .after = 0));
}
END_TEST

void call_site_tests(TCase *tcase)
{
	tcase_add_test(tcase, calls_of_each_machine);
	tcase_add_test(tcase, no_calls);
	tcase_add_test(tcase, flow_of_each_machine);
	tcase_add_loop_test(tcase, hostile_code, 0, 2);
}
