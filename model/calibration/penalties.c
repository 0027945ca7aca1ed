/* SPDX-License-Identifier: MIT */
/* What a load takes, and how much longer when something is in its way (loads.h has the chains that tell it). Beside
 * these a branch that was predicted wrong (mispredict.h).
 *
 * A pass of a chain takes the sum of its links' latencies, and nothing else matters. What a parameter counts is what
 * the engines make of it: each figure says how a link's cycles come to it. */
#include <math.h>
#include <stdio.h>

#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/loads.h"
#include "model/calibration/mispredict.h"
#include "model/calibration/round.h"
#include "model/calibration/shapes.h"
#include "model/tables/policies.h"
#include "model/tables/uarch.h"

/* Times. */

struct penalties {
	const struct gus_calibration *c;
	struct gus_fit *f;
	struct gus_round round;
	bool there[GUS_LOADS];
	double cycles[GUS_LOADS];       /* of a link */
	double noise[GUS_LOADS];        /* the median's distance, as a part */
};

static bool is_real(const struct penalties *p)
{
	return !gus_calibration_host_is_simulated(p->c->host);
}

static bool is_wanted(const struct penalties *p, enum gus_loads chain)
{
	if (chain == GUS_LOADS_FORWARD_WIDE && (p->c->host->isa != GUS_ISA_X86_64 || !p->c->host->avx2))
		return false;
	return p->c->depth == GUS_CALIBRATION_FULL || gus_loads_are_quick(chain);
}

