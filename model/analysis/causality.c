/* SPDX-License-Identifier: MIT */
#include "model/analysis/causality.h"

#include <stdlib.h>
#include <string.h>

#include "model/stream/private.h"

enum { STRETCH = 8, ONE_IN = 2, ONE_IN_FED = 8, PATH_MOST = 8192, TURNS_MOST = 256, RECENT = 1024 };

/* What is charged, as a number: units, buses, levels and TLBs, one for each other kind of hop, then groups of ports, of which more may
 * come. Of all ops and kinds few are met. */
enum { UNITS_AT = 0, BUSES_AT = UNITS_AT + STREAM_UNITS, LEVELS_AT = BUSES_AT + STREAM_BUSES, TLBS_AT = LEVELS_AT + GUS_HITS,
	OTHERS_AT = TLBS_AT + GUS_TLB_WALK + 1, PORTS_AT = OTHERS_AT + GUS_HOPS };
struct charged { uint32_t op, kind; };
struct charges {
	struct gus_index met;   /* of struct charged */
	struct gus_vec(struct sum { int64_t ticks; uint64_t times; }) sums;
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
enum { CIRCLES = 64, CIRCLE_STEPS = 24, CIRCLE_LOOK = 512, CIRCLE_EVERY = 4 };
struct circle {
	struct step steps[CIRCLE_STEPS];
	size_t n;
	int64_t ticks;          /* of the stretches of path that went round it */
	uint64_t ops;           /* that a turn goes back by */
};

struct analysis {
	struct charges charges;
	uint64_t charged;       /* how many have been */
	uint64_t counted;       /* ops before that one have been charged */
	uint64_t behind;        /* ops that are not charged yet: two reorder buffers */
	uint64_t low, high;     /* the ones to be charged by the present walk */
	struct step path[PATH_MOST];
	size_t path_n;
	struct circle *circles; /* NULL: not looked for */
	size_t circles_n;
	uint64_t walks;
};

static const char *const hop_names[GUS_HOPS] = {
	[GUS_HOP_PORTS] = "ports", [GUS_HOP_UNITS] = "unit", [GUS_HOP_LATENCY] = "latency", [GUS_HOP_LOAD] = "load latency",
	[GUS_HOP_FORWARD] = "store forwarding", [GUS_HOP_ISSUE] = "issue", [GUS_HOP_DECODE] = "decoders",
	[GUS_HOP_FETCH] = "length decoding", [GUS_HOP_UOP_CACHE] = "uop cache", [GUS_HOP_RETIRE] = "retirement",
	[GUS_HOP_LEVEL] = "latency of", [GUS_HOP_BUS] = "bandwidth of", [GUS_HOP_TLB] = "TLB", [GUS_HOP_MISPREDICT] = "mispredict penalty",
	[GUS_HOP_STORES] = "stores to L1", [GUS_HOP_RS] = "reservation station", [GUS_HOP_MISS_BUFFER] = "miss buffers",
	[GUS_HOP_ROB] = "reorder buffer", [GUS_HOP_LOAD_BUFFER] = "load buffer", [GUS_HOP_STORE_BUFFER] = "store buffer",
};

const char *gus_hop_name(enum gus_hop hop)
{
	return hop_names[hop];
}

/* Charging. */

static uint32_t kind_of(enum gus_hop hop, size_t number)
{
	static const uint8_t first[GUS_HOPS] = { [GUS_HOP_PORTS] = PORTS_AT, [GUS_HOP_UNITS] = UNITS_AT, [GUS_HOP_BUS] = BUSES_AT,
		[GUS_HOP_LEVEL] = LEVELS_AT, [GUS_HOP_TLB] = TLBS_AT };

	return (uint32_t)(first[hop] || hop == GUS_HOP_UNITS ? first[hop] + number : OTHERS_AT + (uint32_t)hop);
}

static enum gus_hop hop_of(uint32_t kind, uint32_t *number)
{
	static const struct { uint32_t first; enum gus_hop hop; } parts[] = {
		{ PORTS_AT, GUS_HOP_PORTS }, { OTHERS_AT, GUS_HOPS }, { TLBS_AT, GUS_HOP_TLB }, { LEVELS_AT, GUS_HOP_LEVEL },
		{ BUSES_AT, GUS_HOP_BUS }, { UNITS_AT, GUS_HOP_UNITS },
	};
	size_t i = 0;

