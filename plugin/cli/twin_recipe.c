#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/cli/twin_build.h"

/* Flags that do nothing but change code, as patterns of fnmatch(3). A program's text may ask for
 * others, which write files or run what the text names: plugins, another linker, dumps. Sources:
 * `go tool link', `go tool compile', and src/cmd/go/internal/work/security.go. */
static const char *const linker_flags[] = {"-s",
					   "-w",
					   "-s=*",
					   "-w=*",
					   "-X",
					   "-X=*",
					   "-buildid*",
					   "-linkmode",
					   "-linkmode=*",
					   "-bindnow*",
					   "-compressdwarf=*",
					   "-extldflags",
					   "-extldflags=*",
					   NULL};
static const char *const gcc_linker_flags[] = {"-static",
					       "-static-pie",
					       "-pie",
					       "-no-pie",
					       "-g",
					       "-O[0-3]",
					       "-pthread",
					       "-l[A-Za-z0-9]*",
					       "-Wl,-z,relro",
					       "-Wl,-z,now",
					       "-Wl,-z,noexecstack",
					       "-Wl,--as-needed",
					       "-Wl,-O1",
					       "-Wl,--build-id=*",
					       NULL};
static const char *const compiler_flags[] = {"-N", "-l", "-l=[0-9]", "-B", "-C", "-m", NULL};
static const char *const c_flags[] = {"-O*",
				      "-g",
				      "-g[0-3]",
				      "-D[A-Za-z_]*",
				      "-U[A-Za-z_]*",
				      "-I*",
				      "-W[a-z]*",
				      "-m[a-z]*=*",
				      "-m[a-z0-9.]*",
				      "-pthread",
				      "-pipe",
				      "-std=*",
				      "-fPIC",
				      "-fPIE",
				      "-fno-*",
				      "-fomit-frame-pointer",
				      "-fstack-*",
				      "-fcf-protection*",
				      "-f*-prefix-map=*",
				      NULL};

/* What is done with a setting. */
enum use {
	IGNORED,  /* the toolchain finds it by itself, or it is read elsewhere */
	SWITCH,   /* true: a flag of `go build' */
	VALUE,    /* the flag with this value, which is one word */
	LINKER,   /* a flag with the linker's */
	COMPILER, /* one with the compiler's */
	PROFILE,  /* a flag with a file */
	VARIABLE, /* of the environment, one word */
	C_FLAGS,  /* the same with flags of the C compiler */
	C_LINKER, /* the same with those for linking */
	ONLY_GC,  /* must be "gc" */
};

/* The settings that `go build' records. Source: setBuildInfo in src/cmd/go/internal/load/pkg.go. */
static const struct {
	const char *name;
	enum use use;
} settings[] = {
    {"-asan", SWITCH},         {"-buildmode", VALUE},     {"-compiler", ONLY_GC},
    {"-cover", SWITCH},        {"-covermode", VALUE},     {"-gcflags", COMPILER},
    {"-ldflags", LINKER},      {"-msan", SWITCH},         {"-pgo", PROFILE},
    {"-race", SWITCH},         {"-tags", VALUE},          {"-trimpath", SWITCH},
    {"CGO_CFLAGS", C_FLAGS},   {"CGO_CPPFLAGS", C_FLAGS}, {"CGO_CXXFLAGS", C_FLAGS},
    {"CGO_ENABLED", VARIABLE}, {"CGO_LDFLAGS", C_LINKER}, {"DefaultGODEBUG", IGNORED},
    {"GO386", VARIABLE},       {"GOAMD64", VARIABLE},     {"GOARCH", VARIABLE},
    {"GOARM", VARIABLE},       {"GOARM64", VARIABLE},     {"GOEXPERIMENT", VARIABLE},
    {"GOFIPS140", VARIABLE},   {"GOMIPS", VARIABLE},      {"GOMIPS64", VARIABLE},
    {"GOOS", VARIABLE},        {"GOPPC64", VARIABLE},     {"GORISCV64", VARIABLE},
    {"vcs", IGNORED},          {"vcs.modified", IGNORED}, {"vcs.revision", IGNORED},
    {"vcs.time", IGNORED},
};

