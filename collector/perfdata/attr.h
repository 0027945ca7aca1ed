/* SPDX-License-Identifier: MIT */
/* perf_event_attr as perf.data files have it: of any size, in either byte order. Source: perf_event_open(2). */
#ifndef GUS_COLLECTOR_PERFDATA_ATTR_H
#define GUS_COLLECTOR_PERFDATA_ATTR_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/cursor.h"

/* Bytes of the first version's, which has no size; none is smaller. */
enum { GUS_PERFDATA_ATTR_SMALLEST = 64 };

/* As far as anybody here asks it; what a shorter one does not have is 0. */
struct gus_perfdata_attr {
	uint32_t type, size;
	uint64_t config, config1, config2, config3, config4;
	uint64_t period;                /* or samples a second, if `frequency` */
	uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
	uint32_t stack_user;
	uint32_t clockid;
	uint64_t flags;                 /* from `disabled` in bit 0 on, in either byte order */
	struct gus_vec(uint64_t) ids;
};
enum { /* bits of flags */
	GUS_PERFDATA_INHERIT = 1, GUS_PERFDATA_EXCLUDE_USER = 4, GUS_PERFDATA_EXCLUDE_KERNEL = 5,
	GUS_PERFDATA_EXCLUDE_HV = 6, GUS_PERFDATA_FREQUENCY = 10, GUS_PERFDATA_PRECISE = 15, /* two bits */
	GUS_PERFDATA_ID_ALL = 18, GUS_PERFDATA_EXCLUDE_HOST = 19, GUS_PERFDATA_EXCLUDE_GUEST = 20,
	GUS_PERFDATA_EXCLUDE_USER_CHAIN = 22, GUS_PERFDATA_USE_CLOCKID = 25,
};

/* What stands at c, without ids; no more is read of it than it says that it has. */
struct gus_perfdata_attr gus_perfdata_attr_read(struct gus_cursor c);

#endif
