#include "plugin/gdb/gdb.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/util/now.h"
#include "lib/util/output.h"

/* What is known, from step to step. */
#define STATE "fetch.state"

/* How much of the file is looked at to know its size, in bytes: headers are in that. */
#define HEAD 4096

/* What is asked for at once, in bytes, if the target gives as much. */
#define PIECE 0x8000

/* The packets of one script are to take from MIN_SCRIPT to MAX_SCRIPT, in ms. */
#define MIN_SCRIPT 500
#define MAX_SCRIPT 1500

/* Parts of the file that are asked for in one script, and that are known to be missing. */
#define MAX_ASKED   256
#define MAX_MISSING 1024

struct part {
	uint64_t offset; /* in bytes */
	uint64_t size;   /* in bytes */
};

struct state {
	struct gh_fetch_limit limit;
	uint64_t sent;     /* when the last script was written, by gh_now */
	uint64_t fd;       /* the file, to the target */
	bool opened;       /* FD is known */
	bool known;        /* EXTENT is */
	uint64_t extent;   /* bytes by the headers; HEAD while they are not known */
	uint64_t done;     /* bytes read */
	uint64_t piece;    /* bytes that the target gives at once */
	uint64_t asking;   /* parts to ask for in a script */
	uint64_t nasked;   /* parts in ASKED */
	uint64_t nmissing; /* parts in MISSING */
	struct part asked[MAX_ASKED];
	struct part missing[MAX_MISSING]; /* a stack: the last is asked for first */
};

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
	char path[PATH_MAX];
	return fopen(gh_missing_file_path(path, directory, name), mode);
}

static bool write_state(const struct state *state, const char *directory)
{
	FILE *out = open_in(directory, STATE, "we");
	bool written = out != NULL && fwrite(state, sizeof(*state), 1, out) == 1;
	return out != NULL && fclose(out) == 0 && written;
}

static bool read_state(struct state *state, const char *directory)
{
	FILE *in = open_in(directory, STATE, "re");
	bool read = in != NULL && fread(state, sizeof(*state), 1, in) == 1 &&
		    state->nasked <= MAX_ASKED && state->nmissing <= MAX_MISSING;
	if (in != NULL)
		fclose(in);
	return read;
}

static bool is_printable(int byte)
{
	return byte >= ' ' && byte <= '~';
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit = c != '\0' ? strchr(digits, c) : NULL;
	return digit != NULL ? (int)(digit - digits) : -1;
}

/* GDB prints what is not printable as \xHH, and a backslash as itself: what looks so, and need not
 * be, shows in the number of bytes. */
static bool read_escape(const char *text, int *byte)
{
	int high = text[0] == '\\' && text[1] == 'x' ? hex_digit(text[2]) : -1;
	int low = high >= 0 ? hex_digit(text[3]) : -1;
	if (low < 0 || is_printable(16 * high + low))
		return false;
	*byte = 16 * high + low;
	return true;
}

/* Reads the SIZE bytes that are printed at TEXT, up to END, into BYTES. False if they are not that
 * many. In binary answers a brace escapes the byte after it. */
static bool read_bytes(const char *text, const char *end, uint8_t *bytes, uint64_t size)
{
	uint64_t count = 0;
	bool escaped = false;
	while (text < end) {
		int byte = (uint8_t)*text;
		bool is_escape = read_escape(text, &byte);
		text += is_escape ? 4 : 1;
		if (!escaped && byte == '}') {
			escaped = true;
			continue;
		}
		if (count == size)
			return false;
		bytes[count++] = (uint8_t)(escaped ? byte ^ 0x20 : byte);
		escaped = false;
	}
	return count == size && text == end;
}

/* The next of the answers in *TEXT, which then points past it: "F" and a number, and what comes
 * after a semicolon, up to *END. False if there is none, or one that tells of an error. */
static bool read_answer(const char **text, uint64_t *number, const char **data, const char **end)
{
	static const char before[] = "received: \"F";
	const char *line = strstr(*text, before);
	if (line == NULL)
		return false;
	line += sizeof(before) - 1;
	const char *newline = line + strcspn(line, "\n");
	char *after;
	*number = strtoull(line, &after, 16);
	*text = newline;
	if (*line == '-' || after == line || after >= newline || newline[-1] != '"')
		return false;
	*data = *after == ';' ? after + 1 : after;
	*end = newline - 1;
	return true;
}

static bool add_missing(struct state *state, uint64_t offset, uint64_t size)
{
	if (size == 0)
		return true;
	if (state->nmissing == MAX_MISSING)
		return false;
	state->missing[state->nmissing++] = (struct part){offset, size};
	return true;
}

