/* SPDX-License-Identifier: MIT */
/* The kernel of the stream engine: the body of the loop of Gus' Algorithm 1 (lines 18 to 41; section 3.1 of
 * "Performance bottlenecks detection through microarchitectural sensitivity"), for many machines side by side.
 *
 * The idea. Nothing happens at a certain cycle here. Each thing that an op may have to wait for - a port, a register,
 * an entry of a buffer - has one number, the earliest time at which it is available, and an op goes through its life
 * once, from dispatch to retirement, taking the latest of what it needs (the paper's ConstrainBy) and putting off
 * what it uses (its UsedBy):
 *
 *	windows           front end          ports, operands, lines       latency        in order
 *	--------> entry ------------> dispatch ----------------> start ---------> end ---------> retire ----> drain
 *	rob, loads, issue, decoders,           of each uop                        the latest      4 slots    stores
 *	stores, RS  fetch, uop cache                                              of its uops     a cycle    to L1
 *
 * As all of it is "the latest of" and "plus", a time may as well be a vector, in which each lane is a machine of its
 * own with other costs: what one lane does never changes what another one does, and there is no branch on a time but
 * where it only saves work.
 *
 *	lane           0        1        2        3
 *	dispatch     [  5040 |   5040 |   5040 |   4383 ]     ticks of 1/5040 cycle; lane 3 issues 1.15 times as much
 *	port 0       [  7560 |   6300 |   7560 |   7560 ]     in lane 1 there are two of it: a use is half a cycle
 *	start = max  [  7560 |   6300 |   7560 |   7560 ]
 *
 * The invariants. Times only grow (but for all of them being taken down together, see rebase). Dispatch and
 * retirement are in the order of the program; starts are in no order. The arithmetic is integers, so that lane k of
 * many is to the tick what lane 0 of a run of its own is. Where there is a log, lane 0 notes beside each time what it
 * was constrained by; that never changes a time.
 *
 * A window (reorder buffer, load and store buffer, miss buffers) is a ring of the times at which its entries are
 * given back. The entry that the n-th taker gets is that of the (n - size)-th, so a size is a distance in the ring,
 * and lanes with other sizes read at other places of the same ring (of a window there are at most STREAM_SIZES sizes,
 * each with the lanes that have it as a mask):
 *
 *	given[w]   ... | t(n-8) | t(n-7) | t(n-6) | t(n-5) | t(n-4) | t(n-3) | t(n-2) | t(n-1) |  to be taken: n
 *	                   ^ lanes with 8 entries              ^ lanes with 4 entries
 *
 * This file is included by kernel.c once for each width of vectors; there is no include guard on purpose. The
 * includer says: stream_time, the type of a time (an int32_t, or a vector of them); LANES, how many it has; LATER(a,
 * b) and SOONER(a, b), the later and the sooner of two, lane by lane; ANY_LATER(a, b), whether a is later than b in
 * any lane; LATER_MASK(a, b), all bits of the lanes in which it is; LANE(t, k), one of its lanes; FIRST(t), the first
 * one; TARGET, what the compiler may use. */

#define INLINE TARGET static inline __attribute__((always_inline))

INLINE stream_time NAME(lanes_of)(const int32_t *array, unsigned first)
{
	stream_time t;

	memcpy(&t, array + first, sizeof(t));
	return t;
}

struct NAME(state) {
	/* When each resource is free, and how long one use takes (the paper's inverse throughput). */
	stream_time resource[STREAM_RESOURCES], inverse[STREAM_RESOURCES];
	stream_time reg[GUS_PROGRAM_REGS];      /* when its value is there */
	stream_time front[FRONTS];              /* when each part of the front end has served the last op */
	stream_time dispatch, retire, drained;  /* of the last op; drained: of the last store, when it left for L1 */
	stream_time words[STREAM_WORDS], left[STREAM_WORDS]; /* of a store: its data are there, and it has left */
	stream_time lines[STREAM_LINES], lines_l2[STREAM_LINES]; /* when one that was asked for is in L1, L2 */
	stream_time late[GUS_CORE_STATIONS][STREAM_LATE]; /* the longest waits of each part */
	unsigned late_at[GUS_CORE_STATIONS];    /* where is looked first */
	uint64_t taken[STREAM_WINDOWS];         /* entries so far */
	stream_time *given[STREAM_WINDOWS];     /* when each entry is given back: rings */
	stream_time sizes[STREAM_WINDOWS][STREAM_SIZES];
	stream_time levels[GUS_HITS], tlb, walk, penalty, mispredicted, drain;
	stream_time forwards[GUS_FORWARDINGS], forward_address;
	stream_time split, page_split, split_share, held[GUS_HELD_BYS], alias;
	stream_time *costs;
	size_t costs_n, costs_room;
	int64_t base[LANES];                    /* ticks that were taken off */
	/* Of what is fed: where the time of retirement went. */
	uint32_t region, regions_n, regions_room; /* region: the present one */
	stream_time mark;                       /* when retirement came to it */
	stream_time *in_region;                 /* by region, since times were taken down ... */
	int64_t (*region_ticks)[LANES];         /* ... and before */
	int64_t *op_ticks;                      /* by op, in lane 0, if the first lane of all is here */
	uint32_t ops_n, ops_room, turned;
	unsigned first;
	const struct stream_beside *besides;    /* of the present chunk */
};

