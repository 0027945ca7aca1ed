/* SPDX-License-Identifier: MIT */
#include "model/calibration/body.h"

#include <string.h>

#include "model/calibration/emit.h"

enum {
	CHAIN_COPIES = 24,      /* a pass: what the branch back takes runs beside the chain */
	ARENA = 65536,
	FIRST_PLACE = 4096, PLACE = 256, /* where accesses go: each base to a place of its own */
	DESTINATIONS = 14,      /* that copies write in turn, at most ... */
	FEW_DESTINATIONS = 3,   /* ... and of what does not read them, in a mix */
	BASES_UPDATED = 8,      /* so that a word is not needed again before it is stored */
};

/* Values in general registers, and vectors' as bits of doubles, or of two floats. */
static const uint64_t some_count = 3;
static const uint64_t quotients[GUS_DIGITS] = { 1, 0x7fffffffffffffff };
static const uint64_t divisors[2][GUS_DIGITS] = { { 0x3ff0000000000000, 0x3ff0000123456789 },
						  { 0x3f8000003f800000, 0x3f8001233f800123 } };
static const uint64_t digits_back[2] = { 0x0005555555555555, 0x0055555500555555 };
static const uint64_t one_fourth[2] = { 0x3fd0000000000000, 0x3e8000003e800000 };

/* A body that is being written. */
struct body {
	struct gus_micro *k;
	const struct gus_pool *pool;
	struct gus_link_style style;
	bool used[GUS_INSN_REGS];
	uint64_t value[GUS_INSN_REGS];  /* of general registers; of vectors that have `special` */
	bool special[GUS_INSN_REGS];
	bool is_base[GUS_INSN_REGS];
	int64_t place[GUS_INSN_REGS];   /* of bases: where the access goes */
	unsigned bases;
	unsigned scratch;               /* a general register that nobody reads */
	uint64_t memory;                /* what places hold; 0: what vectors do */
};

/* Which registers a copy has. */
struct lane {
	const struct gus_subject *s;
	uint8_t to[GUS_INSN_OPERANDS];
	uint8_t turn[GUS_INSN_OPERANDS][DESTINATIONS]; /* of operands that take turns */
	unsigned turns[GUS_INSN_OPERANDS];
	unsigned done;                  /* copies that were written */
};

bool gus_body_has_digits(const struct gus_subject *s)
{
	return gus_insn_class_divides((enum gus_insn_class)s->info.class);
}

/* Of the x86 mnemonics of division and root: singles end in ss or ps. */
static bool is_single(const struct gus_subject *s)
{
	if (s->isa == GUS_ISA_ARM64)
		return strstr(s->form, "s,") && !strstr(s->form, "2d");
	return strstr(s->form, "SS") || strstr(s->form, "PS");
}

struct gus_link_style gus_body_style(const struct gus_subject *s)
{
	return (struct gus_link_style){
		.isa = s->isa, .vex = s->info.flags & (GUS_INSN_VEX | GUS_INSN_EVEX),
		.vector_bits = s->info.vector_bits < 128 ? 128 : s->info.vector_bits };
}

static void body_begin(struct body *b, const struct gus_pool *pool, const struct gus_subject *s, const char *what)
{
	*b = (struct body){ .pool = pool, .style = gus_body_style(s) };
	b->k = gus_micro_new(s->isa, "%s %.50s", what, s->form);
	b->k->arena = ARENA;
	for (unsigned i = 0; i < GUS_INSN_REGS; i++)
		b->value[i] = some_count;
}

static void keep_implied(struct body *b, const struct gus_subject *s)
{
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].operand < 0)
			b->used[s->end[i].reg] = true;
}

static bool fits(const struct gus_subject *s, int operand, unsigned reg)
{
	uint8_t to[GUS_INSN_OPERANDS] = { 0 }, out[GUS_INSN_BYTES];

	if (operand < 0)
		return true;
	for (unsigned i = 0; i < s->operands; i++)
		if ((int)i == operand || (s->tied && s->like[i] == s->like[operand]))
			to[i] = (uint8_t)reg;
	return gus_insn_renamed(s->isa, s->bytes, s->size, to, out);
}

