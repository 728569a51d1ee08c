/* Makeprogram writes the program that tests/unit/synthetic.h describes: its pclntab of one of the
 *formats that it lists, by number, for a pointer size in bytes and a byte order. It shares no code
 *with the reader.
 *
 *	makeprogram FORMAT WORD little|big >PROGRAM
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/synthetic.h"

int main(int argc, char **argv)
{
	size_t size;
	if (argc != 4)
		return 2;
	struct synthetic what = {.format = (enum synthetic_format)atoi(argv[1]),
				 .word = (unsigned)atoi(argv[2]),
				 .big_endian = strcmp(argv[3], "big") == 0,
				 .sections = true};
	uint8_t *data = synthetic_make(&what, &size, NULL);
	bool written = fwrite(data, 1, size, stdout) == size && fclose(stdout) == 0;
	free(data);
	return written ? 0 : 1;
}
