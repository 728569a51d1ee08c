#include "plugin/gdb/internal.h"

#include <gdb/jit-reader.h>
#include <stdlib.h>
#include <string.h>

#include "lib/elf/elf.h"

#define PAGE 4096

/* The lowest page of an object is looked for this far below its code, in bytes. */
#define MAX_OBJECT (16 << 20)

/* A library with more FDEs than this has unwind information for all its code: musl's has those of
 * the few functions that the compiler's own library adds. */
#define MAX_FDES 64

/* The C part of a stack is searched this far, in bytes. */
#define MAX_DEPTH (256 << 10)

/* A call of C this far above SP, in bytes, is no other thread's: musl gives a thread a stack of 128
 * KiB, at whose end its own call is. */
#define NEAR (64 << 10)

/* runtime.asmcgocall has up to this many bytes below the SP that it takes from the thread's g0. */
#define MAX_FRAME 96

/* Program headers that are read of an object. */
#define MAX_HEADERS 64

/* An object's headers in the process. */
struct headers {
	Elf64_Ehdr elf;
	Elf64_Phdr segments[MAX_HEADERS];
};

static bool read_target(struct gdb_unwind_callbacks *callbacks, uint64_t address, void *data,
			size_t size)
{
	return callbacks->target_read(address, data, (int)size) == GDB_SUCCESS;
}

/* Reads the headers of the object whose first page is at START. */
static bool read_headers(struct headers *headers, struct gdb_unwind_callbacks *callbacks,
			 uint64_t start)
{
	Elf64_Ehdr *elf = &headers->elf;
	if (!read_target(callbacks, start, elf, sizeof(*elf)) ||
	    memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->e_phnum == 0 || elf->e_phnum > MAX_HEADERS)
		return false;
	return read_target(callbacks, start + elf->e_phoff, headers->segments,
			   elf->e_phnum * sizeof(*headers->segments));
}

/* The program header of TYPE that has VADDR in it, or the first of TYPE if VADDR is 0; or NULL. */
static const Elf64_Phdr *find_segment(const struct headers *headers, uint32_t type, uint64_t vaddr)
{
	for (size_t i = 0; i < headers->elf.e_phnum; i++) {
		const Elf64_Phdr *segment = &headers->segments[i];
		if (segment->p_type == type &&
		    (vaddr == 0 || vaddr - segment->p_vaddr < segment->p_filesz))
			return segment;
	}
	return NULL;
}

/* Reads the unwind information of OBJECT in the process, which .eh_frame_hdr leads to. False if it
 * has so much that all its code has some, or it cannot be read. Format: the Linux Standard Base,
 * "The .eh_frame_hdr section". */
static bool read_ranges(struct gh_code_object *object, const struct headers *headers,
			struct gdb_unwind_callbacks *callbacks)
{
	static const uint8_t known[] = {1, 0x1b, 0x03}; /* version; a pcrel sdata4, a udata4 */
	struct {
		uint8_t form[4];
		int32_t eh_frame;
		uint32_t count;
	} table;
	const Elf64_Phdr *place = find_segment(headers, PT_GNU_EH_FRAME, 0);
	if (place == NULL)
		return true;
	if (!read_target(callbacks, object->start + place->p_vaddr, &table, sizeof(table)) ||
	    memcmp(table.form, known, sizeof(known)) != 0 || table.count > MAX_FDES)
		return false;
	uint64_t vaddr = place->p_vaddr + 4 + (uint64_t)(int64_t)table.eh_frame;
	const Elf64_Phdr *segment = find_segment(headers, PT_LOAD, vaddr);
	uint8_t frames[2 * PAGE];
	if (segment == NULL)
		return false;
	uint64_t size = segment->p_vaddr + segment->p_filesz - vaddr;
	if (size > sizeof(frames))
		size = sizeof(frames);
	if (!read_target(callbacks, object->start + vaddr, frames, size))
		return false;
	return gh_eh_frame_read(&object->ranges, gh_cursor_make(frames, size, "", 0, false),
				object->start + vaddr, sizeof(uint64_t));
}

