/* SPDX-License-Identifier: MIT */
/* Joining instructions with rows. A row says how many uops go to which ports and how long the whole takes; which uop does
 * what follows from the kind of its ports (loads, store addresses, store data, all else) and from the operands. */
#include "model/code/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/program_private.h"

#define ALL UINT32_MAX /* all accesses of an instruction */

/* What the uops of a table are for, by the ports of its plainest load and store. */
static void find_roles(struct roles *r, const struct gus_uarch *u)
{
	static const char *const loads[] = { "MOV (R64, M64)", "ldr (x, [x, imm])" };
	static const char *const stores[] = { "MOV (M64, R64)", "str (x, [x, imm])" };

	*r = (struct roles){ 0 };
	for (uint32_t p = 0; p < u->ports_n; p++)
		if (strcmp(u->groups[p].name, "p4") == 0 || strcmp(u->groups[p].name, "p9") == 0)
			r->data |= 1ull << p;
	for (size_t i = 0; i < 2; i++) {
		const struct gus_uarch_form *load = gus_uarch_form_by_text(u, loads[i]);
		const struct gus_uarch_form *store = gus_uarch_form_by_text(u, stores[i]);

		for (uint32_t n = 0; load && load->row != GUS_UARCH_NONE && n < u->rows[load->row].uses_n; n++)
			r->load |= u->groups[u->uses[u->rows[load->row].uses + n].group].ports;
		for (uint32_t n = 0; store && store->row != GUS_UARCH_NONE && n < u->rows[store->row].uses_n; n++)
			r->store |= u->groups[u->uses[u->rows[store->row].uses + n].group].ports;
	}
	/* Ports that do both belong to loads where a load is asked for, and there is no port for data alone on AMD and Arm. */
	r->address = r->store & ~r->data;
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

/* The ports of a taken branch, where the table knows them; 0: they are those of any. */
static uint64_t taken_ports(const struct gus_uarch *u)
{
	for (uint32_t i = 0; i < u->rows_n; i++)
		if (strcmp(u->rows[i].id, "taken") == 0 && u->rows[i].uses_n)
			return u->groups[u->uses[u->rows[i].uses].group].ports;
	return 0;
}

static void find_rules(struct rules *r, const struct gus_uarch *u)
{
	*r = (struct rules){
		.x86 = u->isa != GUS_ISA_ARM64,
		.zero_int = flag(u, "zero_idiom_int"),
		.zero_vector = flag(u, "zero_idiom_vector"),
		.ones = flag(u, "ones_idiom"),
		.move_int = flag(u, "move_elimination_int"),
		.move_vector = flag(u, "move_elimination_vector"),
		.immediate_add = flag(u, "immediate_add_elimination"),
		.stack_engine = flag(u, "stack_engine"),
		.micro_fusion = flag(u, "micro_fusion"),
		.rob_fused = gus_uarch_value(u, "rob_fused", 1) != 0,
		.indexed_store = flag(u, "indexed_store_on_load_ports"),
		.indexed_never = word(u, "micro_fusion_indexed", "no"),
		.indexed_rmw = word(u, "micro_fusion_indexed", "rmw"),
		.fuse_none = word(u, "macro_fusion", "none") || !gus_uarch_param(u, "macro_fusion"),
		.fuse_test_cmp = word(u, "macro_fusion", "test_cmp"),
		.fuse_all = word(u, "macro_fusion", "all"),
		.load = (uint16_t)gus_uarch_value(u, "l1d_latency", 4),
		.load_indexed = (uint16_t)gus_uarch_value(u, "l1d_latency_indexed", gus_uarch_value(u, "l1d_latency", 4)),
		.load_vector = (uint16_t)gus_uarch_value(u, "l1d_latency_vector", gus_uarch_value(u, "l1d_latency", 4)),
	};
	r->taken = taken_ports(u);
	find_roles(&r->roles, u);
}

/* Registers. */

static bool is_flag(const struct builder *b, unsigned reg)
{
	return b->rules.x86 ? reg >= GUS_X86_CF && reg <= GUS_X86_SYSFLAGS : reg == GUS_A64_NZCV;
}

static enum gus_regfile file_of(const struct builder *b, unsigned reg)
{
	if (!b->rules.x86)
		return reg >= GUS_A64_V0 && reg < GUS_A64_P0 ? GUS_REGFILE_VECTOR :
			reg >= GUS_A64_P0 && reg <= GUS_A64_FFR ? GUS_REGFILE_MASK :
			reg >= GUS_A64_X0 && reg <= GUS_A64_SP ? GUS_REGFILE_INT : GUS_REGFILE_NONE;
	if (reg >= GUS_X86_RAX && reg <= GUS_X86_R15)
		return GUS_REGFILE_INT;
	if (reg >= GUS_X86_V0 && reg < GUS_X86_TMM0)
		return GUS_REGFILE_VECTOR;
	if (reg >= GUS_X86_K0 && reg < GUS_X86_V0)
		return GUS_REGFILE_MASK;
	return GUS_REGFILE_NONE;
}

/* What no uop waits for: the instruction pointer, control words that hardly ever change. */
static bool is_tracked(const struct builder *b, unsigned reg)
{
	if (!b->rules.x86)
		return reg != GUS_A64_PC && reg != GUS_A64_FPCR && reg != GUS_A64_FPSR && reg != GUS_A64_SYSTEM;
	return reg != GUS_X86_RIP && reg != GUS_X86_DF && reg != GUS_X86_SYSFLAGS && reg != GUS_X86_MXCSR &&
		reg != GUS_X86_FPCW && reg != GUS_X86_FPSW && reg != GUS_X86_SYSTEM &&
		!(reg >= GUS_X86_ES && reg <= GUS_X86_GS);
}

static unsigned stack_pointer(const struct builder *b)
{
	return b->rules.x86 ? GUS_X86_RSP : GUS_A64_SP;
}

/* With a stack engine, push and pop neither wait for rsp nor make anybody wait: the decoders keep the offset. */
static bool by_stack_engine(const struct builder *b, const struct gus_insn_info *info, const struct gus_insn_access *a)
{
	return b->rules.stack_engine && (info->flags & GUS_INSN_STACK) && a->reg == stack_pointer(b);
}

static unsigned cycles_of(uint32_t centi)
{
	return (centi + GUS_UARCH_CENTI / 2) / GUS_UARCH_CENTI;
}

/* Writing uops. */

static void add_flow(struct builder *b, unsigned reg, int cycles)
{
	gus_vec_push(&b->flows, (struct gus_flow){ (uint8_t)reg, (int16_t)cycles });
}

static void begin_in(struct builder *b, struct gus_uop *uop)
{
	uop->in = (uint32_t)b->flows.n;
}

static void end_in(struct builder *b, struct gus_uop *uop)
{
	uop->in_n = (uint8_t)(b->flows.n - uop->in);
	uop->out = (uint32_t)b->flows.n;
}

static void end_out(struct builder *b, struct gus_uop *uop)
{
	uop->out_n = (uint8_t)(b->flows.n - uop->out);
	gus_vec_push(&b->uops, *uop);
}

static void in_addresses(struct builder *b, const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if ((a->use & GUS_ACCESS_ADDRESS) && is_tracked(b, a->reg) && !by_stack_engine(b, info, a))
			add_flow(b, a->reg, 0);
	}
}

