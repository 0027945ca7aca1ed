/* SPDX-License-Identifier: MIT */
/* Reading a plain table of uops. Foreign text: every span is bounded, and what is malformed is an error that names its
 * line. How many entries of which buffer a type takes is Table 7.8 of Palomares 2015. */
#include "model/code/uoptable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "base/piece.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

enum {
	COLUMNS = 7,
	REGISTERS_MAX = 16,             /* of one column */
	CYCLES_MAX = 9999,
	INSNS_MAX = 100000,
	INSN_BYTES = 4,                 /* there is no code; offsets in reports should grow all the same */
};

struct reader {
	const struct gus_uarch *u;
	const char *name;
	size_t line;
	struct gus_error *err;
	struct gus_strings ids, registers; /* a register's number is that of its name */
	bool fuses, fused_in_rob, idioms_take_registers;
	const char *unlaminate;         /* that parameter; NULL: micro_fusion_indexed says */
	const char *indexed;            /* that parameter */
	uint8_t units[GUS_UARCH_PORTS_MAX], units_n; /* of each port that has one, from 1 */
	struct gus_vec(struct gus_program_insn) insns;
	struct gus_vec(struct gus_op) ops;
	struct gus_vec(struct gus_uop) uops;
	struct gus_vec(struct gus_flow) flows;
	struct gus_vec(struct gus_program_memory) memories;
};

/* One half of a column: that of the load or address, or that of the operation or data; or all of it. */
struct half {
	struct gus_piece inputs;
	uint32_t latency, exclusive;
	uint64_t ports;
};

struct type {
	bool load, store, nop, branch, conditional;
	bool avx;               /* its operation begins with v: the destination is an operand of its own */
	enum gus_insn_class class;
	int halves;
};

/* What a column of registers has. */
struct registers {
	uint8_t v[REGISTERS_MAX];
	uint8_t n;
	uint8_t files[GUS_REGFILES];
	bool flags;
};

static int wrong(const struct reader *r, const char *what, struct gus_piece s)
{
	return gus_fail(r->err, GUS_E_CORRUPT, "%s:%zu: %s '%.*s'", r->name, r->line, what,
			(int)(s.size < 80 ? s.size : 80), s.text);
}

/* Cuts s at mark into exactly n spans. */
static int halve(const struct reader *r, struct gus_piece s, char mark, int n, const char *what,
		 struct gus_piece out[2])
{
	struct gus_piece rest = s;
	int found = 1;

	for (size_t i = 0; i < s.size; i++)
		found += s.text[i] == mark;
	if (found != n)
		return gus_fail(r->err, GUS_E_CORRUPT, "%s:%zu: %s of this type are %s, not '%.*s'", r->name, r->line,
				what,
				n == 2 ? mark == ';' ? "ADDRESS;DATA" : "two, joined by a plus" :
					"one, without a joint",
				(int)(s.size < 80 ? s.size : 80), s.text);
	for (int i = 0; i < n; i++)
		out[i] = gus_piece_cut(&rest, mark);
	return 0;
}

static int parse_cycles(const struct reader *r, const char *what, struct gus_piece s, uint32_t *value)
{
	*value = 0;
	if (gus_piece_is(s, "-"))
		return 0;
	for (size_t i = 0; i < s.size; i++) {
		if (s.text[i] < '0' || s.text[i] > '9' || *value > CYCLES_MAX)
			return wrong(r, what, s);
		*value = *value * 10 + (uint32_t)(s.text[i] - '0');
	}
	return s.size && *value <= CYCLES_MAX ? 0 : wrong(r, what, s);
}

/* A port by its name, or by what stands behind its p. */
static uint32_t find_port(const struct gus_uarch *u, struct gus_piece s)
{
	for (uint32_t i = 0; i < u->ports_n; i++) {
		const char *name = u->groups[i].name;

		if (gus_piece_is(s, name) || (name[0] == 'p' && gus_piece_is(s, name + 1)))
			return i;
	}
	return GUS_UARCH_NONE;
}

