/* SPDX-License-Identifier: MIT */
#include "model/analysis/causality.h"

#include <stdlib.h>
#include <string.h>

#include "model/machine/config.h"
#include "model/stream/private.h"
#include "model/machine/steps.h"

/* How the path is found. The paper (section 3.1, Algorithm 1) taints: with each time goes the set of instructions that
 * may have delayed it; a constraint that is later replaces the set (lines 4 to 6), one that is as late is added to it
 * (lines 2 and 3), and an instruction that is still in the set of dispatch two reorder buffers later is counted (lines
 * 42 to 44). Sets are dear to keep, and counts are no cycles. So the kernel keeps one reason a time instead of a set
 * (model/stream/private.h), and here the reasons are followed back, from the last retirement on. Between equally late
 * ones a toss decides, so that over many ops each of them is followed in its turn, where the set would have had them
 * all.
 *
 *	ops, in order of time      charged now                    not yet: two reorder buffers
 *	. . . . . . . . . . . . . |low . . . . . . . . . . . high| . . . . . . . . . . . . . . newest
 *	                              <---o<----o<-o<--------o<-----o<----o<---o<-------o<----- the path
 *
 * Two invariants. A step from one place on the path to the one before charges just the time between the two, so that
 * all charges of a walk add up to the time that it goes back by. And the next walk begins to charge where this one
 * ended (its low is this one's high), so that no op is charged twice. That both paths are the same by then is what the
 * two reorder buffers are for: whatever the newest ops wait for, it is unlikely that older ops than those still reach
 * them by two ways. */

/* Chunks in a stretch, of how many stretches one is followed, steps of the path that are kept, meetings of its anchor
 * that are looked at. */
enum { STRETCH = 8, ONE_IN = 2, ONE_IN_FED = 8, PATH_MOST = 8192, TURNS_MOST = 256, RECENT = 1024 };

/* What is charged for: what carried the time, as one number. Of all ops and kinds few are met. */
struct charged { uint32_t op, kind; };
struct charges {
	struct gus_index met;   /* of struct charged */
	struct gus_vec(struct sum { int64_t ticks; uint64_t times; }) sums; /* as they lie in met */
	struct recent { struct charged what; uint32_t at; bool used; } recent[RECENT]; /* spares most look-ups */
	int64_t all;
};

/* A step of the path, of the newest walk; the oldest is the last. */
struct step {
	uint32_t op, kind;
	int64_t ticks;
	uint64_t seq;
};

/* A circle that the path went round in, of a trace: by its steps, in order of time. */
enum { CIRCLES = 64, CIRCLE_LOOK = 512, CIRCLE_EVERY = 4 };
struct circle {
	struct step steps[GUS_CIRCLE_STEPS];
	size_t n;
	int64_t ticks;          /* of the stretches of path that went round it */
	uint64_t ops;           /* that a turn goes back by */
};

struct analysis {
	struct charges charges;
	uint64_t charged;       /* how many have been */
	uint64_t counted;       /* ops before that one have been charged */
	uint64_t behind;        /* ops that are not charged yet: two reorder buffers */
	struct step path[PATH_MOST];
	size_t path_n;
	struct circle *circles; /* NULL: not looked for */
	size_t circles_n;
	uint64_t walks;
};

static const char *const hop_names[GUS_HOPS] = {
	[GUS_HOP_PORTS] = "ports", [GUS_HOP_UNITS] = "unit", [GUS_HOP_LATENCY] = "latency",
	[GUS_HOP_LOAD] = "load latency", [GUS_HOP_FORWARD] = "store forwarding", [GUS_HOP_ISSUE] = "issue",
	[GUS_HOP_DECODE] = "decoders", [GUS_HOP_FETCH] = "length decoding", [GUS_HOP_UOP_CACHE] = "uop cache",
	[GUS_HOP_PREDICTION] = "branch prediction",
	[GUS_HOP_RETIRE] = "retirement", [GUS_HOP_LEVEL] = "latency of", [GUS_HOP_BUS] = "bandwidth of",
	[GUS_HOP_TLB] = "TLB", [GUS_HOP_MISPREDICT] = "mispredict penalty", [GUS_HOP_STORES] = "stores to L1",
	[GUS_HOP_RS] = "reservation station", [GUS_HOP_MISS_BUFFER] = "miss buffers", [GUS_HOP_ROB] = "reorder buffer",
	[GUS_HOP_LOAD_BUFFER] = "load buffer", [GUS_HOP_STORE_BUFFER] = "store buffer",
	[GUS_HOP_REGISTERS] = "registers", [GUS_HOP_BANKS] = "banks of L1", [GUS_HOP_LINE_SPLIT] = "line split",
	[GUS_HOP_ALIAS] = "4K alias",
};

