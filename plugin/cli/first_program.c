/* goheap PROGRAM: what a program's file is, who runs it, and what it can be asked. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "lib/util/process_list.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/view/view.h"

/* The most processes that are listed. */
enum { MOST_LISTED = 10 };

/* The search for processes that run a file. */
struct search {
	struct stat file;
	size_t count;
};

static void take(void *context, const struct gh_process_summary *process)
{
	struct search *search = context;
	struct stat file;
	char path[64];
	char user[GH_USER_TEXT];
	snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
	if (stat(path, &file) != 0 || file.st_dev != search->file.st_dev ||
	    file.st_ino != search->file.st_ino || search->count++ >= MOST_LISTED)
		return;
	printf("   goheap %d   started ", process->pid);
	gh_time_print(stdout, process->started);
	fputs(" by ", stdout);
	gh_escape_print(stdout, gh_user_text(user, process->user));
	putchar('\n');
}

static void print_processes(const char *path)
{
	struct search search = {0};
	if (stat(path, &search.file) != 0)
		return;
	puts("Its processes:");
	gh_process_list(take, &search);
	if (search.count == 0)
		puts("   none is running");
	gh_print_more(MOST_LISTED, search.count);
}

static void print_text(const struct gh_program *program, const struct gh_options *options)
{
	const struct gh_image *image = &program->image;
	struct gh_buildinfo build;
	gh_buildinfo_read(&build, image);
	const char *id = build.gnu_build_id != NULL ? build.gnu_build_id : build.go_build_id;
	gh_escape_print(stdout, image->path);
	fputs(" is a Go program", stdout);
	if (build.go_version != NULL) {
		fputs(": ", stdout);
		gh_escape_print(stdout, build.go_version);
	}
	printf(", %s", image->arch->goarch);
	gh_module_print(stdout, build.module, build.module_version);
	fputs("\nbuild id ", stdout);
	gh_escape_print(stdout, id != NULL ? id : "unknown");
	printf("\n%s%s; ",
	       gh_image_section(image, ".symtab") == NULL ? "stripped: it has no symbol table"
							  : "not stripped",
	       gh_image_has_dwarf(image) ? "" : ", and no DWARF");
	gh_print_count(stdout, program->tab.nfunc, "function");
	puts("\n");
	print_processes(image->path);
	puts("To look closer:");
	static const char *const commands[] = {"info", "funcs", "types", "debug"};
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		fputs("   ", stdout);
		gh_command_line_print(stdout, options, commands[i]);
		putchar('\n');
	}
	if (build.failed)
		gh_leave_out();
	gh_buildinfo_free(&build);
}

int gh_program_describe(const struct gh_options *options)
{
	struct gh_program program;
	if (options->json)
		return gh_cmd_info(options);
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	print_text(&program, options);
	gh_program_close(&program);
	return GH_EXIT_OK;
}
