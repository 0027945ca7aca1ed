/* SPDX-License-Identifier: MIT */
/* gusprof model --input of a recording without a trace: what its branch stacks or samples let one infer becomes a
 * trace, which is run as any other. */
#include <stdlib.h>

#include "attribution/routes/trace.h"
#include "attribution/routes/walk.h"
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

int gus_model_recording(struct gus_model_traced *m, const char *path, struct gus_error *err)
{
	const struct gus_log *log = gus_cli_log(0);
	struct gus_reader *reader = gus_recording_open(path, err);
	const Gusprof__Header *header;
	struct gus_symbols_options symbols = { 0 };
	struct gus_profile profile;
	struct gus_routes routes;
	struct gus_model_inferred in = { .routes = &routes, .profile = &profile };
	struct gus_model_view v = { .input = m->input, .path = path, .inferred = &routes };
	char *build_ids;
	int rc;

	if (!reader)
		return -1;
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	symbols.build_ids = build_ids = gus_naming_build_ids(NULL);
	rc = gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &symbols, log, err);
	if (rc == 0) {
		rc = gus_routes_load(&routes, reader, &profile, err);
		if (rc == 0) {
			rc = model_routes(m, &v, &in, err);
			gus_routes_free(&routes);
		}
		gus_profile_free(&profile);
	}
	gus_reader_close(reader);
	free(build_ids);
	return rc;
}
