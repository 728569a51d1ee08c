#include "plugin/gdb/gdb.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/view/view.h"

/* What goheap.gdb puts before and after a word, and GDB has in no text of its own. */
static const char before[] = "{{";
static const char after[] = "}}";

/* Opens the session's file of words. */
static FILE *open_words(const char *directory, const char *mode)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" GH_SESSION_WORDS, directory);
	FILE *file = fopen(path, mode);
	if (file == NULL)
		gh_print_failure(GH_SESSION_WORDS, "open");
	return file;
}

/* Reads what is left of FILE, a NUL after it; to be freed. NULL if memory ran out. */
static char *read_all(FILE *file, size_t *size)
{
	char *data = NULL;
	char block[4096];
	FILE *out = open_memstream(&data, size);
	if (out == NULL)
		return NULL;
	for (size_t n; (n = fread(block, 1, sizeof(block), file)) > 0;)
		fwrite(block, 1, n, out);
	bool written = ferror(out) == 0;
	if (fclose(out) == 0 && written)
		return data;
	free(data);
	return NULL;
}

/* The word in TEXT, which is what GDB printed; the mark after it is the last there. NULL if there
 * is none. */
static char *find_word(char *text)
{
	char *start = strstr(text, before);
	char *end = NULL;
	if (start == NULL)
		return NULL;
	start += strlen(before);
	for (char *at = strstr(start, after); at != NULL; at = strstr(at + 1, after))
		end = at;
	if (end == NULL)
		return NULL;
	*end = '\0';
	return start;
}

static int count_words(const char *data, size_t size)
{
	int count = 0;
	for (size_t i = 0; i < size; i++)
		count += data[i] == '\0';
	return count;
}

int gh_words_append(const char *directory, FILE *in)
{
	size_t size;
	char *text = gh_piped_text_read(in);
	char *word = text != NULL ? find_word(text) : NULL;
	FILE *file = word != NULL ? open_words(directory, "a+e") : NULL;
	int count = -1;
	if (word == NULL)
		gh_say("expected a word from GDB, found none");
	if (file != NULL) {
		char *words = read_all(file, &size);
		bool written = words != NULL && fwrite(word, 1, strlen(word) + 1, file) > 0;
		if (fclose(file) == 0 && written)
			count = count_words(words, size) + 1;
		else
			gh_print_failure(GH_SESSION_WORDS, "write");
		free(words);
	}
	free(text);
	return count;
}

/* The home directory that the LENGTH bytes at NAME stand for, which begin with ~; NULL if there is
 * none. */
static const char *find_home(const char *name, size_t length)
{
	char user[256];
	const char *home = getenv("HOME");
	if (length == 1 && home != NULL)
		return home;
	if (length > sizeof(user))
		return NULL;
	memcpy(user, name + 1, length - 1);
	user[length - 1] = '\0';
	const struct passwd *entry = length > 1 ? getpwnam(user) : NULL;
	return entry != NULL ? entry->pw_dir : NULL;
}

/* NAME, or what it is once its ~ is replaced: NAME is freed then. NULL if memory ran out. */
static char *expand_tilde(char *name)
{
	size_t length = strcspn(name, "/");
	const char *home = name[0] == '~' ? find_home(name, length) : NULL;
	char *path;
	if (home == NULL)
		return name;
	if (asprintf(&path, "%s%s", home, name + length) < 0)
		path = NULL;
	free(name);
	return path;
}

/* Puts WORD without its quotes and backslashes into OUT. Returns what is missing at its end, or
 * NULL. */
static const char *unquote(const char *word, char *out)
{
	char quote = '\0';
	bool escaped = false;
	for (; *word != '\0'; word++) {
		if (escaped || (*word != '\\' && *word != quote &&
				(quote != '\0' || (*word != '\'' && *word != '"')))) {
			*out++ = *word;
			escaped = false;
		} else if (*word == '\\') {
			escaped = true;
		} else {
			quote = quote == '\0' ? *word : '\0';
		}
	}
	*out = '\0';
	return escaped ? "a character after the backslash (put a space at the end in quotes)"
	       : quote != '\0' ? "a closing quote"
			       : NULL;
}

char *gh_words_unquote(const char *word, const char **missing)
{
	char *out = malloc(strlen(word) + 1);
	*missing = out != NULL ? unquote(word, out) : NULL;
	if (out != NULL && *missing == NULL)
		return expand_tilde(out);
	free(out);
	return NULL;
}

/* Fills ARGS. False after printing why. */
static bool unquote_all(struct gh_words *words)
{
	for (int i = 0; i < words->count; i++) {
		const char *missing;
		struct gh_error err;
		words->args[i] = gh_words_unquote(words->typed[i], &missing);
		if (words->args[i] != NULL)
			continue;
		if (missing != NULL)
			gh_fail(&err, words->typed[i], GH_NO_OFFSET, missing,
				"the end of the line");
		else
			gh_fail_memory(&err, "the command");
		gh_print_error(&err);
		return false;
	}
	return true;
}

bool gh_words_read(struct gh_words *words, const char *directory)
{
	*words = (struct gh_words){0};
	FILE *file = open_words(directory, "re");
	if (file == NULL)
		return false;
	words->data = read_all(file, &words->size);
	fclose(file);
	words->count = words->data != NULL ? count_words(words->data, words->size) : 0;
	words->typed = calloc((size_t)words->count + 1, sizeof(*words->typed));
	words->args = calloc((size_t)words->count + 1, sizeof(*words->args));
	if (words->data == NULL || words->typed == NULL || words->args == NULL) {
		struct gh_error err;
		gh_fail_memory(&err, "the command");
		gh_print_error(&err);
		gh_words_free(words);
		return false;
	}
	char *at = words->data;
	for (int i = 0; i < words->count; i++) {
		words->typed[i] = at;
		at += strlen(at) + 1;
	}
	if (unquote_all(words))
		return true;
	gh_words_free(words);
	return false;
}

void gh_words_free(struct gh_words *words)
{
	for (int i = 0; words->args != NULL && i < words->count; i++)
		free(words->args[i]);
	free(words->args);
	free(words->typed);
	free(words->data);
	*words = (struct gh_words){0};
}
