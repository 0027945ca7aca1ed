/* SPDX-License-Identifier: MIT */
/* The fits of caches and TLBs against memories that are made: sets that forget what was used longest ago, and a time
 * that is what accesses take one behind the other, or what comes side by side, whichever is longer. What such a memory
 * is made of is what has to be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"
#include "model/calibration/memory.h"
#include "model/calibration/micro.h"
#include "model/machine/config.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

enum { L1, L2, L3, FAR, LEVELS, PASSES_FEW = 64 };

struct sets { unsigned sets, ways; uint64_t *tags; };

/* latency: load to use, of each level; a_line: cycles that a line of it takes at least. second and walk: more. */
struct made_memory {
	struct { unsigned sets, ways; } cache[3], page, page_second, page_huge;
	double latency[LEVELS], a_line[LEVELS], second, walk;
	unsigned flight, walkers;
	double loads, stores;           /* a cycle, of at most so many bytes: */
	unsigned width;
	bool exclusive;                 /* L3 */
	unsigned disturbed;             /* one run of so many takes half as long again; 0: none */
	unsigned runs, fails_at;        /* fails_at: the run that the host cannot do; 0: none */
	/* By run, what was answered: who asks the same in the same order is answered at no cost. NULL: not kept. */
	struct answers { struct gus_vec(struct gus_micro_time) times; size_t next; } *kept;
};

static struct sets make_sets(unsigned sets, unsigned ways)
{
	return (struct sets){ sets, ways, gus_zalloc((size_t)sets * ways * sizeof(uint64_t)) };
}

/* Whether it is there; it is the newest then, and out what had to leave for it, + 1, or 0. */
static bool exchange(struct sets *s, uint64_t number, uint64_t *out)
{
	uint64_t *tags = s->tags + number % s->sets * s->ways, tag = number + 1;
	unsigned way = 0;
	bool there;

	while (way + 1 < s->ways && tags[way] != tag)
		way++;
	there = tags[way] == tag;
	*out = there ? 0 : tags[way];
	memmove(tags + 1, tags, way * sizeof(*tags));
	tags[0] = tag;
	return there;
}

static bool look_up(struct sets *s, uint64_t number)
{
	uint64_t out;

	return exchange(s, number, &out);
}

/* Whether it was there; it is no more. */
static bool take_out(struct sets *s, uint64_t number)
{
	uint64_t *tags = s->tags + number % s->sets * s->ways;

	for (unsigned way = 0; way < s->ways; way++)
		if (tags[way] == number + 1) {
			memmove(tags + way, tags + way + 1, (s->ways - way - 1) * sizeof(*tags));
			tags[s->ways - 1] = 0;
			return true;
		}
	return false;
}

struct state { struct sets cache[3], page, second, huge; };

/* Where a line is. An exclusive L3 has what had to leave L2, and nothing that is there. */
static unsigned level_of(struct state *s, uint64_t address, bool exclusive)
{
	unsigned level = L1;
	uint64_t out;

	if (exclusive) {
		if (look_up(&s->cache[L1], address / 64))
			return L1;
		if (exchange(&s->cache[L2], address / 64, &out))
			return L2;
		level = take_out(&s->cache[L3], address / 64) ? L3 : FAR;
		if (out)
			look_up(&s->cache[L3], out - 1);
		return level;
	}
	while (level < FAR && !look_up(&s->cache[level], address / 64))
		level++;
	return level;
}

static double translation_of(const struct made_memory *m, struct state *s, uint64_t address, bool huge, bool *walked)
{
	*walked = false;
	if (huge)
		return look_up(&s->huge, address >> 21) ? 0 : m->second;
	if (look_up(&s->page, address >> 12))
		return 0;
	*walked = !look_up(&s->second, address >> 12);
	return *walked ? m->walk : m->second;
}

