/* SPDX-License-Identifier: MIT */
/* The kernel of the stream engine, for as many lanes as the includer says: `stream_time` is the type of a time (an int32_t, or a
 * vector of them), LANES how many it has, LATER(a, b) the later of two, LANE(t, k) one of its lanes, FIRST(t) the first of a time
 * that lies in memory, TARGET what the compiler may use.
 * Included by stream_kernel.c for each; the arithmetic is the same to the tick. */

static inline __attribute__((always_inline)) stream_time NAME(from)(const int32_t *array, unsigned first)
{
	stream_time t;

	memcpy(&t, array + first, sizeof(t));
	return t;
}


struct NAME(state) {
	stream_time resource[GUS_STREAM_GROUPS + 32], reg[GUS_PROGRAM_REGS], front[FRONTS], dispatch, retire;
	stream_time words[STREAM_WORDS];
	uint64_t tags[STREAM_WORDS];            /* address / 8, plus 1 */
	uint64_t first[STREAM_WORDS], behind[STREAM_WORDS]; /* the bytes that the youngest store there wrote */
	uint64_t taken[STREAM_WINDOWS];         /* entries so far */
	stream_time *given[STREAM_WINDOWS];     /* when each entry is given back: rings */
	stream_time inverse[GUS_STREAM_GROUPS + 32];
	stream_time sizes[STREAM_WINDOWS][STREAM_SIZES];
	stream_time *flows, *latency, *fronts, *retires;
	struct stream_fetch fetch;
	int64_t base[LANES];                    /* ticks that were taken off */
	struct gus_values values;
};

static inline __attribute__((always_inline)) void NAME(begin)(struct NAME(state) *k, const struct stream *s, unsigned first)
{
	for (size_t i = 0; i < s->resources_n; i++)
		k->inverse[i] = NAME(from)(s->inverse[i], first);
	for (uint32_t i = 0; i < s->p->flows_n; i++)
		k->flows[i] = NAME(from)(s->flows[i], first);
	for (uint32_t i = 0; i < s->p->uops_n; i++)
		k->latency[i] = NAME(from)(s->latency[i], first);
	for (uint32_t i = 0; i < s->p->ops_n; i++) {
		k->retires[i] = NAME(from)(s->retires[i], first);
		for (unsigned f = 0; f < FRONTS; f++)
			k->fronts[FRONTS * i + f] = NAME(from)(s->fronts[FRONTS * i + f], first);
	}
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		for (unsigned i = 0; i < s->sizes_n[w]; i++) {
			int32_t mask[GUS_STREAM_LANES + 16] = { 0 };

			for (unsigned lane = 0; lane < GUS_STREAM_LANES; lane++)
				mask[lane] = s->sizes[w][i].lanes >> lane & 1 ? -1 : 0;
			k->sizes[w][i] = NAME(from)(mask, first);
		}
	gus_values_begin(&k->values, s->p, s->o->pointers);
}

/* An op of a window waits until the entry that it takes was given back by who had it one round before. */
static inline __attribute__((always_inline)) stream_time NAME(window)(const struct NAME(state) *k, const struct stream *s, unsigned w, unsigned n,
								      struct gus_stream_log *log)
{
	stream_time t = k->dispatch;

	for (unsigned i = 0; i < s->sizes_n[w]; i++) {
		uint64_t last = k->taken[w] + n, size = s->sizes[w][i].entries;

		if (last > size) {
			uint64_t entry = (last - size - 1) & (s->ring - 1);
			stream_time free = k->given[w][entry] & k->sizes[w][i];

			if (log && stream_later(log, FIRST(free), FIRST(t), 4 * w + i))
				log->dispatch = stream_reason(WHY_WINDOW, w, 0, 0, log->given[w][entry]);
			t = LATER(t, free);
		}
	}
	return t;
}

