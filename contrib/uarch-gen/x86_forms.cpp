// SPDX-License-Identifier: MIT
#include "x86_forms.h"

#include <algorithm>
#include <set>

extern "C" {
#define class class_ // a field's name in C
#include "symbolizer/insn/insn.h"
#undef class
}

using namespace llvm;

namespace {

// The choices of one instruction: each number picks among the alternatives of its kind.
struct Choice {
	unsigned registers, memory, immediate, condition;
};
const unsigned REGISTER_CHOICES = 9, MEMORY_CHOICES = 14, IMMEDIATE_CHOICES = 6;
const int64_t immediates[IMMEDIATE_CHOICES] = { 0x12, 1, 0, -1, 0x1234, 0x12345678 };

class Maker {
public:
	explicit Maker(const Isa &isa);
	// False if the choice makes no sense for the opcode.
	bool make(unsigned opcode, const Choice &choice, MCInst &inst) const;
	// Which kinds of operands an opcode has.
	struct Kinds { bool memory, immediate, condition, rounding, high; unsigned registers; };
	Kinds kinds(unsigned opcode) const;

private:
	int class_of(const MCOperandInfo &info) const { return isa.instructions->getOpRegClassID(info, mode); }
	unsigned memory_run(const MCInstrDesc &desc, unsigned at) const;
	bool memory(MCInst &inst, const MCInstrDesc &desc, unsigned at, unsigned run, unsigned shape) const;
	MCRegister pick(int register_class, unsigned nth, bool upper, bool high) const;
	MCRegister named(const char *name) const;

	const Isa &isa;
	unsigned mode;
	std::vector<MCRegister> by_number; // numbers of registers that stand for no operand
	MCRegister rax, rbp, rsp, rsi, rdi, rcx, rdx, r13, rip;
};

Maker::Maker(const Isa &isa_) : isa(isa_), mode(isa_.subtarget->getHwMode(MCSubtargetInfo::HwMode_RegInfo))
{
	rax = named("RAX");
	rbp = named("RBP");
	rsp = named("RSP");
	rsi = named("RSI");
	rdi = named("RDI");
	rcx = named("RCX");
	rdx = named("RDX");
	r13 = named("R13");
	rip = named("RIP");
}

MCRegister Maker::named(const char *name) const
{
	for (unsigned r = 1; r < isa.registers->getNumRegs(); r++)
		if (StringRef(isa.registers->getName(r)) == name)
			return r;
	abort();
}

// The nth register of a class, in an order that begins with those that are not special for any instruction. upper:
// begin with the eighth. high: ah, ch, dh, bh come first.
MCRegister Maker::pick(int register_class, unsigned nth, bool upper, bool high) const
{
	static const unsigned order[] = { 3, 1, 2, 5, 6, 7, 0, 4 };
	const MCRegisterClass &c = isa.registers->getRegClass(register_class);
	std::vector<std::pair<unsigned, MCRegister>> list;

	for (MCRegister r : c) {
		StringRef name = isa.registers->getName(r);
		unsigned number = isa.registers->getEncodingValue(r);
		bool is_high = name == "AH" || name == "BH" || name == "CH" || name == "DH";
		unsigned key = number < 8 ? std::find(order, order + 8, number) - order : number;

		if (name.contains("IP") || name.contains("IZ") || name == "SSP" || number >= 16)
			continue;
		if (is_high != high && (high || is_high))
			key += 100;
		if (name == "RSP" || name == "ESP" || name == "SP" || name == "SPL" || name == "K0")
			key += 50;
		if (upper)
			key = number >= 8 ? number - 8 : number + 30;
		list.push_back({ key, r });
	}
	std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) {
		return std::make_pair(a.first, a.second.id()) < std::make_pair(b.first, b.second.id());
	});
	return list.empty() ? MCRegister() : list[nth % list.size()].second;
}

// How many operands from `at` on are one or two addresses; 0 if that is none. Those of lea are marked as nothing, but
// have the shape of an address: base, scale, index, displacement, segment.
unsigned Maker::memory_run(const MCInstrDesc &desc, unsigned at) const
{
	unsigned run = 0, n = desc.getNumOperands();

	while (at + run < n && run < 5 && desc.operands()[at + run].OperandType == MCOI::OPERAND_MEMORY)
		run++;
	if (run || at + 5 > n || class_of(desc.operands()[at + 1]) >= 0 || class_of(desc.operands()[at + 3]) >= 0 ||
	    class_of(desc.operands()[at + 4]) < 0)
		return run;
	int segment = class_of(desc.operands()[at + 4]);
	return StringRef(isa.registers->getRegClassName(&isa.registers->getRegClass(segment))) == "SEGMENT_REG" ? 5 : 0;
}

