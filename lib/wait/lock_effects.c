/* What functions have done with their arguments' locks when they return: methods that lock and
 * unlock, and what calls those. */
#include <string.h>

#include "lib/wait/internal.h"

/* Functions of more bytes, and what is called by way of more functions, are not looked at. */
enum { MOST_CODE = 1 << 13, MOST_DEPTH = 4 };

enum { RETURN = 0xc3 };

/* Notes the entries of the methods of locks. */
static bool find_methods(struct gh_lock_code *code, const struct gh_pclntab *tab)
{
	struct gh_func func;
	bool ok = true;
	for (size_t i = 0; ok && i < tab->nfunc; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(tab, func.name);
		if (gh_is_lock_own(name) &&
		    gh_numbermap_get(&code->methods, func.entry) == GH_NOT_MAPPED)
			ok = gh_numbermap_put(&code->methods, func.entry, 0);
	}
	return ok;
}

/* The function at ENTRY calls such itself, or, down to DEPTH calls, something that does. */
static bool touches(struct gh_lock_code *code, const struct gh_pclntab *tab, uint64_t entry,
		    unsigned depth)
{
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_func func;
	uint64_t key = entry << 1 | (depth > 0);
	uint32_t known = gh_numbermap_get(&code->touches, key);
	size_t index = known == GH_NOT_MAPPED ? gh_pclntab_find(tab, entry) : SIZE_MAX;
	bool any = known == 1;
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL) || func.entry != entry)
		return any;
	gh_callsites_in(&walk, tab->image, func.entry, func.end);
	while (!any && gh_callsites_next(&walk, &site))
		any = site.direct &&
		      (gh_numbermap_get(&code->methods, site.target) != GH_NOT_MAPPED ||
		       (depth > 0 && touches(code, tab, site.target, depth - 1)));
	gh_numbermap_put(&code->touches, key, any);
	return any;
}

/* Notes the methods of locks, if they have not been yet. */
static bool have_methods(struct gh_lock_code *code, const struct gh_pclntab *tab)
{
	if (!code->has_methods)
		code->has_methods = find_methods(code, tab);
	return code->has_methods;
}

bool gh_lock_touches(struct gh_lock_code *code, const struct gh_pclntab *tab, uint64_t entry)
{
	return !have_methods(code, tab) || touches(code, tab, entry, 0);
}

const struct gh_lock_effects *gh_lock_effects_of(struct gh_lock_code *code,
						 const struct gh_pclntab *tab, uint64_t entry)
{
	static const struct gh_lock_effects none;
	struct gh_lock_effects found = {0};
	struct gh_func func;
	uint32_t place = gh_numbermap_get(&code->effects, entry);
	if (place != GH_NOT_MAPPED)
		return &code->list.items[place];
	if (!have_methods(code, tab))
		return &none;
	size_t index = touches(code, tab, entry, 1) ? gh_pclntab_find(tab, entry) : SIZE_MAX;
	if (index == SIZE_MAX || code->depth == MOST_DEPTH ||
	    !gh_pclntab_func(tab, index, &func, NULL) ||
	    gh_is_lock_own(gh_pclntab_name(tab, func.name)))
		return &none;
	/* One that calls itself has none of those yet. */
	place = (uint32_t)code->list.count;
	if (!gh_vector_push(&code->list, found) || !gh_numbermap_put(&code->effects, entry, place))
		return &none;
	code->depth++;
	if (!gh_lock_effects_find(&found, code, tab, &func))
		found.count = 0;
	code->depth--;
	code->list.items[place] = found;
	return &code->list.items[place];
}

/* The instruction at OFFSET, to which control has come, returns. */
static bool returns(const struct gh_lock_flow *flow, size_t offset)
{
	return (flow->marks[offset] & (GH_LOCK_SEEN | GH_LOCK_STOP)) == GH_LOCK_SEEN &&
	       flow->code.start[offset] == RETURN;
}

/* CALL, which takes a lock, has it taken wherever the function returns; the lock's receiver is
 * known by what called that. */
static bool is_kept(struct gh_lock_flow *flow, const struct gh_lock_call *call,
		    const struct gh_func *func)
{
	bool is = !call->method->may_fail, any = false;
	size_t size = gh_cursor_size(&flow->code);
	for (size_t at = 0; is && at < size; at++) {
		gh_lock_flow_clear(flow);
		gh_lock_flow_go_to(flow, func->entry);
		is = gh_lock_flow_follow(flow) != GH_FLOW_NOT_KNOWN;
		while (is && at < size && !returns(flow, at))
			at++;
		if (!is || at == size)
			break;
		any = true;
		flow->calls.pc = func->entry + at;
		is = gh_lock_flow_comes_open(flow, call) == GH_FLOW_REACHED &&
		     gh_lock_flow_lasts(flow, &call->receiver) &&
		     (gh_lock_flow_released(flow) & call->method->lock) == 0 &&
		     gh_lock_flow_comes_without(flow, call) == GH_FLOW_NOT_REACHED;
	}
	return is && any;
}

