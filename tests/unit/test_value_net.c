/* Addresses of the network, and contexts. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/valuemaker.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct valuemaker maker;

/* As IP.String and Addr.String have them (RFC 5952). */
static const struct {
	uint64_t high;
	uint64_t low;
	const char *text;
} addresses[] = {
    {0, 0, "::"},
    {0, 1, "::1"},
    {UINT64_C(0x20010db800000000), 1, "2001:db8::1"},
    {UINT64_C(0x20010db800000001), 1, "2001:db8:0:1::1"},
    /* One group that is 0 is written out. */
    {UINT64_C(0x0001000000020003), UINT64_C(0x0004000500060007), "1:0:2:3:4:5:6:7"},
    /* The longest run, the first of two. */
    {UINT64_C(0x0001000000000002), UINT64_C(0x0000000000000003), "1:0:0:2::3"},
    {UINT64_C(0x0001000000000002), UINT64_C(0x0003000000000004), "1::2:3:0:0:4"},
    {UINT64_C(0xfe80000000000000), 0, "fe80::"},
    {UINT64_C(0xffffffffffffffff), UINT64_C(0xfffffffffffffffe),
     "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"},
    {0, UINT64_C(0xffff01020304), "1.2.3.4"},
};

/* Of 4 bytes or of 16. */
START_TEST(ips_are_slices)
{
	valuemaker_start(&maker, _i, NULL);
	uint64_t byte = valuemaker_basic(&maker, GH_KIND_UINT8, "uint8", NULL);
	uint64_t type = valuemaker_slice(&maker, byte, "net.IP", "net");
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(addresses); i++) {
		uint8_t bytes[16];
		for (unsigned j = 0; j < 16; j++)
			bytes[j] = (uint8_t)((j < 8 ? addresses[i].high : addresses[i].low) >>
					     8 * (7 - j % 8));
		uint64_t data = valuemaker_bytes(&maker, bytes, 16);
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_slice_of(&maker, data, 16, 16);
		valuemaker_check_text(&maker, type, at, "net.IP", addresses[i].text);
	}
	uint64_t data = valuemaker_bytes(&maker, "\x7f\0\0\xff\x01", 5);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, data, 4, 4);
	valuemaker_check_text(&maker, type, at, "net.IP", "127.0.0.255");
	at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, data, 5, 5);
	valuemaker_check(&maker, type, at, "net.IP len: 5, cap: 5, [127,0,0,255,1]");
	at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, 0, 0, 0);
	valuemaker_check(&maker, type, at, "net.IP len: 0, cap: 0, nil");
	valuemaker_free(&maker);
}
END_TEST

/* The types of package net/netip: Addr has addr and z, Prefix has ip and its bits. */
static struct {
	uint64_t addr;
	uint64_t prefix;
} netip;

/* Those of Go 1.23: z is a unique.Handle, which points to addrDetail; bitsPlusOne is a byte. */
static void describe_new(void)
{
	uint64_t boolean = valuemaker_basic(&maker, GH_KIND_BOOL, "bool", NULL);
	uint64_t byte = valuemaker_basic(&maker, GH_KIND_UINT8, "uint8", NULL);
	uint64_t half = valuemaker_basic(&maker, GH_KIND_UINT64, "uint64", NULL);
	const struct valuemaker_field halves[] = {{"hi", half, false}, {"lo", half, false}, {0}};
	const struct valuemaker_field detail[] = {
	    {"isV6", boolean, false}, {"zoneV6", valuemaker_made(&maker, TYPE_STRING), false}, {0}};
	uint64_t pointer = valuemaker_pointer(
	    &maker, valuemaker_struct(&maker, "netip.addrDetail", "net/netip", detail),
	    "*netip.addrDetail");
	const struct valuemaker_field handle[] = {{"value", pointer, false}, {0}};
	const struct valuemaker_field addr[] = {
	    {"addr", valuemaker_struct(&maker, "netip.uint128", "net/netip", halves), false},
	    {"z",
	     valuemaker_struct(&maker, "unique.Handle[net/netip.addrDetail]", "unique", handle),
	     false},
	    {0}};
	netip.addr = valuemaker_struct(&maker, "netip.Addr", "net/netip", addr);
	const struct valuemaker_field prefix[] = {
	    {"ip", netip.addr, false}, {"bitsPlusOne", byte, false}, {0}};
	netip.prefix = valuemaker_struct(&maker, "netip.Prefix", "net/netip", prefix);
}

