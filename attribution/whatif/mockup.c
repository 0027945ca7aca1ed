/* SPDX-License-Identifier: MIT */
/* First items, of values: each value is made once (virtual registers); then registers are given to them, and they are
 * encoded. Values that are the same in all turns share a register, as nobody writes it: how many there are does not
 * matter. What a turn has from the one before keeps its register. */
#include "attribution/whatif/mockup.h"

#include <stdlib.h>
#include <string.h>

enum { COPIES = 8, NONE = 0, SAME = 1, REGISTERS = 16 };

/* One instruction to be. */
struct item {
	const struct gus_turning_insn *as_it_is; /* NULL: a vector instruction */
	bool back;                              /* ... which is the branch back */
	struct gus_vex vex;
	uint32_t to, a, b, mask;                /* values: what it writes; VEX.vvvv; r/m; of a blend, the third */
	bool wide, idiom;                       /* idiom: its sources are its own register */
	bool tied;                              /* reads what it writes, which was value `a2` */
	bool to_rm, stores;                     /* r/m is what it writes; what `to` says is read */
	uint32_t a2;
	const struct gus_turning_insn *at;         /* whose memory r/m is; NULL: r/m is a register */
	uint32_t index;                         /* of a gather: the value */
	bool index_is_base;
	int64_t offset;
	int immediate;
	struct gus_mockup_access access;        /* turns 0: none */
};

/* Of elements of so many bytes, in n vectors. Smaller elements than an operation wants become larger there and not
 * before, as zeros or signs go with them for free until then: compilers do the same. */
struct value { uint8_t bytes, n; bool is_unsigned; uint32_t v[COPIES]; };

struct making {
	const struct gus_packing *p;
	unsigned bytes, turns;
	enum gus_mockup_mode mode;
	struct gus_vec(struct item) items;
	uint32_t values;                        /* so far */
	struct gus_vec(uint32_t) kept;          /* those whose registers outlive a turn */
	struct value of[GUS_INSN_REGS];         /* n 0: nothing yet */
	struct { struct value value; struct gus_vex vex; } sums[GUS_INSN_REGS]; /* carried from turn to turn */
	struct value masks[2];                  /* [0]: of the last comparison; n 0: none */
};

static const char *const mode_names[] = { "full", "partial", "gather" };

const char *gus_mockup_mode_name(enum gus_mockup_mode mode)
{
	return mode < GUS_MOCKUP_MODES ? mode_names[mode] : NULL;
}

static const struct gus_vex LOAD = { 1, 0, 0x10, 0 }, STORE = { 1, 0, 0x11, 0 }, LOAD_INT = { 1, 2, 0x6f, 0 },
	STORE_INT = { 1, 2, 0x7f, 0 }, EXTRACT = { 3, 1, 0x19, 0 }, INSERT = { 3, 1, 0x18, 0 },
	PERMUTE = { 2, 1, 0x36, 0 }, REORDER = { 3, 1, 0x00, 1 }, COPY = { 1, 0, 0x28, 0 },
	BLEND = { 3, 1, 0x4a, 0 }, SHUFFLE = { 1, 1, 0x70, 0 };

static uint32_t new_value(struct making *m)
{
	return ++m->values + SAME;
}

static uint32_t new_kept(struct making *m)
{
	uint32_t v = new_value(m);

	gus_vec_push(&m->kept, v);
	return v;
}

static unsigned copies(const struct making *m, unsigned bytes)
{
	unsigned n = m->turns * bytes / m->bytes;

	return n > COPIES ? COPIES : n ? n : 1;
}

static bool is_wide(const struct making *m, unsigned bytes)
{
	return m->bytes == 32 && m->turns * bytes >= 32;
}

static struct item *add(struct making *m, struct gus_vex vex, bool wide, uint32_t to)
{
	gus_vec_push(&m->items, (struct item){ .vex = vex, .wide = wide, .to = to,
		.immediate = GUS_VEX_NO_IMMEDIATE });
	return &m->items.v[m->items.n - 1];
}

static uint32_t one(struct making *m, struct gus_vex vex, bool wide, uint32_t from, int immediate)
{
	uint32_t to = new_value(m);
	struct item *i = add(m, vex, wide, to);

	i->b = from;
	i->immediate = immediate;
	return to;
}

static uint32_t two(struct making *m, struct gus_vex vex, bool wide, uint32_t a, uint32_t b, int immediate)
{
	uint32_t to = one(m, vex, wide, b, immediate);

	m->items.v[m->items.n - 1].a = a;
	return to;
}

static uint32_t upper_half(struct making *m, uint32_t of, bool wide)
{
	struct item *i;
	uint32_t to;

	if (!wide)
		return one(m, SHUFFLE, false, of, 0x4e);
	to = new_value(m);
	i = add(m, EXTRACT, true, of);
	i->to_rm = true;
	i->b = to;
	i->immediate = 1;
	return to;
}

static struct value same_value(unsigned bytes)
{
	return (struct value){ (uint8_t)bytes, 1, false, { SAME } };
}

static uint32_t copy_of(const struct value *v, unsigned c)
{
	return v->n == 1 ? v->v[0] : v->v[c < v->n ? c : v->n - 1u];
}

/* Elements of twice the size, each by one instruction for the lower and one for the upper half of a vector. */
static struct value widen(struct making *m, const struct value *from, struct gus_vex vex)
{
	struct value to = { (uint8_t)(2 * from->bytes), (uint8_t)copies(m, 2u * from->bytes), from->is_unsigned,
		{ 0 } };
	bool wide = is_wide(m, to.bytes);