/* Fills in OBJECT, the program, which is loaded BIAS above its file's addresses. */
static void read_program(struct gh_code_object *object, const struct gh_seen_program *program,
			 uint64_t bias)
{
	const struct gh_image *image = &program->image;
	struct gh_cursor cur;
	const struct gh_section *section = gh_image_section(image, ".eh_frame");
	object->is_program = true;
	object->declined = section != NULL &&
			   (!gh_image_section_cursor(image, section, &cur, NULL) ||
			    !gh_eh_frame_read(&object->ranges, cur, section->header.sh_addr + bias,
					      image->arch->pointer_size));
}

/* Fills in OBJECT, whose first page is at object->start. False if none is there. */
static bool read_object(struct gh_code_object *object, const struct gh_seen_program *program,
			struct gdb_unwind_callbacks *callbacks)
{
	struct headers headers;
	const GElf_Ehdr *own = &program->image.header;
	if (!read_headers(&headers, callbacks, object->start))
		return false;
	for (size_t i = 0; i < headers.elf.e_phnum; i++) {
		const Elf64_Phdr *segment = &headers.segments[i];
		uint64_t end = object->start + segment->p_vaddr + segment->p_memsz;
		if (segment->p_type == PT_LOAD && end > object->end)
			object->end = end;
	}
	if (headers.elf.e_entry == own->e_entry && headers.elf.e_shoff == own->e_shoff)
		read_program(object, program, object->start);
	else
		object->declined = !read_ranges(object, &headers, callbacks);
	return true;
}

/* The program lies where its file says, with PC in it: sets where its code starts and ends. */
static bool is_in_program(const struct gh_image *image, uint64_t pc, struct gh_code_object *object)
{
	for (size_t i = 0; !gh_image_is_pie(image) && i < image->nloads; i++) {
		const GElf_Phdr *segment = image->loads[i];
		object->start = segment->p_vaddr;
		object->end = segment->p_vaddr + segment->p_filesz;
		if (object->start <= pc && pc < object->end)
			return true;
	}
	return false;
}

/* OBJECT among STACK's, which own it; NULL if memory ran out. */
static const struct gh_code_object *keep(struct gh_c_stack *stack, struct gh_code_object *object)
{
	if (gh_vector_push(&stack->objects, *object))
		return &stack->objects.items[stack->objects.count - 1];
	gh_vector_free(&object->ranges);
	return NULL;
}

/* The object that has the code at PC; NULL if memory ran out. */
static const struct gh_code_object *find_object(struct gh_c_stack *stack,
						const struct gh_seen_program *program,
						struct gdb_unwind_callbacks *callbacks, uint64_t pc)
{
	for (size_t i = 0; i < stack->objects.count; i++)
		if (stack->objects.items[i].start <= pc && pc < stack->objects.items[i].end)
			return &stack->objects.items[i];
	struct gh_code_object object = {0};
	if (is_in_program(&program->image, pc, &object)) {
		read_program(&object, program, 0);
		return keep(stack, &object);
	}
	uint64_t page = pc & ~(uint64_t)(PAGE - 1);
	for (uint64_t below = 0; below < MAX_OBJECT && below <= page; below += PAGE) {
		unsigned char magic[SELFMAG];
		object = (struct gh_code_object){.start = page - below};
		if (!read_target(callbacks, object.start, magic, sizeof(magic)))
			break;
		if (memcmp(magic, ELFMAG, SELFMAG) == 0 &&
		    read_object(&object, program, callbacks) && pc < object.end)
			return keep(stack, &object);
		gh_vector_free(&object.ranges);
	}
	object = (struct gh_code_object){.start = page, .end = page + PAGE, .declined = true};
	return keep(stack, &object);
}

/* The distance of the process's addresses in OBJECT over those in its file. */
static uint64_t bias_of(const struct gh_code_object *object, const struct gh_image *image)
{
	return gh_image_is_pie(image) ? object->start : 0;
}

