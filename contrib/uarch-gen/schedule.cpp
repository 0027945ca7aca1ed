// SPDX-License-Identifier: MIT
#include "schedule.h"

#include <algorithm>
#include <bitset>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCTargetOptions.h"

using namespace llvm;

Isa::Isa(const std::string &triple_name, const std::string &features) : triple(triple_name)
{
	std::string error;

	target = TargetRegistry::lookupTarget(triple, error);
	if (!target) {
		fprintf(stderr, "uarch-gen: %s\n", error.c_str());
		exit(1);
	}
	registers.reset(target->createMCRegInfo(triple));
	assembler.reset(target->createMCAsmInfo(*registers, triple, options));
	instructions.reset(target->createMCInstrInfo());
	subtarget.reset(target->createMCSubtargetInfo(triple, "", features));
	context = std::make_unique<MCContext>(triple, assembler.get(), registers.get(), subtarget.get());
	emitter.reset(target->createMCCodeEmitter(*instructions, *context));
	disassembler.reset(target->createMCDisassembler(*subtarget, *context));
}

std::string Isa::encode(const MCInst &inst) const
{
	SmallVector<char, 32> bytes;
	SmallVector<MCFixup, 4> fixups;

	emitter->encodeInstruction(inst, bytes, fixups, *subtarget);
	return std::string(bytes.begin(), bytes.end());
}

size_t Isa::decode(const uint8_t *bytes, size_t size, MCInst &inst) const
{
	uint64_t length = 0;

	inst.clear();
	inst.setFlags(0);
	if (disassembler->getInstruction(inst, length, ArrayRef<uint8_t>(bytes, size), 0, nulls()) !=
	    MCDisassembler::Success)
		return 0;
	return length;
}

static auto tied(const Figures &f)
{
	return std::tie(f.uops, f.latency, f.loadlat, f.guessed, f.uses, f.units);
}
bool Figures::operator<(const Figures &o) const { return tied(*this) < tied(o); }
bool Figures::operator==(const Figures &o) const { return tied(*this) == tied(o); }

Cpu::Cpu(const Isa &isa_, const std::string &name_, const std::string &prefix)
	: name(name_), isa(isa_),
	  subtarget(isa_.target->createMCSubtargetInfo(isa_.triple, name_, "")), model(subtarget->getSchedModel())
{
	fuses = prefix.compare(0, 2, "Zn") != 0; // AMD counts macro-ops
	name_ports(prefix);
	read_params(prefix);
}

// "Port05" to "p5", "Port11" to "pB" where all ports have two digits and no tens but 1; "VPort00" to "v0"; "ALU0" to
// "alu0". Ports of Intel's CPUs are then called as uops.info calls them.
static std::string port_name(const std::string &resource, bool hexadecimal)
{
	size_t digits = resource.find_first_of("0123456789");
	std::string stem = resource.substr(0, digits), number = resource.substr(digits);

	if (stem == "Port")
		stem = "p";
	else if (stem == "VPort")
		stem = "v";
	else if (stem == "FPU")
		stem = "fp";
	else if (stem == "BRU")
		stem = "br";
	for (char &c : stem)
		c = tolower(c);
	int value = atoi(number.c_str());
	if (value >= 10 && hexadecimal)
		return stem + char('A' + value - 10);
	return stem + std::to_string(value);
}

