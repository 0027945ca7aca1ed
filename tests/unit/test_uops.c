/* SPDX-License-Identifier: MIT */
/* Importing measurements: what is read of each form, and that a table comes out that loads and says it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/tables/builtin.h"
#include "model/tables/uops.h"

#define HEADER "iform\tstring\tuops\tretire_slots\tuops_mite\tuops_ms\tTP\tports\tdiv_cycles\tflags\tlatencies\n"

struct seen {
	struct gus_uops list[4];
	size_t n;
};

static int keep(void *context, const struct gus_uops *one, struct gus_error *err)
{
	struct seen *s = context;

	(void)err;
	if (s->n < 4)
		s->list[s->n] = *one;
	s->n++;
	return 0;
}

static void values_say_what_was_measured(void **state)
{
	static const char text[] = HEADER
		"X\tIMUL (R64, M64)\t2\t1\t1\t0\t\t1*p1+1*p23\t0\t16\tREG0>REG0:3 MEM0>REG0:1/addr8/idx9/mem5 "
			"MEM0>MEM0:7\n"
		"X\tLEA_B (R64)\t1\t1\t1\t0\t0.5\t\t0\t16\tAGEN>REG0:/addr1\n"
		"X\tDIVSD (XMM, XMM)\t1\t1\t1\t0\t4.25\t1*p0\t4\t16\t\n";
	struct gus_error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	/* The second line's latency has no number before the slash: that is malformed. */
	assert_int_equal(gus_uops_parse(text, sizeof(text) - 1, NULL, keep, &s, &err), -1);
	assert_non_null(strstr(err.text, "line 3"));
	assert_int_equal(s.n, 1);
	assert_string_equal(s.list[0].form, "IMUL (R64, M64)");
	assert_int_equal(s.list[0].uops, 2);
	assert_int_equal(s.list[0].fused, 1);
	assert_int_equal(s.list[0].latency, 300);
	assert_int_equal(s.list[0].loadlat, 900);
	assert_int_equal(s.list[0].throughput, -1);
	assert_int_equal(s.list[0].ports_n, 2);
	assert_memory_equal(s.list[0].ports[1].name, "p23", 3);
}

