/* SPDX-License-Identifier: MIT */
/* What symbolizer/insn/insn.c asks of each ISA. The contracts are those of insn.h. */
#ifndef GUS_SYMBOLIZER_INSN_PRIVATE_H
#define GUS_SYMBOLIZER_INSN_PRIVATE_H

#include <stdbool.h>

#include "symbolizer/insn/insn.h"

struct gus_insn_operand;

size_t gus_insn_x86_decode(bool wide, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn);
size_t gus_insn_x86_analyse(bool wide, const void *bytes, size_t size, struct gus_insn_info *info);
size_t gus_insn_x86_form_text(bool wide, const void *bytes, size_t size, char *out, size_t room);

size_t gus_insn_arm64_analyse(const void *bytes, size_t size, struct gus_insn_info *info);
size_t gus_insn_arm64_form_text(const void *bytes, size_t size, char *out, size_t room);

/* As in renaming.h, but that nobody has looked yet what the renamed bytes mean. */
unsigned gus_insn_x86_operands(const void *bytes, size_t size, struct gus_insn_operand *operands);
unsigned gus_insn_arm64_operands(const void *bytes, size_t size, struct gus_insn_operand *operands);
size_t gus_insn_x86_renamed(const void *bytes, size_t size, const uint8_t *to, uint8_t *out);
size_t gus_insn_arm64_renamed(const void *bytes, size_t size, const uint8_t *to, uint8_t *out);

/* What bytes that are no instruction decode to. */
size_t gus_insn_bad_text(struct gus_insn *insn, size_t length);
size_t gus_insn_bad_info(struct gus_insn_info *info, size_t length);

#endif
