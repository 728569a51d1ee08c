#include "lib/util/number_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gh_number_file_read(const char *path, const char *key, uint64_t *number)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *file = fopen(path, "re");
	while (file != NULL && !found && getline(&line, &size, file) >= 0)
		found = strncmp(line, key, strlen(key)) == 0 &&
			sscanf(line + strlen(key), "%" SCNu64, number) == 1;
	free(line);
	if (file != NULL)
		fclose(file);
	return found;
}
