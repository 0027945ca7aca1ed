/* SPDX-License-Identifier: MIT */
/* attribution/proportional/groups: what is counted of cycles that are written down. Each word is a cycle: the ops that
 * retire in it, a to h and i to t, which lie one behind the other, four bytes each; or one in which none does: '-',
 * or '!' where a flush by what was last is why, or '?' by what comes next. Behind an op stands what it met: '^' that it
 * was mispredicted, '*' a miss, '$' a full store queue; '<' that a store could not forward to it, '=' that one had
 * its address in part; '~' that it is not the last uop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "model/code/program.h"
#include "model/machine/options.h"

enum { OPS = 20 };

struct counted {
	struct gus_op ops[OPS];
	struct gus_program_insn insns[OPS + 1];
	struct gus_uop uops[3];
	struct gus_program p;
	struct gus_groups *groups;
};

static int setup(void **state)
{
	struct counted *c = gus_zalloc(sizeof(*c));

	c->p = (struct gus_program){ .ops = c->ops, .insns = c->insns, .uops = c->uops, .ops_n = OPS, .insns_n = OPS };
	for (uint32_t i = 0; i < OPS; i++) {
		c->ops[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = 1 };
		c->insns[i].offset = 4 * i;
		c->insns[i].info.length = 4;
	}
	c->groups = gus_groups_new();
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct counted *c = *state;

	gus_groups_free(c->groups);
	free(c);
	return 0;
}

/* What stands behind an op; 0: nothing more. */
static char meet(struct gus_core_retired *told, char sign)
{
	static const struct { char sign; uint16_t psv; uint8_t late; } signs[] = {
		{ '^', GUS_CORE_FL_MB, 0 }, { '*', GUS_CORE_ST_L1, 0 }, { '$', GUS_CORE_DR_SQ, 0 },
		{ '<', 0, GUS_CORE_LATE_BLOCKED }, { '=', 0, GUS_CORE_LATE_ALIAS },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (signs[i].sign == sign) {
			told->psv |= signs[i].psv;
			told->late |= signs[i].late;
			return sign;
		}
	}
	if (sign != '~')
		return 0;
	told->ends = false;
	return sign;
}

static void tell(const struct gus_core_listener *l, const char *cycles)
{
	for (const char *at = cycles; *at; at++) {
		struct gus_core_retired told = { .op = (uint32_t)(*at - 'a'), .ends = true };

		if (*at == ' ')
			continue;
		if (*at >= 'a') {
			while (at[1] && meet(&told, at[1]))
				at++;
			l->retire(l->context, &told);
		}
		if (!at[1] || at[1] == ' ')
			l->cycle(l->context, &(struct gus_core_cycle){ .of_next = *at == '?',
				 .state = *at == '!' || *at == '?' ? GUS_COMMIT_FLUSHED : GUS_COMMIT_STALLED });
	}
}

static void count(struct counted *c, const char *cycles)
{
	tell(gus_groups_listen(c->groups, 7, &c->p), cycles);
	gus_groups_leave(c->groups, 7);
}

static char letter(const struct gus_groups_counts *g, uint32_t site)
{
	return (char)('a' + g->sites.v[site].address / 4);
}

/* 'ab>c 2': so often, with c as the head of the next; '^': where a mispredicted branch had led. */
static void put_groups(FILE *f, const struct gus_groups_counts *g)
{
	for (size_t i = 0; i < g->groups.n; i++) {
		const struct gus_groups_group *one = &g->groups.v[i];

		fprintf(f, "%s%s", i ? ", " : "", one->behind ? "^" : "");
		for (uint32_t k = 0; k < one->n; k++)
			fprintf(f, "%c", letter(g, g->members.v[one->first + k]));
		fprintf(f, ">%c %d", letter(g, one->next), (int)one->times);
	}
}

/* 'a bc d 2': of d two cycles in which a was the head, b behind it, and c the head of the next; '*': which met
 * something, '!': a flush, '^' as of groups. */
