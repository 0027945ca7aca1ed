/* SPDX-License-Identifier: MIT */
#include "collector/timing/alone.h"

#include <math.h>
#include <stdlib.h>

#include "base/ascending.h"

#define PASSED_OVER 100         /* one of so many */
#define ALIKE 0.03              /* what the clock makes of the same */
#define BESIDE 1.12
#define NEVER 0.8               /* a part of */
#define ENOUGH 1000

void gus_alone_begin(struct gus_alone *a, double *cycles, size_t n)
{
	*a = (struct gus_alone){ 0 };
	if (!n)
		return;
	qsort(cycles, n, sizeof(*cycles), gus_ascending);
	a->cycles = cycles[n / PASSED_OVER];
}

void gus_alone_tell(struct gus_alone *a, double cycles)
{
	a->seen++;
	a->beside += gus_alone_is_beside(cycles, a->cycles);
	if (!(cycles < a->cycles))
		return;
	if (cycles > a->less * (1 - ALIKE) && cycles < a->less * (1 + ALIKE))
		a->cycles = fmax(cycles, a->less);
	a->less = cycles;
}

bool gus_alone_is_beside(double cycles, double alone)
{
	return alone > 0 && cycles > alone * BESIDE;
}

bool gus_alone_is_never(const struct gus_alone *a)
{
	return a->seen >= ENOUGH && (double)a->beside > NEVER * (double)a->seen;
}
