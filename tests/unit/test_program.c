/* SPDX-License-Identifier: MIT */
/* From code to ops: what is decoded, what the renamer does by itself, what travels together, what the stack engine
 * inserts, and what is said of an op as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "made_program.h"
#include "made_tables.h"
#include "model/code/growing.h"
#include "model/tables/builtin.h"

#define BRANCHES FORM("JZ (Rel8)", "uops 1 latency 1 uses p01:1") FORM("JB (Rel8)", "uops 1 latency 1 uses p01:1") \
	FORM("JS (Rel8)", "uops 1 latency 1 uses p01:1") FORM("JL (Rel8)", "uops 1 latency 1 uses p01:1") \
	FORM("JBE (Rel8)", "uops 1 latency 1 uses p01:1")
#define PUSH FORM("PUSH (R64)", "uops 2 latency 1 uses p237:1 p4:1")

struct one {
	const char *table, *code;
	size_t size;
	const char *ops;
	unsigned flags;         /* of the first op, besides GUS_OP_FUSIBLE */
};

static void expect(const struct one *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct gus_uarch *u = made_table_of(cases[i].table);
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);

		if (strcmp(made_texts(p), cases[i].ops) != 0)
			fail_msg("case %zu is\n\t%s, not\n\t%s", i, made_texts(p), cases[i].ops);
		if ((p->ops[0].flags & ~GUS_OP_FUSIBLE) != cases[i].flags)
			fail_msg("case %zu has flags %x", i, p->ops[0].flags);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}
#define EXPECT(cases) expect(cases, sizeof(cases) / sizeof(*(cases)))

/* Constants wait for nothing; a zero is not even executed. */
static void idioms(void **state)
{
#define XOR FORM("XOR_31 (R32, R32) +same", "uops 1 latency 1 uses p0156:1")
#define PXOR FORM("PXOR (XMM, XMM) +same", "uops 1 latency 1 uses p01:1")
#define PCMPEQ FORM("PCMPEQD (XMM, XMM) +same", "uops 1 latency 1 uses p01:1")
#define ZERO_INT PARAM("zero_idiom_int yes flag")
#define ZERO_VECTOR PARAM("zero_idiom_vector yes flag")
	static const struct one cases[] = {
		{ X86 XOR ZERO_INT, CODE("\x31\xc0"), "none=0>rax,flags", GUS_OP_IDIOM },
		{ X86 XOR ZERO_VECTOR, CODE("\x31\xc0"), "compute p0156=1 rax>rax,flags", 0 },
		{ X86 PXOR ZERO_VECTOR, CODE("\x66\x0f\xef\xc0"), "none=0>zmm0", GUS_OP_IDIOM },
		{ X86 PXOR ZERO_INT, CODE("\x66\x0f\xef\xc0"), "compute p01=1 zmm0>zmm0", 0 },
		{ X86 PCMPEQ ZERO_VECTOR, CODE("\x66\x0f\x76\xc0"), "compute p01=1 zmm0>zmm0", 0 },
		{ X86 PCMPEQ PARAM("ones_idiom yes flag"), CODE("\x66\x0f\x76\xc0"), "compute p01=1>zmm0",
		  GUS_OP_IDIOM },
		{ X86 FORM("PCMPEQD (XMM, XMM)", "uops 1 latency 1 uses p01:1") PARAM("ones_idiom yes flag"),
		  CODE("\x66\x0f\x76\xc1"), "compute p01=1 zmm0,zmm1>zmm0", 0 },
		{ X86 FORM("PCMPEQD (XMM, XMM) +same", "uops 1 latency 1") PARAM("ones_idiom yes flag"),
		  CODE("\x66\x0f\x76\xc0"), "none=0>zmm0", GUS_OP_IDIOM },
		{ X86 FORM("NOP", "uops 1 latency 1 uses p01:1"), CODE("\x90"), "none=0", 0 },
	};

	(void)state;
	EXPECT(cases);
}

