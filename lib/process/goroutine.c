#include "lib/process/internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/dump/record.h"

/* More than any release's runtime.g has up to the last field that is read. */
#define G_SIZE 512

/* Elements of a slice that are looked at to tell what it is a slice of. */
#define SAMPLE 64

/* The first of them may be missing, but not more: to ask for what is not there takes long. */
#define MOST_MISSING 8

/* Goroutines that are followed from one to the next in the search for the first: variables may
 * point into the middle of the list, too. */
#define MAX_STEPS (1U << 22)

/* No reason to wait is longer, in bytes. */
#define MAX_REASON 64

/* The bit in the status that the garbage collector sets while it scans the stack. */
#define SCANNED 0x1000

/* The highest status that there is. */
#define MAX_STATUS 11

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
	if (!gh_process_read(&process->memory, address, bytes->data, sizeof(bytes->data)))
		return false;
	bytes->cur = gh_cursor_make(bytes->data, sizeof(bytes->data), "runtime.g", address,
				    process->memory.big_endian);
	return true;
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
	    .stack_low = field(bytes, layout->stack_low, word),
	    .stack_high = field(bytes, layout->stack_high, word),
	    .top_panic = field(bytes, layout->top_panic, word),
	    .top_defer = field(bytes, layout->top_defer, word),
	    .thread = field(bytes, layout->thread, word),
	    .sp = field(bytes, layout->sched, word),
	    .pc = field(bytes, layout->sched + word, word),
	    .context = field(bytes, layout->context, word),
	    .lr = field(bytes, layout->lr, word),
	    .syscall_sp = field(bytes, layout->syscall_sp, word),
	    .syscall_pc = field(bytes, layout->syscall_sp + word, word),
	    .status = (uint32_t)field(bytes, layout->status, 4) & ~(uint32_t)SCANNED,
	    .id = field(bytes, layout->id, 8),
	};
	if (layout->segmented) {
		/* The stack goes on to Stktop: of that, one word counts. */
		g->stktop = g->stack_high;
		g->stack_high += word;
		g->stack_low -= GH_STACK_GUARD;
		if (g->status != GH_DUMP_SYSCALL)
			g->syscall_sp = 0;
	}
	if (layout->wait_since != 0)
		g->wait_since = field(bytes, layout->wait_since, 8);
	if (layout->form == GH_G_REASON_NUMBER)
		g->wait_reason = (uint8_t)field(bytes, layout->wait_reason, 1);
	else
		g->reason_text = field(bytes, layout->wait_reason, word);
	if (layout->form == GH_G_REASON_STRING)
		g->reason_length = field(bytes, layout->wait_reason + word, word);
	if (layout->creator != 0)
		g->creator_pc = field(bytes, layout->creator, word);
	if (layout->creator != 0 && layout->start_after != 0)
		g->start_pc = field(bytes, layout->creator + layout->start_after, word);
	if (layout->creator > layout->parent_before && layout->parent_before != 0)
		g->creator_id = field(bytes, layout->creator - layout->parent_before, 8);
	if (layout->creator > layout->locked_before && layout->locked_before != 0)
		g->locked_to = field(bytes, layout->creator - layout->locked_before, word);
	if (layout->creator != 0 && layout->labels_after != 0)
		g->labels = field(bytes, layout->creator + layout->labels_after, word);
	if (layout->creator != 0 && layout->vectors_after != 0)
		g->vectors = field(bytes, layout->creator + layout->vectors_after, word);
	if (layout->system != 0)
		g->system = field(bytes, layout->system, 1) != 0;
	if (layout->next != 0)
		g->next = field(bytes, layout->next, word);
}

/* sched.g of BYTES, which points at them. */
static bool points_back(const struct gh_g_layout *layout, unsigned word, const struct bytes *bytes)
{
	return field(bytes, layout->sched + 2 * word, word) == bytes->cur.offset;
}

static bool is_text(const struct gh_process *process, uint64_t pc)
{
	size_t index;
	gh_process_module_at(process, pc, &index);
	return index != SIZE_MAX;
}

static bool is_entry(const struct gh_process *process, uint64_t pc)
{
	struct gh_func func;
	size_t index;
	struct gh_module module = gh_process_module_at(process, pc, &index);
	return index != SIZE_MAX && gh_pclntab_record(module.tab, index, &func, NULL) &&
	       func.entry == pc - module.bias;
}

static bool has_ended(const struct gh_goroutine *g)
{
	return g->status == GH_G_DEAD || g->status == GH_G_DEAD_EXTRA;
}

/* What BYTES are says so: sched.g points back at it, and the rest is not against it. The dead ones
 * may have no stack. */
static bool is_goroutine(const struct gh_process *process, const struct gh_g_layout *layout,
			 const struct bytes *bytes)
{
	struct gh_goroutine g;
	unsigned word = word_size(process);
	parse(layout, word, bytes, &g);
	return points_back(layout, word, bytes) && g.status <= MAX_STATUS &&
	       g.stack_low <= g.stack_high && is_text(process, g.pc);
}

