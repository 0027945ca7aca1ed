/* SPDX-License-Identifier: MIT */
/* Variants: which instructions of a small loop are left in each, and what is left of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/analysis/variant.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/options.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

/* What the loop's ops are, in order. */
enum { LOAD, MUL, ADD, DIV, STORE, LEA, STEP1, STEP2, BRANCH, OPS };

static const uint8_t loop[] = {
	0xf2, 0x0f, 0x10, 0x07,         /* movsd (%rdi), %xmm0 */
	0xf2, 0x0f, 0x59, 0x46, 0x08,   /* mulsd 8(%rsi), %xmm0 */
	0xf2, 0x0f, 0x58, 0xc8,         /* addsd %xmm0, %xmm1: a reduction */
	0xf2, 0x0f, 0x5e, 0xe5,         /* divsd %xmm5, %xmm4 */
	0xf2, 0x0f, 0x11, 0x22,         /* movsd %xmm4, (%rdx) */
	0x4c, 0x8d, 0x48, 0x01,         /* lea 1(%rax), %r9: nobody reads it */
	0x48, 0x83, 0xc7, 0x08,         /* add $8, %rdi */
	0x48, 0x83, 0xc2, 0x08,         /* add $8, %rdx */
	0x48, 0xff, 0xc9, 0x75, 0xda,   /* dec %rcx; jnz */
};
/* add %eax, (%rsi); dec %rcx; jnz */
static const uint8_t update[] = { 0x01, 0x06, 0x48, 0xff, 0xc9, 0x75, 0xf9 };

struct made {
	struct gus_uarch *u;
	struct gus_program *p, *variant;
	struct gus_core_config config;
	struct gus_core_options options;
};

static void make_of(struct made *m, const uint8_t *code, size_t size, enum gus_variant v)
{
	struct gus_error err = { 0 };

	*m = (struct made){ .u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err) };
	if (m->u)
		m->p = gus_program_new(m->u, code, size, 0, GUS_PROGRAM_TEXTS, &err);
	if (!m->p)
		fail_msg("%s", err.text);
	gus_core_config_of(&m->config, m->u);
	m->variant = gus_variant_program(m->p, v, &m->config, &m->options);
}

static void make(struct made *m, enum gus_variant v)
{
	make_of(m, loop, sizeof(loop), v);
}

static void drop(struct made *m)
{
	gus_program_free(m->variant);
	gus_program_free(m->p);
	gus_uarch_free(m->u);
}

/* Which of the loop's ops are there: bit i is op i, found by the text of its first instruction. */
static unsigned left(const struct made *m)
{
	unsigned bits = 0;

	for (uint32_t i = 0; i < m->variant->ops_n; i++) {
		const char *text = m->variant->insns[m->variant->ops[i].insn].text;

		for (uint32_t k = 0; k < m->p->ops_n; k++)
			if (strcmp(text, m->p->insns[m->p->ops[k].insn].text) == 0)
				bits |= 1u << k;
	}
	return bits;
}

/* The op in the variant that was that one; NULL if it is gone. */
static const struct gus_op *op_of(const struct made *m, unsigned which)
{
	for (uint32_t i = 0; i < m->variant->ops_n; i++)
		if (strcmp(m->variant->insns[m->variant->ops[i].insn].text,
			   m->p->insns[m->p->ops[which].insn].text) == 0)
			return &m->variant->ops[i];
	return NULL;
}

static const struct gus_uop *uops_of(const struct made *m, unsigned which)
{
	return &m->variant->uops[op_of(m, which)->uop];
}

/* Whatever was done, all numbers are within their arrays and the code has no holes. */
static void check_whole(const struct gus_program *p)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < p->insns_n; i++) {
		assert_int_equal(p->insns[i].offset, at);
		assert_true(p->insns[i].op < p->ops_n);
		at += p->insns[i].info.length;
	}
	assert_int_equal(p->bytes, at);
	for (uint32_t i = 0; i < p->ops_n; i++) {
		const struct gus_op *op = &p->ops[i];
		uint64_t written = 0;

		assert_true(op->uops_n && op->uop + op->uops_n <= p->uops_n);
		assert_true(op->slots && op->insn + op->insns_n <= p->insns_n);
		assert_true(op->memory + op->memories_n <= p->memories_n);
		for (uint32_t k = op->uop; k < op->uop + op->uops_n; k++) {
			const struct gus_uop *uop = &p->uops[k];

			assert_true(uop->slot < op->slots);
			assert_true(uop->in + uop->in_n <= p->flows_n && uop->out + uop->out_n <= p->flows_n);
			if (uop->kind >= GUS_UOP_LOAD)
				assert_true(uop->memory < op->memories_n);
			/* What travels between the uops of an instruction is made by one of them. */
			for (uint32_t f = uop->in; f < uop->in + uop->in_n; f++)
				if (p->flows[f].reg >= GUS_TEMP)
					assert_true(written >> (p->flows[f].reg - GUS_TEMP) & 1);
			for (uint32_t f = uop->out; f < uop->out + uop->out_n; f++)
				if (p->flows[f].reg >= GUS_TEMP)
					written |= 1u << (p->flows[f].reg - GUS_TEMP);
		}
	}
}