const char *gus_hop_name(enum gus_hop hop)
{
	return hop_names[hop];
}

/* Charging. */

static uint32_t kind_of(enum gus_hop hop, unsigned number)
{
	return (uint32_t)hop | number << 8;
}

static enum gus_hop hop_of(uint32_t kind, uint32_t *number)
{
	*number = kind >> 8;
	return (enum gus_hop)(kind & 0xff);
}

static uint32_t place_of(struct charges *c, uint32_t op, uint32_t kind)
{
	struct charged what = { op, kind };
	struct recent *recent = &c->recent[(op * 61 + (kind & 0xff) + (kind >> 8) * 23) % RECENT];
	bool is_new;

	if (recent->used && recent->what.op == op && recent->what.kind == kind)
		return recent->at;
	*recent = (struct recent){ what, gus_index_add(&c->met, &what, &is_new), true };
	if (is_new)
		gus_vec_push(&c->sums, (struct sum){ 0, 0 });
	return recent->at;
}

/* Walking. A place on the path is a moment in the life of an op. In order of time, and with what lies between two of
 * them:
 *
 *	entry --------> dispatch --------> start --------> end --------> retire --------> drain
 *	      front end        ports, units,      latency       in order,       stores only:
 *	                       operands, lines                  width           out to L1 in order
 *
 * A dispatch may wait for a retirement (the reorder buffer), a start (the reservation station) or an end (a branch
 * that was mispredicted) of older ops, a start for older starts (operands, lines); so the path jumps. */
enum moment { ENTRY, DISPATCH, START, END, RETIRE, DRAIN };

struct walk {
	struct analysis *analysis;
	const struct gus_stream_log *log;
	const struct stream *s;
	uint64_t low, high;     /* the ops to be charged, high not included */
	/* Where it is, and the op by its place in the log. */
	enum moment moment;
	uint64_t seq;
	unsigned uop;           /* of START */
	bool ended;             /* at the beginning of the run, or where the log does not reach back any more */
};

static void go(struct walk *w, enum moment moment, uint64_t seq, unsigned uop)
{
	w->moment = moment;
	w->seq = seq;
	w->uop = uop;
}

static const struct stream_note *note_of(const struct walk *w, uint64_t seq)
{
	return &w->log->notes[seq & w->log->notes_mask];
}

static const struct gus_op *op_of(const struct walk *w, uint64_t seq)
{
	return &w->s->p->ops[note_of(w, seq)->op];
}

/* The path leads through op `seq` by what kind says, which took so long. Its note is read only if it is there still. */
static void charge(struct walk *w, uint64_t seq, uint32_t kind, int64_t ticks)
{
	struct analysis *a = w->analysis;
	uint32_t at, op;

	if (seq < w->low || seq >= w->high)
		return;
	op = note_of(w, seq)->op;
	at = place_of(&a->charges, op, kind);
	a->charges.sums.v[at].ticks += ticks;
	a->charges.sums.v[at].times++;
	a->charges.all += ticks;
	if (a->path_n < PATH_MOST)
		a->path[a->path_n++] = (struct step){ op, kind, ticks, seq };
}

/* A bus was busy without a break from the dispatch of op `since` until the present one's turn: all lines that it
 * carried in between made the present one wait. Which uops these were the program does not say, as it is decided by
 * what the caches said; so the notes count them. */
static void charge_bus(struct walk *w, unsigned bus, uint64_t since)
{
	uint64_t from = since > w->low ? since : w->low;
	uint32_t kind = bus < STREAM_BUSES ? kind_of(GUS_HOP_BUS, bus) : kind_of(GUS_HOP_BANKS, 0);

	for (uint64_t seq = w->seq; seq > from; seq--) {
		unsigned lines = note_of(w, seq - 1)->buses[bus];

		if (lines)
			charge(w, seq - 1, kind, (int64_t)w->s->inverse[bus].ticks[0] * lines);
	}
	go(w, DISPATCH, since, 0);
}

