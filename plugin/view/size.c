#include "plugin/view/size.h"

#include <stddef.h>
#include <stdio.h>

const char *gh_size_text(uint64_t size, char buf[GH_SIZE_TEXT])
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)size;
	size_t unit = 0;
	while (value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, GH_SIZE_TEXT, "%.*f %s", unit > 0 && value < 99.95, value, units[unit]);
	return buf;
}
