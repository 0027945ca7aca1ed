/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/packing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

/* Of each register: who writes it first and last in a turn. */
struct registers { uint32_t first[GUS_INSN_REGS], last[GUS_INSN_REGS]; };

static bool is_general(unsigned reg)
{
	return reg >= GUS_X86_RAX && reg <= GUS_X86_R15;
}

static bool is_vector(unsigned reg)
{
	return reg >= GUS_X86_V0 && reg < GUS_X86_MM0;
}

static bool is_flag(unsigned reg)
{
	return reg == GUS_X86_CF || reg == GUS_X86_OF || reg == GUS_X86_SZAP;
}

static bool is_data(unsigned reg)
{
	return is_general(reg) || is_vector(reg);
}

static char *in_the_way(const struct gus_turning_insn *insn, const char *why)
{
	struct gus_insn text;

	gus_insn_decode(GUS_ISA_X86_64, insn->bytes, insn->info->length, insn->address, &text);
	return gus_format("%s: %s", text.text, why);
}

/* What each instruction reads and writes. */

static void add_source(struct gus_packing_insn *i, unsigned reg)
{
	for (unsigned k = 0; k < i->sources_n; k++)
		if (i->sources[k] == reg)
			return;
	if (i->sources_n < GUS_PACKING_SOURCES)
		i->sources[i->sources_n++] = (uint8_t)reg;
}

/* An operation of one source reads its destination, or another register, for what it leaves as it was: those stand
 * before its source. */
static void read_operands(struct gus_packing_insn *i, const struct gus_insn_info *info)
{
	bool one = i->pack.kind == GUS_PACK_ONE || i->pack.kind == GUS_PACK_CONVERT ||
		(i->pack.kind == GUS_PACK_MOVE && info->vector_bits);
	bool loads = info->memory_count && info->memory[0].use & GUS_ACCESS_READ;
	unsigned last = 0;

	for (unsigned k = 0; k < info->access_count; k++) {
		const struct gus_insn_access *a = &info->access[k];

		if (!is_data(a->reg))
			continue;
		if (a->use & GUS_ACCESS_WRITE && !i->to)
			i->to = a->reg;
		if (!(a->use & GUS_ACCESS_READ) || (a->use & GUS_ACCESS_ADDRESS && i->pack.kind != GUS_PACK_ADDRESS))
			continue;
		if (!one)
			add_source(i, a->reg);
		else
			last = a->reg;
	}
	if (one && last && !loads)
		add_source(i, last);
	if (info->flags & (GUS_INSN_ZERO_IDIOM | GUS_INSN_ONES_IDIOM))
		i->sources_n = 0;
}

static bool reads_flags(const struct gus_insn_info *info)
{
	for (unsigned k = 0; k < info->access_count; k++)
		if (is_flag(info->access[k].reg) && info->access[k].use & GUS_ACCESS_READ)
			return true;
	return false;
}

static bool writes_flags(const struct gus_insn_info *info)
{
	for (unsigned k = 0; k < info->access_count; k++)
		if (info->access[k].reg == GUS_X86_SZAP && info->access[k].use & GUS_ACCESS_WRITE)
			return true;
	return false;
}

static void read_insns(struct gus_packing *p, struct registers *r)
{
	uint32_t flags = NOBODY;

	memset(r, 0xff, sizeof(*r));
	for (uint32_t n = 0; n < p->body->insns.n; n++) {
		const struct gus_turning_insn *insn = &p->body->insns.v[n];
		struct gus_packing_insn i = { .role = GUS_PACKING_PACKED, .flags_of = NOBODY };

		gus_pack_find(insn, &i.pack);
		read_operands(&i, insn->info);
		if (reads_flags(insn->info))
			i.flags_of = flags;
		if (insn->joined) {
			i.role = GUS_PACKING_NOTHING;
			gus_vec_push(&p->insns, i);
			continue;
		}
		if (writes_flags(insn->info))
			flags = n;
		for (unsigned k = 0; k < insn->info->access_count; k++) {
			const struct gus_insn_access *a = &insn->info->access[k];

			if (!is_data(a->reg) || !(a->use & GUS_ACCESS_WRITE))
				continue;
			if (r->first[a->reg] == NOBODY)
				r->first[a->reg] = n;
			r->last[a->reg] = n;
		}
		gus_vec_push(&p->insns, i);
	}
}

