/* What the runtime keeps maps and channels in. */
#ifndef GH_TYPING_LAYOUT_RUNTIME_H
#define GH_TYPING_LAYOUT_RUNTIME_H

#include "lib/typing/layout.h"

/* Has each map and channel of LAYOUTS' descriptors point to a struct of the runtime's whose
 * pointers say what they point to. The structs' own descriptors, which programs that make maps and
 * channels have, tell where their fields are. False if memory ran out. Sources: src/runtime/map.go
 * and chan.go, src/internal/runtime/maps. */
bool gh_layouts_add_runtime(struct gh_layouts *layouts);

/* The number of the type that the runtime calls NAME in PACKAGE, in which it is called as in
 * "runtime.g"; GH_NO_LAYOUT if there is no descriptor of it. */
uint32_t gh_layouts_find(const struct gh_layouts *layouts, const char *package, const char *name);

#endif