/* A free register of a file that the operand may be in; 0 if there is none left. */
static unsigned take(struct body *b, enum gus_insn_file file, const struct gus_subject *s, int operand)
{
	const uint8_t *regs = file == GUS_INSN_FILE_VECTOR ? b->pool->vector
		: file == GUS_INSN_FILE_MASK ? b->pool->mask : b->pool->general;
	unsigned n = file == GUS_INSN_FILE_VECTOR ? b->pool->vector_n
		: file == GUS_INSN_FILE_MASK ? b->pool->mask_n : b->pool->general_n;

	while (n-- > 0)
		if (!b->used[regs[n]] && fits(s, operand, regs[n])) {
			b->used[regs[n]] = true;
			return regs[n];
		}
	return 0;
}

/* A base is where it has to be for the access to go to a place of its own. */
static bool take_base(struct body *b, const struct gus_subject *s, unsigned reg)
{
	if (!reg)
		return false;
	b->is_base[reg] = s->info.memory[0].use;
	b->place[reg] = FIRST_PLACE + PLACE * b->bases++;
	b->value[reg] = (uint64_t)(b->place[reg] - s->info.memory[0].displacement);
	return true;
}

static bool take_address(struct body *b, struct lane *l, const struct gus_subject_end *e)
{
	bool updated = gus_subject_loads(l->s) && gus_subject_stores(l->s);
	unsigned o = (unsigned)e->operand;

	if (!e->base || !l->s->info.memory[0].use) {
		l->to[o] = (uint8_t)take(b, GUS_INSN_FILE_GENERAL, l->s, e->operand);
		b->value[l->to[o]] = 0;
		return l->to[o];
	}
	for (l->turns[o] = 0; l->turns[o] < (updated ? BASES_UPDATED : 1); l->turns[o]++) {
		unsigned reg = take(b, GUS_INSN_FILE_GENERAL, l->s, e->operand);

		if (!take_base(b, l->s, reg))
			break;
		l->turn[o][l->turns[o]] = (uint8_t)reg;
	}
	l->to[o] = l->turn[o][0];
	return l->turns[o];
}

/* Gives each operand that is only read a register. `but`: an end that the caller sees to. */
static bool take_sources(struct body *b, struct lane *l, int but)
{
	for (unsigned i = 0; i < l->s->ends; i++) {
		const struct gus_subject_end *e = &l->s->end[i];

		if (e->operand < 0 || (int)i == but)
			continue;
		if (e->carrier == GUS_CARRIER_ADDRESS) {
			if (!take_address(b, l, e))
				return false;
		} else if (!e->write) {
			l->to[e->operand] = (uint8_t)take(b, (enum gus_insn_file)e->carrier, l->s, e->operand);
			if (!l->to[e->operand])
				return false;
		}
	}
	return true;
}

/* The last vector that is only read divides; what is implied is divided, but its upper half. */
static void set_division(struct body *b, const struct lane *l, enum gus_digits digits)
{
	const struct gus_subject *s = l->s;
	unsigned divisor = 0, bits = 64;

	for (unsigned i = 0; i < s->ends; i++) {
		const struct gus_subject_end *e = &s->end[i];

		if (e->operand >= 0 && e->read && !e->write && e->carrier != GUS_CARRIER_ADDRESS)
			divisor = l->to[e->operand], bits = e->bits;
	}
	if (s->info.class == GUS_INSN_DIV) {
		if (s->info.memory_count)
			bits = s->info.memory[0].bits;
		for (unsigned i = 0; i < s->ends; i++)
			if (s->end[i].operand < 0)
				b->value[s->end[i].reg] = 0;
		if (s->isa == GUS_ISA_X86_64)
			b->value[GUS_X86_RAX] = quotients[digits] >> (64 - bits);
		b->value[divisor] = b->memory = 1;
		return;
	}
	b->value[divisor] = b->memory = divisors[is_single(s)][digits];
	b->special[divisor] = divisor;
}

