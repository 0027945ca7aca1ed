/* SPDX-License-Identifier: MIT */
/* One function of a profile, instruction by instruction: what it reads like, where it goes, what it weighs, which
 * source line and which inlined function it is of, and the loops that it is in. The instructions' samples and weights
 * add up to the function's, as a view by function without inlines has them. */
#ifndef GUS_ATTRIBUTION_PROFILE_ANNOTATION_H
#define GUS_ATTRIBUTION_PROFILE_ANNOTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/rows.h"
#include "base/index.h"
#include "symbolizer/insn/loops.h"

#define GUS_ANNOTATION_NONE UINT32_MAX

/* What a part of the function weighs. Shares are of the function's weight. */
struct gus_weighed {
	uint64_t samples, weight;
	double share;
	struct gus_interval ci95;
};

/* An inlined call around an instruction: who calls, and where. */
struct gus_annotation_call { const char *function, *file; uint32_t line; };

/* A source line as far as it is compiled into this function: by file, line and the function that has it. */
struct gus_annotation_line {
	const char *file;
	uint32_t line;
	const char *function;      /* the inlined one, or the function itself */
	bool inlined;
	uint32_t calls, calls_n;   /* of the first place where it is inlined: in the annotation's calls, innermost
				    * first */
	struct gus_weighed w;
};

struct gus_annotation_insn {
	uint64_t offset;           /* in the module's file, as rows have it */
	uint64_t address;          /* as the file's symbol table has it */
	uint8_t length;            /* bytes; 0 if they are not there */
	const char *text;          /* with names and labels for places of code */
	uint32_t label;            /* number of the label here, 0 for none: a jump of the function leads here */
	bool jumps, leaves;        /* has a direct target; which is none of the function's instructions, or is called */
	uint64_t target;           /* its offset */
	const char *to;            /* then: the function there, "NAME" or "NAME+0x12", NULL if not known */
	uint32_t line;             /* in lines, or GUS_ANNOTATION_NONE */
	uint32_t calls, calls_n;   /* inlined calls around it, in calls, innermost first */
	uint32_t loop;             /* in the graph's loops, or GUS_GRAPH_NONE */
	bool aside;                /* was sampled, but lies within the instruction before: a jump over a prefix, or
				    * data */
	bool hot;                  /* GUS_ANNOTATION_HOT of the function at least, and more than chance makes of an even
				    * spread */
	struct gus_weighed w;
	struct gus_stack stack;    /* its weight, as rows have it */
};

#define GUS_ANNOTATION_HOT 0.05 /* as perf annotate */

struct gus_annotation {
	const struct gus_row *row;  /* the function */
	const struct gus_module *module;
	uint64_t offset, address, size;
	struct gus_graph graph;
	struct gus_annotation_insns gus_vec(struct gus_annotation_insn) insns; /* by offset */
	struct gus_annotation_lines gus_vec(struct gus_annotation_line) lines; /* by weight, then file, line and
									        * function */
	struct gus_annotation_calls gus_vec(struct gus_annotation_call) calls;
	struct gus_weighed *loops;  /* for each of the graph's */
	uint32_t labels;
	struct gus_strings strings;
};

/* Of a row of a view by function, made without inlines, that has a name and an offset. -1 with err if there is no code
 * to show: what, of which file, why. */
int gus_annotation_make(struct gus_annotation *a, struct gus_profile *p, const struct gus_row *row,
			struct gus_error *err);
void gus_annotation_free(struct gus_annotation *a);

#endif