/* What some of the results are made from: outs has a bit for each access that writes them. */
static void in_operands(struct builder *b, const struct lowered *l, uint32_t outs)
{
	const struct gus_insn_info *info = l->info;

	if (l->idiom)
		return;
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if (gus_program_reads(a) && is_tracked(b, a->reg) && !by_stack_engine(b, info, a) &&
		    gus_program_needs(l, outs, i))
			add_flow(b, a->reg, gus_program_lateness(l, outs, i));
	}
}

/* Of arm64's writing back of an address, and of x86's string instructions: the register is ready as soon as an addition
 * is, whatever the load takes. */
static bool is_writeback(const struct builder *b, const struct gus_insn_info *info, const struct gus_insn_access *a)
{
	if (b->rules.x86)
		return (info->flags & GUS_INSN_STACK) && a->reg == stack_pointer(b);
	for (unsigned i = 0; i < info->memory_count; i++)
		if (info->memory[i].base == a->reg && (a->use & GUS_ACCESS_WRITE) && !(a->use & GUS_ACCESS_CONDITIONAL))
			return a->use & GUS_ACCESS_ADDRESS || (a->use & GUS_ACCESS_READ) != 0;
	return false;
}

static void out_registers(struct builder *b, const struct lowered *l, uint32_t outs, unsigned latency, bool writebacks, bool others)
{
	const struct gus_insn_info *info = l->info;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];
		bool back;

		if (!(a->use & GUS_ACCESS_WRITE) || !is_tracked(b, a->reg) || by_stack_engine(b, info, a) || !(outs >> i & 1))
			continue;
		back = is_writeback(b, info, a);
		if (back ? writebacks : others)
			add_flow(b, a->reg, back ? 1 : (int)gus_program_latency(l, i, latency));
	}
}

/* One instruction. */

static void count_results(struct builder *b, const struct gus_insn_info *info, struct gus_op *op)
{
	bool flags = false, ints = false;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];
		enum gus_regfile file = file_of(b, a->reg);

		if (!(a->use & GUS_ACCESS_WRITE) || by_stack_engine(b, info, a))
			continue;
		flags |= is_flag(b, a->reg);
		ints |= file == GUS_REGFILE_INT;
		if (file)
			op->results[file]++;
	}
	if (flags && !ints)
		op->results[GUS_REGFILE_INT]++; /* flags live in the entry of the result, or in one of their own */
}

