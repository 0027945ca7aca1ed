/* SPDX-License-Identifier: MIT */
/* The kernels of one way, by number. Compiled several times: KERNEL_WAY says how. */
#include "suite.h"

#define TEXT_OF(way) #way
#define TEXT(way) TEXT_OF(way)
#define ENTRY(name) [SUITE_ ## name] = SUITE_FUNCTION(name),

extern const struct suite_way SUITE_FUNCTION(way);
const struct suite_way SUITE_FUNCTION(way) = { TEXT(KERNEL_WAY), { SUITE_KERNELS(ENTRY) } };
