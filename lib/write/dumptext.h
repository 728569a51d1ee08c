/* Texts of a heap dump in what is written for a debugger. */
#ifndef GH_WRITE_DUMPTEXT_H
#define GH_WRITE_DUMPTEXT_H

#include "lib/dump/dump.h"
#include "lib/util/buffer.h"

/* Appends TEXT of DUMP, made safe for a terminal (gh_escape_overwrite), and a NUL. */
void gh_dumptext_put(struct gh_buffer *out, const struct gh_dump *dump, struct gh_dump_slice text);

#endif
