/* SPDX-License-Identifier: MIT */
/* Times common instruction forms on this machine and holds a table against them: latency and throughput of 60 forms,
 * each right if within 5 %. No PMU is needed: code is made at run time, timed with rdtscp, and a chain of dependent
 * imul of three cycles, run alternately with it, says how many ticks a cycle has.
 *
 *	own-silicon [--uarch NAME] [--plain] [--need N]
 *
 * NAME is a table's (default: this CPU's), --plain leaves out its overlay, --need is how many forms must be right (55).
 * Latency is taken along a chain through one register. Where the result is in another register file, the way back is a
 * second instruction ("via"), and the sum of both is judged against the sum of their rows. What has no result in a
 * register (stores, branches) is judged by throughput alone: the larger of the ports' bound and the width of issue. */
#if !defined(__x86_64__)
#include <stdio.h>

int main(void)
{
	puts("skipped: this is no x86-64 CPU");
	return 77;
}
#else
#include <Zydis/Zydis.h>
#include <cpuid.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/tables/builtin.h"
#include "model/tables/cpus.h"
#include "model/tables/uarch.h"

/* Operands, a letter each: where a register goes on. D destination (R: also read), S source that is never written,
 * then the width: b w d q for 8 to 64 bits, x y z for vectors; C is cl, i an immediate of 8 bits, I of 32, A memory at
 * a constant address, P memory at the address in the chain's register, X and Y an address of base and index. */
enum trait {
	FLOAT = 1,      /* vectors of float instead of double */
	NO_CHAIN = 2,   /* no result in a register */
	POINTER = 4,    /* the chain goes through the address: the row's loadlat counts */
	FRESH = 8,      /* eax and edx must be set anew each time, to have instances that do not wait for each other */
	AGEN = 16,      /* loads by address in the chain, of a row without a register operand */
};
struct spec {
	const char *mnemonic, *operands;
	unsigned traits;
	const char *via, *via_operands; /* the way back from the result to the source, NULL if none is needed */
};

