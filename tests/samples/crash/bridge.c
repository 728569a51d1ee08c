#include <stdlib.h>

void spin_in_c(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

void abort_in_c(void)
{
	abort();
}
