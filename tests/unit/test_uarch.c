/* SPDX-License-Identifier: MIT */
/* Tables of CPUs: the grammar, what replaces what, the tables that the program carries, and the bound of port groups
 * held against a flow that distributes the uops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/tables/builtin.h"
#include "model/tables/cpus.h"
#include "model/tables/uarch.h"

/* Three ports, a divider and six forms. */
#define HEAD "uarch toy isa x86-64 \"A toy\"\nalias t\nsource me \"made up\"\n"
#define PORTS "port p0 me\nport p1 me\nport p2 me\nunit div me\ngroup p01 = p0+p1\ngroup p12 = p1+p2\n" \
	"group p012 = p0+p1+p2\n"
#define ROWS "row add uops 1 latency 1 uses p01:1 source me # a comment\n" \
	     "row load uops 2 latency 1 fused 1 loadlat 5.5 uses p12:1 p0:0.25 exclusive div:4 guessed source me\n"
#define FORMS "opcode add ADD SUB\nopcode - EVEX\nform \"ADD (R, R)\" ADD\nform \"SUB (R, R)\" SUB\n" \
	"form \"VADD\" EVEX\n" \
	      "form \"ADD (R, M)\" load\nform \"MUL\" uops 1 latency 3 uses p1:1 source me\n" \
	      "form \"XADD (M, R)\" uops 4 latency 2 complex microcoded 3 decoded 2 fused 5 loadlat 7 uses p01:3 " \
		      "p2:1 " \
	      "pairs 0>1:1 0>0:2.5 a0>0:7 m0>0:3 31>m1:5 a1>m0:0 source me\n"
#define TOY HEAD PORTS ROWS FORMS "class alu uops 1-2 latency 1-3.5 uses p01:1 source me\nparam rob 10 entries me\n"

/* The texts that a test offers to likes, includes and overlays. */
struct offer { const char *name, *text; };

static const char *offered(void *context, const char *name, size_t *size)
{
	for (const struct offer *o = context; o->name; o++)
		if (strcmp(o->name, name) == 0) {
			*size = strlen(o->text);
			return o->text;
		}
	return NULL;
}

static struct gus_uarch *parse(const char *text, struct offer *offers, unsigned flags, struct gus_error *err)
{
	struct gus_uarch_texts texts = { offered, offers };

	return gus_uarch_parse("toy.uarch", text, strlen(text), offers ? &texts : NULL, flags, err);
}

static const struct gus_uarch_row *row_of(const struct gus_uarch *u, const char *form)
{
	return gus_uarch_row(u, gus_insn_form_hash(form, strlen(form)));
}

/* The latency may be either end of its range. */
static void latencies_by_operands(void **state)
{
	static const char *const texts[] = { "9 range 9-12", "12 range 9-12", "10.5 range 9-12", "9 range 9-9" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u;
		char text[1000];

		snprintf(text, sizeof(text), HEAD PORTS "row r uops 1 latency %s source me\nform \"DIV\" r\n",
			 texts[i]);
		u = parse(text, NULL, 0, &err);
		assert_non_null(u);
		assert_int_equal(row_of(u, "DIV")->least, 900);
		assert_int_equal(row_of(u, "DIV")->most, i == 3 ? 900 : 1200);
		gus_uarch_free(u);
	}
}

static void what_a_table_says(void **state)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = parse(TOY, NULL, 0, &err);
	const struct gus_uarch_row *row;
	const struct gus_uarch_class *class;

	(void)state;
	assert_string_equal(err.text, "");
	assert_non_null(u);
	assert_string_equal(u->name, "toy");
	assert_string_equal(u->aliases[0], "t");
	assert_int_equal(u->ports_n, 3);
	assert_int_equal(u->groups_n, 6);
	row = row_of(u, "SUB (R, R)");
	assert_string_equal(row->id, "add");
	assert_int_equal(row->latency, 100);
	assert_int_equal(u->groups[u->uses[row->uses].group].ports, 3);
	row = row_of(u, "ADD (R, M)");
	assert_int_equal(row->uops, 2);
	assert_int_equal(row->fused, 1);
	assert_int_equal(row->loadlat, 550);
	assert_int_equal(row->uses_n, 2);
	assert_int_equal(u->uses[row->uses + 1].cycles, 25);
	assert_int_equal(row->units_n, 1);
	assert_string_equal(u->units[u->uses[row->units].group], "div");
	assert_true(row->guessed);
	assert_true(gus_uarch_throughput(u, row) > 3.99 && gus_uarch_throughput(u, row) < 4.01);
	assert_int_equal(row_of(u, "MUL")->latency, 300);
	assert_null(row_of(u, "VADD"));
	assert_string_equal(gus_uarch_form_by_text(u, "VADD")->opcode, "EVEX");
	assert_null(gus_uarch_form_by_text(u, "DIV"));
	class = gus_uarch_class(u, "alu");
	assert_int_equal(class->latency_hi, 350);
	assert_int_equal((int)gus_uarch_value(u, "rob", 0), 10);
	assert_int_equal((int)gus_uarch_value(u, "rs", 7), 7);
	gus_uarch_free(u);
}

