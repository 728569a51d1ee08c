/* The locks that the frames of goroutines have open, and the addresses of these. */
#include <stdlib.h>
#include <string.h>

#include "lib/wait/internal.h"

/* So many callers are asked what an argument is, and so many indirect calls of a function what they
 * call. */
enum { MOST_CALLERS = 8, MOST_INDIRECT = 16 };

/* package sync's Cond: its L, an interface, comes first. */
#define COND_WAIT "sync.(*Cond).Wait"

bool gh_lock_frames_start(struct gh_lock_frames *frames, const struct gh_waits *waits,
			  const size_t *wait_of, const struct gh_module *modules, size_t nmodules)
{
	*frames = (struct gh_lock_frames){
	    .dump = waits->dump,
	    .waits = waits,
	    .wait_of = wait_of,
	    .modules = modules,
	    .nmodules = nmodules,
	    .codes = calloc(nmodules, sizeof(*frames->codes)),
	};
	return frames->codes != NULL;
}

void gh_lock_frames_free(struct gh_lock_frames *frames)
{
	for (size_t i = 0; frames->codes != NULL && i < frames->nmodules; i++)
		gh_lock_code_free(&frames->codes[i]);
	free(frames->codes);
	for (size_t i = 0; i < frames->places.count; i++)
		gh_lock_place_free(&frames->places.items[i]);
	gh_vector_free(&frames->places);
	gh_numbermap_free(&frames->numbers);
	gh_numbermap_free(&frames->resolved);
}

size_t gh_lock_frames_module(const struct gh_lock_frames *frames, uint64_t entry)
{
	for (size_t i = 0; i < frames->nmodules; i++)
		if (gh_pclntab_find(frames->modules[i].tab, entry - frames->modules[i].bias) !=
		    SIZE_MAX)
			return i;
	return 0;
}

/* The frame at DEPTH of the stack of GOROUTINE. False if there is none. */
static bool get_frame(const struct gh_lock_frames *frames, size_t goroutine, size_t depth,
		      struct gh_dump_frame *frame)
{
	const struct gh_dump_stack *stack = gh_dump_stack(frames->dump, goroutine);
	struct gh_dump_record record;
	if (depth >= stack->nframes)
		return false;
	gh_dump_get(frames->dump, GH_DUMP_FRAME, stack->first_frame + depth, &record);
	*frame = record.frame;
	return true;
}

/* The instruction that FRAME, of this MODULE, is at, in the module's file: what it returns to may
 * be of the next line. */
static uint64_t file_pc(const struct gh_lock_frames *frames, size_t module,
			const struct gh_dump_frame *frame)
{
	return frame->pc - frames->modules[module].bias - (frame->pc > frame->entry);
}

/* The number of the place that is known by KEY in MAP, made if it is not there. */
static size_t number_of(struct gh_lock_frames *frames, struct gh_numbermap *map, uint64_t key,
			size_t module, uint64_t pc, const struct gh_lock_targets *targets)
{
	struct gh_lock_place place;
	uint32_t number = gh_numbermap_get(map, key);
	if (number != GH_NOT_MAPPED)
		return number;
	number = (uint32_t)frames->places.count;
	frames->failed |= !gh_lock_place_find(&place, frames->modules[module].tab,
					      &frames->codes[module], pc, targets);
	if (!gh_vector_push(&frames->places, place) || !gh_numbermap_put(map, key, number)) {
		frames->failed = true;
		return SIZE_MAX;
	}
	return number;
}

/* The number of the place of FRAME, of MODULE, with no indirect calls known. */
static size_t base_place(struct gh_lock_frames *frames, size_t module,
			 const struct gh_dump_frame *frame)
{
	return number_of(frames, &frames->numbers, frame->pc, module,
			 file_pc(frames, module, frame), NULL);
}

/* Finds in *ADDRESS what register REG held when the function at DEPTH was called, whose place is
 * number PLACE: a word of its frame has it, or what called it tells. False if it is not known. */