/* Forgets what is known of another program than PROGRAM. */
static void follow(struct gh_c_stack *stack, const struct gh_seen_program *program)
{
	if (stack->identity != NULL && strcmp(stack->identity, program->identity) == 0)
		return;
	gh_c_stack_free(stack);
	stack->identity = strdup(program->identity);
}

/* Finds what calls C in PROGRAM, once. */
static void find_calls(struct gh_c_stack *stack, const struct gh_seen_program *program)
{
	struct gh_error err;
	if (!stack->searched && !gh_switches_find(&stack->switches, &program->tab, &err))
		stack->switches.list.count = 0;
	stack->searched = true;
}

/* Length of the call that starts at ADDRESS of IMAGE: CALL AX, or one of a fixed address. */
static unsigned call_length(const struct gh_image *image, uint64_t address)
{
	struct gh_cursor cur;
	return gh_image_at(image, address, &cur) && gh_cursor_u8(&cur) == 0xff ? 2 : 5;
}

/* The code before the address RETURNS, in the file, is what the process has there. */
static bool is_same_code(const struct gh_image *image, struct gdb_unwind_callbacks *callbacks,
			 uint64_t returns, uint64_t bias)
{
	uint8_t there[16];
	struct gh_cursor cur;
	uint64_t start = returns - sizeof(there) / 2;
	if (!gh_image_at(image, start, &cur))
		return false;
	const uint8_t *here = gh_cursor_bytes(&cur, sizeof(there));
	return here != NULL && read_target(callbacks, start + bias, there, sizeof(there)) &&
	       memcmp(here, there, sizeof(there)) == 0;
}

/* THREAD, a runtime.m, is the program's first, which the list of all ends with. Its stack is far
 * from all others; before Go 1.22 the runtime takes its size to be what other threads' is. */
static bool is_first_thread(const struct gh_runtime *runtime, struct gh_word_format words,
			    struct gdb_unwind_callbacks *callbacks, uint64_t thread)
{
	uint64_t next;
	return runtime->m_alllink != 0 && !runtime->is_library &&
	       gh_word_read(callbacks, thread + runtime->m_alllink, words, &next) && next == 0;
}

/* The thread that runs GOROUTINE is in the call of C that returns with SP, and was in it at FROM,
 * deeper on its own stack: it is not another thread's call, nor an earlier one whose frame is still
 * in memory. g.m is the word before g.sched in all releases since Go 1.7 (src/runtime/runtime2.go).
 */
static bool is_in_call(const struct gh_runtime *runtime, struct gh_word_format words,
		       struct gdb_unwind_callbacks *callbacks, uint64_t goroutine, uint64_t sp,
		       uint64_t from)
{
	uint64_t thread;
	uint64_t g0;
	uint64_t low;
	uint64_t g0_sp;
	return gh_word_read(callbacks, goroutine + runtime->g_sched_sp - words.size, words,
			    &thread) &&
	       gh_word_read(callbacks, thread + GH_M_G0, words, &g0) &&
	       gh_word_read(callbacks, g0, words, &low) &&
	       gh_word_read(callbacks, g0 + runtime->g_sched_sp, words, &g0_sp) && sp < g0_sp &&
	       g0_sp - sp <= MAX_FRAME &&
	       (low <= from || sp - from <= NEAR ||
		is_first_thread(runtime, words, callbacks, thread));
}

/* FOUND saved, where SP is then as told, a place on the stack that called it: with the return
 * address of a Go function. FROM is SP of the C code. */
