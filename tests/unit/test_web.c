/* Who may ask the web server, and the page that has its answers in it. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "plugin/web/internal.h"
#include "tests/unit/suites.h"

/* In place of libmicrohttpd's functions the tests have their own. */
struct gh_microhttpd gh_mhd;

/* A page that is short. */
static const char page[] = "<html>\n<link rel=\"icon\" href=\"icon.svg\">\n"
			   "<link rel=\"stylesheet\" href=\"page.css\">\n"
			   "<script type=\"module\" src=\"main.js\"></script>\n<body>\n<p>\n"
			   "</body>\n</html>\n";
static const char one[] =
    "import { two } from './two.js';\nexport const one = two;\nimporting();\n";
static const char two[] = "export function two() {\n\texport \n}\n";
static const char style[] = "p { color: red }\n";
const struct gh_web_file gh_web_files[] = {
    {"page.css", "text/css; charset=utf-8", style, sizeof(style) - 1},
    {"one.js", "text/javascript; charset=utf-8", one, sizeof(one) - 1},
    {"", "text/html; charset=utf-8", page, sizeof(page) - 1},
    {"two.js", "text/javascript; charset=utf-8", two, sizeof(two) - 1},
    {0},
};

/* A socket that listens on ADDRESS. */
static int listen_on(const char *address)
{
	struct sockaddr_in place = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(inet_pton(AF_INET, address, &place.sin_addr), 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&place, sizeof(place)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

START_TEST(the_place_that_is_listened_on_is_told)
{
	static const struct {
		const char *address;
		bool is_local;
		bool is_wildcard;
	} cases[] = {
	    {"127.0.0.1", true, false}, {"127.1.2.3", true, false}, {"0.0.0.0", false, true}};
	char expected[GH_WEB_AUTHORITY], host[256] = "";
	struct gh_web_guard guard, other;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = listen_on(cases[i].address);
		struct sockaddr_in place;
		socklen_t size = sizeof(place);
		ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&place, &size), 0);
		ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
		ck_assert(gh_web_guard_make(&guard, fd));
		ck_assert(gh_web_guard_make(&other, fd));
		ck_assert_int_eq(guard.is_local, cases[i].is_local);
		ck_assert_int_eq(guard.is_wildcard, cases[i].is_wildcard);
		snprintf(expected, sizeof(expected), "%s:%u",
			 cases[i].is_wildcard ? host : cases[i].address, ntohs(place.sin_port));
		ck_assert_str_eq(guard.authority, expected);
		ck_assert_uint_eq(strspn(guard.token, "0123456789abcdef"), 32);
		ck_assert_uint_eq(strlen(guard.token), 32);
		ck_assert_str_ne(guard.token, other.token);
		close(fd);
	}
	ck_assert(!gh_web_guard_make(&guard, -1));
}
END_TEST

#define TOKEN "0123456789abcdef0123456789abcdef"

START_TEST(addresses_have_the_token)
{
	static const struct gh_web_guard guard = {.token = TOKEN};
	static const char *const none[] = {"",
					   "/",
					   TOKEN "/",
					   "/" TOKEN,
					   "/0123456789abcdef0123456789abcde/",
					   "//" TOKEN "/",
					   "/0123456789abcdef0123456789abcdee/",
					   "/1123456789abcdef0123456789abcdef/",
					   "/" TOKEN "x/",
					   "x" TOKEN "/"};
	ck_assert_str_eq(gh_web_guard_strip(&guard, "/" TOKEN "/"), "");
	ck_assert_str_eq(gh_web_guard_strip(&guard, "/" TOKEN "/api/info"), "api/info");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(gh_web_guard_strip(&guard, none[i]) == NULL, "%s", none[i]);
}
END_TEST

/* The headers of a request. */
struct headers {
	const char *host;
	const char *origin;
	const char *site;
	const char *mode;
};

static const char *look_up(struct MHD_Connection *connection, enum MHD_ValueKind kind,
			   const char *key)
{
	const struct headers *headers = (const struct headers *)(void *)connection;
	ck_assert_int_eq(kind, MHD_HEADER_KIND);
	return strcmp(key, "Host") == 0             ? headers->host
	       : strcmp(key, "Origin") == 0         ? headers->origin
	       : strcmp(key, "Sec-Fetch-Site") == 0 ? headers->site
	       : strcmp(key, "Sec-Fetch-Mode") == 0 ? headers->mode
						    : NULL;
}

