/* SPDX-License-Identifier: MIT */
/* What comes along with what is asked for. Places are walked in blocks, each in a page of its own that was not looked
 * at for long, and these in a random order: what the places of a block cost beyond L1 tells which of them were fetched
 * before they were asked for, and into which level. A load waits behind the one before it until what that one brings
 * along is there; and all are of one instruction, as prefetchers look at that, too. What L1's bring along is told where
 * L2 has all, since that is as good as without noise.
 *
 *	two of a block      the second so many lines behind the first: what one miss brings along
 *	a row, and longer   from which miss on the next ones are there: what follows strides
 *	a row, and one      so many strides farther: how far ahead that is
 *
 * Some CPUs keep what was asked for around a first miss, and bring it along the next time. To them all blocks look
 * alike. So of two places the second is looked at where it is anywhere, but in one block of a few; and of rows those
 * count that are longer than what is kept. */
#include <math.h>

#include "base/error.h"
#include "model/calibration/chase.h"
#include "model/calibration/emit.h"
#include "model/calibration/host.h"
#include "model/calibration/memory.h"

enum {
	LINES = GUS_CACHING_PAGE / GUS_CACHING_LINE,
	/* Blocks for each that L2 has room for, if the line's place in the page chooses a part of its sets: beyond it.
	 * Some choose by more, and have room for many more. */
	TIMES = 16, TIMES_SLOW = 4,
	NEAR = 64,                      /* blocks that L2 has room for: a part of them is more than L1 has ways */
	SAMPLE = 512,                   /* places that are timed together, at least */
	WAIT = 36, PRODUCT = 3,         /* products behind each load, and cycles of one: longer than L3 takes */
	FIRST = 25,                     /* the first line of two: odd, so that its pair is the one before it */
	BEHIND = 20,                    /* lines farther there is nothing that comes along */
	WORD = 8,                       /* bytes: where a place is that may share its line */
	NEXT_MOST = 6, SCATTERED = 4,
	AGAIN = 4,
	LEAST = 4,                      /* cycles of a miss that can be seen */
	ROW = 6,                        /* places that are enough to follow */
	LOADS = 4, LOADS_SIZES = 6,     /* loads that are followed at once: so many, and doubled */
	REGION = 2 * GUS_CACHING_PAGE,  /* of a load, at least: of a page that begins the first lines are missed */
	SKEW = 5 * GUS_CACHING_LINE,    /* from region to region, so that their sets are others */
	CROSSING = 8,                   /* lines of a row that ends with its page */
};

/* Blocks of so many places, so many lines apart; the last lies so many bytes farther. */
struct walk {
	unsigned first, places;
	int apart;
	int64_t leap;
	unsigned scattered;     /* see model/calibration/micro.h */
	bool small;             /* of base pages even where there are huge ones */
	bool crossing;          /* the page behind is walked, too */
	bool beyond;            /* what L2 has no room for; else it has it all */
};

/* What an access costs beyond L1 that L2 has, and one that nothing has brought along; and what it costs in L1. */
struct costs { double near, far, hit; };

/* L2 has room for a block, at least. */
static bool can_be_walked(const struct gus_caching *m)
{
	return m->lines[GUS_CACHING_L2] >= LINES;
}

static bool is_huge(const struct gus_caching *m, const struct walk *w)
{
	return m->host->arena_most_huge > 0 && !w->small;
}

static uint64_t apart_of(const struct walk *w)
{
	return (w->crossing ? 2 : 1) * GUS_CACHING_PAGE;
}

/* No more than there is memory for: what then is not beyond L2 costs what L2 does, and says so. */
static uint64_t blocks_of(const struct gus_caching *m, const struct walk *w)
{
	const uint64_t room = m->lines[GUS_CACHING_L2] / LINES;
	const uint64_t most = gus_caching_most(m, is_huge(m, w)) / apart_of(w);
	uint64_t blocks = room > 2 * NEAR ? room / 2 : room < NEAR ? room : NEAR;

	if (w->beyond)
		blocks = (m->slow ? TIMES_SLOW : TIMES) * room;
	return blocks < most ? blocks : most;
}

/* What L2 has no room for may come from memory where it is simulated. */
static unsigned products_of(const struct gus_caching *m)
{
	return m->slow ? WAIT + (unsigned)m->cycles[GUS_CACHING_FAR] / PRODUCT : WAIT;
}

