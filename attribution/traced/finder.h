/* SPDX-License-Identifier: MIT */
/* From places of a recording to the instructions of a trace. Code of files is the same if its file and offset are. Code
 * that a process made for itself is where the recording says that it was at the time of the trace: at an address that
 * has other code by then, a sample is of that. */
#ifndef GUS_ATTRIBUTION_TRACED_FINDER_H
#define GUS_ATTRIBUTION_TRACED_FINDER_H

#include <stdbool.h>
#include <stdint.h>

struct gus_finder;
struct gus_place;
struct gus_space;
struct gus_traced;

/* Of those blocks that have executed an instruction, the one that did so most often; insn: in the trace's program. */
struct gus_found { uint32_t block, insn; };

/* Both are borrowed. The trace has ended, and the space is ready. */
struct gus_finder *gus_finder_new(struct gus_traced *t, struct gus_space *space);
void gus_finder_free(struct gus_finder *f);
/* False if the trace has executed nothing there. pid: whose sample it is. */
bool gus_finder_at(const struct gus_finder *f, const struct gus_place *place, uint32_t pid, struct gus_found *out);

#endif