// Ports are the resources of one unit that are not dividers and the like, and the anonymous units of those that have
// several without naming them.
void Cpu::name_ports(const std::string &prefix)
{
	unsigned n = model.getNumProcResourceKinds();
	std::vector<std::string> short_names(n);
	bool hexadecimal = true;

	masks.assign(n, 0);
	unit_names.assign(n, "");
	invalid.assign(n, false);
	for (unsigned i = 1; i < n; i++) {
		const MCProcResourceDesc *r = model.getProcResource(i);
		StringRef rest(r->Name);

		rest.consume_front(prefix);
		short_names[i] = rest.str();
		if (rest.starts_with("Port2") && r->NumUnits == 1 && rest.size() == 6)
			hexadecimal = false;
	}
	struct Found { std::string name; unsigned resource; };
	std::vector<Found> found;
	std::map<unsigned, std::vector<std::string>> of_resource;
	for (unsigned i = 1; i < n; i++) {
		const MCProcResourceDesc *r = model.getProcResource(i);
		StringRef rest(short_names[i]);

		if (rest.contains("Invalid")) {
			invalid[i] = true;
		} else if (rest.contains("Divider") || rest.contains("Multiplier")) {
			unit_names[i] = rest.lower();
		} else if (!r->SubUnitsIdxBegin && !r->SuperIdx) {
			size_t digits = rest.find_first_of("0123456789");
			std::string stem = digits == StringRef::npos ? rest.str() : rest.substr(0, digits).str();
			StringRef numbers = digits == StringRef::npos ? "" : rest.substr(digits);

			if (r->NumUnits == 1)
				of_resource[i].push_back(port_name(rest.str(), hexadecimal));
			else
				for (unsigned k = 0; k < r->NumUnits; k++)
					of_resource[i].push_back(port_name(stem + (numbers.size() == r->NumUnits
											   ? std::string(1, numbers[k])
											   : std::to_string(k)),
									   hexadecimal));
		}
	}
	std::set<std::string> names;
	for (auto &[i, list] : of_resource)
		names.insert(list.begin(), list.end());
	ports.assign(names.begin(), names.end());
	std::stable_sort(ports.begin(), ports.end(), [](const std::string &a, const std::string &b) {
		size_t i = a.find_first_of("0123456789AB"), k = b.find_first_of("0123456789AB");
		auto key = [](const std::string &s, size_t at) {
			return std::make_tuple(s.substr(0, at), s.size() - at, s.substr(at));
		};
		return key(a, i) < key(b, k);
	});
	for (auto &[i, list] : of_resource)
		for (const std::string &one : list)
			masks[i] |= UINT64_C(1) << (std::find(ports.begin(), ports.end(), one) - ports.begin());
	for (unsigned i = 1; i < n; i++)
		masks[i] = invalid[i] || !unit_names[i].empty() ? 0 : mask_of(i);
	std::set<std::string> unit_set(unit_names.begin(), unit_names.end());
	unit_set.erase("");
	units.assign(unit_set.begin(), unit_set.end());
}

// A group is its members; what has a parent is as many of the parent's ports as it has units.
uint64_t Cpu::mask_of(unsigned i) const
{
	const MCProcResourceDesc *r = model.getProcResource(i);
	uint64_t mask = 0, parent;

	if (r->SubUnitsIdxBegin) {
		for (unsigned k = 0; k < r->NumUnits; k++)
			mask |= mask_of(r->SubUnitsIdxBegin[k]);
		return mask;
	}
	if (!r->SuperIdx)
		return masks[i];
	parent = mask_of(r->SuperIdx);
	for (unsigned k = 0; k < r->NumUnits && parent; k++) {
		mask |= parent & -parent;
		parent &= parent - 1;
	}
	return mask;
}

// Buffers by the resource that stands in front of them.
static const struct { const char *resource, *param; } buffers[] = {
	{ "PortAny", "rs" },
	{ "Port00_01_05_06_11", "rs" },
	{ "Port02_03_07_08_10", "rs_memory" },
	{ "Port04_09", "rs_store_data" },
	{ "Port00_01_02_03_04_05", "rs_int" },
	{ "VPort00_01_02_03", "rs_vector" },
	{ "Port20_21_22_25_26_27", "rs_memory" },
	{ "Port10_11", "rs_store_data" },
	{ "AGU", "rs_memory" },
	{ "ALU", "rs_int" },
	{ "Int", "rs_int" },
	{ "FPU", "rs_vector" },
	{ "FP", "rs_vector" },
	{ "Load", "load_buffer" },
	{ "Store", "store_buffer" },
};