static int parse_ports(const struct reader *r, struct gus_piece s, uint64_t *ports)
{
	*ports = 0;
	if (gus_piece_is(s, "-"))
		return 0;
	do {
		struct gus_piece one = gus_piece_cut(&s, ',');
		uint32_t port = find_port(r->u, one);

		if (port == GUS_UARCH_NONE)
			return gus_fail(r->err, GUS_E_CORRUPT,
					"%s:%zu: %s has no port '%.*s'; its first is %s, its last %s", r->name,
					r->line, r->u->name, (int)(one.size < 80 ? one.size : 80), one.text,
					r->u->groups[0].name, r->u->groups[r->u->ports_n - 1].name);
		if (*ports >> port & 1)
			return wrong(r, "the same port twice:", one);
		*ports |= (uint64_t)1 << port;
	} while (s.size);
	return s.text[-1] == ',' ? wrong(r, "a port is missing behind", (struct gus_piece){ s.text - 1, 1 }) : 0;
}

static enum gus_regfile file_of(struct gus_piece s)
{
	if (gus_piece_is(s, "flags"))
		return GUS_REGFILE_NONE;
	if (strchr("xyzv", s.text[0]))
		return GUS_REGFILE_VECTOR;
	return s.text[0] == 'k' ? GUS_REGFILE_MASK : GUS_REGFILE_INT;
}

static int parse_registers(struct reader *r, struct gus_piece s, struct registers *out)
{
	*out = (struct registers){ .n = 0 };
	if (gus_piece_is(s, "-"))
		return 0;
	do {
		struct gus_piece one = gus_piece_cut(&s, ',');
		uint32_t number;

		if (!one.size)
			return wrong(r, "the name of a register is missing before", s);
		if (out->n == REGISTERS_MAX)
			return wrong(r, "more registers than an instruction may have, from", one);
		number = gus_strings_add_n(&r->registers, one.text, one.size);
		if (number >= GUS_INSN_REGS)
			return wrong(r, "more different registers than there is room for, from", one);
		out->v[out->n++] = (uint8_t)number;
		out->files[file_of(one)]++;
		out->flags |= gus_piece_is(one, "flags");
	} while (s.size);
	return s.text[-1] == ',' ? wrong(r, "a register is missing behind", (struct gus_piece){ s.text - 1, 1 }) : 0;
}

/* Words that say what kind of arithmetic it is: of general registers, and of vectors. All others are just
 * arithmetic. */
