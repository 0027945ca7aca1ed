/* SPDX-License-Identifier: MIT */
/* The instructions whose stages are known, as a trace (proto/trace.h) that attribution can replay: their order and the
 * addresses that they read and wrote are those of the stages, their bytes those of a disassembly. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_STAGES_TRACE_H
#define GUS_TESTS_ACCURACY_GOLDEN_STAGES_TRACE_H

#include <stdio.h>

struct golden_stages;
struct gus_error;

/* code: as objdump -d prints it; x86-64. -1 with err, also where an instruction is not in it. */
int golden_stages_trace(const struct golden_stages *s, FILE *code, const char *path, struct gus_error *err);

#endif
