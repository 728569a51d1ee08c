/* The proof that a lock which no goroutine holds was left locked: no function lets go of one that
 * it has not taken itself. */
#include <string.h>

#include "lib/wait/internal.h"

/* The methods of an interface with which a lock's are looked for. */
enum { MOST_METHODS = 8 };

/* Where the methods are in runtime.itab, in words of 8 bytes. */
enum { ITAB_METHODS = 24 };

bool gh_is_go_own(const char *name)
{
	static const char *const roots[] = {
	    "archive",  "bufio",    "bytes",   "cmp",     "compress", "container", "context",
	    "crypto",   "database", "debug",   "embed",   "encoding", "errors",    "expvar",
	    "flag",     "fmt",      "go",      "hash",    "html",     "image",     "index",
	    "internal", "io",       "iter",    "log",     "maps",     "math",      "mime",
	    "net",      "os",       "path",    "plugin",  "reflect",  "regexp",    "runtime",
	    "slices",   "sort",     "strconv", "strings", "structs",  "sync",      "syscall",
	    "testing",  "text",     "time",    "unicode", "unique",   "unsafe",    "vendor",
	    "weak"};
	size_t length = strcspn(name, "./");
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (strlen(roots[i]) == length && memcmp(roots[i], name, length) == 0)
			return true;
	return false;
}

/* The kinds of locks that the method at ENTRY lets go of. */
static unsigned unlocked_at(const struct gh_pclntab *tab, uint64_t entry)
{
	struct gh_func func;
	size_t index = entry != 0 ? gh_pclntab_find(tab, entry) : SIZE_MAX;
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL) || func.entry != entry)
		return 0;
	const char *name = gh_pclntab_name(tab, func.name);
	const struct gh_lock_method *method = gh_lock_method_named(name);
	/* What RWMutex.RLocker gives. */
	if (strcmp(name, "sync.(*rlocker).Unlock") == 0)
		return GH_LOCK_READ;
	return method != NULL && method->unlocks ? method->lock : 0;
}

/* The kinds of locks that the program's functions make interfaces of, by which others may let go of
 * them. */
static unsigned find_interfaces(const struct gh_pclntab *tab)
{
	struct gh_global_refs refs = {0};
	struct gh_func func;
	unsigned kinds = 0;
	if (!gh_global_refs_find(&refs, tab, 1, UINT64_MAX))
		kinds = GH_LOCK_ALL;
	for (size_t i = 0; i < refs.count && kinds != GH_LOCK_ALL; i++) {
		struct gh_cursor cur;
		if (refs.items[i].address % 8 != 0 ||
		    !gh_image_at(tab->image, refs.items[i].address + ITAB_METHODS, &cur) ||
		    !gh_pclntab_record(tab, refs.items[i].function, &func, NULL) ||
		    gh_is_go_own(gh_pclntab_name(tab, func.name)))
			continue;
		for (unsigned k = 0; k < MOST_METHODS && gh_cursor_left(&cur) >= 8; k++) {
			uint64_t entry = gh_cursor_uint(&cur, 8);
			if (entry == 0)
				break;
			kinds |= unlocked_at(tab, entry);
		}
	}
	gh_global_refs_free(&refs);
	return kinds;
}

/* The length of the name of the function that has deferred the one called NAME; 0 if none has. */
static size_t deferring_length(const char *name)
{
	const char *end = strstr(name, ".deferwrap");
	if (end == NULL)
		end = strstr(name, "\302\267dwrap\302\267");
	return end != NULL ? (size_t)(end - name) : 0;
}

/* The kinds of locks that FUNC lets go of, and may not have taken. */
static unsigned unlocked_in(struct gh_lock_code *code, const struct gh_pclntab *tab,
			    const struct gh_func *func)
{
	struct gh_lock_flow flow;
	unsigned kinds = 0;
	bool ok;
	if (gh_lock_flow_start(&flow, tab, code, func->entry, NULL, &ok)) {
		if (flow.calls.is_skipped)
			kinds = GH_LOCK_ALL;
		for (size_t i = 0; i < flow.calls.list.count; i++) {
			const struct gh_lock_call *call = &flow.calls.list.items[i];
			if (!call->method->unlocks)
				continue;
			gh_lock_flow_clear(&flow);
			gh_lock_flow_go_to(&flow, func->entry);
			if (gh_lock_flow_follow(&flow) == GH_FLOW_NOT_KNOWN ||
			    gh_lock_flow_lets_go(&flow, call, func->entry))
				kinds |= call->method->lock;
		}
	}
	if (!ok || flow.left.failed)
		kinds = GH_LOCK_ALL;
	gh_lock_flow_free(&flow);
	return kinds;
}

