/* SPDX-License-Identifier: MIT */
/* Whether what a kernel makes is right, and is made at all. */
#ifndef GUS_TESTS_SUITE_CHECK_H
#define GUS_TESTS_SUITE_CHECK_H

#include <stdbool.h>

#include "table.h"

struct suite_verdict {
	bool fits;        /* enough memory */
	bool right;       /* as the reference has it */
	int first_wrong;  /* the array that is apart the most for its tolerance; -1: what is returned */
	double apart;     /* how far, as a share of the array's largest */
	int idle;         /* an array on none of whose elements the result depends; -1: none */
};

/* All steps, once, from the same beginnings. Where what earlier ones leave is known, also the last two alone. */
struct suite_verdict suite_check(const struct suite_kernel *kernel, suite_pass *pass, suite_pass *reference, long n);

#endif
