/* SPDX-License-Identifier: MIT */
/* The instructions that Zydis 4.0 rejects: AVX-VNNI-INT8 and -INT16, AVX-IFMA, AVX-NE-CONVERT, CMPccXADD, SHA512,
 * SM3, SM4, AMX-FP16 and AMX-COMPLEX. Each has the operands of some older instruction, so a copy of the bytes gets
 * that one's opcode, Zydis decodes it, and the name, the class and what differs are put right. APX (REX2, extended
 * EVEX) is not known: its bytes are bad. A newer Zydis decodes these itself, and the table is not asked. */
#include "symbolizer/insn/x86.h"

#include <string.h>

enum {
	MEMORY = 1,     /* only with a memory operand */
	REGISTER = 2,   /* only without */
	ACCUMULATE = 4, /* the destination is a source as well, which the look-alike's is not */
	CMPXADD = 8,    /* operands of bextr, in the order and with the actions of cmpccxadd */
	LONG = 32,      /* VEX.L must be 1 */
	SHORT = 64,     /* VEX.L must be 0 */
};

struct extra {
	uint8_t map, pp, w, opcode;                     /* VEX: 0F38 is 2, 0F3A is 3; none, 66, F3, F2 */
	uint8_t to_map, to_pp, to_w, to_opcode;         /* the look-alike */
	uint8_t flags;
	uint8_t class;
	const char *name;
};

#define VNNI 2, 1, 0, 0x50      /* vpdpbusd: destination read and written, register, register or memory */
#define XADD(cc, opcode, w) \
	{ 2, 1, w, opcode, 2, 0, w, 0xf7, MEMORY | CMPXADD | SHORT, GUS_INSN_ATOMIC, "cmp" cc "xadd" }