static int measure(struct penalties *p, struct gus_error *err)
{
	enum gus_loads of[GUS_LOADS];
	size_t n = 0;

	for (unsigned i = 0; i < GUS_LOADS; i++)
		if (is_wanted(p, i)) {
			of[gus_round_put(&p->round, gus_loads_micro(p->c->host->isa, i))] = i;
			n++;
		}
	if (gus_round_run(&p->round, is_real(p) ? 3 : 1, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct gus_micro_time *t = &p->round.times.v[i];

		p->there[of[i]] = isfinite(gus_round_cycles(&p->round, i));
		p->cycles[of[i]] = t->cycles / GUS_LOADS_LINKS;
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
static double more(const struct penalties *p, enum gus_loads chain, enum gus_loads than)
{
	return p->cycles[chain] - p->cycles[than];
}

/* least: where engines take none for unknown, a cycle. */
static void put_more(struct penalties *p, const char *name, enum gus_loads chain, enum gus_loads than, double least)
{
	char why[100];

	if (!p->there[chain])
		return;
	snprintf(why, sizeof(why), "%s takes %.2f cycles, without that %.2f", gus_loads_name(chain), p->cycles[chain],
		 p->cycles[than]);
	put(p, name, fmax(more(p, chain, than), least), p->noise[chain], why);
}

static void put_link(struct penalties *p, const char *name, enum gus_loads chain, double less)
{
	char why[100];

	if (!p->there[chain])
		return;
	snprintf(why, sizeof(why), "%s takes %.2f cycles", gus_loads_name(chain), p->cycles[chain]);
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
	return p->there[GUS_LOADS_TRANSFERS] ? p->cycles[GUS_LOADS_TRANSFERS] / 2 : 1;
}

/* It goes back to a general register, by a way whose length is shared out of a round trip; and rows of the table have
 * loads of their own. So the table's figure stays. */
static void put_vector_load(struct penalties *p)
{
	struct gus_fit_param out = { .name = "l1d_latency_vector", .confidence = GUS_CONFIDENCE_LOW };
	double transfer = latency_of_transfer(p);

	if (!p->there[GUS_LOADS_VECTOR])
		return;
	out.value = out.low = out.high = round(p->cycles[GUS_LOADS_VECTOR] - transfer);
	snprintf(out.why, sizeof(out.why), "with a move to a general register, of %.0f cycles, it takes %.2f cycles",
		 transfer, p->cycles[GUS_LOADS_VECTOR]);
	gus_fit_put(p->f, &out);
}

/* The base of an address that no load has written may cost a cycle more (l1d_latency_base). */
static void settle_loads(struct penalties *p)
{
	put_link(p, "l1d_latency", GUS_LOADS_PLAIN, 0);
	put_link(p, "l1d_latency_indexed", GUS_LOADS_INDEXED, 0);
	put_vector_load(p);
	if (p->there[GUS_LOADS_ADDED])
		put(p, "l1d_latency_base", more(p, GUS_LOADS_ADDED, GUS_LOADS_PLAIN) > 1.5, 0,
		    "what a load takes behind an addition, and behind a load");
	put_more(p, "line_split_penalty", GUS_LOADS_LINE, GUS_LOADS_PLAIN, 1);
	put_more(p, "page_split_penalty", GUS_LOADS_PAGE, GUS_LOADS_PLAIN, 1);
	put_more(p, "alias_penalty", GUS_LOADS_ALIAS, GUS_LOADS_APART, 0);
}

enum { RENAMED = 2 };   /* a link that takes no longer goes through no memory; forwarding takes 3 at least */

/* Which loads are the register that was stored: by what of each kind takes no time. */
static void settle_renaming(struct penalties *p)
{
	enum gus_store_forward_zero policy = GUS_STORE_FORWARD_ZERO_NO;

	if (!p->there[GUS_LOADS_FORWARD_OTHER] || !p->there[GUS_LOADS_FORWARD_BYTE])
		return;
	if (p->cycles[GUS_LOADS_FORWARD] <= RENAMED)
		policy = p->cycles[GUS_LOADS_FORWARD_BYTE] <= RENAMED ? GUS_STORE_FORWARD_ZERO_LOADS :
			p->cycles[GUS_LOADS_FORWARD_OTHER] <= RENAMED ? GUS_STORE_FORWARD_ZERO_UPDATES :
			GUS_STORE_FORWARD_ZERO_BASED;
	put(p, "store_forward_zero", policy, p->noise[GUS_LOADS_FORWARD],
	    "which of words, bytes and words by another register are there at once");
}

/* The first that goes through memory: what is renamed says nothing. */
static void settle_latency(struct penalties *p)
{
	if (p->cycles[GUS_LOADS_FORWARD] > RENAMED)
		put_link(p, "store_forward_latency", GUS_LOADS_FORWARD, 0);
	else if (p->cycles[GUS_LOADS_FORWARD_ADD] > 1 + RENAMED)
		put_link(p, "store_forward_latency", GUS_LOADS_FORWARD_ADD, 1);
	else
		put_link(p, "store_forward_latency", GUS_LOADS_FORWARD_SHORT, 0);
	if (p->there[GUS_LOADS_FORWARD_COMPUTED] && p->cycles[GUS_LOADS_FORWARD] > RENAMED)
		put_link(p, "store_forward_computed", GUS_LOADS_FORWARD_COMPUTED, 1);
}

static void settle_address(struct penalties *p)
{
	if (!p->there[GUS_LOADS_FORWARD_ADDRESS])
		return;
	if (p->cycles[GUS_LOADS_FORWARD] <= RENAMED)
		put_none(p, "store_forward_address", "the load is the stored register, whatever its address is");
	else if (p->cycles[GUS_LOADS_FORWARD_ADDRESS] < p->cycles[GUS_LOADS_PLAIN] + 1.5)
		put(p, "store_forward_address", 0, 0, "no longer than a load takes");
	else
		put_link(p, "store_forward_address", GUS_LOADS_FORWARD_ADDRESS, 0);
}

static bool is_wider_forwarded(const struct penalties *p)
{
	return p->there[GUS_LOADS_WIDER] && p->cycles[GUS_LOADS_WIDER] < p->cycles[GUS_LOADS_BLOCKED] - 3;
}

static double noise_of(const struct penalties *p, const enum gus_loads *chains, size_t n)
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

	return word && p->there[GUS_LOADS_FORWARD_WORD] ? p->cycles[GUS_LOADS_FORWARD_WORD] - word->value : NAN;
}

/* What is blocked waits until the store has left, a cycle after it was executed, and counts from there. Real CPUs are
 * faster where stores in flight have all of it than where the cache has some, and code has both: so several are asked.
 * Where a second store leaves a cycle after the first, that is nothing that the load is blocked for. */
static void settle_blocked(struct penalties *p)
{
	static const double APART = 1.5;
	static const enum gus_loads chains[] = { GUS_LOADS_BLOCKED, GUS_LOADS_WIDER, GUS_LOADS_BLOCKED_PAIR,
		GUS_LOADS_BLOCKED_VECTOR };
	const double besides[] = { 0, 0, p->cycles[GUS_LOADS_STORES] > APART,
		(p->cycles[GUS_LOADS_STORES_VECTOR] > APART) + more_by_vectors(p) };
	struct gus_shapes s = { .n = 0 };

	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		if (p->there[chains[i]] && (chains[i] != GUS_LOADS_WIDER || !is_wider_forwarded(p)))
			gus_shapes_add(&s, gus_loads_name(chains[i]), p->cycles[chains[i]] - 1 - besides[i]);
	put_shapes(p, "store_forward_blocked", &s, noise_of(p, chains, sizeof(chains) / sizeof(*chains)));
}

static void settle_vectors(struct penalties *p)
{
	static const enum gus_loads chains[] = { GUS_LOADS_FORWARD_VECTOR, GUS_LOADS_FORWARD_PART,
		GUS_LOADS_FORWARD_WIDE };
	struct gus_shapes s = { .n = 0 };

	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		if (p->there[chains[i]])
			gus_shapes_add(&s, gus_loads_name(chains[i]), p->cycles[chains[i]] - more_by_vectors(p));
	put_shapes(p, "store_forward_vector", &s, noise_of(p, chains, sizeof(chains) / sizeof(*chains)));
}

static void settle_forwarding(struct penalties *p)
{
	settle_latency(p);
	settle_address(p);
	settle_renaming(p);
	if (p->there[GUS_LOADS_WIDER])
		put(p, "store_forward_wider", is_wider_forwarded(p), p->noise[GUS_LOADS_WIDER],
		    "a load that begins where the store does and reads more");
	settle_blocked(p);
	settle_vectors(p);
}

int gus_fit_penalties(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	struct penalties p = { .c = c, .f = f, .round = { .calibration = c } };
	int status;

	if (c->progress)
		c->progress(c->progress_context, "loads and branches", 0);
	status = measure(&p, err);
	if (status == 0)
		status = gus_mispredict_find(c, f, err);
	gus_round_free(&p.round);
	if (status != 0)
		return -1;
	settle_loads(&p);
	settle_forwarding(&p);
	if (c->progress)
		c->progress(c->progress_context, "loads and branches", 1);
	return 0;
}
