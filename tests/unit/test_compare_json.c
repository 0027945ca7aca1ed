/* SPDX-License-Identifier: MIT */
/* cli/compare/json: what was measured and what was modelled, as a document for programs. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made_comparison.h"
#include "made_figure.h"
#include "printed.h"

static void print_json(const void *view)
{
	gus_compare_json(view);
}

/* A document's value by its keys and numbers, with dots between them, as it is written. */
static void expect_json(const json_t *document, const char *path, const char *wanted)
{
	const json_t *o = document;
	char key[64], *text;

	for (const char *at = path; *at; at += strlen(key), at += *at == '.') {
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(at, "."), at);
		o = json_is_array(o) ? json_array_get(o, (size_t)atoi(key)) : json_object_get(o, key);
	}
	text = o ? json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
	if (!text || strcmp(text, wanted) != 0)
		fail_msg("%s is %s, not %s", path, text ? text : "not there", wanted);
	free(text);
}

static json_t *json_of(const struct made *s)
{
	char *text = printed(print_json, &s->v);
	json_t *document = json_loads(text, 0, NULL);

	assert_non_null(document);
	free(text);
	return document;
}

struct value { const char *path, *value; };

static void expect_values(const struct made *s, const struct value *values)
{
	json_t *document = json_of(s);

	for (; values->path; values++)
		expect_json(document, values->path, values->value);
	json_decref(document);
}

static void json_figures(void **state)
{
	static const struct value values[] = {
		{ "schema", "\"gusprof.compared/1\"" }, { "part", "false" }, { "elsewhere_than_modelled", "0.05" },
		{ "time", "{\"trust\":0.606,\"doubtful\":0.106,\"do not trust\":0.256,\"cannot tell\":0.032}" },
		{ "coverage", "{\"samples\":1250,\"covered\":1000,\"kernel\":0,\"elsewhere\":[]}" },
		{ "common", "{\"regions\":0,\"knob\":null,\"explained\":null,\"forms\":{\"forms\":[],\"explained\":"
		  "null,\"predicted\":null}}" },
		{ "regions.0.schema", "\"gusprof.compare/1\"" }, { "regions.0.host", "null" },
		{ "regions.0.table.name", "\"skylake\"" }, { "regions.0.table.of_the_host", "true" },
		{ "regions.0.table.engine", "\"stream\"" },
		{ "regions.0.program", "{\"command\":null,\"pid\":null,\"input\":\"a.data\"}" },
		{ "regions.0.function", "\"hot\"" }, { "regions.0.module", "\"/opt/app\"" },
		{ "regions.0.build_id", "null" }, { "regions.0.offset", "0" }, { "regions.0.loop", "null" },
		{ "regions.0.basis", "\"cycles\"" },
		{ "regions.0.measured", "{\"samples\":800,\"runs\":2,\"event\":\"cpu-clock\",\"share\":0.8,"
		  "\"share_interval\":[0.78,0.82],\"ns\":8e8,\"cycles\":15600.0,\"cycles_interval\":"
		  "[15000.0,16200.0],\"cycles_per_instruction\":5.2,\"ghz\":[3.1,3.25],\"sampling_taken_off\":0.02,"
		  "\"core_looks\":0,\"core_shared\":0,\"evidence\":\"inferred\"}" },
		{ "regions.0.modelled", "{\"cycles\":12000.0,\"cycles_error\":0.0,\"share\":0.75,\"instructions\":3000,"
		  "\"cycles_per_instruction\":4.0,\"caches\":\"cold\",\"expected_error\":null,\"not_judged\":\"this is "
		  "a test\",\"evidence\":\"modelled\"}" },
		{ "regions.0.ratio", "{\"value\":1.3,\"interval\":[1.27,1.34],\"evidence\":\"modelled\"}" },
		{ "regions.0.verdict", "\"do not trust\"" }, { "regions.0.function_ratio", "1.3" },
		{ "regions.0.function_verdict", "\"do not trust\"" },
		{ "regions.0.explanation", "[\"no capacity alone, doubled or halved, would make the model meet it\"]" },
		{ "regions.0.knobs", "[]" }, { "regions.0.instructions", "null" },
		{ "regions.1.function", "\"cold\"" },
		{ "whole.function", "null" }, { "whole.module", "null" }, { "whole.build_id", "null" },
		{ "whole.offset", "null" }, { "whole.loop", "null" }, { "whole.function_ratio", "null" },
		{ "whole.function_verdict", "null" }, { "whole.verdict", "\"trust\"" },
		{ "whole.ratio.value", "1.22" }, { "whole.instructions", "null" }, { NULL, NULL },
	};

	expect_values(*state, values);
}

