/* SPDX-License-Identifier: MIT */
/* Which CPU a machine has, as tables go by it. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_CPU_H
#define GUS_ATTRIBUTION_TOPDOWN_CPU_H

#include "model/tables/cpus.h"

struct Gusprof__Host;

/* Its vendor is the host's. */
struct gus_cpu_id gus_topdown_cpu(const struct Gusprof__Host *host);

#endif
