#include "lib/process/dump_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* The words of a bucket: next, allnext, typ, hash, size, nstk. The stack follows them, and the
 * memRecord that. */
enum {
	BUCKET_NEXT,
	BUCKET_ALLNEXT,
	BUCKET_TYPE,
	BUCKET_HASH,
	BUCKET_SIZE,
	BUCKET_NSTK,
	BUCKET_WORDS
};

/* bucket.typ of those that allocate (memProfile). */
#define MEMORY_PROFILE 1

/* maxProfStackDepth; before Go 1.23 stacks have at most 32 frames. */
#define MOST_FRAMES 1024

/* A memRecord's cycles: what is published, and three that will be. */
#define CYCLES 4

/* A stack that allocates objects of one size. */
struct bucket {
	uint64_t address;
	uint64_t older; /* address of the one that was made before it; 0 for the first */
	uint64_t size;  /* of an object, in bytes */
	uint64_t nframes;
	uint64_t allocations[2]; /* published, and in all */
	uint64_t frees[2];       /* the same */
};

struct profile {
	struct gh_dump_stream *stream;
	struct gh_process *process;
	struct GH_VECTOR(struct bucket) buckets;
	struct gh_numbermap known; /* places in BUCKETS by address */
	uint64_t left;    /* bytes of buckets that may still be read: they do not overlap, unless to
			     make work */
	uint64_t samples; /* that may still be added, for the same reason */
	bool published;   /* a cycle is */
	bool failed;      /* memory ran out */
};

static unsigned word_size(const struct profile *profile)
{
	return profile->process->tab->pointer_size;
}

static bool read_word(const struct profile *profile, uint64_t address, uint64_t *value)
{
	return gh_process_uint(&profile->process->memory, address, word_size(profile), value);
}

/* The words of a memRecordCycle: allocs and frees; and, before Go 1.27, their bytes. */
static unsigned cycle_words(const struct profile *profile)
{
	return profile->process->minor < 27 ? 4 : 2;
}

/* Reads the memRecord at ADDRESS. False if it is not in memory. */
static bool read_counts(const struct profile *profile, uint64_t address, struct bucket *bucket)
{
	unsigned word = word_size(profile);
	for (unsigned i = 0; i < CYCLES; i++) {
		uint64_t allocations, frees;
		uint64_t at = address + (uint64_t)i * cycle_words(profile) * word;
		if (!read_word(profile, at, &allocations) || !read_word(profile, at + word, &frees))
			return false;
		for (unsigned k = i > 0; k < 2; k++) {
			bucket->allocations[k] += allocations;
			bucket->frees[k] += frees;
		}
	}
	return true;
}

/* The program counter of frame NUMBER of BUCKET, innermost first; 0 if it is not in memory. */
static uint64_t pc_of(const struct profile *profile, const struct bucket *bucket, uint64_t number)
{
	uint64_t pc;
	uint64_t at = bucket->address + (BUCKET_WORDS + number) * word_size(profile);
	return read_word(profile, at, &pc) ? pc : 0;
}

/* What stkbucket in src/runtime/mprof.go mixes a word into a hash by. */
static uint64_t mix(uint64_t hash, uint64_t value, uint64_t mask)
{
	hash = (hash + value) & mask;
	hash = (hash + (hash << 10)) & mask;
	return hash ^ hash >> 6;
}

/* The hash that the runtime keeps of BUCKET's stack and size: few other things have it. */
static uint64_t hash_of(const struct profile *profile, const struct bucket *bucket)
{
	uint64_t mask = word_size(profile) == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t hash = 0;
	for (uint64_t i = 0; i < bucket->nframes; i++)
		hash = mix(hash, pc_of(profile, bucket, i), mask);
	hash = mix(hash, bucket->size, mask);
	hash = (hash + (hash << 3)) & mask;
	return hash ^ hash >> 11;
}

/* Reads the bucket at ADDRESS, and takes it off what may be read. False if there is none of the
 * memory profile's. */
