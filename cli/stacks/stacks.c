/* SPDX-License-Identifier: MIT */
#include "cli/stacks/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/accounts/account.h"
#include "attribution/accounts/clues.h"
#include "attribution/proportional/groups.h"
#include "attribution/routes/routes.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "base/heed.h"
#include "cli/common/calibrated.h"
#include "cli/common/naming.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/common/uarch_load.h"
#include "cli/model/expected.h"
#include "cli/model/output.h"
#include "cli/model/traced.h"
#include "cli/stacks/kept.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "proto/reader.h"
#include "symbolizer/insn/insn.h"
#include "symbolizer/space/space.h"

/* From each snapshot so many instructions are run, and of one trace so many: what retires together settles before. */
enum { WINDOW = 250000, MOST = 16 * WINDOW };
/* And of each so many cycles, and of all: what always waits for memory takes long to run, and does the same again and
 * again. */
enum { CYCLES = 4000000, ALL_CYCLES = 10 * CYCLES };

/* One of the two runs of the traces, with warm caches and with cold ones: what their threads are to the groups. */
struct run { struct gus_groups *groups; uint32_t first; bool supposed; };

struct stacks {
	const struct gus_stacks_how *how;
	struct gus_groups *groups;
	struct run warm, cold;
	struct gus_core_config config;
	struct gus_cache_config caches;
	const struct gus_uarch *uarch;
	struct gus_stacks_kept *kept;   /* NULL: nothing is */
	const char *path;               /* of the recording, which may have come by a pipe */
	bool shown;
};

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	const struct run *run = context;
	const struct gus_core_listener *l = gus_groups_listen(run->groups, run->first + stream, program);

	if (run->supposed)
		gus_groups_suppose(run->groups, run->first + stream);
	return l;
}

static void leave(void *context, uint32_t stream)
{
	const struct run *run = context;

	gus_groups_leave(run->groups, run->first + stream);
}

/* What of the time stays where it was seen, by whose code it is. */
static void split_left(struct gus_stacks_view *v)
{
	const struct gus_account *a = v->account;

	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_place *p = &a->places.v[a->cells.v[i].place];
		const struct gus_module *m = p->place.module == GUS_CLUE_NONE ? NULL :
			gus_space_module(v->clues->profile.space, p->place.module);

		if (a->cells.v[i].moved)
			continue;
		if (m && m->kind == GUS_MODULE_KERNEL)
			v->kernel += a->cells.v[i].weight;
		else if (!p->executed)
			v->unexecuted += a->cells.v[i].weight;
	}
}

const struct gus_sum_row *gus_stacks_modelled(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	return v->modelled ? gus_sums_find(v->modelled, row) : NULL;
}

/* What the command has become: a wrapper that executes it is none of it. */
static const char *program_of(const struct gus_clues *clues)
{
	const Gusprof__Header *h = clues->profile.header;
	uint32_t number = strcmp(h->target, "command") == 0 && h->n_targets ?
		gus_space_program(clues->profile.space, h->targets[0]) : GUS_INDEX_NONE;

	return number == GUS_INDEX_NONE ? NULL : gus_space_module(clues->profile.space, number)->path;
}

static void tell_ran(const struct gus_model_view *model, struct gus_stacks_ran *ran)
{
	*ran = (struct gus_stacks_ran){ .partly = model->traced->thinned, .left_out = model->traced->cut_instructions };
	if (!model->windows)
		return;
	ran->windows = true;
	ran->taken = model->windows->taken;
	ran->failed = model->windows->failed;
	snprintf(ran->first, sizeof(ran->first), "%.255s", model->windows->first.text);
}

/* ran: NULL: nothing was; why: for people. */
static void print(const struct stacks *s, const struct gus_clues *clues, const struct gus_stacks_accounts *of,
		  const struct gus_stacks_ran *ran, const char *why)
{
	const Gusprof__Header *h = clues->profile.header;
	struct gus_sums sums, all, modelled;
	struct gus_stacks_view v = { .how = s->how, .clues = clues, .account = &of->account, .ran = ran, .why = why,
		.program = program_of(clues), .uarch = ran ? s->uarch : NULL, .width = s->config.retire_width,
		.sums = &sums,
		.modelled = of->vs_model && s->how->unit < GUS_SUM_THREAD ? &modelled : NULL,
		.event = clues->profile.event < h->n_events ? h->events[clues->profile.event]->name : "" };

	gus_sums_make(&sums, &of->account, s->how->unit);
	gus_sums_make(&all, &of->account, GUS_SUM_ALL);
	v.all = &all.rows.v[0];
	if (v.modelled)
		gus_sums_make(&modelled, &of->modelled, s->how->unit);
	split_left(&v);
	if (s->how->take)
		s->how->take(s->how->take_context, &v);
	else if (s->how->json)
		gus_stacks_json(&v); /* what cannot be written is told at the end, as of all output */
	else if (s->how->csv)
		gus_stacks_csv(&v);
	else
		gus_stacks_text(&v);
	if (v.modelled)
		gus_sums_free(&modelled);
	gus_sums_free(&sums);
	gus_sums_free(&all);
}

