/* SPDX-License-Identifier: MIT */
/* Programs that grow: what a block becomes does not depend on what was there before. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "made_program.h"
#include "model/code/growing.h"

/* add rax, [rdi]; cmp rax, rbx; jne: three instructions, two ops. */
static const uint8_t block[] = { 0x48, 0x03, 0x07, 0x48, 0x39, 0xd8, 0x75, 0x10 };
static const uint8_t lengths[] = { 3, 3, 2 };

static void test_same_as_alone(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *alone = made_program(u, block, sizeof(block));
	struct gus_growing *g = gus_growing_new(u);
	const struct gus_program *p = gus_growing_program(g);

	struct gus_growing_block first = gus_growing_add(g, block, lengths, sizeof(block), 0x1000);
	struct gus_growing_block second = gus_growing_add(g, block, lengths, sizeof(block), 0x2000);

	(void)state;
	assert_int_equal(first.op, 0);
	assert_int_equal(first.ops_n, 2);
	assert_int_equal(second.op, 3);
	assert_int_equal(second.ops_n, 2);
	assert_int_equal(alone->ops_n, 2);
	assert_int_equal(p->ops_n, 6);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(p->ops[i + 3].uops_n, alone->ops[i].uops_n);
		assert_int_equal(p->ops[i + 3].slots, alone->ops[i].slots);
		assert_int_equal(p->ops[i + 3].insns_n, i + 1);
		for (uint32_t n = 0; n < alone->ops[i].uops_n; n++)
			assert_int_equal(p->uops[p->ops[i + 3].uop + n].ports,
					 alone->uops[alone->ops[i].uop + n].ports);
	}
	assert_int_equal(p->insns[p->ops[4].insn].offset, 0x2003);
	assert_int_equal(p->insns[5].op, 4);
	assert_int_equal(p->unknown, 0);
	gus_program_free(alone);
	gus_growing_free(g);
	gus_uarch_free(u);
}

/* A conditional branch that is taken has the ports of taken ones: on Skylake p6 alone, where one that falls through has
 * p0 as well. The same fused pair otherwise. */
static void test_taken(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_growing *g = gus_growing_new(u);
	const struct gus_program *p = gus_growing_program(g);
	struct gus_growing_block b = gus_growing_add(g, block, lengths, sizeof(block), 0x1000);
	const struct gus_op *falls = &p->ops[b.op + b.ops_n - 1], *taken = &p->ops[b.taken];

	(void)state;
	assert_int_equal(b.taken, 2);
	assert_int_equal(falls->uops_n, 1);
	assert_int_equal(taken->uops_n, 1);
	assert_int_equal(p->uops[falls->uop].ports, 0x41);
	assert_int_equal(p->uops[taken->uop].ports, 0x40);
	assert_int_equal(taken->insn, falls->insn);
	assert_true(taken->flags & GUS_OP_TAKEN);
	assert_false(falls->flags & GUS_OP_TAKEN);
	gus_growing_free(g);
	gus_uarch_free(u);
}

/* Bytes that are no instruction, but were executed: an op that is counted as unknown. */
static void test_unknown(void **state)
{
	static const uint8_t bytes[] = { 0x90, 0xd6, 0xd6, 0xd6 }, sizes[] = { 1, 3 };
	struct gus_uarch *u = made_table("skylake");
	struct gus_growing *g = gus_growing_new(u);
	const struct gus_program *p = gus_growing_program(g);

	(void)state;
	gus_growing_add(g, bytes, sizes, sizeof(bytes), 64);
	assert_int_equal(p->ops_n, 2);
	assert_int_equal(p->unknown, 1);
	assert_int_equal(p->insns[1].info.length, 3);
	assert_true(p->ops[1].flags & GUS_OP_UNKNOWN);
	gus_growing_free(g);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_alone),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
