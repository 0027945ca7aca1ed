// SPDX-License-Identifier: MIT
// Generates what gusprof knows about arm64 instructions from LLVM: run by a maintainer, never by the build.
//
//   arm64-gen forms             symbolizer/insn/arm64_forms.inc: masks and values, operands, classes
//   arm64-gen tables DIR        DIR/arm64.forms and DIR/NAME.uarch of the CPUs below
//   arm64-gen oracle CPU        words (four bytes each) from stdin to lines "OPCODE|FIGURES|READ;WRITTEN"
//   arm64-gen list              LLVM's name, mask, value, class and our text of each
//   arm64-gen check             random words against the masks; what LLVM and the table say differently
//
// LLVM has no table of encodings that programs could read, so it is asked: words are found by flipping bits of known
// ones, all words of one opcode show which of its bits vary, and which operand follows which bits. The same program
// makes the same text each time.
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "symbolizer/insn/arm64_shape.h"
#include "symbolizer/insn/arm64_table.h"
// The header is C, where class is a word like any other.
#define class class_
#include "symbolizer/insn/insn.h"
#undef class

using namespace llvm;
typedef std::string Text;

static const char *const cpus[][3] = {
	{ "cortex-a72", "Arm Cortex-A72", "a72" },
	{ "neoverse-n1", "Arm Neoverse N1", "n1 graviton2 altra" },
	{ "neoverse-n2", "Arm Neoverse N2", "n2" },
	{ "neoverse-v1", "Arm Neoverse V1", "v1 graviton3" },
	{ "neoverse-v2", "Arm Neoverse V2", "v2 graviton4 grace" },
};

// ---- LLVM

struct Machine {
	Triple triple{"aarch64-linux-gnu"};
	MCTargetOptions options;
	const Target *target;
	MCRegisterInfo *registers;
	MCAsmInfo *assembly;
	MCInstrInfo *instructions;
	MCSubtargetInfo *all;
	MCContext *context;
	MCDisassembler *disassembler;
	MCInstPrinter *printer;
	MCInst inst;

	Machine()
	{
		Text error;

		LLVMInitializeAArch64TargetInfo();
		LLVMInitializeAArch64TargetMC();
		LLVMInitializeAArch64Disassembler();
			target = TargetRegistry::lookupTarget(triple, error);
		if (!target) {
			errs() << error << "\n";
			exit(1);
		}
		registers = target->createMCRegInfo(triple);
		assembly = target->createMCAsmInfo(*registers, triple, options);
		instructions = target->createMCInstrInfo();
		all = target->createMCSubtargetInfo(triple, "generic", "+all");
		context = new MCContext(triple, assembly, registers, all);
		disassembler = target->createMCDisassembler(*all, *context);
		printer = target->createMCInstPrinter(triple, 0, *assembly, *instructions, *registers);
		// The operands' text without "mov" for "orr": a member that only derived classes may name.
		struct Open : MCInstPrinter {
			static bool MCInstPrinter::*aliases() { return &Open::PrintAliases; }
		};
		printer->*Open::aliases() = false;
	}

	// The opcode of a word, with the instruction left in inst; -1 if there is none. What LLVM calls a soft failure
	// (a pair loaded into one register) is an instruction all the same.
	int decode(uint32_t word)
	{
		uint8_t bytes[4] = { uint8_t(word), uint8_t(word >> 8), uint8_t(word >> 16), uint8_t(word >> 24) };
		uint64_t size;

		inst.clear();
		return disassembler->getInstruction(inst, size, bytes, 0, nulls()) == MCDisassembler::Fail
			? -1 : int(inst.getOpcode());
	}

	Text name(unsigned opcode) const { return instructions->getName(opcode).str(); }
	Text mnemonic(unsigned opcode) const
	{
		MCInst blank;

		blank.setOpcode(opcode);
		StringRef text = printer->getMnemonic(blank).first;
		return text.take_until([](char c) { return c == '\t' || c == ' '; }).str();
	}
	Text print(const MCInst &what) const
	{
		Text text;
		raw_string_ostream stream(text);

		printer->printInst(&what, 0, "", *all, stream);
		return text;
	}
};

// ---- Learning encodings

struct Learned {
	uint32_t ones = 0, zeros = ~0u;   // bits that were ever one; bits that were always one
	std::vector<uint32_t> samples;
	uint32_t mask() const { return ~(ones ^ zeros); }
	uint32_t value() const { return zeros; }
};

typedef std::map<unsigned, Learned> Encodings;

struct Learner {
	Machine &machine;
	Encodings found;
	std::vector<uint32_t> queue;
	std::mt19937_64 random{1};

	explicit Learner(Machine &m) : machine(m) { }

	void look(uint32_t word)
	{
		int opcode = machine.decode(word);

		if (opcode < 0)
			return;
		Learned &l = found[opcode];
		l.ones |= word;
		l.zeros &= word;
		if (l.samples.size() < 6) {
			l.samples.push_back(word);
			queue.push_back(word);
		}
	}

	// Encodings without a single free bit are never met by chance: they are asked of the encoder.
	void without_operands()
	{
		MCCodeEmitter *emitter = machine.target->createMCCodeEmitter(*machine.instructions, *machine.context);

		for (unsigned o = 0; o < machine.instructions->getNumOpcodes(); o++) {
			const MCInstrDesc &desc = machine.instructions->get(o);
			SmallVector<char, 8> bytes;
			SmallVector<MCFixup, 2> fixups;
			MCInst inst;

			if (desc.isPseudo() || desc.getSize() != 4 || desc.getNumOperands())
				continue;
			inst.setOpcode(o);
			emitter->encodeInstruction(inst, bytes, fixups, *machine.all);
			if (bytes.size() == 4)
				look(uint8_t(bytes[0]) | uint8_t(bytes[1]) << 8 | uint8_t(bytes[2]) << 16 |
				     uint32_t(uint8_t(bytes[3])) << 24);
		}
	}

	void flood()
	{
		for (int i = 0; i < 3000000; i++)
			look(uint32_t(random()));
		without_operands();
		for (size_t i = 0; i < queue.size(); i++) {
			uint32_t word = queue[i];

			for (int a = 0; a < 32; a++) {
				look(word ^ 1u << a);
				for (int b = 0; b < a; b++)
					look(word ^ 1u << a ^ 1u << b);
			}
			for (int k = 0; k < 200; k++)
				look(word ^ uint32_t(random() & random() & random()));
		}
	}