static inline __attribute__((always_inline)) stream_time NAME(uop)(struct NAME(state) *k, const struct stream *s, const struct gus_op *op, uint32_t number,
								   struct gus_stream_log *log, uint64_t seq, uint64_t *ended)
{
	const struct gus_uop *u = &s->p->uops[number];
	const struct stream_uop *needs = &s->uops[number];
	stream_time start = k->dispatch, end, forward = start - start;
	struct gus_value address = { 0, false };
	unsigned own = number - op->uop, toss = 16 + 11 * own;
	int32_t when = FIRST(start), resource = -1, operand = -1; /* what is the latest in lane 0 */
	uint64_t source = 0;

	for (uint32_t i = 0; i < needs->uses_n; i++) {
		const struct stream_use *use = &s->uses.v[needs->use + i];
		stream_time free = k->resource[use->resource], ticks = k->inverse[use->resource];

		if (log) {
			if (stream_later(log, FIRST(free), when, toss + i)) {
				when = FIRST(free);
				resource = use->resource;
			}
			if (stream_later(log, FIRST(k->dispatch), FIRST(free), toss + i + 7))
				log->since[use->resource] = seq;
		}
		start = LATER(start, free);
		k->resource[use->resource] = LATER(free, k->dispatch) + (use->times == 1 ? ticks : ticks * use->times);
	}
	for (unsigned i = 0; i < u->in_n; i++) {
		unsigned reg = s->p->flows[u->in + i].reg;
		stream_time ready = k->reg[reg] - k->flows[u->in + i];

		if (log && stream_later(log, FIRST(ready), when, toss + i + 13)) {
			when = FIRST(ready);
			operand = (int32_t)i;
		}
		start = LATER(start, ready);
	}
	if (log)
		log->starts[(seq * log->each + own) & log->starts_mask] =
			operand >= 0 ? log->reg[s->p->flows[u->in + (unsigned)operand].reg] | (uint64_t)(operand & 0xf) << 42 :
			resource >= 0 ? stream_reason(WHY_RESOURCE, (unsigned)resource, 0, 0, log->since[resource]) :
			stream_reason(WHY_DISPATCH, 0, 0, 0, 0);
	if (u->kind != GUS_UOP_COMPUTE && u->kind != GUS_UOP_NONE && u->memory < op->memories_n && k->values.effects)
		address = gus_values_address(&k->values, s->p, op->memory + u->memory);
	end = start + k->latency[number];
	if (u->kind == GUS_UOP_LOAD && address.known) {
		uint64_t tag = (address.bits >> 3) + 1;

		if (k->tags[tag % STREAM_WORDS] == tag) {
			forward = k->words[tag % STREAM_WORDS];
			/* Not all of it is there to be had: it waits until the store is done. */
			source = log ? log->word[tag % STREAM_WORDS] : 0;
			if (address.bits < k->first[tag % STREAM_WORDS] ||
			    address.bits + s->p->memories[op->memory + u->memory].bytes > k->behind[tag % STREAM_WORDS]) {
				forward += (int32_t)s->c->store_forward_blocked * GUS_STREAM_TICKS;
				source |= 1ull << 46;
			}
			end = LATER(end, forward);
		}
	}
	for (unsigned i = 0; i < u->out_n; i++) {
		unsigned reg = s->p->flows[u->out + i].reg;
		stream_time own_time = start + k->flows[u->out + i];

		if (log)
			log->reg[reg] = source && FIRST(forward) > FIRST(own_time) ? source :
				stream_reason(WHY_VALUE, own, i, 0, seq);
		k->reg[reg] = LATER(own_time, forward);
	}
	if (log)
		*ended = source && FIRST(forward) > FIRST(start) + FIRST(k->latency[number]) ? source :
			stream_reason(WHY_OWN, own, 0, 0, seq);
	if (u->kind == GUS_UOP_STORE_DATA && address.known) {
		uint64_t tag = (address.bits >> 3) + 1;
		int32_t after = s->c->store_forward_zero ? 0 : (int32_t)s->c->store_forward_latency * GUS_STREAM_TICKS;

		k->tags[tag % STREAM_WORDS] = tag;
		k->first[tag % STREAM_WORDS] = address.bits;
		k->behind[tag % STREAM_WORDS] = address.bits + s->p->memories[op->memory + u->memory].bytes;
		k->words[tag % STREAM_WORDS] = start + after;
		if (log)
			log->word[tag % STREAM_WORDS] = stream_reason(WHY_FORWARD, own, 0, 0, seq);
	}
	return end;
}