static void add_memories(struct builder *b, const struct gus_insn_info *info, struct gus_op *op, unsigned which)
{
	for (unsigned i = 0; i < info->memory_count; i++) {
		const struct gus_insn_memory *m = &info->memory[i];

		if (!(m->use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE)) || (info->flags & GUS_INSN_PREFETCH))
			continue;
		gus_vec_push(&b->memories, (struct gus_program_memory){
			.displacement = m->displacement, .bytes = m->bits / 8, .base = m->base,
			.index = m->use & GUS_ACCESS_GATHER ? 0 : m->index, .scale = m->scale, .instruction = (uint8_t)which,
			.load = m->use & GUS_ACCESS_READ, .store = m->use & GUS_ACCESS_WRITE,
			.gather = m->use & GUS_ACCESS_GATHER });
		op->memories_n++;
	}
}

/* The row's uops, by what they are for. */
static void sort_uses(struct builder *b, struct lowered *l)
{
	const struct roles *roles = &b->rules.roles;
	const struct gus_insn_info *info = l->info;
	bool load = false, store = false, indexed = false;
	uint32_t sum = 0;

	for (unsigned i = 0; i < info->memory_count; i++) {
		indexed |= info->memory[i].index != 0;
		load |= (info->memory[i].use & GUS_ACCESS_READ) != 0;
		store |= (info->memory[i].use & GUS_ACCESS_WRITE) != 0;
	}
	load |= (info->flags & GUS_INSN_PREFETCH) != 0;
	for (uint32_t i = 0; i < l->uses_n; i++)
		sum += cycles_of(l->uses[i].cycles);
	for (uint32_t i = 0; i < l->uses_n; i++) {
		uint64_t ports = b->u->groups[l->uses[i].group].ports;
		uint32_t n = cycles_of(l->uses[i].cycles), held = 1;
		struct piece piece = { .ports = ports };

		if (!ports || !n)
			n = ports ? 1 : 0;
		/* More cycles than uops: the port is held. With more groups than uops, one uop holds several ports. */
		if (n > l->uops && sum > l->uops && l->uops) {
			held = n / l->uops;
			n = l->uops;
		}
		piece.held = (uint16_t)held;
		if (store && roles->split && (ports & ~roles->data) == 0)
			piece.kind = GUS_UOP_STORE_DATA;
		else if (load && (ports & ~roles->load) == 0 && !(store && (roles->address & ~roles->load) && l->loads))
			piece.kind = GUS_UOP_LOAD;
		else if (store && (ports & ~roles->store) == 0)
			piece.kind = roles->split ? GUS_UOP_STORE_ADDRESS : l->stores ? GUS_UOP_STORE_ADDRESS : GUS_UOP_STORE_DATA;
		else
			piece.kind = GUS_UOP_COMPUTE;
		for (uint32_t k = 0; k < n && l->pieces_n < PIECES; k++) {
			/* A form that reads and writes on ports for both: the first is the load. */
			if (piece.kind == GUS_UOP_LOAD && store && !roles->split && l->loads)
				piece.kind = GUS_UOP_STORE_ADDRESS;
			if (piece.kind == GUS_UOP_STORE_ADDRESS && indexed && b->rules.indexed_store && (ports & roles->load))
				piece.ports = ports & roles->load;
			l->loads += piece.kind == GUS_UOP_LOAD;
			l->stores += piece.kind == GUS_UOP_STORE_DATA;
			l->addresses += piece.kind == GUS_UOP_STORE_ADDRESS;
			l->computes += piece.kind == GUS_UOP_COMPUTE;
			l->pieces[l->pieces_n++] = piece;
		}
	}
	if (store && !l->stores)
		for (unsigned i = l->pieces_n; i-- > 0 && !l->stores;)
			if (l->pieces[i].kind == GUS_UOP_STORE_ADDRESS) {
				l->pieces[i].kind = GUS_UOP_STORE_DATA;
				l->addresses--;
				l->stores++;
			}
}

/* How long a load takes until its word is there. */
static unsigned load_cycles(const struct builder *b, const struct lowered *l)
{
	const struct rules *r = &b->rules;
	bool vector = l->info->vector_bits != 0;
	unsigned plain = vector ? r->load_vector : r->load_indexed;

	if (l->computes && !l->writeback) {
		unsigned whole = cycles_of(l->loadlat), own = cycles_of(l->latency);

		return whole > own ? whole - own : plain;
	}
	/* The fast way is for general registers, base and small displacement. */
	if (!vector && r->load < r->load_indexed && l->info->memory_count == 1 && !l->info->memory[0].index &&
	    l->info->memory[0].displacement >= 0 && l->info->memory[0].displacement < 2048 &&
	    l->info->memory[0].bits >= 32 && l->info->memory[0].base)
		return r->load;
	return l->loadlat ? cycles_of(l->loadlat) : plain;
}

static void write_load(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	bool ends = (!l->computes || l->writeback) && !l->stores;

	uop->memory = 0;
	uop->latency = (uint16_t)load_cycles(b, l);
	begin_in(b, uop);
	in_addresses(b, l->info);
	if (ends && !n)
		in_operands(b, l, ALL);
	end_in(b, uop);
	if (ends && !n)
		out_registers(b, l, ALL, uop->latency, !l->computes, true);
	else if (n < 2)
		add_flow(b, GUS_TEMP + n, uop->latency);
}

