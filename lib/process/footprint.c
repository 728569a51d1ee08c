#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/dump/record.h"
#include "lib/process/dump_parts.h"
#include "lib/util/bsearch.h"
#include "lib/util/prefix.h"

/* Go maps and unmaps its heap in multiples of so many bytes (pallocChunkBytes in
 * src/runtime/mpagealloc.go). */
#define HEAP_UNIT (1 << 22)

/* A mapping that is kept. */
struct mapped {
	struct gh_mapping mapping; /* its name is NAME */
	char *name;                /* owned */
};

/* What a span is for. */
struct piece {
	uint64_t start;
	uint64_t end;
	enum gh_footprint_kind kind;
};

struct maker {
	struct gh_footprint *footprint;
	struct gh_process *process;
	struct gh_footprint_pages pages;
	struct gh_memory_parts own;             /* what the runtime has for itself */
	struct GH_VECTOR(struct mapped) mapped; /* by address */
	struct GH_VECTOR(struct piece) pieces;  /* by address */
	struct GH_VECTOR(const char *) code;    /* files with code that is mapped; sorted */
	uint64_t heap_end; /* where the last mapping ends that is of the Go heap; 0 for none */
};

static void add_mapping(void *context, int pid, struct gh_mapping *mapping)
{
	struct maker *maker = context;
	struct mapped mapped = {.mapping = *mapping, .name = strdup(mapping->name)};
	(void)pid;
	if (mapped.name == NULL || !gh_vector_push(&maker->mapped, mapped)) {
		free(mapped.name);
		maker->mapped.failed = true;
	}
}

/* Names those of MAKER's mappings that begin as one of a core file's mapped files does. */
static void name_mapping(void *context, int pid, struct gh_mapping *file)
{
	struct maker *maker = context;
	struct mapped *items = maker->mapped.items;
	(void)pid;
	size_t at = gh_lower_bound(maker->mapped.count, i, items[i].mapping.start < file->start);
	if (at == maker->mapped.count || items[at].mapping.start != file->start)
		return;
	char *name = strdup(file->name);
	maker->mapped.failed = maker->mapped.failed || name == NULL;
	if (name == NULL)
		return;
	free(items[at].name);
	items[at].name = name;
	items[at].mapping.inode = 1;
}

static int compare_mapped(const void *left, const void *right)
{
	const struct mapped *a = left, *b = right;
	return a->mapping.start < b->mapping.start ? -1 : a->mapping.start > b->mapping.start;
}

/* Takes out mappings that begin in the one before, as none of a process's does. */
static void drop_overlaps(struct maker *maker)
{
	struct mapped *items = maker->mapped.items;
	size_t kept = 0;
	for (size_t i = 0; i < maker->mapped.count; i++) {
		if (kept > 0 && items[i].mapping.start < items[kept - 1].mapping.end)
			free(items[i].name);
		else
			items[kept++] = items[i];
	}
	maker->mapped.count = kept;
}

/* A core file has each mapping as a segment, contents or not. */
static void add_core(struct maker *maker, const struct gh_image *core)
{
	for (size_t i = 0; i < core->nsegments; i++) {
		const GElf_Phdr *segment = &core->segments[i];
		struct gh_mapping mapping = {.start = segment->p_vaddr, .name = ""};
		gh_mapping_set_access(&mapping, segment);
		if (segment->p_type == PT_LOAD &&
		    !__builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &mapping.end))
			add_mapping(maker, 0, &mapping);
	}
	if (maker->mapped.count > 0)
		qsort(maker->mapped.items, maker->mapped.count, sizeof(*maker->mapped.items),
		      compare_mapped);
	drop_overlaps(maker);
	gh_mappings_core_files(core, name_mapping, maker);
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void add_pieces(struct maker *maker, const struct gh_spans *spans)
{
	for (size_t i = 0; i < spans->list.count; i++) {
		const struct gh_span *span = &spans->list.items[i];
		struct piece piece = {span->start, span->start + span->size, GH_FOOTPRINT_OBJECTS};
		gh_vector_push(&maker->pieces, piece);
	}
	for (size_t i = 0; i < spans->manual.count; i++) {
		const struct gh_span *span = &spans->manual.items[i];
		struct piece piece = {span->start, span->start + span->size,
				      gh_span_is_of_stacks(span) ? GH_FOOTPRINT_STACKS
								 : GH_FOOTPRINT_COLLECTOR};
		gh_vector_push(&maker->pieces, piece);
	}
	if (maker->pieces.count > 0)
		qsort(maker->pieces.items, maker->pieces.count, sizeof(*maker->pieces.items),
		      compare_pieces);
}