/* More costs, resources, regions, ops: all that the stream has more than there was. */
TARGET static void NAME(grow)(void *state, const struct stream *s)
{
	struct NAME(state) *k = state;

	if (s->costs.n > k->costs_room) {
		stream_time *costs = aligned_zalloc(2 * s->costs.n * sizeof(*costs));

		if (k->costs_n)
			memcpy(costs, k->costs, k->costs_n * sizeof(*costs));
		free(k->costs);
		k->costs = costs;
		k->costs_room = 2 * s->costs.n;
	}
	if (s->turned != k->turned)
		k->costs_n = 0;
	k->turned = s->turned;
	for (; k->costs_n < s->costs.n; k->costs_n++)
		k->costs[k->costs_n] = NAME(lanes_of)(s->costs.v[k->costs_n].ticks, k->first);
	for (size_t i = 0; i < s->resources_n; i++)
		k->inverse[i] = NAME(lanes_of)(s->inverse[i].ticks, k->first);
	if (s->regions > k->regions_room) { /* twice as many as are needed: code is met bit by bit */
		stream_time *in_region = aligned_zalloc(2 * s->regions * sizeof(*in_region));

		if (k->regions_n)
			memcpy(in_region, k->in_region, k->regions_n * sizeof(*in_region));
		free(k->in_region);
		k->in_region = in_region;
		k->region_ticks = gus_resize(k->region_ticks, 2 * s->regions, sizeof(*k->region_ticks));
		k->regions_room = 2 * s->regions;
	}
	if (s->regions > k->regions_n) {
		memset(k->region_ticks + k->regions_n, 0, (s->regions - k->regions_n) * sizeof(*k->region_ticks));
		k->regions_n = s->regions;
	}
	if (s->fed && !k->first && s->ops_n > k->ops_room) {
		k->op_ticks = gus_resize(k->op_ticks, 2 * s->ops_n, sizeof(*k->op_ticks));
		k->ops_room = 2 * s->ops_n;
	}
	if (s->fed && !k->first && s->ops_n > k->ops_n) {
		memset(k->op_ticks + k->ops_n, 0, (s->ops_n - k->ops_n) * sizeof(*k->op_ticks));
		k->ops_n = s->ops_n;
	}
}

/* Places that a lane has not are taken for ever, also when times have been taken down. */
TARGET static void NAME(close_places)(struct NAME(state) *k, const struct stream *s)
{
	static const int32_t never = INT32_MAX;

	for (unsigned part = 0; part < GUS_CORE_STATIONS; part++)
		for (unsigned lane = 0; lane < LANES; lane++) {
			unsigned places = s->late[part], closed = s->closed[part][k->first + lane];

			for (unsigned n = 0; n < closed; n++)
				memcpy((int32_t *)&k->late[part][gus_stream_late_closed(places, closed, n)] + lane,
				       &never, sizeof(never));
		}
}

INLINE void NAME(fill)(struct NAME(state) *k, const struct stream *s, unsigned first)
{
	for (unsigned level = 0; level < GUS_HITS; level++)
		k->levels[level] = NAME(lanes_of)(s->levels[level], first);
	k->tlb = NAME(lanes_of)(s->tlb, first);
	k->walk = NAME(lanes_of)(s->walk, first);
	k->penalty = NAME(lanes_of)(s->penalty, first);
	k->mispredicted = NAME(lanes_of)(s->mispredicted, first);
	k->drain = NAME(lanes_of)(s->drain, first);
	k->split = NAME(lanes_of)(s->split, first);
	k->page_split = NAME(lanes_of)(s->page_split, first);
	k->forward_address = NAME(lanes_of)(s->forward_address, first);
	k->split_share = NAME(lanes_of)(s->split_share, first);
	for (unsigned held = 0; held < GUS_HELD_BYS; held++)
		k->held[held] = NAME(lanes_of)(s->held[held], first);
	k->alias = NAME(lanes_of)(s->alias, first);
	for (unsigned kind = 0; kind < GUS_FORWARDINGS; kind++)
		k->forwards[kind] = NAME(lanes_of)(s->forwards[kind], first);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		for (unsigned i = 0; i < s->sizes_n[w]; i++) {
			int32_t mask[GUS_STREAM_LANES + 16] = { 0 };

			for (unsigned lane = 0; lane < GUS_STREAM_LANES; lane++)
				mask[lane] = s->sizes[w][i].lanes >> lane & 1 ? -1 : 0;
			k->sizes[w][i] = NAME(lanes_of)(mask, first);
		}
	NAME(close_places)(k, s);
}

/* When the n-th entry of a window from now on is free: whoever had it one round before has given it back. Of each
 * size the lanes that have it are let through by its mask; to the others, whose windows are without limit or are
 * another size's, it says 0, which is no later than anything. A window that has not been round once holds nobody up:
 * what would be read is of the future. why is that of lane 0. */
INLINE stream_time NAME(entry_free)(const struct NAME(state) *k, const struct stream *s, unsigned w, unsigned n,
				    const struct gus_stream_log *log, uint64_t *why)
{
	stream_time t = k->dispatch - k->dispatch;

	for (unsigned i = 0; i < s->sizes_n[w]; i++) {
		uint64_t last = k->taken[w] + n, size = s->sizes[w][i].entries, at = (last - size - 1) & s->mask[w];
		stream_time free;

		if (last <= size)
			continue;
		free = k->given[w][at] & k->sizes[w][i];
		if (log && FIRST(free) > FIRST(t))
			*why = log->given[w][at];
		t = LATER(t, free);
	}
	return t;
}

/* The windows that are given back in order (line 20 of the algorithm: the dispatch queue pops, and dispatch is
 * constrained by what it popped). As they are given back in order, the last of the n entries is the latest, so that
 * one look is enough. */
INLINE void NAME(wait_window)(struct NAME(state) *k, const struct stream *s, unsigned w, unsigned n,
			      struct gus_stream_log *log)
{
	uint64_t why = UINT64_MAX; /* nobody has given one back that was waited for */
	stream_time free = NAME(entry_free)(k, s, w, n, log, &why);

	if (log && why != UINT64_MAX && stream_later(log, FIRST(free), FIRST(k->dispatch), 4 * w))
		log->dispatch = stream_reason(WHY_WINDOW, w, 0, 0, why);
	k->dispatch = LATER(k->dispatch, free);
}

/* The reservation station gives entries back as uops start, which is in any order: the entry that is free first need
 * not be the oldest. To keep all of them sorted would take a heap in each lane. So only the youngest are in a ring,
 * most of which have started when they leave it, and what then still waits has places beside it. There it is exchanged
 * with what is in eight of these places, each time the next ones: the later of two stays, the sooner goes on, and what
 * remains is the entry that is free next.
 *
 *	ring, size 4:  [ 9 | 40 | 11 | 12 ]  --> 9, the oldest, leaves
 *	places:        [ 95 | 7 | 30 | 70 | 8 | 22 | ... ]  9 is exchanged with 7, as it is later, and free at 7
 *	                 ^        ^         ^
 *
 * As each lane exchanges at the same places there is no branch. What waits long (95) takes up one of the places, as it
 * takes up an entry, and keeps nobody else from one. Of eight places all have to wait before somebody is held up, so
 * nine of ten are taken then. */
