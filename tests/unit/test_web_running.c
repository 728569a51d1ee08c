/* Which questions the web server answers when, and for how long. */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/suites.h"
#include "tests/unit/webmaker.h"

#define REASON "text/x-reason; charset=utf-8"

/* Has CONNECTION ask what goes on for ever, with VALUE for a parameter. */
static void ask_for_ever(struct web_connection *connection, const char *value)
{
	web_connect(connection, "/" WEB_TOKEN "/api/for-ever");
	connection->parameters[0].key = "k";
	connection->parameters[0].key_size = 1;
	connection->parameters[0].value = value;
	connection->parameters[0].value_size = strlen(value);
	connection->nparameters = 1;
	ck_assert_int_eq(web_take(connection, "GET", 0), MHD_YES);
}

static unsigned count_running(void)
{
	unsigned running = 0;
	for (const struct gh_web_request *one = web_server.requests; one != NULL; one = one->next)
		running += one->state == GH_WEB_RUNNING;
	return running;
}

/* Ends what runs as if it had taken too long. */
static void run_out_of_time(void)
{
	for (struct gh_web_request *one = web_server.requests; one != NULL; one = one->next)
		if (one->state == GH_WEB_RUNNING)
			one->deadline = 0;
	ck_assert(gh_web_requests_look_after(&web_server));
}

START_TEST(four_questions_are_answered_at_a_time)
{
	static const char *const values[] = {"1", "2", "3", "4", "5", "6"};
	struct web_connection connections[6];
	web_start();
	for (size_t i = 0; i < 6; i++)
		ask_for_ever(&connections[i], values[i]);
	ck_assert(!gh_web_requests_look_after(&web_server));
	ck_assert_uint_eq(count_running(), 4);
	ck_assert(!gh_web_requests_look_after(&web_server));
	ck_assert_uint_eq(count_running(), 4);
	/* Those that have waited are begun in their order. */
	run_out_of_time();
	ck_assert_uint_eq(count_running(), 2);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(connections[i].resumed, i < 4);
	run_out_of_time();
	ck_assert_ptr_null(web_server.requests);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_int_eq(web_take(&connections[i], "GET", 0), MHD_YES);
		ck_assert_uint_eq(connections[i].status, 200);
		ck_assert_str_eq(connections[i].type, REASON);
		ck_assert_str_eq(connections[i].text,
				 "goheap: it took longer than two minutes: goheap in a shell takes "
				 "as long as it needs\n");
		web_close(&connections[i]);
	}
	ck_assert_uint_eq(web_ended, 6);
	ck_assert_uint_eq(web_answered, 0);
}
END_TEST

/* The second is known when the first has been answered. */
START_TEST(who_asks_the_same_waits_for_the_first)
{
	struct web_connection first, same, other;
	web_start();
	ask_for_ever(&first, "1");
	ask_for_ever(&same, "1");
	ask_for_ever(&other, "2");
	gh_web_requests_look_after(&web_server);
	ck_assert_uint_eq(count_running(), 2);
	ck_assert_int_eq(web_server.requests->state, GH_WEB_RUNNING);
	ck_assert_int_eq(web_server.requests->next->state, GH_WEB_WAITING);
	run_out_of_time();
	ck_assert_uint_eq(count_running(), 1);
	run_out_of_time();
	web_close(&first);
	web_close(&same);
	web_close(&other);
}
END_TEST

/* Who has only said all that there is to say waits still, who has gone does not. */
START_TEST(what_nobody_waits_for_is_not_answered)
{
	struct web_connection runs, waits;
	char said[64] = "";
	web_start();
	ask_for_ever(&runs, "1");
	ask_for_ever(&waits, "1");
	ck_assert(!gh_web_requests_look_after(&web_server));
	pid_t child = web_server.requests->child;
	ck_assert_int_eq(shutdown(runs.there, SHUT_WR), 0);
	ck_assert(!gh_web_requests_look_after(&web_server));
	ck_assert(web_server.requests->has_said_all);
	ck_assert_int_eq(read(runs.there, said, sizeof(said) - 1), 25);
	ck_assert_str_eq(said, "HTTP/1.1 100 Continue\r\n\r\n");
	/* It is said once. */
	ck_assert(!gh_web_requests_look_after(&web_server));
	struct pollfd more = {.fd = runs.there, .events = POLLIN};
	ck_assert_int_eq(poll(&more, 1, 0), 0);
	ck_assert_uint_eq(count_running(), 1);
	web_hang_up(&waits);
	ck_assert(gh_web_requests_look_after(&web_server));
	ck_assert_int_eq(waits.resumed, 1);
	ck_assert_ptr_null(web_server.requests->next);
	web_hang_up(&runs);
	/* Which kills the child: it is taken then, or the next time. */
	if (!gh_web_requests_look_after(&web_server)) {
		siginfo_t info;
		waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
		ck_assert(gh_web_requests_look_after(&web_server));
	}
	ck_assert_ptr_null(web_server.requests);
	ck_assert_int_eq(waitpid(child, NULL, WNOHANG), -1);
	web_close(&runs);
	web_close(&waits);
}
END_TEST

/* Waits until the child stands still, or goes on. */
static void wait_for_state(pid_t child, int what)
{
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, what), 0);
}

/* One that is likely is begun when no other is asked; others hold it back but for its own. */
START_TEST(likely_questions_are_answered_ahead)
{
	struct web_connection connection;
	web_start();
	web_likely[0] = (struct gh_web_question){.name = "for-ever", .count = 1};
	web_likely[0].parameters[0] = (struct gh_web_parameter){"k", "0"};
	web_likely[1] = (struct gh_web_question){.name = "answer"};
	ck_assert(!gh_web_requests_look_after(&web_server));
	ck_assert_uint_eq(web_server.ahead, 1);
	ck_assert_uint_eq(count_running(), 1);
	ck_assert_ptr_null(web_server.requests->connection);
	ck_assert_int_eq(gh_web_request_socket(web_server.requests), -1);
	pid_t child = web_server.requests->child;
	ask_for_ever(&connection, "0");
	ck_assert(!gh_web_requests_look_after(&web_server));
	ck_assert_int_eq(web_server.requests->next->state, GH_WEB_WAITING);
	connection.parameters[0].value = "1";
	((struct gh_web_request *)connection.request)->question.parameters[0].value = "1";
	ck_assert(!gh_web_requests_look_after(&web_server));
	ck_assert_int_eq(web_server.requests->next->state, GH_WEB_RUNNING);
	wait_for_state(child, WSTOPPED);
	/* Nobody waits any more: it goes on. */
	web_server.requests->next->deadline = 0;
	ck_assert(gh_web_requests_look_after(&web_server));
	wait_for_state(child, WCONTINUED);
	web_close(&connection);
	/* The next when this is done, and no more. */
	run_out_of_time();
	ck_assert_uint_eq(web_server.ahead, 2);
	web_wait_for_child(web_server.requests);
	ck_assert(gh_web_requests_look_after(&web_server));
	ck_assert_ptr_null(web_server.requests);
	ck_assert_uint_eq(web_answered, 1);
	ck_assert_uint_eq(web_server.ahead, 2);
}
END_TEST

void web_running_tests(TCase *tests)
{
	tcase_add_test(tests, four_questions_are_answered_at_a_time);
	tcase_add_test(tests, who_asks_the_same_waits_for_the_first);
	tcase_add_test(tests, what_nobody_waits_for_is_not_answered);
	tcase_add_test(tests, likely_questions_are_answered_ahead);
}