/* Who has written a register when an instruction reads it: before it in the turn, or in the turn before; NOBODY: it is
 * the same in all turns. */
static uint32_t writer_of(const struct gus_packing *p, const struct registers *r, uint32_t n, unsigned reg,
			  bool *before)
{
	*before = false;
	for (uint32_t k = n; k-- > 0;) {
		const struct gus_insn_info *info = p->body->insns.v[k].info;

		if (p->body->insns.v[k].joined)
			continue;
		for (unsigned a = 0; a < info->access_count; a++)
			if (info->access[a].reg == reg && info->access[a].use & GUS_ACCESS_WRITE)
				return k;
	}
	*before = r->last[reg] != NOBODY;
	return r->last[reg];
}

/* Control: what depends on nothing that is loaded, by additions of constants. */

static bool may_be_control(const struct gus_packing *p, uint32_t n)
{
	const struct gus_insn_info *info = p->body->insns.v[n].info;

	switch (info->class) {
	case GUS_INSN_ALU: case GUS_INSN_LEA: case GUS_INSN_SHIFT: case GUS_INSN_MOV: case GUS_INSN_MUL:
		return !info->vector_bits && !(info->flags & GUS_INSN_CONDITIONAL) &&
			(!info->memory_count || info->class == GUS_INSN_LEA);
	case GUS_INSN_NOP: case GUS_INSN_BRANCH: case GUS_INSN_BRANCH_COND:
		return true;
	default:
		return false;
	}
}

/* A register that has its own value of the turn before is a counter if nothing but additions are done to it. */
static bool counts(const struct gus_packing *p, uint32_t n)
{
	const struct gus_turning_insn *insn = &p->body->insns.v[n];
	static const char *const additions[] = { "ADD", "SUB", "INC", "DEC", "LEA", "MOV", "CMP" };

	for (size_t i = 0; i < sizeof(additions) / sizeof(*additions); i++)
		if (!strncmp(insn->form, additions[i], strlen(additions[i])))
			return true;
	return false;
}

/* Whether the value is one that the same instruction has made, in the turn before. */
static bool feeds_itself(const struct gus_packing *p, const struct registers *r, uint32_t n, uint32_t from,
			 unsigned depth)
{
	const struct gus_packing_insn *i = &p->insns.v[from];

	if (from == n)
		return true;
	for (unsigned k = 0; depth && k < i->sources_n; k++) {
		bool before;
		uint32_t w = writer_of(p, r, from, i->sources[k], &before);

		if (w != NOBODY && w != from && feeds_itself(p, r, n, w, depth - 1))
			return true;
	}
	return false;
}

static bool is_control(const struct gus_packing *p, const struct registers *r, uint32_t n)
{
	const struct gus_turning_insn *insn = &p->body->insns.v[n];
	const struct gus_packing_insn *i = &p->insns.v[n];
	bool chained = false;

	for (unsigned k = 0; k < insn->info->access_count; k++) {
		const struct gus_insn_access *a = &insn->info->access[k];
		bool before;
		uint32_t w;

		if (!is_data(a->reg) || !(a->use & GUS_ACCESS_READ))
			continue;
		if (insn->info->flags & (GUS_INSN_ZERO_IDIOM | GUS_INSN_ONES_IDIOM))
			continue;
		w = writer_of(p, r, n, a->reg, &before);
		if (w != NOBODY && p->insns.v[w].role != GUS_PACKING_CONTROL)
			return false;
		chained |= before && w != NOBODY && feeds_itself(p, r, n, w, 4);
	}
	if (i->flags_of != NOBODY && p->insns.v[i->flags_of].role != GUS_PACKING_CONTROL)
		return false;
	return !chained || counts(p, n);
}