static struct gus_micro *walk_micro(const struct gus_caching *m, const struct walk *w)
{
	const uint64_t blocks = blocks_of(m, w), apart = apart_of(w);
	const uint64_t start = (uint64_t)w->first * GUS_CACHING_LINE, round = blocks * w->places;
	struct gus_micro *k = gus_micro_new(m->host->isa, "%s of %u from %u by %d, %lld, 1 of %u",
					    w->beyond ? "far blocks" : "blocks", w->places, w->first, w->apart,
					    (long long)w->leap, w->scattered);

	k->huge = is_huge(m, w);
	k->arena = blocks * apart;
	gus_vec_push(&k->lists, (struct gus_micro_list){ .start = start, .places = round,
		.distance = (uint64_t)((int64_t)w->apart * GUS_CACHING_LINE), .block = w->places, .rows = true,
		.seed = 1, .apart = apart, .leap = (uint64_t)w->leap, .scattered = w->scattered });
	gus_emit_begin(k);
	gus_emit_address(k, 0, (int64_t)start);
	gus_emit_constant(k, 3, 1);
	gus_emit_loop(k);
	gus_emit_load(k, 1, 0, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	gus_emit_move(k, 2, 1);
	gus_emit_mask(k, 2, 0); /* nothing is left of it but when it came */
	for (unsigned i = 0; i < products_of(m); i++)
		gus_emit_multiply(k, 2, 3);
	gus_emit_move(k, 0, 1);
	gus_emit_add(k, 0, 2);
	gus_emit_end(k);
	k->warm = 2 * round;
	k->passes = m->slow ? 0 : (SAMPLE / round + 1) * round;
	return k;
}

/* Cycles a block. */
static int time_walks(const struct gus_caching *m, const struct walk *walks, unsigned n, double *cycles,
		      struct gus_error *err)
{
	struct gus_micro *micros[GUS_CHASE_MOST] = { NULL };
	int rc;

