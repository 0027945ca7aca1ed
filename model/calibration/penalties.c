/* SPDX-License-Identifier: MIT */
/* What a load takes, and how much longer when something is in its way; what a branch costs that was predicted
 * wrong.
 *
 * Each is a loop of links that wait for each other, so that a pass takes the sum of their latencies and nothing
 * else matters. What a parameter counts is what the engines make of it: each figure says how a link's cycles come
 * to it. */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "model/calibration/emit.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/replica.h"
#include "model/calibration/round.h"
#include "model/calibration/shapes.h"
#include "model/machine/config.h"
#include "model/tables/policies.h"
#include "model/tables/uarch.h"

enum {
	LINKS = 12,             /* of a chain in a pass */
	PAGE = 4096, LINE = 64, WORD = 8, WIDE = 32,
	/* Branches of a pattern at random, as a power of two: more than a predictor learns by heart, which of a Zen
	 * 4 are some ten thousand; and passes of a measurement, which goes on where the last one ended: so few that
	 * it is seldom disturbed, and so many that about half of them go wrong. A simulated host is slow. */
	PATTERN_LOG = 17, PASSES_LOG = 14, PATTERN_LOG_SLOW = 13, PASSES_LOG_SLOW = 12,
	/* Multiplications behind the branch, one after the other: longer than any fence takes; those of real CPUs are
	 * shorter than some tables say. */
	BEHIND = 10, BEHIND_SLOW = 24,
	PLACES = 7,             /* nops before the branch that are tried */
};

/* The chains. */
enum chain {
	CHAIN_LOAD, CHAIN_LOAD_ADDED, CHAIN_INDEXED, CHAIN_VECTOR, CHAIN_TRANSFERS, CHAIN_LINE, CHAIN_PAGE,
	CHAIN_APART, CHAIN_ALIAS, CHAIN_FORWARD, CHAIN_FORWARD_OTHER, CHAIN_FORWARD_ADD, CHAIN_FORWARD_BYTE,
	CHAIN_FORWARD_SHORT, CHAIN_FORWARD_COMPUTED, CHAIN_FORWARD_WORD, CHAIN_FORWARD_VECTOR, CHAIN_FORWARD_PART,
	CHAIN_FORWARD_WIDE, CHAIN_FORWARD_ADDRESS, CHAIN_WIDER, CHAIN_BLOCKED, CHAIN_BLOCKED_PAIR,
	CHAIN_BLOCKED_VECTOR, CHAIN_STORES, CHAIN_STORES_VECTOR, CHAINS
};

static struct gus_micro_access fixed(int64_t offset)
{
	return (struct gus_micro_access){ .way = GUS_MICRO_FIXED, .offset = offset };
}

/* A list of one place that holds its own address, from there on. */
static struct gus_micro_access itself(struct gus_micro *m)
{
	(void)m;
	return (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .list = 0, .step = true };
}

static struct gus_micro *begin(enum gus_isa isa, const char *name, uint64_t place)
{
	struct gus_micro *m = gus_micro_new(isa, "%s", name);

	m->arena = 4 * PAGE;
	gus_vec_push(&m->lists, (struct gus_micro_list){ .start = place, .places = 1, .distance = LINE,
		.in_order = true });
	gus_vec_push(&m->patterns, (struct gus_micro_pattern){ .start = 3 * PAGE, .bytes = LINE,
		.bits = GUS_MICRO_ZEROS });
	gus_emit_begin(m);
	gus_emit_address(m, 0, (int64_t)place);
	gus_emit_address(m, 1, 2 * PAGE);
	gus_emit_address(m, 2, (int64_t)place);
	return m;
}

static void link_load(struct gus_micro *m)
{
	gus_emit_load(m, 0, 0, 0, itself(m));
}

static void link_load_added(struct gus_micro *m)
{
	gus_emit_load(m, 0, 0, 0, itself(m));
	gus_emit_add(m, 0, 11);
}

static void link_indexed(struct gus_micro *m)
{
	gus_emit_load_indexed(m, 4, 5, 4, fixed(3 * PAGE)); /* R5: begin_of */
}

static void link_vector(struct gus_micro *m)
{
	gus_emit_load_vector(m, 0, WORD, 0, 0, itself(m));
	gus_emit_to_general(m, 0, 0);
}

