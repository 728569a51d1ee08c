#include <unistd.h>

#include "_cgo_export.h"

/* Each frame of a chain must stay one, whatever the C compiler's options. */
#define FRAME __attribute__((noinline, noclone))

int through_c(int n);
int wait_in_c(void);

FRAME static int inner_c(int n)
{
	volatile int result = calledFromC(n + 1); /* BREAK inner_c */
	return result + 1;
}

FRAME int through_c(int n)
{
	volatile int result = inner_c(n + 1);
	return result + 1;
}

FRAME int wait_in_c(void)
{
	int ends[2];
	char byte;
	volatile int result;

	if (pipe(ends))
		return 1;
	result = read(ends[0], &byte, 1) != 0;
	return result;
}