	// Fills what is known to vary, and flips each bit that is not, until nothing new is learned.
	bool widen()
	{
		bool news = false;
		std::vector<unsigned> opcodes;

		for (auto &each : found)
			opcodes.push_back(each.first);
		for (unsigned opcode : opcodes) {
			uint32_t before = found[opcode].mask();

			for (size_t k = 0; k < 100; k++) {
				Learned &l = found[opcode];
				uint32_t fill = uint32_t(random()), word;

				if (k & 1)
					fill &= uint32_t(random());
				word = l.samples[k % l.samples.size()] ^ (fill & ~before);
				look(word);
				for (int b = 0; b < 32; b++)
					look(word ^ 1u << b);
			}
			news |= found[opcode].mask() != before;
		}
		return news;
	}

	void learn()
	{
		flood();
		for (int round = 0; round < 8 && widen(); round++)
			;
		// More samples of each, spread over its fields, for those who look at operands.
		for (auto &each : found) {
			Learned &l = each.second;
			std::vector<uint32_t> more;

			// Register 31 is another thing than its neighbours, so each field is also seen full of ones.
			for (int k = 0; k < 4000 && more.size() < 96; k++) {
				uint32_t word = l.value() | (uint32_t(random()) & ~l.mask());
				if (k < 112)
					word |= (31u << k % 28) & ~l.mask();
				if (machine.decode(word) == int(each.first))
					more.push_back(word);
			}
			more.insert(more.end(), l.samples.begin(), l.samples.end());
			l.samples = more;
		}
	}
};

// ---- Registers

struct Register {
	int file = -1;           // enum gus_a64_file; X and XSP are told apart by 31
	unsigned number = 0, count = 1, stride = 1, bits = 0;
	bool zero = false, sp = false;
	char kind = 0;           // as the form's text writes it
};

static bool number_of(const Text &text, size_t from, unsigned &number)
{
	if (from >= text.size() || text.find_first_not_of("0123456789", from) != Text::npos)
		return false;
	number = unsigned(std::stoul(text.substr(from)));
	return true;
}

static Register single(const Text &name)
{
	static const struct {
		const char *name;
		int file;
		unsigned number, bits;
		bool zero, sp;
		char kind;
	} special[] = {
		{ "FP", GUS_A64_FILE_X, 29, 64, false, false, 'x' },
		{ "LR", GUS_A64_FILE_X, 30, 64, false, false, 'x' },
		{ "SP", GUS_A64_FILE_XSP, 31, 64, false, true, 'x' },
		{ "WSP", GUS_A64_FILE_XSP, 31, 32, false, true, 'w' },
		{ "XZR", GUS_A64_FILE_X, 31, 64, true, false, 'x' },
		{ "WZR", GUS_A64_FILE_X, 31, 32, true, false, 'w' },
		{ "NZCV", GUS_A64_FILE_FIXED, GUS_A64_NZCV, 1, false, false, 'f' },
		{ "FFR", GUS_A64_FILE_FIXED, GUS_A64_FFR, 16, false, false, 'f' },
		{ "FPCR", GUS_A64_FILE_FIXED, GUS_A64_FPCR, 64, false, false, 'f' },
		{ "FPSR", GUS_A64_FILE_FIXED, GUS_A64_FPSR, 64, false, false, 'f' },
		{ "FPMR", GUS_A64_FILE_FIXED, GUS_A64_SYSTEM, 64, false, false, 'f' },
		{ "VG", GUS_A64_FILE_FIXED, GUS_A64_SYSTEM, 64, false, false, 'f' },
		{ "ZT0", GUS_A64_FILE_FIXED, GUS_A64_ZA, 512, false, false, 'f' },
	};
	static const struct { const char *prefix; int file; unsigned bits; char kind; } files[] = {
		{ "X", GUS_A64_FILE_X, 64, 'x' }, { "W", GUS_A64_FILE_X, 32, 'w' }, { "B", GUS_A64_FILE_V, 8, 'b' },
		{ "H", GUS_A64_FILE_V, 16, 'h' }, { "S", GUS_A64_FILE_V, 32, 's' }, { "D", GUS_A64_FILE_V, 64, 'd' },
		{ "Q", GUS_A64_FILE_V, 128, 'q' }, { "Z", GUS_A64_FILE_V, 128, 'z' }, { "PN", GUS_A64_FILE_P, 16, 'p' },
		{ "P", GUS_A64_FILE_P, 16, 'p' },
	};
	Register r;

	for (auto &s : special)
		if (name == s.name) {
			r.file = s.file, r.number = s.number, r.bits = s.bits;
			r.zero = s.zero, r.sp = s.sp, r.kind = s.kind;
			return r;
		}
	if (name.compare(0, 2, "ZA") == 0) {
		r.file = GUS_A64_FILE_FIXED, r.number = GUS_A64_ZA, r.bits = 128, r.kind = 'f';
		return r;
	}
	for (auto &f : files)
		if (name.compare(0, strlen(f.prefix), f.prefix) == 0 && number_of(name, strlen(f.prefix), r.number)) {
			r.file = f.file, r.bits = f.bits, r.kind = f.kind;
			return r;
		}
	return r;
}

// "Q0_Q1_Q2" is three registers at stride 1.
static Register parse_register(const Text &name)
{
	std::vector<Register> parts;
	size_t from = 0;

	for (;;) {
		size_t to = name.find('_', from);
		parts.push_back(single(name.substr(from, to == Text::npos ? to : to - from)));
		if (to == Text::npos)
			break;
		from = to + 1;
	}
	Register r = parts[0];
	r.count = unsigned(parts.size());
	if (parts.size() > 1 && parts[1].number > r.number)
		r.stride = parts[1].number - r.number;
	return r;
}

// ---- Describing an opcode

struct Form {
	unsigned opcode;
	Text name, text;          // LLVM's name; ours
	uint32_t mask, value;
	gus_a64_op op;
	std::vector<gus_a64_operand> operands;
	std::vector<uint32_t> samples;
};

