/* SPDX-License-Identifier: MIT */
/* Which table is for which silicon: by what CPUID or MIDR_EL1 say. */
#ifndef GUS_MODEL_TABLES_CPUS_H
#define GUS_MODEL_TABLES_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/insn/insn.h"

struct gus_cpu_id {
	const char *vendor;                /* "GenuineIntel", "AuthenticAMD"; not looked at for arm64 */
	uint32_t family, model, stepping;  /* of CPUID leaf 1, with the extended parts */
	uint64_t midr;                     /* arm64; else 0 */
};

/* The name of the table, or NULL if there is none for this CPU. Of a hybrid CPU it is that of the larger cores. */
const char *gus_uarch_of_cpu(const struct gus_cpu_id *id);

/* The CPU's own name, as LLVM has it, or NULL if it is not known: that of gus_uarch_of_cpu, but for CPUs that run
 * instructions as a relative does and whose table is the relative's. They may count other events than it does. */
const char *gus_uarch_cpu(const struct gus_cpu_id *id);

/* Instructions that cores of the last years have and older ones have not. */
struct gus_cpu_features {
	bool avx, avx2, avx512;            /* x86 */
	bool atomics, sve, sve2;           /* arm64: atomics are those of ARMv8.1 (LSE) */
};

/* The table to begin from where there may be none for this CPU: that of gus_uarch_of_cpu, else that of the CPU
 * which is next to it. Next is, of the same maker, or of the one whose design it is, who has the same vectors, or
 * else fewer; and of these the one whose family and model are closest. NULL for a CPU of neither ISA. */
const char *gus_uarch_nearest(enum gus_isa isa, const struct gus_cpu_id *id, const struct gus_cpu_features *features);

#endif
