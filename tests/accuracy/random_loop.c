/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/random_loop.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a loop may have a taste for. The first ones wait for their own result of the iteration before. */
enum family { INT_CHAIN, FP_CHAIN, VECTOR_CHAIN, POINTER_CHAIN, INT_WORK, FP_WORK, VECTOR_WORK, SHUFFLES, LOADS, STORES,
	RMW, ADDRESSES,
	CONVERTS, DIVISIONS, FAMILIES };

/* Operands by two letters: C chain (read and written), D a register that nobody waits for from before, L the one that
 * was last written so, K constant; M memory to load, W memory to store, A memory at the same address each time; I an
 * immediate. The second letter is the width: d q x y. */
static const struct action {
	enum family family;
	unsigned often;
	ZydisMnemonic mnemonic;
	const char *operands;
} actions[] = {
	{ INT_CHAIN, 4, ZYDIS_MNEMONIC_ADD, "Cq Kq" },          { INT_CHAIN, 2, ZYDIS_MNEMONIC_XOR, "Cq Kq" },
	{ INT_CHAIN, 2, ZYDIS_MNEMONIC_ADD, "Cq Lq" },          { INT_CHAIN, 2, ZYDIS_MNEMONIC_SUB, "Cq Mq" },
	{ INT_CHAIN, 3, ZYDIS_MNEMONIC_IMUL, "Cq Kq" },         { INT_CHAIN, 1, ZYDIS_MNEMONIC_IMUL, "Cq Mq" },
	{ INT_CHAIN, 1, ZYDIS_MNEMONIC_ROL, "Cq Iq" },          { INT_CHAIN, 1, ZYDIS_MNEMONIC_SHL, "Cq Iq" },
	{ INT_CHAIN, 1, ZYDIS_MNEMONIC_POPCNT, "Cq Cq" },       { INT_CHAIN, 1, ZYDIS_MNEMONIC_ADC, "Cq Kq" },
	{ FP_CHAIN, 4, ZYDIS_MNEMONIC_VADDSD, "Cx Cx Lx" },     { FP_CHAIN, 2, ZYDIS_MNEMONIC_VMULSD, "Cx Cx Kx" },
	{ FP_CHAIN, 3, ZYDIS_MNEMONIC_VFMADD231SD, "Cx Lx Kx" }, { FP_CHAIN, 2, ZYDIS_MNEMONIC_VADDSD, "Cx Cx Mq" },
	{ FP_CHAIN, 1, ZYDIS_MNEMONIC_VMAXSD, "Cx Cx Lx" },     { FP_CHAIN, 1, ZYDIS_MNEMONIC_VSUBSS, "Cx Cx Md" },
	{ VECTOR_CHAIN, 4, ZYDIS_MNEMONIC_VFMADD231PD, "Cy Ly Ky" },
		{ VECTOR_CHAIN, 3, ZYDIS_MNEMONIC_VADDPS, "Cy Cy Ly" },
	{ VECTOR_CHAIN, 2, ZYDIS_MNEMONIC_VFMADD231PS, "Cy Ky My" },
		{ VECTOR_CHAIN, 2, ZYDIS_MNEMONIC_VPADDD, "Cy Cy Ly" },
	{ VECTOR_CHAIN, 1, ZYDIS_MNEMONIC_VPMULLD, "Cy Cy Ky" },
		{ VECTOR_CHAIN, 1, ZYDIS_MNEMONIC_VPSHUFB, "Cy Cy Ky" },
	{ VECTOR_CHAIN, 1, ZYDIS_MNEMONIC_VMAXPS, "Cy Cy My" },
	{ POINTER_CHAIN, 1, ZYDIS_MNEMONIC_MOV, "Cq Pq" },
	{ INT_WORK, 3, ZYDIS_MNEMONIC_LEA, "Dq Lq Kq" },        { INT_WORK, 2, ZYDIS_MNEMONIC_IMUL, "Dq Kq Iq" },
	{ INT_WORK, 2, ZYDIS_MNEMONIC_SHLX, "Dq Kq Lq" },       { INT_WORK, 2, ZYDIS_MNEMONIC_ANDN, "Dq Kq Lq" },
	{ INT_WORK, 2, ZYDIS_MNEMONIC_TZCNT, "Dq Kq" },         { INT_WORK, 3, ZYDIS_MNEMONIC_ADD, "Lq Kq" },
	{ INT_WORK, 2, ZYDIS_MNEMONIC_CMP, "Lq Kq" },           { INT_WORK, 1, ZYDIS_MNEMONIC_CMOVB, "Lq Kq" },
	{ INT_WORK, 2, ZYDIS_MNEMONIC_AND, "Ld Id" },           { INT_WORK, 2, ZYDIS_MNEMONIC_SHR, "Ld Id" },
	{ FP_WORK, 3, ZYDIS_MNEMONIC_VMULSD, "Dx Lx Kx" },      { FP_WORK, 3, ZYDIS_MNEMONIC_VADDSD, "Dx Lx Kx" },
	{ FP_WORK, 2, ZYDIS_MNEMONIC_VFMADD213SD, "Lx Kx Kx" }, { FP_WORK, 1, ZYDIS_MNEMONIC_VCOMISD, "Lx Kx" },
	{ FP_WORK, 1, ZYDIS_MNEMONIC_VANDPD, "Dx Lx Kx" },      { FP_WORK, 2, ZYDIS_MNEMONIC_VADDSS, "Dx Kx Md" },
	{ VECTOR_WORK, 3, ZYDIS_MNEMONIC_VMULPS, "Dy Ly Ky" },  { VECTOR_WORK, 3, ZYDIS_MNEMONIC_VADDPD, "Dy Ly My" },
	{ VECTOR_WORK, 3, ZYDIS_MNEMONIC_VFMADD213PS, "Ly Ky Ky" },
		{ VECTOR_WORK, 1, ZYDIS_MNEMONIC_VPADDD, "Dy Ly Ky" },
	{ VECTOR_WORK, 1, ZYDIS_MNEMONIC_VPXOR, "Dy Ly Ky" },   { VECTOR_WORK, 1, ZYDIS_MNEMONIC_VPMADDWD, "Dy Ly Ky" },
	{ VECTOR_WORK, 1, ZYDIS_MNEMONIC_VPSLLD, "Dy Ly Iy" },
	{ SHUFFLES, 2, ZYDIS_MNEMONIC_VSHUFPS, "Dy Ly Ky Iy" }, { SHUFFLES, 2, ZYDIS_MNEMONIC_VPERMPD, "Dy Ly Iy" },
	{ SHUFFLES, 1, ZYDIS_MNEMONIC_VUNPCKLPD, "Dy Ly Ky" },
		{ SHUFFLES, 1, ZYDIS_MNEMONIC_VPERM2F128, "Dy Ly Ky Iy" },
	{ SHUFFLES, 1, ZYDIS_MNEMONIC_VBLENDPS, "Dy Ly Ky Iy" },
	{ LOADS, 4, ZYDIS_MNEMONIC_VMOVUPS, "Dy My" },          { LOADS, 2, ZYDIS_MNEMONIC_VMOVSD, "Dx Mq" },
	{ LOADS, 2, ZYDIS_MNEMONIC_MOV, "Dq Mq" },              { LOADS, 1, ZYDIS_MNEMONIC_MOV, "Dd Md" },
	{ LOADS, 1, ZYDIS_MNEMONIC_VBROADCASTSD, "Dy Mq" },     { LOADS, 1, ZYDIS_MNEMONIC_MOVSXD, "Dq Md" },
	{ STORES, 4, ZYDIS_MNEMONIC_VMOVUPS, "Wy Ly" },         { STORES, 2, ZYDIS_MNEMONIC_MOV, "Wq Lq" },
	{ STORES, 1, ZYDIS_MNEMONIC_VMOVSD, "Wq Lx" },          { STORES, 1, ZYDIS_MNEMONIC_MOV, "Wd Ld" },
	{ RMW, 2, ZYDIS_MNEMONIC_ADD, "Aq Kq" },                { RMW, 1, ZYDIS_MNEMONIC_ADD, "Wq Kq" },
	{ ADDRESSES, 2, ZYDIS_MNEMONIC_LEA, "Dq Mq" },          { ADDRESSES, 2, ZYDIS_MNEMONIC_MOV, "Dq Kq" },
	{ ADDRESSES, 1, ZYDIS_MNEMONIC_MOVSXD, "Dq Ld" },       { ADDRESSES, 1, ZYDIS_MNEMONIC_XOR, "Zd Zd" },
	{ CONVERTS, 2, ZYDIS_MNEMONIC_VCVTSI2SD, "Dx Kx Lq" },  { CONVERTS, 1, ZYDIS_MNEMONIC_VCVTTSD2SI, "Dq Lx" },
	{ CONVERTS, 2, ZYDIS_MNEMONIC_VCVTDQ2PS, "Dy Ly" },     { CONVERTS, 1, ZYDIS_MNEMONIC_VMOVQ, "Dq Lx" },
	{ DIVISIONS, 3, ZYDIS_MNEMONIC_VDIVSD, "Dx Lx Kx" },    { DIVISIONS, 1, ZYDIS_MNEMONIC_VSQRTSD, "Dx Lx Lx" },
	{ DIVISIONS, 1, ZYDIS_MNEMONIC_VDIVPD, "Dy Ly Ky" },    { DIVISIONS, 1, ZYDIS_MNEMONIC_VDIVSD, "Cx Kx Cx" },
};
enum { ACTIONS = sizeof(actions) / sizeof(*actions) };