/* What traces have made the model do: all at once, or as it was found out before. */
static bool make(const struct stacks *s, const struct gus_clues *clues, const struct gus_groups *groups,
		 const struct gus_model_view *model, struct gus_stacks_accounts *of, struct gus_stacks_ran *ran)
{
	*of = (struct gus_stacks_accounts){ .vs_model = false };
	if (!model && gus_stacks_kept_has(s->kept))
		return gus_stacks_kept_take(s->kept, clues, of, ran);
	gus_account_make(&of->account, clues, groups, s->config.retire_width);
	if (model)
		tell_ran(model, ran);
	of->vs_model = s->how->vs_model && groups && of->account.explained;
	if (of->vs_model)
		gus_account_of_model(&of->modelled, &of->of_model, &of->account, groups);
	if (groups)
		gus_stacks_kept_put(s->kept, of, ran);
	return true;
}

static void weigh_modules(struct gus_naming *n, const struct gus_clues *clues)
{
	uint32_t modules = gus_space_modules(clues->profile.space);
	uint64_t *weights = gus_zalloc(modules * sizeof(*weights));

	for (size_t i = 0; i < clues->time.n; i++)
		weights[clues->places.v[clues->time.v[i].place].place.module] += clues->time.v[i].weight;
	gus_naming_weigh(n, clues->profile.space, weights, modules, clues->weight);
	free(weights);
}

/* Of the recording, with what its traces made the model do. kept: that was found out before; 1: it was not. */
static int account(struct stacks *s, const struct gus_groups *groups, const struct gus_model_view *model, bool kept,
		   const char *why, struct gus_error *err)
{
	struct gus_reader *reader = gus_recording_open(s->path, err);
	const Gusprof__Header *header = reader ? gus_reader_header(reader) : NULL;
	struct gus_symbols_options symbols = s->how->symbols ? *s->how->symbols : (struct gus_symbols_options){ 0 };
	const struct gus_error *failure;
	struct gus_stacks_accounts of;
	struct gus_stacks_ran ran;
	struct gus_clues clues;
	int rc = -1;

	gus_heed_tell(s->how->heed, NULL, 1); /* as reading it may give warnings */
	symbols.boot_id = header && header->host ? header->host->boot_id : NULL;
	if (s->how->naming) {
		symbols.cache = gus_naming_cache(s->how->naming);
		symbols.fetch = gus_naming_fetch(s->how->naming);
	}
	if (reader && gus_clues_read(&clues, reader, &symbols, model ? model->traced : NULL, s->how->log,
				     err) == 0) {
		if (s->how->naming)
			weigh_modules(s->how->naming, &clues);
		clues.heed = s->how->heed;
		clues.nominal = (model || kept) && !gus_calibrated_file(s->uarch);
		rc = clues.samples ? 0 : gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to show: %s has no sample",
						  gus_recording_name(s->how->input));
		if (rc == 0 && !make(s, &clues, groups, model, &of, &ran))
			rc = 1;
		s->shown = rc <= 0;
		gus_heed_tell(s->how->heed, NULL, 1);
		if (s->shown)
			s->how->tell(&clues.profile.damage);
		if (rc == 0) {
			print(s, &clues, &of, model || kept ? &ran : NULL, why);
			gus_stacks_accounts_free(&of);
		}
		failure = gus_symbols_failure(clues.profile.symbols);
		if (rc == 0 && failure) {
			*err = *failure;
			rc = -1;
		}
		gus_clues_free(&clues);
	} else {
		s->shown = true;
	}
	gus_reader_close(reader);
	return rc;
}

/* In place of what gusprof model prints. Routes that were inferred from samples say nothing of where these belong;
 * those that branch stacks tell were executed. */
static int show(void *context, const struct gus_model_view *model, struct gus_error *err)
{
	struct stacks *s = context;

	if (model->inferred && model->inferred->source != GUS_ROUTES_STACKS)
		return account(s, NULL, model, false, "the recording has no windows of it (record makes some, or says "
			       "why not)", err);
	gus_account_doubt(s->groups, model->traced);
	return account(s, s->groups, model, false, NULL, err);
}

