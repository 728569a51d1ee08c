/* Which functions refer to which globals, by the operands of their instructions: on amd64 those
 * relative to the instruction, on arm64 an ADRP and the offset in what follows it. */
#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

/* Where the references go to. */
struct finding {
	struct gh_global_refs *refs;
	const struct gh_pclntab *tab;
	uint64_t start, end; /* of the globals */
	uint32_t function;   /* of which the code is read: its number */
	uint64_t last;       /* of the globals' addresses, the one found last; 0 if there is none */
	uint64_t last_at;    /* of the code: where the instruction ends that has it */
};

/* The instruction that ends at END has ADDRESS. */
static void add(struct finding *finding, uint64_t address, uint64_t end)
{
	struct gh_global_refs *refs = finding->refs;
	struct gh_global_ref ref = {address, finding->function};
	if (address - finding->start >= finding->end - finding->start)
		return;
	if (refs != NULL)
		gh_vector_push(refs, ref);
	finding->last = address;
	finding->last_at = end;
}

static void read_amd64(struct finding *finding, const struct gh_cursor *code, uint64_t address)
{
	struct gh_x86 ins;
	size_t size = gh_cursor_size(code);
	for (size_t at = 0; at < size && gh_x86_decode(&ins, code->start + at, size - at, true);) {
		at += ins.length;
		if (gh_x86_memory(&ins).is_relative)
			add(finding, address + at + (uint64_t)(int64_t)ins.displacement,
			    address + at);
	}
}

/* How far the operand of INSTRUCTION is from the address in register NUMBER: it adds to that, or
 * loads from or stores to it. False if it does neither. */
static bool arm64_offset(uint32_t instruction, unsigned number, uint64_t *offset)
{
	uint64_t immediate = instruction >> 10 & 0xfff;
	if ((instruction >> 5 & 31) != number)
		return false;
	*offset = immediate;
	if ((instruction & 0xffc00000) == 0x91000000) /* ADD */
		return true;
	if ((instruction & 0x3b000000) != 0x39000000) /* LDR, STR and their like */
		return false;
	bool is_quad = (instruction & 0xc4800000) == 0x04800000; /* a vector of 16 bytes */
	*offset = immediate << (is_quad ? 4 : instruction >> 30);
	return true;
}

bool gh_arm64_target(uint32_t adrp, uint32_t next, uint64_t address, uint64_t *target)
{
	uint64_t offset;
	if ((adrp & 0x9f000000) != 0x90000000 || !arm64_offset(next, adrp & 31, &offset))
		return false;
	/* The distance in pages, of 21 bits: those from bit 5 on, over two at bit 29. */
	uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	uint64_t distance = (pages ^ 0x100000) - 0x100000;
	*target = (address & ~(uint64_t)0xfff) + (distance << 12) + offset;
	return true;
}

/* Go's assembler has the offset in the instruction after the ADRP. */
static void read_arm64(struct finding *finding, const struct gh_cursor *code, uint64_t address)
{
	struct gh_cursor cur = *code;
	uint32_t last = 0;
	for (uint64_t at = address; gh_cursor_size(code) - (at - address) >= 4; at += 4) {
		uint32_t instruction = gh_cursor_u32(&cur);
		uint64_t target;
		if (gh_arm64_target(last, instruction, at - 4, &target))
			add(finding, target, at + 4);
		last = instruction;
	}
}

static int compare(const void *a, const void *b)
{
	const struct gh_global_ref *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

/* Sorts them, and leaves one of those that are equal. */
static void sort(struct gh_global_refs *refs)
{
	size_t kept = 0;
	if (refs->count > 0)
		qsort(refs->items, refs->count, sizeof(*refs->items), compare);
	for (size_t i = 0; i < refs->count; i++)
		if (kept == 0 || compare(&refs->items[kept - 1], &refs->items[i]) != 0)
			refs->items[kept++] = refs->items[i];
	refs->count = kept;
}

/* Reads the SIZE bytes of code at ADDRESS, where an instruction starts. */
static void read_code(struct finding *finding, uint64_t address, uint64_t size)
{
	const struct gh_image *image = finding->tab->image;
	struct gh_cursor code;
	if (!gh_image_at(image, address, &code))
		return;
	code = gh_cursor_slice(&code, 0, size);
	if (image->arch->isa == GH_ISA_AMD64)
		read_amd64(finding, &code, address);
	else if (image->arch->isa == GH_ISA_ARM64)
		read_arm64(finding, &code, address);
}

bool gh_global_refs_find(struct gh_global_refs *refs, const struct gh_pclntab *tab, uint64_t start,
			 uint64_t end)
{
	struct finding finding = {.refs = refs, .tab = tab, .start = start, .end = end};
	*refs = (struct gh_global_refs){0};
	for (size_t i = 0; i < tab->nfunc && !refs->failed; i++) {
		struct gh_func func;
		finding.function = (uint32_t)i;
		if (gh_pclntab_record(tab, i, &func, NULL))
			read_code(&finding, func.entry, func.end - func.entry);
	}
	sort(refs);
	return !refs->failed;
}

bool gh_global_refs_of(struct gh_global_refs *refs, const struct gh_pclntab *tab,
		       const struct gh_func *func)
{
	struct finding finding = {.refs = refs, .tab = tab, .end = UINT64_MAX};
	*refs = (struct gh_global_refs){0};
	read_code(&finding, func->entry, func->end - func->entry);
	sort(refs);
	return !refs->failed;
}

uint64_t gh_global_ref_last(const struct gh_pclntab *tab, uint64_t from, uint64_t to,
			    uint64_t start, uint64_t end, uint64_t *at)
{
	struct finding finding = {.tab = tab, .start = start, .end = end};
	read_code(&finding, from, to - from);
	*at = finding.last_at;
	return finding.last;
}

const struct gh_global_ref *gh_global_refs_before(const struct gh_global_refs *refs,
						  uint64_t address, size_t *count)
{
	size_t after = gh_lower_bound(refs->count, i, refs->items[i].address <= address);
	if (after == 0)
		return NULL;
	uint64_t found = refs->items[after - 1].address;
	size_t first = gh_lower_bound(after, i, refs->items[i].address < found);
	*count = after - first;
	return &refs->items[first];
}

void gh_global_refs_free(struct gh_global_refs *refs)
{
	gh_vector_free(refs);
}
