// SPDX-License-Identifier: MIT
// Gracemont, the E core of Alder Lake, for which LLVM has no model: it gives the P core's. We move that to Gracemont's
// ports by rule.
#pragma once

#include "oracle.h"

extern const CpuEntry gracemont_entry;
// What the P core's figures become for a form. Ports are those of gracemont_ports.
Figures gracemont_figures(const Figures &p_core, const std::string &form, const std::string &class_name);
extern const std::vector<std::string> gracemont_ports, gracemont_units;
extern const std::vector<Param> gracemont_params;
