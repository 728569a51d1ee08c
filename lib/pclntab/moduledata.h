/* runtime.firstmoduledata: where the linker put what the runtime needs, found in a stripped
 * program. */
#ifndef GH_PCLNTAB_MODULEDATA_H
#define GH_PCLNTAB_MODULEDATA_H

#include <stdbool.h>
#include <stdint.h>

struct gh_pclntab;

/* The fields of runtime.moduledata that goheap uses; all addresses. The layout is in
 * src/runtime/symtab.go of each release. */
struct gh_moduledata {
	uint64_t address; /* of the moduledata itself; 0 if it was not found */
	uint64_t text, etext;
	uint64_t noptrdata, enoptrdata;
	uint64_t data, edata;
	uint64_t bss, ebss;
	uint64_t noptrbss, enoptrbss;
	uint64_t types, etypes;
	uint64_t rodata;       /* what masks of stack objects are told from (Go 1.18 and later) */
	uint64_t gofunc;       /* what FUNCDATA offsets count from (Go 1.18 and later) */
	uint64_t textsectmap;  /* address of the text sections' records */
	uint64_t ntextsectmap; /* number of them */
	uint64_t itablinks;    /* address of pointers to the itabs (to Go 1.26) */
	uint64_t nitablinks;   /* number of them */
	uint64_t itabs;        /* address of the itabs, one after the other (Go 1.27) */
	uint64_t itabs_size;   /* their size together, in bytes */
};

/* Finds the moduledata that points to TAB, whose format, address, and pointer size are known, by
 * looking through the data segments (section .go.module from Go 1.26) for a pointer to it followed
 * by fields that agree with the segments. False, and MODULE zeroed, if there is none (Go before 1.5
 * had none). */
bool gh_moduledata_find(struct gh_moduledata *module, const struct gh_pclntab *tab);

#endif
