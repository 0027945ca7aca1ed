/* SPDX-License-Identifier: MIT */
/* Which instructions hold the code up, as text and as JSON: what each is charged, by what carried it, and the chain
 * that the critical path goes round in. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/json.h"
#include "cli/common/print.h"
#include "cli/model/render.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"

enum { SHOWN = 12, HOPS = 10, SHORT = 40 };

/* What carried a hop: "ports p23", "latency fp_fma", "issue". */
static const char *carrier(const struct gus_program *p, const struct gus_cause *c, char *out, size_t room)
{
	static const char *const levels[GUS_HITS] = { "L1", "L2", "L3", "memory" };
	struct gus_stream_resources groups;
	char name[56];
	const char *hop = gus_hop_name(c->hop);

	switch (c->hop) {
	case GUS_HOP_PORTS:
		gus_stream_resources_of(p, &groups);
		gus_sensitivity_group_name(p, groups.ports[c->number], name, sizeof(name));
		snprintf(out, room, "%s %s", hop, name);
		break;
	case GUS_HOP_UNITS:
		snprintf(out, room, "%s %s", hop, p->uarch && c->number && c->number - 1 < p->uarch->units_n ?
			 p->uarch->units[c->number - 1] : "");
		break;
	case GUS_HOP_LATENCY:
		snprintf(out, room, "%s %s", hop, gus_insn_class_name(p->insns[p->ops[c->op].insn].info.class));
		break;
	case GUS_HOP_LEVEL:
		snprintf(out, room, "%s %s", hop, levels[c->number]);
		break;
	case GUS_HOP_BUS:
		snprintf(out, room, "%s %s", hop, c->number < 3 ? levels[c->number + 1] : "page walks");
		break;
	case GUS_HOP_TLB:
		snprintf(out, room, "%s", c->number == GUS_TLB_WALK ? "page walk" : "second TLB");
		break;
	default:
		snprintf(out, room, "%s", hop);
		break;
	}
	return out;
}

static void op_text(const struct gus_program *p, uint32_t op, char out[SHORT + 1])
{
	const struct gus_op *o = &p->ops[op];

	snprintf(out, SHORT + 1, "%.*s%s", SHORT - 2, p->insns[o->insn].text, o->insns_n > 1 ? " +" : "");
}

/* One line a cause; those that take no time say what was waited for. */
static void print_causes(const struct gus_program *p, const struct gus_causality *c)
{
	char name[96], text[SHORT + 1];
	size_t shown = 0;
	double rest = 0;

	printf("\nWhat the time goes to, by causality (stream engine, %.2f cycles):\n   cycles   share  "
	       "instruction%*scarried by\n",
	       c->cycles, SHORT - 6, "");
	for (size_t i = 0; i < c->causes_n; i++) {
		const struct gus_cause *one = &c->causes[i];

		if (one->cycles < 0.005 * c->cycles || shown == SHOWN) {
			rest += one->cycles;
			continue;
		}
		shown++;
		op_text(p, one->op, text);
		gus_print("%9.2f %6.1f%%  %3" PRIu32 " %-*s %s\n", one->cycles, 100 * one->cycles / c->cycles,
			  p->insns[p->ops[one->op].insn].op + 1, SHORT, text, carrier(p, one, name, sizeof(name)));
	}
	if (rest > 0.005 * c->cycles)
		printf("%9.2f %6.1f%%      others\n", rest, 100 * rest / c->cycles);
}

/* A -> B -> A. */
static void print_chain(const struct gus_program *p, const struct gus_causality *c)
{
	char name[96];
	double cycles = 0;

	if (!c->chain_n)
		return;
	for (size_t i = 0; i < c->chain_n; i++)
		cycles += c->chain[i].cycles;
	printf("The path goes round in %.2f cycles", cycles);
	if (c->chain_iterations > 0)
		printf(" and %.4g iteration%s", c->chain_iterations, c->chain_iterations > 1 ? "s" : "");
	printf(" (%.0f %% of it):\n          ", 100 * c->chain_share);
	for (size_t i = 0; i < c->chain_n && i < HOPS; i++)
		gus_print(" %" PRIu32 " -%s %.2f->", c->chain[i].op + 1, carrier(p, &c->chain[i], name, sizeof(name)),
			  c->chain[i].cycles);
	if (c->chain_n > HOPS)
		printf(" ... ->");
	printf(" %" PRIu32 "\n", c->chain[0].op + 1);
}

void gus_model_causality_text(const struct gus_model_report *r)
{
	if (!r->settings->causality)
		return;
	print_causes(r->modelled->program, &r->modelled->causality);
	print_chain(r->modelled->program, &r->modelled->causality);
}

static json_t *cause(const struct gus_program *p, const struct gus_cause *c)
{
	char name[96];
	json_t *o = json_object();

	json_object_set_new(o, "op", json_integer(c->op));
	json_object_set_new(o, "offset", json_integer((json_int_t)p->insns[p->ops[c->op].insn].offset));
	json_object_set_new(o, "carried_by", gus_json_word(carrier(p, c, name, sizeof(name))));
	json_object_set_new(o, "cycles", json_real(c->cycles));
	return o;
}

json_t *gus_model_causality_json(const struct gus_model_report *r)
{
	const struct gus_causality *c = &r->modelled->causality;
	json_t *o = json_object(), *causes = json_array(), *chain = json_array();

	if (!r->settings->causality) {
		json_decref(o);
		json_decref(causes);
		json_decref(chain);
		return json_null();
	}
	for (size_t i = 0; i < c->causes_n; i++) {
		json_t *one = cause(r->modelled->program, &c->causes[i]);

		json_object_set_new(one, "times", json_real(c->causes[i].times));
		json_array_append_new(causes, one);
	}
	for (size_t i = 0; i < c->chain_n; i++)
		json_array_append_new(chain, cause(r->modelled->program, &c->chain[i]));
	json_object_set_new(o, "cycles", json_real(c->cycles));
	json_object_set_new(o, "causes", causes);
	json_object_set_new(o, "chain", chain);
	json_object_set_new(o, "chain_iterations", json_real(c->chain_iterations));
	json_object_set_new(o, "chain_share", json_real(c->chain_share));
	return o;
}