static bool find_argument(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
			  size_t place, uint8_t reg, unsigned callers, uint64_t *address)
{
	struct gh_dump_frame frame, caller;
	const struct gh_lock_place *item = &frames->places.items[place];
	if (!get_frame(frames, goroutine, depth, &frame))
		return false;
	for (size_t i = 0; i < item->kept.count; i++)
		if (item->kept.items[i].value.reg == reg) {
			uint64_t word = gh_wait_word(
			    frames->dump, frame.sp + (uint64_t)item->kept.items[i].offset);
			*address = word - (uint64_t)item->kept.items[i].value.offsets[0];
			return word != 0;
		}
	if (callers == MOST_CALLERS || !get_frame(frames, goroutine, depth + 1, &caller))
		return false;
	size_t number = base_place(frames, gh_lock_frames_module(frames, caller.entry), &caller);
	if (number == SIZE_MAX)
		return false;
	for (size_t i = 0; i < frames->places.items[number].passed.count; i++) {
		const struct gh_passed *passed = &frames->places.items[number].passed.items[i];
		if (passed->reg == reg)
			return gh_lock_frames_value(frames, goroutine, depth + 1, number,
						    &passed->value, callers + 1, address);
	}
	return false;
}

/* The word at ADDRESS; what a module has that is never written is in its file. */
static uint64_t read_word(const struct gh_lock_frames *frames, uint64_t address)
{
	uint64_t word = gh_wait_word(frames->dump, address);
	struct gh_cursor cur;
	for (size_t i = 0; word == 0 && i < frames->nmodules; i++)
		if (gh_image_at(frames->modules[i].tab->image, address - frames->modules[i].bias,
				&cur) &&
		    gh_cursor_left(&cur) >= frames->dump->word)
			word = gh_cursor_uint(&cur, frames->dump->word);
	return word;
}

bool gh_lock_frames_follow(const struct gh_lock_frames *frames, uint64_t at,
			   const struct gh_receiver *value, uint64_t *address)
{
	for (unsigned i = 0; i < value->nloads; i++) {
		at = read_word(frames, at + (uint64_t)value->offsets[i]);
		if (at == 0)
			return false;
	}
	*address = at + (uint64_t)value->offsets[value->nloads];
	return true;
}

bool gh_lock_frames_value(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
			  size_t place, const struct gh_receiver *value, unsigned callers,
			  uint64_t *address)
{
	struct gh_dump_frame frame;
	uint64_t at = 0;
	if (!value->known || !get_frame(frames, goroutine, depth, &frame))
		return false;
	switch ((enum gh_receiver_from)value->from) {
	case GH_RECEIVER_FRAME:
		at = frame.sp;
		break;
	case GH_RECEIVER_GLOBAL:
		at = frames->modules[gh_lock_frames_module(frames, frame.entry)].bias;
		break;
	case GH_RECEIVER_ARGUMENT:
		if (!find_argument(frames, goroutine, depth, place, value->reg, callers, &at))
			return false;
		break;
	}
	return gh_lock_frames_follow(frames, at, value, address);
}

/* The function at ENTRY takes a lock or lets go of one, which its caller knows. */
static bool is_of_locks(struct gh_lock_frames *frames, size_t module, uint64_t entry)
{
	const struct gh_pclntab *tab = frames->modules[module].tab;
	struct gh_func func;
	size_t index = gh_pclntab_find(tab, entry);
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL) || func.entry != entry)
		return false;
	return gh_lock_method_named(gh_pclntab_name(tab, func.name)) != NULL ||
	       gh_lock_effects_of(&frames->codes[module], tab, entry)->count > 0;
}

/* Finds the TARGETS of the indirect calls of the function at DEPTH. */
static void find_targets(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
			 size_t module, size_t place, struct gh_lock_targets *targets)
{
	size_t count = frames->places.items[place].indirect.count;
	for (size_t i = 0; i < count && i < MOST_INDIRECT; i++) {
		struct gh_passed call = frames->places.items[place].indirect.items[i];
		uint64_t entry;
		if (gh_lock_frames_value(frames, goroutine, depth, place, &call.value, 0, &entry) &&
		    is_of_locks(frames, module, entry - frames->modules[module].bias))
			gh_vector_push(targets,
				       ((struct gh_lock_target){
					   call.value.at, entry - frames->modules[module].bias}));
	}
	frames->failed |= targets->failed;
}

size_t gh_lock_frames_place(struct gh_lock_frames *frames, size_t goroutine, size_t depth)
{
	struct gh_lock_targets targets = {0};
	struct gh_dump_frame frame;
	if (!get_frame(frames, goroutine, depth, &frame))
		return SIZE_MAX;
	size_t module = gh_lock_frames_module(frames, frame.entry);
	size_t number = base_place(frames, module, &frame);
	if (number == SIZE_MAX || frames->places.items[number].indirect.count == 0)
		return number;
	find_targets(frames, goroutine, depth, module, number, &targets);
	if (targets.count > 0) {
		uint64_t key = frame.pc;
		for (size_t i = 0; i < targets.count; i++)
			key = (key ^ targets.items[i].entry ^ targets.items[i].at << 32) *
			      0x9e3779b97f4a7c15;
		number = number_of(frames, &frames->resolved, key, module,
				   file_pc(frames, module, &frame), &targets);
	}
	gh_vector_free(&targets);
	return number;
}