	while (kind < parts[i].first)
		i++;
	*number = parts[i].hop == GUS_HOPS ? 0 : kind - parts[i].first;
	return parts[i].hop == GUS_HOPS ? (enum gus_hop)(kind - OTHERS_AT) : parts[i].hop;
}

static uint32_t place_of(struct charges *c, uint32_t op, uint32_t kind)
{
	struct charged what = { op, kind };
	struct recent *recent = &c->recent[(op * 61 + kind) % RECENT];
	bool is_new;

	if (recent->used && recent->what.op == op && recent->what.kind == kind)
		return recent->at;
	*recent = (struct recent){ what, gus_index_add(&c->met, &what, &is_new), true };
	if (is_new)
		gus_vec_push(&c->sums, (struct sum){ 0, 0 });
	return recent->at;
}

static void charge(struct analysis *a, uint64_t seq, uint32_t op, uint32_t kind, int64_t ticks)
{
	uint32_t at;

	if (seq < a->low || seq >= a->high)
		return;
	at = place_of(&a->charges, op, kind);
	a->charges.sums.v[at].ticks += ticks;
	a->charges.sums.v[at].times++;
	a->charges.all += ticks;
	if (a->path_n < PATH_MOST)
		a->path[a->path_n++] = (struct step){ op, kind, ticks, seq };
}

/* Walking. A place on the path: a moment in the life of an op, and what it waited for. */
enum moment { ENTRY, DISPATCH, START, END, RETIRE, DRAIN };
struct place {
	enum moment moment;
	uint64_t seq;
	unsigned uop;           /* of START */
};

static const struct stream_note *note_of(const struct gus_stream_log *log, uint64_t seq)
{
	return &log->notes[seq & log->notes_mask];
}

/* The same of a bus, whose users are known by the log alone. */
static struct place charge_bus(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, struct place p,
			       unsigned resource, uint64_t since)
{
	unsigned bus = resource;
	uint32_t kind = kind_of(GUS_HOP_BUS, bus);
	uint64_t from = since > a->low ? since : a->low;

	for (uint64_t seq = p.seq; seq > from; seq--) {
		const struct stream_note *n = note_of(log, seq - 1);

		if (n->buses[bus])
			charge(a, seq - 1, n->op, kind, (int64_t)s->inverse[resource].ticks[0] * n->buses[bus]);
	}
	return (struct place){ DISPATCH, since, 0 };
}

/* All who used a resource from when it became busy until the uop that waited for it, youngest first. */
static struct place charge_users(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, struct place p,
				 unsigned resource, uint64_t since)
{
	uint32_t kind = resource >= STREAM_GROUPS_AT ? kind_of(GUS_HOP_PORTS, resource - STREAM_GROUPS_AT) :
			kind_of(GUS_HOP_UNITS, resource - STREAM_UNITS_AT);
	uint64_t from = since > a->low ? since : a->low;

	if (resource < STREAM_BUSES)
		return charge_bus(a, log, s, p, resource, since);

	for (uint64_t seq = p.seq; seq + 1 > from; seq--) {
		uint32_t number = note_of(log, seq)->op;
		const struct gus_op *op = &s->p->ops[number];
		unsigned uops = op->flags & GUS_OP_ELIMINATED ? 0 : op->uops_n;

		for (unsigned u = seq == p.seq ? p.uop : uops; u-- > 0;) {
			const struct stream_uop *needs = &s->uops.v[op->uop + u];

			for (uint32_t i = 0; i < needs->uses_n; i++) {
				const struct stream_use *use = &s->uses.v[needs->use + i];

				if (use->resource == resource)
					charge(a, seq, number, kind, (int64_t)s->inverse[resource].ticks[0] * use->times);
			}
		}
		if (seq == 0)
			break;
	}
	return (struct place){ DISPATCH, since, 0 };
}

static struct place charge_front(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, unsigned part,
				 uint64_t raised)
{
	static const enum gus_hop hops[FRONTS] = { GUS_HOP_ISSUE, GUS_HOP_DECODE, GUS_HOP_FETCH, GUS_HOP_UOP_CACHE };
	uint64_t since = note_of(log, raised)->since, from = since > a->low ? since : a->low;
	uint32_t kind = kind_of(hops[part], 0);

	for (uint64_t seq = raised; seq + 1 > from; seq--) {
		const struct stream_note *n = note_of(log, seq);
		int64_t cost = gus_stream_nominal(s, s->ops.v[n->op].front[part]);

		cost *= !(n->fronts >> part & 1) ? 0 : part == FRONT_FETCH ? n->fetched : 1;
		if (cost)
			charge(a, seq, n->op, kind, cost);
		if (seq == 0)
			break;
	}
	/* What works ahead begins before the op is there. */
	if (part == FRONT_FETCH && since >= a->low)
		charge(a, since, note_of(log, since)->op, kind, -(int64_t)STREAM_FETCH_AHEAD * GUS_STREAM_TICKS);
	return (struct place){ ENTRY, since, 0 };
}

/* The latency of what another uop wrote, less what it is read late. */
static struct place charge_value(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, struct place p,
				 uint64_t why)
{
	const struct gus_op *reader = &s->p->ops[note_of(log, p.seq)->op];
	uint64_t seq = stream_why_seq(why);
	unsigned writer = stream_why_index(why);
	int32_t late = gus_stream_nominal(s, s->flows.v[s->p->uops[reader->uop + p.uop].in + stream_why_in(why)]);

	if (seq >= a->low) {
		uint32_t number = note_of(log, seq)->op;
		const struct gus_uop *u = &s->p->uops[s->p->ops[number].uop + writer];
		enum gus_hop hop = u->kind == GUS_UOP_LOAD ? GUS_HOP_LOAD : GUS_HOP_LATENCY;

		charge(a, seq, number, kind_of(hop, 0), gus_stream_nominal(s, s->flows.v[u->out + stream_why_out(why)]) - late);
	}
	return (struct place){ START, seq, writer };
}

/* late: how long after it is there it is needed; of a retirement nothing. */
static struct place charge_forward(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, uint64_t why,
				   int64_t late)
{
	uint64_t seq = stream_why_seq(why);
	bool blocked = stream_why_out(why) != 0;
	uint32_t cycles = blocked ? s->c->store_forward_blocked : s->c->store_forward_zero ? 0 : s->c->store_forward_latency;

	if (seq >= a->low)
		charge(a, seq, note_of(log, seq)->op, kind_of(GUS_HOP_FORWARD, 0), (int64_t)cycles * GUS_STREAM_TICKS - late);
	return (struct place){ blocked ? DRAIN : START, seq, stream_why_index(why) };
}

/* What a line or a page took to come, beyond what a hit takes. */
static void charge_miss(struct analysis *a, const struct stream *s, uint64_t seq, uint32_t op, uint64_t why, int64_t hit)
{
	unsigned level = stream_why_level(why), tlb = stream_why_tlb(why);

	if (level)
		charge(a, seq, op, kind_of(GUS_HOP_LEVEL, level), s->levels[level][0] - hit);
	if (tlb)
		charge(a, seq, op, kind_of(GUS_HOP_TLB, tlb), tlb == GUS_TLB_WALK ? s->walk[0] : s->tlb[0]);
}

/* An entry that another op gave back. */
static struct place charge_entry(struct analysis *a, const struct gus_stream_log *log, enum gus_hop hop, struct place p)
{
	if (p.seq >= a->low)
		charge(a, p.seq, note_of(log, p.seq)->op, kind_of(hop, 0), 0);
	return p;
}

/* A miss buffer is free when the line of its load is there. */
static struct place charge_buffer(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, uint64_t why)
{
	uint64_t seq = stream_why_seq(why);
	unsigned own = stream_why_index(why);

