/* Plan9 writes a program with tables of Go 1.0 or 1.1, which no toolchain of today makes. It shares
 *no code with the reader.
 *
 *	plan9 1.0|interim|1.1 32|64 >PROGRAM
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/synthetic.h"

int main(int argc, char **argv)
{
	static const char *const formats[] = {"1.0", "interim", "1.1"};
	for (unsigned i = 0; argc == 3 && i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(argv[1], formats[i]) != 0)
			continue;
		const struct synthetic what = {
		    .format = (enum synthetic_format)(SYNTHETIC_1_0 + i),
		    .word = (unsigned)atoi(argv[2]) / 8,
		    .sections = true,
		};
		size_t size;
		uint8_t *data = synthetic_make(&what, &size, NULL);
		bool written = fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0;
		free(data);
		return written ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	fputs("usage: plan9 1.0|interim|1.1 32|64\n", stderr);
	return 2;
}
