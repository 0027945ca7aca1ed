/* SPDX-License-Identifier: MIT */
#include "model/calibration/subject.h"

#include <string.h>

#include "model/calibration/host.h"
#include "model/calibration/links.h"
#include "model/calibration/pool.h"

enum { FAR = 1 << 30 }; /* bytes: bases are in registers that many off from where accesses go */

static unsigned memory_use(const struct gus_subject *s)
{
	return s->info.memory_count ? s->info.memory[0].use : 0;
}

bool gus_subject_loads(const struct gus_subject *s)
{
	return memory_use(s) & GUS_ACCESS_READ;
}

bool gus_subject_stores(const struct gus_subject *s)
{
	return memory_use(s) & GUS_ACCESS_WRITE;
}

/* What is not timed by classes, whatever else it is. */
static const char *const refused_classes[GUS_INSN_CLASSES] = {
	[GUS_INSN_OTHER] = "of no class that we know", [GUS_INSN_BAD] = "no instruction",
	[GUS_INSN_NOP] = "takes no port: the front end's",
	[GUS_INSN_BRANCH_COND] = "a branch", [GUS_INSN_BRANCH] = "a branch", [GUS_INSN_BRANCH_INDIRECT] = "a branch",
	[GUS_INSN_CALL] = "a branch", [GUS_INSN_CALL_INDIRECT] = "a branch", [GUS_INSN_RET] = "a branch",
	[GUS_INSN_GATHER] = "gathers by indexes that are not known",
	[GUS_INSN_SCATTER] = "scatters by indexes that are not known",
	[GUS_INSN_STRING] = "its time depends on counts and addresses", [GUS_INSN_MATRIX] = "needs a matrix set up",
	[GUS_INSN_ATOMIC] = "locked", [GUS_INSN_FENCE] = "a fence", [GUS_INSN_SYSTEM] = "of the system",
};

static const struct { uint32_t flag; const char *why; } refused_flags[] = {
	{ GUS_INSN_OUTSIDE, "leaves the program" }, { GUS_INSN_SERIALISING, "serialises" },
	{ GUS_INSN_REP, "repeats" }, { GUS_INSN_LOCK, "locked" }, { GUS_INSN_STACK, "moves the stack pointer" },
	{ GUS_INSN_X87, "of the x87 stack" }, { GUS_INSN_RIP_RELATIVE, "relative to the program counter" },
	{ GUS_INSN_NONTEMPORAL, "passes by the caches" }, { GUS_INSN_PREFETCH, "a hint" },
	{ GUS_INSN_ZERO_IDIOM, "a constant that needs no port" }, { GUS_INSN_ONES_IDIOM, "a constant" },
};

static const char *refused_by_kind(const struct gus_insn_info *info, const struct gus_calibration_host *host)
{
	if (refused_classes[info->class])
		return refused_classes[info->class];
	for (size_t i = 0; i < sizeof(refused_flags) / sizeof(*refused_flags); i++)
		if (info->flags & refused_flags[i].flag)
			return refused_flags[i].why;
	if (!info->form)
		return "without a form";
	if (info->memory_count > 1 || (info->memory_count && info->memory[0].segment))
		return "an address that is not a base's";
	if (info->memory_count && (info->memory[0].displacement > FAR || info->memory[0].displacement < -FAR))
		return "an address far from its base";
	if (host->isa == GUS_ISA_X86_64) {
		if ((info->flags & GUS_INSN_EVEX || info->vector_bits > 256 || info->class == GUS_INSN_MASK) &&
		    !host->avx512)
			return "the CPU has no AVX-512";
		if ((info->flags & GUS_INSN_VEX) && info->vector_bits && !host->avx2)
			return "the CPU has no AVX2";
		if (info->class == GUS_INSN_FP_FMA && !host->fma)
			return "the CPU has no FMA";
	}
	return NULL;
}

static bool is_flag(enum gus_isa isa, unsigned reg)
{
	return isa == GUS_ISA_ARM64 ? reg == GUS_A64_NZCV : reg >= GUS_X86_CF && reg <= GUS_X86_SZAP;
}

/* Puts operands apart, each into a register of the pool; or, where the form is about equal registers, those that were
 * equal into one. From the pool's end on, as what instructions imply (rax, cl, xmm0) is at its beginning; up: from
 * there on, as some forms are of the first registers only. */
static bool put_apart(struct gus_subject *s, const struct gus_pool *pool, bool tied, bool up)
{
	const uint8_t *const regs[] = { NULL, pool->general, pool->vector, pool->mask };
	const unsigned most[] = { 0, pool->general_n, pool->vector_n, pool->mask_n };
	uint8_t to[GUS_INSN_OPERANDS] = { 0 }, out[GUS_INSN_BYTES];
	unsigned next[] = { 0, 0, 0, 0 };
	size_t size;

	for (unsigned i = 0; i < s->operands; i++) {
		unsigned file = s->operand[i].file;

		if (file && tied && s->like[i] < i) {
			to[i] = to[s->like[i]];
		} else if (file) {
			if (next[file] == most[file])
				return false;
			to[i] = regs[file][up ? next[file] : most[file] - 1 - next[file]];
			next[file]++;
		}
	}
	size = gus_insn_renamed(s->isa, s->bytes, s->size, to, out);
	if (!size)
		return false;
	memcpy(s->bytes, out, size);
	s->size = (uint32_t)size;
	s->tied = tied;
	gus_insn_analyse(s->isa, s->bytes, s->size, &s->info);
	s->operands = gus_insn_operands(s->isa, s->bytes, s->size, s->operand);
	return true;
}