static void find_control(struct gus_packing *p, const struct registers *r)
{
	bool changed = true;

	for (uint32_t n = 0; n < p->insns.n; n++)
		if (may_be_control(p, n) && !p->body->insns.v[n].joined)
			p->insns.v[n].role = GUS_PACKING_CONTROL;
	while (changed) {
		changed = false;
		for (uint32_t n = 0; n < p->insns.n; n++)
			if (p->insns.v[n].role == GUS_PACKING_CONTROL && !is_control(p, r, n)) {
				p->insns.v[n].role = GUS_PACKING_PACKED;
				changed = true;
			}
	}
}

/* Branches. What leads back to the head, or out of the loop, must be decided by control; what leads around something
 * becomes a mask. */
static char *judge_branches(struct gus_packing *p)
{
	const struct gus_turning *b = p->body;
	bool back = false;

	for (uint32_t n = 0; n < p->insns.n; n++) {
		const struct gus_turning_insn *insn = &b->insns.v[n];
		uint64_t last = b->insns.v[b->insns.n - 1].address;
		uint64_t to = insn->address + insn->info->length + (uint64_t)insn->info->immediate;
		bool is_back = gus_turning_goes_to(insn->info, insn->address, b->head);

		if (insn->info->class != GUS_INSN_BRANCH_COND && insn->info->class != GUS_INSN_BRANCH)
			continue;
		if (p->insns.v[n].role == GUS_PACKING_NOTHING)
			continue;
		if (p->insns.v[n].role == GUS_PACKING_PACKED && (is_back || to < b->head || to > last))
			return in_the_way(insn, "what is loaded decides whether there is another turn");
		if (p->insns.v[n].role == GUS_PACKING_PACKED || insn->info->class == GUS_INSN_BRANCH) {
			p->masked |= p->insns.v[n].role == GUS_PACKING_PACKED;
			p->insns.v[n].role = is_back ? GUS_PACKING_CONTROL : GUS_PACKING_NOTHING;
		}
		back |= is_back;
	}
	return back ? NULL : gus_strdup("its branch back was not seen");
}

/* Accesses. */

static bool known(const struct gus_packing *p, size_t turn, uint32_t access)
{
	return gus_turning_access(p->body, turn, access)->known;
}

/* By all pairs of neighbouring turns of a stay; nearly all must agree, as a stay may begin again within it. */
static void find_way(const struct gus_packing *p, uint32_t access, struct gus_packing_access *a)
{
	uint64_t same = 0, all = 0;
	int64_t stride = 0;
	int sure = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t turn = 1; turn < p->body->turns.n; turn++) {
			int64_t d;

			if (p->body->turns.v[turn].first || !known(p, turn, access) || !known(p, turn - 1, access))
				continue;
			d = (int64_t)(gus_turning_access(p->body, turn, access)->address -
				      gus_turning_access(p->body, turn - 1, access)->address);
			all += pass;
			same += pass && d == stride;
			if (pass)
				continue;
			if (sure == 0)
				stride = d;
			sure += d == stride ? 1 : -1;
		}
	a->stride = stride;
	if (!all || same < all - all / 100)
		a->way = GUS_PACKING_ANYWHERE;
	else if (!stride)
		a->way = GUS_PACKING_SAME;
	else
		a->way = llabs(stride) == (int64_t)a->bytes ? GUS_PACKING_BESIDE : GUS_PACKING_APART;
}

