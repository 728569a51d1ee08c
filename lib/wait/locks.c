#include <stdlib.h>
#include <string.h>

#include "lib/wait/internal.h"

/* A function, and where control may be in it. */
struct function {
	struct gh_lock_calls calls;
	struct gh_unlockers *unlockers; /* see gh_locks_open */
	struct gh_cursor code;
	uint8_t *marks;                  /* by byte of the code; owned */
	struct GH_VECTOR(uint64_t) next; /* instructions that control may come to, by offset */
};

/* Marks: control is not followed further; it has come there; it goes on from there to pc. */
enum { STOP = 1, SEEN = 2, LEADS = 4 };

/* So often code is gone through from its end to find what leads to pc. Each loop may need once
 * more.
 */
#define MAX_PASSES 16

/* The receivers of A and B are known as long as the function runs. */
static bool are_lasting(const struct gh_lock_call *a, const struct gh_lock_call *b)
{
	return a->receiver.is_lasting && b->receiver.is_lasting;
}

static bool are_equal(const struct gh_receiver *x, const struct gh_receiver *y)
{
	return x->is_global == y->is_global && x->nloads == y->nloads &&
	       memcmp(x->offsets, y->offsets, (x->nloads + 1) * sizeof(*x->offsets)) == 0;
}

/* CALL lets go of what LOCKED may have taken. */
static bool may_unlock(const struct gh_lock_call *call, const struct gh_lock_call *locked)
{
	return call->method->unlocks && call->method->lock == locked->method->lock &&
	       (!are_lasting(call, locked) || are_equal(&call->receiver, &locked->receiver));
}

/* CALL takes what LOCKED takes. */
static bool locks_same(const struct gh_lock_call *call, const struct gh_lock_call *locked)
{
	return call == locked || (call->method == locked->method && are_lasting(call, locked) &&
				  are_equal(&call->receiver, &locked->receiver));
}

/* The name of the function that is at ENTRY; "" if none is. */
static const char *name_at(const struct gh_pclntab *tab, uint64_t entry)
{
	struct gh_func func;
	size_t index = gh_pclntab_find(tab, entry);
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL) || func.entry != entry)
		return "";
	return gh_pclntab_name(tab, func.name);
}

/* Control never comes back from the function called NAME, or goes on as if it had not been called.
 */