	for (unsigned c = 0; c < to.n; c++) {
		uint32_t half = to.n == from->n || c % 2 == 0 ? copy_of(from, to.n == from->n ? c : c / 2) :
			upper_half(m, copy_of(from, c / 2), is_wide(m, from->bytes));

		to.v[c] = one(m, vex, wide, half, GUS_VEX_NO_IMMEDIATE);
	}
	return to;
}

/* Half the size: what two vectors make is put together in one. */
static struct value narrow(struct making *m, const struct value *from, struct gus_vex vex)
{
	struct value to = { (uint8_t)(from->bytes / 2), (uint8_t)copies(m, from->bytes / 2u), false, { 0 } };
	bool wide = is_wide(m, from->bytes);

	for (unsigned c = 0; c < to.n; c++) {
		uint32_t half = copy_of(from, to.n == from->n ? c : 2 * c);
		uint32_t low = one(m, vex, wide, half, GUS_VEX_NO_IMMEDIATE), high;

		to.v[c] = low;
		if (to.n == from->n)
			continue;
		high = one(m, vex, wide, copy_of(from, 2 * c + 1), GUS_VEX_NO_IMMEDIATE);
		if (m->bytes == 32)
			to.v[c] = two(m, INSERT, true, low, high, 1);
		else
			to.v[c] = two(m, (struct gus_vex){ 1, 1, 0x6c, 0 }, false, low, high, GUS_VEX_NO_IMMEDIATE);
	}
	return to;
}

/* Integers: the upper parts are masked away, and two vectors packed; across the halves of a wide one they then lie in
 * the wrong order. */
static struct value pack(struct making *m, const struct value *from)
{
	static const struct gus_vex packs[] = { [2] = { 1, 1, 0x67, 0 }, [4] = { 2, 1, 0x2b, 0 },
		[8] = { 1, 0, 0xc6, 0 } };
	struct value to = { (uint8_t)(from->bytes / 2), (uint8_t)copies(m, from->bytes / 2u), false, { 0 } };
	bool wide = is_wide(m, from->bytes), masks = from->bytes < 8;

	for (unsigned c = 0; c < to.n; c++) {
		uint32_t half[2];

		for (unsigned k = 0; k < 2; k++) {
			half[k] = copy_of(from, to.n == from->n ? c : 2 * c + k);
			if (masks && (!k || to.n != from->n))
				half[k] = two(m, (struct gus_vex){ 1, 1, 0xdb, 0 }, wide, half[k], SAME,
					      GUS_VEX_NO_IMMEDIATE);
		}
		to.v[c] = two(m, packs[from->bytes], wide, half[0], to.n == from->n ? half[0] : half[1],
			      masks ? GUS_VEX_NO_IMMEDIATE : 0x88);
		if (wide)
			to.v[c] = one(m, REORDER, true, to.v[c], 0xd8);
	}
	return to;
}

/* Of integers of another size. */
static struct value fit(struct making *m, struct value v, unsigned bytes)
{
	static const uint8_t opcodes[] = { [1] = 0x20, [2] = 0x23, [4] = 0x25 };

	if (v.v[0] == SAME || !v.bytes)
		return same_value(bytes);
	while (v.bytes < bytes)
		v = widen(m, &v, (struct gus_vex){ 2, 1, (uint8_t)(opcodes[v.bytes] + (v.is_unsigned ? 0x10 : 0)), 0 });
	while (v.bytes > bytes)
		v = pack(m, &v);
	return v;
}

/* What a register holds: made in this turn, or carried, or counted, or the same in all. */

static bool is_packed_later(const struct making *m, unsigned reg, bool *control)
{
	bool packed = false;

	*control = false;
	for (uint32_t n = 0; n < m->p->insns.n; n++) {
		const struct gus_packing_insn *i = &m->p->insns.v[n];

		packed |= i->role == GUS_PACKING_PACKED && i->to == reg;
		*control |= i->role == GUS_PACKING_CONTROL && i->to == reg;
	}
	return packed;
}

static struct value value_of(struct making *m, unsigned reg, unsigned bytes)
{
	struct value *v = &m->of[reg];
	bool control;

	if (v->n)
		return *v;
	*v = same_value(bytes);
	if (is_packed_later(m, reg, &control)) {
		v->n = (uint8_t)copies(m, bytes);
		for (unsigned c = 0; c < v->n; c++)
			v->v[c] = new_kept(m);
		m->sums[reg].value = *v;
	} else if (control) {
		static const struct gus_vex adds[] = { [1] = { 1, 1, 0xfc, 0 }, [2] = { 1, 1, 0xfd, 0 },
			[4] = { 1, 1, 0xfe, 0 }, [8] = { 1, 1, 0xd4, 0 } };

		v->n = (uint8_t)copies(m, bytes);
		for (unsigned c = 0; c < v->n; c++) {
			struct item *i;

			v->v[c] = new_kept(m);
			i = add(m, adds[bytes], is_wide(m, bytes), v->v[c]);
			i->a = v->v[c];
			i->b = SAME;
		}
	}
	return *v;
}

/* Memory. */

static struct item *reach(struct making *m, struct item *i, uint32_t n, uint32_t turn, uint32_t turns)
{
	const struct gus_turning_insn *insn = &m->p->body->insns.v[n];
	const struct gus_packing_access *a = &m->p->accesses.v[insn->access];

