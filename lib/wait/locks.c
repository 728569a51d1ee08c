/* The locks that a function may have open where it is. */
#include <stdlib.h>
#include <string.h>

#include "lib/wait/internal.h"

/* Where the code of CALL begins. */
static uint64_t start_of(const struct gh_lock_flow *flow, const struct gh_lock_call *call)
{
	size_t i = 0;
	while (&flow->calls.list.items[flow->calls.pieces.items[i].call] != call)
		i++;
	return flow->calls.pieces.items[i].start;
}

/* CALL comes before LINE, or in it before the instruction at PC. */
static bool is_before(const struct gh_lock_flow *flow, const struct gh_lock_call *call,
		      int32_t line, uint64_t pc)
{
	return call->line < line || (call->line == line && start_of(flow, call) < pc);
}

/* By the order of the source, LOCKED is before the instruction, and no call that may let go is in
 * between. */
static bool is_open_by_lines(const struct gh_lock_flow *flow, const struct gh_lock_call *locked)
{
	int32_t line = gh_own_line(&flow->calls.here);
	bool open = is_before(flow, locked, line, flow->calls.pc);
	for (size_t i = 0; open && i < flow->calls.list.count; i++) {
		const struct gh_lock_call *call = &flow->calls.list.items[i];
		open = !gh_lock_flow_may_unlock(call, locked) ||
		       !is_before(flow, locked, call->line, start_of(flow, call)) ||
		       !is_before(flow, call, line, flow->calls.pc);
	}
	return open;
}

/* What is called on the ways from LOCKED to the instruction may let go of it. */
static bool may_be_unlocked(struct gh_lock_flow *flow, const struct gh_lock_call *locked)
{
	gh_lock_flow_comes_open(flow, locked);
	return (gh_lock_flow_released(flow) & locked->method->lock) != 0;
}

/* Fills OPEN with the lock of LOCKED. False if it is not open. */
static bool find_open(struct gh_lock_place *place, struct gh_open_lock *open,
		      struct gh_lock_flow *flow, const struct gh_lock_call *locked)
{
	*open = (struct gh_open_lock){.lock = locked->method->lock,
				      .pc = start_of(flow, locked),
				      .receiver = locked->receiver};
	enum gh_flow_reached reached = gh_lock_flow_comes_open(flow, locked);
	if (reached == GH_FLOW_NOT_KNOWN)
		place->unclear |= open->lock;
	if (reached == GH_FLOW_NOT_REACHED ||
	    (reached == GH_FLOW_NOT_KNOWN && !is_open_by_lines(flow, locked)))
		return false;
	open->lasts = reached == GH_FLOW_REACHED && open->receiver.known &&
		      gh_lock_flow_lasts(flow, &open->receiver);
	open->sure = reached == GH_FLOW_REACHED && !locked->method->may_fail &&
		     gh_lock_flow_comes_without(flow, locked) == GH_FLOW_NOT_REACHED &&
		     !may_be_unlocked(flow, locked);
	return true;
}

/* Adds to PLACE the lock of CALL, if it is open where the function is, or let go of from there. */
static void add_lock(struct gh_lock_place *place, struct gh_lock_flow *flow,
		     const struct gh_lock_call *call)
{
	struct gh_open_locks *out = &place->locks;
	const struct gh_lock_calls *calls = &flow->calls;
	struct gh_open_lock open;
	uint64_t from = calls->pc > calls->func.entry ? calls->pc + 1 : calls->pc;
	if (!call->method->unlocks) {
		if (find_open(place, &open, flow, call))
			gh_vector_push(out, open);
		return;
	}
	open = (struct gh_open_lock){.lock = call->method->lock,
				     .lets_go = true,
				     .pc = start_of(flow, call),
				     .receiver = call->receiver};
	if (!gh_lock_flow_lets_go(flow, call, from))
		return;
	open.lasts = open.receiver.known && gh_lock_flow_lasts(flow, &open.receiver);
	gh_vector_push(out, open);
}

/* Keeps the words of the frame that have arguments, wherever control came from to the instruction.
 */
