/* What is around an object, as a picture: the shortest way to it from a root, what points to it,
 * and what it points to. */
#ifndef GH_PLUGIN_CLI_NEIGHBORHOOD_H
#define GH_PLUGIN_CLI_NEIGHBORHOOD_H

#include "plugin/cli/picture.h"

/* Draws what is around CENTER, so many objects as are the picture's limit. False if memory ran out.
 */
bool gh_neighborhood_draw(struct gh_picture *picture, uint32_t center);

#endif