/* What a pass takes: chains one behind the other, and so many lines, walks and accesses at once. */
static double time_pass(const struct made_memory *m, struct state *s, const struct gus_micro *k,
			const struct gus_micro_walk *w, unsigned width, bool store)
{
	double chain[GUS_CHASE_LISTS] = { 0 }, missing = 0, walking = 0, lines = 0, most = 0;

	for (size_t i = 0; i < w->addresses.n; i++) {
		const struct gus_micro_access *a = &k->accesses.v[i];
		bool walked, side = a->way == GUS_MICRO_CHASE && !a->step && a->offset >= 4096;
		double more = translation_of(m, s, w->addresses.v[i], k->huge, &walked);
		unsigned level = level_of(s, w->addresses.v[i], m->exclusive);

		walking += walked ? more : 0;
		missing += level > L1 ? m->latency[level] : 0;
		lines += m->a_line[level];
		if (a->way == GUS_MICRO_CHASE && !side)
			chain[a->list] += m->latency[level] + more;
	}
	for (unsigned i = 0; i < GUS_CHASE_LISTS; i++)
		most = fmax(most, chain[i]);
	if (k->lists.n)
		most = fmax(most, fmax(missing / m->flight, walking / m->walkers));
	else
		most = fmax(lines, (double)w->addresses.n / (store ? m->stores : m->loads) *
			    (width > m->width ? width / m->width : 1));
	return most;
}

/* Flows say in their name what they do: "4 streams of 8 KiB read, 32 bytes wide". */
static void kind_of(const struct gus_micro *k, unsigned *width, bool *store)
{
	const char *wide = strstr(k->name, "KiB ");

	*store = wide && strstr(wide, "written");
	*width = wide && (wide = strchr(wide, ',')) ? (unsigned)strtoul(wide + 1, NULL, 10) : 8;
}

static double cycles_of(const struct made_memory *m, const struct gus_micro *k)
{
	struct state s = { { { 0 } }, make_sets(m->page.sets, m->page.ways),
		make_sets(m->page_second.sets, m->page_second.ways), make_sets(m->page_huge.sets, m->page_huge.ways) };
	uint64_t passes = k->passes ? k->passes : k->warm > PASSES_FEW ? k->warm : PASSES_FEW;
	struct gus_micro_walk w;
	double cycles = 0;
	unsigned width;
	bool store;

	for (unsigned i = 0; i < 3; i++)
		s.cache[i] = make_sets(m->cache[i].sets, m->cache[i].ways);
	kind_of(k, &width, &store);
	gus_micro_walk_begin(&w, k);
	for (uint64_t pass = 0; pass < k->warm + passes; pass++) {
		gus_micro_walk_next(&w);
		cycles += time_pass(m, &s, k, &w, width, store) * (pass >= k->warm);
	}
	gus_micro_walk_end(&w);
	for (unsigned i = 0; i < 3; i++)
		free(s.cache[i].tags);
	free(s.page.tags);
	free(s.second.tags);
	free(s.huge.tags);
	return cycles / (double)passes;
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct made_memory *m = context;
	struct answers *kept = m->kept;

	if (++m->runs == m->fails_at)
		return gus_fail(err, GUS_E_SYSTEM, "run %u does not go", m->runs);
	for (size_t i = 0; i < n; i++) {
		assert_true(micros[i]->end > micros[i]->loop && micros[i]->end <= micros[i]->code.n);
		if (kept && kept->next < kept->times.n) {
			times[i] = kept->times.v[kept->next++];
			continue;
		}
		times[i] = (struct gus_micro_time){ .samples = 1, .kept = 1, .cycles = cycles_of(m, micros[i]) };
		times[i].cycles *= m->disturbed && m->runs % m->disturbed == 0 ? 1.5 : 1;
		times[i].median = times[i].high = times[i].cycles;
		if (kept) {
			gus_vec_push(&kept->times, times[i]);
			kept->next++;
		}
	}
	return 0;
}

/* L1 32 KiB of 8 ways, L2 256 KiB of 8, L3 8 MiB of 16; TLBs of 64 pages in 4 ways, 1024 in 8, and 16 huge ones. */
static const struct made_memory made = {
	.cache = { { 64, 8 }, { 512, 8 }, { 8192, 16 } }, .page = { 16, 4 }, .page_second = { 128, 8 },
	.page_huge = { 1, 16 }, .latency = { 4, 14, 40, 200 }, .a_line = { 0, 2, 4, 8 }, .second = 7, .walk = 30,
	.flight = 10, .walkers = 2, .loads = 2, .stores = 1, .width = 32,
};

enum { MEMORY = 64 << 20 };

static struct gus_calibration_host host_of(struct made_memory *m)
{
	return (struct gus_calibration_host){ .context = m, .isa = GUS_ISA_X86_64, .arena_most = MEMORY,
		.arena_most_huge = MEMORY, .avx2 = true, .avx512 = true, .cycles_a_second = 3e9, .run = run };
}