static void decoders_and_pairs_of_operands(void **state)
{
	static const struct gus_uarch_pair pairs[] = {
		{ GUS_UARCH_REGISTER, 0, GUS_UARCH_REGISTER, 1, 100 },
			{ GUS_UARCH_REGISTER, 0, GUS_UARCH_REGISTER, 0, 250 },
		{ GUS_UARCH_ADDRESS, 0, GUS_UARCH_REGISTER, 0, 700 },
			{ GUS_UARCH_MEMORY, 0, GUS_UARCH_REGISTER, 0, 300 },
		{ GUS_UARCH_REGISTER, 31, GUS_UARCH_MEMORY, 1, 500 }, { GUS_UARCH_ADDRESS, 1, GUS_UARCH_MEMORY, 0, 0 },
	};
	struct gus_error err = { 0 };
	struct gus_uarch *u = parse(TOY, NULL, 0, &err);
	const struct gus_uarch_row *row = row_of(u, "XADD (M, R)");

	(void)state;
	assert_int_equal(row->decoded, 2);
	assert_int_equal(row->microcoded, 3);
	assert_true(row->complex);
	assert_false(row->guessed);
	assert_int_equal(row->fused, 5);
	assert_int_equal(row->uses_n, 2);
	assert_int_equal(row->pairs_n, sizeof(pairs) / sizeof(*pairs));
	assert_memory_equal(&u->pairs[row->pairs], pairs, sizeof(pairs));
	assert_int_equal(u->pairs_n, row->pairs_n);
	row = row_of(u, "MUL");
	assert_int_equal(row->decoded, 0);
	assert_int_equal(row->microcoded, 0);
	assert_false(row->complex);
	assert_int_equal(row->pairs_n, 0);
	assert_string_equal(gus_uarch_operand_prefix(GUS_UARCH_ADDRESS), "a");
	gus_uarch_free(u);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "does not begin with" },
		{ "port p0 me\n", "line 1: there is no source me" },
		{ HEAD "port p0 me\nport p0 me\n", "line 5: the port p0 is there twice" },
		{ HEAD PORTS, "has no rows" },
		{ HEAD "port p0 me\nport p1 me\nport p2 me\ngroup a = p0+p1\ngroup b = p1+p2\n"
			"row r uops 1 latency 1 source me\n",
		  "`group NAME = p0+p1+p2`" },
		{ HEAD PORTS "row r uops 1 latency 1 uses p9:1 source me\n", "there is no group p9" },
		{ HEAD PORTS "row r uops 1 latency 1 uses p0 source me\n", "expected group:CYCLES" },
		{ HEAD PORTS "row r uops 1 latency 1 exclusive p0:1 source me\n", "there is no unit p0" },
		{ HEAD PORTS "row r uops 1 latency 1\n", "expected source" },
		{ HEAD PORTS "row r uops 1 latency 9 range source me\n", "expected the range as LO-HI" },
		{ HEAD PORTS "row r uops 1 latency 9 range 9-8 source me\n", "'9-8' is not LO-HI" },
		{ HEAD PORTS "row r uops 1 latency 10001 source me\n",
			"expected the latency in cycles, found '10001'" },
		{ HEAD PORTS "row r uops 1 latency 9 range 10-12 source me\n", "does not lie in the range" },
		{ HEAD PORTS "row r uops 1 latency 9 range 5-8 source me\n", "does not lie in the range" },
		{ HEAD PORTS "row r uops 1 latency 0 range 0-8 source me\n", "does not lie in the range" },
		{ HEAD PORTS "row r uops 1 latency 1.234 source me\n", "expected the latency in cycles" },
		{ HEAD PORTS "row r uops 1 latency 1 decoded source me\n",
			"line 11: expected a number of uops, found 'source'" },
		{ HEAD PORTS "row r uops 1 latency 1 microcoded 1.5 source me\n",
			"expected a number of uops, found '1.5'" },
		{ HEAD PORTS "row r uops 1 latency 1 complexe source me\n", "expected source, found 'complexe'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs source me\n", "expected FROM>TO:CYCLES, found 'source'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>1 source me\n",
			"expected FROM>TO:CYCLES such as 0>1:3 or m0>0:5, found '0>1'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0:1 source me\n", "expected FROM>TO:CYCLES" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>1:1 0>a0:1 source me\n", "found '0>a0:1'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>32:1 source me\n", "found '0>32:1'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>m:1 source me\n", "found '0>m:1'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>1:1.234 source me\n", "found '0>1:1.234'" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>1:1 m0>1:1 0>1:2 source me\n",
			"line 11: the pair of '0>1:2' is there twice" },
		{ HEAD PORTS "row r uops 1 latency 1 pairs 0>1:1 guessed pairs 0>0:1 source me\n",
			"pairs is there twice" },
		{ HEAD PORTS "row r uops x latency 1 source me\n", "expected a number of uops" },
		{ HEAD PORTS ROWS "row add uops 1 latency 1 source me\n", "the row add is there twice" },
		{ HEAD PORTS ROWS "form \"A\" add\nform \"A\" load\n", "the form A is there twice" },
		{ HEAD PORTS ROWS "form \"A\" nothing\n",
			"the form A has neither a row nor an opcode class called nothing" },
		{ HEAD PORTS ROWS "opcode nothing A\n", "there is no row nothing" },
		{ HEAD PORTS ROWS "opcode add A\n", "no form goes by the opcode class A" },
		{ HEAD PORTS ROWS "param rob 10 bytes me\n", "rob is in entries, not in 'bytes'" },
		{ HEAD PORTS ROWS "param rob 10000001 entries me\n", "'10000001' is not a number from 0 to 10000000" },
		{ HEAD PORTS ROWS "param rob -1 entries me\n", "'-1' is not a number from 0 to" },
		{ HEAD PORTS ROWS "param rib 10 entries me\n", "there is no parameter 'rib'" },
		{ HEAD PORTS ROWS "param port_binding lowest policy me\n", "port_binding is one of" },
		{ HEAD PORTS ROWS "param unlaminate some policy me\n", "unlaminate is one of inputs operands none" },
		{ HEAD PORTS ROWS "class alu uops 2-1 latency 1 source me\n", "is not LO-HI" },
		{ HEAD PORTS ROWS "include x\n", "there is no x to include" },
		{ HEAD PORTS ROWS "like x\n", "no table of a CPU called x" },
		{ HEAD "rwo\n", "line 4: 'rwo' begins no statement" },
		{ HEAD "group g = p0\n", "there is no port p0" },
		{ HEAD PORTS "group g = p0+p0\n", "the port p0 is there twice" },
		{ HEAD "uarch two isa x86-64 \"x\"\n", "a second uarch" },
		{ "uarch x isa vax \"x\"\n", "'vax' is not an ISA" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };

		assert_null(parse(cases[i].text, NULL, 0, &err));
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].says);
	}
}