/* Those uops of an op that go before uop `behind` and use a resource. */
static void charge_op_uses(struct walk *w, uint64_t seq, unsigned behind, unsigned resource, uint32_t kind)
{
	uint32_t first = op_of(w, seq)->uop, splits = note_of(w, seq)->splits;

	for (unsigned u = behind; u-- > 0;) {
		const struct stream_uop *needs = &w->s->uops.v[first + u];
		int64_t share = u < 32 && splits >> u & 1 ? w->s->split_share[0] : 0;

		for (uint32_t i = 0; i < needs->uses_n; i++) {
			const struct stream_use *use = &w->s->uses.v[needs->use + i];

			if (use->resource == resource)
				charge(w, seq, kind, (int64_t)w->s->inverse[resource].ticks[0] * use->times *
				       (STREAM_SHARE + share) / STREAM_SHARE);
		}
	}
}

/* Likewise of a unit or a group of ports: all who used it, from when it became busy until the uop that waited for it,
 * youngest first. The last one back is op `since` itself, at whose dispatch it was free. */
static void charge_ports(struct walk *w, unsigned resource, uint64_t since)
{
	uint32_t kind = resource >= STREAM_GROUPS_AT ? kind_of(GUS_HOP_PORTS, resource - STREAM_GROUPS_AT) :
			kind_of(GUS_HOP_UNITS, resource - STREAM_UNITS_AT);
	uint64_t from = since > w->low ? since : w->low;

	if (w->seq >= from)
		charge_op_uses(w, w->seq, op_of(w, w->seq)->flags & GUS_OP_ELIMINATED ? 0 : w->uop, resource, kind);
	for (uint64_t seq = w->seq; seq > from; seq--) {
		const struct gus_op *op = op_of(w, seq - 1);

		charge_op_uses(w, seq - 1, op->flags & GUS_OP_ELIMINATED ? 0 : op->uops_n, resource, kind);
	}
	go(w, DISPATCH, since, 0);
}

static void charge_resource(struct walk *w, uint64_t why)
{
	if (stream_why_index(why) < STREAM_COUNTED)
		charge_bus(w, stream_why_index(why), stream_why_seq(why));
	else
		charge_ports(w, stream_why_index(why), stream_why_seq(why));
}

/* A part of the front end, which has been busy since op `since`: what each op took of it. */
static void charge_front(struct walk *w, unsigned part, uint64_t raised)
{
	static const enum gus_hop hops[FRONTS] = { GUS_HOP_ISSUE, GUS_HOP_DECODE, GUS_HOP_FETCH, GUS_HOP_UOP_CACHE,
		GUS_HOP_UOP_CACHE, GUS_HOP_PREDICTION };
	uint64_t since = note_of(w, raised)->since, from = since > w->low ? since : w->low;

	for (uint64_t behind = raised + 1; behind > from; behind--) {
		const struct stream_note *n = note_of(w, behind - 1);
		int64_t cost = gus_stream_nominal(w->s, w->s->ops.v[n->op].front[part]);

		cost *= !(n->fronts >> part & 1) ? 0 : part == FRONT_FETCH ? n->fetched :
			part == FRONT_PREDICTION ? n->predicted : 1;
		if (cost)
			charge(w, behind - 1, kind_of(hops[part], 0), cost);
	}
	/* What works ahead begins before the op is there: that time has passed already when the op came. */
	if (gus_stream_ahead((enum stream_front)part))
		charge(w, since, kind_of(hops[part], 0), -(int64_t)STREAM_FETCH_AHEAD * GUS_STREAM_TICKS);
	go(w, ENTRY, since, 0);
}

static enum gus_hop latency_of(const struct gus_uop *u)
{
	return u->kind == GUS_UOP_LOAD ? GUS_HOP_LOAD : GUS_HOP_LATENCY;
}

