/* SPDX-License-Identifier: MIT */
/* Joining instructions with rows: from bytes and a table to the ops, uops and flows that the engines run.
 *
 * The idea. The Gus papers let instructions use resources directly and leave out which uop does what; UFS (Palomares
 * 2015, ch. 7) needs to know it. Both engines run the same programs, so all that depends on bytes and tables is settled
 * here, once, and neither asks again. The steps, instruction by instruction and then over a whole piece of code, are in
 * this file, what each does in the files that program_private.h lists:
 *
 *	decode      bytes to facts (symbolizer/insn/insn.h) and the form's row in the table
 *	row         uops, latencies, units; without a row, the bounds of the class
 *	idioms      constants and moves that the renamer does by itself: they lose uops
 *	latencies   from each input to each result
 *	pieces      the row's uops as loads, stores and computing ones
 *	uops        what each waits for and gives
 *	micro       which uops travel together, and in how many slots
 *	macro       comparisons and branches become one op
 *	stack       uops that bring rsp up to date
 *	high        uops that merge ah to dh into their registers
 *	rob         entries of the reorder buffer, by what all that has left
 *
 * What holds at the end, of whatever code (tests/unit/test_program.c looks): the uops of an op lie behind each
 * other, and so do a uop's flows; an op has at least one uop, so that whoever waits for it waits for something; a
 * uop comes behind those of the same op that it waits for, and its slot is not before theirs. */
#include "model/code/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/code/program_private.h"
#include "model/tables/uarch.h"

/* Prefetches move nothing that the engines wait for, and addresses alone are no accesses. */
static void add_memories(struct builder *b, const struct gus_insn_info *info, struct gus_op *op)
{
	for (unsigned i = 0; i < info->memory_count; i++) {
		const struct gus_insn_memory *m = &info->memory[i];

		if (!(m->use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE)) || (info->flags & GUS_INSN_PREFETCH))
			continue;
		gus_vec_push(&b->memories, (struct gus_program_memory){
			.displacement = m->displacement, .bytes = m->bits / 8, .base = m->base,
			.index = m->use & GUS_ACCESS_GATHER ? 0 : m->index, .scale = m->scale,
			.load = m->use & GUS_ACCESS_READ, .store = m->use & GUS_ACCESS_WRITE,
			.vector = info->vector_bits != 0,
			.gather = m->use & GUS_ACCESS_GATHER });
		op->memories_n++;
	}
}

/* 64-bit constants, and of 32 bits those beside an address that are not small (Agner Fog's microarchitecture manual on
 * Sandy Bridge). */
static bool has_wide_constant(const struct gus_insn_info *info)
{
	int64_t value = info->immediate;

	if (!(info->flags & GUS_INSN_IMMEDIATE) || (info->class >= GUS_INSN_BRANCH_COND && info->class <= GUS_INSN_RET))
		return false;
	return value != (int32_t)value || (info->memory_count && value != (int16_t)value);
}

static uint16_t flags_of(const struct builder *b, const struct gus_insn_info *info)
{
	uint16_t flags = 0;

	if (info->class == GUS_INSN_BRANCH_COND)
		flags |= GUS_OP_BRANCH | GUS_OP_CONDITIONAL;
	else if (info->class > GUS_INSN_BRANCH_COND && info->class <= GUS_INSN_RET)
		flags |= GUS_OP_BRANCH | GUS_OP_TAKEN;
	if (info->flags & GUS_INSN_SERIALISING)
		flags |= GUS_OP_SERIALISING;
	if (info->flags & GUS_INSN_POP_5C)
		flags |= GUS_OP_POP_5C;
	if (b->rules.x86 && has_wide_constant(info))
		flags |= GUS_OP_WIDE;
	if (gus_program_may_fuse(b, info))
		flags |= GUS_OP_FUSIBLE;
	return flags;
}

/* Where the table does not say what the decoders deliver, they deliver what Intel's can, four fused uops, and microcode
 * the rest. */
enum { DECODED = 4 };

static void settle_decoding(const struct lowered *l, struct gus_op *op)
{
	if (!op->decoded)
		op->decoded = (uint8_t)(op->fused > DECODED ? DECODED : op->fused);
	if (!op->microcoded && op->fused > DECODED && !l->decoded_known)
		op->microcoded = (uint16_t)(op->fused - DECODED);
	if (op->decoded > 1 || op->microcoded || l->complex)
		op->flags |= GUS_OP_COMPLEX;
}