/* What is not known is null. */
static void json_of_shares(void **state)
{
	static const struct value values[] = {
		{ "part", "true" }, { "regions.0.basis", "\"shares\"" }, { "regions.0.measured.ns", "null" },
		{ "regions.0.measured.cycles", "null" }, { "regions.0.measured.cycles_interval", "null" },
		{ "regions.0.measured.cycles_per_instruction", "null" }, { "regions.0.measured.ghz", "null" },
		{ "regions.0.modelled.cycles_per_instruction", "null" }, { "regions.0.modelled.caches", "\"warm\"" },
		{ "regions.0.ratio.value", "null" }, { "regions.0.ratio.interval", "null" },
		{ "regions.0.function_ratio", "null" }, { "regions.0.offset", "null" },
		{ "regions.1.ratio.value", "0.98" }, { "regions.1.ratio.interval", "[0.9,1.05]" },
		{ "regions.1.modelled.cycles_error", "null" }, { "regions.1.measured.share_interval", "null" },
		{ "regions.1.build_id", "\"00ab10\"" }, { "regions.1.offset", "64" },
		{ "whole.ratio.value", "null" }, { "whole.ratio.interval", "null" }, { NULL, NULL },
	}, infinite[] = {
		{ "regions.0.measured.cycles", "0.0" }, { "regions.0.measured.cycles_interval", "null" },
		{ "regions.0.ratio.value", "null" }, { NULL, NULL },
	};
	struct made *s = *state;
	struct gus_compared_row *hot = &s->c.rows.v[HOT], *cold = &s->c.rows.v[COLD];
	const uint8_t id[] = { 0x00, 0xab, 0x10 };

	s->traced.part = s->model.warm = true;
	s->c.basis = GUS_COMPARED_SHARES;
	s->m.time.known = false;
	s->m.cycles.evidence = GUS_OBSERVED;
	hot->instructions = 0;
	hot->ratio = hot->function_ratio = figure(1, 0, 9);
	cold->error = cold->share.ci.high = INFINITY;
	s->t.functions.v[0].name = NULL;
	s->t.functions.v[1].start = 64;
	s->t.functions.v[1].of = (struct gus_module){ .build_id = id, .build_id_size = sizeof(id) };
	expect_values(s, values);
	s->c.basis = GUS_COMPARED_CYCLES;
	hot->measured = figure(0, 0, INFINITY);
	hot->ratio = figure(1.3, 1.2, 1.4);
	hot->modelled = 0;
	expect_values(s, infinite);
}