static bool starts(const Text &text, const char *with) { return text.compare(0, strlen(with), with) == 0; }
static bool ends(const Text &text, const char *with)
{
	size_t n = strlen(with);
	return text.size() >= n && text.compare(text.size() - n, n, with) == 0;
}

// '*' is any run of characters, '?' one.
static bool like(const char *pattern, const char *text)
{
	if (!*pattern)
		return !*text;
	if (*pattern == '*')
		return like(pattern + 1, text) || (*text && like(pattern, text + 1));
	return *text && (*pattern == '?' || *pattern == *text) && like(pattern + 1, text + 1);
}

#include "classes.h"

// Finds the field that an operand's register number follows in all samples.
static bool fit(const std::vector<std::pair<uint32_t, Register>> &seen, gus_a64_operand &out)
{
	bool same = true;

	for (auto &s : seen)
		same &= s.second.number == seen[0].second.number;
	if (seen[0].second.file == GUS_A64_FILE_FIXED || (same && seen.size() > 8)) {
		if (seen[0].second.file == GUS_A64_FILE_FIXED) {
			out.add = uint8_t(seen[0].second.number);
			return same;
		}
		out.width = 0, out.add = uint8_t(seen[0].second.number);
		return true;
	}
	for (unsigned width = 5; width; width--)
		for (unsigned shift = 0; shift < 4; shift++)
			for (unsigned low = 0; low + width <= 28; low++)
				for (unsigned add : { 0u, 8u, 12u, 16u, 0x10000u | 4u, 0x20000u | 12u }) {
					// The last two are fields of bits apart: the low ones, and one that adds 16 or,
					// from 20 on, 8.
					unsigned split = add >> 16 ? add & 31 : 0, eight = add >> 17,
						 more = eight	? 20
							: split ? 0
								: add;
					bool good = true;
					for (auto &s : seen)
						good &= (gus_a64_bits(s.first, low, width) << shift) + more +
								(split ? gus_a64_bits(s.first, split, 1)
										 << (eight ? 3 : 4)
								       : 0) ==
							s.second.number;
					if (!good)
						continue;
					out.low = uint8_t(low), out.width = uint8_t(width),
					out.split = uint8_t(split | eight << 5);
					out.shift = uint8_t(shift), out.add = uint8_t(more);
					return true;
				}
	return false;
}

struct Describer {
	Machine &machine;
	std::vector<Text> complaints;

	explicit Describer(Machine &m) : machine(m) { }

	// The registers of operand i in all samples; empty if it is no register.
	std::vector<std::pair<uint32_t, Register>> registers(const Form &f, unsigned i)
	{
		std::vector<std::pair<uint32_t, Register>> seen;

		for (uint32_t word : f.samples) {
			machine.decode(word);
			if (i >= machine.inst.getNumOperands() || !machine.inst.getOperand(i).isReg())
				continue;
			MCRegister reg = machine.inst.getOperand(i).getReg();
			if (!reg)
				continue;
			Register r = parse_register(machine.registers->getName(reg));
			if (r.file >= 0)
				seen.push_back({ word, r });
		}
		return seen;
	}

	void operand(Form &f, const MCInstrDesc &desc, unsigned i)
	{
		auto seen = registers(f, i);
		gus_a64_operand o = {};
		int tied = desc.getOperandConstraint(i, MCOI::TIED_TO);

		if (seen.empty() || tied >= 0)
			return;
		const Register &first = seen[0].second;
		o.file = uint8_t(first.file);
		for (auto &s : seen)
			if (s.second.sp)
				o.file = GUS_A64_FILE_XSP;
		o.count = uint8_t(first.count), o.stride = uint8_t(first.stride), o.bits = uint16_t(first.bits);
		o.use = i < desc.getNumDefs() ? GUS_ACCESS_WRITE : GUS_ACCESS_READ;
		for (unsigned j = desc.getNumDefs(); j < desc.getNumOperands(); j++)
			if (desc.getOperandConstraint(j, MCOI::TIED_TO) == int(i))
				o.use |= GUS_ACCESS_READ;
		if (!fit(seen, o)) {
			complaints.push_back(f.name + ": operand " + std::to_string(i) + " follows no field");
			return;
		}
		f.operands.push_back(o);
	}

	void implicit(Form &f, MCPhysReg reg, unsigned use)
	{
		Register r = parse_register(machine.registers->getName(reg));

		if (r.file < 0)
			return;
		unsigned number = r.file == GUS_A64_FILE_FIXED ? r.number
				  : r.file == GUS_A64_FILE_V   ? GUS_A64_V0 + r.number
				  : r.file == GUS_A64_FILE_P   ? GUS_A64_P0 + r.number
				  : r.sp		       ? unsigned(GUS_A64_SP)
							       : GUS_A64_X0 + r.number;
		for (auto &o : f.operands)
			if (o.file == GUS_A64_FILE_FIXED && o.add == number) {
				o.use |= uint8_t(use);
				return;
			}
		f.operands.push_back({ GUS_A64_FILE_FIXED, 0, 0, 0, uint8_t(number), 0, 1, 1,
				       uint8_t(use | GUS_ACCESS_IMPLICIT), uint16_t(r.bits) });
	}

	void describe(Form &f)
	{
		const MCInstrDesc &desc = machine.instructions->get(f.opcode);

		f.name = machine.name(f.opcode);
		f.op = {};
		for (unsigned i = 0; i < desc.getNumOperands(); i++)
			operand(f, desc, i);
		// That calls use the stack pointer is a convention of compilers.
		for (MCPhysReg reg : desc.implicit_uses())
			if (!desc.isCall() || Text(machine.registers->getName(reg)) != "SP")
				implicit(f, reg, GUS_ACCESS_READ);
		// Reading a system register sets flags for the random numbers alone: the decoder sees to those.
		for (MCPhysReg reg : desc.implicit_defs())
			if (f.name != "MRS")
				implicit(f, reg, GUS_ACCESS_WRITE);
		for (auto &o : f.operands)
			if (o.file == GUS_A64_FILE_V && o.bits / 8 > f.op.vector_bytes)
				f.op.vector_bytes = uint8_t(o.bits / 8);
		if (f.op.vector_bytes < 8)
			f.op.vector_bytes = 0;
		naming(f);
		f.op.kind = classify(f.name.c_str(), machine.mnemonic(f.opcode).c_str(), f.operands, desc);
		traits(f);
		memory(f, desc);
		semantics(f);
	}