/* The kinds of locks that FUNC takes. */
static unsigned taken_in(struct gh_lock_code *code, const struct gh_pclntab *tab,
			 const struct gh_func *func)
{
	struct gh_lock_flow flow;
	unsigned kinds = 0;
	bool ok;
	if (gh_lock_flow_start(&flow, tab, code, func->entry, NULL, &ok))
		for (size_t i = 0; i < flow.calls.list.count; i++)
			kinds |= flow.calls.list.items[i].method->unlocks
				     ? 0
				     : flow.calls.list.items[i].method->lock;
	gh_lock_flow_free(&flow);
	return kinds;
}

/* The kinds of locks that function NUMBER lets go of, and that the one which has deferred it, whose
 * name is the first LENGTH bytes of its own, does not take. Most are near each other. */
static unsigned unlocked_deferred(struct gh_lock_code *code, const struct gh_pclntab *tab,
				  size_t number, size_t length)
{
	struct gh_func func;
	if (!gh_pclntab_record(tab, number, &func, NULL))
		return GH_LOCK_ALL;
	const char *name = gh_pclntab_name(tab, func.name);
	unsigned kinds = unlocked_in(code, tab, &func);
	for (size_t i = 1; kinds != 0 && i <= tab->nfunc; i++) {
		size_t at = (number + tab->nfunc - i) % tab->nfunc;
		const char *other =
		    gh_pclntab_record(tab, at, &func, NULL) ? gh_pclntab_name(tab, func.name) : "";
		if (strncmp(other, name, length) == 0 && other[length] == '\0')
			return kinds & ~taken_in(code, tab, &func);
	}
	return kinds;
}

/* FUNC has an RWMutex give an interface by which others may let go of a read lock: where that is
 * inlined, it is found by the interface. */
static bool calls_rlocker(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_func callee;
	gh_callsites_in(&walk, tab->image, func->entry, func->end);
	while (gh_callsites_next(&walk, &site)) {
		size_t index = site.direct ? gh_pclntab_find(tab, site.target) : SIZE_MAX;
		if (index != SIZE_MAX && gh_pclntab_record(tab, index, &callee, NULL) &&
		    strcmp(gh_pclntab_name(tab, callee.name), "sync.(*RWMutex).RLocker") == 0)
			return true;
	}
	return false;
}

/* The kinds of locks among KINDS that functions of module NUMBER may let go of and have not taken.
 */
static unsigned find_unlocked(struct gh_lock_frames *frames, size_t number, unsigned kinds)
{
	const struct gh_pclntab *tab = frames->modules[number].tab;
	struct gh_lock_code *code = &frames->codes[number];
	struct gh_func func;
	unsigned found = 0;
	for (size_t i = 0; i < tab->nfunc && (found & kinds) != kinds; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(tab, func.name);
		/* What calls a method by a value: who has that may let go. */
		if (strstr(name, "Unlock-fm") != NULL)
			found |= GH_LOCK_ALL;
		size_t deferring = deferring_length(name);
		if (gh_is_go_own(name) || !gh_lock_touches(code, tab, func.entry))
			continue;
		found |= calls_rlocker(tab, &func) ? GH_LOCK_READ : 0;
		found |= deferring > 0 ? unlocked_deferred(code, tab, i, deferring)
				       : unlocked_in(code, tab, &func);
	}
	return found;
}

unsigned gh_left_unproved(struct gh_lock_frames *frames, unsigned kinds)
{
	unsigned found = 0;
	for (size_t i = 0; i < frames->nmodules && (found & kinds) != kinds; i++) {
		enum gh_isa isa = frames->modules[i].tab->image->arch->isa;
		/* Which code refers to what is not known elsewhere. */
		if (isa != GH_ISA_AMD64)
			return GH_LOCK_ALL;
		found |= find_unlocked(frames, i, kinds);
		if ((found & kinds) != kinds)
			found |= find_interfaces(frames->modules[i].tab);
	}
	return found;
}
