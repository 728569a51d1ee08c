/* The commands of the goheap program. */
#ifndef GH_PLUGIN_COMMAND_H
#define GH_PLUGIN_COMMAND_H

/* The exit statuses of every command. */
enum {
	GH_EXIT_OK = 0,
	GH_EXIT_INPUT = 1, /* an input is bad, or an output cannot be written */
	GH_EXIT_USAGE = 2, /* the command line is */
};

/* Each takes its own name as argv[0], prints to standard output and (errors, one line)
 * to standard error, and returns an exit status. */
int gh_cmd_info(int argc, char **argv);
int gh_cmd_funcs(int argc, char **argv);
int gh_cmd_lines(int argc, char **argv);
int gh_cmd_addr2line(int argc, char **argv);
int gh_cmd_debug(int argc, char **argv);
int gh_cmd_goroutine(int argc, char **argv);
int gh_cmd_goroutines(int argc, char **argv);
int gh_cmd_frames(int argc, char **argv);
int gh_cmd_types(int argc, char **argv);
int gh_cmd_itabs(int argc, char **argv);
int gh_cmd_roots(int argc, char **argv);
int gh_cmd_finalizers(int argc, char **argv);
int gh_cmd_defers(int argc, char **argv);
int gh_cmd_panics(int argc, char **argv);
int gh_cmd_threads(int argc, char **argv);
int gh_cmd_memstats(int argc, char **argv);
int gh_cmd_params(int argc, char **argv);
int gh_cmd_pprof(int argc, char **argv);
int gh_cmd_profile(int argc, char **argv);
int gh_cmd_core(int argc, char **argv);
int gh_cmd_dot(int argc, char **argv);
int gh_cmd_hprof(int argc, char **argv);
int gh_cmd_load(int argc, char **argv);
int gh_cmd_fetch(int argc, char **argv);
int gh_cmd_report(int argc, char **argv);
int gh_cmd_session(int argc, char **argv);
int gh_cmd_objects(int argc, char **argv);
int gh_cmd_referrers(int argc, char **argv);
int gh_cmd_path(int argc, char **argv);
int gh_cmd_reachable(int argc, char **argv);
int gh_cmd_histogram(int argc, char **argv);
int gh_cmd_dominators(int argc, char **argv);
int gh_cmd_unreachable(int argc, char **argv);
int gh_cmd_diff(int argc, char **argv);
int gh_cmd_strings(int argc, char **argv);
int gh_cmd_value(int argc, char **argv);
int gh_cmd_within(int argc, char **argv);

struct gh_options;

/* `goheap types' on a heap dump. */
int gh_dump_types(const struct gh_options *options);

#endif
