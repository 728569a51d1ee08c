/* What is read of a made process as a heap dump without the heap. */
#ifndef TESTS_UNIT_SNAPSHOT_H
#define TESTS_UNIT_SNAPSHOT_H

#include "lib/dump/dump.h"
#include "lib/process/goroutine.h"
#include "lib/process/process.h"
#include "tests/unit/fixture.h"
#include "tests/unit/processmaker.h"

/* A process, and what is read of it. */
struct snapshot {
	struct fixture program;
	struct processmaker maker;
	struct gh_memory memory;
	struct gh_registers thread;
	struct gh_process process;
	struct gh_buffer bytes;
	struct gh_dump dump;
	uint64_t lost;       /* goroutines left out */
	struct gh_error err; /* why it could not be read */
};

/* Makes a process that runs program WHAT, built by Go 1.MINOR. */
void snapshot_make_of(struct snapshot *snapshot, const struct synthetic *what, int minor);

/* The same of variant NUMBER of the synthetic program, of one release or the other. */
void snapshot_make(struct snapshot *snapshot, int number);

/* Takes the snapshot; false if there is none. */
bool snapshot_take(struct snapshot *snapshot);

void snapshot_release(struct snapshot *snapshot);

/* Writes the word at OFFSET words of goroutine NUMBER. */
void snapshot_set(struct snapshot *snapshot, int number, unsigned offset, uint64_t value);

/* How many records of KIND were taken. */
size_t snapshot_count(const struct snapshot *snapshot, enum gh_dump_kind kind);

struct gh_dump_goroutine snapshot_goroutine(const struct snapshot *snapshot, size_t number);

/* Fails the test unless goroutine NUMBER has the frames that processmaker.h tells of. */
void snapshot_check_stack(const struct snapshot *snapshot, size_t number);

#endif