static const struct spec specs[] = {
	/* General registers. */
	{ "add", "Rq Sq", 0, NULL, NULL },       { "add", "Rd I", 0, NULL, NULL },
	{ "sub", "Rq Sq", 0, NULL, NULL },       { "and", "Rq Sq", 0, NULL, NULL },
	{ "xor", "Rd Sd", 0, NULL, NULL },       { "cmp", "Rq Sq", 0, "cmovz", "Rq Sq" },
	{ "test", "Rd Rd", 0, "cmovz", "Rd Sd" }, { "inc", "Rq", 0, NULL, NULL },
	{ "neg", "Rq", 0, NULL, NULL },          { "adc", "Rq Sq", 0, NULL, NULL },
	{ "lea", "Dq X", 0, NULL, NULL },        { "lea", "Dq Y", 0, NULL, NULL },
	{ "mov", "Dq Rq", 0, NULL, NULL },       { "mov", "Dd I", NO_CHAIN, NULL, NULL },
	{ "movzx", "Dd Rb", 0, NULL, NULL },     { "movsxd", "Dq Rd", 0, NULL, NULL },
	{ "imul", "Rq Sq", 0, NULL, NULL },      { "imul", "Dq Rq I", 0, NULL, NULL },
	{ "mul", "Sq", FRESH, NULL, NULL },      { "shl", "Rq i", 0, NULL, NULL },
	{ "sar", "Rd i", 0, NULL, NULL },        { "shl", "Rq C", 0, NULL, NULL },
	{ "rol", "Rd i", 0, NULL, NULL },        { "shlx", "Dq Rq Sq", 0, NULL, NULL },
	{ "bswap", "Rd", 0, NULL, NULL },        { "popcnt", "Dq Rq", 0, NULL, NULL },
	{ "tzcnt", "Dq Rq", 0, NULL, NULL },     { "cmovz", "Rq Sq", 0, NULL, NULL },
	{ "setz", "Db", 0, "cmp", "Rb Sb" },     { "div", "Sd", FRESH, "or", "aI" },
	/* Loads, stores, branches. */
	{ "mov", "Dq P", POINTER | AGEN, NULL, NULL }, { "mov", "Dd A", NO_CHAIN, NULL, NULL },
	{ "add", "Rq P", POINTER, NULL, NULL },  { "mov", "A Sq", NO_CHAIN, NULL, NULL },
	{ "jz", "T", NO_CHAIN, NULL, NULL },
	/* Vectors of floating-point numbers. */
	{ "movaps", "Dx Rx", 0, NULL, NULL },    { "addsd", "Rx Sx", 0, NULL, NULL },
	{ "mulsd", "Rx Sx", 0, NULL, NULL },     { "divsd", "Rx Sx", 0, NULL, NULL },
	{ "sqrtsd", "Dx Rx", 0, NULL, NULL }, { "vaddps", "Dy Ry Sy", FLOAT, NULL, NULL },
	{ "vaddpd", "Dx Rx Sx", 0, NULL, NULL }, { "vmulpd", "Dy Ry Sy", 0, NULL, NULL },
	{ "vfmadd231pd", "Ry Sy Sy", 0, NULL, NULL }, { "vdivpd", "Dy Ry Sy", 0, NULL, NULL },
	{ "vmaxps", "Dy Ry Sy", FLOAT, NULL, NULL }, { "vshufps", "Dy Ry Sy i", FLOAT, NULL, NULL },
	{ "cvtsi2sd", "Rx Sq", 0, NULL, NULL },  { "vcvtps2pd", "Dy Rx", FLOAT, NULL, NULL },
	{ "vmovups", "Dy A", NO_CHAIN, NULL, NULL }, { "vmovups", "A Sy", NO_CHAIN, NULL, NULL },
	/* Vectors of integers. */
	{ "pxor", "Rx Sx", 0, NULL, NULL },      { "vpaddd", "Dy Ry Sy", 0, NULL, NULL },
	{ "vpmulld", "Dy Ry Sy", 0, NULL, NULL }, { "vpslld", "Dy Ry i", 0, NULL, NULL },
	{ "pshufd", "Dx Rx i", 0, NULL, NULL },  { "vpshufb", "Dy Ry Sy", 0, NULL, NULL },
	{ "vpcmpeqd", "Dy Ry Sy", 0, NULL, NULL }, { "vextracti128", "Dx Ry i", 0, NULL, NULL },
	{ "movq", "Dx Rq", 0, "movq", "Dq Rx" },
};
#define SPECS (sizeof(specs) / sizeof(*specs))

/* Registers: r15 counts, r14 points to memory, r13 and xmm15 are sources, rcx has the count of shifts; these are
 * destinations, the chain's being the first two. */
static const unsigned gprs[] = { 0, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12 };
enum { GPRS = sizeof(gprs) / sizeof(*gprs), VECTORS = 12, SOURCE_GPR = 13, MEMORY_GPR = 14, SOURCE_VECTOR = 15 };
enum { CODE_SIZE = 1 << 16, UNCHANGED = 4000, RUNS = 40000 };

static void die(const char *what)
{
	fprintf(stderr, "own-silicon: %s\n", what);
	exit(99);
}

/* Making code. */

struct code {
	uint8_t *at, *start;
};

static void emit(struct code *c, const void *bytes, size_t size)
{
	if (c->at + size + 64 > c->start + CODE_SIZE)
		die("the code is too long for its page");
	memcpy(c->at, bytes, size);
	c->at += size;
}

static ZydisRegister gpr(char width, unsigned number)
{
	static const struct { char width; ZydisRegister first; } files[] = {
		{ 'w', ZYDIS_REGISTER_AX }, { 'd', ZYDIS_REGISTER_EAX }, { 'q', ZYDIS_REGISTER_RAX },
		{ 'x', ZYDIS_REGISTER_XMM0 }, { 'y', ZYDIS_REGISTER_YMM0 }, { 'z', ZYDIS_REGISTER_ZMM0 },
	};

	/* Eight-bit registers have ah and its like in the middle of their numbering. */
	if (width == 'b')
		return (ZydisRegister)(number < 4 ? ZYDIS_REGISTER_AL + number : ZYDIS_REGISTER_SPL + number - 4);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i].width == width)
			return (ZydisRegister)(files[i].first + number);
	die("unknown width of a register");
	return 0;
}

