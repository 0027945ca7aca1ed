/* SPDX-License-Identifier: MIT */
/* How much is in flight: by how many instructions a jam (jam.h) can have behind it before the next pass is late.
 *
 * What is behind the jam is not all that has entries. When the last root is at work and the first operation of the
 * next pass has to be issued, there are also: the root itself, the end of the loop, and that operation. `held` of
 * the table below says how many of those are in the buffer, and the size is the last n that was in time, and these.
 * The end of the loop is one entry where the CPU fuses its two instructions, which the nearest table says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/calibration/breaks.h"
#include "model/calibration/emit.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/jam.h"
#include "model/calibration/round.h"
#include "model/tables/uarch.h"

enum {
	PACED = 64,             /* instructions of a pass that says how fast they are without a jam */
	FIRST = 4,              /* fewest behind a jam: all buffers hold those */
	MOST = 1400,            /* more than any buffer has */
	LINKS = 32,             /* how many more of them say what one takes */
	HELD = 2,               /* of a buffer's entries, about, that others have than those behind the jam */
	SLACK = 70,             /* cycles that a jam is longer than what is behind it takes to be issued */
};
static const double LONGER = 1.3;       /* and as a factor */
/* Cycles: what is less is no break. A simulated one may have 2, a real one 3 to 18; there a jam alone varies by
 * one. */
static const double STEP = 1.6, STEP_REAL = 2.6;

/* What was found of a kind. */
struct found {
	struct gus_break b;
	double cycles;          /* of the jam */
	bool asked, agreed;     /* agreed: two searches at different times found the same */
	unsigned most;          /* up to which n it was sought */
	unsigned least_flat, most_flat; /* of all searches that found about the same, 0: none did */
};

struct window {
	const struct gus_calibration *c;
	struct gus_fit *f;
	struct gus_round round;
	double pace[GUS_JAMS];          /* cycles an instruction */
	double link[GUS_JAM_CHAINS], least[GUS_JAM_CHAINS]; /* cycles of a link of each chain; of its shortest jam */
	unsigned end;                   /* entries that the end of the loop takes */
	struct found found[GUS_JAMS];
	/* Of the search that is going on. */
	enum gus_jam kind;
	unsigned links;
	double cycles;          /* of its jam, at least */
};

/* A kind, and how many of it are expected to be in time; 0: nobody knows. */
struct wanted {
	enum gus_jam kind;
	double expected;
};

static double table_value(const struct window *w, const char *name)
{
	return gus_uarch_value(w->c->nearest, name, 0);
}

static void tell(const struct window *w, const char *what, double done)
{
	if (w->c->progress)
		w->c->progress(w->c->progress_context, what, done);
}

static bool is_real(const struct window *w)
{
	return !gus_calibration_host_is_simulated(w->c->host);
}

/* Registers that hold the program's state are not free to be renamed to: the engine takes as many off where a table
 * says how many a file has (REGISTERS_TAKEN in model/machine/config.c), so a fit puts them on. */
enum { TAKEN = 30 };

static double registers_in_flight(const struct window *w, const char *renames, const char *registers)
{
	double in_flight = table_value(w, renames);

	return in_flight > 0 ? in_flight : table_value(w, registers) - TAKEN;
}

/* A chain is steady if its links take a whole number of cycles: else they don't always take the same. */
static bool is_steady(const struct window *w, enum gus_jam_chain chain)
{
	return fabs(w->link[chain] - round(w->link[chain])) < 0.1;
}

/* The chain that is in nobody's way, unless only the other one is steady. */
static enum gus_jam_chain chain_of(const struct window *w, enum gus_jam kind)
{
	enum gus_jam_chain best = gus_jam_chain_for(kind), other = !best;

	return is_steady(w, best) || !is_steady(w, other) ? best : other;
}

static struct gus_micro *jam_of(const struct window *w, enum gus_jam kind, unsigned links, unsigned n)
{
	return gus_jam_new(w->c->host->isa, kind, chain_of(w, kind), links, n);
}