static bool trusts(const struct gh_web_guard *guard, const struct headers *headers)
{
	gh_mhd.lookup_connection_value = look_up;
	return gh_web_guard_trusts(guard, (struct MHD_Connection *)(void *)headers);
}

START_TEST(names_of_the_server_are_its_own)
{
	static const struct gh_web_guard local = {
	    .authority = "127.0.0.1:80", .port = "80", .is_local = true};
	static const struct gh_web_guard all = {
	    .authority = "machine:80", .port = "80", .is_wildcard = true};
	static const struct gh_web_guard one_address = {.authority = "10.0.0.1:80", .port = "80"};
	static const struct {
		const char *host;
		bool local;
		bool all;
		bool one;
	} cases[] = {
	    {NULL, false, false, false},
	    {"", false, false, false},
	    {"127.0.0.1:80", true, true, false},
	    {"localhost:80", true, false, false},
	    {"LOCALHOST:80", true, false, false},
	    {"localhost:81", false, false, false},
	    {"localhost", false, false, false},
	    {"machine:80", false, true, false},
	    {"Machine:80", false, true, false},
	    {"10.0.0.1:80", false, true, true},
	    {"10.0.0.2:80", false, true, false},
	    {"10.0.0.1:81", false, false, false},
	    {"10.0.0.1", false, false, false},
	    {"[::1]:80", false, true, false},
	    {"[fe80::1]:80", false, true, false},
	    {"[]:80", false, false, false},
	    {"[::1:80", false, false, false},
	    {"::1]:80", false, false, false},
	    {"[10.0.0.1]:80", false, false, false},
	    {"evil.example:80", false, false, false},
	    {"0x7f.1:80", false, false, false},
	    {"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:80", false, false, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct headers headers = {.host = cases[i].host};
		ck_assert_msg(trusts(&local, &headers) == cases[i].local, "%s", cases[i].host);
		ck_assert_msg(trusts(&all, &headers) == cases[i].all, "%s", cases[i].host);
		ck_assert_msg(trusts(&one_address, &headers) == cases[i].one, "%s", cases[i].host);
	}
}
END_TEST

START_TEST(pages_of_others_may_not_ask)
{
	static const struct gh_web_guard guard = {
	    .authority = "127.0.0.1:80", .port = "80", .is_local = true};
	static const char host[] = "127.0.0.1:80";
	static const struct {
		struct headers headers;
		bool trusts;
	} cases[] = {
	    {{host, "http://127.0.0.1:80", NULL, NULL}, true},
	    {{host, "http://127.0.0.1:81", NULL, NULL}, false},
	    {{host, "https://127.0.0.1:80", NULL, NULL}, false},
	    {{host, "null", NULL, NULL}, false},
	    {{"localhost:80", "http://LOCALHOST:80", NULL, NULL}, true},
	    {{"localhost:80", "http://127.0.0.1:80", NULL, NULL}, false},
	    {{host, NULL, "same-origin", NULL}, true},
	    {{host, NULL, "none", NULL}, true},
	    {{host, NULL, "cross-site", NULL}, false},
	    {{host, NULL, "same-site", NULL}, false},
	    {{host, NULL, "cross-site", "navigate"}, true},
	    {{host, NULL, "cross-site", "no-cors"}, false},
	    {{host, NULL, NULL, "no-cors"}, true},
	    {{host, "http://127.0.0.1:81", "same-origin", "navigate"}, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(trusts(&guard, &cases[i].headers) == cases[i].trusts, "case %zu", i);
}
END_TEST

/* The bytes that the COUNT letters at TEXT are in base64 (RFC 4648), into BYTES. */
static size_t decode(const char *text, size_t count, uint8_t *bytes)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t size = 0;
	ck_assert_uint_eq(count % 4, 0);
	for (size_t i = 0; i < count; i += 4) {
		uint32_t bits = 0;
		unsigned pads = 0;
		for (size_t j = 0; j < 4; j++) {
			const char *digit = strchr(digits, text[i + j]);
			if (text[i + j] == '=')
				pads++;
			ck_assert(digit != NULL || (text[i + j] == '=' && i + 4 == count && j > 1));
			bits = bits << 6 | (digit != NULL ? (uint32_t)(digit - digits) : 0);
		}
		for (unsigned j = 0; j < 3 - pads; j++)
			bytes[size++] = (uint8_t)(bits >> (16 - 8 * j));
		ck_assert_uint_eq(pads == 0 ? 0 : bits & (pads == 1 ? 0xff : 0xffff), 0);
	}
	return size;
}

/* The recording that TEXT, a page, has is the SIZE bytes of DATA. */
static void check_recording(const char *text, const uint8_t *data, size_t size)
{
	static const char before[] =
	    "<html>\n<meta http-equiv=\"Content-Security-Policy\" content=\"";
	static const char between[] =
	    "\">\n<style>\np { color: red }\n</style>\n<script type=\"module\">\nconst one = two;\n"
	    "importing();\nfunction two() {\n\texport \n}\n</script>\n<body>\n<p>\n"
	    "<script type=\"application/gzip\" id=\"recording\">";
	static const char after[] = "</script>\n</body>\n</html>\n";
	static uint8_t packed[1 << 17], found[1 << 17];
	ck_assert_int_eq(strncmp(text, before, strlen(before)), 0);
	const char *policy = text + strlen(before);
	const char *next = strstr(policy, between);
	ck_assert_ptr_nonnull(next);
	ck_assert_ptr_eq(memchr(policy, '"', (size_t)(next - policy)), NULL);
	next += strlen(between);
	const char *end = strchr(next, '<');
	ck_assert_str_eq(end, after);
	ck_assert_uint_le((size_t)(end - next), sizeof(packed));
	z_stream stream = {.next_in = packed, .next_out = found, .avail_out = sizeof(found)};
	stream.avail_in = (unsigned)decode(next, (size_t)(end - next), packed);
	ck_assert_int_eq(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.avail_in, 0);
	ck_assert_uint_eq(stream.total_out, size);
	ck_assert_mem_eq(found, data, size);
	inflateEnd(&stream);
}

/* Bytes that no packing makes less. */
static void fill(uint8_t *data, size_t size)
{
	uint32_t state = 1;
	for (size_t i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		data[i] = (uint8_t)(state >> 24);
	}
}

START_TEST(a_recording_is_in_the_page)
{
	static uint8_t data[40000];
	static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 100, 20000, 40000};
	fill(data, sizeof(data));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct gh_web_recording recording;
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		ck_assert(gh_web_recording_begin(&recording, 1 << 20));
		/* In two parts. */
		ck_assert(gh_web_recording_add(&recording, data, sizes[i] / 2));
		ck_assert(
		    gh_web_recording_add(&recording, data + sizes[i] / 2, sizes[i] - sizes[i] / 2));
		ck_assert(gh_web_recording_print(&recording, out));
		gh_web_recording_free(&recording);
		fclose(out);
		check_recording(text, data, sizes[i]);
		free(text);
	}
}
END_TEST