	if (own == STREAM_STORE)
		return charge_entry(a, log, GUS_HOP_MISS_BUFFER, (struct place){ DRAIN, seq, 0 });
	if (seq >= a->low) {
		uint32_t op = note_of(log, seq)->op;

		charge(a, seq, op, kind_of(GUS_HOP_LOAD, 0), gus_stream_nominal(s, s->uops.v[s->p->ops[op].uop + own].latency));
	}
	return charge_entry(a, log, GUS_HOP_MISS_BUFFER, (struct place){ START, seq, own });
}

static struct place before_start(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, struct place p,
				 bool *more)
{
	const struct stream_note *n = note_of(log, p.seq);
	uint64_t why = log->starts[(n->starts + p.uop) & log->starts_mask];
	uint32_t number = s->p->ops[n->op].uop + p.uop;
	const struct gus_uop *u = &s->p->uops[number];

	if (log->started - n->starts > log->starts_mask) { /* ops of very many uops have pushed it out */
		*more = false;
		return p;
	}
	charge_miss(a, s, p.seq, n->op, why, gus_stream_nominal(s, s->uops.v[number].latency));
	switch (stream_why(why)) {
	case WHY_DISPATCH:
		return (struct place){ DISPATCH, p.seq, 0 };
	case WHY_RESOURCE:
		return charge_users(a, log, s, p, stream_why_index(why), stream_why_seq(why));
	case WHY_VALUE:
		return charge_value(a, log, s, p, why);
	case WHY_FORWARD:
		return charge_forward(a, log, s, why, gus_stream_nominal(s, s->flows.v[u->in + stream_why_in(why)]));
	case WHY_MISS:
		return charge_buffer(a, log, s, why);
	case WHY_LINE: /* the two loads are done at the same time */
		return (struct place){ stream_why_index(why) == STREAM_STORE ? DRAIN : START, stream_why_seq(why), stream_why_index(why) };
	default:
		*more = false;
		return p;
	}
}

static struct place before_dispatch(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, uint64_t why,
				    struct place p, bool *more)
{
	static const enum gus_hop windows[STREAM_IN_ORDER] = { GUS_HOP_ROB, GUS_HOP_LOAD_BUFFER, GUS_HOP_STORE_BUFFER };
	uint64_t seq = stream_why_seq(why);

