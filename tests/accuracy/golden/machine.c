/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/draw.h"

/* What the forms of instructions do, and which ports there are, is that of a CPU that exists. */
static const char *const bases[] = { "haswell", "skylake", "icelake-server", "alderlake", "sapphirerapids", "znver2",
	"znver3", "znver4", "gracemont" };

struct text { struct gus_vec(char) bytes; };

static __attribute__((format(printf, 2, 3))) void say(struct text *t, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(NULL, 0, format, list);
	va_end(list);
	gus_vec_reserve(&t->bytes, t->bytes.n + (size_t)n + 1);
	va_start(list, format);
	vsnprintf(t->bytes.v + t->bytes.n, (size_t)n + 1, format, list);
	va_end(list);
	t->bytes.n += (size_t)n;
}

/* Sizes are drawn between what CPUs of the last fifteen years have, each by itself, but for what no CPU would have: a
 * scheduler larger than the ROB, say. step: a multiple of it. */
struct range { const char *name, *unit; uint32_t low, high, step; };

static const struct range ranges[] = {
	{ "load_buffer", "entries", 40, 192, 4 },
	{ "store_buffer", "entries", 24, 112, 4 },
	{ "branch_buffer", "entries", 32, 128, 8 },
	{ "int_registers", "entries", 128, 288, 4 },
	{ "vector_registers", "entries", 128, 288, 4 },
	{ "predecode_width", "instructions", 4, 8, 1 },
	{ "decode_width", "instructions", 3, 6, 1 },
	{ "uop_cache_size", "uops", 1024, 6144, 512 },
	{ "uop_cache_width", "uops", 4, 9, 1 },
	{ "queue_size", "uops", 32, 144, 8 },
	{ "mispredict_penalty", "cycles", 9, 20, 1 },
	{ "l1d_misses", "entries", 8, 24, 2 },
	{ "l2_latency", "cycles", 11, 19, 1 },
	{ "l3_latency", "cycles", 36, 76, 1 },
	{ "memory_latency", "ns", 55, 120, 1 },
	{ "memory_bandwidth", "bytes", 4, 14, 1 },
	{ "dtlb_size", "entries", 32, 128, 16 },
	{ "stlb_latency", "cycles", 6, 10, 1 },
	{ "page_walk_latency", "cycles", 18, 45, 1 },
	{ "page_walks", "entries", 1, 4, 1 },
	{ "store_forward_latency", "cycles", 4, 6, 1 },
	{ "store_forward_blocked", "cycles", 12, 19, 1 },
	{ "alias_penalty", "cycles", 3, 8, 1 },
	{ "line_split_penalty", "cycles", 2, 8, 1 },
	{ "l1d_next_line", "entries", 0, 1, 1 },
	{ "l1d_stride_ahead", "entries", 2, 16, 1 },
	{ "l2_next_line", "entries", 0, 3, 1 },
	{ "l1d_stores", "per_cycle", 1, 2, 1 },
};

struct words { const char *name, *unit; const char *choice[9]; };

static const struct words choices[] = {
	{ "port_binding", "policy", { "fewest", "alternate", "round_robin", "slots", "ranks", "rotate", "any" } },
	{ "l1d_replacement", "policy", { "lru", "tree_plru", "random", "srrip" } },
	{ "l2_replacement", "policy", { "lru", "tree_plru", "srrip", "qlru_h00_m1_r2_u1" } },
	{ "l3_replacement", "policy", { "lru", "srrip", "random", "qlru_h11_m1_r0_u0" } },
	{ "l2_inclusion", "policy", { "none", "inclusive" } },
	{ "l3_inclusion", "policy", { "none", "inclusive", "exclusive" } },
	{ "l2_bandwidth", "bytes", { "16", "32", "64" } },
	{ "l3_bandwidth", "bytes", { "8", "16", "32" } },
	{ "fetch_bytes", "bytes", { "16", "32" } },
	{ "l1d_size", "KiB", { "32", "48", "64" } },
	{ "l1i_size", "KiB", { "32", "64" } },
	{ "l2_size", "KiB", { "256", "512", "1024", "2048" } },
	{ "l3_size", "KiB", { "2048", "4096", "8192", "16384", "32768" } },
	{ "l1d_strides", "entries", { "0", "16", "64" } },
	{ "itlb_size", "entries", { "32", "64", "128" } },
	{ "stlb_size", "entries", { "512", "1024", "1536", "2048", "3072" } },
	{ "move_elimination_int", "flag", { "yes", "no" } },
	{ "macro_fusion", "policy", { "test_cmp", "test_cmp_add", "none" } },
};

