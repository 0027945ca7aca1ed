// SPDX-License-Identifier: MIT
// The class of an instruction from its mnemonic and the kinds of its registers. The first rule that fits counts.
//
// Kinds: g only general registers, f scalar floating point, v vectors (NEON or SVE), p predicates without vectors, *
// any.

struct ClassRule {
	char kind;
	const char *mnemonics; // patterns separated by blanks
	int is;
};

static const ClassRule class_rules[] = {
	{ '*', "hint nop udf", GUS_INSN_NOP },
	{ '*', "isb dmb dsb sb csdb esb psb tsb clrex", GUS_INSN_FENCE },
	{ '*',
	  "msr* mrs mrrs sys* svc hvc smc brk hlt dcps? drps tcommit tcancel wfet wfit cfinv axflag xaflag chkfeat "
	  "gcs* tchange* texit tenter tstart ttest trcit brb",
	  GUS_INSN_SYSTEM },
	{ '*', "ret reta*", GUS_INSN_RET },
	{ '*', "eret*", GUS_INSN_SYSTEM },
	{ '*', "blr*", GUS_INSN_CALL_INDIRECT },
	{ '*', "bl", GUS_INSN_CALL },
	{ '*', "br bra*", GUS_INSN_BRANCH_INDIRECT },
	{ '*',
	  "b. bc. cbz cbnz tbz tbnz cbeq cbne cbge cbgt cbhi cbhs cble cblo cblt cbls cbbeq cbbne cbbge cbbgt cbbhi "
	  "cbbhs "
	  "cbheq cbhne cbhge cbhgt cbhhi cbhhs",
	  GUS_INSN_BRANCH_COND },
	{ '*', "b", GUS_INSN_BRANCH },
	{ '*', "cpy*", GUS_INSN_STRING }, // of general registers alone, see below
	{ 'g', "set? set?? set??? set???? setg*", GUS_INSN_STRING },
	{ '*', "prf* rprfm", GUS_INSN_LOAD },
	{ '*',
	  "cas* swp* ldadd* ldclr* ldeor* ldset* ldsmax* ldsmin* ldumax* ldumin* ldtadd* ldtclr* ldtset* rcw* ldxr* "
	  "ldaxr* "
	  "ldxp ldaxp stxr* stlxr* stxp stlxp ldbf* ldf[am]* ldfadd* ldfmax* ldfmin* stbf* stfadd* stfmax* stfmin* "
	  "ldtxr "
	  "ldatxr sttxr stltxr ld64b st64b*",
	  GUS_INSN_ATOMIC },
	{ '*', "ld1* ld2* ld3* ld4* ldff1* ldnf1* ldnt1* ld[a-z]* ldr* ldp* ldu* lda* ldl* ldi* ldnp ldt* ldg*",
	  GUS_INSN_LOAD },
	{ '*', "st1* st2* st3* st4* stnt1* str* stp* stu* stl* sti* stnp stt* stg* stz* stsh* stcph stm",
	  GUS_INSN_STORE },
	{ '*', "aes* sha* sm3* sm4* rax1 xar bcax eor3 pmull* pac* aut* xpac* bgrp bext bdep", GUS_INSN_CRYPTO },
	// The matrix of SME comes before all that has the same names in vectors.
	{ 'm', "*", GUS_INSN_MATRIX },
	// Integer.
	{ 'g', "adr adrp", GUS_INSN_LEA },
	{ 'g', "movz movn movk csel csinc csinv csneg", GUS_INSN_MOV },
	{ 'g', "sdiv udiv", GUS_INSN_DIV },
	{ 'g', "madd msub smaddl smsubl umaddl umsubl smulh umulh maddpt msubpt", GUS_INSN_MUL },
	{ 'g', "lslv lsrv asrv rorv lsl lsr asr ror sbfm ubfm bfm extr", GUS_INSN_SHIFT },
	{ 'g', "*", GUS_INSN_ALU },
	{ 'p', "*", GUS_INSN_MASK },
	// Between register files, and immediates.
	{ '*', "umov smov", GUS_INSN_VEC_MOV },
	{ '*', "fmov movi mvni movprfx fdup dupm pmov", GUS_INSN_VEC_MOV },
	{ '*', "fcvt* scvtf* ucvtf* bfcvt* fjcvt* bf?cvt* f?cvt* sqcvt* uqcvt*", GUS_INSN_CONVERT },
	// Floating point.
	{ '*', "fdiv fdivr", GUS_INSN_FP_DIV },
	{ '*', "fsqrt", GUS_INSN_FP_SQRT },
	{ '*', "frecp* frsqrt* fexpa ftmad ftsmul ftssel flogb fscale bfscale", GUS_INSN_FP_OTHER },
	{ '*',
	  "fmadd fmsub fnmadd fnmsub fmla* fmls* fmad fmsb fnmla fnmls fnmad fnmsb fcmla bfml* bfdot bfmmla fmmla fdot "
	  "bfvdot "
	  "fvdot*",
	  GUS_INSN_FP_FMA },
	{ '*', "fmul* fnmul bfmul", GUS_INSN_FP_MUL },
	{ '*', "f* bfadd bfsub bfmax* bfmin* bfclamp", GUS_INSN_FP_ADD },
	// Vectors of integers.
	{ '*',
	  "mul mla mls smull* umull* smlal* umlal* smlsl* umlsl* sqdm* sqrdm* sdot udot usdot sudot smmla ummla usmmla "
	  "mlapt "
	  "madpt mad msb smulh umulh cmla cdot sqrdcmlah pmul saba* uaba* sabd* uabd* sqdmull* cmla udot",
	  GUS_INSN_VEC_MUL },
	{ '*',
	  "sshl* ushl* srshl* urshl* sqshl* uqshl* sqrshl* uqrshl* sshr* ushr* srshr* urshr* ssra usra srsra ursra "
	  "shl* sli sri "
	  "shrn* rshrn* sqshrn* uqshrn* sqrshrn* uqrshrn* sqshrun* sqrshrun* lsl* lsr* asr* sqrshr* uqrshr* asrd",
	  GUS_INSN_VEC_SHIFT },
	{ '*', "and orr eor bic orn not bsl* bit bif nbsl eon orv eorv andv eorbt eortb andqv orqv eorqv mvn",
	  GUS_INSN_VEC_LOGIC },
	{ '*',
	  "tbl* tbx* zip* uzp* trn* ext* dup* ins* rev* sunpk* uunpk* xtn* sqxt* uqxt* splice sel compact clast* last* "
	  "insr "
	  "luti* cpy expand fcsel rbit psel zero",
	  GUS_INSN_SHUFFLE },
	{ '*', "*", GUS_INSN_VEC_INT },
};

