/* SPDX-License-Identifier: MIT */
#include "attribution/compared/variants.h"

#include <stdio.h>
#include <string.h>

#include "attribution/traced/coverage.h"
#include "attribution/traced/traced.h"
#include "base/path.h"

/* Words behind a _ that say for what kind of CPU a function is, and what follows is about that as well. */
static const char *const kinds[] = {
	"sse2", "sse3", "ssse3", "sse4", "sse41", "sse42", "avx", "avx2", "avx512", "avx512f", "avx512bw", "evex",
	"evex256", "evex512", "erms", "fma", "fma4", "bmi2", "generic", "simd", "nosimd", "asimd", "sve", "mops",
	"a64fx", "thunderx", "thunderx2", "falkor", "kunpeng", "emag", "oryon1",
};

static bool is_kind(const char *word, size_t size)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strlen(kinds[i]) == size && memcmp(word, kinds[i], size) == 0)
			return true;
	return false;
}

/* Where a function's name begins to say for what it is; its end if it does not say. */
static const char *suffix_of(const char *function)
{
	for (const char *at = strchr(function, '_'); at; at = strchr(at + 1, '_'))
		if (at > function && at[-1] != '_' && is_kind(at + 1, strcspn(at + 1, "_")))
			return at;
	return function + strlen(function);
}

bool gus_libvariant_is_same(const char *a, const char *b)
{
	const char *a_end = suffix_of(a), *b_end = suffix_of(b);

	a += strspn(a, "_");
	b += strspn(b, "_");
	return (*a_end || *b_end) && a_end > a && a_end - a == b_end - b && memcmp(a, b, (size_t)(a_end - a)) == 0;
}

/* Of coverage->elsewhere, whose names are "function [module]". */
static bool is_in_place_of(const char *elsewhere, const struct gus_traced_function *f)
{
	const char *module = strstr(elsewhere, " [");
	char name[128], in[128];

	if (!module || !f->name || !*f->module)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(module - elsewhere), elsewhere);
	snprintf(in, sizeof(in), " [%.40s]", gus_base_name(f->module));
	return strcmp(in, module) == 0 && gus_libvariant_is_same(name, f->name);
}

uint32_t gus_libvariant_modelled(const struct gus_traced *t, const struct gus_coverage *coverage, size_t elsewhere)
{
	uint32_t best = GUS_TRACED_NONE;
	double most = 0;

	for (uint32_t i = 0; i < t->regions.n; i++) {
		const struct gus_traced_region *r = &t->regions.v[i];

		if (r->cycles[0] > most && is_in_place_of(coverage->elsewhere[elsewhere].name,
							  &t->functions.v[r->function])) {
			most = r->cycles[0];
			best = r->function;
		}
	}
	return best;
}

uint32_t gus_libvariant_measured(const struct gus_traced *t, const struct gus_coverage *coverage, uint32_t function)
{
	for (size_t i = 0; i < coverage->elsewhere_n; i++)
		if (is_in_place_of(coverage->elsewhere[i].name, &t->functions.v[function]))
			return (uint32_t)i;
	return GUS_TRACED_NONE;
}