INLINE void NAME(wait_station)(struct NAME(state) *k, const struct stream *s, unsigned part, unsigned n,
			       struct gus_stream_log *log)
{
	unsigned places = s->late[part];

	for (unsigned i = 1; i <= n; i++) {
		uint64_t why = 0;
		stream_time t = NAME(entry_free)(k, s, WINDOW_RS + part, i, log, &why);
		unsigned at = k->late_at[part];

		k->late_at[part] = at + 1 < places ? at + 1 : 0;
		if (!ANY_LATER(t, k->dispatch)) /* it is free, whatever the longest waits are */
			continue;
		for (unsigned look = 0; look < STREAM_LATE_LOOKS && look < places; look++) {
			stream_time *late = &k->late[part][at], sooner = SOONER(t, *late);

			if (log && FIRST(t) > FIRST(*late)) {
				uint64_t other = log->late[part][at];

				log->late[part][at] = why;
				why = other;
			}
			*late = LATER(t, *late);
			t = sooner;
			at = gus_stream_late_next(places, at, look);
		}
		if (log && stream_later(log, FIRST(t), FIRST(k->dispatch), 12))
			log->dispatch = why;
		k->dispatch = LATER(k->dispatch, t);
	}
}

/* The uops of an op that takes several cycles to issue come to the station one by one, not all with the first. What the
 * later ones wait for is the reason of the next dispatch only: it may be an entry of the same op's, so if it were its
 * own, who follows reasons back would go round in it. */
INLINE void NAME(wait_one)(struct NAME(state) *k, const struct stream *s, uint32_t uop, struct gus_stream_log *log)
{
	const struct stream_uop *needs = &s->uops.v[uop];

	if (needs->uses_n && s->sizes_n[WINDOW_RS + needs->station])
		NAME(wait_station)(k, s, needs->station, 1, log);
}

/* A queue in front of a bus, or of the page walkers (lines 28 to 30). `t` is when the line comes to it and is handed
 * on to the next one; `from` is the dispatch of who asks. It is made busy from there, not from t: a request that
 * comes late because its address does should not keep others, which are younger but there already, from a bus that is
 * idle. The order in which requests really come is not known here. */
INLINE stream_time NAME(queue)(struct NAME(state) *k, unsigned bus, stream_time from, stream_time t,
			       struct gus_stream_log *log, uint64_t *why)
{
	if (log) {
		if (FIRST(k->resource[bus]) > FIRST(t))
			*why = stream_reason(WHY_RESOURCE, bus, 0, 0, log->since[bus]);
		if (FIRST(k->resource[bus]) < FIRST(from))
			log->since[bus] = log->seq;
		log->notes[log->seq & log->notes_mask].buses[bus]++;
	}
	t = LATER(t, k->resource[bus]);
	k->resource[bus] = LATER(k->resource[bus], from) + k->inverse[bus];
	return t;
}

/* When a line that is asked for at `from` is there; a load of own uop `own`, or a store that has retired. First the
 * page, then a miss buffer, then the buses from the farthest level on, then its latency. The miss buffer is given
 * back when the line is there.
 *
 * Of reasons there is room for one and for the level and the TLB beside it: the walk path goes back by the level's
 * latency, by the TLB's if what was waited for behind it did not hide that, and then by the reason. */
INLINE stream_time NAME(fetch)(struct NAME(state) *k, const struct stream *s, const struct stream_access *a,
			       stream_time from, unsigned own, struct gus_stream_log *log, uint64_t *why)
{
	stream_time t = from;
	unsigned tlb = a->tlb, level = a->level;
	uint64_t before = 0, waited = 0;

	if (a->tlb == GUS_TLB_WALK)
		t = NAME(queue)(k, BUS_WALKS, k->dispatch, t, log, why) + k->walk;
	else if (a->tlb == GUS_TLB_SECOND)
		t = t + k->tlb;
	if (log)
		before = *why;
	if (a->level) {
		stream_time free = NAME(entry_free)(k, s, WINDOW_MISSES, 1, log, &waited), found = t;

		if (log && FIRST(free) > FIRST(t))
			*why = waited;
		t = LATER(t, free);
		if (a->level >= GUS_HIT_MEMORY)
			t = NAME(queue)(k, BUS_MEMORY, k->dispatch, t, log, why);
		if (a->level >= GUS_HIT_L3)
			t = NAME(queue)(k, BUS_L3, k->dispatch, t, log, why);
		t = NAME(queue)(k, BUS_L2, k->dispatch, t, log, why);
		if (a->flags & STREAM_COMES_TO_L2) {
			if (log && FIRST(k->lines_l2[a->line]) > FIRST(t)) {
				*why = log->line_l2[a->line];
				level = 0; /* it is said there */
			}
			t = LATER(t, k->lines_l2[a->line]);
		}
		tlb = log && FIRST(t) > FIRST(found) ? 0 : tlb;
		t = t + k->levels[a->level];
		if (log)
			log->given[WINDOW_MISSES][k->taken[WINDOW_MISSES] & s->mask[WINDOW_MISSES]] =
				stream_reason(WHY_MISS, own, 0, 0, log->seq);
		k->given[WINDOW_MISSES][k->taken[WINDOW_MISSES]++ & s->mask[WINDOW_MISSES]] = t;
		if (a->flags & STREAM_LINE) {
			k->lines[a->line] = t;
			if (log)
				log->line[a->line] = stream_reason(WHY_LINE, own, 0, 0, log->seq);
		}
	}
	if (log)
		*why = stream_missed(*why, level, before == *why ? tlb : 0);
	return t;
}

/* What a prefetcher asks for at t: it takes buses that others then wait for, and who reads the line before it is there
 * waits for it. why says what t was, if that can be said: 0 where it is the start of a uop that was put off then. Miss
 * buffers it takes none: it is made if one is free, and that is not known here. */
