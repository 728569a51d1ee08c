/* What holds the heap: variables, goroutines with the same stack, finalizers and the rest of the
 * roots, each with all that only it leads to. */
#ifndef GH_PLUGIN_VIEW_HOLDERS_H
#define GH_PLUGIN_VIEW_HOLDERS_H

#include "lib/heap/histogram.h"
#include "plugin/view/object_names.h"

struct gh_holder {
	uint64_t key;        /* the same in another dump of the program */
	uint32_t root;       /* the number of that of its roots that alone retains most */
	uint32_t goroutines; /* with its stack; 0 if it is no stack */
};

struct gh_held {
	const struct gh_names *names; /* the caller's */
	struct GH_VECTOR(struct gh_holder) holders;
	uint32_t *of; /* by root: its holder's number; owned */
	struct gh_dominators dominators;
	struct gh_dominator_tree tree; /* of them */
};

/* Finds the holders of the heap of NAMES. False (ERR filled) if memory ran out. To be freed either
 * way. */
bool gh_held_make(struct gh_held *held, struct gh_names *names, struct gh_error *err);

void gh_held_free(struct gh_held *held);

/* The bytes that only holder NUMBER leads to. */
uint64_t gh_held_bytes(const struct gh_held *held, uint32_t number);

/* The number of the holder with KEY; GH_HEAP_NONE if there is none. */
uint32_t gh_held_find(const struct gh_held *held, uint64_t key);

/* Prints holder NUMBER for a person: "main.srv -> main.Server (static).tenants", "5,000
 * goroutines in main.handle at main.go:51, r". */
void gh_held_print(FILE *out, const struct gh_held *held, struct gh_names *names, uint32_t number);

#endif
