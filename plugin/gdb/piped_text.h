/* What GDB prints into a pipe, as a person would see it. Under MI some releases, 18.1 for one, send
 * there what they would send to the front end: records, with what is printed as C strings behind a
 * "~". (GDB/MI Output Syntax in GDB's manual.) */
#ifndef GH_PLUGIN_GDB_PIPED_TEXT_H
#define GH_PLUGIN_GDB_PIPED_TEXT_H

#include <stdio.h>

/* Reads IN to its end or a NUL: the text, to be freed, which may be empty. NULL if memory ran out.
 */
char *gh_piped_text_read(FILE *in);

/* Replaces in TEXT the records by what they print. Other lines stay. */
void gh_piped_text_decode(char *text);

#endif
