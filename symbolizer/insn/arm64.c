/* SPDX-License-Identifier: MIT */
/* What arm64 instructions do, from a table that contrib/arm64-gen learned from LLVM: base, NEON, LSE, SVE, SVE2, SME.
 *
 * The form's text is LLVM's or Arm's way of writing the instruction with each operand replaced by its kind: x w
 * (general registers; sp and the zero register are no kinds of their own), b h s d q (scalars), v.4s (vectors), z.s, p
 * p/z p/m (SVE), imm, i (number of a lane), cond, op (a word such as a barrier's or a prefetch's), ext (an extension).
 * Real mnemonics, no aliases: "mov x0, x1" is `orr (x, x, x) +zr`. What differs by fields comes behind as words with a
 * '+', which arm64_shape.h lists: "add (x, x, x) +lsl1-4", "ldr (x, [x, x]) +scaled". Where two encodings would
 * still have one text, the second has " #2".
 *
 * SVE registers and memory are counted as 128 bits, the least that there is: how long they are is not in the code. */
#include <string.h>

#include "symbolizer/insn/arm64_shape.h"
#include "symbolizer/insn/arm64_table.h"
#include "symbolizer/insn/private.h"
#include "symbolizer/insn/renaming.h"

#include "symbolizer/insn/arm64_forms.inc"

