/* SPDX-License-Identifier: MIT */
#include "model/analysis/functional.h"

#include <string.h>

#include "base/error.h"

static void ask(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	struct gus_fresh_caches *f = context;
	const struct gus_core_memory inner = gus_oracle_of_cache(&f->oracle);

	inner.access(inner.context, access, level, tlb);
	f->answers[*level]++;
}

/* The configuration has made caches before, so it does so again. */
static void begin(void *context)
{
	struct gus_fresh_caches *f = context;
	const struct gus_program *p = f->oracle.program;
	struct gus_error err = { 0 };

	gus_cache_free(f->oracle.cache);
	f->oracle = (struct gus_oracle_cache){ .cache = gus_cache_new(&f->config, &err), .program = p };
	memset(f->answers, 0, sizeof(f->answers));
}

int gus_fresh_caches_open(struct gus_fresh_caches *f, const struct gus_cache_config *config,
			  const struct gus_program *p, struct gus_error *err)
{
	*f = (struct gus_fresh_caches){ .config = *config, .oracle = { .program = p } };
	f->oracle.cache = gus_cache_new(config, err);
	return f->oracle.cache ? 0 : -1;
}

void gus_fresh_caches_close(struct gus_fresh_caches *f)
{
	gus_cache_free(f->oracle.cache);
}

struct gus_core_memory gus_fresh_caches_oracle(struct gus_fresh_caches *f)
{
	return (struct gus_core_memory){ f, ask, begin };
}

/* Twice the ways, so that each set holds twice as much; where sets have as many as there can be, twice the sets. */
static void enlarge(struct gus_cache_level *level)
{
	level->bytes *= 2;
	level->ways *= level->ways * 2 <= GUS_SETS_WAYS_MAX ? 2 : 1;
}

static void enlarge_tlb(struct gus_tlb_size *tlb)
{
	tlb->entries *= 2;
	tlb->ways *= tlb->ways * 2 <= GUS_SETS_WAYS_MAX ? 2 : 1;
}

static void turn(struct gus_cache_config *c, unsigned knob)
{
	switch (knob) {
	case 0: case 1: case 2:
		enlarge(&c->level[knob]);
		break;
	case 3:
		enlarge_tlb(&c->dtlb);
		enlarge_tlb(&c->dtlb_store);
		enlarge_tlb(&c->stlb);
		break;
	case 4:
		c->l1d_next_line *= 2;
		c->l1d_stride_ahead *= 2;
		c->l2_next_line *= 2;
		break;
	default:
		c->l1d_next_line = c->l1d_strides = c->l2_next_line = 0;
		break;
	}
}

static int run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_cache_config *caches,
	       const struct gus_stream_options *o, struct gus_fresh_caches *f, double *cycles, struct gus_error *err)
{
	struct gus_stream_options options = *o;
	struct gus_core_memory memory;
	struct gus_stream_result r;
	int status;

	if (gus_fresh_caches_open(f, caches, p, err) != 0)
		return -1;
	memory = gus_fresh_caches_oracle(f);
	options.memory = &memory;
	status = gus_stream_run(p, c, &options, &r, err);
	*cycles = r.per_iteration[0];
	return status;
}

static void sort(struct gus_functional *v)
{
	for (size_t i = 1; i < GUS_FUNCTIONAL_KNOBS; i++) {
		struct gus_functional one = v[i];
		size_t k = i;

		for (; k && v[k - 1].speedup < one.speedup; k--)
			v[k] = v[k - 1];
		v[k] = one;
	}
}

int gus_functional_run(const struct gus_program *p, const struct gus_core_config *c,
		       const struct gus_cache_config *caches,
		       const struct gus_stream_options *o, struct gus_functional out[GUS_FUNCTIONAL_KNOBS],
		       uint64_t answers[GUS_HITS], uint64_t *unknown, struct gus_error *err)
{
	static const char *const names[GUS_FUNCTIONAL_KNOBS] = { "L1 twice as large", "L2 twice as large",
		"L3 twice as large",
		"TLBs twice as large", "prefetchers twice as far", "no prefetchers" };
	struct gus_fresh_caches f;
	double nominal;
	int status = run(p, c, caches, o, &f, &nominal, err);

	memcpy(answers, f.answers, sizeof(f.answers));
	*unknown = f.oracle.unknown_addresses;
	gus_fresh_caches_close(&f);
	for (unsigned i = 0; i < GUS_FUNCTIONAL_KNOBS && status == 0; i++) {
		struct gus_cache_config turned = *caches;

		turn(&turned, i);
		out[i] = (struct gus_functional){ .name = names[i] };
		status = run(p, c, &turned, o, &f, &out[i].cycles, err);
		out[i].speedup = out[i].cycles > 0 ? nominal / out[i].cycles - 1 : 0;
		gus_fresh_caches_close(&f);
	}
	if (status == 0)
		sort(out);
	return status;
}