// Operands of memory, of which `run` follow each other: five for an address; one or two for the implicit addresses of
// string instructions; two for an absolute one.
bool Maker::memory(MCInst &inst, const MCInstrDesc &desc, unsigned at, unsigned run, unsigned shape) const
{
	struct Shape { MCRegister base; unsigned scale; bool index; int64_t displacement; };
	const Shape shapes[MEMORY_CHOICES] = {
		{ rsi, 1, false, 0 },      { rsi, 1, false, 0x12 }, { rsi, 1, false, 0x123456 }, { rsi, 1, true, 0 },
		{ rsi, 1, true, 0x12 },    { rsi, 1, true, 0x123456 }, { rsi, 4, true, 0 },      { rsi, 4, true, 0x12 },
		{ rsi, 4, true, 0x123456 }, { MCRegister(), 4, true, 0x123456 }, { rip, 1, false, 0x123456 },
		{ rbp, 1, true, 0 },       { MCRegister(), 1, false, 0x123456 }, { MCRegister(), 1, true, 0x123456 },
	};
	const Shape &s = shapes[shape];
	int index_class;

	if (run < 5) {
		if (shape)
			return false;
		if (desc.operands()[at].RegClass < 0) {
			inst.addOperand(MCOperand::createImm(0x12345678));
			inst.addOperand(MCOperand::createReg(MCRegister()));
			return run == 2;
		}
		// Of two addresses the one without a segment is that of the destination.
		for (unsigned k = 0; k < run; k++)
			if (run - k >= 2 && StringRef(isa.registers->getRegClassName(&isa.registers->getRegClass(
						    desc.operands()[at + k + 1].RegClass))).contains("SEGMENT")) {
				inst.addOperand(MCOperand::createReg(rsi));
				inst.addOperand(MCOperand::createReg(MCRegister()));
				k++;
			} else {
				inst.addOperand(MCOperand::createReg(rdi));
			}
		return true;
	}
	index_class = class_of(desc.operands()[at + 2]);
	StringRef class_name = isa.registers->getRegClassName(&isa.registers->getRegClass(index_class));
	bool vector = class_name.starts_with("VR");
	if (vector && s.base == rip)
		return false;
	inst.addOperand(MCOperand::createReg(s.base));
	inst.addOperand(MCOperand::createImm(s.scale));
	inst.addOperand(MCOperand::createReg(vector    ? pick(index_class, 5, false, false)
					     : s.index ? rcx
						       : MCRegister()));
	inst.addOperand(MCOperand::createImm(s.displacement));
	inst.addOperand(MCOperand::createReg(MCRegister()));
	return true;
}

Maker::Kinds Maker::kinds(unsigned opcode) const
{
	const MCInstrDesc &desc = isa.instructions->get(opcode);
	Kinds k = {};
	bool wide = false;

	for (unsigned i = 0; i < desc.getNumOperands(); i++) {
		const MCOperandInfo &info = desc.operands()[i];

		if (unsigned run = memory_run(desc, i)) {
			k.memory = true;
			i += run - 1;
		} else if (class_of(info) >= 0) {
			StringRef name = isa.registers->getRegClassName(&isa.registers->getRegClass(class_of(info)));

			k.registers++;
			k.high |= name == "GR8";
			wide |= name.starts_with("GR64");
		} else if (info.OperandType == MCOI::OPERAND_FIRST_TARGET) {
			k.rounding = true;
		} else if (info.OperandType == MCOI::OPERAND_FIRST_TARGET + 1) {
			k.condition = true;
		} else {
			k.immediate = true;
		}
	}
	k.high &= !wide; // a REX prefix and a high byte exclude each other
	return k;
}