	i->at = insn;
	i->offset = a->way == GUS_PACKING_ANYWHERE ? 0 :
		(int64_t)turn * (m->mode == GUS_MOCKUP_FULL ? (int64_t)a->bytes :
									a->stride);
	i->access = (struct gus_mockup_access){ insn->access, turn, turns };
	return i;
}

static struct value load_beside(struct making *m, uint32_t n, unsigned bytes, bool fp, bool backward)
{
	struct value v = { (uint8_t)bytes, (uint8_t)copies(m, bytes), false, { 0 } };
	unsigned each = m->turns / v.n, size = each * bytes;
	struct gus_vex vex = size == 4 ? (struct gus_vex){ 1, 2, 0x10, 0 } : size == 8 ?
		(struct gus_vex){ 1, 3, 0x10, 0 } : fp ? LOAD : LOAD_INT;

	for (unsigned c = 0; c < v.n; c++) {
		v.v[c] = new_value(m);
		reach(m, add(m, vex, is_wide(m, bytes), v.v[c]), n, c * each, each);
		if (backward)
			v.v[c] = one(m, is_wide(m, bytes) ? REORDER : SHUFFLE, is_wide(m, bytes), v.v[c], 0x1b);
	}
	return v;
}

/* Of every second to fourth element: as many vectors are permuted as one of those elements comes from, and blended. */
static struct value load_apart(struct making *m, uint32_t n, unsigned bytes, unsigned step)
{
	struct value v = { (uint8_t)bytes, (uint8_t)copies(m, bytes), false, { 0 } };
	unsigned each = m->turns / v.n;

	for (unsigned c = 0; c < v.n; c++)
		for (unsigned k = 0; k < step; k++) {
			uint32_t piece = new_value(m);
			struct item *i = add(m, is_wide(m, bytes) ? PERMUTE : SHUFFLE, is_wide(m, bytes), piece);
			uint32_t first = c * each + k * each / step;

			if (is_wide(m, bytes))
				i->a = SAME;
			else
				i->immediate = 0xd8;
			reach(m, i, n, first, each / step ? each / step : 1);
			v.v[c] = k ? two(m, (struct gus_vex){ 3, 1, 0x0c, 0 }, is_wide(m, bytes), v.v[c], piece, 0xf0) :
				piece;
		}
	return v;
}

/* Instructions that make the address of one element, as they are. */
static void make_index(struct making *m, uint32_t n, uint32_t turn)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct gus_turning_insn *insn = &m->p->body->insns.v[k];

		if (m->p->insns.v[k].role != GUS_PACKING_INDEX)
			continue;
		gus_vec_push(&m->items, (struct item){ .as_it_is = insn, .access = { insn->access, turn,
			insn->accesses_n } });
	}
}

static struct item *load_element(struct making *m, uint32_t n, struct gus_vex vex, uint32_t to, uint32_t turn)
{
	if (m->p->accesses.v[m->p->body->insns.v[n].access].way == GUS_PACKING_ANYWHERE)
		make_index(m, n, turn);
	return reach(m, add(m, vex, false, to), n, turn, 1);
}

/* Words of 8 bytes by loads of a lower and an upper half, smaller ones by insertions. */
static uint32_t load_half(struct making *m, uint32_t n, unsigned bytes, uint32_t turn, unsigned elements)
{
	static const struct gus_vex first[] = { [1] = { 3, 1, 0x20, 0 }, [2] = { 1, 1, 0xc4, 0 },
		[4] = { 1, 2, 0x10, 0 }, [8] = { 1, 3, 0x10, 0 } };
	static const struct gus_vex next[] = { [1] = { 3, 1, 0x20, 0 }, [2] = { 1, 1, 0xc4, 0 },
		[4] = { 3, 1, 0x21, 0 }, [8] = { 1, 1, 0x16, 0 } };
	uint32_t v = new_value(m);
	struct item *i = load_element(m, n, first[bytes], v, turn);

	if (bytes < 4) {
		i->a = SAME;
		i->immediate = 0;
	}
	for (unsigned k = 1; k < elements; k++) {
		uint32_t to = new_value(m);

		i = load_element(m, n, next[bytes], to, turn + k);
		i->a = v;
		if (bytes < 8)
			i->immediate = bytes == 4 ? (int)k << 4 : (int)k;
		v = to;
	}
	return v;
}

static uint32_t load_quarter_pairs(struct making *m, uint32_t n, uint32_t turn)
{
	uint32_t low = load_half(m, n, 4, turn, 2), high = load_half(m, n, 4, turn + 2, 2);

	return two(m, (struct gus_vex){ 1, 0, 0x16, 0 }, false, low, high, GUS_VEX_NO_IMMEDIATE);
}

static struct value load_elements(struct making *m, uint32_t n, unsigned bytes)
{
	struct value v = { (uint8_t)bytes, (uint8_t)copies(m, bytes), false, { 0 } };
	unsigned each = m->turns / v.n, half = 16 / bytes < each ? 16 / bytes : each;

	for (unsigned c = 0; c < v.n; c++) {
		for (unsigned k = 0; k < each; k += half) {
			uint32_t piece = bytes == 4 && half == 4 ? load_quarter_pairs(m, n, c * each + k) :
				load_half(m, n, bytes, c * each + k, half);

			v.v[c] = k ? two(m, INSERT, true, v.v[c], piece, 1) : piece;
		}
	}
	return v;
}