/* Reading of a recipe. */
struct reading {
	struct gh_twin_recipe *recipe;
	const char *program;
	const char *ldflags; /* of the user; NULL: the program's own */
	struct gh_error *err;
};

static bool is_allowed(const char *const *patterns, const char *word)
{
	bool has_comma = strncmp(word, "-W", 2) == 0 && strncmp(word, "-Wl,-", 5) != 0 &&
			 strchr(word, ',') != NULL;
	for (; *patterns != NULL; patterns++)
		if (!has_comma && fnmatch(*patterns, word, 0) == 0)
			return true;
	return false;
}

/* Takes the next word off TEXT, which is changed: words are as Go splits them, one in quotes up to
 * the same quote. NULL after the last. */
static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t\n\r");
	if (*word == '\0')
		return NULL;
	char *end;
	if (*word == '\'' || *word == '"') {
		end = strchr(word + 1, *word);
		word++;
		end = end != NULL ? end : word + strlen(word);
	} else {
		end = word + strcspn(word, " \t\n\r");
	}
	*text = *end != '\0' ? end + 1 : end;
	*end = '\0';
	return word;
}

/* All words of TEXT are allowed. NAME is the setting that has them. */
static bool check_words(const struct reading *reading, const char *name, const char *text,
			const char *const *patterns)
{
	char *copy = strdup(text);
	char *left = copy;
	char *word;
	bool allowed = copy != NULL || gh_fail_memory(reading->err, reading->program);
	while (allowed && (word = next_word(&left)) != NULL) {
		allowed = is_allowed(patterns, word);
		if (!allowed)
			gh_fail_plainly(reading->err,
					"%.200s: its %s have %.100s, which goheap does not run by "
					"itself: build it again without -s and -w, and give that "
					"build, --names BUILD",
					reading->program, name, word);
		bool is_linker = patterns == linker_flags;
		char *value = strchr(word, '=');
		bool takes_next = is_linker && value == NULL &&
				  (strcmp(word, "-X") == 0 || strcmp(word, "-linkmode") == 0 ||
				   strcmp(word, "-extldflags") == 0);
		const char *argument = takes_next      ? next_word(&left)
				       : value != NULL ? value + 1
						       : "";
		if (allowed && is_linker && strncmp(word, "-extldflags", 11) == 0)
			allowed = argument == NULL || check_words(reading, "flags for the C linker",
								  argument, gcc_linker_flags);
	}
	free(copy);
	return allowed;
}

/* Puts spaces in place of the flags that strip a program in TEXT: it keeps its length, which the
 * program records, so that what the linker puts behind that stays where it is. */
static void blank_strip_flags(char *text)
{
	size_t size;
	for (char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
		size = strcspn(at, " ");
		if ((size == 2 || (size > 3 && at[2] == '=')) && at[0] == '-' &&
		    (at[1] == 's' || at[1] == 'w'))
			memset(at, ' ', size);
		at += size;
	}
}

/* Adds FORMAT's text of NAME and VALUE to WORDS. */
static bool add(const struct reading *reading, struct gh_twin_words *words, const char *name,
		const char *value)
{
	char *word;
	if (asprintf(&word, value != NULL ? "%s=%s" : "%s", name, value) < 0)
		return gh_fail_memory(reading->err, reading->program);
	if (gh_vector_push(words, word))
		return true;
	free(word);
	return gh_fail_memory(reading->err, reading->program);
}

static bool add_linker_flags(const struct reading *reading, const char *value)
{
	char *text = strdup(value);
	if (text == NULL)
		return gh_fail_memory(reading->err, reading->program);
	blank_strip_flags(text);
	bool added = add(reading, &reading->recipe->flags, "-ldflags", text);
	free(text);
	return added;
}