/* Those of Go 1.18: z is an *intern.Value, which has the zone in an interface; bits is an int16. */
static void describe_old(void)
{
	uint64_t bits = valuemaker_basic(&maker, GH_KIND_INT16, "int16", NULL);
	uint64_t half = valuemaker_basic(&maker, GH_KIND_UINT64, "uint64", NULL);
	uint64_t empty = valuemaker_interface(&maker, false, "interface {}");
	const struct valuemaker_field halves[] = {{"hi", half, false}, {"lo", half, false}, {0}};
	const struct valuemaker_field value[] = {{"cmpVal", empty, false}, {0}};
	uint64_t pointer = valuemaker_pointer(
	    &maker, valuemaker_struct(&maker, "intern.Value", "internal/intern", value),
	    "*intern.Value");
	const struct valuemaker_field addr[] = {
	    {"addr", valuemaker_struct(&maker, "netip.uint128", "net/netip", halves), false},
	    {"z", pointer, false},
	    {0}};
	netip.addr = valuemaker_struct(&maker, "netip.Addr", "net/netip", addr);
	const struct valuemaker_field prefix[] = {
	    {"ip", netip.addr, false}, {"bits", bits, false}, {0}};
	netip.prefix = valuemaker_struct(&maker, "netip.Prefix", "net/netip", prefix);
}

/* An Addr whose z is Z, in a Prefix whose bits are BITS in SIZE bytes. */
static uint64_t put_addr(uint64_t high, uint64_t low, uint64_t z, uint64_t bits, unsigned size)
{
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_put(&maker, high, 8);
	valuemaker_put(&maker, low, 8);
	valuemaker_words(&maker, 1, &z);
	valuemaker_put(&maker, bits, size);
	return at;
}

/* What z points to from Go 1.23 on. */
static uint64_t put_detail(bool is_v6, const char *zone)
{
	uint64_t text = valuemaker_bytes(&maker, zone, strlen(zone));
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_put(&maker, is_v6, 1);
	valuemaker_words(&maker, 2, (const uint64_t[]){text, strlen(zone)});
	return at;
}

static void check_addr(uint64_t high, uint64_t low, uint64_t z, const char *expected)
{
	valuemaker_check_text(&maker, netip.addr, put_addr(high, low, z, 0, 1), "netip.Addr",
			      expected);
}

START_TEST(addresses_have_families_and_zones)
{
	valuemaker_start(&maker, _i, NULL);
	describe_new();
	valuemaker_open(&maker);
	const uint64_t mapped = UINT64_C(0xffff01020304);
	uint64_t v4 = put_detail(false, "");
	uint64_t v6 = put_detail(true, "");
	for (size_t i = 0; i + 1 < COUNT(addresses); i++)
		check_addr(addresses[i].high, addresses[i].low, v6, addresses[i].text);
	check_addr(0, mapped, v4, "1.2.3.4");
	check_addr(0, mapped, v6, "::ffff:1.2.3.4");
	check_addr(0, 1, 0, "invalid IP");
	check_addr(UINT64_C(0xfe80) << 48, 1, put_detail(true, "eth0"), "fe80::1%eth0");
	/* Of what else is in a zone nothing reaches the terminal. */
	check_addr(0, 1,
		   put_detail(true, "a\"b\\c \x7f"
				    "d"),
		   "::1%a?b?c??d");
	char zone[66];
	char expected[80];
	memset(zone, 'z', sizeof(zone));
	zone[64] = '\0';
	snprintf(expected, sizeof(expected), "::1%%%s", zone);
	check_addr(0, 1, put_detail(true, zone), expected);
	zone[64] = 'z';
	zone[65] = '\0';
	check_addr(0, 1, put_detail(true, zone), "::1");
	valuemaker_free(&maker);
}
END_TEST