static void put_waits(FILE *f, const struct gus_groups_counts *g)
{
	for (size_t i = 0; i < g->waits.n; i++) {
		const struct gus_groups_wait *w = &g->waits.v[i];

		fprintf(f, "%s%s%c %c%c %c%s%s %d", i ? ", " : "", w->behind ? "^" : "", letter(g, w->head),
			letter(g, w->after), letter(g, w->next), letter(g, w->of), w->psv ? "*" : "",
			w->flushed ? "!" : "", (int)w->cycles);
	}
}

static void put_edges(FILE *f, const struct gus_groups_counts *g)
{
	for (size_t i = 0; i < g->edges.n; i++)
		fprintf(f, "%s%c>%s%c %d", i ? ", " : "", letter(g, g->edges.v[i].from),
			g->edges.v[i].behind ? "^" : "", letter(g, g->edges.v[i].to), (int)g->edges.v[i].times);
}

/* 'a* 3/2': so many executions that met something, so many assured. */
static void put_met(FILE *f, const struct gus_groups_counts *g)
{
	for (size_t i = 0; i < g->met.n; i++)
		fprintf(f, "%s%c%s %d/%d", i ? ", " : "", letter(g, g->met.v[i].site), g->met.v[i].psv ? "*" : "",
			(int)g->met.v[i].times, (int)g->met.v[i].assured);
}

static void expect(const struct counted *c, void (*put)(FILE *f, const struct gus_groups_counts *g),
		   const char *expected)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	put(f, gus_groups_counts(c->groups));
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

/* Groups differ in what is in them, in how many, and in what is next; the last has no next and is in none. */
static void what_retires_together(void **state)
{
	struct counted *c = *state;

	count(c, "ab c ab c ab d a c ab c abc ad ad ac ad");
	expect(c, put_groups, "ab>c 3, c>a 4, ab>d 1, d>a 1, a>c 1, abc>a 1, ad>a 2, ac>a 1");
	assert_int_equal(gus_groups_counts(c->groups)->cycles, 14);
	expect(c, put_waits, "");
}

/* Of a larger group the first sixteen; all are executed. */
static void the_largest_group(void **state)
{
	struct counted *c = *state;

	count(c, "abcdefghijklmnopqr a b");
	expect(c, put_groups, "abcdefghijklmnop>a 1, a>b 1");
	assert_int_equal(gus_groups_counts(c->groups)->sites.v[17].executed, 1);
	count(c, "abcdefghijklmnop s");
	count(c, "abcdefghijklmno s t");
	expect(c, put_groups, "abcdefghijklmnop>a 1, a>b 1, abcdefghijklmnop>s 1, abcdefghijklmno>s 1, s>t 1");
}

/* An op is what its last uop is. */
static void ops_end(void **state)
{
	struct counted *c = *state;

	count(c, "a~ a b~b a");
	expect(c, put_groups, "a>b 1, b>a 1");
	expect(c, put_waits, "a bb a 1");
	expect(c, put_edges, "a>b 1, b>a 1");
}

/* The head is waited for, of a group of several and of one; what was waited for the last group is not told. */
static void heads_are_waited_for(void **state)
{
	struct counted *c = *state;

	count(c, "- ab - - cd - a b - - -");
	expect(c, put_groups, "ab>c 1, cd>a 1, a>b 1");
	expect(c, put_waits, "a bc a 1, c da c 2, a bb a 1");
	assert_int_equal(gus_groups_counts(c->groups)->cycles, 7);
	count(c, "ab - - cd - a b");
	expect(c, put_waits, "a bc a 1, c da c 4, a bb a 2");
}

/* A wait is known by what was met in it. */
static void waits_of_what_was_met(void **state)
{
	struct counted *c = *state;

	count(c, "a - b* a - - b a - b* a");
	expect(c, put_waits, "b aa b* 2, b aa b 2");
	expect(c, put_met, "a 4/4, b* 2/2, b 1/1");
}

/* A mispredicted branch before it is what a flush is of; nothing is, if nothing was before it, or if it is of what
 * comes next. */