static void add_part(const struct maker *maker, enum gh_footprint_kind kind, uint64_t start,
		     uint64_t end)
{
	struct gh_footprint_part *part = &maker->footprint->parts[kind];
	part->size += end - start;
	gh_footprint_count(&maker->pages, start, end, part);
}

/* Adds MAPPING, of the Go heap: its spans, and what is between them. */
static void add_heap(struct maker *maker, const struct gh_mapping *mapping)
{
	const struct piece *pieces = maker->pieces.items;
	size_t count = maker->pieces.count;
	uint64_t at = mapping->start;
	size_t i = gh_lower_bound(count, k, pieces[k].start < mapping->start);
	for (; i < count && pieces[i].start < mapping->end; i++) {
		uint64_t end = pieces[i].end < mapping->end ? pieces[i].end : mapping->end;
		if (pieces[i].start < at || end <= at)
			continue;
		add_part(maker, GH_FOOTPRINT_FREE, at, pieces[i].start);
		add_part(maker, pieces[i].kind, pieces[i].start, end);
		at = end;
	}
	add_part(maker, GH_FOOTPRINT_FREE, at, mapping->end);
	maker->heap_end = mapping->end;
}

/* Arenas have one mapping for all of them that are in use, or several. One that has no span yet, or
 * no longer, comes after another. */
static bool is_heap(const struct maker *maker, const struct gh_mapping *mapping)
{
	const struct piece *pieces = maker->pieces.items;
	uint64_t arena = gh_heap_arena_size(maker->process);
	size_t after = gh_lower_bound(maker->pieces.count, i, pieces[i].start < mapping->start);
	if (after < maker->pieces.count && pieces[after].start < mapping->end)
		return true;
	return maker->heap_end != 0 && (mapping->start == maker->heap_end ||
					mapping->start / arena == (maker->heap_end - 1) / arena);
}

/* Adds what is from START to END, and none of malloc's: as the runtime's own what is that, else as
 * KIND. */
static void add_rest(const struct maker *maker, enum gh_footprint_kind kind, uint64_t start,
		     uint64_t end)
{
	struct gh_memory_part own;
	for (; gh_memory_parts_next(&maker->own, start, end, &own); start = own.end) {
		add_part(maker, kind, start, own.start);
		add_part(maker, GH_FOOTPRINT_RUNTIME, own.start, own.end);
	}
	add_part(maker, kind, start, end);
}

/* Adds MAPPING, in which the kernel may have put together what malloc, the runtime and others have
 * asked for: those are of KIND. */
static void add_pieced(const struct maker *maker, const struct gh_mapping *mapping,
		       enum gh_footprint_kind kind)
{
	unsigned word = maker->process->tab->pointer_size;
	uint64_t start = mapping->start; /* of what is none of malloc's */
	uint64_t at = gh_footprint_next_page(&maker->pages, start, mapping->end);
	while (at >= start && at < mapping->end) { /* the last page of all has its end at 0 */
		uint64_t chunk = gh_malloc_chunk(maker->process, at, mapping->end);
		if (chunk != 0) {
			add_rest(maker, kind, start, at);
			add_part(maker, GH_FOOTPRINT_MALLOC, at, at + chunk);
			start = at + chunk;
		}
		at = chunk != 0 ? start : gh_page_end(at);
		/* Where a chunk has its size, pages that are not there have 0. */
		if (at < mapping->end && gh_process_word(maker->process, at + word) == 0)
			at = gh_footprint_next_page(&maker->pages, at, mapping->end);
	}
	add_rest(maker, kind, start, mapping->end);
}

