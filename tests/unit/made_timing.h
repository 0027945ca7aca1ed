/* SPDX-License-Identifier: MIT */
/* A process that executes microbenchmarks on this machine, and some for tests of it. */
#ifndef GUS_TESTS_UNIT_MADE_TIMING_H
#define GUS_TESTS_UNIT_MADE_TIMING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/timing/timing.h"

static struct gus_timing *timing; /* NULL where there is none, and why has been said */

/* Setup and teardown of all tests of a program. */
static inline int open_here(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	timing = gus_timing_open(&(const struct gus_timing_options){ .cpu = -1, .most_ns = 20000000 }, &err);
	if (!timing)
		printf("skipped: %s\n", err.text);
	return 0;
}

static inline int close_here(void **state)
{
	(void)state;
	gus_timing_close(timing);
	return 0;
}

#if defined(__x86_64__)
#define X4(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define LOOP_END(body) 0x48, 0xff, 0xcf /* dec %rdi */, 0x75, 256 - (body) - 5 /* jnz */, 0xc3 /* ret */
static const uint8_t adds[] = { X4(X4(0x48, 0x01, 0xc0)), LOOP_END(48) };               /* 16 add %rax, %rax */
static const uint8_t products[] = { X4(X4(0x48, 0x0f, 0xaf, 0xc0)), LOOP_END(64) };     /* 16 imul %rax, %rax */
static const uint8_t chase[] = { X4(0x48, 0x8b, 0x36), LOOP_END(12) };                  /* 4 mov (%rsi), %rsi */
static const uint8_t endless[] = { 0xeb, 0xfe };                /* jmp to itself */

static inline void run(const struct gus_timing_job *jobs, size_t n, struct gus_timing_result *results)
{
	struct gus_error err = { 0 };

	if (!timing)
		skip();
	if (gus_timing_run(timing, jobs, n, results, &err) != 0)
		fail_msg("%s", err.text);
}
#endif

struct list { uint64_t places, distance; };

/* In order, and round. */
static inline void fill_list(const void *what, size_t size, void *arena)
{
	struct list l;
	uint8_t *bytes = arena;

	if (size != sizeof(l))
		abort();
	memcpy(&l, what, sizeof(l));
	for (uint64_t i = 0; i < l.places; i++) {
		void *next = bytes + (i + 1) % l.places * l.distance;

		memcpy(bytes + i * l.distance, &next, sizeof(next));
	}
}

#endif
