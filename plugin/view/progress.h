/* A line on the terminal, while long work is done, that says what is and for how long. */
#ifndef GH_PLUGIN_VIEW_PROGRESS_H
#define GH_PLUGIN_VIEW_PROGRESS_H

/* Work begins on the file PATH: "DOING PATH, N s" is shown after a second, and from then on each
 * second, if standard error is a terminal. DOING is fit for it. Until the end nothing else is to
 * print there. */
void gh_progress_begin(const char *doing, const char *path);

/* The work has ended: the line is wiped. */
void gh_progress_end(void);

#endif
