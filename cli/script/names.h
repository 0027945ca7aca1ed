/* SPDX-License-Identifier: MIT */
/* What a place reads like in a line. Places come again and again, so each is asked for once: memory grows with the code
 * that was executed, and not with how long. */
#ifndef GUS_CLI_SCRIPT_NAMES_H
#define GUS_CLI_SCRIPT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/profile.h"
#include "base/index.h"

struct gus_script_names {
	struct gus_profile *profile;
	unsigned fields;            /* enum gus_field */
	bool inlines;
	struct gus_index places;    /* a place, and how it is shown */
	struct gus_vec(uint32_t) text_of; /* by place, of texts */
	struct gus_strings texts;
};

void gus_script_names_init(struct gus_script_names *n, struct gus_profile *p, unsigned fields, bool inlines);
void gus_script_names_free(struct gus_script_names *n);

/* A line's end, of a place that stands beside its address: " main+0x4 (/bin/app)", and a line with the source's. */
struct gus_string_ gus_script_names_tail(struct gus_script_names *n, struct gus_place place);
/* The lines of a frame in a chain, with its inlined functions, each with its address in the file. returns: the address
 * is one behind the place. */
struct gus_string_ gus_script_names_frame(struct gus_script_names *n, struct gus_place place, bool returns);
/* The frame's functions from the outermost in, with ';' between them. */
struct gus_string_ gus_script_names_folded(struct gus_script_names *n, struct gus_place place);

struct gus_lines;
/* Where a branch was from or went to: FUNCTION+0xOFFSET, or 0xADDRESS(MODULE) by the address in the file. */
void gus_script_names_end(struct gus_script_names *n, struct gus_lines *l, struct gus_place place, bool symbol);

#endif
