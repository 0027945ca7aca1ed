/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/residuals.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model/analysis/sensitivity.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

/* Parameters of tables, and the knobs that turn them; a name that ends in _ stands for all that begin so. */
static const struct { const char *param; struct gus_knob knob; } params[] = {
	{ "issue_width", { .kind = GUS_KNOB_ISSUE } }, { "decode_", { .kind = GUS_KNOB_FETCH } },
	{ "fetch_bytes", { .kind = GUS_KNOB_FETCH } }, { "uop_cache_", { .kind = GUS_KNOB_FETCH } },
	{ "taken_branches", { .kind = GUS_KNOB_FETCH } }, { "retire_width", { .kind = GUS_KNOB_RETIRE } },
	{ "rob", { .kind = GUS_KNOB_ROB } }, { "rs", { .kind = GUS_KNOB_RS } }, { "rs_", { .kind = GUS_KNOB_RS } },
	{ "load_buffer", { .kind = GUS_KNOB_LOAD_BUFFER } }, { "store_buffer", { .kind = GUS_KNOB_STORE_BUFFER } },
	{ "renames", { .kind = GUS_KNOB_REGISTERS } }, { "int_renames", { .kind = GUS_KNOB_REGISTERS } },
	{ "vector_renames", { .kind = GUS_KNOB_REGISTERS } }, { "l1d_latency", { .kind = GUS_KNOB_LOAD_LATENCY } },
	{ "l1d_latency_", { .kind = GUS_KNOB_LOAD_LATENCY } }, { "l1d_stores", { .kind = GUS_KNOB_STORES } },
	{ "l1d_misses", { .kind = GUS_KNOB_MISS_BUFFERS } },
	{ "l2_latency", { GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L2, 0 } },
	{ "l2_bandwidth", { GUS_KNOB_BANDWIDTH, GUS_HIT_L2, 0 } },
	{ "l3_latency", { GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L3, 0 } },
	{ "l3_bandwidth", { GUS_KNOB_BANDWIDTH, GUS_HIT_L3, 0 } },
	{ "memory_latency", { GUS_KNOB_LEVEL_LATENCY, GUS_HIT_MEMORY, 0 } },
	{ "memory_bandwidth", { GUS_KNOB_BANDWIDTH, GUS_HIT_MEMORY, 0 } },
	{ "stlb_latency", { .kind = GUS_KNOB_TLB } }, { "page_walk", { .kind = GUS_KNOB_TLB } },
	{ "page_walk_", { .kind = GUS_KNOB_TLB } }, { "mispredict_penalty", { .kind = GUS_KNOB_MISPREDICT } },
	{ "store_forward_", { .kind = GUS_KNOB_FORWARD } }, { "alias_penalty", { .kind = GUS_KNOB_ALIAS } },
	{ "line_split_penalty", { .kind = GUS_KNOB_LINE_SPLITS } },
};

static bool is_named(const char *param, const char *name)
{
	size_t n = strlen(param);

	return n && param[n - 1] == '_' ? strncmp(param, name, n) == 0 : strcmp(param, name) == 0;
}

static bool stands_for(enum gus_node node, struct gus_knob knob)
{
	const struct gus_sensitivity one = { .knob = knob };

	return gus_node_has(&gus_nodes[node], &one);
}

/* Of a form its class is not said: which results it gives, and what it takes of ports, any of these is meant by. */
static bool has_form(enum gus_node node, const char *name)
{
	if (strcmp(name, "loadlat") == 0)
		return stands_for(node, (struct gus_knob){ .kind = GUS_KNOB_LOAD_LATENCY });
	if (strcmp(name, "latency") == 0)
		return stands_for(node, (struct gus_knob){ GUS_KNOB_LATENCY, GUS_INSN_MOV, 0 });
	return stands_for(node, (struct gus_knob){ .kind = GUS_KNOB_PORTS });
}

static bool has(enum gus_node node, const struct gus_uarch_fit *f)
{
	if (f->form)
		return has_form(node, f->name);
	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++)
		if (is_named(params[i].param, f->name) && stands_for(node, params[i].knob))
			return true;
	return false;
}

double gus_node_residual(const struct gus_uarch *u, enum gus_node node)
{
	double sum = 0, n = 0;

	for (uint32_t i = 0; i < u->fits_n; i++) {
		const struct gus_uarch_fit *f = &u->fits[i];
		double half = (f->high - f->low) / 2 / f->value, error = isfinite(f->residual) ? f->residual : 0;

		if (f->text || !(f->value > 0) || !isfinite(half) || !has(node, f))
			continue;
		error = half > error ? half : error;
		sum += error * error;
		n++;
	}
	return n > 0 ? sqrt(sum / n) : 0;
}
