// SPDX-License-Identifier: MIT
// LLVM's scheduling models as our tables see them: ports, groups closed under union, and for an instruction its
// figures. Knows nothing of a particular ISA, nor of what the files look like.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

// What all CPUs of an ISA share: instructions, encoder, decoder.
class Isa {
public:
	Isa(const std::string &triple, const std::string &features);
	// The bytes of an instruction; empty if it cannot be encoded.
	std::string encode(const llvm::MCInst &inst) const;
	// The instruction at bytes, and its length; 0 if there is none.
	size_t decode(const uint8_t *bytes, size_t size, llvm::MCInst &inst) const;
	llvm::StringRef name(unsigned opcode) const { return instructions->getName(opcode); }

	llvm::Triple triple;
	const llvm::Target *target;
	llvm::MCTargetOptions options;
	std::unique_ptr<llvm::MCRegisterInfo> registers;
	std::unique_ptr<llvm::MCAsmInfo> assembler;
	std::unique_ptr<llvm::MCInstrInfo> instructions;
	std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
	std::unique_ptr<llvm::MCContext> context;
	std::unique_ptr<llvm::MCCodeEmitter> emitter;
	std::unique_ptr<llvm::MCDisassembler> disassembler;
};

// What a row says. Uses are by mask of ports, each uop on the smallest group that it may use.
struct Figures {
	unsigned uops = 0;
	int latency = 0, loadlat = 0;
	bool guessed = false;
	std::map<uint64_t, unsigned> uses;
	std::map<std::string, unsigned> units;

	bool operator<(const Figures &o) const;
	bool operator==(const Figures &o) const;
};

struct Param { std::string name, value, unit; };

class Cpu {
public:
	// The model that LLVM has for name. prefix: what its resources' names begin with, as "SKL".
	Cpu(const Isa &isa, const std::string &name, const std::string &prefix);
	// The number of the instruction's figures in rows; -1 if the model does not have it.
	int row(const llvm::MCInst &inst);
	std::vector<Figures> rows; // those asked for so far, each once
	// The number of a row that is not of the model.
	int add(const Figures &figures);
	// Becomes a CPU without any row, that has these instead of the model's.
	void replace(const std::vector<std::string> &ports, const std::vector<std::string> &units,
		     const std::vector<Param> &params);
	// A name for some of the ports: "p0156", "alu03_br1".
	std::string group_name(uint64_t mask) const;
	// Whether LLVM says that the CPU has a feature, such as "avx512f".
	bool has(const std::string &feature) const;
	// Adds the masks to those that the model declares, and closes all under the union of those that overlap.
	std::vector<uint64_t> closed_groups(const std::vector<uint64_t> &masks) const;

	std::string name, title;
	std::vector<std::string> ports, units; // in order of their bits; sorted
	std::vector<Param> params;

private:
	enum Loads { LOADS_NOTHING, ONLY_LOADS, LOADS_AND_COMPUTES };
	Loads loads(const llvm::MCInst &inst) const;
	std::optional<Figures> figures(const llvm::MCSchedClassDesc *c, Loads loads) const;
	uint64_t mask_of(unsigned resource) const;
	void name_ports(const std::string &prefix);
	void read_params(const std::string &prefix);

	const Isa &isa;
	std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
	const llvm::MCSchedModel &model;
	std::vector<uint64_t> masks;         // by resource; 0 for units and what means "none of the ports"
	std::vector<std::string> unit_names; // by resource; empty for ports and groups
	std::vector<bool> invalid;           // by resource: instructions that use it do not exist on this CPU
	std::map<Figures, int> numbers;      // of rows
	std::map<std::pair<unsigned, Loads>, int> known; // rows by scheduling class and what it loads
	bool fuses;                          // its model counts some uops that are fused as one
};