static void which_are_left(void **state)
{
	static const struct { enum gus_variant v; unsigned gone; } cases[] = {
		{ GUS_VARIANT_REF, 0 },
		{ GUS_VARIANT_FP, 1 << STORE },
		{ GUS_VARIANT_LS, 1 << ADD | 1 << DIV | 1 << LEA },
		{ GUS_VARIANT_DL1, 0 },
		{ GUS_VARIANT_FES, 0 },
		{ GUS_VARIANT_NODIV, 0 },
		{ GUS_VARIANT_NORED, 1 << ADD },
		{ GUS_VARIANT_S2L, 0 },
		{ GUS_VARIANT_NO_STORE, 1 << STORE },
		{ GUS_VARIANT_INFINITE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;
		unsigned all = (1u << OPS) - 1;

		make(&m, cases[i].v);
		assert_int_equal(m.p->ops_n, OPS);
		if (left(&m) != (all & ~cases[i].gone))
			fail_msg("%s leaves %x, not %x", gus_variant_name(cases[i].v), left(&m), all & ~cases[i].gone);
		check_whole(m.variant);
		assert_true(m.variant->loop);
		drop(&m);
	}
}

static void fp_has_no_memory(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_FP);
	assert_int_equal(uops_of(&m, LOAD)->kind, GUS_UOP_NONE);
	assert_int_equal(uops_of(&m, LOAD)->out_n, 1);
	assert_int_equal(m.variant->flows[uops_of(&m, LOAD)->out].cycles, 0);
	assert_int_equal(op_of(&m, LOAD)->loads, 0);
	assert_int_equal(op_of(&m, MUL)->uops_n, 1);
	assert_int_equal(op_of(&m, MUL)->loads, 0);
	assert_int_equal(op_of(&m, MUL)->slots, 1);
	assert_int_equal(uops_of(&m, MUL)->kind, GUS_UOP_COMPUTE);
	assert_int_equal(uops_of(&m, MUL)->in_n, 1); /* xmm0, and no word */
	assert_int_equal(m.variant->memories_n, 0);
	drop(&m);
}

static void ls_has_no_arithmetic(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_LS);
	assert_int_equal(op_of(&m, MUL)->uops_n, 1);
	assert_int_equal(uops_of(&m, MUL)->kind, GUS_UOP_LOAD);
	assert_int_equal(op_of(&m, STORE)->uops_n, 2);
	drop(&m);
}

static void the_front_end_keeps_its_slots(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_FES);
	for (uint32_t i = 0; i < OPS; i++) {
		assert_int_equal(m.variant->ops[i].slots, m.p->ops[i].slots);
		assert_int_equal(m.variant->ops[i].fused, m.p->ops[i].fused);
		assert_int_equal(m.variant->uops[m.variant->ops[i].uop].kind, i == BRANCH ? GUS_UOP_COMPUTE :
				 GUS_UOP_NONE);
	}
	drop(&m);
}

static void a_division_is_a_multiplication(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_NODIV);
	assert_true(m.p->uops[m.p->ops[DIV].uop].latency > 10);
	assert_int_equal(uops_of(&m, DIV)->latency, 4);
	assert_int_equal(m.variant->flows[uops_of(&m, DIV)->out].cycles, 4);
	assert_int_equal(uops_of(&m, DIV)->unit, 0);
	drop(&m);
}

static void stores_become_loads(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_S2L);
	assert_int_equal(op_of(&m, STORE)->uops_n, 1);
	assert_int_equal(op_of(&m, STORE)->stores, 0);
	assert_int_equal(op_of(&m, STORE)->loads, 1);
	assert_int_equal(uops_of(&m, STORE)->kind, GUS_UOP_LOAD);
	assert_int_equal(uops_of(&m, STORE)->ports, uops_of(&m, LOAD)->ports);
	assert_int_equal(uops_of(&m, STORE)->in_n, 1); /* rdx, and no xmm4 */
	assert_true(m.variant->memories[op_of(&m, STORE)->memory].load);
	assert_false(m.variant->memories[op_of(&m, STORE)->memory].store);
	drop(&m);
}

static void the_machine_is_changed(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_INFINITE);
	assert_int_equal(m.config.rob, 0);
	drop(&m);
	make(&m, GUS_VARIANT_DL1);
	assert_int_equal(m.options.pointers, GUS_CORE_POINTERS_NONE);
	drop(&m);
}