static int run(struct stacks *s, const struct gus_uarch *uarch, const char *path, struct gus_error *err)
{
	const struct gus_model_shower shower = { show, s };
	struct gus_model_output output = { .json = s->how->json };
	struct gus_model_expectation expectation = { .table = uarch->name, .engine = "core",
		.setting = "traced" };
	struct gus_model_traced m = {
		.uarch = uarch, .config = &s->config, .caches = &s->caches, .core = true, .all = true, .alone = true,
		.warm = true, .executed_only = true, .window_cycles_most = CYCLES, .cycles_most = ALL_CYCLES,
		.most = MOST,
		.input = s->how->input, .screen = s->how->screen, .output = &output,
		.expectation = &expectation, .shower = &shower, .silent = true,
		.listen = listen, .leave = leave, .listen_context = &s->warm, .cold_context = &s->cold,
		.heed = s->how->heed,
	};
	const struct gus_model_process process = { .window = WINDOW, .replay = s->how->replay };
	int rc = gus_model_output_open(&output, err);

	if (rc == 0)
		rc = gus_model_output_begin(&output, err);
	if (rc == 0)
		rc = gus_model_trace(&m, &process, path, err);
	return gus_model_output_end(&output, rc, err);
}

/* What keeps the traces from being run is told beside what there is without them, unless it is about the table that the
 * user has named, or may be otherwise another time. */
static int without(struct stacks *s, int rc, struct gus_error *err)
{
	const struct gus_error why = *err;

	if (rc == 0 || s->shown || (why.code == GUS_E_USAGE && s->how->uarch) || gus_error_is_transient(err))
		return rc;
	*err = (struct gus_error){ 0 };
	return account(s, NULL, NULL, false, why.text, err);
}

static struct gus_stacks_kept *open_kept(const struct gus_stacks_how *how, const char *path,
					 const struct gus_uarch *uarch)
{
	const struct gus_stacks_asked asked = { path, uarch->digest, how->replay, how->vs_model };
	const char *folder = how->naming ? gus_naming_cache(how->naming) : NULL;

	return folder ? gus_stacks_kept_open(folder, &asked, how->log) : NULL;
}

int gus_stacks_report(const struct gus_stacks_how *how, struct gus_error *err)
{
	struct stacks s = { .how = how, .groups = gus_groups_new() };
	char *path = gus_recording_path(how->input, err);
	const char *name = path && !how->uarch ? gus_uarch_of_recording(path, how->input, err) : how->uarch;
	struct gus_uarch *uarch = path && name ? gus_uarch_load(name, 0, err) : NULL;
	int rc = -1;

	s.path = path;
	s.warm = (struct run){ s.groups, 0, false };
	s.cold = (struct run){ s.groups, 1u << 31, true };
	if (uarch) {
		gus_core_config_of(&s.config, uarch);
		gus_cache_config_of(&s.caches, uarch);
		s.uarch = uarch;
		s.kept = open_kept(how, path, uarch);
		rc = gus_stacks_kept_has(s.kept) ? account(&s, NULL, NULL, true, NULL, err) : 1;
		if (rc > 0) {
			gus_stacks_kept_forget(s.kept);
			rc = run(&s, uarch, path, err);
		}
	}
	if (path && (uarch || !how->uarch))
		rc = without(&s, rc, err);
	gus_stacks_kept_close(s.kept);
	gus_uarch_free(uarch);
	gus_groups_free(s.groups);
	free(path);
	return rc;
}

/* NULL: the row is of no one instruction. */
static const struct gus_account_place *place_of(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	return v->how->unit == GUS_SUM_INSTRUCTION && row->place != GUS_CLUE_NONE ?
		&v->account->places.v[row->place] : NULL;
}

void gus_stacks_insn(const struct gus_stacks_view *v, const struct gus_sum_row *row, struct gus_insn *insn)
{
	const struct gus_account_place *p = place_of(v, row);

	*insn = (struct gus_insn){ 0 };
	if (p && p->size)
		gus_insn_decode(v->account->isa, p->code, p->size, p->address, insn);
}

const char *gus_stacks_cause_of(const struct gus_stacks_view *v, const struct gus_sum_row *row,
				const struct gus_component *what)
{
	const struct gus_account_place *p = place_of(v, row);

	return p ? gus_account_cause_name(gus_account_cause_of(&p->causes, what)) : NULL;
}
