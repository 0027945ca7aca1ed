/* SPDX-License-Identifier: MIT */
/* A sample's address is at the instruction that took the time, or some behind it; and each instruction of a hot loop is
 * executed as often as the one that waits. So what is weighed is not one address but the instructions before it as
 * well, and of those that are never near a sample nothing is asked. */
#include "cli/calibrate/recording.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/profile/annotation.h"
#include "attribution/profile/profile.h"
#include "attribution/profile/rows.h"
#include "base/error.h"
#include "base/index.h"
#include "cli/common/filter.h"
#include "cli/common/naming.h"
#include "cli/common/progress.h"
#include "cli/common/recording.h"
#include "proto/reader.h"

enum {
	FUNCTIONS = 256,        /* that are looked at, the hottest */
	SPREAD = 8,             /* instructions that a sample is for: the one that it names and those before */
	LONGEST = 16,           /* bytes of an instruction */
};
static const double least_share = 0.001; /* of a function; what has less does not matter to anybody */

struct collecting {
	struct gus_calibrate_insns *out;
	struct gus_profile profile;
	struct gus_view view;
	enum gus_isa isa;
	struct gus_index forms;         /* their hashes; numbers are those of the list */
};

static void add_insn(struct collecting *c, const struct gus_module *module, const struct gus_annotation_insn *insn,
		     double weight)
{
	uint8_t bytes[LONGEST], *kept;
	size_t n = insn->length && insn->length <= LONGEST ?
		gus_symbols_code(c->profile.symbols, module, insn->offset, bytes, insn->length, NULL) : 0;
	struct gus_insn_info info;
	uint32_t number;
	bool fresh;

	if (!n || n != insn->length || gus_insn_analyse(c->isa, bytes, n, &info) != n || !info.form)
		return;
	number = gus_index_add(&c->forms, &info.form, &fresh);
	if (!fresh) {
		c->out->list.v[number].weight += weight;
		return;
	}
	kept = gus_alloc(n);
	memcpy(kept, bytes, n);
	gus_vec_push(&c->out->code, kept);
	gus_vec_push(&c->out->list, (struct gus_calibration_insn){ kept, (uint32_t)n, weight });
}

static void add_function(struct collecting *c, const struct gus_row *row)
{
	struct gus_annotation a = { 0 };
	struct gus_error none = { 0 };
	double *weights;

	if (gus_annotation_make(&a, &c->profile, row, &none) != 0)
		return;
	weights = gus_zalloc((a.insns.n + 1) * sizeof(*weights));
	for (size_t i = 0; i < a.insns.n; i++)
		for (size_t k = 0; k < SPREAD && k <= i; k++)
			weights[i - k] += (double)a.insns.v[i].w.weight / SPREAD;
	for (size_t i = 0; i < a.insns.n; i++)
		if (weights[i] > 0 && !a.insns.v[i].aside)
			add_insn(c, a.module, &a.insns.v[i], weights[i]);
	c->out->told += row->share;
	free(weights);
	gus_annotation_free(&a);
}

static int by_weight(const void *left, const void *right)
{
	const struct gus_calibration_insn *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->size);
}

static int collect(struct collecting *c, const char *input, struct gus_error *err)
{
	if (!c->profile.samples)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot calibrate for %s: it has no samples", input);
	gus_view_make(&c->view, &c->profile, GUS_BY_FUNCTION, false);
	for (size_t i = 0; i < c->view.rows.n && i < FUNCTIONS && c->view.rows.v[i].share >= least_share; i++)
		if (c->view.rows.v[i].function && c->view.rows.v[i].has_offset)
			add_function(c, &c->view.rows.v[i]);
	gus_view_free(&c->view);
	if (!c->out->list.n)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot calibrate for %s: the code of what was sampled is not at "
				"hand; 'gusprof record --embed all' takes it along", input);
	qsort(c->out->list.v, c->out->list.n, sizeof(*c->out->list.v), by_weight);
	return 0;
}

static bool is_of(const Gusprof__Host *host, enum gus_isa isa)
{
	const char *machine = host ? host->machine : "";

	return !*machine || strcmp(machine, isa == GUS_ISA_ARM64 ? "aarch64" : "x86_64") == 0;
}

int gus_calibrate_recording(struct gus_calibrate_insns *insns, const char *input, enum gus_isa isa,
			    struct gus_progress *progress, const struct gus_log *log, struct gus_error *err)
{
	struct collecting c = { .out = insns, .isa = isa };
	struct gus_filter filter = { .heed = gus_progress_heed(progress) };
	struct gus_symbols_options symbols = { 0 };
	struct gus_reader *reader = gus_recording_open(input, err);
	const Gusprof__Header *header;
	char *build_ids;
	int rc = -1;

	*insns = (struct gus_calibrate_insns){ 0 };
	if (!reader)
		return -1;
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	symbols.build_ids = build_ids = gus_naming_build_ids(NULL);
	gus_index_init(&c.forms, sizeof(uint64_t));
	if (!is_of(header->host, isa)) {
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot calibrate for %s: it was recorded on a machine of another "
			 "kind (%s)", gus_recording_name(input), header->host->machine);
	} else if (gus_profile_load(&c.profile, reader, &filter, &symbols, log, err) == 0) {
		rc = collect(&c, gus_recording_name(input), err);
		gus_profile_free(&c.profile);
	}
	gus_progress_end(progress);
	gus_index_free(&c.forms);
	free(build_ids);
	gus_reader_close(reader);
	return rc;
}

void gus_calibrate_insns_free(struct gus_calibrate_insns *insns)
{
	for (size_t i = 0; i < insns->code.n; i++)
		free(insns->code.v[i]);
	gus_vec_free(&insns->code);
	gus_vec_free(&insns->list);
}
