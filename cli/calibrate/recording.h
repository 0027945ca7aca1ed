/* SPDX-License-Identifier: MIT */
/* The instructions that a recording's time goes to, each form once: what a calibration is to measure for it. */
#ifndef GUS_CLI_CALIBRATE_RECORDING_H
#define GUS_CLI_CALIBRATE_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/calibration/fit.h"
#include "symbolizer/insn/insn.h"

struct gus_error;
struct gus_log;
struct gus_progress;

struct gus_calibrate_insns {
	struct gus_vec(struct gus_calibration_insn) list; /* the heaviest first; bytes are in code */
	struct gus_vec(uint8_t *) code;
	double told;            /* which part of the recording's weight is in functions whose code was there */
};

/* Of the recording at input, or "-". -1 with err, as where it is of another ISA than this one. Freed in any case. */
int gus_calibrate_recording(struct gus_calibrate_insns *insns, const char *input, enum gus_isa isa,
			    struct gus_progress *progress, const struct gus_log *log, struct gus_error *err);
void gus_calibrate_insns_free(struct gus_calibrate_insns *insns);

#endif