static char *find_accesses(struct gus_packing *p)
{
	for (uint32_t n = 0; n < p->insns.n; n++) {
		const struct gus_turning_insn *insn = &p->body->insns.v[n];

		for (uint32_t k = 0; k < insn->accesses_n; k++) {
			const struct gus_insn_memory *m = &insn->info->memory[k < GUS_INSN_MEMORIES ? k : 0];
			struct gus_packing_access a = { .insn = n, .bytes = m->bits / 8,
				.store = m->use & GUS_ACCESS_WRITE };

			find_way(p, insn->access + k, &a);
			gus_vec_push(&p->accesses, a);
			if (insn->joined || p->insns.v[n].role == GUS_PACKING_CONTROL)
				continue;
			if (a.store && m->use & GUS_ACCESS_READ)
				return in_the_way(insn, "it changes what is in memory");
			if (a.store && a.way == GUS_PACKING_SAME)
				return in_the_way(insn, "each turn writes the same place");
		}
	}
	return NULL;
}

/* How many turns are between an access and one of later turns to the same bytes, if they are fewer than that. */
static unsigned distance(const struct gus_packing *p, uint32_t early, uint32_t late, unsigned most)
{
	const struct gus_packing_access *x = &p->accesses.v[early], *y = &p->accesses.v[late];

	for (size_t turn = 1; turn < p->body->turns.n; turn++) {
		uint64_t at = gus_turning_access(p->body, turn, late)->address;

		for (unsigned d = 1; d < most && d <= turn && !p->body->turns.v[turn + 1 - d].first; d++) {
			uint64_t was = gus_turning_access(p->body, turn - d, early)->address;

			if (known(p, turn, late) && known(p, turn - d, early) && was < at + y->bytes &&
			    at < was + x->bytes)
				return d;
		}
	}
	return 0;
}

/* A load of what one of the last turns has stored; or a store that overtakes the load of an earlier turn behind it. */
static char *find_carried(const struct gus_packing *p, unsigned turns)
{
	for (uint32_t s = 0; s < p->accesses.n; s++)
		for (uint32_t l = 0; p->accesses.v[s].store && l < p->accesses.n; l++) {
			const struct gus_turning_insn *store = &p->body->insns.v[p->accesses.v[s].insn];
			unsigned d;

			if (p->accesses.v[l].store || store->joined)
				continue;
			d = distance(p, s, l, turns);
			if (d)
				return in_the_way(store, d == 1 ? "the next turn loads what it stores" :
						  "one of the next turns loads what it stores");
			if (p->accesses.v[l].insn > p->accesses.v[s].insn && distance(p, l, s, turns))
				return in_the_way(store, "it stores what a load behind it still needs");
		}
	return NULL;
}

/* What makes nothing but addresses of accesses that lie anywhere is index; that of other accesses is hoisted, or part
 * of the control. */

static bool feeds_data(const struct gus_packing *p, const struct registers *r, uint32_t n)
{
	for (uint32_t k = 0; k < p->insns.n; k++) {
		const struct gus_packing_insn *i = &p->insns.v[k];
		bool before;

		if (i->role == GUS_PACKING_NOTHING || i->role == GUS_PACKING_INDEX || i->role == GUS_PACKING_CONTROL)
			continue;
		for (unsigned s = 0; s < i->sources_n; s++)
			if (writer_of(p, r, k, i->sources[s], &before) == n)
				return true;
		if (i->flags_of == n)
			return true;
	}
	return false;
}

static bool feeds_index(const struct gus_packing *p, const struct registers *r, uint32_t n)
{
	for (uint32_t k = 0; k < p->insns.n; k++) {
		const struct gus_insn_info *info = p->body->insns.v[k].info;
		bool before;

		if (p->insns.v[k].role == GUS_PACKING_INDEX)
			for (unsigned s = 0; s < p->insns.v[k].sources_n; s++)
				if (writer_of(p, r, k, p->insns.v[k].sources[s], &before) == n)
					return true;
		for (unsigned a = 0; a < info->access_count; a++)
			if (info->access[a].use & GUS_ACCESS_ADDRESS && is_data(info->access[a].reg) &&
			    writer_of(p, r, k, info->access[a].reg, &before) == n)
				return true;
	}
	return false;
}

