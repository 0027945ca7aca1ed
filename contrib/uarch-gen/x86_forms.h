// SPDX-License-Identifier: MIT
// Every x86 instruction that LLVM can encode, with operands of each kind, asked of gusprof's decoder for its form.
#pragma once

#include <functional>
#include <string>

#include "oracle.h"

// One encoded instruction: what our decoder calls its form and its class, and what LLVM decodes it to.
struct Sample {
	std::string form, class_name, bytes;
	llvm::MCInst inst;
};

// Calls back for each; those that LLVM decodes to another opcode, or that our decoder rejects, are counted only.
struct Counts { size_t opcodes, encoded, other_opcode, no_form, samples; };
Counts for_all_samples(const Isa &isa, const std::function<void(const Sample &)> &each);

// The sample at some bytes of real code. Prefixes that LLVM decodes as instructions of their own (lock, rep) are passed
// over: the instruction behind them is what has a row. Returns the length, 0 if LLVM finds no instruction; the form is
// empty if our decoder finds none or one of another length.
size_t sample_at(const Isa &isa, const uint8_t *bytes, size_t size, Sample &sample);