static const struct extra extras[] = {
	{ 2, 3, 0, 0x50, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpbssd" },
	{ 2, 3, 0, 0x51, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpbssds" },
	{ 2, 2, 0, 0x50, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpbsud" },
	{ 2, 2, 0, 0x51, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpbsuds" },
	{ 2, 0, 0, 0x50, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpbuud" },
	{ 2, 0, 0, 0x51, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpbuuds" },
	{ 2, 2, 0, 0xd2, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpwsud" },
	{ 2, 2, 0, 0xd3, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpwsuds" },
	{ 2, 1, 0, 0xd2, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpwusd" },
	{ 2, 1, 0, 0xd3, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpwusds" },
	{ 2, 0, 0, 0xd2, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpwuud" },
	{ 2, 0, 0, 0xd3, VNNI, 0, GUS_INSN_VEC_MUL, "vpdpwuuds" },
	{ 2, 1, 1, 0xb4, VNNI, 0, GUS_INSN_VEC_MUL, "vpmadd52luq" },
	{ 2, 1, 1, 0xb5, VNNI, 0, GUS_INSN_VEC_MUL, "vpmadd52huq" },
	/* vpbroadcastw; vlddqu; vcvtpd2dq */
	{ 2, 2, 0, 0xb1, 2, 1, 0, 0x79, MEMORY, GUS_INSN_CONVERT, "vbcstnebf162ps" },
	{ 2, 1, 0, 0xb1, 2, 1, 0, 0x79, MEMORY, GUS_INSN_CONVERT, "vbcstnesh2ps" },
	{ 2, 2, 0, 0xb0, 1, 3, 0, 0xf0, MEMORY, GUS_INSN_CONVERT, "vcvtneebf162ps" },
	{ 2, 1, 0, 0xb0, 1, 3, 0, 0xf0, MEMORY, GUS_INSN_CONVERT, "vcvtneeph2ps" },
	{ 2, 3, 0, 0xb0, 1, 3, 0, 0xf0, MEMORY, GUS_INSN_CONVERT, "vcvtneobf162ps" },
	{ 2, 0, 0, 0xb0, 1, 3, 0, 0xf0, MEMORY, GUS_INSN_CONVERT, "vcvtneoph2ps" },
	{ 2, 2, 0, 0x72, 1, 3, 0, 0xe6, 0, GUS_INSN_CONVERT, "vcvtneps2bf16" },
	/* vpmovzxbw, vpabsb, vpsllw; vpaddb, vpalignr */
	{ 2, 3, 0, 0xcc, 2, 1, 0, 0x30, REGISTER | ACCUMULATE | LONG, GUS_INSN_CRYPTO, "vsha512msg1" },
	{ 2, 3, 0, 0xcd, 2, 1, 0, 0x1c, REGISTER | ACCUMULATE | LONG, GUS_INSN_CRYPTO, "vsha512msg2" },
	{ 2, 3, 0, 0xcb, 1, 1, 0, 0xf1, REGISTER | ACCUMULATE | LONG, GUS_INSN_CRYPTO, "vsha512rnds2" },
	{ 2, 0, 0, 0xda, 1, 1, 0, 0xfc, ACCUMULATE | SHORT, GUS_INSN_CRYPTO, "vsm3msg1" },
	{ 2, 1, 0, 0xda, 1, 1, 0, 0xfc, ACCUMULATE | SHORT, GUS_INSN_CRYPTO, "vsm3msg2" },
	{ 3, 1, 0, 0xde, 3, 1, 0, 0x0f, ACCUMULATE | SHORT, GUS_INSN_CRYPTO, "vsm3rnds2" },
	{ 2, 2, 0, 0xda, 1, 1, 0, 0xfc, 0, GUS_INSN_CRYPTO, "vsm4key4" },
	{ 2, 3, 0, 0xda, 1, 1, 0, 0xfc, 0, GUS_INSN_CRYPTO, "vsm4rnds4" },
	/* tdpbf16ps */
	{ 2, 3, 0, 0x5c, 2, 2, 0, 0x5c, REGISTER | SHORT, GUS_INSN_MATRIX, "tdpfp16ps" },
	{ 2, 1, 0, 0x6c, 2, 2, 0, 0x5c, REGISTER | SHORT, GUS_INSN_MATRIX, "tcmmimfp16ps" },
	{ 2, 0, 0, 0x6c, 2, 2, 0, 0x5c, REGISTER | SHORT, GUS_INSN_MATRIX, "tcmmrlfp16ps" },
	XADD("o", 0xe0, 0), XADD("no", 0xe1, 0), XADD("b", 0xe2, 0), XADD("nb", 0xe3, 0),
	XADD("z", 0xe4, 0), XADD("nz", 0xe5, 0), XADD("be", 0xe6, 0), XADD("nbe", 0xe7, 0),
	XADD("s", 0xe8, 0), XADD("ns", 0xe9, 0), XADD("p", 0xea, 0), XADD("np", 0xeb, 0),
	XADD("l", 0xec, 0), XADD("nl", 0xed, 0), XADD("le", 0xee, 0), XADD("nle", 0xef, 0),
	XADD("o", 0xe0, 1), XADD("no", 0xe1, 1), XADD("b", 0xe2, 1), XADD("nb", 0xe3, 1),
	XADD("z", 0xe4, 1), XADD("nz", 0xe5, 1), XADD("be", 0xe6, 1), XADD("nbe", 0xe7, 1),
	XADD("s", 0xe8, 1), XADD("ns", 0xe9, 1), XADD("p", 0xea, 1), XADD("np", 0xeb, 1),
	XADD("l", 0xec, 1), XADD("nl", 0xed, 1), XADD("le", 0xee, 1), XADD("nle", 0xef, 1),
};

/* Where the three bytes of a VEX prefix start that can be ours; size if there is none. Prefixes that VEX forbids
 * make it none of ours. */
static size_t find_vex(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < 10; i++) {
		switch (bytes[i]) {
		case 0xc4:
			return i;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x67:
			continue;
		default:
			return size;
		}
	}
	return size;
}

static const struct extra *find_extra(const uint8_t *vex, bool wide)
{
	uint8_t map = vex[1] & 0x1f, pp = vex[2] & 3, w = vex[2] >> 7, l = vex[2] >> 2 & 1;

	/* In 32-bit code a register field of which the top bits are set is what tells VEX from les. */
	if (!wide && (vex[1] & 0xc0) != 0xc0)
		return NULL;
	for (size_t i = 0; i < sizeof(extras) / sizeof(*extras); i++) {
		const struct extra *e = &extras[i];

		if (e->opcode != vex[3] || e->map != map || e->pp != pp || e->w != w)
			continue;
		if ((e->flags & LONG && !l) || (e->flags & SHORT && l))
			return NULL;
		return e;
	}
	return NULL;
}

/* bextr is register, register or memory, count; cmpccxadd is memory (read, perhaps written), the register that is
 * compared with it and gets its old value, and the addend. */
static void become_cmpxadd(struct gus_x86 *x)
{
	ZydisDecodedOperand memory = x->operands[1];

	x->operands[1] = x->operands[0];
	x->operands[0] = memory;
	x->operands[0].actions = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDWRITE;
	x->operands[1].actions = ZYDIS_OPERAND_ACTION_READWRITE;
}

int gus_x86_supplement(const ZydisDecoder *decoder, const uint8_t *bytes, size_t size, struct gus_x86 *x)
{
	uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
	size_t at;
	const struct extra *e;
	ZyanStatus status;

	if (size > sizeof(copy))
		size = sizeof(copy);
	at = find_vex(bytes, size);
	if (size - at < 4)
		return -1;
	e = find_extra(bytes + at, decoder->machine_mode == ZYDIS_MACHINE_MODE_LONG_64);
	if (!e)
		return -1;
	if (size - at < 5)
		return 0;
	if (e->flags & (bytes[at + 4] < 0xc0 ? REGISTER : MEMORY))
		return -1;
	memcpy(copy, bytes, size);
	copy[at + 1] = (uint8_t)((copy[at + 1] & 0xe0) | e->to_map);
	copy[at + 2] = (uint8_t)((copy[at + 2] & 0x7c) | e->to_w << 7 | e->to_pp);
	copy[at + 3] = e->to_opcode;
	status = ZydisDecoderDecodeFull(decoder, copy, size, &x->insn, x->operands);
	if (!ZYAN_SUCCESS(status))
		return status == ZYDIS_STATUS_NO_MORE_DATA ? 0 : -1;
	if (e->flags & CMPXADD)
		become_cmpxadd(x);
	if (e->flags & ACCUMULATE)
		x->operands[0].actions = ZYDIS_OPERAND_ACTION_READWRITE;
	x->name = e->name;
	x->mnemonic = (struct gus_x86_mnemonic){ .class = e->class };
	return x->insn.length;
}
