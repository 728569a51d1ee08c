#include "lib/code/internal.h"

#include <string.h>

/* Learns what FUNC, called NAME, tells of the runtime. */
static void learn(struct gh_runtime *runtime, const struct gh_pclntab *tab,
		  const struct gh_func *func, const char *name)
{
	const char *last = strrchr(name, '_');
	if (strncmp(name, "_rt0_", 5) == 0 && strcmp(last, "_lib") == 0)
		runtime->is_library = true;
	if (strncmp(name, "runtime.", 8) != 0)
		return;
	if (gh_stack_is_named(name, "runtime.mstart"))
		runtime->mstart = func->entry;
	else if (gh_stack_is_named(name, "runtime.systemstack_switch") &&
		 func->end - func->entry == 1)
		runtime->systemstack_switch = func->entry;
	else if (gh_stack_is_named(name, "runtime.mcommoninit"))
		gh_switch_amd64_allm(runtime, tab, func);
	else if (gh_stack_is_named(name, "runtime.allgadd"))
		gh_switch_amd64_allgs(runtime, tab, func);
	else if (gh_stack_is_named(name, "runtime.systemstack")) {
		gh_switch_amd64_offsets(runtime, tab, func);
		gh_switch_arm64_offsets(runtime, tab, func);
	}
}

void gh_switches_add(struct gh_switches *switches, const struct gh_switch *code)
{
	if (code->start < code->end)
		gh_vector_push(&switches->list, *code);
}

static void add_function(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func)
{
	switch (tab->image->arch->isa) {
	case GH_ISA_AMD64:
		gh_switch_amd64_add(switches, tab, func);
		break;
	case GH_ISA_ARM64:
		gh_switch_arm64_add(switches, tab, func);
		break;
	default:
		gh_switches_add(switches, &(struct gh_switch){.start = func->entry + tab->quantum,
							      .end = func->end,
							      .kind = GH_SWITCH_LOST});
	}
}

/* The runtime is not as it has to be: what it would tell is not known. */
static void forget_running(struct gh_switches *switches)
{
	for (size_t i = 0; i < switches->list.count; i++)
		if (switches->list.items[i].kind >= GH_SWITCH_RUNNING)
			switches->list.items[i].kind = GH_SWITCH_LOST;
}

static void forget_callbacks(struct gh_switches *switches)
{
	for (size_t i = 0; i < switches->list.count; i++)
		if (switches->list.items[i].kind == GH_SWITCH_CALLBACK)
			switches->list.items[i].end = switches->list.items[i].start;
}

static bool is_known(const struct gh_runtime *runtime)
{
	bool has_thread = runtime->g_m != 0 || (runtime->allm != 0 && runtime->m_alllink != 0);
	return has_thread && runtime->mstart != 0 && runtime->m_curg != 0 &&
	       runtime->g_sched_sp != 0;
}

bool gh_switches_find(struct gh_switches *switches, const struct gh_pclntab *tab,
		      struct gh_error *err)
{
	*switches = (struct gh_switches){0};
	bool has_flags = gh_stack_has_flags(tab);
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		const char *name = gh_pclntab_name(tab, func.name);
		learn(&switches->runtime, tab, &func, name);
		if (gh_stack_end(&func, name, has_flags) == GH_STACK_SWITCHES)
			add_function(switches, tab, &func);
		else if (gh_stack_is_named(name, "runtime.cgocallback")) {
			gh_switch_amd64_callback(switches, tab, &func);
			gh_switch_arm64_callback(switches, tab, &func);
		}
	}
	if (!is_known(&switches->runtime))
		forget_running(switches);
	/* A program's own stacks are as its tracebacks have them. */
	if (!is_known(&switches->runtime) || !switches->runtime.is_library)
		forget_callbacks(switches);
	return !switches->list.failed || gh_fail_memory(err, tab->image->path);
}

/* Up to Go 1.16 it was named for that it has the goroutine. */
static bool is_callback(const char *name)
{
	return gh_stack_is_named(name, "runtime.cgocallback") ||
	       gh_stack_is_named(name, "runtime.cgocallback_gofunc");
}

bool gh_callback_slot(const struct gh_pclntab *tab, const struct gh_func *func, uint8_t *slot)
{
	struct gh_switches found = {0};
	if (!is_callback(gh_pclntab_name(tab, func->name)))
		return false;
	gh_switch_amd64_callback(&found, tab, func);
	gh_switch_arm64_callback(&found, tab, func);
	bool known = found.list.count > 0;
	*slot = known ? found.list.items[0].sp_slot : 0;
	gh_switches_free(&found);
	return known;
}

void gh_saved_registers(struct gh_saved_registers *saved, const struct gh_pclntab *tab,
			const struct gh_func *func)
{
	*saved = (struct gh_saved_registers){0};
	if (!gh_stack_is_named(gh_pclntab_name(tab, func->name), "crosscall2"))
		return;
	gh_saved_registers_amd64(saved, tab, func);
	gh_saved_registers_arm64(saved, tab, func);
}

void gh_switches_free(struct gh_switches *switches)
{
	gh_vector_free(&switches->list);
}
