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
#include "cli/common/calibrated.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/common/uarch_load.h"
#include "cli/model/expected.h"
#include "cli/model/output.h"
#include "cli/model/traced.h"
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

/* What the model alone has. */
struct modelled {
	struct gus_clues clues;
	struct gus_account account;
	struct gus_sums sums;
};

static void modelled_make(struct modelled *m, const struct gus_account *a, const struct gus_groups *groups,
			  enum gus_sum_unit unit)
{
	gus_account_of_model(&m->account, &m->clues, a, groups);
	gus_sums_make(&m->sums, &m->account, unit);
}

static void modelled_free(struct modelled *m)
{
	gus_sums_free(&m->sums);
	gus_account_free(&m->account);
}

const struct gus_sum_row *gus_stacks_modelled(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	return v->modelled ? gus_sums_find(v->modelled, row) : NULL;
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

static void print(const struct stacks *s, const struct gus_clues *clues, const struct gus_groups *groups,
		 const struct gus_model_view *model, const char *why)
{
	const Gusprof__Header *h = clues->profile.header;
	struct gus_stacks_ran ran;
	struct gus_stacks_view v = { .how = s->how, .clues = clues, .ran = model ? &ran : NULL,
		.uarch = model ? model->model->uarch : NULL, .why = why, .width = s->config.retire_width,
		.event = clues->profile.event < h->n_events ? h->events[clues->profile.event]->name : "" };
	struct gus_account account;
	struct modelled modelled;
	struct gus_sums sums, all;

	if (model)
		tell_ran(model, &ran);
	gus_account_make(&account, clues, groups, s->config.retire_width);
	gus_sums_make(&sums, &account, s->how->unit);
	gus_sums_make(&all, &account, GUS_SUM_ALL);
	v.account = &account;
	split_left(&v);
	v.sums = &sums;
	v.all = &all.rows.v[0];
	if (s->how->vs_model && groups && account.explained && s->how->unit < GUS_SUM_THREAD) {
		modelled_make(&modelled, &account, groups, s->how->unit);
		v.modelled = &modelled.sums;
	}
	if (s->how->take)
		s->how->take(s->how->take_context, &v);
	else if (s->how->json)
		gus_stacks_json(&v); /* what cannot be written is told at the end, as of all output */
	else if (s->how->csv)
		gus_stacks_csv(&v);
	else
		gus_stacks_text(&v);
	if (v.modelled)
		modelled_free(&modelled);
	gus_sums_free(&sums);
	gus_sums_free(&all);
	gus_account_free(&account);
}

/* Of the recording, with what its traces made the model do. */
static int account(struct stacks *s, const struct gus_groups *groups, const struct gus_model_view *model,
		   const char *why, struct gus_error *err)
{
	struct gus_reader *reader = gus_recording_open(s->path, err);
	const Gusprof__Header *header = reader ? gus_reader_header(reader) : NULL;
	struct gus_symbols_options symbols = s->how->symbols ? *s->how->symbols : (struct gus_symbols_options){ 0 };
	const struct gus_error *failure;
	struct gus_clues clues;
	int rc = -1;

	s->shown = true;
	symbols.boot_id = header && header->host ? header->host->boot_id : NULL;
	if (reader && gus_clues_read(&clues, reader, &symbols, model ? model->traced : NULL, s->how->log,
				     err) == 0) {
		clues.nominal = model && !gus_calibrated_file(model->model->uarch);
		s->how->tell(&clues.profile.damage);
		rc = clues.samples ? 0 : gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to show: %s has no sample",
						  gus_recording_name(s->how->input));
		if (rc == 0)
			print(s, &clues, groups, model, why);
		failure = gus_symbols_failure(clues.profile.symbols);
		if (rc == 0 && failure) {
			*err = *failure;
			rc = -1;
		}
		gus_clues_free(&clues);
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
		return account(s, NULL, model, "the recording has no windows of it (record makes some, or says "
			       "why not)", err);
	gus_account_doubt(s->groups, model->traced);
	return account(s, s->groups, model, NULL, err);
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
	return account(s, NULL, NULL, why.text, err);
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
		rc = run(&s, uarch, path, err);
	}
	if (path && (uarch || !how->uarch))
		rc = without(&s, rc, err);
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
