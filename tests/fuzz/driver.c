/* Runs a fuzz target without libFuzzer: on the target's seeds, on damaged copies of them, always
 * the same ones, and on the files named on the command line. With -w DIRECTORY it writes the seeds
 * there instead. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/target.h"
#include "tests/unit/random.h"

/* Damaged copies of each seed: most of what they do wrong is only seen by the sanitizers. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 1000
#else
#define ROUNDS 300
#endif

#define DAMAGES 4 /* at most, in one copy */

static void damage(uint8_t *data, size_t size)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	for (uint32_t n = 1 + next_random() % DAMAGES; n > 0; n--) {
		size_t offset = next_random() % size;
		size_t length = 1 + next_random() % 8;
		uint8_t value = values[next_random() % sizeof(values)];
		for (size_t i = 0; i < length && offset + i < size; i++)
			data[offset + i] = next_random() % 2 ? value : (uint8_t)next_random();
	}
}

/* As libFuzzer does, in memory of the input's own size, so that a read past the end is seen. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_seeds(void)
{
	size_t size;
	uint8_t *data;
	for (int number = 0; (data = fuzz_seed(number, &size)) != NULL; number++) {
		uint8_t *copy = malloc(size);
		run(data, size);
		for (unsigned round = 0; round < ROUNDS; round++) {
			memcpy(copy, data, size);
			damage(copy, size);
			LLVMFuzzerTestOneInput(copy, size);
		}
		free(copy);
		free(data);
	}
}

static int write_seeds(const char *directory)
{
	size_t size;
	uint8_t *data;
	for (int number = 0; (data = fuzz_seed(number, &size)) != NULL; number++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/seed-%02d", directory, number);
		FILE *out = fopen(path, "wb");
		bool ok = out != NULL && fwrite(data, 1, size, out) == size && fclose(out) == 0;
		free(data);
		if (!ok) {
			perror(path);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}

static int run_file(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *in = fopen(path, "rb");
	if (in == NULL) {
		perror(path);
		return EXIT_FAILURE;
	}
	size_t size = fread(data, 1, sizeof(data), in);
	fclose(in);
	run(data, size);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "-w") == 0)
		return write_seeds(argv[2]);
	run_seeds();
	int status = EXIT_SUCCESS;
	for (int i = 1; i < argc; i++)
		if (run_file(argv[i]) != EXIT_SUCCESS)
			status = EXIT_FAILURE;
	return status;
}
