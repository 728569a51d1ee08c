#include "plugin/program.h"

#include <stdio.h>

#include "lib/util/escape.h"

void gh_print_error(const struct gh_error *err)
{
	fprintf(stderr, "goheap: %s\n", err->text);
}

bool gh_program_open(struct gh_program *program, const char *path)
{
	struct gh_error err;
	if (!gh_image_open(&program->image, path, &err)) {
		gh_print_error(&err);
		return false;
	}
	if (!gh_pclntab_open(&program->tab, &program->image, &err)) {
		gh_print_error(&err);
		gh_image_close(&program->image);
		return false;
	}
	return true;
}

void gh_program_close(struct gh_program *program)
{
	gh_pclntab_close(&program->tab);
	gh_image_close(&program->image);
}

bool gh_program_walk(const struct gh_program *program, size_t index, struct gh_func *func,
		     struct gh_sourcemap *map)
{
	struct gh_error err;
	if (!gh_pclntab_func(&program->tab, index, func, &err)) {
		gh_print_error(&err);
		return false;
	}
	if (!gh_sourcemap_start(map, &program->tab, func)) {
		fputs("goheap: out of memory\n", stderr);
		return false;
	}
	return true;
}

void gh_print_file(const char *file, bool json)
{
	if (*file == '\0')
		fputs(json ? "null" : "?", stdout);
	else
		gh_escape_either(stdout, file, json);
}