static struct gus_uarch *table(void)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);

	assert_non_null(u);
	return u;
}

struct told { unsigned n; double done; };

static void tell(void *context, const char *what, double done)
{
	struct told *t = context;

	assert_non_null(what);
	assert_true(done <= 1 && (t->n ? done > t->done : done == 0));
	t->n++;
	t->done = done;
}

static int fit_host(const struct gus_calibration_host *host, enum gus_calibration_depth depth, struct gus_fit *f,
		    struct told *told)
{
	struct gus_uarch *u = table();
	struct gus_calibration c = { .host = host, .nearest = u, .depth = depth, .progress = told ? tell : NULL,
		.progress_context = told };
	struct gus_error err = { 0 };
	int rc = gus_fit_memory(&c, f, &err);

	if (rc != 0)
		assert_true(err.code != 0 && err.text[0]);
	gus_uarch_free(u);
	return rc;
}

struct expected { const char *name; double value; enum gus_confidence least; };

static void expect(const struct gus_fit *f, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gus_fit_param *p = gus_fit_get(f, e[i].name);

		if (!p)
			fail_msg("%s was not tried", e[i].name);
		if (isnan(e[i].value) ? !isnan(p->value) : !(fabs(p->value - e[i].value) < 1e-9))
			fail_msg("%s is %g, not %g (%s)", e[i].name, p->value, e[i].value, p->why);
		if (isnan(e[i].value) ? p->confidence != GUS_CONFIDENCE_NONE : p->confidence != e[i].least)
			fail_msg("%s: %s", e[i].name, gus_confidence_name(p->confidence));
		if (!isnan(p->value) && !(p->low <= p->value && p->value <= p->high))
			fail_msg("%s: %g in %g to %g", e[i].name, p->value, p->low, p->high);
		assert_true(p->why[0]);
		if (!isnan(p->value) && !(p->residual >= 0 && p->residual < 0.05))
			fail_msg("%s: %g are left", e[i].name, p->residual);
	}
}
#define EXPECT(f, e) expect((f), (e), sizeof(e) / sizeof(*(e)))

static const struct gus_fit_fact *fact_of(const struct gus_fit *f, const char *name)
{
	for (size_t i = 0; i < f->facts.n; i++)
		if (strcmp(f->facts.v[i].name, name) == 0)
			return &f->facts.v[i];
	fail_msg("%s is not told", name);
	return NULL;
}

