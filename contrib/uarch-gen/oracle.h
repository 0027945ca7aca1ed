// SPDX-License-Identifier: MIT
// The CPUs that tables are made for, and how the x86 instruction at some bytes is looked up in LLVM's models: the same
// for the generator and for the test that holds its tables against real code.
#pragma once

#include "schedule.h"

struct CpuEntry {
	const char *name;     // of our table, and of LLVM's model
	const char *prefix;   // of the names of its resources
	const char *title;
	const char *aliases;
	const char *model;    // what LLVM calls the model
};
extern const CpuEntry x86_cpus[];
extern const size_t x86_cpus_count;

// A CPU whose table is another's: what it has of its own stands in its overlay.
struct DerivedEntry { const char *name, *like, *title, *aliases, *why; };
extern const DerivedEntry x86_derived[];
extern const size_t x86_derived_count;

std::unique_ptr<Isa> x86_target();

// The number of the row in cpu.rows that LLVM's model has for an instruction with these bytes; -1 for none. Some models
// have figures for EVEX encodings that their CPUs lack: those are none.
int x86_row(Cpu &cpu, const llvm::MCInst &inst, const std::string &bytes);
