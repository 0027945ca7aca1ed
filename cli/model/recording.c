/* SPDX-License-Identifier: MIT */
/* gusprof model --input of a recording without a trace: what its branch stacks or samples let one infer becomes a
 * trace, which is run as any other. */
#include <stdlib.h>

#include "attribution/routes/trace.h"
#include "attribution/routes/walk.h"
#include "base/error.h"
#include "cli/common/naming.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/model/traced.h"

#define INSTRUCTIONS 4000000 /* so many are run, however long the recording is: shares settle long before */

static int model_routes(struct gus_model_traced *m, struct gus_model_view *v, struct gus_model_inferred *in,
			struct gus_error *err)
{
	struct gus_walk_options o = { GUS_ROUTES_NONE, INSTRUCTIONS };
	struct gus_trace *trace = NULL;
	int rc = -1;

	in->walk = gus_walk_new(in->routes, m->uarch, &o, err);
	if (in->walk)
		trace = gus_walk_trace(in->walk, gus_traced_target(in->routes->isa), in->profile->space, err);
	if (trace) {
		rc = gus_model_traced_show(m, trace, in, v, err);
		gus_trace_close(trace);
	}
	gus_walk_free(in->walk);
	return rc;
}

int gus_model_names_load(struct gus_profile *profile, struct gus_reader *reader, struct gus_error *err)
{
	const Gusprof__Header *header = gus_reader_header(reader);
	char *build_ids = gus_naming_build_ids(NULL);
	struct gus_symbols_options symbols = { .boot_id = header->host ? header->host->boot_id : NULL,
		.build_ids = build_ids };
	int rc = gus_profile_load(profile, reader, &(struct gus_filter){ 0 }, &symbols, gus_cli_log(0), err);

	free(build_ids);
	return rc;
}

static bool has_branches(const Gusprof__Header *header)
{
	for (size_t i = 0; i < header->n_events; i++)
		if (header->events[i]->branch_type)
			return true;
	return header->branch_type != 0;
}

int gus_model_recording(struct gus_model_traced *m, const char *path, struct gus_error *err)
{
	struct gus_reader *reader = gus_recording_open(path, err);
	struct gus_profile profile;
	struct gus_routes routes;
	struct gus_model_inferred in = { .routes = &routes, .profile = &profile };
	struct gus_model_view v = { .input = m->input, .path = path, .inferred = &routes };
	int rc;

	if (!reader)
		return -1;
	if (m->executed_only && !has_branches(gus_reader_header(reader))) {
		gus_reader_close(reader);
		return gus_fail(err, GUS_E_NOT_FOUND, "the recording has no windows of it (record makes some, or says "
				"why not)");
	}
	rc = gus_model_names_load(&profile, reader, err);
	if (rc == 0) {
		rc = gus_routes_load(&routes, reader, &profile, err);
		if (rc == 0) {
			rc = model_routes(m, &v, &in, err);
			gus_routes_free(&routes);
		}
		gus_profile_free(&profile);
	}
	gus_reader_close(reader);
	return rc;
}