static void parameters_of_the_core(void **state)
{
	static const struct { const char *name, *text; double value; } cases[] = {
		{ "issue_delay", "4.5 cycles", 4.5 }, { "rob_fused", "yes flag", 1 }, { "renames", "180 entries", 180 },
		{ "int_renames", "1 entries", 1 }, { "vector_renames", "2 entries", 2 },
			{ "loop_boundary", "no flag", 0 },
		{ "decode_queue", "25 entries", 25 }, { "uop_cache_lines", "3 entries", 3 },
			{ "jcc_erratum", "yes flag", 1 },
		{ "decode_fuse_last", "no flag", 0 }, { "unlaminate", "operands policy", 1 },
			{ "port_binding", "fewest policy", 0 },
		{ "port_binding", "slots policy", 3 }, { "port_binding", "turns policy", 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u;
		char text[2000];

		snprintf(text, sizeof(text), "%sparam %s %s me\n", TOY, cases[i].name, cases[i].text);
		u = parse(text, NULL, 0, &err);
		if (!u)
			fail_msg("%s", err.text);
		assert_true(gus_uarch_value(u, cases[i].name, -1) * 2 == cases[i].value * 2);
		gus_uarch_free(u);
	}
}

static void likes_and_overlays_replace(void **state)
{
	struct offer offers[] = {
		{ "toy", TOY "include more\n" },
		{ "more", "form \"NEG\" SUB\n" },
		{ "toy.overlay", "source lab \"measured\"\nform \"MUL\" uops 1 latency 4 uses p2:1 source lab\n"
				 "param rob 20 entries lab\nrow add uops 1 latency 2 uses p0:1 source lab\n" },
		{ "kin", "uarch kin isa x86-64 \"Kin\"\nlike toy\nsource kin \"guess\"\nopcode load SUB\n"
			"param rob 30 entries kin\n" },
		{ "ring", "uarch ring isa x86-64 \"Ring\"\nlike ring\n" },
		{ NULL, NULL },
	};
	struct gus_uarch_texts texts = { offered, offers };
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("toy", NULL, 0, &texts, 0, &err);

	(void)state;
	assert_non_null(u);
	assert_int_equal(row_of(u, "MUL")->latency, 400);
	assert_string_equal(u->sources[row_of(u, "MUL")->source].id, "lab");
	assert_int_equal(row_of(u, "ADD (R, R)")->latency, 200);
	assert_int_equal(row_of(u, "NEG")->latency, 200);
	assert_int_equal((int)gus_uarch_value(u, "rob", 0), 20);
	gus_uarch_free(u);

	u = gus_uarch_parse("toy", NULL, 0, &texts, GUS_UARCH_PLAIN, &err);
	assert_int_equal(row_of(u, "MUL")->latency, 300);
	gus_uarch_free(u);

	u = gus_uarch_parse("kin", NULL, 0, &texts, 0, &err);
	assert_non_null(u);
	assert_string_equal(u->name, "kin");
	assert_int_equal(u->aliases_n, 0);
	assert_string_equal(u->likes[0], "toy");
	assert_string_equal(row_of(u, "NEG")->id, "load");
	assert_string_equal(row_of(u, "ADD (R, R)")->id, "add");
	assert_int_equal((int)gus_uarch_value(u, "rob", 0), 30);
	gus_uarch_free(u);

	assert_null(gus_uarch_parse("ring", NULL, 0, &texts, 0, &err));
	assert_non_null(strstr(err.text, "is like itself"));
}

/* Whatever is missing at the end: an error or a smaller table, never a crash. */
static void cut_at_each_byte(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(TOY); size++) {
		struct gus_error err = { 0 };
		char *text = malloc(size + !size);

		memcpy(text, TOY, size);
		struct gus_uarch *u = gus_uarch_parse("cut", text, size, NULL, 0, &err);

		assert_true(u || *err.text);
		gus_uarch_free(u);
		free(text);
	}
}