	switch (stream_why(why)) {
	case WHY_FRONT:
		return charge_front(a, log, s, stream_why_index(why), seq);
	case WHY_WINDOW:
		return charge_entry(a, log, windows[stream_why_index(why)],
				    (struct place){ stream_why_index(why) == WINDOW_STORES ? DRAIN : RETIRE, seq, 0 });
	case WHY_STATION:
		return charge_entry(a, log, GUS_HOP_RS, (struct place){ START, seq, stream_why_index(why) });
	case WHY_FLUSH:
		if (seq >= a->low)
			charge(a, seq, note_of(log, seq)->op, kind_of(GUS_HOP_MISPREDICT, 0), s->penalty[0]);
		return (struct place){ END, seq, 0 };
	default:
		*more = false;
		return p;
	}
}

static struct place before_end(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, uint64_t why, struct place p,
			       bool *more)
{
	const struct stream_note *n = note_of(log, p.seq);
	unsigned own = stream_why_index(why);
	const struct gus_uop *u = &s->p->uops[s->p->ops[n->op].uop + own];

	switch (stream_why(why)) {
	case WHY_DISPATCH:
		return (struct place){ DISPATCH, p.seq, 0 };
	case WHY_OWN:
		charge(a, p.seq, n->op, kind_of(u->kind == GUS_UOP_LOAD ? GUS_HOP_LOAD : GUS_HOP_LATENCY, 0),
		       gus_stream_nominal(s, s->uops.v[s->p->ops[n->op].uop + own].latency));
		return (struct place){ START, p.seq, own };
	case WHY_FORWARD:
		return charge_forward(a, log, s, why, 0);
	case WHY_PREVIOUS:
		charge(a, p.seq, n->op, kind_of(GUS_HOP_RETIRE, 0), gus_stream_nominal(s, s->ops.v[n->op].retire));
		*more = p.seq > 0;
		return (struct place){ RETIRE, p.seq - 1, 0 };
	default:
		*more = false;
		return p;
	}
}

static struct place before_drain(struct analysis *a, const struct gus_stream_log *log, const struct stream *s, struct place p, bool *more)
{
	const struct stream_note *n = note_of(log, p.seq);
	uint64_t why = n->drain;

