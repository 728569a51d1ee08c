#include "plugin/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/output.h"
#include "lib/util/top.h"
#include "plugin/view/emit.h"

/* The names that are printed of all functions may be these many times as long as the file: of real
 * programs they are up to 5 times as long. */
#define MAX_NAMES 64

void gh_print_error(const struct gh_error *err)
{
	fprintf(stderr, "goheap: %s\n", err->text);
}

void gh_print_failure(const char *file, const char *doing)
{
	struct gh_error err;
	gh_fail_errno(&err, file, doing);
	gh_print_error(&err);
}

void gh_say(const char *format, ...)
{
	char *text;
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	fputs("goheap: ", stderr);
	gh_escape_print(stderr, text != NULL ? text : GH_OUT_OF_MEMORY);
	fputs("\n", stderr);
	free(text);
}

void gh_say_paused(uint64_t paused)
{
	gh_say("paused %" PRIu64 " ms", (paused + 500000) / 1000000);
}

static atomic_bool left_out;

void gh_leave_out(void)
{
	if (!atomic_exchange(&left_out, true))
		gh_say(GH_OUT_OF_MEMORY);
}

bool gh_has_left_out(void)
{
	return left_out;
}

const struct gh_top_item *gh_emit_top(struct gh_top *top, size_t *count)
{
	if (top->items.failed)
		gh_leave_out();
	return gh_top_finish(top, count);
}

char *gh_text_end(FILE *out, char **text)
{
	if (out == NULL)
		return NULL;
	bool whole = !ferror(out);
	if (fclose(out) == 0 && whole)
		return *text;
	free(*text);
	return NULL;
}

bool gh_check_output(const char *path, const char *input)
{
	struct gh_error err;
	if (path == NULL || input == NULL || gh_output_spares(path, input, &err))
		return true;
	gh_print_error(&err);
	return false;
}

void gh_print_errno(const char *path)
{
	const char *problem = strerror(errno);
	gh_escape_print(stderr, path);
	fprintf(stderr, ": %s\n", problem);
}

void gh_print_warning(const char *path, uint64_t count, const char *what)
{
	if (count > 0)
		gh_say("%s: %" PRIu64 " %s", path, count, what);
}

static void print_packed(const struct gh_image *image)
{
	if (gh_image_is_packed(image))
		gh_say("%s is packed: unpack it with upx -d, or ask its process, by its PID",
		       image->path);
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
		print_packed(&program->image);
		gh_image_close(&program->image);
		return false;
	}
	program->names_left = MAX_NAMES * (uint64_t)program->image.size;
	return true;
}

void gh_program_close(struct gh_program *program)
{
	gh_print_warning(program->image.path, gh_print_names_cut(),
			 "names that are longer than 8,192 bytes are cut, and end in [...]");
	gh_pclntab_close(&program->tab);
	gh_image_close(&program->image);
}

void gh_program_take_names(struct gh_program *program, size_t size)
{
	program->names_left -= size < program->names_left ? size : program->names_left;
}

bool gh_program_goes_on(const struct gh_program *program)
{
	if (program->names_left > 0)
		return true;
	gh_say("%s: the rest is not printed: expected names of less than %d times the file's size",
	       program->image.path, MAX_NAMES);
	return false;
}

bool gh_program_walk(const struct gh_program *program, size_t index, struct gh_func *func,
		     struct gh_sourcemap *map)
{
	struct gh_error err;
	if (!gh_program_goes_on(program))
		return false;
	if (!gh_pclntab_func(&program->tab, index, func, &err)) {
		gh_print_error(&err);
		return false;
	}
	if (!gh_sourcemap_start(map, &program->tab, func)) {
		gh_say(GH_OUT_OF_MEMORY);
		return false;
	}
	return true;
}
