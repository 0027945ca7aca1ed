/* SPDX-License-Identifier: MIT */
/* What came of trying an event on this machine. By itself, because who tries (probe, trial), who keeps the outcome
 * (facts) and who judges it (doctor) have nothing else in common. */
#ifndef GUS_COLLECTOR_DOCTOR_VERDICT_H
#define GUS_COLLECTOR_DOCTOR_VERDICT_H

/* In the order of how far a trial came: of several that failed, the largest is the one to tell about. */
enum gus_verdict {
	GUS_PROBE_GOOD,
	GUS_PROBE_ABSENT,    /* no such event on this machine */
	GUS_PROBE_REFUSED,   /* permission */
	GUS_PROBE_STILL,     /* it opens, but the counter does not move */
	GUS_PROBE_SILENT,    /* it counts, but no samples come */
	GUS_PROBE_INEXACT,   /* samples come, but the hardware does not vouch for their addresses */
	GUS_PROBE_UNTRIED,   /* for want of descriptors, memory or the like, which says nothing about the event */
};

#endif