/* Without a zone, what is of IPv4 and what is that in IPv6 differ by where z points only. */
START_TEST(addresses_before_go_1_23_may_be_of_either_family)
{
	valuemaker_start(&maker, _i, NULL);
	describe_old();
	valuemaker_open(&maker);
	const uint64_t mapped = UINT64_C(0xffff01020304);
	uint64_t none = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){0, 0});
	uint64_t text = valuemaker_text(&maker, "lo");
	uint64_t zoned = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){valuemaker_made(&maker, TYPE_STRING), text});
	check_addr(0, 1, none, "::1");
	check_addr(0, mapped, none, "1.2.3.4?");
	check_addr(0, 1, zoned, "::1%lo");
	check_addr(0, mapped, zoned, "::ffff:1.2.3.4%lo");
	check_addr(0, 1, 0, "invalid IP");
	uint64_t at = put_addr(0, 1, none, 128, 2);
	valuemaker_check_text(&maker, netip.prefix, at, "netip.Prefix", "::1/128");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, 1, none, 0, 2), "netip.Prefix",
			      "::1/0");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, 1, none, 129, 2), "netip.Prefix",
			      "invalid Prefix");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, 1, 0, 8, 2), "netip.Prefix",
			      "invalid Prefix");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(prefixes_have_bits)
{
	valuemaker_start(&maker, _i, NULL);
	describe_new();
	valuemaker_open(&maker);
	const uint64_t mapped = UINT64_C(0xffff01020300);
	uint64_t v4 = put_detail(false, "");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, mapped, v4, 25, 1), "netip.Prefix",
			      "1.2.3.0/24");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, mapped, v4, 1, 1), "netip.Prefix",
			      "1.2.3.0/0");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, mapped, v4, 0, 1), "netip.Prefix",
			      "invalid Prefix");
	valuemaker_check_text(&maker, netip.prefix, put_addr(0, mapped, 0, 25, 1), "netip.Prefix",
			      "invalid Prefix");
	valuemaker_free(&maker);
}
END_TEST

/* The types of package context, of Go 1.21 or so, without their fields that are not looked at. */
static struct {
	uint64_t interface;
	uint64_t background;
	uint64_t todo;
	uint64_t empty;
	uint64_t cancel;
	uint64_t value;
	uint64_t timer;
	uint64_t without;
	uint64_t after;
	uint64_t other; /* of another package */
	uint64_t error;
} contexts;

static uint64_t context_of(const char *name, const char *field, uint64_t type, bool embedded,
			   const char *second, uint64_t second_type, const char *third,
			   uint64_t third_type)
{
	const struct valuemaker_field fields[] = {
	    {field, type, embedded}, {second, second_type, false}, {third, third_type, false}, {0}};
	return valuemaker_pointer(&maker, valuemaker_struct(&maker, name, "context", fields),
				  "*context.x");
}

static void describe_contexts(void)
{
	uint64_t any = valuemaker_interface(&maker, false, "interface {}");
	uint64_t half = valuemaker_basic(&maker, GH_KIND_UINT64, "uint64", NULL);
	const struct valuemaker_field time[] = {{"wall", half, false}, {"ext", half, false}, {0}};
	const struct valuemaker_field none[] = {{0}};
	uint64_t when = valuemaker_struct(&maker, "time.Time", "time", time);
	uint64_t context = contexts.interface =
	    valuemaker_interface(&maker, true, "context.Context");
	contexts.error = valuemaker_interface(&maker, true, "error");
	contexts.background = valuemaker_struct(&maker, "context.backgroundCtx", "context", none);
	contexts.todo = valuemaker_struct(&maker, "context.todoCtx", "context", none);
	contexts.empty = valuemaker_basic(&maker, GH_KIND_INT, "context.emptyCtx", "context");
	contexts.other = valuemaker_struct(&maker, "main.ctx", "main", none);
	const struct valuemaker_field cancel_fields[] = {{"Context", context, true},
							 {"err", contexts.error, false},
							 {"cause", contexts.error, false},
							 {0}};
	uint64_t cancel = valuemaker_struct(&maker, "context.cancelCtx", "context", cancel_fields);
	contexts.cancel = valuemaker_pointer(&maker, cancel, "*context.cancelCtx");
	contexts.value =
	    context_of("context.valueCtx", "Context", context, true, "key", any, "val", any);
	contexts.timer =
	    context_of("context.timerCtx", "cancelCtx", cancel, true, "deadline", when, NULL, 0);
	contexts.without =
	    context_of("context.withoutCancelCtx", "c", context, false, NULL, 0, NULL, 0);
	contexts.after = context_of("context.afterFuncCtx", "cancelCtx", cancel, true, "f",
				    valuemaker_made(&maker, TYPE_FUNC), NULL, 0);
}