/* An instruction that loads, adds and stores. */
static void one_that_does_it_all(void **state)
{
	static const struct { enum gus_variant v; int uops, loads, stores; } cases[] = {
		{ GUS_VARIANT_REF, 4, 1, 1 }, { GUS_VARIANT_FP, 1, 0, 0 }, { GUS_VARIANT_LS, 3, 1, 1 },
		{ GUS_VARIANT_NO_STORE, 2, 1, 0 }, { GUS_VARIANT_S2L, 3, 2, 0 }, { GUS_VARIANT_FES, 4, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		make_of(&m, update, sizeof(update), cases[i].v);
		check_whole(m.variant);
		if (m.variant->ops[0].uops_n != cases[i].uops || m.variant->ops[0].loads != cases[i].loads ||
		    m.variant->ops[0].stores != cases[i].stores)
			fail_msg("%s: %u uops, %u loads, %u stores", gus_variant_name(cases[i].v),
				 m.variant->ops[0].uops_n,
				 m.variant->ops[0].loads, m.variant->ops[0].stores);
		drop(&m);
	}
}

static void nothing_left_is_a_nop(void **state)
{
	static const uint8_t store[] = { 0xf2, 0x0f, 0x11, 0x22 };
	struct made m;

	(void)state;
	make_of(&m, store, sizeof(store), GUS_VARIANT_NO_STORE);
	check_whole(m.variant);
	assert_int_equal(m.variant->ops_n, 1);
	assert_int_equal(m.variant->uops[m.variant->ops[0].uop].kind, GUS_UOP_NONE);
	assert_int_equal(m.variant->ops[0].stores, 0);
	drop(&m);
}

static void relaxing_takes_only_slots(void **state)
{
	struct made m;

	(void)state;
	make(&m, GUS_VARIANT_REF);
	for (uint32_t op = 0; op < OPS; op++) {
		struct gus_program *relaxed = gus_variant_relax(m.p, op);
		const struct gus_op *now = &relaxed->ops[op], *was = &m.p->ops[op];

		check_whole(relaxed);
		assert_int_equal(relaxed->ops_n, OPS);
		assert_int_equal(now->slots, was->slots);
		assert_int_equal(now->loads + now->stores, 0);
		assert_int_equal(now->results[GUS_REGFILE_INT] + now->results[GUS_REGFILE_VECTOR], 0);
		assert_int_equal(now->flags & GUS_OP_BRANCH, was->flags & GUS_OP_BRANCH);
		for (uint32_t k = now->uop; k < now->uop + now->uops_n; k++) {
			assert_int_equal(relaxed->uops[k].ports, 0);
			assert_int_equal(relaxed->uops[k].in_n, 0);
			for (uint32_t f = 0; f < relaxed->uops[k].out_n; f++)
				assert_int_equal(relaxed->flows[relaxed->uops[k].out + f].cycles, 0);
		}
		gus_program_free(relaxed);
	}
	drop(&m);
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(gus_variant_name(GUS_VARIANT_NO_STORE), "NO_STORE");
	assert_string_equal(gus_variant_name(GUS_VARIANT_INFINITE), "infinite");
	assert_null(gus_variant_name(GUS_VARIANTS));
	for (int v = 0; v < GUS_VARIANTS; v++)
		assert_true(*gus_variant_help((enum gus_variant)v));
}

/* add [rsi], eax as a row of 303 uops, each in a slot of its own: without its store two of them are gone, the last. */
static void slots_of_many_uops(void **state)
{
	static const char table[] = "uarch many isa x86-64 \"Many\"\nsource s \"made up\"\nlike skylake\n"
		"form \"ADD (M32, R32)\" uops 303 latency 3 fused 303 uses p23:1 p0:300 p237:1 p4:1 source s\n";
	static const struct { enum gus_variant variant; unsigned uops; } cases[] = {
		{ GUS_VARIANT_REF, 303 }, { GUS_VARIANT_NO_STORE, 301 } };
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("many", table, strlen(table), &gus_uarch_builtin, 0, &err);
	struct gus_program *p = u ? gus_program_new(u, update, sizeof(update), 0, 0, &err) : NULL;

	(void)state;
	if (!p)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_core_config config;
		struct gus_core_options options = { 0 };
		struct gus_program *v;

		gus_core_config_of(&config, u);
		v = gus_variant_program(p, cases[i].variant, &config, &options);
		assert_int_equal(v->ops[0].uops_n, cases[i].uops);
		assert_int_equal(v->ops[0].slots, cases[i].uops);
		for (unsigned k = 0; k < v->ops[0].uops_n; k++)
			assert_int_equal(v->uops[v->ops[0].uop + k].slot, k);
		gus_program_free(v);
	}
	gus_program_free(p);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_are_left),
		cmocka_unit_test(fp_has_no_memory),
		cmocka_unit_test(ls_has_no_arithmetic),
		cmocka_unit_test(the_front_end_keeps_its_slots),
		cmocka_unit_test(a_division_is_a_multiplication),
		cmocka_unit_test(stores_become_loads),
		cmocka_unit_test(the_machine_is_changed),
		cmocka_unit_test(one_that_does_it_all),
		cmocka_unit_test(nothing_left_is_a_nop),
		cmocka_unit_test(relaxing_takes_only_slots),
		cmocka_unit_test(names), cmocka_unit_test(slots_of_many_uops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
