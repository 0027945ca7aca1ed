/* SPDX-License-Identifier: MIT */
/* A program that grows while it is run, as traces meet code: blocks, each executed from its first instruction to its
 * last. */
#ifndef GUS_MODEL_CODE_GROWING_H
#define GUS_MODEL_CODE_GROWING_H

#include <stddef.h>
#include <stdint.h>

struct gus_program;
struct gus_uarch;

struct gus_growing;

/* Of no blocks yet. Borrows the table. Freed with gus_growing_free, never NULL. */
struct gus_growing *gus_growing_new(const struct gus_uarch *u);
void gus_growing_free(struct gus_growing *g);

/* A block's ops lie behind each other. Behind them is one more where the last may be taken or not: its twin for when it
 * is. */
struct gus_growing_block {
	uint32_t op, ops_n;
	uint32_t taken;         /* the last op, when its branch is taken */
};

/* Adds a block of so many bytes at an address, whose instructions have the lengths given, as many as there are.
 * Instructions that are not known become ops of unknown kind and are counted. Offsets of instructions are their
 * addresses. */
struct gus_growing_block gus_growing_add(struct gus_growing *g, const void *bytes, const uint8_t *lengths, size_t size,
					 uint64_t address);

/* The program so far: always at the same place, but what its arrays point to moves whenever a block is added. */
const struct gus_program *gus_growing_program(const struct gus_growing *g);

#endif
