/* SPDX-License-Identifier: MIT */
/* From one instruction and its row to uops: their kinds, what they wait for, what they give. Each case is some lines of
 * a table, the bytes of an instruction, and its uops as made_program.h writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made_program.h"
#include "made_tables.h"

struct one {
	const char *table, *code;
	size_t size;
	const char *uops;
};

static void expect(const struct one *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct gus_uarch *u = made_table_of(cases[i].table);
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);

		if (p->ops_n != 1 || strcmp(made_text(p, 0), cases[i].uops) != 0)
			fail_msg("case %zu is\n\t%s, not\n\t%s", i, made_text(p, 0), cases[i].uops);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}
#define EXPECT(cases) expect(cases, sizeof(cases) / sizeof(*(cases)))

/* With simple addresses that are fast only where the base is the word of a load: the cycles of each load, in order. */
static void loads_behind_loads(void **state)
{
#define LOADED X86 FAST PARAM("l1d_latency_base loaded policy") FORM("ADD (R64, M64)", \
	"uops 2 latency 1 loadlat 6 uses p23:1 p0156:1") FORM("POP (R64)", "uops 1 latency 5 loadlat 5 uses p23:1")
	static const struct { const char *table, *code; size_t size; const char *loads; } cases[] = {
		{ LOADED, CODE("\x48\x8b\x3f"), "4" },                         /* mov rdi, [rdi] */
		{ X86 FAST, CODE("\x48\x8b\x07"), "4" },                       /* any base */
		{ LOADED FORM("MOV (R32, M32)", "uops 1 latency 1 uses p23:1"), CODE("\x8b\x3f"), "4" },
		{ LOADED, CODE("\x48\x8b\x07"), "5" },                         /* mov rax, [rdi]; nobody writes rdi */
		{ LOADED, CODE("\x48\x8b\x3f\x48\x83\xc7\x08"), "5" },         /* and add rdi, 8 */
		{ LOADED, CODE("\x48\x83\xc7\x08\x48\x8b\x3f\x48\x8b\x07"), "5 4" },
		{ LOADED, CODE("\x48\x8b\xbf\xff\x07\x00\x00"), "4" },         /* [rdi + 2047] */
		{ LOADED, CODE("\x48\x8b\xbf\x00\x08\x00\x00"), "7" },         /* [rdi + 2048] */
		{ LOADED, CODE("\x48\x8b\x7f\xff"), "7" },                     /* [rdi - 1] */
		{ LOADED, CODE("\x48\x8b\x3c\x37"), "7" },                     /* [rdi + rsi] */
		{ LOADED, CODE("\x48\x8b\x3f\x48\x03\x07"), "4 4" },       /* mov rdi, [rdi]; add rax, [rdi] */
		{ LOADED, CODE("\x48\x03\x3f"), "5" },                         /* add rdi, [rdi] is no plain load */
		{ LOADED, CODE("\x5f\x48\x8b\x07"), "5 4" },                   /* pop rdi; mov rax, [rdi] */
		/* mov rdi, [rsi]; mov rcx, rdi, which is another name; mov rsi, [rcx]; and the same by 32 bits */
		{ LOADED PARAM("move_elimination_int yes flag"), CODE("\x48\x8b\x3e\x48\x89\xf9\x48\x8b\x31"), "4 4" },
		{ LOADED PARAM("move_elimination_int yes flag"), CODE("\x48\x8b\x3e\x89\xf9\x48\x8b\x31"), "4 5" },
		{ LOADED, CODE("\x48\x8b\x3e\x48\x89\xf9\x48\x8b\x31"), "4 5" },
		/* mov rdi, [rdi]; add rdi, 8, which the renamer does */
		{ LOADED PARAM("immediate_add_elimination yes flag"), CODE("\x48\x8b\x3f\x48\x83\xc7\x08"), "5" },
		{ LOADED, CODE("\x5f\x48\x8b\x04\x24"), "5 5" },               /* pop rdi; mov rax, [rsp] */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_uarch *u = made_table_of(cases[i].table);
		struct gus_program *p = made_program(u, cases[i].code, cases[i].size);
		char loads[64] = "";

		for (uint32_t k = 0; k < p->uops_n; k++)
			if (p->uops[k].kind == GUS_UOP_LOAD)
				snprintf(loads + strlen(loads), sizeof(loads) - strlen(loads), "%s%u",
					 *loads ? " " : "", p->uops[k].latency);
		if (strcmp(loads, cases[i].loads) != 0)
			fail_msg("case %zu: %s, not %s", i, loads, cases[i].loads);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}

/* Of the latency from address to result, what the operation does not take is the load's; where the row does not say, it
 * is that of L1. */
