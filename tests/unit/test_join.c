/* SPDX-License-Identifier: MIT */
/* The kernel's part of a chain and what others found of user space become one chain. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/events/cargo.h"
#include "collector/session/join.h"
#include "proto/sample.h"

#define K PERF_CONTEXT_KERNEL
#define U PERF_CONTEXT_USER
#define CHAIN(...) sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, (const uint64_t[]){ __VA_ARGS__ }

enum { IP = 0x401000 };

/* A sample with registers, of which IP is the one that counts here. */
static struct gus_sample sample(uint8_t mode, uint32_t n, const uint64_t *chain)
{
	static uint64_t regs[64];

	regs[GUS_CARGO_REG_IP] = IP;
	return (struct gus_sample){ .mode = mode, .chain_n = n, .chain = chain, .regs_n = 64, .regs = regs };
}

static void assert_chain(const struct gus_sample *s, uint32_t n, const uint64_t *want)
{
	assert_int_equal(s->chain_n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(s->chain[i], want[i]);
}

static void frames_behind_the_kernels(void **state)
{
	static const uint64_t frames[] = { 0x402000, U, 0x403000 };
	struct gus_join j = { 0 };
	struct gus_sample s = sample(GUS_MODE_USER, 0, NULL);

	(void)state;
	gus_join_append(&j, &s, frames, 3);
	assert_chain(&s, CHAIN(U, 0x402000, U, 0x403000));
	s = sample(GUS_MODE_KERNEL, CHAIN(K, 0xffff8000));
	gus_join_append(&j, &s, frames, 1);
	assert_chain(&s, CHAIN(K, 0xffff8000, U, IP, 0x402000));
	s = sample(GUS_MODE_KERNEL, 0, NULL); /* the kernel's callers may not be seen */
	gus_join_append(&j, &s, frames, 0);
	assert_chain(&s, CHAIN(U, IP));
	s = sample(GUS_MODE_KERNEL, CHAIN(K, 0xffff8000));
	s.regs_n = 0; /* of a thread of the kernel's there is no more */
	gus_join_append(&j, &s, frames, 0);
	assert_chain(&s, CHAIN(K, 0xffff8000));
	s.regs_n = GUS_CARGO_REG_IP; /* all but the one that would be needed */
	gus_join_append(&j, &s, frames, 0);
	assert_chain(&s, CHAIN(K, 0xffff8000));
	gus_join_free(&j);
}

/* The place in user space is the leaf, in a sample of the kernel's as well. */
static void a_leafs_caller(void **state)
{
	struct gus_join j = { 0 };
	struct gus_sample s = sample(GUS_MODE_USER, CHAIN(U, 0x403000, 0x404000));

	(void)state;
	gus_join_leaf(&j, &s, 0x402000);
	assert_chain(&s, CHAIN(U, 0x402000, 0x403000, 0x404000));
	s = sample(GUS_MODE_USER, CHAIN(U));
	gus_join_leaf(&j, &s, 0x402000);
	assert_chain(&s, CHAIN(U, 0x402000));
	s = sample(GUS_MODE_USER, 0, NULL);
	gus_join_leaf(&j, &s, 0x402000);
	assert_chain(&s, CHAIN(U, 0x402000));
	s = sample(GUS_MODE_KERNEL, CHAIN(K, 0xffff8000, U, IP, 0x403000));
	gus_join_leaf(&j, &s, 0x402000);
	assert_chain(&s, CHAIN(K, 0xffff8000, U, IP, 0x402000, 0x403000));
	s = sample(GUS_MODE_KERNEL, CHAIN(K, 0xffff8000, U));
	gus_join_leaf(&j, &s, 0x402000);
	assert_chain(&s, CHAIN(K, 0xffff8000, U, 0x402000));
	s = sample(GUS_MODE_KERNEL, CHAIN(K, 0xffff8000));
	gus_join_leaf(&j, &s, 0x402000);
	assert_chain(&s, CHAIN(K, 0xffff8000, U, IP, 0x402000));
	gus_join_free(&j);
}

/* Newest first, which is innermost first; each is where a call stands, so that the byte before is in it. */
static void calls_that_the_cpu_kept(void **state)
{
	static const struct gus_branch calls[] = {
		{ .from = 0x402010, .to = 0x401000 }, { .from = 0x403020, .to = 0x402000 },
	};
	struct gus_join j = { 0 };
	struct gus_sample s = sample(GUS_MODE_USER, 0, NULL);

	(void)state;
	s.branches = calls;
	s.branches_n = 2;
	s.branch_index = 3;
	gus_join_branches(&j, &s);
	assert_chain(&s, CHAIN(U, 0x402011, 0x403021));
	assert_int_equal(s.branches_n, 0);
	assert_null(s.branches);
	assert_int_equal(s.branch_index, 0);
	assert_int_equal(s.callers, GUS_CALLERS_BRANCHES);
	s = sample(GUS_MODE_KERNEL, CHAIN(K, 0xffff8000));
	s.branches = calls + 1;
	s.branches_n = 1;
	s.callers = GUS_CALLERS_WHOLE; /* what else is known of it stays */
	gus_join_branches(&j, &s);
	assert_int_equal(s.callers, GUS_CALLERS_WHOLE | GUS_CALLERS_BRANCHES);
	assert_chain(&s, CHAIN(K, 0xffff8000, U, IP, 0x403021));
	gus_join_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_behind_the_kernels),
		cmocka_unit_test(a_leafs_caller),
		cmocka_unit_test(calls_that_the_cpu_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
