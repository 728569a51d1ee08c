/* The release and the module that a program's .go.buildinfo names, and the release that its data
 * name where there is none. */
#include <elf.h>
#include <string.h>

#include "lib/elf/elf.h"
#include "tests/unit/suites.h"

#define START 0x10000 /* address of the data segment */

/* A data segment of a program of 64-bit x86, and the image of it alone. */
struct data {
	uint8_t bytes[512];
	size_t size; /* of what is in them */
	GElf_Phdr segment;
	const GElf_Phdr *loads[1];
	struct gh_image image;
};

static void make(struct data *data)
{
	static char path[] = "data";
	*data = (struct data){.segment = {.p_type = PT_LOAD,
					  .p_flags = PF_R | PF_W,
					  .p_vaddr = START,
					  .p_filesz = sizeof(data->bytes)}};
	data->loads[0] = &data->segment;
	data->image = (struct gh_image){.path = path,
					.data = data->bytes,
					.size = sizeof(data->bytes),
					.arch = gh_arch_find(EM_X86_64, 8, false),
					.loads = data->loads,
					.nloads = 1};
}

/* Appends bytes, and gives their address. */
static uint64_t put(struct data *data, const void *bytes, size_t size)
{
	ck_assert_uint_le(data->size + size, sizeof(data->bytes));
	memcpy(data->bytes + data->size, bytes, size);
	data->size += size;
	return START + data->size - size;
}

static uint64_t put_word(struct data *data, uint64_t word)
{
	return put(data, &word, sizeof(word));
}

static uint64_t put_string(struct data *data, uint64_t address, uint64_t size)
{
	uint64_t header = put_word(data, address);
	put_word(data, size);
	return header;
}

#define RELEASE "go1.16.3"
#define MODULE                                                                                     \
	"0123456789abcdef"                                                                         \
	"path\texample.com/mod/cmd\nmod\texample.com/mod\tv1.2.3\th1:=\n"                          \
	"fedcba9876543210"