/* Bases rdi, rsi, r14 and r15, index rcx, end r13; constants rbp and ymm13 to ymm15. */
static const uint8_t chain_gprs[] = { 0, 3, 8 }, fresh_gprs[] = { 2, 9, 10, 11, 12 }, pointer_gprs[] = { 8, 3 };
enum { CHAIN_GPRS = 3, FRESH_GPRS = 5, CHAIN_VECTORS = 4, FRESH_VECTORS = 8, CONSTANT_GPR = 5, INDEX = 1, END = 13 };

struct making {
	struct random_loop *l;
	uint64_t random;
	unsigned often[FAMILIES];
	unsigned chains;                /* registers of each file that chains go through, at most */
	unsigned fresh_gpr, fresh_vector; /* the last written of them */
	unsigned chain_gpr, chain_vector; /* of this instruction */
	unsigned scale, step;           /* of the index */
};

static uint64_t draw(struct making *m)
{
	uint64_t z = m->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static unsigned below(struct making *m, unsigned n)
{
	return (unsigned)(draw(m) % n);
}

static ZydisRegister reg(char width, unsigned number)
{
	return (ZydisRegister)((width == 'd' ? ZYDIS_REGISTER_EAX : width == 'q' ? ZYDIS_REGISTER_RAX :
				width == 'x' ? ZYDIS_REGISTER_XMM0 : ZYDIS_REGISTER_YMM0) + number);
}

static unsigned number_of(struct making *m, char role, bool vector)
{
	switch (role) {
	case 'C':
		return vector ? m->chain_vector : m->chain_gpr;
	case 'D':
		if (vector)
			return 4 + (m->fresh_vector = (m->fresh_vector + 1) % FRESH_VECTORS);
		return fresh_gprs[m->fresh_gpr = (m->fresh_gpr + 1) % FRESH_GPRS];
	case 'Z':
	case 'L':
		return vector ? 4 + m->fresh_vector : fresh_gprs[m->fresh_gpr];
	default:
		return vector ? 13 + below(m, 3) : CONSTANT_GPR;
	}
}

static unsigned bytes_of(char width)
{
	return width == 'd' ? 4 : width == 'q' ? 8 : width == 'x' ? 16 : 32;
}

static void memory(struct making *m, char role, char width, ZydisEncoderOperand *op)
{
	static const uint8_t loads[] = { 7, 6, 7, 6, 14, 15 }, stores[] = { 14, 15 };

	op->type = ZYDIS_OPERAND_TYPE_MEMORY;
	op->mem.size = (uint16_t)bytes_of(width);
	op->mem.displacement = 32 * below(m, 8);
	op->mem.base = reg('q', role == 'P' ? m->chain_gpr : role == 'M' ? loads[below(m, 6)] : stores[below(m, 2)]);
	if (role == 'A')
		op->mem.displacement += 1 << 20;
	if ((role == 'M' || role == 'W') && below(m, 4)) {
		op->mem.index = reg('q', INDEX);
		op->mem.scale = (uint8_t)m->scale;
	}
}

static void operand(struct making *m, const char *word, ZydisEncoderOperand *op)
{
	bool vector = word[1] == 'x' || word[1] == 'y';

	if (strchr("MWAP", word[0])) {
		memory(m, word[0], word[1], op);
	} else if (word[0] == 'I') {
		op->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		op->imm.u = 1 + below(m, 7);
	} else {
		op->type = ZYDIS_OPERAND_TYPE_REGISTER;
		op->reg.value = reg(word[1], number_of(m, word[0], vector));
	}
}

static void encode(struct making *m, const ZydisEncoderRequest *request)
{
	ZyanUSize size = RANDOM_LOOP_BYTES - m->l->size;

	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, m->l->bytes + m->l->size, &size))) {
		fprintf(stderr, "random loop: cannot encode %s\n", ZydisMnemonicGetString(request->mnemonic));
		exit(99);
	}
	m->l->size += size;
	m->l->instructions++;
}

