#include "lib/process/goroutine.h"

#include <inttypes.h>
#include <string.h>

/* More than any release's runtime.g has up to the last field that is read. */
#define G_SIZE 512

/* Elements of a slice that are looked at to tell what it is a slice of. */
#define SAMPLE 64

/* The bit in the status that the garbage collector sets while it scans the stack. */
#define SCANNED 0x1000

/* The highest status that there is. */
#define MAX_STATUS 11

/* The fields up to sched are the same everywhere: stack.lo, stack.hi, two stack guards, _panic,
 * _defer, m. sched lost its field ret in Go 1.25; syscallbp came in Go 1.23. After syscallpc and
 * syscallbp are stktopsp and param; after the status and the id, schedlink. */
static struct gh_g_layout make_layout(uint32_t word, int minor)
{
	uint32_t ret = minor < 25 ? 1 : 0;
	uint32_t syscall_bp = minor >= 23 ? 1 : 0;
	struct gh_g_layout layout = {.lr = (11 + ret) * word};
	layout.syscall_sp = layout.lr + 2 * word;
	layout.status = layout.syscall_sp + (4 + syscall_bp) * word;
	layout.id = layout.status + 8;
	layout.wait_since = layout.id + 8 + word;
	layout.wait_reason = layout.wait_since + 8;
	return layout;
}

static unsigned word_size(const struct gh_process *process)
{
	return process->tab->pointer_size;
}

/* A runtime.g, to read fields of. */
struct bytes {
	struct gh_cursor cur;
	uint8_t data[G_SIZE];
};

static bool read_bytes(struct gh_process *process, uint64_t address, struct bytes *bytes)
{
	bytes->cur = gh_cursor_make(bytes->data, sizeof(bytes->data), "runtime.g", address,
				    process->memory.big_endian);
	return gh_process_read(&process->memory, address, bytes->data, sizeof(bytes->data));
}

static uint64_t field(const struct bytes *bytes, uint32_t offset, unsigned size)
{
	struct gh_cursor cur = bytes->cur;
	gh_cursor_seek(&cur, offset);
	return gh_cursor_uint(&cur, size);
}

static void parse(const struct gh_g_layout *layout, unsigned word, const struct bytes *bytes,
		  struct gh_goroutine *g)
{
	*g = (struct gh_goroutine){
	    .address = bytes->cur.offset,
	    .stack_low = field(bytes, 0, word),
	    .stack_high = field(bytes, word, word),
	    .top_panic = field(bytes, 4 * word, word),
	    .top_defer = field(bytes, 5 * word, word),
	    .thread = field(bytes, 6 * word, word),
	    .sp = field(bytes, 7 * word, word),
	    .pc = field(bytes, 8 * word, word),
	    .context = field(bytes, 10 * word, word),
	    .lr = field(bytes, layout->lr, word),
	    .syscall_sp = field(bytes, layout->syscall_sp, word),
	    .syscall_pc = field(bytes, layout->syscall_sp + word, word),
	    .status = (uint32_t)field(bytes, layout->status, 4) & ~(uint32_t)SCANNED,
	    .id = field(bytes, layout->id, 8),
	    .wait_since = field(bytes, layout->wait_since, 8),
	    .wait_reason = (uint8_t)field(bytes, layout->wait_reason, 1),
	};
	if (layout->creator == 0)
		return;
	g->creator_pc = field(bytes, layout->creator, word);
	g->start_pc = field(bytes, layout->creator + 2 * word, word);
}

static bool is_text(const struct gh_process *process, uint64_t pc)
{
	return gh_pclntab_find(process->tab, pc - process->bias) != SIZE_MAX;
}

static bool is_entry(const struct gh_process *process, uint64_t pc)
{
	struct gh_func func;
	size_t index = gh_pclntab_find(process->tab, pc - process->bias);
	return index != SIZE_MAX && gh_pclntab_record(process->tab, index, &func, NULL) &&
	       func.entry == pc - process->bias;
}

/* What BYTES are says so: sched.g points back at it, and the rest is not against it. The dead ones
 * may have no stack. */
static bool is_goroutine(const struct gh_process *process, const struct gh_g_layout *layout,
			 const struct bytes *bytes)
{
	struct gh_goroutine g;
	unsigned word = word_size(process);
	parse(layout, word, bytes, &g);
	return field(bytes, 9 * word, word) == g.address && g.status <= MAX_STATUS &&
	       g.stack_low <= g.stack_high && is_text(process, g.pc);
}