static void flushes_are_of_what_was_before(void **state)
{
	struct counted *c = *state;

	count(c, "! a^ ! ! - c a ? b a");
	expect(c, put_waits, "a cc a* 1, ^c aa c 1, ^c aa a*! 2, b aa b 1");
	expect(c, put_groups, "a>c 1, ^c>a 1, a>b 1, b>a 1");
	expect(c, put_edges, "a>^c 1, c>a 1, a>b 1, b>a 1");
	assert_int_equal(gus_groups_counts(c->groups)->cycles, 9);
}

/* What lies behind a mispredicted branch was not led to by it: it was not taken. */
static void behind_a_branch(void **state)
{
	struct counted *c = *state;

	count(c, "a^ b a c a^ c a^ c a^ b a");
	expect(c, put_edges, "a>b 2, b>a 2, a>c 1, c>a 3, a>^c 2");
	expect(c, put_groups, "a>b 2, b>a 2, a>c 3, c>a 1, ^c>a 2");
}

/* Cycles that were waited though nothing was met, and why. */
static void waits_without_an_event(void **state)
{
	struct counted *c = *state;
	const struct gus_groups_site *site;

	c->insns[2].info.flags = GUS_INSN_LOCK;
	count(c, "a - b< - - b= - - - b - - - - b* a");
	site = &gus_groups_counts(c->groups)->sites.v[1];
	assert_int_equal(site->base, 6);
	assert_int_equal(site->blocked, 1);
	assert_int_equal(site->aliased, 2);
	count(c, "a - b$ a - - c$ a - - - - c* a");
	assert_int_equal(gus_groups_counts(c->groups)->sites.v[1].base, 6);
	assert_int_equal(gus_groups_counts(c->groups)->sites.v[2].base, 2);
	assert_int_equal(gus_groups_counts(c->groups)->sites.v[2].executed, 2);
}

/* At the same time, or one behind the other: each goes its own way, and they add up. Of one only something is supposed,
 * so what it met is not assured. */
static void streams_add_up(void **state)
{
	struct counted *c = *state;
	const struct gus_core_listener *one = gus_groups_listen(c->groups, 1, &c->p);
	const struct gus_core_listener *two = gus_groups_listen(c->groups, 2, &c->p);

	gus_groups_suppose(c->groups, 2);
	tell(one, "a");
	tell(two, "c*");
	tell(one, "b*");
	tell(two, "b*");
	gus_groups_leave(c->groups, 1);
	tell(two, "a");
	one = gus_groups_listen(c->groups, 1, &c->p);
	tell(one, "a b");
	expect(c, put_groups, "a>b 2, c>b 1, b>a 1");
	expect(c, put_edges, "a>b 2, c>b 1, b>a 1");
	expect(c, put_met, "a 3/2, c* 1/0, b* 2/1, b 1/1");
}

/* Sites are known by address, whichever program and op it is. */
static void sites_have_addresses(void **state)
{
	struct counted *c = *state;
	struct gus_op again = { .insn = 1, .insns_n = 1 };
	struct gus_program other = { .ops = &again, .insns = c->insns, .ops_n = 1, .insns_n = 2 };

	tell(gus_groups_listen(c->groups, 1, &c->p), "b t b");
	tell(gus_groups_listen(c->groups, 2, &other), "a a");
	expect(c, put_met, "b 4/4, t 1/1");
	assert_int_equal(gus_groups_site(c->groups, 4), 0);
	assert_int_equal(gus_groups_site(c->groups, 4 * ('t' - 'a')), 1);
	assert_int_equal(gus_groups_site(c->groups, 8), UINT32_MAX);
	gus_groups_doubt(c->groups, 1);
	assert_true(gus_groups_counts(c->groups)->sites.v[1].doubted);
	assert_false(gus_groups_counts(c->groups)->sites.v[0].doubted);
}

static struct gus_groups_site site_of(struct counted *c, struct gus_op op, struct gus_insn_info info)
{
	info.length = 4;
	c->insns[0].info = info;
	c->ops[0] = op;
	c->ops[0].insns_n = op.insns_n ? op.insns_n : 1;
	gus_groups_free(c->groups);
	c->groups = gus_groups_new();
	count(c, "a");
	return gus_groups_counts(c->groups)->sites.v[0];
}

