/* SPDX-License-Identifier: MIT */
/* A program that is about to be executed, as the kernel would look at it: which file is it in the end, behind the
 * interpreters of scripts, with which words, and can the emulator execute it in the kernel's place? What cannot be
 * answered is left to the kernel, whose errors are then the right ones. */
#ifndef GUS_TRACING_PROGRAM_PROGRAM_H
#define GUS_TRACING_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

/* Words of a command line, or of an environment; NULL stands behind the last. */
struct gus_words gus_vec(char *);

void gus_words_add(struct gus_words *words, char *word); /* which is taken over */
void gus_words_free(struct gus_words *words);

struct gus_executed {
	char *path;                     /* the file that is executed; ours */
	struct gus_words argv;
};

/* Follows scripts: path and argv become those of the program that interprets them. NULL, or why that cannot be, in
 * words that follow the program's name: "may not be read". */
const char *gus_executed_interpret(struct gus_executed *p);
/* The same, and NULL only if that program is of that machine (EM_X86_64: 64 bits, little end first) and an emulator
 * would execute it with the same rights as the kernel. */
const char *gus_executed_resolve(struct gus_executed *p, unsigned machine);
void gus_executed_free(struct gus_executed *p);

#endif