/* All that the program carries: `gusprof uarch check` for each. */
static void built_in_tables_are_good(void **state)
{
	const char *name;
	size_t n = 0;

	(void)state;
	for (; (name = gus_uarch_builtin_name(n)); n++)
		for (unsigned flags = 0; flags <= GUS_UARCH_PLAIN; flags += GUS_UARCH_PLAIN) {
			struct gus_error err = { 0 };
			struct gus_uarch *u = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, flags, &err);
			size_t with_row = 0;

			if (!u)
				fail_msg("%s", err.text);
			assert_string_equal(u->name, name);
			for (uint32_t i = 0; i < u->forms_n; i++)
				with_row += u->forms[i].row != GUS_UARCH_NONE;
			assert_true(with_row > 1000 ||
				    strncmp(name, "ufs-", 4) == 0); /* those are for tables of uops */
			for (uint32_t i = 0; i < u->aliases_n; i++)
				assert_string_equal(gus_uarch_builtin_find(u->aliases[i]), name);
			gus_uarch_free(u);
		}
	assert_true(n >= 19);
	assert_string_equal(gus_uarch_builtin_find("SkyLake"), "skylake");
	assert_null(gus_uarch_builtin_find("skylak"));
}

/* An overlay is kept by hand, so it has to stay small enough to be read: 200 rows. */
static void overlays_stay_small(void **state)
{
	const char *name;

	(void)state;
	for (size_t i = 0; (name = gus_uarch_builtin_name(i)); i++) {
		size_t size, rows = 0;
		char overlay[80];
		const char *text;

		snprintf(overlay, sizeof(overlay), "%s.overlay", name);
		text = gus_uarch_builtin.get(NULL, overlay, &size);
		for (const char *at = text; at && (at = memmem(at, size - (size_t)(at - text), " uops ", 6)); at += 6)
			rows++;
		if (rows > 200)
			fail_msg("%s has %zu rows", overlay, rows);
	}
}