static void find_kept(struct gh_lock_place *place, struct gh_lock_flow *flow)
{
	const struct gh_receivers *receivers = &flow->calls.receivers;
	uint64_t entry = flow->calls.func.entry;
	for (size_t i = 0; i < receivers->kept.count; i++) {
		const struct gh_kept *kept = &receivers->kept.items[i];
		struct gh_lock_piece piece = {.start = entry + kept->at,
					      .end = entry + kept->at + 1};
		if (kept->value.nloads > 0)
			continue;
		gh_lock_flow_clear(flow);
		gh_lock_flow_go_to(flow, entry);
		gh_lock_flow_stop_at(flow, &piece);
		if (gh_lock_flow_follow(flow) == GH_FLOW_NOT_REACHED)
			gh_vector_push(&place->kept, *kept);
	}
}

/* Keeps what the call that the function is at passes, and what the others call. */
static void find_passed(struct gh_lock_place *place, const struct gh_lock_calls *calls)
{
	const struct gh_passed *items = calls->receivers.passed.items;
	uint64_t here = calls->pc - calls->func.entry;
	size_t at = SIZE_MAX;
	for (size_t i = 0; i < calls->receivers.list.count; i++)
		if (calls->receivers.list.items[i].is_call &&
		    here - calls->receivers.list.items[i].at < 8)
			at = calls->receivers.list.items[i].at;
	for (size_t i = 0; i < calls->receivers.passed.count; i++) {
		bool is_callee = items[i].reg == GH_PASSED_CALLEE;
		if (items[i].value.at == at && !is_callee)
			gh_vector_push(&place->passed, items[i]);
		else if (items[i].value.at != at && is_callee && items[i].value.nloads > 0)
			gh_vector_push(&place->indirect, items[i]);
	}
}

bool gh_lock_place_find(struct gh_lock_place *place, const struct gh_pclntab *tab,
			struct gh_lock_code *code, uint64_t pc,
			const struct gh_lock_targets *targets)
{
	struct gh_lock_flow flow;
	bool ok;
	*place = (struct gh_lock_place){0};
	if (gh_lock_flow_start(&flow, tab, code, pc, targets, &ok)) {
		place->entry = flow.calls.func.entry;
		place->is_locking = flow.calls.is_inside;
		place->unclear = flow.calls.is_skipped ? GH_LOCK_ALL : 0;
		for (size_t i = 0; i < flow.calls.list.count; i++)
			add_lock(place, &flow, &flow.calls.list.items[i]);
		find_kept(place, &flow);
		find_passed(place, &flow.calls);
	}
	ok = ok && !flow.left.failed && !place->locks.failed && !place->kept.failed &&
	     !place->passed.failed && !place->indirect.failed;
	gh_lock_flow_free(&flow);
	return ok;
}

void gh_lock_place_free(struct gh_lock_place *place)
{
	gh_vector_free(&place->locks);
	gh_vector_free(&place->releases);
	gh_vector_free(&place->kept);
	gh_vector_free(&place->passed);
	gh_vector_free(&place->indirect);
}

/* Control comes from the beginning to the instruction without CALL. */
static bool comes_past(struct gh_lock_flow *flow, const struct gh_lock_call *call)
{
	gh_lock_flow_clear(flow);
	gh_lock_flow_go_to(flow, flow->calls.func.entry);
	for (size_t i = 0; i < flow->calls.pieces.count; i++) {
		const struct gh_lock_piece *piece = &flow->calls.pieces.items[i];
		if (&flow->calls.list.items[piece->call] == call)
			gh_lock_flow_stop_at(flow, piece);
	}
	return gh_lock_flow_follow(flow) != GH_FLOW_NOT_REACHED;
}

/* Adds to OUT the calls of FLOW, on ways that control has been followed on from the function's
 * beginning, that let go of what it has not taken. */
