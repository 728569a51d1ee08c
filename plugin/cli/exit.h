/* How the program ends other than by a return from main. */
#ifndef GH_PLUGIN_CLI_EXIT_H
#define GH_PLUGIN_CLI_EXIT_H

/* Has the program say so, and exit with status 1, when its standard output cannot be written, even
 * where a library exits (argp's --help); when a file that it reads is cut short, which would end it
 * with SIGBUS; and remove its temporary files when SIGINT, SIGTERM or SIGHUP ends it. To be called
 * first in main. */
void gh_exit_prepare(void);

#endif