static bool read_bucket(struct profile *profile, uint64_t address, struct bucket *bucket)
{
	unsigned word = word_size(profile);
	uint64_t words[BUCKET_WORDS];
	if (!gh_process_may_point(profile->process, address))
		return false;
	for (unsigned i = 0; i < BUCKET_WORDS; i++)
		if (!read_word(profile, address + (uint64_t)i * word, &words[i]))
			return false;
	if (words[BUCKET_TYPE] != MEMORY_PROFILE || words[BUCKET_NSTK] > MOST_FRAMES)
		return false;
	uint64_t counts = (BUCKET_WORDS + words[BUCKET_NSTK]) * word;
	uint64_t size = counts + (uint64_t)CYCLES * cycle_words(profile) * word;
	if (size > profile->left)
		return false;
	profile->left -= size;
	*bucket = (struct bucket){.address = address,
				  .older = words[BUCKET_ALLNEXT],
				  .size = words[BUCKET_SIZE],
				  .nframes = words[BUCKET_NSTK]};
	return words[BUCKET_SIZE] != 0 && hash_of(profile, bucket) == words[BUCKET_HASH] &&
	       read_counts(profile, address + counts, bucket);
}

/* How many buckets are listed from ADDRESS on; 0 if that is no list of them. */
static uint64_t count_buckets(struct profile *profile, uint64_t address)
{
	struct bucket bucket;
	uint64_t count = 0;
	for (; address != 0 && read_bucket(profile, address, &bucket); address = bucket.older)
		count++;
	return count;
}

/* Looks for a longer list than of *MOST buckets from variables between START and END, addresses of
 * the program's. Gives the address of its first bucket; BEST if there is none. */
static uint64_t search(struct profile *profile, uint64_t start, uint64_t end, uint64_t *most,
		       uint64_t best)
{
	struct gh_process *process = profile->process;
	unsigned word = word_size(profile);
	uint64_t at = start + process->bias;
	uint64_t address;
	end += process->bias;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &address); at += word) {
		uint64_t count = address != 0 ? count_buckets(profile, address) : 0;
		if (count > *most) {
			*most = count;
			best = address;
		}
	}
	return best;
}

/* Takes in BUCKET unless it is known. False if it is. */
static bool add_bucket(struct profile *profile, const struct bucket *bucket)
{
	if (gh_numbermap_get(&profile->known, bucket->address) != GH_NOT_MAPPED)
		return false;
	if (!gh_vector_push(&profile->buckets, *bucket) ||
	    !gh_numbermap_put(&profile->known, bucket->address,
			      (uint32_t)(profile->buckets.count - 1))) {
		profile->failed = true;
		return false;
	}
	profile->published = profile->published || bucket->allocations[0] != 0;
	return true;
}

/* Takes in the buckets that are listed from ADDRESS on. */
static void add_list(struct profile *profile, uint64_t address)
{
	struct bucket bucket;
	while (address != 0 && read_bucket(profile, address, &bucket) &&
	       add_bucket(profile, &bucket))
		address = bucket.older;
}

/* Takes in what runtime.mbuckets lists. Up to Go 1.18 it counts as a variable without pointers. */
static void find_buckets(struct profile *profile)
{
	const struct gh_moduledata *module = &profile->process->tab->module;
	uint64_t bytes = profile->process->memory.source->size;
	uint64_t most = 0;
	profile->left = bytes;
	uint64_t first = search(profile, module->bss, module->ebss, &most, 0);
	first = search(profile, module->noptrbss, module->enoptrbss, &most, first);
	profile->left = bytes;
	add_list(profile, first);
}

/* What is done with a sample: the address of the object, and that of its bucket. */
typedef void sample_user(struct profile *profile, uint64_t object, uint64_t bucket);

/* Calls USE for each sampled object of SPAN whose bit in BITS is set. */
static void walk_samples(struct profile *profile, const struct gh_spans *spans,
			 const struct gh_span *span, const uint8_t *bits, sample_user *use)
{
	struct gh_process *process = profile->process;
	struct gh_special special;
	for (uint64_t at = span->specials; at != 0 && profile->samples > 0; at = special.next) {
		uint64_t bucket;
		profile->samples--;
		if (!gh_special_read(spans, process, at, &special))
			return;
		uint64_t index = special.offset / span->elemsize;
		if (special.kind == spans->layout.kinds.profile && index < span->nelems &&
		    (bits[index / 8] >> index % 8 & 1) != 0 &&
		    read_word(profile, at + spans->layout.special_size, &bucket))
			use(profile, span->start + special.offset, bucket);
	}
}

/* Calls USE for each sampled object. The runtime sweeps before it dumps: what is dead has no
 * sample. */
