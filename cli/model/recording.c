/* SPDX-License-Identifier: MIT */
/* gusprof model --input of a recording without a trace: what its branch stacks or samples let one infer becomes a trace, which is run
 * as any other. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/model/traced.h"

#define INSTRUCTIONS 4000000 /* so many are run, however long the recording is: shares settle long before */

/* Where the replay says that the recording's modules lie: names are sought by that. */
static int write_modules(struct gus_trace_writer *w, const struct gus_space *space, struct gus_error *err)
{
	uint32_t n = gus_space_modules(space);
	Gusprof__Record *records = gus_resize(NULL, n + 1, sizeof(*records)), **list = gus_resize(NULL, n + 1, sizeof(*list));
	Gusprof__Mmap *maps = gus_resize(NULL, n + 1, sizeof(*maps));
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		const struct gus_module *module = gus_space_module(space, i);

		gusprof__record__init(list[i] = &records[i]);
		gusprof__mmap__init(records[i].mmap = &maps[i]);
		records[i].kind_case = GUSPROF__RECORD__KIND_MMAP;
		maps[i].start = gus_walk_base(i);
		maps[i].length = gus_walk_base(i + 1) - maps[i].start;
		maps[i].path = (char *)(uintptr_t)module->path;
		maps[i].build_id = (ProtobufCBinaryData){ module->build_id_size, (uint8_t *)(uintptr_t)module->build_id };
	}
	sideband.records = list;
	sideband.n_records = n;
	rc = gus_trace_writer_records(w, &sideband, err);
	free(maps);
	free(list);
	free(records);
	return rc;
}

/* The replay as a trace in memory. NULL with err. */
static struct gus_trace *write_trace(struct gus_walk *replay, const struct gus_model_inferred *in, struct gus_error *err)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	int fd = memfd_create("routes", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd);
	struct gus_trace_writer *w = NULL;

	about.front_end = (char *)(uintptr_t)"routes";
	about.target = (char *)(uintptr_t)gus_traced_target(in->routes->isa);
	if (copy >= 0)
		w = gus_trace_writer_create_fd(copy, &header, &about, err);
	else
		gus_fail(err, GUS_E_SYSTEM, "there is no memory to keep a trace in");
	if (w && (write_modules(w, in->profile->space, err) != 0 || gus_walk_write(replay, w, err) != 0)) {
		gus_trace_writer_abandon(w);
		w = NULL;
	}
	if (w && gus_trace_writer_finish(w, &total, err) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return gus_trace_open_fd(fd, err);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static int model_routes(struct gus_model_traced *m, struct gus_traced_view *v, struct gus_model_inferred *in, struct gus_error *err)
{
	struct gus_walk_options o = { GUS_ROUTES_NONE, INSTRUCTIONS };
	struct gus_trace *trace = NULL;
	int rc = -1;

	in->replay = gus_walk_new(in->routes, m->uarch, &o, err);
	if (in->replay)
		trace = write_trace(in->replay, in, err);
	if (trace) {
		rc = gus_model_traced_show(m, trace, v, err);
		gus_trace_close(trace);
	}
	gus_walk_free(in->replay);
	return rc;
}

int gus_model_recording(struct gus_model_traced *m, const char *path, struct gus_error *err)
{
	const struct gus_log *log = gus_cli_log(0);
	struct gus_reader *reader = gus_reader_open(path, err);
	const Gusprof__Header *header;
	struct gus_symbols_options symbols = { 0 };
	struct gus_profile profile;
	struct gus_routes routes;
	struct gus_model_inferred in = { .routes = &routes, .profile = &profile };
	struct gus_traced_view v = { .input = path, .inferred = &in };
	int rc;

	if (!reader)
		return -1;
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
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
	return rc;
}
