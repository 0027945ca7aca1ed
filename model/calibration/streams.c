/* SPDX-License-Identifier: MIT */
/* What comes and goes in a cycle at most: memory that is read or written from its beginning to its end, as one stream
 * or
 * as several beside each other, in words of each width that there is. */
#include <math.h>

#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/emit.h"
#include "model/calibration/host.h"
#include "model/calibration/memory.h"

enum {
	WIDTHS = 4, STREAMS = 3,
	BODY = 2048,            /* bytes of each stream in a pass, at most */
	ACCESSES = 64,          /* in a pass, at least */
	COLD = 16 << 20,
	L1_BYTES = 4096,        /* fits into any L1, in each of the streams */
	PASS_INDEX = 8, STREAM_BASE = 0, WORD = 9, /* registers */
};
static const unsigned widths[WIDTHS] = { 8, 16, 32, 64 }, streams[STREAMS] = { 1, 2, 4 };

static unsigned widest_of(const struct gus_calibration_host *host)
{
	return host->avx512 ? 64 : host->avx2 ? 32 : 16;
}

/* bytes: of a stream, a power of two. */
struct flow { unsigned width, streams; uint64_t bytes; bool store; };

static void emit_access(struct gus_micro *k, const struct flow *f, unsigned stream, unsigned n, uint64_t a_pass)
{
	const struct gus_micro_access to = { .way = GUS_MICRO_STRIDE,
		.offset = (int64_t)(stream * f->bytes + n * f->width),
		.stride = a_pass, .wrap = f->bytes };
	const unsigned v = (stream * 4 + n) % GUS_EMIT_V;

	if (f->width == 8 && f->store)
		gus_emit_store(k, WORD, STREAM_BASE + stream, (int32_t)(n * f->width), to);
	else if (f->width == 8)
		gus_emit_load(k, WORD, STREAM_BASE + stream, (int32_t)(n * f->width), to);
	else if (f->store)
		gus_emit_store_vector(k, v, f->width, STREAM_BASE + stream, (int32_t)(n * f->width), to);
	else
		gus_emit_load_vector(k, v, f->width, STREAM_BASE + stream, (int32_t)(n * f->width), to);
}

/* Each pass takes the next piece of each stream. */
static struct gus_micro *flow_micro(const struct gus_caching *m, const struct flow *f)
{
	struct gus_micro *k = gus_micro_new(m->host->isa, "%u streams of %llu KiB %s, %u bytes wide", f->streams,
					    (unsigned long long)f->bytes / 1024, f->store ? "written" : "read",
					f->width);
	uint64_t a_pass = f->bytes < BODY ? f->bytes : BODY;
	unsigned each;

	while (a_pass / f->width * f->streams > 2 * ACCESSES)
		a_pass /= 2;
	each = (unsigned)(a_pass / f->width);
	k->arena = f->streams * f->bytes;
	k->huge = m->host->arena_most_huge >= k->arena;
	gus_emit_begin(k);
	gus_emit_loop(k);
	for (unsigned s = 0; s < f->streams; s++) {
		gus_emit_address(k, STREAM_BASE + s, (int64_t)(s * f->bytes));
		gus_emit_add(k, STREAM_BASE + s, PASS_INDEX);
	}
	gus_emit_add_large(k, PASS_INDEX, (int32_t)a_pass);
	gus_emit_mask(k, PASS_INDEX, (unsigned)__builtin_ctzll(f->bytes));
	for (unsigned n = 0; n < each; n++)
		for (unsigned s = 0; s < f->streams; s++)
			emit_access(k, f, s, n, a_pass);
	gus_emit_end(k);
	k->warm = f->bytes / a_pass;
	k->passes = m->slow ? 0 : k->warm;
	if (m->slow && f->bytes * f->streams > COLD) /* caches that are simulated are cold at first: all is in memory */
		k->warm = 1;
	return k;
}

/* Bytes a cycle. */
static int time_flow(const struct gus_caching *m, const struct flow *f, double *rate, struct gus_error *err)
{
	struct gus_micro *k = flow_micro(m, f);
	uint64_t bytes = k->accesses.n * f->width;
	double cycles;
	int rc = gus_chase_run(m->host, &k, 1, &cycles, err);

	*rate = (double)bytes / cycles;
	return rc;
}