/* The latency of what another uop wrote, less what it is read late. */
static void charge_value(struct walk *w, uint64_t why)
{
	const struct stream *s = w->s;
	const struct gus_uop *reader = &s->p->uops[op_of(w, w->seq)->uop + w->uop];
	uint64_t seq = stream_why_seq(why);
	unsigned writer = stream_why_index(why);
	int32_t late = gus_stream_nominal(s, s->flows.v[reader->in + stream_why_in(why)]);

	if (seq >= w->low) {
		const struct gus_uop *u = &s->p->uops[op_of(w, seq)->uop + writer];

		charge(w, seq, kind_of(latency_of(u), 0),
		       gus_stream_nominal(s, s->flows.v[u->out + stream_why_out(why)]) - late);
	}
	go(w, START, seq, writer);
}

/* late: how long after it is there it is needed; of a retirement nothing. A load that was blocked waits until the
 * store has left. */
static void charge_forward(struct walk *w, uint64_t why, int64_t late)
{
	bool blocked = stream_why_out(why) == GUS_FORWARD_BLOCKED;

	if (stream_why_seq(why) >= w->low) {
		const struct gus_uop *u = &w->s->p->uops[op_of(w, stream_why_seq(why))->uop + stream_why_index(why)];
		int64_t ticks = w->s->forwards[stream_why_out(why)][0] - late;

		ticks += u->kind == GUS_UOP_STORE_ADDRESS && !blocked ? w->s->forward_address[0] : 0;
		charge(w, stream_why_seq(why), kind_of(GUS_HOP_FORWARD, 0), ticks);
	}
	go(w, blocked ? DRAIN : START, stream_why_seq(why), stream_why_index(why));
}

/* What a line or a page took to come, beyond what a hit takes. */
static void charge_miss(struct walk *w, uint64_t why, int64_t hit)
{
	unsigned level = stream_why_level(why), tlb = stream_why_tlb(why);

	if (level)
		charge(w, w->seq, kind_of(GUS_HOP_LEVEL, level), w->s->levels[level][0] - hit);
	if (tlb)
		charge(w, w->seq, kind_of(GUS_HOP_TLB, tlb), tlb == GUS_TLB_WALK ? w->s->walk[0] : w->s->tlb[0]);
}

/* An entry that another op gave back at that moment: it takes no time, but is worth telling. */
static void charge_entry(struct walk *w, enum gus_hop hop, enum moment moment, uint64_t seq, unsigned uop)
{
	charge(w, seq, kind_of(hop, 0), 0);
	go(w, moment, seq, uop);
}

/* A miss buffer is free when the line of its load is there, which is the load's latency after its start: a start that
 * was put off by the line is the line's arrival less that latency. */
static void charge_buffer(struct walk *w, uint64_t why)
{
	uint64_t seq = stream_why_seq(why);
	unsigned own = stream_why_index(why);

	if (own == STREAM_STORE) {
		charge_entry(w, GUS_HOP_MISS_BUFFER, DRAIN, seq, 0);
		return;
	}
	if (seq >= w->low)
		charge(w, seq, kind_of(GUS_HOP_LOAD, 0),
		       gus_stream_nominal(w->s, w->s->uops.v[op_of(w, seq)->uop + own].latency));
	charge_entry(w, GUS_HOP_MISS_BUFFER, START, seq, own);
}

static void before_start(struct walk *w)
{
	const struct stream_note *n = note_of(w, w->seq);
	uint64_t why = w->log->starts[(n->starts + w->uop) & w->log->starts_mask];
	uint32_t number = op_of(w, w->seq)->uop + w->uop, read = w->s->p->uops[number].in + stream_why_in(why);

	if (w->log->started - n->starts > w->log->starts_mask) { /* ops of very many uops have pushed it out */
		w->ended = true;
		return;
	}
	charge_miss(w, why, gus_stream_nominal(w->s, w->s->uops.v[number].latency));
	if (why & stream_split)
		charge(w, w->seq, kind_of(GUS_HOP_LINE_SPLIT, 0), n->pages >> w->uop & 1 ? w->s->page_split[0] :
		       w->s->split[0]);
	if (why & stream_alias)
		charge(w, w->seq, kind_of(GUS_HOP_ALIAS, 0), w->s->alias[0]);
	switch (stream_why(why)) {
	case WHY_DISPATCH:
		go(w, DISPATCH, w->seq, 0);
		break;
	case WHY_RESOURCE:
		charge_resource(w, why);
		break;
	case WHY_VALUE:
		charge_value(w, why);
		break;
	case WHY_FORWARD:
		charge_forward(w, why, gus_stream_nominal(w->s, w->s->flows.v[read]));
		break;
	case WHY_MISS:
		charge_buffer(w, why);
		break;
	case WHY_LINE: /* the two loads are done at the same time */
		go(w, stream_why_index(why) == STREAM_STORE ? DRAIN : START, stream_why_seq(why),
		   stream_why_index(why));
		break;
	default:
		w->ended = true;
	}
}

