/* A program in C that calls the function Work of Go libraries: of the one that it was linked with,
 * or of those that are its arguments, by dlopen. With LOOP in its environment it goes on for ever;
 * with WAIT it loads libraries once there is input, with LATER all but the first so many seconds
 * later; CALL is the name of another function of those that it loads. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int work_function(int);

#ifdef LINKED
work_function Work;
#endif

static work_function *find(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (library != NULL)
		return (work_function *)dlsym(library,
					      getenv("CALL") != NULL ? getenv("CALL") : "Work");
	fprintf(stderr, "%s\n", dlerror());
	exit(1);
}

int main(int argc, char **argv)
{
	work_function *works[8] = {0};
	int count = 0;
#ifdef LINKED
	works[count++] = Work;
#endif
	if (getenv("WAIT") != NULL) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	for (int i = 1; i < argc && count < 8; i++) {
		if (i > 1 && getenv("LATER") != NULL)
			sleep((unsigned)atoi(getenv("LATER")));
		works[count++] = find(argv[i]);
	}
	do {
		for (int i = 0; i < count; i++)
			printf("%d\n", works[i](21 + i));
		usleep(getenv("LOOP") != NULL ? 100000 : 0);
	} while (getenv("LOOP") != NULL);
	return 0;
}