#define PAIR(from_kind, from, to_kind, to, cycles) \
	{ GUS_UARCH_##from_kind, from, GUS_UARCH_##to_kind, to, cycles }

static void expect_pairs(const struct gus_uarch_pair *got, size_t n, const struct gus_uarch_pair *want, size_t wanted)
{
	assert_int_equal(n, wanted);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(&got[i], &want[i], sizeof(*got));
}
#define EXPECT_PAIRS(got, n, want) expect_pairs(got, n, want, sizeof(want) / sizeof(*(want)))

static void values_have_decoders_and_pairs(void **state)
{
	static const char text[] = HEADER
		"X\tADD (M64, R64)\t4\t2\t2\t0\t\t\t0\t20\tMEM0>MEM0:1/addr10/idx11/mem4 MEM0>REG1:1/addr6/mem3 "
			"REG0>MEM0:3 "
		"REG0>REG1:1 REG0>REG1:2\n"
		"X\tLEA_B (R16)\t3\t1\t1\t2\t\t\t0\t16\tREG0>REG0:1 AGEN>REG0:1/addr2\n"
		"X\tDIV (M8)\t1\t1\t\t\t\t\t0\t\tMEM0>REG0:1 REG0>REG0:9/same3 REG0>IMM0:4 REG32>REG0:1\n";
	static const char few[] = "string\tuops\tretire_slots\tTP\tports\tdiv_cycles\tlatencies\nA\t1\t1\t\t\t0\t\n";
	static const struct gus_uarch_pair add[] = {
		PAIR(ADDRESS, 0, MEMORY, 0, 1100), PAIR(MEMORY, 0, MEMORY, 0, 400), PAIR(ADDRESS, 0, REGISTER, 1, 600),
		PAIR(MEMORY, 0, REGISTER, 1, 300), PAIR(REGISTER, 0, MEMORY, 0, 300),
			PAIR(REGISTER, 0, REGISTER, 1, 200),
	};
	static const struct gus_uarch_pair lea[] = {
		PAIR(REGISTER, 0, REGISTER, 0, 100), PAIR(ADDRESS, 0, REGISTER, 0, 200),
	};
	static const struct gus_uarch_pair div[] = { PAIR(REGISTER, 0, REGISTER, 0, 900) };
	struct gus_error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(gus_uops_parse(text, sizeof(text) - 1, NULL, keep, &s, &err), 0);
	assert_int_equal(s.list[0].decoded, 2);
	assert_int_equal(s.list[0].microcoded, 0);
	assert_int_equal(s.list[0].complex, 1);
	assert_int_equal(s.list[0].latency, 200);
	assert_int_equal(s.list[0].loadlat, 600);
	EXPECT_PAIRS(s.list[0].pairs, s.list[0].pairs_n, add);
	assert_int_equal(s.list[1].microcoded, 2);
	assert_int_equal(s.list[1].complex, 0);
	assert_int_equal(s.list[1].latency, 200);
	assert_int_equal(s.list[1].loadlat, -1);
	EXPECT_PAIRS(s.list[1].pairs, s.list[1].pairs_n, lea);
	assert_int_equal(s.list[2].decoded, -1);
	assert_int_equal(s.list[2].microcoded, -1);
	assert_int_equal(s.list[2].complex, -1);
	EXPECT_PAIRS(s.list[2].pairs, s.list[2].pairs_n, div);
	s.n = 0;
	assert_int_equal(gus_uops_parse(few, sizeof(few) - 1, NULL, keep, &s, &err), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.list[0].decoded, -1);
	assert_int_equal(s.list[0].complex, -1);
}

static const char xml[] =
	"<?xml version=\"1.0\"?>\n<root>\n<extension name=\"BASE\">\n"
	"<instruction asm=\"IMUL\" string=\"IMUL (R64, R64)\">\n"
	"<operand idx=\"1\" type=\"reg\" r=\"1\" w=\"1\">RAX</operand>\n<operand idx=\"2\" type=\"reg\"/>\n"
	"<operand idx=\"3\" type=\"flags\"/>\n"
	"<architecture name=\"HSW\"><measurement uops=\"9\" ports=\"9*p1\"/></architecture>\n"
	"<architecture name=\"SKL\">\n"
		"<measurement TP_loop=\"1.00\" TP_unrolled=\"1.25\" uops=\"1\" uops_retire_slots=\"1\""
	" ports=\"1*p5\">\n<latency start_op=\"1\" target_op=\"1\" cycles=\"3\"/>\n"
	"<latency start_op=\"2\" target_op=\"3\" max_cycles=\"4\"/>\n</measurement>\n</architecture>\n</instruction>\n"
	"<instruction string=\"ADD (R64, M64)\"><operand idx=\"1\" type=\"reg\"/><operand idx=\"2\" type=\"mem\"/>"
	"<architecture name=\"SKL\"><measurement uops=\"2\" ports=\"1*p0156+1*p23\"><latency start_op=\"2\" "
		"target_op=\"1\""
	" cycles_addr=\"6\" cycles_mem=\"3\"/></measurement></architecture></instruction>\n</extension></root>\n";

/* Operands with names, flags among them; with upper bounds that count as what they are, and one latency said twice. */
static const char xml_front[] =
	"<root>\n<instruction string=\"XADD (M64, R64)\"><operand idx=\"1\" name=\"MEM0\" type=\"mem\"/>"
	"<operand idx=\"2\" name=\"REG0\" type=\"reg\"/><operand idx=\"3\" name=\"REG1\" type=\"flags\"/>"
	"<operand idx=\"4\" name=\"IMM0\" type=\"imm\"/>\n"
		"<architecture name=\"SKL\"><measurement uops=\"5\" uops_MITE=\"4\""
	" uops_MS=\"1\" complex_decoder=\"1\" uops_retire_slots=\"4\" ports=\"1*p23\">\n"
	"<latency start_op=\"1\" target_op=\"2\" cycles_addr=\"6\" cycles_addr_index=\"7\" "
		"cycles_addr_is_upper_bound=\"1\""
	" cycles_mem=\"3\"/><latency start_op=\"1\" target_op=\"1\" max_cycles_mem=\"5\"/>\n"
	"<latency start_op=\"2\" target_op=\"1\" cycles=\"4\" cycles_is_upper_bound=\"1\"/>\n"
	"<latency start_op=\"2\" target_op=\"3\" min_cycles=\"1\" max_cycles=\"2\"/>"
	"<latency start_op=\"2\" target_op=\"3\" cycles=\"1\"/><latency start_op=\"4\" target_op=\"3\" cycles=\"9\"/>\n"
	"</measurement></architecture></instruction>\n"
	"<instruction string=\"LEA_B (R64)\"><operand idx=\"1\" type=\"reg\"/><operand idx=\"2\" name=\"AGEN\" "
		"type=\"agen\"/>"
	"<architecture name=\"SKL\"><measurement uops=\"1\" uops_MITE=\"1\" uops_MS=\"0\"><latency start_op=\"2\" "
		"target_op=\"1\""
	" cycles_addr=\"1\"/></measurement></architecture></instruction>\n</root>\n";

static void xml_has_decoders_and_pairs(void **state)
{
	static const struct gus_uarch_pair xadd[] = {
		PAIR(MEMORY, 0, REGISTER, 0, 300), PAIR(ADDRESS, 0, REGISTER, 0, 700), PAIR(MEMORY, 0, MEMORY, 0, 500),
		PAIR(REGISTER, 0, MEMORY, 0, 400), PAIR(REGISTER, 0, REGISTER, 1, 200),
	};
	static const struct gus_uarch_pair lea[] = { PAIR(ADDRESS, 0, REGISTER, 0, 100) };
	struct gus_error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(gus_uops_parse(xml_front, sizeof(xml_front) - 1, "SKL", keep, &s, &err), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.list[0].decoded, 4);
	assert_int_equal(s.list[0].microcoded, 1);
	assert_int_equal(s.list[0].complex, 1);
	assert_int_equal(s.list[0].latency, 200);
	assert_int_equal(s.list[0].loadlat, 700);
	EXPECT_PAIRS(s.list[0].pairs, s.list[0].pairs_n, xadd);
	assert_int_equal(s.list[1].complex, 0);
	assert_int_equal(s.list[1].latency, 100);
	EXPECT_PAIRS(s.list[1].pairs, s.list[1].pairs_n, lea);
	/* Operands without names are counted: IMUL has two registers, then the flags. */
	s.n = 0;
	assert_int_equal(gus_uops_parse(xml, sizeof(xml) - 1, "SKL", keep, &s, &err), 0);
	assert_int_equal(s.list[0].pairs_n, 2);
	assert_int_equal(s.list[0].pairs[1].from, 1);
	assert_int_equal(s.list[0].pairs[1].to, 2);
	assert_int_equal(s.list[0].decoded, -1);
	assert_int_equal(s.list[0].complex, -1);
}

static void xml_is_read_for_one_cpu(void **state)
{
	struct gus_error err = { 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(gus_uops_parse(xml, sizeof(xml) - 1, "SKL", keep, &s, &err), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.list[0].form, "IMUL (R64, R64)");
	assert_int_equal(s.list[0].uops, 1);
	assert_int_equal(s.list[0].latency, 400);
	assert_int_equal(s.list[0].loadlat, -1);
	assert_int_equal(s.list[0].throughput, 100);
	assert_int_equal(s.list[1].loadlat, 600);
	assert_int_equal(gus_uops_parse(xml, sizeof(xml) - 1, NULL, keep, &s, &err), -1);
}

static void a_table_comes_out(void **state)
{
	struct gus_error err = { 0 };
	struct gus_uarch *base = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err), *u;
	const struct gus_uarch_row *row;
	char *text;

	(void)state;
	assert_non_null(base);
	text = gus_uops_table(xml, sizeof(xml) - 1, "SKL", "mine", base, &err);
	assert_non_null(text);
	u = gus_uarch_parse("mine", text, strlen(text), &gus_uarch_builtin, 0, &err);
	if (!u)
		fail_msg("%s", err.text);
	row = &u->rows[gus_uarch_form_by_text(u, "IMUL (R64, R64)")->row];
	assert_int_equal(row->uops, 1);
	assert_int_equal(row->latency, 400);
	assert_string_equal(u->groups[u->uses[row->uses].group].name, "p5");
	row = &u->rows[gus_uarch_form_by_text(u, "ADD (R64, M64)")->row];
	assert_int_equal(row->loadlat, 600);
	assert_non_null(gus_uarch_row(u, gus_insn_form_hash("XOR_31 (R64, R64)", 17)));
	gus_uarch_free(u);
	free(text);
	assert_null(gus_uops_table(xml, sizeof(xml) - 1, "ZEN9", "mine", base, &err));
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
	gus_uarch_free(base);
}

/* A table of two forms, to be found by what is like it. */
static const char tiny[] =
	"uarch tiny isa x86-64 \"Tiny\"\nsource me \"made up\"\nport p0 me\nport p1 me\nunit div me\n"
	"form \"NEG (R)\" uops 1 latency 1 decoded 2 complex pairs 0>1:4 source me\n"
		"form \"NOT (R)\" uops 1 latency 1 source me\n";

static const char *tiny_text(void *context, const char *name, size_t *size)
{
	(void)context;
	*size = sizeof(tiny) - 1;
	return strcmp(name, "tiny") == 0 ? tiny : NULL;
}

/* What is imported is read again as what it was; pairs that say no more than the plain latencies are left out. */
static void a_table_says_what_was_measured(void **state)
{
	static const char text[] = HEADER
		"X\tADD (R, M)\t2\t1\t1\t0\t\t1*p0+1*p1\t0\t16\tREG0>REG0:1 REG0>REG1:1.25 "
			"MEM0>REG0:1/addr6/idx5/mem3\n"
		"X\tADD (R, R)\t1\t1\t1\t0\t\t1*p01\t0\t16\tREG0>REG0:1 REG1>REG0:1\n"
		"X\tLEA (R)\t1\t1\t1\t0\t\t1*p1\t0\t20\tAGEN>REG0:1/addr3/idx3\n"
		"X\tMOV (M, R)\t1\t1\t1\t0\t\t1*p1\t0\t16\tREG0>MEM0:4\n"
		"X\tDIV (R)\t20\t20\t4\t16\t\t20*p0\t6\t4\tREG0>REG0:20 REG1>REG0:22.5\n"
		"X\tDIV (R)\t9\t9\t4\t16\t\t20*p0\t6\t4\tREG0>REG0:1 REG1>REG0:2\n"
		"X\tNEG (R)\t1\t1\t\t\t\t1*p0\t0\t\t\n";
	static const struct { const char *form; uint32_t decoded, microcoded, complex, latency, loadlat,
		pairs_n; } rows[] = {
		{ "ADD (R, M)", 1, 0, 0, 125, 600, 4 }, { "ADD (R, R)", 1, 0, 0, 100, 0, 0 },
			{ "LEA (R)", 1, 0, 1, 300, 0, 0 },
		{ "MOV (M, R)", 1, 0, 0, 0, 0, 1 }, { "DIV (R)", 4, 16, 1, 2250, 0, 2 },
			{ "NEG (R)", 2, 0, 1, 100, 0, 1 },
		{ "NOT (R)", 0, 0, 0, 100, 0, 0 },
	};
	static const struct gus_uarch_pair add[] = {
		PAIR(REGISTER, 0, REGISTER, 0, 100), PAIR(REGISTER, 0, REGISTER, 1, 125),
			PAIR(ADDRESS, 0, REGISTER, 0, 600),
		PAIR(MEMORY, 0, REGISTER, 0, 300),
	};
	struct gus_uarch_texts texts = { tiny_text, NULL };
	struct gus_error err = { 0 };
	struct gus_uarch *base = gus_uarch_parse("tiny", NULL, 0, &texts, 0, &err), *u;
	const struct gus_uarch_row *row;
	char *table;

	(void)state;
	if (!base)
		fail_msg("%s", err.text);
	table = gus_uops_table(text, sizeof(text) - 1, "TNY", "mine", base, &err);
	if (!table)
		fail_msg("%s", err.text);
	u = gus_uarch_parse("mine", table, strlen(table), &texts, 0, &err);
	if (!u)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		row = &u->rows[gus_uarch_form_by_text(u, rows[i].form)->row];
		assert_int_equal(row->decoded, rows[i].decoded);
		assert_int_equal(row->microcoded, rows[i].microcoded);
		assert_int_equal(row->complex, rows[i].complex);
		assert_int_equal(row->latency, rows[i].latency);
		assert_int_equal(row->loadlat, rows[i].loadlat);
		assert_int_equal(row->pairs_n, rows[i].pairs_n);
	}
	row = &u->rows[gus_uarch_form_by_text(u, "ADD (R, M)")->row];
	EXPECT_PAIRS(&u->pairs[row->pairs], row->pairs_n, add);
	row = &u->rows[gus_uarch_form_by_text(u, "DIV (R)")->row];
	assert_int_equal(row->units_n, 1);
	assert_int_equal(u->uses[row->units].cycles, 600);
	gus_uarch_free(u);
	gus_uarch_free(base);
	free(table);
}