/* How fast each kind is where nothing holds it up, and how long a jam of each chain is. */
static int measure_paces(struct window *w, struct gus_error *err)
{
	size_t jams = GUS_JAMS;
	int status;

	for (unsigned kind = 0; kind < GUS_JAMS; kind++)
		gus_round_put(&w->round, jam_of(w, kind, 0, PACED));
	for (unsigned i = 0; i < GUS_JAM_CHAINS; i++)
		for (unsigned links = 1; links <= 1 + LINKS; links += LINKS)
			gus_round_put(&w->round, gus_jam_new(w->c->host->isa, GUS_JAM_NOP, i, links, 0));
	status = gus_round_run(&w->round, is_real(w) ? 3 : 1, err);
	for (unsigned kind = 0; kind < GUS_JAMS && status == 0; kind++)
		w->pace[kind] = gus_round_cycles(&w->round, kind) / PACED;
	for (unsigned i = 0; i < GUS_JAM_CHAINS && status == 0; i++, jams += 2) {
		w->least[i] = gus_round_cycles(&w->round, jams);
		w->link[i] = fmax((gus_round_cycles(&w->round, jams + 1) - w->least[i]) / LINKS, 1);
	}
	gus_round_clear(&w->round);
	return status;
}

/* Cycles beyond those of a jam with few instructions behind it, which is measured in the same round: so a clock
 * whose pace is a little off in one round is no break. If that jam itself was disturbed, which would hide a break,
 * the least that it has taken before is better. */
static int ask(void *context, const unsigned *places, size_t n, double *values, struct gus_error *err)
{
	static const double PACE = 1.005;
	struct window *w = context;
	size_t plain;
	int status;

	for (size_t i = 0; i < n; i++)
		gus_round_put(&w->round, jam_of(w, w->kind, w->links, places[i]));
	plain = gus_round_put(&w->round, jam_of(w, w->kind, w->links, FIRST));
	status = gus_round_run(&w->round, 1, err);
	if (status == 0) {
		double now = gus_round_cycles(&w->round, plain);

		w->cycles = fmin(w->cycles, now);
		for (size_t i = 0; i < n; i++)
			values[i] = gus_round_cycles(&w->round, i) - fmin(now, w->cycles * PACE);
	}
	gus_round_clear(&w->round);
	return status;
}

/* So many links that even n instructions are all issued while the jam is there; no more than anybody needs, as a pace
 * that was disturbed may ask for any number. */
static unsigned links_for(const struct window *w, enum gus_jam kind, unsigned n)
{
	enum { MOST_LINKS = 1 << 16 };
	enum gus_jam_chain chain = chain_of(w, kind);
	double cycles = n * w->pace[kind] * LONGER + SLACK - w->least[chain];

	return cycles <= 0 ? 1 : 1 + (unsigned)fmin(cycles / w->link[chain], MOST_LINKS);
}

/* The break of a kind, around where one is expected, else farther. near: where one is known, or as expected. */
static int seek(struct window *w, double expected, double near, struct found *found, struct gus_error *err)
{
	struct gus_break_function f = { .at = ask, .context = w, .low = FIRST, .least = is_real(w) ? STEP_REAL : STEP,
		.near = near > HELD + FIRST ? (unsigned)near - HELD : 0,
		.again = !is_real(w) || w->c->depth == GUS_CALIBRATION_QUICK ? 1 : 2 };
	unsigned high = (unsigned)((expected > 0 ? expected : PACED) * 1.4) + 24;

	do {
		f.high = found->most = high < MOST ? high : MOST;
		w->links = links_for(w, w->kind, f.high);
		w->cycles = INFINITY;
		if (gus_break_find(&f, &found->b, err) != 0)
			return -1;
		high *= 2;
	} while (!found->b.found && f.high < MOST && !found->b.steep);
	found->cycles = w->cycles;
	return 0;
}

static bool is_clear(const struct found *found)
{
	return found->asked && found->b.found && found->b.broken - found->b.flat <= 1 + found->b.flat / 12;
}

static bool is_near(unsigned a, unsigned b)
{
	unsigned apart = a > b ? a - b : b - a;

	return apart <= 1 + b / 128;
}

/* What of a size two searches or two kinds of instruction may differ by and mean the same: a tenth. */
static bool is_about(double a, double b)
{
	return fabs(a - b) <= 0.1 * fmax(a, b);
}