	for (unsigned i = 0; i < n; i++)
		micros[i] = walk_micro(m, &walks[i]);
	rc = gus_chase_run(m->host, micros, n, cycles, err);
	for (unsigned i = 0; i < n; i++)
		cycles[i] *= walks[i].places;
	return rc;
}

/* Which level had what cost so many cycles beyond L1; FAR: the one that nothing has brought it nearer from. */
static enum gus_caching_level level_of(const struct costs *c, double cycles)
{
	if (cycles < fmin(c->near, c->far) / 2)
		return GUS_CACHING_L1;
	return c->far >= 2 * c->near && cycles < (c->near + c->far) / 2 ? GUS_CACHING_L2 : GUS_CACHING_FAR;
}

/* Where tables say how far ahead a row's lines are asked for, it misses as many lines, and one. By so many more or
 * fewer another rule asks for them. */
static const double UNLIKE = 1.5;

/* How far it is from what that level costs, as a part of the cost of a miss: endlessly of what has no time. */
static double off(const struct costs *c, double cycles)
{
	const double of[] = { [GUS_CACHING_L1] = 0, [GUS_CACHING_L2] = c->near, [GUS_CACHING_FAR] = c->far };
	double apart = fabs(cycles - of[level_of(c, cycles)]) / c->far;

	return isnan(apart) ? INFINITY : apart;
}

/* Not where they come of a walk that has no time (gus_chase_run: INFINITY), nor where a miss costs next to nothing. */
static bool can_be_seen(const struct costs *c)
{
	return isfinite(c->far) && isfinite(c->hit) && c->far >= LEAST;
}

/* What one miss brings along. */

enum { ONE, SAME, NOTHING, BEFORE, BEFORE_THAT, PAIR, NEXT, VIEWS = NEXT + NEXT_MOST };
struct view { double cycles[VIEWS], off; struct costs costs; }; /* cycles beyond L1, of the second of two */

static int64_t bytes_of(int lines)
{
	return lines * GUS_CACHING_LINE + WORD;
}

/* Where some are scattered, a miss costs what it did where none were, which is the less noisy figure. */
static int look(const struct gus_caching *m, bool beyond, unsigned scattered, struct view *v, struct gus_error *err)
{
	struct walk w[VIEWS];
	double cycles[VIEWS];

	for (unsigned i = 0; i < VIEWS; i++)
		w[i] = (struct walk){ .first = FIRST, .places = 2, .scattered = scattered, .beyond = beyond,
			.leap = bytes_of(i < NEXT ? 0 : (int)(i - NEXT) + 1) };
	w[ONE].places = 1;
	w[ONE].leap = 0;
	w[NOTHING].leap = bytes_of(BEHIND);
	w[BEFORE].leap = bytes_of(-1);
	w[BEFORE_THAT].leap = bytes_of(-2);
	w[PAIR].first = FIRST - 1;
	w[PAIR].leap = bytes_of(1);
	if (time_walks(m, w, VIEWS, cycles, err) != 0)
		return -1;
	for (unsigned i = 0; i < VIEWS; i++)
		v->cycles[i] = (cycles[i] - cycles[SAME]) * (scattered ? scattered : 1);
	if (!scattered)
		v->costs = (struct costs){ m->cycles[GUS_CACHING_L2] - m->cycles[GUS_CACHING_L1], v->cycles[NOTHING],
			cycles[SAME] - cycles[ONE] };
	v->off = 0;
	for (unsigned i = NEXT; i < VIEWS; i++)
		v->off = fmax(v->off, off(&v->costs, v->cycles[i]));
	return 0;
}

static bool comes(const struct view *v, unsigned which)
{
	return level_of(&v->costs, v->cycles[which]) != GUS_CACHING_FAR;
}

/* Lines that follow one another into a level, from the i-th behind the miss on. */
static unsigned lines_into(const struct view *v, enum gus_caching_level level, unsigned i)
{
	unsigned n = 0;

	while (i + n < NEXT_MOST && level_of(&v->costs, v->cycles[NEXT + i + n]) == level)
		n++;
	return n;
}

/* unused: lines that went into L1 beside, and nobody asked for: they may have stopped what brings them along. */
static void put_lines(struct gus_caching *m, const char *name, const struct view *v, unsigned n, unsigned unused,
		      bool kept)
{
	const struct gus_fit_param *l1 = gus_fit_get(m->f, "l1d_next_line"); /* L2's are those behind its lines */
	bool pairs = comes(v, BEFORE) && comes(v, PAIR) && !comes(v, BEFORE_THAT);
	enum gus_confidence sure = GUS_CONFIDENCE_HIGH;

	if (v->off > 0.4 || n >= NEXT_MOST || (pairs && !n) || (l1 && l1->confidence < GUS_CONFIDENCE_MEDIUM))
		sure = GUS_CONFIDENCE_LOW;
	else if (v->off > 0.1 || kept || unused)
		sure = GUS_CONFIDENCE_MEDIUM;

	gus_caching_put(m, &(struct gus_caching_figure){ name, n, n, unused ? NEXT_MOST : n, 1 + v->off, 1,
		sure },
		"the next lines cost %.1f, %.1f, %.1f, %.1f cycles beyond L1, a miss %.1f%s%s", v->cycles[NEXT],
		v->cycles[NEXT + 1], v->cycles[NEXT + 2], v->cycles[NEXT + 3], v->costs.far,
		pairs ? "; pairs come" : "", kept ? "; what came once comes again" : "");
}

/* What L1's prefetcher brings along is seen best where L2 has all, which has no noise. */
static int find_next(struct gus_caching *m, struct costs *costs, struct gus_error *err)
{
	struct view first, far;
	unsigned l1, again_lines;
	bool kept;

	for (unsigned again = 0; again < AGAIN; again++) {
		if (look(m, m->slow, 0, &first, err) != 0)
			return -1;
		if (m->slow || fabs(first.costs.far - first.costs.near) < 0.3 * first.costs.near)
			break; /* what L2 has costs what it does: nothing else was disturbed either */
	}
	*costs = first.costs;
	if (!can_be_seen(costs))
		return 0;
	kept = comes(&first, BEFORE) && comes(&first, BEFORE_THAT);
	again_lines = kept ? lines_into(&first, GUS_CACHING_L1, 0) : 0;
	gus_caching_fact(m, "prefetch_again", "lines", again_lines,
			"where the same two lines of each page are asked for; two before cost %.1f cycles beyond L1",
			first.cycles[BEFORE_THAT]);
	gus_caching_fact(m, "prefetch_pairs", "lines", comes(&first, BEFORE) && !kept,
			"the line before an odd one costs %.1f cycles beyond L1", first.cycles[BEFORE]);
	if (kept && look(m, m->slow, SCATTERED, &first, err) != 0)
		return -1;
	l1 = lines_into(&first, GUS_CACHING_L1, 0);
	put_lines(m, "l1d_next_line", &first, l1, 0, kept);
	far = first;
	if (!m->slow && !kept && look(m, true, 0, &far, err) != 0)
		return -1;
	if (kept)
		gus_caching_hidden(m, "l2_next_line", "L1 brings along %u lines that came along once, before L2 "
				"is asked", again_lines);
	else if (!can_be_seen(&far.costs) || far.costs.far < 2 * far.costs.near)
		gus_caching_hidden(m, "l2_next_line", "what L2 has not costs %.1f cycles beyond L1, and L2 %.1f",
				far.costs.far, far.costs.near);
	else
		put_lines(m, "l2_next_line", &far, lines_into(&far, GUS_CACHING_L2, l1), l1, kept);
	return 0;
}

/* Rows. */

/* Lines that a row of so many misses, and what part of those behind it one that is longer misses. */
struct row { int apart; double misses, more; unsigned places; };

static int time_row(const struct gus_caching *m, const struct costs *c, int apart, struct row *r, struct gus_error *err)
{
	const unsigned most = (LINES - 1) / (unsigned)-apart + 1, lengths[] = { 1, most - most / 4, most };
	struct walk w[3];
	double cycles[3], misses[3];

	for (unsigned i = 0; i < 3; i++)
		w[i] = (struct walk){ .first = LINES - 1, .places = lengths[i], .apart = apart, .beyond = m->slow };
	if (time_walks(m, w, 3, cycles, err) != 0)
		return -1;
	for (unsigned i = 0; i < 3; i++)
		misses[i] = 1 + (cycles[i] - cycles[0] - (lengths[i] - 1) * c->hit) / c->far;
	*r = (struct row){ apart, misses[1], (misses[2] - misses[1]) / (lengths[2] - lengths[1]), lengths[1] };
	return 0;
}

/* What the place costs that lies so many strides behind a row; and what a row costs, each time that it is timed. */
struct spread { double least, most; };

static int time_ahead(const struct gus_caching *m, const struct costs *c, int apart, unsigned strides, double *cycles,
		      struct spread *row, struct gus_error *err)
{
	const struct walk w[2] = { { .first = LINES - 1, .places = ROW, .apart = apart, .beyond = m->slow },
		{ .first = LINES - 1, .places = ROW + 1, .apart = apart, .beyond = m->slow,
		  .leap = bytes_of((int)(strides - 1) * apart) } };
	double both[2];

