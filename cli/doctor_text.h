/* SPDX-License-Identifier: MIT */
/* What the doctor found, for people. */
#ifndef GUS_CLI_DOCTOR_TEXT_H
#define GUS_CLI_DOCTOR_TEXT_H

#include <stdio.h>

struct gus_diagnosis;
struct gus_facts;
struct gus_screen;

void gus_doctor_text(FILE *out, const struct gus_screen *s, const struct gus_diagnosis *d, const struct gus_facts *f);

#endif
