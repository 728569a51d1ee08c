/* Floating-point numbers as text. */
#ifndef GH_UTIL_FLOAT_TEXT_H
#define GH_UTIL_FLOAT_TEXT_H

#include <stdbool.h>

/* The longest text, with a NUL. */
#define GH_FLOAT_TEXT 64

/* NUMBER, which has SIZE bytes where it is from, in the fewest digits that are only its: as Go's
 * strconv.FormatFloat has it with 'g' and -1, by which fmt and, from Go 1.26 on, print go. What is
 * not negative has a plus if WITH_SIGN. */
void gh_float_text(char text[GH_FLOAT_TEXT], double number, unsigned size, bool with_sign);

#endif