/* One gather for each vector; its mask is all ones and its destination zero, as compilers write it. */
static struct value gather(struct making *m, uint32_t n, unsigned bytes)
{
	const struct gus_insn_memory *at = &m->p->body->insns.v[n].info->memory[0];
	bool base = !at->index || !m->of[at->index].n;
	struct value index = m->of[base ? at->base : at->index];
	struct value v = { (uint8_t)bytes, (uint8_t)copies(m, bytes), false, { 0 } };
	bool wide = is_wide(m, bytes) || is_wide(m, index.bytes);

	for (unsigned c = 0; c < v.n; c++) {
		uint32_t mask = new_value(m), zero = new_value(m);
		unsigned of = index.n * c / v.n;
		uint32_t from = copy_of(&index, of);
		struct item *i;

		if (index.n < v.n && c % 2)
			from = upper_half(m, from, is_wide(m, index.bytes));
		i = add(m, (struct gus_vex){ 1, 1, 0x76, 0 }, wide, mask);
		i->idiom = true;
		i = add(m, (struct gus_vex){ 1, 0, 0x57, 0 }, false, zero);
		i->idiom = true;
		v.v[c] = new_value(m);
		i = add(m, (struct gus_vex){ 2, 1, index.bytes == 8 ? 0x93 : 0x92, bytes == 8 }, wide, v.v[c]);
		i->tied = true;
		i->a2 = zero;
		i->a = mask;
		i->index = from;
		i->index_is_base = base;
		reach(m, i, n, c * (m->turns / v.n), m->turns / v.n)->offset = 0;
	}
	return v;
}

static struct value load(struct making *m, uint32_t n, unsigned bytes, bool fp)
{
	const struct gus_insn_memory *at = &m->p->body->insns.v[n].info->memory[0];
	const struct gus_packing_access *a = &m->p->accesses.v[m->p->body->insns.v[n].access];
	unsigned step = a->stride < 0 ? 0 : (unsigned)(a->stride / (int64_t)bytes);

	if (a->way == GUS_PACKING_SAME)
		return same_value(bytes);
	if (a->way == GUS_PACKING_BESIDE || m->mode == GUS_MOCKUP_FULL)
		return load_beside(m, n, bytes, fp, a->stride < 0 && a->way == GUS_PACKING_BESIDE);
	if (a->way == GUS_PACKING_APART && step >= 2 && step <= 4 && a->stride % (int64_t)bytes == 0)
		return load_apart(m, n, bytes, step);
	if (m->mode == GUS_MOCKUP_GATHER && a->way == GUS_PACKING_ANYWHERE && bytes >= 4 &&
	    (m->of[at->index].n || m->of[at->base].n))
		return gather(m, n, bytes);
	return load_elements(m, n, bytes);
}

static void store_elements(struct making *m, uint32_t n, const struct value *v)
{
	static const struct gus_vex of[] = { [1] = { 3, 1, 0x14, 0 }, [2] = { 3, 1, 0x15, 0 }, [4] = { 3, 1, 0x17, 0 },
		[8] = { 1, 1, 0x13, 0 } };
	unsigned each = m->turns / copies(m, v->bytes), half = 16 / v->bytes < each ? 16 / v->bytes : each;

	for (unsigned turn = 0; turn < m->turns; turn++) {
		uint32_t from = copy_of(v, turn / each);
		unsigned k = turn % half;
		struct gus_vex vex = of[v->bytes];
		struct item *i;

		if (turn % each >= half)
			from = upper_half(m, from, true);
		if (v->bytes == 4 && !k)
			vex = (struct gus_vex){ 1, 2, 0x11, 0 };
		if (v->bytes == 8 && k)
			vex.opcode = 0x17;
		i = load_element(m, n, vex, from, turn);
		i->stores = true;
		if (v->bytes < 4 || (v->bytes == 4 && k))
			i->immediate = (int)k;
	}
}

static void store(struct making *m, uint32_t n, const struct value *v, bool fp)
{
	const struct gus_turning_insn *insn = &m->p->body->insns.v[n];
	const struct gus_packing_access *a = &m->p->accesses.v[insn->access];
	unsigned number = copies(m, v->bytes), each = m->turns / number, size = each * v->bytes;
	bool masked = insn->conditional && m->masks[0].n && v->bytes >= 4;
	struct gus_vex vex = size == 4 ? (struct gus_vex){ 1, 2, 0x11, 0 } : size == 8 ?
		(struct gus_vex){ 1, 3, 0x11, 0 } : fp ? STORE : STORE_INT;

	if (a->way != GUS_PACKING_BESIDE && m->mode != GUS_MOCKUP_FULL) {
		store_elements(m, n, v);
		return;
	}
	if (masked)
		vex = (struct gus_vex){ 2, 1, v->bytes == 4 ? 0x2e : 0x2f, 0 };
	for (unsigned c = 0; c < number; c++) {
		struct item *i = add(m, vex, is_wide(m, v->bytes), copy_of(v, c));

		i->stores = true;
		i->a = masked ? copy_of(&m->masks[0], c) : NONE;
		reach(m, i, n, c * each, each);
	}
}

/* Operations. */

static bool can_fold(const struct making *m, uint32_t n, unsigned bytes)
{
	const struct gus_packing_access *a = &m->p->accesses.v[m->p->body->insns.v[n].access];

	return a->bytes == bytes && a->way != GUS_PACKING_SAME &&
		(m->mode == GUS_MOCKUP_FULL || a->way == GUS_PACKING_BESIDE) &&
		a->stride >= 0 && m->turns * bytes >= 16;
}

static bool loads(const struct making *m, uint32_t n)
{
	const struct gus_turning_insn *insn = &m->p->body->insns.v[n];

	return insn->accesses_n && !m->p->accesses.v[insn->access].store;
}