	if (time_walks(m, w, 2, both, err) != 0)
		return -1;
	*cycles = both[1] - both[0] - c->hit;
	row->least = fmin(row->least, both[0]);
	row->most = fmax(row->most, both[0]);
	return 0;
}

/* The most strides ahead that a row finds lines in L1: of those nearer by its length or more it was not sure yet. Who
 * asks for one line so far ahead each time has a row's first so many missed, and one. He who has not is unlike what
 * tables say, and may be found otherwise the next time. */
static int find_ahead(struct gus_caching *m, const struct costs *c, const struct row *r, struct gus_error *err)
{
	const unsigned room = (LINES - 1) / (unsigned)-r->apart + 1 - ROW, misses = (unsigned)round(r->misses);
	unsigned first = misses > ROW / 2 + 1 ? misses - ROW / 2 : 1, ahead = 0;
	double there = 0, behind = c->far, found;
	struct spread row = { INFINITY, 0 };
	enum gus_confidence sure;

	for (unsigned i = first; i <= room && (ahead || i <= misses + 1); i++) {
		if (time_ahead(m, c, r->apart, i, &found, &row, err) != 0)
			return -1;
		if (found < c->far / 2) {
			there = found;
			ahead = i;
		} else if (ahead) {
			behind = found;
			break;
		}
	}
	if (!ahead) {
		gus_caching_hidden(m, "l1d_stride_ahead", "%.1f of a row are missed, but no line %u to %u strides "
				"ahead is in L1", r->misses, first, misses + 1);
		return 0;
	}
	sure = ahead == room || off(c, there) > 0.3 || off(c, behind) > 0.3 ||
		row.most - row.least > 0.3 * c->far || fabs(r->misses - ahead - 1) > UNLIKE ? GUS_CONFIDENCE_LOW :
		fabs(r->misses - ahead - 1) < 0.2 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM;
	gus_caching_put(m, &(struct gus_caching_figure){ "l1d_stride_ahead", ahead, ahead, ahead, r->misses, ahead + 1,
		sure }, "%d lines apart, %u strides ahead are in L1, %u not; %.1f of a row are missed", -r->apart,
		ahead, ahead + 1, r->misses);
	return 0;
}

/* How many are followed at once. */

/* So many loads, each down its own region, a line a pass; one waits for the other, so that there are buffers for what
 * comes along. */
static struct gus_micro *loads_micro(const struct gus_caching *m, unsigned loads)
{
	enum { INDEX = 8, AT = 0, READ = 1 };
	struct gus_micro *k = gus_micro_new(m->host->isa, "%u loads at once, a line down", loads);
	uint64_t region = REGION, most = m->lines[GUS_CACHING_L2] * GUS_CACHING_LINE;