static void say_ways(struct text *t, struct golden_draw *d)
{
	static const char *const level[] = { "l1d", "l1i", "l2", "l3" };

	for (unsigned i = 0; i < 4; i++) /* all sizes above are multiples of these, too */
		say(t, "param %s_ways %u ways golden\n", level[i], i < 2 ? 8u : 8u << golden_draw_below(d, 2));
	say(t, "param dtlb_ways %u ways golden\n", 4u << golden_draw_below(d, 2));
	say(t, "param stlb_ways %u ways golden\n", 4u << golden_draw_below(d, 2));
}

/* A window and what belongs to it: no wider than it can be filled. */
static void say_window(struct text *t, struct golden_draw *d)
{
	uint32_t width = golden_draw_between(d, 3, 8), retire = width + golden_draw_below(d, 4);
	uint32_t rob = 32 * width + 16 * golden_draw_below(d, 17), rs = rob / 4 + golden_draw_below(d, rob / 5);

	say(t, "param issue_width %u uops golden\n", width);
	say(t, "param retire_width %u uops golden\n", retire);
	say(t, "param rob %u entries golden\n", rob);
	say(t, "param rs %u entries golden\n", rs);
	say(t, "param store_sets %u entries golden\n", 256u << golden_draw_below(d, 4));
}

static void say_parameters(struct text *t, uint64_t seed)
{
	struct golden_draw d = golden_draw_begin(seed, "window");

	say_window(t, &d);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		const struct range *r = &ranges[i];

		d = golden_draw_begin(seed, r->name);
		say(t, "param %s %u %s golden\n", r->name,
		    r->low + r->step * golden_draw_below(&d, (r->high - r->low) / r->step + 1), r->unit);
	}
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		uint32_t n = 0;

		while (choices[i].choice[n])
			n++;
		d = golden_draw_begin(seed, choices[i].name);
		say(t, "param %s %s %s golden\n", choices[i].name, choices[i].choice[golden_draw_below(&d, n)],
		    choices[i].unit);
	}
	d = golden_draw_begin(seed, "ways");
	say_ways(t, &d);
}

/* Latencies: by the latency of the base and by the ports, so that alike instructions stay alike. Most stay. */
static int more_cycles(uint64_t seed, const struct gus_uarch *base, const struct gus_uarch_row *r)
{
	uint32_t group = r->uses_n ? base->uses[r->uses].group : 0;
	char what[64];
	struct golden_draw d;

	snprintf(what, sizeof(what), "latency %u %u", r->latency, group);
	d = golden_draw_begin(seed, what);
	if (r->latency < 300 || golden_draw_below(&d, 5) < 2)
		return 0;
	if (r->latency <= 600)
		return (int)golden_draw_below(&d, 3) - 1;
	return (int)(r->latency / 100 * (0.7 + 0.6 * golden_draw_unit(&d))) - (int)(r->latency / 100);
}

static bool is_plain(const struct gus_uarch_row *r)
{
	return r->uops && r->uops <= 2 && !r->pairs_n && !r->least && !r->microcoded && !r->guessed &&
		!strchr(r->id, ' ');
}

static void say_row(struct text *t, const struct gus_uarch *base, const struct gus_uarch_row *r, int more)
{
	say(t, "row %s uops %u latency %.2f", r->id, r->uops, r->latency / 100. + more);
	if (r->fused)
		say(t, " fused %u", r->fused);
	if (r->decoded)
		say(t, " decoded %u", r->decoded);
	if (r->complex)
		say(t, " complex");
	if (r->loadlat)
		say(t, " loadlat %.2f", r->loadlat / 100. + more);
	for (uint32_t i = 0; i < r->uses_n; i++)
		say(t, "%s%s:%.2f", i ? " " : " uses ", base->groups[base->uses[r->uses + i].group].name,
		    base->uses[r->uses + i].cycles / 100.);
	for (uint32_t i = 0; i < r->units_n; i++)
		say(t, "%s%s:%.2f", i ? " " : " exclusive ", base->units[base->uses[r->units + i].group],
		    base->uses[r->units + i].cycles / 100.);
	say(t, " source golden\n");
}