static bool leads_to_go(const struct gh_runtime *runtime, const struct gh_switch *found,
			const struct gh_seen_program *program,
			struct gdb_unwind_callbacks *callbacks, uint64_t sp, uint64_t from,
			uint64_t bias)
{
	struct gh_word_format words = gh_seen_program_words(program);
	uint64_t go_sp;
	uint64_t pc;
	if (!gh_word_read(callbacks, sp + found->sp_slot, words, &go_sp))
		return false;
	if (found->kind == GH_SWITCH_DEPTH) {
		uint64_t goroutine;
		uint64_t high;
		if (!gh_word_read(callbacks, sp + found->g_slot, words, &goroutine) ||
		    !gh_word_read(callbacks, goroutine + GH_G_STACK_HI, words, &high) ||
		    !is_in_call(runtime, words, callbacks, goroutine, sp, from))
			return false;
		go_sp = high - go_sp;
	} else if (sp - from > NEAR || go_sp - sp > MAX_FRAME) {
		return false;
	}
	return gh_word_read(callbacks, go_sp + (uint64_t)found->frame - words.size, words, &pc) &&
	       gh_pclntab_find(&program->tab, pc - bias) != SIZE_MAX;
}

/* WORD, at ADDRESS on the stack, is where a call of C returns to that is at SP now. */
static bool is_call(const struct gh_c_stack *stack, const struct gh_seen_program *program,
		    struct gdb_unwind_callbacks *callbacks, uint64_t sp, uint64_t address,
		    uint64_t word)
{
	const struct gh_image *image = &program->image;
	for (size_t i = 0; i < stack->switches.list.count; i++) {
		const struct gh_switch *found = &stack->switches.list.items[i];
		if (found->kind != GH_SWITCH_DEPTH && found->kind != GH_SWITCH_SAVED)
			continue;
		uint64_t returns = found->start + call_length(image, found->start);
		uint64_t bias = word - returns;
		if (gh_image_is_pie(image) ? bias % PAGE != 0 : bias != 0)
			continue;
		if (is_same_code(image, callbacks, returns, bias) &&
		    leads_to_go(&stack->switches.runtime, found, program, callbacks,
				address + sizeof(word), sp, bias))
			return true;
	}
	return false;
}

/* Searches the stack from SP on for the call of C. */
static bool find_caller(const struct gh_c_stack *stack, const struct gh_seen_program *program,
			struct gdb_unwind_callbacks *callbacks, uint64_t sp,
			struct gh_c_caller *caller)
{
	struct gh_word_format words = gh_seen_program_words(program);
	uint8_t page[PAGE];
	for (uint64_t at = sp & ~(uint64_t)7; at < sp + MAX_DEPTH;) {
		size_t size = PAGE - at % PAGE;
		if (!read_target(callbacks, at, page, size))
			return false;
		for (size_t i = 0; i < size; i += words.size) {
			uint64_t word = gh_word(page + i, words);
			if (!is_call(stack, program, callbacks, sp, at + i, word))
				continue;
			caller->sp = at + i + words.size;
			caller->pc = word;
			return true;
		}
		at += size;
	}
	return false;
}

bool gh_c_stack_caller(struct gh_c_stack *stack, struct gh_seen_program *program,
		       struct gdb_unwind_callbacks *callbacks, struct gh_c_caller *caller)
{
	uint64_t sp;
	uint64_t pc;
	if (!gh_seen_program_open(program) || program->image.arch->isa != GH_ISA_AMD64)
		return false;
	const struct gh_arch *arch = program->image.arch;
	struct gh_word_format words = gh_seen_program_words(program);
	if (!gh_register_get(callbacks, arch->dwarf_sp, words, &sp) ||
	    !gh_register_get(callbacks, arch->dwarf_pc, words, &pc))
		return false;
	follow(stack, program);
	const struct gh_code_object *object = find_object(stack, program, callbacks, pc);
	if (object == NULL || object->declined || gh_eh_frame_has(&object->ranges, pc) ||
	    (object->is_program &&
	     gh_pclntab_find(&program->tab, pc - bias_of(object, &program->image)) != SIZE_MAX))
		return false;
	caller->object = object->start;
	find_calls(stack, program);
	return find_caller(stack, program, callbacks, sp, caller);
}

void gh_c_stack_free(struct gh_c_stack *stack)
{
	gh_switches_free(&stack->switches);
	for (size_t i = 0; i < stack->objects.count; i++)
		gh_vector_free(&stack->objects.items[i].ranges);
	gh_vector_free(&stack->objects);
	free(stack->identity);
	*stack = (struct gh_c_stack){0};
}