/* Where pages are huge, all is found as it was made. */
static void huge_pages_show_all(void **state)
{
	static const struct expected figures[] = {
		{ "l1d_latency", 4, GUS_CONFIDENCE_HIGH }, { "l1d_size", 32, GUS_CONFIDENCE_HIGH },
		{ "l1d_ways", 8, GUS_CONFIDENCE_HIGH }, { "dtlb_size", 64, GUS_CONFIDENCE_HIGH },
		{ "dtlb_ways", 4, GUS_CONFIDENCE_HIGH }, { "stlb_latency", 7, GUS_CONFIDENCE_HIGH },
		{ "stlb_size", 1024, GUS_CONFIDENCE_HIGH }, { "page_walk_latency", 30, GUS_CONFIDENCE_MEDIUM },
		{ "dtlb_huge_size", 16, GUS_CONFIDENCE_HIGH }, { "line_size", 64, GUS_CONFIDENCE_HIGH },
		{ "l2_size", 256, GUS_CONFIDENCE_HIGH }, { "l2_latency", 14, GUS_CONFIDENCE_HIGH },
		{ "l2_ways", 8, GUS_CONFIDENCE_LOW }, { "l3_latency", 40, GUS_CONFIDENCE_HIGH },
		{ "l3_size", 8192, GUS_CONFIDENCE_MEDIUM }, { "l1d_misses", 10, GUS_CONFIDENCE_MEDIUM },
		{ "l2_misses", NAN, 0 }, { "page_walks", 2, GUS_CONFIDENCE_HIGH },
		{ "l1d_load_width", 32, GUS_CONFIDENCE_HIGH }, { "l1d_loads", 2, GUS_CONFIDENCE_HIGH },
		{ "l1d_loads_vector", 2, GUS_CONFIDENCE_HIGH }, { "l1d_store_width", 32, GUS_CONFIDENCE_HIGH },
		{ "l1d_stores", 1, GUS_CONFIDENCE_HIGH }, { "l2_bandwidth", 32, GUS_CONFIDENCE_MEDIUM },
		{ "l3_bandwidth", 16, GUS_CONFIDENCE_MEDIUM }, { "memory_bandwidth", 8, GUS_CONFIDENCE_MEDIUM },
		{ "l1d_next_line", 0, GUS_CONFIDENCE_HIGH }, { "l2_next_line", 0, GUS_CONFIDENCE_HIGH },
		{ "l1d_strides", 0, GUS_CONFIDENCE_HIGH }, { "l1d_stride_ahead", NAN, 0 },
	};
	struct made_memory m = made;
	struct gus_calibration_host host = host_of(&m);
	struct gus_fit f = { .params = { 0 } };
	static const char *const sizes[] = { "l1d_size", "dtlb_size", "stlb_size", "l2_size" };
	const struct gus_fit_param *far;
	struct told told = { 0 };

	(void)state;
	assert_int_equal(fit_host(&host, GUS_CALIBRATION_FULL, &f, &told), 0);
	EXPECT(&f, figures);
	assert_int_equal(told.n, 6);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const struct gus_fit_param *p = gus_fit_get(&f, sizes[i]);

		if (!(p->low > 0.98 * p->value && p->high < 1.02 * p->value))
			fail_msg("%s: %g in %g to %g", sizes[i], p->value, p->low, p->high);
	}
	assert_null(strstr(gus_fit_get(&f, "l3_size")->why, "L2 beside it"));
	/* of three fifths of L3 */
	assert_non_null(strstr(gus_fit_get(&f, "l3_latency")->why, "a walk over 4.8 MiB takes 40.0 cycles a load"));
	/* and up to what the second TLB costs of huge pages besides */
	far = gus_fit_get(&f, "memory_latency");
	assert_true(far->value >= floor(200. / GUS_CORE_CYCLES_A_NS) && far->value <= 207. / GUS_CORE_CYCLES_A_NS + 1);
	assert_int_equal(far->confidence, GUS_CONFIDENCE_HIGH);
	assert_true(fabs(fact_of(&f, "misses_in_flight_l3")->value - 10) < 0.3);
	assert_true(fabs(fact_of(&f, "misses_in_flight_memory")->value - 10) < 0.5);
	assert_true(fabs(fact_of(&f, "l1d_stores_by_width")->value - 1) < 0.01);
	gus_fit_free(&f);
}

/* Without huge pages it is told what they hide; one that is simulated has its pages in a row, so L2's edge is sharp. */
static void small_pages_show_less(void **state)
{
	static const struct expected figures[] = {
		{ "l1d_latency", 4, GUS_CONFIDENCE_HIGH }, { "l1d_size", 32, GUS_CONFIDENCE_HIGH },
		{ "l1d_ways", 8, GUS_CONFIDENCE_HIGH }, { "dtlb_size", 64, GUS_CONFIDENCE_HIGH },
		{ "dtlb_ways", 4, GUS_CONFIDENCE_HIGH }, { "stlb_latency", 7, GUS_CONFIDENCE_HIGH },
		{ "page_walk_latency", 30, GUS_CONFIDENCE_MEDIUM }, { "dtlb_huge_size", NAN, 0 },
		{ "line_size", 64, GUS_CONFIDENCE_HIGH },
		{ "l2_latency", 14, GUS_CONFIDENCE_HIGH }, { "l2_ways", NAN, 0 },
		{ "page_walks", 2, GUS_CONFIDENCE_HIGH }, { "l1d_loads", 2, GUS_CONFIDENCE_HIGH },
	};
	static const struct expected l2[2][1] = { { { "l2_size", 256, GUS_CONFIDENCE_MEDIUM } },
						  { { "l2_size", 256, GUS_CONFIDENCE_HIGH } } };

	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct made_memory m = made;
		struct gus_calibration_host host = host_of(&m);
		struct gus_fit f = { .params = { 0 } };

		host.arena_most_huge = 0;
		host.cycles_a_second = slow ? 1e6 : 3e9;
		assert_int_equal(fit_host(&host, GUS_CALIBRATION_FULL, &f, NULL), 0);
		EXPECT(&f, figures);
		EXPECT(&f, l2[slow]);
		assert_non_null(strstr(gus_fit_get(&f, "dtlb_huge_size")->why, "there are no huge pages"));
		gus_fit_free(&f);
	}
}