static enum gus_insn_class class_of(struct gus_piece word, bool vector)
{
	static const struct { const char *word; enum gus_insn_class general, vector; } words[] = {
		{ "mov", GUS_INSN_MOV, GUS_INSN_VEC_MOV }, { "lea", GUS_INSN_LEA, GUS_INSN_LEA },
		{ "int", GUS_INSN_ALU, GUS_INSN_VEC_INT }, { "add", GUS_INSN_ALU, GUS_INSN_FP_ADD },
		{ "sub", GUS_INSN_ALU, GUS_INSN_FP_ADD }, { "cmp", GUS_INSN_ALU, GUS_INSN_FP_ADD },
		{ "test", GUS_INSN_ALU, GUS_INSN_FP_ADD }, { "mul", GUS_INSN_MUL, GUS_INSN_FP_MUL },
		{ "fma", GUS_INSN_FP_FMA, GUS_INSN_FP_FMA }, { "div", GUS_INSN_DIV, GUS_INSN_FP_DIV },
		{ "sqrt", GUS_INSN_FP_SQRT, GUS_INSN_FP_SQRT }, { "shuffle", GUS_INSN_SHUFFLE, GUS_INSN_SHUFFLE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (gus_piece_is(word, words[i].word))
			return vector ? words[i].vector : words[i].general;
	return GUS_INSN_OTHER;
}

/* TYPE: load, store or nop alone; load before an operation; an operation before a branch. */
static int parse_type(const struct reader *r, struct gus_piece s, struct type *t)
{
	struct gus_piece rest = s, operation = { NULL, 0 };

	*t = (struct type){ .class = GUS_INSN_OTHER };
	do {
		struct gus_piece word = gus_piece_cut(&rest, '+');

		if (!word.size || t->branch || t->store || t->nop)
			return wrong(r, "this is no type:", s);
		if (gus_piece_is(word, "load") && !t->load && !operation.size) {
			t->load = true;
		} else if (gus_piece_is(word, "store") && s.size == word.size) {
			t->store = true;
		} else if (gus_piece_is(word, "nop") && s.size == word.size) {
			t->nop = true;
		} else if (gus_piece_is(word, "branch") || word.text[0] == 'j') {
			t->branch = true;
			t->conditional = !gus_piece_is(word, "jmp");
		} else if (!operation.size && !gus_piece_is(word, "load") && !gus_piece_is(word, "store") &&
			   !gus_piece_is(word, "nop")) {
			operation = word;
		} else {
			return wrong(r, "this is no type:", s);
		}
	} while (rest.size);
	if (rest.text[-1] == '+')
		return wrong(r, "this is no type:", s);
	t->avx = operation.size && operation.text[0] == 'v';
	t->halves = t->store || (t->load && (operation.size || t->branch)) ? 2 : 1;
	if (t->branch)
		t->class = t->conditional ? GUS_INSN_BRANCH_COND : GUS_INSN_BRANCH;
	else if (t->store)
		t->class = GUS_INSN_STORE;
	else if (t->nop)
		t->class = GUS_INSN_NOP;
	else if (t->load && !operation.size)
		t->class = GUS_INSN_LOAD;
	return 0;
}

static struct gus_piece last_word(struct gus_piece s)
{
	struct gus_piece word = gus_piece_cut(&s, '+');

	while (s.size)
		word = gus_piece_cut(&s, '+');
	return word;
}

static void add_flow(struct reader *r, unsigned reg, uint32_t cycles)
{
	gus_vec_push(&r->flows, (struct gus_flow){ (uint8_t)reg, (int16_t)cycles });
}

/* A uop whose inputs are registers and perhaps a word on its way, and whose outputs follow. */
static struct gus_uop *add_uop(struct reader *r, enum gus_uop_kind kind, const struct half *half,
			       const struct registers *in, bool in_temp)
{
	struct gus_uop uop = { .kind = (uint8_t)kind, .ports = half->ports, .latency = (uint16_t)half->latency,
		.port_cycles = 1 };

	uop.in = (uint32_t)r->flows.n;
	for (uint8_t i = 0; i < in->n; i++)
		add_flow(r, in->v[i], 0);
	if (in_temp)
		add_flow(r, GUS_TEMP, 0);
	uop.in_n = (uint8_t)(r->flows.n - uop.in);
	uop.out = (uint32_t)r->flows.n;
	/* A unit belongs to one port; a uop that has a choice keeps the port that it gets. */
	if (half->exclusive && !(half->ports & (half->ports - 1))) {
		uint8_t *unit = &r->units[__builtin_ctzll(half->ports)];

		if (!*unit)
			*unit = ++r->units_n;
		uop.unit = *unit;
		uop.unit_cycles = (uint16_t)half->exclusive;
	} else if (half->exclusive) {
		uop.port_cycles = (uint16_t)half->exclusive;
	}
	gus_vec_push(&r->uops, uop);
	return &r->uops.v[r->uops.n - 1];
}

static void add_outputs(struct reader *r, struct gus_uop *uop, const struct registers *out, uint32_t latency)
{
	for (uint8_t i = 0; i < out->n; i++)
		add_flow(r, out->v[i], latency);
	uop->out_n = out->n;
}

/* Flags live in an entry of the integer file: with the result if there is one, else in one of their own. */
static void take_registers(struct gus_op *op, const struct registers *out)
{
	for (int f = GUS_REGFILE_INT; f < GUS_REGFILES; f++)
		op->results[f] = out->files[f];
	if (out->flags && !op->results[GUS_REGFILE_INT])
		op->results[GUS_REGFILE_INT] = 1;
}

static void add_memory(struct reader *r, struct gus_op *op, const struct registers *address, bool store, bool wide)
{
	gus_vec_push(&r->memories, (struct gus_program_memory){
		.base = address->n ? address->v[0] : 0, .index = address->n > 1 ? address->v[1] : 0,
		.scale = address->n > 1, .bytes = wide ? 16 : 8, .vector = wide, .load = !store, .store = store });
	op->memories_n = 1;
}

/* How many of a are in b as well. */
static unsigned common(const struct registers *a, const struct registers *b)
{
	unsigned n = 0;

	for (uint8_t i = 0; i < a->n; i++)
		for (uint8_t k = 0; k < b->n; k++)
			n += a->v[i] == b->v[k];
	return n;
}

static unsigned without_flags(const struct registers *a)
{
	return a->n - a->flags;
}

/* Whether the fusion of an instruction with memory is undone when it is issued. The first two rules are those that
 * Palomares found on Sandy Bridge and Haswell. */
static bool unlaminates(const struct reader *r, const struct type *t, const struct registers in[2],
			const struct registers *out)
{
	unsigned inputs = without_flags(&in[0]) + without_flags(&in[1]);

	if (r->unlaminate && strcmp(r->unlaminate, "inputs") == 0)
		return inputs > 2;
	if (r->unlaminate && strcmp(r->unlaminate, "operands") == 0)
		return t->avx && inputs + without_flags(out) >= 4;
	if (r->unlaminate || !r->indexed || in[0].n < 2)
		return false;
	if (strcmp(r->indexed, "rmw") == 0)
		return t->load && !common(out, &in[1]);
	return strcmp(r->indexed, "no") == 0;
}

/* The two uops of an instruction with memory travel together, or apart. */
static void settle_fusion(struct reader *r, struct gus_op *op, bool apart)
{
	if (op->uops_n == 1)
		return;
	op->fused = op->decoded = r->fuses ? 1 : 2;
	op->slots = apart || !r->fuses ? 2 : 1;
	op->rob = op->slots == 1 && r->fused_in_rob ? 1 : 2;
	if (op->slots == 2)
		r->uops.v[op->uop + 1].slot = 1;
}

static void add_op(struct reader *r, const struct type *t, const struct half half[2], const struct registers in[2],
		   const struct registers *out)
{
	struct gus_op op = { .insn = (uint32_t)r->insns.n, .uop = (uint32_t)r->uops.n,
		.memory = (uint32_t)r->memories.n,
			     .insns_n = 1, .decoded = 1, .slots = 1, .fused = 1, .rob = 1 };
	bool wide = out->files[GUS_REGFILE_VECTOR] || in[1].files[GUS_REGFILE_VECTOR];
	struct gus_uop *uop;

	if (t->load) {
		op.loads = 1;
		add_memory(r, &op, &in[0], false, wide);
		uop = add_uop(r, GUS_UOP_LOAD, &half[0], &in[0], false);
		if (t->halves == 1) {
			add_outputs(r, uop, out, half[0].latency);
		} else {
			add_flow(r, GUS_TEMP, half[0].latency);
			uop->out_n = 1;
			uop = add_uop(r, GUS_UOP_COMPUTE, &half[1], &in[1], true);
			add_outputs(r, uop, out, half[1].latency);
		}
	} else if (t->store) {
		op.stores = 1;
		add_memory(r, &op, &in[0], true, wide);
		add_uop(r, GUS_UOP_STORE_ADDRESS, &half[0], &in[0], false);
		add_uop(r, GUS_UOP_STORE_DATA, &half[1], &in[1], false);
	} else {
		uop = add_uop(r, t->nop ? GUS_UOP_NONE : GUS_UOP_COMPUTE, &half[0], &in[0], false);
		add_outputs(r, uop, out, half[0].latency);
	}
	take_registers(&op, out);
	if (t->branch)
		op.flags |= GUS_OP_BRANCH | (t->conditional ? GUS_OP_CONDITIONAL : 0);
	if (t->nop && in[0].n) {
		op.flags |= GUS_OP_ELIMINATED;
		op.move_from = in[0].v[0];
		op.move_to = out->v[0];
	} else if (t->nop && out->n) {
		op.flags |= GUS_OP_IDIOM;
	}
	if (t->nop && !r->idioms_take_registers)
		memset(op.results, 0, sizeof(op.results));
	op.uops_n = (uint16_t)(r->uops.n - op.uop);
	settle_fusion(r, &op, unlaminates(r, t, in, out));
	gus_vec_push(&r->ops, op);
}

/* A nop has neither ports nor time; everything else has both, but for the time of a store or branch. */
static int check_halves(const struct reader *r, const struct type *t, const struct half half[2],
			const struct registers in[2], const struct registers *out, struct gus_piece line)
{
	if (t->nop && (half[0].ports || half[0].latency || half[0].exclusive))
		return wrong(r, "a nop has no latency and no ports:", line);
	if (t->nop && in[0].n && (in[0].n != 1 || out->n != 1))
		return wrong(r, "a nop with inputs is a move, of one register to one:", line);
	if (t->store && out->n)
		return wrong(r, "a store has no outputs:", line);
	for (int i = 0; i < t->halves; i++) {
		if (!t->nop && !half[i].ports)
			return wrong(r, "no ports in", line);
	}
	return 0;
}

static int parse_columns(struct reader *r, const struct gus_piece column[COLUMNS], int n, struct gus_piece line)
{
	struct half half[2] = { 0 };
	struct registers in[2] = { 0 }, out;
	struct gus_piece inputs[2] = { 0 }, latency[2], ports[2], exclusive[2];
	struct gus_program_insn insn = { 0 };
	struct type t;
	uint32_t before = r->ids.n;

	gus_strings_add_n(&r->ids, column[0].text, column[0].size);
	if (r->ids.n == before)
		return wrong(r, "the ID is there twice:", column[0]);
	if (parse_type(r, column[1], &t) != 0 ||
	    halve(r, column[2], ';', t.halves, "the inputs", inputs) != 0 ||
	    parse_registers(r, column[3], &out) != 0 ||
	    halve(r, column[4], '+', t.halves, "the latencies", latency) != 0 ||
	    halve(r, column[5], '+', t.halves, "the ports", ports) != 0 ||
	    (n == COLUMNS && halve(r, column[6], '+', t.halves, "the exclusive cycles", exclusive) != 0))
		return -1;
	for (int i = 0; i < t.halves; i++)
		if (parse_registers(r, inputs[i], &in[i]) != 0 ||
		    parse_cycles(r, "a latency is a number of cycles, not", latency[i], &half[i].latency) != 0 ||
		    parse_ports(r, ports[i], &half[i].ports) != 0 ||
		    (n == COLUMNS && parse_cycles(r, "EXCLUSIVE is a number of cycles, not", exclusive[i],
						  &half[i].exclusive) != 0))
			return -1;
	if (check_halves(r, &t, half, in, &out, line) != 0)
		return -1;
	if (t.class == GUS_INSN_OTHER)
		t.class = class_of(last_word(column[1]), out.files[GUS_REGFILE_VECTOR] > 0);
	add_op(r, &t, half, in, &out);
	insn.info.class = (uint8_t)t.class;
	insn.info.length = INSN_BYTES;
	insn.offset = (uint64_t)r->insns.n * INSN_BYTES;
	insn.op = (uint32_t)r->ops.n - 1;
	snprintf(insn.text, sizeof(insn.text), "%.*s %.*s", (int)(column[0].size < 40 ? column[0].size : 40),
		 column[0].text,
		 (int)(column[1].size < 50 ? column[1].size : 50), column[1].text);
	gus_vec_push(&r->insns, insn);
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A line without its comment. */
static int parse_line(struct reader *r, struct gus_piece line)
{
	struct gus_piece column[COLUMNS];
	int n = 0;

	for (size_t i = 0; i < line.size; i++)
		if (!is_blank(line.text[i]) && (line.text[i] < '!' || line.text[i] > '~'))
			return gus_fail(r->err, GUS_E_CORRUPT, "%s:%zu: this is no text: byte 0x%02x", r->name, r->line,
					(unsigned char)line.text[i]);
	for (size_t at = 0; at < line.size;) {
		size_t start = at;

		if (is_blank(line.text[at])) {
			at++;
			continue;
		}
		while (at < line.size && !is_blank(line.text[at]))
			at++;
		if (n == COLUMNS)
			return wrong(r, "too many columns, from", (struct gus_piece){ line.text + start, at - start });
		column[n++] = (struct gus_piece){ line.text + start, at - start };
	}
	if (!n)
		return 0;
	if (n < COLUMNS - 1)
		return wrong(r, "expected ID TYPE INPUTS OUTPUTS LATENCY PORTS [EXCLUSIVE], not", line);
	if (r->insns.n == INSNS_MAX)
		return wrong(r, "more instructions than there is room for, from", column[0]);
	return parse_columns(r, column, n, line);
}

static int parse(struct reader *r, struct gus_piece rest)
{
	while (rest.size) {
		struct gus_piece line = gus_piece_cut(&rest, '\n');

		r->line++;
		line = gus_piece_cut(&line, '#');
		if (parse_line(r, line) != 0)
			return -1;
	}
	if (!r->insns.n)
		return gus_fail(r->err, GUS_E_CORRUPT, "%s: there is no instruction in it", r->name);
	return 0;
}

static const char *policy(const struct gus_uarch *u, const char *name)
{
	const struct gus_uarch_param *param = gus_uarch_param(u, name);

	return param ? param->word : NULL;
}

static void learn_rules(struct reader *r)
{
	r->fuses = gus_uarch_value(r->u, "micro_fusion", 0) != 0;
	r->fused_in_rob = gus_uarch_value(r->u, "rob_fused", 1) != 0;
	r->unlaminate = policy(r->u, "unlaminate");
	r->indexed = policy(r->u, "micro_fusion_indexed");
	/* What can eliminate moves can point a register at zero, too. */
	r->idioms_take_registers = gus_uarch_value(r->u, "move_elimination_int", 0) == 0 &&
				   gus_uarch_value(r->u, "move_elimination_vector", 0) == 0;
}

/* Gives what was read to a program. */
static struct gus_program *finish(struct reader *r)
{
	struct gus_program *p = gus_zalloc(sizeof(*p));
	struct gus_op *last = &r->ops.v[r->ops.n - 1];
	const char **names = gus_zalloc((r->u->ports_n + 1) * sizeof(*names));

	for (uint32_t i = 0; i < r->u->ports_n; i++)
		names[i] = r->u->groups[i].name;
	if (last->flags & GUS_OP_BRANCH)
		last->flags |= GUS_OP_TAKEN;
	gus_vec_reserve(&r->flows, 1);  /* arrays also where there are none: engines point into them */
	gus_vec_reserve(&r->memories, 1);
	*p = (struct gus_program){
		.isa = r->u->isa, .uarch = r->u, .port_names = names, .ports_n = r->u->ports_n,
		.insns = r->insns.v, .ops = r->ops.v, .uops = r->uops.v, .flows = r->flows.v, .memories = r->memories.v,
		.insns_n = (uint32_t)r->insns.n, .ops_n = (uint32_t)r->ops.n, .uops_n = (uint32_t)r->uops.n,
		.flows_n = (uint32_t)r->flows.n, .memories_n = (uint32_t)r->memories.n,
		.bytes = (uint64_t)r->insns.n * INSN_BYTES, .loop = true,
	};
	return p;
}

struct gus_program *gus_uoptable_program(const struct gus_uarch *u, const char *name, const char *text, size_t size,
					 struct gus_error *err)
{
	struct reader r = { .u = u, .name = name, .err = err };
	struct gus_program *p = NULL;

	gus_strings_init(&r.ids);
	gus_strings_init(&r.registers);
	learn_rules(&r);
	if (parse(&r, (struct gus_piece){ text, size }) == 0) {
		p = finish(&r);
	} else {
		gus_vec_free(&r.insns);
		gus_vec_free(&r.ops);
		gus_vec_free(&r.uops);
		gus_vec_free(&r.flows);
		gus_vec_free(&r.memories);
	}
	gus_strings_free(&r.ids);
	gus_strings_free(&r.registers);
	return p;
}