/* Takes the answer to PART into the file. False if it is none to it. */
static bool take_part(struct state *state, const struct part *part, const char **text, int file)
{
	static uint8_t bytes[PIECE];
	uint64_t size;
	const char *data;
	const char *end;
	if (!read_answer(text, &size, &data, &end) || size > part->size || size > PIECE)
		return false;
	/* The file ends here, whatever its headers say. */
	if (size == 0) {
		if (part->offset < state->extent)
			state->extent = part->offset;
		return true;
	}
	if (!read_bytes(data, end, bytes, size)) {
		uint64_t half = part->size / 2;
		return half > 0 && add_missing(state, part->offset + half, part->size - half) &&
		       add_missing(state, part->offset, half);
	}
	if (size < part->size)
		state->piece = size;
	state->done += size;
	return pwrite(file, bytes, size, (off_t)part->offset) == (ssize_t)size &&
	       add_missing(state, part->offset + size, part->size - size);
}

/* The first bytes are there: they tell what else there is. */
static bool find_extent(struct state *state, int file)
{
	uint8_t head[HEAD];
	ssize_t size = pread(file, head, sizeof(head), 0);
	uint64_t extent = size > 0 ? gh_elf_extent(head, (size_t)size) : 0;
	state->known = true;
	if (state->extent < HEAD || extent < HEAD)
		return extent > 0;
	state->extent = extent;
	return add_missing(state, HEAD, extent - HEAD);
}

static bool take_parts(struct state *state, const char *directory, const char *text)
{
	char path[PATH_MAX];
	int file = open(gh_missing_file_path(path, directory, GH_SESSION_FETCHED),
			O_RDWR | O_CREAT | O_CLOEXEC, S_IRWXU);
	bool taken = file >= 0;
	for (uint64_t i = 0; taken && i < state->nasked; i++)
		taken = take_part(state, &state->asked[i], &text, file);
	if (taken && !state->known && state->nmissing == 0)
		taken = find_extent(state, file);
	if (file >= 0)
		close(file);
	return taken;
}

/* As much is asked for as the target gives within about a second. */
static void pace(struct state *state)
{
	long passed = gh_milliseconds_since(state->sent);
	if (passed < MIN_SCRIPT && state->asking < MAX_ASKED)
		state->asking *= 2;
	else if (passed > MAX_SCRIPT && state->asking > 1)
		state->asking /= 2;
}

/* Has the next parts asked for, from the last one that is missing. */
static void ask(struct state *state, FILE *script)
{
	for (state->nasked = 0; state->nasked < state->asking && state->nmissing > 0;) {
		struct part *missing = &state->missing[state->nmissing - 1];
		uint64_t size = missing->size < state->piece ? missing->size : state->piece;
		if (missing->offset < state->extent) {
			fprintf(script,
				"maint packet vFile:pread:%" PRIx64 ",%" PRIx64 ",%" PRIx64 "\n",
				state->fd, size, missing->offset);
			state->asked[state->nasked++] = (struct part){missing->offset, size};
		}
		missing->offset += size;
		missing->size -= size;
		if (missing->size == 0)
			state->nmissing--;
	}
}

static enum gh_remote look_at(struct state *state, const char *directory, const char *text)
{
	const char *data;
	const char *end;
	if (!state->opened) {
		if (!read_answer(&text, &state->fd, &data, &end))
			return GH_REMOTE_NONE;
		state->opened = true;
	} else if (!take_parts(state, directory, text)) {
		return GH_REMOTE_NONE;
	}
	if (state->known && state->extent > GH_LOADED_MOST)
		return GH_REMOTE_TOO_LARGE;
	if (state->nmissing == 0)
		return GH_REMOTE_WHOLE;
	return gh_fetch_goes_on(&state->limit, state->done, state->extent) ? GH_REMOTE_MORE
									   : GH_REMOTE_TOO_SLOW;
}

bool gh_remote_open(const char *directory, const char *path)
{
	char fetched[PATH_MAX];
	struct state state = {.extent = HEAD, .piece = PIECE, .asking = 8};
	unlink(gh_missing_file_path(fetched, directory, GH_SESSION_FETCHED));
	gh_fetch_begin(&state.limit, false);
	state.sent = state.limit.start;
	add_missing(&state, 0, HEAD);
	FILE *script = open_in(directory, GH_SESSION_PACKETS, "we");
	if (script == NULL)
		return false;
	fputs("maint packet vFile:open:", script);
	for (; *path != '\0'; path++)
		fprintf(script, "%02x", (unsigned char)*path);
	fputs(",0,0\n", script);
	return fclose(script) == 0 && write_state(&state, directory);
}

enum gh_remote gh_remote_step(const char *directory, const char *text,
			      struct gh_remote_progress *progress)
{
	static struct state state;
	*progress = (struct gh_remote_progress){0};
	if (!read_state(&state, directory))
		return GH_REMOTE_NONE;
	enum gh_remote result = look_at(&state, directory, text);
	FILE *script = open_in(directory, GH_SESSION_PACKETS, "we");
	if (script == NULL)
		return GH_REMOTE_NONE;
	progress->size = state.extent;
	progress->passed = gh_milliseconds_since(state.limit.start);
	pace(&state);
	if (result == GH_REMOTE_MORE)
		ask(&state, script);
	else if (state.opened)
		fprintf(script, "maint packet vFile:close:%" PRIx64 "\n", state.fd);
	state.sent = gh_now();
	return fclose(script) == 0 && write_state(&state, directory) ? result : GH_REMOTE_NONE;
}