/* Cut anywhere, changed anywhere: an answer or an error, never a read outside. The copy has no byte to spare. */
/* What is told of a form is what a table can say: names of the text, operands that have numbers, no figure beyond
 * all. */
struct damaged {
	const char *text;
	size_t size;
	struct seen seen;
};

static int keep_sound(void *context, const struct gus_uops *one, struct gus_error *err)
{
	const int64_t figures[] = { one->uops, one->fused, one->decoded, one->microcoded, one->complex, one->latency,
		one->loadlat, one->divider, one->throughput };
	const struct damaged *d = context;

	assert_in_range(strnlen(one->form, sizeof(one->form)), 1, sizeof(one->form) - 1);
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		assert_true(figures[i] >= -1 && figures[i] <= GUS_UOPS_FIGURE_MAX);
	assert_in_range(one->ports_n, 0, GUS_UOPS_PORTS);
	for (uint32_t i = 0; i < one->ports_n; i++)
		assert_true(one->ports[i].name >= d->text &&
			    one->ports[i].name + one->ports[i].size <= d->text + d->size);
	assert_in_range(one->pairs_n, 0, GUS_UOPS_PAIRS);
	for (uint32_t i = 0; i < one->pairs_n; i++) {
		assert_in_range(one->pairs[i].from, 0, GUS_UARCH_OPERANDS - 1);
		assert_in_range(one->pairs[i].to, 0, GUS_UARCH_OPERANDS - 1);
		assert_int_not_equal(one->pairs[i].to_kind, GUS_UARCH_ADDRESS);
	}
	return keep(&((struct damaged *)context)->seen, one, err);
}

