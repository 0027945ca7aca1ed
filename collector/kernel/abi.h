/* SPDX-License-Identifier: MIT */
/* What the kernel's interface has and headers of older kernels do not (linux/perf_event.h). */
#ifndef GUS_COLLECTOR_KERNEL_ABI_H
#define GUS_COLLECTOR_KERNEL_ABI_H

#include <stdint.h>

#define GUS_PERF_WEIGHT_STRUCT (UINT64_C(1) << 24) /* PERF_SAMPLE_WEIGHT_STRUCT, since 5.12 */

#endif