static void silicon_has_a_table(void **state)
{
	static const struct { struct gus_cpu_id id; const char *name; } cases[] = {
		{ { "GenuineIntel", 6, 0x9e, 10, 0 }, "skylake" },
		{ { "GenuineIntel", 6, 0x55, 4, 0 }, "skylake-avx512" },
		{ { "GenuineIntel", 6, 0x55, 7, 0 }, "cascadelake" },
		{ { "GenuineIntel", 6, 0xcf, 2, 0 }, "emeraldrapids" },
		{ { "AuthenticAMD", 0x19, 0x11, 1, 0 }, "znver4" },
		{ { "AuthenticAMD", 0x19, 0x21, 0, 0 }, "znver3" },
		{ { "AuthenticAMD", 0x17, 0x31, 0, 0 }, "znver2" },
		{ { "AuthenticAMD", 0x1a, 2, 1, 0 }, "znver5" },
		{ { NULL, 0, 0, 0, 0x413fd0c1 }, "neoverse-n1" },
		{ { "AuthenticAMD", 0x17, 1, 0, 0 }, NULL },
		{ { "GenuineIntel", 6, 0x0f, 0, 0 }, NULL },
		{ { NULL, 0, 0, 0, 0 }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (cases[i].name)
			assert_string_equal(gus_uarch_of_cpu(&cases[i].id), cases[i].name);
		else
			assert_null(gus_uarch_of_cpu(&cases[i].id));
}

/* What runs instructions as a relative does has the relative's table and its own name, as it counts events of its
 * own. */
static void silicon_has_a_name(void **state)
{
	static const struct { struct gus_cpu_id id; const char *table, *cpu; } cases[] = {
		{ { "GenuineIntel", 6, 0xad, 1, 0 }, "sapphirerapids", "graniterapids" },
		{ { "GenuineIntel", 6, 0x8f, 8, 0 }, "sapphirerapids", "sapphirerapids" },
		{ { "GenuineIntel", 6, 0x55, 9, 0 }, "cascadelake", "cascadelake" },
		{ { "GenuineIntel", 6, 0x55, 10, 0 }, "cascadelake", "cooperlake" },
		{ { "GenuineIntel", 6, 0x55, 12, 0 }, "cascadelake", "cascadelake" },
		{ { "GenuineIntel", 6, 0xbd, 1, 0 }, "lunarlake", "lunarlake" },
		{ { "GenuineIntel", 6, 0xc6, 1, 0 }, "lunarlake", "arrowlake" },
		{ { NULL, 0, 0, 0, 0x413fd0c1 }, "neoverse-n1", "neoverse-n1" },
	};
	const struct gus_cpu_id old = { "GenuineIntel", 6, 0x0f, 0, 0 }, v3 = { NULL, 0, 0, 0, 0x410fd840 },
		n3 = { NULL, 0, 0, 0, 0x410fd8e0 };

	(void)state;
	/* Events of them are known, and no table. */
	assert_null(gus_uarch_of_cpu(&v3));
	assert_string_equal(gus_uarch_cpu(&v3), "neoverse-v3");
	assert_null(gus_uarch_of_cpu(&n3));
	assert_string_equal(gus_uarch_cpu(&n3), "neoverse-n3");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(gus_uarch_of_cpu(&cases[i].id), cases[i].table);
		assert_string_equal(gus_uarch_cpu(&cases[i].id), cases[i].cpu);
	}
	assert_null(gus_uarch_cpu(&old));
}

/* The linear program: least T such that the uops' cycles can be distributed over their ports with no port above T. It
 * is a flow: for a given T, does all demand reach ports of capacity T? */

enum { USES_MAX = 16 };

struct flow {
	size_t n;
	uint64_t ports[USES_MAX];
	int64_t on[USES_MAX][GUS_UARCH_PORTS_MAX], spare[GUS_UARCH_PORTS_MAX];
	uint64_t seen;
};

/* Brings up to amount of use i to a port that has room, moving others' shares where it must. */
static int64_t push(struct flow *f, size_t i, int64_t amount)
{
	for (uint64_t left = f->ports[i] & ~f->seen; left; left = (left & (left - 1)) & ~f->seen) {
		unsigned p = (unsigned)__builtin_ctzll(left);
		int64_t got = f->spare[p] < amount ? f->spare[p] : amount;

		f->seen |= UINT64_C(1) << p;
		f->spare[p] -= got;
		for (size_t k = 0; k < f->n && !got; k++)
			if (k != i && f->on[k][p] > 0) {
				got = push(f, k, f->on[k][p] < amount ? f->on[k][p] : amount);
				f->on[k][p] -= got;
			}
		f->on[i][p] += got;
		if (got)
			return got;
	}
	return 0;
}

/* Whether the uops, each cycle of them counted `scale` times, fit if each port takes capacity. */
static bool fits(const struct gus_uarch *u, const struct gus_uarch_use *uses, size_t n, int64_t scale, int64_t capacity)
{
	struct flow f = { .n = n };

	for (size_t i = 0; i < n; i++)
		f.ports[i] = u->groups[uses[i].group].ports;
	for (uint32_t p = 0; p < u->ports_n; p++)
		f.spare[p] = capacity;
	for (size_t i = 0; i < n; i++)
		for (int64_t left = uses[i].cycles * scale, got; left; left -= got) {
			f.seen = 0;
			got = push(&f, i, left);
			if (!got)
				return false;
		}
	return true;
}

static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A multiset of uops: uses of rows, so that they come as they do in code, or any groups. */
static size_t draw_uses(const struct gus_uarch *u, uint64_t *seed, struct gus_uarch_use *uses)
{
	size_t wanted = 1 + draw(seed) % USES_MAX, n = 0;

	while (n < wanted) {
		const struct gus_uarch_row *row = &u->rows[draw(seed) % u->rows_n];

		if (draw(seed) % 4 == 0)
			uses[n++] = (struct gus_uarch_use){ draw(seed) % u->groups_n, 1 + draw(seed) % 500 };
		else if (row->uses_n)
			uses[n++] = u->uses[row->uses + draw(seed) % row->uses_n];
	}
	return n;
}

static void conjunctive_bound_is_the_linear_program(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	const char *name;

	(void)state;
	for (size_t c = 0; (name = gus_uarch_builtin_name(c)); c++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, &err);

		if (!u)
			fail_msg("%s", err.text);
		for (unsigned round = 0; round < 10000; round++) {
			struct gus_uarch_use uses[USES_MAX];
			size_t n = draw_uses(u, &seed, uses);
			struct gus_uarch_bound bound = gus_uarch_bound_conjunctive(u, uses, n);

			/* Times the number of ports, all is in whole numbers. */
			if (!fits(u, uses, n, bound.ports, (int64_t)bound.centi))
				fail_msg("%s, round %u: the bound %" PRIu64 "/%u is below the linear program's", name,
					 round,
					 bound.centi, bound.ports);
			if (bound.centi && fits(u, uses, n, bound.ports, (int64_t)bound.centi - 1))
				fail_msg("%s, round %u: the bound %" PRIu64 "/%u is above the linear program's", name,
					 round,
					 bound.centi, bound.ports);
		}
		gus_uarch_free(u);
	}
}

