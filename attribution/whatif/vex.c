/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/vex.h"

#include <stdlib.h>

#include "attribution/whatif/packs.h"
#include "symbolizer/insn/insn.h"

enum { SP = 4, BP = 5 };

static void byte(struct gus_code_bytes *out, unsigned value)
{
	gus_vec_push(out, (uint8_t)value);
}

static unsigned number(unsigned reg)
{
	return reg - GUS_X86_RAX;
}

/* Base, index and displacement as they are encoded. */
struct address {
	bool has_base, has_index, relative;
	unsigned base, index, scale;
	int64_t displacement;
};

static struct address address_of(const struct gus_vex_place *rm)
{
	const struct gus_insn_memory *m = rm->memory;
	struct address a = { .relative = m->base == GUS_X86_RIP, .has_base = m->base >= GUS_X86_RAX &&
		m->base <= GUS_X86_R15, .has_index = m->index != 0, .scale = m->scale ? m->scale : 1,
		.displacement = m->displacement + rm->offset };

	a.base = a.has_base ? number(m->base) : 0;
	a.index = a.has_index ? number(m->index) : 0;
	if (rm->vector_index == GUS_VEX_NO_INDEX)
		return a;
	if (rm->index_is_base) { /* the other one is the base then, which is not scaled */
		a.has_base = a.has_index;
		a.base = a.index;
		a.scale = 1;
	}
	a.has_index = true;
	a.index = rm->vector_index;
	return a;
}

static void put_displacement(struct gus_code_bytes *out, int64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		byte(out, (unsigned)((uint64_t)value >> 8 * i & 0xff));
}

static void put_address(struct gus_code_bytes *out, unsigned reg, const struct address *a)
{
	unsigned log = a->scale == 8 ? 3 : a->scale == 4 ? 2 : a->scale == 2;
	bool small = a->displacement >= -128 && a->displacement <= 127;
	bool none = !a->displacement && (a->base & 7) != BP;
	unsigned mod = !a->has_base || none ? 0 : small ? 1 : 2;

	if (a->relative) {
		byte(out, (reg & 7) << 3 | BP);
		put_displacement(out, a->displacement, 4);
		return;
	}
	if (a->has_base && !a->has_index && (a->base & 7) != SP) {
		byte(out, mod << 6 | (reg & 7) << 3 | (a->base & 7));
	} else {
		byte(out, mod << 6 | (reg & 7) << 3 | SP);
		byte(out, log << 6 | (a->has_index ? a->index & 7 : SP) << 3 | (a->has_base ? a->base & 7 : BP));
	}
	if (!a->has_base || mod)
		put_displacement(out, a->displacement, a->has_base && mod == 1 ? 1 : 4);
}

void gus_vex_encode(struct gus_code_bytes *out, const struct gus_vex *v, bool wide, unsigned reg, unsigned vvvv,
		    const struct gus_vex_place *rm, int immediate)
{
	struct address a = rm->memory ? address_of(rm) : (struct address){ .base = rm->reg };
	unsigned r = reg >> 3, x = a.has_index ? a.index >> 3 : 0, b = a.base >> 3;
	unsigned tail = (~vvvv & 15) << 3 | (unsigned)wide << 2 | v->prefix;

	if (v->map == 1 && !v->w && !x && !b) {
		byte(out, 0xc5);
		byte(out, (r ? 0 : 0x80) | tail);
	} else {
		byte(out, 0xc4);
		byte(out, (r ? 0 : 0x80) | (x ? 0 : 0x40) | (b ? 0 : 0x20) | v->map);
		byte(out, (unsigned)v->w << 7 | tail);
	}
	byte(out, v->opcode);
	if (rm->memory)
		put_address(out, reg, &a);
	else
		byte(out, 0xc0 | (reg & 7) << 3 | (rm->reg & 7));
	if (immediate != GUS_VEX_NO_IMMEDIATE)
		byte(out, (unsigned)immediate & 0xff);
}