static void set_values(struct body *b, const struct lane *l, enum gus_digits digits)
{
	const struct gus_subject *s = l->s;

	if (s->info.class == GUS_INSN_DIV || s->info.class == GUS_INSN_FP_DIV)
		set_division(b, l, digits);
	if (s->info.class != GUS_INSN_FP_SQRT || digits != GUS_DIGITS_FEW)
		return;
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].operand >= 0 && !s->end[i].write && s->end[i].carrier == GUS_CARRIER_VECTOR) {
			b->special[l->to[s->end[i].operand]] = true;
			b->value[l->to[s->end[i].operand]] = one_fourth[is_single(s)];
		}
	b->memory = one_fourth[is_single(s)];
}

/* All elements of a vector register get what its lowest double is; on arm64 there are two. */
static void spread(struct body *b, unsigned v)
{
	static const uint8_t unpck[] = { 0x66, 0x0f, 0x14, 0xc0 }, by32[] = { 0xc4, 0xe2, 0x7d, 0x19, 0xc0 },
		by64[] = { 0x62, 0xf2, 0xfd, 0x48, 0x19, 0xc0 }, dup[] = { 0x00, 0x04, 0x08, 0x4e };
	const uint8_t *bytes = b->style.isa == GUS_ISA_ARM64 ? dup : b->style.vector_bits == 512 ? by64
		: b->style.vex ? by32 : unpck;
	size_t size = bytes == dup ? sizeof(dup) : bytes == by64 ? sizeof(by64)
		: bytes == by32 ? sizeof(by32) : sizeof(unpck);
	uint8_t to[GUS_INSN_OPERANDS] = { b->pool->vector[v], b->pool->vector[v] }, out[GUS_INSN_BYTES];

	size = gus_insn_renamed(b->style.isa, bytes, size, to, out);
	gus_emit_bytes(b->k, out, size);
}

static void set_vector(struct body *b, unsigned v, uint64_t bits)
{
	gus_emit_constant(b->k, 0, bits);
	gus_emit_to_vector(b->k, v, 0);
	if (!b->style.vex)
		spread(b, v);
}

static void fill_place(struct body *b, unsigned v, int64_t place)
{
	const struct gus_micro_access nowhere = { 0 };

	for (int32_t at = 0; at < PLACE; at += 16)
		gus_emit_store_vector(b->k, v, 16, GUS_EMIT_ARENA, (int32_t)place + at, nowhere);
}

/* What every mask of the pool is: all ones. */
static void set_masks(struct body *b)
{
	static const uint8_t ones[] = { 0xc5, 0xf4, 0x46, 0xc9 };
	uint8_t to[GUS_INSN_OPERANDS], out[GUS_INSN_BYTES];

	for (unsigned i = 0; i < b->pool->mask_n; i++) {
		memset(to, b->pool->mask[i], sizeof(to));
		gus_emit_bytes(b->k, out, gus_insn_renamed(b->style.isa, ones, sizeof(ones), to, out));
	}
}

/* All before the loop: memory, vectors, then general registers. */
static void prologue(struct body *b, bool masks)
{
	const struct gus_pool *p = b->pool;

	gus_emit_begin(b->k);
	if (b->memory)
		set_vector(b, 0, b->memory);
	for (unsigned r = 0; r < p->general_n; r++)
		if (b->is_base[p->general[r]])
			fill_place(b, 0, b->place[p->general[r]]);
	for (unsigned v = 0; v < p->vector_n; v++) {
		if (b->special[p->vector[v]] || (b->memory && !v))
			set_vector(b, v, b->special[p->vector[v]] ? b->value[p->vector[v]] : 0x400921fb54442d18);
		if (b->style.vex)
			spread(b, v);
	}
	if (b->style.vex)
		b->k->wide = true;
	if (masks)
		set_masks(b);
	for (unsigned r = 0; r < p->general_n; r++) {
		if (b->is_base[p->general[r]])
			gus_emit_address(b->k, r, (int64_t)b->value[p->general[r]]);
		else
			gus_emit_constant(b->k, r, b->value[p->general[r]]);
	}
	gus_emit_loop(b->k);
}

