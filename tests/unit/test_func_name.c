#include <string.h>

#include "lib/pclntab/pclntab.h"
#include "tests/unit/suites.h"

/* NAME in the form FORM; "" if it has none. Good until the next call. */
static const char *written(const char *name, enum gh_name_form form)
{
	static char text[GH_NAME_FORM_SIZE];
	struct gh_func_name parts;
	ck_assert_msg(gh_func_name_parse(&parts, name), "%s", name);
	return gh_func_name_write(&parts, form, text) > 0 ? text : "";
}

START_TEST(forms)
{
	static const struct {
		const char *name;
		const char *forms[GH_NAME_FORMS];
	} names[] = {
	    {"main.run", {"main.run", "run", "", "", "", ""}},
	    {"net/http.Get", {"net/http.Get", "Get", "", "http.Get", "", ""}},
	    {"main.(*Server).handle",
	     {"main.(*Server).handle", "handle", "Server.handle", "main.Server.handle", "", ""}},
	    {"main.Square.Area", {"main.Square.Area", "Area", "Square.Area", "", "", ""}},
	    {"net/http.(*Server).Serve",
	     {"net/http.(*Server).Serve", "Serve", "Server.Serve", "http.Server.Serve",
	      "http.(*Server).Serve", "net/http.Server.Serve"}},
	    {"net.IP.String", {"net.IP.String", "String", "IP.String", "", "", ""}},
	    {"main.Map[go.shape.int_0]", {"main.Map", "Map", "", "", "", ""}},
	    {"main.(*Stack[...]).Push",
	     {"main.(*Stack).Push", "Push", "Stack.Push", "main.Stack.Push", "", ""}},
	    {"main.Set[go.shape.[]main.T[int]].Add",
	     {"main.Set.Add", "Add", "Set.Add", "", "", ""}},
	    {"example.org/app/v2.Run", {"example.org/app/v2.Run", "Run", "", "app.Run", "", ""}},
	    {"gopkg.in/yaml%2ev2.(*parser).peek",
	     {"gopkg.in/yaml%2ev2.(*parser).peek", "peek", "parser.peek", "yaml.parser.peek",
	      "yaml.(*parser).peek", "gopkg.in/yaml%2ev2.parser.peek"}},
	    {"main.\xc3\xa9t\xc3\xa9",
	     {"main.\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "", "", "", ""}},
	    {"go.uber.org/zap.New", {"go.uber.org/zap.New", "New", "", "zap.New", "", ""}},
	    {"go.etcd.io/etcd/etcdserver.(*EtcdServer).Put",
	     {"go.etcd.io/etcd/etcdserver.(*EtcdServer).Put", "Put", "EtcdServer.Put",
	      "etcdserver.EtcdServer.Put", "etcdserver.(*EtcdServer).Put",
	      "go.etcd.io/etcd/etcdserver.EtcdServer.Put"}},
	    {"main.(*T).func1", {"main.(*T).func1", "func1", "T.func1", "main.T.func1", "", ""}},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned form = 0; form < GH_NAME_FORMS; form++)
			ck_assert_str_eq(written(names[i].name, form), names[i].forms[form]);
}
END_TEST

START_TEST(names_that_no_source_declares)
{
	static const char *const names[] = {
	    "",
	    "memeqbody",
	    "main.",
	    "main.run.func1",
	    "main.run.func1.2",
	    "main.(*Server).handle.func1",
	    "main.(*Server).handle-fm",
	    "main.run.gowrap12",
	    "main.run.deferwrap1",
	    "main.glob..func1",
	    "main.init.0",
	    "main.each-range1",
	    "type:.eq.main.T",
	    "type..hash.main.T",
	    "go:buildid",
	    "go.buildid",
	    "go.(*struct { net/http.Handler }).ServeHTTP",
	    "main.(*",
	    "main.(*Server",
	    "main.(*Server).",
	    "main.(*).handle",
	    "main.Map[",
	    "main.Map[[]",
	};
	struct gh_func_name parts;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool parsed = gh_func_name_parse(&parts, names[i]);
		/* What is not closed is read to its end: it is no longer than its text. */
		bool open = strchr(names[i], '[') != NULL;
		ck_assert_msg(!parsed || open, "%s", names[i]);
	}
}
END_TEST

/* As PackageName in src/debug/gosym/symtab.go has it. */
START_TEST(packages)
{
	ck_assert_uint_eq(gh_package_length(""), 0);
	ck_assert_uint_eq(gh_package_length("memeqbody"), 0);
	ck_assert_uint_eq(gh_package_length("[a.b]"), 0);
	ck_assert_uint_eq(gh_package_length("main.(*T).f"), 4);
	ck_assert_uint_eq(gh_package_length("net/http.Get"), 8);
	ck_assert_uint_eq(gh_package_length("a.b/c.F[d/e.G]"), 5);
}
END_TEST

START_TEST(long_names_have_no_forms)
{
	char name[2 * GH_NAME_FORM_SIZE] = "main.";
	char text[GH_NAME_FORM_SIZE];
	struct gh_func_name parts;
	memset(name + 5, 'x', GH_NAME_FORM_SIZE - 6);
	ck_assert(gh_func_name_parse(&parts, name));
	ck_assert_uint_eq(gh_func_name_write(&parts, GH_NAME_WHOLE, text), GH_NAME_FORM_SIZE - 1);
	name[GH_NAME_FORM_SIZE - 1] = 'x';
	ck_assert(gh_func_name_parse(&parts, name));
	ck_assert_uint_eq(gh_func_name_write(&parts, GH_NAME_WHOLE, text), 0);
	ck_assert_uint_eq(gh_func_name_write(&parts, GH_NAME_BASE, text), GH_NAME_FORM_SIZE - 5);
}
END_TEST

START_TEST(type_arguments_are_replaced)
{
	static const char *const names[][2] = {
	    {"main.f", "main.f"},
	    {"main.f[go.shape.int,go.shape.string]", "main.f[...]"},
	    {"main.(*tree[go.shape.[]int]).push", "main.(*tree[...]).push"},
	    {"main.f[a[b]].func1", "main.f[...].func1"},
	    {"main.f[...]", "main.f[...]"},
	    {"main.f[a", "main.f[...]"},
	    {"a]b", "a]b"},
	    {"", ""},
	};
	char name[2 * GH_NAME_FORM_SIZE] = "main.f[";
	char text[GH_NAME_FORM_SIZE];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_uint_eq(gh_func_name_replace(names[i][0], "[...]", text),
				  strlen(names[i][1]));
		ck_assert_str_eq(text, names[i][1]);
	}
	ck_assert_uint_eq(gh_func_name_replace("main.(*tree[int]).push", "", text), 17);
	ck_assert_str_eq(text, "main.(*tree).push");
	memset(name + 7, '[', sizeof(name) - 8);
	ck_assert_uint_eq(gh_func_name_replace(name, "[...]", text), 11);
	memset(name, 'x', sizeof(name) - 1);
	ck_assert_uint_eq(gh_func_name_replace(name, "[...]", text), 0);
	ck_assert_str_eq(text, "");
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = "[]"[i % 2];
	ck_assert_uint_eq(gh_func_name_replace(name, "[...]", text), 0);
}
END_TEST

void func_name_tests(TCase *tests)
{
	tcase_add_test(tests, forms);
	tcase_add_test(tests, names_that_no_source_declares);
	tcase_add_test(tests, packages);
	tcase_add_test(tests, long_names_have_no_forms);
	tcase_add_test(tests, type_arguments_are_replaced);
}
