/* SPDX-License-Identifier: MIT */
/* Makes what a recording brings along of one module: asked about offsets that were sampled, it collects the functions
 * around them, and if wanted their lines and code, as Embedded messages (proto/FORMAT.md). embedded.h reads them. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_EMBEDDING_H
#define GUS_SYMBOLIZER_SYMBOLS_EMBEDDING_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct Gusprof__Embedded;
struct gus_module;
struct gus_symbols;

/* What is brought along; each more than the one before. */
enum gus_embed {
	GUS_EMBED_NONE,
	GUS_EMBED_SYMBOLS,      /* functions: name and extent */
	GUS_EMBED_LINES,        /* and of all their code the lines and inlined calls */
	GUS_EMBED_ALL,          /* and the code itself, with the names of what it calls */
};

/* Of a function that is longer only the name is brought along; a message would not hold more. Bytes; the longest of
 * node, python, gcc and firefox have 100,000 to 300,000. */
#define GUS_EMBEDDING_FUNCTION_MOST (1u << 20)
/* A message that has so many bytes, about, is full. A further function may add 1 MiB of code, and lines up to the most
 * that a frame holds. */
#define GUS_EMBEDDING_MESSAGE_MOST (1u << 20)

struct gus_embedding;

/* The symbols must give names as they stand in the file (raw_names). Lines are no more asked for once CLOCK_MONOTONIC
 * has reached until_ns. All is borrowed. */
struct gus_embedding *gus_embedding_new(struct gus_symbols *symbols, const struct gus_module *module,
					uint64_t until_ns);
void gus_embedding_free(struct gus_embedding *e);

/* Adds so much of the function around an offset, unless it is there: first the names of all, which are quick to be had,
 * and then more, if there is time for it. False if no function is known there. */
bool gus_embedding_add(struct gus_embedding *e, uint64_t offset, enum gus_embed what);
/* Bytes that the message will take, about. */
size_t gus_embedding_size(const struct gus_embedding *e);
/* Whether it is time to take the message: it is full. */
bool gus_embedding_is_full(const struct gus_embedding *e);
/* What was added since the last one; valid until the next call. Its trouble is the caller's to fill in. */
struct Gusprof__Embedded *gus_embedding_take(struct gus_embedding *e);

struct gus_embedded_sums {
	uint64_t functions;     /* that were asked for, and those that they call */
	uint64_t bare;          /* of those asked for: that lack lines or code for their length, or for want of time */
	uint64_t line_bytes, code_bytes; /* of code that has its lines, or is there itself */
};
struct gus_embedded_sums gus_embedding_sums(const struct gus_embedding *e);

#endif
