/* SPDX-License-Identifier: MIT */
/* What a number rests on (DESIGN.md section 1), the strongest first. What is made of several numbers rests on the
 * weakest of theirs, which is the largest of these. */
#ifndef GUS_ATTRIBUTION_STACKS_EVIDENCE_H
#define GUS_ATTRIBUTION_STACKS_EVIDENCE_H

enum gus_evidence {
	GUS_OBSERVED,   /* a record of the hardware or of the kernel says so */
	GUS_INFERRED,   /* computed from observed numbers by a rule that is told */
	GUS_MODELLED,   /* the calibrated model says so */
	GUS_UNKNOWN
};

/* As reports print it: "observed" ... */
const char *gus_evidence_name(enum gus_evidence evidence);

#endif