/* L1: how many a cycle, and how wide, by when a wider one does not bring more bytes any more. */
static int find_ports(struct gus_caching *m, bool store, struct gus_error *err)
{
	double a_cycle[WIDTHS] = { 0 }, bytes, best = 0;
	unsigned width = widths[0], n;

	for (n = 0; n < WIDTHS && widths[n] <= widest_of(m->host); n++) {
		const struct flow f = { widths[n], 1, L1_BYTES, store };

		if (time_flow(m, &f, &bytes, err) != 0)
			return -1;
		a_cycle[n] = bytes / widths[n];
		gus_caching_fact(m, store ? "l1d_stores_by_width" : "l1d_loads_by_width", "per_cycle", a_cycle[n],
				"of %u bytes, in L1", widths[n]);
		if (bytes > 1.1 * best) {
			best = bytes;
			width = widths[n];
		}
	}
	gus_caching_put(m, &(struct gus_caching_figure){ store ? "l1d_store_width" : "l1d_load_width", width, width,
		width, 0, 0,
		GUS_CONFIDENCE_HIGH }, "%.1f bytes a cycle, and wider ones are not more", best);
	if (store)
		gus_caching_put(m, &(struct gus_caching_figure){ "l1d_stores", fmax(round(a_cycle[0]), 1),
			floor(a_cycle[0]),
			ceil(a_cycle[0]), a_cycle[0], fmax(round(a_cycle[0]), 1),
			fabs(a_cycle[0] - round(a_cycle[0])) < 0.15 ?
			GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM }, "%.2f a cycle of 8 bytes, one behind the other",
			a_cycle[0]);
	else {
		const double each = best / width;

		gus_caching_put(m, &(struct gus_caching_figure){ "l1d_loads_vector", fmax(round(each), 1), floor(each),
			ceil(each), each, fmax(round(each), 1), fabs(each - round(each)) < 0.15 ? GUS_CONFIDENCE_HIGH :
			GUS_CONFIDENCE_LOW }, "%.2f a cycle of %u bytes", each, width);
		gus_caching_put(m, &(struct gus_caching_figure){ "l1d_loads", fmax(round(a_cycle[0]), 1),
			floor(a_cycle[0]), ceil(a_cycle[0]), a_cycle[0], fmax(round(a_cycle[0]), 1),
			fabs(a_cycle[0] - round(a_cycle[0])) < 0.15 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_LOW },
			"%.2f a cycle of 8 bytes", a_cycle[0]);
	}
	return 0;
}

struct way { const char *name, *fact; enum gus_caching_level level; };

/* The best of all widths and numbers of streams, and how many come within 2 % of it. */
struct rates { double best, all[WIDTHS * STREAMS]; size_t n, alike; };

static int time_rates(struct gus_caching *m, const struct way *way, uint64_t bytes, struct rates *r,
		      struct gus_error *err)
{
	*r = (struct rates){ 0 };
	for (unsigned w = 1; w < WIDTHS && widths[w] <= widest_of(m->host); w++)
		for (unsigned s = 0; s < STREAMS; s++) {
			struct flow f = { widths[w], streams[s], 0, false };

			for (f.bytes = BODY; 2 * f.bytes * f.streams <= bytes; f.bytes *= 2)
				;
			if (time_flow(m, &f, &r->all[r->n], err) != 0)
				return -1;
			gus_caching_fact(m, way->fact, "bytes", r->all[r->n], "%u streams, %u bytes wide, of %llu KiB",
				f.streams, f.width, (unsigned long long)(f.streams * f.bytes / 1024));
			r->best = fmax(r->best, r->all[r->n++]);
		}
	for (size_t i = 0; i < r->n; i++)
		r->alike += r->all[i] >= 0.98 * r->best;
	return 0;
}

/* A line mostly takes a whole number of cycles; one that doesn't is believed if several ways of reading come to it. */
static int find_bandwidth(struct gus_caching *m, const struct way *way, uint64_t bytes, struct gus_error *err)
{
	double line, whole, value;
	enum gus_confidence sure;
	struct rates r;
	bool is_whole;

	if (time_rates(m, way, bytes, &r, err) != 0)
		return -1;
	line = GUS_CACHING_LINE / r.best;
	whole = fmax(round(line), 1);
	is_whole = fabs(line - whole) < 0.1 * whole;
	value = is_whole ? ceil(GUS_CACHING_LINE / whole) : round(r.best);
	/* Memory that is read once has its pages walked for. */
	sure = (is_whole || r.alike >= 3) && !(m->slow && way->level == GUS_CACHING_FAR) ? GUS_CONFIDENCE_MEDIUM :
		GUS_CONFIDENCE_LOW;
	gus_caching_put(m, &(struct gus_caching_figure){ way->name, value, floor(fmin(r.best, value)),
		ceil(fmax(r.best, value)), line, GUS_CACHING_LINE / value, sure },
		"%.1f bytes a cycle at best, which is %.2f cycles a line", r.best, line);
	return 0;
}

int gus_caching_streams(struct gus_caching *m, struct gus_error *err)
{
	static const struct way ways[] = { { "l2_bandwidth", "l2_bandwidth_by", GUS_CACHING_L2 },
		{ "l3_bandwidth", "l3_bandwidth_by", GUS_CACHING_L3 },
		{ "memory_bandwidth", "memory_bandwidth_by", GUS_CACHING_FAR } };
	const uint64_t line = GUS_CACHING_LINE, *lines = m->lines;
	const uint64_t bytes[] = { lines[GUS_CACHING_L2] * line / 2, 4 * lines[GUS_CACHING_L2] * line,
		4 * (lines[GUS_CACHING_L3] > 8 * lines[GUS_CACHING_L2] ? lines[GUS_CACHING_L3] :
		8 * lines[GUS_CACHING_L2]) * line };

	if (find_ports(m, false, err) != 0 || find_ports(m, true, err) != 0)
		return -1;
	for (unsigned i = 0; i < 3 && m->lines[GUS_CACHING_L2]; i++) {
		if (ways[i].level == GUS_CACHING_L3 && m->cycles[GUS_CACHING_L3] <= 0)
			continue;
		if (find_bandwidth(m, &ways[i], bytes[i], err) != 0)
			return -1;
	}
	return 0;
}
