/* SPDX-License-Identifier: MIT */
/* Batches of blocks: which lines there are, what is said of those that cannot be modelled, and the limits, each with
 * both of its neighbours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "made_program.h"
#include "model/analysis/batch.h"
#include "model/analysis/modelled.h"
#include "model/core/core.h"

static struct gus_modelled_settings settings;

static int setup(void **state)
{
	struct gus_uarch *u = made_table("skylake");

	settings.uarch = u;
	gus_core_config_of(&settings.config, u);
	settings.options.pointers = GUS_CORE_POINTERS_EQUAL;
	*state = u;
	return 0;
}

static int teardown(void **state)
{
	gus_uarch_free(*state);
	return 0;
}

static struct gus_batch batch_of(const char *text, size_t size, unsigned jobs)
{
	struct gus_error err = { 0 };
	struct gus_batch b;

	assert_int_equal(gus_batch_run(&b, &settings, text, size, jobs, &err), 0);
	assert_int_equal(err.code, GUS_OK);
	return b;
}

/* The lines of a text: their first fields, and NULL behind the last. */
static void lines_are(const char *text, size_t size, const char *const *fields)
{
	struct gus_batch b = batch_of(text, size, 1);
	size_t n = 0;

	for (; n < b.n && fields[n]; n++) {
		assert_int_equal(b.lines[n].hex_size, strlen(fields[n]));
		assert_memory_equal(b.lines[n].hex, fields[n], b.lines[n].hex_size);
	}
	assert_int_equal(n, b.n);
	assert_null(fields[n]);
	gus_batch_free(&b);
}