/* The compiler's flags may begin with a pattern of packages: "all=-N -l". */
static bool add_compiler_flags(const struct reading *reading, const char *value)
{
	const char *flags =
	    value[0] != '-' && strstr(value, "=-") != NULL ? strstr(value, "=-") + 1 : value;
	return check_words(reading, "-gcflags", flags, compiler_flags) &&
	       add(reading, &reading->recipe->flags, "-gcflags", value);
}

/* The file of a profile; a file of this name beside the main package is found without a flag. */
static bool add_profile(const struct reading *reading, const char *value)
{
	const char *slash = strrchr(value, '/');
	if (strcmp(slash != NULL ? slash + 1 : value, "default.pgo") == 0)
		return true;
	if (access(value, R_OK) != 0)
		return gh_fail_plainly(reading->err,
				       "%.200s: it was built by the profile %.200s, which is not "
				       "here: put it there",
				       reading->program, value);
	return add(reading, &reading->recipe->flags, "-pgo", value);
}

/* VALUE is text of one word that cannot be taken for more. */
static bool is_word(const char *value)
{
	for (; *value != '\0'; value++)
		if (!isalnum((unsigned char)*value) && strchr("_.,:+-", *value) == NULL)
			return false;
	return true;
}

static bool refuse(const struct reading *reading, const char *name, const char *value)
{
	return gh_fail_plainly(reading->err,
			       "%.200s: it was built with %.60s=%.100s, which goheap does not "
			       "repeat by itself: build it again without -s and -w, and give that "
			       "build, --names BUILD",
			       reading->program, name, value);
}

static bool use_setting(const struct reading *reading, enum use use, const char *name,
			const char *value)
{
	struct gh_twin_recipe *recipe = reading->recipe;
	switch (use) {
	case IGNORED:
		return true;
	case SWITCH:
		return strcmp(value, "true") == 0 ? add(reading, &recipe->flags, name, NULL) : true;
	case VALUE:
		return is_word(value) ? add(reading, &recipe->flags, name, value)
				      : refuse(reading, name, value);
	case LINKER:
		return reading->ldflags != NULL ||
		       (check_words(reading, "-ldflags", value, linker_flags) &&
			add_linker_flags(reading, value));
	case COMPILER:
		return add_compiler_flags(reading, value);
	case PROFILE:
		return add_profile(reading, value);
	case VARIABLE:
		return is_word(value) ? add(reading, &recipe->variables, name, value)
				      : refuse(reading, name, value);
	case C_FLAGS:
	case C_LINKER:
		return *value == '\0' ||
		       (check_words(reading, name, value,
				    use == C_FLAGS ? c_flags : gcc_linker_flags) &&
			add(reading, &recipe->variables, name, value));
	case ONLY_GC:
		return strcmp(value, "gc") == 0 || refuse(reading, name, value);
	}
	return true;
}

/* Reads a setting, NAME=VALUE; a value with spaces or quotes is in quotes, as Go writes strings. */
static bool read_setting(const struct reading *reading, char *text)
{
	struct gh_twin_recipe *recipe = reading->recipe;
	char *value = strchr(text, '=');
	if (value == NULL)
		return true;
	*value++ = '\0';
	size_t size = strlen(value);
	if (*value == '"' && size >= 2) {
		value[size - 1] = '\0';
		value++;
		char *to = value;
		for (const char *from = value; *from != '\0'; from++) {
			from += *from == '\\' && from[1] != '\0';
			*to++ = *from;
		}
		*to = '\0';
	}
	if (strcmp(text, "vcs.revision") == 0 && is_word(value))
		recipe->revision = strdup(value);
	recipe->is_modified |= strcmp(text, "vcs.modified") == 0 && strcmp(value, "true") == 0;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(settings[i].name, text) == 0)
			return use_setting(reading, settings[i].use, text, value);
	return refuse(reading, text, value);
}

