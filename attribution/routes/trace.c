/* SPDX-License-Identifier: MIT */
#include "attribution/routes/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attribution/routes/walk.h"
#include "base/alloc.h"
#include "base/error.h"
#include "proto/trace.h"
#include "symbolizer/space/space.h"

/* Where the walk says that the recording's modules lie: names are sought by that. */
static int write_modules(struct gus_trace_writer *w, const struct gus_space *space, struct gus_error *err)
{
	uint32_t n = gus_space_modules(space);
	Gusprof__Record *records = gus_resize(NULL, n + 1, sizeof(*records)), **list = gus_resize(NULL, n + 1,
		sizeof(*list));
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
		maps[i].build_id = (ProtobufCBinaryData){ module->build_id_size,
			(uint8_t *)(uintptr_t)module->build_id };
	}
	sideband.records = list;
	sideband.n_records = n;
	rc = gus_trace_writer_records(w, &sideband, err);
	free(maps);
	free(list);
	free(records);
	return rc;
}

struct gus_trace *gus_walk_trace(struct gus_walk *walk, const char *target, const struct gus_space *space,
				 struct gus_error *err)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	int fd = memfd_create("routes", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd);
	struct gus_trace_writer *w = NULL;

	about.front_end = (char *)(uintptr_t)"routes";
	about.target = (char *)(uintptr_t)target;
	if (copy >= 0)
		w = gus_trace_writer_create_fd(copy, &header, &about, err);
	else
		gus_fail_errno(err, errno, "cannot make a file in memory for the trace of a walk");
	if (w && (write_modules(w, space, err) != 0 || gus_walk_write(walk, w, err) != 0)) {
		gus_trace_writer_abandon(w);
		w = NULL;
	}
	if (w && gus_trace_writer_finish(w, &total, err) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return gus_trace_open_fd(fd, err);
	if (fd >= 0)
		close(fd);
	return NULL;
}
