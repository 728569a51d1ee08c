#include "lib/util/float_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From this power of ten on floats have an exponent. */
#define LEAST_EXPONENT 6

void gh_float_text(char text[GH_FLOAT_TEXT], double number, unsigned size, bool with_sign)
{
	if (!isfinite(number)) {
		strcpy(text, isnan(number) ? (with_sign ? "+NaN" : "NaN")
			     : number > 0  ? "+Inf"
					   : "-Inf");
		return;
	}
	int precision = 0;
	for (; precision < 17; precision++) {
		snprintf(text, GH_FLOAT_TEXT, with_sign ? "%+.*e" : "%.*e", precision, number);
		if (size == 4 ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)
			break;
	}
	int power = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	if (power >= -4 && power < LEAST_EXPONENT)
		snprintf(text, GH_FLOAT_TEXT, with_sign ? "%+.*f" : "%.*f",
			 precision > power ? precision - power : 0, number);
}
