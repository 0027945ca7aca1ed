/* SPDX-License-Identifier: MIT */
/* Programs that are not there: what a piece of code would be without some of its work. The variants are those of DECAN
 * (Palomares 2015, Table 4.2), made in the model instead of in the binary, so nothing has to stay correct and nothing
 * has to be compensated for. */
#ifndef GUS_MODEL_ANALYSIS_VARIANT_H
#define GUS_MODEL_ANALYSIS_VARIANT_H

#include <stdint.h>

struct gus_core_config;
struct gus_core_options;
struct gus_program;

enum gus_variant {
	GUS_VARIANT_REF,        /* as it is */
	GUS_VARIANT_FP,         /* no memory: loads become zero idioms, stores go; what computes addresses stays */
	GUS_VARIANT_LS,         /* no arithmetic: loads, stores, what computes their addresses, and control */
	GUS_VARIANT_DL1,        /* each access hits L1, and stores feed no loads */
	GUS_VARIANT_FES,        /* all but control become nops of as many slots: the front end alone */
	GUS_VARIANT_NODIV,      /* divisions and square roots are no more than a multiplication */
	GUS_VARIANT_NORED,      /* reductions (register = register op other, read by nothing else) go */
	GUS_VARIANT_S2L,        /* stores become loads */
	GUS_VARIANT_NO_STORE,   /* stores go */
	GUS_VARIANT_INFINITE,   /* all buffers without end */
	GUS_VARIANTS
};
const char *gus_variant_name(enum gus_variant v);       /* "FP", "NO_STORE", "infinite" */
const char *gus_variant_help(enum gus_variant v);       /* one line */

/* The program of a variant, to be freed. config and options are changed where the variant is about the machine. */
struct gus_program *gus_variant_program(const struct gus_program *p, enum gus_variant v, struct gus_core_config *config,
					struct gus_core_options *options);

/* The program in which one op takes its issue slots and nothing else: its results are there at once and it needs no
 * port. What that gains is what the instruction costs. To be freed. */
struct gus_program *gus_variant_relax(const struct gus_program *p, uint32_t op);

#endif