	charge_miss(a, s, p.seq, n->op, why, 0);
	switch (stream_why(why)) {
	case WHY_RETIRED:
		return (struct place){ RETIRE, p.seq, 0 };
	case WHY_PREVIOUS:
		charge(a, p.seq, n->op, kind_of(GUS_HOP_STORES, 0), s->drain[0]);
		*more = stream_why_seq(why) < p.seq;
		return (struct place){ DRAIN, stream_why_seq(why), 0 };
	case WHY_RESOURCE:
		return charge_users(a, log, s, p, stream_why_index(why), stream_why_seq(why));
	case WHY_MISS:
		return charge_buffer(a, log, s, why);
	default:
		*more = false;
		return p;
	}
}

/* From the last retirement back to the ops that have been charged already. */
static void walk(struct analysis *a, const struct gus_stream_log *log, const struct stream *s)
{
	struct place p = { RETIRE, log->seq - 1, 0 };
	bool more = log->seq > 0;

	a->path_n = 0;
	while (more && p.seq >= a->low) {
		const struct stream_note *n = note_of(log, p.seq);

		switch (p.moment) {
		case RETIRE:
			p = before_end(a, log, s, n->retire, p, &more);
			break;
		case END:
			p = before_end(a, log, s, n->end, p, &more);
			break;
		case DRAIN:
			p = before_drain(a, log, s, p, &more);
			break;
		case START:
			p = before_start(a, log, s, p, &more);
			break;
		case DISPATCH:
			p = before_dispatch(a, log, s, n->dispatch, p, &more);
			break;
		case ENTRY:
			p = before_dispatch(a, log, s, n->entry, p, &more);
			break;
		}
	}
}

static bool same_turn(const struct step *a, const struct step *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].op != b[i].op || a[i].kind != b[i].kind)
			return false;
	return true;
}

static size_t heaviest_turn(const struct analysis *a, size_t path_n, size_t *first, double *share);

/* What the newest stretch of path goes round in, if it is most of it: added to what is known of that circle. When there are too many,
 * new ones are passed over. */
static void note_circle(struct analysis *a)
{
	size_t path_n = a->path_n < CIRCLE_LOOK ? a->path_n : CIRCLE_LOOK, first = 0, n, lowest = 0, k = 0;
	struct circle c = { .n = 0 };
	double share;

	n = heaviest_turn(a, path_n, &first, &share);
	if (!n || n > CIRCLE_STEPS || share < 0.25)
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

	if (log->seq < a->counted + a->behind + GUS_STREAM_CHUNK / 2)
		return;
	a->low = a->counted;
	a->high = log->seq - a->behind;
	walk(a, log, s);
	if (a->circles && a->walks++ % CIRCLE_EVERY == 0)
		note_circle(a);
	a->charged += a->high - a->low;
	a->counted = a->high;
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
	uint64_t stretch = STRETCH * GUS_STREAM_CHUNK, rest = ops % (2 * stretch);

	return ops / (2 * stretch) * stretch + (rest < stretch ? rest : stretch);
}

