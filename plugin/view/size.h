/* Sizes for a person. */
#ifndef GH_PLUGIN_VIEW_SIZE_H
#define GH_PLUGIN_VIEW_SIZE_H

#include <stdint.h>

/* Bytes that the text of a size takes, with its NUL. */
#define GH_SIZE_TEXT 32

/* SIZE, in bytes, as "512 bytes", "4.4 MB"; in BUF. */
const char *gh_size_text(uint64_t size, char buf[GH_SIZE_TEXT]);

#endif
