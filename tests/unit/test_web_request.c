/* What the web server answers. */
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/webmaker.h"

/* Asks for QUESTION, and waits for the response. */
static void ask(struct web_connection *connection, const char *url)
{
	web_connect(connection, url);
	ck_assert_int_eq(web_take(connection, "GET", 0), MHD_YES);
	ck_assert_int_eq(connection->suspended, 1);
	ck_assert_ptr_nonnull(web_server.requests);
	bool is_done = gh_web_requests_look_after(&web_server);
	if (!is_done) {
		ck_assert_int_eq(web_server.requests->state, GH_WEB_RUNNING);
		ck_assert_int_eq(connection->resumed, 0);
		web_wait_for_child(web_server.requests);
		ck_assert(gh_web_requests_look_after(&web_server));
	}
	ck_assert_ptr_null(web_server.requests);
	ck_assert_int_eq(connection->resumed, 1);
	ck_assert_int_eq(web_take(connection, "GET", 0), MHD_YES);
	web_close(connection);
}

#define PLAIN  "text/plain; charset=utf-8"
#define REASON "text/x-reason; charset=utf-8"

START_TEST(questions_have_answers_or_reasons)
{
	static const struct {
		const char *url;
		unsigned status;
		const char *type;
		const char *text;
		unsigned ended;
		unsigned answered;
	} cases[] = {
	    {"/" WEB_TOKEN "/api/answer", 200, "text/of-the-answer", "an answer", 1, 1},
	    {"/" WEB_TOKEN "/api/known", 200, "text/of-the-answer", "known answer", 0, 0},
	    {"/" WEB_TOKEN "/api/reason", 200, REASON, "a reason", 1, 0},
	    {"/" WEB_TOKEN "/api/signal", 500, PLAIN,
	     "goheap: the process that answers was ended by signal 9\n", 1, 0},
	    {"/" WEB_TOKEN "/api/large", 200, REASON,
	     "goheap: the answer has more than 256 MB, which is more than the page carries: ask "
	     "for "
	     "fewer rows (LIMIT and WHERE in SQL), or goheap in a shell\n",
	     1, 0},
	    {"/" WEB_TOKEN "/api/none", 400, PLAIN, "goheap: there is no answer\n", 0, 0},
	    {"/" WEB_TOKEN "/api/bad", 400, PLAIN, "why\n", 0, 0},
	    {"/" WEB_TOKEN "/api/failed", 503, PLAIN, "no process\n", 0, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct web_connection connection;
		web_start();
		ask(&connection, cases[i].url);
		ck_assert_uint_eq(connection.status, cases[i].status);
		ck_assert_str_eq(connection.type, cases[i].type);
		ck_assert_str_eq(connection.text, cases[i].text);
		ck_assert_uint_eq(connection.headers, 7);
		ck_assert_uint_eq(web_ended, cases[i].ended);
		ck_assert_uint_eq(web_answered, cases[i].answered);
	}
}
END_TEST

START_TEST(what_is_no_question_is_answered_at_once)
{
	static const struct {
		const char *url;
		const char *method;
		const char *host;
		unsigned status;
		const char *type;
		const char *text;
		const char *allow;
	} cases[] = {
	    {"/" WEB_TOKEN "/page.css", "GET", "here:80", 200, "text/css; charset=utf-8",
	     "p { color: red }\n", ""},
	    {"/" WEB_TOKEN "/page.css", "HEAD", "here:80", 200, "text/css; charset=utf-8",
	     "p { color: red }\n", ""},
	    {"/" WEB_TOKEN "/page.cs", "GET", "here:80", 404, PLAIN,
	     "goheap: there is no such page\n", ""},
	    {"/" WEB_TOKEN "/api", "GET", "here:80", 404, PLAIN, "goheap: there is no such page\n",
	     ""},
	    {"/" WEB_TOKEN "/page.css", "POST", "here:80", 405, PLAIN, "goheap: expected GET\n",
	     "GET, HEAD"},
	    {"/page.css", "GET", "here:80", 403, PLAIN,
	     "goheap: use the address that goheap printed\n", ""},
	    {"/" WEB_TOKEN "/page.css", "GET", "there:80", 403, PLAIN,
	     "goheap: use the address that goheap printed\n", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct web_connection connection;
		web_start();
		web_connect(&connection, cases[i].url);
		connection.host = cases[i].host;
		ck_assert_int_eq(web_take(&connection, cases[i].method, 0), MHD_YES);
		ck_assert_uint_eq(connection.status, cases[i].status);
		ck_assert_str_eq(connection.type, cases[i].type);
		ck_assert_str_eq(connection.text, cases[i].text);
		ck_assert_str_eq(connection.allow, cases[i].allow);
		ck_assert_int_eq(connection.suspended, 0);
		web_close(&connection);
	}
}
END_TEST

START_TEST(bodies_are_refused)
{
	struct web_connection connection;
	web_start();
	web_connect(&connection, "/" WEB_TOKEN "/page.css");
	ck_assert_int_eq(web_take(&connection, "GET", 1), MHD_NO);
	ck_assert_uint_eq(connection.status, 0);
	web_close(&connection);
}
END_TEST

/* Sixteen at most, and no NUL in them. */
START_TEST(questions_have_parameters)
{
	static const struct {
		size_t count;
		size_t key_size;
		const char *value;
		size_t value_size;
		bool taken;
	} cases[] = {
	    {0, 1, "v", 1, true},  {16, 1, "v", 1, true}, {17, 1, "v", 1, false},
	    {1, 2, "v", 1, false}, {1, 1, "v", 2, false}, {2, 1, NULL, 0, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct web_connection connection;
		web_start();
		web_connect(&connection, "/" WEB_TOKEN "/api/none");
		connection.nparameters = cases[i].count;
		for (size_t j = 0; j < cases[i].count; j++) {
			connection.parameters[j].key = "k\0x";
			connection.parameters[j].key_size = cases[i].key_size;
			connection.parameters[j].value = cases[i].value;
			connection.parameters[j].value_size = cases[i].value_size;
		}
		ck_assert_int_eq(web_take(&connection, "GET", 0), MHD_YES);
		ck_assert_int_eq(connection.suspended, cases[i].taken);
		ck_assert_uint_eq(connection.status, cases[i].taken ? 0 : 400);
		if (!cases[i].taken) {
			ck_assert_str_eq(connection.text, "goheap: no such question\n");
		} else {
			const struct gh_web_question *question = &web_server.requests->question;
			ck_assert_str_eq(question->name, "none");
			ck_assert_uint_eq(question->count, cases[i].count);
			for (size_t j = 0; j < cases[i].count; j++)
				ck_assert_str_eq(question->parameters[j].value,
						 cases[i].value != NULL ? "v" : "");
			ck_assert(gh_web_requests_look_after(&web_server));
		}
		web_close(&connection);
	}
}
END_TEST

void web_request_tests(TCase *tests)
{
	tcase_add_test(tests, questions_have_answers_or_reasons);
	tcase_add_test(tests, what_is_no_question_is_answered_at_once);
	tcase_add_test(tests, bodies_are_refused);
	tcase_add_test(tests, questions_have_parameters);
}