static void json_lists(void **state)
{
	static const char *const words[] = { "x", "-y" };
	static const struct value values[] = {
		{ "regions.0.program", "{\"command\":[\"x\",\"-y\"],\"pid\":null,\"input\":\"a.data\"}" },
		{ "regions.0.host", "{\"machine\":\"x86_64\",\"cpu_vendor\":null,\"cpu\":\"A CPU\",\"family\":6,"
		  "\"model\":85,\"stepping\":4,\"midr\":null,\"microcode\":null,\"kernel\":null,\"hypervisor\":null,"
		  "\"cpus\":2}" },
		{ "regions.0.table.engine", "\"core\"" }, { "regions.0.table.of_the_host", "false" },
		{ "regions.0.knobs", "[{\"knob\":\"reorder buffer\",\"is_time\":false,\"times\":0.72},{\"knob\":"
		  "\"latency mul\",\"is_time\":true,\"times\":1.25}]" },
		{ "regions.0.weak", "{\"instructions_without_row\":0.01,\"cycles_of_first_touches\":0.02,"
		  "\"accesses_beyond_l2\":0.03,\"mispredicted_per_1000\":4.0}" },
		{ "regions.0.instructions", "[{\"address\":0,\"text\":\"imul rax, rbx\",\"executed\":1000,\"samples\":"
		  "600,\"fused\":false,\"cycles\":9000.0},{\"address\":4,\"text\":\"dec rcx\",\"executed\":1000,"
		  "\"samples\":0,\"fused\":false,\"cycles\":3000.0},{\"address\":7,\"text\":\"jnz 0x0\",\"executed\":"
		  "1000,\"samples\":200,\"fused\":true,\"cycles\":null}]" },
		{ "regions.1.instructions", "null" },
		{ "common", "{\"regions\":9,\"knob\":{\"knob\":\"reorder buffer\",\"is_time\":false,\"times\":0.8},"
		  "\"explained\":0.6,\"forms\":{\"forms\":[{\"form\":\"IMUL (R64, R64)\",\"cycles_each\":2.0}],"
		  "\"explained\":0.8,\"predicted\":0.7}}" },
		{ "coverage.elsewhere", "[{\"function\":\"__strlen_evex [app]\",\"samples\":125,\"in_place_of\":"
		  "\"__strlen_avx2\"},{\"function\":\"other [app]\",\"samples\":9,\"in_place_of\":null}]" },
		{ NULL, NULL },
	}, process[] = {
		{ "regions.0.program", "{\"command\":null,\"pid\":77,\"input\":null}" },
		{ "regions.0.host.midr", "291" }, { NULL, NULL },
	};
	struct made *s = *state;
	struct gus_compared_row *hot = &s->c.rows.v[HOT];
	json_t *document;

	s->traced.command = words;
	s->traced.command_n = 2;
	s->traced.windows = &s->windows;
	s->process.pid = 77; /* whatever else there is */
	s->m.host = &s->host;
	s->host.machine = (char *)"x86_64";
	s->host.cpu_model = (char *)"A CPU";
	s->host.cpu_family = 6;
	s->host.cpu_model_number = 85;
	s->host.cpu_stepping = 4;
	s->host.cpus_online = 2;
	s->v.core = true;
	s->v.other_cpu = "znver3";
	s->v.listings = 1;
	hot->knobs[0] = (struct gus_compared_knob){ 0, 0.72 };
	hot->knobs[1] = (struct gus_compared_knob){ 1, 0.8 };
	hot->knobs_n = 2;
	hot->weak = (struct gus_compared_weak){ 0.01, 0.02, 0.03, 4 };
	s->c.common_of = 9;
	s->c.common = (struct gus_compared_common){ 0, 0.8, 0.6 };
	s->c.forms = (struct gus_residuals_fit){ .n = 1, .cycles = { 2 }, .explained = 0.8, .predicted = 0.7 };
	s->hashes[0] = s->p->insns[0].info.form;
	s->t.regions.v[HOT].cycles[0] = 12000;
	s->t.functions.v[0].name = "__strlen_avx2";
	s->m.coverage.elsewhere_n = 2;
	s->m.coverage.elsewhere[0] = (struct gus_coverage_function){ "__strlen_evex [app]", 125 };
	s->m.coverage.elsewhere[1] = (struct gus_coverage_function){ "other [app]", 9 };
	expect_values(s, values);
	s->v.rows = 1;
	document = json_of(s);
	assert_int_equal(json_array_size(json_object_get(document, "regions")), 1);
	json_decref(document);
	s->traced.command = NULL;
	s->traced.input = NULL;
	s->host.midr = 0x123;
	expect_values(s, process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(json_figures, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(json_of_shares, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(json_lists, made_comparison, made_comparison_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