/* The adder of an address that is written back waits for nothing but the address. */
static void write_writeback(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	uop->latency = 1;
	begin_in(b, uop);
	in_addresses(b, l->info);
	end_in(b, uop);
	if (!n)
		out_registers(b, l, ALL, 1, true, false);
}

static bool writes_back(const struct builder *b, const struct gus_insn_info *info)
{
	if (b->rules.x86 || (info->class != GUS_INSN_LOAD && info->class != GUS_INSN_STORE))
		return false;
	for (unsigned i = 0; i < info->access_count; i++)
		if (is_writeback(b, info, &info->access[i]))
			return true;
	return false;
}

/* All but the last computing uop only have to be done before the result is: they hand it a token. The last one has the
 * latency of the instruction and its results, but for those that need fewer operands (a shift by cl: the flags wait for the
 * old flags, the register does not), which the uop before it makes. */
static void write_compute(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	unsigned latency = cycles_of(l->latency), last = l->computes - 1, loads = l->loads < 2 ? l->loads : 2;
	uint32_t early = l->computes > 1 ? gus_program_early(l) : 0;
	uint32_t outs = n == last ? ALL & ~early : n + 1 == last ? early : 0;

	if (l->writeback) {
		write_writeback(b, l, uop, n);
		return;
	}
	uop->latency = (uint16_t)(n == last || outs ? latency : 1);
	begin_in(b, uop);
	if (l->info->class == GUS_INSN_LEA || !l->loads)
		in_addresses(b, l->info);
	in_operands(b, l, outs ? outs : early ? early : ALL);
	for (unsigned i = 0; i < loads; i++)
		add_flow(b, GUS_TEMP + i, 0);
	if (n == last)
		for (unsigned i = 0; i < last && i < 3; i++)
			add_flow(b, GUS_TEMP + 3 + i, latency ? (int)latency - 1 : 0);
	end_in(b, uop);
	if (outs)
		out_registers(b, l, outs, latency, true, true);
	if (n < last) {
		if (n < 3)
			add_flow(b, GUS_TEMP + 3 + n, 1);
		return;
	}
	/* Between load and store each uop takes a cycle; the latency of such a row may count the store. */
	if (l->stores)
		add_flow(b, GUS_TEMP + 2, (int)(l->loads && latency > l->computes ? l->computes : latency));
}

static void write_store(struct builder *b, const struct lowered *l, struct gus_uop *uop)
{
	bool data = uop->kind == GUS_UOP_STORE_DATA;

	uop->memory = (uint8_t)(l->op->memories_n > 1 && l->loads ? 1 : 0);
	uop->latency = 1;
	begin_in(b, uop);
	if (!data || !l->addresses)
		in_addresses(b, l->info);
	if (data && l->computes && !l->writeback)
		add_flow(b, GUS_TEMP + 2, 0);
	else if (data && l->loads)
		add_flow(b, GUS_TEMP, 0);
	else if (data)
		in_operands(b, l, ALL);
	end_in(b, uop);
	if (!data && !l->computes)
		out_registers(b, l, ALL, 1, true, !l->stores);
	else if (data && !l->computes && !l->addresses)
		out_registers(b, l, ALL, 1, true, true);
}

static void write_uops(struct builder *b, struct lowered *l)
{
	unsigned seen[GUS_UOP_STORE_DATA + 1] = { 0 };

	l->op->uop = (uint32_t)b->uops.n;
	for (unsigned i = 0; i < l->pieces_n; i++) {
		const struct piece *piece = &l->pieces[i];
		struct gus_uop uop = { .ports = piece->ports, .kind = (uint8_t)piece->kind, .port_cycles = piece->held };
		unsigned n = seen[piece->kind]++;

		if (piece->kind == GUS_UOP_COMPUTE && n + 1 == l->computes && l->unit) {
			uop.unit = l->unit;
			uop.unit_cycles = l->unit_cycles;
		}
		if (piece->kind == GUS_UOP_LOAD)
			write_load(b, l, &uop, n);
		else if (piece->kind == GUS_UOP_COMPUTE)
			write_compute(b, l, &uop, n);
		else
			write_store(b, l, &uop);
		end_out(b, &uop);
	}
	if (!l->pieces_n) {
		struct gus_uop uop = { .kind = GUS_UOP_NONE, .port_cycles = 0 };

		begin_in(b, &uop);
		end_in(b, &uop);
		if (l->info->class != GUS_INSN_NOP)
			out_registers(b, l, ALL, l->idiom ? 0 : cycles_of(l->latency), true, true);
		end_out(b, &uop);
	}
	l->op->uops_n = (uint16_t)(b->uops.n - l->op->uop);
}

/* How many uops the renamer sees (fused) and issues (slots), and in which of the slots each uop is. */
static bool unlaminates(const struct builder *b, const struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	bool indexed = false, destructive = false;
	unsigned operands = 0;

	for (unsigned i = 0; i < info->memory_count; i++)
		indexed |= info->memory[i].index != 0 && !(info->memory[i].use & GUS_ACCESS_GATHER);
	if (!indexed || b->rules.indexed_never == b->rules.indexed_rmw)
		return false;
	if (b->rules.indexed_never)
		return true;
	if (!l->loads)
		return false;
	if (info->flags & (GUS_INSN_VEX | GUS_INSN_EVEX))
		return true; /* three operands, though two of them may be one register */
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if ((a->use & (GUS_ACCESS_ADDRESS | GUS_ACCESS_IMPLICIT)) || is_flag(b, a->reg))
			continue;
		operands++;
		destructive |= (a->use & GUS_ACCESS_READ) != 0;
	}
	return operands != 1 || !destructive;
}

