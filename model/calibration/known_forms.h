/* SPDX-License-Identifier: MIT */
/* Instructions that calibration times if it is not told which: a few of each kind that programs are made of. */
#ifndef GUS_MODEL_CALIBRATION_KNOWN_FORMS_H
#define GUS_MODEL_CALIBRATION_KNOWN_FORMS_H

#include <stddef.h>
#include <stdint.h>

struct gus_known_form {
	uint8_t isa;            /* enum gus_isa */
	uint8_t size;
	uint8_t bytes[12];
	const char *text;
};

/* All of them, of all ISAs; what a host has not is refused as any other instruction is. */
extern const struct gus_known_form gus_known_forms[];
extern const size_t gus_known_forms_n;

#endif
