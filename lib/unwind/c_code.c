#include "lib/unwind/internal.h"

#include <string.h>
#include <unistd.h>

/* Frames of one stack. */
#define MAX_FRAMES 256

/* The process and thread that libdw is told of: it asks for nothing of the system's by them. */
#define NUMBER 1

static const Dwfl_Callbacks *callbacks(void)
{
	static Dwfl_Callbacks made;
	/* No file but those that are added, and what is in the system's directories of debug files:
	 * nothing is fetched. */
	made.find_debuginfo = gh_libdw.dwfl_build_id_find_debuginfo;
	return &made;
}

struct gh_c_code *gh_c_code_new(const struct gh_memory *memory, const struct gh_arch *arch)
{
	if (arch->pointer_size != 8 || arch->gregs.dwarf == NULL || !gh_libdw_load())
		return NULL;
	struct gh_c_code *code = calloc(1, sizeof(*code));
	if (code == NULL)
		return NULL;
	*code = (struct gh_c_code){.memory = memory, .arch = arch};
	code->dwfl = gh_libdw.dwfl_begin(callbacks());
	if (code->dwfl == NULL) {
		free(code);
		return NULL;
	}
	gh_libdw.dwfl_report_begin(code->dwfl);
	return code;
}

void gh_c_code_add(struct gh_c_code *code, int fd, const char *name, uint64_t bias)
{
	const char *slash = strrchr(name, '/');
	const char *last = slash != NULL ? slash + 1 : name;
	if (gh_libdw.dwfl_report_elf(code->dwfl, last, "", fd, bias, true) == NULL)
		close(fd);
}

Dwfl_Module *gh_c_code_module(struct gh_c_code *code, uint64_t pc)
{
	return gh_libdw.dwfl_addrmodule(code->dwfl, pc);
}

uint64_t gh_c_frame_address(const struct gh_c_frame *frame)
{
	return frame->interrupted || frame->pc == 0 ? frame->pc : frame->pc - 1;
}

/* A walk over a stack. */
struct walk {
	struct gh_c_code *code;
	gh_c_frame_take *take;
	void *context;
	unsigned count; /* of frames that were given */
	uint64_t sp;    /* of the last of them */
};

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
	(void)dwfl;
	bool first = *thread == NULL;
	*thread = argument;
	return first ? NUMBER : 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = argument;
	return true;
}

/* VALUE, or the return address that it is with the processor's signature. libdwfl itself removes it
 * in newer releases only, and by a mask that the kernel tells and QEMU's core files do not. */
static uint64_t without_signature(const struct gh_c_code *code, uint64_t value)
{
	uint64_t plain = value & ~code->arch->signature;
	bool is_code = plain != value && gh_libdw.dwfl_addrmodule(code->dwfl, plain) != NULL;
	return is_code ? plain : value;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *argument)
{
	const struct gh_c_code *code = argument;
	uint64_t value;
	(void)dwfl;
	if (!code->memory->read(code->memory, address, &value, sizeof(value)))
		return false;
	*word = without_signature(code, value);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
	const struct gh_c_code *code = argument;
	const struct gh_c_registers *from = code->from;
	for (unsigned i = 0; i < GH_C_REGISTERS; i++) {
		Dwarf_Word value = without_signature(code, from->values[i]);
		if ((from->known >> i & 1) != 0 &&
		    !gh_libdw.dwfl_thread_state_registers(thread, (int)i, 1, &value))
			return false;
	}
	gh_libdw.dwfl_thread_state_register_pc(thread, from->pc);
	return true;
}

static bool covers(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	bool found = cfi != NULL && gh_libdw.dwarf_cfi_addrframe(cfi, address, &frame) == 0;
	gh_libdw.free(frame);
	return found;
}

/* The code at ADDRESS has call frame information. Where there is none libdwfl follows frame
 * pointers, whether code keeps them or not. */
static bool has_information(struct gh_c_code *code, uint64_t address)
{
	Dwfl_Module *module = gh_c_code_module(code, address);
	Dwarf_Addr bias = 0;
	if (module == NULL)
		return false;
	Dwarf_CFI *cfi = gh_libdw.dwfl_module_eh_cfi(module, &bias);
	if (covers(cfi, address - bias))
		return true;
	cfi = gh_libdw.dwfl_module_dwarf_cfi(module, &bias);
	return covers(cfi, address - bias);
}

static int take_frame(Dwfl_Frame *state, void *argument)
{
	struct walk *walk = argument;
	struct gh_c_frame frame = {0};
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool interrupted;
	if (!gh_libdw.dwfl_frame_pc(state, &pc, &interrupted))
		return DWARF_CB_ABORT;
	frame.pc = pc;
	/* libdwfl takes the first frame for one that was interrupted. */
	frame.interrupted = walk->count == 0 ? walk->code->from->interrupted : interrupted;
	if (gh_libdw.dwfl_frame_reg(state, walk->code->arch->dwarf_sp, &sp) == 0)
		frame.sp = sp;
	/* With a link register the first function may have no frame. */
	bool rises =
	    walk->count == 0 || frame.sp > walk->sp || (walk->count == 1 && frame.sp == walk->sp);
	walk->sp = frame.sp;
	return rises && walk->count++ < MAX_FRAMES && walk->take(walk->context, &frame) &&
		       has_information(walk->code, gh_c_frame_address(&frame))
		   ? DWARF_CB_OK
		   : DWARF_CB_ABORT;
}

bool gh_c_code_make_ready(struct gh_c_code *code)
{
	static const Dwfl_Thread_Callbacks thread = {
	    .next_thread = next_thread,
	    .get_thread = get_thread,
	    .memory_read = read_word,
	    .set_initial_registers = set_registers,
	};
	if (code->listed)
		return code->ready;
	gh_libdw.dwfl_report_end(code->dwfl, NULL, NULL);
	code->listed = true;
	code->ready = gh_libdw.dwfl_attach_state(code->dwfl, NULL, NUMBER, &thread, code);
	return code->ready;
}

void gh_c_code_walk(struct gh_c_code *code, const struct gh_c_registers *from,
		    gh_c_frame_take *take, void *context)
{
	struct walk walk = {.code = code, .take = take, .context = context};
	code->from = from;
	if (gh_c_code_make_ready(code))
		gh_libdw.dwfl_getthread_frames(code->dwfl, NUMBER, take_frame, &walk);
}

void gh_c_code_free(struct gh_c_code *code)
{
	if (code == NULL)
		return;
	gh_libdw.dwfl_end(code->dwfl);
	gh_vector_free(&code->variables.list);
	free(code);
}