/* Opens the op's note. */
static inline __attribute__((always_inline)) struct stream_note *NAME(note)(struct gus_stream_log *log, uint32_t number)
{
	struct stream_note *note = &log->notes[log->seq & log->notes_mask];

	note->op = number;
	note->fetched = 0;
	/* New bits to toss with, not for each op, as then no branch on them could be predicted. */
	if (log->seq % TOSSES_EVERY == 0) {
		log->random ^= log->random << 13;
		log->random ^= log->random >> 7;
		log->random ^= log->random << 17;
	}
	return note;
}

static inline __attribute__((always_inline)) void NAME(op)(struct NAME(state) *k, const struct stream *s, uint32_t number,
							   struct gus_stream_log *log)
{
	const struct gus_op *op = &s->p->ops[number];
	const struct stream_op *needs = &s->ops[number];
	struct stream_note *note = log ? NAME(note)(log, number) : NULL;
	const uint64_t seq = log ? log->seq : 0;
	uint64_t why, ended = 0;
	int32_t when;
	stream_time end;

	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		if (needs->window[w])
			k->dispatch = NAME(window)(k, s, w, needs->window[w], log);
	if (log)
		note->entry = log->dispatch;
	/* The front end serves in order, each of its parts at its own pace; the slowest says when. */
	end = k->dispatch;
	for (unsigned f = 0; f < FRONTS; f++)
		if (needs->front[f]) {
			stream_time cost = k->fronts[FRONTS * number + f], from = end;

			if (f == FRONT_FETCH) { /* it works ahead, as far as its queue reaches */
				unsigned fetched = gus_stream_fetched(&k->fetch, s->p, s->c, op, s->o->unrolled);

				cost *= (int32_t)fetched;
				from -= STREAM_FETCH_AHEAD * GUS_STREAM_TICKS;
				if (log)
					note->fetched = fetched;
			}
			if (log && FIRST(k->front[f]) < FIRST(from))
				log->front_since[f] = seq;
			k->front[f] = LATER(k->front[f], from) + cost;
			if (log && stream_later(log, FIRST(k->front[f]), FIRST(k->dispatch), 12 + f)) {
				log->dispatch = stream_reason(WHY_FRONT, f, 0, 0, seq);
				note->since = log->front_since[f];
			}
			k->dispatch = LATER(k->dispatch, k->front[f]);
		}
	end = k->dispatch;
	when = FIRST(end);
	why = stream_reason(WHY_DISPATCH, 0, 0, 0, 0);
	if (log)
		note->dispatch = log->dispatch;
	if (op->flags & GUS_OP_ELIMINATED) {
		stream_time from = k->reg[op->move_from];

		for (uint32_t u = 0; u < op->uops_n; u++)
			for (unsigned i = 0; i < s->p->uops[op->uop + u].out_n; i++) {
				unsigned reg = s->p->flows[s->p->uops[op->uop + u].out + i].reg;

				k->reg[reg] = from;
				if (log)
					log->reg[reg] = log->reg[op->move_from];
			}
	} else {
		for (uint32_t u = 0; u < op->uops_n; u++) {
			stream_time done = NAME(uop)(k, s, op, op->uop + u, log, seq, &ended);

			if (log && stream_later(log, FIRST(done), when, 20 + u)) {
				when = FIRST(done);
				why = ended;
			}
			end = LATER(end, done);
		}
	}
	if (k->values.effects)
		for (unsigned i = 0; i < op->insns_n; i++)
			gus_values_step(&k->values, op->insn + i, k->values.memory);
	if (log)
		note->retire = stream_later(log, FIRST(k->retire) + FIRST(k->retires[number]), when, 40) ?
			stream_reason(WHY_PREVIOUS, 0, 0, 0, 0) : why;
	k->retire = LATER(end, k->retire + k->retires[number]);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		for (unsigned n = 0; n < needs->window[w]; n++) {
			uint64_t entry = k->taken[w]++ & (s->ring - 1);

			k->given[w][entry] = k->retire;
			if (log)
				log->given[w][entry] = seq;
		}
	if (log)
		log->seq = seq + 1;
}

