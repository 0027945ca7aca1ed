/* SPDX-License-Identifier: MIT */
/* The traffic of memory as people and programs see it: of what was counted just now, and of a recording. */
#ifndef GUS_CLI_BANDWIDTH_BANDWIDTH_H
#define GUS_CLI_BANDWIDTH_BANDWIDTH_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

struct gus_screen;
struct gus_traffic;
struct gus_traffic_sum;

/* Calls visit for each sum that there are counters for: socket by socket, where there are several, and then of all;
 * of each what was read, written, read or written, and where that is more than one of these, all. */
typedef void gus_bandwidth_visit(void *context, uint32_t socket, unsigned direction, const struct gus_traffic_sum *sum);
void gus_bandwidth_walk(const struct gus_traffic *t, gus_bandwidth_visit *visit, void *context);

/* "read", "written", "together", "all": of an enum gus_direction, or GUS_TRAFFIC_ALL. */
const char *gus_bandwidth_word(unsigned direction);
/* "observed", "inferred" (counters took turns) or "unknown". */
const char *gus_bandwidth_evidence(const struct gus_traffic_sum *sum);
/* Why there is no number, or how far to trust it; NULL if there is nothing to say. */
const char *gus_bandwidth_reason(const struct gus_traffic_sum *sum);

/* A line for each sum; before: stands before each of them, or NULL: then a line above them says what is counted. */
void gus_bandwidth_text(FILE *out, const struct gus_screen *screen, const char *before, const struct gus_traffic *t);
/* An object, or null: title, all, sockets, counters. */
json_t *gus_bandwidth_json(const struct gus_traffic *t);

/* Of a recording: in lines that begin with '#', above its rows; and as an object that has also what was over the time.
 * t: NULL has none, and is nothing, and null. */
void gus_bandwidth_recorded_text(FILE *out, const struct gus_screen *screen, const struct gus_traffic *t);
json_t *gus_bandwidth_recorded_json(const struct gus_traffic *t);

#endif
