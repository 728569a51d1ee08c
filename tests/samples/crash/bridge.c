#include <pthread.h>
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

void *fault_in_c(void *unused)
{
	*(volatile int *)8 = 1;
	return unused;
}

void fault_on_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, fault_in_c, NULL);
	pthread_join(thread, NULL);
}
