/* SPDX-License-Identifier: MIT */
/* The core engine's counterpart of a knob of the stream engine at weight 2: the machine that has twice as much of the
 * same thing.
 *
 * widths, windows twice the size in the configuration. stores to L1 without limit: a second one of a cycle would have
 * to go into the same line, and so two a cycle are not twice one. ports The stream engine relaxes one conjunctive
 * constraint, "uops that must run in this group", and no other; a machine
 *                  of ports has no such thing by itself. Uops that may take exactly the group get as many ports again.
 *                  Those that may take only a part of it keep what they have, but parts that overlap get ports of their
 *                  own,
 *                  so that the parts do not compete with each other for the group. (Constraints of larger groups become
 *                  easier by that as well: new ports are new ports.)
 * latencies, units Half a cycle is none in a machine of cycles. So the machine is taken at half its pace: all latencies
 * and times
 *                  of ports and units twice as long, all widths half as wide; and in that machine the one thing is as
 *                  it was.
 *                  It is compared with the machine at half its pace, which turned_slow gives with no knob. */
#ifndef GUS_TESTS_TURNED_H
#define GUS_TESTS_TURNED_H

#include <stdbool.h>

#include "model/stream/stream.h"

/* Whether the knob is of the machine at half its pace. */
bool turned_is_slow(const struct gus_knob *knob);
/* The program and configuration with the knob turned (kind GUS_KNOB_NONE: nothing); slow: at half their pace. The
 * program is to be freed; NULL if there is no counterpart. */
struct gus_program *turned_program(const struct gus_program *p, const struct gus_knob *knob, bool slow,
				   struct gus_core_config *c);

/* The program in which one op takes no time: each of its uops has a port to itself and no latency, and still waits for
 * its inputs, so that what depends on what stays. (gus_variant_relax cuts that as well: any link of a chain gains the
 * whole chain.) To be freed. The machine's L1 must have no banks: with them ports are served in turns, and results of
 * no latency come late. */
struct gus_program *turned_timeless(const struct gus_program *p, uint32_t op);

#endif