/* Which uop travels with the one before it: an operation with its load, data with its address. Slots are in the order of
 * uops, so that who needs a result always comes behind it. */
static void assign_slots(struct builder *b, const struct gus_op *op, bool split)
{
	unsigned joins = op->uops_n > op->slots ? op->uops_n - op->slots : 0, slot = 0;

	for (unsigned i = 0; i < op->uops_n; i++) {
		struct gus_uop *uop = &b->uops.v[op->uop + i], *before = i ? uop - 1 : NULL;
		bool data = before && uop->kind == GUS_UOP_STORE_DATA && before->kind == GUS_UOP_STORE_ADDRESS;
		bool operation = before && uop->kind == GUS_UOP_COMPUTE && before->kind == GUS_UOP_LOAD && !split;

		if (before && joins && (data || operation))
			joins--;
		else if (before && slot + 1u < op->slots)
			slot++;
		uop->slot = (uint8_t)slot;
	}
}

static void fuse_micro(struct builder *b, struct lowered *l)
{
	struct gus_op *op = l->op;
	unsigned uops = op->uops_n, loads = 0, pairs = 0, fused;
	bool split;

	for (unsigned i = 0; i < l->pieces_n; i++)
		loads += l->pieces[i].kind == GUS_UOP_LOAD;
	if (b->rules.micro_fusion) {
		pairs = loads < l->computes ? loads : l->computes;
		pairs += l->addresses < l->stores ? l->addresses : l->stores;
	}
	fused = l->fused ? l->fused : b->rules.micro_fusion ? uops - pairs : l->uops;
	if (!fused)
		fused = 1;
	split = fused < uops && b->rules.micro_fusion && unlaminates(b, l);
	op->fused = (uint16_t)fused;
	op->slots = (uint16_t)fused;
	if (split) {
		unsigned more = b->rules.indexed_rmw ? (loads < l->computes ? loads : l->computes) : pairs;

		op->slots = (uint16_t)(fused + more < uops ? fused + more : fused > uops ? fused : uops);
	}
	assign_slots(b, op, split);
}

/* Uops travel in the order of their slots. */
static void order_pieces(struct lowered *l)
{
	static const uint8_t rank[] = { [GUS_UOP_NONE] = 4, [GUS_UOP_LOAD] = 0, [GUS_UOP_COMPUTE] = 1, [GUS_UOP_STORE_ADDRESS] = 2,
		[GUS_UOP_STORE_DATA] = 3 };

	for (unsigned i = 1; i < l->pieces_n; i++)
		for (unsigned k = i; k && rank[l->pieces[k - 1].kind] > rank[l->pieces[k].kind]; k--) {
			struct piece swap = l->pieces[k];

			l->pieces[k] = l->pieces[k - 1];
			l->pieces[k - 1] = swap;
		}
}

/* What a form without a row is taken for: the middle of its class' bounds. */
static void take_class(struct builder *b, struct lowered *l)
{
	const char *name = gus_insn_class_name((enum gus_insn_class)l->info->class);
	const struct gus_uarch_class *class = name ? gus_uarch_class(b->u, name) : NULL;

	b->unknown++;
	l->op->flags |= GUS_OP_UNKNOWN;
	l->uops = 1;
	l->latency = GUS_UARCH_CENTI;
	if (!class)
		return;
	l->uops = class->uops_lo ? class->uops_lo : 1;
	l->latency = (class->latency_lo + class->latency_hi) / 2;
	l->uses = b->u->uses + class->uses;
	l->uses_n = class->uses_n;
}

static void take_row(struct builder *b, struct lowered *l, const struct gus_uarch_row *row)
{
	l->row = row;
	l->uops = row->uops;
	l->fused = row->fused;
	l->latency = row->latency;
	l->loadlat = row->loadlat;
	l->uses = b->u->uses + row->uses;
	l->uses_n = row->uses_n;
	for (uint32_t i = 0; i < row->units_n; i++) {
		unsigned cycles = cycles_of(b->u->uses[row->units + i].cycles);

		if (cycles > l->unit_cycles) {
			l->unit = (uint8_t)(b->u->uses[row->units + i].group + 1);
			l->unit_cycles = (uint16_t)cycles;
		}
	}
	l->decoded_known = row->decoded != 0;
	l->complex = row->complex;
	l->op->decoded = (uint8_t)(row->decoded < 255 ? row->decoded : 255);
	l->op->microcoded = (uint16_t)row->microcoded;
}

