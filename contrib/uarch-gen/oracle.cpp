// SPDX-License-Identifier: MIT
#include "oracle.h"

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86Disassembler();
}

const CpuEntry x86_cpus[] = {
	{ "alderlake", "ADLP", "Intel Alder Lake, P core (Golden Cove)", "adl adl-p goldencove", "AlderlakePModel" },
	{ "broadwell", "BW", "Intel Broadwell", "bdw", "BroadwellModel" },
	{ "haswell", "HW", "Intel Haswell", "hsw", "HaswellModel" },
	{ "icelake-server", "ICX", "Intel Ice Lake, server (Sunny Cove)", "icx", "IceLakeModel" },
	{ "lunarlake", "LNLP", "Intel Lunar Lake, P core (Lion Cove)", "lnl lnl-p lioncove", "LunarlakePModel" },
	{ "sandybridge", "SB", "Intel Sandy Bridge", "snb", "SandyBridgeModel" },
	{ "sapphirerapids", "SPR", "Intel Sapphire Rapids (Golden Cove)", "spr", "SapphireRapidsModel" },
	{ "skylake", "SKL", "Intel Skylake, client", "skl", "SkylakeClientModel" },
	{ "skylake-avx512", "SKX", "Intel Skylake, server", "skx", "SkylakeServerModel" },
	{ "znver2", "Zn2", "AMD Zen 2", "zen2", "Znver2Model" },
	{ "znver3", "Zn3", "AMD Zen 3", "zen3", "Znver3Model" },
	{ "znver4", "Zn4", "AMD Zen 4", "zen4", "Znver4Model" },
};
const size_t x86_cpus_count = sizeof(x86_cpus) / sizeof(*x86_cpus);

const DerivedEntry x86_derived[] = {
	{ "cascadelake", "skylake-avx512", "Intel Cascade Lake", "clx",
	  "LLVM has one model for both, and the cores are the same" },
	{ "emeraldrapids", "sapphirerapids", "Intel Emerald Rapids (Raptor Cove)", "emr",
	  "LLVM has one model for both; the cores differ in caches" },
	{ "icelake-client", "icelake-server", "Intel Ice Lake, client (Sunny Cove)", "icl",
	  "LLVM has one model for both; the cores differ in caches and in what AVX-512 they have twice" },
	{ "ivybridge", "sandybridge", "Intel Ivy Bridge", "ivb", "LLVM has one model for both" },
	{ "meteorlake", "alderlake", "Intel Meteor Lake, P core (Redwood Cove)", "mtl mtl-p redwoodcove",
	  "LLVM has one model for both" },
	{ "raptorlake", "alderlake", "Intel Raptor Lake, P core (Raptor Cove)", "rpl rpl-p raptorcove",
	  "LLVM has one model for both; the cores differ in caches" },
	{ "znver5", "znver4", "AMD Zen 5", "zen5", "LLVM has Zen 4's model under this name" },
};
const size_t x86_derived_count = sizeof(x86_derived) / sizeof(*x86_derived);

std::unique_ptr<Isa> x86_target()
{
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86Disassembler();
	return std::make_unique<Isa>("x86_64-unknown-linux-gnu", "+64bit-mode");
}

int x86_row(Cpu &cpu, const llvm::MCInst &inst, const std::string &bytes)
{
	size_t at = bytes.find_first_not_of("\x64\x65\x67");

	if (at != std::string::npos && uint8_t(bytes[at]) == 0x62 && !cpu.has("avx512f"))
		return -1;
	return cpu.row(inst);
}
