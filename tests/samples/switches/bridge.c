#include <string.h>

#include "_cgo_export.h"

/* Each frame of a chain must stay one, whatever the C compiler's options. */
#define FRAME __attribute__((noinline, noclone))

int down(int n);
int crash(int *where);
int measure(const char *where);

FRAME static int further_down(int n)
{
	volatile int result = upAgain(n);
	return result + 1;
}

FRAME int down(int n)
{
	volatile int result = further_down(n);
	return result + 1;
}

FRAME static int crash_here(int *where)
{
	volatile int result = *where;
	return result + 1;
}

FRAME int crash(int *where)
{
	volatile int result = crash_here(where);
	return result + 1;
}

FRAME int measure(const char *where)
{
	volatile int result = (int)strlen(where);
	return result + 1;
}
