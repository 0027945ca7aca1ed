/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/calibrate/sound.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"
#include "model/calibration/micro.h"
#include "model/calibration/written.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/golden/host.h"
#include "tests/accuracy/golden/machine.h"
#include "tests/accuracy/golden/replay.h"

/* What a parameter is, and how near its figure has to be. */
enum kind { LATENCY, THROUGHPUT, SIZE, WIDTH, RULE, KINDS };
static const struct { const char *name; double near; } kinds[KINDS] = { [LATENCY] = { "latencies within 3 %", 0.03 },
	[THROUGHPUT] = { "throughputs within 3 %", 0.03 },
	[SIZE] = { "sizes within 2 %", 0.02 }, [WIDTH] = { "widths exact", 0 }, [RULE] = { "rules exact", 0 } };

static enum kind kind_of(enum gus_uarch_unit unit)
{
	static const enum kind of[GUS_UNIT_COUNT] = { [GUS_UNIT_UOPS] = WIDTH, [GUS_UNIT_INSTRUCTIONS] = WIDTH,
		[GUS_UNIT_PER_CYCLE] = WIDTH, [GUS_UNIT_CYCLES] = LATENCY, [GUS_UNIT_NS] = LATENCY,
		[GUS_UNIT_ENTRIES] = SIZE, [GUS_UNIT_WAYS] = SIZE, [GUS_UNIT_BYTES] = SIZE, [GUS_UNIT_KIB] = SIZE,
		[GUS_UNIT_FLAG] = RULE, [GUS_UNIT_POLICY] = RULE };

	return of[unit];
}