void Cpu::read_params(const std::string &prefix)
{
	auto add = [this](const char *param, int value, const char *unit) {
		if (value > 0)
			params.push_back({ param, std::to_string(value), unit });
	};

	add("issue_width", model.IssueWidth, "uops");
	add("l1d_latency", model.LoadLatency, "cycles");
	add("mispredict_penalty", model.MispredictPenalty, "cycles");
	int rob = model.MicroOpBufferSize;
	if (model.hasExtraProcessorInfo()) {
		const MCExtraProcessorInfo &extra = model.getExtraProcessorInfo();

		if (extra.ReorderBufferSize)
			rob = extra.ReorderBufferSize;
		add("retire_width", extra.MaxRetirePerCycle, "uops");
		for (unsigned i = 0; i < extra.NumRegisterFiles; i++) {
			StringRef file(extra.RegisterFiles[i].Name);

			if (file.contains("Integer"))
				add("int_registers", extra.RegisterFiles[i].NumPhysRegs, "entries");
			else if (file.contains("Fp"))
				add("vector_registers", extra.RegisterFiles[i].NumPhysRegs, "entries");
		}
	}
	add("rob", rob, "entries");
	for (unsigned i = 1; i < model.getNumProcResourceKinds(); i++)
		for (const auto &b : buffers)
			if (prefix + b.resource == model.getProcResource(i)->Name)
				add(b.param, model.getProcResource(i)->BufferSize, "entries");
	std::sort(params.begin(), params.end(), [](const Param &a, const Param &b) { return a.name < b.name; });
}

bool Cpu::has(const std::string &feature) const
{
	return subtarget->checkFeatures("+" + feature);
}

std::string Cpu::group_name(uint64_t mask) const
{
	std::string out, last;

	for (size_t i = 0; i < ports.size(); i++) {
		if (!(mask >> i & 1))
			continue;
		size_t digits = ports[i].find_first_of("0123456789AB");
		std::string stem = ports[i].substr(0, digits), number = ports[i].substr(digits);

		if (stem != last)
			out += (out.empty() ? "" : "_") + stem;
		else if (number.size() > 1)
			out += ".";
		out += number;
		last = stem;
	}
	return out;
}

std::vector<uint64_t> Cpu::closed_groups(const std::vector<uint64_t> &more) const
{
	std::set<uint64_t> all;
	auto several = [](uint64_t mask) { return std::bitset<64>(mask).count() > 1; };

	for (uint64_t mask : more)
		if (several(mask))
			all.insert(mask);
	for (bool grew = true; grew;) {
		std::vector<uint64_t> list(all.begin(), all.end());

		grew = false;
		for (uint64_t a : list)
			for (uint64_t b : list)
				if (a & b)
					grew |= all.insert(a | b).second;
	}
	std::vector<uint64_t> out(all.begin(), all.end());
	std::sort(out.begin(), out.end(), [](uint64_t a, uint64_t b) {
		return std::make_pair(std::bitset<64>(a).count(), a) < std::make_pair(std::bitset<64>(b).count(), b);
	});
	return out;
}

// LLVM counts a use of a group on every group that contains it. To have it back, what smaller groups account for is
// taken off each, from the smallest up; groups of the same ports count the same uses.
static void split_uses(const std::map<uint64_t, unsigned> &totals, std::map<uint64_t, unsigned> &uses)
{
	std::vector<std::pair<uint64_t, unsigned>> list(totals.begin(), totals.end());

	std::stable_sort(list.begin(), list.end(), [](const auto &a, const auto &b) {
		return std::bitset<64>(a.first).count() < std::bitset<64>(b.first).count();
	});
	for (const auto &[mask, total] : list) {
		unsigned inside = 0;

		for (const auto &[smaller, cycles] : uses)
			if (!(smaller & ~mask))
				inside += cycles;
		if (total > inside)
			uses[mask] = total - inside;
	}
}

// Whether an instruction that loads has other inputs than its address: registers, flags, or what it writes back.
Cpu::Loads Cpu::loads(const MCInst &inst) const
{
	const MCInstrDesc &desc = isa.instructions->get(inst.getOpcode());

	if (!desc.mayLoad())
		return LOADS_NOTHING;
	for (MCPhysReg r : desc.implicit_uses()) {
		StringRef name = isa.registers->getName(r);

		if (name == "RSP" || name == "RSI" || name == "RDI") // the stack, or a string: an address
			return ONLY_LOADS;
		if (name == "EFLAGS")
			return LOADS_AND_COMPUTES;
	}
	if (desc.mayStore())
		return LOADS_AND_COMPUTES;
	for (unsigned i = desc.getNumDefs(); i < desc.getNumOperands(); i++)
		if (desc.operands()[i].OperandType != MCOI::OPERAND_MEMORY && desc.operands()[i].RegClass >= 0)
			return LOADS_AND_COMPUTES;
	return ONLY_LOADS;
}