/* What an addition of general registers uses. */
static const struct gus_uarch_row *alu_row(const struct builder *b)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(b->u, "ADD_01 (R64, R64)");

	return form && form->row != GUS_UARCH_NONE ? &b->u->rows[form->row] : NULL;
}

static uint64_t alu_ports(const struct builder *b)
{
	const struct gus_uarch_row *row = alu_row(b);
	uint64_t ports = 0;

	for (uint32_t i = 0; row && i < row->uses_n; i++)
		ports |= b->u->groups[b->u->uses[row->uses + i].group].ports;
	return ports;
}

/* A move that is not eliminated, of a row that says nothing else. */
static void take_alu(struct builder *b, struct lowered *l)
{
	const struct gus_uarch_row *row = alu_row(b);

	if (l->uses_n || !row)
		return;
	l->uses = b->u->uses + row->uses;
	l->uses_n = row->uses_n;
	if (!l->latency)
		l->latency = GUS_UARCH_CENTI;
}

/* add or sub of a small constant to a general register. */
static bool is_small_add(const struct gus_insn_info *info)
{
	return info->class == GUS_INSN_ALU && info->fuse_first == GUS_FUSE_ADD_SUB && (info->flags & GUS_INSN_IMMEDIATE) &&
		!info->memory_count && info->immediate >= -1024 && info->immediate < 1024 && info->access_count &&
		info->access[0].bits == 64;
}

/* Without ports in its row, and no idiom: what it writes is there when what it reads is. */
static bool moves_one(const struct gus_insn_info *info)
{
	return info->class != GUS_INSN_NOP && !info->memory_count && info->access_count && !(info->flags & GUS_INSN_MOVE) &&
		(info->access[0].use & GUS_ACCESS_WRITE);
}

static unsigned read_register(const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_READ) && !(info->access[i].use & GUS_ACCESS_ADDRESS))
			return info->access[i].reg;
	return 0;
}

static void find_idioms(struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	const struct rules *r = &b->rules;
	bool vector = info->vector_bits != 0;

	if ((info->flags & GUS_INSN_ZERO_IDIOM) && (vector ? r->zero_vector : r->zero_int)) {
		l->idiom = true;
		l->uses_n = 0;
		l->latency = 0;
		l->op->flags |= GUS_OP_IDIOM;
	} else if ((info->flags & GUS_INSN_ONES_IDIOM) && r->ones) {
		l->idiom = true;
		l->op->flags |= GUS_OP_IDIOM;
	} else if ((info->flags & GUS_INSN_MOVE) && (vector ? r->move_vector : r->move_int)) {
		unsigned from = 0, to = 0;

		for (unsigned i = 0; i < info->access_count; i++) {
			if ((info->access[i].use & GUS_ACCESS_WRITE) && !to)
				to = info->access[i].reg;
			else if ((info->access[i].use & GUS_ACCESS_READ) && !from)
				from = info->access[i].reg;
		}
		if (from == to) /* has to be done: the upper half is cleared */
			take_alu(b, l);
		else if (from && to) {
			if (!vector) /* for when the slots of move elimination are taken */
				take_alu(b, l);
			l->op->flags |= GUS_OP_ELIMINATED;
			l->op->move_from = (uint8_t)from;
			l->op->move_to = (uint8_t)to;
		}
	} else if ((r->immediate_add && is_small_add(info)) || (!l->uses_n && l->row && moves_one(info))) {
		l->uses_n = 0;
		l->latency = 0;
		l->op->move_to = info->access[0].reg;
		l->op->move_from = (uint8_t)read_register(info);
		if (l->op->move_from == l->op->move_to && !is_small_add(info))
			take_alu(b, l);
		else if (l->op->move_from)
			l->op->flags |= GUS_OP_ELIMINATED;
	}
}

/* Compare and branch as one. */

static bool fuses(const struct builder *b, const struct gus_insn_info *first, const struct gus_insn_info *second)
{
	const struct rules *r = &b->rules;
	enum gus_fuse_second by = second->fuse_second;

	if (r->fuse_none || !by)
		return false;
	if (!r->x86) {
		return (first->fuse_first == GUS_FUSE_FLAGS && by == GUS_FUSE_COND && second->class == GUS_INSN_BRANCH_COND) ||
			(first->fuse_first == GUS_FUSE_AES && by == GUS_FUSE_AESMC);
	}
	/* Memory with an immediate, or relative to rip with one, is more than the decoders can join. */
	if (first->memory_count && (first->flags & GUS_INSN_IMMEDIATE))
		return false;
	switch (first->fuse_first) {
	case GUS_FUSE_TEST:
		return true;
	case GUS_FUSE_AND:
		return !r->fuse_test_cmp;
	case GUS_FUSE_CMP:
		return by != GUS_FUSE_ONE_FLAG;
	case GUS_FUSE_ADD_SUB:
		return !r->fuse_test_cmp && by != GUS_FUSE_ONE_FLAG;
	case GUS_FUSE_INC_DEC:
		return !r->fuse_test_cmp && (by == GUS_FUSE_ZERO || by == GUS_FUSE_SIGNED);
	case GUS_FUSE_LOGIC:
		return r->fuse_all;
	default:
		return false;
	}
}