static int say_table(struct text *t, uint64_t seed, struct gus_error *err)
{
	struct golden_draw d = golden_draw_begin(seed, "base");
	const char *name = bases[golden_draw_below(&d, sizeof(bases) / sizeof(*bases))];
	struct gus_uarch *base = gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, err);

	if (!base)
		return -1;
	say(t, "uarch golden-%llu isa x86-64 \"Golden machine %llu\"\n", (unsigned long long)seed,
	    (unsigned long long)seed);
	say(t, "like %s\nsource golden \"drawn from seed %llu; no CPU is like this\"\n", name,
	    (unsigned long long)seed);
	say_parameters(t, seed);
	for (uint32_t i = 0; i < base->rows_n; i++) {
		int more = is_plain(&base->rows[i]) ? more_cycles(seed, base, &base->rows[i]) : 0;

		if (more)
			say_row(t, base, &base->rows[i], more);
	}
	gus_uarch_free(base);
	return 0;
}

/* From a plain table of counters to one larger than the default. */
static void draw_predictor(struct gus_branch_config *c, uint64_t seed)
{
	struct golden_draw d = golden_draw_begin(seed, "predictor");

	c->base_bits = golden_draw_between(&d, 11, 14);
	c->direction.tables = golden_draw_below(&d, 5) ? golden_draw_between(&d, 3, 12) : 0;
	c->direction.entry_bits = golden_draw_between(&d, 8, 11);
	c->direction.tag_bits = golden_draw_between(&d, 8, 12);
	c->direction.history_min = golden_draw_between(&d, 3, 8);
	c->direction.history_max = 64u << golden_draw_below(&d, 4);
	c->target.entry_bits = golden_draw_between(&d, 7, 10);
	c->btb_entries = 1024u << golden_draw_below(&d, 4);
	c->return_depth = golden_draw_between(&d, 12, 32);
}

static int settle(struct golden_machine *m, struct gus_error *err)
{
	gus_core_config_of(&m->config, m->uarch);
	gus_cache_config_of(&m->caches, m->uarch);
	gus_branch_config_of(&m->predictor, &m->config);
	return gus_core_config_check(&m->config, err);
}

struct golden_machine *golden_machine_of(const char *name, struct gus_error *err)
{
	return golden_machine_of_table(gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, err), err);
}

struct golden_machine *golden_machine_of_table(struct gus_uarch *u, struct gus_error *err)
{
	struct golden_machine *m = gus_zalloc(sizeof(*m));

	m->uarch = u;
	m->traits = golden_traits_none();
	if (!m->uarch || settle(m, err) != 0) {
		golden_machine_free(m);
		return NULL;
	}
	return m;
}

struct golden_machine *golden_machine_new(uint64_t seed, struct gus_error *err)
{
	struct golden_machine *m = gus_zalloc(sizeof(*m));
	struct text t = { .bytes = { 0 } };
	char name[64];

	m->seed = seed;
	snprintf(name, sizeof(name), "golden-%llu", (unsigned long long)seed);
	if (say_table(&t, seed, err) == 0) {
		say(&t, "%s", "");
		m->text = t.bytes.v;
		m->uarch = gus_uarch_parse(name, m->text, t.bytes.n, &gus_uarch_builtin, 0, err);
	}
	if (!m->uarch || settle(m, err) != 0) {
		golden_machine_free(m);
		return NULL;
	}
	draw_predictor(&m->predictor, seed);
	m->traits = golden_traits_draw(seed, &m->config);
	golden_traits_function(m->traits, &m->predictor, &m->caches);
	return m;
}

void golden_machine_stress(struct golden_machine *m, enum golden_trait stress)
{
	uint32_t bits = golden_traits_bits(m->traits) | 1u << stress;

	golden_traits_free(m->traits);
	m->traits = golden_traits_of(bits, m->seed, &m->config);
}

void golden_machine_strip(struct golden_machine *m)
{
	golden_traits_free(m->traits);
	m->traits = golden_traits_none();
	m->predictor.train_late = 0;
	m->caches.prefetch_throttle = 0;
}

void golden_machine_free(struct golden_machine *m)
{
	if (!m)
		return;
	gus_uarch_free(m->uarch);
	golden_traits_free(m->traits);
	free(m->text);
	free(m);
}
