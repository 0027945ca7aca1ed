/* SPDX-License-Identifier: MIT */
#include "cli/model/rates.h"

#include <string.h>

#include "attribution/observed/observed.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "proto/reader.h"

/* Why a recording that was named has none: the first of its events that hardware's records come from says. */
static int fail_without(const struct gus_observed *o, const Gusprof__Header *header, const char *name,
			struct gus_error *err)
{
	for (uint32_t i = 0; i < header->n_events; i++)
		if (gus_observed_why_not(o, i))
			return gus_fail(err, GUS_E_NOT_FOUND, "cannot take rates of %s: of its event %s, %s", name,
					header->events[i]->name, gus_observed_why_not(o, i));
	return gus_fail(err, GUS_E_NOT_FOUND, "cannot take rates of %s: none of its samples says where an access hit, "
			"or whether a branch was mispredicted", name);
}

static int load(struct gus_model_traced *m, const char *path, const struct gus_rights *rights, bool asked,
		struct gus_error *err)
{
	struct gus_reader *reader = gus_recording_open(path, err);
	struct gus_symbols_options symbols = { .rights = rights };
	struct gus_observed_totals totals;
	const Gusprof__Header *header;
	int rc = -1;

	if (!reader)
		return -1;
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	m->observed = gus_observed_new();
	if (gus_observed_add(m->observed, reader, &symbols, gus_cli_log(0), err) == 0) {
		gus_observed_settle(m->observed);
		totals = gus_observed_totals(m->observed);
		rc = totals.accesses || totals.branches || !asked ? 0 :
			fail_without(m->observed, header, gus_recording_name(path), err);
		if (rc != 0 || !(totals.accesses || totals.branches))
			gus_model_rates_free(m);
	} else {
		gus_model_rates_free(m);
	}
	gus_reader_close(reader);
	return rc;
}

/* What is modelled may be no recording at all, or a damaged one, which is told by who models it. That it could not be
 * read this time is not told by anybody else. */
int gus_model_rates_load(struct gus_model_traced *m, const char *own, const struct gus_rights *rights,
			 struct gus_error *err)
{
	struct gus_error why = { 0 };

	if (m->rates && strcmp(m->rates, "none") == 0)
		return 0;
	m->rates_of = m->rates ? gus_recording_name(m->rates) : m->input ? gus_recording_name(m->input) : NULL;
	if (m->rates)
		return load(m, m->rates, rights, true, err);
	if (own && load(m, own, rights, false, &why) != 0 && gus_error_is_transient(&why)) {
		*err = why;
		return -1;
	}
	return 0;
}

void gus_model_rates_free(struct gus_model_traced *m)
{
	gus_observed_free(m->observed);
	m->observed = NULL;
}