/* The sources of an operation, memory last; folded: that is left to the operation itself. */
static unsigned sources(struct making *m, uint32_t n, struct value v[GUS_PACKING_SOURCES + 1], bool fold, bool *folded)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	unsigned k = 0;

	for (unsigned s = 0; s < i->sources_n; s++) {
		v[k] = value_of(m, i->sources[s], i->pack.from);
		if (!i->pack.fp || v[k].bytes == 0)
			v[k] = fit(m, v[k], i->pack.from);
		k++;
	}
	*folded = false;
	if (!loads(m, n))
		return k;
	*folded = fold && can_fold(m, n, i->pack.from);
	v[k++] = *folded ? same_value(i->pack.from) : load(m, n, i->pack.from, i->pack.fp);
	return k;
}

/* The same register as before where it carries a sum; with several vectors of it one after the other where the sum is
 * all in one. */
static uint32_t result_of(struct making *m, uint32_t n, unsigned c)
{
	const struct value *sum = &m->sums[m->p->insns.v[n].sum].value;

	return m->p->insns.v[n].sum && sum->n ? copy_of(sum, c) : new_value(m);
}

static struct value operate(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v[GUS_PACKING_SOURCES + 1], to = { i->pack.to, (uint8_t)copies(m, i->pack.to), false, { 0 } };
	bool folded, fma = i->pack.kind == GUS_PACK_FMA;
	unsigned count = sources(m, n, v, true, &folded);
	unsigned last = count ? count - 1 : 0, first = fma && count > 2 ? 1 : 0;
	struct gus_vex vex = i->pack.vex;

	if (!count)
		return same_value(to.bytes);
	for (unsigned s = 1; i->sum && s < i->sources_n; s++)
		if (i->sources[s] == i->sum_source) { /* the sum stands first, ... */
			struct value other = v[0];

			v[0] = v[s];
			v[s] = other;
		}
	if (i->sum && fma) /* ... and of a fused product it is what is added to */
		vex.opcode = (uint8_t)((vex.opcode & 0x0f) | 0xb0);
	for (unsigned c = 0; c < to.n; c++) {
		struct item *x;

		to.v[c] = result_of(m, n, c);
		x = add(m, vex, is_wide(m, to.bytes), to.v[c]);
		x->b = copy_of(&v[last], c);
		x->a = i->pack.kind == GUS_PACK_ONE ? NONE : count > 1 || folded ? copy_of(&v[first], c) : SAME;
		x->tied = fma;
		x->a2 = copy_of(&v[0], c);
		if (i->pack.immediate)
			x->immediate = (int)(m->p->body->insns.v[n].info->immediate & 0xff);
		if (folded)
			reach(m, x, n, c * (m->turns / to.n), m->turns / to.n);
	}
	if (i->sum) /* partial sums are added, whatever they are of */
		m->sums[i->sum].vex = fma ? (struct gus_vex){ 1, i->pack.from == 8, 0x58, 0 } : i->pack.vex;
	return to;
}

static struct value convert(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v[GUS_PACKING_SOURCES + 1];
	bool folded;
	unsigned count = sources(m, n, v, false, &folded);

	if (!count || v[count - 1].v[0] == SAME)
		return same_value(i->pack.to);
	if (i->pack.from < i->pack.to)
		return widen(m, &v[count - 1], i->pack.vex);
	if (i->pack.from > i->pack.to)
		return narrow(m, &v[count - 1], i->pack.vex);
	for (unsigned c = 0; c < v[count - 1].n; c++)
		v[count - 1].v[c] = one(m, i->pack.vex, is_wide(m, i->pack.to), v[count - 1].v[c],
					GUS_VEX_NO_IMMEDIATE);
	return v[count - 1];
}

static struct value shift(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v[GUS_PACKING_SOURCES + 1];
	bool folded;

	if (!sources(m, n, v, false, &folded))
		return same_value(i->pack.to);
	for (unsigned c = 0; c < v[0].n && v[0].v[0] != SAME; c++) {
		uint32_t to = new_value(m);
		struct item *x = add(m, i->pack.vex, is_wide(m, i->pack.to), i->pack.extension);

		x->to_rm = true; /* the register's place has the extension, and VEX.vvvv what is written */
		x->a = to;
		x->b = v[0].v[c];
		x->immediate = (int)(m->p->body->insns.v[n].info->immediate & 0xff);
		v[0].v[c] = to;
	}
	return v[0];
}

/* Two halves of 32 bits: three products, two shifts, two additions. */
static struct value product64(struct making *m, uint32_t n)
{
	static const struct gus_vex multiply = { 1, 1, 0xf4, 0 }, high = { 1, 1, 0x70, 0 }, sum = { 1, 1, 0xd4, 0 };
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v[GUS_PACKING_SOURCES + 1], to = { 8, (uint8_t)copies(m, 8), false, { 0 } };
	bool folded, wide = is_wide(m, 8);
	unsigned count = sources(m, n, v, false, &folded);

	(void)i;
	for (unsigned c = 0; c < to.n && count; c++) {
		uint32_t a = copy_of(&v[0], c), b = count > 1 ? copy_of(&v[1], c) : SAME;
		uint32_t x = two(m, multiply, wide, one(m, high, wide, a, 0xb1), b, GUS_VEX_NO_IMMEDIATE);
		uint32_t y = two(m, multiply, wide, a, one(m, high, wide, b, 0xb1), GUS_VEX_NO_IMMEDIATE);
		uint32_t low = two(m, multiply, wide, a, b, GUS_VEX_NO_IMMEDIATE);

		x = one(m, high, wide, two(m, sum, wide, x, y, GUS_VEX_NO_IMMEDIATE), 0xa0);
		to.v[c] = two(m, sum, wide, low, x, GUS_VEX_NO_IMMEDIATE);
	}
	return to;
}

