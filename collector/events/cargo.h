/* SPDX-License-Identifier: MIT */
/* What samples bring along beside where and when they were taken. All samples of a session bring the same. */
#ifndef GUS_COLLECTOR_EVENTS_CARGO_H
#define GUS_COLLECTOR_EVENTS_CARGO_H

#include <stdbool.h>
#include <stdint.h>

struct gus_cargo {
	bool chain;            /* callers as the kernel finds them: its own, and others by frame pointers */
	bool kernel_chain;     /* of these the kernel's own alone */
	bool regs;             /* the registers of user space */
	uint32_t stack_bytes;  /* of its stack, a multiple of 8, at most GUS_CARGO_STACK_MAX; 0: nothing */
	uint64_t branch_type;  /* PERF_SAMPLE_BRANCH_*: which branches; 0: none */
	bool calls;            /* of these the calls that have not returned: they are for the callers */
};

/* The kernel takes less than 64 KiB, in words. */
#define GUS_CARGO_STACK_MAX 65528u

/* The registers, PERF_SAMPLE_REGS_USER: a bit for each of PERF_REG_*, of this machine. x86-64: AX to IP, without flags
 * and segments, then R8 to R15. arm64: X0 to X29, LR, SP, PC. Nothing is known of other machines. */
#if defined(__x86_64__)
#define GUS_CARGO_REGS UINT64_C(0xff01ff)
#define GUS_CARGO_REG_IP 8 /* its place among them */
#elif defined(__aarch64__)
#define GUS_CARGO_REGS UINT64_C(0x1ffffffff)
#define GUS_CARGO_REG_IP 32
#else
#define GUS_CARGO_REGS UINT64_C(0)
#define GUS_CARGO_REG_IP 0
#endif

#endif
