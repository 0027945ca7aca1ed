/* SPDX-License-Identifier: MIT */
#include "model/tables/cpus.h"

#include <stddef.h>
#include <string.h>

/* Models and steppings in inclusive ranges; the first that fits is taken. Where a CPU has no table of its own, that
 * of its closest relative with the same core is named: Tiger and Rocket Lake have Ice Lake's, Cooper Lake Cascade
 * Lake's, Granite Rapids Sapphire Rapids', Arrow Lake Lunar Lake's. */
static const struct {
	const char *vendor;
	uint32_t family, model_lo, model_hi, stepping_lo, stepping_hi;
	const char *name; /* of the table */
	const char *cpu;  /* of the CPU, where it is not the table's */
} x86[] = {
	{ "GenuineIntel", 6, 0x2a, 0x2a, 0, 15, "sandybridge" },
	{ "GenuineIntel", 6, 0x2d, 0x2d, 0, 15, "sandybridge" },
	{ "GenuineIntel", 6, 0x3a, 0x3a, 0, 15, "ivybridge" },
	{ "GenuineIntel", 6, 0x3e, 0x3e, 0, 15, "ivybridge" },
	{ "GenuineIntel", 6, 0x3c, 0x3c, 0, 15, "haswell" },
	{ "GenuineIntel", 6, 0x3f, 0x3f, 0, 15, "haswell" },
	{ "GenuineIntel", 6, 0x45, 0x46, 0, 15, "haswell" },
	{ "GenuineIntel", 6, 0x3d, 0x3d, 0, 15, "broadwell" },
	{ "GenuineIntel", 6, 0x47, 0x47, 0, 15, "broadwell" },
	{ "GenuineIntel", 6, 0x4f, 0x4f, 0, 15, "broadwell" },
	{ "GenuineIntel", 6, 0x56, 0x56, 0, 15, "broadwell" },
	{ "GenuineIntel", 6, 0x4e, 0x4e, 0, 15, "skylake" },
	{ "GenuineIntel", 6, 0x5e, 0x5e, 0, 15, "skylake" },
	{ "GenuineIntel", 6, 0x8e, 0x8e, 0, 15, "skylake" },
	{ "GenuineIntel", 6, 0x9e, 0x9e, 0, 15, "skylake" },
	{ "GenuineIntel", 6, 0xa5, 0xa6, 0, 15, "skylake" },
	{ "GenuineIntel", 6, 0x55, 0x55, 0, 4, "skylake-avx512" },
	{ "GenuineIntel", 6, 0x55, 0x55, 10, 11, "cascadelake", "cooperlake" },
	{ "GenuineIntel", 6, 0x55, 0x55, 5, 15, "cascadelake" },
	{ "GenuineIntel", 6, 0x7d, 0x7e, 0, 15, "icelake-client" },
	{ "GenuineIntel", 6, 0x8c, 0x8d, 0, 15, "icelake-client", "tigerlake" },
	{ "GenuineIntel", 6, 0xa7, 0xa7, 0, 15, "icelake-client", "rocketlake" },
	{ "GenuineIntel", 6, 0x6a, 0x6a, 0, 15, "icelake-server" },
	{ "GenuineIntel", 6, 0x6c, 0x6c, 0, 15, "icelake-server" },
	{ "GenuineIntel", 6, 0x97, 0x97, 0, 15, "alderlake" },
	{ "GenuineIntel", 6, 0x9a, 0x9a, 0, 15, "alderlake" },
	{ "GenuineIntel", 6, 0xbe, 0xbe, 0, 15, "gracemont" },
	{ "GenuineIntel", 6, 0xb7, 0xb7, 0, 15, "raptorlake" },
	{ "GenuineIntel", 6, 0xba, 0xba, 0, 15, "raptorlake" },
	{ "GenuineIntel", 6, 0xbf, 0xbf, 0, 15, "raptorlake" },
	{ "GenuineIntel", 6, 0x8f, 0x8f, 0, 15, "sapphirerapids" },
	{ "GenuineIntel", 6, 0xad, 0xae, 0, 15, "sapphirerapids", "graniterapids" },
	{ "GenuineIntel", 6, 0xcf, 0xcf, 0, 15, "emeraldrapids" },
	{ "GenuineIntel", 6, 0xaa, 0xaa, 0, 15, "meteorlake" },
	{ "GenuineIntel", 6, 0xac, 0xac, 0, 15, "meteorlake" },
	{ "GenuineIntel", 6, 0xb5, 0xb5, 0, 15, "meteorlake" },
	{ "GenuineIntel", 6, 0xbd, 0xbd, 0, 15, "lunarlake" },
	{ "GenuineIntel", 6, 0xc5, 0xc6, 0, 15, "lunarlake", "arrowlake" },
	{ "AuthenticAMD", 0x17, 0x30, 0xff, 0, 15, "znver2" },
	{ "AuthenticAMD", 0x19, 0x10, 0x1f, 0, 15, "znver4" },
	{ "AuthenticAMD", 0x19, 0x60, 0x7f, 0, 15, "znver4" },
	{ "AuthenticAMD", 0x19, 0xa0, 0xaf, 0, 15, "znver4" },
	{ "AuthenticAMD", 0x19, 0x00, 0x5f, 0, 15, "znver3" },
	{ "AuthenticAMD", 0x1a, 0x00, 0xff, 0, 15, "znver5" },
};