static bool is_vector(char width)
{
	return width == 'x' || width == 'y' || width == 'z';
}

static ZydisMnemonic mnemonic(const char *name)
{
	for (int i = 0; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++)
		if (strcmp(ZydisMnemonicGetString((ZydisMnemonic)i), name) == 0)
			return (ZydisMnemonic)i;
	die(name);
	return 0;
}

/* What the registers of one instance are: written, and read where the instance before wrote. */
struct slots { unsigned write, read; };

static unsigned slot(char width, unsigned n)
{
	return is_vector(width) ? n % VECTORS : gprs[n % GPRS];
}

static void memory(ZydisEncoderOperand *op, char kind, struct slots s)
{
	op->type = ZYDIS_OPERAND_TYPE_MEMORY;
	op->mem.base = ZYDIS_REGISTER_R14;
	if (kind == 'P')
		op->mem.base = gpr('q', slot('q', s.read));
	if ((kind == 'X' || kind == 'Y') && s.write != s.read)
		op->mem.base = gpr('q', slot('q', s.read));
	if (kind == 'X' || kind == 'Y') {
		op->mem.index = ZYDIS_REGISTER_R13;
		op->mem.scale = kind == 'X' ? 1 : 8;
		op->mem.displacement = kind == 'X' ? 0 : 16;
	}
}

static void operand(ZydisEncoderOperand *op, const char *word, struct slots s)
{
	op->type = ZYDIS_OPERAND_TYPE_REGISTER;
	switch (word[0]) {
	case 'D':
		op->reg.value = gpr(word[1], slot(word[1], s.write));
		break;
	case 'R':
		op->reg.value = gpr(word[1], slot(word[1], s.read));
		break;
	case 'S':
		op->reg.value = gpr(word[1], is_vector(word[1]) ? SOURCE_VECTOR : SOURCE_GPR);
		break;
	case 'a':
		op->reg.value = ZYDIS_REGISTER_EAX;
		break;
	case 'C':
		op->reg.value = ZYDIS_REGISTER_CL;
		break;
	case 'i':
	case 'I':
	case 'T':
		op->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		op->imm.u = word[0] == 'i' ? 1 : word[0] == 'I' ? 0x40012345 : 0;
		break;
	default:
		memory(op, word[0], s);
	}
}

/* The width of memory: that of the register operand. */
static uint16_t memory_bytes(const char *operands)
{
	static const struct { char width; uint16_t bytes; } sizes[] = { { 'b', 1 }, { 'd', 4 }, { 'q', 8 }, { 'x', 16 },
									{ 'y', 32 }, { 'z', 64 } };

	for (const char *at = operands; *at; at++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			if (*at == sizes[i].width)
				return sizes[i].bytes;
	return 8;
}

/* One instance of an instruction. Instances that take the same register as source and destination have read ==
 * write. */
static size_t encode(const char *name, const char *operands, struct slots s, uint8_t *out)
{
	ZydisEncoderRequest request = { .machine_mode = ZYDIS_MACHINE_MODE_LONG_64, .mnemonic = mnemonic(name) };
	char words[40], *rest = words, *word;
	ZyanUSize size = ZYDIS_MAX_INSTRUCTION_LENGTH;

	snprintf(words, sizeof(words), "%s", operands);
	while ((word = strsep(&rest, " "))) {
		ZydisEncoderOperand *op = &request.operands[request.operand_count++];

		operand(op, word, s);
		if (word[0] == 'a') {
			operand(&request.operands[request.operand_count++], "I", s);
			break;
		}
		op->mem.size = op->type == ZYDIS_OPERAND_TYPE_MEMORY ? memory_bytes(operands) : 0;
	}
	if (strcmp(name, "jz") == 0)
		request.branch_width = ZYDIS_BRANCH_WIDTH_8;
	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, out, &size))) {
		fprintf(stderr, "own-silicon: cannot encode %s %s\n", name, operands);
		exit(99);
	}
	return size;
}

static void put(struct code *c, const char *name, const char *operands, struct slots s)
{
	uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];

	emit(c, bytes, encode(name, operands, s, bytes));
}

/* A function of a number of rounds and a block of memory that runs the instances between begin and end that often. */
struct kernel {
	struct code code;
	unsigned instances;
};