/* How many forms there are in a text that lies in a place of just its size. An error has words, and only an error
 * has. */
static size_t forms_of(const char *text, size_t size, struct gus_uops first[4])
{
	struct damaged d = { .text = text, .size = size };
	struct gus_error err = { 0 };
	int status = gus_uops_parse(text, size, "SKL", keep_sound, &d, &err);

	assert_int_equal(status, err.code == GUS_OK ? 0 : -1);
	assert_true((status != 0) == (*err.text != '\0'));
	memcpy(first, d.seen.list, sizeof(d.seen.list));
	return d.seen.n;
}

/* A text that ends early has the forms of the whole one, in order, though the last may say less. With a bit turned it
 * may say anything that is sound. */
static void damage(const char *text, size_t whole)
{
	struct gus_uops all[4], some[4];
	const size_t n = forms_of(text, whole, all);

	assert_in_range(n, 1, 4);
	for (size_t size = 0; size <= whole; size++) {
		char *copy = gus_alloc(size + !size);
		size_t found;

		memcpy(copy, text, size);
		found = forms_of(copy, size, some);
		assert_in_range(found, 0, n);
		for (size_t i = 0; i + 1 < found; i++)
			assert_string_equal(some[i].form, all[i].form);
		for (size_t i = 0; size == whole && i < size; i++) {
			copy[i] ^= 0x15;
			forms_of(copy, size, some);
			copy[i] ^= 0x15;
		}
		free(copy);
	}
}