/* Counted in uops, and sizes all the same. */
static enum kind kind_of_param(const struct gus_uarch_param_kind *p)
{
	static const char *const sizes[] = { "uop_cache_size", "queue_size", "loop_buffer" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (strcmp(sizes[i], p->name) == 0)
			return SIZE;
	return kind_of(p->unit);
}

struct tally { unsigned right, wrong, wide, withheld; };

/* What was fitted. */
struct claim { double value, low, high; enum gus_confidence confidence; };

/* "right"; "wide" where the interval says as much, "WRONG" else; "-" for what claims nothing. */
static const char *judge(struct tally *t, enum kind kind, double truth, const struct claim *c)
{
	if (c->confidence < GUS_CONFIDENCE_MEDIUM || isnan(c->value)) {
		t[kind].withheld++;
		return "-";
	}
	if (fabs(c->value - truth) <= kinds[kind].near * fabs(truth) + 1e-6) {
		t[kind].right++;
		return "right";
	}
	if (c->low <= truth && truth <= c->high) {
		t[kind].wide++;
		return "wide";
	}
	t[kind].wrong++;
	return "WRONG";
}

/* Parameters. */

static const struct gus_uarch_param_kind *param_kind(const char *name)
{
	const struct gus_uarch_param_kind *k = gus_uarch_params;

	while (k->name && strcmp(k->name, name) != 0)
		k++;
	return k;
}

static double latency_of_load(const struct golden_machine *m, const char *bytes, size_t size)
{
	struct gus_insn_info info;
	const struct gus_uarch_row *row = gus_insn_analyse(m->uarch->isa, bytes, size, &info) ?
		gus_uarch_row(m->uarch, info.form) : NULL;

	return row ? row->loadlat / 100. : (double)NAN;
}

/* What the engine has by that name where the table is silent; NAN: nothing. */
static double setting_of(const struct gus_core_config *c, const char *name)
{
#define X(setting) { #setting, c->setting },
	const struct { const char *name; uint32_t value; } settings[] = { GUS_CORE_SETTINGS(X) };
#undef X

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (strcmp(settings[i].name, name) == 0 && settings[i].value)
			return settings[i].value;
	return (double)NAN;
}

/* What the machine does. How long a load takes is said by its row, not by a parameter, but of those whose address is
 * simple where they are faster (model/code/program_chase.c). What the machine does not say is as something else, or as
 * the engine has it. */
static double truth_of(const struct golden_machine *m, const char *name)
{
	static const struct { const char *name, *bytes; } loads[] = { { "l1d_latency", "\x48\x8b\x06" },
		{ "l1d_latency_indexed", "\x48\x8b\x06" }, { "l1d_latency_vector", "\x0f\x10\x06" } };
	static const struct { const char *name, *as; } silent[] = { { "store_forward_vector", "store_forward_latency" },
		{ "store_forward_computed", "store_forward_latency" } };
	double truth = gus_uarch_value(m->uarch, name, (double)NAN);

	for (size_t i = 0; m->uarch->isa == GUS_ISA_X86_64 && i < sizeof(loads) / sizeof(*loads); i++)
		if (strcmp(loads[i].name, name) == 0 && (i || !(gus_uarch_value(m->uarch, loads[1].name, 0) > truth)))
			return latency_of_load(m, loads[i].bytes, 3);
	for (size_t i = 0; isnan(truth) && i < sizeof(silent) / sizeof(*silent); i++)
		if (strcmp(silent[i].name, name) == 0)
			return truth_of(m, silent[i].as);
	if (isnan(truth))
		truth = setting_of(&m->config, name);
	/* The first word of a rule is that nothing is special. */
	return isnan(truth) && kind_of(param_kind(name)->unit) == RULE ? 0 : truth;
}

static void print_param(const struct golden_machine *m, const struct gus_fit_param *p, struct tally *tally)
{
	const struct gus_uarch_param_kind *k = param_kind(p->name);
	double truth = truth_of(m, p->name);
	const char *verdict = "?";

	if (k->name && !isnan(truth))
		verdict = judge(tally, kind_of_param(k), truth,
				&(struct claim){ p->value, p->low, p->high, p->confidence });
	printf("%s\t%g\t%g\t%g..%g\t%s\t%.1f%%\t%s\t%s\n", p->name, truth, p->value, p->low, p->high,
	       gus_confidence_name(p->confidence), 100 * (p->value - truth) / truth, verdict, p->why);
}

static void print_params(const struct golden_machine *m, const struct gus_fit *fit, struct tally *tally)
{
	const struct gus_uarch *u = m->uarch;

	printf("# parameter\ttruth\tfitted\tinterval\tconfidence\tapart\tverdict\twhy\n");
	for (size_t i = 0; i < fit->params.n; i++)
		print_param(m, &fit->params.v[i], tally);
	printf("# not fitted:");
	for (uint32_t i = 0; i < u->params_n; i++) {
		const char *name = gus_uarch_params[u->params[i].kind].name;

		if (!gus_fit_get(fit, name) && gus_uarch_param_is_asked(name))
			printf(" %s", name);
	}
	printf("\n");
}

/* Forms. */

/* Whether a row says by itself how long its form takes: it computes with one uop, or none. Where several take part it
 * depends on operands and on how an engine cuts it; and moves and sums with constants follow rules. */
static bool is_plain(const struct gus_uarch_row *row, const char *form)
{
	static const char *const ruled[] = { "MOV", "VMOV", "ADD (R64, I8)", "LEA_B_D8" };

	for (size_t i = 0; i < sizeof(ruled) / sizeof(*ruled); i++)
		if (strncmp(form, ruled[i], strlen(ruled[i])) == 0 && !row->loadlat)
			return false;
	return row->uops <= (row->loadlat ? 2u : 1u) && !row->pairs_n && !row->microcoded && !row->least;
}

/* By its ports and units, by what stores commit, and no faster than it is issued: its uops apart, or fused to one. */
static double throughput_of(const struct gus_uarch *u, const struct gus_uarch_row *row, const char *form, double fitted)
{
	double ports = gus_uarch_throughput(u, row), width = gus_uarch_value(u, "issue_width", 4);

	if (strstr(form, " (M"))
		ports = fmax(ports, 1 / gus_uarch_value(u, "l1d_stores", 1));
	return fmax(fmax(ports, 1 / width), fmin(row->uops / width, fitted));
}

static void print_form(const struct gus_uarch *u, const struct gus_fit_form *f, struct tally *tally)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(u, f->form);
	const struct gus_uarch_row *row = form && form->row != GUS_UARCH_NONE ? &u->rows[form->row] : NULL;
	const struct claim latency = { f->latency, f->latency_low, f->latency_high,
		f->latency_confidence };
	const struct claim load = { f->load_latency, f->load_latency, f->load_latency,
		f->latency_confidence };
	const struct claim apart = { f->throughput, f->throughput, f->throughput, f->confidence };
	const char *verdicts[3] = { "?", "?", "?" };
	double throughput;