INLINE void NAME(prefetch)(struct NAME(state) *k, const struct stream_prefetch *p, stream_time t, uint64_t why,
			   struct gus_stream_log *log)
{
	bool to_l1 = p->into == GUS_HIT_L1;

	if (p->from >= GUS_HIT_MEMORY)
		t = NAME(queue)(k, BUS_MEMORY, k->dispatch, t, log, &why);
	if (p->from >= GUS_HIT_L3)
		t = NAME(queue)(k, BUS_L3, k->dispatch, t, log, &why);
	if (to_l1)
		t = NAME(queue)(k, BUS_L2, k->dispatch, t, log, &why);
	t = t + k->levels[p->from] - (to_l1 ? k->levels[GUS_HIT_L1] : k->levels[GUS_HIT_L2]);
	why = why ? stream_missed(why, p->from, 0) : 0;
	if (p->line == STREAM_NO_LINE)
		return;
	if (to_l1)
		k->lines[p->line] = t;
	else
		k->lines_l2[p->line] = t;
	if (log)
		(to_l1 ? log->line : log->line_l2)[p->line] = why;
}

/* What an access brings along: lines that it throws out take their buses, unless these go by others, and so does what
 * is prefetched. */
INLINE void NAME(bring_along)(struct NAME(state) *k, const struct stream *s, const struct stream_beside *b,
			      stream_time asked, uint64_t why, struct gus_stream_log *log)
{
	for (unsigned bus = 0; bus < GUS_OP_WRITTEN && !s->c->writeback_path; bus++)
		for (unsigned n = b->written[bus]; n; n--) {
			uint64_t nobody = 0;

			NAME(queue)(k, bus, k->dispatch, asked, log, &nobody);
		}
	for (unsigned i = 0; i < b->prefetches_n; i++)
		NAME(prefetch)(k, &b->prefetches[i], asked, why, log);
}

/* Of an access that loads and stores the load brings it along. */
INLINE bool NAME(brings)(const struct stream *s, const struct gus_op *op, const struct gus_uop *u)
{
	if (u->kind == GUS_UOP_LOAD)
		return !u->again;
	return u->kind == GUS_UOP_STORE_DATA && !s->p->memories[op->memory + u->memory].load;
}

/* A load that does not just hit L1: as if it had started so much later, as what reads its value then need not know
 * where the line was (its latency is that of a hit). A line that another load has missed comes when it comes, and no
 * sooner than that. */
INLINE stream_time NAME(late_load)(struct NAME(state) *k, const struct stream *s, const struct stream_access *a,
				   stream_time start, uint32_t number, unsigned own, struct gus_stream_log *log,
				   uint64_t *why)
{
	uint64_t reason = log ? *why : 0;
	stream_time t;

	if (a->level == GUS_HIT_L1 && a->tlb == GUS_TLB_HIT) {
		t = k->lines[a->line] - k->costs[s->uops.v[number].latency];
		reason = log ? log->line[a->line] : 0;
	} else {
		t = NAME(fetch)(k, s, a, start, own, log, &reason);
		if (a->level)
			t = t - k->costs[s->uops.v[number].latency];
	}
	if (log && FIRST(t) > FIRST(start))
		*why = reason;
	return LATER(start, t);
}

/* Ticks times a share of STREAM_SHARE: in two parts, as all of them times the share may be too large. */
INLINE stream_time NAME(part)(stream_time ticks, stream_time share)
{
	stream_time whole = ticks / STREAM_SHARE;

	return whole * share + (ticks - whole * STREAM_SHARE) * share / STREAM_SHARE;
}

/* For how long a use takes its resource. */
INLINE stream_time NAME(busy)(const struct NAME(state) *k, const struct stream_use *use)
{
	stream_time ticks = k->inverse[use->resource];

	if (use->times == 1)
		return ticks;
	ticks = ticks * use->times;
	return use->held ? NAME(part)(ticks, k->held[use->held]) : ticks;
}

/* The earliest start by ports, units and operands (lines 31 to 35); why, in lane 0.
 *
 * Ports are conjunctive resources (section 3.1.1, "Execution ports"): nobody chooses one. A uop on p01 uses p01,
 * p015, p0156 and each other group that holds its ports, a group of n ports for 1/n of a cycle, and waits until all
 * are free; together these say what the best choice could do at most. A resource that was idle until now begins to be
 * busy at dispatch, not at start: a uop that still waits for its operands lets others go first, so its slot in the
 * future is not set aside.
 *
 * Of the log: since[r] is the op at whose dispatch the resource became busy, so that from there to here lie only uses
 * of it. */
INLINE stream_time NAME(start)(struct NAME(state) *k, const struct stream *s, const struct gus_uop *u,
			       const struct stream_uop *needs, unsigned toss, struct gus_stream_log *log, uint64_t seq,
			       uint64_t *why)
{
	stream_time start = k->dispatch;
	int32_t when = FIRST(start), resource = -1, operand = -1; /* what is the latest in lane 0 */

	for (uint32_t i = 0; i < needs->uses_n; i++) {
		const struct stream_use *use = &s->uses.v[needs->use + i];
		stream_time free = k->resource[use->resource];

		if (log) {
			if (stream_later(log, FIRST(free), when, toss + i)) {
				when = FIRST(free);
				resource = use->resource;
			}
			if (stream_later(log, FIRST(k->dispatch), FIRST(free), toss + i + 7))
				log->since[use->resource] = seq;
		}
		start = LATER(start, free);
		k->resource[use->resource] = LATER(free, k->dispatch) + NAME(busy)(k, use);
	}
	for (unsigned i = 0; i < u->in_n; i++) {
		unsigned reg = s->p->flows[u->in + i].reg;
		stream_time ready = k->reg[reg] - k->costs[s->flows.v[u->in + i]];

		if (log && stream_later(log, FIRST(ready), when, toss + i + 13)) {
			when = FIRST(ready);
			operand = (int32_t)i;
		}
		start = LATER(start, ready);
	}
	if (log)
		*why = operand >= 0 ?
			log->reg[s->p->flows[u->in + (unsigned)operand].reg] | (uint64_t)(operand & 0xf) << 42 :
			resource >= 0 ? stream_reason(WHY_RESOURCE, (unsigned)resource, 0, 0, log->since[resource]) :
			stream_reason(WHY_DISPATCH, 0, 0, 0, 0);
	return start;
}