static void find_index(struct gus_packing *p, const struct registers *r)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t n = 0; n < p->insns.n; n++)
			if (p->insns.v[n].role == GUS_PACKING_PACKED && is_general(p->insns.v[n].to) &&
			    feeds_index(p, r, n) && !feeds_data(p, r, n)) {
				p->insns.v[n].role = GUS_PACKING_INDEX;
				changed = true;
			}
	}
}

/* Values that a turn has from the one before. */

/* Where the accumulator stands among the operands: of a fused product the addend must be it. */
static bool adds_to(const struct gus_packing *p, uint32_t n, unsigned reg)
{
	const struct gus_turning_insn *insn = &p->body->insns.v[n];
	const struct gus_insn_access *a = insn->info->access;
	unsigned addend = strstr(insn->form, "231") ? 0 : strstr(insn->form, "132") ? 1 : 2;

	if (p->insns.v[n].pack.kind != GUS_PACK_FMA)
		return true;
	return addend < insn->info->access_count && a[addend].reg == reg;
}

/* Follows the value from one operation to the next, up to the end of the turn: each must be one that can be done in any
 * order, or a move, and nobody else may see it on its way. */
static char *follow(struct gus_packing *p, unsigned reg)
{
	unsigned at = reg;

	for (uint32_t n = 0; n < p->insns.n; n++) {
		struct gus_packing_insn *i = &p->insns.v[n];
		bool reads = false;

		if (i->role == GUS_PACKING_NOTHING || i->role == GUS_PACKING_CONTROL)
			continue;
		for (unsigned s = 0; s < i->sources_n; s++)
			reads |= i->sources[s] == at;
		if (!reads)
			continue;
		if (i->pack.kind == GUS_PACK_MOVE && !p->body->insns.v[n].accesses_n) {
			at = i->to;
			continue;
		}
		if (i->pack.kind == GUS_PACK_COMPARE || i->pack.kind == GUS_PACK_CHOOSE) {
			if (i->to) { /* an extreme, by a comparison */
				i->sum = (uint8_t)reg;
				i->sum_source = (uint8_t)at;
				at = i->to;
			}
			continue;
		}
		if (!i->pack.associative || !adds_to(p, n, at) || !i->to)
			return in_the_way(&p->body->insns.v[n], "it waits for its result of the turn before, and is "
					  "no sum, product or extreme");
		i->sum = (uint8_t)reg;
		i->sum_source = (uint8_t)at;
		p->reduces_fp |= i->pack.fp;
		at = i->to;
	}
	return at == reg ? NULL : gus_strdup("a value goes from turn to turn through several registers");
}

static bool is_carried_into(const struct gus_packing *p, const struct registers *r, uint32_t n, unsigned reg)
{
	const struct gus_packing_insn *i = &p->insns.v[n];
	bool before = false;

	for (unsigned s = 0; s < i->sources_n && i->role != GUS_PACKING_NOTHING; s++)
		if (i->sources[s] == reg)
			writer_of(p, r, n, reg, &before);
	return before;
}

/* A register is carried if it is read before it is written, and written by what is not control. */
static char *find_reductions(struct gus_packing *p, const struct registers *r)
{
	for (unsigned reg = 0; reg < GUS_INSN_REGS; reg++) {
		bool carried = false;

		if (!is_data(reg) || r->last[reg] == NOBODY || p->insns.v[r->last[reg]].role == GUS_PACKING_CONTROL)
			continue;
		for (uint32_t n = 0; n < p->insns.n; n++) {
			bool before = is_carried_into(p, r, n, reg);

			carried |= before;
			if (before && p->insns.v[n].role == GUS_PACKING_INDEX)
				return in_the_way(&p->body->insns.v[n],
						  "its address is made of what the turn before has made");
		}
		if (carried) {
			char *why = follow(p, reg);

			if (why)
				return why;
		}
	}
	return NULL;
}