/* counted: ops that are not charged. uops: of an op, at most; or rather, of many in the mean. */
static void open_log(struct gus_stream_log *log, struct analysis *a, const struct gus_core_config *c, uint64_t counted, uint64_t uops)
{
	uint64_t rob = c->rob ? c->rob : 512, windows = power_of_two(c->rob + c->load_buffer + c->store_buffer + c->rs + c->l1d_misses + 512);
	uint64_t notes, starts;

	a->behind = 2 * rob;
	a->counted = counted;
	gus_index_init(&a->charges.met, sizeof(struct charged));
	*log = (struct gus_stream_log){ .random = 88172645463325252u, .read = read_log, .resume = resume_log, .context = a,
					.stretch = STRETCH, .one_in = ONE_IN };
	notes = power_of_two(GUS_STREAM_CHUNK + GUS_STREAM_CHUNK / 2 + a->behind);
	starts = notes * power_of_two(uops);
	log->notes = gus_zalloc(notes * sizeof(*log->notes));
	log->starts = gus_zalloc(starts * sizeof(*log->starts));
	log->notes_mask = notes - 1;
	log->starts_mask = starts - 1;
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		log->given[w] = gus_zalloc(2 * windows * sizeof(*log->given[w]));
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
static void list_causes(const struct charges *c, const struct gus_program *p, double iterations, struct gus_causality *out)
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

static int64_t ticks_of(const struct step *path, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += path[i].ticks;
	return sum;
}

/* The step that most of the time goes through is met again and again; what lies between two meetings is a turn. The turn
 * that takes the most time in all is the chain; its share is that of all turns that were looked at. */
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

		out->chain[i] = (struct gus_cause){ .op = step->op, .cycles = (double)step->ticks / GUS_STREAM_TICKS, .times = 1 };
		out->chain[i].hop = hop_of(step->kind, &out->chain[i].number);
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
		uint64_t least = (16 * GUS_STREAM_CHUNK + 8 * (c->rob ? c->rob : 512)) / (p->ops_n ? p->ops_n : 1) + 1;

		options.iterations = most > least ? most : least;
	}
	/* The first half is for the windows and caches to fill. */
	open_log(&log, a, c, o->source ? 0 : logged_of(options.iterations * p->ops_n / 2), most_uops(p));
	status = gus_stream_run(p, c, &options, &r, err);
	if (result)
		*result = r;
	if (status == 0) {
		list_causes(&a->charges, p, r.iterations ? (double)r.iterations * (double)a->charged / (double)(log.seq + log.skipped) : 1, out);
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
void gus_causes_get(const struct gus_causes *causes, const struct gus_program *p, double cycles, struct gus_causality *out)
{
	const struct analysis *a = &causes->analysis;

	*out = (struct gus_causality){ 0 };
	list_causes(&a->charges, p, a->charges.all > 0 && cycles > 0 ? (double)a->charges.all / GUS_STREAM_TICKS / cycles : 1, out);
	find_chain(a, p, out);
}

/* By the time that went round them. */
static int by_ticks(const void *x, const void *y)
{
	const struct gus_circle *a = x, *b = y;

	return a->weight < b->weight ? 1 : a->weight > b->weight ? -1 : a->steps[0].op < b->steps[0].op ? -1 : a->steps[0].op > b->steps[0].op;
}

size_t gus_causes_circles(const struct gus_causes *causes, struct gus_circle *out, size_t room)
{
	const struct analysis *a = &causes->analysis;
	struct gus_circle *all = gus_zalloc((a->circles_n + 1) * sizeof(*all));
	size_t n = a->circles_n < room ? a->circles_n : room;

	for (size_t i = 0; i < a->circles_n; i++) {
		const struct circle *c = &a->circles[i];

		all[i] = (struct gus_circle){ .n = c->n, .ops = c->ops, .weight = (double)c->ticks / GUS_STREAM_TICKS };
		for (size_t k = 0; k < c->n; k++) {
			all[i].steps[k] = (struct gus_cause){ .op = c->steps[k].op, .cycles = (double)c->steps[k].ticks / GUS_STREAM_TICKS, .times = 1 };
			all[i].steps[k].hop = hop_of(c->steps[k].kind, &all[i].steps[k].number);
		}
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
