/* The ways of control through a function, from calls that take locks and let go of them to the
 * instruction that it is at. */
#include <stdlib.h>
#include <string.h>

#include "lib/wait/internal.h"

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
	return x->from == y->from && x->reg == y->reg && x->nloads == y->nloads &&
	       memcmp(x->offsets, y->offsets, (x->nloads + 1) * sizeof(*x->offsets)) == 0;
}

bool gh_lock_flow_may_unlock(const struct gh_lock_call *call, const struct gh_lock_call *locked)
{
	return call->method->unlocks && call->method->lock == locked->method->lock &&
	       (!are_lasting(call, locked) || are_equal(&call->receiver, &locked->receiver));
}

bool gh_lock_flow_locks_same(const struct gh_lock_call *call, const struct gh_lock_call *locked)
{
	return call == locked ||
	       (!call->method->unlocks && !call->method->may_fail &&
		call->method->lock == locked->method->lock && are_lasting(call, locked) &&
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

void gh_lock_flow_go_to(struct gh_lock_flow *flow, uint64_t address)
{
	uint64_t offset = address - flow->calls.func.entry;
	if (address == 0 || offset >= gh_cursor_size(&flow->code) ||
	    (flow->marks[offset] & GH_LOCK_SEEN) != 0)
		return;
	flow->marks[offset] |= GH_LOCK_SEEN;
	gh_vector_push(&flow->left, offset);
}

/* The instruction at ADDRESS is the one that is executing. */
static bool is_here(const struct gh_lock_flow *flow, const struct gh_flow *next, uint64_t address)
{
	return address == flow->calls.pc ||
	       (address < flow->calls.pc && next->after > flow->calls.pc);
}

enum gh_flow_reached gh_lock_flow_follow(struct gh_lock_flow *flow)
{
	const struct gh_arch *arch = flow->calls.tab->image->arch;
	size_t size = gh_cursor_size(&flow->code);
	enum gh_flow_reached reached = GH_FLOW_NOT_REACHED;
	while (flow->left.count > 0 && reached != GH_FLOW_NOT_KNOWN) {
		uint64_t offset = flow->left.items[--flow->left.count];
		uint64_t address = flow->calls.func.entry + offset;
		struct gh_flow next;
		if ((flow->marks[offset] & GH_LOCK_STOP) != 0)
			continue;
		if (!gh_flow_read(&next, arch, flow->code.start + offset, size - offset, address)) {
			reached = GH_FLOW_NOT_KNOWN;
			continue;
		}
		if (is_here(flow, &next, address))
			reached = GH_FLOW_REACHED;
		gh_lock_flow_go_to(flow, next.target);
		if (next.callee == 0 || !never_returns(name_at(flow->calls.tab, next.callee)))
			gh_lock_flow_go_to(flow, next.after);
	}
	flow->left.count = 0;
	return reached;
}

void gh_lock_flow_stop_at(struct gh_lock_flow *flow, const struct gh_lock_piece *piece)
{
	uint64_t size = gh_cursor_size(&flow->code);
	uint64_t from = piece->start - flow->calls.func.entry;
	uint64_t to = piece->end - flow->calls.func.entry;
	for (uint64_t at = from; at < to && at < size; at++)
		flow->marks[at] |= GH_LOCK_STOP;
}

enum gh_flow_reached gh_lock_flow_comes_open(struct gh_lock_flow *flow,
					     const struct gh_lock_call *locked)
{
	gh_lock_flow_clear(flow);
	for (size_t i = 0; i < flow->calls.pieces.count; i++) {
		const struct gh_lock_piece *piece = &flow->calls.pieces.items[i];
		const struct gh_lock_call *call = &flow->calls.list.items[piece->call];
		if (gh_lock_flow_may_unlock(call, locked))
			gh_lock_flow_stop_at(flow, piece);
		else if (call == locked)
			gh_lock_flow_go_to(flow, piece->start);
	}
	return gh_lock_flow_follow(flow);
}

enum gh_flow_reached gh_lock_flow_comes_without(struct gh_lock_flow *flow,
						const struct gh_lock_call *locked)
{
	gh_lock_flow_clear(flow);
	gh_lock_flow_go_to(flow, flow->calls.func.entry);
	for (size_t i = 0; i < flow->calls.pieces.count; i++) {
		const struct gh_lock_piece *piece = &flow->calls.pieces.items[i];
		const struct gh_lock_call *call = &flow->calls.list.items[piece->call];
		if (gh_lock_flow_may_unlock(call, locked))
			gh_lock_flow_go_to(flow, piece->start);
		else if (gh_lock_flow_locks_same(call, locked))
			gh_lock_flow_stop_at(flow, piece);
	}
	return gh_lock_flow_follow(flow);
}

static bool leads(const struct gh_lock_flow *flow, uint64_t address)
{
	uint64_t offset = address - flow->calls.func.entry;
	return address != 0 && offset < gh_cursor_size(&flow->code) &&
	       (flow->marks[offset] & GH_LOCK_LEADS) != 0;
}

/* The kinds of locks that the function may let go of that the instruction at ADDRESS, of which NEXT
 * is known, calls. */
static unsigned released_by(const struct gh_lock_flow *flow, const struct gh_flow *next,
			    uint64_t address)
{
	uint64_t callee = next->callee;
	for (size_t i = 0; next->indirect && flow->targets != NULL && i < flow->targets->count; i++)
		if (flow->targets->items[i].at == address - flow->calls.func.entry)
			callee = flow->targets->items[i].entry;
	if (callee == 0)
		return next->indirect && !flow->skips_indirect ? GH_LOCK_ALL : 0;
	return gh_unlocked_unseen(flow->lock_code, flow->calls.tab, callee);
}

/* Marks those of the instructions that control has come to from which it goes on to the one that is
 * executing. False if there are more of them than before: those before them may, too. KINDS are the
 * locks that the calls among them may let go of. */
static bool mark_leading(struct gh_lock_flow *flow, unsigned *kinds)
{
	const struct gh_arch *arch = flow->calls.tab->image->arch;
	size_t size = gh_cursor_size(&flow->code);
	bool same = true;
	for (size_t offset = size; offset-- > 0;) {
		uint8_t *marks = &flow->marks[offset];
		uint64_t address = flow->calls.func.entry + offset;
		struct gh_flow next;
		if ((*marks & (GH_LOCK_SEEN | GH_LOCK_STOP | GH_LOCK_LEADS)) != GH_LOCK_SEEN ||
		    !gh_flow_read(&next, arch, flow->code.start + offset, size - offset, address))
			continue;
		bool here = is_here(flow, &next, address);
		if (!here && !leads(flow, next.target) && !leads(flow, next.after))
			continue;
		*marks |= GH_LOCK_LEADS;
		same = false;
		if (!here)
			*kinds |= released_by(flow, &next, address);
	}
	return same;
}

unsigned gh_lock_flow_released(struct gh_lock_flow *flow)
{
	unsigned kinds = 0;
	if (flow->lock_code == NULL)
		return GH_LOCK_ALL;
	for (unsigned pass = 0; pass < MAX_PASSES; pass++)
		if (mark_leading(flow, &kinds))
			return kinds;
	return GH_LOCK_ALL;
}

bool gh_lock_flow_lasts(const struct gh_lock_flow *flow, const struct gh_receiver *receiver)
{
	for (size_t i = 0; i < flow->calls.receivers.stores.count; i++) {
		const struct gh_store *store = &flow->calls.receivers.stores.items[i];
		if ((flow->marks[store->at] & GH_LOCK_SEEN) == 0)
			continue;
		for (unsigned k = 0; k < receiver->nloads; k++) {
			bool in_frame = k == 0 && receiver->from == GH_RECEIVER_FRAME;
			if (store->in_frame == in_frame && store->offset == receiver->offsets[k])
				return false;
		}
	}
	return true;
}

bool gh_lock_flow_lets_go(struct gh_lock_flow *flow, const struct gh_lock_call *call,
			  uint64_t address)
{
	const struct gh_lock_calls *calls = &flow->calls;
	bool comes = false;
	gh_lock_flow_clear(flow);
	gh_lock_flow_go_to(flow, address);
	for (size_t i = 0; i < calls->pieces.count; i++) {
		const struct gh_lock_call *other = &calls->list.items[calls->pieces.items[i].call];
		if (!other->method->unlocks && gh_lock_flow_may_unlock(call, other))
			gh_lock_flow_stop_at(flow, &calls->pieces.items[i]);
	}
	if (gh_lock_flow_follow(flow) == GH_FLOW_NOT_KNOWN)
		return false;
	for (size_t i = 0; i < calls->pieces.count; i++) {
		const struct gh_lock_piece *piece = &calls->pieces.items[i];
		if (&calls->list.items[piece->call] == call)
			comes |=
			    (flow->marks[piece->start - calls->func.entry] & GH_LOCK_SEEN) != 0;
	}
	return comes;
}

bool gh_lock_flow_start(struct gh_lock_flow *flow, const struct gh_pclntab *tab,
			struct gh_lock_code *code, uint64_t pc,
			const struct gh_lock_targets *targets, bool *ok)
{
	const struct gh_func *func = &flow->calls.func;
	*flow = (struct gh_lock_flow){.lock_code = code, .targets = targets};
	*ok = gh_lock_calls_find(&flow->calls, tab, code, pc, targets);
	uint64_t size = func->end - func->entry;
	if (!*ok || size == 0 || !gh_image_at(tab->image, func->entry, &flow->code) ||
	    gh_cursor_left(&flow->code) < size)
		return false;
	flow->code = gh_cursor_slice(&flow->code, 0, size);
	flow->marks = malloc(size + 1);
	*ok = flow->marks != NULL;
	return *ok;
}

void gh_lock_flow_clear(struct gh_lock_flow *flow)
{
	memset(flow->marks, 0, gh_cursor_size(&flow->code));
}

void gh_lock_flow_free(struct gh_lock_flow *flow)
{
	gh_lock_calls_free(&flow->calls);
	gh_vector_free(&flow->left);
	free(flow->marks);
}