static bool has_masks(const struct gus_subject *s)
{
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].carrier == GUS_CARRIER_MASK)
			return true;
	return false;
}

/* One copy, with registers in turn where there are several. False if its form has none of these. */
static bool put_copy(struct body *b, struct lane *l)
{
	uint8_t to[GUS_INSN_OPERANDS], out[GUS_INSN_BYTES];
	int64_t place = 0;
	size_t size;

	memcpy(to, l->to, sizeof(to));
	for (unsigned i = 0; i < l->s->operands; i++)
		if (l->turns[i])
			to[i] = l->turn[i][l->done % l->turns[i]];
	for (unsigned i = 0; l->s->tied && i < l->s->operands; i++)
		to[i] = to[l->s->like[i]];
	size = gus_insn_renamed(l->s->isa, l->s->bytes, l->s->size, to, out);
	if (!size)
		return false;
	gus_emit_bytes(b->k, out, size);
	for (unsigned i = 0; i < l->s->operands; i++)
		if ((l->s->operand[i].use & GUS_ACCESS_ADDRESS) && b->is_base[to[i]])
			place = b->place[to[i]];
	if (l->s->info.memory_count && l->s->info.memory[0].use)
		gus_vec_push(&b->k->accesses, (struct gus_micro_access){ .way = GUS_MICRO_FIXED, .offset = place });
	l->done++;
	return true;
}

/* Chains. */

static unsigned reg_of(const struct lane *l, const struct gus_subject_end *e)
{
	return e->operand < 0 ? e->reg : l->to[e->operand];
}

static bool put_link(struct body *b, struct gus_chain *c, enum gus_link link, unsigned to, unsigned from)
{
	unsigned constant = gus_insn_file(b->style.isa, to) == GUS_INSN_FILE_VECTOR ? b->pool->vector[0]
									       : b->scratch;

	c->links[link]++;
	return gus_link_emit(b->k, &b->style, link, to, from, constant);
}

/* From a result to an operand. */
static bool put_way(struct body *b, struct gus_chain *c, enum gus_carrier from, unsigned from_reg,
		    enum gus_carrier to, unsigned to_reg, unsigned between)
{
	enum gus_carrier target = to == GUS_CARRIER_ADDRESS ? GUS_CARRIER_GENERAL : to, at = from;
	unsigned reg = from_reg;

	while (at != target) {
		enum gus_carrier next;
		enum gus_link link = gus_link_towards(at, target, &next);
		unsigned next_reg = next == to ? to_reg : between;

		if (link == GUS_LINK_NONE || !put_link(b, c, link, next_reg, reg))
			return false;
		at = next;
		reg = next_reg;
	}
	if (to == GUS_CARRIER_ADDRESS)
		return put_link(b, c, GUS_LINK_ZERO, reg, reg) && put_link(b, c, GUS_LINK_ADD, to_reg, reg);
	if (from == to && reg != to_reg)
		return to == GUS_CARRIER_GENERAL && put_link(b, c, GUS_LINK_ADD, to_reg, reg);
	return true;
}

/* How the two ends of a chain are joined: by being one register, by two that take turns, or by links. */
enum joint { JOINT_ONE, JOINT_TURNS, JOINT_LINKS };

static enum joint joint_of(const struct gus_subject *s, const struct gus_subject_end *from,
			   const struct gus_subject_end *to)
{
	if (from == to)
		return JOINT_ONE;
	if (from->carrier != to->carrier &&
	    (from->carrier != GUS_CARRIER_ADDRESS || to->carrier != GUS_CARRIER_GENERAL || s->info.memory[0].use))
		return JOINT_LINKS;
	if (from->carrier == GUS_CARRIER_FLAGS)
		return from->reg == to->reg ? JOINT_ONE : JOINT_LINKS;
	if (from->operand < 0 && to->operand < 0)
		return from->reg == to->reg ? JOINT_ONE : JOINT_LINKS;
	if (from->operand >= 0 && to->operand >= 0 && (to->read || (s->info.flags & GUS_INSN_MOVE)))
		return JOINT_TURNS;
	return JOINT_ONE;
}