/* An access that crosses a line is two, one behind the other on the same ports; a load has its word when the second one
 * is done. */
INLINE stream_time NAME(cross_line)(struct NAME(state) *k, const struct stream *s, const struct gus_uop *u,
				    const struct stream_uop *needs, const struct stream_access *a, unsigned own,
				    stream_time start, struct gus_stream_log *log, uint64_t *why)
{
	stream_time penalty = a->flags & STREAM_PAGE_SPLIT ? k->page_split : k->split;

	if (log && own < 32) {
		log->notes[log->seq & log->notes_mask].splits |= UINT32_C(1) << own;
		if (a->flags & STREAM_PAGE_SPLIT)
			log->notes[log->seq & log->notes_mask].pages |= UINT32_C(1) << own;
	}
	for (uint32_t i = 0; i < needs->uses_n; i++) {
		const struct stream_use *use = &s->uses.v[needs->use + i];
		k->resource[use->resource] = k->resource[use->resource] +
			NAME(part)(NAME(busy)(k, use), k->split_share);
	}
	if (u->kind != GUS_UOP_LOAD)
		return start;
	if (log && FIRST(penalty) > 0)
		*why |= stream_split;
	return start + penalty;
}

/* Where in L1 a load's bytes are: banks are resources as ports are, and a store of another page at the same place of
 * it holds the load up if that is still on its way when the load starts. */
INLINE stream_time NAME(place)(struct NAME(state) *k, const struct stream_access *a, stream_time start,
			       struct gus_stream_log *log, uint64_t *why)
{
	stream_time put_off;

	for (unsigned left = a->banks; left; left &= left - 1)
		start = NAME(queue)(k, STREAM_BANKS_AT + (unsigned)__builtin_ctz(left), k->dispatch, start, log, why);
	if (!(a->flags & STREAM_ALIAS))
		return start;
	put_off = k->alias & LATER_MASK(k->left[a->alias], start);
	if (log && FIRST(put_off) > 0)
		*why |= stream_alias;
	return start + put_off;
}

/* A store has its word when its data are there; where its address counts as well (store_forward_address), that makes it
 * later by as much as it takes longer from there. An op's address goes before its data. */
INLINE void NAME(store)(struct NAME(state) *k, const struct stream *s, const struct gus_uop *u,
			const struct stream_access *a, stream_time start, unsigned own, struct gus_stream_log *log)
{
	bool counts = s->c->store_forward_address > s->c->store_forward_latency;

	if (u->kind == GUS_UOP_STORE_ADDRESS && !counts)
		return;
	if (u->kind == GUS_UOP_STORE_ADDRESS)
		start = start + k->forward_address;
	if (log && (u->kind == GUS_UOP_STORE_ADDRESS || !counts || FIRST(start) >= FIRST(k->words[a->stored])))
		log->word[a->stored] = stream_reason(WHY_FORWARD, own, 0, 0, log->seq);
	k->words[a->stored] = u->kind == GUS_UOP_STORE_DATA && counts ? LATER(k->words[a->stored], start) : start;
}

/* One uop: its start, its end, when its outputs can be read, and its entry of the reservation station, which is free
 * when it starts. A value that comes from a store is there when the store has it, or, where the store does not have
 * all of it, a while after it has left for L1; the load itself is not sooner than it would be from L1. The end, in
 * lane 0 of what, goes to *ended; the latest start to *started. */
INLINE stream_time NAME(uop)(struct NAME(state) *k, const struct stream *s, const struct gus_op *op, uint32_t number,
			     const struct stream_access *accesses, struct gus_stream_log *log, uint64_t seq,
			     uint64_t *ended, int32_t *started)
{
	const struct gus_uop *u = &s->p->uops[number];
	const struct stream_uop *needs = &s->uops.v[number];
	const struct stream_access *a = accesses && u->kind != GUS_UOP_COMPUTE && u->memory < op->memories_n ?
		accesses + u->memory : NULL;
	unsigned own = number - op->uop;
	uint64_t why = 0, source = 0;
	stream_time start = NAME(start)(k, s, u, needs, 16 + 11 * own, log, seq, &why), end, forward = start - start;
	stream_time asked;

	if (a && (a->flags & STREAM_SPLIT))
		start = NAME(cross_line)(k, s, u, needs, a, own, start, log, &why);
	asked = start;
	if (a && u->kind == GUS_UOP_LOAD && !u->again) {
		if (a->banks || (a->flags & STREAM_ALIAS))
			start = NAME(place)(k, a, start, log, &why);
		if (a->level || a->tlb || (a->flags & STREAM_LINE))
			start = NAME(late_load)(k, s, a, start, number, own, log, &why);
		if (a->flags & STREAM_FORWARD) {
			forward = (a->forwarding == GUS_FORWARD_BLOCKED ? k->left[a->word] : k->words[a->word]) +
				k->forwards[a->forwarding];
			source = log ? log->word[a->word] | (uint64_t)a->forwarding << 46 : 0;
		}
	}
	if (a && (a->flags & STREAM_BESIDE) && NAME(brings)(s, op, u))
		NAME(bring_along)(k, s, k->besides + a->beside, asked, log && FIRST(asked) == FIRST(start) ?
				  stream_reason(WHY_LINE, own, 0, 0, seq) : 0, log);
	end = LATER(start + k->costs[needs->latency], forward);
	if (started && FIRST(start) > *started)
		*started = FIRST(start);
	if (log) {
		log->starts[(log->started + own) & log->starts_mask] = why;
		*ended = source && FIRST(forward) > FIRST(start) + FIRST(k->costs[needs->latency]) ? source :
			stream_reason(WHY_OWN, own, 0, 0, seq);
	}
	if (needs->uses_n && s->sizes_n[WINDOW_RS + needs->station]) {
		unsigned w = WINDOW_RS + needs->station;

		if (log)
			log->given[w][k->taken[w] & s->mask[w]] = stream_reason(WHY_STATION, own, 0, 0, seq);
		k->given[w][k->taken[w]++ & s->mask[w]] = start;
	}
	for (unsigned i = 0; i < u->out_n; i++) {
		unsigned reg = s->p->flows[u->out + i].reg;
		stream_time own_time = start + k->costs[s->flows.v[u->out + i]];

		if (log)
			log->reg[reg] = source && FIRST(forward) > FIRST(own_time) ? source :
				stream_reason(WHY_VALUE, own, i, 0, seq);
		k->reg[reg] = LATER(own_time, forward);
	}
	if (a && u->kind != GUS_UOP_LOAD && (a->flags & STREAM_KNOWN))
		NAME(store)(k, s, u, a, start, own, log);
	return end;
}