static void note_flats(struct found *of, const struct found *other)
{
	if (!other->least_flat || !is_about(of->b.flat, other->b.flat))
		return;
	of->least_flat = other->least_flat < of->least_flat ? other->least_flat : of->least_flat;
	of->most_flat = other->most_flat > of->most_flat ? other->most_flat : of->most_flat;
}

/* Another thread of the core, which may be somebody else's, takes entries away for a while; nobody adds any. So of
 * several searches the one that found most is right. */
static void merge(struct found *known, const struct found *now)
{
	bool more = !known->asked || (now->b.found && (!known->b.found || now->b.flat > known->b.flat));
	const struct found before = *known;

	if (known->asked && known->b.found && now->b.found && is_near(now->b.flat, known->b.flat)) {
		if (now->b.sharp && !known->b.sharp)
			*known = *now;
		known->agreed = true;
	} else if (more) {
		*known = *now;
	}
	known->asked = true;
	note_flats(known, &before);
	note_flats(known, now);
}

static int seek_kinds(struct window *w, const struct wanted *wanted, size_t n, struct gus_error *err)
{
	unsigned times = !is_real(w) ? 1 : w->c->depth == GUS_CALIBRATION_QUICK ? 2 : 3;

	for (unsigned turn = 0; turn < times; turn++)
		for (size_t i = 0; i < n; i++) {
			struct found now = { .asked = true, .agreed = times == 1 }, *known;

			w->kind = wanted[i].kind;
			known = &w->found[w->kind];
			if (known->agreed && known->b.sharp)
				continue;
			tell(w, gus_jam_name(w->kind), (double)(turn * n + i) / (double)(times * n));
			if (seek(w, wanted[i].expected, is_clear(known) ? known->b.flat + HELD : wanted[i].expected,
				 &now, err) != 0)
				return -1;
			now.least_flat = is_clear(&now) ? now.b.flat : 0;
			now.most_flat = now.least_flat;
			merge(known, &now);
		}
	return 0;
}

/* Whether two nops share an entry: more of them come in a cycle than are issued of others. */
static bool shares_nops(const struct window *w)
{
	const struct gus_fit_param *issue = gus_fit_get(w->f, "issue_width");

	if (issue && issue->confidence > GUS_CONFIDENCE_LOW)
		return 1 / w->pace[GUS_JAM_NOP] > 1.2 * issue->value;
	return table_value(w, "nop_fusion") > 0;
}

/* What is sought, and about where. */
static size_t choose_kinds(const struct window *w, struct wanted *wanted)
{
	double rob = table_value(w, "rob"), rs = table_value(w, "rs"), integers = table_value(w, "rs_int");
	double port = table_value(w, "rs_int_port"), vectors = table_value(w, "rs_vector");
	const struct wanted all[] = {
		{ GUS_JAM_NOP, rob }, { GUS_JAM_MIXED, rob }, { GUS_JAM_MOVE, rob },
		{ GUS_JAM_LOAD, table_value(w, "load_buffer") }, { GUS_JAM_STORE, table_value(w, "store_buffer") },
		{ GUS_JAM_ADD, registers_in_flight(w, "int_renames", "int_registers") },
		{ GUS_JAM_XOR, registers_in_flight(w, "vector_renames", "vector_registers") },
		{ GUS_JAM_BRANCH, table_value(w, "branch_buffer") },
		{ GUS_JAM_WAITING_ADD, integers > 0 ? integers : rs },
		{ GUS_JAM_WAITING_MULTIPLY, port > 0 ? port : rs },
		{ GUS_JAM_WAITING_VECTOR, vectors > 0 ? vectors : rs },
		{ GUS_JAM_WAITING_LOAD, rs }, { GUS_JAM_WAITING_BOTH, 2 * vectors },
		{ GUS_JAM_BOTH, table_value(w, "renames") },
	};
	bool shared = shares_nops(w);
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		bool quick = all[i].kind <= GUS_JAM_ADD || all[i].kind == GUS_JAM_LOAD || all[i].kind == GUS_JAM_STORE;

		if (w->c->depth == GUS_CALIBRATION_QUICK && !quick)
			continue;
		if (all[i].kind == GUS_JAM_NOP ? shared : all[i].kind == GUS_JAM_MOVE && !shared)
			continue;
		/* These two are asked for nothing but a limit that only some tables have. */
		if ((all[i].kind == GUS_JAM_WAITING_BOTH || all[i].kind == GUS_JAM_BOTH) && all[i].expected <= 0)
			continue;
		wanted[n++] = all[i];
	}
	return n;
}