	if (!row)
		return;
	throughput = throughput_of(u, row, f->form, f->throughput);
	if (!isnan(f->latency) && is_plain(row, f->form))
		verdicts[0] = judge(tally, LATENCY, row->latency / 100., &latency);
	if (!isnan(f->load_latency) && row->loadlat && is_plain(row, f->form))
		verdicts[1] = judge(tally, LATENCY, row->loadlat / 100., &load);
	if (!isnan(f->throughput))
		verdicts[2] = judge(tally, THROUGHPUT, throughput, &apart);
	printf("%s\t%g %g %s\t%g %g %s\t%g %g %s\t%s\t%.3f\t%s\t%s\n", f->form, row->latency / 100., f->latency,
	       verdicts[0], row->loadlat / 100., f->load_latency, verdicts[1], throughput, f->throughput, verdicts[2],
	       gus_confidence_name(f->confidence), f->residual, f->uses, f->why);
}

static void print_forms(const struct gus_uarch *u, const struct gus_fit *fit, struct tally *tally)
{
	if (fit->forms.n)
		printf("# form\tlatency: truth, fitted\tfrom address\tthroughput\tconfidence\tresidual\tuses\twhy\n");
	for (size_t i = 0; i < fit->forms.n; i++)
		print_form(u, &fit->forms.v[i], tally);
}

/* The table to begin from. */

static bool is_like(const struct gus_uarch *u, const char *name)
{
	bool like = strcmp(u->name, name) == 0;

	for (uint32_t i = 0; i < u->likes_n; i++)
		like |= strcmp(u->likes[i], name) == 0;
	return like;
}

/* Forms of which both say the same. */
static unsigned forms_alike(const struct gus_uarch *a, const struct gus_uarch *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < a->forms_n; i++) {
		const struct gus_uarch_form *f = &a->forms[i];
		const struct gus_uarch_row *x = f->row == GUS_UARCH_NONE ? NULL : &a->rows[f->row];
		const struct gus_uarch_row *y = gus_uarch_row(b, f->hash);

		n += x && y && x->latency == y->latency && x->uops == y->uops && x->loadlat == y->loadlat;
	}
	return n;
}

static struct gus_uarch *nearest_of(const struct gus_uarch *u, struct gus_error *err)
{
	struct gus_uarch *nearest = NULL;
	unsigned most = 0;
	const char *name;

	for (size_t i = 0; (name = gus_uarch_builtin_name(i)); i++) {
		struct gus_uarch *other = is_like(u, name) || strncmp(name, "ufs-", 4) == 0 ? NULL :
			gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, 0, err);
		unsigned alike = other && other->isa == u->isa ? forms_alike(u, other) : 0;

		if (alike <= most) {
			gus_uarch_free(other);
			continue;
		}
		gus_uarch_free(nearest);
		nearest = other;
		most = alike;
	}
	if (!nearest)
		gus_fail(err, GUS_E_NOT_FOUND, "no table is near %s", u->name);
	return nearest;
}

/* The fits, in the order of `gusprof calibrate`: the front end first, as others ask what issues in a cycle. */

static const struct {
	const char *name;
	int (*fit)(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);
} fits[] = {
	{ "front", gus_fit_front }, { "forms", gus_fit_forms }, { "window", gus_fit_window },
	{ "penalties", gus_fit_penalties }, { "memory", gus_fit_memory },
};

struct run {
	const struct golden_calibrate_options *o;
	struct gus_uarch *nearest;
	struct golden_host golden;
	struct golden_replay replay;
	struct gus_fit fit;
};

static void micro_has_run(void *context, const struct gus_micro *k, double cycles)
{
	struct run *r = context;

	if (r->o->each)
		printf("# %s\t%.4f\n", k->name, cycles);
	if (r->o->replay)
		golden_replay_keep(&r->replay, k, cycles);
}

/* Whether a name is among those, which commas separate. */
static bool is_among(const char *names, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = names; at; at = strchr(at, ','), at += at != NULL)
		if (strncmp(at, name, size) == 0 && (!at[size] || at[size] == ','))
			return true;
	return false;
}

static int run_fits(struct run *r, const struct gus_calibration *c, struct gus_error *err)
{
	const char *only = r->o->only;
	bool any = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(fits) / sizeof(*fits); i++) {
		const struct golden_host_spent before = r->golden.spent, *spent = &r->golden.spent;

		if (only && !is_among(only, fits[i].name))
			continue;
		any = true;
		rc = fits[i].fit(c, &r->fit, err);
		printf("# %s: %" PRIu64 " microbenchmarks, %.1f million cycles, %.1f s\n", fits[i].name,
		       spent->micros - before.micros, (double)(spent->cycles - before.cycles) / 1e6,
		       spent->seconds - before.seconds);
	}
	return any ? rc : gus_fail(err, GUS_E_USAGE, "there is no fit called %s", only);
}