int Cpu::row(const MCInst &inst)
{
	const MCInstrDesc &desc = isa.instructions->get(inst.getOpcode());
	unsigned number = desc.getSchedClass();

	while (model.getSchedClassDesc(number)->isVariant()) {
		number = subtarget->resolveVariantSchedClass(number, &inst, isa.instructions.get(),
							     model.getProcessorID());
		if (!number)
			return -1;
	}
	Loads kind = loads(inst);
	auto [at, fresh] = known.insert({ { number, kind }, -1 });
	if (!fresh)
		return at->second;
	std::optional<Figures> f = figures(model.getSchedClassDesc(number), kind);
	if (!f)
		return -1;
	return at->second = add(*f);
}

int Cpu::add(const Figures &f)
{
	auto [same, added] = numbers.insert({ f, (int)rows.size() });

	if (added)
		rows.push_back(f);
	return same->second;
}

void Cpu::replace(const std::vector<std::string> &new_ports, const std::vector<std::string> &new_units,
		  const std::vector<Param> &new_params)
{
	ports = new_ports;
	units = new_units;
	params = new_params;
	rows.clear();
	numbers.clear();
	known.clear();
}

std::optional<Figures> Cpu::figures(const MCSchedClassDesc *c, Loads loads) const
{
	if (!c->isValid())
		return std::nullopt;
	Figures f;
	std::map<uint64_t, unsigned> totals;
	f.uops = c->NumMicroOps;
	for (const MCWriteProcResEntry *e = subtarget->getWriteProcResBegin(c); e != subtarget->getWriteProcResEnd(c);
	     e++) {
		if (invalid[e->ProcResourceIdx])
			return std::nullopt;
		if (!unit_names[e->ProcResourceIdx].empty())
			f.units[unit_names[e->ProcResourceIdx]] += e->ReleaseAtCycle;
		else if (e->ReleaseAtCycle > 0)
			totals[masks[e->ProcResourceIdx]] =
				std::max<unsigned>(totals[masks[e->ProcResourceIdx]], e->ReleaseAtCycle);
	}
	split_uses(totals, f.uses);
	if (fuses) {
		unsigned executed = 0;

		for (const auto &[mask, cycles] : f.uses)
			executed += cycles;
		f.uops = std::max(f.uops, executed); // a store's address and data count as one otherwise
	} else if (name == "znver2" && loads == LOADS_AND_COMPUTES && f.uops > 1) {
		f.uops--; // this model alone counts the load of a macro-op by itself
	}
	for (auto i = f.units.begin(); i != f.units.end();)
		i = i->second ? std::next(i) : f.units.erase(i);
	for (unsigned i = 0; i < c->NumWriteLatencyEntries; i++) {
		int cycles = subtarget->getWriteLatencyEntry(c, i)->Cycles;

		if (cycles >= 1000 || cycles < 0) // "unknown, very long"
			f.guessed = true;
		else
			f.latency = std::max(f.latency, cycles);
	}
	f.guessed |= f.latency == 100; // what LLVM writes for microcode and system instructions that nobody timed
	if (loads != LOADS_NOTHING) {
		// The operands that are wanted late: the load of the instruction's other operand goes ahead. Where a
		// class says nothing of it, as those of read-modify-write do, other inputs wait no more for the load
		// than theirs would.
		int late = 0;

		f.loadlat = f.latency;
		for (unsigned i = 0; i < c->NumReadAdvanceEntries; i++)
			late = std::max(late, subtarget->getReadAdvanceEntries(*c)[i].Cycles);
		if (!late && loads == LOADS_AND_COMPUTES && !f.guessed)
			late = std::min<int>(model.LoadLatency, std::max(f.latency - 1, 0));
		f.latency = std::max(f.latency - late, 0);
	}
	return f;
}
