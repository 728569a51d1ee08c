/* Made dumps of made programs, whose objects' types are found. */
#ifndef TESTS_UNIT_TYPESCENE_H
#define TESTS_UNIT_TYPESCENE_H

#include "lib/typing/typing.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/typemaker.h"

/* Objects of the dumps that are made here. */
#define SCENE_A     UINT64_C(0x10000)
#define SCENE_B     UINT64_C(0x10100)
#define SCENE_ARRAY UINT64_C(0x10200)
#define SCENE_TEXT  UINT64_C(0x10300)

#define SCENE_DATA UINT64_C(0x8000)

#define SCENE_NODE "example.org/x/main.Node"

/* A program and a dump, what is found in them. */
struct typescene {
	struct synthetic what;
	uint8_t *data; /* the program; owned */
	struct typemaker_places places;
	struct gh_image image;
	struct gh_pclntab tab;
	struct maker maker;
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_typing typing;
};

/* Numbers of programs whose descriptors are found: of Go 1.16 and later. */
#define TYPESCENE_FIRST (SYNTHETIC_1_16 * 8)

void typescene_start(struct typescene *scene, int variant);

uint64_t typescene_descriptor(const struct typescene *scene, int type);

/* The fieldlist of the COUNT pointers at these words. */
void typescene_fields(struct maker *maker, unsigned count, const unsigned *words);

void typescene_object(struct typescene *scene, uint64_t address, unsigned size,
		      const uint64_t *words, unsigned count, const unsigned *pointers);

/* A node of its size class, that points to NEXT and has COUNT strings. */
void typescene_node(struct typescene *scene, uint64_t address, uint64_t next, uint64_t count);

/* The data segment: interfaces with these words, COUNT in all. */
void typescene_data(struct typescene *scene, unsigned count, const uint64_t *words);

/* Two nodes that point to each other; strings of the first's; what those point to. */
void typescene_nodes(struct typescene *scene);

void typescene_type(struct typescene *scene, uint64_t address, uint64_t size, const char *name);

/* Finds the types; the program is known or not. */
void typescene_finish(struct typescene *scene, bool known);

void typescene_free(struct typescene *scene);

const struct gh_class *typescene_class(const struct typescene *scene, uint64_t address);

void typescene_check(const struct typescene *scene, uint64_t address, const char *expected);

void typescene_check_field(const struct typescene *scene, uint64_t address, unsigned word,
			   const char *expected);

/* Writes the address of type NUMBER's descriptor at OFFSET in the program. */
void typescene_set_type(struct typescene *scene, size_t offset, int number);

#endif