static void add_releases(struct gh_open_locks *out, struct gh_lock_flow *flow)
{
	const struct gh_lock_calls *calls = &flow->calls;
	bool *leads = calloc(calls->list.count + 1, sizeof(*leads));
	out->failed |= leads == NULL;
	for (size_t i = 0; leads != NULL && i < calls->pieces.count; i++) {
		const struct gh_lock_piece *piece = &calls->pieces.items[i];
		leads[piece->call] |=
		    (flow->marks[piece->start - calls->func.entry] & GH_LOCK_LEADS) != 0;
	}
	for (size_t i = 0; leads != NULL && i < calls->list.count; i++) {
		const struct gh_lock_call *call = &calls->list.items[i];
		struct gh_open_lock open = {
		    .lock = call->method->lock, .lets_go = true, .receiver = call->receiver};
		if (!leads[i] || !call->method->unlocks ||
		    !gh_lock_flow_lets_go(flow, call, calls->func.entry))
			continue;
		open.lasts = open.receiver.known && gh_lock_flow_lasts(flow, &open.receiver);
		open.sure = !comes_past(flow, call);
		gh_vector_push(out, open);
	}
	free(leads);
}

/* Finds what functions may have let go of that FLOW's function has called it is not known by what:
 * callbacks of what it was called with. */
static void find_unseen(struct gh_lock_place *place, struct gh_lock_flow *flow)
{
	if (gh_is_go_own(gh_pclntab_name(flow->calls.tab, flow->calls.func.name)))
		return;
	gh_lock_flow_clear(flow);
	gh_lock_flow_go_to(flow, flow->calls.func.entry);
	flow->skips_indirect = false;
	if (gh_lock_flow_follow(flow) != GH_FLOW_NOT_KNOWN)
		place->unseen = gh_lock_flow_released(flow);
}

bool gh_lock_place_find_released(struct gh_lock_place *place, const struct gh_pclntab *tab,
				 struct gh_lock_code *code, uint64_t pc)
{
	struct gh_lock_flow flow;
	bool ok;
	if (place->has_released)
		return true;
	place->has_released = true;
	if (gh_lock_flow_start(&flow, tab, code, pc, NULL, &ok)) {
		gh_lock_flow_clear(&flow);
		gh_lock_flow_go_to(&flow, flow.calls.func.entry);
		flow.skips_indirect = true;
		if (gh_lock_flow_follow(&flow) == GH_FLOW_NOT_KNOWN) {
			place->released = gh_unlocked_by(code, tab, place->entry);
		} else {
			place->released = gh_lock_flow_released(&flow);
			add_releases(&place->releases, &flow);
			find_unseen(place, &flow);
		}
	}
	ok = ok && !flow.left.failed && !place->releases.failed;
	gh_lock_flow_free(&flow);
	return ok;
}

bool gh_lock_is_deferred(const struct gh_pclntab *tab, struct gh_lock_code *code, uint64_t pc,
			 uint64_t deferred, unsigned kind)
{
	struct gh_lock_flow flow;
	bool ok, is = false;
	if (gh_lock_flow_start(&flow, tab, code, pc, NULL, &ok)) {
		const struct gh_lock_calls *calls = &flow.calls;
		is = true;
		gh_lock_flow_clear(&flow);
		gh_lock_flow_go_to(&flow, calls->func.entry);
		for (size_t i = 0; i < calls->pieces.count; i++) {
			const struct gh_lock_method *method =
			    calls->list.items[calls->pieces.items[i].call].method;
			if (method->lock == kind && !method->unlocks && !method->may_fail)
				gh_lock_flow_stop_at(&flow, &calls->pieces.items[i]);
		}
		flow.calls.pc = deferred;
		is = gh_lock_flow_follow(&flow) == GH_FLOW_NOT_REACHED;
		flow.calls.pc = pc;
		gh_lock_flow_clear(&flow);
		gh_lock_flow_go_to(&flow, calls->func.entry);
		is = is && gh_lock_flow_follow(&flow) == GH_FLOW_REACHED &&
		     (gh_lock_flow_released(&flow) & kind) == 0;
		for (size_t i = 0; is && i < calls->pieces.count; i++) {
			const struct gh_lock_piece *piece = &calls->pieces.items[i];
			const struct gh_lock_method *method = calls->list.items[piece->call].method;
			is = method->lock != kind || !method->unlocks ||
			     (flow.marks[piece->start - calls->func.entry] & GH_LOCK_LEADS) == 0;
		}
	}
	gh_lock_flow_free(&flow);
	return ok && is;
}
