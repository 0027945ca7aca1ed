// SPDX-License-Identifier: MIT
// The machine code of ELF files.
#pragma once

#include <functional>
#include <string>

// Calls back for the bytes of each section of code of an ELF file. False, and said on stderr, if it cannot be read.
bool for_all_code(const std::string &path, const std::function<void(const uint8_t *bytes, size_t size)> &each);