/* MAPPING, and BEFORE it, may be of the heap of another runtime than the one that is asked about. A
 * thread's stack that begins and ends as heaps do has a guard before it, which is small. */
static bool may_be_heap(const struct gh_mapping *mapping, const struct gh_mapping *before)
{
	bool is_guarded = before != NULL && before->end == mapping->start &&
			  before->end - before->start < HEAP_UNIT;
	return mapping->start % HEAP_UNIT == 0 && mapping->end % HEAP_UNIT == 0 && !is_guarded;
}

/* A thread that runs the Go code of a library with a runtime of its own is on a stack in that one's
 * heap, which is no thread's. */
static bool is_thread_stack(const struct gh_process *process, const struct gh_mapping *mapping,
			    const struct gh_mapping *before)
{
	if (may_be_heap(mapping, before))
		return false;
	for (size_t i = 0; i < process->nthreads; i++) {
		uint64_t sp = process->threads[i].sp;
		if (sp >= mapping->start && sp < mapping->end)
			return true;
	}
	return strcmp(mapping->name, "[stack]") == 0;
}

/* A device's, by its name or flags, or the kernel's own: not /dev/shm, and /dev/zero, which have
 * memory. */
static bool is_device(const struct gh_mapping *mapping)
{
	const char *name = mapping->name;
	return mapping->is_device || gh_starts_with(name, "anon_inode:") ||
	       (mapping->inode != 0 && gh_starts_with(name, "/dev/") &&
		!gh_starts_with(name, "/dev/shm/") && !gh_starts_with(name, "/dev/zero"));
}

/* Memory that looks like a file, and is in none. */
static bool is_shared_memory(const struct gh_mapping *mapping)
{
	return gh_starts_with(mapping->name, "/dev/shm/") ||
	       gh_starts_with(mapping->name, "/memfd:") || gh_starts_with(mapping->name, "/SYSV") ||
	       gh_starts_with(mapping->name, "/dev/zero") ||
	       (mapping->access[3] == 's' && mapping->name[0] == '\0');
}