/* Sources are drawn before the destination: what was last written is not what is being written. */
static void act(struct making *m, const struct action *a)
{
	ZydisEncoderRequest request = { .machine_mode = ZYDIS_MACHINE_MODE_LONG_64, .mnemonic = a->mnemonic };
	char words[4][3];
	int n = sscanf(a->operands, "%2s %2s %2s %2s", words[0], words[1], words[2], words[3]);

	m->chain_gpr = a->family == POINTER_CHAIN ? pointer_gprs[below(m, 2)] :
		chain_gprs[below(m, m->chains < CHAIN_GPRS ?
										       m->chains : CHAIN_GPRS)];
	m->chain_vector = below(m, m->chains);
	request.operand_count = (uint8_t)n;
	for (int i = n - 1; i >= 0; i--)
		operand(m, words[i], &request.operands[i]);
	if (a->mnemonic == ZYDIS_MNEMONIC_LEA && n == 3) { /* of two registers */
		ZydisEncoderOperand *at = &request.operands[1];
		ZydisRegister base = at->reg.value;

		at->type = ZYDIS_OPERAND_TYPE_MEMORY;
		at->mem.base = base;
		at->mem.index = request.operands[2].reg.value;
		at->mem.scale = 4;
		at->mem.size = 8;
		request.operand_count = 2;
	}
	encode(m, &request);
}

