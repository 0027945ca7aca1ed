/* SPDX-License-Identifier: MIT */
/* Which table is for which silicon: by what CPUID or MIDR_EL1 say. */
#ifndef GUS_MODEL_TABLES_CPUS_H
#define GUS_MODEL_TABLES_CPUS_H

#include <stdint.h>

struct gus_cpu_id {
	const char *vendor;                /* "GenuineIntel", "AuthenticAMD"; not looked at for arm64 */
	uint32_t family, model, stepping;  /* of CPUID leaf 1, with the extended parts */
	uint64_t midr;                     /* arm64; else 0 */
};

/* The name of the table, or NULL if there is none for this CPU. Of a hybrid CPU it is that of the larger cores. */
const char *gus_uarch_of_cpu(const struct gus_cpu_id *id);

#endif
