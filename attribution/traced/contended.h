/* SPDX-License-Identifier: MIT */
/* Lines of memory that threads of a process share while they run: one of them writes a line that another one uses at
 * the time. Who runs each thread alone finds such lines where the thread itself had left them, and the CPU does not;
 * what is waited for there is therefore not known. */
#ifndef GUS_ATTRIBUTION_TRACED_CONTENDED_H
#define GUS_ATTRIBUTION_TRACED_CONTENDED_H

#include <stdbool.h>
#include <stdint.h>

/* Lines that are looked at, at most, and how often in all: a few bytes of a trace can say that gigabytes were read.
 * What is beyond is not found to be shared. */
enum { GUS_CONTENDED_LINES = 1 << 18, GUS_CONTENDED_LOOKS = 1 << 26 };

struct gus_contended;

/* line_size: bytes, a power of two. Freed with gus_contended_free. */
struct gus_contended *gus_contended_new(uint32_t line_size);
void gus_contended_free(struct gus_contended *s);
/* A window begins, in which a thread was traced; of what time it is. They may come in any order. */
void gus_contended_window(struct gus_contended *s, uint32_t pid, uint32_t tid, uint64_t time);
/* An access in it. */
void gus_contended_access(struct gus_contended *s, uint64_t address, uint32_t bytes, bool store);
/* After the last: finds the lines of which one thread's writes and what another one did overlap in time, each from its
 * first window to its last. (What one thread has made and others use later is not shared, and nor is memory that was
 * given from one to the other.) How many there are. */
uint32_t gus_contended_settle(struct gus_contended *s);
/* Whether an access is to one of them. s may be NULL, and has none then. */
bool gus_contended_has(const struct gus_contended *s, uint32_t pid, uint64_t address, uint32_t bytes);

#endif