/* What takes entries of the load buffer: loads, and not the ports that one takes. */
static uint8_t loads_of(const struct builder *b, const struct gus_op *op)
{
	unsigned n = 0;

	for (unsigned i = 0; i < op->uops_n; i++)
		n += b->uops.v[op->uop + i].kind == GUS_UOP_LOAD && !b->uops.v[op->uop + i].again;
	return (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
}

/* What is written needs an entry, also where the table says nothing of who stores it (string instructions). */
static uint8_t stores_of(const struct builder *b, const struct gus_op *op, unsigned uops)
{
	for (unsigned n = 0; n < op->memories_n && !uops; n++)
		uops = b->memories.v[op->memory + n].store;
	return (uint8_t)(uops < UINT8_MAX ? uops : UINT8_MAX);
}

/* One instruction, through all its steps. Order matters: idioms change the uses that pieces are made of, latencies
 * decide which piece has which results, and slots are counted when the uops are there. */
static void lower_one(struct builder *b, uint32_t number)
{
	struct gus_program_insn *insn = &b->insns.v[number];
	const struct gus_insn_info *info = &insn->info;
	struct gus_op op = { .insn = number, .insns_n = 1, .memory = (uint32_t)b->memories.n };
	struct lowered l = { .info = info, .op = &op };

	gus_program_take_row(b, &l, insn->row);
	if (l.latency == GUS_UARCH_CENTI && gus_program_operates_high(info))
		l.latency += b->rules.high * (uint32_t)GUS_UARCH_CENTI;
	gus_program_forget_high(b, &insn->info);
	gus_program_find_idioms(b, &l);
	if (info->class == GUS_INSN_NOP && !l.unit) /* pause keeps one, others execute nothing */
		l.uses_n = 0;
	gus_program_latencies(b, &l);
	add_memories(b, info, &op);
	gus_program_find_pieces(b, &l);
	gus_program_count_results(b, info, &op);
	if (l.idiom && !l.pieces_n) /* a zero is known by its name: the thesis' Table 7.8, Ivy Bridge and later */
		memset(op.results, 0, sizeof(op.results));
	gus_program_write_uops(b, &l);
	gus_program_fuse_micro(b, &l);
	op.loads = loads_of(b, &op);
	op.stores = stores_of(b, &op, l.stores);
	op.flags |= flags_of(b, info);
	settle_decoding(&l, &op);
	insn->op = (uint32_t)b->ops.n;
	gus_vec_push(&b->ops, op);
}

/* An instruction that is not known to us, of known length: it stands in a trace, so some CPU has executed it. */
static void take_unknown(struct gus_insn_info *info, size_t length)
{
	*info = (struct gus_insn_info){ .class = GUS_INSN_OTHER, .length = (uint8_t)length,
		.opcode_length = (uint8_t)length };
}

/* A scheduling model has a row for what enters the kernel, as it must have one for every form; that is not what such an
 * instruction takes. Nor is a placeholder that the table's source does not believe itself, which of what a program can
 * execute it has for the rarer system instructions only. */
static const struct gus_uarch_row *row_of(const struct builder *b, const struct gus_insn_info *info)
{
	const struct gus_uarch_row *row = gus_uarch_row(b->u, info->form);

	if ((info->flags & GUS_INSN_OUTSIDE) || (row && row->guessed && info->class == GUS_INSN_SYSTEM))
		return NULL;
	return row;
}

static int refuse_outside(const struct builder *b, const struct gus_program_code *c, size_t at, struct gus_error *err)
{
	struct gus_insn text;

	gus_insn_decode(b->u->isa, (const uint8_t *)c->bytes + at, c->size - at, c->address + at, &text);
	return gus_fail(err, GUS_E_UNSUPPORTED,
			"cannot model the code: '%s' at byte %zu of %zu is privileged, or enters a kernel, a "
			"hypervisor or a trap, or waits for one; how long that takes no table of a CPU knows, "
			"so leave it out", text.text, at, c->size);
}

static int decode_one(struct builder *b, const struct gus_program_code *c, size_t at, size_t length,
		      struct gus_error *err)
{
	struct gus_program_insn insn = { .offset = c->address - b->base + at };
	const uint8_t *bytes = (const uint8_t *)c->bytes + at;
	size_t n = gus_insn_analyse(b->u->isa, bytes, length ? length : c->size - at, &insn.info);

	if (length && (n != length || insn.info.class == GUS_INSN_BAD))
		take_unknown(&insn.info, n = length);
	if (!n || insn.info.class == GUS_INSN_BAD)
		return gus_fail(err, GUS_E_CORRUPT, "cannot model the code: %s at byte %zu of %zu",
				n ? "no instruction of this ISA" : "an instruction is cut off", at, c->size);
	if ((c->flags & GUS_PROGRAM_BLOCK) && (insn.info.flags & GUS_INSN_OUTSIDE))
		return refuse_outside(b, c, at, err);
	insn.row = row_of(b, &insn.info);
	if (c->flags & GUS_PROGRAM_TEXTS) {
		struct gus_insn text;

		gus_insn_decode(b->u->isa, bytes, c->size - at, c->address + at, &text);
		memcpy(insn.text, text.text, sizeof(insn.text));
		insn.text[sizeof(insn.text) - 1] = '\0';
	}
	gus_vec_push(&b->insns, insn);
	return (int)n;
}

/* Of a trace, whether a block ends in a branch to its own beginning: then it is a loop, whatever else it leads to. */
static bool goes_back(const struct builder *b, size_t first)
{
	const struct gus_program_insn *last = &b->insns.v[b->insns.n - 1];

	return (b->ops.v[last->op].flags & GUS_OP_BRANCH) && (last->info.flags & GUS_INSN_IMMEDIATE) &&
		last->offset + last->info.length + (uint64_t)last->info.immediate == b->insns.v[first].offset;
}

static int too_many(const char *what, int most, struct gus_error *err)
{
	return gus_fail(err, GUS_E_FULL, "cannot model the code: it has more than %d %s, which is the most of a block",
			most, what);
}

/* Of the last instruction that was decoded. */
static uint64_t uops_of_last(const struct builder *b)
{
	const struct gus_uarch_row *row = b->insns.v[b->insns.n - 1].row;
	uint64_t uops = 1;

	for (uint32_t i = 0; row && i < row->uses_n; i++)
		uops += gus_uarch_use_uops(&b->u->uses[row->uses + i], row->uops);
	return uops;
}

int gus_program_add(struct builder *b, const struct gus_program_code *c, struct gus_error *err)
{
	size_t insns = b->insns.n, ops = b->ops.n, n = 0;
	uint64_t uops = 0;

	if ((c->flags & GUS_PROGRAM_BLOCK) && c->size > GUS_BLOCK_BYTES)
		return gus_fail(err, GUS_E_FULL, "cannot model the code: it has %zu bytes, and a block has at most %d",
				c->size, GUS_BLOCK_BYTES);
	for (size_t at = 0; at < c->size; n++) {
		int size;

		if ((c->flags & GUS_PROGRAM_BLOCK) && n == GUS_BLOCK_INSNS)
			size = too_many("instructions", GUS_BLOCK_INSNS, err);
		else
			size = decode_one(b, c, at, c->lengths ? c->lengths[n] : 0, err);
		if (size >= 0 && (c->flags & GUS_PROGRAM_BLOCK) && (uops += uops_of_last(b)) > GUS_BLOCK_UOPS)
			size = too_many("uops", GUS_BLOCK_UOPS, err);
		if (size < 0) {
			b->insns.n = insns;
			return -1;
		}
		at += (size_t)size;
	}
	if (b->insns.n == insns)
		return gus_fail(err, GUS_E_USAGE, "cannot model the code: there are no instructions");
	/* All are decoded by now, so that code with a fault leaves nothing behind. */
	for (size_t i = insns; i < b->insns.n; i++)
		lower_one(b, (uint32_t)i);
	gus_program_chase(b, insns, !c->lengths || goes_back(b, insns));
	gus_program_fuse_macro(b, ops);
	gus_program_add_syncs(b, ops, !c->lengths);
	gus_program_merge_high(b, ops);
	gus_program_settle_rob(b, ops);
	gus_vec_reserve(&b->flows, 1);  /* arrays also where there are none: engines point into them */
	gus_vec_reserve(&b->memories, 1);
	return 0;
}

void gus_program_begin(struct builder *b, const struct gus_uarch *u, uint64_t base)
{
	*b = (struct builder){ .u = u, .base = base };
	gus_program_find_rules(&b->rules, u);
}

/* The program has the builder's arrays, which move as they grow: so whoever adds looks again. */
void gus_program_look(struct gus_program *p, const struct builder *b)
{
	p->isa = b->u->isa;
	p->uarch = b->u;
	p->insns = b->insns.v, p->insns_n = (uint32_t)b->insns.n;
	p->ops = b->ops.v, p->ops_n = (uint32_t)b->ops.n;
	p->uops = b->uops.v, p->uops_n = (uint32_t)b->uops.n;
	p->flows = b->flows.v, p->flows_n = (uint32_t)b->flows.n;
	p->memories = b->memories.v, p->memories_n = (uint32_t)b->memories.n;
	p->base = b->base;
	p->unknown = b->unknown;
	if (!p->port_names) {
		const char **names = gus_zalloc((b->u->ports_n + 1) * sizeof(*names));

		for (uint32_t i = 0; i < b->u->ports_n; i++)
			names[i] = b->u->groups[i].name;
		p->port_names = names;
		p->ports_n = b->u->ports_n;
	}
}

/* Whether the last branch goes back to the first byte: then the code is a loop by itself, and the branch is taken. */
static void close_loop(struct gus_program *p)
{
	struct gus_op *last = &p->ops[p->ops_n - 1];
	const struct gus_program_insn *end = &p->insns[last->insn + last->insns_n - 1u];

	p->loop = (last->flags & GUS_OP_BRANCH) &&
		end->info.class != GUS_INSN_BRANCH_INDIRECT &&
		end->info.immediate == -(int64_t)(end->offset + end->info.length);
	if (p->loop)
		last->flags |= GUS_OP_TAKEN;
}

void gus_program_take(struct builder *b, const struct gus_op *op)
{
	if (!b->rules.taken || !b->rules.x86 || !(op->flags & GUS_OP_CONDITIONAL))
		return;
	for (unsigned k = op->uops_n; k-- > 0;)
		if (b->uops.v[op->uop + k].kind == GUS_UOP_COMPUTE) {
			b->uops.v[op->uop + k].ports = b->rules.taken;
			return;
		}
}

struct gus_program *gus_program_new(const struct gus_uarch *u, const void *code, size_t size, uint64_t base,
				    unsigned flags, struct gus_error *err)
{
	const struct gus_program_code c = { .bytes = code, .size = size, .address = base, .flags = flags };
	struct builder b;
	struct gus_program *p;

	gus_program_begin(&b, u, base);
	if (gus_program_add(&b, &c, err) != 0) {
		gus_vec_free(&b.insns);
		return NULL;
	}
	gus_vec_free(&b.pieces);
	p = gus_zalloc(sizeof(*p));
	gus_program_look(p, &b);
	p->bytes = size;
	close_loop(p);
	if (p->loop)
		gus_program_take(&b, &p->ops[p->ops_n - 1]);
	return p;
}

void gus_program_free(struct gus_program *p)
{
	if (!p)
		return;
	free((void *)p->port_names);
	free(p->insns);
	free(p->ops);
	free(p->uops);
	free(p->flows);
	free(p->memories);
	free(p);
}

static void *copy_of(const void *from, size_t n, size_t size)
{
	void *to = gus_zalloc((n ? n : 1) * size);

	if (n)
		memcpy(to, from, n * size);
	return to;
}

struct gus_program *gus_program_copy(const struct gus_program *p)
{
	struct gus_program *copy = gus_zalloc(sizeof(*copy));

	*copy = *p;
	copy->port_names = copy_of(p->port_names, p->ports_n, sizeof(*p->port_names));
	copy->insns = copy_of(p->insns, p->insns_n, sizeof(*p->insns));
	copy->ops = copy_of(p->ops, p->ops_n, sizeof(*p->ops));
	copy->uops = copy_of(p->uops, p->uops_n, sizeof(*p->uops));
	copy->flows = copy_of(p->flows, p->flows_n, sizeof(*p->flows));
	copy->memories = copy_of(p->memories, p->memories_n, sizeof(*p->memories));
	return copy;
}

uint32_t gus_program_executed(const struct gus_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		for (uint32_t k = 0; k < p->ops[i].uops_n; k++)
			n += p->uops[p->ops[i].uop + k].kind != GUS_UOP_NONE;
	return n;
}

bool gus_program_is_ranged(const struct gus_program *p)
{
	for (uint32_t i = 0; i < p->insns_n; i++)
		if (p->insns[i].row && p->insns[i].row->most)
			return true;
	return false;
}

uint32_t gus_program_slots(const struct gus_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		n += p->ops[i].slots;
	return n;
}