bool gh_goroutine_probe(const struct gh_goroutines *all, struct gh_process *process,
			uint64_t address, struct gh_goroutine *g)
{
	struct bytes bytes;
	if (!read_bytes(process, address, &bytes) || !is_goroutine(process, &all->layout, &bytes))
		return false;
	parse(&all->layout, word_size(process), &bytes, g);
	/* A thread's own, g0, has none. */
	return !has_ended(g) && g->id != 0;
}

/* Reads the pointer of this NUMBER. False if it is not in memory. */
static bool read_pointer(struct gh_process *process, const struct gh_goroutines *all,
			 uint64_t number, uint64_t *address)
{
	unsigned word = word_size(process);
	if (all->found.count > 0) {
		*address = all->found.items[number].address;
		return true;
	}
	return gh_process_uint(&process->memory, all->list + number * word, word, address);
}

/* The number of the slice's elements, or half of it, a quarter and so on, until the last of them is
 * in memory: a core file may be cut short in their midst. */
static uint64_t count_in_memory(struct gh_process *process, const struct gh_goroutines *all)
{
	uint64_t count = all->count;
	uint64_t address;
	while (count > 1 && !read_pointer(process, all, count - 1, &address))
		count /= 2;
	return count;
}

/* Of a sample of the slice's elements most are goroutines. Those whose goroutine is not in memory
 * are not counted: a core file may be cut short. Of one that is about to be used for the first time
 * little is set, and one or the other may be damaged. Two words that are no slice may point to a
 * pointer to a goroutine, and the length is then any number: of several elements, one is too few,
 * and most are in memory. */
static bool is_list(struct gh_process *process, const struct gh_goroutines *all)
{
	unsigned word = word_size(process);
	uint64_t count = count_in_memory(process, all);
	uint64_t sample = count < SAMPLE ? count : SAMPLE;
	uint64_t good = 0, bad = 0, missing = 0, outside = 0;
	if (count == 1 && all->count > 1)
		return false;
	for (uint64_t i = 0; i < sample; i++) {
		struct bytes bytes;
		uint64_t address;
		if (!read_pointer(process, all, i * (count / sample), &address))
			outside++;
		else if (address == 0 || address % word != 0)
			bad++;
		else if (!read_bytes(process, address, &bytes))
			missing++;
		else if (is_goroutine(process, &all->layout, &bytes))
			good++;
		else
			bad++;
		if (bad > sample / 2 || (good == 0 && missing + outside > MOST_MISSING))
			return false;
	}
	return good > bad && good >= outside;
}

/* Looks from START to END in the file's address space, or to where nothing can be read, for a slice
 * of goroutines that is longer than ALL. To Go 1.3 it is an array and a length (allg, allglen). */
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
		if (!gh_process_may_point(process, found.list) ||
		    !gh_process_uint(&process->memory, at + word, word, &found.count) ||
		    found.count <= all->count || found.count > most ||
		    !gh_process_uint(&process->memory, at + 2 * word, word, &capacity))
			continue;
		if (!all->layout.no_capacity &&
		    (capacity < found.count || capacity > 4 * found.count + SAMPLE))
			continue;
		if (is_list(process, &found)) {
			*all = found;
			all->count_at = at + word;
		}
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
		if (!read_pointer(process, all, i, &address) ||
		    !read_bytes(process, address, &bytes))
			continue;
		count += is_text(process, field(&bytes, offset, word)) &&
			 is_entry(process, field(&bytes, offset + all->layout.start_after, word));
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

/* The length of the list of goroutines that starts with the one at ADDRESS and goes on by alllink;
 * 0 if something else is on it. Takes the length off *STEPS, below which it stays. */
static uint64_t list_length(struct gh_process *process, const struct gh_goroutines *all,
			    uint64_t address, uint64_t *steps)
{
	unsigned word = word_size(process);
	uint64_t count = 0;
	for (; address != 0; count++) {
		struct bytes bytes;
		if (*steps == 0 || address % word != 0 || !read_bytes(process, address, &bytes) ||
		    !is_goroutine(process, &all->layout, &bytes))
			return 0;
		address = field(&bytes, all->layout.next, word);
		--*steps;
	}
	return count;
}

/* As search, for the first of a list of goroutines (Go 1.2's runtime.allg). */
static void search_list(struct gh_process *process, uint64_t start, uint64_t end,
			struct gh_goroutines *all)
{
	unsigned word = word_size(process);
	uint64_t steps = MAX_STEPS;
	for (uint64_t at = start - start % word; at < end && end - at >= word; at += word) {
		uint64_t address;
		if (!gh_process_uint(&process->memory, at + process->bias, word, &address))
			break;
		uint64_t count =
		    address < GH_LEAST_PAGE ? 0 : list_length(process, all, address, &steps);
		if (count > all->count) {
			all->count = count;
			all->list = address;
		}
	}
}

static void search_range(struct gh_process *process, uint64_t start, uint64_t end,
			 struct gh_goroutines *all)
{
	if (all->layout.next != 0)
		search_list(process, start, end, all);
	else
		search(process, start, end, all);
}

