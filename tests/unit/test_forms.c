/* SPDX-License-Identifier: MIT */
/* What is found out about forms on simulated machines, from tables that are wrong about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/known_forms.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/host.h"
#include "tests/accuracy/golden/machine.h"

struct setting {
	struct golden_machine *m;
	struct golden_host golden;
	struct gus_calibration_host host;
	struct gus_uarch *nearest;
	struct gus_fit fit;
};

static const char *builtin_text(void *context, const char *name, size_t *size)
{
	(void)context;
	return gus_uarch_builtin.get(gus_uarch_builtin.context, name, size);
}

/* A machine by its table, and another table that is nearest to it. */
static struct setting *open_setting(const char *machine, const char *nearest)
{
	const struct gus_uarch_texts texts = { builtin_text, NULL };
	struct setting *s = gus_zalloc(sizeof(*s));
	struct gus_error err = { 0 };

	s->m = golden_machine_of(machine, &err);
	assert_non_null(s->m);
	golden_host_open(&s->golden, s->m, &s->host);
	s->nearest = nearest ? gus_uarch_parse("near", nearest, strlen(nearest), &texts, 0, &err)
			     : gus_uarch_parse(machine, NULL, 0, &texts, 0, &err);
	if (!s->nearest)
		fail_msg("%s", err.text);
	return s;
}

static void close_setting(struct setting *s)
{
	gus_fit_free(&s->fit);
	gus_uarch_free(s->nearest);
	golden_machine_free(s->m);
	free(s);
}

