/* SPDX-License-Identifier: MIT */
/* How ops lie in the lines of the uop cache: which of them share one, and which the cache does not take. Both engines
 * and traces ask the same rules. */
#ifndef GUS_MODEL_CODE_UOP_LINES_H
#define GUS_MODEL_CODE_UOP_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct gus_core_config;
struct gus_op;
struct gus_program;

/* A walk over ops in the order in which they are executed. Begins as { 0 }. */
struct gus_uop_lines {
	uint64_t window;                /* of code, plus 1, that the present line is of; 0: there is no line yet */
	unsigned room;                  /* entries left in it */
	unsigned lines;                 /* of that window so far */
	bool jumped;                    /* the op before was a jump that was taken */
};

/* Where the next op goes, at the address of its first byte. */
enum gus_uop_lines_step { GUS_UOP_LINES_SAME, GUS_UOP_LINES_NEXT, GUS_UOP_LINES_WINDOW, GUS_UOP_LINES_TARGET };
enum gus_uop_lines_step gus_uop_lines_step(const struct gus_uop_lines *l, const struct gus_core_config *c,
					   const struct gus_op *op, uint64_t at);
/* Puts it there. */
void gus_uop_lines_put(struct gus_uop_lines *l, const struct gus_core_config *c, const struct gus_op *op, uint64_t at,
		   bool taken);
/* Whether it is a jump that the cache does not take, as it touches the end of 32 bytes. */
bool gus_uop_lines_refuses(const struct gus_core_config *c, const struct gus_program *p, const struct gus_op *op);
/* How many ops of a program the cache keeps, and if kept is not NULL which ones: it has ops_n. None of a window (or
 * block of windows) that has too many lines or a jump that is refused, none at all of code that is larger than it. */
uint32_t gus_uop_lines_kept(const struct gus_core_config *c, const struct gus_program *p, bool *kept);
/* Uops of the line that begins with this op, as the code lies there. */
unsigned gus_uop_lines_ahead(const struct gus_core_config *c, const struct gus_program *p, uint32_t op);

#endif
