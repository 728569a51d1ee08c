#include "lib/pclntab/internal.h"

/* What a table of Go 1.1 begins with, in the machine's byte order, and one of the time between Go
 * 1.0 and 1.1, which has values in that order, too. */
#define MAGIC_1_1     0xfffffffd
#define MAGIC_INTERIM 0xfffffffe

/* The type of a symbol of Go 1.1 is in the low bits of its first byte, which tells also whether
 * its value is a whole word, and whether a word follows that points to its Go type. */
#define TYPE_BITS   0x3f
#define WIDE_VALUE  0x40
#define HAS_GO_TYPE 0x80

/* The type of an older symbol always has this bit. */
#define OLD_TYPE 0x80

void gh_plan9_symbols_start(struct gh_plan9_symbols *walk, struct gh_cursor cur, uint8_t word)
{
	*walk = (struct gh_plan9_symbols){.cur = cur, .word = word};
	struct gh_cursor header = cur;
	uint32_t magic = gh_cursor_u32(&header);
	if (magic == MAGIC_1_1) {
		gh_cursor_bytes(&header, 3);
		walk->word = gh_cursor_u8(&header) == 4 ? 4 : 8;
		walk->format = GH_PCLNTAB_1_1;
		walk->cur = header;
	} else if (magic == MAGIC_INTERIM && !cur.big_endian) {
		gh_cursor_bytes(&header, 2);
		walk->cur = header;
	} else {
		walk->cur.big_endian = true;
	}
}

/* The name, or the path after a byte that is always 0. */
static void read_name(struct gh_plan9_symbols *walk, struct gh_plan9_symbol *symbol)
{
	struct gh_cursor *cur = &walk->cur;
	if (symbol->type != GH_PLAN9_PATH && symbol->type != GH_PLAN9_LINE_NUMBER) {
		symbol->name = gh_cursor_string(cur);
		return;
	}
	symbol->name = "";
	gh_cursor_u8(cur);
	symbol->path = cur->pos;
	while (gh_cursor_u16(cur) != 0)
		symbol->path_size += 2;
}

static void read_1_1(struct gh_plan9_symbols *walk, struct gh_plan9_symbol *symbol)
{
	struct gh_cursor *cur = &walk->cur;
	uint8_t first = gh_cursor_u8(cur);
	uint8_t type = first & TYPE_BITS;
	symbol->type = (char)(type < 26 ? 'A' + type : 'a' + (type - 26));
	symbol->value =
	    (first & WIDE_VALUE) != 0 ? gh_cursor_uint(cur, walk->word) : gh_cursor_uvarint(cur);
	if ((first & HAS_GO_TYPE) != 0)
		gh_cursor_bytes(cur, walk->word);
	read_name(walk, symbol);
}

static void read_1_0(struct gh_plan9_symbols *walk, struct gh_plan9_symbol *symbol)
{
	struct gh_cursor *cur = &walk->cur;
	symbol->value = gh_cursor_u32(cur);
	uint8_t type = gh_cursor_u8(cur);
	symbol->type = (char)(type & ~OLD_TYPE);
	if ((type & OLD_TYPE) == 0)
		cur->failed = true;
	read_name(walk, symbol);
	gh_cursor_bytes(cur, 4); /* address of the Go type */
}

bool gh_plan9_symbols_next(struct gh_plan9_symbols *walk, struct gh_plan9_symbol *symbol)
{
	*symbol = (struct gh_plan9_symbol){0};
	if (gh_cursor_left(&walk->cur) == 0)
		return false;
	if (walk->format == GH_PCLNTAB_1_1)
		read_1_1(walk, symbol);
	else
		read_1_0(walk, symbol);
	return !walk->cur.failed;
}