/* Opens the op's note. */
INLINE struct stream_note *NAME(note)(struct gus_stream_log *log, const struct stream_step *step, uint8_t fronts)
{
	struct stream_note *note = &log->notes[log->seq & log->notes_mask];

	note->op = step->op;
	note->starts = log->started;
	note->fetched = step->fetched;
	note->predicted = step->predicted;
	note->fronts = fronts;
	note->splits = note->pages = 0;
	memset(note->buses, 0, sizeof(note->buses));
	/* New bits to toss with, not for each op, as then no branch on them could be predicted. */
	if (log->seq % TOSSES_EVERY == 0) {
		log->random ^= log->random << 13;
		log->random ^= log->random >> 7;
		log->random ^= log->random << 17;
	}
	return note;
}

/* The front end serves in order, each of its parts at its own pace; the slowest says when (lines 22 to 24, where
 * there is but one). A part is not ahead of dispatch: if that was held up, the part was idle from `begin` less what
 * it may work ahead, and since then is new. */
INLINE void NAME(front_end)(struct NAME(state) *k, const struct stream *s, const struct stream_step *step,
			    struct gus_stream_log *log, struct stream_note *note)
{
	const struct stream_op *needs = &s->ops.v[step->op];
	stream_time begin = k->dispatch;

	for (unsigned f = 0; f < FRONTS; f++) {
		stream_time cost, from = begin;

		if (!(needs->fronts & step->fronts & 1 << f))
			continue;
		cost = k->costs[needs->front[f]];
		if (f == FRONT_FETCH)
			cost *= (int32_t)step->fetched;
		if (f == FRONT_PREDICTION)
			cost *= (int32_t)step->predicted;
		if (gus_stream_ahead((enum stream_front)f))
			from -= STREAM_FETCH_AHEAD * GUS_STREAM_TICKS;
		if (log && FIRST(k->front[f]) < FIRST(from))
			log->front_since[f] = log->seq;
		k->front[f] = LATER(k->front[f], from) + cost;
		if (log && stream_later(log, FIRST(k->front[f]), FIRST(k->dispatch), 12 + f)) {
			log->dispatch = stream_reason(WHY_FRONT, f, 0, 0, log->seq);
			note->since = log->front_since[f];
		}
		k->dispatch = LATER(k->dispatch, k->front[f]);
	}
}

/* What rename does without any port: the value is there when it was there before. */
INLINE void NAME(eliminate)(struct NAME(state) *k, const struct stream *s, const struct gus_op *op,
			    struct gus_stream_log *log)
{
	stream_time from = k->reg[op->move_from];

	for (uint32_t u = 0; u < op->uops_n; u++)
		for (unsigned i = 0; i < s->p->uops[op->uop + u].out_n; i++) {
			unsigned reg = s->p->flows[s->p->uops[op->uop + u].out + i].reg;

			k->reg[reg] = from;
			if (log)
				log->reg[reg] = log->reg[op->move_from];
		}
}

/* Stores leave in order after they have retired, and a line that is not in L1 is asked for then. Buses and miss buffers
 * serve in the order of the program here, and younger loads ask long before an older store retires; so the store's turn
 * is taken when it is dispatched, as if it asked then, and its line is there no sooner than that takes from its
 * retirement on. */
INLINE void NAME(leave)(struct NAME(state) *k, const struct stream *s, const struct gus_op *op,
			const struct stream_access *accesses, unsigned commits, struct gus_stream_log *log,
			struct stream_note *note)
{
	stream_time left = k->drained + k->drain * (int32_t)commits;
	uint64_t why = 0;

	if (log) {
		note->commits = commits;
		note->drain = FIRST(left) > FIRST(k->retire) ? stream_reason(WHY_PREVIOUS, 0, 0, 0, log->drained) :
			stream_reason(WHY_RETIRED, 0, 0, 0, log->seq);
	}
	left = LATER(left, k->retire);
	for (unsigned n = 0; accesses && n < op->memories_n; n++) {
		stream_time there, asked = k->retire + k->levels[accesses[n].level];

		if (!s->p->memories[op->memory + n].store || !(accesses[n].level || accesses[n].tlb))
			continue;
		if (s->p->memories[op->memory + n].load) /* which has brought its line */
			continue;
		why = stream_reason(WHY_RETIRED, 0, 0, 0, 0);
		there = NAME(fetch)(k, s, accesses + n, k->dispatch, STREAM_STORE, log, &why);
		if (log && FIRST(asked) >= FIRST(there))
			why = stream_missed(stream_reason(WHY_RETIRED, 0, 0, 0, 0), accesses[n].level, 0);
		there = LATER(there, asked);
		if (accesses[n].level && (accesses[n].flags & STREAM_LINE))
			k->lines[accesses[n].line] = there;
		if (log && FIRST(there) > FIRST(left))
			note->drain = why;
		left = LATER(left, there);
	}
	if (log)
		log->drained = log->seq;
	k->drained = left;
	/* What string instructions write may take long: dispatch goes no further ahead of that than ticks can say. */
	if (log && FIRST(left) - AHEAD_MOST > FIRST(k->dispatch))
		log->dispatch = stream_reason(WHY_WINDOW, WINDOW_STORES, 0, 0, log->seq);
	k->dispatch = LATER(k->dispatch, left - AHEAD_MOST);
	for (unsigned n = 0; accesses && n < op->memories_n; n++)
		if (s->p->memories[op->memory + n].store && (accesses[n].flags & STREAM_KNOWN))
			k->left[accesses[n].stored] = left;
}