/* Searches the program's variables. Before Go 1.5 no moduledata says where they are. */
static void search_variables(struct gh_process *process, struct gh_goroutines *all)
{
	const struct gh_image *image = process->tab->image;
	const struct gh_moduledata *module = &process->tab->module;
	if (module->bss != 0)
		search_range(process, module->bss, module->ebss, all);
	for (size_t i = 0; module->bss == 0 && i < image->nsegments; i++) {
		const GElf_Phdr *segment = &image->segments[i];
		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
			search_range(process, segment->p_vaddr, segment->p_vaddr + segment->p_memsz,
				     all);
	}
}

bool gh_goroutines_find(struct gh_goroutines *all, struct gh_process *process, struct gh_error *err)
{
	const char *path = process->tab->image->path;
	*all = (struct gh_goroutines){0};
	if (process->minor == 0 || process->minor == 1)
		return gh_fail(err, path, GH_NO_OFFSET, "a program of Go 1.2 or later",
			       "one of Go 1.%d, whose goroutines cannot be listed", process->minor);
	all->layout = gh_g_layout_of(word_size(process), process->minor);
	search_variables(process, all);
	if (all->count == 0 && all->layout.next == 0 && process->memory.source->next != NULL)
		gh_goroutines_scan(all, process);
	if (all->count == 0)
		return gh_fail(err, path, GH_NO_OFFSET, "a process with goroutines",
			       "none in its variables: it may have just started, or the core file "
			       "lacks them: it was cut short, or see coredump_filter in core(5)");
	if (all->layout.creator == 0)
		all->layout.creator = find_creator(process, all);
	return true;
}

/* Reads the runtime.g at ADDRESS. False if it is not all there, or is none: sched.g points back at
 * each that was ever made ready. */
static bool read_goroutine(const struct gh_goroutines *all, struct gh_process *process,
			   uint64_t address, struct gh_goroutine *g)
{
	unsigned word = word_size(process);
	struct bytes bytes;
	if (address == 0 || address % word != 0 || !read_bytes(process, address, &bytes))
		return false;
	parse(&all->layout, word, &bytes, g);
	return has_ended(g) ||
	       (points_back(&all->layout, word, &bytes) && g->status <= MAX_STATUS &&
		g->stack_low <= g->stack_high && g->stack_high != 0);
}

/* Passes over the pointers from NUMBER to the end of the page, which is not in memory. */
static void pass_over_page(struct gh_goroutines *all, unsigned word, uint64_t number)
{
	uint64_t at = all->list + number * word;
	uint64_t left = (gh_page_end(at) - at) / word;
	uint64_t next = all->count - number > left ? number + left : all->count;
	all->lost += next - number;
	all->next = next;
}

bool gh_goroutines_next(struct gh_goroutines *all, struct gh_process *process,
			struct gh_goroutine *g)
{
	while (all->next < all->count && !all->failed) {
		uint64_t number = all->next++;
		uint64_t address;
		if (all->layout.next != 0) {
			address = all->list;
		} else if (!read_pointer(process, all, number, &address)) {
			pass_over_page(all, word_size(process), number);
			continue;
		}
		if (gh_numbermap_get(&all->seen, address) != GH_NOT_MAPPED)
			continue;
		if (!gh_numbermap_put(&all->seen, address, 0)) {
			all->failed = true;
			break;
		}
		if (!read_goroutine(all, process, address, g)) {
			all->lost++;
			continue;
		}
		if (all->layout.next != 0)
			all->list = g->next;
		if (!has_ended(g))
			return true;
	}
	return false;
}

bool gh_goroutine_is_on(const struct gh_goroutines *all, struct gh_process *process,
			const struct gh_goroutine *g, uint64_t sp)
{
	unsigned word = word_size(process);
	uint64_t system, low, high;
	if (sp >= g->stack_low && sp < g->stack_high)
		return true;
	return g->thread != 0 && !all->layout.segmented &&
	       gh_process_uint(&process->memory, g->thread, word, &system) &&
	       gh_process_uint(&process->memory, system + all->layout.stack_low, word, &low) &&
	       gh_process_uint(&process->memory, system + all->layout.stack_high, word, &high) &&
	       sp >= low && sp < high;
}

/* The text is in the program, which a core file need not repeat. */
size_t gh_goroutine_reason(const struct gh_process *process, const struct gh_goroutine *g,
			   const char **text)
{
	struct gh_cursor cur;
	if (g->reason_text == 0 ||
	    !gh_image_at(process->tab->image, g->reason_text - process->bias, &cur))
		return 0;
	*text = (const char *)cur.pos;
	size_t most = gh_cursor_left(&cur) < MAX_REASON ? gh_cursor_left(&cur) : MAX_REASON;
	if (g->reason_length != 0)
		return g->reason_length <= most ? (size_t)g->reason_length : 0;
	return strnlen(*text, most);
}

void gh_goroutines_free(struct gh_goroutines *all)
{
	gh_numbermap_free(&all->seen);
	gh_vector_free(&all->found);
}
