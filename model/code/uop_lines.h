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

/* The address that says where an op lies whose first byte is at `at`, for all that follows: Intel's lines go by where
 * instructions begin; on Zen 4 what ends in the next window is not served before that (uop_cache_by_end). */
uint64_t gus_uop_lines_at(const struct gus_core_config *c, const struct gus_program *p, const struct gus_op *op,
			  uint64_t at);
/* Puts the next op, at that address, where it belongs. */
void gus_uop_lines_put(struct gus_uop_lines *l, const struct gus_core_config *c, const struct gus_op *op, uint64_t at,
		   bool taken);
/* Whether it is a jump that the cache does not take, as it touches the end of 32 bytes. */
bool gus_uop_lines_refuses(const struct gus_core_config *c, const struct gus_program *p, const struct gus_op *op);
/* How many ops of a program the cache keeps, and if kept is not NULL which ones: it has ops_n. None of a window (or
 * block of windows) that has too many lines or a jump that is refused, none at all of code that is larger than it. */
uint32_t gus_uop_lines_kept(const struct gus_core_config *c, const struct gus_program *p, bool *kept);

/* What the cache delivers in a cycle. Begins as { 0 }. */
struct gus_uop_read {
	unsigned uops, lines, width;    /* so far, from so many lines; with what is left of the present one */
	bool ended;                     /* nothing goes behind the last op */
};

/* Whether op `number`, at that address, is delivered beside those. */
bool gus_uop_read_takes(const struct gus_uop_read *r, const struct gus_uop_lines *l, const struct gus_core_config *c,
			const struct gus_program *p, uint32_t number, uint64_t at);
/* It is, from the line that it lies in. */
void gus_uop_read_put(struct gus_uop_read *r, struct gus_uop_lines *l, const struct gus_core_config *c,
		      const struct gus_program *p, uint32_t number, uint64_t at, bool taken);
/* Both at once, for those who deliver all of them: where it is not delivered beside those, a cycle begins with it, and
 * true is returned. */
bool gus_uop_read_next(struct gus_uop_read *r, struct gus_uop_lines *l, const struct gus_core_config *c,
		       const struct gus_program *p, uint32_t number, uint64_t at, bool taken);

#endif
