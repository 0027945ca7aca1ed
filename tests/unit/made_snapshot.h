/* SPDX-License-Identifier: MIT */
/* Snapshots that keep their rules, of no process. */
#ifndef GUS_TESTS_UNIT_MADE_SNAPSHOT_H
#define GUS_TESTS_UNIT_MADE_SNAPSHOT_H

#include <stdint.h>

#include "proto/snapshot.h"

/* Registers and no memory; thread and process have the same number. Freed with gus_snapshot_free. */
struct gus_snapshot made_snapshot(uint32_t tid);
/* Mappings and runs are added in ascending order. */
void made_snapshot_map(struct gus_snapshot *s, uint64_t start, uint64_t pages, const char *path);
void made_snapshot_run(struct gus_snapshot *s, uint64_t address, uint64_t pages);

#endif