static bool never_returns(const char *name)
{
	static const char *const starts[] = {"runtime.panic",   "runtime.goPanic",
					     "runtime.gopanic", "runtime.throw",
					     "runtime.fatal",   "runtime.morestack"};
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static void go_to(struct function *function, uint64_t address)
{
	uint64_t offset = address - function->calls.func.entry;
	if (address == 0 || offset >= gh_cursor_size(&function->code) ||
	    (function->marks[offset] & SEEN) != 0)
		return;
	function->marks[offset] |= SEEN;
	gh_vector_push(&function->next, offset);
}

enum reached { NOT_REACHED, REACHED, NOT_KNOWN };

/* The instruction at ADDRESS is the one that is executing. */
static bool is_here(const struct function *function, const struct gh_flow *flow, uint64_t address)
{
	return address == function->calls.pc ||
	       (address < function->calls.pc && flow->after > function->calls.pc);
}

/* Whether control comes from where it may be to the instruction that is executing without one that
 * is marked STOP. Marks all those that it comes to. */
static enum reached follow(struct function *function)
{
	const struct gh_arch *arch = function->calls.tab->image->arch;
	size_t size = gh_cursor_size(&function->code);
	enum reached reached = NOT_REACHED;
	while (function->next.count > 0 && reached != NOT_KNOWN) {
		uint64_t offset = function->next.items[--function->next.count];
		uint64_t address = function->calls.func.entry + offset;
		struct gh_flow flow;
		if ((function->marks[offset] & STOP) != 0)
			continue;
		if (!gh_flow_read(&flow, arch, function->code.start + offset, size - offset,
				  address)) {
			reached = NOT_KNOWN;
			continue;
		}
		if (is_here(function, &flow, address))
			reached = REACHED;
		go_to(function, flow.target);
		if (flow.callee == 0 || !never_returns(name_at(function->calls.tab, flow.callee)))
			go_to(function, flow.after);
	}
	function->next.count = 0;
	return reached;
}

/* Marks PIECE, where control is not to be followed further. */
static void stop_at(struct function *function, const struct gh_lock_piece *piece)
{
	uint64_t size = gh_cursor_size(&function->code);
	uint64_t from = piece->start - function->calls.func.entry;
	uint64_t to = piece->end - function->calls.func.entry;
	for (uint64_t at = from; at < to && at < size; at++)
		function->marks[at] |= STOP;
}

/* Whether control comes to the instruction from LOCKED without a call that may let go. */
static enum reached comes_open(struct function *function, const struct gh_lock_call *locked)
{
	memset(function->marks, 0, gh_cursor_size(&function->code));
	for (size_t i = 0; i < function->calls.pieces.count; i++) {
		const struct gh_lock_piece *piece = &function->calls.pieces.items[i];
		const struct gh_lock_call *call = &function->calls.list.items[piece->call];
		if (may_unlock(call, locked))
			stop_at(function, piece);
		else if (call == locked)
			go_to(function, piece->start);
	}
	return follow(function);
}

/* Whether control comes there with what LOCKED takes not taken, or let go of. */
static enum reached comes_without(struct function *function, const struct gh_lock_call *locked)
{
	memset(function->marks, 0, gh_cursor_size(&function->code));
	go_to(function, function->calls.func.entry);
	for (size_t i = 0; i < function->calls.pieces.count; i++) {
		const struct gh_lock_piece *piece = &function->calls.pieces.items[i];
		const struct gh_lock_call *call = &function->calls.list.items[piece->call];
		if (may_unlock(call, locked))
			go_to(function, piece->start);
		else if (locks_same(call, locked))
			stop_at(function, piece);
	}
	return follow(function);
}

static bool leads(const struct function *function, uint64_t address)
{
	uint64_t offset = address - function->calls.func.entry;
	return address != 0 && offset < gh_cursor_size(&function->code) &&
	       (function->marks[offset] & LEADS) != 0;
}

/* Marks those of the instructions that control has come to from which it goes on to the one that is
 * executing. False if there are more of them than before: those before them may, too. KINDS are the
 * locks that the calls among them may let go of. */
static bool mark_leading(struct function *function, unsigned *kinds)
{
	const struct gh_arch *arch = function->calls.tab->image->arch;
	size_t size = gh_cursor_size(&function->code);
	bool same = true;
	for (size_t offset = size; offset-- > 0;) {
		uint8_t *marks = &function->marks[offset];
		uint64_t address = function->calls.func.entry + offset;
		struct gh_flow flow;
		if ((*marks & (SEEN | STOP | LEADS)) != SEEN ||
		    !gh_flow_read(&flow, arch, function->code.start + offset, size - offset,
				  address))
			continue;
		bool here = is_here(function, &flow, address);
		if (!here && !leads(function, flow.target) && !leads(function, flow.after))
			continue;
		*marks |= LEADS;
		same = false;
		if (!here && flow.indirect)
			*kinds = GH_LOCK_ALL;
		else if (!here && flow.callee != 0)
			*kinds |=
			    gh_unlocked_by(function->unlockers, function->calls.tab, flow.callee);
	}
	return same;
}

/* What is called on the ways from LOCKED to the instruction may let go of it. */
static bool may_be_unlocked(struct function *function, const struct gh_lock_call *locked)
{
	unsigned kinds = 0;
	if (function->unlockers == NULL)
		return true;
	comes_open(function, locked);
	for (unsigned pass = 0; pass < MAX_PASSES; pass++)
		if (mark_leading(function, &kinds))
			return (kinds & locked->method->lock) != 0;
	return true;
}

/* Whether none of the words that lead to RECEIVER is written where control has come. */
static bool lasts(const struct function *function, const struct gh_receiver *receiver)
{
	for (size_t i = 0; i < function->calls.receivers.stores.count; i++) {
		const struct gh_store *store = &function->calls.receivers.stores.items[i];
		if ((function->marks[store->at] & SEEN) == 0)
			continue;
		for (unsigned k = 0; k < receiver->nloads; k++) {
			bool in_frame = k == 0 && !receiver->is_global;
			if (store->in_frame == in_frame && store->offset == receiver->offsets[k])
				return false;
		}
	}
	return true;
}

/* Where the code of CALL begins. */
static uint64_t start_of(const struct function *function, const struct gh_lock_call *call)
{
	size_t i = 0;
	while (&function->calls.list.items[function->calls.pieces.items[i].call] != call)
		i++;
	return function->calls.pieces.items[i].start;
}

/* CALL comes before LINE, or in it before the instruction at PC. */
static bool is_before(const struct function *function, const struct gh_lock_call *call,
		      int32_t line, uint64_t pc)
{
	return call->line < line || (call->line == line && start_of(function, call) < pc);
}

/* By the order of the source, LOCKED is before the instruction, and no call that may let go is in
 * between. */
static bool is_open_by_lines(const struct function *function, const struct gh_lock_call *locked)
{
	int32_t line = gh_own_line(&function->calls.here);
	bool open = is_before(function, locked, line, function->calls.pc);
	for (size_t i = 0; open && i < function->calls.list.count; i++) {
		const struct gh_lock_call *call = &function->calls.list.items[i];
		open = !may_unlock(call, locked) ||
		       !is_before(function, locked, call->line, start_of(function, call)) ||
		       !is_before(function, call, line, function->calls.pc);
	}
	return open;
}

/* Adds the lock of LOCKED to OUT if it may be open. */
static void add_open(struct gh_open_locks *out, struct function *function,
		     const struct gh_lock_call *locked)
{
	struct gh_open_lock open = {.lock = locked->method->lock, .receiver = locked->receiver};
	enum reached reached = comes_open(function, locked);
	if (reached == NOT_REACHED || (reached == NOT_KNOWN && !is_open_by_lines(function, locked)))
		return;
	open.lasts = reached == REACHED && open.receiver.known && lasts(function, &open.receiver);
	open.sure = reached == REACHED && !locked->method->may_fail &&
		    comes_without(function, locked) == NOT_REACHED &&
		    !may_be_unlocked(function, locked);
	gh_vector_push(out, open);
}

/* Adds to OUT what CALL lets go of if control comes there from the instruction without a call that
 * may take the same. */
static void add_unlocked(struct gh_open_locks *out, struct function *function,
			 const struct gh_lock_call *call)
{
	const struct gh_lock_calls *calls = &function->calls;
	struct gh_open_lock open = {
	    .lock = call->method->lock, .lets_go = true, .receiver = call->receiver};
	bool comes = false;
	memset(function->marks, 0, gh_cursor_size(&function->code));
	go_to(function, calls->pc > calls->func.entry ? calls->pc + 1 : calls->pc);
	for (size_t i = 0; i < calls->pieces.count; i++) {
		const struct gh_lock_call *other = &calls->list.items[calls->pieces.items[i].call];
		if (!other->method->unlocks && may_unlock(call, other))
			stop_at(function, &calls->pieces.items[i]);
	}
	if (follow(function) == NOT_KNOWN)
		return;
	for (size_t i = 0; i < calls->pieces.count; i++) {
		const struct gh_lock_piece *piece = &calls->pieces.items[i];
		if (&calls->list.items[piece->call] == call)
			comes |= (function->marks[piece->start - calls->func.entry] & SEEN) != 0;
	}
	open.lasts = open.receiver.known && lasts(function, &open.receiver);
	if (comes)
		gh_vector_push(out, open);
}

/* Reads the code. False if it cannot be, or memory ran out. */
static bool read_code(struct function *function)
{
	const struct gh_func *func = &function->calls.func;
	uint64_t size = func->end - func->entry;
	if (!gh_image_at(function->calls.tab->image, func->entry, &function->code) ||
	    gh_cursor_left(&function->code) < size)
		return false;
	function->code = gh_cursor_slice(&function->code, 0, size);
	function->marks = malloc(size + 1);
	return function->marks != NULL;
}

bool gh_locks_open(struct gh_open_locks *out, const struct gh_pclntab *tab,
		   struct gh_unlockers *unlockers, uint64_t pc)
{
	struct function function = {.unlockers = unlockers};
	const struct gh_lock_calls *calls = &function.calls;
	bool ok = gh_lock_calls_find(&function.calls, tab, pc);
	if (ok && calls->list.count > 0 && read_code(&function))
		for (size_t i = 0; i < calls->list.count; i++)
			(calls->list.items[i].method->unlocks ? add_unlocked : add_open)(
			    out, &function, &calls->list.items[i]);
	ok = ok && !function.next.failed && !out->failed;
	gh_lock_calls_free(&function.calls);
	gh_vector_free(&function.next);
	free(function.marks);
	return ok;
}