/* Finds in *COND the condition that GOROUTINE waits for, whose frame at DEPTH is of
 * sync.(*Cond).Wait. False if it is not known. */
static bool find_cond(struct gh_lock_frames *frames, size_t goroutine, size_t depth, uint64_t *cond)
{
	static const struct gh_receiver condition = {.known = true, .from = GH_RECEIVER_ARGUMENT};
	struct gh_dump_frame frame;
	size_t number = frames->wait_of[goroutine];
	if (number != GH_DUMP_NONE) {
		const struct gh_wait *wait = &frames->waits->list.items[number];
		*cond = wait->object;
		if (wait->kind == GH_WAIT_COND && wait->object != 0)
			return true;
	}
	if (!get_frame(frames, goroutine, depth, &frame))
		return false;
	size_t place = base_place(frames, gh_lock_frames_module(frames, frame.entry), &frame);
	return place != SIZE_MAX &&
	       gh_lock_frames_value(frames, goroutine, depth, place, &condition, 0, cond);
}

/* The frame at DEPTH, of sync.(*Cond).Wait, has let go of the lock at ADDRESS; GH_RELEASED_PERHAPS
 * if it is not known of which. */
static enum gh_released released_by_wait(struct gh_lock_frames *frames, size_t goroutine,
					 size_t depth, uint64_t address)
{
	uint64_t cond;
	if (address == 0 || !find_cond(frames, goroutine, depth, &cond))
		return GH_RELEASED_PERHAPS;
	uint64_t lock = gh_wait_word(frames->dump, cond + frames->dump->word);
	if (lock == 0)
		return GH_RELEASED_PERHAPS;
	return lock == address ? GH_RELEASED : GH_RELEASED_NOT;
}

/* The function at DEPTH has let go of a lock of a KIND, at ADDRESS, which it had not taken. */
static enum gh_released released_at(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
				    unsigned kind, uint64_t address)
{
	struct gh_dump_frame frame;
	if (!get_frame(frames, goroutine, depth, &frame))
		return GH_RELEASED_PERHAPS;
	if (gh_wait_frame_is(frames->dump, goroutine, depth, COND_WAIT))
		return released_by_wait(frames, goroutine, depth, address);
	size_t module = gh_lock_frames_module(frames, frame.entry);
	size_t number = base_place(frames, module, &frame);
	if (number == SIZE_MAX)
		return GH_RELEASED_PERHAPS;
	struct gh_lock_place *place = &frames->places.items[number];
	frames->failed |=
	    !gh_lock_place_find_released(place, frames->modules[module].tab, &frames->codes[module],
					 file_pc(frames, module, &frame));
	unsigned unseen = place->unseen & kind;
	if ((place->released & kind) == 0 && unseen != 0 && !frames->has_unproved) {
		frames->unproved = gh_left_unproved(frames, GH_LOCK_ALL);
		frames->has_unproved = true;
	}
	enum gh_released released =
	    (place->released & kind) != 0 || (unseen & frames->unproved) != 0 ? GH_RELEASED_PERHAPS
									      : GH_RELEASED_NOT;
	for (size_t i = 0; i < frames->places.items[number].releases.count; i++) {
		struct gh_open_lock open = frames->places.items[number].releases.items[i];
		uint64_t at = 0;
		bool known = gh_lock_frames_value(frames, goroutine, depth, number, &open.receiver,
						  0, &at) &&
			     open.lasts && address != 0;
		if ((open.lock & kind) == 0 || (known && at != address))
			continue;
		if (known && open.sure)
			return GH_RELEASED;
		released = GH_RELEASED_PERHAPS;
	}
	return released;
}

enum gh_released gh_lock_frames_released(struct gh_lock_frames *frames, size_t goroutine,
					 size_t depth, unsigned kind, uint64_t address)
{
	enum gh_released released = GH_RELEASED_NOT;
	for (size_t i = 0; i < depth && released != GH_RELEASED; i++) {
		enum gh_released by = released_at(frames, goroutine, i, kind, address);
		released = by > released ? by : released;
	}
	return released;
}