static void damage_is_an_error_at_worst(void **state)
{
	static const char values[] = HEADER
		"X\tADD (R, M)\t2\t1\t1\t0\t\t1*p0+1*p1\t0\t16\tREG0>REG0:1 REG0>REG1:1.25 MEM0>REG0:1/addr6/idx5/mem3 "
		"REG0>MEM0:4\n";

	(void)state;
	damage(xml, sizeof(xml) - 1);
	damage(xml_front, sizeof(xml_front) - 1);
	damage(values, sizeof(values) - 1);
}

/* No more pairs than there is room for, and no number that a table could not say. */
static void what_is_absurd_is_refused(void **state)
{
	char text[4000] = HEADER "X\tA (B)\t1\t1\t1\t0\t\t\t0\t16\t";
	struct gus_error err = { 0 };
	struct seen s = { 0 };
	size_t at = strlen(text);

	(void)state;
	for (unsigned i = 0; i <= GUS_UOPS_PAIRS; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "REG%u>REG%u:1 ", i % 10, i / 10);
	assert_int_equal(gus_uops_parse(text, at, NULL, keep, &s, &err), -1);
	assert_non_null(strstr(err.text, "line 2: too many latencies"));
	at = (size_t)snprintf(text, sizeof(text), HEADER "X\tA (B)\t1\t1\t1\t0\t\t\t0\t16\tREG0>REG0:20000000\n");
	assert_int_equal(gus_uops_parse(text, at, NULL, keep, &s, &err), -1);
}