// As like(), for any of several patterns.
static bool like_any(const char *patterns, const char *text)
{
	std::string all = patterns;
	size_t from = 0;

	while (from < all.size()) {
		size_t to = all.find(' ', from);
		if (to == std::string::npos)
			to = all.size();
		if (like(all.substr(from, to - from).c_str(), text))
			return true;
		from = to + 1;
	}
	return false;
}

static char register_kind(const std::vector<gus_a64_operand> &operands)
{
	bool general = false, vector = false, scalar = false, predicate = false;

	for (auto &o : operands) {
		if (o.use & GUS_ACCESS_IMPLICIT)
			continue;
		if (o.file == GUS_A64_FILE_FIXED && o.add == GUS_A64_ZA)
			return 'm';
		general |= o.file == GUS_A64_FILE_X || o.file == GUS_A64_FILE_XSP;
		predicate |= o.file == GUS_A64_FILE_P;
		if (o.file == GUS_A64_FILE_V)
			(o.bits == 128 ? vector : scalar) = true;
	}
	return vector ? 'v' : scalar ? 'f' : predicate ? 'p' : general ? 'g' : '0';
}

static uint8_t classify(const char *name, const char *mnemonic, const std::vector<gus_a64_operand> &operands,
			const llvm::MCInstrDesc &desc)
{
	char kind = register_kind(operands);
	bool vector_address = false;

	(void)name;
	for (auto &o : operands)
		vector_address |= o.file == GUS_A64_FILE_V && (o.low == 5 || o.low == 16) && o.width == 5 &&
			!(o.use & GUS_ACCESS_WRITE);
	for (auto &rule : class_rules) {
		if (rule.kind != '*' && rule.kind != kind && !(rule.kind == 'g' && kind == '0'))
			continue;
		if (!like_any(rule.mnemonics, mnemonic))
			continue;
		if (rule.is == GUS_INSN_STRING && kind != 'g')
			continue;
		if ((rule.is == GUS_INSN_LOAD && !desc.mayLoad() && !like_any("prf* rprfm", mnemonic)) ||
		    (rule.is == GUS_INSN_STORE && !desc.mayStore()))
			continue;
		if (rule.is == GUS_INSN_LOAD && kind == 'v' && vector_address)
			return GUS_INSN_GATHER;
		if (rule.is == GUS_INSN_STORE && kind == 'v' && vector_address)
			return GUS_INSN_SCATTER;
		if (rule.is == GUS_INSN_ATOMIC && !desc.mayLoad() && !desc.mayStore())
			continue;
		return uint8_t(rule.is);
	}
	return GUS_INSN_OTHER;
}
