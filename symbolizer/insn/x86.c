/* SPDX-License-Identifier: MIT */
/* What an x86 instruction does, from what Zydis decodes: a list of accesses over our registers, memory operands,
 * class and facts. Where Zydis is silent or says less than the architecture (partial writes, flags that shifts may
 * leave alone), the rule stands here with its reason. */
#include "symbolizer/insn/x86.h"

#include <stdio.h>
#include <string.h>

#include "symbolizer/insn/private.h"

#define COND (GUS_ACCESS_READ | GUS_ACCESS_WRITE | GUS_ACCESS_CONDITIONAL)

#define RANGE(from, to, bits_, first_, kind_) \
	[ZYDIS_REGISTER_##from ... ZYDIS_REGISTER_##to] = { \
		ZYDIS_REGISTER_##from, bits_, GUS_X86_##first_, GUS_X86_KIND_##kind_ }

const struct gus_x86_register gus_x86_registers[ZYDIS_REGISTER_MAX_VALUE + 1] = {
	RANGE(AL, BL, 8, RAX, R8L),
	RANGE(AH, BH, 8, RAX, R8H),
	RANGE(SPL, R15B, 8, RSP, R8L),
	RANGE(AX, R15W, 16, RAX, R16),
	RANGE(EAX, R15D, 32, RAX, R32),
	RANGE(RAX, R15, 64, RAX, R64),
	RANGE(ST0, ST7, 80, ST0, ST),
	RANGE(X87CONTROL, X87CONTROL, 16, FPCW, OTHER),
	RANGE(X87STATUS, X87STATUS, 16, FPSW, OTHER),
	RANGE(X87TAG, X87TAG, 16, FPSW, OTHER),
	RANGE(MM0, MM7, 64, MM0, MM),
	RANGE(XMM0, XMM31, 128, V0, XMM),
	RANGE(YMM0, YMM31, 256, V0, YMM),
	RANGE(ZMM0, ZMM31, 512, V0, ZMM),
	RANGE(TMM0, TMM7, 8192, TMM0, TMM),
	RANGE(FLAGS, RFLAGS, 64, NONE, FLAGS),
	RANGE(IP, IP, 16, RIP, IP),
	RANGE(EIP, EIP, 32, RIP, IP),
	RANGE(RIP, RIP, 64, RIP, IP),
	RANGE(ES, GS, 16, ES, SEG),
	RANGE(GDTR, TR7, 64, SYSTEM, OTHER),
	RANGE(CR0, CR15, 64, SYSTEM, CR),
	RANGE(DR0, DR15, 64, SYSTEM, DR),
	RANGE(K0, K7, 64, K0, K),
	RANGE(BND0, BND3, 128, BND0, BND),
	RANGE(BNDCFG, BNDSTATUS, 64, SYSTEM, OTHER),
	RANGE(MXCSR, MXCSR, 32, MXCSR, OTHER),
	RANGE(PKRU, XCR0, 64, SYSTEM, OTHER),
	RANGE(UIF, UIF, 1, SYSTEM, OTHER),
};

void gus_x86_decoder_init(ZydisDecoder *decoder, bool wide)
{
	ZydisDecoderInit(decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

int gus_x86_decode(const ZydisDecoder *decoder, const void *bytes, size_t size, struct gus_x86 *x)
{
	ZydisDecoderContext context;
	ZyanStatus status;

	x->name = NULL;
	/* Zydis leaves alone what is beyond the last operand, and some rules look at the first two regardless. */
	x->operands[0].type = x->operands[1].type = ZYDIS_OPERAND_TYPE_UNUSED;
	x->operands[0].encoding = x->operands[1].encoding = ZYDIS_OPERAND_ENCODING_NONE;
	status = ZydisDecoderDecodeInstruction(decoder, &context, bytes, size, &x->insn);
	if (status == ZYDIS_STATUS_NO_MORE_DATA)
		return 0;
	if (ZYAN_SUCCESS(status))
		status = ZydisDecoderDecodeOperands(decoder, &context, &x->insn, x->operands, x->insn.operand_count);
	if (!ZYAN_SUCCESS(status))
		return gus_x86_supplement(decoder, bytes, size, x);
	/* Knights Corner had its own instructions in VEX's clothes, which no CPU of ours has. */
	if (x->insn.meta.isa_ext >= ZYDIS_ISA_EXT_KNC && x->insn.meta.isa_ext <= ZYDIS_ISA_EXT_KNCV)
		return -1;
	x->mnemonic = gus_x86_mnemonics[x->insn.mnemonic];
	return x->insn.length;
}

/* One entry a register, but for those that only form addresses: `add rax, [rax]` has two of rax. */
static void add_access(struct gus_insn_info *info, unsigned reg, unsigned use, unsigned bits)
{
	const unsigned apart = GUS_ACCESS_ADDRESS | GUS_ACCESS_HIGH;

	if (!reg)
		return;
	for (unsigned i = 0; i < info->access_count; i++) {
		struct gus_insn_access *a = &info->access[i];

		if (a->reg == reg && !((a->use ^ use) & apart)) {
			a->use = (uint8_t)((a->use | use) & ~(~(a->use & use) & GUS_ACCESS_IMPLICIT));
			if (bits > a->bits)
				a->bits = (uint16_t)bits;
			return;
		}
	}
	if (info->access_count < GUS_INSN_ACCESSES)
		info->access[info->access_count++] = (struct gus_insn_access){
			(uint8_t)reg, (uint8_t)use, (uint16_t)bits };
}

static bool is_string(const struct gus_x86 *x)
{
	return x->insn.meta.category == ZYDIS_CATEGORY_STRINGOP || x->insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

static bool repeats(const struct gus_x86 *x)
{
	return x->insn.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static unsigned use_of(const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	unsigned use = 0;

	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		use |= GUS_ACCESS_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		use |= GUS_ACCESS_WRITE;
	if (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		use |= GUS_ACCESS_CONDITIONAL;
	if (is_string(x) && !repeats(x))
		use &= ~(unsigned)GUS_ACCESS_CONDITIONAL;
	if (op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
		use |= GUS_ACCESS_IMPLICIT;
	return use;
}

/* The legacy scalar instructions of which Zydis says that they write the low element only; loads of movss and movsd
 * zero the rest. */
static bool writes_low(const struct gus_x86 *x)
{
	if (!(x->mnemonic.traits & GUS_X86_LOW))
		return false;
	if (x->insn.mnemonic == ZYDIS_MNEMONIC_MOVSS || x->insn.mnemonic == ZYDIS_MNEMONIC_MOVSD)
		return x->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	return true;
}

static void add_register(struct gus_insn_info *info, const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	const struct gus_x86_register *r = &gus_x86_registers[op->reg.value];
	unsigned use = use_of(x, op), bits = r->bits;

	if (r->kind == GUS_X86_KIND_FLAGS || r->kind == GUS_X86_KIND_IP)
		return;
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0)
		return;
	/* Comparisons into a mask register zero what they leave out; Zydis says that the FP16 ones merge. */
	if (r->kind == GUS_X86_KIND_K && op == x->operands && x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		use = GUS_ACCESS_WRITE;
	if (use & GUS_ACCESS_CONDITIONAL)
		use |= GUS_ACCESS_READ;
	/* The destination stays when the source is zero: documented by one vendor, done by both. */
	if ((x->insn.mnemonic == ZYDIS_MNEMONIC_BSF || x->insn.mnemonic == ZYDIS_MNEMONIC_BSR) && op == x->operands)
		use |= COND;
	if (r->kind >= GUS_X86_KIND_XMM && r->kind <= GUS_X86_KIND_ZMM && op->size && op->size < bits)
		bits = op->size;
	if (use & GUS_ACCESS_WRITE) {
		if (r->kind <= GUS_X86_KIND_R16 && r->kind != GUS_X86_KIND_OTHER)
			use |= GUS_ACCESS_KEEP;
		if (r->kind == GUS_X86_KIND_XMM && writes_low(x))
			use |= GUS_ACCESS_KEEP | GUS_ACCESS_READ;
	}
	if (r->kind == GUS_X86_KIND_R8H)
		use |= GUS_ACCESS_HIGH;
	add_access(info, gus_x86_reg(op->reg.value), use, bits);
	if (r->kind >= GUS_X86_KIND_MM && r->kind <= GUS_X86_KIND_ZMM && r->bits > info->vector_bits)
		info->vector_bits = r->bits;
}

/* As many elements as both the data and the index register hold. */
static unsigned gather_elements(const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	const char *name = ZydisMnemonicGetString(x->insn.mnemonic);
	const char *letter = strstr(name, "gather");
	unsigned indexes, data = 0;

	letter = letter ? letter : strstr(name, "scatter");
	if (!letter)
		return 1;
	letter = strchr(letter, 'r') + 1;
	if (!strncmp(letter, "pf", 2))
		letter += 3;
	indexes = gus_x86_registers[op->mem.index].bits / (*letter == 'd' ? 32 : 64);
	for (unsigned i = 0; i < x->insn.operand_count_visible; i++) {
		enum gus_x86_kind kind = gus_x86_kind(&x->operands[i]);

		if (kind >= GUS_X86_KIND_XMM && kind <= GUS_X86_KIND_ZMM && op->size)
			data = gus_x86_registers[x->operands[i].reg.value].bits / op->size;
	}
	return data && data < indexes ? data : indexes;
}

static void add_address(struct gus_insn_info *info, ZydisRegister reg, unsigned implicit)
{
	const struct gus_x86_register *r = &gus_x86_registers[reg];

	if (r->kind != GUS_X86_KIND_IP)
		add_access(info, gus_x86_reg(reg), GUS_ACCESS_READ | GUS_ACCESS_ADDRESS | implicit, r->bits);
	else
		info->flags |= GUS_INSN_RIP_RELATIVE;
}

static void add_memory(struct gus_insn_info *info, const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	struct gus_insn_memory m = { .elements = 1 };
	unsigned implicit = op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ? 0 : GUS_ACCESS_IMPLICIT;

	add_address(info, op->mem.base, implicit);
	add_address(info, op->mem.index, implicit);
	if (info->memory_count == GUS_INSN_MEMORIES)
		return;
	m.base = (uint8_t)gus_x86_reg(op->mem.base);
	m.index = (uint8_t)gus_x86_reg(op->mem.index);
	if (m.index)
		m.scale = op->mem.scale;
	m.displacement = op->mem.disp.value;
	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS) {
		m.segment = (uint8_t)gus_x86_reg(op->mem.segment);
		add_access(info, m.segment, GUS_ACCESS_READ | GUS_ACCESS_ADDRESS, 16);
	}
	if (op->mem.type == ZYDIS_MEMOP_TYPE_MEM || op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		m.use = (uint8_t)use_of(x, op);
		m.bits = op->size;
		if (((op->actions & ZYDIS_OPERAND_ACTION_CONDREAD) && (!is_string(x) || repeats(x))) ||
		    (x->insn.avx.mask.reg > ZYDIS_REGISTER_K0 && op->mem.type == ZYDIS_MEMOP_TYPE_MEM))
			m.use |= GUS_ACCESS_CONDITIONAL;
	}
	if (x->insn.meta.category == ZYDIS_CATEGORY_PREFETCH) {
		info->flags |= GUS_INSN_PREFETCH;
		m.bits = 512;
	}
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		m.elements = (uint8_t)gather_elements(x, op);
		m.bits *= m.elements;
		m.use |= GUS_ACCESS_GATHER | GUS_ACCESS_CONDITIONAL;
	}
	info->memory[info->memory_count++] = m;
}

/* Whether a shift or rotate by an immediate moves nothing, so that the flags stay. */
static bool is_shift_by_zero(const struct gus_x86 *x)
{
	unsigned n = x->insn.operand_count_visible;
	const ZydisDecodedOperand *count = &x->operands[n ? n - 1 : 0];

	if (x->mnemonic.class != GUS_INSN_SHIFT || !n || count->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	switch (x->insn.mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
		return false;
	default:
		return !(count->imm.value.u & (x->insn.operand_width == 64 ? 63 : 31));
	}
}

/* Flags come in four parts that CPUs rename apart. What the manual calls undefined is written by all CPUs we know. */
static void add_flags(struct gus_insn_info *info, const struct gus_x86 *x)
{
	static const struct { uint32_t mask; uint8_t reg; } groups[] = {
		{ ZYDIS_CPUFLAG_CF, GUS_X86_CF },
		{ ZYDIS_CPUFLAG_OF, GUS_X86_OF },
		{ ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_PF, GUS_X86_SZAP },
		{ ZYDIS_CPUFLAG_DF, GUS_X86_DF },
		{ ZYDIS_CPUFLAG_TF | ZYDIS_CPUFLAG_IF | ZYDIS_CPUFLAG_IOPL | ZYDIS_CPUFLAG_NT | ZYDIS_CPUFLAG_RF |
		  ZYDIS_CPUFLAG_VM | ZYDIS_CPUFLAG_AC | ZYDIS_CPUFLAG_VIF | ZYDIS_CPUFLAG_VIP | ZYDIS_CPUFLAG_ID,
		  GUS_X86_SYSFLAGS },
	};
	const ZydisAccessedFlags *flags = x->insn.cpu_flags;
	uint32_t written;
	unsigned conditional = 0;

	if (!flags)
		return;
	written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
	if (!(written | flags->tested))
		return;
	if (is_shift_by_zero(x))
		written = 0;
	for (unsigned i = x->insn.operand_count_visible; i < x->insn.operand_count; i++)
		if (gus_x86_kind(&x->operands[i]) == GUS_X86_KIND_FLAGS &&
		    (x->operands[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE))
			conditional = COND;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		unsigned use = 0;

		if (flags->tested & groups[i].mask)
			use |= GUS_ACCESS_READ;
		if (written & groups[i].mask)
			use |= GUS_ACCESS_WRITE | conditional;
		if ((use & GUS_ACCESS_WRITE) && groups[i].reg == GUS_X86_SZAP &&
		    (written & groups[i].mask) != groups[i].mask)
			use |= GUS_ACCESS_KEEP;
		if (use)
			add_access(info, groups[i].reg, use | GUS_ACCESS_IMPLICIT, 1);
	}
}

/* String instructions step their pointers; Zydis says so of some of them only. */
static void add_pointer(struct gus_insn_info *info, const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	unsigned use = GUS_ACCESS_READ | GUS_ACCESS_WRITE | GUS_ACCESS_IMPLICIT;

	if (!is_string(x))
		return;
	if (repeats(x))
		use |= GUS_ACCESS_CONDITIONAL;
	add_access(info, gus_x86_reg(op->mem.base), use, gus_x86_registers[op->mem.base].bits);
}

/* What Zydis has no operands for. Of vzeroupper we list none either: nothing can wait for it. */
static void add_missing(struct gus_insn_info *info, const struct gus_x86 *x)
{
	switch (x->insn.mnemonic) {
	case ZYDIS_MNEMONIC_VZEROALL:
		for (unsigned i = 0; i < 16; i++)
			add_access(info, GUS_X86_V0 + i, GUS_ACCESS_WRITE | GUS_ACCESS_IMPLICIT, 512);
		break;
	case ZYDIS_MNEMONIC_VP2INTERSECTD:
	case ZYDIS_MNEMONIC_VP2INTERSECTQ:
		/* Two masks, of an even number and the next, by whichever of them is encoded. */
		for (unsigned i = 0; i < 2; i++)
			add_access(info, (gus_x86_reg(x->operands[0].reg.value) - GUS_X86_K0) / 2 * 2 + i + GUS_X86_K0,
				   GUS_ACCESS_WRITE, 64);
		break;
	case ZYDIS_MNEMONIC_XLAT:
		add_access(info, GUS_X86_RAX, GUS_ACCESS_READ | GUS_ACCESS_ADDRESS | GUS_ACCESS_IMPLICIT, 8);
		break;
	case ZYDIS_MNEMONIC_FNSTSW:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FNSAVE:
		add_access(info, GUS_X86_FPSW, GUS_ACCESS_READ | GUS_ACCESS_IMPLICIT, 16);
		break;
	case ZYDIS_MNEMONIC_FNSTCW:
		add_access(info, GUS_X86_FPCW, GUS_ACCESS_READ | GUS_ACCESS_IMPLICIT, 16);
		break;
	case ZYDIS_MNEMONIC_FLDCW:
		add_access(info, GUS_X86_FPCW, GUS_ACCESS_WRITE | GUS_ACCESS_IMPLICIT, 16);
		break;
	default:
		break;
	}
}

static void add_operands(struct gus_insn_info *info, const struct gus_x86 *x)
{
	for (unsigned i = 0; i < x->insn.operand_count; i++) {
		const ZydisDecodedOperand *op = &x->operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(info, x, op);
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			add_memory(info, x, op);
			add_pointer(info, x, op);
		}
	}
	add_flags(info, x);
	add_missing(info, x);
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].use & GUS_ACCESS_CONDITIONAL)
			info->flags |= GUS_INSN_CONDITIONAL;
	for (unsigned i = 0; i < info->memory_count; i++)
		if (info->memory[i].use & GUS_ACCESS_CONDITIONAL)
			info->flags |= GUS_INSN_CONDITIONAL;
}

static void set_immediate(struct gus_insn_info *info, const struct gus_x86 *x)
{
	for (unsigned i = 0; i < x->insn.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &x->operands[i];

		if (op->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		info->immediate = op->imm.value.s;
		info->immediate_bits = x->insn.raw.imm[0].size;
		if (info->immediate_bits)
			info->flags |= GUS_INSN_IMMEDIATE;
		break;
	}
	/* The pre-decoder guesses the length before it knows that 66h shortened the immediate. */
	if ((x->insn.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && info->immediate_bits == 16 &&
	    x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && x->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE)
		info->flags |= GUS_INSN_LCP;
	if ((x->insn.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE) && x->insn.operand_count_visible &&
	    (x->operands[0].encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64 ||
	     x->operands[1].encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64))
		info->flags |= GUS_INSN_LCP;
}

static unsigned memory_use(const struct gus_insn_info *info)
{
	unsigned use = 0;

	for (unsigned i = 0; i < info->memory_count; i++)
		use |= info->memory[i].use;
	return use;
}

static bool has_kind(const struct gus_x86 *x, enum gus_x86_kind from, enum gus_x86_kind to)
{
	for (unsigned i = 0; i < x->insn.operand_count_visible; i++)
		if (gus_x86_kind(&x->operands[i]) >= from && gus_x86_kind(&x->operands[i]) <= to)
			return true;
	return false;
}

/* The class of the mnemonic is that of its register form; moves turn into loads and stores, and so on. */
static enum gus_insn_class class_of(const struct gus_insn_info *info, const struct gus_x86 *x)
{
	enum gus_insn_class class = x->mnemonic.class;
	unsigned use = memory_use(info);
	bool direct = x->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (info->flags & GUS_INSN_LOCK)
		return GUS_INSN_ATOMIC;
	if (x->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return GUS_INSN_SYSTEM;
	switch (class) {
	case GUS_INSN_BRANCH:
		return direct ? class : GUS_INSN_BRANCH_INDIRECT;
	case GUS_INSN_CALL:
		return direct ? class : GUS_INSN_CALL_INDIRECT;
	case GUS_INSN_MOV:
		if (has_kind(x, GUS_X86_KIND_SEG, GUS_X86_KIND_DR))
			return GUS_INSN_SYSTEM;
		if (use & GUS_ACCESS_WRITE)
			return GUS_INSN_STORE;
		return (use & GUS_ACCESS_READ) && x->insn.meta.category != ZYDIS_CATEGORY_CMOV ? GUS_INSN_LOAD : class;
	case GUS_INSN_VEC_MOV:
	case GUS_INSN_MASK:
		if (use & GUS_ACCESS_WRITE)
			return GUS_INSN_STORE;
		if ((use & GUS_ACCESS_READ) && (x->mnemonic.traits & GUS_X86_LOW) && writes_low(x))
			return GUS_INSN_SHUFFLE;
		return use & GUS_ACCESS_READ ? GUS_INSN_LOAD : class;
	case GUS_INSN_SHUFFLE:
		if ((use & GUS_ACCESS_READ) && x->insn.meta.category == ZYDIS_CATEGORY_BROADCAST)
			return GUS_INSN_LOAD;
		return class;
	case GUS_INSN_LOAD:
	case GUS_INSN_STORE:
		return x->insn.meta.category == ZYDIS_CATEGORY_X87_ALU && !use ? GUS_INSN_FP_OTHER : class;
	default:
		return class;
	}
}

static bool is_move(const struct gus_insn_info *info, const struct gus_x86 *x)
{
	enum gus_x86_kind to = gus_x86_kind(&x->operands[0]), from;

	if (!(x->mnemonic.traits & GUS_X86_MOVE) || x->insn.operand_count_visible < 2 || info->memory_count ||
	    (info->flags & GUS_INSN_MASKED))
		return false;
	from = gus_x86_kind(&x->operands[x->insn.operand_count_visible - 1]);
	if (x->insn.mnemonic == ZYDIS_MNEMONIC_MOVZX)
		return from == GUS_X86_KIND_R8L && to >= GUS_X86_KIND_R32;
	return from == to && (to == GUS_X86_KIND_R32 || to == GUS_X86_KIND_R64 ||
			      (to >= GUS_X86_KIND_XMM && to <= GUS_X86_KIND_ZMM));
}

static void set_idioms(struct gus_insn_info *info, const struct gus_x86 *x)
{
	unsigned traits = x->mnemonic.traits;
	bool whole = !(info->flags & GUS_INSN_MASKED);

	if (gus_x86_same_registers(x)) {
		info->flags |= GUS_INSN_SAME_REGS;
		if ((traits & GUS_X86_ZERO) && whole)
			info->flags |= GUS_INSN_ZERO_IDIOM;
		if ((traits & GUS_X86_ONES) && whole)
			info->flags |= GUS_INSN_ONES_IDIOM;
	}
	if ((x->insn.mnemonic == ZYDIS_MNEMONIC_VPTERNLOGD || x->insn.mnemonic == ZYDIS_MNEMONIC_VPTERNLOGQ) && whole &&
	    (info->immediate & 0xff) == 0xff)
		info->flags |= GUS_INSN_ONES_IDIOM;
	if (is_move(info, x))
		info->flags |= GUS_INSN_MOVE | (x->insn.mnemonic == ZYDIS_MNEMONIC_MOVZX ? GUS_INSN_EXTEND : 0);
}

static bool is_serialising(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SERIALIZE:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_WRMSR:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_WBINVD:
		return true;
	default:
		return false;
	}
}

static void set_facts(struct gus_insn_info *info, const struct gus_x86 *x)
{
	uint64_t attributes = x->insn.attributes;
	uint32_t flags = 0;

	if ((attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
	    (x->insn.mnemonic == ZYDIS_MNEMONIC_XCHG && info->memory_count))
		flags |= GUS_INSN_LOCK;
	if (repeats(x))
		flags |= GUS_INSN_REP;
	if (x->insn.avx.mask.reg > ZYDIS_REGISTER_K0)
		flags |= GUS_INSN_MASKED;
	if (x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		flags |= GUS_INSN_EVEX;
		if (x->insn.raw.evex.z)
			flags |= GUS_INSN_ZEROING;
	} else if (x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		flags |= GUS_INSN_VEX;
	else if (info->vector_bits)
		flags |= GUS_INSN_LEGACY_VECTOR;
	if (x->insn.avx.broadcast.mode && !x->insn.avx.broadcast.is_static)
		flags |= GUS_INSN_BROADCAST;
	if (x->insn.avx.has_sae)
		flags |= GUS_INSN_ROUNDING;
	if (x->mnemonic.traits & GUS_X86_NT)
		flags |= GUS_INSN_NONTEMPORAL;
	if (is_serialising(x->insn.mnemonic))
		flags |= GUS_INSN_SERIALISING;
	if (x->insn.mnemonic == ZYDIS_MNEMONIC_POP && x->insn.opcode == 0x5c)
		flags |= GUS_INSN_POP_5C;
	if ((x->mnemonic.traits & GUS_X86_OUTSIDE) || has_kind(x, GUS_X86_KIND_CR, GUS_X86_KIND_DR))
		flags |= GUS_INSN_OUTSIDE;
	if (x->insn.meta.category == ZYDIS_CATEGORY_PUSH || x->insn.meta.category == ZYDIS_CATEGORY_POP ||
	    x->mnemonic.class == GUS_INSN_CALL || x->mnemonic.class == GUS_INSN_RET)
		flags |= GUS_INSN_STACK;
	if (x->insn.meta.category == ZYDIS_CATEGORY_X87_ALU || x->insn.meta.category == ZYDIS_CATEGORY_FCMOV)
		flags |= GUS_INSN_X87;
	if (x->name)
		flags |= GUS_INSN_SUPPLEMENT;
	info->flags |= flags;
}

static enum gus_fuse_second fuse_second(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JB:
	case ZYDIS_MNEMONIC_JNB:
		return GUS_FUSE_CARRY;
	case ZYDIS_MNEMONIC_JBE:
	case ZYDIS_MNEMONIC_JNBE:
		return GUS_FUSE_CARRY_ZERO;
	case ZYDIS_MNEMONIC_JZ:
	case ZYDIS_MNEMONIC_JNZ:
		return GUS_FUSE_ZERO;
	case ZYDIS_MNEMONIC_JL:
	case ZYDIS_MNEMONIC_JNL:
	case ZYDIS_MNEMONIC_JLE:
	case ZYDIS_MNEMONIC_JNLE:
		return GUS_FUSE_SIGNED;
	case ZYDIS_MNEMONIC_JS:
	case ZYDIS_MNEMONIC_JNS:
	case ZYDIS_MNEMONIC_JO:
	case ZYDIS_MNEMONIC_JNO:
	case ZYDIS_MNEMONIC_JP:
	case ZYDIS_MNEMONIC_JNP:
		return GUS_FUSE_ONE_FLAG;
	default:
		return GUS_FUSE_SECOND_NONE;
	}
}

static unsigned opcode_length(const ZydisDecodedInstruction *insn)
{
	if (insn->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return insn->raw.modrm.offset;
	if (insn->raw.disp.size)
		return insn->raw.disp.offset;
	if (insn->raw.imm[0].size)
		return insn->raw.imm[0].offset;
	return insn->length;
}

void gus_x86_analyse(const struct gus_x86 *x, struct gus_insn_info *info)
{
	char form[GUS_INSN_FORM_MAX];

	memset(info, 0, sizeof(*info));
	info->length = x->insn.length;
	info->opcode_length = (uint8_t)opcode_length(&x->insn);
	set_immediate(info, x);
	/* The long nop has an address that nobody forms. */
	if (x->mnemonic.class != GUS_INSN_NOP)
		add_operands(info, x);
	set_facts(info, x);
	set_idioms(info, x);
	info->class = (uint8_t)class_of(info, x);
	if (!(memory_use(info) & GUS_ACCESS_WRITE))
		info->fuse_first = x->mnemonic.fuse;
	info->fuse_second = (uint8_t)fuse_second(x->insn.mnemonic);
	info->form = gus_insn_form_hash(form, gus_x86_form(x, form));
}

/* Setting up a decoder fills a small structure: a fraction of what one instruction costs, and it spares a context
 * that callers would have to carry. */
size_t gus_insn_x86_analyse(bool wide, const void *bytes, size_t size, struct gus_insn_info *info)
{
	ZydisDecoder decoder;
	struct gus_x86 x;
	int length;

	gus_x86_decoder_init(&decoder, wide);
	length = gus_x86_decode(&decoder, bytes, size, &x);
	if (length < 0)
		return gus_insn_bad_info(info, 1);
	if (length)
		gus_x86_analyse(&x, info);
	else
		memset(info, 0, sizeof(*info));
	return (size_t)length;
}

size_t gus_insn_x86_form_text(bool wide, const void *bytes, size_t size, char *out, size_t room)
{
	ZydisDecoder decoder;
	struct gus_x86 x;
	char form[GUS_INSN_FORM_MAX];
	size_t n = 0, copied;

	gus_x86_decoder_init(&decoder, wide);
	if (gus_x86_decode(&decoder, bytes, size, &x) > 0)
		n = gus_x86_form(&x, form);
	if (room) {
		copied = n < room ? n : room - 1;
		memcpy(out, form, copied);
		out[copied] = 0;
	}
	return n;
}

/* Puts the supplement's name in place of the look-alike's, which is the first or, after prefixes, a later word. */
static void rename_text(char *text, size_t room, const char *from, const char *to)
{
	char copy[96];
	const char *at = strstr(text, from);

	if (!at || strlen(text) >= sizeof(copy))
		return;
	memcpy(copy, text, strlen(text) + 1);
	snprintf(text, room, "%.*s%s%s", (int)(at - text), copy, to, copy + (at - text) + strlen(from));
}

size_t gus_insn_x86_decode(bool wide, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn)
{
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	struct gus_x86 x;
	ZyanStatus status;
	int length;

	gus_x86_decoder_init(&decoder, wide);
	length = gus_x86_decode(&decoder, bytes, size, &x);
	if (!length)
		return 0;
	if (length < 0)
		return gus_insn_bad_text(insn, 1);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	status = ZydisFormatterFormatInstruction(&formatter, &x.insn, x.operands, x.insn.operand_count_visible,
						 insn->text, sizeof(insn->text), address, ZYAN_NULL);
	if (!ZYAN_SUCCESS(status))
		return gus_insn_bad_text(insn, (size_t)length);
	if (x.name)
		rename_text(insn->text, sizeof(insn->text), ZydisMnemonicGetString(x.insn.mnemonic), x.name);
	insn->length = (uint8_t)length;
	return (size_t)length;
}