/* An addition for each sign in it, and a shift where there is a scale. */
static struct value address(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	const struct gus_insn_memory *at = &m->p->body->insns.v[n].info->memory[0];
	struct value v[GUS_PACKING_SOURCES + 1], to = { i->pack.to, (uint8_t)copies(m, i->pack.to), false, { 0 } };
	bool folded, wide = is_wide(m, to.bytes);
	unsigned count = sources(m, n, v, false, &folded);

	for (unsigned c = 0; c < to.n; c++) {
		to.v[c] = count ? copy_of(&v[0], c) : SAME;
		if (at->scale > 1)
			to.v[c] = two(m, (struct gus_vex){ 1, 1, 0xfe, 0 }, wide, to.v[c], SAME, GUS_VEX_NO_IMMEDIATE);
		if (at->base && at->index)
			to.v[c] = two(m, i->pack.vex, wide, to.v[c], count > 1 ? copy_of(&v[1], c) : SAME,
				      GUS_VEX_NO_IMMEDIATE);
		if (at->displacement)
			to.v[c] = two(m, i->pack.vex, wide, to.v[c], SAME, GUS_VEX_NO_IMMEDIATE);
	}
	return to;
}

/* Comparing and choosing between the same two values is an extreme. */
static bool is_extreme(const struct gus_packing *p, uint32_t compare, uint32_t choose)
{
	const struct gus_packing_insn *x = &p->insns.v[compare], *y = &p->insns.v[choose];
	unsigned both = 0;

	for (unsigned a = 0; a < x->sources_n; a++)
		for (unsigned b = 0; b < y->sources_n; b++)
			both += x->sources[a] == y->sources[b];
	return both + (p->body->insns.v[compare].accesses_n && p->body->insns.v[choose].accesses_n) == 2;
}

static bool needs_mask(const struct gus_packing *p, uint32_t compare)
{
	for (uint32_t n = compare + 1; n < p->insns.n; n++)
		if (p->insns.v[n].flags_of == compare && p->insns.v[n].role != GUS_PACKING_CONTROL &&
		    !is_extreme(p, compare, n))
			return true;
	return false;
}

static void compare(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v[GUS_PACKING_SOURCES + 1];
	bool folded;
	unsigned count;

	if (!needs_mask(m->p, n))
		return;
	count = sources(m, n, v, false, &folded);
	m->masks[0] = (struct value){ i->pack.to, (uint8_t)copies(m, i->pack.to), false, { 0 } };
	for (unsigned c = 0; c < m->masks[0].n; c++)
		m->masks[0].v[c] = two(m, i->pack.vex, is_wide(m, i->pack.to), copy_of(&v[0], c),
				       count > 1 ? copy_of(&v[1], c) : SAME, i->pack.fp ? 1 : GUS_VEX_NO_IMMEDIATE);
}

static struct value blend(struct making *m, const struct value *a, const struct value *b, struct value to)
{
	for (unsigned c = 0; c < to.n; c++) {
		to.v[c] = two(m, BLEND, is_wide(m, to.bytes), copy_of(a, c), copy_of(b, c), 0);
		m->items.v[m->items.n - 1].mask = m->masks[0].n ? copy_of(&m->masks[0], c) : SAME;
	}
	return to;
}

static struct value choose(struct making *m, uint32_t n)
{
	static const struct gus_vex extremes[] = { [1] = { 2, 1, 0x3c, 0 }, [2] = { 1, 1, 0xee, 0 },
		[4] = { 2, 1, 0x3d, 0 }, [8] = { 2, 1, 0x37, 0 } };
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v[GUS_PACKING_SOURCES + 1], to = { i->pack.to, (uint8_t)copies(m, i->pack.to), false, { 0 } };
	bool folded, sums;
	unsigned count = sources(m, n, v, false, &folded);

	if (count < 2)
		v[1] = same_value(to.bytes);
	if (i->flags_of == UINT32_MAX || !is_extreme(m->p, i->flags_of, n))
		return blend(m, &v[0], &v[1], to);
	sums = i->sum && m->sums[i->sum].value.n;
	for (unsigned c = 0; c < to.n; c++) {
		struct item *x;

		to.v[c] = sums ? copy_of(&m->sums[i->sum].value, c) : new_value(m);
		x = add(m, extremes[to.bytes], is_wide(m, to.bytes), to.v[c]);
		x->a = copy_of(&v[0], c);
		x->b = copy_of(&v[1], c);
	}
	m->sums[i->sum].vex = extremes[to.bytes];
	return to;
}

static struct value move(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	const struct gus_turning_insn *insn = &m->p->body->insns.v[n];
	struct value v;

	if (loads(m, n)) {
		v = load(m, n, m->p->accesses.v[insn->access].bytes, i->pack.fp);
		v.is_unsigned = !i->pack.is_signed;
		return v;
	}
	if (!i->sources_n)
		return same_value(i->pack.to);
	v = value_of(m, i->sources[i->sources_n - 1], i->pack.from ? i->pack.from : 8);
	if (insn->accesses_n) {
		unsigned bytes = m->p->accesses.v[insn->access].bytes;

		if (!i->pack.fp)
			v = fit(m, v, bytes);
		if (v.v[0] == SAME)
			v = same_value(bytes);
		store(m, n, &v, i->pack.fp);
		return (struct value){ 0 };
	}
	v.is_unsigned = !i->pack.is_signed;
	return v;
}

