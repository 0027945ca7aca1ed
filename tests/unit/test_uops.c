/* SPDX-License-Identifier: MIT */
/* Importing measurements: what is read of each form, and that a table comes out that loads and says it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "model/builtin.h"
#include "model/uops.h"

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
		"X\tIMUL (R64, M64)\t2\t1\t1\t0\t\t1*p1+1*p23\t0\t16\tREG0>REG0:3 MEM0>REG0:1/addr8/idx9/mem5 MEM0>MEM0:7\n"
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

static const char xml[] =
	"<?xml version=\"1.0\"?>\n<root>\n<extension name=\"BASE\">\n"
	"<instruction asm=\"IMUL\" string=\"IMUL (R64, R64)\">\n"
	"<operand idx=\"1\" type=\"reg\" r=\"1\" w=\"1\">RAX</operand>\n<operand idx=\"2\" type=\"reg\"/>\n"
	"<operand idx=\"3\" type=\"flags\"/>\n"
	"<architecture name=\"HSW\"><measurement uops=\"9\" ports=\"9*p1\"/></architecture>\n"
	"<architecture name=\"SKL\">\n<measurement TP_loop=\"1.00\" TP_unrolled=\"1.25\" uops=\"1\" uops_retire_slots=\"1\""
	" ports=\"1*p5\">\n<latency start_op=\"1\" target_op=\"1\" cycles=\"3\"/>\n"
	"<latency start_op=\"2\" target_op=\"3\" max_cycles=\"4\"/>\n</measurement>\n</architecture>\n</instruction>\n"
	"<instruction string=\"ADD (R64, M64)\"><operand idx=\"1\" type=\"reg\"/><operand idx=\"2\" type=\"mem\"/>"
	"<architecture name=\"SKL\"><measurement uops=\"2\" ports=\"1*p0156+1*p23\"><latency start_op=\"2\" target_op=\"1\""
	" cycles_addr=\"6\" cycles_mem=\"3\"/></measurement></architecture></instruction>\n</extension></root>\n";

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

/* Cut anywhere, changed anywhere: an answer or an error, never a read outside. The copy has no byte to spare. */
static void damage_is_an_error_at_worst(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(xml); size++) {
		struct gus_error err = { 0 };
		struct seen s = { 0 };
		char *copy = gus_alloc(size + !size);

		memcpy(copy, xml, size);
		gus_uops_parse(copy, size, "SKL", keep, &s, &err);
		for (size_t i = 0; size == sizeof(xml) - 1 && i < size; i++) {
			copy[i] ^= 0x15;
			gus_uops_parse(copy, size, "SKL", keep, &s, &err);
			copy[i] ^= 0x15;
		}
		free(copy);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_say_what_was_measured),
		cmocka_unit_test(xml_is_read_for_one_cpu),
		cmocka_unit_test(a_table_comes_out),
		cmocka_unit_test(damage_is_an_error_at_worst),
		cmocka_unit_test(what_is_wrong_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