/* Adds what the function at DEPTH has deferred that lets go of locks: it has them if it has taken
 * one each time before it deferred. FRAME is the dump's. */
static void add_deferred(struct gh_lock_frames *frames, struct gh_frame_locks *out,
			 size_t goroutine, const struct gh_dump_frame *frame, size_t module)
{
	const struct gh_dump_stack *stack = gh_dump_stack(frames->dump, goroutine);
	struct gh_lock_code *code = &frames->codes[module];
	const struct gh_pclntab *tab = frames->modules[module].tab;
	uint64_t bias = frames->modules[module].bias;
	struct gh_dump_record record;
	for (size_t i = 0; i < stack->ndefers; i++) {
		gh_dump_get(frames->dump, GH_DUMP_DEFER, stack->first_defer + i, &record);
		const struct gh_dump_defer *defer = &record.defer;
		if (defer->entry == 0 || defer->argp != frame->sp)
			continue;
		const struct gh_lock_effects *effects =
		    gh_lock_effects_of(code, tab, defer->entry - bias);
		for (size_t k = 0; k < effects->count; k++) {
			const struct gh_lock_effect *effect = &effects->items[k];
			struct gh_frame_lock open = {.lock = effect->method->lock,
						     .pc = defer->pc - 1};
			if (!effect->method->unlocks ||
			    effect->receiver.from != GH_RECEIVER_ARGUMENT ||
			    effect->receiver.reg != GH_RECEIVER_CLOSURE ||
			    !gh_lock_frames_follow(frames, defer->func_value, &effect->receiver,
						   &open.address))
				continue;
			open.lasts = true;
			open.certain = gh_lock_is_deferred(
			    tab, code, frame->pc - bias - (frame->pc > frame->entry),
			    defer->pc - bias - 1, open.lock);
			gh_vector_push(out, open);
		}
	}
}

/* The kinds of locks that FRAME, at PLACE, may hold or let go of, it is not known which; OPEN are
 * those that are seen. Code of Go's own packages has no locks of the program's. */
static unsigned find_unclear(const struct gh_lock_frames *frames, size_t goroutine,
			     const struct gh_lock_place *place, const struct gh_dump_frame *frame,
			     const struct gh_frame_locks *open)
{
	struct gh_cursor text = gh_dump_bytes(frames->dump, frame->function);
	struct gh_dump_record record;
	char name[256] = "";
	size_t size = gh_cursor_left(&text);
	unsigned kinds = place->unclear;
	if (size < sizeof(name))
		memcpy(name, text.pos, size);
	gh_dump_get(frames->dump, GH_DUMP_GOROUTINE, goroutine, &record);
	/* One that does not wait may have taken it an instruction ago. */
	if (record.goroutine.status != GH_DUMP_WAITING &&
	    (place->is_locking || gh_is_lock_own(name)))
		return GH_LOCK_ALL;
	if (gh_is_go_own(name))
		return 0;
	for (size_t i = 0; i < open->count; i++)
		if (open->items[i].address == 0 || !open->items[i].lasts)
			kinds |= open->items[i].lock;
	return place->entry != 0 ? kinds : GH_LOCK_ALL;
}

void gh_lock_frames_open(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
			 struct gh_frame_locks *out, unsigned *unclear)
{
	struct gh_dump_frame frame;
	size_t number = gh_lock_frames_place(frames, goroutine, depth);
	out->count = 0;
	if (number == SIZE_MAX || !get_frame(frames, goroutine, depth, &frame))
		return;
	size_t module = gh_lock_frames_module(frames, frame.entry);
	add_deferred(frames, out, goroutine, &frame, module);
	for (size_t i = 0; i < frames->places.items[number].locks.count; i++) {
		struct gh_open_lock lock = frames->places.items[number].locks.items[i];
		struct gh_frame_lock open = {.lock = lock.lock,
					     .lets_go = lock.lets_go,
					     .certain = lock.sure && lock.lasts,
					     .lasts = lock.lasts,
					     .pc = lock.pc + frames->modules[module].bias};
		if (!gh_lock_frames_value(frames, goroutine, depth, number, &lock.receiver, 0,
					  &open.address))
			open.address = 0;
		gh_vector_push(out, open);
	}
	*unclear |= find_unclear(frames, goroutine, &frames->places.items[number], &frame, out);
}