static enum gus_insn_file file_of(const struct gus_subject_end *e)
{
	return e->carrier == GUS_CARRIER_ADDRESS ? GUS_INSN_FILE_GENERAL
		: e->carrier == GUS_CARRIER_FLAGS ? GUS_INSN_FILE_NONE : (enum gus_insn_file)e->carrier;
}

/* Registers of both ends, a the one that the chain is in; with turns, the operands change from copy to copy. */
static bool take_ends(struct body *b, struct lane *l, const struct gus_subject_end *from,
		      const struct gus_subject_end *to, enum joint joint)
{
	bool apart = joint != JOINT_ONE;
	unsigned a, z;

	a = from->operand >= 0 && (apart || to->operand >= 0) ? take(b, file_of(from), l->s, from->operand)
		: from->operand < 0 ? from->reg : to->reg;
	z = !apart ? a : to->operand >= 0 ? take(b, file_of(to), l->s, to->operand) : to->reg;
	if ((file_of(from) && !a) || (file_of(to) && !z))
		return false;
	if (from->operand >= 0)
		l->to[from->operand] = (uint8_t)a;
	if (to->operand >= 0)
		l->to[to->operand] = (uint8_t)z;
	if (from->carrier == GUS_CARRIER_ADDRESS && from->base && l->s->info.memory[0].use)
		take_base(b, l->s, a);
	else if (from->carrier == GUS_CARRIER_ADDRESS)
		b->value[a] = 0;
	if (joint != JOINT_TURNS)
		return true;
	l->turn[from->operand][0] = l->turn[to->operand][1] = (uint8_t)a;
	l->turn[from->operand][1] = l->turn[to->operand][0] = (uint8_t)z;
	l->turns[from->operand] = l->turns[to->operand] = 2;
	return true;
}

/* Others that are written, but not followed. */
static bool take_others(struct body *b, struct lane *l, int from, int to)
{
	for (unsigned i = 0; i < l->s->ends; i++) {
		const struct gus_subject_end *e = &l->s->end[i];

		if (e->operand < 0 || (int)i == from || (int)i == to || !e->write)
			continue;
		l->to[e->operand] = (uint8_t)take(b, file_of(e), l->s, e->operand);
		if (!l->to[e->operand])
			return false;
	}
	return true;
}

static bool fill_chain(struct body *b, struct lane *l, struct gus_chain *c, enum joint joint, unsigned between)
{
	const struct gus_subject_end *from = &l->s->end[c->from], *to = &l->s->end[c->to];
	bool digits = l->s->info.class == GUS_INSN_FP_SQRT && c->digits == GUS_DIGITS_MANY;

	for (unsigned i = 0; i < CHAIN_COPIES; i++) {
		memset(c->links, 0, sizeof(c->links));
		if (!put_copy(b, l))
			return false;
		if (joint == JOINT_LINKS &&
		    !put_way(b, c, to->carrier, reg_of(l, to), from->carrier, reg_of(l, from), between))
			return false;
		if (digits && to->carrier == GUS_CARRIER_VECTOR &&
		    !put_link(b, c, GUS_LINK_DIGITS, joint == JOINT_TURNS ? l->turn[to->operand][i & 1]
								  : reg_of(l, to), 0))
			return false;
	}
	c->copies = CHAIN_COPIES;
	return true;
}