/* The words of an interface that holds a value of TYPE, which DATA is or points to. */
static void put_held(uint64_t type, uint64_t data)
{
	valuemaker_words(&maker, 2, (const uint64_t[]){type, data});
}

/* The table of an interface with methods for TYPE. */
static uint64_t table_of(uint64_t type)
{
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){contexts.interface, type});
	return at;
}

/* A cancelCtx that was made of the context of TYPE at DATA, and the other two interfaces. */
static uint64_t put_cancel(uint64_t type, uint64_t data, const uint64_t err[2],
			   const uint64_t cause[2])
{
	uint64_t table = table_of(type);
	uint64_t at = valuemaker_begin(&maker);
	put_held(table, data);
	valuemaker_words(&maker, 2, err);
	valuemaker_words(&maker, 2, cause);
	return at;
}

static void check_context(uint64_t pointer, uint64_t at, const char *expected)
{
	char text[256];
	uint64_t table = table_of(pointer);
	uint64_t held = valuemaker_begin(&maker);
	put_held(table, at);
	gh_value_print(&maker.values, valuemaker_number(&maker, contexts.interface), held);
	gh_buffer_u8(&maker.values.out, 0);
	/* Before it is its type's name. */
	snprintf(text, sizeof(text), "%s)", expected);
	const char *found = strrchr((const char *)maker.values.out.data, '*');
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(strchr(found, '(') + 1, text);
	maker.values.out.size = 0;
	gh_process_memory_free(&maker.process.memory);
}

static const uint64_t nothing[2];