/* CALL lets go of a lock that the function has not taken, wherever that returns. */
static bool is_always(struct gh_lock_flow *flow, const struct gh_lock_call *call,
		      const struct gh_func *func)
{
	size_t size = gh_cursor_size(&flow->code);
	bool is = gh_lock_flow_lets_go(flow, call, func->entry) &&
		  gh_lock_flow_lasts(flow, &call->receiver);
	gh_lock_flow_clear(flow);
	gh_lock_flow_go_to(flow, func->entry);
	for (size_t i = 0; i < flow->calls.pieces.count; i++) {
		const struct gh_lock_piece *piece = &flow->calls.pieces.items[i];
		const struct gh_lock_call *other = &flow->calls.list.items[piece->call];
		if (other == call || (other->receiver.is_lasting && call->receiver.is_lasting &&
				      gh_lock_flow_may_unlock(other, call)))
			gh_lock_flow_stop_at(flow, piece);
	}
	is = is && gh_lock_flow_follow(flow) != GH_FLOW_NOT_KNOWN;
	for (size_t at = 0; is && at < size; at++)
		is = !returns(flow, at);
	return is;
}

/* FLOW's function defers calls in a list that its code does not show. */
static bool defers(const struct gh_lock_flow *flow, const struct gh_pclntab *tab)
{
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_func func;
	gh_callsites_in(&walk, tab->image, flow->calls.func.entry, flow->calls.func.end);
	while (gh_callsites_next(&walk, &site)) {
		size_t index = site.direct ? gh_pclntab_find(tab, site.target) : SIZE_MAX;
		if (index != SIZE_MAX && gh_pclntab_record(tab, index, &func, NULL) &&
		    strncmp(gh_pclntab_name(tab, func.name), "runtime.deferproc", 17) == 0)
			return true;
	}
	return false;
}

/* RECEIVER means something to what calls the function. */
static bool is_told(struct gh_receiver *receiver)
{
	return receiver->known && receiver->from != GH_RECEIVER_FRAME;
}

bool gh_lock_effects_find(struct gh_lock_effects *out, struct gh_lock_code *code,
			  const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_lock_flow flow;
	bool ok;
	if (gh_lock_flow_start(&flow, tab, code, func->entry, NULL, &ok)) {
		bool has_list = defers(&flow, tab);
		for (size_t i = 0; i < flow.calls.list.count; i++) {
			const struct gh_lock_call *call = &flow.calls.list.items[i];
			struct gh_lock_effect effect = {
			    gh_lock_method_of(call->method->lock, call->method->unlocks),
			    call->receiver};
			bool has =
			    is_told(&effect.receiver) &&
			    (call->method->unlocks ? is_always(&flow, call, func)
						   : !has_list && is_kept(&flow, call, func));
			flow.calls.pc = func->entry;
			if (has)
				gh_vector_push(out, effect);
		}
	}
	ok = ok && !flow.left.failed && !out->failed;
	gh_lock_flow_free(&flow);
	return ok;
}

/* The unlocking effects of EFFECTS. */
static size_t count_unlocks(const struct gh_lock_effects *effects)
{
	size_t count = 0;
	for (size_t i = 0; i < effects->count; i++)
		count += effects->items[i].method->unlocks;
	return count;
}

unsigned gh_unlocked_unseen(struct gh_lock_code *code, const struct gh_pclntab *tab, uint64_t entry)
{
	struct gh_lock_place place;
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_func func;
	size_t count = count_unlocks(gh_lock_effects_of(code, tab, entry)), own = 0;
	size_t index = count > 0 ? gh_pclntab_find(tab, entry) : SIZE_MAX;
	unsigned kinds = gh_numbermap_get(&code->unseen, entry);
	if (index == SIZE_MAX || code->depth == MOST_DEPTH ||
	    !gh_pclntab_record(tab, index, &func, NULL))
		return gh_unlocked_by(code, tab, entry);
	if (kinds != GH_NOT_MAPPED)
		return kinds;
	kinds = 0;
	bool ok = gh_lock_place_find(&place, tab, code, entry, NULL);
	for (size_t i = 0; i < place.locks.count; i++)
		own += place.locks.items[i].lets_go;
	gh_lock_place_free(&place);
	if (!ok || own > count)
		return gh_unlocked_by(code, tab, entry);
	code->depth++;
	gh_callsites_in(&walk, tab->image, func.entry, func.end);
	while (gh_callsites_next(&walk, &site))
		kinds |= site.direct ? gh_unlocked_unseen(code, tab, site.target) : 0;
	code->depth--;
	if (gh_numbermap_get(&code->unseen, entry) == GH_NOT_MAPPED)
		gh_numbermap_put(&code->unseen, entry, kinds);
	return kinds;
}

void gh_lock_code_free(struct gh_lock_code *code)
{
	for (size_t i = 0; i < code->list.count; i++)
		gh_vector_free(&code->list.items[i]);
	gh_vector_free(&code->list);
	gh_numbermap_free(&code->own);
	gh_numbermap_free(&code->all);
	gh_numbermap_free(&code->touches);
	gh_numbermap_free(&code->methods);
	gh_numbermap_free(&code->effects);
	gh_numbermap_free(&code->unseen);
}