	Text normal(const Text &printed, const Text &mnemonic, unsigned shape);
	void naming(Form &f);
	void traits(Form &f);
	void memory(Form &f, const MCInstrDesc &desc);
	void semantics(Form &f);
	Text composed(const Form &f, const Text &mnemonic);
};

// ---- Text

static bool listed(const Text &word, const char *const *list)
{
	for (; *list; list++)
		if (word == *list)
			return true;
	return false;
}

// Replaces each operand of LLVM's text by its kind: "x3" by x, "v1.4s" by v.4s, "#12" by imm, "eq" by cond.
Text Describer::normal(const Text &printed, const Text &mnemonic, unsigned shape)
{
	static const char *const conditions[] = { "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc",   "hi",
						  "ls", "ge", "lt", "gt", "le", "al", "nv", nullptr };
	static const char *const words[] = { "lsl", "lsr", "asr", "ror",  "msl",  "uxtw", "sxtw", "sxtx", "mul",
					     "vl",  "m",   "z",	  "vgx2", "vgx4", "vlx2", "vlx4", nullptr };
	size_t tab = printed.find('\t', 1);
	Text in = tab == Text::npos ? "" : printed.substr(tab + 1), out;
	int depth = 0;

	if (in.find(" //") != Text::npos)
		in.resize(in.find(" //"));

	for (size_t i = 0; i < in.size();) {
		char c = in[i];
		if (c == '#' || isdigit(c) || (c == '-' && isdigit(in[i + 1]))) {
			size_t from = i++;
			while (i < in.size() && (isalnum(in[i]) || strchr(".-", in[i])))
				i++;
			bool lane = depth && c != '#' && !out.empty() && out.back() == '[';
			// A scale in an address is part of the instruction unless the shape has it.
			if (depth && ends(out, "lsl ") && !(shape & GUS_A64_SCALED))
				out += in.substr(from + 1, i - from - 1);
			else if (depth && (ends(out, "xtw ") || ends(out, "sxtx ")) && !(shape & GUS_A64_SCALED))
				out += in.substr(from + 1, i - from - 1);
			else
				out += lane ? "i" : "imm";
			continue;
		}
		if (isalpha(c)) {
			size_t from = i;
			while (i < in.size() && (isalnum(in[i]) || in[i] == '_'))
				i++;
			Text word = in.substr(from, i - from), suffix;
			if (i < in.size() && in[i] == '.') {
				from = i++;
				while (i < in.size() && isalnum(in[i]))
					i++;
				suffix = in.substr(from, i - from);
			}
			Text upper = word;
			for (char &u : upper)
				u = char(toupper(u));
			Register r = single(upper);
			if (starts(word, "za"))
				out += starts(word, "zat") || !isdigit(word[word.size() > 2 ? 2 : 0]) ? word + suffix
					: Text("za") + (isalpha(word.back()) ? Text(1, word.back()) : "") + suffix;
			else if (word == "zt0")
				out += word;
			else if (starts(word, "v") && number_of(word, 1, r.number))
				out += "v" + suffix;
			else if (starts(word, "pn") && number_of(word, 2, r.number))
				out += "pn" + suffix;
			else if (r.file >= 0 && r.file != GUS_A64_FILE_FIXED)
				out += Text(1, r.kind) + suffix;
			else if (listed(word, conditions))
				out += "cond";
			else if (listed(word, words))
				out += word;
			else
				out += "op";
			continue;
		}
		depth += (c == '[') - (c == ']');
		out += c;
		i++;
	}
	// The range of a register list, and the amount of a shift outside of an address, are no part of the form.
	for (const char *tail : { ", lsl imm", ", asr imm", ", lsr imm", ", ror imm", ", msl imm", ", mul imm" })
		if (ends(out, tail))
			out.resize(out.size() - strlen(tail) + (starts(tail, ", msl") ? 5 : 0));
	return mnemonic + (out.empty() ? "" : " (" + out + ")");
}

Text Describer::composed(const Form &f, const Text &mnemonic)
{
	Text out;

	machine.decode(f.samples[0]);
	for (unsigned i = 0; i < machine.inst.getNumOperands(); i++) {
		const MCOperand &o = machine.inst.getOperand(i);
		if (machine.instructions->get(f.opcode).getOperandConstraint(i, MCOI::TIED_TO) >= 0)
			continue;
		Text kind = "imm";
		if (o.isReg())
			kind = o.getReg() ? Text(1, parse_register(machine.registers->getName(o.getReg())).kind)
					  : Text("none");
		out += (out.empty() ? "" : ", ") + kind;
	}
	return mnemonic + (out.empty() ? "" : " (" + out + ")");
}