/* Of an entry or a dispatch. */
static void before_dispatch(struct walk *w, uint64_t why)
{
	static const enum gus_hop windows[STREAM_IN_ORDER] = { GUS_HOP_ROB, GUS_HOP_LOAD_BUFFER, GUS_HOP_STORE_BUFFER,
		GUS_HOP_REGISTERS, GUS_HOP_REGISTERS, GUS_HOP_REGISTERS, GUS_HOP_REGISTERS };
	uint64_t seq = stream_why_seq(why);
	unsigned index = stream_why_index(why);

	switch (stream_why(why)) {
	case WHY_FRONT:
		charge_front(w, index, seq);
		break;
	case WHY_WINDOW:
		charge_entry(w, windows[index], index == WINDOW_STORES ? DRAIN : RETIRE, seq, 0);
		break;
	case WHY_STATION:
		charge_entry(w, GUS_HOP_RS, START, seq, index);
		break;
	case WHY_FLUSH:
		charge(w, seq, kind_of(GUS_HOP_MISPREDICT, 0), w->s->penalty[0]);
		go(w, END, seq, 0);
		break;
	default:
		w->ended = true;
	}
}

/* Of an end or a retirement. */
static void before_end(struct walk *w, uint64_t why)
{
	uint32_t op = note_of(w, w->seq)->op;
	unsigned own = stream_why_index(why);
	uint32_t number = w->s->p->ops[op].uop + own;

	switch (stream_why(why)) {
	case WHY_DISPATCH:
		go(w, DISPATCH, w->seq, 0);
		break;
	case WHY_OWN:
		charge(w, w->seq, kind_of(latency_of(&w->s->p->uops[number]), 0),
		       gus_stream_nominal(w->s, w->s->uops.v[number].latency));
		go(w, START, w->seq, own);
		break;
	case WHY_FORWARD:
		charge_forward(w, why, 0);
		break;
	case WHY_PREVIOUS:
		charge(w, w->seq, kind_of(GUS_HOP_RETIRE, 0), gus_stream_nominal(w->s, w->s->ops.v[op].retire));
		w->ended = w->seq == 0;
		go(w, RETIRE, w->ended ? 0 : w->seq - 1, 0);
		break;
	default:
		w->ended = true;
	}
}

static void before_drain(struct walk *w)
{
	uint64_t why = note_of(w, w->seq)->drain;

	charge_miss(w, why, 0);
	switch (stream_why(why)) {
	case WHY_RETIRED:
		go(w, RETIRE, w->seq, 0);
		break;
	case WHY_PREVIOUS:
		charge(w, w->seq, kind_of(GUS_HOP_STORES, 0),
		       (int64_t)w->s->drain[0] * note_of(w, w->seq)->commits);
		w->ended = stream_why_seq(why) >= w->seq;
		go(w, DRAIN, stream_why_seq(why), 0);
		break;
	case WHY_RESOURCE:
		charge_resource(w, why);
		break;
	case WHY_MISS:
		charge_buffer(w, why);
		break;
	default:
		w->ended = true;
	}
}

/* From the last retirement back to the ops that have been charged already. */
static void walk(struct walk *w)
{
	w->analysis->path_n = 0;
	w->ended = w->log->seq == 0;
	go(w, RETIRE, w->log->seq - !w->ended, 0);
	while (!w->ended && w->seq >= w->low)
		switch (w->moment) {
		case RETIRE:
			before_end(w, note_of(w, w->seq)->retire);
			break;
		case END:
			before_end(w, note_of(w, w->seq)->end);
			break;
		case DRAIN:
			before_drain(w);
			break;
		case START:
			before_start(w);
			break;
		case DISPATCH:
			before_dispatch(w, note_of(w, w->seq)->dispatch);
			break;
		case ENTRY:
			before_dispatch(w, note_of(w, w->seq)->entry);
			break;
		}
}