enum { FUSED_ADD = 2 }; /* of macro_fusion's words the first with which add and sub are fused */

/* Figures. */

/* The last n that is in time; 0: none is known. */
static double last_of(const struct window *w, enum gus_jam kind)
{
	return is_clear(&w->found[kind]) ? w->found[kind].b.flat : 0;
}

/* A break that is exact in one run is an entry or some off in the next: of a real host the interval has what all
 * searches found, and a part of the size more. */
static void widen(const struct window *w, const struct found *found, double held, struct gus_fit_param *p)
{
	static const double RUNS_DIFFER = 0.02;
	double more = fmax(RUNS_DIFFER * p->value, 1);

	if (!is_real(w))
		return;
	p->low = fmin(p->low, floor(p->value - more));
	p->high = fmax(p->high, ceil(p->value + more));
	if (!found->least_flat)
		return;
	p->low = fmin(p->low, found->least_flat + held);
	p->high = fmax(p->high, found->most_flat + held);
}

static void put_found(struct window *w, const char *name, enum gus_jam kind, double held, const char *why)
{
	const struct found *found = &w->found[kind];
	double low = found->b.flat + held, high = found->b.broken - 1 + held;
	struct gus_fit_param p = { .name = name, .value = floor((low + high) / 2), .low = low, .high = high,
		.confidence = found->b.sharp && found->agreed ? GUS_CONFIDENCE_HIGH :
			high <= low * 1.03 ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW,
		.residual = found->cycles > 0 ? found->b.noise / found->cycles : 0 };

	widen(w, found, held, &p);
	snprintf(p.why, sizeof(p.why), "%u %s behind a jam are in time, %u take %.0f cycles more of %.0f%s",
		 found->b.flat, gus_jam_name(kind), found->b.broken, found->b.step, found->cycles, why);
	gus_fit_put(w->f, &p);
}

static void put_hidden(struct window *w, const char *name, enum gus_jam kind, double held, const char *by)
{
	const struct found *found = &w->found[kind];
	bool flat = found->b.end <= found->b.level + STEP_REAL;
	double least = found->b.found ? found->b.flat + held : flat ? found->most + held : 0;
	struct gus_fit_param p = { .name = name, .value = NAN, .low = least, .high = INFINITY,
		.confidence = GUS_CONFIDENCE_NONE };

	if (found->b.found || !found->b.steep)
		snprintf(p.why, sizeof(p.why), "at least %.0f: %s", least, by);
	else
		snprintf(p.why, sizeof(p.why), "%s behind a jam slow it down however few they are",
			 gus_jam_name(kind));
	gus_fit_put(w->f, &p);
}

/* Nops take no register, port or scheduler, so nothing but the reorder buffer holds them up, unless two of them are
 * one entry. Then moves do where they are eliminated, that is, where not as many are in time as of what writes
 * registers. */
static void settle_rob(struct window *w)
{
	double mixed = last_of(w, GUS_JAM_MIXED), moves = last_of(w, GUS_JAM_MOVE), nops = last_of(w, GUS_JAM_NOP);
	enum gus_jam other = moves <= last_of(w, GUS_JAM_ADD) + 4 ? GUS_JAM_MIXED : GUS_JAM_MOVE;

	/* What is about the same by others is of the same buffer, and so is how far it is from that. */
	note_flats(&w->found[GUS_JAM_NOP], &w->found[GUS_JAM_MIXED]);
	if (nops > 0)
		put_found(w, "rob", GUS_JAM_NOP, 2 + w->end, mixed >= nops * 0.98 ? "; others say the same" : "");
	else if (last_of(w, other) > 0)
		put_found(w, "rob", other, 2 + w->end, "; nops share entries");
	else
		put_hidden(w, "rob", GUS_JAM_MIXED, 2 + w->end, "no break was found");
}

/* The most that the reorder buffer has room for behind a jam. */
static double most_behind(const struct window *w)
{
	const struct gus_fit_param *rob = gus_fit_get(w->f, "rob");

	return rob && rob->confidence > GUS_CONFIDENCE_LOW ? rob->value - 2 - w->end : INFINITY;
}