/* Whether decoders that see it wait for a branch behind it. */
static bool may_fuse(const struct builder *b, const struct gus_insn_info *info)
{
	static const struct gus_insn_info zero = { .fuse_second = GUS_FUSE_ZERO, .class = GUS_INSN_BRANCH_COND };

	return info->fuse_first && fuses(b, info, &zero);
}

static void lower_one(struct builder *b, uint32_t number)
{
	struct gus_program_insn *insn = &b->insns.v[number];
	const struct gus_insn_info *info = &insn->info;
	struct gus_op op = { .insn = number, .insns_n = 1, .memory = (uint32_t)b->memories.n };
	struct lowered l = { .info = info, .op = &op };

	if (insn->row)
		take_row(b, &l, insn->row);
	else
		take_class(b, &l);
	find_idioms(b, &l);
	if (info->class == GUS_INSN_NOP)
		l.uses_n = 0;
	l.writeback = writes_back(b, info);
	gus_program_latencies(b->u, &l);
	add_memories(b, info, &op, 0);
	sort_uses(b, &l);
	order_pieces(&l);
	count_results(b, info, &op);
	if (l.idiom && !l.pieces_n)
		memset(op.results, 0, sizeof(op.results));
	write_uops(b, &l);
	fuse_micro(b, &l);
	op.loads = (uint8_t)(l.loads < 255 ? l.loads : 255);
	op.stores = (uint8_t)(l.stores < 255 ? l.stores : 255);
	if (info->class >= GUS_INSN_BRANCH_COND && info->class <= GUS_INSN_RET)
		op.flags |= GUS_OP_BRANCH;
	if (info->class == GUS_INSN_BRANCH_COND)
		op.flags |= GUS_OP_CONDITIONAL;
	else if (op.flags & GUS_OP_BRANCH)
		op.flags |= GUS_OP_TAKEN;
	if (info->flags & GUS_INSN_SERIALISING)
		op.flags |= GUS_OP_SERIALISING;
	if (b->rules.x86 && may_fuse(b, info))
		op.flags |= GUS_OP_FUSIBLE;
	if (!op.decoded)
		op.decoded = (uint8_t)(op.fused > 4 ? 4 : op.fused);
	if (!op.microcoded && op.fused > 4 && !l.decoded_known)
		op.microcoded = (uint16_t)(op.fused - 4);
	if (op.decoded > 1 || op.microcoded || l.complex)
		op.flags |= GUS_OP_COMPLEX;
	op.rob = 0; /* settled with the slots, see settle_rob */
	insn->op = (uint32_t)b->ops.n;
	gus_vec_push(&b->ops, op);
}

/* The branch loses its uop; the last computing uop of the first goes where the branch would have gone. */
static void fuse_pair(struct builder *b, struct gus_op *first, const struct gus_op *branch)
{
	uint64_t ports = 0;

	for (unsigned i = 0; i < branch->uops_n; i++)
		if (b->uops.v[branch->uop + i].kind == GUS_UOP_COMPUTE)
			ports = b->uops.v[branch->uop + i].ports;
	for (unsigned i = first->uops_n; i-- > 0;) {
		struct gus_uop *uop = &b->uops.v[first->uop + i];

		if (uop->kind == GUS_UOP_COMPUTE && ports) {
			uop->ports = ports;
			break;
		}
	}
	first->flags = (uint16_t)((first->flags & ~GUS_OP_FUSIBLE) | branch->flags);
	first->insns_n = 2;
}

static void fuse_macro(struct builder *b, size_t from)
{
	for (size_t i = from; i + 1 < b->ops.n; i++) {
		struct gus_op *first = &b->ops.v[i], *second = first + 1;

		if (first->insns_n != 1 || !fuses(b, &b->insns.v[first->insn].info, &b->insns.v[second->insn].info))
			continue;
		fuse_pair(b, first, second);
		b->insns.v[second->insn].op = (uint32_t)i;
		memmove(second, second + 1, (b->ops.n - i - 2) * sizeof(*second));
		b->ops.n--;
		for (size_t k = second->insn; i + 1 < b->ops.n && k < b->insns.n; k++)
			b->insns.v[k].op--;
	}
}

static void settle_rob(struct builder *b, size_t from)
{
	for (size_t i = from; i < b->ops.n; i++) {
		struct gus_op *op = &b->ops.v[i];

		op->rob = b->rules.rob_fused ? op->slots : op->uops_n > op->slots ? op->uops_n : op->slots;
	}
}

/* After push and pop the decoders hold an offset to rsp; who then looks at rsp itself makes them insert a uop that adds
 * it. Where the code comes again, what the offset is at the start is what it is at the end; else there is none at the start. */
static bool looks_at_stack(const struct builder *b, const struct gus_insn_info *info)
{
	if (info->flags & GUS_INSN_STACK)
		return false;
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == stack_pointer(b) && (info->access[i].use & GUS_ACCESS_READ))
			return true;
	return false;
}

static bool writes_stack(const struct builder *b, const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == stack_pointer(b) && (info->access[i].use & GUS_ACCESS_WRITE))
			return true;
	return false;
}