static const uint8_t prologue[] = {
	0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57,  /* push rbx, rbp, r12 to r15 */
	0x49, 0x89, 0xff, 0x49, 0x89, 0xf6,                          /* mov r15, rdi; mov r14, rsi */
	0xb9, 0x03, 0x00, 0x00, 0x00, 0x41, 0xbd, 0x03, 0x00, 0x00, 0x00, /* mov ecx, 3; mov r13d, 3 */
};
static const uint8_t epilogue[] = {
	0xc5, 0xf8, 0x77, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3, /* vzeroupper, pops, ret */
};

/* All destinations get what the chain starts from: an address that points to itself, or 64 behind it to zero. */
static void start_values(struct code *c, const struct spec *spec)
{
	bool self = spec->traits & AGEN;

	emit(c, prologue, sizeof(prologue));
	for (unsigned i = 0; i < GPRS; i++) {
		unsigned r = gprs[i];
		uint8_t lea[] = { (uint8_t)(0x49 | (r >> 3) << 2), 0x8d, (uint8_t)(0x46 | (r & 7) << 3),
				  self ? 0x00 : 0x40 };

		emit(c, lea, sizeof(lea));
	}
	for (unsigned i = 0; i < 16; i++) {
		/* vmovups ymm, [r14 + 128] or, of floats, + 160 */
		uint8_t load[] = { 0xc4, (uint8_t)(0x41 | (i < 8) << 7), 0x7c, 0x10, (uint8_t)(0x86 | (i & 7) << 3),
				   spec->traits & FLOAT ? 0xa0 : 0x80, 0, 0, 0 };

		emit(c, load, sizeof(load));
	}
	if (!strchr(spec->operands, 'y')) /* SSE code would keep the upper parts, at a price that is not its own */
		emit(c, epilogue, 3);
}

static void finish(struct code *c, const uint8_t *loop)
{
	uint8_t back[] = { 0x49, 0xff, 0xcf, 0x0f, 0x85, 0, 0, 0, 0 }; /* dec r15; jnz loop */
	int32_t distance;

	distance = (int32_t)(loop - (c->at + sizeof(back)));
	memcpy(back + 5, &distance, sizeof(distance));
	emit(c, back, sizeof(back));
	emit(c, epilogue, sizeof(epilogue));
}

static bool reads_own_result(const struct spec *spec)
{
	return !strchr(spec->operands, 'D');
}

/* Latency: each instance reads what the one before wrote. */
static void make_chain(struct kernel *k, const struct spec *spec)
{
	const uint8_t *loop;

	k->code.at = k->code.start;
	start_values(&k->code, spec);
	if (spec->via_operands && spec->via_operands[0] == 'a')
		put(&k->code, "xor", "Rd Rd", (struct slots){ 1, 1 }); /* edx of the division */
	loop = k->code.at;
	k->instances = 60;
	for (unsigned i = 0; i < k->instances; i++) {
		struct slots s = reads_own_result(spec) || spec->via || (spec->traits & POINTER) ?
			(struct slots){ 0, 0 } :
			(struct slots){ (i + 1) % 2, i % 2 };

		put(&k->code, spec->mnemonic, spec->operands, s);
		if (spec->via)
			put(&k->code, spec->via, spec->via_operands, s);
		if (spec->via_operands && spec->via_operands[0] == 'a')
			put(&k->code, "xor", "Rd Rd", (struct slots){ 1, 1 });
	}
	finish(&k->code, loop);
}

/* Throughput: instances that write different registers. What an instance only reads is never written; what it reads and
 * writes makes chains, which keep ports idle that a scheduler bound unluckily. So with cut, zero idioms end each chain
 * after some instances: they need no port, but a place among those that are issued, so it is the better of both that
 * counts. */