/* A buffer of its own kind of instruction. It is hidden where the reorder buffer is full first. */
static void settle_own(struct window *w, const char *name, enum gus_jam kind, double held, double more)
{
	if (!w->found[kind].asked)
		return;
	if (!is_clear(&w->found[kind]))
		put_hidden(w, name, kind, held + more, "no break was found");
	else if (last_of(w, kind) >= most_behind(w) - 2)
		put_hidden(w, name, kind, held + more, "the reorder buffer is full before");
	else
		put_found(w, name, kind, held + more, more > 0 ? "; and 30 of the state" : "");
}

static void settle_registers(struct window *w, enum gus_jam kind, const char *renames, const char *registers,
			     double held)
{
	if (table_value(w, renames) > 0)
		settle_own(w, renames, kind, held, 0);
	else
		settle_own(w, registers, kind, held, TAKEN);
}

/* A branch that is never taken compares first: where that isn't fused it takes another entry of the reorder buffer,
 * and where flags are in the integer registers one of those. */
static void settle_branches(struct window *w)
{
	double registers = last_of(w, GUS_JAM_ADD), branches = last_of(w, GUS_JAM_BRANCH);

	if (registers > 0 && branches > 0 && fabs(branches - registers) <= 2)
		put_hidden(w, "branch_buffer", GUS_JAM_BRANCH, 1, "registers for their flags are full before");
	else if (branches > 0 && 2 * branches >= most_behind(w) - 2 && branches < most_behind(w))
		put_hidden(w, "branch_buffer", GUS_JAM_BRANCH, 1, "the reorder buffer is full before");
	else
		settle_own(w, "branch_buffer", GUS_JAM_BRANCH, 1, 0);
}

/* One scheduler for all. What is in it besides is what makes the register that they wait for, and the first
 * operation of the next pass. Multiplications wait for one port, which the chain of vectors does not need on most
 * CPUs; loads may fill the load buffer before; the others are in the chain's way at ports, and find less room then.
 * So of all the one that finds most is right, if it is not loads that found another buffer's end. */
static void put_whole(struct window *w, const char *name)
{
	static const struct { enum gus_jam kind; double held; } kinds[] = {
		{ GUS_JAM_WAITING_MULTIPLY, 2 }, { GUS_JAM_WAITING_LOAD, 3 }, { GUS_JAM_WAITING_ADD, 2 },
		{ GUS_JAM_WAITING_VECTOR, 1 } };
	const struct gus_fit_param *loads = gus_fit_get(w->f, "load_buffer");
	bool full = loads && last_of(w, GUS_JAM_WAITING_LOAD) >= loads->value - 2;
	size_t best = 0;
	double most = 0;

	for (size_t i = is_steady(w, GUS_JAM_OF_VECTORS) ? 0 : 1; i < sizeof(kinds) / sizeof(*kinds); i++) {
		double size = last_of(w, kinds[i].kind) > 0 ? last_of(w, kinds[i].kind) + kinds[i].held : 0;

		if (size > most + (best == 0 && most > 0 ? 2 : 0)) {
			most = size;
			best = i;
		}
	}
	if (most > 0 && last_of(w, kinds[best].kind) >= most_behind(w) - 4)
		put_hidden(w, name, kinds[best].kind, kinds[best].held, "the reorder buffer is full before");
	else if (most > 0 && kinds[best].kind == GUS_JAM_WAITING_LOAD && full)
		put_hidden(w, name, kinds[best].kind, kinds[best].held, "the load buffer is full before");
	else if (most > 0)
		put_found(w, name, kinds[best].kind, kinds[best].held, "");
	else
		put_hidden(w, name, GUS_JAM_WAITING_MULTIPLY, 2, "no break was found");
}

static void put_part(struct window *w, const char *name, enum gus_jam kind, double held, double whole)
{
	if (!is_clear(&w->found[kind]))
		put_hidden(w, name, kind, held, "no break was found");
	else if (last_of(w, kind) + held >= whole - 2)
		put_hidden(w, name, kind, held, "all schedulers together are full before");
	else
		put_found(w, name, kind, held, "");
}