/* What is said of an instruction, each by itself. */
static void what_sites_are(void **state)
{
	struct counted *c = *state;
	struct gus_groups_site plain = site_of(c, (struct gus_op){ .slots = 3 }, (struct gus_insn_info){ 0 });

	assert_true(plain.weight == 1 && plain.slots == 3 && plain.second == 0 && plain.latency == 0);
	assert_false(plain.branch || plain.locks || plain.repeats || plain.guessed || plain.doubted);
	assert_true(site_of(c, (struct gus_op){ .flags = GUS_OP_BRANCH }, (struct gus_insn_info){ 0 }).branch);
	assert_true(site_of(c, (struct gus_op){ .flags = GUS_OP_UNKNOWN }, (struct gus_insn_info){ 0 }).guessed);
	assert_true(site_of(c, (struct gus_op){ 0 }, (struct gus_insn_info){ .flags = GUS_INSN_LOCK }).locks);
	assert_true(site_of(c, (struct gus_op){ 0 }, (struct gus_insn_info){ .class = GUS_INSN_ATOMIC }).locks);
	assert_true(site_of(c, (struct gus_op){ 0 }, (struct gus_insn_info){ .flags = GUS_INSN_REP }).repeats);
	for (size_t i = 0; i < 3; i++)
		c->uops[i].latency = (uint16_t)(1 + 2 * i);
	assert_int_equal(site_of(c, (struct gus_op){ .uop = 1, .uops_n = 2 }, (struct gus_insn_info){ 0 }).latency, 8);
	plain = site_of(c, (struct gus_op){ .insns_n = 2 }, (struct gus_insn_info){ 0 });
	assert_true(plain.weight == 2 && plain.second == 4);
}

/* Integer instructions that are quick and touch no memory; fused ones, if they are branches. */
static void which_are_simple(void **state)
{
	static const struct { unsigned class; uint8_t insns, memories; uint16_t flags; bool simple; } cases[] = {
		{ GUS_INSN_MOV, 1, 0, 0, true }, { GUS_INSN_LEA, 1, 0, 0, true }, { GUS_INSN_ALU, 1, 0, 0, true },
		{ GUS_INSN_SHIFT, 1, 0, 0, true }, { GUS_INSN_MUL, 1, 0, 0, true }, { GUS_INSN_DIV, 1, 0, 0, false },
		{ GUS_INSN_FENCE, 1, 0, 0, false }, { GUS_INSN_ALU, 1, 1, 0, false },
		{ GUS_INSN_ALU, 2, 0, GUS_OP_BRANCH, true }, { GUS_INSN_ALU, 2, 0, 0, false },
		{ GUS_INSN_ALU, 2, 1, GUS_OP_BRANCH, false }, { GUS_INSN_SYSTEM, 1, 0, 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_op op = { .insns_n = cases[i].insns, .memories_n = cases[i].memories,
			.flags = cases[i].flags };

		assert_int_equal(site_of(*state, op, (struct gus_insn_info){ .class = (uint8_t)cases[i].class }).simple,
				 cases[i].simple);
	}
}

/* A fused pair ends where its second instruction does: what lies behind that is not where a branch led. */
static void behind_two_that_are_fused(void **state)
{
	struct counted *c = *state;

	c->ops[0].insns_n = 2;
	count(c, "a^ c a^ b a");
	expect(c, put_edges, "a>c 1, c>a 1, a>^b 1, b>a 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_retires_together, setup, teardown),
		cmocka_unit_test_setup_teardown(the_largest_group, setup, teardown),
		cmocka_unit_test_setup_teardown(ops_end, setup, teardown),
		cmocka_unit_test_setup_teardown(heads_are_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_of_what_was_met, setup, teardown),
		cmocka_unit_test_setup_teardown(flushes_are_of_what_was_before, setup, teardown),
		cmocka_unit_test_setup_teardown(behind_a_branch, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_without_an_event, setup, teardown),
		cmocka_unit_test_setup_teardown(streams_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(sites_have_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(what_sites_are, setup, teardown),
		cmocka_unit_test_setup_teardown(which_are_simple, setup, teardown),
		cmocka_unit_test_setup_teardown(behind_two_that_are_fused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
