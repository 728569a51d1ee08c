#include "lib/process/dump_parts.h"

#include <string.h>

#include "lib/dump/record.h"

/* Frames of the C library's in which a thread may be when it waits. */
#define MAX_DEPTH 6

/* Threads of C's alone that wait for one another. */
#define MAX_CHAIN 16

/* Functions of glibc that wait, and what for; names that begin so are of parts of them, as
 * pthread_cond_wait_common. Those that wait for some time only are no locks: they end. */
static const struct {
	const char *name;
	enum gh_dump_c_wait_kind kind;
} functions[] = {
    {"pthread_mutex_lock", GH_C_WAIT_MUTEX},
    {"pthread_mutex_cond_lock", GH_C_WAIT_MUTEX},
    {"pthread_rwlock_rdlock", GH_C_WAIT_RWLOCK_READ},
    {"pthread_rwlock_wrlock", GH_C_WAIT_RWLOCK_WRITE},
    {"pthread_cond_wait", GH_C_WAIT_COND},
    {"sem_wait", GH_C_WAIT_SEMAPHORE},
    {"new_sem_wait", GH_C_WAIT_SEMAPHORE},
    {"pthread_join", GH_C_WAIT_JOIN},
    {"pthread_clockjoin_ex", GH_C_WAIT_JOIN},
};

/* Where the owner's number is in a mutex, and the writer's in an rwlock, in bytes. */
enum { MUTEX_OWNER = 8, RWLOCK_WRITER = 24 };

/* The words of an rwlock that are waited on: the writers' phase, the next writer, the readers. */
static const uint8_t rwlock_words[] = {8, 12, 0};

/* What PLACE, a function of glibc's, waits for; 0 for nothing. */
static enum gh_dump_c_wait_kind kind_of(const struct gh_c_place *place)
{
	const char *name = place->function;
	if (place->object == NULL || name == NULL ||
	    (strncmp(place->object, "libc.so.6", 9) != 0 &&
	     strncmp(place->object, "libpthread", 10) != 0))
		return 0;
	name += strspn(name, "_");
	if (strncmp(name, "GI_", 3) == 0)
		name += 3;
	name += strspn(name, "_");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strncmp(name, functions[i].name, strlen(functions[i].name)) == 0)
			return functions[i].kind;
	return 0;
}

/* What the innermost of the frames that waits waits for. */
static enum gh_dump_c_wait_kind find_kind(struct gh_c_stacks *stacks)
{
	struct gh_c_place places[GH_C_PLACES];
	for (size_t i = 0; i < stacks->frames.count && i < MAX_DEPTH; i++) {
		size_t count =
		    gh_c_code_places(stacks->files.code, &stacks->frames.items[i], places);
		for (size_t k = 0; k < count; k++) {
			enum gh_dump_c_wait_kind kind = kind_of(&places[k]);
			if (kind != 0)
				return kind;
		}
	}
	return 0;
}

static uint64_t read_id(struct gh_process *process, uint64_t address)
{
	uint64_t id;
	gh_process_uint(&process->memory, address, 4, &id);
	return id;
}

static bool is_thread(const struct gh_process *process, uint64_t id)
{
	for (size_t i = 0; i < process->nthreads; i++)
		if (process->threads[i].id != 0 && (uint64_t)process->threads[i].id == id)
			return true;
	return false;
}

/* Fills in the object of WAIT, and the thread that has it, by FUTEX, the address of the word that
 * its thread waits for. */
static void find_object(struct gh_process *process, struct gh_dump_c_wait *wait, uint64_t futex)
{
	switch (wait->kind) {
	case GH_C_WAIT_MUTEX:
		wait->object = futex;
		wait->thread = read_id(process, futex + MUTEX_OWNER);
		break;
	case GH_C_WAIT_RWLOCK_READ:
	case GH_C_WAIT_RWLOCK_WRITE:
		/* Readers do not tell who they are. */
		for (size_t i = 0; i < sizeof(rwlock_words) && wait->thread == 0; i++) {
			uint64_t object = futex - rwlock_words[i];
			uint64_t writer = read_id(process, object + RWLOCK_WRITER);
			if (!is_thread(process, writer))
				continue;
			wait->object = object;
			wait->thread = writer;
		}
		break;
	case GH_C_WAIT_SEMAPHORE:
		wait->object = futex;
		break;
	case GH_C_WAIT_JOIN:
		wait->object = futex;
		wait->thread = read_id(process, futex);
		break;
	case GH_C_WAIT_COND:
	case GH_C_WAIT_KINDS:
		break;
	}
}