static void two(struct making *m, ZydisMnemonic mnemonic, unsigned to, uint64_t from, bool immediate)
{
	ZydisEncoderRequest request = { .machine_mode = ZYDIS_MACHINE_MODE_LONG_64, .mnemonic = mnemonic,
		.operand_count = 2 };

	request.operands[0].type = ZYDIS_OPERAND_TYPE_REGISTER;
	request.operands[0].reg.value = reg('q', to);
	request.operands[1].type = immediate ? ZYDIS_OPERAND_TYPE_IMMEDIATE : ZYDIS_OPERAND_TYPE_REGISTER;
	request.operands[1].imm.u = immediate ? from : 0;
	if (!immediate)
		request.operands[1].reg.value = reg('q', (unsigned)from);
	encode(m, &request);
}

/* The index goes on, and the loop until it is at its end. */
static void close_loop(struct making *m)
{
	uint8_t back[] = { 0x0f, 0x85, 0, 0, 0, 0 };
	int32_t distance;

	two(m, ZYDIS_MNEMONIC_ADD, INDEX, m->step, true);
	two(m, ZYDIS_MNEMONIC_CMP, INDEX, END, false);
	distance = -(int32_t)(m->l->size + sizeof(back));
	memcpy(back + 2, &distance, sizeof(distance));
	memcpy(m->l->bytes + m->l->size, back, sizeof(back));
	m->l->size += sizeof(back);
	m->l->instructions++;
}

static const struct action *choose(struct making *m)
{
	unsigned all = 0, at;

	for (unsigned i = 0; i < ACTIONS; i++)
		all += m->often[actions[i].family] * actions[i].often;
	at = below(m, all);
	for (unsigned i = 0; i < ACTIONS; i++) {
		unsigned one = m->often[actions[i].family] * actions[i].often;

		if (at < one)
			return &actions[i];
		at -= one;
	}
	return &actions[0];
}

/* A few families much, the others little or not; pointers and divisions seldom, as they drown all else. */
static void choose_taste(struct making *m)
{
	static const uint8_t much[] = { 0, 0, 1, 2, 3, 8 };

	for (int f = 0; f < FAMILIES; f++)
		m->often[f] = much[below(m, sizeof(much))];
	if (below(m, 10))
		m->often[POINTER_CHAIN] = 0;
	m->often[DIVISIONS] = below(m, 8) ? 0 : 1;
	m->often[RMW] = below(m, 6) ? 0 : 1;
	m->often[LOADS]++;
	m->often[INT_WORK]++;
	m->chains = 1 + below(m, CHAIN_VECTORS);
	m->scale = 1u << below(m, 4);
	m->step = 32 / m->scale;
}

void random_loop_make(struct random_loop *l, uint64_t seed)
{
	struct making m = { .l = l, .random = seed * 0x2545f4914f6cdd1dull + 1 };
	unsigned n;

	memset(l, 0, sizeof(*l));
	choose_taste(&m);
	n = 8 + below(&m, 53);
	while (l->instructions + 3 < n)
		act(&m, choose(&m));
	close_loop(&m);
}
