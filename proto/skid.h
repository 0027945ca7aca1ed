/* SPDX-License-Identifier: MIT */
/* How far behind the instruction that a CPU waits for samples of an event land: counted in a self-test before the
 * recording (collector/trial/skid.h), kept with the event, and corrected by in attribution.
 *
 * What is counted is the distance along the path that was executed, from the slow instruction: the oldest one that has
 * not retired when the interrupt comes. An interrupt that is taken when that has retired lands on the first one behind
 * it, and farther if others retire in the same cycle. After a misprediction there may be nothing to retire: then the
 * next one is the first of the path that is right, and a distance of one is the second of that path. */
#ifndef GUS_PROTO_SKID_H
#define GUS_PROTO_SKID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Gusprof__Event;

/* Slow instructions of three kinds: what memory is waited for, what nothing but the core is, and what is waited for a
 * few cycles only, a product of integers. In a round of the first the quick ones take less than a hundredth of the
 * time, so that is the one to correct by; of the second they take some tenths, which counts as `farther`. Behind the
 * third come GUS_SKID_PRODUCTS - 1 more products, each of which waits for the one before, and takes as much time:
 * whatever the rule, there are as many samples behind each, if interrupts tell apart what retires that quickly. */
enum gus_skid_slow { GUS_SKID_LOAD, GUS_SKID_ROOT, GUS_SKID_PRODUCT, GUS_SKID_SLOWS };

enum { GUS_SKID_PRODUCTS = 6 };
enum { GUS_SKID_NEAR = 4 };             /* distances that are told one by one */

struct gus_skid_counts {
	uint64_t at[GUS_SKID_NEAR];     /* on the slow one, on the first behind it, ... */
	uint64_t farther;
	uint64_t before;                /* on the three before it */
};

/* Without any samples of a kind nothing is known of it: all of its counts are 0. */
struct gus_skid { struct gus_skid_counts counts[GUS_SKID_SLOWS]; };

const char *gus_skid_slow_name(enum gus_skid_slow slow);        /* "load", "root" */
uint64_t gus_skid_samples(const struct gus_skid_counts *counts); /* all of them */

/* Of an event of a recording, or NULL. False if it tells nothing; then all counts are 0. */
bool gus_skid_read(struct gus_skid *skid, const struct Gusprof__Event *event);

/* The distance at which most samples of the load are, if that is at least `share` of them: 0 on it, 1 the first
 * behind it. -1: they are scattered, or not known. */
int gus_skid_distance(const struct gus_skid *skid, double share);

/* The share of the samples of products that are behind another one than they should be, at least, and with those that
 * are by chance; 0: not known. */
double gus_skid_uneven(const struct gus_skid *skid);

/* "beside a load past the caches 99.4 % of 512 samples are on the first instruction behind it, beside ...". False if
 * nothing is known. */
bool gus_skid_describe(const struct gus_skid *skid, char *text, size_t size);

#endif
