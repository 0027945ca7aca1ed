/* SPDX-License-Identifier: MIT */
/* How far a sampled share may be from the true one. */
#ifndef GUS_ATTRIBUTION_STATISTICS_INTERVAL_H
#define GUS_ATTRIBUTION_STATISTICS_INTERVAL_H

struct gus_interval { double low, high; };

/* The 95 % interval of a share p (0..1) estimated from weighted samples: Wilson's score interval (Wilson 1927) on
 * the effective number of samples n = (sum w)^2 / sum w^2 (Kish 1965). It covers the error of sampling this run: fixed
 * periods with jitter spread samples more evenly than chance, so it is rather too wide than too narrow. It does not
 * cover how another run would differ. n <= 0 knows nothing: [0, 1]. */
struct gus_interval gus_interval_share(double p, double n);

/* That of a share that is known to this standard deviation, but not better than so many samples would know it: Wilson's
 * of so many samples as would be as sure, so that it does not reach below 0 nor above 1, and is longer to the
 * inside. */
struct gus_interval gus_interval_deviation(double p, double deviation, double samples);

/* The interval of a share of all, where the one given is of what was sampled, and of the rest, `missed` (0..1) of all,
 * nothing is known: none of it may belong to the share, or all of it. */
struct gus_interval gus_interval_widen(struct gus_interval sampled, double missed);

#endif