/* Implementer 0x41 is Arm itself; clouds use its cores under its number. */
static const struct {
	uint32_t implementer, part;
	const char *name; /* of the table; NULL: none has this core */
	const char *cpu;
} arm64[] = {
	{ 0x41, 0xd08, "cortex-a72", "cortex-a72" },   { 0x41, 0xd0c, "neoverse-n1", "neoverse-n1" },
	{ 0x41, 0xd40, "neoverse-v1", "neoverse-v1" }, { 0x41, 0xd49, "neoverse-n2", "neoverse-n2" },
	{ 0x41, 0xd4f, "neoverse-v2", "neoverse-v2" }, { 0x6d, 0xd49, "neoverse-n2", "neoverse-n2" },
	{ 0x41, 0xd84, NULL, "neoverse-v3" },          { 0x41, 0xd8e, NULL, "neoverse-n3" },
};

struct names { const char *table, *cpu; };

static struct names names_of(const struct gus_cpu_id *id)
{
	uint32_t implementer = id->midr >> 24 & 0xff, part = id->midr >> 4 & 0xfff;

	for (size_t i = 0; id->midr && i < sizeof(arm64) / sizeof(*arm64); i++)
		if (arm64[i].implementer == implementer && arm64[i].part == part)
			return (struct names){ arm64[i].name, arm64[i].cpu };
	for (size_t i = 0; !id->midr && id->vendor && i < sizeof(x86) / sizeof(*x86); i++)
		if (strcmp(x86[i].vendor, id->vendor) == 0 && x86[i].family == id->family &&
		    x86[i].model_lo <= id->model && id->model <= x86[i].model_hi &&
		    x86[i].stepping_lo <= id->stepping && id->stepping <= x86[i].stepping_hi)
			return (struct names){ x86[i].name, x86[i].cpu ? x86[i].cpu : x86[i].name };
	return (struct names){ NULL, NULL };
}

const char *gus_uarch_of_cpu(const struct gus_cpu_id *id)
{
	return names_of(id).table;
}

const char *gus_uarch_cpu(const struct gus_cpu_id *id)
{
	return names_of(id).cpu;
}

/* The nearest. */

/* Whose design a core is: Hygon's is AMD's first Zen, and who else is not known is taken for Intel. */
static struct gus_cpu_id design_of(const struct gus_cpu_id *id)
{
	struct gus_cpu_id design = *id;

	if (id->vendor && strcmp(id->vendor, "HygonGenuine") == 0)
		return (struct gus_cpu_id){ .vendor = "AuthenticAMD", .family = 0x17 };
	if (!id->vendor || strcmp(id->vendor, "AuthenticAMD") != 0)
		design.vendor = "GenuineIntel";
	return design;
}

enum vectors { SSE, AVX, AVX2, AVX512 };
/* What the cores of each table have. */
static const struct { const char *name; enum vectors vectors; } vectors_of[] = {
	{ "sandybridge", AVX }, { "ivybridge", AVX }, { "haswell", AVX2 }, { "broadwell", AVX2 }, { "skylake", AVX2 },
	{ "skylake-avx512", AVX512 }, { "cascadelake", AVX512 }, { "icelake-client", AVX512 },
	{ "icelake-server", AVX512 }, { "alderlake", AVX2 }, { "raptorlake", AVX2 }, { "gracemont", AVX2 },
	{ "sapphirerapids", AVX512 }, { "emeraldrapids", AVX512 }, { "meteorlake", AVX2 }, { "lunarlake", AVX2 },
	{ "znver2", AVX2 }, { "znver3", AVX2 }, { "znver4", AVX512 }, { "znver5", AVX512 },
};

static int vectors_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(vectors_of) / sizeof(*vectors_of); i++)
		if (strcmp(vectors_of[i].name, name) == 0)
			return vectors_of[i].vectors;
	return SSE;
}

/* How far a row is, the vectors that it has not weighing most, then the family, then the model. One with more vectors
 * than the CPU is a core of another kind: it is farther than any with fewer. */
static uint64_t distance(size_t i, const struct gus_cpu_id *id, int vectors)
{
	int more = vectors_by_name(x86[i].name) - vectors;
	uint64_t kind = more > 0 ? 8 + (uint64_t)more : (uint64_t)-more;
	uint64_t family = x86[i].family > id->family ? x86[i].family - id->family : id->family - x86[i].family;
	uint64_t model = id->model < x86[i].model_lo ? x86[i].model_lo - id->model :
		id->model > x86[i].model_hi ? id->model - x86[i].model_hi : 0;

	/* Of a family that is newer than all, the model says nothing, and the highest number is the newest core. */
	if (family && id->family > x86[i].family)
		model = 0xffffff - x86[i].model_hi;
	return kind << 56 | (family & 0xffffff) << 24 | (model & 0xffffff);
}

static const char *nearest_x86(const struct gus_cpu_id *id, const struct gus_cpu_features *f)
{
	int vectors = f->avx512 ? AVX512 : f->avx2 ? AVX2 : f->avx ? AVX : SSE;
	struct gus_cpu_id design = design_of(id);
	uint64_t least = UINT64_MAX;
	const char *best = NULL;

	for (size_t i = 0; i < sizeof(x86) / sizeof(*x86); i++) {
		uint64_t far = distance(i, &design, vectors);

		if (strcmp(x86[i].vendor, design.vendor) == 0 && far < least) {
			least = far;
			best = x86[i].name;
		}
	}
	return best;
}

const char *gus_uarch_nearest(enum gus_isa isa, const struct gus_cpu_id *id, const struct gus_cpu_features *f)
{
	const char *own = gus_uarch_of_cpu(id);

	if (own)
		return own;
	if (isa == GUS_ISA_X86_64)
		return nearest_x86(id, f);
	if (isa != GUS_ISA_ARM64)
		return NULL;
	/* Part numbers of Arm's do not grow with time; what the cores can does. */
	return f->sve2 ? "neoverse-n2" : f->sve ? "neoverse-v1" : f->atomics ? "neoverse-n1" : "cortex-a72";
}