/* An ELF file begins at MAPPING: core files leave code out. */
static bool is_elf(const struct maker *maker, const struct gh_mapping *mapping)
{
	const struct gh_memory *memory = maker->process->memory.source;
	char magic[SELFMAG];
	return maker->pages.pagemap < 0 &&
	       memory->read(memory, mapping->start, magic, sizeof(magic)) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Notes the files that have code which is mapped. */
static void find_code(struct maker *maker)
{
	for (size_t i = 0; i < maker->mapped.count; i++) {
		const struct mapped *mapped = &maker->mapped.items[i];
		const struct gh_mapping *mapping = &mapped->mapping;
		if (mapping->inode != 0 && (mapping->access[2] == 'x' || is_elf(maker, mapping)))
			gh_vector_push(&maker->code, (const char *)mapped->name);
	}
	if (maker->code.count > 0)
		qsort(maker->code.items, maker->code.count, sizeof(*maker->code.items),
		      compare_texts);
}

/* The file NAME is one of them. */
static bool has_code(const struct maker *maker, const char *name)
{
	const char *const *names = maker->code.items;
	size_t at = gh_lower_bound(maker->code.count, i, strcmp(names[i], name) < 0);
	return at < maker->code.count && strcmp(names[at], name) == 0;
}

/* What the mapping NUMBER is, which is not of the Go heap. */
static enum gh_footprint_kind kind_of(const struct maker *maker, size_t number)
{
	const struct gh_mapping *mapping = &maker->mapped.items[number].mapping;
	const struct mapped *before = number > 0 ? &maker->mapped.items[number - 1] : NULL;
	if (is_device(mapping))
		return GH_FOOTPRINT_DEVICES;
	if (is_shared_memory(mapping))
		return mapping->is_locked ? GH_FOOTPRINT_PINNED : GH_FOOTPRINT_SHARED;
	if (mapping->inode != 0)
		return has_code(maker, mapping->name) ? GH_FOOTPRINT_PROGRAM : GH_FOOTPRINT_FILES;
	if (is_thread_stack(maker->process, mapping, before != NULL ? &before->mapping : NULL))
		return GH_FOOTPRINT_THREADS;
	/* The bss segment. */
	if (before != NULL && before->mapping.end == mapping->start && before->mapping.inode != 0 &&
	    mapping->name[0] == '\0' && has_code(maker, before->name))
		return GH_FOOTPRINT_PROGRAM;
	if (strcmp(mapping->name, "[heap]") == 0 || gh_malloc_is_arena(maker->process, mapping) ||
	    gh_malloc_is_heap(maker->process, mapping))
		return GH_FOOTPRINT_MALLOC;
	return GH_FOOTPRINT_ANONYMOUS;
}

/* Adds what MAPPING, a mapped file or device that is PART of the footprint, has to the files. */
static void add_file(struct gh_footprint *footprint, enum gh_footprint_kind kind,
		     const struct gh_mapping *mapping, const struct gh_footprint_part *part)
{
	struct gh_footprint_file *files = footprint->files.items;
	size_t i = 0;
	while (i < footprint->files.count && strcmp(files[i].name, mapping->name) != 0)
		i++;
	if (i == footprint->files.count) {
		struct gh_footprint_file file = {.kind = kind, .name = strdup(mapping->name)};
		if (file.name == NULL || !gh_vector_push(&footprint->files, file)) {
			free(file.name);
			footprint->files.failed = true;
			return;
		}
	}
	footprint->files.items[i].part.size += part->size;
	footprint->files.items[i].part.resident += part->resident;
	footprint->files.items[i].part.swapped += part->swapped;
}

/* Adds the mapping NUMBER, which is not of the Go heap. */
static void add_other(struct maker *maker, size_t number)
{
	const struct gh_mapping *mapping = &maker->mapped.items[number].mapping;
	enum gh_footprint_kind kind = kind_of(maker, number);
	if ((kind == GH_FOOTPRINT_ANONYMOUS || kind == GH_FOOTPRINT_THREADS) &&
	    mapping->end - mapping->start <= GH_MOST_MAPPED) {
		add_pieced(maker, mapping, kind);
		return;
	}
	struct gh_footprint_part *whole = &maker->footprint->parts[kind];
	struct gh_footprint_part part = {mapping->end - mapping->start, mapping->resident,
					 mapping->swapped};
	if (maker->pages.pagemap < 0)
		gh_footprint_count(&maker->pages, mapping->start, mapping->end, &part);
	whole->size += part.size;
	whole->resident += part.resident;
	whole->swapped += part.swapped;
	if (kind == GH_FOOTPRINT_FILES || kind == GH_FOOTPRINT_DEVICES)
		add_file(maker->footprint, kind, mapping, &part);
}

static bool is_kernels(const char *name)
{
	return gh_starts_with(name, "[v"); /* [vdso], [vvar], [vsyscall] */
}

/* MAPPING is not to be used yet, or has no memory yet. In core files such memory may be readable.
 */
static bool is_reserved(const struct maker *maker, const struct gh_mapping *mapping)
{
	return mapping->inode == 0 && mapping->resident == 0 && mapping->swapped == 0 &&
	       (mapping->access[0] != 'r' || mapping->is_spare ||
		(maker->pages.pagemap < 0 && mapping->access[1] != 'w'));
}

static void add_all(struct maker *maker)
{
	for (size_t i = 0; i < maker->mapped.count; i++) {
		struct mapped *mapped = &maker->mapped.items[i];
		mapped->mapping.name = mapped->name;
		if (is_kernels(mapped->name))
			continue;
		if (is_reserved(maker, &mapped->mapping))
			maker->footprint->parts[GH_FOOTPRINT_RESERVED].size +=
			    mapped->mapping.end - mapped->mapping.start;
		else if (mapped->mapping.inode == 0 && is_heap(maker, &mapped->mapping))
			add_heap(maker, &mapped->mapping);
		else
			add_other(maker, i);
	}
}

static bool find_heap(struct maker *maker, struct gh_error *err)
{
	struct gh_rtypes types = {0};
	struct gh_spans spans = {0};
	bool found = gh_process_types(&types, maker->process, err) &&
		     gh_spans_find(&spans, maker->process, &types, err);
	if (found) {
		add_pieces(maker, &spans);
		gh_own_memory_find(&maker->own, maker->process, &spans);
		gh_footprint_add_totals(maker->footprint, maker->process, &spans);
		gh_allocator_find(&maker->footprint->allocator, maker->process);
	}
	gh_spans_free(&spans);
	gh_rtypes_free(&types);
	return found;
}

static void free_maker(struct maker *maker)
{
	for (size_t i = 0; i < maker->mapped.count; i++)
		free(maker->mapped.items[i].name);
	gh_vector_free(&maker->mapped);
	gh_vector_free(&maker->pieces);
	gh_vector_free(&maker->own);
	gh_vector_free(&maker->code);
}

/* Makes the footprint of the mappings, which are freed. */
static bool finish(struct maker *maker, struct gh_error *err)
{
	bool found = find_heap(maker, err);
	find_code(maker);
	bool whole = !maker->mapped.failed && !maker->pieces.failed && !maker->own.failed &&
		     !maker->code.failed;
	if (found && whole)
		add_all(maker);
	free_maker(maker);
	if (found && (!whole || maker->footprint->files.failed))
		return gh_fail_memory(err, maker->process->tab->image->path);
	return found;
}

bool gh_footprint_live(struct gh_footprint *footprint, struct gh_process *process, int pid,
		       struct gh_error *err)
{
	struct maker maker = {
	    .footprint = footprint, .process = process, .pages = {process->memory.source, -1}};
	char path[64];
	*footprint = (struct gh_footprint){0};
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	maker.pages.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (maker.pages.pagemap < 0 || !gh_mappings_live(pid, "smaps", add_mapping, &maker)) {
		gh_stopped_fail(pid, err);
		free_maker(&maker);
		if (maker.pages.pagemap >= 0)
			close(maker.pages.pagemap);
		return false;
	}
	bool made = finish(&maker, err);
	close(maker.pages.pagemap);
	return made;
}

bool gh_footprint_core(struct gh_footprint *footprint, struct gh_process *process,
		       const struct gh_image *core, struct gh_error *err)
{
	struct maker maker = {
	    .footprint = footprint, .process = process, .pages = {process->memory.source, -1}};
	*footprint = (struct gh_footprint){0};
	add_core(&maker, core);
	return finish(&maker, err);
}

static void take_resident(void *context, int pid, struct gh_mapping *mapping)
{
	uint64_t *resident = context;
	(void)pid;
	*resident += mapping->resident;
}

uint64_t gh_footprint_resident(int pid)
{
	uint64_t resident = 0;
	gh_mappings_live(pid, "smaps_rollup", take_resident, &resident);
	return resident;
}

void gh_footprint_free(struct gh_footprint *footprint)
{
	for (size_t i = 0; i < footprint->files.count; i++)
		free(footprint->files.items[i].name);
	gh_vector_free(&footprint->files);
}