/* A move that may be eliminated keeps the ports of an addition, for when all slots for that are taken. */
static void eliminated_moves(void **state)
{
#define MOVE(figures) X86 PARAM("move_elimination_int yes flag") FORM("MOV_89 (R64, R64)", figures)
#define MOVAPS FORM("MOVAPS_0F28 (XMM, XMM)", "uops 0 latency 0 fused 1")
#define MOVZX X86 PARAM("move_elimination_int yes flag") \
	FORM("MOVZX (R32, R8l)", "uops 1 latency 1 uses p0156:1")
#define POR FORM("POR (XMM, XMM)", "uops 1 latency 1 uses p01:1")
#define SAME PARAM("move_elimination_same yes flag")
	static const struct one cases[] = {
		{ MOVE("uops 0 latency 0 fused 1"), CODE("\x48\x89\xd8"), "compute p0156=1 rbx>rax",
		  GUS_OP_ELIMINATED },
		{ MOVE("uops 0 latency 2 fused 1"), CODE("\x48\x89\xd8"), "compute p0156=2 rbx>rax",
		  GUS_OP_ELIMINATED },
		{ MOVE("uops 1 latency 0 uses p01:1"), CODE("\x48\x89\xd8"), "compute p01=0 rbx>rax",
		  GUS_OP_ELIMINATED },
		/* Also where the form has no row. */
		{ X86 PARAM("move_elimination_int yes flag"), CODE("\x48\x89\xd8"), "compute p0156=1 rbx>rax",
		  GUS_OP_ELIMINATED | GUS_OP_UNKNOWN },
		/* To itself: that has to be done. */
		{ MOVE("uops 0 latency 0 fused 1"), CODE("\x48\x89\xc0"), "compute p0156=1 rax>rax", 0 },
		{ MOVE("uops 1 latency 0 uses p01:1"), CODE("\x48\x89\xc0"), "compute p01=1 rax>rax", 0 },
		{ MOVE("uops 0 latency 0 fused 1") SAME, CODE("\x48\x89\xc0"), "compute p0156=1 rax>rax",
		  GUS_OP_ELIMINATED },
		/* Of a byte that is extended, only where parts of registers can be named anew. */
		{ MOVZX, CODE("\x0f\xb6\xc3"), "compute p0156=1 rbx>rax", 0 },
		{ X86 FORM("MOVZX (R32, R8l)", "uops 1 latency 0 uses p01:1"), CODE("\x0f\xb6\xc3"),
		  "compute p01=1 rbx>rax", 0 },
		{ MOVZX PARAM("move_elimination_byte yes flag"), CODE("\x0f\xb6\xc3"), "compute p0156=1 rbx>rax",
		  GUS_OP_ELIMINATED },
		{ MOVZX PARAM("move_elimination_byte yes flag"), CODE("\x0f\xb6\xc0"), "compute p0156=1 rax>rax", 0 },
		{ X86 FORM("MOV_89 (R64, R64)", "uops 1 latency 1 uses p01:1"), CODE("\x48\x89\xd8"),
		  "compute p01=1 rbx>rax", 0 },
		/* Where the renamer does none they are executed, whatever a row says of one that does. */
		{ X86 FORM("MOV_89 (R64, R64)", "uops 0 latency 0 fused 1"), CODE("\x48\x89\xd8"),
		  "compute p0156=1 rbx>rax", 0 },
		{ X86 MOVAPS POR PARAM("move_elimination_int yes flag"), CODE("\x0f\x28\xc1"),
		  "compute p01=1 zmm1>zmm0", 0 },
		{ X86 MOVAPS PARAM("move_elimination_vector yes flag"), CODE("\x0f\x28\xc1"), "none=0>zmm0",
		  GUS_OP_ELIMINATED },
		{ X86 MOVAPS PARAM("move_elimination_int yes flag"), CODE("\x0f\x28\xc1"), "none=0>zmm0", 0 },
		{ X86 MOVAPS POR PARAM("move_elimination_vector yes flag"), CODE("\x0f\x28\xc1"),
		  "compute p01=1 zmm1>zmm0", GUS_OP_ELIMINATED },
		{ X86 MOVAPS POR PARAM("move_elimination_vector yes flag"), CODE("\x0f\x28\xc0"),
		  "compute p01=1 zmm0>zmm0", 0 },
		{ X86 MOVAPS POR PARAM("move_elimination_vector yes flag") SAME, CODE("\x0f\x28\xc0"),
		  "compute p01=1 zmm0>zmm0", GUS_OP_ELIMINATED },
	};
	struct gus_uarch *u = made_table_of(cases[0].table);
	struct gus_program *p = made_program(u, cases[0].code, cases[0].size);

	(void)state;
	EXPECT(cases);
	assert_int_equal(p->ops[0].move_from, GUS_X86_RBX);
	assert_int_equal(p->ops[0].move_to, GUS_X86_RAX);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* Additions of eleven bits with their sign, to whole registers. */
static void small_additions(void **state)
{
#define SMALL X86 PARAM("immediate_add_elimination yes flag") FORM("ADD (R64, I8)", "uops 1 latency 1 uses p01:1") \
	FORM("ADD (R32, I8)", "uops 1 latency 1 uses p01:1") FORM("ADD (R64, I32)", "uops 1 latency 1 uses p01:1") \
	FORM("CMP (R64, I8)", "uops 1 latency 1 uses p01:1") FORM("INC (R64)", "uops 1 latency 1 uses p01:1") \
	FORM("ADD (M64, I8)", "uops 4 latency 1 loadlat 6 uses p01:1 p23:1 p237:1 p4:1")
#define NOT_SMALL "compute p01=1 rax>rax,flags"
	static const struct one cases[] = {
		{ SMALL, CODE("\x48\x83\xc0\x01"), "none=0>rax,flags", GUS_OP_ELIMINATED },
		{ SMALL, CODE("\x48\x81\xc0\xff\x03\0\0"), "none=0>rax,flags", GUS_OP_ELIMINATED },
		{ SMALL, CODE("\x48\x81\xc0\0\x04\0\0"), NOT_SMALL, 0 },
		{ SMALL, CODE("\x48\x81\xc0\0\xfc\xff\xff"), "none=0>rax,flags", GUS_OP_ELIMINATED },
		{ SMALL, CODE("\x48\x81\xc0\xff\xfb\xff\xff"), NOT_SMALL, 0 },
		{ SMALL, CODE("\x83\xc0\x01"), NOT_SMALL, 0 },
		{ SMALL, CODE("\x48\x01\xd8"), "compute p0156=1 rax,rbx>rax,flags", 0 },
		{ SMALL, CODE("\x48\x83\xf8\x01"), "compute p01=1 rax>flags", 0 },
		{ SMALL, CODE("\x48\xff\xc0"), NOT_SMALL, 0 },
		{ SMALL, CODE("\x48\x83\x07\x01"),
		  "load p23=5 rdi>t0 / compute p01=1 t0>flags,t2 / address p237=1 rdi / data p4=1 t2", GUS_OP_COMPLEX },
		{ X86 FORM("ADD (R64, I8)", "uops 1 latency 1 uses p01:1"), CODE("\x48\x83\xc0\x01"), NOT_SMALL, 0 },
	};

	(void)state;
	EXPECT(cases);
}

/* A row without ports is a move from what it reads to what it writes. */
static void rows_without_ports(void **state)
{
	static const struct one cases[] = {
		{ X86 FORM("MOVQ (XMM, R64)", "uops 0 latency 3 fused 1"), CODE("\x66\x48\x0f\x6e\xc0"),
		  "none=0>zmm0", GUS_OP_ELIMINATED },
		{ X86 FORM("BSWAP (R64)", "uops 0 latency 3 fused 1"), CODE("\x48\x0f\xc8"),
		  "compute p0156=1 rax>rax", 0 },
		{ X86 FORM("MOV (R64, I32)", "uops 0 latency 3 fused 1"), CODE("\x48\xc7\xc0\x01\0\0\0"),
		  "none=0>rax", 0 },
		{ X86 FORM("LEA_B_D8 (R64)", "uops 0 latency 3 fused 1"), CODE("\x48\x8d\x47\x01"), "none=0>rax:3", 0 },
		{ X86 FORM("LEA_B (R64)", "uops 1 latency 0"), CODE("\x48\x8d\x07"), "none=0>rax", GUS_OP_ELIMINATED },
		{ X86 FORM("LEA_B (R64)", "uops 1 latency 0"), CODE("\x48\x8d\x00"), "compute p0156=1 rax>rax", 0 },
		{ X86 "param move_elimination_same yes flag s\n" FORM("LEA_B (R64)", "uops 1 latency 0"),
		  CODE("\x48\x8d\x00"), "none=0>rax", GUS_OP_ELIMINATED },
		/* An index is added, and is no move. */
		{ X86 FORM("LEA_B_I (R64)", "uops 1 latency 0"), CODE("\x48\x8d\x04\x0f"), "none=0>rax", 0 },
		/* It writes nothing that is an operand. */
		{ X86 FORM("CMP_39 (R64, R64)", "uops 0 latency 3 fused 1"), CODE("\x48\x39\xd8"), "none=0>flags:3",
		  0 },
		{ X86 FORM("MOV_89 (R64, R64)", "uops 0 latency 3 fused 1"), CODE("\x48\x89\xd8"),
		  "compute p0156=3 rbx>rax", 0 },
		{ X86 FORM("MOV (R32, M32)", "uops 0 latency 3 fused 1"), CODE("\x8b\x07"), "none=0>rax:3", 0 },
	};

	(void)state;
	EXPECT(cases);
}

/* Bounds of the class, where a form has no row: the fewest uops, the middle latency. */
static void unknown_forms(void **state)
{
#define CLASS(name, bounds) "class " name " " bounds " source s\n"
	static const struct one cases[] = {
		{ X86 CLASS("mul", "uops 2-6 latency 3-6 uses p01:2"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p01=1 rax,rbx>t3 / compute p01=5 rax,rbx,t3~4>rax,flags", GUS_OP_UNKNOWN | GUS_OP_COMPLEX },
		{ X86 CLASS("div", "uops 2-6 latency 3-6 uses p01:2"), CODE("\x48\x0f\xaf\xc3"), "none=0>rax:1,flags:1",
		  GUS_OP_UNKNOWN },
		{ X86 CLASS("mul", "uops 0-2 latency 2-4 uses p1:2"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p1x2=3 rax,rbx>rax,flags",
		  GUS_OP_UNKNOWN },
	};
	struct gus_uarch *u = made_table_of(X86);
	struct gus_program *p = made_program(u, "\x48\x0f\xaf\xc3\x48\x01\xd8\x48\x0f\xaf\xc3", 11);

	(void)state;
	EXPECT(cases);
	assert_int_equal(p->unknown, 2);
	assert_null(p->insns[0].row);
	assert_non_null(p->insns[1].row);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* What of an instruction stays in one slot. */
struct fused {
	const char *table, *code;
	size_t size;
	const char *ops;
	unsigned fused, slots, rob;
};

static void expect_fused(const struct fused *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct gus_uarch *u = made_table_of(cases[i].table);
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);
		const struct gus_op *op = p->ops;

		if (strcmp(made_texts(p), cases[i].ops) != 0)
			fail_msg("case %zu is\n\t%s, not\n\t%s", i, made_texts(p), cases[i].ops);
		if (op->fused != cases[i].fused || op->slots != cases[i].slots || op->rob != cases[i].rob)
			fail_msg("case %zu: fused %u slots %u rob %u", i, op->fused, op->slots, op->rob);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}
#define EXPECT_FUSED(cases) expect_fused(cases, sizeof(cases) / sizeof(*(cases)))

#define LOAD_ADD FORM("ADD (R64, M64)", "uops 2 latency 1 loadlat 6 uses p23:1 p01:1") \
	FORM("ADDPS (XMM, M128)", "uops 2 latency 1 loadlat 6 uses p23:1 p01:1") \
	FORM("VADDPS (YMM, YMM, M256)", "uops 2 latency 1 loadlat 6 uses p23:1 p01:1") \
	FORM("PABSD (XMM, M128)", "uops 2 latency 1 loadlat 6 uses p23:1 p01:1") \
	FORM("ADD (M64, R64)", "uops 4 latency 1 loadlat 6 uses p23:1 p01:1 p237:1 p4:1") \
	FORM("VPGATHERDD (YMM, VSIB_YMM, YMM)", "uops 3 latency 1 loadlat 6 fused 2 uses p23:1 p01:2")
#define LOAD_ADD_ONE "load p23=5 rdi>t0 + compute p01=1 rax,t0>rax,flags"

static void loads_and_operations_travel_together(void **state)
{
	static const struct fused cases[] = {
		{ X86 LOAD_ADD FUSED, CODE("\x48\x03\x07"), LOAD_ADD_ONE, 1, 1, 1 },
		{ X86 LOAD_ADD FUSED PARAM("rob_fused no flag"), CODE("\x48\x03\x07"), LOAD_ADD_ONE, 1, 1, 2 },
		{ X86 LOAD_ADD FUSED PARAM("rob_fused yes flag"), CODE("\x48\x03\x07"), LOAD_ADD_ONE, 1, 1, 1 },
		/* Without it, as many as the row says: of AMD's these are macro-ops. */
		{ X86 LOAD_ADD, CODE("\x48\x03\x07"), "load p23=5 rdi>t0 / compute p01=1 rax,t0>rax,flags", 2, 2, 2 },
		{ X86 FORM("ADD (R64, M64)", "uops 1 latency 1 loadlat 6 uses p23:1 p01:1"), CODE("\x48\x03\x07"),
		  LOAD_ADD_ONE, 1, 1, 1 },
		{ X86 FORM("ADD (R64, M64)", "uops 0 latency 1 loadlat 6 uses p23:1 p01:1"), CODE("\x48\x03\x07"),
		  LOAD_ADD_ONE, 1, 1, 1 },
		/* What the row says is more than the rule; it may say more than there are uops. */
		{ X86 FORM("ADD (R64, M64)", "uops 2 latency 1 loadlat 6 fused 2 uses p23:1 p01:1") FUSED,
		  CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / compute p01=1 rax,t0>rax,flags", 2, 2, 2 },
		{ X86 FORM("ADD (R64, M64)",
		  "uops 2 latency 1 loadlat 6 fused 3 uses p23:1 p01:1") FUSED PARAM("rob_fused no flag"),
		  CODE("\x48\x03\x07"), "load p23=5 rdi>t0 / compute p01=1 rax,t0>rax,flags", 3, 3, 3 },
		/* One load joins one operation, and the rest goes by itself. */
		{ X86 FORM("ADD (R64, M64)", "uops 3 latency 1 loadlat 6 uses p23:1 p01:2") FUSED, CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 + compute p01=1 rax,t0>t3 / compute p01=1 rax,t0,t3>rax,flags", 2, 2, 2 },
		{ X86 FORM("ADD (R64, M64)", "uops 3 latency 1 loadlat 6 uses p23:2 p01:1") FUSED, CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / load p23=5 rdi>t1 + compute p01=1 rax,t0,t1>rax,flags", 2, 2, 2 },
		/* Two pairs in two slots, though only one of them lies side by side: the last slot has what is left. */
		{ X86 FORM("ADD (R64, M64)", "uops 4 latency 1 loadlat 6 uses p23:2 p01:2") FUSED, CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / load p23=5 rdi>t1 + compute p01=1 rax,t0,t1>t3 + "
		  "compute p01=1 rax,t0,t1,t3>rax,flags", 2, 2, 2 },
		{ X86 LOAD_ADD FUSED, CODE("\x48\x01\x07"),
		  "load p23=5 rdi>t0 + compute p01=1 rax,t0>flags,t2 / address p237=1 rdi + data p4=1 t2", 2, 2, 2 },
		{ X86 FUSED FORM("MOV (M32, R32)", "uops 3 latency 1 uses p237:2 p4:1"), CODE("\x89\x07"),
		  "address p237=1 rdi / address p237=1 rdi + data p4=1 rax", 2, 2, 2 },
		{ X86 FUSED, CODE("\x48\x01\xd8"), "compute p0156=1 rax,rbx>rax,flags", 1, 1, 1 },
	};

	(void)state;
	EXPECT_FUSED(cases);
}

/* Sandy Bridge undoes it for each index ("no"), Haswell where there is more than one operand besides ("rmw"). */
static void indexed_addresses_undo_fusion(void **state)
{
#define NO X86 LOAD_ADD FUSED PARAM("micro_fusion_indexed no policy")
#define ONLY_RMW X86 LOAD_ADD FUSED PARAM("micro_fusion_indexed rmw policy")
#define YES X86 LOAD_ADD FUSED PARAM("micro_fusion_indexed yes policy")
#define INDEXED_ADD "\x48\x03\x04\xcf"
#define JOINED "load p23=5 rdi,rcx>t0 + compute p01=1 rax,t0>rax,flags"
#define APART "load p23=5 rdi,rcx>t0 / compute p01=1 rax,t0>rax,flags"
	static const struct fused cases[] = {
		{ X86 LOAD_ADD FUSED, CODE(INDEXED_ADD), JOINED, 1, 1, 1 },
		{ YES, CODE(INDEXED_ADD), JOINED, 1, 1, 1 },
		{ ONLY_RMW, CODE(INDEXED_ADD), JOINED, 1, 1, 1 },
		{ NO, CODE(INDEXED_ADD), APART, 1, 2, 2 },
		{ NO, CODE("\x48\x03\x07"), LOAD_ADD_ONE, 1, 1, 1 },
		{ ONLY_RMW, CODE("\x0f\x58\x04\xcf"), "load p23=5 rdi,rcx>t0 + compute p01=1 zmm0,t0>zmm0", 1, 1, 1 },
		/* Three operands by their encoding, two by number, or one that is only written. */
		{ ONLY_RMW, CODE("\xc5\xfc\x58\x04\xcf"), "load p23=5 rdi,rcx>t0 / compute p01=1 zmm0,t0>zmm0", 1, 2,
		  2 },
		{ ONLY_RMW FORM("SHLD (M64, R64, I8)", "uops 4 latency 1 loadlat 6 uses p23:1 p01:1 p237:1 p4:1"),
		  CODE("\x48\x0f\xa4\x04\xcf\x05"), "load p23=5 rdi,rcx>t0 + compute p01=1 rax,t0>flags,t2 / "
		  "address p237=1 rdi,rcx + data p4=1 t2", 2, 2, 2 },
		{ ONLY_RMW, CODE("\x66\x0f\x38\x1e\x04\xcf"), "load p23=5 rdi,rcx>t0 / compute p01=1 t0>zmm0", 1, 2,
		  2 },
		{ ONLY_RMW FORM("XADD (M64, R64)", "uops 4 latency 1 loadlat 6 uses p23:1 p01:1 p237:1 p4:1"),
		  CODE("\x48\x0f\xc1\x04\xcf"), "load p23=5 rdi,rcx>t0 + compute p01=1 rax,t0>rax,flags,t2 / "
		  "address p237=1 rdi,rcx + data p4=1 t2", 2, 2, 2 },
		{ ONLY_RMW FORM("CMPXCHG (M64, R64)", "uops 4 latency 1 loadlat 6 uses p23:1 p01:1 p237:1 p4:1"),
		  CODE("\x48\x0f\xb1\x1c\xcf"), "load p23=5 rdi,rcx>t0 + compute p01=1 rbx,rax,t0>rax,flags,t2 / "
		  "address p237=1 rdi,rcx + data p4=1 t2", 2, 2, 2 },
		/* A store alone stays whole on Haswell; that of a modification does, too. */
		{ NO, CODE("\x48\x89\x04\xcf"), "address p237=1 rdi,rcx / data p4=1 rax", 1, 2, 2 },
		{ ONLY_RMW, CODE("\x48\x89\x04\xcf"), "address p237=1 rdi,rcx + data p4=1 rax", 1, 1, 1 },
		{ NO, CODE("\x48\x01\x04\xcf"),
		  "load p23=5 rdi,rcx>t0 / compute p01=1 rax,t0>flags,t2 / address p237=1 rdi,rcx / data p4=1 t2", 2,
		  4, 4 },
		{ ONLY_RMW FORM("SETZ (M8)", "uops 4 latency 1 fused 2 uses p01:2 p237:1 p4:1"),
		  CODE("\x0f\x94\x04\xcf"),
		  "compute p01=1 rdi,rcx,flags>t3 / compute p01=1 rdi,rcx,flags,t3>t2 + "
		  "address p237=1 rdi,rcx + data p4=1 t2", 2, 2, 2 },
		/* No more slots than uops. */
		{ X86 FUSED PARAM("micro_fusion_indexed no policy")
		  FORM("ADD (M64, R64)", "uops 4 latency 1 loadlat 6 fused 3 uses p23:1 p01:1 p237:1 p4:1"),
		  CODE("\x48\x01\x04\xcf"),
		  "load p23=5 rdi,rcx>t0 / compute p01=1 rax,t0>flags,t2 / address p237=1 rdi,rcx / data p4=1 t2", 3,
		  4, 4 },
		{ X86 PARAM("micro_fusion_indexed no policy") FORM("ADD (R64, M64)",
		  "uops 1 latency 1 loadlat 6 uses p23:1 p01:1"),
		  CODE(INDEXED_ADD), JOINED, 1, 1, 1 },
		/* A gather's index is a vector, which its own uops take. */
		{ NO, CODE("\xc4\xe2\x7d\x90\x14\x77"),
		  "load p23=5 rdi,zmm6>t0 + compute p01=1 zmm2,zmm0,t0>t3 / compute p01=1 zmm2,zmm0,t0,t3>zmm2,zmm0",
		  2, 2, 2 },
	};

	(void)state;
	EXPECT_FUSED(cases);
}

/* Which firsts (rows) fuse with which branches (columns: carry, carry or zero, zero, signed, one flag), by policy. */
static void comparisons_fuse_with_branches(void **state)
{
	static const char *const firsts[] = {
		"\x48\x85\xd8", "\x48\x21\xd8", "\x48\x39\xd8", "\x48\x01\xd8", "\x48\xff\xc0", "\x48\x09\xd8",
		"\x48\x89\xd8" };
	static const char *const seconds[] = { "\x72\x05", "\x76\x05", "\x74\x05", "\x7c\x05", "\x78\x05", "\x90\x90" };
	static const struct { const char *policy, *fuses[7]; } cases[] = {
		{ "none", { "------", "------", "------", "------", "------", "------", "------" } },
		{ "test_cmp", { "xxxxx-", "------", "xxxx--", "------", "------", "------", "------" } },
		{ "test_cmp_add", { "xxxxx-", "xxxxx-", "xxxx--", "xxxx--", "--xx--", "------", "------" } },
		{ "all", { "xxxxx-", "xxxxx-", "xxxx--", "xxxx--", "--xx--", "xxxxx-", "------" } },
		{ NULL, { "------", "------", "------", "------", "------", "------", "------" } },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		char text[4000];
		struct gus_uarch *u;

		snprintf(text, sizeof(text), cases[c].policy ? X86 PARAM("macro_fusion %s policy") : X86,
			cases[c].policy);
		u = made_table_of(text);
		for (int first = 0; first < 7; first++)
			for (int second = 0; second < 6; second++) {
				char code[5];
				struct gus_program *p;

				memcpy(code, firsts[first], 3);
				memcpy(code + 3, seconds[second], 2);
				p = made_program(u, code, sizeof(code));
				if ((p->ops_n == 1) != (cases[c].fuses[first][second] == 'x'))
					fail_msg("policy %zu, first %d, second %d", c, first, second);
				assert_int_equal(p->ops[0].flags & GUS_OP_FUSIBLE, p->ops_n == 1 ||
					cases[c].fuses[first][2] == '-' ? 0 : GUS_OP_FUSIBLE);
				gus_program_free(p);
			}
		gus_uarch_free(u);
	}
}

/* The pair goes where the branch would have gone. Those behind it move up. */
static void a_pair_is_one_op(void **state)
{
#define MACRO X86 BRANCHES PARAM("macro_fusion test_cmp policy") \
	FORM("CMP_39 (R64, R64)", "uops 1 latency 1 uses p0156:1") \
	FORM("CMP (R64, M64)", "uops 2 latency 1 loadlat 6 uses p23:1 p0156:1") \
	FORM("CMP (M64, I8)", "uops 2 latency 1 loadlat 6 uses p23:1 p0156:1")
	static const struct one cases[] = {
		{ MACRO, CODE("\x48\x39\xd8\x74\x05"), "compute p01=1 rax,rbx>flags",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
		{ MACRO, CODE("\x48\x3b\x07\x74\x05"), "load p23=5 rdi>t0 / compute p01=1 rax,t0>flags",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL | GUS_OP_COMPLEX },
		/* Memory and an immediate are too much for the decoders. */
		{ MACRO, CODE("\x48\x83\x3f\x01\x74\x05"),
		  "load p23=5 rdi>t0 / compute p0156=1 t0>flags ; compute p01=1 flags",
		  GUS_OP_COMPLEX },
		/* A branch without a uop leaves the comparison where it is. */
		{ X86 PARAM("macro_fusion test_cmp policy") FORM("CMP_39 (R64, R64)", "uops 1 latency 1 uses p0156:1")
		  FORM("JZ (Rel8)", "uops 0 latency 0 fused 1"), CODE("\x48\x39\xd8\x74\x05"),
		  "compute p0156=1 rax,rbx>flags",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
	};
	struct gus_uarch *u = made_table_of(MACRO);
	struct gus_program *p = made_program(u,
		"\x48\x01\xd8\x48\x39\xd8\x74\x05\x48\x01\xd8\x48\x39\xd8\x74\x05\x48\x01\xd8", 19);
	static const uint32_t op_of[] = { 0, 1, 1, 2, 3, 3, 4 };

	(void)state;
	EXPECT(cases);
	assert_int_equal(p->ops_n, 5);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(p->insns[i].op, op_of[i]);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(p->ops[i].insns_n, i % 2 ? 2 : 1);
	assert_int_equal(p->ops[4].insn, 6);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* xor eax, eax; je: the renamer does the first, and the branch stays what it is. Another register: a pair. */
static void a_branch_behind_an_idiom_stays(void **state)
{
#define PAIR(more) X86 BRANCHES PARAM("macro_fusion all policy") more XOR \
	FORM("XOR_31 (R32, R32)", "uops 1 latency 1 uses p0156:1")
	static const struct one cases[] = {
		{ PAIR(ZERO_INT), CODE("\x31\xc0\x74\x05"), "none=0>rax,flags ; compute p01=1 flags", GUS_OP_IDIOM },
		{ PAIR(ZERO_INT), CODE("\x31\xd8\x74\x05"), "compute p01=1 rax,rbx>rax,flags",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
		{ PAIR(""), CODE("\x31\xc0\x74\x05"), "compute p01=1 rax>rax,flags",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
	};

	(void)state;
	EXPECT(cases);
}

/* A result in a register has its own port, and the branch keeps its, from the same operands; flags alone have none. */
static void a_pair_with_a_result_is_two_uops(void **state)
{
#define RESULTS X86 BRANCHES PARAM("macro_fusion all policy") \
	FORM("CMP_39 (R64, R64)", "uops 1 latency 1 uses p0156:1") \
	FORM("DEC (R64)", "uops 1 latency 1 uses p0156:1") \
	FORM("ADD (R64, M64)", "uops 2 latency 1 loadlat 6 uses p23:1 p0156:1")
#define WITH_ALU RESULTS PARAM("macro_fusion_alu yes flag")
	static const struct one cases[] = {
		{ WITH_ALU, CODE("\x48\xff\xc8\x74\x05"), "compute p0156=1 rax>rax,flags + compute p01=1 rax",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
		{ WITH_ALU, CODE("\x48\x01\xd8\x74\x05"),
		  "compute p0156=1 rax,rbx>rax,flags + compute p01=1 rax,rbx",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
		{ WITH_ALU, CODE("\x48\x39\xd8\x74\x05"), "compute p01=1 rax,rbx>flags",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
		{ RESULTS, CODE("\x48\xff\xc8\x74\x05"),
		  "compute p01=1 rax>rax,flags", GUS_OP_BRANCH | GUS_OP_CONDITIONAL },
		{ WITH_ALU, CODE("\x48\x03\x07\x74\x05"),
		  "load p23=5 rdi>t0 / compute p0156=1 rax,t0>rax,flags + compute p01=1 rax,t0",
		  GUS_OP_BRANCH | GUS_OP_CONDITIONAL | GUS_OP_COMPLEX },
	};

	(void)state;
	EXPECT(cases);
}

/* Of neighbouring nops two are one op, and no more; what is no nop joins none. */
static void neighbouring_nops_are_one_op(void **state)
{
#define NOPS X86 "unit wait s\n" FORM("NOP", "uops 1 latency 0") \
	FORM("MOV (R64, I32)", "uops 1 latency 1 uses p0156:1") \
	FORM("PAUSE", "uops 4 latency 0 uses p0156:4 exclusive wait:40")
	static const struct { const char *table, *code; size_t size; uint32_t ops; } cases[] = {
		{ NOPS, CODE("\x90\x90"), 2 },
		{ NOPS PARAM("nop_fusion yes flag"), CODE("\x90"), 1 },
		{ NOPS PARAM("nop_fusion yes flag"), CODE("\x90\x90"), 1 },
		{ NOPS PARAM("nop_fusion yes flag"), CODE("\x90\x66\x90\x90"), 2 },
		{ NOPS PARAM("nop_fusion yes flag"), CODE("\x90\x90\x90\x90"), 2 },
		{ NOPS PARAM("nop_fusion yes flag"), CODE("\x90\x48\xc7\xc0\x01\0\0\0\x90"), 3 },
		{ NOPS PARAM("nop_fusion yes flag"), CODE("\xf3\x90\xf3\x90"), 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_uarch *u = made_table_of(cases[i].table);
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);
		const struct gus_op *last = &p->ops[p->ops_n - 1];

		if (p->ops_n != cases[i].ops)
			fail_msg("case %zu: %u ops", i, p->ops_n);
		assert_int_equal(last->insn + last->insns_n, p->insns_n);
		assert_int_equal(p->insns[p->insns_n - 1].op, p->ops_n - 1);
		assert_int_equal(last->slots, i == 6 ? last->slots : 1);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}

/* arm64: comparisons with branches on their flags, and the two halves of a round of AES. */
static void pairs_of_arm64(void **state)
{
	static const struct { const char *code; size_t size; unsigned ops; } cases[] = {
		{ CODE("\x3f\0\x02\xeb\x40\0\0\x54"), 1 },                      /* cmp x1, x2; b.eq */
		{ CODE("\x20\0\x02\x8b\x40\0\0\x54"), 2 },                      /* add x0, x1, x2; b.eq */
		{ CODE("\x3f\0\x02\xeb\x20\0\x82\x9a"), 2 },                    /* cmp x1, x2; csel x0, x1, x2, eq */
		{ CODE("\x20\x48\x28\x4e\x20\x68\x28\x4e"), 1 },                /* aese; aesmc */
		{ CODE("\x20\x48\x28\x4e\x40\0\0\x54"), 2 },                    /* aese; b.eq */
		{ CODE("\x3f\0\x02\xeb\x20\x68\x28\x4e"), 2 },                  /* cmp; aesmc */
		{ CODE("\x3f\0\x02\xeb\x20\0\x02\x8b"), 2 },                    /* cmp; add */
	};

	(void)state;
	for (int policy = 0; policy < 2; policy++) {
		struct gus_uarch *u = made_table_of(policy ? ARM64 PARAM("macro_fusion test_cmp policy") : ARM64);

		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct gus_program *p = made_program(u, cases[i].code, cases[i].size);

			if (p->ops_n != (policy ? cases[i].ops : 2))
				fail_msg("case %zu, policy %d: %u ops", i, policy, p->ops_n);
			assert_false(p->ops[0].flags & GUS_OP_FUSIBLE);
			gus_program_free(p);
		}
		gus_uarch_free(u);
	}
}

/* push moves rsp without a uop, until somebody looks at it. */
static void the_stack_engine(void **state)
{
#define ENGINE X86 PUSH PARAM("stack_engine yes flag") FORM("MOV_89 (R64, R64)", "uops 1 latency 1 uses p0156:1")
#define PUSHED "address p237=1 / data p4=1 rax"
#define SYNC "compute p0156=1 rsp>rsp / "
	static const struct one cases[] = {
		{ X86 PUSH, CODE("\x50"), "address p237=1 rsp>rsp / data p4=1 rax,rsp", GUS_OP_COMPLEX },
		{ ENGINE, CODE("\x50"), PUSHED, GUS_OP_COMPLEX },
		{ ENGINE, CODE("\x50\x48\x89\xe0"), PUSHED " ; " SYNC "compute p0156=1 rsp>rax", GUS_OP_COMPLEX },
		/* Once is enough. */
		{ ENGINE, CODE("\x50\x48\x89\xe0\x48\x89\xe3"),
		  PUSHED " ; " SYNC "compute p0156=1 rsp>rax ; compute p0156=1 rsp>rbx",
		  GUS_OP_COMPLEX },
		{ ENGINE, CODE("\x50\x48\x89\xe0\x50\x48\x89\xe3"),
		  PUSHED " ; " SYNC "compute p0156=1 rsp>rax ; " PUSHED " ; " SYNC
		  "compute p0156=1 rsp>rbx", GUS_OP_COMPLEX },
		/* The code comes again, with the offset of its end. */
		{ ENGINE, CODE("\x48\x89\xe0\x50"), SYNC "compute p0156=1 rsp>rax ; " PUSHED, 0 },
		/* rsp is written: the offset is gone. */
		{ ENGINE, CODE("\x50\x48\x89\xec\x48\x89\xe0"),
		  PUSHED " ; compute p0156=1 rbp>rsp ; compute p0156=1 rsp>rax",
		  GUS_OP_COMPLEX },
		{ ENGINE, CODE("\x48\x89\xe0\x50\x48\x89\xec"),
		  "compute p0156=1 rsp>rax ; " PUSHED " ; compute p0156=1 rbp>rsp", 0 },
		{ ENGINE, CODE("\x50\x48\x01\xd8"), PUSHED " ; compute p0156=1 rax,rbx>rax,flags", GUS_OP_COMPLEX },
	};
	struct gus_uarch *u = made_table_of(ENGINE);
	struct gus_program *p = made_program(u, "\x50\x48\x89\xe0", 4);

	(void)state;
	EXPECT(cases);
	assert_int_equal(p->ops[0].results[GUS_REGFILE_INT], 0);
	assert_int_equal(p->ops[1].results[GUS_REGFILE_INT], 2);
	assert_int_equal(p->ops[1].slots, 2);
	assert_int_equal(p->ops[1].rob, 2);
	assert_int_equal(p->ops[1].fused, 1);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* Code of a trace does not come again as far as is known: what it ends with says nothing about its start. */
static void the_stack_engine_of_a_trace(void **state)
{
	static const uint8_t lengths[] = { 3, 1 };
	struct gus_uarch *u = made_table_of(ENGINE);
	struct gus_growing *g = gus_growing_new(u);

	(void)state;
	gus_growing_add(g, "\x48\x89\xe0\x50", lengths, 4, 0);
	assert_string_equal(made_texts(gus_growing_program(g)), "compute p0156=1 rsp>rax ; " PUSHED);
	gus_growing_free(g);
	gus_uarch_free(u);
}

/* A table without an addition has no ports for the uop. */
static void no_addition_no_sync(void **state)
{
	struct gus_uarch *u = made_table_of("uarch made isa x86-64 \"Made\"\nsource s \"made up\"\nport p0 s\n"
		FORM("PUSH (R64)", "uops 1 latency 1 uses p0:1") FORM("MOV_89 (R64, R64)", "uops 1 latency 1 uses p0:1")
		PARAM("stack_engine yes flag"));
	struct gus_program *p = made_program(u, "\x50\x48\x89\xe0", 4);

	(void)state;
	assert_string_equal(made_text(p, 1), "compute p0=1 rsp>rax");
	gus_program_free(p);
	gus_uarch_free(u);
}

/* A register of its file for each result; flags share that of the result, or take one. */
static void results_take_registers(void **state)
{
	static const struct { bool x86; const char *code; size_t size; unsigned ints, vectors, masks; } cases[] = {
		{ true, CODE("\x48\x01\xd8"), 1, 0, 0 },                /* add rax, rbx */
		{ true, CODE("\x4d\x01\xc7"), 1, 0, 0 },                /* add r15, r8 */
		{ true, CODE("\x48\x39\xd8"), 1, 0, 0 },                /* cmp */
		{ true, CODE("\x48\x87\xd8"), 2, 0, 0 },                /* xchg */
		{ true, CODE("\x48\x89\x07"), 0, 0, 0 },                /* mov [rdi], rax */
		{ true, CODE("\x50"), 1, 0, 0 },                        /* push rax */
		{ true, CODE("\xc5\xf8\x92\xc1"), 0, 0, 1 },            /* kmovw k0, ecx */
		{ true, CODE("\xc5\xf8\x92\xf9"), 0, 0, 1 },            /* kmovw k7, ecx */
		{ true, CODE("\x0f\x58\xc1"), 0, 1, 0 },                /* addps xmm0, xmm1 */
		{ true, CODE("\x62\x01\x04\x40\x58\xfe"), 0, 1, 0 },    /* vaddps zmm31, zmm31, zmm30 */
		{ true, CODE("\x0f\x6f\xca"), 0, 1, 0 },                /* movq mm1, mm2 */
		{ true, CODE("\xdc\xc7"), 0, 1, 0 },                    /* fadd st7, st0 */
		{ true, CODE("\x8e\xd8"), 0, 0, 0 },                    /* mov ds, eax */
		{ false, CODE("\x20\0\x02\x8b"), 1, 0, 0 },             /* add x0, x1, x2 */
		{ false, CODE("\xff\x43\0\x91"), 1, 0, 0 },             /* add sp, sp, 16 */
		{ false, CODE("\x3f\0\x02\xeb"), 1, 0, 0 },             /* cmp x1, x2 */
		{ false, CODE("\x20\x48\x28\x4e"), 0, 1, 0 },           /* aese v0 */
		{ false, CODE("\x3f\x48\x28\x4e"), 0, 1, 0 },           /* aese v31 */
		{ false, CODE("\xe0\xe3\x18\x25"), 0, 0, 1 },           /* ptrue p0.b */
		{ false, CODE("\xef\xe3\x18\x25"), 0, 0, 1 },           /* ptrue p15.b */
		{ false, CODE("\0\0\0\x14"), 0, 0, 0 },                 /* b */
	};
	struct gus_uarch *x86 = made_table_of(X86), *arm64 = made_table_of(ARM64);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(cases[i].x86 ? x86 : arm64, cases[i].code, cases[i].size);
		const uint8_t *results = p->ops[0].results;

		if (results[GUS_REGFILE_INT] != cases[i].ints || results[GUS_REGFILE_VECTOR] != cases[i].vectors ||
		    results[GUS_REGFILE_MASK] != cases[i].masks)
			fail_msg("case %zu takes %u, %u, %u", i, results[GUS_REGFILE_INT], results[GUS_REGFILE_VECTOR],
				 results[GUS_REGFILE_MASK]);
		assert_int_equal(results[GUS_REGFILE_NONE], 0);
		gus_program_free(p);
	}
	gus_uarch_free(x86);
	gus_uarch_free(arm64);
}

/* An idiom that is not executed has a name and needs no register. One that is has one. */
static void idioms_take_no_register(void **state)
{
	struct gus_uarch *u = made_table_of(X86 XOR PCMPEQ ZERO_INT PARAM("ones_idiom yes flag"));
	struct gus_program *p = made_program(u, "\x31\xc0\x66\x0f\x76\xc0", 6);

	(void)state;
	assert_int_equal(p->ops[0].results[GUS_REGFILE_INT], 0);
	assert_int_equal(p->ops[1].results[GUS_REGFILE_VECTOR], 1);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* What decoders and the microcode deliver: as the row says; else up to four fused uops, and the rest microcode. */
static void what_decoders_deliver(void **state)
{
	static const struct { const char *figures; unsigned decoded, microcoded; bool complex; } cases[] = {
		{ "uops 1 latency 1 uses p1:1", 1, 0, false },
		{ "uops 2 latency 1 uses p1:2", 2, 0, true },
		{ "uops 4 latency 1 uses p1:4", 4, 0, true },
		{ "uops 5 latency 1 uses p1:5", 4, 1, true },
		{ "uops 5 latency 1 decoded 4 uses p1:5", 4, 0, true },
		{ "uops 5 latency 1 decoded 1 uses p1:5", 1, 0, false },
		{ "uops 5 latency 1 microcoded 9 uses p1:5", 4, 9, true },
		{ "uops 1 latency 1 complex uses p1:1", 1, 0, true },
		{ "uops 1 latency 1 decoded 1 microcoded 1 uses p1:1", 1, 1, true },
		{ "uops 1 latency 1 decoded 255 uses p1:1", 255, 0, true },
		{ "uops 1 latency 1 decoded 256 uses p1:1", 255, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[4000];
		struct gus_uarch *u;
		struct gus_program *p;

		snprintf(text, sizeof(text), X86 FORM("INC (R64)", "%s"), cases[i].figures);
		u = made_table_of(text);
		p = made_program(u, "\x48\xff\xc0", 3);
		if (p->ops[0].decoded != cases[i].decoded || p->ops[0].microcoded != cases[i].microcoded ||
		    !(p->ops[0].flags & GUS_OP_COMPLEX) != !cases[i].complex)
			fail_msg("case %zu: %u decoded, %u microcoded", i, p->ops[0].decoded, p->ops[0].microcoded);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}

/* Accesses, with the address as the instruction has it. */
static void accesses(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		unsigned n, loads, stores;
		struct gus_program_memory first;
	} cases[] = {
		{ CODE("\x48\x8b\x44\xcf\xf8"), 1, 1, 0,
		  { .displacement = -8, .bytes = 8, .base = GUS_X86_RDI, .index = GUS_X86_RCX, .scale = 8,
		  .load = true } },
		{ CODE("\x48\x89\x07"), 1, 0, 1, { .bytes = 8, .base = GUS_X86_RDI, .store = true } },
		{ CODE("\x48\x8d\x07"), 0, 0, 0, { .bytes = 0 } },
		{ CODE("\x0f\x18\x0f"), 0, 1, 0, { .bytes = 0 } },
		{ CODE("\x48\xa5"), 2, 1, 1, { .bytes = 8, .base = GUS_X86_RDI, .store = true } },
		{ CODE("\xc4\xe2\x7d\x90\x14\x77"), 1, 1, 0,
		  { .bytes = 32, .base = GUS_X86_RDI, .scale = 2, .load = true, .gather = true } },
	};
	struct gus_uarch *u = made_table_of(X86 FORM("PREFETCHT0 (M512)", "uops 1 latency 1 uses p23:1") LOAD_ADD
		FORM("MOVSQ", "uops 3 latency 1 loadlat 4 uses p23:1 p237:1 p4:1"));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);
		const struct gus_program_memory *m = p->memories, *e = &cases[i].first;
		bool same = !cases[i].n || (m->displacement == e->displacement && m->bytes == e->bytes &&
			m->base == e->base && m->index == e->index && m->scale == e->scale && m->load == e->load &&
			m->store == e->store && m->gather == e->gather);

		assert_int_equal(p->memories_n, cases[i].n);
		assert_int_equal(p->ops[0].memories_n, cases[i].n);
		assert_int_equal(p->ops[0].loads, cases[i].loads);
		assert_int_equal(p->ops[0].stores, cases[i].stores);
		if (!same)
			fail_msg("case %zu: access to %u bytes at %u + %u * %u + %ld", i, m->bytes, m->base, m->index,
				 m->scale, (long)m->displacement);
		/* movs stores to its first access and loads from the second. */
		for (uint32_t k = 0; k < p->uops_n; k++)
			assert_int_equal(p->uops[k].memory, cases[i].n == 2 && p->uops[k].kind == GUS_UOP_LOAD);
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

/* A loop is code whose last branch goes to its first instruction; that one is taken, and has the ports of such. */
static void a_loop_ends_in_a_taken_branch(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		bool loop;
		unsigned flags;
		const char *branch;
	} cases[] = {
		{ CODE("\x48\x01\xd8\x74\xfb"), true, GUS_OP_BRANCH | GUS_OP_CONDITIONAL | GUS_OP_TAKEN,
		  "compute p6=1 flags" },
		{ CODE("\x48\x01\xd8\x74\xfc"), false, GUS_OP_BRANCH | GUS_OP_CONDITIONAL, "compute p01=1 flags" },
		{ CODE("\x48\x01\xd8\x74\xfa"), false, GUS_OP_BRANCH | GUS_OP_CONDITIONAL, "compute p01=1 flags" },
		{ CODE("\x48\x01\xd8\xeb\xfb"), true, GUS_OP_BRANCH | GUS_OP_TAKEN, "compute p1=1" },
		{ CODE("\x48\x01\xd8\xeb\x05"), false, GUS_OP_BRANCH | GUS_OP_TAKEN, "compute p1=1" },
		{ CODE("\x48\x01\xd8\xff\xe0"), false, GUS_OP_BRANCH | GUS_OP_TAKEN, "compute p1=1 rax" },
		{ CODE("\x48\x01\xd8\x48\xff\xc8"), false, 0, "compute p01=1 rax>rax,flags" },
		{ CODE("\x48\x01\xd8\xc3"), false, GUS_OP_BRANCH | GUS_OP_TAKEN, "compute p1=1 rsp,rsp>rsp" },
		/* An addition of that number is no branch. */
		{ CODE("\x48\x01\xd8\x48\x83\xc0\xf9"), false, 0, "compute p01=1 rax>rax,flags" },
	};
	struct gus_uarch *u = made_table_of(X86 BRANCHES "row other uops 1 latency 1 uses p5:1 source s\n"
		"row taken uops 1 latency 1 uses p6:1 source s\n"
		FORM("JMP (Rel8)", "uops 1 latency 1 uses p1:1") FORM("JMP (R64)", "uops 1 latency 1 uses p1:1")
		FORM("DEC (R64)", "uops 1 latency 1 uses p01:1") FORM("RET_NEAR", "uops 1 latency 1 uses p1:1")
		FORM("ADD (R64, I8)", "uops 1 latency 1 uses p01:1"));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);

		assert_int_equal(p->ops_n, 2);
		if (p->loop != cases[i].loop || p->ops[1].flags != cases[i].flags || strcmp(made_text(p, 1),
			cases[i].branch) != 0)
			fail_msg("case %zu: loop %d, flags %x, %s", i, p->loop, p->ops[1].flags, made_text(p, 1));
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

/* Wherever the row is in the table, and whether it has ports or not. */
static void the_row_of_taken_branches(void **state)
{
#define TAKEN(ports) "uarch made isa x86-64 \"Made\"\nsource s \"made up\"\nport p0 s\nport p1 s\n" \
	"row taken uops 1 latency 1 " ports "source s\n" FORM("JZ (Rel8)", "uops 1 latency 1 uses p0:1")
	static const struct { const char *table, *branch; } cases[] = {
		{ TAKEN("uses p1:1 "), "compute p1=1 flags" }, { TAKEN(""), "compute p0=1 flags" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_uarch *u = made_table_of(cases[i].table);
		struct gus_program *p = made_program(u, "\x74\xfe", 2);

		assert_true(p->loop);
		assert_string_equal(made_texts(p), cases[i].branch);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}

/* arm64's conditional branches have one port, taken or not. */
static void taken_branches_of_arm64(void **state)
{
	struct gus_uarch *u = made_table_of(ARM64 FORM("b.cond (imm)", "uops 1 latency 1 uses I:1")
		"row taken uops 1 latency 1 uses S:1 source s\n");
	struct gus_program *p = made_program(u, "\x20\0\x02\x8b\xe0\xff\xff\x54", 8);

	(void)state;
	assert_true(p->loop);
	assert_string_equal(made_text(p, 1), "compute p=1 nzcv");
	assert_int_equal(p->uops[p->ops[1].uop].ports, 1 << 2);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* Whoever models what somebody executed has to take a system call; whoever asks for a steady state is refused. In
 * neither case is the row believed; nor is a placeholder for a system instruction. */
static void what_is_outside_is_unknown_or_refused(void **state)
{
	static const struct { const char *code; size_t size; uint32_t unknown; const char *says; } cases[] = {
		{ CODE("\x48\x01\xd8\x0f\x05"), 1, "'syscall' at byte 3 of 5 is privileged, or enters a kernel" },
		{ CODE("\xf4\x48\x01\xd8"), 1, "'hlt' at byte 0 of 4" },
		{ CODE("\xf3\x0f\xc7\xf8\x0f\x01\xd0"), 1, NULL },            /* rdpid rax: guessed; xgetbv: not */
	};
	struct gus_uarch *u = made_table_of(X86 FORM("SYSCALL", "uops 1 latency 1 uses p0156:1")
		FORM("HLT", "uops 1 latency 1 uses p0156:1") FORM("RDPID (R64)", "uops 1 latency 1 uses p0:1 guessed")
		FORM("XGETBV", "uops 2 latency 2 uses p0:2"));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_program *p = gus_program_new(u, cases[i].code, cases[i].size, 0, 0, &err);

		assert_non_null(p);
		assert_int_equal(p->unknown, cases[i].unknown);
		gus_program_free(p);
		p = gus_program_new(u, cases[i].code, cases[i].size, 0, GUS_PROGRAM_BLOCK, &err);
		assert_int_equal(!p, cases[i].says != NULL);
		gus_program_free(p);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("case %zu says %s", i, err.text);
		assert_int_equal(err.code, cases[i].says ? GUS_E_UNSUPPORTED : GUS_OK);
	}
	gus_uarch_free(u);
}

static void what_is_no_code_is_said(void **state)
{
	static const struct { const char *code; size_t size; const char *says; } cases[] = {
		{ "", 0, "there are no instructions" },
		{ CODE("\x48\x01\xd8\x48"), "an instruction is cut off at byte 3 of 4" },
		{ CODE("\x48\x01\xd8\x06"), "no instruction of this ISA at byte 3 of 4" },
		{ CODE("\x06"), "no instruction of this ISA at byte 0 of 1" },
	};
	struct gus_uarch *u = made_table_of(X86);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };

		assert_null(gus_program_new(u, cases[i].code, cases[i].size, 0, 0, &err));
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu says %s", i, err.text);
	}
	gus_uarch_free(u);
}

/* What a program says of instructions: where they are, from the start of the code, and, if asked for, what they are. */
static void instructions_have_places_and_texts(void **state)
{
	struct gus_uarch *u = made_table_of(X86);
	struct gus_error err = { 0 };
	struct gus_program *p = gus_program_new(u, "\x48\x01\xd8\x74\x05", 5, 0x1000, GUS_PROGRAM_TEXTS, &err), *plain;

	(void)state;
	assert_non_null(p);
	plain = made_program(u, "\x48\x01\xd8\x74\x05", 5);
	assert_int_equal(p->bytes, 5);
	assert_int_equal(p->base, 0x1000);
	assert_int_equal(p->insns[0].offset, 0);
	assert_int_equal(p->insns[1].offset, 3);
	assert_int_equal(p->insns[1].op, 1);
	assert_string_equal(p->insns[0].text, "add rax, rbx");
	assert_string_equal(p->insns[1].text, "jz 0x100a");
	assert_string_equal(plain->insns[0].text, "");
	assert_int_equal(p->ports_n, 8);
	assert_string_equal(p->port_names[7], "p7");
	gus_program_free(plain);
	gus_program_free(p);
	gus_program_free(NULL);
	gus_uarch_free(u);
}

/* A copy is the same and shares nothing that can be changed. */
static void a_copy_is_apart(void **state)
{
	struct gus_uarch *u = made_table_of(X86 LOAD_ADD);
	struct gus_program *p = made_program(u, "\x48\x03\x07\x48\x89\x07", 6), *copy = gus_program_copy(p);
	char before[200];

	(void)state;
	snprintf(before, sizeof(before), "%s", made_texts(p));
	assert_string_equal(made_texts(copy), before);
	assert_memory_equal(copy->memories, p->memories, p->memories_n * sizeof(*p->memories));
	assert_memory_equal(copy->insns, p->insns, p->insns_n * sizeof(*p->insns));
	memset(copy->ops, 0, copy->ops_n * sizeof(*copy->ops));
	memset(copy->uops, 0, copy->uops_n * sizeof(*copy->uops));
	memset(copy->flows, 0, copy->flows_n * sizeof(*copy->flows));
	copy->insns[0].offset = copy->memories[0].bytes = 99;
	copy->port_names = (free((void *)copy->port_names), NULL);
	assert_string_equal(made_texts(p), before);
	assert_int_equal(p->insns[0].offset, 0);
	assert_int_equal(p->memories[0].bytes, 8);
	gus_program_free(copy);
	gus_program_free(p);
	gus_uarch_free(u);
}

static uint32_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* What a uop waits for that its own instruction makes is made before it, and not in a later slot. */
static void expect_order(const struct gus_program *p, const struct gus_op *op)
{
	unsigned made_in[GUS_TEMPS];

	memset(made_in, 0xff, sizeof(made_in));
	for (unsigned i = 0; i < op->uops_n; i++) {
		const struct gus_uop *uop = &p->uops[op->uop + i];

		for (unsigned k = 0; k < uop->in_n; k++)
			if (p->flows[uop->in + k].reg >= GUS_TEMP)
				assert_true(made_in[p->flows[uop->in + k].reg - GUS_TEMP] <= uop->slot);
		for (unsigned k = 0; k < uop->out_n; k++)
			if (p->flows[uop->out + k].reg >= GUS_TEMP)
				made_in[p->flows[uop->out + k].reg - GUS_TEMP] = uop->slot;
		assert_true(uop->slot < op->slots);
		assert_true(uop->in + uop->in_n == uop->out && uop->out + uop->out_n <= p->flows_n);
	}
}

/* Whatever the code and the table, programs are whole. */
static void programs_are_whole(void **state)
{
	static const char *const names[] = { "skylake", "sandybridge", "znver4", "neoverse-n2" };
	uint64_t seed = 7;
	unsigned made = 0;

	(void)state;
	for (size_t t = 0; t < sizeof(names) / sizeof(*names); t++) {
		struct gus_uarch *u = made_table(names[t]);

		for (int round = 0; round < 20000; round++) {
			uint8_t code[16];
			struct gus_program *p;

			for (size_t i = 0; i < sizeof(code); i++)
				code[i] = (uint8_t)draw(&seed);
			p = gus_program_new(u, code, u->isa == GUS_ISA_ARM64 ? 4 : 1 + draw(&seed) % 12, 0, 0, NULL);
			for (uint32_t i = 0; p && i < p->ops_n; i++) {
				assert_true(p->ops[i].uops_n && p->ops[i].uop + p->ops[i].uops_n <= p->uops_n);
				assert_true(p->ops[i].memory + p->ops[i].memories_n <= p->memories_n);
				expect_order(p, &p->ops[i]);
			}
			made += p != NULL;
			gus_program_free(p);
		}
		gus_uarch_free(u);
	}
	assert_true(made > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idioms),
		cmocka_unit_test(eliminated_moves),
		cmocka_unit_test(small_additions),
		cmocka_unit_test(rows_without_ports),
		cmocka_unit_test(unknown_forms),
		cmocka_unit_test(loads_and_operations_travel_together),
		cmocka_unit_test(indexed_addresses_undo_fusion),
		cmocka_unit_test(comparisons_fuse_with_branches),
		cmocka_unit_test(a_pair_is_one_op), cmocka_unit_test(a_branch_behind_an_idiom_stays),
		cmocka_unit_test(a_pair_with_a_result_is_two_uops),
		cmocka_unit_test(neighbouring_nops_are_one_op),
		cmocka_unit_test(pairs_of_arm64),
		cmocka_unit_test(the_stack_engine),
		cmocka_unit_test(the_stack_engine_of_a_trace),
		cmocka_unit_test(no_addition_no_sync),
		cmocka_unit_test(results_take_registers),
		cmocka_unit_test(idioms_take_no_register),
		cmocka_unit_test(what_decoders_deliver),
		cmocka_unit_test(accesses),
		cmocka_unit_test(a_loop_ends_in_a_taken_branch),
		cmocka_unit_test(the_row_of_taken_branches),
		cmocka_unit_test(taken_branches_of_arm64),
		cmocka_unit_test(what_is_outside_is_unknown_or_refused),
		cmocka_unit_test(what_is_no_code_is_said),
		cmocka_unit_test(instructions_have_places_and_texts),
		cmocka_unit_test(a_copy_is_apart),
		cmocka_unit_test(programs_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