START_TEST(strings_are_pointed_to)
{
	static const struct {
		uint64_t version; /* address of the release's text; 0: where it is */
		size_t size;      /* bytes of the module's text */
		const char *release, *path, *module;
	} cases[] = {
	    {0, sizeof(MODULE) - 1, RELEASE, "example.com/mod/cmd", "example.com/mod"},
	    {0, 32, RELEASE, NULL, NULL},
	    {START - 1, sizeof(MODULE) - 1, NULL, "example.com/mod/cmd", "example.com/mod"},
	    {START + 512, sizeof(MODULE) - 1, NULL, "example.com/mod/cmd", "example.com/mod"},
	    {START + 508, sizeof(MODULE) - 1, NULL, "example.com/mod/cmd", "example.com/mod"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct data data;
		struct gh_buildinfo info;
		make(&data);
		/* Its strings' headers, 32 bytes on, and their texts behind these. */
		put(&data, "\xff Go buildinf:\x08\0", 16);
		put_word(&data, START + 32);
		put_word(&data, START + 48);
		uint64_t release = cases[i].version != 0 ? cases[i].version : START + 64;
		put_string(&data, release, strlen(RELEASE));
		put_string(&data, START + 64 + strlen(RELEASE), cases[i].size);
		put(&data, RELEASE, strlen(RELEASE));
		put(&data, MODULE, strlen(MODULE));
		gh_buildinfo_read(&info, &data.image);
		ck_assert(!info.failed);
		ck_assert_pstr_eq(info.go_version, cases[i].release);
		ck_assert_pstr_eq(info.path, cases[i].path);
		ck_assert_pstr_eq(info.module, cases[i].module);
		gh_buildinfo_free(&info);
	}
}
END_TEST

START_TEST(strings_follow)
{
	/* The structure may be anywhere in the segment that is a multiple of 16. */
	for (size_t before = 0; before <= 48; before += 16) {
		struct data data;
		struct gh_buildinfo info;
		const uint8_t sizes[] = {strlen(RELEASE), strlen(MODULE)};
		make(&data);
		data.size = before;
		put(&data, "\xff Go buildinf:\x08\x02", 16);
		data.size += 16;
		put(&data, &sizes[0], 1);
		put(&data, RELEASE, strlen(RELEASE));
		put(&data, &sizes[1], 1);
		put(&data, MODULE, strlen(MODULE));
		gh_buildinfo_read(&info, &data.image);
		ck_assert_pstr_eq(info.go_version, RELEASE);
		ck_assert_pstr_eq(info.path, "example.com/mod/cmd");
		ck_assert_pstr_eq(info.module, "example.com/mod");
		gh_buildinfo_free(&info);
	}
}
END_TEST

/* Without it the release is that of the one name of a release that a string header is of. */
START_TEST(a_string_names_the_release)
{
	static const struct {
		const char *first, *second; /* texts; NULL: none */
		const char *release;        /* what is found */
		bool once;                  /* one header has one */
	} cases[] = {
	    {"go1.4.3", NULL, "go1.4.3", true},       {"go1.8rc2", NULL, "go1.8rc2", true},
	    {"go1.4.3", "go1.4.3", "go1.4.3", false}, {"go1.4.3", "go1.4.2", NULL, false},
	    {"go1.4.3", "go1.4", NULL, false},        {"go1.4 is", "go1.5", "go1.5", true},
	    {"go1.", "go1.x", NULL, false},           {"go2.45", NULL, NULL, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct data data;
		struct gh_buildinfo info;
		const char *texts[] = {cases[i].first, cases[i].second};
		uint64_t address[2] = {0}, header = 0;
		make(&data);
		for (size_t j = 0; j < 2 && texts[j] != NULL; j++)
			address[j] = put(&data, texts[j], strlen(texts[j]));
		data.size = (data.size + 7) & ~(size_t)7;
		for (size_t j = 0; j < 2 && texts[j] != NULL; j++) {
			uint64_t at = put_string(&data, address[j], strlen(texts[j]));
			if (cases[i].release != NULL && strcmp(texts[j], cases[i].release) == 0)
				header = at;
		}
		gh_buildinfo_read(&info, &data.image);
		ck_assert_pstr_eq(info.go_version, cases[i].release);
		gh_buildinfo_free(&info);
		ck_assert_uint_eq(gh_build_version(&data.image), cases[i].once ? header : 0);
	}
}
END_TEST

/* Builds that differ may have one id of Go's, if the go command did not make it of what is in them,
 * and one of GNU's that is made of it. */
START_TEST(ids_of_contents_tell_builds)
{
	static const struct {
		char *gnu[2], *go[2]; /* ids of two programs; NULL: none */
		enum gh_identities found;
	} cases[] = {
	    {{NULL, NULL}, {NULL, NULL}, GH_IDENTITIES_UNKNOWN},
	    {{"11", NULL}, {NULL, "a/b/c/d"}, GH_IDENTITIES_UNKNOWN},
	    {{"11", "11"}, {NULL, NULL}, GH_IDENTITIES_SAME},
	    {{"11", "12"}, {NULL, NULL}, GH_IDENTITIES_DIFFER},
	    {{NULL, NULL}, {"a/b/c/d", "a/b/c/d"}, GH_IDENTITIES_SAME},
	    {{NULL, NULL}, {"a/b/c/d", "a/b/c/e"}, GH_IDENTITIES_DIFFER},
	    {{"11", "12"}, {"a/b/c/d", "a/b/c/d"}, GH_IDENTITIES_DIFFER},
	    {{NULL, NULL}, {"redacted", "redacted"}, GH_IDENTITIES_UNKNOWN},
	    {{"11", "11"}, {"redacted", "redacted"}, GH_IDENTITIES_UNKNOWN},
	    {{"11", "11"}, {NULL, "redacted"}, GH_IDENTITIES_UNKNOWN},
	    {{NULL, NULL}, {"0a1b2c", "0a1b2d"}, GH_IDENTITIES_DIFFER},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gh_identity ids[2] = {0};
		for (size_t j = 0; j < 2; j++) {
			ids[j].ids.gnu_build_id = cases[i].gnu[j];
			ids[j].ids.go_build_id = cases[i].go[j];
		}
		ck_assert_int_eq(gh_identity_compare(&ids[0], &ids[1]), cases[i].found);
		ck_assert_int_eq(gh_identity_compare(&ids[1], &ids[0]), cases[i].found);
	}
}
END_TEST

void buildinfo_tests(TCase *tests)
{
	tcase_add_test(tests, ids_of_contents_tell_builds);
	tcase_add_test(tests, strings_are_pointed_to);
	tcase_add_test(tests, strings_follow);
	tcase_add_test(tests, a_string_names_the_release);
}