/* What the path goes round in. */

static bool same_turn(const struct step *a, const struct step *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].op != b[i].op || a[i].kind != b[i].kind)
			return false;
	return true;
}

static int64_t ticks_of(const struct step *path, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += path[i].ticks;
	return sum;
}

/* The step that most of the time goes through is met again and again; what lies between two meetings is a turn. The
 * turn that takes the most time in all is the chain; its share is that of all turns that were looked at. */
static size_t heaviest_turn(const struct analysis *a, size_t path_n, size_t *first, double *share)
{
	const struct step *path = a->path;
	int64_t *sums = gus_zalloc((path_n + 1) * sizeof(*sums));
	int64_t all, most = 0;
	size_t anchor = 0, length = 0, n = 0;
	size_t *meets = gus_zalloc((path_n + 1) * sizeof(*meets));

	for (size_t i = 0; i < path_n; i++)
		for (size_t k = 0; k <= i; k++)
			if (path[k].op == path[i].op && path[k].kind == path[i].kind) {
				sums[k] += path[i].ticks;
				anchor = sums[k] > sums[anchor] ? k : anchor;
				break;
			}
	for (size_t i = anchor; i < path_n && n < TURNS_MOST; i++)
		if (path[i].op == path[anchor].op && path[i].kind == path[anchor].kind)
			meets[n++] = i;
	all = n ? ticks_of(path + meets[0], meets[n - 1] - meets[0]) : 0;
	for (size_t i = 0; i + 1 < n && all > 0; i++) {
		size_t steps = meets[i + 1] - meets[i];
		int64_t sum = 0;

		for (size_t k = i; k + 1 < n; k++)
			if (meets[k + 1] - meets[k] == steps && same_turn(path + meets[i], path + meets[k], steps))
				sum += ticks_of(path + meets[k], steps);
		if (sum > most) {
			most = sum;
			*first = meets[i];
			length = steps;
		}
		if (sum * 2 > all)
			break;
	}
	*share = all > 0 ? (double)most / (double)all : 0;
	free(sums);
	free(meets);
	return length;
}

/* What the newest stretch of path goes round in, if it is most of it: added to what is known of that circle. When
 * there are too many, new ones are passed over. */
static void note_circle(struct analysis *a)
{
	size_t path_n = a->path_n < CIRCLE_LOOK ? a->path_n : CIRCLE_LOOK, first = 0, n, lowest = 0, k = 0;
	struct circle c = { .n = 0 };
	double share;

	n = heaviest_turn(a, path_n, &first, &share);
	if (!n || n > GUS_CIRCLE_STEPS || share < 0.25)
		return;
	for (size_t i = 0; i < n; i++)
		lowest = a->path[first + n - 1 - i].op < a->path[first + n - 1 - lowest].op ? i : lowest;
	for (size_t i = 0; i < n; i++)
		c.steps[c.n++] = a->path[first + n - 1 - (i + lowest) % n];
	c.ops = a->path[first].seq - a->path[first + n].seq;
	while (k < a->circles_n && !(a->circles[k].n == n && same_turn(a->circles[k].steps, c.steps, n)))
		k++;
	if (k == CIRCLES)
		return;
	if (k == a->circles_n)
		a->circles[a->circles_n++] = c;
	for (size_t i = 0; i < path_n; i++)
		a->circles[k].ticks += (int64_t)(share * (double)a->path[i].ticks);
}

static void read_log(struct gus_stream_log *log, const struct stream *s)
{
	struct analysis *a = log->context;
	struct walk w = { .analysis = a, .log = log, .s = s, .low = a->counted };

	if (log->seq < a->counted + a->behind + GUS_OP_STEPS / 2)
		return;
	w.high = log->seq - a->behind;
	walk(&w);
	if (a->circles && a->walks++ % CIRCLE_EVERY == 0)
		note_circle(a);
	a->charged += w.high - w.low;
	a->counted = w.high;
}

static void resume_log(struct gus_stream_log *log)
{
	struct analysis *a = log->context;

	a->counted = log->seq > a->counted ? log->seq : a->counted;
}

/* The log. */

static uint64_t power_of_two(uint64_t least)
{
	uint64_t n = 1;

	while (n < least)
		n *= 2;
	return n;
}