/* What open groups would get wrong: three uops on p01 and three on p12 need two cycles, and 1.5 is what p01 alone
 * says. */
static void a_union_is_needed(void **state)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = parse(TOY, NULL, 0, &err);
	struct gus_uarch_use uses[] = { { gus_uarch_group(u, "p01"), 300 }, { gus_uarch_group(u, "p12"), 300 } };
	struct gus_uarch_bound bound = gus_uarch_bound_conjunctive(u, uses, 2);

	(void)state;
	assert_int_equal(bound.centi, 600);
	assert_int_equal(bound.ports, 3);
	assert_string_equal(u->groups[bound.group].name, "p012");
	bound = gus_uarch_bound_conjunctive(u, NULL, 0);
	assert_int_equal(bound.centi, 0);
	assert_int_equal(bound.group, GUS_UARCH_NONE);
	gus_uarch_free(u);
}

/* A statement so many times, each with a number where it has a %zu, behind those of a toy. */
static struct gus_uarch *parse_many(const char *statement, size_t n, struct gus_error *err)
{
	struct offer offers[] = { { "nothing", "# nothing\n" }, { NULL, NULL } };
	char *text = gus_format("%s", TOY);
	struct gus_uarch *u;
	size_t at = strlen(text);

	text = gus_resize(text, at + n * 64 + 1, 1);
	for (size_t i = 0; i < n; i++) {
		const char *number = strchr(statement, '@');

		at += (size_t)sprintf(text + at, "%.*s", number ? (int)(number - statement) : (int)strlen(statement),
				      statement);
		if (number)
			at += (size_t)sprintf(text + at, "%zu%s", i, number + 1);
	}
	u = parse(text, offers, 0, err);
	free(text);
	return u;
}