static uint32_t word_at(const void *bytes)
{
	const uint8_t *b = bytes;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int64_t signed_bits(uint32_t word, unsigned low, unsigned count)
{
	uint32_t sign = 1u << (count - 1);

	return (int64_t)(gus_a64_bits(word, low, count) ^ sign) - sign;
}

static const struct gus_a64_op *find(uint32_t word)
{
	uint32_t node = tree[0];

	while (!(node & GUS_A64_LEAF))
		node = tree[(node & 0x3fffff) + gus_a64_bits(word, node >> 26 & 31, node >> 22 & 15)];
	for (uint32_t i = node >> 6 & 0x1ffffff, end = i + (node & 63); i < end; i++) {
		const struct gus_a64_pattern *p = &patterns[leaves[i]];

		if ((word & p->mask) == p->value)
			return gus_a64_allocated(ops[p->op].shape, word) ? &ops[p->op] : NULL;
	}
	return NULL;
}

/* Registers. */

static unsigned register_of(unsigned file, unsigned number)
{
	switch (file) {
	case GUS_A64_FILE_X:
		return number == 31 ? GUS_A64_NONE : GUS_A64_X0 + number;
	case GUS_A64_FILE_XSP:
		return GUS_A64_X0 + number; /* sp follows x30 */
	case GUS_A64_FILE_V:
		return GUS_A64_V0 + number;
	case GUS_A64_FILE_P:
		return GUS_A64_P0 + number;
	default:
		return number;
	}
}

static unsigned number_of(const struct gus_a64_operand *o, uint32_t word)
{
	unsigned n = o->add;

	if (o->width)
		n += gus_a64_bits(word, o->low, o->width) << o->shift;
	if (o->split)
		n += gus_a64_bits(word, o->split & 31, 1) << (o->split & 32 ? 3 : 4);
	return n;
}

/* A register stands once for its values and once for addresses: uses of the same sort are joined. */
static void add_access(struct gus_insn_info *info, unsigned reg, unsigned use, unsigned bits)
{
	if (reg == GUS_A64_NONE)
		return;
	for (unsigned i = 0; i < info->access_count; i++) {
		struct gus_insn_access *a = &info->access[i];

		if (a->reg != reg || ((a->use ^ use) & GUS_ACCESS_ADDRESS))
			continue;
		a->use |= (uint8_t)use;
		if (a->bits < bits)
			a->bits = (uint16_t)bits;
		return;
	}
	if (info->access_count < GUS_INSN_ACCESSES)
		info->access[info->access_count++] =
			(struct gus_insn_access){ .reg = (uint8_t)reg, .use = (uint8_t)use, .bits = (uint16_t)bits };
}

/* Whether an operand is where the address comes from: the base in 9:5, the index in 20:16. */
static bool is_address(const struct gus_a64_op *op, const struct gus_a64_operand *o)
{
	if (op->memory == GUS_A64_MEMORY_NONE || op->memory == GUS_A64_MEMORY_LITERAL || o->file == GUS_A64_FILE_FIXED)
		return false;
	if (o->low == 5 && o->width == 5)
		return op->memory != GUS_A64_MEMORY_STRING;
	return o->low == 16 && o->width == 5 &&
		(op->memory == GUS_A64_MEMORY_INDEX || op->memory == GUS_A64_MEMORY_XINDEX ||
						 op->memory == GUS_A64_MEMORY_ZINDEX ||
							 op->memory == GUS_A64_MEMORY_ZBASE);
}

static void add_operand(struct gus_insn_info *info, const struct gus_a64_op *op, const struct gus_a64_operand *o,
			uint32_t word)
{
	unsigned number = number_of(o, word), mask = o->file == GUS_A64_FILE_P ? 15 : 31;

	if (is_address(op, o)) {
		unsigned reg = register_of(o->file, number);

		add_access(info, reg, GUS_ACCESS_READ | GUS_ACCESS_ADDRESS, o->bits);
		if (o->use & GUS_ACCESS_WRITE) /* written back */
			add_access(info, reg, GUS_ACCESS_READ | GUS_ACCESS_WRITE, o->bits);
		return;
	}
	if (o->file == GUS_A64_FILE_FIXED) {
		add_access(info, number, o->use, o->bits);
		return;
	}
	for (unsigned k = 0; k < o->count; k++)
		add_access(info, register_of(o->file, k ? (number + k * o->stride) & mask : number), o->use, o->bits);
}

/* System registers that instructions compute with have numbers of their own. */
static void add_system_register(struct gus_insn_info *info, uint32_t word)
{
	static const struct { uint16_t number; uint8_t reg, bits; } known[] = {
		{ 0xda10, GUS_A64_NZCV, 1 }, { 0xda20, GUS_A64_FPCR, 64 }, { 0xda21, GUS_A64_FPSR, 64 },
	};
	bool mrs = (word & 0xfff00000) == 0xd5300000, msr = (word & 0xfff00000) == 0xd5100000;
	unsigned reg = GUS_A64_SYSTEM, bits = 64;

	if (!mrs && !msr)
		return;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (gus_a64_bits(word, 5, 16) == known[i].number)
			reg = known[i].reg, bits = known[i].bits;
	add_access(info, reg, (mrs ? GUS_ACCESS_READ : GUS_ACCESS_WRITE) | GUS_ACCESS_IMPLICIT, bits);
	if (mrs && (gus_a64_bits(word, 5, 16) & 0xfffe) == 0xd920) /* rndr, rndrrs: whether there was a number */
		add_access(info, GUS_A64_NZCV, GUS_ACCESS_WRITE | GUS_ACCESS_IMPLICIT, 1);
}

/* Memory. */

static int64_t displacement(const struct gus_a64_op *op, uint32_t word)
{
	switch (op->memory) {
	case GUS_A64_MEMORY_IMM12:
		return (int64_t)gus_a64_bits(word, 10, 12) << op->memory_scale;
	case GUS_A64_MEMORY_IMM9:
		return signed_bits(word, 12, 9);
	case GUS_A64_MEMORY_IMM9S:
		return signed_bits(word, 12, 9) * (1 << op->memory_scale);
	case GUS_A64_MEMORY_IMM7:
		return signed_bits(word, 15, 7) * (1 << op->memory_scale);
	case GUS_A64_MEMORY_IMM10:
		return (signed_bits(word, 22, 1) * 512 + gus_a64_bits(word, 12, 9)) * 8;
	case GUS_A64_MEMORY_LITERAL:
		return signed_bits(word, 5, 19) * 4;
	case GUS_A64_MEMORY_ZIMM:
		return (int64_t)gus_a64_bits(word, 16, 5) << op->memory_scale;
	default:
		return 0;
	}
}

static void add_memory(struct gus_insn_info *info, const struct gus_a64_op *op, uint32_t word)
{
	struct gus_insn_memory *m = &info->memory[0];
	unsigned five = gus_a64_bits(word, 5, 5), sixteen = gus_a64_bits(word, 16, 5);

	if (op->memory == GUS_A64_MEMORY_NONE)
		return;
	*m = (struct gus_insn_memory){ .displacement = displacement(op, word), .bits = op->memory_bits,
				       .base = (uint8_t)(GUS_A64_X0 + five), .use = op->memory_use, .elements = 1 };
	info->memory_count = 1;
	switch (op->memory) {
	case GUS_A64_MEMORY_LITERAL:
		m->base = GUS_A64_PC;
		break;
	case GUS_A64_MEMORY_INDEX:
		m->index = sixteen == 31 ? 0 : (uint8_t)(GUS_A64_X0 + sixteen);
		m->scale = (uint8_t)(1u << (gus_a64_bits(word, 12, 1) ? op->memory_scale : 0));
		break;
	case GUS_A64_MEMORY_XINDEX:
		m->index = sixteen == 31 ? 0 : (uint8_t)(GUS_A64_X0 + sixteen);
		m->scale = (uint8_t)(1u << op->memory_scale);
		break;
	case GUS_A64_MEMORY_ZINDEX:
		m->index = (uint8_t)(GUS_A64_V0 + sixteen);
		m->scale = (uint8_t)(1u << op->memory_scale);
		break;
	case GUS_A64_MEMORY_ZBASE:
	case GUS_A64_MEMORY_ZIMM:
		m->base = op->memory == GUS_A64_MEMORY_ZIMM || sixteen == 31 ? 0 : (uint8_t)(GUS_A64_X0 + sixteen);
		m->index = (uint8_t)(GUS_A64_V0 + five);
		m->scale = 1;
		break;
	case GUS_A64_MEMORY_STRING:
		m->base = (uint8_t)(GUS_A64_X0 + gus_a64_bits(word, 0, 5));
		m->use = GUS_ACCESS_WRITE;
		if (op->memory_use & GUS_ACCESS_READ) {
			info->memory[1] = *m;
			info->memory[1].base = (uint8_t)(GUS_A64_X0 + sixteen);
			info->memory[1].use = GUS_ACCESS_READ;
			info->memory_count = 2;
		}
		break;
	default:
		break;
	}
	if (!m->index)
		m->scale = 0;
	else if (m->index >= GUS_A64_V0)
		m->use |= GUS_ACCESS_GATHER, m->elements = op->elements;
}

/* Immediates, idioms, fusion. */

static void add_immediate(struct gus_insn_info *info, uint32_t word)
{
	static const struct { uint32_t mask, value; uint8_t low, count, shift; bool is_signed, relative; } fields[] = {
		{ 0x7c000000, 0x14000000, 0, 26, 2, true, true },       /* b, bl */
		{ 0xff000000, 0x54000000, 5, 19, 2, true, true },       /* b.cond */
		{ 0x7e000000, 0x34000000, 5, 19, 2, true, true },       /* cbz */
		{ 0x7e000000, 0x36000000, 5, 14, 2, true, true },       /* tbz */
		{ 0x7e000000, 0x74000000, 5, 9, 2, true, true },        /* cb of two registers */
		{ 0x1f800000, 0x11000000, 10, 12, 0, false, false },    /* add, sub */
		{ 0x1f800000, 0x12800000, 5, 16, 0, false, false },     /* movz, movn, movk */
		{ 0xff000000, 0xd4000000, 5, 16, 0, false, false },     /* svc, brk and the like */
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if ((word & fields[i].mask) != fields[i].value)
			continue;
		info->immediate_bits = fields[i].count;
		info->immediate = fields[i].is_signed ? signed_bits(word, fields[i].low, fields[i].count)
			: (int64_t)gus_a64_bits(word, fields[i].low, fields[i].count);
		info->immediate *= 1 << fields[i].shift;
		if (fields[i].relative)
			info->immediate -= 4;
		info->flags |= GUS_INSN_IMMEDIATE;
		return;
	}
}

static uint32_t idiom(const struct gus_a64_op *op, uint32_t word)
{
	bool same = gus_a64_bits(word, 5, 5) == gus_a64_bits(word, 16, 5);

	switch (op->idiom) {
	case GUS_A64_MOVE:
		return GUS_INSN_MOVE;
	case GUS_A64_MOVE_ZR: /* a shift by nothing, any kind of it */
		return gus_a64_bits(word, 5, 5) == 31 && !gus_a64_bits(word, 10, 6) ? GUS_INSN_MOVE : 0;
	case GUS_A64_MOVE_SAME:
		return same ? GUS_INSN_MOVE : 0;
	case GUS_A64_MOVE_IMM:
		return !gus_a64_bits(word, 10, 12) ? GUS_INSN_MOVE : 0;
	case GUS_A64_ZERO_SAME:
		return same ? GUS_INSN_ZERO_IDIOM : 0;
	case GUS_A64_ZERO_WIDE:
		return !gus_a64_bits(word, 5, 16) ? GUS_INSN_ZERO_IDIOM : 0;
	case GUS_A64_ZERO_MOVI:
		return !(word & 0x000703e0) ? GUS_INSN_ZERO_IDIOM : 0;
	default:
		return 0;
	}
}

/* The last two explicit register operands are the same register. */
static bool same_registers(const struct gus_a64_op *op, uint32_t word)
{
	const struct gus_a64_operand *last = NULL, *before = NULL;

	for (unsigned i = 0; i < op->operand_count; i++) {
		const struct gus_a64_operand *o = &operands[op->operands + i];

		if (o->use & GUS_ACCESS_IMPLICIT)
			continue;
		before = last;
		last = o;
	}
	if (!before || (before->use & ~last->use & GUS_ACCESS_WRITE) || before->count != 1 || last->count != 1)
		return false;
	return register_of(before->file, number_of(before, word)) == register_of(last->file, number_of(last, word));
}

static size_t text_of(const struct gus_a64_op *op, uint32_t word, char *out)
{
	const char *words[4];
	size_t n = strlen(texts + op->text);

	memcpy(out, texts + op->text, n);
	gus_a64_words(op->shape, word, words);
	for (unsigned i = 0; words[i]; i++) {
		size_t size = strlen(words[i]);

		memcpy(out + n, " +", 2);
		memcpy(out + n + 2, words[i], size);
		n += 2 + size;
	}
	out[n] = 0;
	return n;
}

/* The instructions of C4.1.93 to C4.1.95 in Arm's manual that end in another exception level, and those of system
 * registers and instructions that are of EL1 and up: EL0's have 3 for op1, in bits 18:16. */
static bool is_outside(uint32_t word)
{
	static const struct { uint32_t mask, value; } patterns_outside[] = {
		{ 0xffff0000, 0x00000000 },     /* udf */
		{ 0xff000000, 0xd4000000 },     /* svc, hvc, smc, brk, hlt, dcps */
		{ 0xffff0000, 0xd69f0000 },     /* eret, eretaa, eretab */
		{ 0xffffffff, 0xd6bf03e0 },     /* drps */
		{ 0xffffffdf, 0xd503205f },     /* wfe, wfi */
		{ 0xffffffc0, 0xd5031000 },     /* wfet, wfit */
	};
	unsigned op0 = gus_a64_bits(word, 19, 2), op1 = gus_a64_bits(word, 16, 3), op2 = gus_a64_bits(word, 5, 3);

	for (size_t i = 0; i < sizeof(patterns_outside) / sizeof(*patterns_outside); i++)
		if ((word & patterns_outside[i].mask) == patterns_outside[i].value)
			return true;
	if ((word & 0xff800000) != 0xd5000000)
		return false;
	if (op0)
		return op1 != 3;
	/* msr to a field of the state: of the flags, ssbs, dit, tco and sme are everybody's. */
	if ((word & 0xfff8f01f) != 0xd500401f)
		return false;
	return !(op1 == 0 && op2 < 3) && !(op1 == 3 && op2 >= 1 && op2 <= 4);
}

size_t gus_insn_arm64_analyse(const void *bytes, size_t size, struct gus_insn_info *info)
{
	char text[2 * GUS_INSN_FORM_MAX];
	const struct gus_a64_op *op;
	uint32_t word;

	if (size < 4) {
		memset(info, 0, sizeof(*info));
		return 0;
	}
	word = word_at(bytes);
	op = find(word);
	if (!op)
		return gus_insn_bad_info(info, 4);
	memset(info, 0, sizeof(*info));
	info->length = info->opcode_length = 4;
	info->class = op->kind;
	info->flags = op->flags | idiom(op, word) | (is_outside(word) ? GUS_INSN_OUTSIDE : 0);
	info->vector_bits = (uint16_t)(op->vector_bytes * 8);
	info->fuse_first = op->fuse_first;
	info->fuse_second = op->fuse_second;
	for (unsigned i = 0; i < op->operand_count; i++)
		add_operand(info, op, &operands[op->operands + i], word);
	add_system_register(info, word);
	add_memory(info, op, word);
	add_immediate(info, word);
	if (same_registers(op, word))
		info->flags |= GUS_INSN_SAME_REGS;
	info->form = gus_insn_form_hash(text, text_of(op, word, text));
	return 4;
}

size_t gus_insn_arm64_form_text(const void *bytes, size_t size, char *out, size_t room)
{
	char text[2 * GUS_INSN_FORM_MAX] = "";
	const struct gus_a64_op *op = size < 4 ? NULL : find(word_at(bytes));
	size_t n = op ? text_of(op, word_at(bytes), text) : 0;

	if (room) {
		size_t copied = n < room ? n : room - 1;

		memcpy(out, text, copied);
		out[copied] = 0;
	}
	return n;
}

/* Renaming. */

static uint8_t file_of(const struct gus_a64_operand *o)
{
	if (o->count != 1)
		return GUS_INSN_FILE_NONE;
	return o->file == GUS_A64_FILE_V ? GUS_INSN_FILE_VECTOR
		: o->file == GUS_A64_FILE_P ? GUS_INSN_FILE_MASK : GUS_INSN_FILE_GENERAL;
}

/* What is read and written stands twice in the table, and is one choice: fields that have been there are joined. The
 * zero register is none. */
static unsigned choices_of(const struct gus_a64_op *op, uint32_t word,
			   const struct gus_a64_operand *fields[GUS_INSN_OPERANDS], struct gus_insn_operand *choices)
{
	unsigned n = 0;

	for (unsigned i = 0; i < op->operand_count; i++) {
		const struct gus_a64_operand *o = &operands[op->operands + i];
		unsigned use = is_address(op, o) ? o->use | GUS_ACCESS_READ | GUS_ACCESS_ADDRESS : o->use, k = 0;

		if (o->file == GUS_A64_FILE_FIXED || !o->width || !register_of(o->file, number_of(o, word)))
			continue;
		while (k < n && (fields[k]->low != o->low || fields[k]->width != o->width))
			k++;
		if (k == GUS_INSN_OPERANDS)
			break;
		if (k == n) {
			fields[n++] = o;
			choices[k] = (struct gus_insn_operand){
				.reg = (uint8_t)register_of(o->file, number_of(o, word)), .file = file_of(o),
				.bits = o->bits };
		}
		choices[k].use |= (uint8_t)(use & ~(unsigned)GUS_ACCESS_IMPLICIT);
		if (!file_of(o))
			choices[k].file = GUS_INSN_FILE_NONE;
	}
	return n;
}

unsigned gus_insn_arm64_operands(const void *bytes, size_t size, struct gus_insn_operand *choices)
{
	const struct gus_a64_operand *fields[GUS_INSN_OPERANDS];
	const struct gus_a64_op *op = size < 4 ? NULL : find(word_at(bytes));

	return op ? choices_of(op, word_at(bytes), fields, choices) : 0;
}

/* Puts a register's number into a field. False if it has none there. */
static bool put_number(uint32_t *word, const struct gus_a64_operand *o, unsigned reg)
{
	unsigned first = o->file == GUS_A64_FILE_V ? GUS_A64_V0 : o->file == GUS_A64_FILE_P ? GUS_A64_P0 : GUS_A64_X0;
	unsigned number = reg - first, split = o->split & 32 ? 8 : 16;
	uint32_t mask = ((1u << o->width) - 1) << o->low;

	if (o->split) {
		*word = (*word & ~(1u << (o->split & 31))) | (uint32_t)(number / split) << (o->split & 31);
		number %= split;
	}
	if (number < o->add || (number - o->add) >> o->shift >> o->width)
		return false;
	number -= o->add;
	*word = (*word & ~mask) | number >> o->shift << o->low;
	return !(number & ((1u << o->shift) - 1));
}

size_t gus_insn_arm64_renamed(const void *bytes, size_t size, const uint8_t *to, uint8_t *out)
{
	const struct gus_a64_operand *fields[GUS_INSN_OPERANDS];
	struct gus_insn_operand choices[GUS_INSN_OPERANDS];
	const struct gus_a64_op *op = size < 4 ? NULL : find(word_at(bytes));
	uint32_t word;
	unsigned n;

	if (!op)
		return 0;
	word = word_at(bytes);
	n = choices_of(op, word, fields, choices);
	for (unsigned i = 0; i < n; i++)
		if (to[i] && to[i] != choices[i].reg && !put_number(&word, fields[i], to[i]))
			return 0;
	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(word >> 8 * i);
	return 4;
}