	while (region * loads < (m->slow ? 2 * most : most / 2))
		region *= 2;
	k->arena = (region + SKEW) * loads;
	k->huge = m->host->arena_most_huge > 0;
	gus_emit_begin(k);
	gus_emit_loop(k);
	gus_emit_address(k, AT, 0);
	gus_emit_add(k, AT, INDEX);
	for (unsigned i = 0; i < loads; i++) {
		gus_emit_load(k, READ, AT, (int32_t)(i * (region + SKEW)), (struct gus_micro_access){
			.way = GUS_MICRO_STRIDE, .offset = (int64_t)(i * (region + SKEW)),
			.stride = region - GUS_CACHING_LINE, .wrap = region });
		gus_emit_mask(k, READ, 0);
		gus_emit_add(k, AT, READ);
	}
	gus_emit_add(k, INDEX, READ);
	gus_emit_add_large(k, INDEX, (int32_t)(region - GUS_CACHING_LINE));
	gus_emit_mask(k, INDEX, (unsigned)__builtin_ctzll(region));
	gus_emit_end(k);
	k->warm = 2 * region / GUS_CACHING_LINE;
	k->passes = m->slow ? 0 : k->warm / 2;
	return k;
}

/* Cycles that each costs beyond L1, by how many there are. */
static int time_loads(const struct gus_caching *m, double cycles[LOADS_SIZES], struct gus_error *err)
{
	enum { BETWEEN = 2 };   /* cycles from what was loaded to the next address: a mask, an addition */
	struct gus_micro *micros[LOADS_SIZES];
	int rc;

	for (unsigned i = 0; i < LOADS_SIZES; i++)
		micros[i] = loads_micro(m, LOADS << i);
	rc = gus_chase_run(m->host, micros, LOADS_SIZES, cycles, err);
	for (unsigned i = 0; i < LOADS_SIZES; i++) {
		cycles[i] = cycles[i] / (LOADS << i) - m->cycles[GUS_CACHING_L1] - BETWEEN;
		if (!m->huge && (uint64_t)LOADS << i >= m->pages) /* each is in a page of its own */
			cycles[i] -= m->second;
	}
	return rc;
}

/* A line apart, so that of a page that begins few lines are missed. What so many bring along has to have room in L1. */
static int find_loads(struct gus_caching *m, const struct costs *c, struct gus_error *err)
{
	const struct gus_fit_param *ahead = gus_fit_get(m->f, "l1d_stride_ahead");
	double cycles[LOADS_SIZES], miss, lines;
	unsigned n = 0, loads;
	bool clear;

	if (time_loads(m, cycles, err) != 0)
		return -1;
	miss = fmin(c->far, cycles[LOADS_SIZES - 1]);
	while (n < LOADS_SIZES && (cycles[n] < miss / 2 || miss < LEAST)) /* else noise would be told from noise */
		n++;
	if (!n || n == LOADS_SIZES) {
		gus_caching_hidden(m, "l1d_strides", "loads are followed; %u at once cost %.1f cycles beyond L1 each, "
				"%u %.1f", LOADS, cycles[0], LOADS << (LOADS_SIZES - 1), cycles[LOADS_SIZES - 1]);
		return 0;
	}
	loads = LOADS << (n - 1);
	lines = 2 * loads * (ahead && ahead->confidence > GUS_CONFIDENCE_NONE ? ahead->value + 1 : 1);
	clear = cycles[n - 1] < 0.45 * miss && cycles[n] > 0.55 * miss && isfinite(cycles[n]) &&
		lines <= (double)m->lines[GUS_CACHING_L1] / 2;
	gus_caching_put(m, &(struct gus_caching_figure){ "l1d_strides", loads, loads, 2 * loads - 1, 0, 0,
		clear ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW },
		"%u at once cost %.1f cycles beyond L1 each, %u %.1f, a miss %.1f", loads, cycles[n - 1], 2 * loads,
		cycles[n], miss);
	return 0;
}

static int put_followed(struct gus_caching *m, const struct costs *c, const struct row *r, struct gus_error *err)
{
	gus_caching_fact(m, "prefetch_row_misses", "lines", r->misses, "of %u places of one load, %d lines apart",
			r->places, -r->apart);
	return find_ahead(m, c, r, err) != 0 ? -1 : find_loads(m, c, err);
}

/* Down, as next lines are up. What is kept of the lines around a miss makes rows cost one miss; no stride is seen then,
 * and wider ones may lead beyond it. */
static int find_strides(struct gus_caching *m, const struct costs *c, struct gus_error *err)
{
	static const int aparts[] = { -2, -5, -9 };
	struct row r = { 0 };
	bool alike = false;

	for (size_t i = 0; i < sizeof(aparts) / sizeof(*aparts); i++) {
		if (time_row(m, c, aparts[i], &r, err) != 0)
			return -1;
		if (r.more < 0.3 && r.misses >= 1.5 && r.misses < 0.8 * r.places)
			return put_followed(m, c, &r, err);
		alike |= !(r.more >= 0.8 && r.misses >= 0.8 * r.places); /* nor is it told where one has no time */
		if (!alike && i)
			break;
	}
	if (alike)
		gus_caching_hidden(m, "l1d_strides", "%.1f of %u places of a load are missed, whose pages are all "
				"alike", r.misses, r.places);
	else
		gus_caching_put(m, &(struct gus_caching_figure){ "l1d_strides", 0, 0, 0, r.misses, r.places,
			fabs(r.misses - r.places) < 0.1 * r.places ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM },
			"of %u places %d lines apart one load misses %.1f", r.places, -r.apart, r.misses);
	gus_caching_hidden(m, "l1d_stride_ahead", "%.1f of %u places of a load are missed", r.misses, r.places);
	return 0;
}

/* Whether a row that goes on into the next page finds something there. The table has no word for it. */
static int find_crossing(struct gus_caching *m, const struct costs *c, bool small, struct gus_error *err)
{
	enum { ACROSS, FARTHER, WALKS };
	struct walk w[WALKS];
	double cycles[WALKS];

	for (unsigned i = 0; i < WALKS; i++)
		w[i] = (struct walk){ .first = LINES - CROSSING, .places = CROSSING + 1, .apart = 1,
			.leap = i == ACROSS ? WORD : bytes_of(BEHIND), .small = small, .crossing = true,
			.beyond = m->slow };
	if (time_walks(m, w, WALKS, cycles, err) != 0)
		return -1;
	gus_caching_fact(m, small ? "prefetch_into_small_page" : "prefetch_into_huge_page", "part",
			(cycles[FARTHER] - cycles[ACROSS]) / c->far,
			"of a miss is saved by a row that goes on in the next 4 KiB, %s", small ? "a page of its own" :
			"of the same large page");
	return 0;
}

static const char *const names[] = { "l1d_next_line", "l2_next_line", "l1d_strides", "l1d_stride_ahead" };
enum { NAMES = sizeof(names) / sizeof(*names) };

static int find_all(struct gus_caching *m, struct gus_error *err)
{
	struct costs c = { 0 };

	if (can_be_walked(m) && find_next(m, &c, err) != 0)
		return -1;
	if (!can_be_seen(&c)) {
		for (size_t i = 0; i < NAMES; i++)
			gus_caching_hidden(m, names[i], "a miss costs %.1f cycles beyond L1: too few to be seen",
					c.far);
		return 0;
	}
	if (find_strides(m, &c, err) != 0 || find_crossing(m, &c, true, err) != 0)
		return -1;
	return m->host->arena_most_huge ? find_crossing(m, &c, false, err) : 0;
}

/* What was not found again is a guess. */
static void compare(struct gus_fit *f, const struct gus_fit *again)
{
	for (size_t i = 0; i < f->params.n; i++) {
		struct gus_fit_param *p = &f->params.v[i];
		const struct gus_fit_param *other = gus_fit_get(again, p->name);

		if (other && p->confidence > GUS_CONFIDENCE_LOW &&
		    (other->value != p->value || other->confidence < p->confidence))
			p->confidence = other->value != p->value ? GUS_CONFIDENCE_LOW : other->confidence;
	}
}

/* All of it twice: prefetchers hold back while others need memory, and then look like none, or like others. */
int gus_caching_prefetch(struct gus_caching *m, struct gus_error *err)
{
	struct gus_fit again = { .params = { 0 } };
	struct gus_caching second = *m;
	int rc = find_all(m, err);

	second.f = &again;
	if (rc == 0 && !m->slow && can_be_walked(m))
		rc = find_all(&second, err);
	compare(m->f, &again);
	gus_fit_free(&again);
	return rc;
}