/* All times lose what the last dispatch has; what was before that cannot hold anybody up any more. A machine without windows may
 * run ahead for ever, which ticks cannot: dispatch then follows retirement at that distance. */
static inline __attribute__((always_inline)) void NAME(rebase)(struct NAME(state) *k, const struct stream *s)
{
	stream_time by = LATER(k->dispatch, k->retire - AHEAD_MOST);

#define DOWN(t) ((t) = LATER((t), by) - by)
	for (size_t i = 0; i < s->resources_n; i++)
		DOWN(k->resource[i]);
	for (unsigned i = 0; i < GUS_PROGRAM_REGS; i++)
		DOWN(k->reg[i]);
	for (unsigned i = 0; i < FRONTS; i++)
		DOWN(k->front[i]);
	for (unsigned i = 0; i < STREAM_WORDS; i++)
		DOWN(k->words[i]);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		for (uint64_t i = 0; i < s->ring; i++)
			DOWN(k->given[w][i]);
	DOWN(k->retire);
	DOWN(k->dispatch);
#undef DOWN
	for (unsigned lane = 0; lane < LANES; lane++)
		k->base[lane] += LANE(by, lane);
}

TARGET static void *NAME(open)(const struct stream *s, unsigned first)
{
	struct NAME(state) *k = aligned_zalloc(sizeof(*k));

	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		k->given[w] = aligned_zalloc(s->ring * sizeof(stream_time));
	k->flows = aligned_zalloc((s->p->flows_n + 1) * sizeof(stream_time));
	k->latency = aligned_zalloc((s->p->uops_n + 1) * sizeof(stream_time));
	k->fronts = aligned_zalloc((FRONTS * s->p->ops_n + 1) * sizeof(stream_time));
	k->retires = aligned_zalloc((s->p->ops_n + 1) * sizeof(stream_time));
	NAME(begin)(k, s, first);
	return k;
}

static inline __attribute__((always_inline)) bool NAME(late)(const struct NAME(state) *k)
{
	for (unsigned lane = 0; lane < LANES; lane++)
		if (LANE(k->retire, lane) > REBASE)
			return true;
	return false;
}

/* Made twice from the same lines: what a log needs is not there where there is none. */
static inline __attribute__((always_inline)) void NAME(walk)(struct NAME(state) *k, const struct stream *s, const struct gus_core_step *steps,
							     uint64_t n, struct gus_stream_log *log)
{
	uint32_t at = 0;
	uint64_t ops = steps ? n : n * s->p->ops_n;

	for (uint64_t i = 0; i < ops; i++) {
		NAME(op)(k, s, steps ? steps[i].op : at, log);
		at = at + 1 < s->p->ops_n ? at + 1 : 0;
		if (i % REBASE_EVERY == 0 && NAME(late)(k))
			NAME(rebase)(k, s);
	}
}

TARGET static void NAME(logged)(struct NAME(state) *k, const struct stream *s, const struct gus_core_step *steps, uint64_t n,
				struct gus_stream_log *log)
{
	if (!log)
		__builtin_unreachable();
	NAME(walk)(k, s, steps, n, log);
}

TARGET static void NAME(run)(void *state, const struct stream *s, const struct gus_core_step *steps, uint64_t n,
			     struct gus_stream_log *log)
{
	if (log)
		NAME(logged)(state, s, steps, n, log);
	else
		NAME(walk)(state, s, steps, n, NULL);
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

	gus_values_end(&k->values);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		free(k->given[w]);
	free(k->flows);
	free(k->latency);
	free(k->fronts);
	free(k->retires);
	free(k);
}

#undef NAME
#undef stream_time
#undef LANES
#undef LATER
#undef LANE
#undef FIRST
#undef TARGET