/* The op gives its n entries back at `when`: the places that it has just taken in the ring hold that time for whoever
 * comes a round later. */
INLINE void NAME(give_back)(struct NAME(state) *k, const struct stream *s, unsigned w, unsigned n, stream_time when,
			    struct gus_stream_log *log)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t entry = k->taken[w]++ & s->mask[w];

		k->given[w][entry] = when;
		if (log)
			log->given[w][entry] = log->seq;
	}
}

/* One op, from its entry to its retirement: Algorithm 1's loop. With a log the reasons of all moments are noted; with
 * times those of lane 0 are told, in ticks since the beginning of the run. */
INLINE void NAME(op)(struct NAME(state) *k, const struct stream *s, const struct stream_step *step,
		     const struct stream_access *accesses, struct gus_stream_log *log, struct gus_stream_times *times)
{
	const struct gus_op *op = &s->p->ops[step->op];
	const struct stream_op *needs = &s->ops.v[step->op];
	struct stream_note *note = log ? NAME(note)(log, step, needs->fronts & step->fronts) : NULL;
	uint64_t why = stream_reason(WHY_DISPATCH, 0, 0, 0, 0), ended = 0;
	int32_t when, started = 0;
	stream_time end;

	for (unsigned left = needs->windows; left; left &= left - 1) {
		unsigned w = (unsigned)__builtin_ctz(left);

		NAME(wait_window)(k, s, w, needs->window[w], log);
	}
	for (unsigned part = 0; part < GUS_CORE_STATIONS && !needs->wide; part++)
		if (s->sizes_n[WINDOW_RS + part])
			NAME(wait_station)(k, s, part, needs->waiting[part], log);
	if (log)
		note->entry = log->dispatch;
	NAME(front_end)(k, s, step, log, note);
	if (log)
		note->dispatch = log->dispatch;
	end = k->dispatch;
	when = FIRST(end);
	if (times) {
		started = FIRST(end);
		times->issue = k->base[0] + FIRST(end);
	}
	if (op->flags & GUS_OP_ELIMINATED)
		NAME(eliminate)(k, s, op, log);
	else
		for (uint32_t u = 0; u < op->uops_n; u++) {
			stream_time done;

			if (needs->wide)
				NAME(wait_one)(k, s, op->uop + u, log);
			done = NAME(uop)(k, s, op, op->uop + u, accesses, log, log ? log->seq : 0, &ended,
					 times ? &started : NULL);
			if (log && stream_later(log, FIRST(done), when, 20 + u)) {
				when = FIRST(done);
				why = ended;
			}
			end = LATER(end, done);
		}
	if (log) {
		note->end = why;
		note->retire = stream_later(log, FIRST(k->retire) + FIRST(k->costs[needs->retire]), when, 40) ?
			stream_reason(WHY_PREVIOUS, 0, 0, 0, 0) : why;
	}
	k->retire = LATER(end, k->retire + k->costs[needs->retire]);
	if (times) {
		times->start = k->base[0] + started;
		times->end = k->base[0] + FIRST(end);
		times->retire = k->base[0] + FIRST(k->retire);
	}
	if (needs->window[WINDOW_STORES])
		NAME(leave)(k, s, op, accesses, step->commits, log, note);
	if (times)
		times->left = needs->window[WINDOW_STORES] ? k->base[0] + FIRST(k->drained) : times->retire;
	for (unsigned left = needs->windows; left; left &= left - 1) {
		unsigned w = (unsigned)__builtin_ctz(left);

		NAME(give_back)(k, s, w, needs->window[w], w == WINDOW_STORES ? k->drained : k->retire, log);
	}
	if (step->mispredicted) {
		stream_time remains = LATER_MASK(k->mispredicted, k->penalty - k->penalty + step->chance);

		end = ((end + k->penalty) & remains) | ((end - end + STREAM_PREDICTED) & ~remains);
		if (log && FIRST(end) >= FIRST(k->dispatch))
			log->dispatch = stream_reason(WHY_FLUSH, 0, 0, 0, log->seq);
		k->dispatch = LATER(k->dispatch, end);
	}
	if (log) {
		log->started += op->uops_n;
		log->seq++;
	}
}

/* What was retired since the last time belongs to the region that was executed. Retirement is in order and never goes
 * back, so the differences of all ops add up to the time of the run. */
INLINE void NAME(settle)(struct NAME(state) *k)
{
	k->in_region[k->region] += k->retire - k->mark;
	k->mark = k->retire;
}

INLINE void NAME(settle_all)(struct NAME(state) *k)
{
	NAME(settle)(k);
	for (uint32_t i = 0; i < k->regions_n; i++) {
		for (unsigned lane = 0; lane < LANES; lane++)
			k->region_ticks[i][lane] += LANE(k->in_region[i], lane);
		k->in_region[i] = k->in_region[i] - k->in_region[i];
	}
}

/* Ticks in 32 bits reach for 426,000 cycles. Every now and then all times lose what the last dispatch has (each lane
 * its own), which is added to base:
 *
 *	before   dispatch 1,000,000,000   port 0   999,990,000   reg 3  1,000,025,200   base             0
 *	after    dispatch             0   port 0             0   reg 3         25,200   base 1,000,000,000
 *
 * What was before dispatch becomes 0 and loses by how much: it cannot hold anybody up any more, as all that comes is
 * dispatched later, and the latest counts. So the run is exact. A machine without windows may run ahead for ever,
 * which ticks cannot: dispatch then follows retirement at the distance of AHEAD_MOST. */