static void fit(struct setting *s, const char *const texts[], size_t n)
{
	struct gus_calibration_insn insns[32];
	struct gus_calibration c = { .host = &s->host, .nearest = s->nearest, .depth = GUS_CALIBRATION_FULL,
				     .insns = insns };
	struct gus_error err = { 0 };

	for (size_t i = 0; i < gus_known_forms_n; i++)
		for (size_t k = 0; k < n; k++)
			if (gus_known_forms[i].isa == s->host.isa && strcmp(gus_known_forms[i].text, texts[k]) == 0)
				insns[c.insns_n++] = (struct gus_calibration_insn){
					gus_known_forms[i].bytes, gus_known_forms[i].size, (double)(n - k) };
	assert_int_equal(c.insns_n, n);
	if (gus_fit_forms(&c, &s->fit, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(s->fit.forms.n, n);
}

static const struct gus_fit_form *found(const struct setting *s, const char *form)
{
	for (size_t i = 0; i < s->fit.forms.n; i++)
		if (strcmp(s->fit.forms.v[i].form, form) == 0)
			return &s->fit.forms.v[i];
	fail_msg("%s was not measured", form);
	return NULL;
}

/* Zen 4 with ten rows that are wrong: five about latencies, five about ports. */
static void wrong_rows_are_found(void **state)
{
	static const char near[] =
		"uarch near isa x86-64 \"Near\"\n"
		"like znver4\n"
		"source s \"made\"\n"
		"form \"VADDSD (XMM, XMM, XMM)\" uops 1 latency 5 uses fp23:1 source s\n"
		"form \"VFMADD231PD (YMM, YMM, YMM)\" uops 1 latency 9 uses fp01:1 source s\n"
		"form \"IMUL (R64, R64)\" uops 1 latency 1 uses alu1:1 source s\n"
		"form \"POPCNT (R64, R64)\" uops 1 latency 3 uses alu0123:1 source s\n"
		"form \"MOV (R64, M64)\" uops 1 latency 6 loadlat 6 uses agu012:1 lsu012:1 source s\n"
		"form \"VMULPD (YMM, YMM, YMM)\" uops 1 latency 3 uses fp23:1 source s\n"
		"form \"VPADDD (YMM, YMM, YMM)\" uops 1 latency 1 uses fp01:1 source s\n"
		"form \"VPSHUFB (XMM, XMM, XMM)\" uops 1 latency 2 uses fp0:1 source s\n"
		"form \"VPSHUFD (YMM, YMM, I8)\" uops 1 latency 1 uses fp0123:1 source s\n"
		"form \"VPSRLQ (YMM, YMM, I8)\" uops 1 latency 1 uses fp03:1 source s\n";
	static const char *const texts[] = {
		"vaddsd xmm0, xmm1, xmm2", "vfmadd231pd ymm0, ymm1, ymm2", "imul rax, rcx", "popcnt rax, rcx",
		"mov rax, [rsi]", "vmulpd ymm0, ymm1, ymm2", "vpaddd ymm0, ymm1, ymm2", "vpshufb xmm0, xmm1, xmm2",
		"vpshufd ymm0, ymm1, 0x1b", "vpsrlq ymm0, ymm1, 0x05",
	};
	static const struct { const char *form; double latency, load; } latencies[] = {
		{ "VADDSD (XMM, XMM, XMM)", 3, NAN }, { "VFMADD231PD (YMM, YMM, YMM)", 4, NAN },
		{ "IMUL (R64, R64)", 3, NAN }, { "POPCNT (R64, R64)", 1, NAN }, { "MOV (R64, M64)", NAN, 4 },
	};
	static const struct { const char *form, *uses; } ports[] = {
		{ "VMULPD (YMM, YMM, YMM)", "fp01:1" }, { "VPADDD (YMM, YMM, YMM)", "fp0123:1" },
		{ "VPSHUFD (YMM, YMM, I8)", "fp123:1" }, { "VPSRLQ (YMM, YMM, I8)", "fp12:1" },
	};
	struct setting *s = open_setting("znver4", near);

	(void)state;
	fit(s, texts, sizeof(texts) / sizeof(*texts));
	/* The heaviest comes first. */
	assert_string_equal(s->fit.forms.v[0].form, "VADDSD (XMM, XMM, XMM)");
	for (size_t i = 0; i < sizeof(latencies) / sizeof(*latencies); i++) {
		const struct gus_fit_form *f = found(s, latencies[i].form);
		double is = isnan(latencies[i].load) ? f->latency : f->load_latency;
		double truth = isnan(latencies[i].load) ? latencies[i].latency : latencies[i].load;

		if (!(fabs(is - truth) <= 0.03 * truth) || *f->uses ||
		    f->latency_confidence < GUS_CONFIDENCE_MEDIUM)
			fail_msg("%s: %g is not %g; %s; %s", f->form, is, truth, f->uses, f->why);
	}
	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++) {
		const struct gus_fit_form *f = found(s, ports[i].form);

		if (strcmp(f->uses, ports[i].uses) != 0 || f->confidence < GUS_CONFIDENCE_MEDIUM)
			fail_msg("%s: %s is not %s; %s", f->form, f->uses, ports[i].uses, f->why);
	}
	close_setting(s);
}

/* Of a table that is right everything is confirmed, on three kinds of machine. */
static void right_rows_stay(void **state)
{
	static const struct { const char *machine, *texts[6]; } cases[] = {
		{ "znver4", { "add rax, rcx", "vaddpd ymm0, ymm1, ymm2", "vfmadd231pd ymm0, ymm1, ymm2",
			      "imul rax, rcx", "vpxor ymm0, ymm1, ymm2", "divsd xmm0, xmm1" } },
		{ "skylake", { "add rax, rcx", "vaddpd ymm0, ymm1, ymm2", "vfmadd231pd ymm0, ymm1, ymm2",
			       "imul rax, rcx", "pshufd xmm0, xmm1, 0x1b", "divsd xmm0, xmm1" } },
		{ "neoverse-n1", { "add x0, x1, x2", "fadd d0, d1, d2", "fmadd d0, d1, d2, d3", "eor x0, x1, x2",
				   "fmul v0.4s, v1.4s, v2.4s", "fdiv d0, d1, d2" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct setting *s = open_setting(cases[i].machine, NULL);

		fit(s, cases[i].texts, 6);
		for (size_t k = 0; k < s->fit.forms.n; k++) {
			const struct gus_fit_form *f = &s->fit.forms.v[k];
			const struct gus_uarch_row *row =
				gus_uarch_row(s->m->uarch, gus_insn_form_hash(f->form, strlen(f->form)));

			if (*f->uses || f->confidence < GUS_CONFIDENCE_MEDIUM ||
			    f->latency_confidence < GUS_CONFIDENCE_MEDIUM ||
			    !(fabs(f->latency - row->latency / 100.) <= 0.03 * row->latency / 100.) ||
			    !(fabs(f->throughput - gus_uarch_throughput(s->m->uarch, row)) <= 0.03 * f->throughput))
				fail_msg("%s, %s: latency %g, throughput %g, %s: %s", cases[i].machine, f->form,
					 f->latency, f->throughput, f->uses, f->why);
		}
		close_setting(s);
	}
}

/* What has no row gets ports. */
static void unknown_rows_are_made(void **state)
{
	static const char near[] =
		"uarch near isa x86-64 \"Near\"\n"
		"like znver4\n"
		"source s \"made\"\n"
		"opcode - VADDPDYrr\n";
	static const char *const texts[] = { "vaddpd ymm0, ymm1, ymm2" };
	struct setting *s = open_setting("znver4", near);

	(void)state;
	fit(s, texts, 1);
	assert_true(fabs(s->fit.forms.v[0].latency - 3) < 0.05);
	assert_string_equal(s->fit.forms.v[0].uses, "fp23:1");
	close_setting(s);
}

/* Mask registers are AVX-512's, though many of their instructions are encoded as AVX's are. */
static void what_the_cpu_has_not_is_refused(void **state)
{
	static const uint8_t kmovq[] = { 0xc4, 0xe1, 0xfb, 0x92, 0xc8 };
	struct gus_calibration_insn insn = { kmovq, sizeof(kmovq), 1 };
	struct setting *s = open_setting("znver4", NULL);
	struct gus_calibration c = { .host = &s->host, .nearest = s->nearest, .depth = GUS_CALIBRATION_QUICK,
				     .insns = &insn, .insns_n = 1 };
	struct gus_error err = { 0 };

	(void)state;
	s->host.avx512 = false;
	assert_int_equal(gus_fit_forms(&c, &s->fit, &err), 0);
	assert_int_equal(s->fit.forms.n, 1);
	assert_string_equal(s->fit.forms.v[0].why, "the CPU has no AVX-512");
	close_setting(s);
}

/* What can't be timed is left out, with the reason. */
static void refused(void **state)
{
	static const struct { const char *bytes; uint32_t size; const char *why; } cases[] = {
		{ "\x0f\xa2", 2, "a fence" }, { "\x50", 1, "moves the stack pointer" },
		{ "\x74\x00", 2, "a branch" }, { "\xf3\xa4", 2, "its time depends on counts and addresses" },
		{ "\x48\x0f\xb6\x05\x00\x00\x00\x00", 8, "relative to the program counter" },
		{ "\xd9\xc0", 2, "of the x87 stack" }, { "\x31\xc0", 2, "a constant that needs no port" },
		{ "\xf0\x48\x01\x06", 4, "locked" }, { "\x64\x0f\xb7\x06", 4, "an address that is not a base's" },
		{ "\x8a\x04\x25\x00\x00\x00\x00", 7, "an address that is not a base's" },
		{ "\xfc", 1, "writes a register that is not ours to write" },
		{ "\x06", 1, "no instruction" }, { "\x67\x22\x06", 3, "an address of 32 bits" },
		{ "\x32\x81\x01\x00\x00\x40", 6, "an address far from its base" },
		{ "\x90", 1, "takes no port: the front end's" },
		{ "\x88\xe0", 2, "an operand that cannot be another register" },
	};
	struct setting *s = open_setting("znver4", NULL);
	struct gus_calibration_insn insns[sizeof(cases) / sizeof(*cases)];
	struct gus_calibration c = { .host = &s->host, .nearest = s->nearest, .depth = GUS_CALIBRATION_QUICK,
				     .insns = insns, .insns_n = sizeof(cases) / sizeof(*cases) };
	struct gus_error err = { 0 };

	(void)state;
	for (size_t i = 0; i < c.insns_n; i++)
		insns[i] = (struct gus_calibration_insn){ (const uint8_t *)cases[i].bytes, cases[i].size, 1 };
	assert_int_equal(gus_fit_forms(&c, &s->fit, &err), 0);
	assert_int_equal(s->fit.forms.n, c.insns_n);
	for (size_t i = 0; i < c.insns_n; i++) {
		const struct gus_fit_form *f = &s->fit.forms.v[i];

		if (cases[i].why && strcmp(f->why, cases[i].why) != 0)
			fail_msg("%s: %s is not %s", f->form, f->why, cases[i].why);
	}
	close_setting(s);
}

static void known_forms_are_what_they_say(void **state)
{
	struct setting *s[2] = { open_setting("znver4", NULL), open_setting("neoverse-n1", NULL) };

	(void)state;
	for (size_t i = 0; i < gus_known_forms_n; i++) {
		const struct gus_known_form *f = &gus_known_forms[i];
		struct gus_insn insn;
		struct gus_insn_info info;

		assert_int_equal(gus_insn_decode(f->isa, f->bytes, f->size, 0x1000, &insn), f->size);
		assert_string_equal(insn.text, f->text);
		gus_insn_analyse(f->isa, f->bytes, f->size, &info);
		if (!gus_uarch_row(s[f->isa == GUS_ISA_ARM64]->nearest, info.form))
			fail_msg("%s has no row", f->text);
		for (size_t k = 0; k < i; k++) {
			struct gus_insn_info other;

			gus_insn_analyse(gus_known_forms[k].isa, gus_known_forms[k].bytes,
					 gus_known_forms[k].size, &other);
			if (other.form == info.form && strcmp(f->text, gus_known_forms[k].text) == 0)
				fail_msg("%s is there twice", f->text);
		}
	}
	close_setting(s[0]);
	close_setting(s[1]);
}

static void tables_of_another_isa_are_refused(void **state)
{
	struct setting *x86 = open_setting("skylake", NULL), *arm = open_setting("neoverse-n1", NULL);
	struct gus_calibration c = { .host = &x86->host, .nearest = arm->nearest };
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_fit_forms(&c, &x86->fit, &err), -1);
	assert_non_null(strstr(err.text, "another ISA"));
	close_setting(x86);
	close_setting(arm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_rows_are_found), cmocka_unit_test(right_rows_stay),
		cmocka_unit_test(unknown_rows_are_made), cmocka_unit_test(refused),
		cmocka_unit_test(what_the_cpu_has_not_is_refused),
		cmocka_unit_test(known_forms_are_what_they_say), cmocka_unit_test(tables_of_another_isa_are_refused),
	};

	return cmocka_run_group_tests_name("forms", tests, NULL, NULL);
}
