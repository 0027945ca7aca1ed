/* SPDX-License-Identifier: MIT */
/* Fuzz target of `gusprof model --uops`: a table of uops as any text. What is one is a program that holds together, and
 * both engines run it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/analysis/modelled.h"
#include "model/code/program.h"
#include "model/code/uoptable.h"
#include "model/core/core.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/fuzz/limit.h"

enum { MS = 100, NS_A_BYTE = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check(const struct gus_program *p)
{
	demand(p->insns_n && p->ops_n);
	for (uint32_t i = 0; i < p->ops_n; i++) {
		const struct gus_op *op = &p->ops[i];

		demand(op->uops_n && op->uop + op->uops_n <= p->uops_n && op->memory + op->memories_n <= p->memories_n);
		for (uint32_t k = op->uop; k < op->uop + op->uops_n; k++)
			demand(p->uops[k].in + p->uops[k].in_n <= p->flows_n &&
			       p->uops[k].out + p->uops[k].out_n <= p->flows_n);
	}
}

static void run(const struct gus_uarch *u, const struct gus_program *p)
{
	struct gus_modelled_settings s = { .uarch = u, .options = { .iterations = 3,
		.pointers = GUS_CORE_POINTERS_NONE, .fetch = GUS_CORE_FETCH_IDEAL } };
	double cycles = 0;

	gus_core_config_of(&s.config, u);
	for (int stream = 0; stream < 2; stream++) {
		struct gus_error err = { 0 };

		s.stream = stream;
		demand(gus_modelled_cycles(p, &s, &cycles, &err) == 0 ? isfinite(cycles) && cycles >= 0 :
		       err.code != GUS_OK && err.text[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gus_uarch *uarch; /* read once */
	char *copy = gus_alloc(size);
	struct gus_error err = { 0 };
	struct gus_program *p;
	struct limit begun;

	if (!uarch)
		uarch = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	demand(uarch != NULL);
	begun = limit_begin();
	if (size)
		memcpy(copy, data, size);
	p = gus_uoptable_program(uarch, "table", copy, size, &err);
	demand(p ? err.code == GUS_OK : err.code != GUS_OK && err.text[0]);
	if (p) {
		check(p);
		run(uarch, p);
	}
	gus_program_free(p);
	limit_end(begun, size, MS, NS_A_BYTE);
	free(copy);
	return 0;
}