/* How many of the first ops are logged. */
static uint64_t logged_of(uint64_t ops)
{
	uint64_t stretch = STRETCH * GUS_OP_STEPS, rest = ops % (2 * stretch);

	return ops / (2 * stretch) * stretch + (rest < stretch ? rest : stretch);
}

/* counted: ops that are not charged. uops: of an op, at most; or rather, of many in the mean. */
static void open_log(struct gus_stream_log *log, struct analysis *a, const struct gus_core_config *c, uint64_t counted,
		     uint64_t uops)
{
	uint64_t rob = c->rob ? c->rob : 512, notes, starts;

	a->behind = 2 * rob;
	a->counted = counted;
	gus_index_init(&a->charges.met, sizeof(struct charged));
	*log = (struct gus_stream_log){ .random = 88172645463325252u, .read = read_log, .resume = resume_log,
		.context = a, .stretch = STRETCH, .one_in = ONE_IN };
	notes = power_of_two(GUS_OP_STEPS + GUS_OP_STEPS / 2 + a->behind);
	starts = notes * power_of_two(uops);
	log->notes = gus_zalloc(notes * sizeof(*log->notes));
	log->starts = gus_zalloc(starts * sizeof(*log->starts));
	log->notes_mask = notes - 1;
	log->starts_mask = starts - 1;
}

static void close_log(struct gus_stream_log *log)
{
	free(log->notes);
	free(log->starts);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		free(log->given[w]);
	gus_index_free(&((struct analysis *)log->context)->charges.met);
	gus_vec_free(&((struct analysis *)log->context)->charges.sums);
}

/* Results. */

static int by_cycles(const void *x, const void *y)
{
	const struct gus_cause *a = x, *b = y;

	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? 1 : -1;
	if (a->times != b->times)
		return a->times < b->times ? 1 : -1;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->hop != b->hop)
		return a->hop < b->hop ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Of so many iterations. */
static void list_causes(const struct charges *c, const struct gus_program *p, double iterations,
			struct gus_causality *out)
{
	out->ops_n = p->ops_n;
	out->op_cycles = gus_zalloc((p->ops_n + 1) * sizeof(*out->op_cycles));
	out->causes = gus_zalloc((c->sums.n + 1) * sizeof(*out->causes));
	out->causes_n = c->sums.n;
	for (uint32_t i = 0; i < c->sums.n; i++) {
		const struct charged *what = gus_index_key(&c->met, i);
		struct gus_cause *one = &out->causes[i];

		*one = (struct gus_cause){ .op = what->op };
		one->hop = hop_of(what->kind, &one->number);
		one->cycles = (double)c->sums.v[i].ticks / GUS_STREAM_TICKS / iterations;
		one->times = (double)c->sums.v[i].times / iterations;
		out->op_cycles[one->op] += one->cycles;
	}
	qsort(out->causes, out->causes_n, sizeof(*out->causes), by_cycles);
	out->cycles = (double)c->all / GUS_STREAM_TICKS / iterations;
}

static struct gus_cause cause_of(const struct step *step)
{
	struct gus_cause c = { .op = step->op, .cycles = (double)step->ticks / GUS_STREAM_TICKS, .times = 1 };

	c.hop = hop_of(step->kind, &c.number);
	return c;
}

/* The path goes back in time; the chain is told forwards, and begins with its first op in the order of the program. */
static void find_chain(const struct analysis *a, const struct gus_program *p, struct gus_causality *out)
{
	size_t first = 0, n = heaviest_turn(a, a->path_n, &first, &out->chain_share), lowest = 0;

	if (!n)
		return;
	out->chain = gus_zalloc(n * sizeof(*out->chain));
	out->chain_n = n;
	for (size_t i = 0; i < n; i++)
		lowest = a->path[first + n - 1 - i].op < a->path[first + n - 1 - lowest].op ? i : lowest;
	for (size_t i = 0; i < n; i++) {
		const struct step *step = &a->path[first + n - 1 - (i + lowest) % n];

		out->chain[i] = cause_of(step);
	}
	out->chain_iterations = (double)(a->path[first].seq - a->path[first + n].seq) / p->ops_n;
}