static void what_is_wrong_is_named(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "empty" },
		{ "iform\tstring\n", "no column uops" },
		{ HEADER "X\tA (B)\t1\t1\t1\t0\t\t1*x23\t0\t16\t\n", "line 2: not N*pPORTS: '1*x23'" },
		{ HEADER "X\tA (B)\t1\t1\t1\t0\t\t\t0\t16\tnonsense\n", "line 2: not FROM>TO:CYCLES: 'nonsense'" },
		{ HEADER "X\t\t1\t1\t1\t0\t\t\t0\t16\t\n", "line 2: not the name of a form" },
		{ "<root>\n<operand ", "line 2: a tag without its end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct seen s = { 0 };

		assert_int_equal(gus_uops_parse(cases[i].text, strlen(cases[i].text), "SKL", keep, &s, &err), -1);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

/* What is written out between quotes holds no quote, and nothing that a terminal would obey. */
static void names_of_forms_can_be_printed(void **state)
{
	static const struct { char letter; bool good; } cases[] = { { ' ', true }, { '~', true }, { 0x1f, false },
		{ 0x7f, false }, { '"', false }, { '!', true }, { '#', true }, { 0, false }, { (char)0x9b, false } };
	struct gus_error err = { 0 };
	struct gus_uarch *base = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[] = "string\tuops\tretire_slots\tTP\tports\tdiv_cycles\tlatencies\nF@F\t1\t1\t1\t1*p0\t0\t\n";
		char *table;

		*strchr(text, '@') = cases[i].letter;
		table = gus_uops_table(text, sizeof(text) - 1, NULL, "mine", base, NULL);
		assert_int_equal(table != NULL, cases[i].good);
		free(table);
	}
	gus_uarch_free(base);
}