// Register choices: 0 all different; 1 the last two equal; 2 all equal; 3 the first two equal; 4 all different from the
// upper eight; 5 the first is a high byte; 6 the last is one; 7 all are; 8 all are the same one.
bool Maker::make(unsigned opcode, const Choice &choice, MCInst &inst) const
{
	const MCInstrDesc &desc = isa.instructions->get(opcode);
	unsigned n = desc.getNumOperands(), seen = 0, total = 0;
	std::vector<bool> explicit_register(n, false);

	inst.clear();
	inst.setOpcode(opcode);
	inst.setFlags(0);
	auto is_mask = [this](int c) {
		return StringRef(isa.registers->getRegClassName(&isa.registers->getRegClass(c))).starts_with("VK");
	};
	for (unsigned i = 0; i < n; i++) {
		const MCOperandInfo &info = desc.operands()[i];
		int c = class_of(info);

		if (unsigned run = memory_run(desc, i)) {
			i += run - 1;
			continue;
		}
		explicit_register[i] = c >= 0 && !is_mask(c);
		if (explicit_register[i] && desc.getOperandConstraint(i, MCOI::TIED_TO) < 0)
			total++;
	}
	// Equal operands are meant as the sources and destination are written, without those that are tied to another:
	// with a tied one, a destructive two-operand instruction has its two.
	for (unsigned i = 0; i < n; i++) {
		const MCOperandInfo &info = desc.operands()[i];
		int tied_to = desc.getOperandConstraint(i, MCOI::TIED_TO), c = class_of(info);

		if (unsigned run = memory_run(desc, i)) {
			if (!memory(inst, desc, i, run, choice.memory))
				return false;
			i += run - 1;
		} else if (tied_to >= 0) {
			inst.addOperand(inst.getOperand(tied_to));
		} else if (c >= 0) {
			unsigned nth = seen;
			bool high = false;

			if (!explicit_register[i]) {
				inst.addOperand(MCOperand::createReg(pick(c, i == 0 ? 1 : 2, false, false)));
				continue;
			}
			if ((choice.registers == 1 && seen + 1 == total && total > 1) ||
			    (choice.registers == 3 && seen == 1))
				nth = seen - 1;
			else if (choice.registers == 2 || choice.registers == 8)
				nth = 0;
			if (choice.registers >= 7)
				high = true;
			else if (choice.registers == 5)
				high = seen == 0;
			else if (choice.registers == 6)
				high = seen + 1 == total;
			MCRegister r = pick(c, nth, choice.registers == 4, high);
			if (!r)
				return false;
			inst.addOperand(MCOperand::createReg(r));
			seen++;
		} else if (info.OperandType == MCOI::OPERAND_FIRST_TARGET) {
			inst.addOperand(MCOperand::createImm(choice.condition & 3));
		} else if (info.OperandType == MCOI::OPERAND_FIRST_TARGET + 1) {
			inst.addOperand(MCOperand::createImm(choice.condition));
		} else {
			inst.addOperand(MCOperand::createImm(immediates[choice.immediate]));
		}
	}
	return true;
}

// Opcodes of code generation that have an encoding's form, but not the operands that it needs.
bool encodable(StringRef name)
{
	return !name.starts_with("EH_RETURN");
}

bool ours(const uint8_t *bytes, size_t size, Sample &sample)
{
	gus_insn_info info;
	char text[GUS_INSN_FORM_MAX];

	sample.form.clear();
	if (gus_insn_analyse(GUS_ISA_X86_64, bytes, size, &info) != size || !info.form ||
	    !gus_insn_form_text(GUS_ISA_X86_64, bytes, size, text, sizeof(text)))
		return false;
	sample.form = text;
	sample.class_name = gus_insn_class_name((gus_insn_class)info.class_);
	return true;
}

