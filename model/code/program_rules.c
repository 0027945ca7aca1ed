/* SPDX-License-Identifier: MIT */
/* What a table says about programs as such: its flags and policies, and what its ports are for.
 *
 * Tables name ports and say which of them a form uses, but not what for. The plainest load and the plainest store tell:
 * every port of theirs is one for loads, or for stores. Intel's store is two uops; its data port is called p4, and on
 * CPUs with two of them p4 and p9 (uops.info's names, which all our tables of Intel's CPUs use). AMD's and Arm's have
 * no port for data. */
#include <string.h>

#include "model/code/program_private.h"
#include "model/tables/uarch.h"

static const char *const data_ports[] = { "p4", "p9" };
static const char *const plain_loads[] = { "MOV (R64, M64)", "ldr (x, [x, imm])" };
static const char *const plain_stores[] = { "MOV (M64, R64)", "str (x, [x, imm])" };
static const char plain_vector_load[] = "MOVUPS (XMM, M128)";
static const char plain_addition[] = "ADD_01 (R64, R64)", plain_logic[] = "POR (XMM, XMM)";
enum { ISAS = sizeof(plain_loads) / sizeof(*plain_loads) }; /* a table has one's forms or the other's */

static const struct gus_uarch_row *row_of(const struct gus_uarch *u, const char *text)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(u, text);

	return form && form->row != GUS_UARCH_NONE ? &u->rows[form->row] : NULL;
}

const struct gus_uarch_row *gus_program_addition(const struct gus_uarch *u)
{
	return row_of(u, plain_addition);
}

const struct gus_uarch_row *gus_program_vector_logic(const struct gus_uarch *u)
{
	return row_of(u, plain_logic);
}

/* All ports that a form may use, of all its uops together. */
static uint64_t ports_of(const struct gus_uarch *u, const char *text)
{
	const struct gus_uarch_row *row = row_of(u, text);
	uint64_t ports = 0;

	for (uint32_t i = 0; row && i < row->uses_n; i++)
		ports |= u->groups[u->uses[row->uses + i].group].ports;
	return ports;
}

/* Of the plainest store, what is not a data port is for addresses. Ports may have two roles (p2 and p3 of Sandy
 * Bridge). */
static void find_roles(struct roles *r, const struct gus_uarch *u)
{
	*r = (struct roles){ 0 };
	for (size_t i = 0; i < sizeof(data_ports) / sizeof(*data_ports); i++) {
		uint32_t port = gus_uarch_group(u, data_ports[i]);

		if (port != GUS_UARCH_NONE)
			r->data |= u->groups[port].ports;
	}
	for (size_t i = 0; i < ISAS; i++) {
		r->load |= ports_of(u, plain_loads[i]);
		r->store |= ports_of(u, plain_stores[i]);
	}
	r->load |= ports_of(u, plain_vector_load); /* there may be ports that only words for vectors pass */
	r->address = r->store & ~r->data;
	/* Other makers may call some other port so: it is one for data only where stores go there. */
	r->split = (r->store & r->data) != 0;
}

static bool flag(const struct gus_uarch *u, const char *name)
{
	return gus_uarch_value(u, name, 0) != 0;
}

static bool word(const struct gus_uarch *u, const char *name, const char *is)
{
	const struct gus_uarch_param *p = gus_uarch_param(u, name);

	return p && p->word && strcmp(p->word, is) == 0;
}

/* Forms do not tell whether a branch is taken, so its ports are in a row that no form has (Skylake's p6; those that
 * fall through may use p0 as well). The ports of a taken branch, where the table knows them; 0: they are those of
 * any. */
static uint64_t taken_ports(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->rows_n; i++)
		if (*u->rows[i].id == 't' && strcmp(u->rows[i].id, "taken") == 0 && u->rows[i].uses_n)
			return u->groups[u->uses[u->rows[i].uses].group].ports;
	return 0;
}

/* Of a table that does not say: one latency for all loads, the L1 latency of Intel's CPUs up to Skylake. */
enum { L1_LATENCY = 4 };

void gus_program_find_rules(struct rules *r, const struct gus_uarch *u)
{
	double load = gus_uarch_value(u, "l1d_latency", L1_LATENCY);

	*r = (struct rules){
		.x86 = u->isa != GUS_ISA_ARM64,
		.zero_int = flag(u, "zero_idiom_int"),
		.zero_vector = flag(u, "zero_idiom_vector"),
		.ones = flag(u, "ones_idiom"),
		.move_int = flag(u, "move_elimination_int"),
		.move_vector = flag(u, "move_elimination_vector"),
		.move_byte = flag(u, "move_elimination_byte"),
		.move_same = flag(u, "move_elimination_same"),
		.high_merged = flag(u, "high_byte_merged"),
		.high = (uint16_t)gus_uarch_value(u, "high_byte_latency", 0),
		.immediate_add = flag(u, "immediate_add_elimination"),
		.stack_engine = flag(u, "stack_engine"),
		.micro_fusion = flag(u, "micro_fusion"),
		.rob_fused = gus_uarch_value(u, "rob_fused", true) != 0,
		.indexed_store = flag(u, "indexed_store_on_load_ports"),
		.indexed_never = word(u, "micro_fusion_indexed", "no"),
		.indexed_rmw = word(u, "micro_fusion_indexed", "rmw"),
		.high_apart = flag(u, "high8_renamed"),
		.shift_flags_new = flag(u, "shift_flags_new"),
		.loaded_base = word(u, "l1d_latency_base", "loaded"),
		.fusion = (enum fusion)gus_uarch_value(u, "macro_fusion", FUSION_NONE),
		.fusion_alu = flag(u, "macro_fusion_alu"),
		.nop_fusion = flag(u, "nop_fusion"),
		.load = (uint16_t)load,
		.load_indexed = (uint16_t)gus_uarch_value(u, "l1d_latency_indexed", load),
		.load_scaled = (uint16_t)gus_uarch_value(u, "l1d_latency_scaled", 0),
		.load_vector = (uint16_t)gus_uarch_value(u, "l1d_latency_vector", load),
	};
	r->taken = taken_ports(u);
	find_roles(&r->roles, u);
}