static void link_transfers(struct gus_micro *m)
{
	gus_emit_to_vector(m, 0, 0);
	gus_emit_to_general(m, 0, 0);
}

static void link_apart(struct gus_micro *m)
{
	gus_emit_store(m, 11, GUS_EMIT_ARENA, PAGE + 5 * LINE, fixed(PAGE + 5 * LINE));
	link_load(m);
}

static void link_alias(struct gus_micro *m)
{
	gus_emit_store(m, 11, GUS_EMIT_ARENA, PAGE, fixed(PAGE));
	link_load(m);
}

static void link_forward(struct gus_micro *m)
{
	gus_emit_store(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_other(struct gus_micro *m)
{
	gus_emit_store(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load(m, 4, 1, 0, fixed(2 * PAGE));
}

/* Memory that an addition reads is not renamed everywhere where loads are: add rax, [rsi + 2 * PAGE] (R0 is rax). */
static void link_forward_add(struct gus_micro *m)
{
	static const uint8_t add[] = { 0x48, 0x03, 0x86, 0x00, 0x20, 0x00, 0x00 };

	if (m->isa != GUS_ISA_X86_64) {
		link_forward(m);
		gus_emit_add(m, 4, 11);
		return;
	}
	gus_emit_store(m, 0, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_bytes(m, add, sizeof(add));
	gus_vec_push(&m->accesses, fixed(2 * PAGE));
}

static void link_forward_byte(struct gus_micro *m)
{
	gus_emit_store_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* Words of two bytes no CPU renames: mov [rsi + 2 * PAGE], ax; movzx eax, word [rsi + 2 * PAGE] (R0 is rax). */
static void link_forward_short(struct gus_micro *m)
{
	static const uint8_t store[] = { 0x66, 0x89, 0x86, 0x00, 0x20, 0x00, 0x00 };
	static const uint8_t load[] = { 0x0f, 0xb7, 0x86, 0x00, 0x20, 0x00, 0x00 };

	if (m->isa != GUS_ISA_X86_64) {
		link_forward_byte(m);
		return;
	}
	gus_emit_bytes(m, store, sizeof(store));
	gus_vec_push(&m->accesses, fixed(2 * PAGE));
	gus_emit_bytes(m, load, sizeof(load));
	gus_vec_push(&m->accesses, fixed(2 * PAGE));
}

static void link_forward_computed(struct gus_micro *m)
{
	link_forward(m);
	gus_emit_add(m, 4, 11);
}

static void link_forward_vector(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_word(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_part(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_forward_wide(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, WIDE, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load_vector(m, 0, WIDE, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* The address of the store waits for the load before; what it stores, the address itself, does not. */
static void link_forward_address(struct gus_micro *m)
{
	gus_emit_store(m, 2, 0, 0, itself(m));
	gus_emit_load(m, 0, 0, 0, itself(m));
}

static void link_wider(struct gus_micro *m)
{
	gus_emit_store_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_load(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_blocked(struct gus_micro *m)
{
	gus_emit_store_byte(m, 4, GUS_EMIT_ARENA, 2 * PAGE + 2, fixed(2 * PAGE + 2));
	gus_emit_load(m, 4, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* All of what is loaded is in flight, but in two stores: mov [rsi + 2 * PAGE], eax; mov [rsi + 2 * PAGE + 4], eax. */
static void link_blocked_pair(struct gus_micro *m)
{
	static const uint8_t stores[2][6] = { { 0x89, 0x86, 0x00, 0x20, 0x00, 0x00 },
		{ 0x89, 0x86, 0x04, 0x20, 0x00, 0x00 } };

	for (int half = 0; half < 2; half++)
		if (m->isa == GUS_ISA_X86_64) {
			gus_emit_bytes(m, stores[half], sizeof(stores[half]));
			gus_vec_push(&m->accesses, fixed(2 * PAGE + half * WORD / 2));
		} else {
			gus_emit_store_byte(m, 0, GUS_EMIT_ARENA, 2 * PAGE + half, fixed(2 * PAGE + half));
		}
	gus_emit_load(m, 0, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

static void link_blocked_vector(struct gus_micro *m)
{
	gus_emit_store_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
	gus_emit_store_vector(m, 0, WORD, GUS_EMIT_ARENA, 2 * PAGE + WORD, fixed(2 * PAGE + WORD));
	gus_emit_load_vector(m, 0, 2 * WORD, GUS_EMIT_ARENA, 2 * PAGE, fixed(2 * PAGE));
}

/* No chain: nothing waits for them but the next ones, for L1. */
static void link_stores(struct gus_micro *m)
{
	for (int i = 0; i < 2; i++)
		gus_emit_store(m, 11, GUS_EMIT_ARENA, 2 * PAGE + i * WORD, fixed(2 * PAGE + i * WORD));
}

static void link_stores_vector(struct gus_micro *m)
{
	for (int i = 0; i < 2; i++)
		gus_emit_store_vector(m, 1, WORD, GUS_EMIT_ARENA, 2 * PAGE + i * WORD, fixed(2 * PAGE + i * WORD));
}

static const struct link {
	const char *name;
	void (*put)(struct gus_micro *m);
	uint64_t place;         /* of the list */
	bool quick;
} links[CHAINS] = {
	[CHAIN_LOAD] = { "load", link_load, 0, true },
	[CHAIN_LOAD_ADDED] = { "load and addition", link_load_added, 0, false },
	[CHAIN_INDEXED] = { "load with an index", link_indexed, 0, false },
	[CHAIN_VECTOR] = { "load of a vector", link_vector, 0, false },
	[CHAIN_TRANSFERS] = { "to a vector and back", link_transfers, 0, false },
	[CHAIN_LINE] = { "load across lines", link_load, LINE - 4, false },
	[CHAIN_PAGE] = { "load across pages", link_load, PAGE - 4, false },
	[CHAIN_APART] = { "load behind a store", link_apart, 0, false },
	[CHAIN_ALIAS] = { "load behind a store a page away", link_alias, 0, false },
	[CHAIN_FORWARD] = { "store and load", link_forward, 0, true },
	[CHAIN_FORWARD_OTHER] = { "store and load by another register", link_forward_other, 0, false },
	[CHAIN_FORWARD_ADD] = { "store and addition of memory", link_forward_add, 0, true },
	[CHAIN_FORWARD_BYTE] = { "store and load of a byte", link_forward_byte, 0, false },
	[CHAIN_FORWARD_SHORT] = { "store and load of two bytes", link_forward_short, 0, true },
	[CHAIN_FORWARD_COMPUTED] = { "store, load and addition", link_forward_computed, 0, false },
	[CHAIN_FORWARD_VECTOR] = { "store and load of a vector", link_forward_vector, 0, true },
	[CHAIN_FORWARD_WORD] = { "store and load of a word of a vector", link_forward_word, 0, true },
	[CHAIN_FORWARD_PART] = { "store of a vector and load of its half", link_forward_part, 0, true },
	[CHAIN_FORWARD_WIDE] = { "store and load of a wide vector", link_forward_wide, 0, true },
	[CHAIN_FORWARD_ADDRESS] = { "store to what was loaded", link_forward_address, 0, false },
	[CHAIN_WIDER] = { "load wider than the store", link_wider, 0, false },
	[CHAIN_BLOCKED] = { "load around a store", link_blocked, 0, true },
	[CHAIN_BLOCKED_PAIR] = { "load of two stores", link_blocked_pair, 0, true },
	[CHAIN_BLOCKED_VECTOR] = { "load of a vector of two stores", link_blocked_vector, 0, true },
	[CHAIN_STORES] = { "two stores", link_stores, 0, true },
	[CHAIN_STORES_VECTOR] = { "two stores of vectors", link_stores_vector, 0, true },
};

static struct gus_micro *chain_of(enum gus_isa isa, const struct link *link)
{
	struct gus_micro *m = begin(isa, link->name, link->place);

	gus_emit_address(m, 5, 3 * PAGE);
	gus_emit_loop(m);
	for (unsigned i = 0; i < LINKS; i++)
		link->put(m);
	gus_emit_end(m);
	return m;
}

/* Mispredictions. */

enum branch_kind { NOT_TAKEN, TAKEN, AT_RANDOM, BRANCH_KINDS = AT_RANDOM + 4 };

/* R0: the byte of the pattern that R1 counts. */
static void put_next_byte(struct gus_micro *m, unsigned log)
{
	gus_emit_mask(m, 1, log);
	gus_emit_address(m, 2, 0);
	gus_emit_add(m, 2, 1);
	gus_emit_load_byte(m, 0, 2, 0, (struct gus_micro_access){ .way = GUS_MICRO_STRIDE, .offset = 1, .stride = 1,
		.wrap = 1u << log });
}

/* A pass with one branch, which knows at once which way it goes, as its byte was loaded in the pass before. Behind
 * it are multiplications one after the other, which one port makes, and nothing of the next pass begins before they
 * are through (lfence): so if the branch goes wrong the pass is later by all of the time from the branch's issue to
 * that of what is behind it. before: nops between the fence and the branch. */
static struct gus_micro *branch_of(const struct gus_calibration *c, enum branch_kind kind, unsigned before)
{
	enum gus_micro_bits bits = kind == NOT_TAKEN ? GUS_MICRO_ZEROS : kind == TAKEN ? GUS_MICRO_ONES :
		GUS_MICRO_RANDOM;
	static const uint8_t lfence[] = { 0x0f, 0xae, 0xe8 };
	bool real = !gus_calibration_host_is_simulated(c->host);
	unsigned log = real ? PATTERN_LOG : PATTERN_LOG_SLOW;
	int32_t index = 1 << log; /* behind the pattern: where the next measurement goes on */
	struct gus_micro *m = gus_micro_new(c->host->isa, "branch %u behind %u nops", kind, before);

	m->arena = PAGE + (1u << log);
	m->passes = 1u << (real ? PASSES_LOG : PASSES_LOG_SLOW);
	gus_vec_push(&m->patterns, (struct gus_micro_pattern){ .bytes = 1u << log, .bits = bits, .seed = kind });
	gus_emit_begin(m);
	gus_emit_load(m, 1, GUS_EMIT_ARENA, index, fixed(index));
	put_next_byte(m, log);
	gus_emit_loop(m);
	if (m->isa == GUS_ISA_X86_64)
		gus_emit_bytes(m, lfence, sizeof(lfence));
	for (unsigned i = 0; i < before; i++)
		gus_emit_nop_long(m, 3);
	gus_emit_branch(m, 0, 0);
	gus_emit_land(m);
	for (unsigned i = 0; i < (real ? BEHIND : BEHIND_SLOW); i++)
		gus_emit_multiply(m, 3, 11);
	gus_emit_add_constant(m, 1, 1);
	put_next_byte(m, log);
	gus_emit_store(m, 1, GUS_EMIT_ARENA, index, fixed(index));
	gus_emit_end(m);
	return m;
}

/* Times. */

struct penalties {
	const struct gus_calibration *c;
	struct gus_fit *f;
	struct gus_round round;
	bool there[CHAINS];
	double cycles[CHAINS];          /* of a link */
	double noise[CHAINS];           /* the median's distance, as a part */
	struct gus_core_config nearest;
	struct gus_replica replica;     /* of the nearest table */
};

static bool is_real(const struct penalties *p)
{
	return !gus_calibration_host_is_simulated(p->c->host);
}

static bool is_wanted(const struct penalties *p, enum chain chain)
{
	if (chain == CHAIN_FORWARD_WIDE && (p->c->host->isa != GUS_ISA_X86_64 || !p->c->host->avx2))
		return false;
	return p->c->depth == GUS_CALIBRATION_FULL || links[chain].quick;
}

static int measure(struct penalties *p, struct gus_error *err)
{
	enum chain of[CHAINS];
	size_t n = 0;

	for (unsigned i = 0; i < CHAINS; i++)
		if (is_wanted(p, i)) {
			of[gus_round_put(&p->round, chain_of(p->c->host->isa, &links[i]))] = i;
			n++;
		}
	if (gus_round_run(&p->round, is_real(p) ? 3 : 1, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct gus_micro_time *t = &p->round.times.v[i];

		p->there[of[i]] = isfinite(gus_round_cycles(&p->round, i));
		p->cycles[of[i]] = t->cycles / LINKS;
		p->noise[of[i]] = t->cycles > 0 ? (t->median - t->cycles) / t->cycles : 0;
	}
	gus_round_clear(&p->round);
	return 0;
}

/* Figures. */

/* Parameters are whole cycles, so a figure that is about half a one from any was not what it was taken for. */
static enum gus_confidence sureness(double value, double noise)
{
	double apart = fabs(value - round(value));

	if (apart > 0.35 || noise > 0.1)
		return GUS_CONFIDENCE_LOW;
	return apart > 0.2 || noise > 0.03 ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_HIGH;
}

static void put(struct penalties *p, const char *name, double value, double noise, const char *why)
{
	double whole = round(value);
	struct gus_fit_param out = { .name = name, .value = whole, .low = fmin(value, whole),
		.high = fmax(value, whole), .residual = whole > 0 ? fabs(value - whole) / whole : 0,
		.confidence = sureness(value, noise) };

	snprintf(out.why, sizeof(out.why), "%s", why);
	gus_fit_put(p->f, &out);
}

static void put_none(struct penalties *p, const char *name, const char *why)
{
	struct gus_fit_param out = { .name = name, .value = NAN, .low = 0, .high = INFINITY,
		.confidence = GUS_CONFIDENCE_NONE };

	snprintf(out.why, sizeof(out.why), "%s", why);
	gus_fit_put(p->f, &out);
}

/* Cycles that a link of one chain takes more than one of another. */
static double more(const struct penalties *p, enum chain chain, enum chain than)
{
	return p->cycles[chain] - p->cycles[than];
}

/* least: where engines take none for unknown, a cycle. */
static void put_more(struct penalties *p, const char *name, enum chain chain, enum chain than, double least)
{
	char why[100];

	if (!p->there[chain])
		return;
	snprintf(why, sizeof(why), "%s takes %.2f cycles, without that %.2f", links[chain].name, p->cycles[chain],
		 p->cycles[than]);
	put(p, name, fmax(more(p, chain, than), least), p->noise[chain], why);
}

static void put_link(struct penalties *p, const char *name, enum chain chain, double less)
{
	char why[100];

	if (!p->there[chain])
		return;
	snprintf(why, sizeof(why), "%s takes %.2f cycles", links[chain].name, p->cycles[chain]);
	put(p, name, p->cycles[chain] - less, p->noise[chain], why);
}

/* No surer than the times of the shapes are, nor than the shapes agree. */
static void put_shapes(struct penalties *p, const char *name, const struct gus_shapes *s, double noise)
{
	struct gus_fit_param out = { .name = name, .value = round(gus_shapes_value(s)),
		.confidence = gus_shapes_confidence(s) };
	enum gus_confidence sure;

	if (!s->n)
		return;
	sure = sureness(s->n > 1 && s->high - s->low > 0.5 ? out.value : s->low, noise);
	out.low = fmin(s->low, out.value);
	out.high = fmax(s->high, out.value);
	out.residual = out.value > 0 ? fmax(s->high - out.value, out.value - s->low) / out.value : 0;
	if (out.confidence > sure)
		out.confidence = sure;
	gus_shapes_say(s, out.why, sizeof(out.why));
	gus_fit_put(p->f, &out);
}

/* Cycles from a vector to a general register: as was fitted, else as the table says, else half of there and back. */
static double latency_of_transfer(const struct penalties *p)
{
	static const char text[] = "MOVQ (R64, XMM)";
	const struct gus_uarch_form *form = gus_uarch_form_by_text(p->c->nearest, text);
	const struct gus_fit_form *found = gus_fit_get_form(p->f, text);

	if (found && found->latency_confidence >= GUS_CONFIDENCE_MEDIUM && !isnan(found->latency))
		return found->latency;
	if (form && form->row != GUS_UARCH_NONE)
		return p->c->nearest->rows[form->row].latency / (double)GUS_UARCH_CENTI;
	return p->there[CHAIN_TRANSFERS] ? p->cycles[CHAIN_TRANSFERS] / 2 : 1;
}

/* It goes back to a general register, by a way whose length is shared out of a round trip; and rows of the table have
 * loads of their own. So the table's figure stays. */
static void put_vector_load(struct penalties *p)
{
	struct gus_fit_param out = { .name = "l1d_latency_vector", .confidence = GUS_CONFIDENCE_LOW };
	double transfer = latency_of_transfer(p);

	if (!p->there[CHAIN_VECTOR])
		return;
	out.value = out.low = out.high = round(p->cycles[CHAIN_VECTOR] - transfer);
	snprintf(out.why, sizeof(out.why), "with a move to a general register, of %.0f cycles, it takes %.2f cycles",
		 transfer, p->cycles[CHAIN_VECTOR]);
	gus_fit_put(p->f, &out);
}

/* The base of an address that no load has written may cost a cycle more (l1d_latency_base). */
static void settle_loads(struct penalties *p)
{
	put_link(p, "l1d_latency", CHAIN_LOAD, 0);
	put_link(p, "l1d_latency_indexed", CHAIN_INDEXED, 0);
	put_vector_load(p);
	if (p->there[CHAIN_LOAD_ADDED])
		put(p, "l1d_latency_base", more(p, CHAIN_LOAD_ADDED, CHAIN_LOAD) > 1.5, 0,
		    "what a load takes behind an addition, and behind a load");
	put_more(p, "line_split_penalty", CHAIN_LINE, CHAIN_LOAD, 1);
	put_more(p, "page_split_penalty", CHAIN_PAGE, CHAIN_LOAD, 1);
	put_more(p, "alias_penalty", CHAIN_ALIAS, CHAIN_APART, 0);
}

enum { RENAMED = 2 };   /* a link that takes no longer goes through no memory; forwarding takes 3 at least */

/* Which loads are the register that was stored: by what of each kind takes no time. */
static void settle_renaming(struct penalties *p)
{
	enum gus_store_forward_zero policy = GUS_STORE_FORWARD_ZERO_NO;

	if (!p->there[CHAIN_FORWARD_OTHER] || !p->there[CHAIN_FORWARD_BYTE])
		return;
	if (p->cycles[CHAIN_FORWARD] <= RENAMED)
		policy = p->cycles[CHAIN_FORWARD_BYTE] <= RENAMED ? GUS_STORE_FORWARD_ZERO_LOADS :
			p->cycles[CHAIN_FORWARD_OTHER] <= RENAMED ? GUS_STORE_FORWARD_ZERO_UPDATES :
			GUS_STORE_FORWARD_ZERO_BASED;
	put(p, "store_forward_zero", policy, p->noise[CHAIN_FORWARD],
	    "which of words, bytes and words by another register are there at once");
}

/* The first that goes through memory: what is renamed says nothing. */
static void settle_latency(struct penalties *p)
{
	if (p->cycles[CHAIN_FORWARD] > RENAMED)
		put_link(p, "store_forward_latency", CHAIN_FORWARD, 0);
	else if (p->cycles[CHAIN_FORWARD_ADD] > 1 + RENAMED)
		put_link(p, "store_forward_latency", CHAIN_FORWARD_ADD, 1);
	else
		put_link(p, "store_forward_latency", CHAIN_FORWARD_SHORT, 0);
	if (p->there[CHAIN_FORWARD_COMPUTED] && p->cycles[CHAIN_FORWARD] > RENAMED)
		put_link(p, "store_forward_computed", CHAIN_FORWARD_COMPUTED, 1);
}

static void settle_address(struct penalties *p)
{
	if (!p->there[CHAIN_FORWARD_ADDRESS])
		return;
	if (p->cycles[CHAIN_FORWARD] <= RENAMED)
		put_none(p, "store_forward_address", "the load is the stored register, whatever its address is");
	else if (p->cycles[CHAIN_FORWARD_ADDRESS] < p->cycles[CHAIN_LOAD] + 1.5)
		put(p, "store_forward_address", 0, 0, "no longer than a load takes");
	else
		put_link(p, "store_forward_address", CHAIN_FORWARD_ADDRESS, 0);
}

static bool is_wider_forwarded(const struct penalties *p)
{
	return p->there[CHAIN_WIDER] && p->cycles[CHAIN_WIDER] < p->cycles[CHAIN_BLOCKED] - 3;
}

static double noise_of(const struct penalties *p, const enum chain *chains, size_t n)
{
	double noise = 0;

	for (size_t i = 0; i < n; i++)
		if (p->there[chains[i]])
			noise = fmax(noise, p->noise[chains[i]]);
	return noise;
}

/* By how much vectors take longer to memory and back than general registers: what their stores wait for besides. A word
 * of one is forwarded as words are. */
static double more_by_vectors(const struct penalties *p)
{
	const struct gus_fit_param *word = gus_fit_get(p->f, "store_forward_latency");

	return word && p->there[CHAIN_FORWARD_WORD] ? p->cycles[CHAIN_FORWARD_WORD] - word->value : NAN;
}

/* What is blocked waits until the store has left, a cycle after it was executed, and counts from there. Real CPUs are
 * faster where stores in flight have all of it than where the cache has some, and code has both: so several are asked.
 * Where a second store leaves a cycle after the first, that is nothing that the load is blocked for. */
static void settle_blocked(struct penalties *p)
{
	static const double APART = 1.5;
	static const enum chain chains[] = { CHAIN_BLOCKED, CHAIN_WIDER, CHAIN_BLOCKED_PAIR, CHAIN_BLOCKED_VECTOR };
	const double besides[] = { 0, 0, p->cycles[CHAIN_STORES] > APART,
		(p->cycles[CHAIN_STORES_VECTOR] > APART) + more_by_vectors(p) };
	struct gus_shapes s = { .n = 0 };

	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		if (p->there[chains[i]] && (chains[i] != CHAIN_WIDER || !is_wider_forwarded(p)))
			gus_shapes_add(&s, links[chains[i]].name, p->cycles[chains[i]] - 1 - besides[i]);
	put_shapes(p, "store_forward_blocked", &s, noise_of(p, chains, sizeof(chains) / sizeof(*chains)));
}

static void settle_vectors(struct penalties *p)
{
	static const enum chain chains[] = { CHAIN_FORWARD_VECTOR, CHAIN_FORWARD_PART, CHAIN_FORWARD_WIDE };
	struct gus_shapes s = { .n = 0 };

	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		if (p->there[chains[i]])
			gus_shapes_add(&s, links[chains[i]].name, p->cycles[chains[i]] - more_by_vectors(p));
	put_shapes(p, "store_forward_vector", &s, noise_of(p, chains, sizeof(chains) / sizeof(*chains)));
}

static void settle_forwarding(struct penalties *p)
{
	settle_latency(p);
	settle_address(p);
	settle_renaming(p);
	if (p->there[CHAIN_WIDER])
		put(p, "store_forward_wider", is_wider_forwarded(p), p->noise[CHAIN_WIDER],
		    "a load that begins where the store does and reads more");
	settle_blocked(p);
	settle_vectors(p);
}

/* Whether the test before a branch is fused with it. Else it is a cycle by itself. */
static bool fuses_test(const struct penalties *p)
{
	const struct gus_fit_param *found = gus_fit_get(p->f, "macro_fusion");

	if (found && found->confidence > GUS_CONFIDENCE_LOW)
		return found->value > 0;
	return gus_uarch_value(p->c->nearest, "macro_fusion", 0) > 0;
}

/* How many nops have to be before test and branch so that these and what is behind them are issued in the same
 * cycle if all goes well: one more of them then changed nothing, or two if test and branch are two. Where something
 * of these is in another cycle, a pass takes a cycle more with the last nop. */
static int find_place(struct penalties *p, unsigned *before, struct gus_error *err)
{
	unsigned alike = 0, needed = fuses_test(p) ? 1 : 2;
	int status;

	for (unsigned i = 0; i < PLACES; i++)
		gus_round_put(&p->round, branch_of(p->c, NOT_TAKEN, i));
	status = gus_round_run(&p->round, is_real(p) ? 3 : 1, err);
	*before = PLACES - 1;
	for (unsigned i = 1; i < PLACES && status == 0; i++) {
		double later = gus_round_cycles(&p->round, i) - gus_round_cycles(&p->round, i - 1);

		alike = later < 0.5 ? alike + 1 : 0;
		if (alike == needed) {
			*before = i;
			break;
		}
	}
	gus_round_clear(&p->round);
	return status;
}

/* Cycles more of a pass whose branch goes wrong: half of those of a pattern at random do. */
static double wrong(const double *cycles, unsigned kind)
{
	return 2 * (cycles[kind] - (cycles[NOT_TAKEN] + cycles[TAKEN]) / 2);
}

/* Where decoders bring the right path, it is a cycle later at issue than where the uop cache does; the engine knows
 * that of code that is fed, and not of a loop as a replica runs it. */
static double later_by_decoders(const struct gus_core_config *c)
{
	return c->uop_cache_width && c->uop_cache_window && c->uop_cache_line ? 0 : 1;
}

/* A pass is later by the time from the branch's issue to its end and by the penalty; what the first is, and what else
 * is in the pass, the nearest table's machine knows, so the penalty is as far from its as a pass is. */
static void put_misprediction(struct penalties *p, const double *cycles, const double *modelled)
{
	double less = wrong(modelled, AT_RANDOM) - p->nearest.mispredict_penalty + later_by_decoders(&p->nearest) +
		(!fuses_test(p) && gus_uarch_value(p->c->nearest, "macro_fusion", 0) > 0);
	double mean = 0, low = INFINITY, high = 0;
	struct gus_fit_param out = { .name = "mispredict_penalty" };

	for (unsigned i = AT_RANDOM; i < BRANCH_KINDS; i++) {
		mean += wrong(cycles, i);
		low = fmin(low, wrong(cycles, i));
		high = fmax(high, wrong(cycles, i));
	}
	mean = (mean - low - high) / (BRANCH_KINDS - AT_RANDOM - 2);
	out.value = round(mean - less);
	out.low = fmin(low - less, out.value);
	out.high = fmax(high - less, out.value);
	out.residual = (high - low) / 2 / mean;
	out.confidence = out.value < 2 || !isfinite(mean) ? GUS_CONFIDENCE_NONE :
		high - low < 1.2 ? GUS_CONFIDENCE_HIGH : high - low < 3 ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW;
	/* Behind other code a branch of a real CPU costs a cycle or two more or less: no reason to leave the table. */
	if (is_real(p) && out.confidence > GUS_CONFIDENCE_NONE) {
		out.low -= 1;
		out.high += 1;
		out.confidence = out.confidence > GUS_CONFIDENCE_MEDIUM ? GUS_CONFIDENCE_MEDIUM : out.confidence;
		if (p->nearest.mispredict_penalty >= out.low && p->nearest.mispredict_penalty <= out.high)
			out.value = p->nearest.mispredict_penalty;
	}
	if (out.confidence == GUS_CONFIDENCE_NONE)
		out.value = NAN;
	snprintf(out.why, sizeof(out.why), "wrong branches are %.2f to %.2f cycles later; %.2f on the nearest table's "
		 "machine, by %u", low, high, wrong(modelled, AT_RANDOM), p->nearest.mispredict_penalty);
	gus_fit_put(p->f, &out);
}

static int model_branches(struct penalties *p, unsigned before, double *cycles, struct gus_error *err)
{
	int status = 0;

	for (unsigned i = 0; i <= AT_RANDOM && status == 0; i++) {
		struct gus_micro *m = branch_of(p->c, i, before);

		/* Of those that always go one way a few passes say all. */
		m->passes = i < AT_RANDOM ? 0 : 1u << PATTERN_LOG_SLOW;
		status = gus_replica_run(&p->replica, m, &cycles[i], err);
		gus_micro_free(m);
	}
	return status;
}

/* Of measurements with branches at random the least is the one that had the luck of few wrong ones. The median had
 * not, so far as it was not disturbed: by more than luck can be (of 2^14 passes 0.3 % by two standard deviations). */
static double typical_cycles(const struct gus_round *r, size_t number)
{
	const struct gus_micro_time *t = &r->times.v[number];

	return fmin(t->median, gus_round_cycles(r, number) * 1.006);
}

static int find_misprediction(struct penalties *p, struct gus_error *err)
{
	double cycles[BRANCH_KINDS] = { 0 }, modelled[BRANCH_KINDS];
	unsigned before;
	int status;

	if (find_place(p, &before, err) != 0)
		return -1;
	for (unsigned i = 0; i < BRANCH_KINDS; i++)
		gus_round_put(&p->round, branch_of(p->c, i, before));
	status = gus_round_run(&p->round, is_real(p) ? 3 : 1, err);
	for (unsigned i = 0; i < BRANCH_KINDS && status == 0; i++)
		cycles[i] = i < AT_RANDOM ? gus_round_cycles(&p->round, i) : typical_cycles(&p->round, i);
	gus_round_clear(&p->round);
	if (status != 0 || model_branches(p, before, modelled, err) != 0)
		return -1;
	put_misprediction(p, cycles, modelled);
	return 0;
}

int gus_fit_penalties(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	struct penalties p = { .c = c, .f = f, .round = { .calibration = c },
		.replica = { .uarch = c->nearest, .config = &p.nearest } };
	int status;

	gus_core_config_of(&p.nearest, c->nearest);
	if (c->progress)
		c->progress(c->progress_context, "loads and branches", 0);
	status = measure(&p, err);
	if (status == 0)
		status = find_misprediction(&p, err);
	gus_round_free(&p.round);
	if (status != 0)
		return -1;
	settle_loads(&p);
	settle_forwarding(&p);
	if (c->progress)
		c->progress(c->progress_context, "loads and branches", 1);
	return 0;
}