/* What L2 has is not in L3: together they have 5 MiB, of which 4 are L3's. */
static void an_exclusive_cache_is_told(void **state)
{
	static const struct expected figures[] = {
		{ "l2_size", 1024, GUS_CONFIDENCE_HIGH }, { "l2_ways", 8, GUS_CONFIDENCE_LOW },
		{ "l3_size", 4096, GUS_CONFIDENCE_MEDIUM },
	};
	struct made_memory m = made;
	struct gus_calibration_host host = host_of(&m);
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	m.exclusive = true;
	m.cache[1].sets = m.cache[2].sets = 2048; /* the same, so that what leaves has room where it came from */
	m.cache[2].ways = 32;
	assert_int_equal(fit_host(&host, GUS_CALIBRATION_FULL, &f, NULL), 0);
	EXPECT(&f, figures);
	assert_non_null(strstr(gus_fit_get(&f, "l3_size")->why, "; L2 beside it"));
	gus_fit_free(&f);
}

/* What is asked again is not misled by what is disturbed now and then. */
static void a_disturbed_memory_is_found(void **state)
{
	static const struct expected figures[] = {
		{ "l1d_size", 32, GUS_CONFIDENCE_HIGH }, { "l1d_ways", 8, GUS_CONFIDENCE_HIGH },
		{ "dtlb_size", 64, GUS_CONFIDENCE_HIGH }, { "stlb_latency", 7, GUS_CONFIDENCE_HIGH },
		{ "l2_size", 256, GUS_CONFIDENCE_HIGH },
	};
	struct made_memory m = made;
	struct gus_calibration_host host = host_of(&m);
	struct gus_fit f = { .params = { 0 } };
	struct told told = { 0 };

	(void)state;
	m.disturbed = 7;
	assert_int_equal(fit_host(&host, GUS_CALIBRATION_QUICK, &f, &told), 0);
	EXPECT(&f, figures);
	/* Of the quick ones some are left out. */
	assert_int_equal(told.n, 3);
	assert_null(gus_fit_get(&f, "dtlb_ways"));
	assert_null(gus_fit_get(&f, "l3_size"));
	assert_null(gus_fit_get(&f, "l1d_loads"));
	gus_fit_free(&f);
}

/* Of a machine that has a first cache as large as all memory, and no TLB that is ever full, there is nothing to see. */
static void what_has_no_edge_is_hidden(void **state)
{
	static const struct expected figures[] = {
		{ "l1d_latency", 4, GUS_CONFIDENCE_HIGH }, { "l1d_size", NAN, 0 }, { "dtlb_size", NAN, 0 },
		{ "stlb_latency", NAN, 0 }, { "page_walk_latency", NAN, 0 }, { "dtlb_huge_size", NAN, 0 },
		{ "page_walks", NAN, 0 }, { "l1d_loads", 2, GUS_CONFIDENCE_HIGH },
	};
	struct made_memory m = made;
	struct gus_calibration_host host = host_of(&m);
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	m.cache[0].sets = 1 << 20;
	m.page.sets = 1 << 16;
	m.page_huge.ways = 32;
	assert_int_equal(fit_host(&host, GUS_CALIBRATION_FULL, &f, NULL), 0);
	EXPECT(&f, figures);
	assert_null(gus_fit_get(&f, "l1d_ways"));
	assert_null(gus_fit_get(&f, "l2_size"));
	assert_null(gus_fit_get(&f, "l2_bandwidth"));
	gus_fit_free(&f);
}

/* Whichever run it is that cannot be done. */
static void errors_come_through(void **state)
{
	struct answers kept = { .times = { 0 } };
	struct made_memory m = made;
	struct gus_calibration_host host = host_of(&m);
	struct gus_fit f = { .params = { 0 } };
	unsigned runs;

	(void)state;
	m.kept = &kept;
	assert_int_equal(fit_host(&host, GUS_CALIBRATION_FULL, &f, NULL), 0);
	gus_fit_free(&f);
	runs = m.runs;
	assert_true(runs > 100);
	for (m.fails_at = 1; m.fails_at <= runs; m.fails_at++) {
		f = (struct gus_fit){ .params = { 0 } };
		m.runs = 0;
		kept.next = 0;
		if (fit_host(&host, GUS_CALIBRATION_FULL, &f, NULL) != -1)
			fail_msg("run %u of %u fails, and that is no error", m.fails_at, runs);
		gus_fit_free(&f);
	}
	gus_vec_free(&kept.times);
}