/* Fills in what THREAD, whose frames of C code are those of STACKS, waits for. False if it does not
 * wait. */
static bool read_wait(struct gh_c_stacks *stacks, const struct gh_stack_thread *thread,
		      struct gh_dump_c_wait *wait)
{
	const struct gh_gregset *set = &stacks->process->tab->image->arch->gregs;
	/* What a signal's handler interrupted has other registers. */
	if (set->futex == 0 || thread->signal.number != 0 || thread->at.count != set->count ||
	    thread->at.values[set->call] != set->futex)
		return false;
	wait->kind = find_kind(stacks);
	if (wait->kind == 0)
		return false;
	find_object(stacks->process, wait, thread->at.values[set->arguments[0]]);
	return true;
}

void gh_c_wait_add(struct gh_c_stacks *stacks, const struct gh_stack_thread *thread, size_t number)
{
	struct gh_dump_c_wait wait = {.goroutine = number, .holder = GH_DUMP_NONE};
	if (read_wait(stacks, thread, &wait))
		gh_vector_push(&stacks->list_of_waits, wait);
}

/* The thread that the thread ID waits for in C; 0 if that is none, or not known. */
static uint64_t next_thread(struct gh_c_stacks *stacks, uint64_t id)
{
	const struct gh_stack_thread *threads = stacks->stack->threads;
	struct gh_dump_c_wait wait = {0};
	for (size_t i = 0; i < stacks->process->nthreads; i++)
		if ((uint64_t)threads[i].at.id == id && gh_c_stacks_walk(stacks, &threads[i]))
			return read_wait(stacks, &threads[i], &wait) ? wait.thread : 0;
	return 0;
}

/* Finds the goroutine of THREAD, which has what WAIT is for, among those of LIST. False if it
 * is none of the process's. */
static bool find_holder(struct gh_c_stacks *stacks, const struct gh_m_list *list, uint64_t thread,
			struct gh_dump_c_wait *wait)
{
	struct gh_process *process = stacks->process;
	uint64_t m = list->first;
	for (unsigned i = 0; i < list->count; i++) {
		uint64_t id;
		gh_process_uint(&process->memory, m + list->os_id, 8, &id);
		if (id == thread) {
			uint32_t number = gh_numbermap_get(&stacks->goroutines, m);
			if (number != GH_NOT_MAPPED)
				wait->holder = number;
			return true;
		}
		m = gh_process_word(process, m + list->next);
	}
	return is_thread(process, thread);
}

/* Finds the goroutine that has what WAIT is for, or what the threads of C's alone wait for that
 * have it. */
static void follow(struct gh_c_stacks *stacks, const struct gh_m_list *list,
		   struct gh_dump_c_wait *wait)
{
	uint64_t thread = wait->thread;
	if (thread != 0 && !find_holder(stacks, list, thread, wait))
		wait->thread = thread = 0;
	for (unsigned i = 0; i < MAX_CHAIN && thread != 0 && wait->holder == GH_DUMP_NONE; i++) {
		thread = next_thread(stacks, thread);
		wait->indirect = true;
		if (thread != 0 && !find_holder(stacks, list, thread, wait))
			thread = 0;
	}
}

void gh_c_waits_end(struct gh_c_stacks *stacks, const struct gh_goroutines *all,
		    const struct gh_rtypes *types)
{
	struct gh_buffer *out = &stacks->waits;
	struct gh_m_list list = {0};
	if (stacks->list_of_waits.count > 0 &&
	    (types == NULL || !gh_m_list_find(&list, stacks->process, types, all)))
		list = (struct gh_m_list){0};
	for (size_t i = 0; i < stacks->list_of_waits.count; i++) {
		struct gh_dump_c_wait *wait = &stacks->list_of_waits.items[i];
		follow(stacks, &list, wait);
		gh_buffer_uleb128(out, wait->goroutine);
		gh_buffer_uleb128(out, wait->kind | (wait->indirect ? GH_SECTION_INDIRECT : 0U));
		gh_buffer_uleb128(out, wait->object);
		gh_buffer_uleb128(out, wait->thread);
		gh_buffer_uleb128(out, wait->holder != GH_DUMP_NONE ? wait->holder + 1 : 0);
	}
	out->failed |= stacks->list_of_waits.failed;
}