static void an_operation_waits_for_its_load(void **state)
{
#define ADD(uops, latency, loadlat, uses) X86 FAST FORM("ADD (R64, M64)", \
	"uops " uops " latency " latency " loadlat " loadlat " uses " uses)
	static const struct one cases[] = {
		{ X86, CODE("\x48\x01\xd8"), "compute p0156=1 rax,rbx>rax,flags" },
		{ ADD("2", "1", "6", "p23:1 p0156:1"), CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / compute p0156=1 rax,t0>rax,flags" },
		{ ADD("2", "1", "6", "p0156:1 p23:1") FUSED, CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 + compute p0156=1 rax,t0>rax,flags" },
		{ ADD("2", "2", "3", "p23:1 p01:1"), CODE("\x48\x03\x04\xcf"),
		  "load p23=1 rdi,rcx>t0 / compute p01=2 rax,t0>rax,flags" },
		{ ADD("2", "2", "2", "p23:1 p01:1"), CODE("\x48\x03\x07"), /* it is said to be nothing */
		  "load p23=5 rdi>t0 / compute p01=2 rax,t0>rax,flags" },
		/* One figure for both: what the load leaves of it. */
		{ ADD("2", "7", "7", "p23:1 p01:1"), CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / compute p01=2 rax,t0>rax,flags" },
		{ ADD("2", "6", "7", "p23:1 p01:1"), CODE("\x48\x03\x07"),
		  "load p23=1 rdi>t0 / compute p01=6 rax,t0>rax,flags" },
		{ ADD("2", "8", "7", "p23:1 p01:1"), CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / compute p01=2 rax,t0>rax,flags" },
		{ ADD("2", "5", "5", "p23:1 p01:1"), CODE("\x48\x03\x07"),
		  "load p23=4 rdi>t0 / compute p01=1 rax,t0>rax,flags" },
		{ ADD("2", "4", "4", "p23:1 p01:1"), CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / compute p01=4 rax,t0>rax,flags" },
		{ X86 FAST FORM("ADDPS (XMM, M128)", "uops 2 latency 9 loadlat 9 uses p23:1 p01:1"),
		  CODE("\x0f\x58\x04\xcf"), "load p23=6 rdi,rcx>t0 / compute p01=3 zmm0,t0>zmm0" },
		{ X86 FAST FORM("ADDPS (XMM, M128)", "uops 2 latency 4 uses p23:1 p01:1"), CODE("\x0f\x58\x04\xcf"),
		  "load p23=6 rdi,rcx>t0 / compute p01=4 zmm0,t0>zmm0" },
		/* Of three loads the operation waits for two: there are as many words. */
		{ ADD("4", "1", "6", "p23:3 p01:1"), CODE("\x48\x03\x07"),
		  "load p23=5 rdi>t0 / load p23=5 rdi>t1 / load p23=5 rdi / compute p01=1 rax,t0,t1>rax,flags" },
	};

	(void)state;
	EXPECT(cases);
}

/* The fast way is for general registers of 32 and 64 bits, a base, no index, and displacements from 0 to 2047. */
static void some_loads_are_fast(void **state)
{
#define NARROW FORM("MOV (R32, M32)", "uops 1 latency 1 uses p23:1") \
	FORM("MOV (R16, M16)", "uops 1 latency 1 uses p23:1") FORM("MOVAPS (XMM, M128)", \
								   "uops 1 latency 1 uses p23:1") \
	FORM("MOVDQA (XMM, M128)", "uops 1 latency 1 loadlat 8 uses p23:1")
#define SCALED PARAM("l1d_latency_scaled 5 cycles")
	static const struct one cases[] = {
		{ X86 FAST, CODE("\x48\x8b\x07"), "load p23=4 rdi>rax" },
		{ X86 FAST, CODE("\x48\x8b\x87\xff\x07\0\0"), "load p23=4 rdi>rax" },
		{ X86 FAST, CODE("\x48\x8b\x87\0\x08\0\0"), "load p23=7 rdi>rax" },
		{ X86 FAST, CODE("\x48\x8b\x47\xff"), "load p23=7 rdi>rax" },
		{ X86 FAST, CODE("\x48\x8b\x04\x0f"), "load p23=7 rdi,rcx>rax" },
		{ X86 FAST, CODE("\x48\x8b\x04\x25\0\0\x01\0"), "load p23=7>rax" },
		{ X86 FAST NARROW, CODE("\x8b\x07"), "load p23=4 rdi>rax" },
		{ X86 FAST NARROW, CODE("\x8b\x04\x0f"), "load p23=5 rdi,rcx>rax" },
		{ X86 FAST NARROW, CODE("\x66\x8b\x07"), "load p23=5 rdi,rax>rax" },
		{ X86 FAST NARROW, CODE("\x0f\x28\x07"), "load p23=6 rdi>zmm0" },
		{ X86 FAST NARROW, CODE("\x66\x0f\x6f\x07"), "load p23=8 rdi>zmm0" },
		/* No way is faster than the other; and what a table does not say is 4 cycles. */
		{ X86 PARAM("l1d_latency 5 cycles"), CODE("\x48\x8b\x07"), "load p23=7 rdi>rax" },
		{ X86 PARAM("l1d_latency 5 cycles") NARROW, CODE("\x8b\x07"), "load p23=5 rdi>rax" },
		{ X86 PARAM("l1d_latency 5 cycles") NARROW, CODE("\x0f\x28\x07"), "load p23=5 rdi>zmm0" },
		{ X86 NARROW, CODE("\x8b\x07"), "load p23=4 rdi>rax" },
		/* A cycle more where the index is multiplied, of general registers. */
		{ X86 SCALED NARROW, CODE("\x8b\x04\xcf"), "load p23=5 rdi,rcx>rax" },
		{ X86 SCALED NARROW, CODE("\x8b\x04\x0f"), "load p23=4 rdi,rcx>rax" },
		{ X86 SCALED NARROW, CODE("\x8b\x07"), "load p23=4 rdi>rax" },
		{ X86 SCALED NARROW, CODE("\x0f\x28\x04\xcf"), "load p23=4 rdi,rcx>zmm0" },
		{ X86 PARAM("l1d_latency_scaled 4 cycles") NARROW, CODE("\x8b\x04\xcf"), "load p23=4 rdi,rcx>rax" },
	};

	(void)state;
	EXPECT(cases);
}

static void a_store_is_address_and_data(void **state)
{
#define INDEXED PARAM("indexed_store_on_load_ports yes flag")
#define RMW(latency, uses) FORM("ADD (M64, R64)", "uops 4 latency " latency " loadlat 6 uses " uses)
	static const struct one cases[] = {
		{ X86, CODE("\x48\x89\x07"), "address p237=1 rdi / data p4=1 rax" },
		{ X86 FUSED, CODE("\x48\x89\x07"), "address p237=1 rdi + data p4=1 rax" },
		/* p7 adds no index. */
		{ X86 INDEXED, CODE("\x48\x89\x07"), "address p237=1 rdi / data p4=1 rax" },
		{ X86, CODE("\x48\x89\x04\xcf"), "address p237=1 rdi,rcx / data p4=1 rax" },
		{ X86 INDEXED, CODE("\x48\x89\x04\xcf"), "address p23=1 rdi,rcx / data p4=1 rax" },
		{ X86 INDEXED FORM("MOV (M32, R32)", "uops 2 latency 1 uses p7:1 p4:1"), CODE("\x89\x04\xcf"),
		  "address p7=1 rdi,rcx / data p4=1 rax" },
		/* Read, modified, written: the flags are there as the word is. */
		{ X86 RMW("1", "p237:1 p4:1 p23:1 p0156:1"), CODE("\x48\x01\x07"),
		  "load p23=5 rdi>t0 / compute p0156=1 rax,t0>flags,t2 / address p237=1 rdi / data p4=1 t2" },
		/* A latency that counts the store is not the operation's. */
		{ X86 RMW("5", "p237:1 p4:1 p23:1 p0156:1"), CODE("\x48\x01\x07"),
		  "load p23=1 rdi>t0 / compute p0156=5 rax,t0>flags,t2:1 / address p237=1 rdi / data p4=1 t2" },
		{ X86 FORM("ADD (M64, R64)", "uops 5 latency 2 loadlat 6 uses p237:1 p4:1 p23:1 p01:2"),
		  CODE("\x48\x01\x07"),
		  "load p23=4 rdi>t0 / compute p01=1 rax,t0>t3 / compute p01=1 t3>flags,t2 / "
		  "address p237=1 rdi / data p4=1 t2" },
		/* What may go to load ports only is the address, if there is a load and some port is the addresses'
		 * own. */
		{ X86 RMW("1", "p23:1 p2:1 p4:1 p0156:1"), CODE("\x48\x01\x07"),
		  "load p23=5 rdi>t0 / compute p0156=1 rax,t0>flags,t2 / address p2=1 rdi / data p4=1 t2" },
		{ X86 FORM("MOV (M32, R32)", "uops 2 latency 1 uses p4:1 p237:1"), CODE("\x89\x07"),
		  "address p237=1 rdi / data p4=1 rax" },
		/* Only addresses: the last of them is the data. */
		{ X86 FORM("MOV (M32, R32)", "uops 2 latency 1 uses p7:1 p237:1"), CODE("\x89\x07"),
		  "address p7=1 rdi / data p237=1 rax" },
		/* Computed and stored, without a load: the word takes what the row says. */
		{ X86 FORM("SETZ (M8)", "uops 3 latency 3 uses p01:1 p237:1 p4:1"), CODE("\x0f\x94\x07"),
		  "compute p01=3 rdi,flags>t2 / address p237=1 rdi / data p4=1 t2" },
		/* From memory to memory: the store's word is the loaded one. */
		{ X86 FORM("MOVSQ", "uops 3 latency 1 loadlat 4 uses p23:1 p237:1 p4:1"), CODE("\x48\xa5"),
		  "load p23=4 rdi,rsi>t0 / address p237=1 rdi,rsi>rdi,rsi / data p4=1 t0" },
	};

	(void)state;
	EXPECT(cases);
}

/* Where ports do both, the first is the load, and a store needs one uop. */
static void load_and_store_units(void **state)
{
	static const struct one cases[] = {
		{ LSU, CODE("\x48\x8b\x07"), "load p012=4 rdi>rax" },
		{ LSU, CODE("\x48\x89\x07"), "data p01=1 rdi,rax" },
		/* Two macro-ops: the load is the operation's. */
		{ LSU FORM("ADD (M64, R64)", "uops 2 latency 1 loadlat 5 uses a0:1 l012:1 l01:1"), CODE("\x48\x01\x07"),
		  "load p012=4 rdi>t0 + compute p0=1 rax,t0>flags,t2 / data p01=1 rdi,t2" },
		{ LSU FORM("ADD (M64, R64)", "uops 3 latency 1 loadlat 5 uses a0:1 l01:2"), CODE("\x48\x01\x07"),
		  "load p01=4 rdi>t0 / compute p0=1 rax,t0>flags,t2 / data p01=1 rdi,t2" },
		/* Two stores: the first has the data. */
		{ LSU FORM("MOV (M32, R32)", "uops 2 latency 1 uses l01:1 l0:1"), CODE("\x89\x07"),
		  "address p0=1 rdi / data p01=1 rax" },
	};

	(void)state;
	EXPECT(cases);
}

/* A port that only loads of vectors pass besides is one for loads: their operations wait for it, and none of their
 * other operands does. */
static void ports_of_vector_loads(void **state)
{
#define VECTORS X86 FORM("MOVUPS (XMM, M128)", "uops 1 latency 8 loadlat 8 uses p23:1 p4:1")
#define ADDS FORM("PADDD (XMM, M128)", "uops 1 latency 1 loadlat 8 uses p0156:1 p23:1 p4:1")
	static const struct one cases[] = {
		{ VECTORS, CODE("\x0f\x10\x07"), "load p23=8 rdi>zmm0 + load p4=8 rdi>t1" },
		{ VECTORS ADDS, CODE("\x66\x0f\xfe\x07"),
		  "load p23=7 rdi>t0 + load p4=7 rdi>t1 + compute p0156=1 zmm0,t0,t1>zmm0" },
		{ X86 ADDS, CODE("\x66\x0f\xfe\x07"),
		  "load p23=7 rdi>t0 + compute p0156=1 zmm0,t0>t3 + compute p4=1 zmm0,t0,t3>zmm0" },
	};

	(void)state;
	EXPECT(cases);
}

/* More cycles than uops: the port is held. Less than half a cycle, an average, is still a uop. */
static void cycles_become_uops(void **state)
{
#define MUL(figures) X86 FORM("IMUL (R64, R64)", figures)
	static const struct one cases[] = {
		{ MUL("uops 1 latency 3 uses p1:1"), CODE("\x48\x0f\xaf\xc3"), "compute p1=3 rax,rbx>rax,flags" },
		{ MUL("uops 1 latency 3 uses p1:2"), CODE("\x48\x0f\xaf\xc3"), "compute p1x2=3 rax,rbx>rax,flags" },
		{ MUL("uops 2 latency 3 uses p1:5"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p1x2=1 rax,rbx>t3 / compute p1x2=1 rax~-2,rbx~-2,t3>rax,flags" },
		{ MUL("uops 2 latency 3 uses p1:2"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p1=1 rax,rbx>t3 / compute p1=2 rax~-1,rbx~-1,t3~1>rax,flags" },
		{ MUL("uops 1 latency 3 uses p1:0.25"), CODE("\x48\x0f\xaf\xc3"), "compute p1=3 rax,rbx>rax,flags" },
		{ MUL("uops 1 latency 3 uses p1:1.49"), CODE("\x48\x0f\xaf\xc3"), "compute p1=3 rax,rbx>rax,flags" },
		{ MUL("uops 1 latency 2.5 uses p1:1.5"), CODE("\x48\x0f\xaf\xc3"), "compute p1x2=3 rax,rbx>rax,flags" },
		/* More groups than uops: several ports for one. */
		{ MUL("uops 1 latency 3 uses p1:1 p5:1"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p1=1 rax,rbx>t3 + compute p5=3 rax,rbx,t3~2>rax,flags" },
		/* Tokens of three uops are waited for, at the end of the last one's time, or of none. */
		{ MUL("uops 5 latency 0 uses p1:5"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p1=1 rax,rbx>t3 / compute p1=1 rax,rbx>t4 / compute p1=1 rax,rbx>t5 / "
		  "compute p1=1 rax,rbx / compute p1=0 rax,rbx,t3,t4,t5>rax,flags" },
		/* A unit that is busy is the last uop's: the one that is busy longest. */
		{ MUL("uops 2 latency 9 uses p0:1 p1:1 exclusive div:6 root:4"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p0=1 rax,rbx>t3 / compute p1=9 !0:6 rax,rbx,t3~8>rax,flags" },
		{ MUL("uops 1 latency 9 uses p0:1 exclusive div:4 root:6"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p0=9 !1:6 rax,rbx>rax,flags" },
		{ MUL("uops 1 latency 9 uses p0:1 exclusive div:4 root:4"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p0=9 !0:4 rax,rbx>rax,flags" },
	};

	(void)state;
	EXPECT(cases);
}

/* Saving the state takes some hundred: all of them are there, each in a slot of its own, on its port. */
static void all_uops_are_there(void **state)
{
	static const struct { const char *uses; unsigned uops, on_p0; } cases[] = {
		{ "p1:95", 95, 0 }, { "p1:97", 97, 0 }, { "p1:50 p0:50", 100, 50 }, { "p0:300", 300, 300 },
		{ "p1:96 p0:4000", 4096, 4000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned on_p0 = 0;
		char text[4000];
		struct gus_uarch *u;
		struct gus_program *p;

		snprintf(text, sizeof(text), X86 FORM("CPUID", "uops 4096 latency 9 uses %s"), cases[i].uses);
		u = made_table_of(text);
		p = made_program(u, "\x0f\xa2", 2);
		assert_int_equal(p->ops[0].uops_n, cases[i].uops);
		for (unsigned k = 0; k < p->uops_n; k++) {
			assert_int_equal(p->uops[k].slot, k);
			on_p0 += p->uops[k].ports == 1;
		}
		assert_int_equal(on_p0, cases[i].on_p0);
		assert_true(p->ops[0].flags & GUS_OP_SERIALISING);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}

/* Which result needs what, and how late it may come. */
static void latencies_by_operand(void **state)
{
#define FMA(figures) X86 FORM("VFMADD231PS (XMM, XMM, XMM)", figures)
#define SHL(figures) X86 FORM("SHL (R64, CL)", figures)
#define CONVERT(alone) X86 FORM("CVTSI2SD (XMM, R64)", "uops 2 latency 6 uses p5:1 p01:1") \
	FORM("CVTDQ2PS (XMM, XMM)", "uops 1 latency " alone " uses p01:1")
	static const struct one cases[] = {
		/* The addend has two cycles more. */
		{ FMA("uops 1 latency 5 uses p01:1 pairs 0>0:3 1>0:5 2>0:5"), CODE("\xc4\xe2\x71\xb8\xc2"),
		  "compute p01=5 zmm0~2,zmm1,zmm2>zmm0" },
		{ FMA("uops 1 latency 5 uses p01:1"), CODE("\xc4\xe2\x71\xb8\xc2"),
		  "compute p01=5 zmm0,zmm1,zmm2>zmm0" },
		/* What is not said to be needed by anything is needed by all. */
		{ FMA("uops 1 latency 5 uses p01:1 pairs 0>0:3 1>0:4"), CODE("\xc4\xe2\x71\xb8\xc2"),
		  "compute p01=5 zmm0~1,zmm1,zmm2>zmm0:4" },
		/* There is no operand 1 besides these: the figures are of another shape, and the row's latency
		 * holds. */
		{ X86 FORM("INC (R64)", "uops 1 latency 1 uses p01:1 pairs 0>0:2 0>2:2"), CODE("\x48\xff\xc0"),
		  "compute p01=1 rax>rax,flags" },
		{ X86 FORM("INC (R64)", "uops 1 latency 1 uses p01:1 pairs 0>0:2 0>1:3"), CODE("\x48\xff\xc0"),
		  "compute p01=1 rax>rax:2,flags:3" },
		{ X86 FORM("INC (R64)", "uops 1 latency 1 uses p01:1 pairs m0>0:2"), CODE("\x48\xff\xc0"),
		  "compute p01=1 rax>rax,flags" },
		{ X86 FORM("INC (R64)", "uops 1 latency 1 uses p01:1 pairs 0>m0:2"), CODE("\x48\xff\xc0"),
		  "compute p01=1 rax>rax,flags" },
		{ MUL("uops 1 latency 3 uses p1:1 pairs 0>0:2"), CODE("\x48\x0f\xaf\xc0"),
		  "compute p1=3 rax>rax,flags" },
		/* The flags of a shift stay if the count is zero; the register needs no flags, so the first uop has
		 * it. */
		{ SHL("uops 1 latency 1 uses p01:1"), CODE("\x48\xd3\xe0"), "compute p01=1 rax,rcx,flags>rax,flags" },
		{ SHL("uops 2 latency 2 uses p01:2"), CODE("\x48\xd3\xe0"),
		  "compute p01=2 rax,rcx>rax,t3:1 / compute p01=2 rax,rcx,flags,t3~1>flags" },
		{ SHL("uops 3 latency 2 uses p01:3"), CODE("\x48\xd3\xe0"),
		  "compute p01=1 rax,rcx>t3 / compute p01=2 rax,rcx>rax,t4:1 / "
		  "compute p01=1 rax~-1,rcx~-1,flags~-1,t3,t4>flags" },
		/* Unless the CPU takes it that the count is not zero. */
		{ X86 PARAM("shift_flags_new yes flag") FORM("SHL (R64, CL)", "uops 1 latency 1 uses p01:1"),
		  CODE("\x48\xd3\xe0"), "compute p01=1 rax,rcx>rax,flags" },
		{ X86 PARAM("shift_flags_new yes flag") FORM("SHL (R64, CL)", "uops 2 latency 2 uses p01:2"),
		  CODE("\x48\xd3\xe0"), "compute p01=1 rax,rcx>t3 / compute p01=2 rax,rcx,t3~1>rax,flags" },
		/* Of the conversion proper the old elements take 4 cycles of 6. */
		{ CONVERT("4"), CODE("\xf2\x48\x0f\x2a\xc0"),
		  "compute p5=1 zmm0~2,rax>t3 / compute p01=6 zmm0~2,rax,t3~5>zmm0" },
		{ CONVERT("7"), CODE("\xf2\x48\x0f\x2a\xc0"),
		  "compute p5=1 zmm0,rax>t3 / compute p01=6 zmm0,rax,t3~5>zmm0" },
		/* The rest of a register is merged at the end; high bytes are apart. */
		{ X86 FORM("MOV_88 (R8l, R8l)", "uops 1 latency 1 uses p01:1"), CODE("\x88\xc8"),
		  "compute p01=1 rax,rcx>rax" },
		{ X86 FORM("MOV_88 (R8l, R8l)", "uops 1 latency 3 uses p01:1"), CODE("\x88\xc8"),
		  "compute p01=3 rax~2,rcx>rax" },
		/* Pairs that are about memory only change nothing of that. */
		{ X86 FORM("MOV_88 (R8l, R8l)", "uops 1 latency 3 uses p01:1 pairs m0>0:3"), CODE("\x88\xc8"),
		  "compute p01=3 rax~2,rcx>rax" },
		{ X86 FORM("MOV_88 (R8h, R8l)", "uops 1 latency 1 uses p01:1"), CODE("\x88\xcc"),
		  "compute p01=1 rcx>rax" },
		/* An address is what lea computes with. */
		{ X86 FORM("LEA_B_IS_D8 (R64)", "uops 1 latency 1 uses p01:1"), CODE("\x48\x8d\x44\xcf\x08"),
		  "compute p01=1 rdi,rcx>rax" },
	};

	(void)state;
	EXPECT(cases);
}

/* arm64's addresses that are written back: an adder waits for the address alone, and the load or store for no adder.
 * (The register of such an address is an operand, too, and so stands twice.) */
static void addresses_written_back(void **state)
{
#define LDR(figures) ARM64 FORM("ldr (x, [x], imm)", figures)
#define STR(figures) ARM64 FORM("str (x, [x, imm]!)", figures)
	static const struct one cases[] = {
		{ ARM64, CODE("\x20\x00\x40\xf9"), "load p=4 x1>x0" },
		{ ARM64, CODE("\x20\x00\x00\xf9"), "data p=1 x1,x0" },
		{ LDR("uops 2 latency 1 loadlat 4 uses L:1 I:1"), CODE("\x20\x84\x40\xf8"),
		  "load p=4 x1,x1>x0 / compute p=1 x1>x1" },
		{ LDR("uops 3 latency 1 loadlat 4 uses L:1 I:2"), CODE("\x20\x84\x40\xf8"),
		  "load p=4 x1,x1>x0 / compute p=1 x1>x1 / compute p=1 x1" },
		{ LDR("uops 1 latency 1 loadlat 4 uses L:1"), CODE("\x20\x84\x40\xf8"), "load p=4 x1,x1>x1:1,x0" },
		{ STR("uops 2 latency 1 uses S:1 I:1"), CODE("\x20\x8c\x00\xf8"),
		  "compute p=1 x1>x1 / data p=1 x1,x1,x0" },
		{ STR("uops 1 latency 1 uses S:1"), CODE("\x20\x8c\x00\xf8"), "data p=1 x1,x1,x0>x1" },
		/* Both of a pair come from the first uop. */
		{ ARM64 FORM("ldp (x, x, [x, imm])", "uops 2 latency 1 loadlat 4 uses L:2"), CODE("\x40\x04\x40\xa9"),
		  "load p=4 x2>x0,x1 / load p=4 x2>t1" },
	};

	(void)state;
	EXPECT(cases);
}

/* The second byte of a register: apart from the rest, or a part like the first; and slower to compute with. */
static void second_bytes(void **state)
{
#define MERGED PARAM("high_byte_merged yes flag")
#define SLOWER PARAM("high_byte_latency 2 cycles")
#define AND(params) X86 params FORM("AND (R8h, I8)", "uops 1 latency 1 uses p01:1")
#define SETZ(params) X86 params FORM("SETZ (R8h)", "uops 1 latency 1 uses p01:1")
	static const struct one cases[] = {
		{ SETZ(""), CODE("\x0f\x94\xc4"), "compute p01=1 flags>rax" },
		{ SETZ(MERGED), CODE("\x0f\x94\xc4"), "compute p01=1 rax,flags>rax" },
		{ SETZ(SLOWER), CODE("\x0f\x94\xc4"), "compute p01=1 flags>rax" },
		{ AND(""), CODE("\x80\xe4\x02"), "compute p01=1 rax>rax,flags" },
		{ AND(MERGED), CODE("\x80\xe4\x02"), "compute p01=1 rax>rax,flags" },
		{ AND(SLOWER), CODE("\x80\xe4\x02"), "compute p01=3 rax>rax,flags" },
		{ AND(SLOWER MERGED), CODE("\x80\xe4\x02"), "compute p01=3 rax>rax,flags" },
		/* A row that has a time of its own keeps it. */
		{ X86 SLOWER FORM("AND (R8h, I8)", "uops 1 latency 2 uses p01:1"), CODE("\x80\xe4\x02"),
		  "compute p01=2 rax>rax,flags" },
		{ X86 SLOWER FORM("MOV_88 (R8h, R8h)", "uops 1 latency 1 uses p01:1"), CODE("\x88\xe4"),
		  "compute p01=1 rax>rax" },
		{ X86 SLOWER FORM("SHL (R8h, 1)", "uops 1 latency 1 uses p01:1"), CODE("\xd0\xe4"),
		  "compute p01=3 rax>rax,flags" },
	};

	(void)state;
	EXPECT(cases);
}

/* A unit is kept by a uop: of what has no ports in its row by one on those of an addition, of a nop as well. */
static void units_need_a_uop(void **state)
{
	static const struct one cases[] = {
		{ X86 FORM("RDTSC", "uops 8 latency 9 exclusive div:9"), CODE("\x0f\x31"),
		  "compute p0156=9 !0:9>rax,rdx" },
		{ X86 FORM("PAUSE", "uops 4 latency 1 uses p01:1 exclusive root:40"), CODE("\xf3\x90"),
		  "compute p01=1 !1:40" },
		{ X86 FORM("PAUSE", "uops 4 latency 1 uses p01:1"), CODE("\xf3\x90"), "none=0" },
	};

	(void)state;
	EXPECT(cases);
}

/* popcnt, which some CPUs let wait for the old result. */
static void false_dependences(void **state)
{
#define POPCNT(text, figures) X86 FAST FORM(text, figures)
	static const struct one cases[] = {
		{ POPCNT("POPCNT (R64, R64)", "uops 1 latency 3 uses p01:1"), CODE("\xf3\x48\x0f\xb8\xc3"),
		  "compute p01=3 rbx>rax,flags" },
		{ POPCNT("POPCNT (R64, R64)", "uops 1 latency 3 uses p01:1 pairs 0>0:3 1>0:3"),
		  CODE("\xf3\x48\x0f\xb8\xc3"), "compute p01=3 rax,rbx>rax,flags" },
		{ POPCNT("POPCNT (R64, R64)", "uops 1 latency 3 uses p01:1 pairs 0>0:1 1>0:3"),
		  CODE("\xf3\x48\x0f\xb8\xc3"), "compute p01=3 rax~2,rbx>rax,flags" },
		{ POPCNT("POPCNT (R64, M64)", "uops 2 latency 3 loadlat 8 uses p23:1 p01:1 pairs 0>0:3"),
		  CODE("\xf3\x48\x0f\xb8\x07"), "load p23=5 rdi>t0 / compute p01=3 rax,t0>rax,flags" },
	};

	(void)state;
	EXPECT(cases);
}

/* As many cycles as uops: one behind another. What the last one alone needs waits for no other. */
static void uops_one_behind_another(void **state)
{
#define BSWAP(figures) X86 FAST FORM("BSWAP (R64)", figures)
#define CMOV(text, figures) X86 FAST FORM(text, figures)
#define PRODUCT(text, figures) X86 FAST FORM("IMUL (R64, R64)", "uops 1 latency 3 uses p01:1") FORM(text, figures)
	static const struct one cases[] = {
		{ BSWAP("uops 2 latency 2 uses p01:1 p0156:1"), CODE("\x48\x0f\xc8"),
		  "compute p01=1 rax>t3 / compute p0156=1 t3>rax" },
		{ BSWAP("uops 3 latency 3 uses p01:1 p0156:2"), CODE("\x48\x0f\xc8"),
		  "compute p01=1 rax>t3 / compute p0156=1 t3>t4 / compute p0156=1 t4>rax" },
		{ BSWAP("uops 2 latency 3 uses p01:1 p0156:1"), CODE("\x48\x0f\xc8"),
		  "compute p01=1 rax>t3 / compute p0156=3 rax,t3~2>rax" },
		{ BSWAP("uops 4 latency 4 uses p0156:4"), CODE("\x48\x0f\xc8"),
		  "compute p0156=1 rax>t3 / compute p0156=1 rax>t4 / compute p0156=1 rax>t5 / "
		  "compute p0156=4 rax,t3~3,t4~3,t5~3>rax" },
		{ CMOV("CMOVZ (R64, R64)", "uops 2 latency 2 uses p01:1 p0156:1"), CODE("\x48\x0f\x44\xc3"),
		  "compute p01=1 rbx,flags>t3 / compute p0156=1 rax,t3>rax" },
		{ CMOV("CMOVZ (R64, R64)", "uops 1 latency 1 uses p01:1"), CODE("\x48\x0f\x44\xc3"),
		  "compute p01=1 rax,rbx,flags>rax" },
		/* Two flags: the source comes a cycle later than they do. */
		{ CMOV("CMOVNBE (R64, R64)", "uops 2 latency 2 uses p01:2"), CODE("\x48\x0f\x47\xc3"),
		  "compute p01=1 flags>t3 / compute p01=1 rax,rbx,t3>rax" },
		{ CMOV("CMOVNBE (R64, R64)", "uops 3 latency 3 uses p01:3"), CODE("\x48\x0f\x47\xc3"),
		  "compute p01=1 rbx~1,flags>t3 / compute p01=1 t3>t4 / compute p01=1 rax,t4>rax" },
		{ CMOV("CMOVZ (R64, M64)", "uops 3 latency 2 loadlat 7 uses p01:1 p0156:1 p23:1"),
		  CODE("\x48\x0f\x44\x07"),
		  "load p23=5 rdi>t0 / compute p01=1 flags,t0>t3 / compute p0156=1 rax,t3>rax" },
		/* The halves of a product. */
		{ PRODUCT("MUL (R64)", "uops 2 latency 4 uses p01:1 p0156:1"), CODE("\x48\xf7\xe1"),
		  "compute p01=1 rcx,rax>rax:3,t3 / compute p0156=3 t3>rdx,flags" },
		{ PRODUCT("MUL (M64)", "uops 3 latency 4 loadlat 9 uses p01:1 p0156:1 p23:1"),
		  CODE("\x48\xf7\x27"),
		  "load p23=5 rdi>t0 / compute p01=1 rax,t0>rax:3,t3 / compute p0156=3 t3>rdx,flags" },
		/* The upper half is named first; where both have one register, it is what stays there. */
		{ PRODUCT("MULX (R64, R64, R64)", "uops 2 latency 4 uses p01:1 p0156:1"),
		  CODE("\xc4\xe2\xf3\xf6\xd3"), "compute p01=1 rdx,rbx>rcx:3,t3 / compute p0156=3 t3>rdx" },
		{ PRODUCT("MULX (R64, R64, R64)", "uops 2 latency 4 uses p01:1 p0156:1"),
		  CODE("\xc4\xe2\xf3\xf6\xc3"), "compute p01=1 rbx,rdx>rcx:3,t3 / compute p0156=3 t3>rax" },
		{ PRODUCT("MULX (R64, R64, R64)", "uops 2 latency 4 uses p01:1 p0156:1"),
		  CODE("\xc4\xe2\xf3\xf6\xcb"), "compute p01=1 rbx,rdx>t3 / compute p0156=4 rbx,rdx,t3~3>rcx" },
		{ PRODUCT("MUL (R32)", "uops 3 latency 4 uses p01:1 p0156:2"), CODE("\xf7\xe1"),
		  "compute p01=1 rcx,rax>t3 / compute p0156=1 rcx,rax>t4 / "
		  "compute p0156=4 rcx,rax,t3~3,t4~3>rax,rdx,flags" },
	};

	(void)state;
	EXPECT(cases);
}

/* The last uop, which has the latency, begins behind those that need the same ports. Through the instruction it is what
 * the row says all the same, so what is counted from its own start is less, and operands have to be there before it. */
static void uops_that_share_ports(void **state)
{
	static const struct one cases[] = {
		{ MUL("uops 3 latency 5 uses p01:3"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p01=1 rax,rbx>t3 / compute p01=1 rax,rbx>t4 / "
		  "compute p01=4 rax~-1,rbx~-1,t3~3,t4~3>rax,flags" },
		{ MUL("uops 4 latency 5 uses p01:4"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p01=1 rax,rbx>t3 / compute p01=1 rax,rbx>t4 / compute p01=1 rax,rbx>t5 / "
		  "compute p01=4 rax~-1,rbx~-1,t3~3,t4~3,t5~3>rax,flags" },
		{ MUL("uops 2 latency 5 uses p01:2"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p01=1 rax,rbx>t3 / compute p01=5 rax,rbx,t3~4>rax,flags" },
		{ MUL("uops 2 latency 5 uses p0:1 p1:1"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p0=1 rax,rbx>t3 / compute p1=5 rax,rbx,t3~4>rax,flags" },
		{ MUL("uops 2 latency 10 uses p0:6"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p0x3=1 rax,rbx>t3 / compute p0x3=7 rax~-3,rbx~-3,t3~6>rax,flags" },
		/* No result is there when its uop begins. */
		{ MUL("uops 2 latency 3 uses p0:6"), CODE("\x48\x0f\xaf\xc3"),
		  "compute p0x3=1 rax,rbx>t3 / compute p0x3=1 rax~-2,rbx~-2,t3>rax,flags" },
	};

	(void)state;
	EXPECT(cases);
}

/* Elements that are kept come to the operation behind a transfer, not to that. */
static void transfers_before_operations(void **state)
{
#define PSHUFD FORM("PSHUFD (XMM, XMM, I8)", "uops 1 latency 1 uses p01:1")
#define PINSR(figures) X86 FAST FORM("PINSRD (XMM, R32, I8)", figures)
	static const struct one cases[] = {
		{ PINSR("uops 2 latency 3 uses p01:2") PSHUFD, CODE("\x66\x0f\x3a\x22\xc0\x01"),
		  "compute p01=1 zmm0~2,rax>t3 / compute p01=3 zmm0~2,rax,t3~2>zmm0" },
		{ PINSR("uops 2 latency 3 uses p01:2"), CODE("\x66\x0f\x3a\x22\xc0\x01"),
		  "compute p01=1 zmm0,rax>t3 / compute p01=3 zmm0,rax,t3~2>zmm0" },
	};

	(void)state;
	EXPECT(cases);
}

/* x86's string instructions: the first computing uops move rsi and rdi on, whatever is loaded; the others compute.
 * Repeated, all waits for all. */
static void strings_move_on(void **state)
{
#define STRING(text, figures) X86 FAST FORM(text, figures)
	static const struct one cases[] = {
		{ STRING("LODSQ", "uops 2 latency 1 loadlat 5 uses p23:1 p0156:1"), CODE("\x48\xad"),
		  "load p23=4 rsi>rax / compute p0156=1 rsi>rsi" },
		{ STRING("LODSB", "uops 3 latency 1 loadlat 6 uses p23:1 p0156:2"), CODE("\xac"),
		  "load p23=5 rsi>t0 / compute p0156=1 rsi>rsi / compute p0156=1 rax,t0>rax" },
		{ STRING("LODSB", "uops 4 latency 1 loadlat 6 uses p23:1 p0156:3"), CODE("\xac"),
		  "load p23=5 rsi>t0 / compute p0156=1 rsi>rsi / compute p0156=1 rax,t0>t3 / "
		  "compute p0156=1 rax,t0,t3>rax" },
		{ STRING("STOSQ", "uops 3 latency 1 uses p4:1 p0156:1 p237:1"), CODE("\x48\xab"),
		  "compute p0156=1 rdi>rdi / address p237=1 rdi / data p4=1 rax" },
		{ STRING("MOVSQ", "uops 5 latency 1 loadlat 5 uses p23:1 p0156:2 p237:1 p4:1"), CODE("\x48\xa5"),
		  "load p23=5 rdi,rsi>t0 / compute p0156=1 rdi,rsi>rdi,rsi / compute p0156=1 rdi,rsi / "
		  "address p237=1 rdi,rsi / data p4=1 t0" },
		{ STRING("SCASQ", "uops 3 latency 7 loadlat 7 uses p23:1 p0156:2"), CODE("\x48\xaf"),
		  "load p23=5 rdi>t0 / compute p0156=1 rdi>rdi / compute p0156=2 rax,t0>flags" },
		{ STRING("LODSB_REPE", "uops 3 latency 1 loadlat 6 uses p23:1 p0156:2"), CODE("\xf3\xac"),
		  "load p23=5 rsi>t0 / compute p0156=1 rax,rsi,rcx,t0>t3 / "
		  "compute p0156=1 rax,rsi,rcx,t0,t3>rax,rsi,rcx" },
	};

	(void)state;
	EXPECT(cases);
}

/* What nobody waits for: the instruction pointer, control and status words, segments; and of arm64 the same. */
static void some_registers_are_not_waited_for(void **state)
{
	static const struct one cases[] = {
		{ X86 FAST, CODE("\x48\x8b\x05\0\0\0\0"), "load p23=4>rax" },
		{ X86 FORM("XGETBV", "uops 1 latency 1 uses p01:1"), CODE("\x0f\x01\xd0"),
		  "compute p01=1 rcx>rdx,rax" },
		{ X86 FORM("POPFQ", "uops 1 latency 1 uses p01:1"), CODE("\x9d"), "compute p01=1 rsp,rsp>rsp,flags" },
		{ ARM64 FORM("fnmadd (s, s, s, s)", "uops 1 latency 4 uses I:1"), CODE("\xd5\x03\x20\x1f"),
		  "compute p=4 v30,v0>v21" },
	};

	(void)state;
	EXPECT(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operation_waits_for_its_load),
		cmocka_unit_test(loads_behind_loads),
		cmocka_unit_test(some_loads_are_fast),
		cmocka_unit_test(a_store_is_address_and_data),
		cmocka_unit_test(load_and_store_units),
		cmocka_unit_test(ports_of_vector_loads), cmocka_unit_test(cycles_become_uops),
		cmocka_unit_test(all_uops_are_there),
		cmocka_unit_test(latencies_by_operand),
		cmocka_unit_test(addresses_written_back),
		cmocka_unit_test(second_bytes),
		cmocka_unit_test(units_need_a_uop),
		cmocka_unit_test(false_dependences),
		cmocka_unit_test(uops_one_behind_another),
		cmocka_unit_test(uops_that_share_ports),
		cmocka_unit_test(transfers_before_operations),
		cmocka_unit_test(strings_move_on),
		cmocka_unit_test(some_registers_are_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