/* By turns what stays is there again; at random nothing is counted on. */
static void translations_cost_by_level(void **state)
{
	struct gus_caching m = { .pages = 64, .pages_second = 1024, .second = 7, .walk = 30 };

	(void)state;
	assert_true(gus_caching_translation(&m, 64, 1) == 0);
	assert_true(gus_caching_translation(&m, 128, 1) == 3.5);
	assert_true(gus_caching_translation(&m, 128, 9) == 7. / 9);
	assert_true(gus_caching_translation(&m, 1024, 1) == 7 * (1 - 64. / 1024));
	assert_true(gus_caching_translation(&m, 2048, 1) == 15);
	assert_true(gus_caching_translation(&m, 2048, 9) == 30. / 9);
	m.pages_second = 0;
	assert_true(gus_caching_translation(&m, 2048, 9) == 7. / 9);
	m.huge = true;
	assert_true(gus_caching_translation(&m, 2048, 9) == 0);
}

/* What lies between two whole numbers is less sure, and it is said how far off the number is. */
static void between_two_numbers_it_is_less_sure(void **state)
{
	static const struct { const char *name; double value, measured; enum gus_confidence confidence; } of[] = {
		{ "l1d_latency", 4, 4.25, GUS_CONFIDENCE_MEDIUM }, { "stlb_latency", 7, 7.25, GUS_CONFIDENCE_MEDIUM },
		{ "l2_latency", 15, 14.75, GUS_CONFIDENCE_MEDIUM }, { "l1d_loads", 2, 1.6, GUS_CONFIDENCE_LOW },
		{ "l1d_stores", 1, 0.8, GUS_CONFIDENCE_MEDIUM }, { "l1d_loads_vector", 2, 1.6, GUS_CONFIDENCE_LOW },
		{ "page_walks", 2, 2, GUS_CONFIDENCE_HIGH }, { "l2_bandwidth", 28, 2.3, GUS_CONFIDENCE_MEDIUM },
	};
	struct made_memory m = made;
	struct gus_calibration_host host = host_of(&m);
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	m.latency[L1] = 4.25;
	m.latency[L2] = 14.75;
	m.second = 7.25;
	m.loads = 1.6;
	m.stores = 0.8;
	m.a_line[L2] = 2.3;
	assert_int_equal(fit_host(&host, GUS_CALIBRATION_FULL, &f, NULL), 0);
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		const struct gus_fit_param *p = gus_fit_get(&f, of[i].name);

		if (!p || p->value != of[i].value || p->confidence != of[i].confidence)
			fail_msg("%s: %g, %s", of[i].name, p ? p->value : NAN, p ? p->why : "");
		if (i < 6 && !(fabs(p->residual - fabs(of[i].measured - of[i].value) / of[i].value) < 0.005))
			fail_msg("%s: %g are left", of[i].name, p->residual);
	}
	gus_fit_free(&f);
}

/* Times that are none, or not yet. */
struct moody { unsigned runs, without, fails_at; double median; uint32_t trouble; };

static int run_moody(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
		     struct gus_error *err)
{
	struct moody *m = context;
	bool without = m->runs++ < m->without;

	(void)micros;
	if (m->runs == m->fails_at)
		return gus_fail(err, GUS_E_SYSTEM, "not 1 lists of 1000 places, 64 apart");
	for (size_t i = 0; i < n; i++)
		times[i] = (struct gus_micro_time){ .cycles = without ? NAN : 32, .median = m->median,
			.trouble = m->trouble };
	return 0;
}

