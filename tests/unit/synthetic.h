/* A tiny Go program made byte by byte: an ELF file with a pclntab of any format, for any word size
 * and byte order. It shares no code with the reader. */
#ifndef TESTS_UNIT_SYNTHETIC_H
#define TESTS_UNIT_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum synthetic_format {
	SYNTHETIC_1_2,
	SYNTHETIC_1_16,
	SYNTHETIC_1_18,
	SYNTHETIC_1_20,
	SYNTHETIC_1_26, /* as 1.20, with no text address in the header */
	SYNTHETIC_FORMATS,
	/* Another program, with section headers only: see below. */
	SYNTHETIC_1_0 = SYNTHETIC_FORMATS,
	SYNTHETIC_INTERIM, /* between Go 1.0 and 1.1, little-endian only */
	SYNTHETIC_1_1,
	SYNTHETIC_ALL_FORMATS,
};

/* What to make. */
struct synthetic {
	enum synthetic_format format;
	unsigned word;    /* pointer size, 4 or 8 bytes */
	bool big_endian;  /* byte order */
	bool sections;    /* with section headers */
	bool no_files;    /* before Go 1.2: nothing tells of files */
	bool no_func_id;  /* of the format of Go 1.2: by a release before 1.12 */
	const char *last; /* the name of the last function; NULL: runtime.goexit */
	uint16_t machine; /* EM_...; 0: one that has such words and byte order */
};

/* Where things are in the file, for tests that damage them; offsets in bytes. */
struct synthetic_places {
	size_t pclntab; /* the table */
	size_t functab; /* its first pair */
	size_t records; /* the first _func record */
	size_t pctab;   /* the first pc-value table */
	size_t tree;    /* the inline tree */
	size_t names;   /* the first name */
	size_t moduledata;
	size_t size; /* of the file */
};

#define SYNTHETIC_TEXT 0x401000 /* address of main.main */
#define SYNTHETIC_DATA 0x403800 /* address of the moduledata */

/* The program has three functions (addresses relative to SYNTHETIC_TEXT):
 *
 *   main.main       0x00-0x40 (padding to 0x50)  /src/main.go
 *       0x00-0x0c line 10, 0x0c-0x14 line 11, 0x14-0x24 main.small inlined at line 11
 *       (/src/leaf.go:3), 0x24-0x40 line 12; stack 0 to 0x08, 24 to 0x3c, 0 to the end;
 *       pointer maps none to 0x10, 1 to 0x24, 0 to the end: of two locals the first in map 0, the
 *       second in map 1, of one argument in map 0
 *   main.leaf       0x50-0x68 (padding to 0x70)  /src/leaf.go
 *       0x50-0x58 line 20, 0x58-0x68 line 21; stack 0 to 0x58, 16 to the end
 *   runtime.goexit  0x70-0x78                    /go/asm.s, line 5; stack 0
 */

/* The program in the formats before Go 1.2 has a symbol table, which places.records is the offset
 * of, and functions without padding:
 *
 *   main.main       0x00-0x50
 *       0x00-0x0c /src/main.go:10, 0x0c-0x14 line 11, 0x14-0x24 /src/leaf.go:3, then
 *       /src/main.go:12; a frame of 24 bytes. On x86 it is made up to 0x08 and given up from 0x3c
 *       to 0x3d; two words are pushed up to 0x25 and 0x27, popped from 0x32 and 0x33 on
 *   main.leaf       0x50-0x70  static
 *       0x50-0x58 /src/leaf.go:20, then line 21; a frame of 16 bytes, and no code that makes it
 *   runtime.goexit  0x70-0x78
 *       /go/asm.s:5, after a file that is included at line 3; no frame
 *   main.made       0x78-0x80  spelled with a middle dot
 *       /src/leaf.go:401, by a directive that gives line 400 to the line before
 */

/* Makes the file; the caller frees it. PLACES may be NULL. */
uint8_t *synthetic_make(const struct synthetic *what, size_t *size,
			struct synthetic_places *places);

#endif
