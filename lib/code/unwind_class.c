#include "lib/code/code.h"

#include <string.h>

#include "lib/pclntab/pclntab.h"

struct special {
	const char *name;
	enum gh_stack_end end;
};

/* Those whose flags, if there are any, do not tell. */
static const struct special always[] = {
    /* Flagged as switching, but cgocallback leaves both stacks such that its frame is on
       either (see runtime.gentraceback). */
    {"runtime.cgocallback", GH_STACK_GOES_ON},
    /* Flagged as the top of the signal stack, but what returns from it is the kernel's frame, which
       leads on to what the signal interrupted. */
    {"runtime.sigtramp", GH_STACK_GOES_ON},
    {"runtime.sigreturn", GH_STACK_SIGNAL_FRAME},
    {"runtime.sigreturn__sigaction", GH_STACK_SIGNAL_FRAME},
};

/* Those of tables without flags. */
static const struct special without_flags[] = {
    /* The return address of a goroutine's first function, of which there is no caller; a thread's
       first function; the program's (runtime.topofstack). rt0_go is where all entry points lead. */
    {"runtime.goexit", GH_STACK_ENDS},
    {"runtime.mstart", GH_STACK_ENDS},
    {"runtime.rt0_go", GH_STACK_ENDS},
    {"_rt0_go", GH_STACK_ENDS},
    /* What these call runs on the thread's own stack (g0), below which is whatever was there; gogo
       leaves for another goroutine's stack. */
    {"runtime.mcall", GH_STACK_SWITCHES},
    {"runtime.systemstack", GH_STACK_SWITCHES},
    {"runtime.onM", GH_STACK_SWITCHES},
    {"runtime.asmcgocall", GH_STACK_SWITCHES},
    {"runtime.morestack", GH_STACK_SWITCHES},
    {"runtime.gogo", GH_STACK_SWITCHES},
    /* The kernel's vDSO is called on g0's stack, aligned by masking SP. */
    {"runtime.nanotime1", GH_STACK_SWITCHES},
    {"runtime.walltime1", GH_STACK_SWITCHES},
};

/* NAME without the ABI that some linkers add to assembly functions' symbols. */
static size_t base_length(const char *name)
{
	static const char *const suffixes[] = {".abi0", ".abiinternal"};
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t suffix = strlen(suffixes[i]);
		if (length > suffix && strcmp(name + length - suffix, suffixes[i]) == 0)
			return length - suffix;
	}
	return length;
}

bool gh_stack_is_named(const char *name, const char *function)
{
	size_t length = base_length(name);
	return strlen(function) == length && memcmp(function, name, length) == 0;
}

/* The entry point that the kernel or the dynamic linker jumps to: _rt0_amd64_linux and its like.
 * The entry points of Go libraries, which end in _lib, are called by C. */
static bool is_entry_point(const char *name, size_t length)
{
	return strncmp(name, "_rt0_", 5) == 0 && strncmp(name + length - 4, "_lib", 4) != 0;
}

/* Finds NAME among the COUNT entries of LIST. */
static bool find(const struct special *list, size_t count, const char *name, size_t length,
		 enum gh_stack_end *end)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(list[i].name) == length && memcmp(list[i].name, name, length) == 0) {
			*end = list[i].end;
			return true;
		}
	}
	return false;
}

bool gh_stack_has_flags(const struct gh_pclntab *tab)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc && gh_pclntab_func(tab, i, &func, NULL); i++)
		if (func.flag != 0)
			return true;
	return false;
}

enum gh_stack_end gh_stack_end(const struct gh_func *func, const char *name, bool has_flags)
{
	if (name[0] == 'r' || name[0] == '_') {
		size_t length = base_length(name);
		enum gh_stack_end end;
		if (find(always, sizeof(always) / sizeof(always[0]), name, length, &end))
			return end;
		size_t count = sizeof(without_flags) / sizeof(without_flags[0]);
		if (!has_flags && find(without_flags, count, name, length, &end))
			return end;
		if (is_entry_point(name, length))
			return GH_STACK_ENDS;
	}
	if (func->flag & GH_FUNC_TOP_FRAME)
		return GH_STACK_ENDS;
	return func->flag & GH_FUNC_SP_WRITE ? GH_STACK_SWITCHES : GH_STACK_GOES_ON;
}

/* Before Go 1.4 runtime.goexit was written in C. Since then it begins with an instruction to return
 * behind. */
static bool is_c_function(const struct gh_pclntab *tab, const struct gh_func *func)
{
	int32_t number = gh_pcvalue_at(tab, func, func->pcfile, func->entry);
	const char *file = gh_pclntab_file(tab, gh_pclntab_cu_file(tab, func, number));
	size_t length = strlen(file);
	return length > 2 && strcmp(file + length - 2, ".c") == 0;
}

uint64_t gh_goexit_after(const struct gh_pclntab *tab, size_t index)
{
	struct gh_func next;
	if (tab->format > GH_PCLNTAB_1_2 || !gh_pclntab_record(tab, index + 1, &next, NULL) ||
	    strcmp(gh_pclntab_name(tab, next.name), "runtime.goexit") != 0)
		return 0;
	return tab->format < GH_PCLNTAB_1_2 || is_c_function(tab, &next) ? next.entry : 0;
}