static void make_packed(struct making *m, uint32_t n)
{
	const struct gus_packing_insn *i = &m->p->insns.v[n];
	struct value v = { 0 }, old = i->to ? m->of[i->to] : v;

	switch (i->pack.kind) {
	case GUS_PACK_NONE: return; /* a branch around what is done under a mask */
	case GUS_PACK_MOVE: v = move(m, n); break;
	case GUS_PACK_CONVERT: v = convert(m, n); break;
	case GUS_PACK_SHIFT: v = shift(m, n); break;
	case GUS_PACK_ADDRESS: v = address(m, n); break;
	case GUS_PACK_COMPARE: compare(m, n); return;
	case GUS_PACK_CHOOSE: v = choose(m, n); break;
	case GUS_PACK_PRODUCT64: v = product64(m, n); break;
	default: v = operate(m, n); break;
	}
	if (!i->to || !v.n)
		return;
	if (m->p->body->insns.v[n].conditional && old.n && m->masks[0].n && old.bytes == v.bytes)
		v = blend(m, &old, &v, (struct value){ v.bytes, (uint8_t)copies(m, v.bytes), false, { 0 } });
	m->of[i->to] = v;
}

static void make_items(struct making *m)
{
	for (uint32_t n = 0; n < m->p->insns.n; n++) {
		const struct gus_turning_insn *insn = &m->p->body->insns.v[n];
		enum gus_packing_role role = m->p->insns.v[n].role;

		if (role == GUS_PACKING_CONTROL)
			gus_vec_push(&m->items, (struct item){ .as_it_is = insn,
				.back = gus_turning_goes_to(insn->info, insn->address, m->p->body->head) });
		else if (role == GUS_PACKING_PACKED || (role == GUS_PACKING_INDEX && m->mode == GUS_MOCKUP_GATHER))
			make_packed(m, n);
	}
}

/* Elements of a sum: halves are added until there is one. */
static void make_tail(struct making *m)
{
	m->items.n = 0;
	for (unsigned reg = 0; reg < GUS_INSN_REGS; reg++) {
		const struct value *sum = &m->sums[reg].value;
		unsigned bytes = m->bytes;
		uint32_t v = sum->v[0];

		if (!sum->n || !m->sums[reg].vex.opcode)
			continue;
		for (unsigned c = 1; c < sum->n; c++)
			v = two(m, m->sums[reg].vex, m->bytes == 32, v, sum->v[c], GUS_VEX_NO_IMMEDIATE);
		for (; bytes > sum->bytes; bytes /= 2)
			v = two(m, m->sums[reg].vex, false, v, upper_half(m, v, bytes == 32), GUS_VEX_NO_IMMEDIATE);
	}
}

/* Registers. */

struct giving {
	struct gus_mockup *to;
	uint32_t *last;                         /* by value: the last item that reads it; kept ones never end */
	uint8_t *reg;                           /* by value, + 1 */
	uint32_t free;                          /* bit r: register r */
	unsigned next;                          /* where all are taken: the one that is shared next */
};

static void read_value(struct giving *g, uint32_t v, uint32_t item)
{
	if (g->last[v] != UINT32_MAX)
		g->last[v] = item;
}

static void find_lives(struct giving *g, const struct making *m)
{
	g->last[SAME] = UINT32_MAX;
	for (size_t i = 0; i < m->kept.n; i++)
		g->last[m->kept.v[i]] = UINT32_MAX;
	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *x = &m->items.v[i];

		read_value(g, x->a, i);
		read_value(g, x->b, i);
		read_value(g, x->mask, i);
		read_value(g, x->index, i);
		if (x->tied)
			read_value(g, x->a2, i);
		if (!x->as_it_is && (x->stores || (x->to_rm && x->to > SAME && x->vex.opcode == EXTRACT.opcode)))
			read_value(g, x->to, i);
	}
}

static uint8_t take(struct giving *g, uint32_t v)
{
	unsigned r;

	if (g->reg[v])
		return (uint8_t)(g->reg[v] - 1);
	if (g->free) {
		r = (unsigned)__builtin_ctz(g->free);
		g->free &= g->free - 1;
	} else {
		g->to->crowded = true;
		r = g->next++ % (REGISTERS / 2);
	}
	g->reg[v] = (uint8_t)(r + 1);
	return (uint8_t)r;
}

static void release(struct giving *g, uint32_t v, uint32_t item)
{
	if (v > SAME && g->last[v] == item && g->reg[v])
		g->free |= UINT32_C(1) << (g->reg[v] - 1);
}

static void end_insn(struct giving *g, size_t before)
{
	gus_vec_push(&g->to->lengths, (uint8_t)(g->to->code.n - before));
	gus_vec_push(&g->to->first, (uint32_t)g->to->accesses.n);
}

static void copy_register(struct giving *g, bool wide, unsigned to, unsigned from)
{
	const struct gus_vex_place rm = { .reg = (uint8_t)from, .vector_index = GUS_VEX_NO_INDEX };
	size_t before = g->to->code.n;

	gus_vex_encode(&g->to->code, &COPY, wide, to, 0, &rm, GUS_VEX_NO_IMMEDIATE);
	end_insn(g, before);
}