static void make_flow(struct kernel *k, const struct spec *spec, bool cut)
{
	char operands[40];
	const uint8_t *loop;
	bool chains = reads_own_result(spec);

	snprintf(operands, sizeof(operands), "%s", spec->operands);
	for (char *at = operands; *at; at++) {
		if (*at == 'P')
			*at = 'A';
		if (*at == 'R' && !chains)
			*at = 'S';
	}
	k->code.at = k->code.start;
	start_values(&k->code, spec);
	loop = k->code.at;
	k->instances = 132; /* a multiple of the numbers of registers */
	for (unsigned i = 0; i < k->instances; i++) {
		struct slots s = { i, i };

		if (spec->traits & FRESH) {
			put(&k->code, "mov", "Dd I", (struct slots){ 0, 0 });
			put(&k->code, "xor", "Rd Rd", (struct slots){ 1, 1 });
		} else if (cut && chains && i % 4 == 3) {
			bool vector = is_vector(operands[1]);

			put(&k->code, vector ? "vpxor" : "xor", vector ? "Dx Rx Rx" : "Rd Rd", s);
		}
		put(&k->code, spec->mnemonic, operands, s);
	}
	finish(&k->code, loop);
}

/* Timing. */

static double block[64] __attribute__((aligned(4096)));

static void fill_block(void)
{
	void *self = block;
	float *floats = (float *)(block + 20);

	memset(block, 0, sizeof(block));
	memcpy(block, &self, sizeof(self));
	for (unsigned i = 0; i < 4; i++)
		block[16 + i] = 1.0000000000017;
	for (unsigned i = 0; i < 8; i++)
		floats[i] = 1.0000004f;
}

static uint64_t run(const struct kernel *k, uint64_t rounds)
{
	void (*f)(uint64_t, void *) = (void (*)(uint64_t, void *))(uintptr_t)k->code.start;
	unsigned aux;
	uint64_t start;

	_mm_lfence();
	start = __rdtscp(&aux);
	_mm_lfence();
	f(rounds, block);
	return __rdtscp(&aux) - start;
}

/* The least ticks of some runs of a few and of many rounds: what it costs to call is in both. */
struct ticks { double few, many; };
enum { FEW = 5, MANY = 35 };

static void try(const struct kernel *k, struct ticks *t)
{
	t->few = fmin(t->few, (double)run(k, FEW));
	t->many = fmin(t->many, (double)run(k, MANY));
}

static double each(const struct kernel *k, struct ticks t)
{
	return (t.many - t.few) / (MANY - FEW) / k->instances;
}

/* Cycles an instance: the least by the least of the imul chain. A busy sibling thread halves the width of a core, and
 * only moments when it is idle show the core's own: so there are many short runs, until the least has long been the
 * least. */
static double measure(const struct kernel *k, const struct kernel *clock)
{
	struct ticks mine = { INFINITY, INFINITY }, three = mine;
	double best = INFINITY;

	for (unsigned total = 0, unchanged = 0; unchanged < UNCHANGED && total < RUNS; total++, unchanged++) {
		try(clock, &three);
		try(k, &mine);
		if (mine.many < best) {
			best = mine.many;
			unchanged = 0;
		}
	}
	return each(k, mine) / each(clock, three) * 3;
}

/* What the table says. */

static const struct gus_uarch_row *row_of(const struct gus_uarch *u, const char *name, const char *operands, char *text)
{
	uint8_t bytes[16];
	size_t size = encode(name, operands, (struct slots){ 0, 1 }, bytes);

	gus_insn_form_text(GUS_ISA_X86_64, bytes, size, text, GUS_INSN_FORM_MAX);
	return gus_uarch_row(u, gus_insn_form_hash(text, strlen(text)));
}

static double table_latency(const struct gus_uarch *u, const struct spec *spec, const struct gus_uarch_row *row)
{
	uint32_t centi = spec->traits & POINTER ? row->loadlat : row->latency;
	char text[GUS_INSN_FORM_MAX];

	if (spec->via) {
		const char *operands = spec->via_operands[0] == 'a' ? "a" : spec->via_operands;
		const struct gus_uarch_row *via = row_of(u, spec->via, operands, text);

		centi += via ? via->latency : 0;
	}
	return centi / 100.0;
}

static double table_throughput(const struct gus_uarch *u, const struct gus_uarch_row *row)
{
	double width = gus_uarch_value(u, "issue_width", 0), uops = row->fused ? row->fused : row->uops;

	return fmax(gus_uarch_throughput(u, row), width > 0 ? uops / width : 0);
}

