#include "lib/pclntab/pclntab.h"

#include <stdint.h>
#include <string.h>

#include "lib/util/prefix.h"

/* A longer path is no package's: it would be a file name longer than a system allows. Together with
 * the bound on names this keeps a crafted table from making one string stand for many. */
#define MAX_PACKAGE 1024

/* The linker's own prefixes, with a dot up to Go 1.19 and a colon since. No package is called
 * "type". Import paths may begin with "go.", as go.uber.org/zap does; those have a slash, for in
 * their last element the linker spells the dot "%2e". END is where the path would end at the
 * latest. */
static bool is_made(const char *name, size_t end)
{
	return gh_starts_with(name, "type.") || gh_starts_with(name, "type:") ||
	       gh_starts_with(name, "go:") ||
	       (gh_starts_with(name, "go.") && memchr(name, '/', end) == NULL);
}

size_t gh_package_length(const char *name)
{
	/* Type arguments and receivers hold other packages' paths. */
	size_t end = strcspn(name, "[(");
	if (end > MAX_PACKAGE)
		end = MAX_PACKAGE;
	if (is_made(name, end))
		return 0;
	const char *slash = memrchr(name, '/', end);
	size_t element = slash == NULL ? 0 : (size_t)(slash + 1 - name);
	const char *dot = memchr(name + element, '.', end - element);
	return dot == NULL ? 0 : (size_t)(dot - name);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A letter of an identifier. Letters beyond ASCII are not told from other characters there. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (uint8_t)c >= 0x80;
}

/* The identifier at *TEXT, without the type parameters after it; *TEXT is moved past both. Of no
 * bytes if there is none. */
static struct gh_name_part read_identifier(const char **text)
{
	struct gh_name_part part = {.text = *text};
	if (is_letter(**text))
		while (is_letter(part.text[part.size]) || is_digit(part.text[part.size]))
			part.size++;
	*text += part.size;
	if (**text != '[')
		return part;
	unsigned depth = 0;
	do {
		depth += **text == '[';
		depth -= **text == ']';
		(*text)++;
	} while (depth > 0 && **text != '\0');
	return part;
}

/* Where the number after PREFIX ends that PART begins with; 0 if it begins with something else. */
static size_t numbered(struct gh_name_part part, const char *prefix)
{
	size_t end = strlen(prefix);
	if (part.size <= end || memcmp(part.text, prefix, end) != 0 || !is_digit(part.text[end]))
		return 0;
	while (end < part.size && is_digit(part.text[end]))
		end++;
	return end;
}

/* PART is how the compiler calls what is within a function. */
static bool is_inner(struct gh_name_part part)
{
	static const char *const prefixes[] = {"func", "gowrap", "deferwrap"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (numbered(part, prefixes[i]) == part.size)
			return true;
	return false;
}

static struct gh_name_part last_element(struct gh_name_part path)
{
	const char *slash = memrchr(path.text, '/', path.size);
	size_t start = slash == NULL ? 0 : (size_t)(slash + 1 - path.text);
	return (struct gh_name_part){path.text + start, path.size - start};
}

/* What the package at PATH is called in the source, most often: not by its major version, in an
 * element of its own or, as gopkg.in has it, after a dot. */
static struct gh_name_part find_element(struct gh_name_part path)
{
	struct gh_name_part element = last_element(path);
	size_t before = path.size - element.size;
	if (before > 0 && element.size > 0 && numbered(element, "v") == element.size)
		element = last_element((struct gh_name_part){path.text, before - 1});
	const char *version = memmem(element.text, element.size, "%2ev", 4);
	if (version != NULL)
		element.size = (size_t)(version - element.text);
	return element;
}

/* Reads the receiver and the base. */
static bool read_method(struct gh_func_name *out, const char *text)
{
	out->pointer = gh_starts_with(text, "(*");
	if (out->pointer) {
		text += 2;
		out->receiver = read_identifier(&text);
		if (out->receiver.size == 0 || !gh_starts_with(text, ")."))
			return false;
		text += 2;
		out->base = read_identifier(&text);
		return out->base.size > 0 && *text == '\0';
	}
	out->base = read_identifier(&text);
	if (*text == '.') {
		text++;
		out->receiver = out->base;
		out->base = read_identifier(&text);
	}
	return out->base.size > 0 && *text == '\0' &&
	       !(out->receiver.size > 0 && is_inner(out->base));
}

bool gh_func_name_parse(struct gh_func_name *out, const char *name)
{
	*out =
	    (struct gh_func_name){.package = {name, gh_package_length(name)}, .receiver = {"", 0}};
	if (out->package.size == 0)
		return false;
	out->element = find_element(out->package);
	return read_method(out, name + out->package.size + 1);
}

static char *put(char *to, struct gh_name_part part)
{
	memcpy(to, part.text, part.size);
	return to + part.size;
}

static char *put_text(char *to, const char *text)
{
	return put(to, (struct gh_name_part){text, strlen(text)});
}

/* Where all names of a program are written, printf would take half of the time. */
static size_t print(char *text, struct gh_name_part package, const struct gh_func_name *name,
		    bool pointer)
{
	size_t between = package.size > 0;
	if (name->receiver.size > 0)
		between += pointer ? strlen("(*).") : strlen(".");
	char *to = text;
	if (package.size + name->receiver.size + name->base.size + between >= GH_NAME_FORM_SIZE)
		return 0;
	if (package.size > 0)
		to = put_text(put(to, package), ".");
	if (pointer)
		to = put_text(to, "(*");
	to = put(to, name->receiver);
	if (name->receiver.size > 0)
		to = put_text(to, pointer ? ")." : ".");
	to = put(to, name->base);
	*to = '\0';
	return (size_t)(to - text);
}

size_t gh_func_name_write(const struct gh_func_name *name, enum gh_name_form form, char *text)
{
	static const struct gh_name_part none = {.text = ""};
	bool has_element = name->element.size > 0;
	bool short_path = has_element && name->element.size < name->package.size;
	struct gh_func_name function = *name;
	switch (form) {
	case GH_NAME_WHOLE:
		return print(text, name->package, name, name->pointer);
	case GH_NAME_BASE:
		function.receiver = none;
		return print(text, none, &function, false);
	case GH_NAME_RECEIVER:
		return name->receiver.size > 0 ? print(text, none, name, false) : 0;
	case GH_NAME_ELEMENT:
		return short_path || (has_element && name->pointer)
			   ? print(text, name->element, name, false)
			   : 0;
	case GH_NAME_ELEMENT_POINTER:
		return short_path && name->pointer ? print(text, name->element, name, true) : 0;
	case GH_NAME_PACKAGE_RECEIVER:
		return name->pointer && short_path ? print(text, name->package, name, false) : 0;
	default:
		return 0;
	}
}

size_t gh_func_name_replace(const char *name, const char *arguments, char *text)
{
	unsigned depth = 0;
	char *to = text;
	char *end = text + GH_NAME_FORM_SIZE - strlen(arguments) - 1;
	for (; *name != '\0' && to < end; name++) {
		if (*name == '[' && depth++ == 0)
			to = stpcpy(to, arguments);
		if (depth == 0)
			*to++ = *name;
		depth -= *name == ']' && depth > 0;
	}
	if (*name != '\0')
		to = text;
	*to = '\0';
	return (size_t)(to - text);
}