static bool build_chain(struct body *b, const struct gus_subject *s, struct gus_chain *c, enum joint joint)
{
	const struct gus_subject_end *from = &s->end[c->from], *to = &s->end[c->to];
	struct lane l = { .s = s };
	unsigned between;

	keep_implied(b, s);
	if (s->info.class == GUS_INSN_FP_SQRT && c->digits == GUS_DIGITS_MANY) {
		b->used[b->pool->vector[0]] = b->special[b->pool->vector[0]] = true;
		b->value[b->pool->vector[0]] = digits_back[is_single(s)];
	}
	b->style.flag = to->carrier == GUS_CARRIER_FLAGS ? to->reg : from->carrier == GUS_CARRIER_FLAGS ? from->reg : 0;
	if (!take_ends(b, &l, from, to, joint) || !take_others(b, &l, c->from, c->to) ||
	    !take_sources(b, &l, c->from))
		return false;
	b->scratch = take(b, GUS_INSN_FILE_GENERAL, NULL, -1);
	between = to->carrier == GUS_CARRIER_GENERAL ? reg_of(&l, to) : take(b, GUS_INSN_FILE_GENERAL, NULL, -1);
	if (!b->scratch || !between)
		return false;
	set_values(b, &l, c->digits);
	prologue(b, has_masks(s));
	if (!fill_chain(b, &l, c, joint, between))
		return false;
	gus_emit_end(b->k);
	return true;
}

struct gus_micro *gus_body_chain(const struct gus_subject *s, const struct gus_pool *pool, struct gus_chain *c)
{
	const struct gus_subject_end *from = &s->end[c->from], *to = &s->end[c->to];
	enum joint joint = joint_of(s, from, to);
	struct body b;

	body_begin(&b, pool, s, "chain");
	if (build_chain(&b, s, c, joint))
		return b.k;
	gus_micro_free(b.k);
	if (joint != JOINT_ONE || from == to || from->operand < 0 || to->operand < 0)
		return NULL;
	/* With one register it is another form. */
	body_begin(&b, pool, s, "chain");
	if (build_chain(&b, s, c, JOINT_TURNS))
		return b.k;
	gus_micro_free(b.k);
	return NULL;
}

struct gus_micro *gus_body_round_trip(const struct gus_link_style *style, const struct gus_pool *pool,
				      enum gus_carrier carrier, unsigned *copies)
{
	struct gus_micro *k = gus_micro_new(style->isa, "round trip to carrier %u", (unsigned)carrier);
	unsigned other = carrier == GUS_CARRIER_VECTOR ? pool->vector[1] : carrier == GUS_CARRIER_MASK ? pool->mask[0]
								 : pool->general[0];
	enum gus_carrier next;
	bool done = true;

	gus_emit_begin(k);
	gus_emit_loop(k);
	for (unsigned i = 0; i < CHAIN_COPIES; i++) {
		done &= gus_link_emit(k, style, gus_link_towards(GUS_CARRIER_GENERAL, carrier, &next), other,
				      pool->general[0], 0);
		done &= gus_link_emit(k, style, gus_link_towards(carrier, GUS_CARRIER_GENERAL, &next),
				      pool->general[0], other, pool->general[1]);
	}
	gus_emit_end(k);
	*copies = CHAIN_COPIES;
	if (done)
		return k;
	gus_micro_free(k);
	return NULL;
}

/* Streams. */

/* One more register for each operand that is written, as copies write them in turn. False: none is left. */
static bool take_turn(struct body *b, struct lane *l)
{
	unsigned written = 0, taken = 0, turn = 0;

	for (unsigned i = 0; i < l->s->ends; i++) {
		const struct gus_subject_end *e = &l->s->end[i];
		unsigned reg;

		if (e->operand < 0 || !e->write)
			continue;
		written++;
		turn = l->turns[e->operand];
		reg = turn < DESTINATIONS ? take(b, file_of(e), l->s, e->operand) : 0;
		l->turn[e->operand][turn % DESTINATIONS] = (uint8_t)(reg ? reg : l->turn[e->operand][0]);
		taken += !!reg;
	}
	if (!written || taken < written)
		return false;
	for (unsigned i = 0; i < l->s->ends; i++)
		if (l->s->end[i].operand >= 0 && l->s->end[i].write)
			l->turns[l->s->end[i].operand]++;
	return true;
}

static bool updates(const struct gus_subject *s)
{
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].operand >= 0 && s->end[i].write && s->end[i].read)
			return true;
	return false;
}

static bool writes(const struct gus_subject *s)
{
	for (unsigned i = 0; i < s->ends; i++)
		if (s->end[i].operand >= 0 && s->end[i].write)
			return true;
	return false;
}