/* So many are good, and one more is not. TOY has three groups, a unit and a class already, and is a text itself. */
static void what_grows_has_a_limit(void **state)
{
	static const struct { const char *statement; size_t most; const char *says; } cases[] = {
		{ "group g@ = p0+p1\n", GUS_UARCH_GROUPS_MAX - 3, "more than 2048 groups" },
		{ "unit u@ me\n", GUS_UARCH_UNITS_MAX - 1, "more than 31 units" },
		{ "class c@ uops 1 latency 1 source me\n", GUS_UARCH_CLASSES_MAX - 1, "more than 256 classes" },
		{ "include nothing\n", GUS_UARCH_TEXTS_MAX - 1, "nothing is one text too many: 32 are the most" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u = parse_many(cases[i].statement, cases[i].most, &err);

		assert_string_equal(err.text, "");
		assert_non_null(u);
		gus_uarch_free(u);
		assert_null(parse_many(cases[i].statement, cases[i].most + 1, &err));
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
	}
}

static void uops_have_a_limit(void **state)
{
	static const struct { const char *statement, *says; } cases[] = {
		{ "row r uops 4096 latency 1", NULL },
		{ "row r uops 4097 latency 1", "'4097' are more uops than any instruction has" },
		{ "row r uops 4096 latency 1 uses p0:4000 p1:96", NULL },
		{ "row r uops 4096 latency 1 uses p0:4000 p1:97", "its uses are 4097 uops" },
		{ "row r uops 1 latency 1 uses p0:10000", NULL }, /* one that holds its port for so long */
		{ "class mul uops 4096-5000 latency 1-2 uses p0:4096", NULL },
		{ "class mul uops 4096-5000 latency 1-2 uses p0:4096 p1:1", "its uses are 4097 uops" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		char text[1000];
		struct gus_uarch *u;

		snprintf(text, sizeof(text), TOY "%s source me\n", cases[i].statement);
		u = parse(text, NULL, 0, &err);
		if (!u != !!cases[i].says || (!u && !strstr(err.text, cases[i].says)))
			fail_msg("%s: %s", cases[i].statement, u ? "is taken" : err.text);
		gus_uarch_free(u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latencies_by_operands),
		cmocka_unit_test(what_a_table_says),
		cmocka_unit_test(decoders_and_pairs_of_operands),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(what_grows_has_a_limit),
		cmocka_unit_test(uops_have_a_limit),
		cmocka_unit_test(parameters_of_the_core),
		cmocka_unit_test(likes_and_overlays_replace),
		cmocka_unit_test(cut_at_each_byte),
		cmocka_unit_test(built_in_tables_are_good),
		cmocka_unit_test(overlays_stay_small),
		cmocka_unit_test(silicon_has_a_table), cmocka_unit_test(silicon_has_a_name),
		cmocka_unit_test(a_union_is_needed),
		cmocka_unit_test(conjunctive_bound_is_the_linear_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
