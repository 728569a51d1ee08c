/* The names of types as the linker spells them, in symbols and in DWARF. */
#ifndef GH_RTYPE_NAME_H
#define GH_RTYPE_NAME_H

#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"

/* Appends the name of type NUMBER to OUT, with no NUL: as its string, but with import paths in the
 * place of packages' names, also before the unexported fields of unnamed structs. So two types of
 * one name are told apart. It is no longer than a small multiple of the string; if it would be, it
 * is the string itself. Format: types.Type.LinkString in src/cmd/compile/internal/types/fmt.go. */
void gh_rtype_name(struct gh_buffer *out, const struct gh_rtypes *types, uint32_t number);

#endif
