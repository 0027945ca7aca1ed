/* SPDX-License-Identifier: MIT */
/* Inside of gus_fit_memory: what its parts have found and tell each other. */
#ifndef GUS_MODEL_CALIBRATION_MEMORY_H
#define GUS_MODEL_CALIBRATION_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/calibration/fitted.h"

struct gus_calibration;
struct gus_error;

enum gus_caching_level { GUS_CACHING_L1, GUS_CACHING_L2, GUS_CACHING_L3, GUS_CACHING_FAR, GUS_CACHING_LEVELS };

struct gus_caching {
	const struct gus_calibration *c;
	const struct gus_calibration_host *host;
	struct gus_fit *f;
	bool slow;                      /* the host is simulated: a cycle costs us more than a measurement does */
	/* Found so far; 0: not. */
	uint64_t lines[GUS_CACHING_LEVELS];      /* that fit; of FAR none */
	unsigned ways[GUS_CACHING_LEVELS];
	double cycles[GUS_CACHING_LEVELS];       /* load to use */
	uint64_t pages;                 /* that the first TLB has */
	uint64_t pages_second;
	double second, walk;            /* cycles more: of the second TLB, and of a walk */
	unsigned page_ways;
	bool huge;                      /* huge pages are huge for the TLB, too: not under every hypervisor */
	unsigned flight;                /* lines in flight to L1 */
};

/* Lines are counted in 64 bytes, whatever the CPU's are. */
enum { GUS_CACHING_PAGE = 4096, GUS_CACHING_HUGE = 2 << 20, GUS_CACHING_LINE = 64 };

/* The parts, in this order. -1 with err. */
int gus_caching_first(struct gus_caching *m, struct gus_error *err);             /* L1 */
int gus_caching_pages(struct gus_caching *m, struct gus_error *err);             /* TLBs */
int gus_caching_caches(struct gus_caching *m, struct gus_error *err);            /* L2, L3, and what is behind them */
int gus_caching_flight(struct gus_caching *m, struct gus_error *err);            /* misses and walks at once */
int gus_caching_streams(struct gus_caching *m, struct gus_error *err);           /* widths and bandwidths */
int gus_caching_prefetch(struct gus_caching *m, struct gus_error *err);          /* what comes along */

/* Puts a figure: value with the ends of its interval, and what was measured beside what it explains. */
struct gus_caching_figure {
	const char *name;
	double value, low, high, measured, explained;
	enum gus_confidence confidence;
};
void gus_caching_put(struct gus_caching *m, const struct gus_caching_figure *figure, const char *why, ...)
	__attribute__((format(printf, 3, 4)));
/* One that cannot be told. */
void gus_caching_hidden(struct gus_caching *m, const char *name, const char *why, ...)
	__attribute__((format(printf, 3, 4)));
void gus_caching_fact(struct gus_caching *m, const char *name, const char *unit, double value, const char *why, ...)
	__attribute__((format(printf, 5, 6)));
/* What translating costs on the mean where a list touches so many pages by turns, each for so many accesses. */
double gus_caching_translation(const struct gus_caching *m, double pages, double accesses);
/* How often to ask whether something fits: noise is not simulated. */
unsigned gus_caching_asked(const struct gus_caching *m);
/* Bytes of memory that a list may take. */
uint64_t gus_caching_most(const struct gus_caching *m, bool huge);

#endif