static void print_summary(const struct tally tally[KINDS])
{
	for (unsigned k = 0; k < KINDS; k++)
		printf("# %s: %u of %u, %u more are in a wide interval, and %u not told\n", kinds[k].name,
		       tally[k].right, tally[k].right + tally[k].wrong, tally[k].wide, tally[k].withheld);
}

/* The same with a table that says what was found, and with the one that it began from. */
static int replay(struct run *r, const char *text, size_t size, struct gus_error *err)
{
	struct golden_machine *before = golden_machine_of(r->nearest->name, err), *after = before ?
		golden_machine_of_table(gus_uarch_parse("calibrated", text, size, &gus_uarch_builtin, 0, err), err) :
		NULL;
	int rc = after ? golden_replay_print(&r->replay, r->nearest->name, before, err) : -1;

	if (rc == 0)
		rc = golden_replay_print(&r->replay, "calibrated", after, err);
	golden_machine_free(before);
	golden_machine_free(after);
	return rc;
}

static int write_table(const char *path, const char *text, size_t size, struct gus_error *err)
{
	FILE *f = fopen(path, "we");

	if (!f || (fwrite(text, 1, size, f) != size) | (fclose(f) != 0))
		return gus_fail_errno(err, errno, "cannot write %s", path);
	return 0;
}

/* The table that says what was found: what makes no machine with the rest of it is taken back first, and after the
 * figures have been judged, since those are what the fits say. */
static int use_table(struct run *r, struct gus_error *err)
{
	char *host = gus_format("machine %s", r->o->machine->uarch->name), *text = NULL;
	const struct gus_calibration_about about = { .nearest = r->nearest, .host = host,
		.how = r->o->quick ? "gusprof-golden calibrate --quick" : "gusprof-golden calibrate" };
	size_t size = 0;
	int rc = gus_calibrate_sound(&about, &r->fit, err);

	if (rc == 0)
		text = gus_calibration_text(&about, &r->fit, &size);
	if (rc == 0 && r->o->write)
		rc = write_table(r->o->write, text, size, err);
	if (rc == 0 && r->o->replay)
		rc = replay(r, text, size, err);
	free(text);
	free(host);
	return rc;
}

static void print_machine(const struct run *r)
{
	const struct golden_machine *m = r->o->machine;

	printf("# %s, made from %s, traits:", m->uarch->name, m->uarch->likes_n ? m->uarch->likes[0] : "itself");
	for (unsigned i = 0; i < GOLDEN_TRAITS; i++)
		if (golden_traits_bits(m->traits) >> i & 1)
			printf(" %s", golden_trait_names[i]);
	printf("\n# begins from %s\n", r->nearest->name);
}

static int calibrate(struct run *r, struct gus_error *err)
{
	struct gus_calibration_host host;
	const struct gus_calibration c = { .host = &host, .nearest = r->nearest,
		.depth = r->o->quick ? GUS_CALIBRATION_QUICK : GUS_CALIBRATION_FULL };
	struct tally tally[KINDS] = { { 0 } };
	int rc;

	golden_host_open(&r->golden, r->o->machine, &host);
	r->golden.ran = micro_has_run;
	r->golden.ran_context = r;
	print_machine(r);
	rc = run_fits(r, &c, err);
	print_params(r->o->machine, &r->fit, tally);
	print_forms(r->o->machine->uarch, &r->fit, tally);
	print_summary(tally);
	return rc == 0 && (r->o->replay || r->o->write) ? use_table(r, err) : rc;
}

int golden_calibrate(const struct golden_calibrate_options *o, struct gus_error *err)
{
	struct run r = { .o = o, .nearest = o->nearest ?
		gus_uarch_parse(o->nearest, NULL, 0, &gus_uarch_builtin, 0, err) : nearest_of(o->machine->uarch, err) };
	int rc = r.nearest ? calibrate(&r, err) : -1;

	golden_replay_end(&r.replay);
	gus_fit_free(&r.fit);
	gus_uarch_free(r.nearest);
	return rc;
}
