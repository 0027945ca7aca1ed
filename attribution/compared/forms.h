/* SPDX-License-Identifier: MIT */
/* How often each form of instructions was executed in some regions of a trace. */
#ifndef GUS_ATTRIBUTION_COMPARED_FORMS_H
#define GUS_ATTRIBUTION_COMPARED_FORMS_H

#include <stddef.h>
#include <stdint.h>

struct gus_traced;

struct gus_compared_forms {
	uint64_t *hashes;       /* by number, n of them: gus_insn_info.form */
	double *counts;         /* by region, in the order asked for, and number */
	size_t n;
};

/* regions: numbers of the trace's, of which there are so many. Both arrays are the caller's to free. */
void gus_compared_forms_count(const struct gus_traced *t, const uint32_t *regions, size_t regions_n,
			      struct gus_compared_forms *f);

#endif