static void add_sync(struct builder *b, struct gus_op *op)
{
	uint32_t first = (uint32_t)b->uops.n;
	struct gus_uop uop = { .ports = alu_ports(b), .kind = GUS_UOP_COMPUTE, .port_cycles = 1, .latency = 1 };

	if (!uop.ports)
		return;
	begin_in(b, &uop);
	add_flow(b, stack_pointer(b), 0);
	end_in(b, &uop);
	add_flow(b, stack_pointer(b), 1);
	end_out(b, &uop);
	for (unsigned i = 0; i < op->uops_n; i++) {
		struct gus_uop copy = b->uops.v[op->uop + i];

		copy.slot++;
		gus_vec_push(&b->uops, copy);
	}
	op->uop = first;
	op->uops_n++;
	op->slots++;
	op->results[GUS_REGFILE_INT]++;
}

static void add_syncs(struct builder *b, size_t from, bool again)
{
	bool offset = false;

	if (!b->rules.stack_engine)
		return;
	for (int round = again ? 0 : 1; round < 2; round++)
		for (size_t i = from; i < b->ops.n; i++) {
			struct gus_op *op = &b->ops.v[i];
			const struct gus_insn_info *info = &b->insns.v[op->insn].info;

			if ((info->flags & GUS_INSN_STACK) && info->class != GUS_INSN_OTHER) {
				offset = true;
				continue;
			}
			if (offset && looks_at_stack(b, info)) {
				if (round)
					add_sync(b, op);
				offset = false;
			} else if (writes_stack(b, info)) {
				offset = false;
			}
		}
}

/* An instruction that is not known to us, of known length: it stands in a trace, so some CPU has executed it. */
static void take_unknown(struct gus_insn_info *info, size_t length)
{
	*info = (struct gus_insn_info){ .class = GUS_INSN_OTHER, .length = (uint8_t)length, .opcode_length = (uint8_t)length };
}

static int decode_one(struct builder *b, const struct gus_program_code *c, size_t at, size_t length, struct gus_error *err)
{
	struct gus_program_insn insn = { .offset = c->address - b->base + at };
	const uint8_t *bytes = (const uint8_t *)c->bytes + at;
	size_t n = gus_insn_analyse(b->u->isa, bytes, length ? length : c->size - at, &insn.info);

	if (length && (n != length || insn.info.class == GUS_INSN_BAD))
		take_unknown(&insn.info, n = length);
	if (!n || insn.info.class == GUS_INSN_BAD)
		return gus_fail(err, GUS_E_CORRUPT, "cannot model the code: %s at byte %zu of %zu",
				n ? "no instruction of this ISA" : "an instruction is cut off", at, c->size);
	insn.row = gus_uarch_row(b->u, insn.info.form);
	if (c->flags & GUS_PROGRAM_TEXTS) {
		struct gus_insn text;

		gus_insn_decode(b->u->isa, bytes, c->size - at, c->address + at, &text);
		memcpy(insn.text, text.text, sizeof(insn.text));
		insn.text[sizeof(insn.text) - 1] = '\0';
	}
	gus_vec_push(&b->insns, insn);
	return (int)n;
}

int gus_program_add(struct builder *b, const struct gus_program_code *c, struct gus_error *err)
{
	size_t insns = b->insns.n, ops = b->ops.n, n = 0;

	for (size_t at = 0; at < c->size; n++) {
		int size = decode_one(b, c, at, c->lengths ? c->lengths[n] : 0, err);

		if (size < 0) {
			b->insns.n = insns;
			return -1;
		}
		at += (size_t)size;
	}
	if (b->insns.n == insns)
		return gus_fail(err, GUS_E_USAGE, "cannot model the code: there are no instructions");
	for (size_t i = insns; i < b->insns.n; i++)
		lower_one(b, (uint32_t)i);
	fuse_macro(b, ops);
	add_syncs(b, ops, !c->lengths);
	settle_rob(b, ops);
	return 0;
}

void gus_program_begin(struct builder *b, const struct gus_uarch *u, uint64_t base)
{
	*b = (struct builder){ .u = u, .base = base };
	find_rules(&b->rules, u);
}

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

static void close_loop(struct gus_program *p)
{
	struct gus_op *last = &p->ops[p->ops_n - 1];
	const struct gus_program_insn *end = &p->insns[last->insn + last->insns_n - 1u];

	p->loop = (last->flags & GUS_OP_BRANCH) &&
		end->info.immediate == -(int64_t)(end->offset + end->info.length) && end->info.class != GUS_INSN_BRANCH_INDIRECT;
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

struct gus_program *gus_program_new(const struct gus_uarch *u, const void *code, size_t size, uint64_t base, unsigned flags,
				    struct gus_error *err)
{
	struct builder b;
	struct gus_program *p;

	gus_program_begin(&b, u, base);
	if (gus_program_add(&b, &(struct gus_program_code){ .bytes = code, .size = size, .address = base, .flags = flags }, err) != 0) {
		gus_vec_free(&b.insns);
		return NULL;
	}
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
