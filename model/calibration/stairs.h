/* SPDX-License-Identifier: MIT */
/* How many of a kind are handled a cycle, from times of more and more of them: these are stairs, each step a cycle
 * high and as wide as what is sought. Pure. */
#ifndef GUS_MODEL_CALIBRATION_STAIRS_H
#define GUS_MODEL_CALIBRATION_STAIRS_H

#include <stddef.h>

struct gus_stairs {
	unsigned width;         /* of a step */
	double residual;        /* mean distance of the times from the stairs, in cycles */
	double next;            /* the same of the best stairs of another width: how sure it is */
	double low, high;       /* widths that are as steep as the times, within three standard errors */
};

/* times[i] is that of i more than the first; widths from 1 to most are tried. n: at least two. Where it is enough for
 * two, each half is looked at by itself as well, as code that gets longer may once lie otherwise, and all behind that
 * be a cycle off, or wait for something else, which is no wider; of those that are sure the widest counts, else the
 * surest. Times that are a cycle more or less than they should be, here and there, are no stairs that could be told
 * from others, but how steep they are still tells the width. */
void gus_stairs_fit(const double *times, size_t n, unsigned most, struct gus_stairs *s);

#endif