/* Where each port has a scheduler of its own, some of these are full before others, as one cannot choose which has
 * what: of integers a little less waits than there is room for, and the size is a multiple of a port's. */
static void put_integers(struct window *w, double whole)
{
	double size = last_of(w, GUS_JAM_WAITING_ADD) + 1, port = last_of(w, GUS_JAM_WAITING_MULTIPLY);
	double most = port > 0 ? ceil(size / port) * port : size;
	double held = most - size <= port * 0.4 ? most - size + 1 : 1;

	put_part(w, "rs_int", GUS_JAM_WAITING_ADD, table_value(w, "rs_int_port") > 0 ? held : 1, whole);
}

/* Schedulers for integers and for vectors: with both by turns twice as many fit as of the one that is full first, or
 * there is a limit for all of them. */
static void put_parts(struct window *w)
{
	double integers = last_of(w, GUS_JAM_WAITING_ADD), vectors = last_of(w, GUS_JAM_WAITING_VECTOR);
	double both = last_of(w, GUS_JAM_WAITING_BOTH), whole = INFINITY;

	if (both > 0 && integers > 0 && vectors > 0 && both < 2 * fmin(integers, vectors) * 0.95) {
		whole = both + 3;
		put_found(w, "rs", GUS_JAM_WAITING_BOTH, 3, "");
	} else if (table_value(w, "rs") > 0) {
		put_hidden(w, "rs", GUS_JAM_WAITING_BOTH, 3, "its parts are full before");
	}
	put_integers(w, whole);
	/* What waits in a queue before the schedulers is behind the jam's next link, so the break is theirs alone. */
	if (table_value(w, "rs_vector_wait") > 0)
		put_hidden(w, "rs_vector", GUS_JAM_WAITING_VECTOR, 1, "and a queue before the schedulers has more");
	else
		put_part(w, "rs_vector", GUS_JAM_WAITING_VECTOR, 1, whole);
	if (table_value(w, "rs_int_port") > 0)
		put_part(w, "rs_int_port", GUS_JAM_WAITING_MULTIPLY, 0, whole);
}

static void settle_schedulers(struct window *w)
{
	if (!w->found[GUS_JAM_WAITING_ADD].asked)
		return;
	if (table_value(w, "rs_vector") > 0)
		put_parts(w);
	else
		put_whole(w, table_value(w, "rs_int") > 0 ? "rs_int" : "rs");
}

static void settle(struct window *w)
{
	settle_rob(w);
	settle_own(w, "load_buffer", GUS_JAM_LOAD, 1, 0);
	settle_own(w, "store_buffer", GUS_JAM_STORE, 0, 0);
	settle_schedulers(w);
	settle_registers(w, GUS_JAM_ADD, "int_renames", "int_registers",
			 1 + (chain_of(w, GUS_JAM_ADD) == GUS_JAM_OF_INTEGERS));
	settle_registers(w, GUS_JAM_XOR, "vector_renames", "vector_registers",
			 1 + (chain_of(w, GUS_JAM_XOR) == GUS_JAM_OF_VECTORS));
	settle_own(w, "renames", GUS_JAM_BOTH, 3, 0);
	if (w->found[GUS_JAM_BRANCH].asked)
		settle_branches(w);
}

/* Whether the subtraction at the end of a loop is fused with its branch, so far as that was found out, else as the
 * nearest table says. */
static bool fuses_end(const struct window *w)
{
	const struct gus_fit_param *found = gus_fit_get(w->f, "macro_fusion");
	const struct gus_uarch_param *p = gus_uarch_param(w->c->nearest, "macro_fusion");

	if (found && found->confidence > GUS_CONFIDENCE_LOW)
		return found->value >= FUSED_ADD;
	return p && p->value >= FUSED_ADD;
}

int gus_fit_window(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	struct window w = { .c = c, .f = f, .round = { .calibration = c } };
	struct wanted wanted[GUS_JAMS];
	int status = measure_paces(&w, err);

	w.end = fuses_end(&w) ? 1 : 2;
	if (status == 0)
		status = seek_kinds(&w, wanted, choose_kinds(&w, wanted), err);
	gus_round_free(&w.round);
	if (status != 0)
		return -1;
	settle(&w);
	tell(&w, "window", 1);
	return 0;
}