// What LLVM decodes and no CPU of ours does, as it comes when tables in code are decoded: REX2 where there is no APX,
// VEX and EVEX behind a prefix that they exclude, moves to cs and to segment registers that do not exist, and lock
// before what cannot be locked.
bool refused(StringRef bytes, StringRef opcode)
{
	static const char *const lockable[] = { "ADD", "ADC", "AND", "BTC", "BTR", "BTS", "CMPXCHG", "DEC", "INC",
						"NEG", "NOT", "OR",  "SBB", "SUB", "XOR", "XADD",    "XCHG" };
	bool locked = false, rex = false, operand = false;
	size_t at = 0;

	for (; at < bytes.size(); at++) {
		uint8_t byte = bytes[at];

		if (byte == 0xf0)
			locked = true;
		else if (byte >> 4 == 4)
			rex = true;
		else if (byte == 0x66 || byte == 0xf2 || byte == 0xf3)
			operand = true;
		else if (!StringRef("\x26\x2e\x36\x3e\x64\x65\x67").contains(char(byte)))
			break;
	}
	if (at == bytes.size())
		return true;
	uint8_t first = bytes[at], segment = at + 1 < bytes.size() ? uint8_t(bytes[at + 1]) >> 3 & 7 : 0;
	if (first == 0xd5 || (first == 0x8e && (segment == 1 || segment > 5)))
		return true;
	if (first == 0xc4 || first == 0xc5 || first == 0x62)
		return locked || rex || operand;
	return locked && (!opcode.contains('m') && opcode != "CMPXCHG8B" && opcode != "CMPXCHG16B" ? true :
			  !std::any_of(std::begin(lockable), std::end(lockable), [&](const char *stem) {
				  StringRef rest = opcode;
				  return rest.consume_front(stem) && !rest.empty() && isdigit(rest[0]) &&
					 !rest.contains("rm");
			  }));
}

} // namespace

size_t sample_at(const Isa &isa, const uint8_t *bytes, size_t size, Sample &sample)
{
	size_t at = 0;

	for (;;) {
		size_t length = isa.decode(bytes + at, size - at, sample.inst);

		if (!length)
			return 0;
		at += length;
		if (!isa.name(sample.inst.getOpcode()).ends_with("_PREFIX"))
			break;
		if (at >= 14)
			return 0;
	}
	sample.bytes.assign((const char *)bytes, at);
	if (refused(sample.bytes, isa.name(sample.inst.getOpcode())))
		return 0;
	ours(bytes, at, sample);
	return at;
}

Counts for_all_samples(const Isa &isa, const std::function<void(const Sample &)> &each)
{
	static const char *const prefixes[] = { "\xf0", "\xf2", "\xf3", "\x64", "\x66", "\x67", "\x2e" };
	Maker maker(isa);
	Counts counts = {};
	std::set<std::string> done;
	Sample sample;
	MCInst inst;

	auto look = [&](const std::string &bytes, int opcode) {
		if (!done.insert(bytes).second)
			return;
		counts.encoded++;
		if (sample_at(isa, (const uint8_t *)bytes.data(), bytes.size(), sample) != bytes.size() ||
		    (opcode >= 0 && sample.inst.getOpcode() != unsigned(opcode)))
			counts.other_opcode++;
		else if (sample.form.empty())
			counts.no_form++;
		else
			counts.samples++, each(sample);
	};
	for (unsigned opcode = 1; opcode < isa.instructions->getNumOpcodes(); opcode++) {
		const MCInstrDesc &desc = isa.instructions->get(opcode);
		bool legacy;

		if (desc.isPseudo() || (desc.TSFlags & 0x7f) == 0 || isa.name(opcode).ends_with("_PREFIX") ||
		    !encodable(isa.name(opcode)))
			continue;
		counts.opcodes++;
		done.clear();
		Maker::Kinds kinds = maker.kinds(opcode);
		Choice c;
		for (c.registers = 0; c.registers < (kinds.registers > 0 ? kinds.high ? REGISTER_CHOICES : 5 : 1);
		     c.registers++)
			for (c.memory = 0; c.memory < (kinds.memory ? MEMORY_CHOICES : 1); c.memory++)
				for (c.immediate = 0; c.immediate < (kinds.immediate ? IMMEDIATE_CHOICES : 1);
				     c.immediate++)
					for (c.condition = 0; c.condition < (kinds.condition  ? 16
									     : kinds.rounding ? 4
											      : 1);
					     c.condition++) {
						if (!maker.make(opcode, c, inst))
							continue;
						std::string bytes = isa.encode(inst);
						if (bytes.empty() || bytes.size() > 15)
							continue;
						look(bytes, opcode);
						legacy = uint8_t(bytes[0]) != 0xc4 && uint8_t(bytes[0]) != 0xc5 &&
							 uint8_t(bytes[0]) != 0x62;
						for (const char *prefix : prefixes)
							if (legacy)
								look(prefix + bytes, -1);
					}
	}
	return counts;
}