static uint64_t most_uops(const struct gus_program *p)
{
	uint64_t most = 1;

	for (uint32_t i = 0; i < p->ops_n; i++)
		most = p->ops[i].uops_n > most ? p->ops[i].uops_n : most;
	return most;
}

int gus_causality_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		      struct gus_causality *out, struct gus_stream_result *result, struct gus_error *err)
{
	struct gus_stream_options options = *o;
	struct gus_stream_result r;
	struct gus_stream_log log;
	struct analysis *a = gus_zalloc(sizeof(*a));
	int status;

	*out = (struct gus_causality){ 0 };
	options.log = &log;
	if (!options.source) {
		uint64_t most = options.iterations ? options.iterations : gus_stream_enough(p, c, o->memory);
		uint64_t least = (16 * GUS_OP_STEPS + 8 * (c->rob ? c->rob : 512)) / (p->ops_n ? p->ops_n : 1) + 1;

		options.iterations = most > least ? most : least;
	}
	/* The first half is for the windows and caches to fill. */
	open_log(&log, a, c, o->source ? 0 : logged_of(options.iterations * p->ops_n / 2), most_uops(p));
	status = gus_stream_run(p, c, &options, &r, err);
	if (result)
		*result = r;
	if (status == 0) {
		double ops = (double)(log.seq + log.skipped);

		list_causes(&a->charges, p, r.iterations ? (double)r.iterations * (double)a->charged / ops : 1, out);
		find_chain(a, p, out);
	}
	close_log(&log);
	free(a);
	return status;
}

struct gus_causes {
	struct gus_stream_log log;
	struct analysis analysis;
};

struct gus_causes *gus_causes_open(const struct gus_core_config *c, struct gus_stream_options *o)
{
	enum { UOPS = 8 }; /* of an op, in the mean over all that is in the log */
	struct gus_causes *causes = gus_zalloc(sizeof(*causes));

	open_log(&causes->log, &causes->analysis, c, 0, UOPS);
	causes->log.one_in = ONE_IN_FED;
	causes->analysis.circles = gus_zalloc(CIRCLES * sizeof(struct circle));
	o->log = &causes->log;
	return causes;
}

void gus_causes_count_anew(struct gus_causes *causes)
{
	struct charges *c = &causes->analysis.charges;

	for (size_t i = 0; i < c->sums.n; i++)
		c->sums.v[i] = (struct sum){ 0 };
	c->all = 0;
	causes->analysis.charged = 0;
}

/* What was not followed is taken to be as what was. */
void gus_causes_get(const struct gus_causes *causes, const struct gus_program *p, double cycles,
		    struct gus_causality *out)
{
	const struct analysis *a = &causes->analysis;
	double followed = (double)a->charges.all / GUS_STREAM_TICKS;

	*out = (struct gus_causality){ 0 };
	list_causes(&a->charges, p, followed > 0 && cycles > 0 ? followed / cycles : 1, out);
	find_chain(a, p, out);
}

/* By the time that went round them. */
static int by_ticks(const void *x, const void *y)
{
	const struct gus_circle *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->steps[0].op < b->steps[0].op ? -1 : a->steps[0].op > b->steps[0].op;
}

size_t gus_causes_circles(const struct gus_causes *causes, struct gus_circle *out, size_t room)
{
	const struct analysis *a = &causes->analysis;
	struct gus_circle *all = gus_zalloc((a->circles_n + 1) * sizeof(*all));
	size_t n = a->circles_n < room ? a->circles_n : room;

	for (size_t i = 0; i < a->circles_n; i++) {
		const struct circle *c = &a->circles[i];

		all[i] = (struct gus_circle){ .n = c->n, .ops = c->ops, .weight = (double)c->ticks / GUS_STREAM_TICKS };
		for (size_t k = 0; k < c->n; k++)
			all[i].steps[k] = cause_of(&c->steps[k]);
	}
	qsort(all, a->circles_n, sizeof(*all), by_ticks);
	memcpy(out, all, n * sizeof(*out));
	free(all);
	return n;
}

void gus_causes_close(struct gus_causes *causes)
{
	if (!causes)
		return;
	close_log(&causes->log);
	free(causes->analysis.circles);
	free(causes);
}

void gus_causality_free(struct gus_causality *out)
{
	free(out->causes);
	free(out->op_cycles);
	free(out->chain);
	*out = (struct gus_causality){ 0 };
}