static void for_samples(struct profile *profile, const struct gh_spans *spans, sample_user *use)
{
	uint64_t bytes = profile->process->memory.source->size;
	uint64_t specials = gh_specials_most(spans, profile->process);
	profile->samples = specials;
	for (size_t i = 0; i < spans->list.count && !profile->failed; i++) {
		const struct gh_span *span = &spans->list.items[i];
		if (span->specials == 0 || span->nelems > bytes)
			continue;
		uint8_t *bits = calloc((size_t)((span->nelems + 7) / 8), 1);
		profile->failed = bits == NULL;
		if (bits == NULL)
			return;
		gh_span_objects(spans, profile->process, span, bits, &specials);
		walk_samples(profile, spans, span, bits, use);
		free(bits);
	}
}

/* Takes in the bucket of a sample, if no variable led to it, and those that are older. */
static void find_sampled(struct profile *profile, uint64_t object, uint64_t address)
{
	(void)object;
	if (gh_numbermap_get(&profile->known, address) == GH_NOT_MAPPED)
		add_list(profile, address);
}

/* Writes the record of a sample. */
static void write_sample(struct profile *profile, uint64_t object, uint64_t address)
{
	struct gh_buffer *out = &profile->stream->bytes;
	if (gh_numbermap_get(&profile->known, address) == GH_NOT_MAPPED)
		return;
	gh_buffer_uleb128(out, GH_DUMP_SAMPLE);
	gh_buffer_uleb128(out, object);
	gh_buffer_uleb128(out, address);
	gh_dump_stream_pass(profile->stream);
}

/* Writes a text; an empty one if more was written than the process has. */
static void write_text(struct gh_dump_stream *stream, const char *text)
{
	size_t length = strlen(text);
	if (length > stream->left)
		length = 0;
	stream->left -= length;
	gh_dump_stream_text(stream, text, length);
}

/* Writes the frame of PC: the function that the code is in, and the line, of an inlined call maybe.
 * All are return addresses, whose call is before them; for the innermost the runtime's own dump has
 * the line that it returns to. */
static void write_frame(const struct profile *profile, uint64_t pc)
{
	struct gh_dump_stream *stream = profile->stream;
	size_t index;
	struct gh_module module = gh_process_module_at(profile->process, pc, &index);
	const struct gh_pclntab *tab = module.tab;
	uint64_t at = pc - module.bias;
	struct gh_func func;
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL)) {
		char number[32];
		snprintf(number, sizeof(number), "(0x%" PRIx64 ")", pc);
		write_text(stream, number);
		write_text(stream, "?");
		gh_buffer_uleb128(&stream->bytes, 0);
		return;
	}
	if (at > func.entry)
		at--;
	int32_t line = gh_pcvalue_at(tab, &func, func.pcln, at);
	int32_t number = gh_pcvalue_at(tab, &func, func.pcfile, at);
	const char *file = gh_pclntab_file(tab, gh_pclntab_cu_file(tab, &func, number));
	bool known = line >= 0 && *file != '\0';
	write_text(stream, gh_pclntab_name(tab, func.name));
	write_text(stream, known ? file : "?");
	gh_buffer_uleb128(&stream->bytes, known ? (uint64_t)line : 0);
}

static void write_bucket(const struct profile *profile, const struct bucket *bucket)
{
	struct gh_buffer *out = &profile->stream->bytes;
	unsigned which = profile->published ? 0 : 1;
	gh_buffer_uleb128(out, GH_DUMP_PROFILE);
	gh_buffer_uleb128(out, bucket->address);
	gh_buffer_uleb128(out, bucket->size);
	gh_buffer_uleb128(out, bucket->nframes);
	for (uint64_t i = 0; i < bucket->nframes; i++)
		write_frame(profile, pc_of(profile, bucket, i));
	gh_buffer_uleb128(out, bucket->allocations[which]);
	gh_buffer_uleb128(out, bucket->frees[which]);
	gh_dump_stream_pass(profile->stream);
}

bool gh_dump_add_profile(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_spans *spans)
{
	struct profile profile = {.stream = stream, .process = process};
	find_buckets(&profile);
	for_samples(&profile, spans, find_sampled);
	for (size_t i = 0; i < profile.buckets.count && !stream->failed; i++)
		write_bucket(&profile, &profile.buckets.items[i]);
	for_samples(&profile, spans, write_sample);
	gh_vector_free(&profile.buckets);
	gh_numbermap_free(&profile.known);
	return !profile.failed;
}