/* Registers for results, evenly for both; but what does not read them needs only a few. */
static bool take_turns(struct body *b, struct lane lanes[], unsigned parts)
{
	bool more[GUS_STREAM_PARTS] = { true, parts > 1 };

	for (unsigned turn = 0; more[0] || more[1]; turn++)
		for (unsigned i = 0; i < parts; i++) {
			more[i] &= parts == 1 || turn < FEW_DESTINATIONS || updates(lanes[i].s);
			more[i] = more[i] && take_turn(b, &lanes[i]);
			if (!more[i] && !turn && writes(lanes[i].s))
				return false;
		}
	return true;
}

/* What has to begin anew before each copy, as it is read and written by implication. */
static bool is_carried(const struct gus_subject_end *e)
{
	return e->operand < 0 && e->read && e->write;
}

static void count_cuts(const struct gus_subject *s, struct gus_stream *stream)
{
	for (unsigned i = 0; i < s->ends; i++) {
		stream->constants += is_carried(&s->end[i]) && s->end[i].carrier == GUS_CARRIER_GENERAL;
		if (is_carried(&s->end[i]) && s->end[i].carrier == GUS_CARRIER_FLAGS)
			stream->tests = 1;
	}
}

static bool cut(struct body *b, const struct gus_subject *s)
{
	bool flags = false;

	for (unsigned i = 0; i < s->ends; i++) {
		const struct gus_subject_end *e = &s->end[i];

		if (!is_carried(e))
			continue;
		flags |= e->carrier == GUS_CARRIER_FLAGS;
		if (e->carrier == GUS_CARRIER_GENERAL)
			gus_emit_constant(b->k, (unsigned)gus_pool_find(b->pool, e->reg), b->value[e->reg]);
		else if (e->carrier != GUS_CARRIER_FLAGS)
			return false;
	}
	return !flags || gus_link_emit(b->k, &b->style, GUS_LINK_TO_FLAGS, 0, b->scratch, 0);
}

/* The second is dealt out among the first: as many of both as there should be so far. */
static bool deal(struct body *b, struct lane lanes[], struct gus_stream *s)
{
	unsigned steps = s->copies[0] > s->copies[1] ? s->copies[0] : s->copies[1];

	for (unsigned step = 1; step <= steps; step++)
		for (unsigned i = 0; i < GUS_STREAM_PARTS && s->subject[i]; i++)
			while (lanes[i].done < (step * s->copies[i] + steps / 2) / steps) {
				if (!s->uncut && !cut(b, s->subject[i]))
					return false;
				if (!put_copy(b, &lanes[i]))
					return false;
			}
	return true;
}

static bool build_stream(struct body *b, struct gus_stream *s)
{
	struct lane lanes[GUS_STREAM_PARTS] = { { .s = s->subject[0] }, { .s = s->subject[1] } };
	unsigned parts = s->subject[1] ? 2 : 1;
	bool masks = false;

	for (unsigned i = 0; i < parts; i++) {
		keep_implied(b, s->subject[i]);
		masks |= has_masks(s->subject[i]);
	}
	count_cuts(s->subject[0], s);
	b->scratch = take(b, GUS_INSN_FILE_GENERAL, NULL, -1);
	for (unsigned i = 0; i < parts; i++)
		if (!take_sources(b, &lanes[i], -1))
			return false;
	if (!take_turns(b, lanes, parts))
		return false;
	for (unsigned i = 0; i < parts; i++)
		set_values(b, &lanes[i], s->digits);
	prologue(b, masks);
	if (!deal(b, lanes, s))
		return false;
	gus_emit_end(b->k);
	return true;
}

struct gus_micro *gus_body_stream(const struct gus_pool *pool, struct gus_stream *s)
{
	struct body b;

	body_begin(&b, pool, s->subject[0], s->subject[1] ? "mix" : "stream");
	if (build_stream(&b, s))
		return b.k;
	gus_micro_free(b.k);
	return NULL;
}
