/* What a fuzz target is: libFuzzer's entry point, which the plain driver calls as well, and inputs
 * to start from. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Reads the SIZE bytes at DATA, and aborts if anything about it is wrong. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes input NUMBER, of SIZE bytes, which the caller frees. NULL past the last. */
uint8_t *fuzz_seed(int number, size_t *size);

#endif
