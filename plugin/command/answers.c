#include "plugin/command/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Answers that are kept, and bytes of one. */
enum { MAX_ANSWERS = 64, MAX_ANSWER = 1 << 22 };

bool gh_answers_begin(struct gh_answers *answers)
{
	*answers = (struct gh_answers){.record = memfd_create("answer", MFD_CLOEXEC)};
	return answers->record >= 0;
}

void gh_answers_forget(struct gh_answers *answers)
{
	for (size_t i = 0; i < answers->all.count; i++) {
		free(answers->all.items[i].question);
		free(answers->all.items[i].text);
	}
	answers->all.count = 0;
}

/* The words of a command as one text of *LENGTH bytes, to be freed. NULL if memory ran out. */
static char *join(int argc, char **argv, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	if (out == NULL)
		return NULL;
	for (int i = 0; i < argc; i++)
		fprintf(out, "%s%c", argv[i], '\0');
	return gh_text_end(out, &text);
}

const struct gh_answer *gh_answers_find(const struct gh_answers *answers, int argc, char **argv)
{
	size_t length;
	char *question = answers->all.count > 0 ? join(argc, argv, &length) : NULL;
	const struct gh_answer *found = NULL;
	for (size_t i = 0; question != NULL && found == NULL && i < answers->all.count; i++) {
		const struct gh_answer *answer = &answers->all.items[i];
		if (answer->length == length && memcmp(answer->question, question, length) == 0)
			found = answer;
	}
	free(question);
	return found;
}

void gh_answers_clear_record(const struct gh_answers *answers)
{
	if (ftruncate(answers->record, 0) == 0)
		lseek(answers->record, 0, SEEK_SET);
}

/* Writes to standard output, and what that took to the record. */
static ssize_t write_both(void *cookie, const char *text, size_t size)
{
	int record = *(const int *)cookie;
	ssize_t written = write(STDOUT_FILENO, text, size);
	/* What is too long to be kept is not written to its end. */
	if (written > 0 && lseek(record, 0, SEEK_CUR) <= MAX_ANSWER &&
	    write(record, text, (size_t)written) != written)
		return 0;
	return written > 0 ? written : 0;
}

void gh_answers_record(struct gh_answers *answers)
{
	fflush(stdout);
	FILE *both =
	    fopencookie(&answers->record, "w", (cookie_io_functions_t){.write = write_both});
	if (both != NULL)
		stdout = both;
}

void gh_answers_keep(struct gh_answers *answers, int record, int argc, char **argv)
{
	struct gh_answer answer = {0};
	off_t size = lseek(record, 0, SEEK_END);
	if (size < 0 || size > MAX_ANSWER)
		return;
	if (answers->all.count == MAX_ANSWERS)
		gh_answers_forget(answers);
	answer.size = (size_t)size;
	answer.question = join(argc, argv, &answer.length);
	answer.text = malloc(answer.size + 1);
	if (answer.question != NULL && answer.text != NULL &&
	    pread(record, answer.text, answer.size, 0) == (ssize_t)answer.size &&
	    gh_vector_push(&answers->all, answer))
		return;
	free(answer.question);
	free(answer.text);
}
