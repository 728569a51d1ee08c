#include "plugin/view/emit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/util/escape.h"

/* Whatever the terminal's width is, a line of this length is not broken on most. */
#define MAX_TEXT 64

/* What the signal's handler prints. */
static char text[MAX_TEXT];
static volatile sig_atomic_t seconds; /* that have passed */
static int terminal;                  /* that they are shown on */
static unsigned begun;                /* works in one another, of which the first is shown */

static void put(const char *string)
{
	if (write(terminal, string, strlen(string)) < 0)
		return;
}

/* Rewrites the line. Only what a signal's handler may do is done. */
static void show(int signal)
{
	(void)signal;
	char digits[16];
	char *start = digits + sizeof(digits) - 1;
	seconds++;
	*start = '\0';
	for (int left = seconds; left > 0; left /= 10)
		*--start = (char)('0' + left % 10);
	put("\r");
	put(text);
	put(", ");
	put(start);
	put(" s\x1b[K");
}

static void set_timer(time_t interval)
{
	struct itimerval timer = {.it_interval.tv_sec = interval, .it_value.tv_sec = interval};
	setitimer(ITIMER_REAL, &timer, NULL);
}

void gh_progress_begin(const char *doing, const char *path)
{
	if (begun++ > 0)
		return;
	terminal = isatty(STDERR_FILENO) ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
	if (terminal < 0)
		return;
	char name[MAX_TEXT];
	const char *slash = strrchr(path, '/');
	gh_escape_text(name, sizeof(name), slash != NULL ? slash + 1 : path);
	snprintf(text, sizeof(text), "%s %.*s", doing, MAX_TEXT / 2, name);
	seconds = 0;
	struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	set_timer(1);
}

void gh_progress_end(void)
{
	if (--begun > 0 || terminal < 0)
		return;
	set_timer(0);
	if (seconds > 0)
		put("\r\x1b[K");
	seconds = 0;
	close(terminal);
}