void Describer::naming(Form &f)
{
	Text mnemonic = machine.mnemonic(f.opcode), best, bare = mnemonic;
	unsigned shape = 0;

	if (bare == "b." || bare == "bc.")
		bare += "cond";
	while (!bare.empty() && (bare.back() == '.' || bare.back() == '['))
		bare.pop_back();
	// Index scales are a trait of these alone.
	bool extended = (f.mask & 0x1fe00000) == 0x1fe00000 && (f.value & 0x1fe00000) == 0x0b200000;
	if ((f.mask & 0x3b200c00) == 0x3b200c00 && (f.value & 0x3b200c00) == 0x38200800)
		shape = GUS_A64_SCALED;
	for (uint32_t word : f.samples) {
		machine.decode(word);
		Text printed = machine.print(machine.inst);
		size_t tab = printed.find('\t', 1);
		Text head = printed.substr(1, tab == Text::npos ? tab : tab - 1);
		if (head != mnemonic && !(starts(head, mnemonic.c_str()) && mnemonic.back() == '.'))
			continue;
		Text text = normal(printed, bare, shape);
		if (text.size() > best.size() || (text.size() == best.size() && text < best))
			best = text;
	}
	if (best.empty())
		best = composed(f, bare);
	// Register offsets: whether the index is extended from 32 bits is the kind of register, how is no part of the
	// form.
	if (shape)
		for (const char *drop : { ", lsl imm]", ", sxtx imm]", ", uxtw imm]", ", sxtw imm]", ", lsl]",
					  ", sxtx]", ", uxtw]", ", sxtw]" }) {
			size_t at = best.find(drop);
			if (at != Text::npos)
				best.replace(at, strlen(drop), "]");
		}
	// Extended registers: which extension is a trait.
	if (extended) {
		size_t third = best.find(", ", best.find(", ") + 2);
		size_t end = best.find(", ", third + 2);
		if (third == Text::npos || third > best.size())
			third = best.find(", "), end = best.find(", ", third + 2);
		best = best.substr(0, end == Text::npos ? best.size() - 1 : end) + ", ext)";
	}
	// A hint that has a meaning of its own goes by the name of that.
	if (bare == "hint" && f.mask == ~0u) {
		best = f.name;
		for (char &c : best)
			c = char(tolower(c));
	}
	// Printed as mov, so composed; its shift is no part of the form, as that of movk is not.
	if (bare == "movz" || bare == "movn")
		best.replace(best.find(", imm, imm"), 10, ", imm");
	if (f.name.find("_STRIDED") != Text::npos)
		best += " strided";
	if (ends(f.name, "_idx0"))
		best.replace(best.find("[i]"), 3, "[0]");
	f.text = best;
}

// ---- Shapes, memory, meaning

void Describer::traits(Form &f)
{
	unsigned shape = 0;
	uint32_t m = f.mask, v = f.value;

	auto is = [&](uint32_t mask, uint32_t value) { return (m & mask) == mask && (v & mask) == value; };
	if (is(0x1f200000, 0x0b000000))
		shape |= GUS_A64_SHIFT | GUS_A64_ARITHMETIC;
	if (is(0x1f000000, 0x0a000000))
		shape |= GUS_A64_SHIFT;
	if (is(0x1fe00000, 0x0b200000))
		shape |= GUS_A64_EXTEND;
	if (is(0x3b200c00, 0x38200800))
		shape |= GUS_A64_SCALED;
	if (is(0x1f800000, 0x12000000))
		shape |= GUS_A64_BITMASK;
	if (is(0x7fa00000, 0x13800000))
		shape |= GUS_A64_SAME;
	if (starts(f.name, "ORRWrs") || starts(f.name, "ORRXrs"))
		shape |= GUS_A64_FROM_ZERO;
	if (f.name == "MOVZWi" || f.name == "MOVZXi")
		shape |= GUS_A64_WIDE_ZERO;
	if (f.name == "ADDWri" || f.name == "ADDXri")
		shape |= GUS_A64_IMM_ZERO;
	if (f.name == "ORRv16i8" || f.name == "ORRv8i8" || f.name == "EORv16i8" || f.name == "EORv8i8" ||
	    f.name == "EOR_ZZZ" || f.name == "ORR_ZZZ")
		shape |= GUS_A64_SAME;
	static const struct { const char *like; unsigned shape;
	} more[] = {
		{ "FMOVW?r", GUS_A64_FROM_ZERO },
		{ "FMOVX?r", GUS_A64_FROM_ZERO },
		{ "MOVID", GUS_A64_MOVI_ZERO },
		{ "MOVIv2d_ns", GUS_A64_MOVI_ZERO },
		{ "INC?_XPiI", GUS_A64_ALL },
		{ "DEC?_XPiI", GUS_A64_ALL },
		{ "M???Wrrr", GUS_A64_NO_ADDEND },
		{ "M???Xrrr", GUS_A64_NO_ADDEND },
		{ "?MADDLrrr", GUS_A64_NO_ADDEND },
		{ "?MSUBLrrr", GUS_A64_NO_ADDEND },
		{ "RDFFR*_PPz", GUS_A64_GOVERNOR_FFR },
		{ "CMP*_PPzZ*", GUS_A64_GOVERNOR3 },
		{ "*MATCH_PPzZZ_*", GUS_A64_GOVERNOR3 },
		{ "BRK*_PP?P*", GUS_A64_GOVERNOR4 },
		{ "AND*_PPzPP", GUS_A64_GOVERNOR4 },
		{ "BIC*_PPzPP", GUS_A64_GOVERNOR4 },
		{ "EOR*_PPzPP", GUS_A64_GOVERNOR4 },
		{ "NAND*_PPzPP", GUS_A64_GOVERNOR4 },
		{ "NOR*_PPzPP", GUS_A64_GOVERNOR4 },
		{ "ORN*_PPzPP", GUS_A64_GOVERNOR4 },
		{ "ORR*_PPzPP", GUS_A64_GOVERNOR4 },
	};
	for (auto &each : more)
		if (like(each.like, f.name.c_str()))
			shape |= each.shape;
	f.op.shape = uint16_t(shape);
}