/* Each of a sample of the slice's elements is a goroutine. Of one that is about to be used for the
 * first time little is set, but there cannot be many of them. */
static bool is_list(struct gh_process *process, const struct gh_goroutines *all)
{
	unsigned word = word_size(process);
	uint64_t sample = all->count < SAMPLE ? all->count : SAMPLE;
	uint64_t good = 0;
	for (uint64_t i = 0; i < sample; i++) {
		struct bytes bytes;
		uint64_t address;
		uint64_t number = i * (all->count / sample);
		if (!gh_process_uint(&process->memory, all->list + number * word, word, &address) ||
		    address == 0 || address % word != 0 || !read_bytes(process, address, &bytes))
			return false;
		good += is_goroutine(process, &all->layout, &bytes);
	}
	return good > sample - sample / 4 - 1;
}

/* Looks from START to END in the file's address space, or to where nothing can be read, for a slice
 * of goroutines that is longer than ALL. */
static void search(struct gh_process *process, uint64_t start, uint64_t end,
		   struct gh_goroutines *all)
{
	unsigned word = word_size(process);
	uint64_t most = process->memory.source->size / word;
	start += process->bias;
	end += process->bias;
	for (uint64_t at = start - start % word; at < end && end - at >= 3 * word; at += word) {
		struct gh_goroutines found = *all;
		uint64_t capacity;
		if (!gh_process_uint(&process->memory, at, word, &found.list))
			break;
		if (found.list < 4096 || found.list % word != 0 ||
		    !gh_process_uint(&process->memory, at + word, word, &found.count) ||
		    found.count <= all->count || found.count > most ||
		    !gh_process_uint(&process->memory, at + 2 * word, word, &capacity) ||
		    capacity < found.count || capacity > 4 * found.count + SAMPLE)
			continue;
		if (is_list(process, &found))
			*all = found;
	}
}

/* How many goroutines of a sample were, if gopc is at OFFSET, made by code and start in a function.
 * A false place may hold for a few. */
static unsigned count_created(struct gh_process *process, const struct gh_goroutines *all,
			      uint32_t offset)
{
	unsigned count = 0;
	unsigned word = word_size(process);
	uint64_t sample = all->count < SAMPLE ? all->count : SAMPLE;
	for (uint64_t i = 0; i < sample; i++) {
		struct bytes bytes;
		uint64_t address;
		if (!gh_process_uint(&process->memory, all->list + i * word, word, &address) ||
		    !read_bytes(process, address, &bytes))
			continue;
		count += is_text(process, field(&bytes, offset, word)) &&
			 is_entry(process, field(&bytes, offset + 2 * word, word));
	}
	return count;
}

/* The place of gopc: no two releases have the same fields before it. */
static uint32_t find_creator(struct gh_process *process, const struct gh_goroutines *all)
{
	unsigned word = word_size(process);
	uint32_t best = 0;
	unsigned most = 0;
	uint32_t first = (all->layout.wait_reason / word + 1) * word;
	for (uint32_t offset = first; offset + 3 * word <= G_SIZE; offset += word) {
		unsigned count = count_created(process, all, offset);
		if (count > most) {
			most = count;
			best = offset;
		}
	}
	return best;
}

bool gh_goroutines_find(struct gh_goroutines *all, struct gh_process *process, struct gh_error *err)
{
	const struct gh_moduledata *module = &process->tab->module;
	*all = (struct gh_goroutines){.layout = make_layout(word_size(process), process->minor)};
	search(process, module->bss, module->ebss, all);
	if (all->count == 0)
		return gh_fail(err, process->tab->image->path, GH_NO_OFFSET,
			       "a process with goroutines", "none in its variables, at 0x%" PRIx64,
			       module->bss + process->bias);
	all->layout.creator = find_creator(process, all);
	return true;
}

bool gh_goroutine_read(const struct gh_goroutines *all, struct gh_process *process, uint64_t number,
		       struct gh_goroutine *g)
{
	unsigned word = word_size(process);
	struct bytes bytes;
	uint64_t address;
	if (!gh_process_uint(&process->memory, all->list + number * word, word, &address) ||
	    !read_bytes(process, address, &bytes))
		return false;
	parse(&all->layout, word, &bytes, g);
	return true;
}