/* A branch back goes to where this code begins. */
static void put_back(struct gus_code_bytes *code, const struct gus_turning_insn *insn)
{
	bool conditional = insn->info->class == GUS_INSN_BRANCH_COND;
	unsigned condition = insn->bytes[insn->info->opcode_length - 1] & 15;
	int64_t distance;

	if (conditional) {
		gus_vec_push(code, 0x0f);
		gus_vec_push(code, (uint8_t)(0x80 | condition));
	} else {
		gus_vec_push(code, 0xe9);
	}
	distance = -(int64_t)code->n - 4;
	for (unsigned i = 0; i < 4; i++)
		gus_vec_push(code, (uint8_t)((uint64_t)distance >> 8 * i));
}

static void put_as_it_is(struct giving *g, const struct item *x)
{
	size_t before = g->to->code.n;

	if (x->back)
		put_back(&g->to->code, x->as_it_is);
	else
		gus_vec_append(&g->to->code, x->as_it_is->bytes, x->as_it_is->info->length);
	for (uint32_t k = 0; k < x->access.turns; k++)
		gus_vec_push(&g->to->accesses, (struct gus_mockup_access){ x->access.access + k, x->access.turn, 1 });
	end_insn(g, before);
}

/* What it reads has registers, so that what it writes may have one of theirs. A shift has what it writes in vvvv, an
 * extraction in r/m. */
static void put_vector(struct giving *g, const struct item *x, uint32_t number)
{
	struct gus_vex_place rm = { .memory = x->at ? &x->at->info->memory[0] : NULL, .offset = x->offset,
		.vector_index = GUS_VEX_NO_INDEX, .index_is_base = x->index_is_base };
	bool shifts = x->to_rm && x->vex.opcode != EXTRACT.opcode;
	uint8_t a = x->a && !shifts ? take(g, x->a) : 0, reg, mask = x->mask ? take(g, x->mask) : 0;
	uint32_t written = shifts ? x->a : x->to_rm ? x->b : x->stores ? NONE : x->to;
	uint8_t tied = x->tied ? take(g, x->a2) : 0;
	int immediate = x->mask ? mask << 4 : x->immediate;
	size_t before;

	if (x->index)
		rm.vector_index = take(g, x->index);
	if (!x->at && (!x->to_rm || shifts) && x->b)
		rm.reg = take(g, x->b);
	reg = x->stores || (x->to_rm && !shifts) ? take(g, x->to) : shifts ? (uint8_t)x->to : 0;
	if (!x->tied) {
		const uint32_t reads[] = { shifts ? NONE : x->a, x->to_rm && !shifts ? x->to : x->b, x->mask, x->index,
			x->stores ? x->to : NONE };

		for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++)
			release(g, reads[i], number);
	}
	if (written) {
		uint8_t to;

		if (x->tied && !g->reg[written] && x->a2 > SAME && g->last[x->a2] == number) {
			g->reg[written] = (uint8_t)(tied + 1); /* it lives on in its register */
			g->last[x->a2] = number + 1;
		}
		to = take(g, written);
		if (x->tied && to != tied)
			copy_register(g, x->wide, to, tied);
		if (shifts)
			a = to;
		else if (x->to_rm)
			rm.reg = to;
		else
			reg = to;
		if (x->idiom)
			a = rm.reg = to;
	}
	before = g->to->code.n;
	gus_vex_encode(&g->to->code, &x->vex, x->wide, reg, a, &rm, immediate);
	if (x->access.turns)
		gus_vec_push(&g->to->accesses, x->access);
	end_insn(g, before);
	if (x->tied) {
		const uint32_t reads[] = { x->a, x->b, x->index };

		for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++)
			if (reads[i] != x->a2)
				release(g, reads[i], number);
	}
	if (written > SAME && g->last[written] == 0 && g->reg[written]) /* nobody reads it */
		g->free |= UINT32_C(1) << (g->reg[written] - 1);
}

static void put_items(struct gus_mockup *to, const struct making *m)
{
	struct giving g = { .to = to, .last = gus_zalloc((m->values + SAME + 2) * sizeof(*g.last)),
		.reg = gus_zalloc(m->values + SAME + 2), .free = (UINT32_C(1) << REGISTERS) - 1 };

	find_lives(&g, m);
	take(&g, SAME);
	for (size_t i = 0; i < m->kept.n; i++)
		take(&g, m->kept.v[i]);
	gus_vec_push(&to->first, 0);
	for (uint32_t i = 0; i < m->items.n; i++)
		if (m->items.v[i].as_it_is)
			put_as_it_is(&g, &m->items.v[i]);
		else
			put_vector(&g, &m->items.v[i], i);
	free(g.last);
	free(g.reg);
}

void gus_mockup_make(struct gus_mockup *m, struct gus_mockup *tail, const struct gus_packing *p, unsigned bytes,
		     enum gus_mockup_mode mode)
{
	struct making making = { .p = p, .bytes = bytes, .turns = bytes / p->least, .mode = mode };

	*m = (struct gus_mockup){ .turns = making.turns };
	make_items(&making);
	put_items(m, &making);
	if (tail) {
		*tail = (struct gus_mockup){ .turns = 0 };
		make_tail(&making);
		put_items(tail, &making);
	}
	gus_vec_free(&making.items);
	gus_vec_free(&making.kept);
}

void gus_mockup_free(struct gus_mockup *m)
{
	gus_vec_free(&m->code);
	gus_vec_free(&m->lengths);
	gus_vec_free(&m->accesses);
	gus_vec_free(&m->first);
}