static void which_lines_there_are(void **state)
{
	static const struct { const char *text; const char *fields[4]; } cases[] = {
		{ "", { NULL } },
		{ "90", { "90" } },
		{ "90\n", { "90" } },
		{ "hex\n90\n", { "90" } },                      /* a header, which is no hexadecimal number */
		{ "\n\nhex\n90", { "90" } },                    /* behind empty lines, too */
		{ "90\nhex\n", { "90", "hex" } },               /* behind a block it is a bad line */
		{ "0x90,3,4\r\n\r\n90\r\n", { "0x90", "90" } },
		{ ",1\n90,2,\n,\n", { "", "90", "" } },         /* empty fields */
		{ "48 01\n\\x90", { "48 01", "\\x90" } },       /* no header, however it is written */
		{ "\\x90\n", { "\\x90" } },
		{ "90,,\n\n \n", { "90", " " } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		lines_are(cases[i].text, strlen(cases[i].text), cases[i].fields);
}

static void bad_lines_say_why(void **state)
{
	static const char text[] = "4801c8\nzz\n480\n48\n9006\n0f05\n,\n480fafc3,3\nf30fc7f890\n";
	static const char *const says[] = { NULL, "pairs of hexadecimal digits", "pairs of hexadecimal digits",
		"cut off at byte 0 of 1", "no instruction of this ISA at byte 1 of 2", "'syscall' at byte 0 of 2",
		"pairs of hexadecimal digits", NULL, NULL };
	static const uint32_t insns[] = { [0] = 1, [7] = 1, [8] = 2 }, unknown[] = { [8] = 1 }; /* rdpid rax */

	(void)state;
	for (unsigned jobs = 0; jobs < 3; jobs++) {
		struct gus_batch b = batch_of(text, sizeof(text) - 1, jobs);

		assert_int_equal(b.n, 9);
		assert_int_equal(b.bad, 6);
		assert_int_equal(b.instructions, 4);
		assert_int_equal(b.unknown, 1);
		assert_int_equal(b.broken, 0);
		for (size_t i = 0; i < b.n; i++) {
			assert_int_equal(!says[i], !b.lines[i].why);
			if (says[i] && !strstr(b.lines[i].why, says[i]))
				fail_msg("line %zu says %s", i, b.lines[i].why);
			assert_int_equal(b.lines[i].instructions, insns[i]);
			assert_int_equal(b.lines[i].cycles > 0, !says[i]);
			assert_int_equal(b.lines[i].unknown, unknown[i]);
		}
		assert_int_equal((int)(b.lines[0].cycles * 100), 100);
		assert_int_equal((int)(b.lines[7].cycles * 100), 300);
		assert_int_equal((int)gus_batch_coverage(&b.lines[0]), 1);
		assert_int_equal((int)gus_batch_coverage(&b.lines[1]), 0);
		assert_int_equal((int)(gus_batch_coverage(&b.lines[8]) * 100), 50);
		gus_batch_free(&b);
	}
}

/* "90" so often, each between before and behind. */
static char *repeated(const char *before, const char *code, size_t n, const char *behind, size_t *size)
{
	struct gus_vec(char) text = { 0 };

	gus_vec_append(&text, before, strlen(before));
	for (size_t i = 0; i < n; i++)
		gus_vec_append(&text, code, strlen(code));
	gus_vec_append(&text, behind, strlen(behind));
	*size = text.n;
	return text.v;
}

/* mov rcx, [rdi + 8]; xor edx, edx; mov rax, r9; div r15; cmp r9, rdi; dec r15; jnz: the divider takes 10 cycles, and
 * what waits for it goes on growing for a while, in which the mean seems to be less. */
static void no_mean_below_a_bound(void **state)
{
	static const char block[] = "488b4f0831d24889c849f7f04939d549ffcf0f85e8ffffff\n";
	struct gus_uarch *u = made_table("icelake-server");
	struct gus_modelled_settings before = settings;
	struct gus_batch b;

	(void)state;
	settings.uarch = u;
	gus_core_config_of(&settings.config, u);
	settings.options.settled = GUS_BATCH_SETTLED;
	b = batch_of(block, strlen(block), 1);
	settings = before;
	assert_int_equal(b.lines[0].verdict.broken, GUS_BOUNDS);
	assert_true(b.lines[0].cycles >= 10);
	gus_batch_free(&b);
	gus_uarch_free(u);
}

/* What was in flight first is no measure of what follows: the ROB fills within some cycles, and a divider of 16 cycles
 * or a store buffer that is emptied at two thirds of the pace is felt much later. */
static void what_fills_up_is_waited_for(void **state)
{
	static const struct { const char *table, *code; double cycles; } cases[] = {
		{ "emeraldrapids", "62d18d405edc4983c5014939df75f1\n", 16 }, /* vdivpd zmm; add; cmp; jne */
		{ "neoverse-n1", "9b02c0da647daec8\n", 0.5 },                /* rbit; cas */
	};
	struct gus_modelled_settings before = settings;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_uarch *u = made_table(cases[i].table);
		struct gus_batch b;

		settings.uarch = u;
		gus_core_config_of(&settings.config, u);
		settings.options.settled = GUS_BATCH_SETTLED;
		b = batch_of(cases[i].code, strlen(cases[i].code), 1);
		settings = before;
		if (!(b.lines[0].cycles > 0.97 * cases[i].cycles && b.lines[0].cycles < 1.03 * cases[i].cycles))
			fail_msg("%s: %f", cases[i].code, b.lines[0].cycles);
		gus_batch_free(&b);
		gus_uarch_free(u);
	}
}

/* What is too long is a bad line, and the next one is modelled. */
static void a_block_has_limits(void **state)
{
	static const struct { const char *code; size_t n; const char *says; } cases[] = {
		{ "90", GUS_BLOCK_INSNS, NULL },
		{ "90", GUS_BLOCK_INSNS + 1, "more than 16384 instructions" },
		/* nop of four bytes: 0f 1f 40 00 */
		{ "0f1f4000", GUS_BLOCK_BYTES / 4, NULL },
		{ "0f1f4000", GUS_BLOCK_BYTES / 4 + 1, "it has 65540 bytes, and a block has at most 65536" },
		{ "\\x0f\\x1f\\x40\\x00", GUS_BATCH_FIELD / 16, NULL },
		{ "\\x0f\\x1f\\x40\\x00", GUS_BATCH_FIELD / 16 + 1, "262160 characters, and at most 262144" },
		/* fxrstor64 [rdi], of 88 uops; an instruction counts as one more */
		{ "480fae0f", GUS_BLOCK_UOPS / 89 + 1, "more than 262144 uops" },
		{ "0f1f4000", 1000000, "8000000 characters, and at most 262144" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t size;
		char *text = repeated("", cases[i].code, cases[i].n, "\n90\n", &size);
		struct gus_batch b = batch_of(text, size, 1);

		assert_int_equal(b.n, 2);
		if (!cases[i].says != !b.lines[0].why || (b.lines[0].why && !strstr(b.lines[0].why, cases[i].says)))
			fail_msg("case %zu says %s", i, b.lines[0].why ? b.lines[0].why : "nothing");
		assert_null(b.lines[1].why);
		gus_batch_free(&b);
		free(text);
	}
}

static void a_batch_has_limits(void **state)
{
	struct gus_error err = { 0 };
	struct gus_batch b;
	size_t size;
	char *text = repeated("", "x\n", GUS_BATCH_LINES + 1, "", &size);

	(void)state;
	assert_int_equal(gus_batch_run(&b, &settings, text, size, 1, &err), -1);
	assert_int_equal(err.code, GUS_E_FULL);
	assert_non_null(strstr(err.text, "more than 4194304 lines"));
	free(text);
}

static void hexadecimal_digits(void **state)
{
	static const struct { const char *text; int n; uint8_t bytes[3]; } cases[] = {
		{ "4801c8", 3, { 0x48, 0x01, 0xc8 } }, { "48 01,C8", 3, { 0x48, 0x01, 0xc8 } },
		{ "0x48,0X01", 2, { 0x48, 0x01 } }, { "\\x48\\xfF", 2, { 0x48, 0xff } },
		{ "09aAfF", 3, { 9, 0xaa, 0xff } },
		{ "00", 1, { 0 } }, { "", 0, { 0 } }, { "4", 0, { 0 } }, { "480", 0, { 0 } }, { "4g", 0, { 0 } },
		{ "g4", 0, { 0 } }, { "0x", 0, { 0 } }, { " ", 0, { 0 } }, { "48/", 0, { 0 } }, { "48:0", 0, { 0 } },
		{ "4@", 0, { 0 } }, { "4`", 0, { 0 } }, { "4G", 0, { 0 } }, { "-1", 0, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = 99;
		uint8_t *bytes = gus_hex_parse(cases[i].text, strlen(cases[i].text), &n);

		print_message("'%s'\n", cases[i].text);
		assert_int_equal(!bytes, !cases[i].n);
		if (bytes) {
			assert_int_equal(n, cases[i].n);
			assert_memory_equal(bytes, cases[i].bytes, n);
		}
		free(bytes);
	}
}

/* Lines in seven lots, each lot with a block that is dear: whoever runs them, all are there when the batch is, in their
 * order, with the same figures. Block i is a chain of i + 1 multiplications. */
static void many_hands_say_the_same(void **state)
{
	enum { LINES = 100 };
	struct gus_vec(char) text = { 0 };

	(void)state;
	for (unsigned i = 0; i < LINES; i++) {
		for (unsigned k = 0; k <= i; k++)
			gus_vec_append(&text, "480fafc0", 8); /* imul rax, rax */
		gus_vec_push(&text, '\n');
	}
	for (unsigned jobs = 1; jobs <= 300; jobs = jobs * 2 + 3) {
		struct gus_batch b = batch_of(text.v, text.n, jobs);

		assert_int_equal(b.n, LINES);
		assert_int_equal(b.bad + b.broken, 0);
		assert_int_equal(b.instructions, LINES * (LINES + 1) / 2);
		for (unsigned i = 0; i < LINES; i++)
			assert_float_equal(b.lines[i].cycles, 3 * (i + 1), 0.01);
		gus_batch_free(&b);
	}
	gus_vec_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_lines_there_are),
		cmocka_unit_test(bad_lines_say_why),
		cmocka_unit_test(many_hands_say_the_same),
		cmocka_unit_test(a_block_has_limits),
		cmocka_unit_test(a_batch_has_limits),
		cmocka_unit_test(hexadecimal_digits), cmocka_unit_test(no_mean_below_a_bound),
		cmocka_unit_test(what_fills_up_is_waited_for),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