START_TEST(contexts_are_told_from_the_first_on)
{
	char expected[128];
	valuemaker_start(&maker, _i, NULL);
	describe_contexts();
	valuemaker_open(&maker);
	uint64_t cancel = put_cancel(contexts.background, 0, nothing, nothing);
	check_context(contexts.cancel, cancel, "context.Background.WithCancel");
	check_context(contexts.cancel, put_cancel(contexts.todo, 0, nothing, nothing),
		      "context.TODO.WithCancel");
	check_context(contexts.cancel, put_cancel(contexts.cancel, cancel, nothing, nothing),
		      "context.Background.WithCancel.WithCancel");
	uint64_t none = valuemaker_integer(&maker, 0, maker.what.word);
	check_context(contexts.cancel, put_cancel(contexts.empty, none, nothing, nothing),
		      "context.Background?.WithCancel");
	snprintf(expected, sizeof(expected), "(main.ctx)(0x%llx).WithCancel",
		 (unsigned long long)none);
	check_context(contexts.cancel, put_cancel(contexts.other, none, nothing, nothing),
		      expected);
	/* Of no context known. */
	check_context(contexts.cancel, put_cancel(0, 0, nothing, nothing), "....WithCancel");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(contexts_say_what_they_add)
{
	valuemaker_start(&maker, _i, NULL);
	describe_contexts();
	valuemaker_open(&maker);
	uint64_t one = valuemaker_integer(&maker, 1, maker.what.word);
	uint64_t text = valuemaker_text(&maker, "v");
	uint64_t string = valuemaker_made(&maker, TYPE_STRING);
	uint64_t first = table_of(contexts.background);
	uint64_t at = valuemaker_begin(&maker);
	put_held(first, 0);
	put_held(valuemaker_made(&maker, TYPE_INT), one);
	put_held(string, text);
	check_context(contexts.value, at, "context.Background.WithValue(int 1, string \"v\")");
	uint64_t value = at;
	at = valuemaker_begin(&maker);
	put_held(first, 0);
	put_held(0, 0);
	put_held(0x1234, one);
	check_context(contexts.value, at, "context.Background.WithValue(nil, (type 0x1234) ...)");
	uint64_t table = table_of(contexts.value);
	at = valuemaker_begin(&maker);
	put_held(table, value);
	check_context(contexts.without, at,
		      "context.Background.WithValue(int 1, string \"v\").WithoutCancel");
	valuemaker_free(&maker);
}
END_TEST

/* With a cause if that is another. */
START_TEST(contexts_say_why_they_were_canceled)
{
	valuemaker_start(&maker, _i, NULL);
	describe_contexts();
	valuemaker_open(&maker);
	uint64_t string = table_of(valuemaker_made(&maker, TYPE_STRING));
	const uint64_t err[] = {string, valuemaker_text(&maker, "canceled")};
	const uint64_t cause[] = {string, valuemaker_text(&maker, "late")};
	check_context(contexts.cancel, put_cancel(contexts.background, 0, err, nothing),
		      "context.Background.WithCancel{err: error(string) \"canceled\"}");
	check_context(contexts.cancel, put_cancel(contexts.background, 0, err, err),
		      "context.Background.WithCancel{err: error(string) \"canceled\"}");
	check_context(contexts.cancel, put_cancel(contexts.background, 0, err, cause),
		      "context.Background.WithCancel{err: error(string) \"canceled\", "
		      "cause: error(string) \"late\"}");
	check_context(contexts.cancel, put_cancel(contexts.background, 0, nothing, cause),
		      "context.Background.WithCancel");
	/* What cancelCtx is part of. */
	uint64_t timer = put_cancel(contexts.background, 0, err, nothing);
	valuemaker_put(&maker, 0, 8);
	valuemaker_put(&maker, UINT64_C(62135596800), 8);
	check_context(contexts.timer, timer,
		      "context.Background.WithDeadline(1970-01-01T00:00:00Z)"
		      "{err: error(string) \"canceled\"}");
	uint64_t after = put_cancel(contexts.background, 0, nothing, nothing);
	valuemaker_words(&maker, 1, (const uint64_t[]){0});
	check_context(contexts.after, after, "context.Background.AfterFunc(nil)");
	valuemaker_free(&maker);
}
END_TEST

/* Of 64 the last are told. */
START_TEST(many_contexts_are_cut)
{
	static char expected[2048];
	valuemaker_start(&maker, _i, NULL);
	describe_contexts();
	valuemaker_open(&maker);
	uint64_t cancel = put_cancel(contexts.background, 0, nothing, nothing);
	for (unsigned made = 1; made <= 64; made++) {
		strcpy(expected, made < 64 ? "context.Background" : "...");
		for (unsigned i = 0; i < made; i++)
			strcat(expected, ".WithCancel");
		if (made == 1 || made >= 63) {
			gh_value_print(&maker.values, valuemaker_number(&maker, contexts.cancel),
				       valuemaker_integer(&maker, cancel, maker.what.word));
			strcat(expected, ")");
			ck_assert_mem_eq(maker.values.out.data, "*context.cancelCtx(", 19);
			ck_assert_uint_eq(maker.values.out.size, 19 + strlen(expected));
			ck_assert_mem_eq(maker.values.out.data + 19, expected, strlen(expected));
			maker.values.out.size = 0;
		}
		cancel = put_cancel(contexts.cancel, cancel, nothing, nothing);
	}
	valuemaker_free(&maker);
}
END_TEST

void value_net_tests(TCase *tests)
{
	tcase_add_loop_test(tests, ips_are_slices, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, addresses_have_families_and_zones, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, addresses_before_go_1_23_may_be_of_either_family, 0,
			    VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, prefixes_have_bits, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, contexts_are_told_from_the_first_on, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, contexts_say_what_they_add, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, contexts_say_why_they_were_canceled, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, many_contexts_are_cut, 0, VALUEMAKER_VARIANTS);
}
