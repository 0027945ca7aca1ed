/* SPDX-License-Identifier: MIT */
/* Who wants to hear how far a long work is. */
#ifndef GUS_BASE_HEED_H
#define GUS_BASE_HEED_H

#include <stddef.h>

/* What is done, and its share of 1, or less than 0 if nobody knows; NULL: nothing any more, as something else is about
 * to be printed. */
struct gus_heed {
	void (*tell)(void *context, const char *what, double share);
	void *context;
};

/* h: NULL: nobody wants to. */
static inline void gus_heed_tell(const struct gus_heed *h, const char *what, double share)
{
	if (h)
		h->tell(h->context, what, share);
}

#endif