static void add_end(struct gus_subject *s, const struct gus_subject_end *end)
{
	if (s->ends < GUS_SUBJECT_ENDS)
		s->end[s->ends++] = *end;
}

static void add_operands(struct gus_subject *s)
{
	bool base = true;

	for (unsigned i = 0; i < s->operands; i++) {
		const struct gus_insn_operand *o = &s->operand[i];
		struct gus_subject_end e = {
			.operand = (int)i, .reg = o->reg, .carrier = o->file, .bits = o->bits,
			.read = o->use & GUS_ACCESS_READ, .write = o->use & GUS_ACCESS_WRITE };

		if (s->tied && s->like[i] < i)
			continue;
		if (o->use & GUS_ACCESS_ADDRESS) {
			e.carrier = GUS_CARRIER_ADDRESS;
			e.base = base && o->reg == s->info.memory[0].base;
			base &= !e.base;
		}
		add_end(s, &e);
	}
}

/* What is neither an operand nor known by a carrier is in the way if it is written: the stack pointer, segments, the
 * control of rounding. What is only read of those (the mode of rounding) never changes. */
static const char *add_implied(struct gus_subject *s, const struct gus_pool *pool)
{
	for (unsigned i = 0; i < s->info.access_count; i++) {
		const struct gus_insn_access *a = &s->info.access[i];
		struct gus_subject_end e = {
			.operand = -1, .reg = a->reg, .bits = a->bits, .carrier = gus_insn_file(s->isa, a->reg),
			.read = a->use & GUS_ACCESS_READ, .write = a->use & GUS_ACCESS_WRITE };
		bool operand = false;

		for (unsigned o = 0; o < s->operands; o++)
			operand |= s->operand[o].reg == a->reg;
		if (operand)
			continue;
		if (a->use & GUS_ACCESS_ADDRESS)
			return "an address that it implies";
		if (is_flag(s->isa, a->reg))
			e.carrier = GUS_CARRIER_FLAGS;
		else if (gus_pool_find(pool, a->reg) < 0 && !(a->use & GUS_ACCESS_WRITE))
			continue;
		else if (gus_pool_find(pool, a->reg) < 0)
			return "writes a register that is not ours to write";
		add_end(s, &e);
	}
	return NULL;
}

/* bt, bts, btr and btc with memory and a register: the bit's number moves the address by up to 2^60 bytes. */
static bool is_bit_of_memory(const struct gus_subject *s)
{
	return s->isa == GUS_ISA_X86_64 && strncmp(s->form, "BT", 2) == 0 && strstr(s->form, "(M") &&
		strstr(s->form, ", R");
}

static const char *refuse_operands(const struct gus_subject *s)
{
	if (is_bit_of_memory(s))
		return "an address that depends on an operand";
	for (unsigned i = 0; i < s->operands; i++) {
		const struct gus_insn_operand *o = &s->operand[i];

		if (!o->file)
			return "an operand that cannot be another register";
		if ((o->use & GUS_ACCESS_ADDRESS) && ((o->use & GUS_ACCESS_WRITE) || o->file != GUS_INSN_FILE_GENERAL))
			return "an address that changes";
		if ((o->use & GUS_ACCESS_ADDRESS) && o->bits < 64) /* the arena is above 4 GiB */
			return "an address of 32 bits";
	}
	if (s->info.memory_count && s->info.memory[0].use && !s->info.memory[0].base)
		return "an address that is not a base's";
	return NULL;
}

void gus_subject_of(struct gus_subject *s, const struct gus_calibration_host *host, const struct gus_pool *pool,
		    const uint8_t *bytes, uint32_t size)
{
	*s = (struct gus_subject){ .isa = host->isa };
	gus_insn_analyse(s->isa, bytes, size, &s->info);
	gus_insn_form_text(s->isa, bytes, size, s->form, sizeof(s->form));
	if (s->info.length > sizeof(s->bytes) || s->info.length > size) {
		s->refused = "no instruction";
		return;
	}
	memcpy(s->bytes, bytes, s->info.length);
	s->size = s->info.length;
	s->refused = refused_by_kind(&s->info, host);
	if (s->refused)
		return;
	s->operands = gus_insn_operands(s->isa, s->bytes, s->size, s->operand);
	for (unsigned i = 0; i < s->operands; i++)
		while (s->operand[s->like[i]].reg != s->operand[i].reg)
			s->like[i]++;
	s->refused = refuse_operands(s);
	if (!s->refused && !put_apart(s, pool, false, false) && !put_apart(s, pool, false, true) &&
	    !put_apart(s, pool, true, false) && !put_apart(s, pool, true, true))
		s->refused = "its form has no other registers";
	if (s->refused)
		return;
	add_operands(s);
	s->refused = add_implied(s, pool);
}
