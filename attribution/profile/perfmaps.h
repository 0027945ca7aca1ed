/* SPDX-License-Identifier: MIT */
/* Names of code that processes made for themselves, of a recording that did not take them along: perf's. They are in
 * the files that runtimes leave behind, if these are still there: /tmp/perf-PID.map, and the jitdump that the process
 * had mapped, which has the code, too. Our own recordings have them in frames, made when they were written.
 *
 * A jitdump is the one that was mapped, by device and inode; it serves also where nothing says of which machine the
 * recording is. A map has no build id. It is believed where the recording was made on this machine. Both are, if the
 * recording's owner may read them and they are the owner's, or root's; that the number of a map's process was not given
 * out again since, nobody can know.
 */
#ifndef GUS_ATTRIBUTION_PROFILE_PERFMAPS_H
#define GUS_ATTRIBUTION_PROFILE_PERFMAPS_H

#include <stdbool.h>

#include "proto/gusprof.pb-c.h"

struct gus_log;
struct gus_rights;
struct gus_space;
struct gus_symbols;

struct gus_perfmaps;

/* Whether the recording was made on another machine than this, or says nothing of where. */
bool gus_perfmaps_are_elsewhere(const Gusprof__Header *header);
/* Whether nothing says of where: a recording that was cut, or whose perf was killed. */
bool gus_perfmaps_are_nowhere(const Gusprof__Header *header);
/* Whether its kernel has the release of the one that runs. */
bool gus_perfmaps_know_kernel(const Gusprof__Header *header);
/* Whether it is one that needs maps: made here, and not by us, who know the boot. */
bool gus_perfmaps_serve(const Gusprof__Header *header);

/* NULL where the recording has, or cannot have, what they would tell. */
struct gus_perfmaps *gus_perfmaps_new(const Gusprof__Header *header);
void gus_perfmaps_free(struct gus_perfmaps *m);

/* Takes note of who makes code, and since when its process is the program that it is. */
void gus_perfmaps_note(struct gus_perfmaps *m, const Gusprof__Record *record);
/* Reads the jitdumps of all that were noted and the maps, from a folder (/tmp, but in tests), with these rights, and
 * adds what they tell; before gus_space_ready. */
void gus_perfmaps_add(struct gus_perfmaps *m, const char *folder, const struct gus_rights *rights,
		       struct gus_space *space, struct gus_symbols *symbols, const struct gus_log *log);

#endif
