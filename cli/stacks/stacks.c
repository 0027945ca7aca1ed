/* SPDX-License-Identifier: MIT */
#include "cli/stacks/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/accounts/account.h"
#include "attribution/profile/profile.h"
#include "attribution/proportional/groups.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "cli/common/naming.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/common/uarch_load.h"
#include "cli/model/expected.h"
#include "cli/model/output.h"
#include "cli/model/traced.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "proto/reader.h"
#include "proto/skid.h"

/* From each snapshot so many instructions are run, and of one trace so many: what retires together settles before. */
enum { WINDOW = 250000, MOST = 16 * WINDOW };
/* A self-test says where samples land if so many of them are there. Without one: what tests/accuracy/skid found on the
 * machines that were at hand. */
static const double CLEAR = 0.5, EARLY = 0.012;

struct stacks {
	const struct gus_stacks_how *how;
	struct gus_groups *groups;
	struct gus_core_config config;
	struct gus_cache_config caches;
};

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	struct stacks *s = context;

	return gus_groups_listen(s->groups, stream, program);
}

static void leave(void *context, uint32_t stream)
{
	struct stacks *s = context;

	gus_groups_leave(s->groups, stream);
}

/* Where samples of the event see time, and what people are told of that. */
static enum gus_spread_sight sight_of(const struct gus_profile *p, double *early, const char **text)
{
	const Gusprof__Header *h = p->header;
	struct gus_skid skid;
	uint64_t all;
	int distance;

	*early = EARLY;
	if (p->event < h->n_events && h->events[p->event]->precise) {
		*text = "samples are precise: each is at the next instruction that retired";
		return GUS_SPREAD_NEXT;
	}
	*text = "no self-test is in the recording: samples are taken to be at the first instruction behind the one "
		"that was waited for";
	if (!gus_profile_skid(p, &skid))
		return GUS_SPREAD_BEHIND;
	distance = gus_skid_distance(&skid, CLEAR);
	all = gus_skid_samples(&skid.counts[GUS_SKID_LOAD]);
	*early = all ? (double)skid.counts[GUS_SKID_LOAD].at[0] / (double)all : EARLY;
	*text = distance == 1 ? "by the recording's self-test samples are at the first instruction behind the one that "
		"was waited for" : distance == 0 ? "by the recording's self-test samples are where time was spent" :
		"by the recording's self-test samples are behind all that retired with what was waited for";
	return distance == 1 ? GUS_SPREAD_BEHIND : distance == 0 ? GUS_SPREAD_NEXT : GUS_SPREAD_INTERRUPT;
}

static int print(const struct stacks *s, const struct gus_profile *p, const struct gus_model_view *model)
{
	const Gusprof__Header *h = p->header;
	struct gus_account_options o = { .width = s->config.retire_width };
	struct gus_groups *none = gus_groups_new();
	struct gus_stacks_view v = { .how = s->how, .profile = p, .model = model,
		.event = p->event < h->n_events ? h->events[p->event]->name : "" };
	struct gus_account account;
	int rc = 0;

	o.sight = sight_of(p, &o.early, &v.sight);
	/* What was inferred from the samples themselves says nothing of where they belong. */
	gus_account_make(&account, p, model->traced, model->inferred ? none : s->groups, &o);
	v.account = &account;
	if (s->how->json)
		rc = gus_stacks_json(&v);
	else
		gus_stacks_text(&v);
	gus_account_free(&account);
	gus_groups_free(none);
	return rc;
}

/* In place of what gusprof model prints. */
static int show(void *context, const struct gus_model_view *model, struct gus_error *err)
{
	const struct stacks *s = context;
	char *path = gus_recording_path(s->how->input, err);
	struct gus_reader *reader = path ? gus_recording_open(path, err) : NULL;
	const Gusprof__Header *header = reader ? gus_reader_header(reader) : NULL;
	struct gus_symbols_options symbols = { .boot_id = header && header->host ? header->host->boot_id : NULL };
	struct gus_profile profile;
	int rc = -1;

	if (reader &&
	    gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &symbols, gus_cli_log(0), err) == 0) {
		rc = profile.samples ? print(s, &profile, model) :
			gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to show: %s has no sample",
				 gus_recording_name(s->how->input));
		gus_profile_free(&profile);
	}
	gus_reader_close(reader);
	free(path);
	return rc;
}

static int run(struct stacks *s, const struct gus_uarch *uarch, const char *path, struct gus_error *err)
{
	const struct gus_model_shower shower = { show, s };
	struct gus_model_output output = { .json = s->how->json };
	struct gus_model_expectation expectation = { .table = uarch->name, .engine = "core",
		.setting = "traced" };
	struct gus_model_traced m = {
		.uarch = uarch, .config = &s->config, .caches = &s->caches, .core = true, .all = true, .alone = true,
		.warm = true, .most = MOST, .input = s->how->input, .screen = s->how->screen, .output = &output,
		.expectation = &expectation, .shower = &shower, .silent = true,
		.listen = listen, .leave = leave, .listen_context = s,
	};
	const struct gus_model_process process = { .window = WINDOW, .replay = s->how->replay };
	int rc = gus_model_output_open(&output, err);

	if (rc == 0)
		rc = gus_model_output_begin(&output, err);
	if (rc == 0)
		rc = gus_model_trace(&m, &process, path, err);
	return gus_model_output_end(&output, rc, err);
}

int gus_stacks_report(const struct gus_stacks_how *how, struct gus_error *err)
{
	struct stacks s = { .how = how, .groups = gus_groups_new() };
	char *path = gus_recording_path(how->input, err);
	const char *name = path && !how->uarch ? gus_uarch_of_recording(path, how->input, err) : how->uarch;
	struct gus_uarch *uarch = path && name ? gus_uarch_load(name, 0, err) : NULL;
	int rc = -1;

	if (uarch) {
		gus_core_config_of(&s.config, uarch);
		gus_cache_config_of(&s.caches, uarch);
		rc = run(&s, uarch, path, err);
	}
	gus_uarch_free(uarch);
	gus_groups_free(s.groups);
	free(path);
	return rc;
}

static void take_text(const struct gus_traced *t, const struct gus_account_row *row, struct gus_stacks_name *out)
{
	const struct gus_traced_block *b = &t->blocks.v[row->block];
	struct gus_insn insn;

	if (!b->bytes)
		return;
	gus_insn_decode(t->isa, b->bytes + row->within, b->size - row->within, t->program->insns[row->insn].offset,
			&insn);
	snprintf(out->text, sizeof(out->text), "%s", insn.text);
}

void gus_stacks_name(const struct gus_stacks_view *v, const struct gus_account_row *row, struct gus_stacks_name *out)
{
	const struct gus_traced *t = v->model->traced;
	struct gus_name names[GUS_NAMES_MAX];
	struct gus_place place = row->place;

	*out = (struct gus_stacks_name){ .function = NULL };
	if (row->insn != GUS_ACCOUNT_NONE)
		take_text(t, row, out);
	for (size_t i = 0; row->insn != GUS_ACCOUNT_NONE && i < v->profile->cells.n; i++) {
		uint32_t module = v->profile->cells.v[i].place.module;

		if (strcmp(gus_space_module(v->profile->space, module)->path, row->module) != 0)
			continue;
		place = (struct gus_place){ .module = module, .offset = row->offset };
		break;
	}
	gus_symbols_names(v->profile->symbols, gus_space_module(v->profile->space, place.module), place.offset,
			  GUS_DEPTH_FUNCTION, names);
	out->function = names[0].function;
	out->start = names[0].start;
}
