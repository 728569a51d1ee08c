/* Makeprogram writes the program that tests/unit/synthetic.h describes: its pclntab of one of the
 * formats there, those of Go 1.0 and 1.1 among them, which no toolchain of today makes; for a
 * pointer size in bytes and a byte order. It shares no code with the reader.
 *
 *	makeprogram 1.0|interim|1.1|1.2|1.16|1.18|1.20|1.26 4|8 little|big >PROGRAM
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/synthetic.h"

int main(int argc, char **argv)
{
	static const char *const formats[SYNTHETIC_ALL_FORMATS] = {
	    [SYNTHETIC_1_2] = "1.2",         [SYNTHETIC_1_16] = "1.16", [SYNTHETIC_1_18] = "1.18",
	    [SYNTHETIC_1_20] = "1.20",       [SYNTHETIC_1_26] = "1.26", [SYNTHETIC_1_0] = "1.0",
	    [SYNTHETIC_INTERIM] = "interim", [SYNTHETIC_1_1] = "1.1",
	};
	for (unsigned i = 0; argc == 4 && i < SYNTHETIC_ALL_FORMATS; i++) {
		if (strcmp(argv[1], formats[i]) != 0)
			continue;
		const struct synthetic what = {
		    .format = (enum synthetic_format)i,
		    .word = (unsigned)atoi(argv[2]),
		    .big_endian = strcmp(argv[3], "big") == 0,
		    .sections = true,
		};
		size_t size;
		uint8_t *data = synthetic_make(&what, &size, NULL);
		bool written = fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0;
		free(data);
		return written ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	fputs("usage: makeprogram FORMAT 4|8 little|big\n", stderr);
	return 2;
}