/* Forms with more uops or cycles than a table may say are left out, and the table can be read. */
static void what_runs_for_ever_is_left_out(void **state)
{
	static const char text[] = "string\tuops\tretire_slots\tTP\tports\tdiv_cycles\tlatencies\n"
		"F\t4096\t4096\t1\t1*p0\t0\t\nG\t4097\t1\t1\t1*p0\t0\t\nH\t1\t4097\t1\t1*p0\t0\t\n"
		"I\t1\t1\t1\t1*p0\t65536\t\nJ\t1\t1\t1\t1*p0\t0\tREG0>REG1:10001\n";
	struct gus_error err = { 0 };
	struct gus_uarch *base = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err), *u;
	char *table = gus_uops_table(text, sizeof(text) - 1, NULL, "mine", base, &err);

	(void)state;
	assert_non_null(table);
	u = gus_uarch_parse("mine", table, strlen(table), &gus_uarch_builtin, 0, &err);
	assert_non_null(u);
	assert_non_null(gus_uarch_form_by_text(u, "F"));
	assert_null(gus_uarch_form_by_text(u, "G"));
	assert_null(gus_uarch_form_by_text(u, "H"));
	assert_null(gus_uarch_form_by_text(u, "I"));
	assert_null(gus_uarch_form_by_text(u, "J"));
	gus_uarch_free(u);
	free(table);
	gus_uarch_free(base);
}

/* Of all pairs of twelve ports the unions are all groups that there are, 2^12 - 13. */
static void unions_have_a_limit(void **state)
{
	static const char head[] = "string\tuops\tretire_slots\tTP\tports\tdiv_cycles\tlatencies\n";
	struct gus_error err = { 0 };
	struct gus_uarch *base = gus_uarch_parse("alderlake", NULL, 0, &gus_uarch_builtin, 0, &err);
	static char text[16384];
	size_t at = (size_t)sprintf(text, "%s", head);
	const char *ports = "0123456789AB";

	(void)state;
	assert_non_null(base);
	for (int a = 0; a < 12; a++)
		for (int b = 0; b < a; b++)
			at += (size_t)sprintf(text + at, "F%d_%d\t1\t1\t1\t1*p%c%c\t0\t\n", a, b, ports[a], ports[b]);
	assert_null(gus_uops_table(text, at, NULL, "mine", base, &err));
	assert_int_equal(err.code, GUS_E_FULL);
	assert_non_null(strstr(err.text, "there are more than 2048 groups of ports"));
	gus_uarch_free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unions_have_a_limit),
		cmocka_unit_test(what_runs_for_ever_is_left_out),
		cmocka_unit_test(names_of_forms_can_be_printed),
		cmocka_unit_test(values_say_what_was_measured),
		cmocka_unit_test(xml_is_read_for_one_cpu),
		cmocka_unit_test(values_have_decoders_and_pairs),
		cmocka_unit_test(xml_has_decoders_and_pairs),
		cmocka_unit_test(a_table_comes_out),
		cmocka_unit_test(a_table_says_what_was_measured),
		cmocka_unit_test(what_is_absurd_is_refused),
		cmocka_unit_test(damage_is_an_error_at_worst),
		cmocka_unit_test(what_is_wrong_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