/* A load whose address was loaded by itself, the turn before: a list. */
static char *find_chases(const struct gus_packing *p, const struct registers *r)
{
	for (uint32_t n = 0; n < p->insns.n; n++) {
		const struct gus_insn_info *info = p->body->insns.v[n].info;

		for (unsigned a = 0; a < info->access_count; a++) {
			bool before = false;
			uint32_t w;

			if (!(info->access[a].use & GUS_ACCESS_ADDRESS) || !is_data(info->access[a].reg) ||
			    p->insns.v[n].role == GUS_PACKING_CONTROL || p->insns.v[n].role == GUS_PACKING_NOTHING)
				continue;
			w = writer_of(p, r, n, info->access[a].reg, &before);
			if (before && p->insns.v[w].role != GUS_PACKING_CONTROL)
				return in_the_way(&p->body->insns.v[n],
						  "its address is made of what the turn before has loaded");
		}
	}
	return NULL;
}

/* What has no vector form. */
static char *find_misfits(struct gus_packing *p)
{
	for (uint32_t n = 0; n < p->insns.n; n++) {
		const struct gus_turning_insn *insn = &p->body->insns.v[n];
		struct gus_packing_insn *i = &p->insns.v[n];

		if (insn->info->class == GUS_INSN_CALL || insn->info->class == GUS_INSN_CALL_INDIRECT)
			return in_the_way(insn, "it calls");
		if (i->role == GUS_PACKING_PACKED && insn->info->class == GUS_INSN_NOP)
			i->role = GUS_PACKING_NOTHING;
		if (insn->info->flags & (GUS_INSN_ZERO_IDIOM | GUS_INSN_ONES_IDIOM) && i->role == GUS_PACKING_PACKED)
			i->role = GUS_PACKING_NOTHING;
		if (i->role != GUS_PACKING_PACKED || insn->info->class == GUS_INSN_BRANCH_COND)
			continue;
		if (insn->info->vector_bits > 128)
			return in_the_way(insn, "it is of vectors already");
		if (i->pack.kind == GUS_PACK_NONE)
			return in_the_way(insn, "no vector form of it is known");
	}
	return NULL;
}

static void measure(struct gus_packing *p)
{
	p->least = 8;
	for (uint32_t n = 0; n < p->insns.n; n++) {
		const struct gus_turning_insn *insn = &p->body->insns.v[n];
		const struct gus_packing_insn *i = &p->insns.v[n];

		if (i->role != GUS_PACKING_PACKED)
			continue;
		p->packed += i->pack.kind != GUS_PACK_NONE;
		p->arithmetic |= i->pack.kind != GUS_PACK_MOVE && i->pack.kind != GUS_PACK_NONE;
		for (unsigned k = 0; k < 2; k++) {
			unsigned bytes = k ? i->pack.from : i->pack.to;

			p->least = bytes && bytes < p->least ? bytes : p->least;
		}
		for (uint32_t k = 0; k < insn->accesses_n; k++) {
			p->ways[p->accesses.v[insn->access + k].way]++;
			p->memory |= p->accesses.v[insn->access + k].way != GUS_PACKING_SAME;
		}
	}
}

char *gus_packing_make(struct gus_packing *p, const struct gus_turning *b, unsigned bytes)
{
	struct registers *r = gus_alloc(sizeof(*r));
	char *why;

	*p = (struct gus_packing){ .body = b };
	read_insns(p, r);
	find_control(p, r);
	why = judge_branches(p);
	why = why ? why : find_misfits(p);
	why = why ? why : find_accesses(p);
	why = why ? why : find_chases(p, r);
	if (!why) {
		find_index(p, r);
		why = find_reductions(p, r);
	}
	if (!why) {
		measure(p);
		why = find_carried(p, bytes / p->least);
	}
	if (!why && !p->packed)
		why = gus_strdup("nothing in it works on what is loaded or stored");
	free(r);
	return why;
}

void gus_packing_free(struct gus_packing *p)
{
	gus_vec_free(&p->insns);
	gus_vec_free(&p->accesses);
}