static unsigned log2_of(unsigned n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

// SVE: element sizes are in the name (LD1SB_D_IMM: bytes to doubles); the figures are for vectors of 128 bits, the
// least.
static void sve_size(const Text &name, const Text &mnemonic, unsigned registers, gus_a64_op &op)
{
	auto letter = [](char c) { return c == 'b' ? 1u : c == 'h' ? 2u : c == 'w' ? 4u : c == 'd' ? 8u : 16u; };
	unsigned unit = letter(mnemonic.back()), element = unit;
	size_t at;

	op.elements = 1;
	if (starts(mnemonic, "ldr") || starts(mnemonic, "str")) {
		op.memory_bits = name.find("PX") != Text::npos ? 16 : 128;
		return;
	}
	if (starts(mnemonic, "ld1rq") || starts(mnemonic, "ld1ro")) {
		op.memory_bits = mnemonic[4] == 'q' ? 128 : 256;
		op.memory_scale = uint8_t(log2_of(unit));
		return;
	}
	if (starts(mnemonic, "ld1r")) {
		op.memory_bits = uint16_t(unit * 8);
		op.memory_scale = uint8_t(log2_of(unit));
		return;
	}
	for (const char *suffix : { "_H", "_S", "_D", "_Q" })
		if ((at = name.find(suffix)) != Text::npos && (at + 2 == name.size() || name[at + 2] == '_'))
			element = suffix[1] == 'H' ? 2 : suffix[1] == 'S' ? 4 : suffix[1] == 'D' ? 8 : 16;
	if (element < unit)
		element = unit;
	op.memory_bits = uint16_t(128 / (element * 8) * unit * 8 * registers);
	op.elements = uint8_t(128 / (element * 8));
	op.memory_scale = uint8_t(log2_of(unit));
}

void Describer::memory(Form &f, const MCInstrDesc &desc)
{
	Text mnemonic = machine.mnemonic(f.opcode);
	gus_a64_op &op = f.op;
	uint32_t m = f.mask, v = f.value;
	bool prefetch = starts(mnemonic, "prf") || mnemonic == "rprfm", sve = gus_a64_bits(v, 25, 4) == 2;
	bool load = desc.mayLoad() && !starts(mnemonic, "st"), store = desc.mayStore() && !starts(mnemonic, "ld");
	auto is = [&](uint32_t mask, uint32_t value) { return (m & mask) == mask && (v & mask) == value; };

	op.elements = 1;
	if (op.kind == GUS_INSN_STRING) {
		op.memory = GUS_A64_MEMORY_STRING;
		op.memory_use = GUS_ACCESS_WRITE | (starts(mnemonic, "cpy") ? GUS_ACCESS_READ : 0);
		return;
	}
	if (op.kind == GUS_INSN_ATOMIC) {
		// Exclusives and LSE: what is loaded and what is stored is in the name better than in LLVM's flags.
		load = !starts(mnemonic, "st") || (is(0x3b200c00, 0x38200000));
		store = !starts(mnemonic, "ldxr") && !starts(mnemonic, "ldaxr") && mnemonic != "ldxp" &&
			mnemonic != "ldaxp" && mnemonic != "ldtxr" && mnemonic != "ldatxr" && mnemonic != "ld64b";
	}
	if (!prefetch && !load && !store)
		return;
	if (op.kind != GUS_INSN_LOAD && op.kind != GUS_INSN_STORE && op.kind != GUS_INSN_ATOMIC &&
	    op.kind != GUS_INSN_GATHER && op.kind != GUS_INSN_SCATTER && op.kind != GUS_INSN_RET &&
	    !(op.kind == GUS_INSN_MATRIX))
		return;
	if (op.kind == GUS_INSN_RET ||
	    (op.kind == GUS_INSN_MATRIX && !starts(mnemonic, "ld") && !starts(mnemonic, "st")))
		return;
	op.memory_use = uint8_t((load ? GUS_ACCESS_READ : 0) | (store ? GUS_ACCESS_WRITE : 0));
	if (prefetch)
		op.flags |= GUS_INSN_PREFETCH, op.memory_use = 0;

	bool vector_base = false, vector_index = false, index = false, base = false;
	unsigned registers = 1;
	for (auto &o : f.operands) {
		if (o.file == GUS_A64_FILE_FIXED)
			continue;
		if (o.low == 5 && o.width == 5)
			base = true, vector_base |= o.file == GUS_A64_FILE_V;
		if (o.low == 16 && o.width == 5 && !(o.use & GUS_ACCESS_WRITE))
			index = true, vector_index |= o.file == GUS_A64_FILE_V;
		if (o.file == GUS_A64_FILE_V && o.low == 0)
			registers = o.count;
	}
	if (is(0x3b000000, 0x18000000)) { // literal
		static const unsigned sizes[2][4] = { { 4, 8, 4, 0 }, { 4, 8, 16, 0 } };
		op.memory = GUS_A64_MEMORY_LITERAL;
		op.memory_bits = uint16_t(8 * sizes[gus_a64_bits(v, 26, 1)][v >> 30]);
		return;
	}
	if (!base)
		return;
	if (sve || f.text.find("({ z.") != Text::npos) {
		sve_size(f.name, mnemonic, registers, op);
		op.memory = vector_base ? index ? GUS_A64_MEMORY_ZBASE : GUS_A64_MEMORY_ZIMM
			: vector_index ? GUS_A64_MEMORY_ZINDEX : index ? GUS_A64_MEMORY_XINDEX : GUS_A64_MEMORY_BASE;
		if (op.memory == GUS_A64_MEMORY_ZINDEX && f.text.find(" 1]") == Text::npos &&
		    f.text.find(" 2]") == Text::npos && f.text.find(" 3]") == Text::npos)
			op.memory_scale = 0;
		if (prefetch)
			op.memory_bits = 0;
		return;
	}
	if (is(0x3b200c00, 0x38200800) || is(0x3b000000, 0x39000000) || is(0x3b200000, 0x38000000)) { // one register
		unsigned scale = v >> 30 | (gus_a64_bits(v, 26, 1) ? gus_a64_bits(v, 23, 1) << 2 : 0);
		op.memory_scale = uint8_t(scale);
		op.memory_bits = prefetch ? 0 : uint16_t(8u << scale);
		op.memory = is(0x3b000000, 0x39000000)	 ? GUS_A64_MEMORY_IMM12
			    : is(0x3b200c00, 0x38200800) ? GUS_A64_MEMORY_INDEX
			    : is(0x00000c00, 0x00000400) ? GUS_A64_MEMORY_BASE
							 : GUS_A64_MEMORY_IMM9;
		return;
	}
	if (is(0x3a000000, 0x28000000)) { // a pair
		unsigned scale = gus_a64_bits(v, 26, 1) ? 2 + (v >> 30) : v >> 31 ? 3 : 2;
		if (starts(mnemonic, "stgp") ||
		    ((starts(mnemonic, "ldt") || starts(mnemonic, "stt")) && gus_a64_bits(v, 26, 1)))
			scale = 4;
		op.memory_scale = uint8_t(scale);
		op.memory_bits = uint16_t(starts(mnemonic, "stgp") ? 128 : 16u << scale);
		op.memory = is(0x01800000, 0x00800000) ? GUS_A64_MEMORY_BASE : GUS_A64_MEMORY_IMM7;
		return;
	}
	if (is(0xff200400, 0xf8200400)) { // ldraa
		op.memory = GUS_A64_MEMORY_IMM10, op.memory_scale = 3, op.memory_bits = 64;
		return;
	}
	op.memory = GUS_A64_MEMORY_BASE;
	if (f.text.find("za") != Text::npos) {
		op.memory_bits = 128;
		return;
	}
	if (is(0xbf000000, 0x0d000000) || is(0xbe000000, 0x0c000000)) { // structures
		unsigned bits = gus_a64_bits(v, 30, 1) ? 128 : 64, lane = 0;
		if (is(0x3f000000, 0x0d000000)) {
			size_t at = f.text.find('.');
			char c = at == Text::npos ? 'b' : f.text[f.text.find_first_of("bhsd", at)];
			lane = c == 'b' ? 8 : c == 'h' ? 16 : c == 's' ? 32 : 64;
		}
		op.memory_bits = uint16_t((lane ? lane : bits) * registers);
		return;
	}
	if (is(0x3f000c00, 0x19000000) && (starts(mnemonic, "ldapu") || starts(mnemonic, "stlur"))) {
		op.memory = GUS_A64_MEMORY_IMM9, op.memory_bits = uint16_t(8u << (v >> 30));
		return;
	}
	if (is(0x3f200c00, 0x19000000) && !is(0xff000000, 0xd9000000)) {
		op.memory = GUS_A64_MEMORY_IMM9, op.memory_bits = uint16_t(8u << (v >> 30));
		return;
	}
	if (is(0x3f200c00, 0x1d000800)) { // the same of vector registers
		op.memory = GUS_A64_MEMORY_IMM9,
		op.memory_bits = uint16_t(8u << (v >> 30 | gus_a64_bits(v, 23, 1) << 2));
		return;
	}
	// The newer ones in the space of the tags: ordered pairs, and ordered accesses that write back.
	if (like("ldap", mnemonic.c_str()) || like("ldapp", mnemonic.c_str()) || like("ldiapp", mnemonic.c_str()) ||
	    like("stilp", mnemonic.c_str()) || like("stlp", mnemonic.c_str())) {
		op.memory_bits = uint16_t(16u << (v >> 30));
		return;
	}
	if (is(0x3f000000, 0x19000000) && (mnemonic == "ldapr" || mnemonic == "stlr")) {
		op.memory_bits = uint16_t(8u << (v >> 30));
		return;
	}
	if (is(0xff000000, 0xd9000000)) { // tags; stg with its 16 bytes
		op.memory = is(0x00000c00, 0x00000400) ? GUS_A64_MEMORY_BASE : GUS_A64_MEMORY_IMM9S;
		op.memory_scale = 4, op.memory_bits = starts(mnemonic, "st") ? 128 : 8;
		return;
	}
	if (mnemonic == "ld64b" || starts(mnemonic, "st64b")) {
		op.memory_bits = 512;
		return;
	}
	// Exclusives, ordered loads and stores, atomics: the size is in 31:30; pairs have two.
	unsigned size = 8u << (v >> 30);
	if (starts(mnemonic, "casp"))
		size = 64u << gus_a64_bits(v, 30, 1);
	else if (is(0x3fe00000, 0x08200000) || is(0x3fe00000, 0x08600000)) // stxp, ldxp
		size *= 2;
	else if (is(0xff000000, 0x19000000))
		size = 128;
	op.memory_bits = uint16_t(size);
}

void Describer::semantics(Form &f)
{
	Text mnemonic = machine.mnemonic(f.opcode);
	gus_a64_op &op = f.op;
	const Text &n = f.name;
	bool merging = f.text.find("/m") != Text::npos, sve = op.vector_bytes == 16 && f.text.find("z.") != Text::npos;

	static const struct { const char *like; unsigned idiom; } idioms[] = {
		{ "ORR?rs", GUS_A64_MOVE_ZR }, { "ORRv*i8", GUS_A64_MOVE_SAME }, { "ORR_ZZZ", GUS_A64_MOVE_SAME },
		{ "FMOV?r", GUS_A64_MOVE }, { "ADD?ri", GUS_A64_MOVE_IMM }, { "EORv*i8", GUS_A64_ZERO_SAME },
		{ "EOR_ZZZ", GUS_A64_ZERO_SAME }, { "MOVZ?i", GUS_A64_ZERO_WIDE }, { "MOVID", GUS_A64_ZERO_MOVI },
		{ "MOVIv*", GUS_A64_ZERO_MOVI },
	};
	static const struct { const char *like; unsigned first, second;
	} fusions[] = {
		{ "ADDS[WX]r*", GUS_FUSE_FLAGS, 0 },
		{ "ADDSWr?", GUS_FUSE_FLAGS, 0 },
		{ "ADDSXr*", GUS_FUSE_FLAGS, 0 },
		{ "SUBSWr?", GUS_FUSE_FLAGS, 0 },
		{ "SUBSXr*", GUS_FUSE_FLAGS, 0 },
		{ "ANDSWr?", GUS_FUSE_FLAGS, 0 },
		{ "ANDSXr?", GUS_FUSE_FLAGS, 0 },
		{ "BICS?rs", GUS_FUSE_FLAGS, 0 },
		{ "AESErr", GUS_FUSE_AES, 0 },
		{ "AESDrr", GUS_FUSE_AES, 0 },
		{ "AESMCrr", 0, GUS_FUSE_AESMC },
		{ "AESIMCrr", 0, GUS_FUSE_AESMC },
		{ "AESE_ZZZ_B", GUS_FUSE_AES, 0 },
		{ "AESD_ZZZ_B", GUS_FUSE_AES, 0 },
		{ "AESMC_ZZ_B", 0, GUS_FUSE_AESMC },
		{ "AESIMC_ZZ_B", 0, GUS_FUSE_AESMC },
		{ "MOVZ?i", GUS_FUSE_MOVW, 0 },
		{ "MOVK?i", GUS_FUSE_MOVW, GUS_FUSE_MOVK },
		{ "ADRP", GUS_FUSE_MOVW, 0 },
		{ "ADDXri", GUS_FUSE_COMPARE_ZERO, GUS_FUSE_MOVK },
		{ "ADD?r?", GUS_FUSE_COMPARE_ZERO, 0 },
		{ "SUB?r?", GUS_FUSE_COMPARE_ZERO, 0 },
		{ "AND?r?", GUS_FUSE_COMPARE_ZERO, 0 },
		{ "ORR?r?", GUS_FUSE_COMPARE_ZERO, 0 },
		{ "EOR?r?", GUS_FUSE_COMPARE_ZERO, 0 },
		{ "BIC?rs", GUS_FUSE_COMPARE_ZERO, 0 },
		{ "Bcc", 0, GUS_FUSE_COND },
		{ "BCcc", 0, GUS_FUSE_COND },
		{ "CSEL?r", 0, GUS_FUSE_COND },
		{ "CSINC?r", 0, GUS_FUSE_COND },
		{ "CSINV?r", 0, GUS_FUSE_COND },
		{ "CSNEG?r", 0, GUS_FUSE_COND },
		{ "CBZ?", 0, GUS_FUSE_CBZ },
		{ "CBNZ?", 0, GUS_FUSE_CBZ },
		{ "TBZ?", 0, GUS_FUSE_CBZ },
		{ "TBNZ?", 0, GUS_FUSE_CBZ },
	};

	for (auto &i : idioms)
		if (like(i.like, n.c_str())) {
			op.idiom = uint8_t(i.idiom);
			break;
		}
	for (auto &i : fusions)
		if (like(i.like, n.c_str())) {
			op.fuse_first = uint8_t(i.first), op.fuse_second = uint8_t(i.second);
			break;
		}
	// Which old bits survive: inserts into a register, the high halves of narrowing results, lanes loaded.
	static const char *const keeps[] = { "MOVK*", "BFM*", "INSv*", "LD?i8*", "LD?i16*", "LD?i32*", "LD?i64*",
					       "SLIv*", "SRIv*" };
	bool keep = false;
	for (const char *k : keeps)
		keep |= like(k, n.c_str());
	keep |= !sve && mnemonic.size() > 3 && mnemonic.back() == '2' && like("*n2", mnemonic.c_str());
	for (auto &o : f.operands) {
		if ((o.use & GUS_ACCESS_WRITE) && (o.use & GUS_ACCESS_READ) && !(o.use & GUS_ACCESS_IMPLICIT)) {
			if (keep && !(o.low == 5 && op.memory))
				o.use |= GUS_ACCESS_KEEP;
			if (merging && o.file == GUS_A64_FILE_V)
				o.use |= GUS_ACCESS_CONDITIONAL;
		}
	}
	if (merging)
		op.flags |= GUS_INSN_CONDITIONAL;
	if (f.text.find("(p") != Text::npos || f.text.find(" p") != Text::npos)
		for (auto &o : f.operands)
			if (o.file == GUS_A64_FILE_P && (o.low == 10 || o.low == 13) && sve)
				op.flags |= GUS_INSN_MASKED;
	if (f.text.find("/z") != Text::npos)
		op.flags |= GUS_INSN_MASKED | GUS_INSN_ZEROING;
	if (merging)
		op.flags |= GUS_INSN_MASKED;
	if (op.memory && (op.flags & GUS_INSN_MASKED))
		op.memory_use |= GUS_ACCESS_CONDITIONAL, op.flags |= GUS_INSN_CONDITIONAL;
	if (op.memory &&
	    (like("cas*", mnemonic.c_str()) || like("stxr*", mnemonic.c_str()) || like("stlxr*", mnemonic.c_str()) ||
	     like("stxp", mnemonic.c_str()) || like("stlxp", mnemonic.c_str())))
		op.memory_use |= GUS_ACCESS_CONDITIONAL, op.flags |= GUS_INSN_CONDITIONAL;
	if (mnemonic == "ldnp" || mnemonic == "stnp" || starts(mnemonic, "ldnt1") || starts(mnemonic, "stnt1"))
		op.flags |= GUS_INSN_NONTEMPORAL;
	if (mnemonic == "isb" || mnemonic == "eret")
		op.flags |= GUS_INSN_SERIALISING;
	if (op.memory == GUS_A64_MEMORY_LITERAL || mnemonic == "adr" || mnemonic == "adrp")
		op.flags |= GUS_INSN_RIP_RELATIVE;
	if (f.text.find("imm") != Text::npos)
		op.flags |= GUS_INSN_IMMEDIATE;
}

// ---- All forms

static std::vector<Form> all_forms(Machine &machine)
{
	Learner learner(machine);
	Describer describer(machine);
	std::vector<Form> forms;
	std::map<Text, std::vector<size_t>> by_text;

	learner.learn();
	for (auto &each : learner.found) {
		Form f;
		f.opcode = each.first;
		f.mask = each.second.mask(), f.value = each.second.value();
		f.samples = each.second.samples;
		describer.describe(f);
		forms.push_back(f);
	}
	// Two encodings may do the same in the same words (the alternative ones of SVE); they stay apart by a number.
	std::sort(forms.begin(), forms.end(), [](const Form &a, const Form &b) {
		return a.text != b.text ? a.text < b.text : a.value < b.value; });
	for (size_t i = 0; i < forms.size(); i++)
		by_text[forms[i].text].push_back(i);
	for (auto &group : by_text)
		for (size_t k = 1; k < group.second.size(); k++)
			forms[group.second[k]].text += " #" + std::to_string(k + 1);
	for (const Text &complaint : describer.complaints)
		errs() << complaint << "\n";
	return forms;
}

#include "emit.h"
#include "tables.h"

int main(int argc, char **argv)
{
	Text verb = argc > 1 ? argv[1] : "";

	if (!((verb == "tables" || verb == "oracle") && argc == 3) &&
	    !((verb == "forms" || verb == "check" || verb == "list") && argc == 2)) {
		fprintf(stderr, "usage: arm64-gen forms | tables DIR | oracle CPU | check | list\n");
		return 2;
	}
	Machine machine;
	if (verb == "oracle")
		return oracle(machine, argv[2]);
	std::vector<Form> forms = all_forms(machine);
	if (verb == "forms")
		return emit_forms(forms);
	if (verb == "check")
		return check(machine, forms);
	if (verb == "list") {
		for (const Form &f : forms)
			printf("%-24s %08x %08x %2d %s\n", f.name.c_str(), f.mask, f.value, f.op.kind, f.text.c_str());
		return 0;
	}
	return emit_tables(machine, forms, argv[2]);
}