INLINE void NAME(rebase)(struct NAME(state) *k, const struct stream *s)
{
	stream_time by = LATER(k->dispatch, k->retire - AHEAD_MOST);

	if (s->fed) {
		NAME(settle_all)(k);
		/* Not raised to 0: where retirement is taken along to dispatch, that time counts for the region. */
		k->mark = k->mark - by;
	}

#define DOWN(t) ((t) = LATER((t), by) - by)
	for (size_t i = 0; i < s->resources_n; i++)
		DOWN(k->resource[i]);
	for (unsigned i = 0; i < GUS_PROGRAM_REGS; i++)
		DOWN(k->reg[i]);
	for (unsigned i = 0; i < FRONTS; i++)
		DOWN(k->front[i]);
	for (unsigned i = 0; i < STREAM_WORDS; i++) {
		DOWN(k->words[i]);
		DOWN(k->left[i]);
	}
	for (unsigned i = 0; i < STREAM_LINES; i++) {
		DOWN(k->lines[i]);
		DOWN(k->lines_l2[i]);
	}
	for (unsigned part = 0; part < GUS_CORE_STATIONS; part++)
		for (unsigned i = 0; i < s->late[part]; i++)
			DOWN(k->late[part][i]);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		for (uint64_t i = 0; i <= s->mask[w]; i++)
			DOWN(k->given[w][i]);
	DOWN(k->drained);
	DOWN(k->retire);
	DOWN(k->dispatch);
#undef DOWN
	NAME(close_places)(k, s);
	for (unsigned lane = 0; lane < LANES; lane++)
		k->base[lane] += LANE(by, lane);
}

TARGET static void *NAME(open)(const struct stream *s, unsigned first)
{
	struct NAME(state) *k = aligned_zalloc(sizeof(*k));

	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		k->given[w] = aligned_zalloc((s->mask[w] + 1) * sizeof(stream_time));
	k->first = first;
	NAME(grow)(k, s);
	NAME(fill)(k, s, first);
	return k;
}

INLINE bool NAME(far)(const struct NAME(state) *k)
{
	for (unsigned lane = 0; lane < LANES; lane++)
		if (LANE(k->retire, lane) > REBASE || LANE(k->drained, lane) > REBASE)
			return true;
	return false;
}

/* Where the time of retirement goes, of one op. */
INLINE void NAME(account)(struct NAME(state) *k, const struct stream *s, const struct stream_step *step,
			  const struct stream_access *accesses, struct gus_stream_log *log,
			  struct gus_stream_times *times)
{
	int32_t before = FIRST(k->retire);

	if (step->region != k->region) {
		NAME(settle)(k);
		k->region = step->region;
	}
	NAME(op)(k, s, step, accesses, log, times);
	if (!k->first)
		k->op_ticks[step->op] += FIRST(k->retire) - before;
}

/* Made several times from the same lines (everything is inlined here): with and without a log, and times, so that
 * where there is none the compiler leaves out what they need. The callers below say what is never NULL. */
INLINE void NAME(walk)(struct NAME(state) *k, const struct stream *s, const struct stream_resolver *r,
		       struct gus_stream_log *log, struct gus_stream_times *times, bool fed)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct stream_access *accesses = r->tracked && r->accesses.v ?
			r->accesses.v + r->steps[i].access : NULL;

		if (fed)
			NAME(account)(k, s, &r->steps[i], accesses, log, times ? times + i : NULL);
		else
			NAME(op)(k, s, &r->steps[i], accesses, log, NULL);
		if ((i % REBASE_EVERY == 0 || s->slow || r->steps[i].commits > STREAM_SLOW) && NAME(far)(k)) {
			int64_t before = k->base[0] + FIRST(k->retire);

			NAME(rebase)(k, s);
			if (fed && !k->first)
				k->op_ticks[r->steps[i].op] += k->base[0] + FIRST(k->retire) - before;
		}
	}
}

TARGET static void NAME(logged)(struct NAME(state) *k, const struct stream *s, const struct stream_resolver *r,
				struct gus_stream_log *log)
{
	if (!log)
		__builtin_unreachable();
	NAME(walk)(k, s, r, log, NULL, false);
}

TARGET static void NAME(fed)(struct NAME(state) *k, const struct stream *s, const struct stream_resolver *r)
{
	NAME(walk)(k, s, r, NULL, NULL, true);
}

TARGET static void NAME(fed_timed)(struct NAME(state) *k, const struct stream *s, const struct stream_resolver *r,
				   struct gus_stream_times *times)
{
	if (!times)
		__builtin_unreachable();
	NAME(walk)(k, s, r, NULL, times, true);
}

TARGET static void NAME(fed_logged)(struct NAME(state) *k, const struct stream *s, const struct stream_resolver *r,
				    struct gus_stream_log *log, struct gus_stream_times *times)
{
	if (!log)
		__builtin_unreachable();
	NAME(walk)(k, s, r, log, times, true);
}

TARGET static void NAME(run)(void *state, const struct stream *s, const struct stream_resolver *r,
			     struct gus_stream_log *log, struct gus_stream_times *times)
{
	((struct NAME(state) *)state)->besides = r->besides.v;
	if (s->fed && log)
		NAME(fed_logged)(state, s, r, log, times);
	else if (s->fed && times)
		NAME(fed_timed)(state, s, r, times);
	else if (s->fed)
		NAME(fed)(state, s, r);
	else if (log)
		NAME(logged)(state, s, r, log);
	else
		NAME(walk)(state, s, r, NULL, NULL, false);
}

TARGET static void NAME(region_of)(void *state, uint32_t region, int64_t *ticks)
{
	struct NAME(state) *k = state;

	NAME(settle)(k);
	for (unsigned lane = 0; lane < LANES; lane++)
		ticks[lane] = k->region_ticks[region][lane] + LANE(k->in_region[region], lane);
}

static int64_t NAME(op_of)(const void *state, uint32_t op)
{
	const struct NAME(state) *k = state;

	return k->op_ticks[op];
}

TARGET static void NAME(now)(const void *state, int64_t *ticks)
{
	const struct NAME(state) *k = state;

	for (unsigned lane = 0; lane < LANES; lane++)
		ticks[lane] = k->base[lane] + LANE(k->retire, lane);
}

static void NAME(close)(void *state)
{
	struct NAME(state) *k = state;

	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		free(k->given[w]);
	free(k->costs);
	free(k->in_region);
	free(k->region_ticks);
	free(k->op_ticks);
	free(k);
}

#undef INLINE
#undef NAME
#undef stream_time
#undef LANES
#undef LATER
#undef SOONER
#undef ANY_LATER
#undef LATER_MASK
#undef LANE
#undef FIRST
#undef TARGET