static void times_are_asked_for_until_there_are_some(void **state)
{
	static const struct { struct moody moody; int rc; double cycles; unsigned runs; } cases[] = {
		{ { .without = 0, .median = 48 }, 0, 2, 1 },
		{ { .without = 1, .median = 48 }, 0, 2, 2 },
		{ { .without = 4, .median = 48 }, 0, 2, 5 },
		{ { .without = 5, .median = 48 }, 0, 3, 5 },
		{ { .without = 5, .median = NAN }, 0, INFINITY, 5 },
		{ { .without = 0, .median = 48, .trouble = GUS_MICRO_MOVED }, 0, 2, 1 },
		{ { .without = 9, .median = 48, .trouble = GUS_MICRO_FAULT }, -1, 0, 1 },
		{ { .without = 9, .median = 48, .fails_at = 1 }, -1, 0, 1 },
		{ { .without = 9, .median = 48, .fails_at = 2 }, -1, 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct moody moody = cases[i].moody;
		struct gus_calibration_host host = { .context = &moody, .isa = GUS_ISA_X86_64, .arena_most = MEMORY,
			.cycles_a_second = 3e9, .run = run_moody };
		struct gus_chase c = gus_chase_of(1000, 64, false);
		struct gus_error err = { 0 };
		double cycles = 0;

		assert_int_equal(gus_chase_time(&host, &c, &cycles, &err), cases[i].rc);
		if (cases[i].rc == 0 && cycles != cases[i].cycles)
			fail_msg("case %zu: %g", i, cycles);
		if (cases[i].rc != 0)
			assert_non_null(strstr(err.text, "1 lists of 1000 places, 64 apart"));
		assert_int_equal(moody.runs, cases[i].runs);
	}
}

/* The passes of a chase, and where it leaves its mark. */
struct seen { uint64_t warm, passes, arena; size_t accesses, patterns, code; };

static int run_seen(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
		    struct gus_error *err)
{
	const struct gus_micro *k = micros[0];

	(void)err;
	assert_int_equal(n, 1);
	*(struct seen *)context = (struct seen){ k->warm, k->passes, k->arena, k->accesses.n, k->patterns.n,
		k->end - k->loop };
	times[0] = (struct gus_micro_time){ .cycles = 16, .median = 16 };
	return 0;
}

static struct seen see(struct gus_chase *c, double cycles_a_second)
{
	struct seen seen;
	struct gus_calibration_host host = { .context = &seen, .isa = GUS_ISA_X86_64, .arena_most = MEMORY,
		.cycles_a_second = cycles_a_second, .run = run_seen };
	struct gus_error err = { 0 };
	double cycles;

	assert_int_equal(gus_chase_time(&host, c, &cycles, &err), 0);
	assert_true(cycles == 1);
	return seen;
}

static void passes_go_once_around(void **state)
{
	struct gus_chase c = gus_chase_of(1001, 64, false);
	struct seen seen = see(&c, 3e9), beside;

	(void)state;
	assert_int_equal(seen.warm, 63);
	assert_int_equal(seen.passes, 63);
	assert_int_equal(seen.arena, 1001 * 64 + 8);
	assert_int_equal(seen.accesses, 16);
	c.beside = 3;
	beside = see(&c, 1e6);
	assert_int_equal(beside.code, seen.code + 16 * 3);
	assert_int_equal(beside.warm, 126);
	assert_int_equal(beside.passes, 0);
	c.list[0].places = 1 << 18; /* is walked around but once */
	assert_int_equal(see(&c, 1e6).warm, 1 << 14);
	c.list[0].places--;
	assert_int_equal(see(&c, 1e6).warm, 2 << 14);
	/* The longest of several lists counts, and the farthest end. */
	c = gus_chase_of(32, 64, false);
	c.list[1] = (struct gus_micro_list){ .start = 4096, .places = 320, .distance = 64, .skews = 3, .skew = 8 };
	c.lists = 2;
	seen = see(&c, 3e9);
	assert_int_equal(seen.warm, 20);
	assert_int_equal(seen.arena, 4096 + 320 * 64 + 3 * 8 + 8);
	assert_int_equal(seen.accesses, 32);
	/* One that goes on keeps where it is in a line of its own behind the list. */
	c = gus_chase_of(1000, 64, false);
	c.resumed = true;
	seen = see(&c, 3e9);
	assert_int_equal(seen.warm, 1);
	assert_int_equal(seen.passes, 8192 / 16);
	assert_int_equal(seen.arena, 1000 * 64 + 64 + 64);
	assert_int_equal(seen.accesses, 17);
	assert_int_equal(seen.patterns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(huge_pages_show_all),
		cmocka_unit_test(small_pages_show_less),
		cmocka_unit_test(an_exclusive_cache_is_told),
		cmocka_unit_test(a_disturbed_memory_is_found),
		cmocka_unit_test(what_has_no_edge_is_hidden),
		cmocka_unit_test(errors_come_through),
		cmocka_unit_test(translations_cost_by_level),
		cmocka_unit_test(between_two_numbers_it_is_less_sure),
		cmocka_unit_test(times_are_asked_for_until_there_are_some),
		cmocka_unit_test(passes_go_once_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