static bool within(double table, double measured)
{
	/* What takes no time has no relative error; a fiftieth of a cycle is the noise of the difference of two
	 * runs. */
	return fabs(table - measured) <= fmax(0.05 * measured, 0.02);
}

static const char *host(void)
{
	unsigned a, b, c, d, words[4] = { 0 };
	struct gus_cpu_id id = { 0 };

	if (!__get_cpuid(0, &a, &words[0], &words[2], &words[1]) || !__get_cpuid(1, &a, &b, &c, &d))
		return NULL;
	id.vendor = (const char *)words;
	id.family = a >> 8 & 15;
	id.model = (a >> 4 & 15) | (a >> 12 & 0xf0);
	id.stepping = a & 15;
	if (id.family == 15)
		id.family += a >> 20 & 255;
	else if (id.family != 6)
		id.model &= 15;
	return gus_uarch_of_cpu(&id);
}

static struct kernel kernel(void)
{
	struct kernel k = { 0 };

	k.code.start = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (k.code.start == MAP_FAILED)
		die("cannot get a page that can be executed");
	return k;
}

static bool judge(const struct gus_uarch *u, const struct spec *spec, struct kernel *k, const struct kernel *clock)
{
	char text[GUS_INSN_FORM_MAX], latency[32] = "-", expected[32] = "-";
	const struct gus_uarch_row *row = row_of(u, spec->mnemonic, spec->operands, text);
	bool right = row != NULL;
	double flow;

	if (!(spec->traits & NO_CHAIN)) {
		double chain;

		make_chain(k, spec);
		chain = measure(k, clock);
		snprintf(latency, sizeof(latency), "%.2f", chain);
		if (row) {
			snprintf(expected, sizeof(expected), "%.2f", table_latency(u, spec, row));
			/* What is eliminated takes no time, but its place among those that are issued. */
			right = within(fmax(table_latency(u, spec, row), table_throughput(u, row)), chain);
		}
	}
	make_flow(k, spec, false);
	flow = measure(k, clock);
	make_flow(k, spec, true);
	flow = fmin(flow, measure(k, clock));
	if (row)
		right = right && within(table_throughput(u, row), flow);
	printf("%-34s %8s %8s %8.3f %8.3f  %s%s%s\n", text, latency, expected, flow, row ? table_throughput(u, row) :
	       NAN,
	       right ? "ok" : row ? "WRONG" : "NO ROW", spec->via ? " via " : "", spec->via ? spec->via : "");
	fflush(stdout);
	return right;
}

int main(int argc, char **argv)
{
	static const struct spec imul = { "imul", "Rq Sq", 0, NULL, NULL };
	const char *name = host();
	struct kernel k = kernel(), clock = kernel();
	struct gus_error err = { 0 };
	unsigned flags = 0, need = 55, right = 0;
	struct gus_uarch *u;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--plain") == 0)
			flags = GUS_UARCH_PLAIN;
		else if (strcmp(argv[i], "--uarch") == 0 && i + 1 < argc)
			name = argv[++i];
		else if (strcmp(argv[i], "--need") == 0 && i + 1 < argc)
			need = (unsigned)atoi(argv[++i]);
		else
			die("usage: own-silicon [--uarch NAME] [--plain] [--need N]");
	}
	if (name && strcmp(name, "host") == 0)
		name = host();
	if (!name || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
	    !__builtin_cpu_supports("bmi2")) {
		puts("skipped: this CPU has no table by its CPUID (name one with --uarch), or no AVX2, FMA and BMI2");
		return 77;
	}
	name = gus_uarch_builtin_find(name);
	u = name ? gus_uarch_parse(name, NULL, 0, &gus_uarch_builtin, flags, &err) : NULL;
	if (!u)
		die(name ? err.text : "there is no such table");
	fill_block();
	make_chain(&clock, &imul);
	printf("%-34s %8s %8s %8s %8s\n", name, "latency", "table", "cycles", "table");
	for (size_t i = 0; i < SPECS; i++)
		right += judge(u, &specs[i], &k, &clock);
	printf("%u of %zu forms within 5 %% (%u needed)\n", right, SPECS, need);
	gus_uarch_free(u);
	return right >= need ? 0 : 1;
}
#endif
