/* SPDX-License-Identifier: MIT */
/* What a runtime has told of the code that it made: pieces, each with an address, a size and a name, in the order in
 * which they were told. Two formats are read. A perf map is text, a line for each piece, without times: what is told
 * later lies over what was told before. A jitdump is binary: each piece has a time, its bytes and perhaps its lines,
 * and may be told to have moved.
 *
 * Pure: bytes in, pieces out, which point into the bytes. No more is made of them than base/limits.h allows, and what
 * was left out is counted. */
#ifndef GUS_SYMBOLIZER_JIT_JIT_H
#define GUS_SYMBOLIZER_JIT_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/piece.h"

#define GUS_JIT_NONE UINT32_MAX

struct gus_jit_line {
	uint64_t offset;        /* in the piece; from there to the next line's */
	uint32_t line;
	struct gus_piece file;  /* of the bytes that were parsed */
};

struct gus_jit_piece {
	uint64_t time;          /* of the file's own clock; 0 in a perf map */
	uint64_t told;          /* where in the file it is told */
	uint64_t address, size; /* not empty, and its end is an address, too */
	struct gus_piece name;  /* not empty, without line feeds and zeros */
	uint32_t origin;        /* of one that has moved: the piece that it was at first; else its own number */
	const uint8_t *code;    /* size bytes of it; NULL: not told */
	uint32_t lines, lines_n; /* in the list of lines */
};

struct gus_jit {
	struct gus_vec(struct gus_jit_piece) pieces;
	struct gus_vec(struct gus_jit_line) lines;
	uint32_t machine;       /* EM_* of a jitdump, else 0 */
	bool timed;             /* pieces have times, of CLOCK_MONOTONIC */
	uint64_t bad;           /* records and lines that make no sense */
	uint64_t left_out;      /* pieces and lines beyond the limits */
};

/* Each appends to a zero-initialised *jit; bytes are borrowed and must outlive it. */
void gus_jit_read_map(struct gus_jit *jit, const void *bytes, size_t size);
/* NULL, or why this is no jitdump that can be read: a text for people. A record that is not all there, as its writer
 * is still at it, is the end. */
const char *gus_jit_read_dump(struct gus_jit *jit, const void *bytes, size_t size);
void gus_jit_free(struct gus_jit *jit);

#endif