/* A path of a package or module, or a version: nothing that is taken for a flag or for more. */
static bool is_path(const char *text)
{
	if (*text == '-' || *text == '\0')
		return false;
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr("_.,:+-/~()!", *text) == NULL)
			return false;
	return true;
}

/* A copy of TEXT, or NULL if it is no path. */
static char *copy_path(const char *text)
{
	return text != NULL && is_path(text) ? strdup(text) : NULL;
}

/* Reads the settings, line by line. */
static bool read_settings(const struct reading *reading, const char *text)
{
	static const char build[] = "build\t";
	bool read = true;
	while (read && text != NULL && *text != '\0') {
		size_t size = strcspn(text, "\n");
		if (strncmp(text, build, sizeof(build) - 1) == 0) {
			char *line = strndup(text + sizeof(build) - 1, size - (sizeof(build) - 1));
			read = line != NULL ? read_setting(reading, line)
					    : gh_fail_memory(reading->err, reading->program);
			free(line);
		}
		text += size + (text[size] == '\n');
	}
	return read;
}

/* The recipe has the flag NAME, with a value or without. */
static bool has_flag(const struct gh_twin_recipe *recipe, const char *name)
{
	size_t size = strlen(name);
	for (size_t i = 0; i < recipe->flags.count; i++) {
		const char *flag = recipe->flags.items[i];
		if (strncmp(flag, name, size) == 0 && (flag[size] == '=' || flag[size] == '\0'))
			return true;
	}
	return false;
}

/* Adds what is not recorded, and shows in the program: with -trimpath, that the C linker has linked
 * it, and before Go 1.20 that it can be loaded anywhere. */
static bool add_missing(const struct reading *reading, const struct gh_image *image)
{
	struct gh_twin_recipe *recipe = reading->recipe;
	bool is_external = has_flag(recipe, "-trimpath") && !has_flag(recipe, "-ldflags") &&
			   gh_image_section(image, ".init") != NULL;
	bool is_pie = !has_flag(recipe, "-buildmode") && gh_image_is_pie(image);
	return (!is_pie || add(reading, &recipe->flags, "-buildmode", "pie")) &&
	       (!is_external || add_linker_flags(reading, "-linkmode=external"));
}

bool gh_twin_recipe_read(struct gh_twin_recipe *recipe, const struct gh_image *image,
			 const struct gh_buildinfo *info, const char *ldflags, struct gh_error *err)
{
	const char *program = image->path;
	struct reading reading = {recipe, program, ldflags, err};
	*recipe = (struct gh_twin_recipe){
	    .module = copy_path(info->module),
	    .version = copy_path(info->module_version),
	    .package = copy_path(info->path),
	};
	/* Experiments follow: "go1.24.4 X:name", "go1.26.10-X:name". */
	if (info->go_version != NULL)
		recipe->release = strndup(info->go_version, strcspn(info->go_version, " -"));
	if (recipe->release == NULL || recipe->package == NULL || !is_word(recipe->release))
		return gh_fail_plainly(
		    err,
		    "%.200s does not say how it was built, as programs do from Go "
		    "1.18 on: build it again without -s and -w, and give that "
		    "build, --names BUILD",
		    program);
	return read_settings(&reading, info->settings) &&
	       (ldflags == NULL || add_linker_flags(&reading, ldflags)) &&
	       add_missing(&reading, image);
}

void gh_twin_words_free(struct gh_twin_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	gh_vector_free(words);
}

void gh_twin_recipe_free(struct gh_twin_recipe *recipe)
{
	free(recipe->release);
	free(recipe->package);
	free(recipe->module);
	free(recipe->version);
	free(recipe->revision);
	gh_twin_words_free(&recipe->flags);
	gh_twin_words_free(&recipe->variables);
}