/* What does not fit is not in it, and what comes after may be. */
START_TEST(a_recording_has_a_size)
{
	enum { SIZE = 200000, PART = 10000 };
	static uint8_t data[PART * 20], expected[PART * 20];
	struct gh_web_recording recording;
	size_t size = 0, refused = 0;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	fill(data, sizeof(data));
	ck_assert(gh_web_recording_begin(&recording, SIZE));
	for (size_t i = 0; i < 20; i++) {
		if (!gh_web_recording_add(&recording, data + i * PART, PART)) {
			refused++;
			continue;
		}
		memcpy(expected + size, data + i * PART, PART);
		size += PART;
	}
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_gt(refused, 0);
	ck_assert(gh_web_recording_print(&recording, out));
	gh_web_recording_free(&recording);
	fclose(out);
	ck_assert_uint_le(length, SIZE);
	check_recording(text, expected, size);
	free(text);
	/* A size that is less than the page's leaves no room at all. */
	ck_assert(gh_web_recording_begin(&recording, 1000));
	ck_assert_uint_eq(recording.room, 0);
	ck_assert(!gh_web_recording_add(&recording, data, sizeof(data)));
	gh_web_recording_free(&recording);
}
END_TEST

void web_tests(TCase *tests)
{
	tcase_add_test(tests, the_place_that_is_listened_on_is_told);
	tcase_add_test(tests, addresses_have_the_token);
	tcase_add_test(tests, names_of_the_server_are_its_own);
	tcase_add_test(tests, pages_of_others_may_not_ask);
	tcase_add_test(tests, a_recording_is_in_the_page);
	tcase_add_test(tests, a_recording_has_a_size);
}
